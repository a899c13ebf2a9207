"""Small datasets, and archives of every kind that the data comes in."""

import io
import tarfile
import zipfile
from pathlib import Path

from xling.data.manifest import Dataset, SourceFile


def make_archive(path: Path, files: dict[str, bytes]) -> Path:
    """Write files into an archive whose kind its name tells, a folder and odd modes among them."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as handle:
            handle.mkdir("top")
            for name, body in files.items():
                handle.writestr(name, body)
        return path
    mode = {".tgz": "w:gz", ".gz": "w:gz", ".bz2": "w:bz2", ".xz": "w:xz", ".tar": "w"}[path.suffix]
    with tarfile.open(path, mode) as handle:
        handle.add(path.parent, "top", recursive=False)
        for name, body in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(body), 0o4777
            handle.addfile(entry, io.BytesIO(body))
    return path


def dataset(name: str, *files: SourceFile, **more: object) -> Dataset:
    """Return a dataset of these files."""
    texts = {"role": "r", "description": "d", "version": "1", "licence": "CC0", "terms": "none"}
    return Dataset(**{"name": name, **texts, "files": files, **more})

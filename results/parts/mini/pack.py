"""Pack what the text stages of mini made, small enough to carry: python3 pack.py RESULTS/mini DATA OUT NAME…

`base` has subwords, vocabularies, task data and links, `dictionary` the words to switch, `LANGUAGE.SOURCE` a corpus as
plain text, which xz packs a fifth smaller than zstandard does (`en.wiki` also `en2.wiki`), `heads` the first line of
every raw file, with MUSE's word lists whole. `mini-STUDY` is a study beside mini, without what is a link to mini's.
Token streams are made where the models are trained.
"""

import io
import sys
import tarfile
from pathlib import Path

from backports import zstd

BASE = ("bpe", "vocab", "tasks", "parallel", "tatoeba", "links", "transfer/plan.json")


def add_corpus(archive: tarfile.TarFile, results: Path, name: str) -> None:
    """Add a corpus as plain text with the times of its files."""
    for file in sorted((results / "corpus" / name).iterdir()):
        entry = archive.gettarinfo(file, arcname=f"corpus/{name}/{file.name.removesuffix('.zst')}")
        content = file.read_bytes()
        if file.suffix == ".zst":
            content = zstd.decompress(content)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))


def add_study(archive: tarfile.TarFile, folder: Path) -> None:
    """Add what a study beside mini has of its own."""
    for part in BASE:
        for file in sorted((folder / part).rglob("*")):
            if file.is_file() and file.stat().st_nlink == 1:
                archive.add(file, arcname=str(file.relative_to(folder)))
    for corpus in sorted((folder / "corpus").iterdir()):
        if all(file.stat().st_nlink == 1 for file in corpus.iterdir()):
            add_corpus(archive, folder, corpus.name)


def add_heads(archive: tarfile.TarFile, data: Path) -> None:
    """Add the first line of every raw file, with a time before all others."""
    for file in sorted(path for path in data.rglob("*") if path.is_file()):
        with file.open("rb") as lines:
            content = b"" if file.suffix in {".xz", ".bz2", ".gz", ".zip"} else next(lines, b"")
            if file.match("muse/*00.txt"):
                content += lines.read()  # words are read where they are translated
        entry = archive.gettarinfo(file, arcname=str(file.relative_to(data)))
        entry.size, entry.mtime, entry.mode = len(content), 1_000_000_000, 0o644
        archive.addfile(entry, io.BytesIO(content))


def main() -> None:
    """Write the packs asked for."""
    results, data, out = map(Path, sys.argv[1:4])
    out.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[4:]:
        target = out / f"{name}.tar.xz"
        with tarfile.open(target, "w:xz", preset=9) as archive:
            if name == "heads":
                add_heads(archive, data)
            elif name.startswith("mini-"):
                add_study(archive, results.parent / name)
            elif name == "base":
                for part in [*BASE, *(str(path.relative_to(results)) for path in results.glob("models/*/run.json"))]:
                    archive.add(results / part, arcname=part)
            elif name == "dictionary":
                archive.add(results / name, arcname=name)
            else:
                for part in [name, "en2.wiki"] if name == "en.wiki" else [name]:
                    add_corpus(archive, results, part)
        print(f"{target}: {target.stat().st_size / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    main()

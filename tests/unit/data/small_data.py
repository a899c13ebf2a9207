"""Archives of every kind that the data comes in."""

import io
import stat
import tarfile
import zipfile


def tar_of(*entries, mode="w"):
    """Return a tar of (name, type, body, target of a link), with odd modes."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as handle:
        for name, kind, body, link in entries:
            entry = tarfile.TarInfo(name)
            entry.type, entry.size, entry.linkname, entry.mode = kind, len(body), link, 0o4777
            handle.addfile(entry, io.BytesIO(body))
    return out.getvalue()


def zip_of(entries, link=""):
    """Return a zip of these files, one of them perhaps a link."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as handle:
        for name, body in entries.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (stat.S_IFLNK | 0o777 if name == link else stat.S_IFREG | 0o644) << 16
            handle.writestr(info, body, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def make_archive(path, files):
    """Write files into an archive whose kind its name tells, a folder among them."""
    mode = {".tgz": "w:gz", ".gz": "w:gz", ".bz2": "w:bz2", ".xz": "w:xz", ".tar": "w"}.get(path.suffix)
    entries = [(name, tarfile.REGTYPE, body, "") for name, body in files.items()]
    folder = ("top", tarfile.DIRTYPE, b"", "")
    path.write_bytes(tar_of(folder, *entries, mode=mode) if mode else zip_of({"top/": b"", **files}))
    return path

"""Lay out packs where Snakemake looks for them, once: python3 unpack.py PACKS RESULTS/mini DATA HEADS

Raw files are not carried: of all jobs that are left, word translation alone reads any. They are looked at before any
job, so their first lines stand for them (pack.py), older than all else.
"""

import os
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from backports import zstd


def lay_out(pack: Path, results: Path) -> str:
    """Extract a pack with its times and compress corpora again; `mini-STUDY` beside mini."""
    if pack.name.startswith("mini-"):
        results = results.parent / pack.name.removesuffix(".tar.xz")
    done = results / "packs" / pack.name
    if done.exists():
        return f"{pack.name}: there"
    with tarfile.open(pack) as archive:
        archive.extractall(results, filter="data")
        names = archive.getnames()
    for name in names:
        file = results / name
        if name.startswith("corpus/") and name.endswith(".txt"):
            target = file.with_name(file.name + ".zst")
            target.write_bytes(zstd.compress(file.read_bytes(), level=3))
            times = file.stat()
            os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
            file.unlink()
    done.parent.mkdir(parents=True, exist_ok=True)
    done.touch()
    return f"{pack.name}: laid out"


def main() -> None:
    """Lay out all packs of a folder side by side."""
    packs, results, data, heads = map(Path, sys.argv[1:5])
    with tarfile.open(heads) as archive:
        archive.extractall(data, filter="data")
    results.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(8) as pool:
        for said in pool.map(lambda pack: lay_out(pack, results), sorted(packs.glob("*.tar.xz"))):
            print(said, flush=True)


if __name__ == "__main__":
    main()

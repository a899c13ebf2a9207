"""Pack the text of mini-next for a machine without it, or lay it out there.

python pack.py DATA .gpu            writes .gpu/heads.tar.xz and .gpu/packs/*.tar.xz
python pack.py --unpack .gpu        lays them out in results/mini-next and .gpu/data

Corpora travel as plain text, which xz packs a fifth smaller than zstandard does. Of the raw files only small ones are
read after the text is made (MUSE's dictionaries); the first lines of the others stand for them, older than everything
else.
"""

import io
import os
import sys
import tarfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from backports import zstd

RESULTS = Path("results/mini-next")
BASE = ("bpe", "vocab", "tasks", "parallel", "tatoeba", "links", "tokenisers", "dictionary")
ORDER = ("base", "en.wiki", "fr.wiki", "ru.wiki", "zh.wiki", "de.wiki", "fr.crawl", "ru.crawl", "zh.crawl")
SMALL = 300_000  # bytes of a raw file that travels whole
FAST = {zstd.CompressionParameter.compression_level: 3, zstd.CompressionParameter.checksum_flag: 1}


def write_heads(data: Path, out: Path) -> None:
    """Write small raw files whole, the first line of larger ones, and an empty file for those that are compressed."""
    with tarfile.open(out, "w:xz") as archive:
        for file in sorted(path for path in data.rglob("*") if path.is_file()):
            content = b""
            if file.suffix not in {".xz", ".bz2", ".gz", ".zip"}:
                with file.open("rb") as lines:
                    content = lines.read() if file.stat().st_size <= SMALL else next(lines, b"")
            entry = archive.gettarinfo(file, arcname=str(file.relative_to(data)))
            entry.size, entry.mtime, entry.mode = len(content), 1_000_000_000, 0o644
            archive.addfile(entry, io.BytesIO(content))


def write_pack(target: Path) -> str:
    """Write `base`, or a corpus; that of English has en2 as well, which is the same text in another order."""
    name = target.name.removesuffix(".tar.xz")
    with tarfile.open(target, "w:xz", preset=9) as archive:
        for part in BASE if name == "base" else ():
            archive.add(RESULTS / part, arcname=part)
        for corpus in () if name == "base" else ("en.wiki", "en2.wiki") if name == "en.wiki" else (name,):
            for file in sorted((RESULTS / "corpus" / corpus).iterdir()):
                entry = archive.gettarinfo(file, arcname=f"corpus/{corpus}/{file.name.removesuffix('.zst')}")
                content = zstd.decompress(file.read_bytes()) if file.suffix == ".zst" else file.read_bytes()
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return f"{target}: {target.stat().st_size / 1e6:.1f} MB"


def lay_out(pack: Path) -> str:
    """Extract a pack once, with the times of its files, and compress its texts again."""
    done = RESULTS / "packs" / pack.name
    if done.exists():
        return f"{pack.name}: there"
    with tarfile.open(pack) as archive:
        archive.extractall(RESULTS, filter="data")
        texts = [RESULTS / name for name in archive.getnames() if name.startswith("corpus/") and name.endswith(".txt")]
    for file in texts:
        packed, times = file.with_name(f"{file.name}.zst"), file.stat()
        packed.write_bytes(zstd.compress(file.read_bytes(), options=FAST))
        os.utime(packed, ns=(times.st_atime_ns, times.st_mtime_ns))
        file.unlink()
    done.parent.mkdir(parents=True, exist_ok=True)
    done.touch()
    return f"{pack.name}: laid out"


def main() -> None:
    """Pack or lay out."""
    first, folder = sys.argv[1], Path(sys.argv[2])
    if first == "--unpack":
        if not (folder / "data").exists():
            with tarfile.open(folder / "heads.tar.xz") as archive:
                archive.extractall(folder / "data", filter="data")
        work, paths = lay_out, sorted((folder / "packs").glob("*.tar.xz"))
    else:
        (folder / "packs").mkdir(parents=True, exist_ok=True)
        write_heads(Path(first), folder / "heads.tar.xz")
        work, paths = write_pack, [folder / f"packs/{name}.tar.xz" for name in ORDER]
    RESULTS.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        for said in pool.map(work, paths):
            print(said, flush=True)


if __name__ == "__main__":
    main()

"""How fast Wikipedia dumps become text, against WikiExtractor: python bench/extract.py --out extract.json

Both read the same bz2 dump, the real samples over and over, with one cleaning process each, and the CPU time of all
their processes is counted. WikiExtractor (AGPL) is installed for this run alone, into a temporary folder, or found with
--peer; it does not expand templates, as we do not: that would cost it a pass over the dump first. The version named
below runs on Python 3.11 and 3.12 as it is; 3.0.6 and older do not (flags inside their patterns).
"""

import argparse
import bz2
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from xling.core.io import read_lines, write_json

PEER = "wikiextractor==3.1.0"
REPOSITORY = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("XLING_DATA", REPOSITORY.parent / "shared" / "data"))
MARKUP = re.compile(r"\{\{|\}\}|\[\[|\]\]|\|-|<ref|&lt;ref|</?(?:br|span|div)\b")


def build_dump(path: Path, samples: list[Path], megabytes: float) -> float:
    """Write one dump with the pages of the samples, over and over up to a size, and return its megabytes of XML."""
    texts = [bz2.decompress(sample.read_bytes()) for sample in samples]
    header = texts[0][: texts[0].index(b"</siteinfo>")] + b"</siteinfo>\n"
    pages = b"\n".join(page for text in texts for page in re.findall(rb"<page>.*?</page>", text, re.DOTALL)) + b"\n"
    times = max(1, round(megabytes * 1e6 / len(pages)))
    with bz2.open(path, "wb") as handle:
        handle.write(header)
        for _ in range(times):
            handle.write(pages)
        handle.write(b"</mediawiki>\n")
    return (len(header) + times * len(pages)) / 1e6


def install_peer(folder: Path) -> Path:
    """Install WikiExtractor into a folder that nothing else uses."""
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), PEER]
    subprocess.run(install, check=True, stderr=subprocess.DEVNULL)
    return folder


def cpu_seconds(command: list[str], search_path: Path) -> float:
    """Run a command and return the CPU time of it and of the processes it started."""
    before = os.times()
    environment = {**os.environ, "PYTHONPATH": str(search_path)}
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def commands(dump: Path, folder: Path, peer: Path) -> dict[str, tuple[list[str], Path, Path]]:
    """Return for each tool its command, where Python finds it, and where it writes."""
    ours, theirs = folder / "ours.txt", folder / "theirs"
    flags = ["--format", "wikipedia", "--input", str(dump), "--out", str(ours)]
    peer_flags = ["--no-templates", "--processes", "1", "--quiet", "--bytes", "1G", "--output", str(theirs), str(dump)]
    return {
        "xling": ([sys.executable, "-m", "xling.data.extract_text", *flags], REPOSITORY, ours),
        "wikiextractor": (
            [sys.executable, "-m", "wikiextractor.WikiExtractor", *peer_flags],
            peer,
            theirs / "AA" / "wiki_00",
        ),
    }


def look_at(output: Path) -> dict[str, float]:
    """Return how much text came out and how many of its lines still hold markup."""
    lines = [line for line in read_lines(output) if line and not line.startswith(("<doc ", "</doc>"))]
    return {
        "characters": sum(map(len, lines)),
        "lines": len(lines),
        "lines_with_markup": sum(bool(MARKUP.search(x)) for x in lines),
    }


def row(tool: str, result: dict[str, float]) -> str:
    """Return the line of the table for one tool."""
    left = f"{result['lines_with_markup']:,} of {result['lines']:,} lines with markup left"
    return f"{tool:14} {result['mb_per_core_second']:6.2f} MB of XML per core-second, {left}"


def main() -> None:
    """Measure both tools in turns and print what came out."""
    args = parse_args()
    samples = sorted(args.samples.glob("*.bz2"))
    if not samples:
        raise SystemExit(f"no dumps in {args.samples} (set XLING_DATA or give --samples)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        megabytes = build_dump(folder / "dump.xml.bz2", samples, args.megabytes)
        tools = commands(folder / "dump.xml.bz2", folder, args.peer or install_peer(folder / "peer"))
        seconds: dict[str, list[float]] = {tool: [] for tool in tools}
        for _ in range(args.repeats):
            for tool, (command, search_path, _) in tools.items():
                seconds[tool].append(cpu_seconds(command, search_path))
        results: dict[str, dict[str, float]] = {tool: look_at(output) for tool, (_, _, output) in tools.items()}
    for tool, result in results.items():
        result["mb_per_core_second"] = megabytes / statistics.median(seconds[tool])
        print(row(tool, result))
    ratio = results["xling"]["mb_per_core_second"] / results["wikiextractor"]["mb_per_core_second"]
    print(f"{'ratio':14} {ratio:6.2f} (median of {args.repeats} runs in turns, {megabytes:.0f} MB of XML)")
    machine = {"python": platform.python_version(), "machine": platform.machine()}
    write_json(
        args.out,
        {"tools": results, "cpu_seconds": seconds, "ratio": ratio, "megabytes": megabytes, "peer": PEER, **machine},
    )


def parse_args() -> argparse.Namespace:
    """Return the command line's values."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, default=DATA / "wikidump", help="folder of .xml.bz2 dumps")
    parser.add_argument("--megabytes", type=float, default=35.0, help="of XML in the dump that both read")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peer", type=Path, help="folder that has WikiExtractor installed (pip install --target)")
    parser.add_argument("--out", type=Path, required=True, help="JSON file for the results")
    return parser.parse_args()


if __name__ == "__main__":
    main()

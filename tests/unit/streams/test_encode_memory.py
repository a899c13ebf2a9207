"""Memory does not grow with the text."""

import subprocess
import sys
from pathlib import Path

import pytest
from small_vocabulary import made_up_lines

from xling.core.io import write_text

MEASURE = """
import re, sys
from pathlib import Path
from xling.bpe.encode import main
main()
print(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text()).group(1))
"""


def peak_megabytes(vocab: Path, text: Path, out: Path) -> float:
    command = [sys.executable, "-c", MEASURE, "--vocab", vocab, "--language", "en", "--split", f"train={text}"]
    repository = Path(__file__).resolve().parents[3]
    done = subprocess.run([*command, "--out", out], cwd=repository, capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak from /proc, which is Linux")
def test_eight_times_the_text_needs_no_more_memory(vocab: Path, tmp_path: Path) -> None:
    block = "\n".join(made_up_lines(15_000)) + "\n"
    peaks = []
    for megabytes in (3, 24):
        with write_text(tmp_path / f"{megabytes}.txt.zst") as handle:
            for _ in range(round(megabytes * 1e6 / len(block.encode()))):
                handle.write(block)
        peaks.append(peak_megabytes(vocab, tmp_path / f"{megabytes}.txt.zst", tmp_path / f"{megabytes}"))
    small, large = peaks
    assert (tmp_path / "24" / "train.bin").stat().st_size > 7.5 * (tmp_path / "3" / "train.bin").stat().st_size
    assert large - small < 10, f"{small:.0f} MB for 3 MB of text, {large:.0f} MB for 24 MB"

"""Progress says how much, how fast and how long; seeds belong to names."""

import io
import re
import sys

import pytest

from xling.core.log import Progress, log_to_stderr, track
from xling.core.seeds import derive_seed, numpy_rng, python_rng

TIME = "0000-00-00T00:00:00Z"


def test_progress_says_count_share_rate_and_time_left() -> None:
    progress = Progress("encode", total=4000, unit="tokens")
    progress.done = 1000
    assert progress.text(elapsed=10.0) == "encode: 1k of 4k tokens, 25%, 100 tokens/s, 30s left"
    progress.done = 4000
    assert progress.text(elapsed=40.0) == "encode: 4k of 4k tokens, 100%, 100 tokens/s"


@pytest.mark.parametrize(("seconds", "text"), [(59.0, "59s left"), (61.0, "1m01s left"), (7260.0, "2h01m left")])
def test_time_left_is_readable(seconds: float, text: str) -> None:
    progress = Progress("train", total=2)
    progress.done = 1
    assert progress.text(elapsed=seconds).endswith(text)


def test_progress_of_unknown_size_has_no_time_left() -> None:
    progress = Progress("read", unit="pages")
    progress.done = 2_500_000
    assert progress.text(elapsed=1.0) == "read: 2.5M pages, 2.5M pages/s"


def test_tracking_yields_everything_and_says_so_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(track(range(3), "count", total=3, unit="items")) == [0, 1, 2]
    assert capsys.readouterr().err.startswith("count: 3 of 3 items, 100%")


def test_logs_carry_utc_time_once_and_go_where_standard_error_is_now(monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        with monkeypatch.context() as here, io.StringIO() as stream:
            here.setattr(sys, "stderr", stream)
            log_to_stderr("a").info("told")
            log_to_stderr("xling.b").info("more")
            told = stream.getvalue().splitlines()
        assert [re.sub(r"[0-9]", "0", line) for line in told] == [f"{TIME} INFO told", f"{TIME} INFO more"]


def test_seeds_are_equal_everywhere_and_differ_by_name() -> None:
    assert derive_seed("demo", 1) == 135746278864662943
    assert python_rng("demo").randrange(10**9) == 287362355
    assert numpy_rng("demo").integers(10**9) == 268022530
    assert derive_seed("a", "bc") != derive_seed("ab", "c")
    assert python_rng("x").random() == python_rng("x").random() != python_rng("y").random()
    assert numpy_rng("x").integers(1 << 30) == numpy_rng("x").integers(1 << 30)

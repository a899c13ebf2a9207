"""Progress says how much, how fast and how long; seeds belong to names."""

import io
import re
import sys

import pytest

from xling.core.log import Progress, log_to_stderr, track
from xling.core.seeds import derive_seed, numpy_rng, python_rng

TIME = "0000-00-00T00:00:00Z"


@pytest.mark.parametrize(
    ("total", "done", "elapsed", "text"),
    [
        (4000, 1000, 10.0, "read: 1k of 4k tokens, 25%, 100 tokens/s, 30s left"),
        (4000, 4000, 40.0, "read: 4k of 4k tokens, 100%, 100 tokens/s"),
        (2, 1, 61.0, "read: 1 of 2 tokens, 50%, 0.0164 tokens/s, 1m01s left"),
        (2, 1, 7260.0, "read: 1 of 2 tokens, 50%, 0.000138 tokens/s, 2h01m left"),
        (None, 2_500_000, 1.0, "read: 2.5M tokens, 2.5M tokens/s"),
    ],
)
def test_progress_says_count_share_rate_and_time_left(total, done, elapsed, text):
    progress = Progress("read", total, unit="tokens")
    progress.done = done
    assert progress.text(elapsed) == text


def test_tracking_yields_everything_and_says_so_at_the_end(capsys):
    assert list(track(range(3), "count", total=3, unit="items")) == [0, 1, 2]
    assert capsys.readouterr().err.startswith("count: 3 of 3 items, 100%")


def test_logs_carry_utc_time_once_and_go_where_standard_error_is_now(monkeypatch):
    for _ in range(2):
        with monkeypatch.context() as here, io.StringIO() as stream:
            here.setattr(sys, "stderr", stream)
            log_to_stderr("a").info("told")
            log_to_stderr("xling.b").info("more")
            told = stream.getvalue().splitlines()
        assert [re.sub(r"[0-9]", "0", line) for line in told] == [f"{TIME} INFO told", f"{TIME} INFO more"]


def test_seeds_are_equal_everywhere():
    assert derive_seed("demo", 1) == 135746278864662943
    assert python_rng("demo").randrange(10**9) == 287362355
    assert numpy_rng("demo").integers(10**9) == 268022530

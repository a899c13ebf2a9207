"""make run: presets are read before Snakemake starts."""

from dag import output, preset, run_module


def test_a_preset_that_cannot_be_read_starts_nothing_and_a_target_may_follow_flags(tmp_path):
    (tmp_path / "wrong.yaml").write_bytes("study: {name: a}".encode("utf-16"))
    told = run_module("workflow_scripts.watch", "--configfile", str(tmp_path / "wrong.yaml"))
    assert (told.returncode, told.stderr.count("\n")) == (2, 1)
    assert "wrong.yaml, line 1: not UTF-8 (save it as UTF-8" in told.stderr
    done = run_module(
        "workflow_scripts.watch", "paper_figures", "--configfile", preset(tmp_path), "--", "-n", "--quiet"
    )
    assert (done.returncode, "paper_figures" in output(done)) == (0, True), output(done)

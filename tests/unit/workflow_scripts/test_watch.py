"""make run: presets are read before Snakemake starts."""

from dag import preset, run_module


def test_a_preset_that_cannot_be_read_starts_nothing_and_a_target_may_follow_flags(tmp_path):
    (tmp_path / "wrong.yaml").write_bytes("study: {name: a}".encode("utf-16"))
    told = run_module("workflow_scripts.watch", "--configfile", str(tmp_path / "wrong.yaml"))
    assert (told.returncode, told.stdout.count("\n")) == (2, 1)
    assert "wrong.yaml, line 1: not UTF-8 (save it as UTF-8" in told.stdout
    words = ("paper_figures", "--configfile", preset(tmp_path), "--", "-n", "--quiet")
    done = run_module("workflow_scripts.watch", *words)
    assert (done.returncode, "paper_figures" in done.stdout) == (0, True), done.stdout

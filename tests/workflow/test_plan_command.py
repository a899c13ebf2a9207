"""The plan of the real rules, asked of the real Snakemake: nothing left out, and what is done set against its use."""

import re
from pathlib import Path

import pytest
from dag import TINY, preset, run_module, snakemake

SMALL = {"text": {"valid_lines": 20, "test_lines": 20}, "synthetic": TINY}


def rows(text: str) -> dict[str, int]:
    """Return the jobs of each rule in the first table of a plan."""
    table = text.split("longest chain")[0]
    found = re.findall(r"^(\w+) +(\d+) ", table, flags=re.MULTILINE)
    return {rule: int(count) for rule, count in found}


@pytest.mark.parametrize("name", ["paper", "demo-full"])
def test_every_rule_of_a_preset_is_estimated(name: str, tmp_path: Path) -> None:
    files = [f"presets/{name}.yaml", preset(tmp_path)]
    done = run_module("workflow_scripts.plan", "--rates", "h200", "--configfile", *files)
    assert done.returncode == 0, done.stderr
    assert "not estimated" not in done.stdout
    counts = rows(done.stdout)
    assert counts["pretrain"] == 38
    assert counts.pop("total") == sum(counts.values()) <= 4000
    assert re.search(r"^total .* h  ", done.stdout, flags=re.MULTILINE)
    assert "bench/results/pretrain-h200.json" in done.stdout.split("Assumptions:")[1]


def test_what_is_done_is_left_out_and_set_against_what_it_used(tmp_path: Path) -> None:
    configured, target = preset(tmp_path, **SMALL), str(tmp_path / "results/demo/text/fr.crawl.txt.zst")
    before = run_module("workflow_scripts.plan", target, "--configfile", configured)
    assert before.returncode == 0, before.stderr
    assert rows(before.stdout) == {"write_traits": 1, "generate_fr": 1, "extract_text": 1, "total": 3}
    made = snakemake("--cores", "1", target, "--configfile", configured)
    assert made.returncode == 0, made.stderr
    after = run_module("workflow_scripts.plan", target, "--configfile", configured)
    assert after.returncode == 0, after.stderr
    assert "Nothing is left to do." in after.stdout
    used = after.stdout.split("planned against used")[1]
    assert re.search(r"^extract_text +1 +1 +- +- +[0-9.]+ s +[0-9.]+ s$", used, flags=re.MULTILINE)


def test_a_wrong_target_and_a_wrong_config_are_told_in_a_line(tmp_path: Path) -> None:
    done = run_module("workflow_scripts.plan", "table99", "--configfile", preset(tmp_path))
    assert done.returncode == 2
    assert "table99" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("pretrain: {warm_up: 3}")
    done = run_module("workflow_scripts.plan", "--configfile", str(wrong))
    assert done.returncode == 2
    assert "config: pretrain.warm_up: unknown key (did you mean 'warmup'?)" in done.stderr

"""The plan of the real rules, asked of the real Snakemake; tests/docs/test_readme.py has those of whole presets."""

import re
from pathlib import Path

from dag import TINY, preset, run_module, snakemake

SMALL = {"text": {"valid_lines": 20, "test_lines": 20}, "synthetic": TINY}


def rows(text: str) -> dict[str, int]:
    """Return the jobs of each rule in the first table of a plan."""
    table = text.split("longest chain")[0]
    found = re.findall(r"^(\w+) +(\d+) ", table, flags=re.MULTILINE)
    return {rule: int(count) for rule, count in found}


def test_what_is_done_is_left_out_and_set_against_what_it_used(tmp_path: Path) -> None:
    configured, target = preset(tmp_path, **SMALL), str(tmp_path / "results/demo/text/fr.crawl.txt.zst")
    text = Path(configured).read_text().replace(str(tmp_path / "data"), "${PLAN_DATA}")
    assert "${PLAN_DATA}" in text
    Path(configured).write_text(text)
    here = {"PLAN_DATA": str(tmp_path)}
    plan = ["workflow_scripts.plan", target, "--rates", "cpu", "--configfile", configured]

    before = run_module(*plan, **here)
    assert before.returncode == 0, before.stderr
    assert rows(before.stdout) == {"write_traits": 1, "generate_fr": 1, "extract_text": 1, "total": 3}
    by_rule = snakemake("--cores", "1", "plan", "--configfile", configured, TARGET=target, RATES="cpu", **here)
    assert by_rule.returncode == 0, by_rule.stderr
    assert before.stdout.strip() in by_rule.stdout

    made = snakemake("--cores", "1", target, "--configfile", configured, **here)
    assert made.returncode == 0, made.stderr
    after = run_module(*plan, **here)
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

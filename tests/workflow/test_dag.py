"""The real Snakemake on the real Snakefile: what a study expands to, what its commands are, what a mistake costs."""

import json
import re
from pathlib import Path
from typing import Any

from dag import lay_out, preset, run_module, snakemake
from embedded import PAPER, study


def test_a_sixth_language_and_an_eleventh_setting_take_config_alone(tmp_path: Path) -> None:
    italian = study()["languages"]["fr"] | {"name": "Italian", "moses": "it"}
    italian = json.loads(
        json.dumps(italian).replace("/fr", "/it").replace("fr.", "it.").replace("-fr", "-it").replace("fra", "ita")
    )
    chosen = {"pairs": ["en-it"], "languages": ["en", "it"], "extra": [], "skip": [], "results": str(tmp_path)}
    config = study(
        study=chosen | {"settings": ["default", "top-shared"]},
        languages={"it": italian},
        pairs={"en-it": {"ner": {"train": "wikiann", "test": "wikiann"}}},
        settings={"top-shared": {"label": "Top shared", "bpe": "per-language", "separate": {"layers": 7}}},
        synthetic={"languages": {"it": study()["synthetic"]["languages"]["fr"] | {"cognates": 0.5}}},
    )
    jobs = lay_out(config)
    assert str(tmp_path / "demo/models/en-it.top-shared.s1/run.json") in {path for job in jobs for path in job.outputs}
    assert [job.rule for job in jobs].count("generate_it") == 1


def test_a_mistake_is_told_before_any_job_starts(tmp_path: Path) -> None:
    done = snakemake("--configfile", preset(tmp_path, pretrain={"warm_up": 3}))
    assert done.returncode == 2
    assert "config: pretrain.warm_up: unknown key (did you mean 'warmup'?)" in done.stderr.splitlines()
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "results").exists()


def without_json(jobs: list[tuple[str, str]]) -> bool:
    """Tell whether no command holds JSON but those that write plans, which are files."""
    written = {name for name, command in jobs if "<<'END'" in command}
    assert {"write_run", "write_tokeniser"} <= written
    return {name for name, command in jobs if re.search(r"""[\[{]\s*["{\[]""", command)} <= written


def command(job: Any) -> tuple[str, str]:
    return job.rule.name, job.shellcmd or ""


def test_the_papers_preset_is_the_full_study_in_few_enough_jobs_without_json_on_a_command_line(tmp_path: Path) -> None:
    places = {"study": {"results": str(tmp_path / "results")}, "data": {"root": str(tmp_path / "data")}}
    jobs = lay_out(
        study(**PAPER.config | {key: PAPER.config[key] | place for key, place in places.items()}), read=command
    )
    found = [rule for rule, _ in jobs]
    once = ["translate_words", "retrieve_sentences", "compare_encoders", "table1", "claims", "page"]
    wanted = {"pretrain": 38, "represent_encoder": 6 + 5, **dict.fromkeys(once, 1)}
    wanted |= {"fine_tune": 30 + 12}  # Table 1 and floors
    assert {rule: found.count(rule) for rule in wanted} == wanted
    assert len(jobs) < 2000
    assert without_json(jobs)


def test_no_command_line_of_the_embedded_study_holds_json() -> None:
    assert without_json(lay_out(study(), read=command))


def test_every_rule_of_the_papers_preset_is_estimated(tmp_path: Path) -> None:
    done = run_module("workflow_scripts.plan", "--configfile", "presets/paper.yaml", preset(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "not estimated" not in done.stdout
    table = re.findall(r"^(\w+) +(\d+) ", done.stdout.split("longest chain")[0], flags=re.MULTILINE)
    counts = {rule: int(count) for rule, count in table}
    assert counts["pretrain"] == 38
    assert counts.pop("total") == sum(counts.values()) <= 2000
    assert re.search(r"^total .* h  ", done.stdout, flags=re.MULTILINE)
    assert "bench/results/pretrain-h200.json" in done.stdout.split("Assumptions:")[1]


def test_a_plan_of_a_wrong_target_is_told_in_a_line(tmp_path: Path) -> None:
    done = run_module("workflow_scripts.plan", "table99", "--configfile", preset(tmp_path))
    assert done.returncode == 2
    assert "table99" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr

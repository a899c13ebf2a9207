"""The real Snakemake on the real Snakefile: what a study expands to, and what a mistake costs."""

import json
from pathlib import Path
from typing import Any

import pytest
from dag import lay_out, preset, snakemake
from embedded import study


def test_a_sixth_language_and_an_eleventh_setting_dry_run_by_config_alone(tmp_path: Path) -> None:
    italian = study()["languages"]["fr"] | {"name": "Italian", "moses": "it"}
    italian = json.loads(
        json.dumps(italian).replace("/fr", "/it").replace("fr.", "it.").replace("-fr", "-it").replace("fra", "ita")
    )
    chosen = {"pairs": ["en-it"], "languages": ["en", "it"], "extra": [], "skip": []}
    path = preset(
        tmp_path,
        study=chosen | {"settings": ["default", "top-shared"]},
        languages={"it": italian},
        pairs={"en-it": {"ner": {"train": "wikiann", "test": "wikiann"}}},
        settings={"top-shared": {"label": "Top shared", "bpe": "per-language", "separate": {"layers": 7}}},
        synthetic={"languages": {"it": study()["synthetic"]["languages"]["fr"] | {"cognates": 0.5}}},
    )
    jobs = lay_out(files=[Path(path)])
    assert str(tmp_path / "results/demo/models/en-it.top-shared.s1/run.json") in [
        x for job in jobs for x in job.outputs
    ]
    assert [job.rule for job in jobs].count("generate_it") == 1


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"pretrain": {"warm_up": 3}}, "config: pretrain.warm_up: unknown key (did you mean 'warmup'?)"),
        (
            {"settings": {"sep-l1-6": {"separate": {"layers": 9}}}},
            "config: settings.sep-l1-6.separate.layers: 9 goes beyond",
        ),
        ({"data": {"origin": "local", "root": "/nowhere"}}, "config: data.nli.train: no such file: /nowhere/xnli/"),
    ],
)
def test_a_mistake_is_told_before_any_job_starts(tmp_path: Path, changes: dict[str, Any], line: str) -> None:
    done = snakemake("--configfile", preset(tmp_path, **changes))
    assert done.returncode == 2
    assert any(text.startswith(line) for text in done.stderr.splitlines()), done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "results").exists()


def test_nothing_to_compare_is_told(tmp_path: Path) -> None:
    done = snakemake("-n", "encoders", "--configfile", preset(tmp_path))
    assert done.returncode != 0
    assert "config: encoders.compare: empty, so there is nothing to compare (see docs/share.md)" in done.stdout

"""The real Snakemake on the real Snakefile: what a study expands to, what a mistake costs, what reruns."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from embedded import ROOT, study

TINY = {
    "wiki_sentences": 600,
    "crawl_sentences": 600,
    "treebank_sentences": [20, 5, 5],
    "ner_sentences": [20, 5, 5],
    "nli_pairs": [30, 10, 10],
    "parallel_sentences": 20,
    "tatoeba_sentences": 10,
    "vector_size": 4,
}


def snakemake(*arguments: str, timeout: int = 300) -> subprocess.CompletedProcess[str]:
    """Run Snakemake from the repository root."""
    command = [sys.executable, "-m", "snakemake", "--nolock", *arguments]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=timeout, check=False
    )


def preset(folder: Path, **changes: Any) -> str:
    """Write a preset that keeps all files in a folder of its own."""
    path = folder / "preset.yaml"
    changes.setdefault("study", {})["results"] = str(folder / "results")
    changes.setdefault("data", {}).setdefault("root", str(folder / "data"))
    path.write_text(yaml.safe_dump(changes), encoding="utf-8")
    return str(path)


def job_counts(output: str) -> dict[str, int]:
    """Return how many jobs of each rule a dry run shows."""
    table = output.split("Job stats:")[1].split("Reasons:")[0].splitlines()
    rows = [line.split() for line in table]
    return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit() and row[0].isidentifier()}


def small_study(folder: Path, **changes: Any) -> str:
    """Write a preset of one pair and three settings on tiny data."""
    chosen = {"languages": ["fr"], "pairs": ["en-fr"], "extra": [], "skip": [], "tasks": ["ner"]}
    chosen["settings"] = ["default", "extra-anchors", "sep-emb"]
    text = {"valid_lines": 20, "test_lines": 20}
    bpe = {"joint_merges": 150, "language_merges": 80}
    pretrain = {"updates": 4, "warmup": 1, "validate_every": 2, "validation_tokens": 200} | changes.pop("pretrain", {})
    return preset(folder, study=chosen, synthetic=TINY, text=text, bpe=bpe, pretrain=pretrain, **changes)


def test_the_full_grid_dry_runs(tmp_path: Path) -> None:
    done = snakemake("-n", "--configfile", preset(tmp_path, study={"skip": [], "name": "whole"}))
    assert done.returncode == 0, done.stderr
    counts = job_counts(_output(done))
    assert counts["pretrain"] == counts["write_run"] == 38


def test_a_sixth_language_and_an_eleventh_setting_dry_run_by_config_alone(tmp_path: Path) -> None:
    italian = study()["languages"]["fr"] | {"name": "Italian", "moses": "it"}
    italian = json.loads(
        json.dumps(italian).replace("/fr", "/it").replace("fr.", "it.").replace("-fr", "-it").replace("fra", "ita")
    )
    path = preset(
        tmp_path,
        study={
            "pairs": ["en-it"],
            "languages": ["en", "it"],
            "extra": [],
            "skip": [],
            "settings": ["default", "top-shared"],
        },
        languages={"it": italian},
        pairs={"en-it": {"ner": {"train": "wikiann", "test": "wikiann"}}},
        settings={"top-shared": {"label": "Top shared", "bpe": "per-language", "separate": {"layers": 7}}},
        synthetic={"languages": {"it": study()["synthetic"]["languages"]["fr"] | {"cognates": 0.5}}},
    )
    done = snakemake("-n", "--configfile", path)
    assert done.returncode == 0, done.stderr
    assert "en-it.top-shared.s1/run.json" in _output(done)
    assert job_counts(_output(done))["generate_it"] == 1


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


@pytest.mark.slow
def test_what_reruns_and_what_never_does(tmp_path: Path) -> None:
    path = small_study(tmp_path)
    done = snakemake("--cores", "2", "--configfile", path)
    assert done.returncode == 0, done.stderr[-5000:]

    assert nothing_to_do(snakemake("-n", "--configfile", path))

    module = ROOT / "xling" / "bpe" / "encode.py"
    module.touch()
    assert nothing_to_do(snakemake("-n", "--configfile", path))

    changed = small_study(tmp_path, settings={"sep-emb": {"train": {"lr": 0.001}}})
    again = snakemake("-n", "--configfile", changed)
    counts = job_counts(_output(again))
    assert counts["write_run"] == counts["pretrain"] == counts["fine_tune_together"] == 1  # its floor stays as it was
    assert not {"prepare_task", "train_bpe", "encode_text", "write_untrained"} & set(counts)
    assert "en-fr.sep-emb.s1/run.json" in _output(again)

    safer = small_study(tmp_path, pretrain={"save_every": 7, "keep_checkpoints": 3})
    counts = job_counts(_output(snakemake("-n", "--configfile", safer)))
    assert set(counts) == {"collect_provenance", "report_page", "all", "total"}  # the page shows the whole description
    slower = small_study(tmp_path, pretrain={"lr": 0.001})
    counts = job_counts(_output(snakemake("-n", "--configfile", slower)))
    assert counts["pretrain"] == 4
    assert counts["fine_tune_together"] == 3  # untrained encoders learn at no rate

    seeded = small_study(tmp_path, codeswitch={"keep": 0.5})
    counts = job_counts(_output(snakemake("-n", "--configfile", seeded)))
    assert counts["switch_codes"] == 2
    assert "tokenise_text" not in counts


def nothing_to_do(done: subprocess.CompletedProcess[str]) -> bool:
    """Tell whether a dry run found everything made."""
    return done.returncode == 0 and "Nothing to be done" in _output(done)


def _output(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout + done.stderr

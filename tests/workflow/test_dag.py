"""The real Snakemake on the real Snakefile: what a study expands to, what a mistake costs, what reruns."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from dag import dry_run, lay_out, nothing_to_do, output, preset, small_study, snakemake
from embedded import DEMO, PAPER, ROOT, study

from workflow_scripts.config import Config


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
    counts, said = dry_run("--configfile", path)
    assert "en-it.top-shared.s1/run.json" in said
    assert counts["generate_it"] == 1


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


@pytest.mark.parametrize("config", [DEMO.config, PAPER.config], ids=["demo", "paper"])
def test_no_command_line_holds_json(config: Config) -> None:
    commands = lay_out(config, ["all", "fetch"], read=lambda job: (job.rule.name, job.shellcmd or ""))
    written = {name for name, command in commands if "<<'END'" in command}
    assert {"write_run", "write_tokeniser"} <= written, "plans, which are files"
    assert {name for name, command in commands if re.search(r"""[\[{]\s*["{\[]""", command)} <= written


def test_what_reruns_and_what_never_does(tmp_path: Path) -> None:
    path = small_study(tmp_path)
    done = snakemake("--cores", "2", "--configfile", path)
    assert done.returncode == 0, done.stderr[-5000:]

    assert nothing_to_do(snakemake("-n", "--configfile", path))

    module = ROOT / "xling" / "bpe" / "encode_text.py"
    module.touch()
    assert nothing_to_do(snakemake("-n", "--configfile", path))

    changed = small_study(tmp_path, settings={"sep-emb": {"train": {"lr": 0.001}}})
    counts, said = dry_run("--configfile", changed)
    assert counts["write_run"] == counts["pretrain"] == counts["fine_tune_together"] == 1  # its floor stays as it was
    assert not {"prepare_task", "train_bpe", "encode_text", "write_untrained"} & set(counts)
    assert "en-fr.sep-emb.s1/run.json" in said

    safer = small_study(tmp_path, pretrain={"save_every": 7, "keep_checkpoints": 3})
    counts, _ = dry_run("--configfile", safer)
    shown = {"plan_provenance", "collect_provenance", "page"}  # the page shows the whole description
    assert set(counts) == {*shown, "all", "total"}
    slower = small_study(tmp_path, pretrain={"lr": 0.001})
    counts, _ = dry_run("--configfile", slower)
    assert counts["pretrain"] == 4
    assert counts["fine_tune_together"] == 3  # untrained encoders learn at no rate

    # Looking at times alone nothing but the cell itself would be made again, of weights that learnt at another rate.
    cell = tmp_path / "results/demo/transfer/en-fr.default.s1/ner.json"
    before = cell.read_text(encoding="utf-8")
    late = ["--rerun-triggers", "mtime", "--force", str(cell), "--configfile", slower]
    counts, _ = dry_run(*late)
    assert set(counts) == {"fine_tune_together", "total"}
    stale = snakemake("--cores", "1", *late)
    assert stale.returncode == 1
    assert "models/en-fr.default.s1/run.json: of another configuration: " in output(stale)
    assert not cell.exists() or cell.read_text(encoding="utf-8") == before

    seeded = small_study(tmp_path, codeswitch={"keep": 0.5})
    counts, _ = dry_run("--configfile", seeded)
    assert counts["switch_codes"] == 2
    assert "tokenise_text" not in counts

"""A small study that the real Snakemake has run: what reruns, what a plan says of it, published encoders beside it."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from dag import dry_run, nothing_to_do, output, run_module, small_study, snakemake
from embedded import ROOT
from tiny_models import made_up

pytest.importorskip("transformers")
from tiny_hub import write_bert, write_xlm_roberta


@dataclass(frozen=True)
class Ran:
    """The folder of a finished study, and the encoders that its config names."""

    folder: Path
    encoders: dict[str, Any]

    def preset(self, **changes: Any) -> str:
        """Write the study's preset, with changes, and return its path."""
        return small_study(self.folder, encoders=self.encoders, **changes)

    @property
    def results(self) -> Path:
        """The folder of its results."""
        return self.folder / "results" / "demo"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("study")
    folders = {"bert-en": write_bert(folder / "bert", made_up("en", 64))}
    folders["xlmr"] = write_xlm_roberta(folder / "xlmr", made_up("fr", 64), width=20)
    models = {name: {"folder": str(path), "languages": ["en", "fr"]} for name, path in folders.items()}
    compare = [["bert-en", "xlmr", "en-fr"], ["xlmr", "xlmr", "en-en"]]
    study = Ran(folder, {"models": models, "compare": compare})
    done = snakemake("--cores", "2", "all", "encoders", "--configfile", study.preset(), timeout=580)
    assert done.returncode == 0, done.stderr[-5000:]
    return study


def test_what_reruns_and_what_never_does(ran: Ran) -> None:
    """Edits one by one are in edits.yaml; here Snakemake itself compares them with what it has recorded."""
    (ROOT / "xling" / "bpe" / "encode_text.py").touch()
    assert nothing_to_do(snakemake("-n", "all", "encoders", "--configfile", ran.preset()))

    changed = ran.preset(settings={"sep-emb": {"train": {"lr": 0.001}}}, codeswitch={"keep": 0.5})
    counts, said = dry_run("--configfile", changed)
    assert counts["write_run"] == counts["pretrain"] == counts["fine_tune_together"] == 2  # floors stay as they were
    assert counts["switch_codes"] == counts["encode_text"] == 2
    assert not {"prepare_task", "tokenise_text", "train_bpe", "write_untrained"} & set(counts)
    assert "en-fr.sep-emb.s1/run.json" in said

    # Looking at times alone nothing but the cell itself would be made again, of weights that learnt at another rate.
    slower = ran.preset(pretrain={"lr": 0.001})
    cell = ran.results / "transfer/en-fr.default.s1/ner.json"
    before = cell.read_text(encoding="utf-8")
    stale = snakemake("--cores", "1", "--rerun-triggers", "mtime", "--force", str(cell), "--configfile", slower)
    assert stale.returncode == 1
    assert "models/en-fr.default.s1/run.json: of another configuration: " in output(stale)
    assert not cell.exists() or cell.read_text(encoding="utf-8") == before


def test_a_plan_leaves_out_what_is_done_and_sets_it_against_what_it_used(ran: Ran) -> None:
    target = str(ran.results / "text/fr.wiki.txt.zst")
    after = run_module("workflow_scripts.plan", target, "--configfile", ran.preset())
    assert after.returncode == 0, after.stderr
    assert "Nothing is left to do." in after.stdout
    used = after.stdout.split("planned against used")[1]
    whole = run_module("workflow_scripts.plan", "--configfile", ran.preset(pretrain={"lr": 0.001}))
    assert "not estimated" not in whole.stdout, "a rule of the embedded study"
    assert re.search(r"^pretrain +4 +- +[0-9.]+", whole.stdout, flags=re.MULTILINE)
    assert re.search(r"^extract_text +1 +1 +- +- +[0-9.]+ s +[0-9.]+ s$", used, flags=re.MULTILINE)


def test_published_encoders_are_compared_on_the_studys_sentences(ran: Ran) -> None:
    results = ran.results / "encoders"
    two = json.loads((results / "bert-en+xlmr.en-fr" / "compare.json").read_text())
    assert (two["sentences"], two["looked_for"], len(two["layers"])) == (20, 10, 3)
    assert len(two["config"]) == 16
    same = json.loads((results / "xlmr+xlmr.en-en" / "compare.json").read_text())
    assert [row["cka"] for row in same["layers"]] == pytest.approx([1.0] * 4)
    assert {file.suffix for file in results.iterdir() if file.is_file()} == {".csv", ".pdf", ".png", ".svg"}

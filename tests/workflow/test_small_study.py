"""One small study, run: that of docs/extend.md, then with more settings and models to it, then what edits make again."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from dag import dry_run, job_counts, nothing_to_do, output, run_module, snakemake
from doc_blocks import GENERATED, Reader
from embedded import ROOT
from tiny_hub import write_bert
from tiny_models import made_up

from workflow_scripts.config import read_config
from workflow_scripts.plan.jobs import lay_out
from xling.cli import dispatch

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """Return a reader of the page who has run its study of a generated language."""
    place = Reader(tmp_path_factory.mktemp("small"))
    place.run(GENERATED, "--cores", "2")
    return place


@pytest.fixture(scope="module")
def finished(reader: Reader) -> list[str]:
    """Return the files of a study on top of it, of which everything is made."""
    more = {"study": {"settings": ["default", "sep-emb-l1-7", "extra-anchors"], "languages": ["el"]}}
    (reader.folder / "more.yaml").write_text(yaml.safe_dump(more), encoding="utf-8")
    presets = reader.own(GENERATED).split("--configfile ")[1].split()
    files = [*presets, str(reader.folder / "isolated.yaml"), str(reader.folder / "more.yaml")]
    done = snakemake("--cores", "2", "all", "--configfile", *files, timeout=600)
    assert done.returncode == 0, done.stderr[-5000:]
    return files


def edited(files: list[str], edit: dict[str, Any]) -> list[str]:
    """Return the flags that choose a study with an edit laid over it."""
    path = Path(files[-1]).with_name("edit.yaml")
    path.write_text(yaml.safe_dump(edit), encoding="utf-8")
    return ["--configfile", *files, str(path)]


def left(files: list[str], edit: dict[str, Any]) -> Counter[str]:
    """Return how many jobs of each rule an edit makes again, as `make plan` sees them: in this process."""
    _, *edited_files = edited(files, edit)
    jobs = lay_out(read_config(ROOT / "config.yaml", *map(Path, edited_files)))
    return Counter(job.rule for job in jobs if job.left)


def test_a_generated_language_goes_from_raw_files_to_the_table(reader: Reader) -> None:
    head, _, *rows = (reader.folder / "results/greek/tables/table1.md").read_text(encoding="utf-8").splitlines()
    columns = [name.strip() for name in head.split("|")]
    cells = [[cell.strip() for cell in row.split("|")] for row in rows]
    (row,) = [row for row in cells if len(row) == len(columns) and row[1] == "Sep Emb + L1-7"]
    assert 0 <= float(row[columns.index("NER (F1) el")]) <= 100
    assert "NER (F1) fr" not in columns  # the table is of the study at hand

    greek = "presets/greek.yaml"
    reader.write(greek, "pairs: [en-el]", "pairs: [en-el, en-fr]")
    said = reader.run(GENERATED, "-n")
    reader.write(greek)
    assert job_counts(said)["pretrain"] == 2  # of the new pair: what was there is not trained again
    assert "models/en-fr.sep-emb-l1-7.s1/run.json" in said


def test_all_of_it_is_made_and_nothing_is_left_whatever_module_is_touched(finished: list[str], reader: Reader) -> None:
    results = reader.folder / "results/greek"
    assert [name for name in ("report.html", "claims.json", "paper/figure3.svg", "paper/table1-deltas.csv")
            if not (results / name).is_file()] == []  # fmt: skip
    (ROOT / "xling/bpe/encode_text.py").touch()
    assert nothing_to_do(snakemake("-n", "all", "--configfile", *finished))


@pytest.mark.usefixtures("finished")
def test_a_model_of_the_study_is_compared_with_a_published_one_on_the_studys_sentences(reader: Reader) -> None:
    results, data, out = reader.folder / "results/greek", reader.folder / "data", reader.folder / "compared"
    published = write_bert(reader.folder / "bert", made_up("en", 64))
    own = ["--vocab-a", results / "vocab/el.mono.wiki", "--tokeniser-a", results / "tokenisers/el.json"]
    sides = [data / f"tatoeba/tatoeba.ell-eng.{side}" for side in ("ell", "eng")]
    text = ["--languages", "el", "en", "--parallel", data / "xnli/xnli.15way.orig.tsv", "--retrieve", *sides]
    dispatch(["compare", *map(str, [results / "models/el.mono.s1", published, *own, *text, "--out", out])])
    found = json.loads((out / "compare.json").read_text())
    assert (found["sentences"], found["looked_for"], len(found["layers"])) == (50, 20, 9)


def test_a_plan_leaves_out_what_is_done_and_sets_it_against_what_it_used(finished: list[str], reader: Reader) -> None:
    target = str(reader.folder / "results/greek/text/el.wiki.txt.zst")
    after = run_module("workflow_scripts.plan", target, "--configfile", *finished)
    assert after.returncode == 0, after.stderr
    assert "Nothing is left to do." in after.stdout
    used = after.stdout.split("planned against used")[1]
    assert re.search(r"^extract_text +1 +1 +- +- +[0-9.]+ s +[0-9.]+ s$", used, flags=re.MULTILINE)
    whole = run_module("workflow_scripts.plan", *edited(finished, {"pretrain": {"lr": 0.001}}))
    assert "not estimated" not in whole.stdout, "a rule of the embedded study"
    assert re.search(r"^pretrain +4 +- +[0-9.]+", whole.stdout, flags=re.MULTILINE)


def test_how_often_a_run_is_saved_is_shown_on_the_page_and_reruns_nothing_else(finished: list[str]) -> None:
    counts = left(finished, {"pretrain": {"save_every": 7, "keep_checkpoints": 3}})
    assert set(counts) == {"plan_provenance", "collect_provenance", "page", "all"}


def test_weights_of_another_rate_are_not_scored(finished: list[str], reader: Reader) -> None:
    slower = edited(finished, {"pretrain": {"lr": 0.001}})
    counts = left(finished, {"pretrain": {"lr": 0.001}})
    assert counts["pretrain"] == 4
    assert counts["fine_tune"] == 3  # untrained encoders learn at no rate

    # Looking at times alone nothing but the cell itself would be made again, of weights that learnt at another rate.
    cell = reader.folder / "results/greek/transfer/en-el.default.s1/ner.json"
    before = cell.read_text(encoding="utf-8")
    late = ["--rerun-triggers", "mtime", "--force", str(cell), *slower]
    remade, _ = dry_run(*late)
    assert set(remade) == {"fine_tune", "total"}
    stale = snakemake("--cores", "1", *late)
    assert stale.returncode == 1
    assert "models/en-el.default.s1/run.json: of another configuration: " in output(stale)
    assert not cell.exists() or cell.read_text(encoding="utf-8") == before

"""A whole small study on a real cluster: `snakemake --profile slurm`, from raw text to the final table."""

import csv

import numpy as np
import pytest
from safetensors.numpy import load_file
from workplace import MODEL

from xling.core.io import read_json

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(1200)]


def test_the_study_ends_with_its_table_after_training_over_two_nodes(study):
    with (study.study / "tables/table1.csv").open(encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    assert [row["Model"] for row in rows] == ["Default"]
    assert all(0 <= float(row["NER (F1) fr"]) <= 100 for row in rows)
    assert study.nothing_left("table1")
    (attempt,) = read_json(study.model.parent / "provenance.json")["attempts"]
    assert (attempt["outcome"], attempt["processes"]) == ("finished", 2)
    assert "on n[1-2], to leave by" in (study.study / f"logs/pretrain/{MODEL}.log").read_text()
    assert len(list((study.folder / "logs/slurm/rule_pretrain" / MODEL).glob("*.log"))) == 1  # as the docs say


def test_two_nodes_train_the_model_that_one_process_trains(study):
    alone = study.beside("alone", gpu_long={"gpu": 1, "nodes": 1})
    alone.take_inputs(study)
    alone.finish(alone.start_here(alone.model))
    one, two = load_file(alone.model), load_file(study.model)
    assert one.keys() == two.keys()
    for name in one:  # sums over processes are rounded in another order
        np.testing.assert_allclose(one[name], two[name], rtol=0, atol=1e-4)


@pytest.mark.parametrize("profile", [("--profile", "profiles/slurm"), ("--workflow-profile", "slurm")])
def test_every_other_way_to_name_the_profile_submits(study, profile):
    made, logs = study.model.parent / "anchors.json", study.folder / "logs/slurm/rule_audit_anchors" / MODEL
    made.unlink(missing_ok=True)
    before = set(logs.glob("*.log"))
    study.finish(study.start(made, profile=profile))
    assert read_json(made)
    assert len(set(logs.glob("*.log")) - before) == 1

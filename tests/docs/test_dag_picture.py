"""docs/dag.svg shows the stages that there are and the way that files go, by Snakemake's own account."""

import re
from pathlib import Path

import networkx as nx
import pytest
from dag import lay_out
from doc_blocks import texts_and_marks
from embedded import ROOT, study

from docs.draw_dag import STAGES, draw, drawn_edges
from xling.report import style

BESIDE = {"common", "inputs", "report_inputs", "plans"}  # no stages of a study
STAGE_OF = {rules: stage.name for stage in STAGES.values() for rules in stage.rules}


def test_every_rule_file_of_a_study_is_in_the_picture():
    snakefile = (ROOT / "Snakefile").read_text(encoding="utf-8")
    included = set(re.findall(r'^include: "rules/(\w+)\.smk"', snakefile, re.MULTILINE))
    assert set(STAGE_OF) == included - BESIDE


def test_every_arrow_is_real_and_no_way_is_missing():
    """Compare the arrows with the stages that hand files to each other in the embedded study."""

    def read(job):
        return STAGE_OF.get(Path(job.rule.snakefile).stem), list(map(str, job.input)), list(map(str, job.output))

    jobs = lay_out(study(study={"results": "/nonexistent"}, data={"root": "/nonexistent"}), read=read)
    made_by = {path: stage for stage, _, outputs in jobs for path in outputs}
    given = {(made_by[path], stage) for stage, inputs, _ in jobs for path in inputs if path in made_by}
    real = {(a, b) for a, b in given if a and b and a != b}
    assert drawn_edges() - real == set()
    assert real - set(nx.transitive_closure(nx.DiGraph(drawn_edges())).edges) == set()


def test_the_committed_picture_is_the_drawn_one(tmp_path):
    with style.styled():
        style.save_images(draw(), tmp_path, "dag", ["svg"])
    said, marks = texts_and_marks(ROOT / "docs/dag.svg")
    said_now, marks_now = texts_and_marks(tmp_path / "dag.svg")
    assert said == said_now, "run python -m docs.draw_dag"
    assert marks == pytest.approx(marks_now, abs=0.1), "run python -m docs.draw_dag"
    assert set(STAGES) <= set(said)

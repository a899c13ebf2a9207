"""docs/dag.svg shows the stages that there are and the way that files go, by Snakemake's own account."""

import re
from functools import cache
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


@cache
def rule_files() -> dict[str, str]:
    """Return the file that each rule stands in, named rules alone."""
    files = (ROOT / "rules").glob("*.smk")
    return {
        name: path.stem
        for path in files
        for name in re.findall(
            r"^ *(?:use rule \w+ as|rule) (\w+)(?: with)?:", path.read_text(encoding="utf-8"), re.MULTILINE
        )
    }


def stage_of(rule: str) -> str | None:
    """Return the stage of a rule; targets of the Snakefile itself have none."""
    if rule.startswith("generate_"):
        return "synthetic"
    return STAGE_OF.get(rule_files().get(rule, ""))


@pytest.fixture(scope="module")
def real_edges() -> set[tuple[str, str]]:
    """Return which stage hands files to which in the embedded study."""
    jobs = lay_out(study(study={"results": "/nonexistent"}, data={"root": "/nonexistent"}))
    made_by = {path: job.rule for job in jobs for path in job.outputs}
    given = {(made_by[path], job.rule) for job in jobs for path in job.inputs if path in made_by}
    pairs = {(stage_of(a), stage_of(b)) for a, b in given}
    return {(a, b) for a, b in pairs if a and b and a != b}


def test_every_rule_file_of_a_study_is_in_the_picture() -> None:
    snakefile = (ROOT / "Snakefile").read_text(encoding="utf-8")
    included = set(re.findall(r'^include: "rules/(\w+)\.smk"', snakefile, re.MULTILINE))
    assert set(STAGE_OF) == included - BESIDE


def test_every_arrow_is_real(real_edges: set[tuple[str, str]]) -> None:
    assert drawn_edges() - real_edges == set()


def test_no_way_is_missing(real_edges: set[tuple[str, str]]) -> None:
    reachable = nx.transitive_closure(nx.DiGraph(drawn_edges()))
    assert [edge for edge in sorted(real_edges) if edge not in reachable.edges] == []


def test_the_committed_picture_is_the_drawn_one(tmp_path: Path) -> None:
    with style.styled():
        style.save_images(draw(), tmp_path, "dag", ["svg"])
    said, marks = texts_and_marks(ROOT / "docs/dag.svg")
    said_now, marks_now = texts_and_marks(tmp_path / "dag.svg")
    assert said == said_now, "run python -m docs.draw_dag"
    assert marks == pytest.approx(marks_now, abs=0.1), "run python -m docs.draw_dag"
    assert set(STAGES) <= set(said)

"""Files that other tools read: the workflow catalog, GitHub and citation managers find what they ask for."""

import tomllib
from typing import Any

import yaml
from embedded import ROOT


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_the_catalog_github_and_citations_find_what_they_ask_for() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    usage = read(".snakemake-workflow-catalog.yml")["usage"]
    assert {"conda", "apptainer"} == set(usage["software-stack-deployment"])
    jobs = read(".github/workflows/test.yml")["jobs"].values()
    assert [step["run"] for job in jobs for step in job["steps"] if "run" in step] == ["make test", "make demo"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = read("CITATION.cff")
    assert (citation["version"], citation["license"]) == (project["version"], project["license"])
    assert citation["preferred-citation"]["doi"] in readme

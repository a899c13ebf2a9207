"""Files that other tools read: the workflow catalog, GitHub and citation managers find what they ask for."""

import tomllib
from typing import Any

import yaml
from embedded import ROOT


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_the_catalog_of_workflows_finds_this_one() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8").lower()
    assert "snakemake" in readme
    assert "workflow" in readme
    assert (ROOT / "Snakefile").is_file()
    assert list((ROOT / "rules").glob("*.smk"))
    usage = read(".snakemake-workflow-catalog.yml")["usage"]
    assert {"conda", "apptainer"} == set(usage["software-stack-deployment"])


def test_github_runs_what_the_readme_names_on_supported_versions() -> None:
    jobs = read(".github/workflows/test.yml")["jobs"]
    assert [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step] == [
        "make test",
        "make demo",
    ]
    assert jobs["test"]["strategy"]["matrix"]["python"] == ["3.11", "3.13"]
    for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.md"):
        _, head, body = path.read_text(encoding="utf-8").split("---\n")
        assert {"name", "about"} <= set(yaml.safe_load(head))
        assert "**" in body


def test_the_citation_has_the_version_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = read("CITATION.cff")
    assert (citation["version"], citation["license"]) == (project["version"], project["license"])
    assert citation["preferred-citation"]["doi"] in (ROOT / "README.md").read_text(encoding="utf-8")

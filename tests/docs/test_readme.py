"""Every command of the README and the docs is run, or stands in a table with the reason why not; links and paths exist."""

import pkgutil
import re
import tomllib

import pytest
import yaml
from doc_blocks import EXTEND, PAGES, blocks, commands, expanded, laid_out, run, trained
from embedded import ROOT, study

from workflow_scripts.checks import check
from workflow_scripts.grid import Grid
from workflow_scripts.site import read_site
from xling.cli import dispatch

PLAN = "make plan PRESET=presets/paper.yaml RATES=h200"

# Run as they stand, but for where results go.
RUN = ["make demo", "make plan", PLAN]  # the first one as a dry run
NOT_RUN = {
    "make test": "runs this test",
    "make aligner": "compiles; tests/unit/align/test_align_words.py has what it runs",
    "make slurm-check": "asks a cluster; tests/unit/workflow_scripts/test_slurm_check.py and tests/slurm run it",
    ".venv/bin/snakemake --profile slurm --configfile presets/paper.yaml": "a cluster; tests/slurm runs a study on one",
    "make run PRESET=presets/mini.yaml TARGET=table1": "test_extend.py runs a smaller study so",
    "make plan PRESET=presets/paper.yaml TARGET=table1": "a part of the plan above; test_small_study.py asks for one",
    "make plan PRESET=presets/paper.yaml RATES=cpu": "the plan above at other rates; test_plan.py reads them",
    ".venv/bin/snakemake --resources gpu=4": "laid out as with the shares below it",
    "CUDA_VISIBLE_DEVICES=2,3 .venv/bin/snakemake --resources gpu=2": "needs GPUs; test_gpu_slots.py hands out some",
    "$EDITOR profiles/slurm/site.yaml": "opens an editor",
}
PYTHON = {"docs/share.md": "needs an exported model; tests/unit/interop/test_export.py runs it on one"}
OTHER = {"text", "yaml", "bibtex"}  # shown, not run; yaml has tests of its own below

# Named in backticks and not in the repository: made by a run, or somewhere else.
MADE = ("results/", "logs/", "work/", "receipts/")
LOOKS_LIKE_A_PATH = re.compile(r"`([\w.-]+(?:/[\w.*{}-]+)+/?|[\w-]+\.(?:md|yaml|txt|lock|cff|toml))`")


COMMANDS = list(dict.fromkeys(line for page in PAGES if page != EXTEND for line in commands(page)))
# Of the other commands of Snakemake the jobs are laid out, none is started.
DRY = [line for line in COMMANDS if ".venv/bin/snakemake " in line and line not in NOT_RUN]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TEXT = "".join(page.read_text(encoding="utf-8") for page in PAGES)


def test_every_command_is_run_or_has_a_reason():
    tables = {*RUN, *DRY, *NOT_RUN}
    asked = [line for line in COMMANDS if not line.startswith("xling ")]
    assert [line for line in asked if line not in tables] == []
    assert [line for line in tables if line not in asked] == []  # no entry outlives its command
    assert len(DRY) >= 10
    assert {block.language for page in PAGES for block in blocks(page)} <= {"", "python", *OTHER}
    assert {block.page for page in PAGES for block in blocks(page) if block.language == "python"} == set(PYTHON)


def test_a_dry_run_of_the_first_command_shows_its_jobs_and_makes_nothing(tmp_path):
    assert "pretrain" in run(RUN[0], tmp_path, "-n")
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    "command", [pytest.param(x, marks=pytest.mark.real_data if x.startswith("XLING_DATA") else ()) for x in DRY]
)
def test_a_command_lays_out_its_jobs(command, request, tmp_path, monkeypatch):
    real = command.startswith("XLING_DATA")
    if real:
        monkeypatch.setenv("XLING_DATA", str(request.getfixturevalue("real_data")))
    jobs = laid_out(command, tmp_path, own_data=not real)
    assert ("fetch_dataset" if " fetch " in command else "pretrain") in {job.rule for job in jobs}
    assert set(re.findall(r"/transfer/([^/]+)/", command)) <= trained(jobs)


def cost(row, column):
    """Return a cell of the README's table of costs: the embedded study, mini, paper."""
    (line,) = [line for line in README.splitlines() if line.startswith(f"| {row} |")]
    return line.split("|")[2 + column].strip()


def jobs_in(plan):
    """Return how many jobs of each rule a plan has."""
    counted = re.findall(r"^(\w+) +(\d+) ", plan.split("longest chain")[0], re.MULTILINE)
    return {rule: int(count) for rule, count in counted}


def planned(command, folder, own_data=True):
    """Return GPU time, CPU time, disk and download of a plan, - for none, and all that it said; no job lacks a cost."""
    said = run(command, folder, own_data=own_data)
    assert "not estimated" not in said
    counts = jobs_in(said)
    assert counts.pop("total") == sum(counts.values())
    (line,) = [line for line in said.splitlines() if line.startswith("total  ") and line.count("  ") > 3]
    return re.split(r" {2,}", line)[2:], said


def test_the_cost_of_the_embedded_study_is_the_plan_s(tmp_path):
    (gpu, _, disk, download), _ = planned(f"{RUN[1]} RATES=cpu", tmp_path)  # not those of a calibrated machine
    assert (gpu, download) == ("-", "-")
    assert (cost("disk, without `.venv`", 0), cost("data to download", 0)) == (disk, "none")


@pytest.mark.real_data
def test_the_cost_of_mini_is_the_plan_s(real_data, tmp_path, monkeypatch):
    monkeypatch.setenv("XLING_DATA", str(real_data))
    (gpu, _, disk, _), _ = planned("make plan PRESET=presets/mini.yaml RATES=h200", tmp_path, own_data=False)
    assert (cost("GPU time", 1), cost("wall-clock time", 1)) == (gpu, f"{gpu}, one job at a time")
    assert (cost("disk, without `.venv`", 1), cost("data to download", 1)) == (disk, "none")


def test_the_cost_of_the_paper_is_the_plan_s(tmp_path):
    (gpu, _, disk, download), said = planned(f"{PLAN} ASSUMPTIONS=1", tmp_path)
    found = jobs_in(said)
    once = ["translate_words", "retrieve_sentences", "compare_encoders", "table1", "claims", "page"]
    wanted = {"pretrain": 38, "represent_encoder": 6 + 5, "fine_tune": 30 + 12, **dict.fromkeys(once, 1)}  # floors too
    assert {rule: found[rule] for rule in wanted} == wanted
    assert found["total"] < 1000
    assert "bench/results/pretrain-h200.json" in said.split("Assumptions:")[1]
    eight, best = re.findall(r"(?:8|32) GPUs ([\d,.]+ h)", said)
    assert cost("GPU time", 2) == gpu
    assert (cost("disk, without `.venv`", 2), cost("data to download", 2)) == (disk, download)
    assert cost("wall-clock time", 2) == f"{eight} with 8 GPUs, {best} with 32"


def test_the_figures_of_the_paper_take_no_study(tmp_path):
    jobs = laid_out(expanded("make paper-figures"), tmp_path)  # test_small_study.py draws them
    assert [job.rule for job in jobs] == ["paper_figures"]


@pytest.mark.parametrize("command", [line for line in COMMANDS if line.startswith("xling ")])
def test_flags_of_the_package_s_command_exist(command, capsys):
    with pytest.raises(SystemExit, match="0"):
        dispatch([command.split()[1], "--help"])
    said, flags = capsys.readouterr().out, re.findall(r"--[a-z-]+", command)
    assert flags
    assert [flag for flag in flags if flag not in said] == []


def test_make_targets_named_in_the_text_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"(?:`|^)make ([a-z-]+)", TEXT, re.MULTILINE))
    assert {"demo", "test", "plan"} <= named
    assert [name for name in sorted(named) if not re.search(rf"^{name}:", makefile, re.MULTILINE)] == []


def test_modules_and_functions_named_in_the_text_exist():
    names = set(re.findall(r"`((?:xling|workflow_scripts)(?:\.\w+)+)`", TEXT))
    modules = set(re.findall(r"python -m ((?:xling|workflow_scripts|bench|docs)(?:\.\w+)+)", TEXT))
    assert len(names) > 20
    for name in sorted(names | modules):
        pkgutil.resolve_name(name)  # raises an error that names what is absent


def headings(page):
    """Return the headings of a page as links name them: lower case, hyphens for spaces, no punctuation."""
    found = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere_and_files_named_in_the_text_exist(page):
    text = page.read_text(encoding="utf-8")
    links = [link.partition("#") for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("http")]
    assert [path for path, _, _ in links if not (page.parent / path).exists()] == []
    assert [
        part for path, _, part in links if part and part not in headings(page.parent / path if path else page)
    ] == []
    first_folders = {path.name for path in ROOT.iterdir() if path.is_dir()}
    written = re.findall(r"^# (presets/\S+)$", text, re.MULTILINE)  # by the reader
    named = [name for name in LOOKS_LIKE_A_PATH.findall(text) if name not in written]
    ours = [name for name in named if name.split("/")[0] in first_folders and not name.startswith(MADE)]
    assert [name for name in ours if not (ROOT / name).exists() and not list(ROOT.glob(name))] == []


def test_the_readme_s_setting_can_be_added():
    (shown,) = [block.text for block in blocks(ROOT / "README.md") if block.language == "yaml"]
    changes = yaml.safe_load(shown)
    check(study(**changes))
    name, base = (Grid(study(**changes)).settings[name] for name in ("sep-emb-l1-7", "sep-emb-l1-6"))
    assert name == base | {"label": "Sep Emb + L1-7", "separate": base["separate"] | {"layers": 7}}


def test_the_site_file_s_example_can_be_read(tmp_path):
    (shown,) = [block.text for block in blocks(ROOT / "docs" / "cluster.md") if block.language == "yaml"]
    path = tmp_path / "site.yaml"
    path.write_text(shown, encoding="utf-8")
    site = read_site(path, {"gpu-long": {"mem_mb": 1, "runtime": 1, "gpu": 1, "nodes": 1}})
    assert site.requests("gpu-long", {})["gpu"] == 8


def test_the_readme_links_every_page():
    assert [page.name for page in PAGES if page.parent.name == "docs" and f"(docs/{page.name})" not in README] == []


def test_the_catalog_github_and_citations_find_what_they_ask_for():
    names = (".snakemake-workflow-catalog.yml", ".github/workflows/test.yml", "CITATION.cff")
    catalog, workflow, citation = (yaml.safe_load((ROOT / name).read_text(encoding="utf-8")) for name in names)
    assert {"conda", "apptainer"} == set(catalog["usage"]["software-stack-deployment"])
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert [step["run"] for step in steps if "run" in step] == ["make test", "make demo"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (citation["version"], citation["license"]) == (project["version"], project["license"])
    assert citation["preferred-citation"]["doi"] in README

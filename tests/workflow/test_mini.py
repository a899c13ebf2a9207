"""The study `mini` on the beginning of the real data: every rule of it runs, from raw text to the report, in seconds."""

import csv
import json
import re
import shutil
from functools import reduce
from pathlib import Path

import pytest
import yaml
from cut_data import cut_file
from dag import dry_run, lay_out, nothing_to_do, snakemake
from embedded import ROOT

from workflow_scripts.config import merge, read_config
from workflow_scripts.study import Study
from xling.align.align_words import PROGRAM, find_program
from xling.report.claims.all import CLAIMS
from xling.report.names import task_title
from xling.report.rule import Verdict

MINI = ROOT / "presets" / "mini.yaml"
CUT = yaml.safe_load(Path(__file__).with_name("mini-cut.yaml").read_text(encoding="utf-8"))
SETTINGS = CUT["study"]["settings"]


def written(path, *overlays):
    """Write what goes on top of the preset."""
    path.write_text(yaml.safe_dump(reduce(merge, overlays, CUT)), encoding="utf-8")
    return str(path)


def rows(path):
    """Return a table's rows."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.mark.real_data
@pytest.mark.timeout(900)
@pytest.mark.skipif(find_program() is None, reason=f"{PROGRAM} is not installed (make aligner)")
def test_every_rule_of_mini_runs_on_real_data(real_data, tmp_path, monkeypatch):
    monkeypatch.setenv("XLING_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    full = read_config(ROOT / "config.yaml", MINI)
    for path in Study(full).needed_files.values():
        cut_file(real_data / path.relative_to(tmp_path / "data"), path)

    planned = {job.rule for job in lay_out(files=[MINI])}
    assert {"extract_text", "pretrain", "page"} <= planned

    # The test words are too rare for so little text.
    shutil.copyfile(tmp_path / "data" / full["languages"]["zh"]["muse"]["train"], tmp_path / "data/muse/frequent.txt")
    frequent = {"zh": {"muse": {"test": "muse/frequent.txt"}}}
    own = {"study": {"results": str(tmp_path / "results")}, "languages": frequent}
    overlay = written(tmp_path / "cut.yaml", own)
    done = snakemake("--cores", "2", "--configfile", str(MINI), overlay, timeout=850)
    assert done.returncode == 0, done.stdout[-5000:]
    finished = set(re.findall(r"^Finished jobid: \d+ \(Rule: (\w+)\)", done.stdout, flags=re.MULTILINE))
    assert planned - finished == set(), "rules of the preset that the cut study did not run"

    results = tmp_path / "results" / full["study"]["name"]
    labels = [full["settings"][name]["label"] for name in SETTINGS]
    check_table(results, labels, full["study"]["tasks"])
    check_page(results)
    assert nothing_to_do(snakemake("-n", "--configfile", str(MINI), overlay))
    more = {"study": {"languages": [*CUT["study"]["languages"], "de"]}}
    check_one_more_language(written(tmp_path / "more.yaml", own, more))
    check_weights_can_stay_behind(results, overlay)


def check_one_more_language(overlay):
    """A language that is added is read and trained; of the others only English is read again, for its test sentences."""
    counts = dry_run("--configfile", str(MINI), overlay)
    once = {"prepare_parallel", "prepare_tatoeba", "pretrain", "translate_words", "compare_encoders"}
    assert {rule: counts.get(rule) for rule in once} == dict.fromkeys(once, 1)
    assert counts["represent_encoder"] == len(["de.mono", "en.mono"])
    assert not {"align_words", "transfer_contextual", "prepare_task", "fine_tune"} & set(counts)


def check_weights_can_stay_behind(results, overlay):
    """Results that were brought here from another machine go on to tables, verdicts and page (docs/mini.md)."""
    for path in [*results.glob("models/*/model.safetensors"), results / "tables/table1.csv", results / "report.html"]:
        path.unlink()
    counts = dry_run("--configfile", str(MINI), overlay, "--rerun-triggers", "mtime", "--", "report")
    assert set(counts) == {"table1", "collect_provenance", "page", "report", "total"}


def check_table(results, labels, tasks):
    """Every cell of Table 1 has a score, which stands in its records with interval and floor."""
    table = {row["Model"]: row for row in rows(results / "tables/table1.csv")}
    found = rows(results / "records/figure3.csv")
    cells = {(row["setting"], row["task"]): row for row in found if row["floor"]}
    floors = {(row["setting"], row["task"]): row for row in found if not row["floor"]}
    assert set(cells) == {(label, task) for label in labels for task in tasks}
    for (label, task), cell in cells.items():
        low, score, high = (float(cell[key]) for key in ("low", "score", "high"))
        assert 0 <= low <= score <= high <= 100
        assert 0 <= float(floors[cell["floor"], task]["score"]) <= 100
        assert table[label][f"{task_title(task)} zh"].startswith(f"{score:.1f}")


def check_page(results):
    """Figures, verdicts and the page are there."""
    names = [f"figure{number}" for number in ("1", "2", "3", "4a", "4b", "5", "6", "7", "8")]
    drawn = [results / f"figures/{name}.{suffix}" for name in names for suffix in ("png", "pdf", "svg", "csv")]
    assert [path.name for path in drawn if not path.stat().st_size] == []
    claims = json.loads((results / "claims.json").read_text(encoding="utf-8"))["claims"]
    verdicts = {claim["claim"]: Verdict(claim["verdict"]) for claim in claims}
    assert list(verdicts) == [claim.number for claim in CLAIMS]
    assert set(verdicts.values()) != {Verdict.NOT_RUN}
    page = (results / "report.html").read_text(encoding="utf-8")
    assert [name for name in names if f'id="figure-{name}"' not in page] == []
    assert "is trained on 10,000 English pairs" in page
    assert "Training examples: XNLI" in (results / "tables/table1.md").read_text(encoding="utf-8")

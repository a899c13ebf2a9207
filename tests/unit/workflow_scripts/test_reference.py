"""Reference results: what is kept, what is not, and that an unfinished study is refused."""

import pytest
import yaml
from embedded import made

from workflow_scripts.reference import NEEDED, keep
from xling.core.errors import XlingError

LEFT = ("models/a/model.safetensors", "text/en.txt", "transfer/m/jobs/ner.json", "figures/training/a.svg")


def write(path, text="{}"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def study(tmp_path):
    """Return a finished study, of which an earlier run was kept."""
    finished = made(study={"results": str(tmp_path / "results")})
    jobs = ("transfer/en-fr.default.s1/ner.json", "models/en.mono.s1/run.json")
    for name in (*NEEDED, "figures/b.svg", "records/items.npz", *jobs, *LEFT):
        write(finished.results / name)
    write(tmp_path / "reference/demo/tables/old.csv")
    return finished


def test_results_are_kept_and_neither_data_nor_weights(study, tmp_path):
    target = keep(study, tmp_path / "reference")
    found = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    wanted = {*NEEDED, "figures/b.svg", "records/items.npz", "transfer.jsonl", "models.jsonl", "config.yaml"}
    assert found == wanted
    assert yaml.safe_load((target / "config.yaml").read_text(encoding="utf-8")) == study.config
    assert [path.name for path in (tmp_path / "reference").iterdir()] == ["demo"]


@pytest.mark.parametrize("missing", NEEDED)
def test_an_unfinished_study_is_refused_and_the_earlier_run_stays(study, tmp_path, missing):
    (study.results / missing).unlink()
    with pytest.raises(XlingError, match=f"not finished, {missing} is missing"):
        keep(study, tmp_path / "reference")
    assert [path.name for path in (tmp_path / "reference").rglob("*")] == ["demo", "tables", "old.csv"]

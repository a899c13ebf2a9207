"""Reference results: what is kept, what is not, and that an unfinished study is refused."""

from pathlib import Path

import pytest
import yaml

from workflow_scripts import reference
from workflow_scripts.config import REPOSITORY, read_config
from workflow_scripts.reference import NEEDED, keep
from workflow_scripts.study import Study
from xling.core.errors import XlingError


def study_in(folder: Path) -> Study:
    config = read_config(REPOSITORY / "config.yaml")
    return Study(config | {"study": config["study"] | {"results": str(folder)}})


def write(path: Path, text: str = "x") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def finished(folder: Path) -> Study:
    study = study_in(folder)
    for name in (*NEEDED, "figures/b.svg", "records/items.npz"):
        write(study.results / name)
    for name in ("transfer/en-fr.default.s1/ner.json", "models/en.mono.s1/run.json"):
        write(study.results / name, "{}")
    left = (
        "models/a/model.safetensors",
        "text/en.txt",
        "transfer/en-fr.default.s1/jobs/ner.json",
        "figures/training/a.svg",
    )
    for name in left:
        write(study.results / name)
    return study


def test_results_are_kept_and_neither_data_nor_weights(tmp_path: Path) -> None:
    study = finished(tmp_path / "results")
    write(tmp_path / "reference/demo/tables/old.csv")
    target = keep(study, tmp_path / "reference")
    found = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    wanted = {*NEEDED, "figures/b.svg", "records/items.npz", "transfer.jsonl", "models.jsonl", "config.yaml"}
    assert found == wanted
    assert yaml.safe_load((target / "config.yaml").read_text(encoding="utf-8")) == study.config
    assert [path.name for path in (tmp_path / "reference").iterdir()] == ["demo"]


@pytest.mark.parametrize("name", NEEDED)
def test_an_unfinished_study_is_refused_and_the_earlier_one_stays(tmp_path: Path, name: str) -> None:
    study = finished(tmp_path / "results")
    (study.results / name).unlink()
    write(tmp_path / "reference/demo/tables/old.csv")
    with pytest.raises(XlingError, match=f"not finished, {name} is missing"):
        keep(study, tmp_path / "reference")
    assert (tmp_path / "reference/demo/tables/old.csv").is_file()


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = finished(tmp_path / "results")
    monkeypatch.setattr(reference, "LARGEST", 50_000)
    write(study.results / "tables/big.csv", "x" * 50_001)
    with pytest.raises(XlingError, match=r"tables/big.csv: 50,001 bytes, more than 50,000"):
        keep(study, tmp_path / "reference")
    assert list((tmp_path / "reference").iterdir()) == []

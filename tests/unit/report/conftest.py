"""Files that figures are drawn from, of a made-up study."""

import json
from pathlib import Path

import pytest
from made_up_study import DRAWN_MODELS, FEW, study, write_model
from report_files import verdicts

from xling.report.records import write_records


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    for name, few in FEW.items():
        write_records(folder / f"{name}.csv", type(few[0]), few)
    settings = [known for known in study()["records"] if known["name"] in {"default", "sep-emb"}]
    (folder / "study.json").write_text(json.dumps(study() | {"records": settings}), encoding="utf-8")
    short = settings[0] | {"updates": 1000}  # Default a second time, trained for longer under the name of Sep Emb
    lengths = [short, short | {"name": "longer", "label": settings[1]["label"], "updates": 4000}]
    (folder / "lengths.json").write_text(json.dumps(study() | {"records": lengths}), encoding="utf-8")
    judged = verdicts()
    (folder / "claims.json").write_text(json.dumps(judged | {"claims": judged["claims"][:2]}), encoding="utf-8")
    for model in DRAWN_MODELS:
        write_model(folder / "models", model)
    return folder

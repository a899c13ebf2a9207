"""The table of docs/recipe.md is that of the committed runs."""

import json
from collections import Counter
from pathlib import Path

import pytest

from workflow_scripts.config import read_config
from workflow_scripts.grid import Grid

ROOT = Path(__file__).resolve().parents[2]
RUNS = [json.loads(line) for line in (ROOT / "results/controls/recipe.jsonl").read_text().splitlines()]
ROWS = [line for line in (ROOT / "docs/recipe.md").read_text().splitlines() if line.startswith("|")]
TABLE, PLATEAU = ([line for line in ROWS if (line.count("|") == 7) == wide] for wide in (True, False))
SETTINGS = [cell.strip() for cell in TABLE[0].strip("|").split("|")][1:]


def described(one):
    """Return the row that a run belongs to."""
    run = one["run"]
    shape, pretrain, dropout = run["shape"], run["pretrain"], f"{run['shape']['dropout']:g}".lstrip("0")
    few = " of 4,096 tokens" if pretrain["micro_batches"] * pretrain["micro_batch_tokens"] == 4096 else ""
    told = {
        f"{dropout or '0'}, {pretrain['lr'] * 1000:g}e-3": True,
        ".1 in attention": shape["attention_dropout"] > shape["dropout"],
        "Adam's eps 1e-8": pretrain["eps"] != 1e-6,
        f"{pretrain['updates']:,} updates{few}": pretrain["updates"] != 12200,
        "Adam's beta2 .98": pretrain["betas"] != [0.9, 0.999],
        "LayerNorm after": shape["norm"] != "pre",
        ".15 masked": pretrain["mask_rate"] != 0.3,
        ".3 random": pretrain["random_share"] != 0.1,
        "sequences of 64": pretrain["length"] != 128,
        f"width {shape['width']}": shape["width"] != 128,
        one.get("patch"): "patch" in one,
        "begins equal": run["separate"]["start"] == "equal",
        "constant rate for .6 of them": pretrain.get("decay_from") == 0.6,
        "Russian": "fr" not in run["languages"],
    }
    return ", ".join(text for text, true in told.items() if true)


@pytest.mark.parametrize("line", TABLE[2:], ids=lambda line: line.split("|")[1].strip())
def test_every_cell_is_what_the_runs_scored(line):
    """Seeds in order: LAS on dev trees of the other language, and in brackets the last retrieval."""
    row, *cells = (cell.strip() for cell in line.strip("|").split("|"))
    for setting, cell in zip(SETTINGS, cells, strict=True):
        own = [run for run in RUNS if run["setting"] == setting and described(run) == row]
        own.sort(key=lambda run: run["run"]["seed"])
        scores = ", ".join(f"{run['las'][run['run']['languages'][1]]:.1f}" for run in own)
        ends = ", ".join(f"{run['retrieval'][-1][1]:.1f}" for run in own)
        assert cell == (f"{scores} ({ends})" if own else "")


def test_no_run_is_left_out():
    """Every line of the file belongs to a row."""
    rows = {line.strip("|").split("|")[0].strip() for line in TABLE[2:]}
    assert {described(run) for run in RUNS} == rows


def test_the_plateau_table_is_that_of_its_runs():
    """The first update whose validation loss is below each threshold, or a dash."""
    lines = (ROOT / "results/controls/plateau.jsonl").read_text().splitlines()
    expected = []
    for run in map(json.loads, lines):
        below = [next((update for update, loss in run["loss"] if loss < most), None) for most in (6.3, 5.5)]
        expected.append("| " + " | ".join([run["what"], *(f"{at:,}" if at else "–" for at in below)]) + " |")
    assert sorted(PLATEAU[2:]) == sorted(expected)


@pytest.mark.parametrize(
    ("dropout", "start", "decay_from", "runs"),
    [(0.0, "copies", 0.0, 22), (0.1, "copies", 0.0, 9), (0.1, "equal", 0.6, 10)],  # the last: the overlay as it stands
)
def test_the_overlays_describe_the_long_runs(dropout, start, decay_from, runs):
    """What was measured is what will be run, apart from the tasks; the earlier rounds differ in three keys."""
    names = ("presets/mini.yaml", "presets/overlays/mini-next.yaml", "presets/overlays/mini-recipe.yaml")
    config = read_config(ROOT / "config.yaml", *(ROOT / name for name in names))
    if start == "copies":
        config["model"] |= {"dropout": dropout, "attention_dropout": dropout}
        config["settings"]["default"]["separate"]["start"] = start
        config["pretrain"]["decay_from"] = decay_from
    grid = Grid(config)
    long = [one["run"] for one in RUNS if one["variant"] in ("24400", "24400drop", "base", "eqhold")]
    own = [run for run in long if (run["shape"]["dropout"], run["separate"]["start"]) == (dropout, start)]
    assert len(own) == runs
    for run in own:
        described = json.loads(json.dumps(grid.describe_run(grid.models[run["model"]])))
        assert {key: value for key, value in described.items() if key != "made_from"} == run


def test_the_next_run_has_the_seeds_that_were_planned():
    """Four of what varies most, three of most rows of Table 1, two of everything else."""
    config = read_config(
        *(ROOT / name for name in ("config.yaml", "presets/mini.yaml", "presets/overlays/mini-next.yaml"))
    )
    seeds = Counter(model.name.rsplit(".", 1)[0] for model in Grid(config).models.values())
    four = {f"en-{code}.{name}" for code in ("fr", "ru", "zh") for name in ("no-anchors", "sep-emb", "sep-emb-l1-3")}
    two = {name for name in seeds if name.endswith((".mono", "sep-l1-6", "sep-emb-l1-6"))}
    assert {name for name, count in seeds.items() if count == 4} >= four
    assert {name for name, count in seeds.items() if count == 2} == two
    assert seeds.total() == 112

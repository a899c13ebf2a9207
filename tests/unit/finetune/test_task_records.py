"""Bad data is named by file and line."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from toy_tasks import command, settings_json

from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import InputError
from xling.finetune import run
from xling.finetune.data import read_examples
from xling.finetune.settings import grid_points, parse_settings
from xling.finetune.tasks import make_task
from xling.finetune.windows import Speller

TREE = '{"words": ["cat", "sees"], "heads": [2, 0], "deprels": ["nsubj", "root"], "upos": ["NOUN", "VERB"]}'
GOOD = {
    "ner": '{"words": ["the", "cat"], "tags": ["O", "B-LOC"]}',
    "xnli": '{"premise": ["the", "cat"], "hypothesis": ["cat"], "label": "neutral"}',
    "parsing": TREE,
    "pos": TREE,
}
BAD = [
    ("ner", GOOD["ner"].replace("B-LOC", "B-FOO"), "tags: 'B-FOO' is none of O, B-LOC"),
    ("ner", GOOD["ner"].replace('"O", ', ""), "tags: 1 values for 2 words"),
    ("ner", GOOD["ner"].replace('"the"', '" "'), "words: word 1 is ' '"),
    ("ner", GOOD["ner"].replace('"the"', "3"), "words: word 1 is 3"),
    ("ner", '{"words": [], "tags": []}', "words: no words"),
    ("ner", GOOD["xnli"], "no list 'words' (has: premise, hypothesis, label)"),
    ("ner", "the\tO", "not JSON"),
    ("ner", "[1]", "expected a JSON object"),
    ("xnli", GOOD["xnli"].replace("neutral", "perhaps"), "label: 'perhaps' is none of entailment"),
    ("xnli", '{"premise": ["a"], "hypothesis": ["b"]}', "no label"),
    ("parsing", TREE.replace("[2, 0]", "[3, 0]"), "heads: 3 of word 1 is not in 0 to 2"),
    ("parsing", TREE.replace("[2, 0]", "[-1, 0]"), "heads: -1 of word 1 is not in 0 to 2"),
    ("parsing", TREE.replace("[2, 0]", '["2", 0]'), "heads: '2' of word 1"),
    ("parsing", TREE.replace("[2, 0]", "[0, 0]"), "heads: not one tree with one root"),
    ("parsing", TREE.replace("[2, 0]", "[1, 0]"), "heads: not one tree with one root"),
    ("parsing", TREE.replace("nsubj", "nsubj:pass"), "deprels: 'nsubj:pass' is none of acl"),
    ("pos", TREE.replace("NOUN", "N"), "upos: 'N' is none of ADJ"),
]


def encoder_of(task: str, toy_model: tuple[Path, Path]) -> Callable[[dict[str, Any]], Any]:
    made = make_task(task, parse_settings(settings_json(task))[1])
    return partial(made.encode, speller=Speller(Vocabulary.load(toy_model[0]), "en", 24))


@pytest.mark.parametrize(("task", "line", "problem"), BAD)
def test_a_bad_record_is_named_by_file_and_line(
    task: str, line: str, problem: str, toy_model: tuple[Path, Path], tmp_path: Path
) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(f"{GOOD[task]}\n{line}\n")
    with pytest.raises(InputError) as caught:
        read_examples(path, encoder_of(task, toy_model))
    assert str(caught.value).startswith(f"{path}, line 2: {problem}")


def test_an_empty_file_is_refused(toy_model: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").touch()
    with pytest.raises(InputError, match=r"data\.jsonl: empty where JSON lines were expected"):
        read_examples(tmp_path / "data.jsonl", encoder_of("ner", toy_model))


@pytest.mark.parametrize("flag", ["train", "dev", "test"])
def test_a_bad_file_ends_a_job_before_it_trains(
    flag: str, toy_model: tuple[Path, Path], tmp_path: Path, call_with: Callable[..., Any]
) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text(GOOD["ner"] + "\n" + GOOD["ner"].replace("B-LOC", "B-FOO") + "\n")
    given = {flag: f"fr={bad}" if flag == "test" else bad}
    found = call_with(run.main, command(tmp_path, "ner", toy_model, "job", **given))
    assert found.code == 2
    assert f"{bad}, line 2: tags: 'B-FOO'" in found.error
    assert not list(tmp_path.glob("job.work/point*"))
    assert not (tmp_path / "job.json").exists()


def test_grid_points_follow_the_order_of_the_configuration() -> None:
    grid = {"batch": [4, 8], "encoder_lr": [1e-6, 2e-6], "head_lr": [1e-5, 2e-5]}
    settings, _ = parse_settings(settings_json("xnli", grid=grid))
    points = grid_points(settings)
    assert len(points) == 8
    assert [(p.number, p.batch, p.encoder_lr, p.head_lr) for p in points[:3]] == [
        (0, 4, 1e-6, 1e-5), (1, 4, 1e-6, 2e-5), (2, 4, 2e-6, 1e-5)
    ]  # fmt: skip
    plain, _ = parse_settings(settings_json("ner", grid={**grid, "head_lr": None}))
    assert [(p.encoder_lr, p.head_lr) for p in grid_points(plain)] == [(1e-6, 1e-6), (2e-6, 2e-6)] * 2

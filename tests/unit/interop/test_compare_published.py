"""`xling compare`: CKA and retrieval between any two encoders on a user's own parallel file; nothing unsafe is read."""

import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from tiny_models import made_up, write_model, write_vocab

from xling.core.errors import XlingError
from xling.core.io import read_json
from xling.core.seeds import numpy_rng
from xling.interop.compare_published import axis_names, caution, compare, heat_map, main, read_pairs, retrieval, table
from xling.interop.encoders import AnyEncoder, open_any_encoder
from xling.interop.export import export
from xling.model.similarity import linear_cka

transformers = pytest.importorskip("transformers")
from tiny_hub import write_bert, write_tokenizer, write_xlm, write_xlm_roberta  # noqa: E402

TEXTS = {code: made_up(code, 64) for code in ("en", "fr")}
PAIRS = list(zip(TEXTS["en"], TEXTS["fr"], strict=True))
WRITERS = {"bert": write_bert, "xlm-roberta": write_xlm_roberta, "xlm": write_xlm}


def states(name, rows=400, width=12):
    return numpy_rng("compare", name).normal(size=(rows, width)).astype(np.float32)


def test_a_turned_space_is_found_with_the_map_only_and_the_map_never_saw_what_is_looked_for():
    left = states("a")
    for width in (12, 20):  # a wider space too: distances stay, coordinates do not
        turn = np.linalg.qr(states("turn", width, width).astype(float))[0]
        plain, mapped = retrieval(left, (left @ turn[:12]).astype(np.float32))
        assert (plain, mapped) == (None if width > 12 else pytest.approx(0, abs=0.1), 1.0)
    assert retrieval(left, left)[0] == 1.0
    few = states("a", rows=100, width=60)  # 75 pairs fit a map of 60 dimensions well, but say nothing of the 25 others
    assert retrieval(few, states("unrelated", rows=100, width=60))[1] < 0.3


def toy(layers):
    """Return an encoder whose sentences are the numbers of rows."""
    means = lambda texts: [layer[[int(text) for text in texts]] for layer in layers]  # noqa: E731
    return SimpleNamespace(name="toy", language=None, sentence_means=means)


@pytest.mark.parametrize(("count", "depths"), [(5, [0, 0, 1, 2, 2]), (2, [0, 2]), (1, [0])])
def test_layers_are_compared_at_the_same_depth(count, depths):
    both = states("a", rows=100)
    right = [both, both[::-1], both]
    found = compare([toy([both] * count), toy(right)], [(str(row), str(row)) for row in range(100)])
    assert [(pair["right"], pair["plain"] == 1.0) for pair in found["layers"]] == [(i, i != 1) for i in depths]
    assert (found["fitted"], found["looked_for"], found["chance"]) == (75, 25, 1 / 25)
    np.testing.assert_allclose(found["matrix"], [[linear_cka(both, y) for y in right]] * count, atol=1e-9)


@pytest.mark.parametrize("kind", WRITERS)
def test_means_of_a_batch_are_those_of_each_text_alone_and_long_text_is_cut(tmp_path, kind):
    folder = WRITERS[kind](tmp_path / "hf", TEXTS["fr"])
    encoder = open_any_encoder(str(folder), "fr" if kind == "xlm" else None)
    means = encoder.sentence_means(TEXTS["fr"][:12])
    tokenizer, model = (auto.from_pretrained(folder) for auto in (transformers.AutoTokenizer, transformers.AutoModel))
    for row in range(0, 12, 3):
        inputs = tokenizer(TEXTS["fr"][row], return_tensors="pt")["input_ids"]
        langs = {"langs": torch.ones_like(inputs)} if kind == "xlm" else {}
        with torch.no_grad():
            alone = model.eval()(input_ids=inputs, **langs, output_hidden_states=True).hidden_states
        for layer, own in zip(means, alone, strict=True):
            np.testing.assert_allclose(layer[row], own[0, 1:-1].mean(dim=0), atol=1e-5)
    long = " ".join(TEXTS["fr"])
    assert len(encoder.spell(long)[0]) == 24
    assert encoder.sentence_means([long])[0].shape == (1, 16)


def test_pairs_come_from_columns_a_table_or_two_files(tmp_path):
    columns, rows = tmp_path / "parallel.tsv", tmp_path / "table.tsv"
    columns.write_text("".join(f"{x}\t{y}\n" for x, y in PAIRS))
    assert read_pairs([columns], None, 10) == PAIRS[:10]
    assert read_pairs([columns], ["en", "fr"], 1000) == PAIRS
    rows.write_text("fr\tde\ten\n" + "".join(f"{y}\t-\t{x}\n" for x, y in PAIRS))
    assert read_pairs([rows], ["en", "fr"], 1000) == PAIRS
    for code, lines in TEXTS.items():
        (tmp_path / f"{code}.txt").write_text("\n".join(lines) + "\n")
    assert read_pairs([tmp_path / "en.txt", tmp_path / "fr.txt"], None, 1000) == PAIRS


def test_two_models_of_studies_need_no_flags(call, tmp_path, monkeypatch):
    vocab = write_vocab(tmp_path / "v", "joint", TEXTS, 60)
    for study in ("one", "two"):
        write_model(tmp_path / study / "models" / "toy", vocab, norm="pre")
        shutil.copytree(vocab, tmp_path / study / "vocab" / "en-fr.joint.wiki")
        (tmp_path / study / "parallel").mkdir()
        for code, lines in TEXTS.items():
            (tmp_path / study / "parallel" / f"{code}.txt").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    done = call(main, "one/models/toy", "two/models/toy")
    assert done.code == 0, done.error
    result = read_json(Path("toy-vs-toy/compare.json"))
    sides = [open_any_encoder("one/models/toy", code, tokenised=True).sentence_means(TEXTS[code]) for code in TEXTS]
    assert result["matrix"][1][3] == pytest.approx(linear_cka(sides[0][1], sides[1][3]), abs=1e-6)
    assert [result[key] for key in ("languages", "sentences", "fitted")] == [["en", "fr"], 64, 48]
    layers, matrix = (pd.read_csv(f"toy-vs-toy/{name}.csv") for name in ("layers", "matrix"))
    assert layers.to_dict("records") == result["layers"]
    assert list(matrix.columns[1:]) == list(matrix.iloc[:, 0]) == [f"L{i}" for i in range(5)]
    np.testing.assert_allclose(matrix.iloc[:, 1:], result["matrix"], rtol=1e-15)
    assert Path("toy-vs-toy/matrix.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in Path("toy-vs-toy/matrix.svg").read_bytes()
    axes, bar = heat_map(result).axes
    labels = [axes.get_ylabel(), axes.get_xlabel(), bar.get_ylabel()]
    assert labels == ["layers of one/models/toy (en)", "layers of two/models/toy (fr)", "linear CKA"]
    assert axis_names(["one/models/toy", "org/bert"], ["en", None]) == ["toy (en)", "org/bert"]
    assert len(table(result).splitlines()) == 1 + 5 + 1
    assert caution(result) is None
    unnamed = call(main, *["one/models/toy"] * 2, "--parallel", "one/parallel/en.txt", "one/parallel/fr.txt").error
    assert "name one of its languages with --languages A B, en, fr (given: none)" in unnamed
    Path("one/tokenisers").mkdir()
    Path("one/tokenisers/fr.json").write_text('{"language": "fr", "moses": "fr"}')
    raw = open_any_encoder("one/models/toy", "fr").sentence_means([text.upper() for text in TEXTS["fr"]])
    np.testing.assert_array_equal(raw[-1], sides[1][-1])
    assert "48 pairs for vectors 100 wide are few" in str(caution(result | {"widths": [24, 100]}))


def test_models_of_hugging_face(call, models, tmp_path):
    xlmr = write_xlm_roberta(tmp_path / "xlmr", TEXTS["fr"], width=20)
    flags = ["--parallel", models / "parallel.tsv", "--sentences", 32, "--out", tmp_path / "out"]
    done = call(main, models / "bert", xlmr, *flags)
    assert done.code == 0, done.error
    result = read_json(tmp_path / "out" / "compare.json")
    assert result["sentences"] == 32
    assert np.array(result["matrix"]).shape == (3, 4)
    found = [(row["left"], row["right"], row["plain"]) for row in result["layers"]]
    assert found == [(0, 0, None), (1, 2, None), (2, 3, None)]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Write models and parallel files of every kind that is refused, and some that are whole."""
    root = tmp_path_factory.mktemp("models")
    english = TEXTS["en"]
    for name in ("bert", "pickled", "odd", "broken"):
        write_bert(root / name, english)
    write_xlm(root / "xlm", english)
    write_model(root / "own", write_vocab(root / "v", "joint", TEXTS, 60))
    export(root / "own", root / "v" / "joint", root / "exported", {})
    torch.save({}, root / "pickled" / "pytorch_model.bin")
    (root / "pickled" / "model.safetensors").unlink()
    (root / "odd" / "config.json").write_text(json.dumps({"model_type": "quantum"}))
    (root / "broken" / "model.safetensors").write_bytes(b"nothing")
    write_tokenizer(root / "both", english, "<s>", "</s>", "<pad>")
    transformers.T5Config(vocab_size=9, d_model=8).save_pretrained(root / "both")
    (root / "both" / "model.safetensors").touch()
    write_bert(root / "bare", english, layers=1)
    config = json.loads((root / "bare" / "config.json").read_text())
    (root / "bare" / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 2}))
    contents = {"20.txt": "a\n" * 20, "21.txt": "a\n" * 21, "one.tsv": "a\tb\n" * 9 + "a\n", "empty.tsv": ""}
    contents |= {"blank.tsv": "a\tb\n" * 9 + "a\t \n", "seven.tsv": "a\tb\n" * 7}
    contents |= {"parallel.tsv": "".join(f"{x}\t{y}\n" for x, y in PAIRS)}
    for name, content in contents.items():
        (root / name).write_text(content)
    return root


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("bert", "--parallel: this is no model of ours"),
        ("own", "parallel/en.txt: no such file beside the model (name sentences with --parallel; or let snakemake"),
        ("onw", "onw: no such folder (did you mean 'own'?)"),
        ("bert --parallel nowhere.tsv", "nowhere.tsv: no such file"),
        ("bert --parallel 20.txt 21.txt", "20.txt: ends after 20 lines"),
        ("bert --parallel one.tsv", "one.tsv, line 10: 1 columns, expected sentence<TAB>sentence"),
        ("bert --parallel blank.tsv", "blank.tsv, line 10: an empty side"),
        ("bert --parallel seven.tsv", "seven.tsv: 7 pairs of sentences, at least 8 are needed"),
        ("bert --parallel empty.tsv", "empty.tsv: 0 pairs of sentences"),
        ("bert --parallel one.tsv one.tsv one.tsv", "--parallel takes one file or two, not 3"),
        (". --parallel parallel.tsv", "neither model.json (ours) nor config.json (Hugging Face) in it"),
        ("./no/where --parallel parallel.tsv", "not a folder"),
        ("own/model.json --parallel parallel.tsv", "not a folder"),
        ("pickled --parallel parallel.tsv", "only safetensors are read"),
        ("odd --parallel parallel.tsv", "quantum"),
        ("both --parallel parallel.tsv", "t5 is an encoder with a decoder"),
        ("bare --parallel parallel.tsv", "weights of BertModel are missing, as encoder.layer.1."),
        ("broken --parallel parallel.tsv", "cannot load its model"),
        ("xlm --parallel parallel.tsv", "name one of its languages with --languages A B, en, fr (given: none)"),
        ("exported --parallel parallel.tsv --languages de fr", "languages with --languages A B, en, fr (given: de)"),
        ("own --parallel parallel.tsv --languages fr en", "en-fr.joint.wiki/vocab.json: no such file beside the model"),
        ("no-such-owner/no-such-model --parallel parallel.tsv", "cannot load its config"),
    ],
)
def test_bad_input_is_one_line(refused, models, monkeypatch, arguments, problem):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.chdir(models)
    model, *flags = arguments.split()
    assert problem in refused(main, model, "bert" if flags else model, *flags, "--out", "out", out=Path("out"))


def test_a_text_without_tokens_and_a_machine_without_transformers(tmp_path, monkeypatch):
    with pytest.raises(XlingError, match="toy: no token in 'x'"):
        AnyEncoder("toy", lambda _: ([2, 2], [False, False]), lambda *_: []).sentence_means(["x"])
    monkeypatch.setitem(sys.modules, "transformers", None)
    monkeypatch.delitem(sys.modules, "xling.interop.published", raising=False)
    with pytest.raises(XlingError, match=r"pip install 'xling\[hf\]'"):
        open_any_encoder(str(tmp_path))

"""Any encoder behind the analyses: the same means whichever way a model is opened, and nothing unsafe is read."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_models import made_up, write_model, write_vocab

from xling.align.states import read_states
from xling.core.errors import XlingError
from xling.interop import encoders as any_encoder
from xling.interop.encoders import by_length, main, open_encoder
from xling.interop.export import export
from xling.model.layer_states import layer_states

transformers = pytest.importorskip("transformers")
from tiny_hub import write_bert, write_tokenizer, write_xlm, write_xlm_roberta  # noqa: E402

TEXTS = {code: made_up(code, 60) for code in ("en", "fr")}
WRITERS = {"bert": write_bert, "xlm-roberta": write_xlm_roberta, "xlm": write_xlm}


def by_hand(folder: Path, text: str, **extra: Any) -> list[np.ndarray]:
    """Return the means of one text alone, without any of our code."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    ids = tokenizer(text, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        states = model(
            input_ids=ids,
            **{name: torch.full_like(ids, value) for name, value in extra.items()},
            output_hidden_states=True,
        )
    return [layer[0, 1:-1].mean(dim=0).numpy() for layer in states.hidden_states]


@pytest.mark.parametrize("kind", WRITERS)
def test_means_of_a_batch_are_those_of_each_text_alone(tmp_path: Path, kind: str) -> None:
    folder = WRITERS[kind](tmp_path / "hf", TEXTS["fr"])
    language = "fr" if kind == "xlm" else None
    means = open_encoder(str(folder), language).sentence_means(TEXTS["fr"][:12])
    extra = {"langs": 1} if kind == "xlm" else {}
    for row, text in enumerate(TEXTS["fr"][:12]):
        for layer, expected in zip(means, by_hand(folder, text, **extra), strict=True):
            np.testing.assert_allclose(layer[row], expected, atol=1e-5)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("setting", ["no-anchors", "sep-emb"])
def test_ours_and_exported_are_the_same(tmp_path: Path, norm: str, setting: str) -> None:
    vocab = write_vocab(tmp_path / "v", "separate" if setting == "sep-emb" else "prefixed", TEXTS, 60)
    encoder = write_model(tmp_path / "model", vocab, setting, norm)
    folders = export(tmp_path / "model", vocab, tmp_path / "out", {})
    own = open_encoder(str(tmp_path / "model"), "fr", vocab).sentence_means(TEXTS["fr"])
    exported = open_encoder(str(folders[-1]), "fr").sentence_means(TEXTS["fr"])
    for left, right in zip(own, exported, strict=True):
        np.testing.assert_allclose(left, right, atol=1e-5)
    spell = open_encoder(str(tmp_path / "model"), "fr", vocab).spell
    ids, inside = spell(TEXTS["fr"][0])
    states = list(layer_states(encoder, torch.tensor([ids]), 1))
    np.testing.assert_allclose(own[-1][0], states[-1][0, torch.tensor(inside)].mean(dim=0), atol=1e-5)


def test_long_text_is_cut_where_the_encoder_ends(tmp_path: Path) -> None:
    text = " ".join(TEXTS["fr"])
    for kind, writer in WRITERS.items():
        encoder = open_encoder(str(writer(tmp_path / kind, TEXTS["fr"])), "fr")
        assert len(encoder.spell(text)[0]) == 24, kind
        assert encoder.sentence_means([text])[0].shape == (1, 16)


def test_batches_hold_every_row_once_and_little_padding() -> None:
    lengths = [5, 900, 5, 3, 2000, 5000, 7]
    batches = list(by_length(lengths, 2000))
    assert sorted(row for batch in batches for row in batch) == list(range(7))
    assert all(len(batch) * max(lengths[row] for row in batch) <= 2000 or len(batch) == 1 for batch in batches)
    assert batches[0] == [3, 0, 2, 6]


def test_the_command_writes_states_that_the_analyses_read(call: Callable[..., Any], tmp_path: Path) -> None:
    folder = write_bert(tmp_path / "hf", TEXTS["fr"])
    (tmp_path / "text.txt").write_text("\n".join(TEXTS["fr"]) + "\n")
    out = tmp_path / "fr.safetensors"
    done = call(main, folder, "--text", tmp_path / "text.txt", "--sentences", 50, "--out", out)
    assert done.code == 0, done.error
    states = read_states(out)
    assert (states.layers, states.rows, states.width, states.items) == (3, 50, 16, TEXTS["fr"][:50])
    np.testing.assert_allclose(states.read(2)[7], by_hand(folder, TEXTS["fr"][7])[2], atol=1e-5)


def test_bad_models_are_one_line(call: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    text = tmp_path / "text.txt"
    text.write_text("ba\n")
    bert, xlm = write_bert(tmp_path / "bert", TEXTS["en"]), write_xlm(tmp_path / "xlm", TEXTS["en"])
    vocab = write_vocab(tmp_path / "v", "joint", TEXTS, 60)
    write_model(tmp_path / "own", vocab)
    (exported,) = export(tmp_path / "own", vocab, tmp_path / "exported", {})
    pickled = write_bert(tmp_path / "pickled", TEXTS["en"])
    torch.save({}, pickled / "pytorch_model.bin")
    (pickled / "model.safetensors").unlink()
    odd = write_bert(tmp_path / "odd", TEXTS["en"])
    (odd / "config.json").write_text(json.dumps({"model_type": "quantum"}))
    both = tmp_path / "both"
    write_tokenizer(both, TEXTS["en"], "<s>", "</s>", "<pad>")
    transformers.T5Config(vocab_size=9, d_model=8).save_pretrained(both)
    (both / "model.safetensors").touch()
    bare = write_bert(tmp_path / "bare", TEXTS["en"], layers=1)
    config = json.loads((bare / "config.json").read_text())
    (bare / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 2}))
    broken = write_bert(tmp_path / "broken", TEXTS["en"])
    (broken / "model.safetensors").write_bytes(b"nothing")
    cases: list[tuple[list[Any], str]] = [
        ([tmp_path], "neither model.json (ours) nor config.json (Hugging Face) in it"),
        ([tmp_path / "nowhere"], "not a folder"),
        ([text], "not a folder"),
        ([pickled], "only safetensors are read"),
        ([odd], "quantum"),
        ([both], "t5 is an encoder with a decoder"),
        ([bare], "weights of BertModel are missing, as encoder.layer.1."),
        ([broken], "cannot load its model"),
        ([xlm], "name one of its languages, en, fr (given: none; --language of xling import"),
        ([xlm, "--language", "de"], "name one of its languages, en, fr (given: de; "),
        ([exported], "name one of its languages, en, fr (given: none; --language of xling import"),
        ([exported, "--language", "de"], "name one of its languages, en, fr (given: de; "),
        ([bert, "--vocab", vocab], "no model of ours"),
        ([tmp_path / "own"], "needs its vocabulary"),
        ([tmp_path / "own", "--vocab", vocab], "name one of its languages, en, fr (given: none; "),
        (["no-such-owner/no-such-model"], "cannot load its config"),
    ]
    for arguments, problem in cases:
        done = call(main, *arguments, "--text", text, "--out", tmp_path / "out.npz")
        assert (done.code, done.error.count("\n")) == (2, 1), (problem, done)
        assert problem in done.error
    assert not (tmp_path / "out.npz").exists()


def test_bad_text_is_one_line(call: Callable[..., Any], tmp_path: Path) -> None:
    bert, text = write_bert(tmp_path / "bert", TEXTS["en"]), tmp_path / "text.txt"
    for content, problem in (("", "empty where sentences"), ("ba\n \n", "text.txt, line 2: a blank line")):
        text.write_text(content)
        done = call(main, bert, "--text", text, "--out", tmp_path / "out.npz")
        assert (done.code, done.error.count("\n")) == (2, 1)
        assert problem in done.error
    done = call(main, bert, "--text", tmp_path / "nowhere.txt", "--out", tmp_path / "out.npz")
    assert (done.code, "nowhere.txt: no such file" in done.error) == (2, True)


def test_a_text_without_tokens_is_told() -> None:
    encoder = any_encoder.AnyEncoder("toy", lambda _: ([2, 2], [False, False]), lambda *_: [], 0)
    with pytest.raises(XlingError, match="toy: no token in 'x'"):
        encoder.sentence_means(["x"])


def test_without_the_extra_the_command_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    monkeypatch.delitem(sys.modules, "xling.interop.published", raising=False)
    with pytest.raises(XlingError, match=r"pip install 'xling\[hf\]'"):
        open_encoder(str(tmp_path))

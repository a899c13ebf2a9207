"""Any encoder for the analyses: the same means whichever way a model is opened, and nothing unsafe is read."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_models import made_up, write_model, write_vocab

from xling.core.errors import XlingError
from xling.interop.encoders import AnyEncoder, open_any_encoder
from xling.interop.export import export

transformers = pytest.importorskip("transformers")
from tiny_hub import write_bert, write_tokenizer, write_xlm, write_xlm_roberta  # noqa: E402

TEXTS = {code: made_up(code, 60) for code in ("en", "fr")}
WRITERS = {"bert": write_bert, "xlm-roberta": write_xlm_roberta, "xlm": write_xlm}


def by_hand(folder: Path, text: str, **extra: int) -> list[np.ndarray]:
    """Return the means of one text alone, without any of our code."""
    ids = transformers.AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")["input_ids"]
    inputs = {name: torch.full_like(ids, value) for name, value in extra.items()}
    with torch.no_grad():
        model = transformers.AutoModel.from_pretrained(folder).eval()
        states = model(input_ids=ids, **inputs, output_hidden_states=True).hidden_states
    return [layer[0, 1:-1].mean(dim=0).numpy() for layer in states]


@pytest.mark.parametrize("kind", WRITERS)
def test_means_of_a_batch_are_those_of_each_text_alone_and_long_text_is_cut(tmp_path: Path, kind: str) -> None:
    folder = WRITERS[kind](tmp_path / "hf", TEXTS["fr"])
    encoder = open_any_encoder(str(folder), "fr" if kind == "xlm" else None)
    means = encoder.sentence_means(TEXTS["fr"][:12])
    for row in range(0, 12, 3):
        expected = by_hand(folder, TEXTS["fr"][row], **({"langs": 1} if kind == "xlm" else {}))
        for layer, own in zip(means, expected, strict=True):
            np.testing.assert_allclose(layer[row], own, atol=1e-5)
    long = " ".join(TEXTS["fr"])
    assert len(encoder.spell(long)[0]) == 24
    assert encoder.sentence_means([long])[0].shape == (1, 16)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("setting", ["no-anchors", "sep-emb"])
def test_ours_and_exported_are_the_same(tmp_path: Path, norm: str, setting: str) -> None:
    vocab = write_vocab(tmp_path / "v", "separate" if setting == "sep-emb" else "prefixed", TEXTS, 60)
    encoder = write_model(tmp_path / "model", vocab, setting, norm)
    folders = export(tmp_path / "model", vocab, tmp_path / "out", {})
    opened = open_any_encoder(str(tmp_path / "model"), "fr", vocab)
    own = opened.sentence_means(TEXTS["fr"])
    exported = open_any_encoder(str(folders[-1]), "fr").sentence_means(TEXTS["fr"])
    for left, right in zip(own, exported, strict=True):
        np.testing.assert_allclose(left, right, atol=1e-5)
    ids, inside = opened.spell(TEXTS["fr"][0])
    states = list(encoder.layer_states(torch.tensor([ids]), 1))
    np.testing.assert_allclose(own[-1][0], states[-1][0, torch.tensor(inside)].mean(dim=0), atol=1e-5)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write models of every kind that is refused, and some that are whole."""
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
    return root


@pytest.mark.parametrize(
    ("model", "language", "vocab", "problem"),
    [
        ("ROOT", None, None, "neither model.json (ours) nor config.json (Hugging Face) in it"),
        ("ROOT/nowhere", None, None, "not a folder"),
        ("ROOT/own/model.json", None, None, "not a folder"),
        ("ROOT/pickled", None, None, "only safetensors are read"),
        ("ROOT/odd", None, None, "quantum"),
        ("ROOT/both", None, None, "t5 is an encoder with a decoder"),
        ("ROOT/bare", None, None, "weights of BertModel are missing, as encoder.layer.1."),
        ("ROOT/broken", None, None, "cannot load its model"),
        ("ROOT/xlm", None, None, "name one of its languages with --languages A B, en, fr (given: none)"),
        ("ROOT/exported", "de", None, "name one of its languages with --languages A B, en, fr (given: de)"),
        ("ROOT/bert", None, "joint", "no model of ours"),
        ("ROOT/own", "fr", None, "vocab/en-fr.joint.wiki/vocab.json: no such file beside the model"),
        ("ROOT/own", None, "joint", "name one of its languages with --languages A B, en, fr (given: none)"),
        ("no-such-owner/no-such-model", None, None, "cannot load its config"),
    ],
)
def test_what_is_no_encoder_is_refused(
    monkeypatch: pytest.MonkeyPatch, models: Path, model: str, language: str | None, vocab: str | None, problem: str
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(XlingError) as caught:
        open_any_encoder(model.replace("ROOT", str(models)), language, models / "v" / vocab if vocab else None)
    assert problem in str(caught.value)


def test_a_text_without_tokens_and_a_machine_without_transformers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(XlingError, match="toy: no token in 'x'"):
        AnyEncoder("toy", lambda _: ([2, 2], [False, False]), lambda *_: []).sentence_means(["x"])
    monkeypatch.setitem(sys.modules, "transformers", None)
    monkeypatch.delitem(sys.modules, "xling.interop.published", raising=False)
    with pytest.raises(XlingError, match=r"pip install 'xling\[hf\]'"):
        open_any_encoder(str(tmp_path))

"""A round trip through Hugging Face's classes: the same logits and states, for every setting and both norms."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from tiny_models import SETTINGS, made_up, write_model, write_vocab

from xling.model.export import export, main
from xling.model.files import load_encoder, save_encoder
from xling.model.hugging_face import NoCache

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("xling.model.hf_tokenizer")
TEXTS = {code: made_up(code, 200) for code in ("en", "fr")}


@pytest.fixture(scope="module")
def vocabularies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("vocabularies")
    kinds = {kind for kind, *_ in SETTINGS.values()}
    return {kind: write_vocab(root, kind, TEXTS, 60) for kind in sorted(kinds)}


def logits_and_states(folder: Path, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, list[torch.Tensor]]:
    model, told = transformers.AutoModelForMaskedLM.from_pretrained(folder, output_loading_info=True)
    assert not any(told.values()), told
    cache = {"cache": NoCache.of(model.config)} if getattr(model.config, "pre_norm", False) else {}
    with torch.no_grad():
        out = model.eval()(**batch, **cache, output_hidden_states=True)
    return out.logits, list(out.hidden_states)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize(("norm", "activation", "inner"), [("post", "gelu", 4), ("pre", "relu", 2), ("pre", "gelu", 4)])
def test_logits_and_states_survive(
    tmp_path: Path, vocabularies: dict[str, Path], setting: str, norm: str, activation: str, inner: int
) -> None:
    vocab = vocabularies[SETTINGS[setting][0]]
    encoder = write_model(tmp_path / "model", vocab, setting, norm, activation, inner)
    folders = export(tmp_path / "model", vocab, tmp_path / "out", {})
    apart = SETTINGS[setting][1] or SETTINGS[setting][2] > 0
    assert folders == ([tmp_path / "out" / code for code in TEXTS] if apart else [tmp_path / "out"])
    for number, code in enumerate(TEXTS):
        folder = folders[number if apart else 0]
        batch = tokenizers.XlingTokenizer.from_pretrained(folder, language=code)(
            TEXTS[code][:20], padding=True, truncation=True, return_tensors="pt"
        )
        keep = batch["attention_mask"].bool()
        theirs, hidden = logits_and_states(folder, batch)
        with torch.no_grad():
            states = encoder(batch["input_ids"], number, keep)
            ours = encoder.logits(states[-1], number)
        assert not keep.all()
        assert ours.shape == theirs.shape
        torch.testing.assert_close(theirs[keep], ours[keep], atol=1e-4, rtol=0)
        for mine, other in zip(states, hidden, strict=True):
            torch.testing.assert_close(other[keep], mine[keep], atol=1e-4, rtol=0)


def test_the_languages_are_told_apart(tmp_path: Path, vocabularies: dict[str, Path]) -> None:
    write_model(tmp_path / "model", vocabularies["joint"])
    (folder,) = export(tmp_path / "model", vocabularies["joint"], tmp_path / "out", {})
    batch = tokenizers.XlingTokenizer.from_pretrained(folder, language="fr")(TEXTS["fr"][0], return_tensors="pt")
    right, _ = logits_and_states(folder, batch)
    wrong, _ = logits_and_states(folder, dict(batch) | {"langs": 0 * batch["langs"]})
    assert (right - wrong).abs().max() > 1e-2
    assert json.loads((folder / "config.json").read_text())["lang2id"] == {"en": 0, "fr": 1}


def test_a_model_of_one_language_needs_none(tmp_path: Path) -> None:
    vocab = write_vocab(tmp_path / "vocab", "mono", {"fr": TEXTS["fr"]}, 60)
    encoder = write_model(tmp_path / "model", vocab)
    (folder,) = export(tmp_path / "model", vocab, tmp_path / "out", {})
    batch = tokenizers.XlingTokenizer.from_pretrained(folder)(TEXTS["fr"][0], return_tensors="pt")
    assert list(batch) == ["input_ids", "attention_mask"]
    with torch.no_grad():
        ours = encoder.logits(encoder(batch["input_ids"], 0)[-1], 0)
    torch.testing.assert_close(logits_and_states(folder, batch)[0], ours, atol=1e-4, rtol=0)


def test_the_same_bytes_twice_and_no_code(tmp_path: Path, vocabularies: dict[str, Path]) -> None:
    write_model(tmp_path / "model", vocabularies["separate"], "sep-emb")
    for name in ("a", "b"):
        export(tmp_path / "model", vocabularies["separate"], tmp_path / name, {})
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in files)
    assert not [name for name in files if name.suffix in (".py", ".bin", ".pt", ".pkl")]
    assert load_file(tmp_path / "a" / "fr" / "model.safetensors")["pred_layer.proj.bias"].dtype == torch.float32


def test_the_card_says_what_the_run_says(tmp_path: Path, vocabularies: dict[str, Path]) -> None:
    model = tmp_path / "model"
    write_model(model, vocabularies["union"], "sep-l1-3", "pre")
    lines = [
        {"kind": "validation", "update": 0, "loss": {"en": 9.0}, "perplexity": {"en": 8103.1}, "unigram_entropy": {}},
        {
            "kind": "validation",
            "update": 50,
            "loss": {"en": 2.25},
            "perplexity": {"en": 9.49},
            "unigram_entropy": {"en": 4.5},
        },
        {"kind": "train", "update": 51, "loss": 2.0},
    ]
    (model / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    export(model, vocabularies["union"], tmp_path / "out", {}, "CC-BY-SA-4.0")
    card = (tmp_path / "out" / "fr" / "README.md").read_text()
    assert card.startswith("---\nlanguage:\n- fr\nlicense: CC-BY-SA-4.0\n")
    for part in (
        "# toy.sep-l1-3, the part of fr", "the first 3 layers to itself", "| seed | 7 |", "| lr | 0.5 |",
        "| vocabulary | kind: union, merges: 60 |", "| en | 2.2500 | 9.49 | 4.5000 |", "after 50 updates",
        "at most 32 tokens", "NoCache", "CC-BY-SA-4.0, as stated",
    ):  # fmt: skip
        assert part in card
    (model / "run.json").unlink()
    (model / "metrics.jsonl").unlink()
    export(model, vocabularies["union"], tmp_path / "bare", {})
    bare = (tmp_path / "bare" / "en" / "README.md").read_text()
    assert "came without a run.json" in bare
    assert "came without a validation" in bare
    assert "license: other" in bare


@pytest.mark.parametrize(("setting", "own"), [("sep-emb", "the embeddings"), ("sep-tokens", "the token vectors")])
def test_the_card_says_what_is_a_languages_own(
    tmp_path: Path, vocabularies: dict[str, Path], setting: str, own: str
) -> None:
    write_model(tmp_path / "model", vocabularies["separate"], setting)
    for folder in export(tmp_path / "model", vocabularies["separate"], tmp_path / "out", {}):
        assert f"Each language has {own} and the softmax to itself" in (folder / "README.md").read_text()


def test_the_code_of_the_card_runs(tmp_path: Path, vocabularies: dict[str, Path]) -> None:
    for norm in ("post", "pre"):
        write_model(tmp_path / norm, vocabularies["joint"], norm=norm)
        (folder,) = export(tmp_path / norm, vocabularies["joint"], tmp_path / f"{norm}.out", {})
        code = (folder / "README.md").read_text().split("```python\n")[1].split("```")[0]
        names: dict[str, Any] = {}
        exec(code.replace("FOLDER", str(folder)).replace("TEXT", TEXTS["en"][0]), names)  # noqa: S102
        assert names["outputs"].logits.shape[-1] == names["model"].config.vocab_size


def test_bad_input_is_one_line(call: Callable[..., Any], tmp_path: Path, vocabularies: dict[str, Path]) -> None:
    model, joint = tmp_path / "model", vocabularies["joint"]
    write_model(model, joint)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "model.json").write_text((model / "model.json").read_text())
    wide = load_encoder(model)
    other = write_model(tmp_path / "wide", joint, inner=5)
    assert wide.config != other.config
    save_encoder(other, tmp_path / "wide")
    out = tmp_path / "out"
    cases = [
        ([tmp_path, "--vocab", joint, "--out", out], "no model.json in it"),
        ([tmp_path / "cut", "--vocab", joint, "--out", out], "no model.safetensors in it"),
        ([model, "--vocab", tmp_path, "--out", out], "vocab.json: no such file"),
        ([model, "--vocab", vocabularies["separate"], "--out", out], "but the model has"),
        ([model, "--vocab", joint, "--out", tmp_path / "full"], "exists already"),
        ([tmp_path / "wide", "--vocab", joint, "--out", out], "a feed-forward part of 120 cannot be exported"),
        ([model, "--vocab", joint, "--tokeniser", "de={}", "--out", out], "language: missing key"),
        ([model, "--vocab", joint, "--tokeniser", "nonsense", "--out", out], "expected CODE=JSON"),
        (
            [model, "--vocab", joint, "--tokeniser", 'de={"language": "de", "moses": "de"}', "--out", out],
            "speaks en, fr",
        ),
    ]
    for arguments, problem in cases:
        done = call(main, *arguments)
        assert (done.code, done.error.count("\n")) == (2, 1), problem
        assert problem in done.error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cut", "full", "model", "wide"]

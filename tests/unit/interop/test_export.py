"""A round trip through Hugging Face's classes: the same logits and states, for every setting and both norms."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from embedded import DEMO
from tiny_models import SETTINGS, made_up, write_model, write_vocab

from xling.core.io import write_json
from xling.interop.beside import vocabulary_of
from xling.interop.export import export, main

transformers = pytest.importorskip("transformers")
pytest.importorskip("xling.interop.published")  # mends transformers for models with pre_norm
Vocabularies = dict[str, Path]
TEXTS = {code: made_up(code, 200) for code in ("en", "fr")}


@pytest.fixture(scope="module")
def vocabularies(tmp_path_factory: pytest.TempPathFactory) -> Vocabularies:
    root = tmp_path_factory.mktemp("vocabularies")
    made = {kind: write_vocab(root, kind, TEXTS, 60) for kind in sorted({kind for kind, *_ in SETTINGS.values()})}
    return made | {"mono": write_vocab(root / "mono", "mono", {"fr": TEXTS["fr"]}, 60)}


def spelled(folder: Path, code: str, texts: list[str], number: int | None) -> dict[str, torch.Tensor]:
    """Return texts as a user of transformers spells them, with the number of their language where there are several."""
    below = code if (folder / code).is_dir() else ""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, subfolder=below)
    batch = dict(tokenizer(texts, padding=True, truncation=True, return_tensors="pt"))
    return batch if number is None else batch | {"langs": torch.full_like(batch["input_ids"], number)}


def logits_and_states(folder: Path, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, list[torch.Tensor]]:
    model, report = transformers.AutoModelForMaskedLM.from_pretrained(folder, output_loading_info=True)
    assert not any(report.values()), report
    with torch.no_grad():
        out = model.eval()(**batch, output_hidden_states=True)
    return out.logits, list(out.hidden_states)


@pytest.mark.parametrize("setting", [*SETTINGS, "mono"])
@pytest.mark.parametrize(("norm", "activation", "inner"), [("post", "gelu", 4), ("pre", "relu", 2), ("pre", "gelu", 4)])
def test_logits_and_states_survive(
    tmp_path: Path, vocabularies: Vocabularies, setting: str, norm: str, activation: str, inner: int
) -> None:
    kind, embeddings, layers = SETTINGS.get(setting, ("mono", False, 0))
    made = "default" if setting == "mono" else setting
    encoder = write_model(tmp_path / "model", vocabularies[kind], made, norm, activation, inner)
    folders = export(tmp_path / "model", vocabularies[kind], tmp_path / "out", {})
    codes, apart = encoder.config.languages, embeddings or layers > 0
    assert folders == ([tmp_path / "out" / code for code in codes] if apart else [tmp_path / "out"])
    for number, code in enumerate(codes):
        folder = folders[number if apart else 0]
        batch = spelled(folder, code, TEXTS[code][:20], number if len(codes) > 1 else None)
        keep = batch["attention_mask"].bool()
        theirs, hidden = logits_and_states(folder, batch)
        with torch.no_grad():
            states = encoder(batch["input_ids"], number, keep)
            ours = encoder.logits(states[-1], number)
        assert not keep.all()
        assert ours.shape == theirs.shape
        torch.testing.assert_close(theirs[keep], ours[keep], atol=1e-5, rtol=0)
        for mine, other in zip(states, hidden, strict=True):
            torch.testing.assert_close(other[keep], mine[keep], atol=1e-5, rtol=0)


def test_the_command_exports_and_the_languages_are_told_apart(
    call: Callable[..., Any], tmp_path: Path, vocabularies: Vocabularies
) -> None:
    folder, options = tmp_path / "out", tmp_path / "fr.json"
    options.write_text('{"language": "fr", "moses": "fr"}')
    write_model(tmp_path / "model", vocabularies["joint"])
    flags = ["--vocab", vocabularies["joint"], "--tokeniser", f"fr={options}", "--out", folder]
    assert call(main, tmp_path / "model", *flags).code == 0
    steps = [json.loads((folder / f"{code}/tokenizer.json").read_text())["normalizer"] for code in ("en", "fr")]
    assert [bool(own["normalizers"]) for own in steps] == [False, True]  # French is tokenised as Moses does
    batch = spelled(folder, "fr", TEXTS["fr"][:1], 1)
    right, _ = logits_and_states(folder, batch)
    wrong, _ = logits_and_states(folder, dict(batch) | {"langs": 0 * batch["langs"]})
    assert (right - wrong).abs().max() > 1e-2
    assert json.loads((folder / "config.json").read_text())["lang2id"] == {"en": 0, "fr": 1}


@pytest.mark.parametrize(("setting", "own"), [("sep-emb", "the embeddings"), ("sep-tokens", "the token vectors")])
def test_the_same_bytes_twice_no_code_and_a_card_of_what_is_a_languages_own(
    tmp_path: Path, vocabularies: Vocabularies, setting: str, own: str
) -> None:
    write_model(tmp_path / "model", vocabularies["separate"], setting)
    for name in ("a", "b"):
        export(tmp_path / "model", vocabularies["separate"], tmp_path / name, {})
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in files)
    assert not [name for name in files if name.suffix in (".py", ".bin", ".pt", ".pkl")]
    assert f"Each language has {own} and the softmax to itself" in (tmp_path / "a/fr/README.md").read_text()


def test_the_card_says_what_the_run_says(tmp_path: Path, vocabularies: Vocabularies) -> None:
    model, loss = tmp_path / "model", {"kind": "validation", "loss": {"en": 2.25}, "perplexity": {"en": 9.49}}
    write_model(model, vocabularies["union"], "sep-l1-3", "pre")
    lines = [loss | {"update": 0}, loss | {"update": 50, "unigram_entropy": {"en": 4.5}}, {"kind": "train"}]
    (model / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (model / "provenance.json").write_text(json.dumps({"commit": "1db4", "attempts": [{"device": "A|B"}]}))
    export(model, vocabularies["union"], tmp_path / "out", {}, "CC-BY-SA-4.0")
    card = (tmp_path / "out" / "fr" / "README.md").read_text()
    assert card.startswith("---\nlanguage:\n- fr\nlicense: CC-BY-SA-4.0\n")
    for part in (
        "# toy.sep-l1-3, the part of fr", "the first 3 layers to itself", "| seed | 7 |", "| lr | 0.5 |",
        "| vocabulary | kind: union, merges: 60 |", "| en | 2.2500 | 9.49 | 4.5000 |", "after 50 updates",
        "at most 32 tokens", "EncoderDecoderCache", "CC-BY-SA-4.0, as stated", "| commit | 1db4 |", "| hardware | A\\|B |",
    ):  # fmt: skip
        assert part in card
    for name in ("run.json", "metrics.jsonl"):
        (model / name).unlink()
    export(model, vocabularies["union"], tmp_path / "bare", {})
    bare = (tmp_path / "bare" / "en" / "README.md").read_text()
    for part in ("came without a run.json", "came without a validation", "license: other"):
        assert part in bare


def test_the_vocabulary_beside_a_model_is_the_study_s(tmp_path: Path) -> None:
    for name in DEMO.models:
        expected = tmp_path / "vocab" / DEMO.vocabulary(name)
        expected.mkdir(parents=True, exist_ok=True)
        (expected / "vocab.json").touch()
        write_json(tmp_path / "models" / name / "run.json", DEMO.run(name))
        assert vocabulary_of(tmp_path / "models" / name) == expected


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_model_of_a_study_needs_no_flags_and_the_code_of_its_card_runs(
    call: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vocabularies: Vocabularies, norm: str,
    repository: Path,
) -> None:  # fmt: skip
    model, study = tmp_path / "study" / "models" / "toy", tmp_path / "study"
    encoder = write_model(model, vocabularies["joint"], norm=norm)
    monkeypatch.chdir(tmp_path)
    assert "or let snakemake make it, if the study has it)" in call(main, model).error
    (study / "tokenisers").mkdir()
    for code in TEXTS:
        (study / "tokenisers" / f"{code}.json").write_text(json.dumps({"language": code, "moses": code}))
    assert "name the vocabulary with --vocab" in call(main, model).error
    shutil.copytree(vocabularies["joint"], study / "vocab" / "en-fr.joint.wiki")
    assert call(main, model).code == 0
    pages = [Path("toy.hf/README.md")] + [repository / "docs" / "share.md"] * (norm == "pre")
    for number, page in enumerate(pages):  # the card's code is English, that of the docs French
        code = page.read_text().split("```python\n")[1].split("```")[0]
        assert "xling" not in code
        monkeypatch.delattr(transformers.EncoderDecoderCache, "__getitem__", raising=False)  # the page has it
        names: dict[str, Any] = {}
        exec(re.sub("FOLDER|DIR", "toy.hf", code).replace("TEXT", TEXTS["en"][0]), names)  # noqa: S102
        ids, keep = (names["inputs"][key] for key in ("input_ids", "attention_mask"))
        with torch.no_grad():
            own = encoder.logits(encoder(ids, number, keep.bool())[-1], number)
        torch.testing.assert_close(names["outputs"].logits, own, atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (".", "no model.json in it"),
        (". --vocab JOINT", "no model.json in it"),
        ("modle", "modle: no such folder (did you mean 'model'?)"),
        ("none/model", "none/model: no such folder (expected the folder of a model trained by xling)"),
        ("cut --vocab JOINT", "no model.safetensors in it"),
        ("model --vocab .", "vocab.json: no such file"),
        ("model --vocab SEPARATE", "but the model has"),
        ("model --vocab JOINT --out cut", "exists already"),
        ("wide --vocab JOINT", "a feed-forward part of 120 cannot be exported"),
        ("model --vocab JOINT --tokeniser de=empty.json", "empty.json: language: missing key"),
        ("model --vocab JOINT --tokeniser nonsense", "expected CODE=FILE"),
        ("model --vocab JOINT --tokeniser de=no.json", "no.json: no such file"),
        ("model --vocab JOINT --tokeniser de=de.json", "speaks en, fr"),
    ],
)
def test_bad_input_is_one_line(
    call: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vocabularies: Vocabularies,
    arguments: str, problem: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    write_model(Path("model"), vocabularies["joint"])
    write_model(Path("wide"), vocabularies["joint"], inner=5)
    Path("cut").mkdir()
    Path("cut/model.json").write_text(Path("model/model.json").read_text())
    Path("empty.json").write_text("{}")
    Path("de.json").write_text('{"language": "de", "moses": "de"}')
    before = sorted(Path().iterdir())
    for kind in ("JOINT", "SEPARATE"):
        arguments = arguments.replace(kind, str(vocabularies[kind.lower()]))
    model, *flags = arguments.split()
    done = call(main, model, "--out", "out", *flags)
    assert (done.code, done.error.count("\n")) == (2, 1)
    assert problem in done.error
    assert sorted(Path().iterdir()) == before

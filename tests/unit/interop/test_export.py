"""A round trip through Hugging Face's classes: the same ids, logits and states, for every setting and both norms."""

import json
import re
import shutil
from difflib import SequenceMatcher
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from embedded import made
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import SETTINGS, made_up, write_model, write_vocab

from xling.bpe.vocabulary import Vocabulary
from xling.core.io import read_lines, write_json
from xling.finetune.data import Speller
from xling.interop.encoders import open_any_encoder
from xling.interop.export import export, main
from xling.interop.fast_tokenizer import tokenizer_json
from xling.interop.trained import in_study, tokeniser_of, vocabulary_of
from xling.tokenization.options import check_options
from xling.tokenization.tokeniser import make_tokeniser

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
pytest.importorskip("xling.interop.published")  # mends transformers for models with pre_norm
TEXTS = {code: made_up(code, 200) for code in ("en", "fr")}
OPTIONS = {code: {"language": code, "moses": code} for code in ("en", "fr", "de", "ru")} | {
    "zh": {"language": "zh", "moses": "zh", "segmenter": "jieba", "script": "simplified"}
}
LINES = 1000  # of raw text; the words of the first quarter go through every kind of vocabulary
loaded, moses = cache(Vocabulary.load), cache(lambda code: make_tokeniser(OPTIONS[code]))


@pytest.fixture(scope="module")
def vocabularies(tmp_path_factory):
    root = tmp_path_factory.mktemp("vocabularies")
    made = {kind: write_vocab(root, kind, TEXTS, 60) for kind in sorted({kind for kind, *_ in SETTINGS.values()})}
    return made | {"mono": write_vocab(root / "mono", "mono", {"fr": TEXTS["fr"]}, 60)}


# Models


@pytest.mark.parametrize("setting", [*SETTINGS, "mono"])
@pytest.mark.parametrize(("norm", "activation", "inner"), [("post", "gelu", 4), ("pre", "relu", 2), ("pre", "gelu", 4)])
def test_logits_states_and_means_survive(tmp_path, vocabularies, setting, norm, activation, inner):
    kind, embeddings, layers = SETTINGS.get(setting, ("mono", False, 0))
    model, made = tmp_path / "models/toy", "default" if setting == "mono" else setting
    encoder = write_model(model, vocabularies[kind], made, norm, activation, inner)
    folders = export(model, vocabularies[kind], tmp_path / "out", {})
    codes, apart = encoder.config.languages, embeddings or layers > 0
    (tmp_path / "vocab").mkdir()
    (tmp_path / "vocab" / f"{'-'.join(codes)}.{kind}.wiki").symlink_to(vocabularies[kind])
    assert folders == ([tmp_path / "out" / code for code in codes] if apart else [tmp_path / "out"])
    for number, code in enumerate(codes):
        folder, texts = folders[number if apart else 0], TEXTS[code][:20]
        below = code if (folder / code).is_dir() else ""
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, subfolder=below)
        batch = tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
        ids, keep = batch["input_ids"], batch["attention_mask"].bool()
        langs = {"langs": torch.full_like(ids, number)} if len(codes) > 1 else {}
        theirs, report = transformers.AutoModelForMaskedLM.from_pretrained(folder, output_loading_info=True)
        assert not any(report.values()), report
        special = [f"{name}_token_id" for name in ("pad", "bos", "eos", "mask")]
        assert [getattr(theirs.config, name) for name in special] == [getattr(tokenizer, name) for name in special]
        with torch.no_grad():
            out = theirs.eval()(**batch, **langs, output_hidden_states=True)
            states = encoder(ids, number, keep)
            ours = encoder.logits(states[-1], number)
        assert not keep.all()
        assert ours.shape == out.logits.shape
        for mine, other in zip([ours, *states], [out.logits, *out.hidden_states], strict=True):
            torch.testing.assert_close(other[keep], mine[keep], atol=1e-5, rtol=0)
        opened = open_any_encoder(str(model), code, tokenised=True), open_any_encoder(str(folder), code)
        for own, exported in zip(*(encoder.sentence_means(texts) for encoder in opened), strict=True):
            np.testing.assert_allclose(own, exported, atol=1e-5)


def test_the_files_beside_a_model_are_the_study_s(tmp_path):
    one = made(study={"results": str(tmp_path)})
    for name, described in one.models.items():
        run, vocabulary = one.model_file(name, "run.json"), one.vocabulary_folder(name) / "vocab.json"
        write_json(run, one.run(name))
        code = described.languages[0]
        for path in (vocabulary, one.tokeniser_file(code), one.parallel(code)):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        assert vocabulary_of(run.parent) == vocabulary.parent
        assert tokeniser_of(run.parent, code) == one.tokeniser_file(code)
        assert in_study(run.parent, f"parallel/{one.parallel_side(code)}.txt", "") == one.parallel(code)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_model_of_a_study_needs_no_flags_and_the_code_of_its_card_runs(
    call, tmp_path, monkeypatch, vocabularies, norm, repository
):
    model, study = tmp_path / "study" / "models" / "toy", tmp_path / "study"
    encoder = write_model(model, vocabularies["joint"], norm=norm)
    monkeypatch.chdir(tmp_path)
    assert "name it with xling export --tokeniser; or let snakemake make it" in call(main, model).error
    (study / "tokenisers").mkdir()
    for code in TEXTS:
        (study / "tokenisers" / f"{code}.json").write_text(json.dumps(OPTIONS[code]))
    assert "name the vocabulary with xling export --vocab; or let snakemake" in call(main, model).error
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
    flags = ["--vocab", vocabularies["joint"], "--tokeniser", f"fr={study / 'tokenisers/fr.json'}", "--out", "own"]
    assert call(main, model, *flags).code == 0
    steps = [json.loads(Path(f"own/{code}/tokenizer.json").read_text())["normalizer"] for code in ("en", "fr")]
    assert [bool(own["normalizers"]) for own in steps] == [False, True]  # French is tokenised as Moses does


def test_the_same_bytes_twice_no_code_and_a_card_that_says_what_the_run_says(tmp_path, vocabularies):
    model, loss = tmp_path / "model", {"kind": "validation", "loss": {"en": 2.25}, "perplexity": {"en": 9.49}}
    write_model(model, vocabularies["union"], "sep-l1-3", "pre")
    lines = [loss | {"update": 0}, loss | {"update": 50, "unigram_entropy": {"en": 4.5}}, {"kind": "train"}]
    (model / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (model / "provenance.json").write_text(json.dumps({"commit": "1db4", "attempts": [{"device": "A|B"}]}))
    for name in ("a", "b"):
        export(model, vocabularies["union"], tmp_path / name, {}, "CC-BY-SA-4.0")
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in files)
    assert not [name for name in files if name.suffix in (".py", ".bin", ".pt", ".pkl")]
    card = (tmp_path / "a" / "fr" / "README.md").read_text()
    assert card.startswith("---\nlanguage:\n- fr\nlicense: CC-BY-SA-4.0\n")
    for part in (
        "# toy.sep-l1-3, the part of fr", "the first 3 layers to itself", "| seed | 7 |", "| lr | 0.5 |",
        "| vocabulary | kind: union, merges: 60 |", "| en | 2.2500 | 9.49 | 4.5000 |", "after 50 updates",
        "at most 32 tokens", "EncoderDecoderCache", "CC-BY-SA-4.0, as stated", "| commit | 1db4 |", "| hardware | A\\|B |",
    ):  # fmt: skip
        assert part in card
    for setting, own in (("sep-emb", "the embeddings"), ("sep-tokens", "the token vectors")):
        write_model(tmp_path / setting, vocabularies["separate"], setting)
        (tmp_path / setting / "run.json").unlink()
        export(tmp_path / setting, vocabularies["separate"], tmp_path / f"{setting}.hf", {})
        bare = (tmp_path / f"{setting}.hf" / "fr" / "README.md").read_text()
        for part in ("without a run.json", "without a validation", "license: other", f"has {own} and the softmax"):
            assert part in bare


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (".", "no model.json in it"),
        (". --vocab JOINT", "no model.json in it"),
        ("modle", "modle: no such folder (did you mean 'model'?)"),
        ("none/model", "none/model: no such folder (expected the folder of a model trained by xling)"),
        ("cut --vocab JOINT", "no model.safetensors in it"),
        ("model --vocab .", "vocab.json: no such file"),
        ("model --vocab SEPARATE", "94 ids for en, but the model has 101 (name the model's own vocabulary)"),
        ("model --vocab MONO", "no language 'en', which the model has"),
        ("model --vocab JOINT --out cut", "exists already"),
        ("wide --vocab JOINT", "a feed-forward part of 120 cannot be exported"),
        ("model --vocab JOINT --tokeniser de=empty.json", "empty.json: language: missing key"),
        ("model --vocab JOINT --tokeniser nonsense", "expected CODE=FILE"),
        ("model --vocab JOINT --tokeniser de=de.json --tokeniser de=de.json", "CODE=FILE, each code once"),
        ("model --vocab JOINT --tokeniser de=no.json", "no.json: no such file"),
        ("model --vocab JOINT --tokeniser de=de.json", "speaks en, fr"),
    ],
)
def test_bad_input_is_one_line(refused, tmp_path, monkeypatch, vocabularies, arguments, problem):
    monkeypatch.chdir(tmp_path)
    write_model(Path("model"), vocabularies["joint"])
    write_model(Path("wide"), vocabularies["joint"], inner=5)
    Path("cut").mkdir()
    Path("cut/model.json").write_text(Path("model/model.json").read_text())
    Path("empty.json").write_text("{}")
    Path("de.json").write_text(json.dumps(OPTIONS["de"]))
    for kind in ("JOINT", "SEPARATE", "MONO"):
        arguments = arguments.replace(kind, str(vocabularies[kind.lower()]))
    before, (model, *flags) = sorted(Path().iterdir()), arguments.split()
    assert problem in refused(main, model, "--out", "out", *flags, out=Path("out"))
    assert sorted(Path().iterdir()) == before


# Tokenizers


@cache
def fast(vocab, code, raw=True):
    """Return the tokenizer of a language, for raw text or for words between spaces."""
    content = tokenizer_json(loaded(vocab), code, check_options(OPTIONS[code]) if raw else None)
    return tokenizers.Tokenizer.from_str(json.dumps(content))


@pytest.mark.real_data
@pytest.mark.parametrize("code", OPTIONS)
def test_ids_of_real_text_are_those_of_training(real_data, tmp_path, code):
    """The whole way from raw text with one vocabulary; with the others from its words, after which alone they differ."""
    raw, words = {}, {}
    for language in (code, "de" if code == "en" else "en"):
        raw[language] = list(islice(read_lines(real_data / f"text/webdocs.{language}.txt.xz"), LINES))
        words[language] = [moses(language).line(line) for line in raw[language][: LINES if language == code else 300]]
    for kind in ("joint", "prefixed", "separate", "union"):
        vocab = write_vocab(tmp_path, kind, {language: lines[:300] for language, lines in words.items()}, 600)
        whole = kind == "joint"
        some = LINES // 4 if not whole else LINES // 16 if code == "zh" else LINES  # its thousands of rules are slow
        text = (raw if whole else words)[code][:some]
        given = [found.ids for found in fast(vocab, code, whole).encode_batch(text, add_special_tokens=False)]
        expected = [loaded(vocab).encode_line(code, line) for line in words[code][:some]]
        if whole and code == "zh":  # an approximation: docs/share.md says how close it is with a larger vocabulary
            matches = [SequenceMatcher(None, *pair, False) for pair in zip(given, expected, strict=True)]
            same = sum(block.size for match in matches for block in match.get_matching_blocks())
            assert 2 * same > 0.75 * sum(map(len, given + expected))
        else:
            assert given == expected


@pytest.fixture(scope="module")
def exported(tmp_path_factory, vocabularies):
    """Return the exported folder of a model with Moses for both languages."""
    root = tmp_path_factory.mktemp("exported")
    write_model(root / "model", vocabularies["joint"])
    export(root / "model", vocabularies["joint"], root / "hf", {code: OPTIONS[code] for code in TEXTS})
    return root / "hf"


@pytest.mark.parametrize(
    "text",
    [
        'He said "no", "yes." and ",.", too', "the '70s, rock'n'roll, '2' and 5's dogs'", "U.S. and Mr. X. No. 5 No. X etc.",
        "... wait.. what...no .", "1,000,5 , ,a,", "100 % (sure ) ; it's `so` ''here''", "«\u00a0oui\u00a0» 5\u00a0000\u00a0%",
        "", " ", "!", "\t!", "Σ ΟΔΟΣ", "it. is. done. 5. x",
    ],
)  # fmt: skip
@pytest.mark.parametrize("code", ["en", "fr"])
def test_rules_of_moses_as_tokenizer_json(exported, vocabularies, code, text):
    folder = exported if code == "en" else exported / code  # English is beside the weights
    tokenizer, line = transformers.AutoTokenizer.from_pretrained(folder), moses(code).line(text)
    found = tokenizer(text)
    assert tokenizer.backend_tokenizer.normalizer.normalize_str(text).split() == line.split()
    assert found["input_ids"] == [2, *loaded(vocabularies["joint"]).encode_line(code, line), 2]
    assert set(found) == {"input_ids", "attention_mask"}


@pytest.mark.parametrize("kind", ["joint", "prefixed", "separate", "union"])
@settings(max_examples=15)
@given(text=st.text() | st.sampled_from(["<mask> </s> <pad>", "Il\u00a0dit : «oui», 1999…", "▁a", ""]))
def test_any_text_is_framed_and_our_own_lines_have_the_ids_of_training(vocabularies, kind, text):
    ids = fast(vocabularies[kind], "fr").encode(text).ids
    assert (ids[0], ids[-1]) == (2, 2)  # whatever the text
    for code, lines in TEXTS.items():
        expected = [[2, *loaded(vocabularies[kind]).encode_line(code, line), 2] for line in lines[:9]]
        assert [found.ids for found in fast(vocabularies[kind], code).encode_batch(lines[:9])] == expected


@pytest.mark.parametrize("own", [{}, {"strip_accents": True}, {"lowercase": False, "strip_accents": True}])
def test_case_and_accents_without_moses(vocabularies, own):
    vocabulary, options = loaded(vocabularies["joint"]), {"language": "fr", "moses": None} | own
    content = tokenizer_json(vocabulary, "fr", check_options(options))
    given = tokenizers.Tokenizer.from_str(json.dumps(content)).encode("  Bé dÉ,\ttE\u0301 ", add_special_tokens=False)
    assert given.ids == vocabulary.encode_line("fr", make_tokeniser(options).line("  Bé dÉ,\ttE\u0301 "))


def test_text_is_framed_as_the_tasks_frame_it(exported, vocabularies):
    first, second = TEXTS["fr"][:2]
    tokenizer = transformers.AutoTokenizer.from_pretrained(exported, subfolder="fr")
    speller = Speller(loaded(vocabularies["joint"]), "fr", 200)
    assert np.array_equal(tokenizer(first, second)["input_ids"], speller.pair(first.split(), second.split())[0])
    assert np.array_equal(tokenizer(first)["input_ids"], speller.sentence(first.split())[0][0])
    mask = tokenizer(first, return_special_tokens_mask=True)["special_tokens_mask"]
    assert mask == [1, *([0] * (len(mask) - 2)), 1]
    assert tokenizer.decode(tokenizer(first)["input_ids"], skip_special_tokens=True) == first
    assert len(tokenizer(" ".join(TEXTS["fr"][:20]), truncation=True)["input_ids"]) == tokenizer.model_max_length == 32


def test_chinese_is_cut_into_the_longest_words_of_the_vocabulary(tmp_path):
    vocab = write_vocab(tmp_path, "mono", {"zh": ["天地 天地 天地 人 天 地 国"] * 3}, 6)
    assert "▁天地" in loaded(vocab).pieces("zh")
    found = fast(vocab, "zh").encode("天地人國天", add_special_tokens=False)
    assert found.ids == loaded(vocab).encode_words("zh", ["天地", "人", "国", "天"])

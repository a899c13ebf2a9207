"""Every wrong description is refused with one line that names the key, what was expected and the nearest valid name."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from embedded import study

from workflow_scripts.config import ConfigError, expand_path, read_yaml
from workflow_scripts.study import load_study

Change = Callable[[dict[str, Any]], object]


def put(path: str, value: object) -> Change:
    """Return a change that sets one key, given as a.b.c."""

    def change(config: dict[str, Any]) -> None:
        *parents, last = path.split("/")
        for key in parents:
            config = config[key]
        config[last] = value

    return change


def drop(path: str) -> Change:
    """Return a change that removes one key."""

    def change(config: dict[str, Any]) -> None:
        *parents, last = path.split("/")
        for key in parents:
            config = config[key]
        del config[last]

    return change


MALFORMED: dict[str, tuple[Change, str]] = {
    "unknown key at the top": (put("tokenizer", {}), "tokenizer: unknown key"),
    "misspelt key": (put("pretrain/warm_up", 3), "pretrain.warm_up: unknown key (did you mean 'warmup'?)"),
    "missing key": (drop("model/heads"), "model.heads: missing key (Attention heads; they divide the width.)"),
    "text for a number": (put("pretrain/lr", "fast"), "pretrain.lr: expected a number, found the text 'fast'"),
    "a rate that YAML reads as text": (
        put("pretrain/lr", "1e-4"),
        "found the text '1e-4' (YAML needs a point: 1.0e-4)",
    ),
    "Norwegian, which YAML reads as false": (
        lambda config: config["languages"].update({False: {"name": "Norwegian", "copy_of": "en"}}),
        "languages: expected text, found False (YAML reads no, yes, on and off as true or false: put it in quotes)",
    ),
    "Norwegian in a list": (
        put("study/languages", ["en", False]),
        "study.languages[1]: expected text, found False (YAML reads no, yes, on and off as true or false",
    ),
    "number for a list": (put("study/seeds", 1), "study.seeds: expected a list, found 1"),
    "text for true or false": (
        put("text/lowercase", "yes"),
        "text.lowercase: expected true or false, found the text 'yes'",
    ),
    "value outside the choices": (
        put("model/norm", "pots"),
        "model.norm: expected one of post, pre, found 'pots' (did you mean 'post'?)",
    ),
    "number out of range": (
        put("pretrain/mask_rate", 1.5),
        "pretrain.mask_rate: 1.5 is greater than or equal to the maximum of 1",
    ),
    "switching that keeps every word": (
        put("codeswitch/keep", 1.0),
        "codeswitch.keep: 1.0 is greater than or equal to the maximum of 1",
    ),
    "switching that may replace no word": (
        put("codeswitch/cap", 0),
        "codeswitch.cap: 0 is less than or equal to the minimum of 0",
    ),
    "unknown language in the study": (
        put("study/languages", ["en", "frr"]),
        "study.languages: unknown language 'frr' (did you mean 'fr'?)",
    ),
    "unknown source": (put("study/source", "eng"), "study.source: unknown language 'eng' (did you mean 'en'?)"),
    "pair of an unknown language": (
        put("pairs/en-it", {"ner": {"train": "wikiann", "test": "wikiann"}}),
        "pairs.en-it: unknown language 'it'",
    ),
    "unknown pair in the study": (
        put("study/pairs", ["en-ru", "en-frr"]),
        "study.pairs: unknown pair 'en-frr' (did you mean 'en-fr'?)",
    ),
    "pair turned round": (put("study/pairs", ["fr-en"]), "study.pairs: unknown pair 'fr-en' (did you mean 'en-fr'?)"),
    "pair of a language with itself": (
        put("pairs/en-en", {"ner": {"train": "wikiann", "test": "wikiann"}}),
        "pairs.en-en: expected two different languages",
    ),
    "unknown setting in the study": (
        put("study/settings", ["default", "sep-l13"]),
        "study.settings: unknown setting 'sep-l13' (did you mean 'sep-l1-3'?)",
    ),
    "unknown extra model": (
        put("study/extra", ["en-de.defualt"]),
        "study.extra: en-de.defualt: unknown setting 'defualt' (did you mean 'default'?)",
    ),
    "no rules of Moses": (
        put("languages/fr/moses", "ar"),
        "languages.fr.moses: expected one of null, as, bn, ca,",
    ),
    "skip that matches nothing": (
        put("study/skip", ["en-ru.sepemb"]),
        "study.skip: 'en-ru.sepemb' matches no model (did you mean 'en-ru.sep-emb'?)",
    ),
    "no model of the source": (
        lambda config: config["study"].update(languages=["fr", "de"], pairs=[], extra=[], skip=[]),
        "study.source: no model of the study reads 'en' (expected it in study.languages or in a pair",
    ),
    "no model at all": (
        lambda config: config["study"].update(languages=[], pairs=[], extra=[], skip=[]),
        "study.source: no model of the study reads 'en'",
    ),
    "duplicate name in a list": (
        put("study/settings", ["default", "sep-emb", "default"]),
        "study.settings: default stands in the list twice",
    ),
    "duplicate label": (
        put("settings/sep-emb/label", "Default"),
        "settings.sep-emb.label: 'Default' is the label of settings.default too",
    ),
    "a setting named as monolingual models are": (
        put("settings/mono", {"label": "Alone"}),
        "settings: 'mono' is not allowed here (names of monolingual, random and untrained models: mono, random,",
    ),
    "a setting named as a floor is": (
        put("settings/untrained-prefixed", {"label": "Floor"}),
        "settings: 'untrained-prefixed' is not allowed here (names of monolingual, random and untrained models",
    ),
    "layers beyond the model": (
        put("settings/sep-l1-6/separate/layers", 9),
        "settings.sep-l1-6.separate.layers: 9 goes beyond the model's 8 layers",
    ),
    "a part of the embeddings that cannot be separate": (
        put("settings/sep-emb/separate/embeddings", "positions"),
        "settings.sep-emb.separate.embeddings: expected one of false, true, tokens, found 'positions'",
    ),
    "softmax against the token vectors": (
        put("settings/no-anchors/separate", {"embeddings": "tokens"}),
        "settings.no-anchors.softmax: expected per-language",
    ),
    "softmax against the embeddings": (
        put("settings/sep-emb/softmax", "shared"),
        "settings.sep-emb.softmax: expected per-language",
    ),
    "no anchors in a joint vocabulary": (
        put("settings/no-anchors/bpe", "joint"),
        "settings.no-anchors.bpe: expected per-language",
    ),
    "heads that do not divide": (put("model/heads", 3), "model.heads: 3 does not divide model.width 32"),
    "sequences longer than the model": (
        put("pretrain/length", 128),
        "pretrain.length: 128 is longer than model.positions 64",
    ),
    "override that breaks a setting": (
        put("settings/sep-emb/train", {"warmup": 5000}),
        "settings.sep-emb.train.warmup: 5000 updates of warm-up leave none",
    ),
    "more best points than points": (
        put("tasks/ner/best", 5),
        "tasks.ner.best: 5 of 2 grid points (expected at most 2)",
    ),
    "absent NER data set": (
        put("pairs/en-fr/ner/test", "wikian"),
        "pairs.en-fr.ner.test: French has no NER data set 'wikian' (did you mean 'wikiann'?)",
    ),
    "NER set that cannot be trained on": (
        drop("languages/en/ner/conll2003/train"),
        "languages.en.ner.conll2003: expected train and dev files",
    ),
    "text of a domain that is not there": (
        drop("languages/fr/text/crawl"),
        "languages.fr.text.crawl: missing, but models of the study read it",
    ),
    "copy of nothing": (
        put("languages/en2/copy_of", "enn"),
        "languages.en2.copy_of: unknown language 'enn' (did you mean 'en'?)",
    ),
    "copies in a circle": (
        put("languages/en/copy_of", "en2"),
        "languages.en.copy_of: goes round in a circle (en -> en2 -> en)",
    ),
    "language without its script": (drop("languages/fr/script"), "languages.fr.script: missing key"),
    "treebank that a task needs": (
        drop("languages/ru/treebank"),
        "languages.ru.treebank.test: missing, but the study has the task parsing or pos",
    ),
    "treebank taken away from a task": (
        put("languages/ru/treebank", None),
        "languages.ru.treebank.test: missing, but the study has the task parsing or pos",
    ),
    "web text taken away from a setting": (
        put("languages/fr/text/crawl", None),
        "languages.fr.text.crawl: missing, but models of the study read it",
    ),
    "dictionary taken away from a setting": (
        put("languages/fr/dictionary", None),
        "languages.fr.dictionary: missing, but models with extra anchors are code-switched with it",
    ),
    "code taken away from the generator": (
        put("languages/fr/tatoeba", None),
        "languages.fr.tatoeba: missing, but the generator names a language's files by it",
    ),
    "list for a source": (put("languages/fr/muse", []), "languages.fr.muse: expected keys and values or null, found a"),
    "misspelt key of a source": (
        put("languages/fr/muse", {"train": "a", "test": "b", "tset": "c"}),
        "languages.fr.muse.tset: unknown key (did you mean 'test'?)",
    ),
    "text of another language": (
        put("languages/fr/text/wiki/files", ["wikidump/dewiki-20200101-pages-articles.xml.bz2"]),
        "languages.de.text.wiki.files[0]: wikidump/dewiki-20200101-pages-articles.xml.bz2 is languages.fr.text.wiki."
        "files[0] too (expected its own, or copy_of: fr)",
    ),
    "trees of another language": (
        put("languages/ru/treebank/test", "ud/fr/fr-ud-test.conllu"),
        "languages.ru.treebank.test: ud/fr/fr-ud-test.conllu is languages.fr.treebank.test too",
    ),
    "entities of another language": (
        put("languages/ru/ner/wikiann/test", "wikiann/fr/test"),
        "languages.ru.ner.wikiann.test: wikiann/fr/test is languages.fr.ner.wikiann.test too",
    ),
    "word pairs of another language": (
        put("languages/ru/muse/test", "muse/en-fr.5000-6500.txt"),
        "languages.ru.muse.test: muse/en-fr.5000-6500.txt is languages.fr.muse.test too",
    ),
    "vectors of another language": (
        put("languages/ru/vectors", "fasttext/wiki.fr.vec"),
        "languages.ru.vectors: fasttext/wiki.fr.vec is languages.fr.vectors too",
    ),
    "Tatoeba's code of another language": (
        put("languages/ru/tatoeba", "fra"),
        "languages.ru.tatoeba: fra is languages.fr.tatoeba too (expected its own, or copy_of: fr)",
    ),
    "PanLex's code of another language": (
        put("languages/ru/dictionary/code", "fra-000"),
        "languages.ru.dictionary.code: fra-000 is languages.fr.dictionary.code too",
    ),
    "PanLex without its code": (
        drop("languages/fr/dictionary/code"),
        "languages.fr.dictionary.code: missing, but the PanLex dump is read by it",
    ),
    "no test lines": (put("text/test_lines", 0), "text.test_lines: 0 is less than the minimum of 1"),
    "absolute path": (
        put("data/parallel", "/etc/passwd"),
        "data.parallel: '/etc/passwd' is not allowed here (paths start below data.root)",
    ),
    "language that cannot be generated": (
        drop("synthetic/languages/ru"),
        "synthetic.languages.ru: missing, so it cannot be generated",
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_one_clear_line_and_exit_code(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    change, expected = MALFORMED[name]
    config = study()
    change(config)
    with pytest.raises(SystemExit) as left:
        load_study(config)
    lines = capsys.readouterr().err.splitlines()
    assert left.value.code == 2
    assert len(lines) == 1, lines
    assert lines[0].startswith("config: ")
    assert expected in lines[0]


def test_stanford_segmenter_needs_its_folder(capsys: pytest.CaptureFixture[str]) -> None:
    config = study(languages={"zh": {"segmenter": "stanford", "segmenter_dictionary": None}})
    with pytest.raises(SystemExit):
        load_study(config)
    assert "languages.zh.segmenter_dictionary: missing" in capsys.readouterr().err


def test_an_extra_pair_starts_with_the_source_too(capsys: pytest.CaptureFixture[str]) -> None:
    config = study(
        study={"extra": ["fr-de.default"]}, pairs={"fr-de": {"ner": {"train": "wikiann", "test": "wikiann"}}}
    )
    with pytest.raises(SystemExit):
        load_study(config)
    assert "pairs.fr-de: expected the source language 'en' first" in capsys.readouterr().err


def test_all_problems_of_a_kind_are_told_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        load_study(study(model={"norm": "none"}, text={"lowercase": 1}))
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_a_key_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text("model:\n  layers: 8\n  layers: 12\n")
    with pytest.raises(ConfigError, match=r"study\.yaml, line 3: the key 'layers' stands here twice"):
        read_yaml(path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("study:\n  name: été\n".encode("latin-1"), "line 2: not UTF-8 (save the file as UTF-8)"),
        (b"study:\n  name: a\x07\n", "line 2: YAML does not allow the character '\\x07' (remove it)"),
    ],
)
def test_a_file_that_is_no_text_names_its_line(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "study.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read_yaml(path)
    assert str(caught.value) == f"config: {path}, {problem}"


def test_yaml_that_is_none_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text("model:\n  layers: [8\nwidth: 3\n")
    with pytest.raises(ConfigError, match=r"study\.yaml, line \d"):
        read_yaml(path)


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XLING_NOWHERE", raising=False)
    with pytest.raises(ConfigError, match="the environment variable XLING_NOWHERE is not set"):
        expand_path("${XLING_NOWHERE}/data")

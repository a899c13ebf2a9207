"""Every wrong description is refused with one line that names the key, what was expected and the nearest valid name."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from embedded import ROOT, study

from workflow_scripts.config import ConfigError, expand_path, read_config, read_yaml
from workflow_scripts.schema import schema_problems
from workflow_scripts.study import load_study

# key | new value, as YAML, or - to remove the key | what the line says; one that begins with : comes after the key
EDITS = """
tokenizer | {} | : unknown key
pretrain.warm_up | 3 | : unknown key (did you mean 'warmup'?)
model.heads | - | : missing key (Attention heads; they divide the width.)
tasks.parsing.biaffine | - | : missing key
settings.default | - | : missing key
bpe | - | : missing key (Subword vocabularies
pretrain.lr | fast | : expected a number, found the text 'fast'
pretrain.lr | 1e-4 | : expected a number, found the text '1e-4' (YAML needs a point: 1.0e-4)
pretrain.lr | .nan | : expected a finite number, found nan
pretrain.updates | 1.0e+3 | : expected a whole number, found 1000.0
study.languages | [en, no] | study.languages[1]: expected text, found False (YAML reads no, yes, on and off as true or
languages | {no: {name: Norwegian}} | : expected text, found False (YAML reads no, yes, on and off as true or false: put
data.wikipedia_date | 20200101 | : expected text, found 20200101 (put it in quotes)
study.seeds | 1 | : expected a list, found 1
study.seeds | [] | : expected at least 1 items, found a list of 0
synthetic.nli_pairs | [1, 2] | : expected at least 3 items, found a list of 2
model.norm | pots | : expected one of post, pre, found 'pots' (did you mean 'post'?)
languages.fr.moses | ar | : expected one of null, as, bn, ca,
languages.fr.muse | [] | : expected keys and values or null, found a list of 0 (Word translations
pretrain.mask_rate | 1.5 | : expected less than 1, found 1.5
codeswitch.cap | 0 | : expected more than 0, found 0
text.test_lines | 0 | : expected at least 1, found 0
study.name | My study | : expected a name of lower-case letters, digits and hyphens, found 'My study'
data.root | "${XLING_NOWHERE}/x" | : ${XLING_NOWHERE}/x: the environment variable XLING_NOWHERE is not set
data.more_nli | [xnli/more.tsv] | : expected an empty list, because the generator writes one training set
data.parallel | null | : missing, but the models of study.languages are compared on it
data.parallel | /etc/passwd | : expected a path that starts below data.root, found '/etc/passwd'
data.parallel | a/../../b | : expected a path without '..', '.', empty parts and braces, found 'a/../../b'
languages.fr.muse.test | muse/ | : expected a path without '..', '.', empty parts and braces, found 'muse/'
languages.fr.dictionary.path | panlex/{lg} | : expected a path without '..', '.', empty parts and braces
languages.fr.text.wiki.files | ["a\\n"] | languages.fr.text.wiki.files[0]: expected a path without '..'
data.root | ../data | : expected a folder without '..' and braces, found '../data' (write it from /)
study.results | results/{x} | : expected a folder without '..' and braces, found 'results/{x}' (write it from /)
study.name | "demo\\n" | : expected a name of lower-case letters, digits and hyphens, found 'demo\\n'
study.settings | [default, sep-emb, default] | : default stands in the list twice
settings.mono | {label: Alone} | settings: 'mono' cannot be used: mono, random and untrained… name models without a setting
settings.sep-emb.separate.embeddings | positions | : expected one of false, true, tokens, found 'positions'
synthetic.languages.zh.accents | é | synthetic.languages.zh.script: han takes no counted_suffix, oblique_suffix or accents
study.languages | [en, frr] | : unknown language 'frr' (did you mean 'fr'?)
study.source | eng | : unknown language 'eng' (did you mean 'en'?)
pairs.en-it | {ner: {train: wikiann, test: wikiann}} | : unknown language 'it'
study.pairs | [en-ru, en-frr] | : unknown pair 'en-frr' (did you mean 'en-fr'?)
study.pairs | [en-it] | : unknown language 'it' in 'en-it' (describe it under languages:)
languages.fr.script | latin | : unknown script 'latin' (did you mean 'Latin'?)
study.pairs | [fr-en] | : unknown pair 'fr-en' (did you mean 'en-fr'?)
pairs.en-fr | - | study.pairs: unknown pair 'en-fr' (describe it under pairs:
study.settings | [default, sep-l13] | : unknown setting 'sep-l13' (did you mean 'sep-l1-3'?)
settings.sep-l1-6.like | sep-l1-4 | : unknown setting without `like` 'sep-l1-4' (did you mean 'sep-l1-3'?)
settings.sep-l1-6.like | sep-l1-6 | : unknown setting without `like` 'sep-l1-6' (did you mean 'sep-l1-3'?)
study.extra | [en-de.defualt] | : en-de.defualt: unknown setting 'defualt' (did you mean 'default'?)
pairs.en-en | {ner: {train: wikiann, test: wikiann}} | : expected two different languages
study.skip | [en-ru.sepemb] | : 'en-ru.sepemb' matches no model (did you mean 'en-ru.sep-emb'?)
study | {languages: [fr, de], pairs: [], extra: [], skip: []} | study.source: no model of the study reads 'en' (expected it
settings.sep-emb.label | Default | : 'Default' is the label of settings.default too
languages.en2.copy_of | enn | : unknown language without `copy_of` 'enn' (did you mean 'en'?)
languages.en2.copy_of | en2 | : unknown language without `copy_of` 'en2' (did you mean 'en'?)
languages.fr.script | - | : missing key
languages.zh | {segmenter: stanford, segmenter_dictionary: null} | languages.zh.segmenter_dictionary: missing
settings.sep-l1-6.separate.layers | 9 | : 9 goes beyond the model's 8 layers
settings.sep-emb.softmax | shared | : expected per-language
settings.no-anchors.bpe | joint | : expected per-language
settings.sep-emb.anchors | all | : expected none, because each language has its own embeddings
model.heads | 3 | : 3 does not divide the width 32
align.contextual.heads | 3 | : 3 does not divide model.width 32
align.contextual.layers | [0, 9] | : 9 goes beyond the model's 8 layers
pretrain.length | 7 | : expected at least 8, found 7
pretrain | {length: 128, micro_batch_tokens: 128} | pretrain.length: 128 is longer than the model's 64 positions
pretrain.micro_batch_tokens | 32 | : 32 holds no sequence of length 64
pretrain.sequences | streams | : expected lines, because the model has sentence vectors
monolingual.train | {mask_share: 0.95} | monolingual.train.random_share: mask_share and random_share together exceed 1
settings.sep-emb.train | {warmup: 5000} | settings.sep-emb.train.warmup: 5000 updates of warm-up leave none of 900
tasks.ner.best | 5 | : 5 of 1 grid points (expected at most 1)
pairs.en-fr.ner | - | : missing, but the study has the task ner
pairs.en-fr.ner.test | wikian | : French has no NER data set 'wikian' (did you mean 'wikiann'?)
languages.en.ner.conll2003.train | - | : missing, but a task of the study reads it
data.nli.test | - | : missing, but a task of the study reads it
languages.fr.text.crawl | - | : missing, but models of the study read it
languages.ru.treebank | - | languages.ru.treebank.test: missing, but a task of the study reads it
languages.fr.dictionary | null | : missing, but models with extra anchors are code-switched with it
languages.fr.dictionary.code | - | : missing, but the PanLex dump is read by it
languages.fr.tatoeba | null | : missing, but the generator names a language's files by it
synthetic.languages.ru | - | : missing, so it cannot be generated
languages.fr.text.wiki.files | [wikidump/dewiki-20200101-pages-articles.xml.bz2] | languages.de.text.wiki.files[0]: wikidump/dewiki-20200101-pages-articles.xml.bz2 is languages.fr.text.wiki.files[0] too (expected its own, or copy_of: fr)
languages.ru.treebank.test | ud/fr/fr-ud-test.conllu | : ud/fr/fr-ud-test.conllu is languages.fr.treebank.test too
languages.ru.vectors | fasttext/wiki.ru.vec | : expected own or null, because the generator writes no vectors
languages.ru.tatoeba | fra | : fra is languages.fr.tatoeba too (expected its own, or copy_of: fr)
"""


def edit(config: dict[str, Any], path: str, value: str) -> None:
    """Set a key to a value given as YAML; keys and values are laid over those that are there."""
    *parents, last = path.split(".")
    for key in parents:
        config = config[key]
    new = yaml.safe_load(value)
    if value == "-":
        del config[last]
    elif isinstance(new, dict) and isinstance(config.get(last), dict):
        config[last].update(new)
    else:
        config[last] = new


@pytest.mark.parametrize("row", EDITS.strip().splitlines())
def test_one_clear_line_and_exit_code(row: str, capsys: pytest.CaptureFixture[str]) -> None:
    path, value, expected = row.split(" | ")
    config = study()
    edit(config, path, value)
    with pytest.raises(SystemExit) as left:
        load_study(config)
    (line,) = capsys.readouterr().err.splitlines()
    assert left.value.code == 2
    assert line.startswith(f"config: {path}{expected}" if expected.startswith(":") else f"config: {expected}")


def leaves(table: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield every table of a description with each of its keys that holds no other table."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from leaves(value)
        else:
            yield table, key


@pytest.mark.parametrize("wrong", [{"a": 1}, [{}], "no such choice", True, 0.5])
def test_nothing_is_converted_in_silence(wrong: object) -> None:
    config, tried = study(), 0
    for table, key in leaves(config):
        value = table[key]
        if value is not None and not isinstance(value, type(wrong)):
            table[key], tried = wrong, tried + 1
            assert schema_problems(config), key
            table[key] = value
    assert tried > 100


def test_an_extra_pair_starts_with_the_source_too(capsys: pytest.CaptureFixture[str]) -> None:
    pair = {"ner": {"train": "wikiann", "test": "wikiann"}}
    with pytest.raises(SystemExit):
        load_study(study(study={"extra": ["fr-de.default"]}, pairs={"fr-de": pair}))
    assert "pairs.fr-de: expected the source language 'en' first" in capsys.readouterr().err


def test_all_problems_of_a_kind_are_told_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        load_study(study(model={"norm": "none"}, text={"lowercase": 1}, settings={"default": {"train": {"lr": 0}}}))
    assert len(capsys.readouterr().err.splitlines()) == 3


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"model:\n  layers: 8\n  layers: 12\n", "line 3: the key 'layers' stands here twice"),
        ("study:\n  name: été\n".encode("latin-1"), "line 2: not UTF-8 (save it as UTF-8: iconv -f ENC"),
        (b"study:\n  name: a\x07\n", "line 2: YAML does not allow the character '\\x07' (remove it)"),
        (b"model:\n  layers: [8\nwidth: 3\n", "line 3: "),
        ("study: {name: a}\n".encode("utf-16"), "line 1: not UTF-8 (save it as UTF-8: iconv -f UTF-16 -t"),
        (
            b"model:\n\tlayers: 8\n",
            "line 2: found character '\\t' that cannot start any token (YAML indents with spaces",
        ),
    ],
)
def test_a_file_that_is_no_yaml_names_its_line(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "study.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read_yaml(path)
    assert str(caught.value).startswith(f"config: {path}, {problem}")


def test_a_preset_without_the_one_below_it_is_named(tmp_path: Path) -> None:
    presets = ROOT / "presets"
    mini, top, recipe = (
        presets / name for name in ("mini.yaml", "overlays/mini-next.yaml", "overlays/mini-recipe.yaml")
    )
    (tmp_path / "own.yaml").write_text("# On top of presets/mini.yaml\nstudy: {name: own}\n")
    read_config(ROOT / "config.yaml", mini, top, recipe)
    for given, named, wanted in [
        ([top], top, "presets/mini.yaml"),
        ([top, mini], top, "presets/mini.yaml"),
        ([mini, recipe], recipe, "presets/mini.yaml presets/overlays/mini-next.yaml"),
        ([tmp_path / "own.yaml"], tmp_path / "own.yaml", "presets/mini.yaml"),
    ]:
        with pytest.raises(ConfigError) as caught:
            read_config(ROOT / "config.yaml", *given)
        assert caught.value.problems == [f"{named}: goes on top of another preset (name {wanted} before it)"]


def test_a_file_without_keys_or_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.yaml").write_text("\n")
    (tmp_path / "prose.yaml").write_text("just text")
    for name, problem in [
        ("empty.yaml", "empty.yaml: expected YAML with keys and values, found an empty file"),
        ("prose.yaml", "prose.yaml: expected YAML with keys and values, found the text 'just text'"),
        ("none.yaml", "none.yaml: no such file (known: empty, prose)"),
        ("empti.yaml", "empti.yaml: no such file (did you mean 'empty'?)"),
        (".", f"{tmp_path.name}: is a directory"),
    ]:
        with pytest.raises(ConfigError) as caught:
            read_yaml(tmp_path / name)
        assert str(caught.value).endswith(f"/{problem}")


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XLING_NOWHERE", raising=False)
    with pytest.raises(ConfigError, match="the environment variable XLING_NOWHERE is not set"):
        expand_path("${XLING_NOWHERE}/data")

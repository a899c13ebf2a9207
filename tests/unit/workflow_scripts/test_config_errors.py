"""Every wrong description is refused with one line that names the key, what was expected and the nearest valid name."""

import pytest
import yaml
from embedded import PAPER, ROOT, leaves, nested, study

from workflow_scripts.checks import check
from workflow_scripts.config import ConfigError, merge, read_config, read_yaml
from workflow_scripts.schema import schema_problems
from workflow_scripts.study import Study, load_study

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
study.languages | [en, en] | : en stands in the list twice
settings.mono | {label: Alone} | settings: 'mono' cannot be used: mono, random and untrained… name models without a setting
settings.sep-emb.separate.embeddings | positions | : expected one of false, true, tokens, found 'positions'
synthetic.languages.zh.accents | é | synthetic.languages.zh.script: han takes no counted_suffix, oblique_suffix or accents
study.languages | [en, frr] | : unknown language 'frr' (did you mean 'fr'?)
study.source | eng | : unknown language 'eng' (did you mean 'en'?)
pairs.en-it | {ner: {train: wikiann, test: wikiann}} | : unknown language 'it'
study.pairs | [en-ru, en-frr] | : en-frr: unknown language 'frr' (did you mean 'fr'?)
study.pairs | [en-it] | : en-it: unknown language 'it' (known: de, en, en2, fr, ru, zh)
languages.fr.script | latin | : unknown script 'latin' (did you mean 'Latin'?)
pairs.en-fr | - | pairs.en-fr.ner: missing, but the study has the task ner (expected the sets to train and test on)
study.settings | [default, sep-l13] | : unknown setting 'sep-l13' (did you mean 'sep-l1-3'?)
settings.sep-l1-6.like | sep-l1-4 | : unknown setting 'sep-l1-4' (did you mean 'sep-l1-3'?)
settings.sep-l1-6.like | sep-l1-6 | : 'sep-l1-6' itself has `like` (name its original, and repeat what differs)
settings.sep-l1-3.updates | 5 | : unknown key (did you mean 'settings.sep-l1-3.train.updates'?)
settings.sep-l1-3.train.layers | 5 | : unknown key (did you mean 'model.layers'?)
seeds | [1, 2] | : unknown key (did you mean 'study.seeds'?)
study.extra | [en-de.defualt] | : en-de.defualt: unknown setting 'defualt' (did you mean 'default'?)
pairs.en-en | {ner: {train: wikiann, test: wikiann}} | : expected two different languages
study.extra | [fr-de.default] | pairs.fr-de: expected the source language 'en' first (dictionaries start from it)
study.skip | [en-ru.sepemb] | : 'en-ru.sepemb' matches no model (did you mean 'en-ru.sep-emb'?)
study | {languages: [fr, de], pairs: [], extra: [], skip: []} | study.source: no model of the study reads 'en' (expected it
settings.sep-emb.label | Default | : 'Default' is the label of settings.default too
languages.en2.copy_of | enn | : unknown language 'enn' (did you mean 'en'?)
languages.en2.copy_of | en2 | : 'en2' itself has `copy_of` (name its original, and repeat what differs)
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
settings.sep-emb.train | {warmup: 5000} | settings.sep-emb.train.warmup: 5000 updates of warm-up leave none of 750
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
languages.en.treebank.test | ud/en/en-ud-train.conllu | : ud/en/en-ud-train.conllu is languages.en.treebank.train too
languages.fr.muse.test | muse/en-fr.0-5000.txt | : muse/en-fr.0-5000.txt is languages.fr.muse.train too (expected a file
data.nli.test | xnli/xnli.dev.tsv | : xnli/xnli.dev.tsv is data.nli.dev too (expected a file of its own)
languages.fr.text.wiki.files | [crawl/fr.txt.xz] | languages.fr.text.wiki.files[0]: crawl/fr.txt.xz is languages.fr.text.crawl.files[0] too
languages.ru.vectors | fasttext/wiki.ru.vec | : expected own or null, because the generator writes no vectors
languages.ru.tatoeba | fra | : fra is languages.fr.tatoeba too (expected its own, or copy_of: fr)
"""


def edited(path, value):
    """Return the study with a key set to a value given as YAML; keys and values are laid over those that are there."""
    if value != "-":
        return study(**nested({path: yaml.safe_load(value)}))
    config = part = study()
    *parents, last = path.split(".")
    for key in parents:
        part = part[key]
    del part[last]
    return config


@pytest.mark.parametrize("row", EDITS.strip().splitlines())
def test_one_clear_line_and_exit_code(row, capsys):
    path, value, expected = row.split(" | ")
    with pytest.raises(SystemExit) as left:
        load_study(edited(path, value))
    (line,) = capsys.readouterr().err.splitlines()
    assert left.value.code == 2
    assert line.startswith(f"config: {path}{expected}" if expected.startswith(":") else f"config: {expected}")


@pytest.mark.parametrize("wrong", [{"a": 1}, [{}], "no such choice", True, 0.5])
def test_nothing_is_converted_in_silence(wrong):
    config = study()
    tried = [path for path, value in leaves(config) if value not in (None, {}) and not isinstance(value, type(wrong))]
    assert len(tried) > 100
    assert [path for path in tried if not schema_problems(merge(config, nested({path: wrong})))] == []


def problems(config):
    with pytest.raises(ConfigError) as caught:
        check(config)
    return caught.value.problems


def test_all_problems_of_a_kind_are_told_at_once():
    wrong = study(model={"norm": "none"}, text={"lowercase": 1}, settings={"default": {"train": {"lr": 0}}})
    assert len(problems(wrong)) == 3


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("own.yaml", b"model:\n  layers: 8\n  layers: 12\n", ", line 3: the key 'layers' stands here twice"),
        ("own.yaml", "study:\n  name: été\n".encode("latin-1"), ", line 2: not UTF-8 (save it as UTF-8: iconv -f ENC"),
        ("own.yaml", b"study:\n  name: a\x07\n", ", line 2: YAML does not allow the character '\\x07' (remove it)"),
        ("own.yaml", b"model:\n  layers: [8\nwidth: 3\n", ", line 3: "),
        ("own.yaml", "a: b\n".encode("utf-16"), ", line 1: not UTF-8 (save it as UTF-8: iconv -f UTF-16 -t"),
        ("own.yaml", b"a:\n\tb: 8\n", ", line 2: found character '\\t' that cannot start any token (YAML indents"),
        ("own.yaml", b"\n", ": expected YAML with keys and values, found an empty file"),
        ("own.yaml", b"just text", ": expected YAML with keys and values, found the text 'just text'"),
        ("xyz.yaml", b"", ": no such file (known: own)"),
        ("pwn.yaml", b"", ": no such file (did you mean 'own'?)"),
        (".", b"", ": is a directory"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_the_line(tmp_path, name, content, problem):
    (tmp_path / "own.yaml").write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read_yaml(tmp_path / name)
    assert str(caught.value).startswith(f"config: {tmp_path / name}{problem}")


def test_a_preset_without_the_one_below_it_is_named(tmp_path):
    presets, own = ROOT / "presets", tmp_path / "own.yaml"
    mini, top, recipe = (presets / f"{name}.yaml" for name in ("mini", "overlays/mini-next", "overlays/mini-recipe"))
    own.write_text("# On top of presets/mini.yaml\nstudy: {name: own}\n")
    read_config(ROOT / "config.yaml", mini, top, recipe)
    for given, named, wanted in [
        ([top, mini], top, "presets/mini.yaml"),
        ([mini, recipe], recipe, "presets/mini.yaml presets/overlays/mini-next.yaml"),
        ([own], own, "presets/mini.yaml"),
    ]:
        with pytest.raises(ConfigError) as caught:
            read_config(ROOT / "config.yaml", *given)
        assert caught.value.problems == [f"{named}: goes on top of another preset (name {wanted} before it)"]


# Where the data come from: files that are missing, shared or without a column are told before any job.


def test_a_dump_and_a_word_list_may_serve_several_languages_and_a_copy_its_originals_files():
    words = {"segmenter": "jieba", "segmenter_dictionary": "jieba/zh.dict.txt"}
    copied = {"copy_of": "fr", "text": study()["languages"]["fr"]["text"]}
    assert load_study(study(languages={"de": words, "ru": copied})).original("ru") == "fr"


def with_files(config):
    """Return a description after making all files that it reads."""
    for path in Study(config).needed_files.values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return config


def test_files_of_a_local_study_and_their_columns_must_be_there(tmp_path):
    root = tmp_path / "data"
    local = study(data={"origin": "local", "root": str(root)})
    assert problems(local) == [
        f"data.root: no such folder: {root} (expected the folder that the paths of all data start from)"
    ]
    table, near = root / "xnli/xnli.15way.orig.tsv", root / "xnli/multinli.train.en.csv"
    with_files(local)
    assert problems(local)[0].startswith("data.parallel: ")
    near.with_suffix(".tsv").rename(near)
    hint = f"{near.with_suffix('.tsv')} (did you mean {near.name!r}?)"
    assert problems(local) == [f"data.nli.train: no such file: {hint}"]
    near.rename(near.with_suffix(".tsv"))
    table.write_text("de\ten\tfr\tru\n", encoding="utf-8")
    missing = f"languages.zh.parallel: missing, but {table} has no column 'zh' (expected a file"
    assert problems(local)[0].startswith(missing)
    check(with_files(merge(local, {"languages": {"zh": {"parallel": "own/zh.txt"}}})))


def test_a_file_that_no_dataset_brings_is_named():
    """The date of a dump is in its name: changing only one of the two would fetch nothing."""
    check(PAPER.config)
    first, *_ = problems(merge(PAPER.config, {"data": {"wikipedia_date": "20261101"}}))
    assert "languages.en.text.wiki.files[0]: no such file: results/data/paper/wikipedia/enwiki-20261001" in first


def test_what_a_study_does_not_use_need_not_be_there_nor_be_described(tmp_path):
    bare = {
        "pairs": ["en-nds"],
        "languages": [],
        "settings": ["default"],
        "extra": [],
        "skip": [],
        "tasks": ["parsing"],
    }
    text = {"wiki": {"format": "text", "files": ["nds.txt"]}}
    own = {"name": "Low German", "script": "Latin", "moses": "de", "segmenter": "none", "text": text}
    own["treebank"] = {"train": "unused.conllu", "test": "test.conllu"}
    data = {"origin": "local", "root": str(tmp_path), "parallel": None}
    config = study(study=bare, languages={"nds": own}, data=data)
    assert Study(config).needed_files.keys() == {
        *(f"languages.en.treebank.{split}" for split in ("train", "dev", "test")),
        "languages.en.text.wiki.files[0]", "languages.nds.text.wiki.files[0]", "languages.nds.treebank.test",
    }  # fmt: skip
    assert load_study(with_files(config)).parallel_sides == {}
    names = " ".join(map(str, Study(merge(PAPER.config, {"study": {"tasks": ["xnli"]}})).needed_files.values()))
    assert "multinli" in names
    assert not any(word in names for word in ("conll2003", "msra", "wikiann", "conllu"))

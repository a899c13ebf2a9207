"""The two commands as the workflow runs them: every byte is pinned, and libraries and the readers of real data agree."""

import argparse
import bz2
import hashlib
import json
import lzma
import random
import sys
from collections import Counter
from itertools import islice

import pytest
from embedded import EMBEDDED
from hypothesis import given
from hypothesis import strategies as st

from xling.core.seeds import derive_seed
from xling.data.extract_text import read_namespaces, read_pages
from xling.data.panlex import read_panlex
from xling.data.parallel import read_aligned, read_multiway
from xling.data.parts import Part
from xling.data.tasks import read_conll2003, read_conllu, read_msra, read_wikiann, read_xnli, read_xnli_mt
from xling.data.wikitext import hidden_prefixes
from xling.data.wikitext import paragraphs as strip
from xling.synthetic import generate_language, generate_parallel
from xling.synthetic.corpus import Translation, documents, take_sentences, translations
from xling.synthetic.formats.dictionaries import TRAINING_SHARE, write_muse, write_panlex
from xling.synthetic.formats.mediawiki import mark_up
from xling.synthetic.formats.text import XNLI_COLUMNS, chunks, iob1
from xling.synthetic.generate_language import counts, draw
from xling.synthetic.generate_parallel import share
from xling.synthetic.meaning import draw_meanings
from xling.synthetic.nli import balanced_pairs

TRAITS = EMBEDDED["synthetic"]["languages"]
ISO3 = {code: EMBEDDED["languages"][code]["tatoeba"] for code in TRAITS}
LANGUAGES = [{"code": code, "iso3": ISO3[code], "traits": traits} for code, traits in TRAITS.items()]
SEEDS = {"--world-seed": "1", "--seed": "1"}
LANGUAGE_FLAGS = SEEDS | {
    "--source": "en", "--wiki-sentences": "600", "--crawl-sentences": "300", "--treebank-sentences": "120,20,30",
    "--ner-sentences": "100,20,30",
}  # fmt: skip
PARALLEL_FLAGS = SEEDS | {"--nli": "90,30,45", "--parallel": "50", "--tatoeba": "40", "--dictionary-share": "0.8"}
GOLDEN = "cff2da1ea5ceba420bf468f1986e2eaf77ce845828d1add515376d208244fb55"
COMPRESSED = {".bz2": bz2.decompress, ".xz": lzma.decompress}
ENTITIES = (("wikiann", "wiki"), ("news", "web"))  # a set and the domain of its sentences


def arguments(code, folder, changed):
    """Return the flags for one language, or for all of them together."""
    described = folder / f"{code}.json"
    folder.mkdir(exist_ok=True)
    described.write_text(json.dumps(TRAITS.get(code, LANGUAGES)))
    own = {"--code": code, "--traits": str(described), **LANGUAGE_FLAGS}
    flags = own if code in TRAITS else {"--languages": str(described), **PARALLEL_FLAGS}
    flags = {**flags, "--root": str(folder / "data"), **changed}
    return [word for flag, value in flags.items() for word in (flag, value)]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Return a data root with all languages and what they share."""
    folder = tmp_path_factory.mktemp("generated")
    with pytest.MonkeyPatch.context() as patch:
        for code in (*TRAITS, "all"):
            patch.setattr(sys, "argv", ["command", *arguments(code, folder, {})])
            (generate_language if code in TRAITS else generate_parallel).main()
    return folder / "data"


def written(root):
    """Return the hash of every file; compressed ones are read, because libraries compress differently."""
    files = sorted(path for path in root.rglob("*") if path.is_file())
    plain = {path: COMPRESSED.get(path.suffix, bytes)(path.read_bytes()) for path in files}
    return {str(path.relative_to(root)): hashlib.sha256(content).hexdigest() for path, content in plain.items()}


def test_a_seed_gives_the_same_files_everywhere_and_another_seed_other_sentences(root, tmp_path, call):
    """Python's hashes differ in every run of the tests, so they decide nothing."""
    first = written(root)
    assert (len(first), hashlib.sha256(repr(first).encode()).hexdigest()) == (76, GOLDEN)
    assert call(generate_parallel.main, *arguments("all", tmp_path, {"--seed": "2"})).code == 0
    other = written(tmp_path / "data")
    assert {name.partition("/")[0] for name in other if first[name] != other[name]} == {"xnli", "tatoeba", "panlex"}


@pytest.mark.parametrize(
    ("code", "flag", "value", "problem"),
    [
        ("fr", "--traits", "absent.json", "absent.json: no such file"),
        ("fr", "--traits", '{"script": "latin", "cognats": 1}', "cognats: unknown key (did you mean 'cognates'?)"),
        ("fr", "--traits", "{}", "described.json: script: missing key"),
        ("fr", "--traits", '{"script": "latin", "names": 1.5}', "names: expected at most 1, found 1.5"),
        ("fr", "--traits", '{"script": "latin", "cognates": 0.7, "lookalikes": 0.4}', "together at most 1"),
        ("fr", "--traits", '{"script": "latin", "front_adjunct": 0.7, "front_object": 0.4}', "together at most 1"),
        ("fr", "--traits", '{"script": "latin", "spaces": false}', "spaces: false only with script: han"),
        ("fr", "--traits", '{"script": "greek", "lookalikes": 0.1}', "need script: latin"),
        ("fr", "--traits", '{"script": "han", "oblique_suffix": "em"}', "script: han takes no"),
        ("all", "--languages", "[]", "lists no language (a list of {code, iso3, traits}, the source first)"),
        ("all", "--languages", '[{"code": "en", "iso3": "en", "traits": {}}]', "expected a three-letter code such as"),
    ],
)
def test_a_malformed_description_is_named(tmp_path, refused, code, flag, value, problem):
    if value[0] in "[{":
        (tmp_path / "described.json").write_text(value)
        value = str(tmp_path / "described.json")
    main = (generate_language if code in TRAITS else generate_parallel).main
    flags = arguments(code, tmp_path / "unused", {flag: value})
    assert problem in refused(main, *flags, out=tmp_path / "unused/data")


@pytest.mark.parametrize(("read", "value"), [(counts, "10,20"), (counts, "10,0,3"), (share, "2"), (share, "nan")])
def test_a_malformed_number_is_refused(read, value):
    with pytest.raises(argparse.ArgumentTypeError, match="expected"):
        read(value)


@pytest.mark.parametrize("code", TRAITS)
def test_treebanks_read_back(root, languages, code):
    path = root / f"ud/{code}/{code}-ud-train.conllu"
    comments = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("# text = ")]
    sentences = draw(languages[code], 120, (1, path.stem), "wiki", "web")
    for text, read, sentence in zip(comments, read_conllu(path), sentences, strict=True):
        assert text == f"# text = {sentence.text}"
        assert (read["words"], read["heads"]) == (list(sentence.forms), list(sentence.heads))
        assert read["upos"] == list(sentence.upos)
        assert read["deprels"] == [deprel.partition(":")[0] for deprel in sentence.deprels]


@pytest.mark.parametrize("code", TRAITS)
def test_entities_read_back(root, languages, code):
    wiki, news = (list(draw(languages[code], 100, (1, name, "train"), domain)) for name, domain in ENTITIES)
    found = list(read_wikiann(root / "wikiann" / code / "train", Counter(), code))
    if code == "zh":  # by character; only the first one of an entity has a B tag
        for record, sentence in zip(found, wiki, strict=True):
            starts = [tag for form, tag in zip(sentence.forms, sentence.ner, strict=True) for _ in form]
            assert record["words"] == list("".join(sentence.forms))
            assert [tag[2:] for tag in record["tags"]] == [tag[2:] for tag in starts]
            assert [tag for tag in record["tags"] if tag[0] == "B"] == [t for t in sentence.ner if t[0] == "B"]
        forms = {"".join(sentence.forms): list(sentence.forms) for sentence in news}
        found, wiki = list(read_msra(root / "msra/msra.train.bio", forms.__getitem__, Counter())), news
    elif code == "en":
        assert [sentence.text for sentence in wiki] != [sentence.text for sentence in news]
        found, wiki = found + list(read_conll2003(root / "conll2003/eng.train")), wiki + news
    plain = [record for record, sentence in zip(found, wiki, strict=True) if not sentence.merged]
    assert plain == [{"words": list(s.forms), "tags": list(s.ner)} for s in wiki if not s.merged]


def test_a_determiner_opens_a_phrase_right_after_another():
    found = iob1(chunks(["PROPN", "PROPN", "DET", "PROPN", "VERB", "NUM", "NOUN", "PUNCT"]))
    assert found == ["I-NP", "I-NP", "B-NP", "I-NP", "I-VP", "I-NP", "I-NP", "O"]


def test_inference_pairs_and_parallel_sentences_read_back(root, languages):
    def examples(split, size, language):
        pairs = balanced_pairs(derive_seed(1, "nli", split), size)
        texts = ((language.text(pair.premise), language.text(pair.hypothesis), pair.label) for pair in pairs)
        return [dict(zip(("premise", "hypothesis", "label"), row, strict=True)) for row in texts]

    xnli, codes = root / "xnli", list(languages)
    assert list(read_xnli_mt(xnli / "multinli.train.en.tsv", Counter())) == examples("train", 90, languages["en"])
    for code, language in languages.items():
        assert list(read_xnli(xnli / "xnli.dev.tsv", code, Counter())) == examples("dev", 30, language)
    meanings = islice(draw_meanings((1, "15way"), "wiki", "web"), 50)
    parallel = [tuple(language.text(meaning) for language in languages.values()) for meaning in meanings]
    assert list(read_multiway(xnli / "xnli.15way.orig.tsv", codes)) == parallel
    for code in codes[1:]:
        paths = [root / f"tatoeba/tatoeba.{ISO3[code]}-eng.{ISO3[side]}" for side in ("en", code)]
        meanings = islice(draw_meanings((1, "tatoeba", code), "wiki", "web"), 40)
        assert list(read_aligned(paths)) == [(languages["en"].text(m), languages[code].text(m)) for m in meanings]


@pytest.mark.real_data
def test_columns_are_those_of_the_real_files(real_data):
    with (real_data / "xnli" / "xnli.dev.tsv").open(encoding="utf-8") as handle:
        assert tuple(handle.readline().rstrip("\n").split("\t")) == XNLI_COLUMNS


def test_muse_splits_by_source_word_frequent_ones_and_better_translations_first(tmp_path):
    entries = [Translation(f"Word{number}", f"mot{number}", 4 + number % 6) for number in range(40)]
    more = [("two words", "x", 9), ("a", "fair", 5), ("a", "good", 8), ("a", "miss", 2)]
    frequency = {f"Word{number}": 1 / (1 + number) for number in range(40)}
    write_muse(tmp_path, "en", "fr", [*entries, *(Translation(*entry) for entry in more)], frequency)
    full, train, test = (
        [line.split(" ") for line in (tmp_path / f"en-fr{part}.txt").read_text(encoding="utf-8").splitlines()]
        for part in ("", ".0-5000", ".5000-6500")
    )
    assert full == train + test == [*([f"word{n}", f"mot{n}"] for n in range(40)), ["a", "good"], ["a", "fair"]]
    assert not {one for one, _ in train} & {one for one, _ in test}
    assert len({one for one, _ in train}) == round(41 * TRAINING_SHARE)


@pytest.mark.parametrize("code", ["fr", "zh"])
def test_the_reader_of_panlex_finds_the_qualities(languages, code, tmp_path):
    entries = translations(languages["en"], languages[code])
    write_panlex(tmp_path, "eng", {"xxx": entries, "yyy": entries[:5]})
    found = {(entry.source, entry.target): entry.quality for entry in read_panlex(tmp_path, "eng-000", "xxx-000")}
    assert found == {(entry.source, entry.target): entry.quality for entry in entries}


@pytest.mark.parametrize("code", TRAITS)
def test_the_corpora_hold_exactly_the_paragraphs(root, languages, code):
    language, joiner = languages[code], "" if code == "zh" else " "
    wiki, web = (
        [[joiner.join(paragraph) for paragraph in page.paragraphs] for page in take_sentences(drawn, size)]
        for drawn, size in ((documents(language, "wiki", 1), 600), (documents(language, "web", 1), 300))
    )
    path, counts = root / f"wikidump/{code}wiki-20200101-pages-articles.xml.bz2", Counter[str]()
    hidden = hidden_prefixes(read_namespaces(path))
    assert [strip(wikitext, hidden) for _, wikitext in read_pages(*Part().spans([path]), counts)] == wiki
    assert min(counts["redirects"], counts["other_namespaces"]) > 3
    crawled = lzma.decompress((root / f"crawl/{code}.txt.xz").read_bytes()).decode()
    assert crawled == "".join("\n".join([*page, "", ""]) for page in web)


LETTERS = st.text("abkzаяé王明北", min_size=1, max_size=6)
ENDINGS = st.sampled_from(["", "", "'", "'s", "ab"])
WORDS = st.builds("{}{}".format, LETTERS, ENDINGS) | st.integers(0, 999).map(str) | st.sampled_from(["Anna,", "Berg,"])


@given(st.lists(WORDS, min_size=1, max_size=12), st.sampled_from([" ", ""]), st.integers(0, 10**6))
def test_inline_markup_only_adds(words, joiner, seed):
    paragraph = joiner.join(words) + "."
    marked = mark_up(paragraph, words[0], ["Berg", "Old Town"], random.Random(seed))
    assert strip("x" + marked, frozenset()) == ["x" + paragraph]

"""Readers of dictionaries, tasks, vectors and parallel text: what each makes of good files, and the place and the problem that it names in bad ones."""

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import conllu
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from xling.core.errors import InputError
from xling.data.dictionary import Translation, read_muse, read_tsv
from xling.data.fasttext import read_vectors
from xling.data.parallel import read_aligned, read_multiway, read_side, side_by_side
from xling.data.tasks import (
    find_cycle,
    read_conll2003,
    read_conllu,
    read_msra,
    read_wikiann,
    read_xnli,
    read_xnli_mt,
    realign,
    to_bio,
)

Reader = Callable[[Path], Iterable[object]]
xnli = partial(read_xnli, language="fr", counts=Counter())
training = partial(read_xnli_mt, counts=Counter())
wiktionary = partial(read_tsv, counts=Counter())
multiway = partial(read_multiway, languages=["en", "fr"])
tagged = partial(read_wikiann, counts=Counter())
french = partial(read_wikiann, counts=Counter(), expected="fr")
halves = partial(read_msra, segment=lambda line: [line[:2], "".join(line[2:].split())], counts=Counter())


def vectors(path):
    return read_vectors(path, 10).words


def write(path, text):
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def row(number, form="w", upos="NOUN", head=0, deprel="root"):
    return f"{number}\t{form}\t_\t{upos}\t_\t_\t{head}\t{deprel}\t_\t_\n"


CHILD = row(2, head=1, deprel="x")
XNLI = "pairID\tlanguage\tgold_label\tsentence1\tsentence2\n"
TRAIN = "premise\thypo\tlabel\n"


def ner(words, tags):
    return {"words": words.split(), "tags": tags.split()}


def nli(premise, hypothesis, label):
    return {"premise": premise, "hypothesis": hypothesis, "label": label}


MSRA = [ner("我在 北京", "O B-LOC")]

GOOD: list[tuple[Reader, str, list[object]]] = [
    (read_muse, "the le\nthe\tla\na\u00a0b c\n", [("the", "le"), ("the", "la"), ("a\u00a0b", "c")]),
    (wiktionary, "dog\tchien\na\t\\\nb\t1\t1e3\nh  \\\t\\ en  suspens\nx\ty  \\ z\n",
     [("dog", "chien", 1.0), ("b", "1", 1000.0), ("h", "en suspens", 1.0)]),
    (read_tsv, "big  dog\t\\\n", [Translation("big dog", "\\", 1.0)]),
    (xnli, f'{XNLI}1\tfr\tneutral\tIl a dit "oui\tRien.\n1\ten\tneutral\ta\tb\n1\tfr\t-\tx\ty\n',
     [nli('Il a dit "oui', "Rien.", "neutral")]),
    (training, f"{TRAIN}a\tb\tcontradictory\na\t \tneutral\nc\td\tneutral\n",
     [nli("a", "b", "contradiction"), nli("c", "d", "neutral")]),
    (multiway, "de\ten\tfr\nja\tyes\toui\nnein\tno, no\tnon\n", [("yes", "oui"), ("no, no", "non")]),
    (read_conll2003, "-DOCSTART- -X- O O\n\nJohn NNP I-NP I-PER\nParis NNP I-NP I-LOC\nRome NNP I-NP B-LOC\n. . O O\n\n"
     "-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\n",
     [ner("John Paris Rome .", "B-PER B-LOC B-LOC O"), ner("EU", "B-ORG")]),
    (tagged, "en::\tO\nen:a:b\tB-PER\n\nbe-x-old:en:\tO\nzh:,\tI-LOC\n\n",
     [ner(": a:b", "O B-PER"), ner("en: ,", "O B-LOC")]),
    (french, "fr-ca:a\tO\n", [ner("a", "O")]),
    (halves, "我 O\n在 O\n北 B-LOC\n京 I-LOC\n", MSRA),
    (halves, "我\tO\n在\tO\n北\tB-LOC\n京\tI-LOC\n\n", MSRA),
    (halves, "我 O\n在 O\n北 B-NS\n京 E-NS\n", MSRA),
    (halves, "我 O\n在 O\n北京 S-NS\n", MSRA),
    (halves, "我 O\n在 O\n北 B-LOC\n\u3000 I-LOC\n京 I-LOC\n\n\u3000 O\n", MSRA),  # white space may vanish
    (read_conllu,  # words are the rows with plain numbers
     f"# text = Allons du bois\n{row('0.1', 'x', 'X')}{row(1, 'Allons', 'VERB')}{row('2-3', 'du', '_')}"
     f"{row(2, 'de', 'ADP', 4, 'case')}{row(3, 'le', 'DET', 4, 'det')}{row(4, 'bois  mort', 'NOUN', 1, 'obl:arg')}"
     f"{row('4.1', 'x', 'X')}{row('4.2', 'x', 'X')}\n{row(1, '#', 'SYM')}\n",
     [{"words": ["Allons", "de", "le", "bois  mort"], "heads": [0, 4, 4, 1],
       "deprels": ["root", "case", "det", "obl"], "upos": ["VERB", "ADP", "DET", "NOUN"]},
      {"words": ["#"], "heads": [0], "deprels": ["root"], "upos": ["SYM"]}]),
]  # fmt: skip


@pytest.mark.parametrize(("reader", "text", "expected"), GOOD)
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte-order mark"])
def test_good_files(tmp_path, reader, text, expected, mark):
    assert list(reader(write(tmp_path / "good", mark + text))) == expected


BAD: list[tuple[Reader, str, int | None, str]] = [
    *((read_muse, f"a b\n{bad}\nc d\n", 2, "not two words") for bad in ("one", "a b c", "a  b", " a", "a\tb\tc", "")),
    (read_muse, "", None, "empty"),
    (read_tsv, "a\tb\nc d\n", 2, "no tab"),
    (read_tsv, "a\tb\t1\tx\n", 1, "4 columns"),
    (read_tsv, "a\tb\n\tb\t1\n", 2, "a word is missing"),
    *((read_tsv, f"a\tb\t{bad}\n", 1, f"quality '{bad}' is not a number from 0") for bad in ("good", "-1", "nan")),
    (read_tsv, "", None, "empty"),
    (vectors, "2 2\na 1 2\nb 1 nan\n", 3, "vector of 'b' holds a number that is not finite"),
    (vectors, "2 2\na 1 2\nb 1 x\n", 3, "could not convert string to float"),
    (vectors, "2 2\na 1\nb 1 2\n", 2, "not a word and 2 numbers"),
    (vectors, "3 2\na 1 2\nb 1 2\n", None, "ends after 2 of 3 vectors"),
    *((vectors, bad, 1, "not a header") for bad in ("a 1 2\nb 1 2\n", "2 0\na\nb\n", "")),
    (xnli, f"{XNLI}1\ten\tneutral\ta\tb\n1\tde\tneutral\ta\tb\n", None, "no rows of language 'fr' (has: en, de)"),
    (xnli, f"{XNLI}1\tfr\tneutral\ta\t \n", 2, "a sentence is empty"),
    (training, f"{TRAIN}a\tb\tmaybe\n", 2, "label 'maybe' is none of entailment, neutral, contradiction"),
    (training, f"{TRAIN}a\tb\tneutral\na\tb\n", 3, "2 columns where the header has 3"),
    (training, "premise\thypothesis\tlabel\na\tb\tneutral\n", 1, "no column 'hypo'"),
    (training, "premise\thypo\thypo\na\tb\tneutral\n", 1, "names a column twice"),
    (training, TRAIN, None, "a header and no rows"),
    (training, "", None, "empty where a header"),
    (multiway, "de\ten\n1\t2\n", 1, "no column 'fr' in the header (has: de, en)"),
    (multiway, "en\tfr\n1\t2\n1\t\n", 3, "no sentence in column fr"),
    (tagged, "en:a\tO\n\nen:b\tB-CAR\n", 3, "tag 'B-CAR' is none of"),
    (tagged, "en:a\tO\n\n" + 1001 * "en:b\tO\n", 3, "a sentence of 1001 tokens (is a blank line missing"),
    (tagged, "en:a\tO\nen:b O\n", 2, "1 columns"),
    (tagged, "en:a\tO\nb\tO\n", 2, "language prefix"),
    (tagged, "en:a\tO\nen:\tO\n", 2, "language prefix"),
    (tagged, "\n\n", None, "empty"),
    (french, "fr:a\tO\nfr:b\tO\n\nde:c\tO\n", 4, "a token of 'de', expected 'fr'"),
    *((read_conll2003, f"EU NNP I-NP I-ORG\n{bad}\n", 2, "") for bad in
      ("EU NNP I-ORG", "EU NNP I-NP I-ORG x", "EU NNP I-NP I-X", "EU\tNNP\tI-NP\tO", "a b c S-PER")),
    (halves, "我 O\n在\n", 2, "expected a character and its tag"),
    (halves, "我 O\n在 o\n", 2, "tag 'o'"),
    (halves, "我 O\n在 B-nr\n", 2, "tag 'B-nr'"),
    *((read_conllu, row(1) + row(2, head=bad, deprel="x"), 2, f"head '{bad}' of word 2 is not in 0 to 2")
      for bad in (3, "_", -1, "\u0661")),
    (read_conllu, row(1).replace("\t", "  "), 1, "1 columns where CoNLL-U has 10 (separate them with tabs, not with spaces)"),
    (read_conllu, row(1) + row(2) + row(3), 2, "exactly one root (found: 1, 2, 3)"),
    (read_conllu, row(1, head=2) + row(2, head=1), 1, "exactly one root (found: none)"),
    (read_conllu, row(1) + row(2, head=3, deprel="x") + row(3, head=2, deprel="x"), 2, "word 2 is its own ancestor"),
    (read_conllu, f"{row(1)}\n# a\n# b\n{row(1)}{row(2, head=2, deprel='x')}", 6, "word 2 is its own ancestor"),
    (read_conllu, row(1) + row(3, head=1, deprel="x"), 2, "row number '3' does not follow word 1"),
    (read_conllu, row(1) + row("2-3", head="_") + CHILD, 1, "multiword token reaches word 3 of 2"),
    (read_conllu, row("1-2") + row(1) + row("2-3") + CHILD, 3, "row number '2-3'"),
    *((read_conllu, row(1) + row(bad), 2, f"row number '{bad}'") for bad in ("2.1", "1.2")),
    (read_conllu, row(1, upos="NN"), 1, "part of speech 'NN'"),
    (read_conllu, row(1, deprel="_"), 1, "word 1 has no relation"),
    (read_conllu, row(1) + CHILD.replace("\tw\t", "\t\t"), 2, "an empty field"),
    (read_conllu, row(1) + "2\tw\t_\n", 2, "3 columns where CoNLL-U has 10"),
    (read_conllu, row(1) + "# text = b\n", 2, "a comment after the words"),
    (read_conllu, "# text = b\n", 1, "comments without words"),
    (read_conllu, "", None, "empty"),
]  # fmt: skip


@pytest.mark.parametrize(("reader", "text", "line", "problem"), BAD)
def test_bad_files_are_named_with_line_and_problem(tmp_path, reader, text, line, problem):
    path = write(tmp_path / "bad", text)
    with pytest.raises(InputError) as caught:
        list(reader(path))
    assert (caught.value.path, caught.value.line) == (path, line)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_left_out_or_changed_is_counted(tmp_path):
    counts: Counter[str] = Counter()
    list(read_xnli(write(tmp_path / "a", f"{XNLI}1\tfr\t-\tx\ty\n1\tfr\tneutral\tx\ty\n"), "fr", counts))
    list(read_xnli_mt(write(tmp_path / "b", f"{TRAIN}a\t \tneutral\n"), counts))
    list(read_wikiann(write(tmp_path / "c", "zh:,\tI-LOC\n"), counts))
    list(read_tsv(write(tmp_path / "d", "a\t\\\n"), counts))
    text = "Ａ B-ORG\n银 I-ORG\n\n北 B-LOC\n京 I-LOC\n"
    changing = read_msra(write(tmp_path / "e", text), lambda text: [text.replace("Ａ", "A")], counts)
    assert [sentence["words"] for sentence in changing] == [["Ａ", "银"], ["北京"]]
    assert +counts == {"undecided": 1, "empty": 1, "repaired": 1, "junk": 1, "unsegmented": 1, "words": 3}


@given(st.lists(st.integers(0, 8), min_size=1, max_size=8))
def test_cycles_are_those_of_the_graph(heads):
    heads = [min(head, len(heads)) for head in heads]
    graph = nx.DiGraph((word, head) for word, head in enumerate(heads, start=1) if head)
    on_cycles = {node for cycle in nx.simple_cycles(graph) for node in cycle}
    assert (find_cycle(heads) in on_cycles) if on_cycles else find_cycle(heads) == 0


# Chinese: 中国 人民 银行 在 北京, the bank one entity, Peking another
BIO = ["B-ORG", "I-ORG", "I-ORG", "I-ORG", "I-ORG", "I-ORG", "O", "B-LOC", "I-LOC"]
TAGS = st.lists(st.sampled_from(["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "I-MISC"]), max_size=12)


@pytest.mark.parametrize(
    ("words", "tags", "counts"),
    [
        ("中国 人民 银行 在 北京", "B-ORG I-ORG I-ORG O B-LOC", {"words": 5}),
        ("中国 人民 银 行在 北 京", "B-ORG I-ORG I-ORG I-ORG B-LOC I-LOC", {"words": 6, "cut": 1}),
        ("中国 人民 银行在北 京", "B-ORG I-ORG I-ORG B-LOC", {"words": 4, "cut": 1, "shared": 1}),
        ("中国 人民 银行在北京", "B-ORG I-ORG I-ORG", {"words": 3, "cut": 1, "shared": 1, "lost": 1}),
    ],
)
def test_labels_move_to_words(words, tags, counts):
    tally: Counter[str] = Counter()
    assert realign("中国人民银行在北京", BIO, words.split(), tally) == tags.split()
    assert +tally == counts


@given(TAGS, st.lists(st.booleans(), min_size=12, max_size=12))
def test_any_segmentation_gives_bio_and_accounts_for_every_entity(tags, cuts):
    characters, counts = [chr(0x4E00 + i) for i in range(len(tags))], Counter[str]()
    words = "".join(" " * cut + character for character, cut in zip(characters, cuts, strict=False)).split()
    assert realign(characters, tags, characters, Counter()) == to_bio(tags)
    assert get_entities(to_bio(tags)) == get_entities(tags)
    moved = realign(characters, tags, words, counts)
    assert to_bio(moved) == moved
    assert len(get_entities(moved)) + counts["lost"] == len(get_entities(tags))


def test_vectors_are_split_from_the_right_and_read_up_to_the_limit(tmp_path):
    path = write(tmp_path / "w.vec", "5 2\na 1 2 \nb\u00a0c 0.5 -1e-3 \nd e  3 4 \na 9 9 \nf 5 6 \n")
    for limit in (4, 10):  # a duplicate does not use up the limit
        found = read_vectors(path, limit)
        assert found.words == ("a", "b\u00a0c", "d e ", "f")
        np.testing.assert_array_equal(found.vectors, np.array([[1, 2], [0.5, -1e-3], [3, 4], [5, 6]], np.float32))
    write(path, path.read_text(encoding="utf-8").replace("f 5 6", "f 5 broken"))
    assert read_vectors(path, 3).words == ("a", "b\u00a0c", "d e ")
    assert read_vectors(path, 0).vectors.shape == (0, 2)


UNEVEN = [
    ("1\n2\n3\n", "1\n2\n", "b", None, "ends after 2 lines"),
    ("1\n2\n", "1\n2\n3\n", "a", None, "ends after 2 lines"),
    ("1\n\n3\n", "1\n2\n3\n", "a", 2, "blank line"),
    ("1\n2\n", "1\n \t\n", "b", 2, "blank line"),
    ("", "", "a", None, "empty"),
    ("", "1\n", "a", None, "empty"),
]


def test_files_side_by_side_have_to_be_equally_long(tmp_path):
    for left, right, name, line, problem in UNEVEN:
        with pytest.raises(InputError, match=problem) as caught:
            list(read_aligned([write(tmp_path / "a", left), write(tmp_path / "b", right)]))
        assert (caught.value.path.name, caught.value.line) == (name, line)
    table = write(tmp_path / "x.tsv", "en\nyes\nno\n")
    for beside, short in (("1\n", "b"), ("1\n2\n3\n", "x.tsv")):
        other = write(tmp_path / "b", beside)
        with pytest.raises(InputError, match="goes on") as caught:
            list(side_by_side([(table, read_multiway(table, [])), (other, read_side(other))]))
        assert caught.value.path.name == short


@pytest.mark.real_data
def test_real_treebanks_have_the_words_heads_and_relations_that_the_conllu_library_finds(real_data):
    found: Counter[str] = Counter()
    for path in real_data.glob("ud/*/*-ud-test.conllu"):
        trees = list(read_conllu(path))
        found.update(files=1, sentences=len(trees), words=sum(len(tree["words"]) for tree in trees))
        with path.open(encoding="utf-8") as handle:
            for tree, other in zip(trees[:100], conllu.parse_incr(handle), strict=False):
                words = [token for token in other if isinstance(token["id"], int)]
                for ours, theirs in {"words": "form", "heads": "head", "upos": "upos"}.items():
                    assert tree[ours] == [token[theirs] for token in words]
                assert tree["deprels"] == [token["deprel"].split(":")[0] for token in words]
    assert found == {"files": 5, "sentences": 4571, "words": 75006}


@pytest.mark.real_data
@pytest.mark.parametrize("language", ["fr", "zh"])
def test_real_wikiann_has_the_entities_that_seqeval_finds(real_data, language):
    path, counts = real_data / "wikiann" / language / "dev", Counter[str]()
    read = list(read_wikiann(path, counts, language))
    assert len(read) == 10000
    assert (counts["repaired"] > 0) == (language == "zh")  # its character data has standalone I- tags
    sentences = path.read_text(encoding="utf-8").split("\n\n")
    for ours, text in list(zip(read, sentences, strict=False))[:300]:
        words, tags = zip(*(line.split("\t") for line in text.split("\n")), strict=True)
        assert [f"{language}:{word}" for word in ours["words"]] == list(words)
        assert get_entities(ours["tags"]) == get_entities(list(tags))

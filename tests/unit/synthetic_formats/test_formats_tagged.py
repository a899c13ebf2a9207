import random
from itertools import pairwise
from pathlib import Path

import conllu
import pytest

from xling.synthetic.formats.conll2003 import SENTENCES_A_DOCUMENT, iob1, write_conll2003
from xling.synthetic.formats.msra import write_msra
from xling.synthetic.formats.tokens import surface, tagged_characters
from xling.synthetic.formats.treebank import EMPTY_NODE_SHARE, sentence_block, write_treebank
from xling.synthetic.formats.wikiann import write_wikiann
from xling.synthetic.types import Sentence


def blocks(path: Path) -> list[list[str]]:
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n\n")
    return [block.split("\n") for block in text.removesuffix("\n\n").split("\n\n")]


def spans(tags: list[str]) -> list[tuple[int, int, str]]:
    """Return the entities of BIO tags, refusing an I- that continues nothing."""
    found: list[tuple[int, int, str]] = []
    for place, (before, tag) in enumerate(pairwise(["O", *tags])):
        if tag.startswith("I-"):
            assert before[2:] == tag[2:]
            found[-1] = (found[-1][0], place, tag[2:])
        elif tag != "O":
            found.append((place, place, tag[2:]))
    return found


def test_treebank_reads_back_with_the_conllu_library(tmp_path: Path, spaced: list[Sentence]) -> None:
    path = tmp_path / "fr-ud-train.conllu"
    write_treebank(path, spaced * 100, "fr-ud-train", seed=1)
    parsed = conllu.parse(path.read_text(encoding="utf-8"))
    assert len(parsed) == 200
    assert len({tree.metadata["sent_id"] for tree in parsed}) == 200
    for tree, sentence in zip(parsed, spaced * 100, strict=True):
        words = [token for token in tree if isinstance(token["id"], int)]
        assert tuple(token["form"] for token in words) == sentence.forms
        assert tuple(token["lemma"] for token in words) == sentence.lemmas
        assert tuple(token["head"] for token in words) == sentence.heads
        assert tuple(token["upos"] for token in words) == sentence.upos
        assert tree.metadata["text"] == sentence.text


def test_text_is_the_tokens_with_their_spaces(tmp_path: Path, spaced: list[Sentence], unspaced: list[Sentence]) -> None:
    path = tmp_path / "x.conllu"
    write_treebank(path, spaced + unspaced, "x", seed=1)
    for tree in conllu.parse(path.read_text(encoding="utf-8")):
        ranges = [token["id"] for token in tree if isinstance(token["id"], tuple) and token["id"][1] == "-"]
        inside = {number for first, _, last in ranges for number in range(first, last + 1)}
        text = ""
        for token in tree:
            if (isinstance(token["id"], tuple) and token["id"][1] == ".") or token["id"] in inside:
                continue
            text += token["form"] + ("" if (token["misc"] or {}).get("SpaceAfter") == "No" else " ")
        assert text.rstrip() == tree.metadata["text"]


def test_empty_nodes_and_enhanced_relations_come_together(spaced: list[Sentence]) -> None:
    rng = random.Random(0)
    trees = [conllu.parse(sentence_block(spaced[0], "x", rng))[0] for _ in range(1000)]
    with_empty = [
        tree for tree in trees if any(isinstance(token["id"], tuple) and token["id"][1] == "." for token in tree)
    ]
    assert 0.5 * EMPTY_NODE_SHARE < len(with_empty) / 1000 < 2 * EMPTY_NODE_SHARE
    for tree in with_empty:
        assert [token["id"] for token in tree][3] == (3, ".", 1)  # right after the root
        assert all(token["deps"] for token in tree if isinstance(token["id"], int))
    assert all(token["deps"] is None for tree in trees if tree not in with_empty for token in tree)


def test_a_text_that_does_not_hold_the_tokens_is_refused(spaced: list[Sentence]) -> None:
    broken = Sentence(*(getattr(spaced[0], name) for name in Sentence.__slots__[:-2]), "Le chien.", spaced[0].meaning)
    with pytest.raises(ValueError, match="'chat' is not at character 3"):
        surface(broken)


def test_wikiann_prefixes_tokens_and_keeps_entities(tmp_path: Path, spaced: list[Sentence]) -> None:
    write_wikiann(tmp_path / "train", spaced, "fr", spaces=True)
    first, second = blocks(tmp_path / "train")
    assert [line.split("\t")[0] for line in first] == [
        "fr:" + word for word in ["Le", "chat", "voit", "la", "maison", "du", "roi", "."]
    ]
    assert spans([line.split("\t")[1] for line in second]) == [
        (0, 1, "PER"),
        (2, 2, "PER"),
        (4, 5, "LOC"),
        (10, 10, "ORG"),
    ]


def test_scripts_without_spaces_are_tagged_by_character(tmp_path: Path, unspaced: list[Sentence]) -> None:
    write_wikiann(tmp_path / "train", unspaced, "zh", spaces=False)
    write_msra(tmp_path / "msra.train.bio", unspaced)
    expected = ["王 B-PER", "明 I-PER", "爱 O", "北 B-LOC", "京 I-LOC", "。 O"]
    assert blocks(tmp_path / "msra.train.bio") == [expected]
    assert blocks(tmp_path / "train") == [["zh:" + line.replace(" ", "\t") for line in expected]]
    assert len(tagged_characters(unspaced[0])) == len(unspaced[0].text)


def test_conll2003_has_four_columns_iob1_and_documents(tmp_path: Path, spaced: list[Sentence]) -> None:
    write_conll2003(tmp_path / "eng.train", spaced * SENTENCES_A_DOCUMENT)
    found = blocks(tmp_path / "eng.train")
    starts = [place for place, block in enumerate(found) if block == ["-DOCSTART- -X- O O"]]
    assert starts == [0, SENTENCES_A_DOCUMENT + 1]
    columns = [line.split(" ") for line in found[2]]
    assert [row[0] for row in columns][:4] == ["Anna", "Berg", "Otto", "the"]
    assert [row[1] for row in columns][3:9] == ["DT", "NNP", "NNP", "VBZ", "CD", "NN"]
    assert [row[2] for row in columns][:8] == ["I-NP", "I-NP", "I-NP", "B-NP", "I-NP", "I-NP", "I-VP", "I-NP"]
    assert [row[3] for row in columns][:6] == ["I-PER", "I-PER", "B-PER", "O", "I-LOC", "I-LOC"]


def test_iob1_keeps_b_only_between_spans_of_one_type() -> None:
    assert iob1(["B-PER", "B-PER", "I-PER", "B-LOC", "O", "B-LOC"]) == [
        "I-PER",
        "B-PER",
        "I-PER",
        "I-LOC",
        "O",
        "I-LOC",
    ]

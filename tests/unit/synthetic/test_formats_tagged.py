"""Trees and entities as their formats have them, read by libraries and by hand."""

from dataclasses import replace
from itertools import pairwise

import conllu
import pytest

from xling.synthetic.formats import tagged
from xling.synthetic.types import Sentence


def parse(sentences: list[Sentence]) -> list[conllu.TokenList]:
    return conllu.parse("\n".join(tagged.treebank(sentences, "fr-ud-train", seed=1)) + "\n")


def is_empty(token: conllu.Token) -> bool:
    return isinstance(token["id"], tuple) and token["id"][1] == "."


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


def test_treebank_reads_back_with_the_conllu_library(spaced: list[Sentence], unspaced: Sentence) -> None:
    written = [*spaced, unspaced] * 50
    parsed = parse(written)
    assert len({tree.metadata["sent_id"] for tree in parsed}) == 150
    for tree, sentence in zip(parsed, written, strict=True):
        words = [token for token in tree if isinstance(token["id"], int)]
        for column, values in (("form", sentence.forms), ("lemma", sentence.lemmas), ("upos", sentence.upos)):
            assert tuple(token[column] for token in words) == values
        assert tuple(token["head"] for token in words) == sentence.heads
        ranges = [token["id"] for token in tree if isinstance(token["id"], tuple) and token["id"][1] == "-"]
        inside = {number for first, _, last in ranges for number in range(first, last + 1)}
        printed = [token for token in tree if not is_empty(token) and token["id"] not in inside]
        spaces = ["" if (token["misc"] or {}).get("SpaceAfter") == "No" else " " for token in printed]
        text = "".join(token["form"] + space for token, space in zip(printed, spaces, strict=True))
        assert text.rstrip() == tree.metadata["text"] == sentence.text


def test_empty_nodes_and_enhanced_relations_come_together(spaced: list[Sentence]) -> None:
    trees = parse(spaced[:1] * 600)
    with_empty = [tree for tree in trees if any(map(is_empty, tree))]
    assert 0.5 * tagged.EMPTY_NODE_SHARE < len(with_empty) / 600 < 2 * tagged.EMPTY_NODE_SHARE
    for tree in trees:
        has_one = tree in with_empty
        assert ([token["id"] for token in tree][3] == (3, ".", 1)) == has_one  # right after the root
        assert {token["deps"] is not None for token in tree if isinstance(token["id"], int)} == {has_one}


def test_a_text_that_does_not_hold_the_tokens_is_refused(spaced: list[Sentence]) -> None:
    with pytest.raises(ValueError, match="'chat' is not at character 3"):
        tagged.tokens(replace(spaced[0], text="Le chien."))


def test_wikiann_prefixes_tokens_and_keeps_entities(spaced: list[Sentence]) -> None:
    lines = list(tagged.wikiann(spaced, "fr", spaces=True))
    assert [line.split("\t")[0] for line in lines[:9]] == [
        *["fr:Le", "fr:chat", "fr:voit", "fr:la", "fr:maison", "fr:du", "fr:roi", "fr:."],
        "",
    ]
    entities = [(0, 1, "PER"), (2, 2, "PER"), (4, 5, "LOC"), (10, 10, "ORG")]
    assert spans([line.split("\t")[1] for line in lines[9:-1]]) == entities


def test_scripts_without_spaces_are_tagged_by_character(unspaced: Sentence) -> None:
    expected = ["王 B-PER", "明 I-PER", "爱 O", "北 B-LOC", "京 I-LOC", "。 O"]
    assert list(tagged.msra([unspaced])) == [*expected, ""]
    assert list(tagged.wikiann([unspaced], "zh", spaces=False)) == [
        *("zh:" + line.replace(" ", "\t") for line in expected),
        "",
    ]
    assert len(tagged.tagged_characters(unspaced)) == len(unspaced.text)


def test_conll2003_has_four_columns_iob1_and_documents(spaced: list[Sentence]) -> None:
    blocks = "\n".join(tagged.conll2003(spaced * tagged.CONLL2003_SENTENCES)).rstrip().split("\n\n")
    starts = [place for place, block in enumerate(blocks) if block == "-DOCSTART- -X- O O"]
    assert starts == [0, tagged.CONLL2003_SENTENCES + 1]
    words, parts, chunks, entities = zip(*(line.split(" ") for line in blocks[2].split("\n")), strict=True)
    assert words[:4] == ("Anna", "Berg", "Otto", "the")
    assert parts[3:9] == ("DT", "NNP", "NNP", "VBZ", "CD", "NN")
    assert chunks[:8] == ("I-NP", "I-NP", "I-NP", "B-NP", "I-NP", "I-NP", "I-VP", "I-NP")
    assert entities[:6] == ("I-PER", "I-PER", "B-PER", "O", "I-LOC", "I-LOC")
    tags = ["B-PER", "B-PER", "I-PER", "B-LOC", "O", "B-LOC"]
    assert tagged.iob1(tags) == ["I-PER", "B-PER", "I-PER", "I-LOC", "O", "I-LOC"]

import argparse

import pytest

from xling.core.errors import XlingError
from xling.synthetic.formats.draws import take_sentences, take_turns
from xling.synthetic.formats.flags import Flags, counts, json_object, share, size
from xling.synthetic.types import Document


@pytest.mark.parametrize("text", ["1,2", "1,2,3,4", "a,b,c", "1,-2,3", "1,2,", "1,2,３", "1,0,2"])
def test_counts_refuses_what_is_not_three_whole_numbers(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="expected 3 whole numbers"):
        counts(3)(text)


@pytest.mark.parametrize(
    ("read", "text"), [(size, "0"), (size, "1.5"), (share, "0"), (share, "1.1"), (share, "x"), (share, "nan")]
)
def test_numbers_out_of_range_are_refused(read: object, text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="expected"):
        read(text)


@pytest.mark.parametrize(("text", "problem"), [("{", "not JSON"), ("[1]", "JSON object"), ("{}", "JSON object")])
def test_json_object_refuses_other_json(text: str, problem: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=problem):
        json_object(text)


def test_good_values_are_read() -> None:
    assert (counts(3)("4,1,2"), size("7"), share("0.5"), json_object('{"a": 1}')) == ((4, 1, 2), 7, 0.5, {"a": 1})


def test_a_wrong_flag_is_one_line_that_names_it() -> None:
    parser = Flags()
    parser.add_argument("--size", type=size)
    with pytest.raises(
        XlingError, match=r"^argument --size: expected a whole number of at least 1, not '-3' \(see --help\)$"
    ):
        parser.parse_args(["--size", "-3"])


def sentences_of(documents: list[Document]) -> list[str]:
    return [text for document in documents for paragraph in document.paragraphs for text in paragraph.sentences]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 50])
def test_exactly_the_sentences_asked_for(documents: list[Document], count: int) -> None:
    taken = list(take_sentences(documents, count))
    assert sentences_of(taken) == sentences_of(documents)[:count]
    assert all(paragraph.sentences for document in taken for paragraph in document.paragraphs)
    assert all(document.paragraphs for document in taken)


def test_streams_take_turns() -> None:
    assert list(take_turns([iter("aaaa"), iter("bbbb")], 5)) == list("ababa")

"""Values of flags: names with values once each, whole numbers, or one line."""

import argparse
from pathlib import Path

import pytest

from xling.core.cli import named, named_paths, positive
from xling.core.errors import XlingError


def test_names_keep_their_order_and_values_may_hold_an_equals_sign() -> None:
    assert list(named(["fr=a=b", "en={}"], "--flag").items()) == [("fr", "a=b"), ("en", "{}")]
    assert named_paths(["en=a/b"], "--flag") == {"en": Path("a/b")}
    assert named([], "--flag") == {}


@pytest.mark.parametrize("items", [["en"], ["en="], ["=a"], [""], ["en=a", "en=b"]])
def test_what_is_not_named_once_is_told_with_its_flag(items: list[str]) -> None:
    with pytest.raises(XlingError) as caught:
        named(items, "--file", "CODE=PATH")
    assert str(caught.value) == f"--file {items[-1]}: expected CODE=PATH, each code once"


def test_a_whole_number_from_1_up() -> None:
    assert positive("12") == 12
    for text in ("0", "-1", "1.5", "many", ""):
        with pytest.raises(argparse.ArgumentTypeError, match="expected a whole number from 1 up"):
            positive(text)

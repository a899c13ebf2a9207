"""Traits: wrong descriptions are refused by name, and a sixth language is data alone."""

from itertools import islice

import pytest

from xling.core.errors import XlingError
from xling.synthetic.draw import draw_meanings
from xling.synthetic.language import Language
from xling.synthetic.meaning import LINK
from xling.synthetic.traits import Traits

PLAIN = {"code": "xx", "script": "latin"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cognats": 0.1}, "unknown key 'cognats' (did you mean 'cognates'?)"),
        ({"script": "runes"}, "key 'script' must be one of latin, cyrillic, greek, han, not 'runes'"),
        ({"names": 1.5}, "key 'names' must be a number from 0 to 1, not 1.5"),
        ({"names": True}, "key 'names' must be a number from 0 to 1, not True"),
        ({"spaces": "no"}, "key 'spaces' must be true or false, not 'no'"),
        ({"full_stop": 1}, "key 'full_stop' must be text, not 1"),
        ({"verb": "first"}, "key 'verb' must be one of middle, second, final, not 'first'"),
        ({"cognates": 0.7, "lookalikes": 0.4}, "together must be at most 1"),
        ({"front_adjunct": 0.7, "front_object": 0.4}, "together must be at most 1"),
        ({"spaces": False}, "'spaces' can be false only with 'script: han'"),
        ({"script": "greek", "lookalikes": 0.1}, "need 'script: latin'"),
        ({"script": "han", "oblique_suffix": "em"}, "'script: han' takes no"),
    ],
)
def test_a_wrong_description_is_refused_by_name(change: dict[str, object], message: str) -> None:
    with pytest.raises(XlingError) as caught:
        Traits.from_dict(PLAIN | change)
    assert str(caught.value).startswith("embedded language 'xx': ")
    assert message in str(caught.value)


@pytest.mark.parametrize("key", ["code", "script"])
def test_code_and_script_must_be_there(key: str) -> None:
    with pytest.raises(XlingError, match=f"key '{key}' is missing"):
        Traits.from_dict({k: v for k, v in PLAIN.items() if k != key})


def test_a_sixth_language_is_data_alone(world) -> None:
    values = {"code": "el", "script": "greek", "verb": "final", "adjective": "after", "names": 0.2, "synonyms": 0.0}
    greek = Language(Traits.from_dict(values), world)
    for meaning in islice(draw_meanings((1,), "wiki"), 200):
        sentence = greek.realise(meaning)
        assert any("α" <= letter <= "ω" for letter in sentence.text.lower())
        if LINK not in meaning.skeleton:
            assert sentence.deprels[-2:] == ("root", "punct")

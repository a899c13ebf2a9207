"""Views of a sentence that several formats share: surface tokens, characters, spacing."""

from dataclasses import dataclass

from xling.synthetic.types import Sentence


@dataclass(frozen=True, slots=True)
class Surface:
    """A token as it is printed: one word, or several merged into one."""

    form: str
    first: int  # index of its first word, from 0
    last: int  # index of its last word, inclusive
    space_after: bool


def surface(sentence: Sentence) -> list[Surface]:
    """Return the printed tokens of a sentence, with whether a space follows each in its text."""
    merged = {multiword.first: multiword for multiword in sentence.multiwords}
    tokens: list[Surface] = []
    index = place = 0
    while index < len(sentence.forms):
        whole = merged.get(index)
        form, last = (whole.form, whole.last) if whole else (sentence.forms[index], index)
        if not sentence.text.startswith(form, place):
            raise ValueError(f"token {form!r} is not at character {place} of {sentence.text!r}")
        place += len(form)
        space = sentence.text.startswith(" ", place)
        place += space
        tokens.append(Surface(form, index, last, space or place == len(sentence.text)))
        index = last + 1
    return tokens


def tagged_tokens(sentence: Sentence) -> list[tuple[str, str]]:
    """Return printed tokens with their entity tags; a merged token has the first tag that is not O."""
    return [
        (token.form, next((tag for tag in sentence.ner[token.first : token.last + 1] if tag != "O"), "O"))
        for token in surface(sentence)
    ]


def tagged_characters(sentence: Sentence) -> list[tuple[str, str]]:
    """Return the characters of a sentence with BIO tags: only the first of an entity begins it."""
    pairs: list[tuple[str, str]] = []
    for form, tag in tagged_tokens(sentence):
        inside = "O" if tag == "O" else f"I-{tag[2:]}"
        pairs += [(form[0], tag), *((character, inside) for character in form[1:])]
    return pairs

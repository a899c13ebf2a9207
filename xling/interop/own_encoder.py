"""A model of ours as the analyses see any encoder: raw or tokenised text to ids, ids to the states of every layer."""

from collections.abc import Callable, Sequence
from pathlib import Path

from torch import Tensor

from xling.bpe.streams import END
from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import InputError, XlingError
from xling.interop.tokenizer_files import check_vocabulary, longest_text
from xling.model.files import load_encoder
from xling.model.layer_states import layer_states
from xling.tokenization.words import words_from

PADDING = 0
Spell = Callable[[str], tuple[list[int], list[bool]]]
StatesOf = Callable[[Tensor, Tensor], Sequence[Tensor]]


def open_own(
    folder: Path, language: str | None, vocab: Path | None, tokeniser: str | None, device: str
) -> tuple[Spell, StatesOf, int]:
    """Return how text becomes ids, how ids become states, and the id of padding."""
    if vocab is None:
        raise InputError(folder, "a model of ours needs its vocabulary", fix="name it, or export the model first")
    encoder = load_encoder(folder).to(device)
    code = chosen_language(encoder.config.languages, language, str(folder))
    vocabulary = Vocabulary.load(vocab)
    check_vocabulary(encoder.config, vocabulary, vocab)
    number, room = encoder.config.languages.index(code), longest_text(folder, encoder.config) - 2
    words = words_from(tokeniser).words

    def spell(text: str) -> tuple[list[int], list[bool]]:
        ids = vocabulary.encode_words(code, words(text))[:room]
        return [END, *ids, END], [False, *([True] * len(ids)), False]

    def states(tokens: Tensor, keep: Tensor) -> list[Tensor]:
        return [layer.cpu() for layer in layer_states(encoder, tokens.to(device), number, keep.to(device))]

    return spell, states, PADDING


def chosen_language(known: Sequence[str], language: str | None, name: str) -> str:
    """Return the language meant, which must be named where a model has several."""
    if language in known:
        return str(language)
    if len(known) == 1:
        return known[0]  # the model of one language reads any text in it, whatever the text is called
    flags = "--language of xling import, --languages A B of xling compare"
    raise XlingError(f"{name}: name one of its languages, {', '.join(known)} (given: {language or 'none'}; {flags})")

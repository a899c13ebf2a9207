"""A common interface of encoders for the analyses: our models, exported models, and Hugging Face encoders.

Hugging Face models (XLM, BERT, XLM-R, …) need the extra `xling[hf]`. Weights are only read from safetensors files, and
code that comes with a model is not run.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from xling.align.mapping import Matrix
from xling.bpe.streams import END
from xling.core.errors import XlingError
from xling.core.io import read_json
from xling.finetune.data import by_length
from xling.interop.trained import open_trained, refuse_misspelt, tokeniser_of
from xling.tokenization.tokeniser import make_tokeniser

Spelled = tuple[list[int], list[bool]]  # ids, and a mask that excludes special tokens
BATCH_TOKENS = 4096
SENTENCES = 10_000  # the size of XNLI-15way (section 5.2)


@dataclass(frozen=True)
class AnyEncoder:
    """An encoder: `spell` turns text into ids, and `states` turns ids into the hidden states of every layer."""

    name: str
    spell: Callable[[str], Spelled]
    states: Callable[[Tensor, Tensor], Sequence[Tensor]]  # tokens and padding mask (b, s), to layers (b, s, d)
    padding: int = 0
    language: str | None = None

    def sentence_means(self, texts: Sequence[str]) -> list[Matrix]:
        """Return for every layer the mean hidden state of each text without special tokens, (n, d) in float32."""
        spelled = [self.spell(text) for text in texts]
        for text, (_, own) in zip(texts, spelled, strict=True):
            if not any(own):
                raise XlingError(f"{self.name}: no token in {text!r}")
        groups = by_length([len(ids) for ids, _ in spelled], [1] * len(spelled), BATCH_TOKENS)
        parts = [self._means([spelled[row] for row in rows]) for rows in groups]
        order = np.argsort(np.concatenate(groups), kind="stable")
        return [np.concatenate(layer)[order] for layer in zip(*parts, strict=True)]

    def _means(self, spelled: Sequence[Spelled]) -> list[Matrix]:
        tokens = pad_sequence([torch.tensor(ids) for ids, _ in spelled], True, self.padding)
        keep = pad_sequence([torch.ones(len(ids), dtype=torch.bool) for ids, _ in spelled], True)
        mine = pad_sequence([torch.tensor(own, dtype=torch.float) for _, own in spelled], True).unsqueeze(-1)
        with torch.inference_mode():
            states = [layer.float().cpu() for layer in self.states(tokens, keep)]
            return [((layer * mine).sum(dim=1) / mine.sum(dim=1)).numpy() for layer in states]


def open_any_encoder(
    name: str, language: str | None = None, device: str = "cpu", tokenised: bool = False
) -> AnyEncoder:
    """Open an encoder from a folder or by its name on the hub.

    `tokenised` means that words in the text are already separated by spaces.
    """
    folder = Path(name)
    refuse_misspelt(folder)
    if (folder / "model.json").is_file():
        return open_own(folder, language, device, tokenised)
    try:
        from xling.interop.published import open_published
    except ModuleNotFoundError as error:
        raise XlingError(f"{name}: {error.name} is not installed (pip install 'xling[hf]')") from None
    return AnyEncoder(name, *open_published(name, language, device), language)


def open_own(folder: Path, language: str | None, device: str, tokenised: bool) -> AnyEncoder:
    """Open a model that xling trained, with the vocabulary and the tokeniser of its study."""
    encoder, vocabulary, longest = open_trained(folder)
    encoder, languages = encoder.to(device), encoder.config.languages
    code = chosen_language(languages, language, str(folder))
    number, words = languages.index(code), cast(Callable[[str], list[str]], str.split)
    if not tokenised:
        words = make_tokeniser(read_json(tokeniser_of(folder, code))).words

    def spell(text: str) -> Spelled:
        ids = vocabulary.encode_words(code, words(text))[: longest - 2]
        return [END, *ids, END], [False, *([True] * len(ids)), False]

    def states(tokens: Tensor, keep: Tensor) -> list[Tensor]:
        return list(encoder.layer_states(tokens.to(device), number, keep.to(device)))

    return AnyEncoder(str(folder), spell, states, language=code)


def chosen_language(known: Sequence[str], language: str | None, name: str) -> str:
    """Return the language to use, which must be named if a model has several."""
    if language in known:
        return str(language)
    if len(known) == 1:
        return known[0]  # a model of one language is used for any language code
    raise XlingError(
        f"{name}: name one of its languages with --languages A B, {', '.join(known)} (given: {language or 'none'})"
    )

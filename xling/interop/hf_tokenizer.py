"""The tokenizer of exported models: raw text to ids as in training, with the interface of Hugging Face's tokenizers.

    tokenizer = XlingTokenizer.from_pretrained("folder", language="fr")
    model(**tokenizer("Il pleut.", return_tensors="pt"))

Text that spells a special token is text, as in training. To fill in a mask, write <mask> and set
`tokenizer.split_special_tokens = False`.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizer

from xling.bpe.train_bpe import SPECIAL_TOKENS, WORD_START
from xling.bpe.vocabulary import UNKNOWN, Vocabulary
from xling.core.errors import InputError, XlingError
from xling.core.io import read_json
from xling.interop.hugging_face import DESCRIPTION, VOCABULARY
from xling.tokenization.tokeniser import make_tokeniser


class XlingTokenizer(PreTrainedTokenizer):
    """Script, segmenter, Moses, case and BPE of one language at a time; `langs` says which, where the model asks."""

    vocab_files_names = {"description_file": DESCRIPTION}  # noqa: RUF012 (the library's way)
    model_input_names = ["input_ids", "attention_mask"]  # noqa: RUF012

    def __init__(
        self, description_file: str, language: str | None = None, stanford_home: str | None = None, **options: Any
    ) -> None:
        self._folder = Path(description_file).parent
        self._description = read_json(Path(description_file))
        if not (self._folder / VOCABULARY).is_dir():
            fix = "download the whole folder of the model and give its path"
            raise InputError(self._folder / VOCABULARY, "not found", fix=fix)
        self._vocabulary = Vocabulary.load(self._folder / VOCABULARY)
        self._names = token_names(self._vocabulary)
        self._numbers = {name: number for number, name in self._names.items()}
        self._words: dict[str, Callable[[str], list[str]]] = {}
        self._stanford_home = stanford_home
        pad, unknown, end, mask = SPECIAL_TOKENS
        special = {"pad_token": pad, "unk_token": unknown, "mask_token": mask}
        ends = dict.fromkeys(("bos_token", "eos_token", "cls_token", "sep_token"), end)
        chosen = {"special_tokens_pattern": "bos_eos", "split_special_tokens": True} | special | ends | options
        super().__init__(language=language, stanford_home=stanford_home, **chosen)  # type: ignore[no-untyped-call]
        only = next(iter(self._described)) if len(self._described) == 1 else None
        self.language = language or only

    @property
    def language(self) -> str:
        """The language of the text to come."""
        if self._language is None:
            raise XlingError(f"name the language: XlingTokenizer.from_pretrained(…, language=…), one of {self._known}")
        return self._language

    @language.setter
    def language(self, code: str | None) -> None:
        if code is not None and code not in self._described:
            raise XlingError(f"the tokenizer has no language {code!r} (it has {self._known})")
        self._language = code

    @property
    def vocab_size(self) -> int:
        """The number of ids."""
        return len(self._names)

    def get_vocab(self) -> dict[str, int]:
        """Return the id of every token."""
        return dict(self._numbers)

    def save_vocabulary(self, save_directory: str, filename_prefix: str | None = None) -> tuple[str, ...]:
        """Copy the vocabulary and its description into a folder."""
        if filename_prefix:
            raise XlingError("a prefix before file names is not supported")
        target = Path(save_directory)
        if target.resolve() != self._folder.resolve():
            shutil.copytree(self._folder / VOCABULARY, target / VOCABULARY, dirs_exist_ok=True)
            shutil.copyfile(self._folder / DESCRIPTION, target / DESCRIPTION)
        return str(target / DESCRIPTION), str(target / VOCABULARY)

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """Return the text of tokens, words joined by single spaces."""
        prefix = f"{self.language}:" if self._vocabulary.kind == "prefixed" else ""
        pieces = (f"{WORD_START}{t}{WORD_START}" if t in SPECIAL_TOKENS else t.removeprefix(prefix) for t in tokens)
        return " ".join("".join(pieces).replace(WORD_START, " ").split())

    @property
    def _described(self) -> dict[str, Any]:
        return self._description["languages"]  # type: ignore[no-any-return]

    @property
    def _known(self) -> str:
        return ", ".join(self._described)

    def _tokenize(self, text: str, **_: Any) -> list[str]:
        if self.language not in self._words:
            self._words[self.language] = self._splitter(self._described[self.language]["tokeniser"])
        ids = self._vocabulary.encode_words(self.language, self._words[self.language](text))
        return [self._names[number] for number in ids]

    def _splitter(self, options: dict[str, Any] | None) -> Callable[[str], list[str]]:
        if options is None:
            return str.split
        here = {"dictionary": str(self._folder / options["dictionary"])} if options.get("dictionary") else {}
        home = {"stanford_home": self._stanford_home} if options.get("segmenter") == "stanford" else {}
        return make_tokeniser(options | here | home).words

    def _convert_token_to_id(self, token: str) -> int:
        return self._numbers.get(token, UNKNOWN)

    def _convert_id_to_token(self, index: int) -> str:
        return self._names[index]

    def _pad(self, *arguments: Any, **options: Any) -> dict[str, Any]:
        """Pad one example, and say of each token which language it is."""
        padded: dict[str, Any] = super()._pad(*arguments, **options)
        if self._description["language_embeddings"]:
            padded["langs"] = [self._described[self.language]["id"]] * len(padded["input_ids"])
        return padded


def token_names(vocabulary: Vocabulary) -> dict[int, str]:
    """Return the name of every id: its piece, with the language before it where anchors were taken apart."""
    names: dict[int, str] = {}
    for language in vocabulary.languages:
        prefix = f"{language}:" if vocabulary.kind == "prefixed" else ""
        for piece, number in zip(vocabulary.pieces(language), vocabulary.ids(language).tolist(), strict=True):
            names[number] = piece if piece in SPECIAL_TOKENS else prefix + piece
    return names

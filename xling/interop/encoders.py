"""Any encoder behind the analyses: a model of ours, one that we exported, or any encoder of Hugging Face.

xling import MODEL --text FILE --out states.safetensors [--language fr] [--vocab DIR --tokeniser JSON]

MODEL is a folder, or a name on the hub. The command brings a checkpoint (XLM, BERT, XLM-R, …) into the analyses: it
writes the sentence means of every layer, without special tokens, as a file of states, which `xling.cka.run` and
`xling.align.sentences` read. Hugging Face models need the extra `xling[hf]`. Weights are read from safetensors alone
and no code that comes with a model is run.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from xling.align.states import write_states
from xling.core.cli import positive
from xling.core.errors import InputError, XlingError, run
from xling.core.io import numbered_lines
from xling.core.log import log_to_stderr
from xling.interop.own_encoder import open_own

Matrix = NDArray[np.floating]
BATCH_TOKENS = 4096
SENTENCES = 10_000  # as many as XNLI-15way has (section 5.2)


@dataclass(frozen=True)
class AnyEncoder:
    """An encoder as the analyses see it: text to ids, ids to the states of every layer."""

    name: str
    spell: Callable[[str], tuple[list[int], list[bool]]]  # ids, and which of them are the text's own
    states: Callable[[Tensor, Tensor], Sequence[Tensor]]  # tokens and which are no padding (b, s) to (b, s, d) a layer
    padding: int

    def sentence_means(self, texts: Sequence[str]) -> list[Matrix]:
        """Return for every layer the mean state of each text's own tokens, (n, d) in float32."""
        spelled = [self.spell(text) for text in texts]
        for text, (_, own) in zip(texts, spelled, strict=True):
            if not any(own):
                raise XlingError(f"{self.name}: no token in {text!r}")
        parts = [
            (rows, self._means([spelled[row] for row in rows])) for rows in by_length([len(ids) for ids, _ in spelled])
        ]
        order = np.argsort(np.concatenate([rows for rows, _ in parts]), kind="stable")
        return [np.concatenate(layer)[order] for layer in zip(*(means for _, means in parts), strict=True)]

    def _means(self, spelled: Sequence[tuple[list[int], list[bool]]]) -> list[Matrix]:
        length = max(len(ids) for ids, _ in spelled)
        tokens = torch.tensor([ids + [self.padding] * (length - len(ids)) for ids, _ in spelled])
        keep = torch.tensor([[True] * len(ids) + [False] * (length - len(ids)) for ids, _ in spelled])
        own = torch.tensor([flags + [False] * (length - len(flags)) for _, flags in spelled])
        with torch.inference_mode():
            return [_mean(layer.float(), own) for layer in self.states(tokens, keep)]


def by_length(lengths: Sequence[int], tokens: int = BATCH_TOKENS) -> Iterator[list[int]]:
    """Yield batches of row numbers, equally long ones together, of about so many tokens."""
    batch: list[int] = []
    for row in np.argsort(lengths, kind="stable").tolist():
        if batch and (len(batch) + 1) * lengths[row] > tokens:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def open_encoder(
    name: str,
    language: str | None = None,
    vocab: Path | None = None,
    tokeniser: str | None = None,
    device: str = "cpu",
) -> AnyEncoder:
    """Open a folder or a name of the hub; `vocab` and `tokeniser` (JSON) belong to a model of ours."""
    folder = Path(name)
    if (folder / "model.json").is_file():
        spell, states, padding = open_own(folder, language, vocab, tokeniser, device)
        return AnyEncoder(name, spell, states, padding)
    if vocab is not None or tokeniser is not None:
        raise InputError(folder, "no model of ours, but a vocabulary or a tokeniser was named for it")
    try:
        from xling.interop.published import open_hugging_face
    except ModuleNotFoundError as error:
        raise XlingError(f"{name}: {error.name} is not installed (pip install 'xling[hf]')") from None
    spell, states, padding = open_hugging_face(name, language, device)
    return AnyEncoder(name, spell, states, padding)


def read_sentences(path: Path, most: int) -> list[str]:
    """Return the first lines of a text, none of them blank."""
    texts = []
    for number, line in islice(numbered_lines(path), most):
        if not line.strip():
            raise InputError(path, "a blank line where a sentence was expected", line=number)
        texts.append(line)
    if not texts:
        raise InputError(path, "empty where sentences were expected")
    return texts


def _mean(states: Tensor, own: Tensor) -> Matrix:
    weights = own.to(states).unsqueeze(-1)
    mean: Matrix = ((states * weights).sum(dim=1) / weights.sum(dim=1)).cpu().numpy()
    return mean


def main(argv: Sequence[str] | None = None) -> None:
    """Write the states of one text in one encoder."""
    args = parse_args(argv)
    texts = read_sentences(args.text, args.sentences)
    encoder = open_encoder(args.model, args.language, args.vocab, args.tokeniser, args.device)
    layers = encoder.sentence_means(texts)
    write_states(args.out, layers, {"model": args.model, "text": str(args.text), "kind": "sentences"}, texts)
    log = log_to_stderr(__name__)
    log.info("%d sentences, %d layers of width %d in %s", len(texts), len(layers), layers[0].shape[1], args.out)


def parse_args(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="xling import", description="Bring an encoder's states into the analyses.")
    parser.add_argument("model", help="folder of a model, or a name on the Hugging Face hub")
    parser.add_argument("--text", type=Path, required=True, help="one sentence a line, compressed by suffix")
    parser.add_argument("--language", help="which language of a model with several")
    parser.add_argument("--vocab", type=Path, help="vocabulary of a model of ours that was not exported")
    parser.add_argument("--tokeniser", metavar="JSON", help="its tokeniser (default: words stand between spaces)")
    parser.add_argument("--sentences", type=positive, default=SENTENCES, help="read at most so many lines")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, required=True, help="states: .safetensors or .npz")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)

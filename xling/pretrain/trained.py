"""Opening of pretrained encoders by later stages, checked against their run.json and vocabulary."""

from pathlib import Path

from xling.bpe.vocabulary import Vocabulary
from xling.core.errors import InputError
from xling.model.encoder import Encoder
from xling.model.files import load_encoder
from xling.pretrain.config import Run


def open_encoder(folder: Path, described: Run, vocabulary: Vocabulary, untrained_seed: int | None) -> Encoder:
    """Return the pretrained encoder of a folder or, given a seed, an untrained one of the same shape."""
    unknown = set(described.languages) - set(vocabulary.languages)
    if unknown:
        raise InputError(folder / "run.json", f"languages {', '.join(sorted(unknown))} are not in the vocabulary")
    sizes = {code: vocabulary.size_of(code) for code in described.languages}
    config = described.model_config(sizes, folder / "run.json")
    encoder = load_encoder(folder) if untrained_seed is None else Encoder(config, untrained_seed)
    if encoder.config != config:
        raise InputError(folder / "model.json", "not the model of run.json and this vocabulary", fix="check --vocab")
    return encoder.eval()


def language_index(described: Run, code: str, flag: str) -> int:
    """Return the index of a language in the encoder; `flag`, the option that named it, is for the error message."""
    if code not in described.languages:
        raise InputError(flag, f"the encoder has no language {code!r} (it has {', '.join(described.languages)})")
    return described.languages.index(code)

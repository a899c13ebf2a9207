"""An encoder of Hugging Face as the analyses see any: weights from safetensors alone, no code of the model's."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import transformers
from safetensors import SafetensorError
from torch import Tensor
from torch.nn import functional
from transformers import AutoConfig, AutoModel, AutoTokenizer

from xling.core.errors import InputError, XlingError
from xling.core.io import read_json
from xling.interop.hf_tokenizer import XlingTokenizer
from xling.interop.hugging_face import NoCache
from xling.interop.own_encoder import chosen_language
from xling.interop.tokenizer_files import DESCRIPTION

Spell = Callable[[str], tuple[list[int], list[bool]]]
StatesOf = Callable[[Tensor, Tensor], Sequence[Tensor]]
SAFE = {"trust_remote_code": False}
NO_LIMIT = 100_000  # tokenizers without a limit of their own give a far larger number
RESERVED = 2  # RoBERTa's family cannot use its first two positions
UNUSED = "pooler."  # made from the top layer, for classification
PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json", "tf_model.h5", "flax_model.msgpack")
CONVERT = "where you trust it: AutoModel.from_pretrained(FOLDER).save_pretrained(FOLDER) writes model.safetensors"


def open_hugging_face(name: str, language: str | None, device: str) -> tuple[Spell, StatesOf, int]:
    """Return how text becomes ids, how ids become states, and the id of padding."""
    check_folder(name)
    config = _load(name, AutoConfig)
    if getattr(config, "is_encoder_decoder", False):
        raise XlingError(f"{name}: {config.model_type} is an encoder with a decoder, an encoder alone was expected")
    tokenizer = _tokenizer(name, language)
    model = _load_model(name).to(device)
    limit = _limit(tokenizer, config)
    settle = _settled if getattr(config, "pre_norm", False) else _as_it_is
    extra = _extra_inputs(name, config, getattr(tokenizer, "language", language))

    def spell(text: str) -> tuple[list[int], list[bool]]:
        found = tokenizer(text, truncation=True, max_length=limit, return_special_tokens_mask=True)
        return list(found["input_ids"]), [flag == 0 for flag in found["special_tokens_mask"]]

    def states(tokens: Tensor, keep: Tensor) -> list[Tensor]:
        on = tokens.to(device)
        inputs = {"input_ids": on, "attention_mask": keep.to(device).long()} | extra(on)
        bottom, *layers = model(**inputs, output_hidden_states=True).hidden_states
        return [bottom.cpu(), *(settle(layer.float()).cpu() for layer in layers)]

    return spell, states, int(tokenizer.pad_token_id or 0)


def check_folder(name: str) -> None:
    """Refuse what is no model's folder, and weights that are pickled: reading those can run code."""
    folder = Path(name)
    if not folder.is_dir():
        if folder.exists() or name.count("/") > 1 or name.startswith((".", "/", "~")):
            raise InputError(folder, "not a folder", fix="name the folder of a model, or a model of the hub")
        return
    if not (folder / "config.json").is_file():
        raise InputError(folder, "neither model.json (ours) nor config.json (Hugging Face) in it: no model's folder")
    if not list(folder.glob("*.safetensors")):
        pickled = next((file for file in PICKLES if (folder / file).is_file()), None)
        if pickled:
            raise InputError(folder / pickled, "only safetensors are read: other formats can run code", fix=CONVERT)
        raise InputError(folder, "no model.safetensors in it", fix="copy or download the whole folder")


def _tokenizer(name: str, language: str | None) -> Any:
    description = Path(name) / DESCRIPTION
    if not description.is_file():
        return _load(name, AutoTokenizer)
    languages = list(read_json(description)["languages"])
    return XlingTokenizer.from_pretrained(name, language=chosen_language(languages, language, name))


def _load(name: str, kind: Any, **options: Any) -> Any:
    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    transformers.utils.logging.set_verbosity_error()  # type: ignore[no-untyped-call]  # it reports unused parts
    try:
        return kind.from_pretrained(name, **SAFE, **options)
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, SafetensorError) as error:
        told = " ".join(str(error).split())
        what = kind.__name__.removeprefix("Auto").lower()
        raise XlingError(f"{name}: transformers cannot load its {what}: {told[:300]}") from None


def _load_model(name: str) -> Any:
    """Load an encoder; weights that are not in the file would be drawn at random, so they are refused."""
    model, told = _load(name, AutoModel, use_safetensors=True, output_loading_info=True)
    missing = sorted(key for key in told["missing_keys"] if not key.startswith(UNUSED))
    if missing:
        raise XlingError(f"{name}: {len(missing)} weights of {type(model).__name__} are missing, as {missing[0]}")
    return model.eval()


def _limit(tokenizer: Any, config: Any) -> int:
    own = int(min(tokenizer.model_max_length, NO_LIMIT))
    positions = getattr(config, "max_position_embeddings", None)
    if own < NO_LIMIT or not positions or positions < 0:
        return own
    return int(positions) - RESERVED


def _settled(states: Tensor) -> Tensor:
    """Return states of one size, as `xling.model.layer_states` has them where layers normalise before each part."""
    return functional.layer_norm(states, states.shape[-1:])


def _as_it_is(states: Tensor) -> Tensor:
    return states


def _extra_inputs(name: str, config: Any, language: str | None) -> Callable[[Tensor], dict[str, Any]]:
    """Return what XLM's family wants beside the tokens: the language of each, and no cache."""
    cache = {"cache": NoCache.of(config)} if getattr(config, "pre_norm", False) else {}
    if not (getattr(config, "n_langs", 1) > 1 and getattr(config, "use_lang_emb", False)):
        return lambda _: cache
    known = getattr(config, "lang2id", {})
    number = known[chosen_language(list(known), language, name)]
    return lambda tokens: cache | {"langs": tokens.new_full(tokens.shape, number)}

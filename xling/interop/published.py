"""Open a Hugging Face encoder for the analyses, only from safetensors and without code that comes with the model."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import transformers
from safetensors import SafetensorError
from torch import Tensor
from torch.nn import functional
from transformers import AutoConfig, AutoModel, AutoTokenizer, EncoderDecoderCache

from xling.core.errors import InputError, XlingError
from xling.interop.encoders import Spelled, chosen_language

NO_LIMIT = 100_000  # tokenizers without a limit give a far larger number
RESERVED = 2  # models of the RoBERTa family cannot use the first two positions
UNUSED = "pooler."  # a layer for classification above the top layer
PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json", "tf_model.h5", "flax_model.msgpack")
CONVERT = "where you trust it: AutoModel.from_pretrained(FOLDER).save_pretrained(FOLDER) writes model.safetensors"
# Flaubert with pre_norm fails in transformers 5 because it indexes this cache; None means no cache.
setattr(EncoderDecoderCache, "__getitem__", lambda *_: None)  # noqa: B010 (mypy knows no such method)


def open_published(
    name: str, language: str | None, device: str
) -> tuple[Callable[[str], Spelled], Callable[[Tensor, Tensor], list[Tensor]], int]:
    """Return a function from text to ids, a function from ids to hidden states, and the id of padding."""
    check_folder(name)
    config = _load(name, AutoConfig)
    if getattr(config, "is_encoder_decoder", False):
        raise XlingError(f"{name}: {config.model_type} is an encoder with a decoder, an encoder alone was expected")
    number, known = _language_number(name, config, language), getattr(config, "lang2id", None) or {}
    apart = [code for code in known if (Path(name) / code / "tokenizer.json").is_file()]  # if exported by us
    below = {"subfolder": chosen_language(apart, language, name)} if apart else {}
    tokenizer = _load(name, AutoTokenizer, **below)
    model, report = _load(name, AutoModel, use_safetensors=True, output_loading_info=True)
    # Weights that are missing in the file would be initialised at random.
    if missing := sorted(key for key in report["missing_keys"] if not key.startswith(UNUSED)):
        raise XlingError(f"{name}: {len(missing)} weights of {type(model).__name__} are missing, as {missing[0]}")
    model, limit, pre_norm = model.eval().to(device), _limit(tokenizer, config), getattr(config, "pre_norm", False)

    def spell(text: str) -> Spelled:
        found = tokenizer(text, truncation=True, max_length=limit, return_special_tokens_mask=True)
        return list(found["input_ids"]), [flag == 0 for flag in found["special_tokens_mask"]]

    def states(tokens: Tensor, keep: Tensor) -> list[Tensor]:
        ids = tokens.to(device)
        langs = {} if number is None else {"langs": ids.new_full(ids.shape, number)}
        inputs = {"input_ids": ids, "attention_mask": keep.to(device).long(), **langs}
        bottom, *layers = model(**inputs, output_hidden_states=True).hidden_states
        if pre_norm:  # to one scale, as in Encoder.at_one_scale
            layers = [functional.layer_norm(layer.float(), layer.shape[-1:]) for layer in layers]
        return [bottom, *layers]

    return spell, states, int(tokenizer.pad_token_id or 0)


def check_folder(name: str) -> None:
    """Raise an error if a path is not the folder of a model, or if its weights are pickled: those can run code."""
    folder = Path(name)
    if not folder.is_dir():
        if folder.exists() or name.count("/") > 1 or name.startswith((".", "/", "~")):
            raise InputError(folder, "not a folder", fix="name the folder of a model, or a model on the hub")
        return
    if not (folder / "config.json").is_file():
        raise InputError(folder, "neither model.json (ours) nor config.json (Hugging Face) in it: no model's folder")
    if not list(folder.glob("*.safetensors")):
        pickled = next((file for file in PICKLES if (folder / file).is_file()), None)
        if pickled:
            raise InputError(folder / pickled, "only safetensors are read: other formats can run code", fix=CONVERT)
        raise InputError(folder, "no model.safetensors in it", fix="copy or download the whole folder")


def _load(name: str, kind: Any, **options: Any) -> Any:
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()  # else it reports unused parts
    try:
        return kind.from_pretrained(name, trust_remote_code=False, **options)
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, SafetensorError) as error:
        what, said = kind.__name__.removeprefix("Auto").lower(), " ".join(str(error).split())
        raise XlingError(f"{name}: transformers cannot load its {what}: {said[:300]}") from None


def _limit(tokenizer: Any, config: Any) -> int:
    own = int(min(tokenizer.model_max_length, NO_LIMIT))
    positions = getattr(config, "max_position_embeddings", None)
    return own if own < NO_LIMIT or not positions or positions < 0 else int(positions) - RESERVED


def _language_number(name: str, config: Any, language: str | None) -> int | None:
    """Return the language id that models of the XLM family need for every token; None if a model needs no language."""
    if not (getattr(config, "n_langs", 1) > 1 and getattr(config, "use_lang_emb", False)):
        return None
    known = getattr(config, "lang2id", {})
    return int(known[chosen_language(list(known), language, name)])

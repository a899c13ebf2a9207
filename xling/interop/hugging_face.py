"""Convert encoders to Hugging Face's XLM (post-LayerNorm) or Flaubert with `pre_norm` (pre-LayerNorm).

Like our encoder, both classes have embeddings of tokens, positions and languages, one LayerNorm below the layers and
none above them, and an output layer tied to the token embeddings, with a bias. There are two differences. Their
feed-forward part is always four times as wide as the hidden states; ours is padded with zeros if it is narrower, and
both activations map 0 to 0. They have one set of weights; if languages have separate parts, each becomes a model.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from xling.bpe.train_bpe import SPECIAL_TOKENS
from xling.core.errors import XlingError
from xling.model.config import ModelConfig
from xling.model.encoder import Encoder
from xling.model.layers import LayerWeights

INNER = 4  # ratio of feed-forward width to width, fixed in both classes
CLASSES = {"post": ("xlm", "XLMWithLMHeadModel"), "pre": ("flaubert", "FlaubertWithLMHeadModel")}
PAD, UNKNOWN, END, MASK = range(len(SPECIAL_TOKENS))


def separate_folders(config: ModelConfig) -> bool:
    """Return whether each language must become a separate model."""
    return len(config.languages) > 1 and (bool(config.separate.embeddings) or config.separate.layers > 0)


def hugging_face_config(config: ModelConfig, language: int) -> dict[str, Any]:
    """Return the content of config.json for the model of a language, or for the model that all languages share."""
    shape, kind = config.shape, CLASSES[config.shape.norm]
    numbers = {code: number for number, code in enumerate(config.languages)}
    special = {"pad": PAD, "bos": END, "eos": END, "mask": MASK}  # text has </s> at both ends
    return {
        "model_type": kind[0], "architectures": [kind[1]], "dtype": "float32",
        "vocab_size": config.sizes[language], "emb_dim": shape.width, "n_layers": shape.layers, "n_heads": shape.heads,
        "max_position_embeddings": shape.positions, "layer_norm_eps": shape.norm_eps, "dropout": shape.dropout,
        "attention_dropout": shape.attention_dropout, "gelu_activation": shape.activation == "gelu",
        "is_encoder": True, "tie_word_embeddings": True, **({"pre_norm": True} if shape.norm == "pre" else {}),
        "use_lang_emb": config.has_language_embeddings, "n_langs": len(numbers), "lang_id": language,
        "lang2id": numbers, "id2lang": {str(number): code for code, number in numbers.items()}, "unk_index": UNKNOWN,
        **{f"{name}_{suffix}": number for name, number in special.items() for suffix in ("index", "token_id")},
    }  # fmt: skip


def hugging_face_weights(encoder: Encoder, language: int) -> dict[str, Tensor]:
    """Return the weights for a language (given by its index) under Hugging Face's names.

    All language embeddings are kept, so a language has the same index in every folder.
    """
    path, config = encoder.path(language), encoder.config
    embeddings, first = path.embeddings, path.embeddings.sentence
    body = {
        "embeddings.weight": embeddings.token[: path.size],
        # The classes have no sentence embeddings: the vector of the first sentence is added to every position.
        "position_embeddings.weight": embeddings.position if first is None else embeddings.position + first[0],
        "layer_norm_emb.weight": embeddings.norm_weight,
        "layer_norm_emb.bias": embeddings.norm_bias,
    }
    if config.has_language_embeddings:
        vectors: list[Tensor] = [encoder.get_parameter(f"language.{code}") for code in config.languages]
        body["lang_embeddings.weight"] = torch.stack(vectors)
    for number, weights in enumerate(path.layers):
        body |= _layer(weights, number)
    named = {f"transformer.{name}": tensor for name, tensor in body.items()}
    named["pred_layer.proj.bias"] = path.softmax_bias[: path.size]
    return {name: tensor.detach().cpu().float().clone().contiguous() for name, tensor in named.items()}


def _layer(weights: LayerWeights, number: int) -> dict[str, Tensor]:
    inner, width = weights.up_weight.shape
    missing = INNER * width - inner
    if missing < 0:
        known = f"Hugging Face's classes have {INNER} x {width}"
        raise XlingError(f"a feed-forward part of {inner} cannot be exported: {known}")
    parts: dict[str, Tensor] = {}
    for kind in ("weight", "bias"):
        for letter, tensor in zip("qkv", getattr(weights, f"qkv_{kind}").chunk(3), strict=True):
            parts[f"attentions.{number}.{letter}_lin.{kind}"] = tensor
        parts[f"attentions.{number}.out_lin.{kind}"] = getattr(weights, f"out_{kind}")
        parts[f"layer_norm1.{number}.{kind}"] = getattr(weights, f"norm1_{kind}")
        parts[f"layer_norm2.{number}.{kind}"] = getattr(weights, f"norm2_{kind}")
    parts[f"ffns.{number}.lin1.weight"] = functional.pad(weights.up_weight, (0, 0, 0, missing))
    parts[f"ffns.{number}.lin1.bias"] = functional.pad(weights.up_bias, (0, missing))
    parts[f"ffns.{number}.lin2.weight"] = functional.pad(weights.down_weight, (0, missing))
    parts[f"ffns.{number}.lin2.bias"] = weights.down_bias
    return parts

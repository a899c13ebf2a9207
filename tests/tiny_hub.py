"""Folders of small random encoders as Hugging Face's libraries write them."""

import torch
import transformers
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing

SMALL = {"num_attention_heads": 2, "intermediate_size": 32, "pad_token_id": 1}


def write_tokenizer(folder, lines, start, end, pad, **options):
    """Write a tokenizer of whole words that frames a text with two special tokens, and return its size."""
    special = [start, pad, end, "<unk>"]
    words = sorted({word for line in lines for word in line.split()})
    numbers = {word: number for number, word in enumerate([*special, *words])}
    tokenizer = Tokenizer(WordLevel(numbers, "<unk>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    ends = [(start, numbers[start]), (end, numbers[end])]
    tokenizer.post_processor = TemplateProcessing(single=f"{start} $A {end}", special_tokens=ends)
    names = {"cls_token": start, "sep_token": end, "pad_token": pad, "unk_token": "<unk>"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names, **options).save_pretrained(folder)
    return len(numbers)


def write_bert(folder, lines, layers=2):
    """Write a small BERT."""
    size = write_tokenizer(folder, lines, "[CLS]", "[SEP]", "[PAD]", model_max_length=24)
    torch.manual_seed(1)
    sizes = SMALL | {"hidden_size": 16, "num_hidden_layers": layers}
    config = transformers.BertConfig(vocab_size=size, max_position_embeddings=24, **sizes)
    transformers.BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


def write_xlm_roberta(folder, lines, width=16):
    """Write a small XLM-R of three layers, whose tokenizer knows no longest text."""
    size = write_tokenizer(folder, lines, "<s>", "</s>", "<pad>")
    torch.manual_seed(2)
    sizes = SMALL | {"hidden_size": width, "num_hidden_layers": 3}
    config = transformers.XLMRobertaConfig(vocab_size=size, max_position_embeddings=26, **sizes)
    transformers.XLMRobertaModel(config).save_pretrained(folder)
    return folder


def write_xlm(folder, lines):
    """Write a small XLM of two languages."""
    size = write_tokenizer(folder, lines, "<s>", "</s>", "<pad>", model_max_length=24)
    torch.manual_seed(3)
    config = transformers.XLMConfig(
        vocab_size=size, emb_dim=16, n_layers=2, n_heads=2, n_langs=2, max_position_embeddings=24, pad_token_id=1,
        lang2id={"en": 0, "fr": 1}, id2lang={0: "en", 1: "fr"},
    )  # fmt: skip
    transformers.XLMWithLMHeadModel(config).save_pretrained(folder)
    return folder

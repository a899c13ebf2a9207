"""presets/paper.yaml against the paper: every number of its study, a row each.

A row says which part of the study it belongs to (the section of the paper, where the paper prints it), what it is,
where it stands (a key of the resolved config, or module:name of a constant) and what it must be.
"""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from embedded import PAPER, made

from workflow_scripts.study import Study
from xling.data.manifest import load_manifest
from xling.finetune.metrics import spans
from xling.model.config import ModelConfig, Separate, Shape
from xling.model.encoder import Encoder
from xling.pretrain.config import read_run
from xling.pretrain.optimiser import learning_rate

CONFIG = PAPER.config
THOUSAND = 1000
LEARNING_RATES = [2e-5, 3e-5, 5e-5]

Fact = tuple[str, str, str, Any]

MODELS: list[Fact] = [
    ("4", "pairs of Table 1", "study.pairs", ["en-fr", "en-ru", "en-zh"]),
    ("5.2", "further bilingual models", "study.extra", ["en-de.default", "en-en2.sep-emb"]),
    ("5", "monolingual models", "study.languages", ["en", "en2", "fr", "de", "ru", "zh"]),
    ("4", "crossings left out", "study.skip", []),
    ("5.2", "en' is English again", "languages.en2.copy_of", "en"),
    ("Table 1", "merges of a joint BPE", "bpe.joint_merges", 80 * THOUSAND),
    ("Table 1", "merges of a language's own BPE", "bpe.language_merges", 40 * THOUSAND),
    ("4.2", "a dictionary word is left as it is", "codeswitch.keep", 0.7),
    ("4.2", "words of a batch that are changed at most", "codeswitch.cap", 0.15),
    ("4.2", "words of a batch of one GPU", "codeswitch.block_words", 96 * 256),
    ("4.2", "left as it is, by hand", "xling.codeswitch.switch_codes:KEEP", 0.7),
    ("4.2", "changed at most, by hand", "xling.codeswitch.switch_codes:CAP", 0.15),
    ("4.2", "words of a batch, by hand", "xling.codeswitch.switch_codes:BLOCK_WORDS", 96 * 256),
]

DATA: list[Fact] = [
    ("3.1", "held-out lines for validation", "text.valid_lines", 5 * THOUSAND),
    ("3.1", "held-out lines for testing", "text.test_lines", 5 * THOUSAND),
    ("3.1", "lower-casing", "text.lowercase", True),
    ("3.1", "accents stay", "text.strip_accents", False),
    ("3.1", "Chinese script as it comes", "text.han_script", "none"),
    ("3.1", "lines a language that train the BPE", "bpe.train_lines", 10_000_000),
    ("3.1", "`</s>` between lines, not between sentences", "bpe.sentence_ends", False),
    ("3.1", "segmenter of Chinese", "languages.zh.segmenter", "stanford"),
    ("3.2", "NLI training data", "data.nli.train", "xnli-mt/multinli.train.en.tsv"),
    ("3.2", "NER of French", "pairs.en-fr.ner", {"train": "wikiann", "test": "wikiann"}),
    ("3.2", "NER of Russian", "pairs.en-ru.ner", {"train": "wikiann", "test": "wikiann"}),
    ("3.2", "NER of Chinese", "pairs.en-zh.ner", {"train": "conll2003", "test": "msra"}),
    ("3.2", "entity types, MISC among them", "xling.data.ner:TYPES", ("LOC", "MISC", "ORG", "PER")),
    ("3.2", "treebank en", "languages.en.treebank.train", "ud/UD_English-EWT/en_ewt-ud-train.conllu"),
    ("3.2", "treebank fr", "languages.fr.treebank.test", "ud/UD_French-GSD/fr_gsd-ud-test.conllu"),
    ("3.2", "treebank ru", "languages.ru.treebank.test", "ud/UD_Russian-GSD/ru_gsd-ud-test.conllu"),
    ("3.2", "treebank zh", "languages.zh.treebank.test", "ud/UD_Chinese-GSD/zh_gsd-ud-test.conllu"),
    ("5.1.1", "vectors of fastText", "xling.align.translate_words:LIMIT", 200 * THOUSAND),
    ("5.1.2", "parallel sentences", "data.parallel", "xnli-15way/xnli.15way.orig.tsv"),
]

PRETRAINING: list[Fact] = [
    ("3.1", "continuous streams", "pretrain.sequences", "streams"),
    ("3.1", "tokens of a stream", "pretrain.length", 256),
    ("3.1", "exponent of a language's share", "pretrain.language_exponent", 0.7),
    ("3.1", "tokens predicted", "pretrain.mask_rate", 0.15),
    ("3.1", "of them masked", "pretrain.mask_share", 0.8),
    ("3.1", "of them random", "pretrain.random_share", 0.1),
    ("4.3", "random words", "pretrain.random_words", "any"),
    ("4.3", "random words where layers are separate", "settings.sep-l1-3.train.random_words", "language"),
    ("3.1", "what a language's share is of", "pretrain.language_share", "lines"),
    ("3.1", "how languages are drawn", "pretrain.language_draws", "independent"),
    ("3.1", "layers", "model.layers", 8),
    ("3.1", "heads", "model.heads", 12),
    ("3.1", "width", "model.width", 768),
    ("3.1", "feed-forward width", "model.feedforward", 3072),
    ("3.1", "activation", "model.activation", "gelu"),
    ("3.1", "dropout", "model.dropout", 0.1),
    ("3.1", "dropout on attention", "model.attention_dropout", 0.1),
    ("3.1", "LayerNorm after each part", "model.norm", "post"),
    ("3.1", "its epsilon", "model.norm_eps", 1e-12),
    ("3.1", "language embeddings", "model.language_embeddings", True),
    ("3.1", "no sentence vectors", "model.sentences", 0),
    ("3.1", "learning rate", "pretrain.lr", 1e-4),
    ("3.1", "updates of warm-up", "pretrain.warmup", 30 * THOUSAND),
    ("3.1", "warm-up starts from", "pretrain.warmup_from", 1e-7),
    ("3.1", "schedule", "pretrain.schedule", "inverse-sqrt"),
    ("3.1", "Adam's betas", "pretrain.betas", [0.9, 0.999]),
    ("3.1", "Adam's epsilon", "pretrain.eps", 1e-6),
    ("3.1", "decoupled weight decay", "pretrain.weight_decay", 0.01),
    ("3.1", "gradients clipped at", "pretrain.clip", 5.0),
    ("3.1", "96 streams a GPU", "pretrain.micro_batch_tokens", 96 * 256),
    ("3.1", "GPUs", "pretrain.micro_batches", 8),
    ("3.1", "200 epochs of 200k streams a GPU", "pretrain.updates", round(200 * 200 * THOUSAND / 96)),
    ("3.1", "a validation an epoch", "pretrain.validate_every", 200 * THOUSAND // 96),
    ("3.1", "mixed precision where there is a GPU", "pretrain.precision", "auto"),
    ("3.1", "no setting trains otherwise", "settings.default.train", {}),
    ("5", "nor do monolingual models", "monolingual.train", {}),
]

TRANSFER: list[Fact] = [
    ("3.2", "tasks", "study.tasks", ["xnli", "ner", "parsing"]),
    ("3.2", "source language", "study.source", "en"),
    *(("3.2", f"best points of {task} that count", f"tasks.{task}.best", 2) for task in ("xnli", "ner", "parsing")),
    ("3.2", "batches of XNLI", "tasks.xnli.grid.batch", [4, 8]),
    ("3.2", "encoder rates of XNLI", "tasks.xnli.grid.encoder_lr", [1.25e-6, 2.5e-6, 5e-6]),
    ("3.2", "classifier rates of XNLI", "tasks.xnli.grid.head_lr", [5e-6, 2.5e-5, 1.25e-4]),
    ("3.2", "epochs of XNLI", "tasks.xnli.epochs", 200),
    ("3.2", "examples of such an epoch", "tasks.xnli.examples_per_epoch", 20 * THOUSAND),
    ("3.2", "schedule of XNLI", "tasks.xnli.schedule", "fixed"),
    ("3.2", "its warm-up", "tasks.xnli.warmup_share", 0.0),
    *(
        ("3.2", f"{what} of {task}", f"tasks.{task}.{key}", value)
        for task in ("ner", "parsing")
        for what, key, value in (
            ("batches", "grid.batch", [16, 32]),
            ("learning rates", "grid.encoder_lr", LEARNING_RATES),
            ("the head's own rates", "grid.head_lr", None),
            ("epochs", "epochs", 10),
            ("examples an epoch", "examples_per_epoch", None),
            ("schedule", "schedule", "linear"),
            ("warm-up", "warmup_share", 0.1),
        )
    ),
    ("3.2", "width of arcs", "tasks.parsing.biaffine.arc", 512),
    ("3.2", "width of labels", "tasks.parsing.biaffine.label", 128),
    ("3.2", "dropout of the parser", "tasks.parsing.biaffine.dropout", 0.33),
    ("3.2", "dropout of its input", "tasks.parsing.biaffine.input_dropout", 0.2),
    ("3.2", "words that LAS leaves out", "xling.finetune.parsing:UNSCORED", ("PUNCT", "SYM")),
    ("3.2", "no weight decay: Adam's betas", "xling.finetune.tuner:BETAS", (0.9, 0.999)),
]

ALIGNMENT: list[Fact] = [
    ("5.1", "rounds of normalisation", "xling.align.mapping:ROUNDS", 5),
    ("5.1.1", "neighbours of CSLS", "xling.align.csls:NEIGHBOURS", 10),
    ("5.1.1", "sentences that words are averaged over", "align.word_sentences", 500 * THOUSAND),
    ("5.1.1", "words kept, as many as of fastText", "align.word_vocabulary", 200 * THOUSAND),
    ("5.1.2", "layers", "align.contextual.layers", list(range(9))),
    ("5.1.2", "task layers", "align.contextual.task_layers", 4),
    ("5.1.2", "their heads", "align.contextual.heads", 12),
    ("5.1.2", "their feed-forward width", "align.contextual.feedforward", 3072),
    ("5.1.2", "their dropout", "align.contextual.dropout", 0.2),
    ("5.2", "sentences of a comparison", "xling.interop.encoders:SENTENCES", 10 * THOUSAND),
    *(
        ("5.1.1", f"MUSE {code} {split}", f"languages.{code}.muse.{split}", f"muse/en-{code}.{lines}.txt")
        for code in ("fr", "de", "ru", "zh")
        for split, lines in (("train", "0-5000"), ("test", "5000-6500"))
    ),
    *(("5.1.3", f"Tatoeba's name of {c}", f"languages.{c}.tatoeba", name)
      for c, name in {"en": "eng", "fr": "fra", "de": "deu", "ru": "rus", "zh": "cmn"}.items()),
]  # fmt: skip

FACTS = [*MODELS, *DATA, *PRETRAINING, *TRANSFER, *ALIGNMENT]


def found(where: str) -> Any:
    """Return what stands at a key of the resolved config, or a constant named as module:name."""
    if ":" in where:
        module, name = where.split(":")
        return getattr(import_module(module), name)
    value: Any = CONFIG
    for key in where.split("."):
        value = value[key]
    return value


@pytest.mark.parametrize(("section", "what", "where", "value"), FACTS, ids=[f"{f[2]} ({f[1]})" for f in FACTS])
def test_a_number_of_the_paper(section: str, what: str, where: str, value: Any) -> None:
    if isinstance(value, float):
        value = pytest.approx(value, rel=1e-12)
    assert found(where) == value, f"section {section}: {what}"


# Table 1: domain of the other language, kind of vocabulary, merges, code-switched, own embeddings, own layers, softmax.
TABLE = {
    "default": ("wiki", "joint", 80_000, False, False, 0, "shared"),
    "wiki-cc": ("crawl", "joint", 80_000, False, False, 0, "shared"),
    "no-anchors": ("wiki", "prefixed", 40_000, False, False, 0, "shared"),
    "default-anchors": ("wiki", "union", 40_000, False, False, 0, "shared"),
    "extra-anchors": ("wiki", "joint", 80_000, True, False, 0, "shared"),
    "sep-emb": ("wiki", "separate", 40_000, False, True, 0, "per-language"),
    "sep-l1-3": ("wiki", "union", 40_000, False, False, 3, "shared"),
    "sep-l1-6": ("wiki", "union", 40_000, False, False, 6, "shared"),
    "sep-emb-l1-3": ("wiki", "separate", 40_000, False, True, 3, "per-language"),
    "sep-emb-l1-6": ("wiki", "separate", 40_000, False, True, 6, "per-language"),
}


LABELS = ["Default", "Wiki-CC", "No anchors", "Default anchors", "Extra anchors", "Sep Emb", "Sep L1-3", "Sep L1-6"]
LABELS += ["Sep Emb + L1-3", "Sep Emb + L1-6"]


@pytest.mark.parametrize("setting", TABLE)
@pytest.mark.parametrize("one", [PAPER, made(study={"skip": []}, bpe=PAPER.config["bpe"])], ids=["paper", "embedded"])
def test_a_row_of_table_1(one: Study, setting: str) -> None:
    for other in ("fr", "ru", "zh"):
        run = one.run(f"en-{other}.{setting}.s1")
        corpus, vocabulary = run["made_from"]["corpus"], run["made_from"]["vocabulary"]
        assert corpus["en"]["domain"] == "wiki"
        assert corpus["en"]["switched"] == corpus[other]["switched"]  # both languages
        row = (corpus[other]["domain"], vocabulary["kind"], vocabulary["merges"], corpus[other]["switched"])
        assert (*row, run["separate"]["embeddings"], run["separate"]["layers"], run["softmax"]) == TABLE[setting]
        assert run["selection_language"] == "en"
    assert [one.config["settings"][name]["label"] for name in one.config["study"]["settings"]] == LABELS


def vocabulary(model: str) -> tuple[str, int]:
    made = PAPER.run(model)["made_from"]["vocabulary"]
    return made["kind"], made["merges"]


def test_models_outside_table_1() -> None:
    copied = PAPER.run("en-en2.sep-emb.s1")["made_from"]["corpus"]["en2"]
    assert {key: copied[key] for key in ("text_of", "domain", "switched", "own_order")} == {
        "text_of": "en", "domain": "wiki", "switched": False, "own_order": True,
    }  # fmt: skip
    assert vocabulary("en-en2.sep-emb.s1") == ("separate", 40_000)
    assert vocabulary("en-de.default.s1") == ("joint", 80_000)
    for code in ("en", "en2", "fr", "de", "ru", "zh"):
        assert vocabulary(f"{code}.mono.s1") == ("mono", 40_000)
        assert PAPER.run(f"{code}.mono.s1")["selection_language"] == code


def test_the_schedule_as_it_is_computed(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(PAPER.run("en-fr.default.s1")))
    train = read_run(tmp_path / "run.json").pretrain
    assert learning_rate(0, train) == pytest.approx(1e-7)
    assert learning_rate(30_000, train) == pytest.approx(1e-4)
    assert learning_rate(120_000, train) == pytest.approx(0.5e-4)


def test_embeddings_are_drawn_with_a_deviation_of_one_over_the_root_of_the_width() -> None:
    shape = Shape(layers=1, width=64, heads=2, feedforward=256, activation="gelu", dropout=0.1, attention_dropout=0.1,
                  norm="post", norm_eps=1e-12, positions=64, language_embeddings=True)  # fmt: skip
    drawn = Encoder(ModelConfig(("en",), (4000,), shape, Separate(embeddings=False, layers=0), "shared"), 1)
    weights = dict(drawn.named_parameters())
    for part in ("token", "position"):
        assert float(weights[f"embeddings.shared.{part}"].detach()[:4000].std()) == pytest.approx(64**-0.5, rel=0.05)


def test_grids_have_as_many_points_as_the_paper_searches() -> None:
    assert {task: len(PAPER.transfer.points(task)) for task in ("xnli", "ner", "parsing")} == {
        "xnli": 2 * 3 * 3, "ner": 2 * 3, "parsing": 2 * 3,
    }  # fmt: skip
    passes = CONFIG["tasks"]["xnli"]["epochs"] * CONFIG["tasks"]["xnli"]["examples_per_epoch"] / 392_702
    assert passes == pytest.approx(10, abs=0.5)  # MultiNLI


def test_the_first_metric_of_a_task_decides() -> None:
    measures = import_module("xling.finetune.metrics").MEASURES
    assert {task: next(iter(measures[task])) for task in ("xnli", "ner", "parsing")} == {
        "xnli": "accuracy", "ner": "f1", "parsing": "las",
    }  # fmt: skip
    assert spans(["B-X", "I-Y", "I-Z", "O", "I-X"]) == [("Z", 0, 3), ("X", 4, 5)]


def test_all_data_is_what_the_paper_names() -> None:
    date, manifest = CONFIG["data"]["wikipedia_date"], load_manifest()
    for code in ("en", "fr", "de", "ru", "zh"):
        name = f"wikipedia/{code}wiki-{date}-pages-articles.xml.bz2"
        text = PAPER.language(code)["text"]["wiki"]
        assert (text["format"], text["files"]) == ("wikipedia", [name])
    assert CONFIG["data"]["origin"] == "download"
    assert [PAPER.language(code)["text"]["crawl"]["files"] for code in ("fr", "ru", "zh")] == [
        ["cc100/fr.txt.xz"], ["cc100/ru.txt.xz"], ["cc100/zh-Hans.txt.xz"],
    ]  # fmt: skip
    versions = {"ud": "2.3", "xnli": "1.0", "xnli-mt": "1.0", "xnli-15way": "1.0", "panlex": "2019-09-01"}
    assert {name: manifest[name].version for name in versions} == versions
    assert PAPER.language("zh")["segmenter_dictionary"].endswith("stanford-segmenter-2018-10-16")
    assert [PAPER.language(code)["vectors"] for code in ("en", "de")] == [
        f"fasttext/wiki.{c}.vec" for c in ("en", "de")
    ]
    assert PAPER.parallel_sides["en2"] == "en-prime/xnli.15way.en-prime.txt"


def test_figures_5_and_8_have_three_pairs_and_two_tasks() -> None:
    contextual = PAPER.contextual
    assert (contextual.targets(), contextual.tasks()) == (["fr", "ru", "zh"], ["ner", "parsing"])
    assert {name: job.ways for name, job in contextual.jobs.items()} == {
        "en.mono.s1": ("aligned",), "en.untrained.s1": ("aligned",),
        **{f"en-{code}.{model}.s1": ("plain", "aligned") for code in ("fr", "ru", "zh") for model in ("default", "untrained")},
    }  # fmt: skip

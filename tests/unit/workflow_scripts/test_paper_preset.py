"""presets/paper.yaml, and the constants of the package, against the paper: every number of its study."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from embedded import PAPER, leaves, made

from workflow_scripts.study import Study
from xling.data.manifest import load_manifest
from xling.finetune.metrics import spans
from xling.model.config import ModelConfig, Separate, Shape
from xling.model.encoder import Encoder
from xling.pretrain.config import read_run
from xling.pretrain.optimiser import learning_rate

CONFIG = PAPER.config

# By section of the paper: keys of the resolved config, and constants as module:name.
FACTS = yaml.safe_load("""
section 4:
  study: {pairs: [en-fr, en-ru, en-zh], skip: []}
Table 1:
  bpe: {joint_merges: 80000, language_merges: 40000}
section 4.2, words of the dictionary that stay, words changed at most, words of a batch of one GPU (96 streams of 256):
  codeswitch: {keep: 0.7, cap: 0.15, block_words: 24576}
  xling.codeswitch.switch_codes: {":KEEP": 0.7, ":CAP": 0.15, ":BLOCK_WORDS": 24576}
section 4.3, random words where layers are separate:
  pretrain: {random_words: any}
  settings: {sep-l1-3: {train: {random_words: language}}}
section 3.1, text; `</s>` stands between lines, not between sentences:
  text: {valid_lines: 5000, test_lines: 5000, lowercase: true, strip_accents: false, han_script: none}
  bpe: {train_lines: 10000000, sentence_ends: false}
  languages: {zh: {segmenter: stanford}}
section 3.1, the model:
  model: {layers: 8, heads: 12, width: 768, feedforward: 3072, activation: gelu, dropout: 0.1, attention_dropout: 0.1,
    norm: post, norm_eps: 1.0e-12, language_embeddings: true, sentences: 0}
section 3.1, streams and masks:
  pretrain: {sequences: streams, length: 256, language_exponent: 0.7, language_share: lines, language_draws: independent,
    mask_rate: 0.15, mask_share: 0.8, random_share: 0.1}
section 3.1, Adam with decoupled weight decay, mixed precision where there is a GPU:
  pretrain: {lr: 1.0e-4, warmup: 30000, warmup_from: 1.0e-7, schedule: inverse-sqrt, betas: [0.9, 0.999], eps: 1.0e-6,
    weight_decay: 0.01, clip: 5.0, precision: auto}
section 3.1, 96 streams on each of 8 GPUs, 200 epochs of 200k streams a GPU with a validation after each:
  pretrain: {micro_batch_tokens: 24576, micro_batches: 8, updates: 416667, validate_every: 2083}
section 3.1, no setting and no monolingual model trains otherwise:
  settings: {default: {train: {}}}
  monolingual: {train: {}}
section 3.2, data:
  study: {tasks: [xnli, ner, parsing], source: en}
  data: {nli: {train: xnli-mt/multinli.train.en.tsv}}
  pairs: {en-fr: {ner: {train: wikiann, test: wikiann}}, en-ru: {ner: {train: wikiann, test: wikiann}},
    en-zh: {ner: {train: conll2003, test: msra}}}
  xling.data.tasks: {":TYPES": [LOC, MISC, ORG, PER]}
  languages:
    en: {treebank: {train: ud/UD_English-EWT/en_ewt-ud-train.conllu}}
    fr: {treebank: {test: ud/UD_French-GSD/fr_gsd-ud-test.conllu}}
    ru: {treebank: {test: ud/UD_Russian-GSD/ru_gsd-ud-test.conllu}}
    zh: {treebank: {test: ud/UD_Chinese-GSD/zh_gsd-ud-test.conllu}}
section 3.2, fine-tuning; the two best points count:
  tasks:
    xnli: {best: 2, epochs: 200, examples_per_epoch: 20000, schedule: fixed, warmup_share: 0.0,
      grid: {batch: [4, 8], encoder_lr: [1.25e-6, 2.5e-6, 5.0e-6], head_lr: [5.0e-6, 2.5e-5, 1.25e-4]}}
    ner: &words {best: 2, epochs: 10, examples_per_epoch: null, schedule: linear, warmup_share: 0.1,
      grid: {batch: [16, 32], encoder_lr: [2.0e-5, 3.0e-5, 5.0e-5], head_lr: null}}
    parsing: {<<: *words, biaffine: {arc: 512, label: 128, dropout: 0.33, input_dropout: 0.2}}
  xling.finetune.parsing: {":UNSCORED": [PUNCT, SYM]}
  xling.finetune.tuner: {":BETAS": [0.9, 0.999]}
section 5, models; en' is English again:
  study: {extra: [en-de.default, en-en2.sep-emb], languages: [en, en2, fr, de, ru, zh]}
  languages: {en2: {copy_of: en}}
section 5.1, words and sentences:
  xling.align.mapping: {":ROUNDS": 5}
  xling.align.search: {":NEIGHBOURS": 10}
  xling.align.translate_words: {":LIMIT": 200000}
  align: {word_sentences: 500000, word_vocabulary: 200000}
  data: {parallel: xnli-15way/xnli.15way.orig.tsv}
  languages:
    en: {tatoeba: eng}
    fr: {tatoeba: fra, muse: {train: muse/en-fr.0-5000.txt, test: muse/en-fr.5000-6500.txt}}
    de: {tatoeba: deu, muse: {train: muse/en-de.0-5000.txt, test: muse/en-de.5000-6500.txt}}
    ru: {tatoeba: rus, muse: {train: muse/en-ru.0-5000.txt, test: muse/en-ru.5000-6500.txt}}
    zh: {tatoeba: cmn, muse: {train: muse/en-zh.0-5000.txt, test: muse/en-zh.5000-6500.txt}}
section 5.1.2, task layers:
  align: {contextual: {layers: [0, 1, 2, 3, 4, 5, 6, 7, 8], task_layers: 4, heads: 12, feedforward: 3072, dropout: 0.2}}
section 5.2, sentences of a comparison:
  xling.interop.encoders: {":SENTENCES": 10000}
""")


def found(where: str) -> Any:
    """Return what stands at a key of the resolved config, or a constant named as module:name."""
    if ":" in where:
        module, name = where.split(".:")
        value: Any = getattr(import_module(module), name)
        return list(value) if isinstance(value, tuple) else value
    value = CONFIG
    for key in where.split("."):
        value = value[key]
    return value


@pytest.mark.parametrize(
    ("section", "where", "value"), [(section, *leaf) for section, part in FACTS.items() for leaf in leaves(part)]
)
def test_a_number_of_the_paper(section: str, where: str, value: Any) -> None:
    if isinstance(value, float):
        value = pytest.approx(value, rel=1e-12)
    assert found(where) == value, section


def test_no_number_is_lost() -> None:
    """Of a key that stands in a table twice, YAML keeps only the last."""
    assert sum(1 for part in FACTS.values() for _ in leaves(part)) == 126


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


def test_inference_sees_multinli_ten_times() -> None:
    passes = CONFIG["tasks"]["xnli"]["epochs"] * CONFIG["tasks"]["xnli"]["examples_per_epoch"] / 392_702
    assert passes == pytest.approx(10, abs=0.5)


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

"""The description of a study as a tree of records: every key with its type and meaning.

Defaults are in config.yaml. docs/config.md and docs/config.schema.json are generated from this tree.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from xling.align.plan import Options as Contextual
from xling.core.records import (
    Count,
    Different,
    Dropout,
    Flag,
    Size,
    Text,
    find_problems,
    key,
    matching,
    optional,
    partial,
    record,
)
from xling.core.tasks import TaskName
from xling.finetune.settings import Settings as TaskSettings
from xling.model.config import Separate, Shape, Softmax
from xling.pretrain.config import Pretrain
from xling.synthetic.traits import Differences
from xling.tokenization.options import HanScript, Segmenter


def _not_reserved(name: str) -> str:
    if name in ("mono", "random") or name.startswith("untrained"):
        raise ValueError(f"{name!r} cannot be used: mono, random and untrained… name models without a setting")
    return name


def _stays_below(path: str) -> str:
    """Refuse paths that lead out of the data root, where Snakemake could delete files, and braces (wildcards)."""
    if {"", ".", ".."} & set(path.split("/")) or set("{}") & set(path) or not path.isprintable():
        raise ValueError(f"expected a path without '..', '.', empty parts and braces, found {path!r}")
    return path


Code = Annotated[str, matching("^[a-z][a-z0-9_]*$", "a language's code, as en: lower-case letters, digits and _")]
Name = Annotated[str, matching("^[a-z0-9][a-z0-9-]*$", "a name of lower-case letters, digits and hyphens")]
SettingName = Annotated[Name, AfterValidator(_not_reserved)]
PairName = Annotated[str, matching("^[a-z][a-z0-9_]*-[a-z][a-z0-9_]*$", "the codes of two languages, as en-fr")]
Cell = Annotated[
    str, matching(r"^[a-z][a-z0-9_]*-[a-z][a-z0-9_]*\.[a-z0-9][a-z0-9-]*$", "pair.setting, as en-de.default")
]
Cells = Annotated[str, matching(r"^[^.]+\.[^.]+$", "pair.setting or language.mono, where * stands for any text")]
DataPath = Annotated[str, matching("^[^/]", "a path that starts below data.root"), AfterValidator(_stays_below)]
Date = Annotated[str, matching("^[0-9]{8}$", "a date in quotes, as '20200101'")]
PanLexCode = Annotated[str, matching("^[a-z]{3}-[0-9]{3}$", "PanLex's code, as fra-000")]
TatoebaCode = Annotated[str, matching("^[a-z]{3}$", "three letters, as fra")]
Codes = Annotated[list[Code], Different]
SomeCells = Annotated[list[Cells], Field(min_length=1)]
Seeds = Annotated[list[Size], Field(min_length=1), Different]
ThreeSizes = Annotated[list[Count], Field(min_length=3, max_length=3)]
AtLeastOne = Annotated[float, Field(strict=True, ge=1, allow_inf_nan=False)]
PositiveShare = Annotated[float, Field(strict=True, gt=0, le=1)]
# The languages for which sacremoses has rules.
Moses = Literal[
    None, "as", "bn", "ca", "cs", "de", "el", "en", "es", "et", "fi", "fr", "ga", "gu", "hi", "hu", "is", "it", "kn",
    "lt", "lv", "ml", "mni", "mr", "nl", "or", "pa", "pl", "pt", "ro", "ru", "sk", "sl", "sv", "ta", "tdt", "te", "yue",
    "zh",
]  # fmt: skip


@record
class MoreSeeds:
    """Further seeds for chosen models, on top of `seeds`."""

    models: SomeCells = key("Models as pair.setting or language.mono; * stands for any text.")
    seeds: Seeds = key("The further seeds.")


@record
class StudySection:
    """Which part of the grid is run, and where the results go."""

    name: Name = key("Name of the study, which is also the folder below `results`.")
    notes: list[Text] = key("Sentences about the data that the report shows beside the results.")
    results: Text = key("Folder of all outputs; may be on scratch. Environment variables are expanded.")
    source: Code = key("Language that tasks are trained in and transferred from (section 3.2).")
    languages: Codes = key("Languages that get a monolingual model (section 5).")
    pairs: Annotated[list[PairName], Different] = key("Columns of Table 1: pairs that are crossed with all `settings`.")
    settings: Annotated[list[Name], Different] = key("Rows of Table 1.")
    extra: Annotated[list[Cell], Different] = key("Bilingual models outside Table 1, as pair.setting, for Figure 7.")
    skip: Annotated[list[Cells], Different] = key("Crossings of pairs and settings that are not run, as pair.setting.")
    seeds: Seeds = key("Seeds that every model is trained with.")
    more_seeds: list[MoreSeeds] = key("Further seeds for chosen models, on top of `seeds`.")
    tasks: Annotated[list[TaskName], Field(min_length=1), Different] = key("Tasks that models are fine-tuned on.")


@record
class Splits:
    """The files of a data set."""

    train: DataPath = optional("Training file, needed for the source language only.")
    dev: DataPath = optional("Development file, needed for the source language only.")
    test: DataPath = optional("Test file.")


@record
class Data:
    """Where the raw data is, all below one root."""

    origin: Literal["generated", "local", "download"] = key(
        "generated: the embedded languages; local: the files are there already; download: the target fetch gets them."
    )
    root: Text = key("Folder that all paths of this file start from. Environment variables are expanded.")
    wikipedia_date: Date = key("Date of the Wikipedia dumps, which pins them.")
    nli: Splits = key("English training set, and dev and test sets in every language (XNLI).")
    more_nli: Annotated[list[DataPath], Different] = key("Further English pairs to train on, as `nli.train` has them.")
    nli_tokenised: Flag = key("The pairs to train on are words already, as those published with XNLI's translations.")
    parallel: DataPath | None = key(
        "Multi-way parallel sentences (XNLI-15way), one column per language, or null for none: monolingual models are "
        "compared on them (Figures 5 to 8), and bilingual models are watched on them while they are trained."
    )
    tatoeba: DataPath = key("Folder of LASER's Tatoeba test sets.")


@record
class TextSource:
    """Pretraining text of one domain."""

    format: Literal["wikipedia", "crawl", "text"] = key(
        "MediaWiki dump, text with document breaks, or one paragraph per line."
    )
    files: Annotated[list[DataPath], Field(min_length=1), Different] = key("Files, read one after the other.")
    shards: Count = optional(
        "Parts that are extracted and tokenised in jobs of their own, 1 if not given. Results do not depend on it, but "
        "another number reads the text again."
    )


@record
class Domains:
    """Pretraining text by domain."""

    wiki: TextSource = optional("The encyclopaedia.")
    crawl: TextSource | None = optional("Web text, for Wiki-CC, or null for none.")


@record
class NerSet:
    """A data set of named entities."""

    format: Literal["wikiann", "conll2003", "msra"] = key("Official format of the files.")
    test: DataPath = key("Test file.")
    train: DataPath = optional("Training file, needed for the source language only.")
    dev: DataPath = optional("Development file, needed for the source language only.")


@record
class Dictionary:
    """Bilingual dictionary for Extra anchors."""

    format: Literal["panlex", "tsv"] = key("The PanLex CSV dump, or a file of source TAB target [TAB quality].")
    path: DataPath = key("Folder of the dump, or the file.")
    code: PanLexCode = optional("PanLex's code of the language variety.")


@record
class WordPairs:
    """Word translations from the source language (MUSE)."""

    train: DataPath = key("Pairs that the mapping is learnt from.")
    test: DataPath = key("Pairs that the mapping is tested on.")


@record
class Language:
    """Everything that is known about a language, by its code."""

    name: Text = key("Its name in tables and figures.")
    copy_of: Code = optional("Takes all other keys from this language: en2 is English again, in another order.")
    script: Text = optional("Writing system (Latin, Cyrillic, Han, …), for the report; text in another one is refused.")
    moses: Moses = optional("Language whose Moses rules are used (en for a language without rules), or null for none.")
    segmenter: Segmenter = optional("Word segmenter for a script without spaces.")
    segmenter_dictionary: DataPath | None = optional("Word list for jieba, or the folder of the Stanford segmenter.")
    text: Domains = optional("Pretraining text by domain.")
    treebank: Splits | None = optional("CoNLL-U files, or null for none.")
    ner: dict[Name, NerSet] | None = optional("NER data sets by name, or null for none.")
    dictionary: Dictionary | None = optional("Bilingual dictionary for Extra anchors, or null for none.")
    muse: WordPairs | None = optional("Word translations from the source language (MUSE), or null for none.")
    tatoeba: TatoebaCode | None = optional("Tatoeba's code of the language, or null for none.")
    vectors: DataPath | None = optional(
        "fastText vectors, the baseline of Figure 4: a file, own (trained on its own text), or null for none."
    )
    parallel: DataPath | None = optional("Its parallel sentences, one per line, if data.parallel has no column for it.")


@record
class PairNer:
    """Which NER data sets of its languages a pair uses (the paper has another one for Chinese)."""

    train: Name = key("Data set of the source language to train on.")
    test: Name = key("Data set of the other language to test on.")


@record
class Pair:
    """A language pair by name, source first, as en-fr; only pairs of a study with the task ner must be here."""

    ner: PairNer | None = optional()


@record
class Setting:
    """A row of Table 1; what a setting does not say is as in `default`, or as in the one that it is like."""

    label: Text = key("Its name in Table 1.")
    like: str = optional("Another setting, without `like`, for what this one does not say.")
    group: str = optional("Heading of Table 1 above it.")
    domain: Literal["wiki", "crawl"] = optional("Text of the other language; the source language always has wiki.")
    bpe: Literal["joint", "per-language"] = optional("One BPE for both languages, or one for each.")
    anchors: Literal["all", "none", "extra"] = optional(
        "Equal strings are shared, kept apart, or added to by code-switching."
    )
    separate: partial(Separate) = optional("Parts that each language has for itself.")  # type: ignore[valid-type]
    softmax: Softmax = optional("Output layer; it is tied to the embeddings, so it is shared or separate as they are.")
    train: partial(Pretrain) = optional("Keys of pretrain that differ for this setting.")  # type: ignore[valid-type]


@record
class Monolingual:
    """How monolingual models differ from bilingual ones."""

    train: partial(Pretrain) = key("Keys of pretrain that differ.")  # type: ignore[valid-type]


@record
class TextSection:
    """Cleaning and splitting of text, the same for pretraining and every task."""

    lowercase: Flag = key("Lower-case all text, as XLM's script does (the paper does not say).")
    strip_accents: Flag = key("Strip accents, as XLM's script does; it turns й into и and breaks look-ups.")
    han_script: HanScript = key("Convert all Chinese text to one script.")
    min_characters: Count = key("Shorter paragraphs are dropped.")
    valid_lines: Count = key("Lines held out for validation, per language and domain.")
    test_lines: Count = key("Lines held out for testing, per language and domain.")
    crawl_margin: AtLeastOne | None = key(
        "Web text is thinned before it is tokenised to so many times the size it is trimmed to; null keeps all of it."
    )
    shuffle: Flag = key("Shuffle the lines of training text, as XLM's script does, so that neighbours are unrelated.")
    keep: Flag = key(
        "Keep extracted, tokenised and code-switched text after it has been read. Without it, a change of the tokeniser"
        " extracts the text again."
    )


@record
class Bpe:
    """Subword vocabularies (section 3.1 and Table 1)."""

    joint_merges: Count = key("Merges of a joint vocabulary (80k in the paper).")
    language_merges: Count = key("Merges of the vocabulary of one language (40k in the paper).")
    train_lines: Count = key("Most lines per language that BPE is trained on.")
    balance: Literal["lines", "words"] = key(
        "A joint BPE is trained on equally many lines, or words, of each language."
    )
    sentence_ends: Flag = key("Put </s> also between the sentences of a line, as XNLI's pairs have it.")


@record
class Codeswitch:
    """Extra anchors by code-switching (section 4.2)."""

    keep: Dropout = key("Probability that a word of the dictionary is left as it is.")
    cap: PositiveShare = key("Largest share of the words of a block that is replaced.")
    block_words: Count = key("Words per block, about the size of a batch.")


@record
class Tasks:
    """Zero-shot transfer (section 3.2)."""

    xnli: TaskSettings = key("Natural language inference.")
    ner: TaskSettings = key("Named entity recognition.")
    parsing: TaskSettings = key("Dependency parsing.")
    pos: TaskSettings = key("Part-of-speech tagging, not in the paper: a cheap fourth task.")


@record
class OwnVectors:
    """How fastText is trained where a language has `vectors: own`."""

    width: Count = key("Width of the vectors (300 in those that fastText published).")
    epochs: Count = key("Passes over the text.")
    min_count: Count = key("Rarer words have no vector.")


@record
class Align:
    """Alignment of monolingual models (section 5)."""

    contextual: Contextual
    own_vectors: OwnVectors
    word_sentences: Count = key("Lines, spread over the text, whose words are represented in context (Figure 4b).")
    word_vocabulary: Count = key("Most frequent words that are kept (Figures 4a and 4b).")


@record
class Synthetic:
    """The embedded languages, written when data.origin is generated."""

    languages: dict[Code, Differences]
    world_seed: Size = key("Seed of the concepts and of every lexicon.")
    seed: Size = key("Seed of all sentences.")
    wiki_sentences: Count = key("Sentences of the encyclopaedia, per language.")
    crawl_sentences: Count = key("Sentences of the web text, per language.")
    treebank_sentences: ThreeSizes = key("Trees in train, dev and test.")
    ner_sentences: ThreeSizes = key("Sentences with entities in train, dev and test.")
    nli_pairs: ThreeSizes = key("Inference pairs in train, dev and test.")
    parallel_sentences: Count = key("Multi-way parallel sentences.")
    tatoeba_sentences: Count = key("Sentence pairs for retrieval.")
    dictionary_share: PositiveShare = key("Share of the source words that the PanLex-like dictionary knows.")


@record
class Description:
    """The description of a study of cross-lingual structure."""

    study: StudySection
    data: Data
    languages: Annotated[dict[Code, Language], Field(min_length=1)]
    pairs: Annotated[dict[PairName, Pair], Field(min_length=1)]
    settings: dict[SettingName, Setting]
    monolingual: Monolingual
    text: TextSection
    bpe: Bpe
    codeswitch: Codeswitch
    model: Shape
    pretrain: Pretrain
    tasks: Tasks
    align: Align
    synthetic: Synthetic


def schema_problems(config: Mapping[str, Any]) -> list[str]:
    """Return one line for every key of a description that is unknown, missing or of the wrong type."""
    return find_problems(Description, config)

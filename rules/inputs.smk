# Inputs as paths, from the study's choices. One function a question.

TASK_DATA = {"xnli": "nli", "ner": "ner", "parsing": "parsing", "pos": "parsing"}


def raw_files(paths):
    """Return what stands for raw files: generated ones themselves, else receipts, or files that may be touched."""
    match config["data"]["origin"]:
        case "generated":
            return list(paths)
        case "local":
            return [ancient(path) for path in paths]
    # A receipt is written anew when a study gains a language: only the path of a raw file reruns what reads it.
    return [ancient(STUDY.root / f"receipts/{dataset}.json") for dataset in STUDY.datasets_of(paths)]


def tokenised(language, domain):
    """Return a language's tokenised text."""
    return RESULTS / f"tokenised/{language}.{domain}.txt.zst"


def corpus(language, domain, split):
    """Return one split of a language's corpus."""
    return RESULTS / f"corpus/{language}.{domain}/{split}.txt.zst"


def segmenter_files(wildcards):
    """Return what the segmenters of a job's languages read: its language, its pair, or else all."""
    pair = wildcards.get("pair", "-".join(STUDY.languages)).split("-")
    codes = [wildcards.language] if "language" in wildcards.keys() else pair
    options = [STUDY.tokeniser(code) for code in codes]
    paths = {path for option in options for path in (option["dictionary"], option["stanford_home"]) if path}
    return raw_files(sorted(paths))


def corpus_sizes(wildcards):
    """Return the statistics of all domains whose smaller one is the measure, or nothing."""
    original = STUDY.original(wildcards.language)
    domains = STUDY.trimmed_to(wildcards.language, wildcards.domain)
    return [RESULTS / f"tokenised/{original}.{domain}.json" for domain in domains]


def domain_in(wildcards, language):
    """Return a language's domain in a vocabulary: the source language's is always wiki."""
    return wildcards.domain if language == wildcards.languages.split("-")[-1] else "wiki"


def bpe_text(wildcards):
    """Return the training text of the languages that a BPE is made for."""
    return [corpus(code, domain_in(wildcards, code), "train") for code in wildcards.languages.split("-")]


def merges(wildcards):
    """Return how many merges a BPE has."""
    return config["bpe"]["joint_merges" if "-" in wildcards.languages else "language_merges"]


def vocabulary_models(wildcards):
    """Return the BPE model of each language of a vocabulary."""
    codes = wildcards.languages.split("-")
    joint = RESULTS / f"bpe/{wildcards.languages}.{wildcards.domain}.model"
    own = {code: RESULTS / f"bpe/{code}.{domain_in(wildcards, code)}.model" for code in codes}
    return dict.fromkeys(codes, joint) if wildcards.kind == "joint" else own


def training_text(wildcards):
    """Return the text that a stream holds: a corpus, or its code-switched version."""
    if wildcards.variant == "switched":
        return RESULTS / f"codeswitch/{wildcards.languages}.{wildcards.domain}/{wildcards.language}.txt.zst"
    return held_out_text(wildcards, "train")


def held_out_text(wildcards, split):
    """Return a split of the corpus that a stream is made from."""
    return corpus(wildcards.language, domain_in(wildcards, wildcards.language), split)


def switched_text(wildcards):
    """Return the training text that is code-switched."""
    target = wildcards.pair.split("-")[1]
    return corpus(wildcards.language, wildcards.domain if wildcards.language == target else "wiki", "train")


def dictionary_file(wildcards):
    """Return the dictionary that belongs to the pair's other language."""
    return STUDY.raw(STUDY.language(wildcards.pair.split("-")[1])["dictionary"]["path"])


def vocabulary_of(wildcards):
    """Return a model's vocabulary."""
    return RESULTS / f"vocab/{STUDY.vocabulary(wildcards.model)}/vocab.json"


def stream_folders(model):
    """Return the folder of each language's token stream."""
    return {code: RESULTS / f"streams/{stream}" for code, stream in STUDY.streams(model).items()}


def streams_of(wildcards):
    """Return a model's token streams."""
    return [folder / "meta.json" for folder in stream_folders(wildcards.model).values()]


def parallel_of(model):
    """Return the parallel sentences of a model's languages; a copy without its own reads its original's."""
    sides = {
        code: code if code in STUDY.parallel_sides else STUDY.original(code) for code in STUDY.models[model].languages
    }
    return {code: RESULTS / f"parallel/{side}.txt" for code, side in sides.items()}


def task_source(wildcards):
    """Return path and format of the raw file behind a split of a task."""
    return STUDY.task_files(wildcards.task)[(wildcards.language, wildcards.dataset, wildcards.split)]


def task_data():
    """Return the prepared files of all tasks of the study."""
    kinds = sorted({TASK_DATA[task] for task in config["study"]["tasks"]})
    keys = [(kind, *key) for kind in kinds for key in STUDY.task_files(kind)]
    return [RESULTS / f"tasks/{kind}/{language}.{dataset}.{split}.jsonl" for kind, language, dataset, split in keys]


def parallel_files(wildcards):
    """Return the table of parallel sentences and, where it has no column for a language, that language's file."""
    own = STUDY.parallel_sides[wildcards.language]
    return [STUDY.raw(path) for path in [config["data"]["parallel"], own] if path]


def parallel_text():
    """Return the parallel sentences of all languages of the study."""
    return [RESULTS / f"parallel/{code}.txt" for code in STUDY.parallel_sides]


def read_of(files, untrained):
    """Return what is read of an encoder; of an untrained one the hash in `params` tells what decides it."""
    return ancient(files) if untrained else files

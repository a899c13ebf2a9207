# Inputs as paths, from the study's choices: one function per question.

from workflow_scripts.grid import domain_in


def raw_files(paths):
    """Return what stands for raw files: generated ones themselves, else receipts, or files that may be touched."""
    match config["data"]["origin"]:
        case "generated":
            return list(paths)
        case "local":
            return [ancient(path) for path in paths]
    # A receipt is written anew when a study gains a language: only the path of a raw file reruns what reads it. While it
    # is written, Snakemake compares no params of jobs that have it as `ancient`, so they need a `read_list` as well.
    return [ancient(STUDY.root / f"receipts/{dataset}.json") for dataset in STUDY.datasets_of(paths)]


def read_list(reader):
    """Return the plan that names the fetched files a job reads; other studies need none (read_… in rules/plans.smk)."""
    return RESULTS / f"plans/read/{reader}.json" if config["data"]["origin"] == "download" else []


def segmenter_files(wildcards):
    """Return what the segmenters of a job's languages read: its language, its pair, or else all."""
    pair = wildcards.get("pair", "-".join(STUDY.languages)).split("-")
    codes = [wildcards.language] if "language" in wildcards.keys() else pair
    options = [STUDY.tokeniser(code) for code in codes]
    paths = {path for option in options for path in (option["dictionary"], option["stanford_home"]) if path}
    return raw_files(sorted(paths))


def tokeniser_files(wildcards):
    """Return the files that say how both languages of a pair are tokenised."""
    return [STUDY.tokeniser_file(code) for code in wildcards.pair.split("-")]


def tokenisers(wildcards):
    """Return the same as text: a changed one runs the job again even where the files have been deleted."""
    codes = wildcards.get("pair", wildcards.get("language")).split("-")
    return [flags.as_json(STUDY.tokeniser(code)) for code in codes]


def tokenised_as(wildcards):
    """Return the same of a text, and how far it is thinned if it is."""
    margin = STUDY.thinned_to(wildcards.language, wildcards.domain)
    return [*tokenisers(wildcards), *([] if margin is None else [margin])]


SHARD = r"(\.[0-9]+-of-[0-9]+)?"  # a text that is not cut into shards has no such part in its name


def part_flag(wildcards, output):  # as a function of `output` it reruns no job that was there before shards were
    """Return the flag that names a job's shard, or nothing."""
    return f"--part {wildcards.shard[1:]}" if wildcards.shard else ""


def thinning_sizes(wildcards):
    """Return the statistics of a crawl and of the encyclopaedia whose size it is thinned to, or nothing."""
    domains = [wildcards.domain, "wiki"] if STUDY.thinned_to(wildcards.language, wildcards.domain) is not None else []
    return [path for domain in domains for path in STUDY.shards("text", wildcards.language, domain, "json")]


def corpus_sizes(wildcards):
    """Return the statistics of all domains whose smaller one is the measure, or nothing."""
    domains = STUDY.trimmed_to(wildcards.language, wildcards.domain)
    return [path for domain in domains for path in STUDY.shards("tokenised", wildcards.language, domain, "json")]


def domain_of(wildcards, language):
    """Return the domain that one language of a vocabulary or a pair is read in."""
    codes = wildcards.get("languages", wildcards.get("pair")).split("-")
    return domain_in(codes, wildcards.domain, language)


def corpus_of(wildcards, language, split="train"):
    """Return a split of the corpus of one language of a vocabulary or a pair."""
    return STUDY.corpus(language, domain_of(wildcards, language), split)


def cores_of(wildcards):
    """Return how many cores share a pass over a whole corpus: one for each shard of the text it is from, at most 8."""
    return min(8, len(STUDY.shards("text", wildcards.language, domain_of(wildcards, wildcards.language))))


def vocabulary_models(wildcards):
    """Return the BPE model of each language of a vocabulary."""
    return STUDY.vocabulary_models(f"{wildcards.languages}.{wildcards.kind}.{wildcards.domain}")


def training_text(wildcards):
    """Return the text that a stream holds: a corpus, or its code-switched version."""
    if wildcards.variant == "switched":
        return RESULTS / f"codeswitch/{wildcards.languages}.{wildcards.domain}/{wildcards.language}.txt.zst"
    return corpus_of(wildcards, wildcards.language)


def dictionary_file(wildcards):
    """Return the dictionary that belongs to the pair's other language."""
    return STUDY.raw(STUDY.language(wildcards.pair.split("-")[1])["dictionary"]["path"])


def vocabulary_of(wildcards):
    """Return a model's vocabulary."""
    return STUDY.vocabulary_folder(wildcards.model) / "vocab.json"


def streams_of(wildcards):
    """Return a model's token streams."""
    return [folder / "meta.json" for folder in STUDY.stream_folders(wildcards.model).values()]


def parallel_of(model):
    """Return the parallel sentences of a model's languages, if the study has any."""
    return {code: STUDY.parallel(code) for code in STUDY.models[model].languages if STUDY.parallel_sides}


def task_source(wildcards):
    """Return format and paths of the raw files behind a split of a task."""
    return STUDY.task_files[wildcards.task][(wildcards.language, wildcards.dataset, wildcards.split)]


def parallel_files(wildcards):
    """Return the table of parallel sentences and, where it has no column for a language, that language's file."""
    own = STUDY.parallel_sides[wildcards.language]
    return [STUDY.raw(path) for path in [config["data"]["parallel"], own] if path]


def read_of(files, untrained):
    """Return what is read of an encoder; of an untrained one, the hash in `params` says what decides it."""
    return ancient(files) if untrained else files

# Functions that return the input paths of rules.

from workflow_scripts.grid import domain_in


def raw_files(paths):
    """Return the inputs for raw files: the receipts of downloads, otherwise the files (local files may be touched)."""
    match config["data"]["origin"]:
        case "generated":
            return list(paths)
        case "local":
            return [ancient(path) for path in paths]
    # Adding a language rewrites receipts, so they are `ancient`: only a changed path of a raw file reruns its readers.
    # While an `ancient` input is rewritten, Snakemake ignores the params of its readers; these need a `read_list` too.
    return [ancient(STUDY.root / f"receipts/{dataset}.json") for dataset in STUDY.datasets_of(paths)]


def read_list(reader):
    """Return the plan with the downloaded files that a job reads, if data is downloaded (read_… in rules/plans.smk)."""
    return RESULTS / f"plans/read/{reader}.json" if config["data"]["origin"] == "download" else []


def codes_of(wildcards):
    """Return the language of a job, or the languages of its pair."""
    return wildcards.get("language", wildcards.get("pair")).split("-")


def segmenter_files(wildcards):
    """Return the segmenter files of a job's languages."""
    options = [STUDY.tokeniser(code) for code in codes_of(wildcards)]
    paths = {path for option in options for path in (option["dictionary"], option["stanford_home"]) if path}
    return raw_files(sorted(paths))


def tokeniser_files(wildcards):
    """Return the files with the tokeniser options of a job's languages."""
    return [STUDY.tokeniser_file(code) for code in codes_of(wildcards)]


def tokenisers(wildcards):
    """Return the tokeniser options as text; a change reruns the job even if the files have been deleted."""
    return [flags.as_json(STUDY.tokeniser(code)) for code in codes_of(wildcards)]


def tokenised_as(wildcards):
    """Return the tokeniser options of a text and, if the text is thinned, the size to which it is sampled."""
    margin = STUDY.thinned_to(wildcards.language, wildcards.domain)
    return [*tokenisers(wildcards), *([] if margin is None else [margin])]


SHARD = r"(\.[0-9]+-of-[0-9]+)?"  # empty for a text without shards


def part_flag(wildcards, output):  # takes `output`: no reruns of jobs from before shards existed
    """Return the flag that names a job's shard, or nothing if there are no shards."""
    return f"--part {wildcards.shard[1:]}" if wildcards.shard else ""


def thinning_sizes(wildcards):
    """Return the statistics of a crawl and of the Wikipedia text that sets its size, or nothing without thinning."""
    domains = [wildcards.domain, "wiki"] if STUDY.thinned_to(wildcards.language, wildcards.domain) is not None else []
    return [path for domain in domains for path in STUDY.shards("text", wildcards.language, domain, "json")]


def corpus_sizes(wildcards):
    """Return the statistics of all domains, the smallest of which sets the size, or nothing if it is not trimmed."""
    domains = STUDY.trimmed_to(wildcards.language, wildcards.domain)
    return [path for domain in domains for path in STUDY.shards("tokenised", wildcards.language, domain, "json")]


def domain_of(wildcards, language):
    """Return the domain of a language's text in a vocabulary or a pair."""
    codes = wildcards.get("languages", wildcards.get("pair")).split("-")
    return domain_in(codes, wildcards.domain, language)


def corpus_of(wildcards, language, split="train"):
    """Return a split of the corpus of one language of a vocabulary or a pair."""
    return STUDY.corpus(language, domain_of(wildcards, language), split)


def cores_of(wildcards):
    """Return the number of cores for a pass over a corpus: one for each shard of its text, at most 8."""
    return min(8, len(STUDY.shards("text", wildcards.language, domain_of(wildcards, wildcards.language))))


def vocabulary_models(wildcards):
    """Return the BPE model of each language of a vocabulary."""
    return STUDY.vocabulary_models(f"{wildcards.languages}.{wildcards.kind}.{wildcards.domain}")


def training_text(wildcards):
    """Return the text of a token stream: a corpus, or its code-switched version."""
    if wildcards.variant == "switched":
        return RESULTS / f"codeswitch/{wildcards.languages}.{wildcards.domain}/{wildcards.language}.txt.zst"
    return corpus_of(wildcards, wildcards.language)


def dictionary_file(wildcards):
    """Return the dictionary of the pair's second language."""
    return STUDY.raw(STUDY.language(wildcards.pair.split("-")[1])["dictionary"]["path"])


def vocabulary_of(wildcards):
    """Return the vocabulary file of a model."""
    return STUDY.vocabulary_folder(wildcards.model) / "vocab.json"


def streams_of(wildcards):
    """Return the files of a model's token streams."""
    return [folder / "meta.json" for folder in STUDY.stream_folders(wildcards.model).values()]


def parallel_of(model):
    """Return the files of parallel sentences of a model's languages, if the study has any."""
    return {code: STUDY.parallel(code) for code in STUDY.models[model].languages if STUDY.parallel_sides}


def task_source(wildcards):
    """Return the format and the paths of the raw files of one split of a task."""
    return STUDY.task_source(wildcards.task, wildcards.language, wildcards.dataset, wildcards.split)


def parallel_files(wildcards):
    """Return the table of parallel sentences, and the language's own file if it has one."""
    own = STUDY.parallel_sides[wildcards.language]
    return [STUDY.raw(path) for path in [config["data"]["parallel"], own] if path]


def read_of(files, untrained):
    """Return an encoder's files as inputs; those of an untrained encoder rerun nothing, because its plan has a hash."""
    return ancient(files) if untrained else files

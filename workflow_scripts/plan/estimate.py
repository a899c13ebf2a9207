"""The cost of a job: STAGES has one row per rule and uses the rates of rates.yaml and the sizes of the study."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from workflow_scripts.alignment import analysis_of
from workflow_scripts.grid import domain_in
from workflow_scripts.plan.jobs import UNKNOWN, Cost, Job
from workflow_scripts.plan.sizes import Sizes
from xling.finetune.settings import grid_points, read_settings

MEASURED_WIDTH = 300  # width of the vectors when the rate of fastText was measured
FORWARD = 1 / 3  # share of training operations: the backward pass takes twice as many as the forward pass
FLOAT, HALF = 4, 2  # bytes: hidden states of words are float16
XML_OF_TEXT = 6  # generated dumps are mostly markup: 10.3 MB for 1.7 MB of text
DUMP_OF_ZIP = 4  # PanLex unpacks to about four times its size


def layer_weights(shape: Mapping[str, Any]) -> int:
    """Return the number of weights in the matrices of one layer."""
    return int(4 * shape["width"] ** 2 + 2 * shape["width"] * shape["feedforward"])


def operations(shape: Mapping[str, Any], length: float, words: int = 0, predicted: float = 1.0) -> float:
    """Return the useful operations of training per token, for sequences of `length` tokens (xling.pretrain.record).

    `predicted` is the share of tokens that are predicted, from a vocabulary of `words` subwords. The softmax, and what
    follows attention in the last layer, are computed only for them.
    """
    width = shape["width"]
    layers = shape["layers"] * (6 * layer_weights(shape) + 12 * length * width)
    last = 6 * (layer_weights(shape) - 3 * width**2)  # what follows attention: its output, and the feed-forward part
    return float(layers - (1 - predicted) * last + 6 * predicted * words * width)


def parameters(run: Mapping[str, Any], words: int) -> float:
    """Return the number of weights of a model with `words` token embeddings, without biases and norms."""
    shape, apart = run["shape"], run["separate"]
    copies = len(run["languages"]) - 1
    tables = 1 + (copies if apart["embeddings"] else 0)
    # With `embeddings: tokens`, positions stay shared.
    places = 1 + (copies if apart["embeddings"] is True else 0)
    vectors = words * tables + (shape["positions"] + shape["sentences"]) * places
    return float((shape["layers"] + copies * apart["layers"]) * layer_weights(shape) + vectors * shape["width"])


def texts(job: Job) -> list[tuple[str, str]]:
    """Return the language and domain of each text that a job reads, from its wildcards."""
    names = job.wildcards
    codes = names.get("languages", names.get("pair", names.get("language", ""))).split("-")
    read = [names["language"]] if "language" in names else codes
    return [(code, domain_in(codes, names.get("domain", "wiki"), code)) for code in read]


def share_of(job: Job) -> tuple[float, float]:
    """Return the share of a text that a job processes, and the share of the file up to the end of that part."""
    number, _, count = job.wildcards.get("shard", "").removeprefix(".").partition("-of-")
    return (1 / int(count), int(number) / int(count)) if count else (1.0, 1.0)


def _size_of(kind: str) -> Callable[[Sizes, Job], float]:
    """Return a function that gives the bytes of a job's text or shard, measured by the method of Sizes named `kind`."""
    return lambda sizes, job: share_of(job)[0] * sum(getattr(sizes, kind)(*read) for read in texts(job))


text, tokenised, corpus = map(_size_of, ("text", "tokenised", "corpus"))


def extraction(sizes: Sizes, job: Job) -> float:
    """Return the core-seconds to extract paragraphs from plain text, or from the XML of dumps.

    A job that extracts one shard of a crawl also unpacks everything before it.
    """
    ((language, domain),), study, (share, end) = texts(job), sizes.study, share_of(job)
    if study.language(language)["text"][domain]["format"] != "wikipedia":
        before = (end - share) * sizes.text(language, domain) / sizes.rate("unpack_xz")
        return before + text(sizes, job) / sizes.rate("extract_text")
    xml = XML_OF_TEXT * sizes.text(language, domain)
    if not study.generated:
        xml = sum(map(sizes.raw, study.raw_text(language, domain))) * sizes.rate("xml_per_bz2")
    return share * xml / sizes.rate("extract_xml")


def tokenisation(sizes: Sizes, job: Job) -> float:
    """Return the core-seconds to tokenise a text with the language's tokeniser."""
    segmenter = sizes.study.language(job.wildcards["language"])["segmenter"]
    return tokenised(sizes, job) / sizes.rate("tokenise" if segmenter == "none" else f"tokenise_{segmenter}")


def stream(sizes: Sizes, job: Job) -> float:
    """Return the bytes of a token stream: 16 bits per token, or 17 bits if there are more than 65,536 merges."""
    merges = "joint_merges" if job.wildcards["kind"] == "joint" else "language_merges"
    width = 2 + 1 / 8 if sizes.study.config["bpe"][merges] > 65_536 else 2
    return sum(sizes.tokens(*read) for read in texts(job)) * width


def dictionary(sizes: Sizes, job: Job) -> float:
    """Return the bytes of a pair's dictionary, which for PanLex is the whole dump."""
    path = Path(sizes.study.raw(sizes.study.language(job.wildcards["pair"].split("-")[1])["dictionary"]["path"]))
    return sizes.raw(str(path)) * (1 if path.is_file() else DUMP_OF_ZIP)


def training(sizes: Sizes, job: Job) -> float:
    """Return the seconds of training, including validation."""
    run, words = sizes.study.run(job.wildcards["model"]), sizes.words(job.wildcards["model"])
    train = run["pretrain"]
    per_token = operations(run["shape"], train["length"], words, train["mask_rate"])
    trained = train["updates"] * train["micro_batches"] * train["micro_batch_tokens"]
    watched = train["updates"] // train["validate_every"] * len(run["languages"]) * train["validation_tokens"]
    batches = (trained + watched) / train["micro_batch_tokens"]
    return sizes.steps(batches, (trained + FORWARD * watched) * per_token) + sizes.rate("device.compile")


def weights(sizes: Sizes, job: Job) -> float:
    """Return the bytes of a trained model."""
    name = job.wildcards["model"]
    return FLOAT * parameters(sizes.study.run(name), sizes.words(name))


def tuning(sizes: Sizes, job: Job) -> float:
    """Return the seconds to fine-tune and score an encoder in all tasks at all grid points, several at a time."""
    transfer, seconds = sizes.study.transfer, 0.0
    for task in transfer.tasks:
        settings, tokens = sizes.study.config["tasks"][task], sizes.rate(task)
        points = grid_points(read_settings(settings))
        data, epochs = transfer.data(job.wildcards["encoder"], task), settings["epochs"]
        seen = epochs * (settings["examples_per_epoch"] or sizes.examples(data, task, "train"))
        scored = epochs * sizes.examples(data, task, "dev") + sizes.examples(data, task, "test")
        work = len(points) * (seen + FORWARD * scored) * tokens * operations(sizes.study.config["model"], tokens)
        seconds += sizes.steps(sum(seen / point.batch for point in points), work, "device.tuning_step")
    return seconds / sizes.rate("device.side_by_side")


def contextual(sizes: Sizes, job: Job) -> float:
    """Return the seconds to train and test task layers for every layer, data set and way, several at a time."""
    own, config, seconds = sizes.study.contextual, sizes.study.config, 0.0
    shape, options = config["model"], config["align"]["contextual"]
    head = {**shape, "layers": options["task_layers"], "feedforward": options["feedforward"]}
    for data in own.data(job.wildcards["job"]).values():
        tokens = sizes.rate(data["task"])
        below, on_top = operations(shape, tokens), operations(head, tokens)
        train, dev, test = (sizes.examples(data, data["task"], split) for split in ("train", "dev", "test"))
        seen, scored = options["epochs"] * train, options["epochs"] * dev + test
        work = tokens * (seen * (FORWARD * below + on_top) + FORWARD * scored * (below + on_top))
        trainings = len(options["layers"]) * len(own.jobs[job.wildcards["job"]].ways)
        seconds += trainings * sizes.steps(seen / options["batch"], work, "device.tuning_step")
    return seconds / sizes.rate("device.side_by_side")


def vectors(sizes: Sizes, job: Job) -> float:
    """Return the bytes that fastText reads in all epochs, times vector width / MEASURED_WIDTH."""
    own = sizes.study.config["align"]["own_vectors"]
    return float(own["epochs"] * corpus(sizes, job) * own["width"] / MEASURED_WIDTH)


def represented(sizes: Sizes, job: Job) -> tuple[float, float]:
    """Return the seconds to compute an encoder's hidden states of words and sentences, and the bytes that they take."""
    name, alignment, config = job.wildcards["model"], sizes.study.alignment, sizes.study.config
    align, shape, length = config["align"], config["model"], sizes.rate("sentence_tokens")
    sentences = len(alignment.sentences(name)) * sizes.parallel()
    passes, tokens, words = 1, sentences * length, 0
    if alignment.text(name):  # the untrained encoder is run as well
        passes, words = 2, min(align["word_vocabulary"], align["word_sentences"])
        line = sizes.rate("sentence" if sizes.study.generated else "line")
        tokens += align["word_sentences"] * line / sizes.rate("token")
    work = passes * tokens * operations(shape, length) * FORWARD
    states = passes * (shape["layers"] + 1) * shape["width"] * (sentences * FLOAT + words * HALF)
    return sizes.steps(passes * tokens / config["pretrain"]["micro_batch_tokens"], work), states


def comparison(sizes: Sizes, job: Job) -> float:
    """Return the operations of an analysis: the matrix products of each pair of encoders."""
    align, shape = sizes.study.config["align"], sizes.study.config["model"]
    plan, width, layers = sizes.study.alignment.plan(job.wildcards["job"]), shape["width"], shape["layers"] + 1
    analysis = analysis_of(job.wildcards["job"])
    pairs = len(plan["comparisons" if analysis == "cka" else "languages"])
    if analysis == "cka":  # every layer with every layer
        return float(3 * layers**2 * pairs * 2 * sizes.parallel() * width**2)
    if analysis == "sentences":  # every layer, trained and untrained, both directions, with and without a map
        return float(4 * 2 * layers * pairs * 2 * sizes.parallel() ** 2 * width)
    words = min(align["word_vocabulary"], align["word_sentences"])
    # Every layer and the embedding matrix, trained and untrained, and fastText once.
    tables = (2 * (layers + 1) + 1) * pairs
    return float(tables * 2 * words**2 * width)


@dataclass(frozen=True)
class Stage:
    """The cost of a rule: amount of work, rate (without a rate, work is in seconds), bytes on disk and resource used.

    By default a job only takes the time to start.
    """

    work: Callable[[Sizes, Job], float] = lambda *_: 0.0
    rate: str = ""
    disk: Callable[[Sizes, Job], float] = lambda *_: 0.0
    on: Literal["cores", "device", "network"] = "cores"


STAGES = {
    "fetch_dataset": Stage(lambda s, job: s.download(job.wildcards["dataset"])[0], "download", on="network"),
    "generate": Stage(lambda s, _: s.generated(), "generate", lambda s, _: s.generated() * s.rate("sentence")),
    "extract_text": Stage(extraction, disk=lambda s, job: text(s, job) * s.rate("zst")),
    "tokenise_text": Stage(tokenisation, disk=lambda s, job: tokenised(s, job) * s.rate("zst")),
    "split_corpus": Stage(tokenised, "split", lambda s, job: corpus(s, job) * s.rate("zst")),
    "switch_codes": Stage(corpus, "switch", lambda s, job: corpus(s, job) * s.rate("zst")),
    "train_bpe": Stage(
        lambda s, job: min(corpus(s, job), s.study.config["bpe"]["train_lines"] * s.rate("line")), "bpe"
    ),
    "encode_text": Stage(corpus, "encode", stream),
    "audit_anchors": Stage(
        lambda s, job: sum(map(s.tokens, s.study.models[job.wildcards["model"]].languages)), "audit"
    ),
    "build_dictionary": Stage(dictionary, "dictionary"),
    "train_vectors": Stage(vectors, "vectors"),
    "align_words": Stage(lambda s, _: s.parallel(), "align_words"),
    "pretrain": Stage(training, disk=weights, on="device"),
    "fine_tune": Stage(tuning, on="device"),
    "represent_encoder": Stage(
        lambda s, job: represented(s, job)[0], "", lambda s, job: represented(s, job)[1], "device"
    ),
    "translate_words": Stage(comparison, "device.similarity", on="device"),
    "retrieve_sentences": Stage(comparison, "device.similarity", on="device"),
    "compare_encoders": Stage(comparison, "core"),
    "transfer_contextual": Stage(contextual, on="device"),
}
STAGES |= dict.fromkeys(["build_vocabulary", "prepare_task", "prepare_parallel", "prepare_tatoeba"], Stage())


def cost(sizes: Sizes, job: Job) -> Cost:
    """Return the estimated cost of a job, or UNKNOWN for a rule without an estimate.

    A CPU job's CPU time counts all its cores, busy or not, because clusters charge for them. A GPU job counts as one
    core, and of a download only the time to start counts.
    """
    if not job.outputs:
        return Cost()  # a target that only groups other jobs
    stage = STAGES.get("generate" if job.rule.startswith("generate_") else job.rule)
    if stage is None and job.resources.get("runtime") is not None:
        return UNKNOWN
    stage, rate = stage or Stage(), sizes.rate  # a rule without a time limit is small enough for a login node
    amount, disk = stage.work(sizes, job), stage.disk(sizes, job)
    start = rate("device.start" if stage.on == "device" else "start")
    seconds = amount / rate(stage.rate) if stage.rate else amount
    if stage.on == "network":
        return Cost(start + seconds, start, 0.0, amount, amount)
    if stage.on == "cores":
        wall = start + seconds / job.threads
        stays, passes = (0.0, disk) if job.passing else (disk, 0.0)
        return Cost(wall, wall * job.threads, 0.0, stays, passing=passes)
    gpus = max(1, job.gpus) if rate.device["gpu"] else 0
    wall = start + seconds / max(1, gpus)
    return Cost(wall, wall * (job.threads if gpus else 1), wall * gpus, disk)

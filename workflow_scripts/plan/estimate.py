"""What every rule costs: from a study's sizes and the rates to seconds.

Sizes are counted where the files are there, else they are what their sources are assumed to hold.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from workflow_scripts.grid import domain_in, vocabulary_kind
from workflow_scripts.plan.jobs import Cost, Job
from workflow_scripts.plan.rates import Rates
from workflow_scripts.study import SPLITS, TASK_DATA, Study
from xling.core.io import read_json
from xling.data.manifest import Dataset, SourceFile, load_manifest
from xling.finetune.settings import Point

FORWARD = 1 / 3  # of the operations of training: backward takes twice as many as forward
FLOAT, HALF = 4, 2  # bytes: states of words are float16
SCRIPTS = {"Cyrillic": "cyrillic", "Han": "han"}  # whose characters have more than one byte
XNLI_SENTENCES = 10_000  # of XNLI-15way
ARCHIVES = {".bz2": "text_per_bz2", ".xz": "text_per_xz", ".gz": "text_per_xz", ".zst": "text_per_xz"}
TASK_SIZES = {"nli": "nli_pairs", "ner": "ner_sentences", "parsing": "treebank_sentences"}
XML_OF_TEXT = 6  # the embedded dumps are mostly markup: 10.3 MB for 1.7 MB of text


@dataclass(frozen=True)
class Estimator:
    """Sizes of one study and, at some rates, the costs of its jobs; bytes are of uncompressed text."""

    study: Study
    rates: Rates

    def text(self, language: str, domain: str) -> float:
        """Return the bytes of a language's text."""
        counted = self.study.shards("text", language, domain, "json")
        if all(path.is_file() for path in counted):
            return float(sum(read_json(path)["characters"] for path in counted)) * self.character(language)
        if self.study.generated:
            sentences = self.study.config["synthetic"][f"{domain}_sentences"]
            return float(sentences * self.rates("sentence") * self.character(language))
        archives = [(path, ARCHIVES.get(Path(path).suffix)) for path in self.study.raw_text(language, domain)]
        return sum(self.raw(path) * (self.rates(kind) if kind else 1.0) for path, kind in archives)

    def tokenised(self, language: str, domain: str) -> float:
        """Return the bytes of the text that is tokenised: of a crawl that is thinned, so many as are drawn."""
        text, margin = self.text(language, domain), self.study.thinned_to(language, domain)
        return text if margin is None else min(text, margin * self.text(language, "wiki"))

    def corpus(self, language: str, domain: str) -> float:
        """Return the bytes of a language's training text; web text is trimmed to the encyclopaedia's size."""
        domains = self.study.trimmed_to(language, domain) or [domain]
        return min(self.text(language, name) for name in domains)

    def tokens(self, language: str, domain: str) -> float:
        """Return the subwords of a language's training text."""
        return self.corpus(language, domain) / self.character(language) / self.rates("token")

    def character(self, language: str) -> float:
        """Return the bytes of a character in a language's script."""
        name = SCRIPTS.get(self.study.language(language)["script"])
        return self.rates(name) if name else 1.0

    def raw(self, path: str) -> float:
        """Return the bytes of a raw file, on disk or as assumed of its dataset."""
        file = Path(path)
        if file.is_file():
            return float(file.stat().st_size)
        name = str(file.relative_to(self.study.root))
        requests = [
            (dataset, one) for dataset in self.study.datasets_of([path]) for one in self.study.requests(dataset)
        ]
        for dataset, request in requests:
            if name in [source.path for source in _files(dataset, request)]:
                return self._assumed(dataset, request) or 0.0
        return 0.0

    def download(self, dataset: str) -> tuple[float, list[str]]:
        """Return the bytes of a dataset's files that are not there yet, and those whose size nobody knows.

        What the user has to supply weighs nothing.
        """
        known, unknown, seen = 0.0, [], set[str]()
        for request in self.study.requests(dataset):
            files = [source for source in _files(dataset, request) if source.urls and source.path not in seen]
            seen |= {source.path for source in files}
            assumed = self._assumed(dataset, request)
            for source in files:
                if (self.study.root / source.path).is_file():
                    continue
                size = source.size or source.about or (assumed / len(files) if assumed else None)
                known += size or 0.0
                unknown += [source.path] if size is None else []
        return known, unknown

    def _assumed(self, dataset: str, request: Mapping[str, Any]) -> float | None:
        entry = self.rates.downloads.get(dataset)
        if isinstance(entry, dict):
            entry = entry.get(request["substitutions"].get("lg"))
        return float(entry) if entry is not None else None

    def vocabulary(self, model: str) -> int:
        """Return the most words that one language of a model predicts among: what its softmax costs."""
        bpe, kind = self.study.config["bpe"], vocabulary_kind(self.study.config, self.study.models[model])
        own = int(bpe["language_merges"])
        return {"joint": int(bpe["joint_merges"]), "mono": own, "separate": own}.get(kind, 2 * own)

    def parallel(self) -> float:
        """Return how many parallel sentences there are."""
        return float(self.study.config["synthetic"]["parallel_sentences"] if self.study.generated else XNLI_SENTENCES)

    def lines(self, path: str, task: str, split: str) -> float:
        """Return how many examples a split of a task has: counted, the generator's own number, or an assumption."""
        if Path(path).is_file():
            return float(_count(Path(path), Path(path).stat().st_mtime))
        kind, raw = TASK_DATA[task], Path(self.study.raw(self.study.config["data"]["nli"]["train"]))
        if self.study.generated:
            return float(self.study.config["synthetic"][TASK_SIZES[kind]][SPLITS.index(split)])
        if (kind, split) == ("nli", "train") and raw.is_file():
            return float(_count(raw, raw.stat().st_mtime)) - 1
        return self.rates(f"{'xnli' if kind == 'nli' else kind}_{split}")

    def cores(self, job: Job, seconds: float, disk: float = 0.0) -> Cost:
        """Return the cost of a job that keeps its threads busy for so many seconds of one core.

        CPU time is that of the cores a job has, busy or not, as clusters charge it.
        """
        wall = self.rates("start") + seconds / job.threads
        return Cost(wall, wall * job.threads, 0.0, disk)

    def device(self, job: Job, seconds: float, disk: float = 0.0) -> Cost:
        """Return the cost of a job that keeps one device busy for so long, or several for less."""
        start = self.rates("device.start")
        if not self.rates.gpu:
            return Cost(start + seconds, start + seconds, 0.0, disk)
        gpus = max(1, job.gpus)
        wall = start + seconds / gpus
        return Cost(wall, wall * job.threads, wall * gpus, disk)

    def steps(self, count: float, operations: float, step: str = "device.step") -> float:
        """Return the device's seconds for steps that together take some operations."""
        return count * self.rates(step) + operations / self.rates("device.operations_per_second")


@cache
def _count(path: Path, changed: float) -> int:  # noqa: ARG001 (a changed file is counted anew)
    with path.open("rb") as handle:
        return sum(1 for _ in handle)


@cache
def manifest() -> dict[str, Dataset]:
    """Return the published datasets, read once."""
    return load_manifest()


def _files(dataset: str, request: Mapping[str, Any]) -> Sequence[SourceFile]:
    return manifest()[dataset].resolve(**request["substitutions"]).files


def operations(shape: Mapping[str, Any], length: float, predicted: float = 0.0) -> float:
    """Return the useful operations of training on one token in sequences of a length (xling.pretrain.record).

    `predicted` is the share of masked tokens times the words that each is predicted among.
    """
    matrices = 4 * shape["width"] ** 2 + 2 * shape["width"] * shape["feedforward"]
    layers = shape["layers"] * (6 * matrices + 12 * length * shape["width"])
    return float(layers + 6 * predicted * shape["width"])


def parameters(run: Mapping[str, Any], words: int) -> float:
    """Return the weights of a model's tables and layers, per language where separate; biases and norms are left out."""
    shape, apart = run["shape"], run["separate"]
    layer = 4 * shape["width"] ** 2 + 2 * shape["width"] * shape["feedforward"]
    copies = len(run["languages"]) - 1
    tables = 1 + (copies if apart["embeddings"] else 0)
    places = 1 + (copies if apart["embeddings"] is True else 0)  # `tokens` leaves these shared
    vectors = words * tables + (shape["positions"] + shape["sentences"]) * places
    return float((shape["layers"] + copies * apart["layers"]) * layer + vectors * shape["width"])


Estimate = Callable[[Estimator, Job], Cost]
RULES: dict[str, Estimate] = {}


def rule(estimate: Estimate) -> Estimate:
    """Take a function as the estimate of the rule that it is named after."""
    RULES[estimate.__name__] = estimate
    return estimate


def cost(plan: Estimator, job: Job) -> Cost | None:
    """Return what a job takes, or None for a rule without an estimate."""
    if not job.outputs:
        return Cost()  # a name for other jobs
    estimate = RULES.get("generate" if job.rule.startswith("generate_") else job.rule)
    if estimate is None and job.resources.get("runtime") is None:  # local: small enough for a login node
        estimate = quick
    return estimate(plan, job) if estimate else None


def quick(plan: Estimator, job: Job) -> Cost:
    """Little more than the start of an interpreter."""
    return plan.cores(job, 0.0)


RULES |= dict.fromkeys(["build_vocabulary", "prepare_task", "prepare_parallel", "prepare_tatoeba"], quick)


@rule
def fetch_dataset(plan: Estimator, job: Job) -> Cost:
    """The bytes that are not there yet, over the network."""
    size, _ = plan.download(job.wildcards["dataset"])
    wall = plan.rates("start") + size / plan.rates("download")
    return Cost(wall, plan.rates("start"), 0.0, size, size)


@rule
def generate(plan: Estimator, job: Job) -> Cost:
    """All sentences of one embedded language, or those that the languages have together."""
    made = plan.study.config["synthetic"]
    own = made["wiki_sentences"] + made["crawl_sentences"]
    return plan.cores(job, own / plan.rates("generate"), own * plan.rates("sentence"))


def read_texts(job: Job) -> list[tuple[str, str]]:
    """Return language and domain of the texts that a job reads, from its wildcards."""
    names = job.wildcards
    codes = names.get("languages", names.get("pair", names.get("language", ""))).split("-")
    read = [names["language"]] if "language" in names else codes
    return [(code, domain_in(codes, names["domain"], code)) for code in read]


def share_of(job: Job) -> tuple[float, float]:
    """Return the share of a text that a job works on, and how much of the file comes before the end of that share."""
    number, _, count = job.wildcards.get("shard", "").removeprefix(".").partition("-of-")
    return (1 / int(count), int(number) / int(count)) if count else (1.0, 1.0)


@rule
def extract_text(plan: Estimator, job: Job) -> Cost:
    """A pass over the raw text, or over a shard of it, which a crawl has to be unpacked for from its start."""
    ((language, domain),), (share, end), study = read_texts(job), share_of(job), plan.study
    text = share * plan.text(language, domain)
    if study.language(language)["text"][domain]["format"] != "wikipedia":
        before = (end - share) * plan.text(language, domain) / plan.rates("unpack_xz") if end > share else 0.0
        wall = before + text / plan.rates("extract_text") / job.threads
        return plan.cores(job, wall * job.threads, text * plan.rates("zst"))
    dumps = study.raw_text(language, domain)
    unpacked = XML_OF_TEXT * text if study.generated else share * sum(map(plan.raw, dumps)) * plan.rates("xml_per_bz2")
    return plan.cores(job, unpacked / plan.rates("extract_xml"), text * plan.rates("zst"))


@rule
def tokenise_text(plan: Estimator, job: Job) -> Cost:
    """A pass over the text, or over a shard of it, with the language's tokeniser."""
    ((language, domain),), (share, _) = read_texts(job), share_of(job)
    text, segmenter = share * plan.tokenised(language, domain), plan.study.language(language)["segmenter"]
    rate = plan.rates("tokenise" if segmenter == "none" else f"tokenise_{segmenter}")
    return plan.cores(job, text / rate, text * plan.rates("zst"))


@rule
def split_corpus(plan: Estimator, job: Job) -> Cost:
    """A pass over the words."""
    ((language, domain),) = read_texts(job)
    seconds = plan.tokenised(language, domain) / plan.rates("split")
    return plan.cores(job, seconds, plan.corpus(language, domain) * plan.rates("zst"))


@rule
def train_bpe(plan: Estimator, job: Job) -> Cost:
    """The words of at most so many lines."""
    text = sum(plan.corpus(*read) for read in read_texts(job))
    return plan.cores(job, min(text, plan.study.config["bpe"]["train_lines"] * plan.rates("line")) / plan.rates("bpe"))


@rule
def encode_text(plan: Estimator, job: Job) -> Cost:
    """A language's corpus as ids of two bytes, or four where the BPE model has more than 65,536 pieces."""
    (read,), joint = read_texts(job), job.wildcards["kind"] == "joint"
    width = 4 if plan.study.config["bpe"]["joint_merges" if joint else "language_merges"] > 65_536 else 2
    return plan.cores(job, plan.corpus(*read) / plan.rates("encode"), plan.tokens(*read) * width)


@rule
def switch_codes(plan: Estimator, job: Job) -> Cost:
    """A pass over a training text."""
    (text,) = (plan.corpus(*read) for read in read_texts(job))
    return plan.cores(job, text / plan.rates("switch"), text * plan.rates("zst"))


@rule
def build_dictionary(plan: Estimator, job: Job) -> Cost:
    """A pass over the dump of translations, which unpacks to about four times its size."""
    path = plan.study.raw(plan.study.language(job.wildcards["pair"].split("-")[1])["dictionary"]["path"])
    datasets = plan.study.datasets_of([path]) if plan.study.config["data"]["origin"] == "download" else []
    size = 4 * sum(plan.download(name)[0] for name in datasets) or plan.raw(path)
    return plan.cores(job, size / plan.rates("dictionary"))


@rule
def audit_anchors(plan: Estimator, job: Job) -> Cost:
    """A pass over the ids of a model's languages."""
    languages = plan.study.models[job.wildcards["model"]].languages
    return plan.cores(job, sum(plan.tokens(code, "wiki") for code in languages) / plan.rates("audit"))


@rule
def train_vectors(plan: Estimator, job: Job) -> Cost:
    """Some passes over a language's text on one core."""
    epochs = plan.study.config["align"]["own_vectors"]["epochs"]
    return plan.cores(job, epochs * plan.corpus(job.wildcards["language"], "wiki") / plan.rates("vectors"))


@rule
def align_words(plan: Estimator, job: Job) -> Cost:
    """Links between the words of parallel sentences."""
    return plan.cores(job, plan.parallel() / plan.rates("align_words"))


@rule
def pretrain(plan: Estimator, job: Job) -> Cost:
    """All updates, the validation between them, and the model on disk."""
    name = job.wildcards["model"]
    run, words = plan.study.run(name), plan.vocabulary(name)
    train = run["pretrain"]
    per_token = operations(run["shape"], train["length"], words * train["mask_rate"])
    batches = train["updates"] * train["micro_batches"]
    watched = train["updates"] // train["validate_every"] * len(run["languages"]) * train["validation_tokens"]
    seconds = plan.steps(batches, batches * train["micro_batch_tokens"] * per_token)
    seconds += plan.steps(watched / train["micro_batch_tokens"], watched * per_token * FORWARD)
    return plan.device(job, seconds + plan.rates("device.compile"), parameters(run, words) * FLOAT)


@rule
def fine_tune(plan: Estimator, job: Job) -> Cost:
    """All grid points of all tasks of an encoder, several at a time."""
    transfer, encoder = plan.study.transfer, job.wildcards["encoder"]
    tasks = [(task, transfer.points(task), transfer.data(encoder, task)) for task in transfer.tasks]
    return plan.device(job, sum(tuning_seconds(plan, *task) for task in tasks) / plan.rates("device.side_by_side"))


def tuning_seconds(plan: Estimator, task: str, points: Sequence[Point], data: Mapping[str, Any]) -> float:
    """Return the seconds of training at some points, with the dev set after each epoch and the test sets at the end."""
    settings, tokens = plan.study.config["tasks"][task], plan.rates(task)
    dev, tested = plan.lines(data["dev"], task, "dev"), _tested(plan, task, data)
    seen = settings["epochs"] * (settings["examples_per_epoch"] or plan.lines(data["train"], task, "train"))
    read = len(points) * (seen + FORWARD * (settings["epochs"] * dev + tested))
    work = read * tokens * operations(plan.study.config["model"], tokens)
    return plan.steps(sum(seen / point.batch for point in points), work, "device.tuning_step")


def _tested(plan: Estimator, task: str, data: Mapping[str, Any]) -> float:
    return sum(plan.lines(path, task, "test") for path in data["test"].values())


@rule
def represent_encoder(plan: Estimator, job: Job) -> Cost:
    """One pass over the words and sentences, two where the untrained encoder is represented beside it."""
    name, align, shape = job.wildcards["model"], plan.study.config["align"], plan.study.config["model"]
    text, sentences = plan.study.alignment.text(name), len(plan.study.alignment.sentences(name)) * plan.parallel()
    tokens = sentences * plan.rates("sentence_tokens")
    words = min(align["word_vocabulary"], align["word_sentences"]) if text else 0
    tokens += align["word_sentences"] * plan.rates("line") / plan.rates("token") if text else 0.0
    passes = 2 if text else 1
    work = passes * tokens * operations(shape, plan.rates("sentence_tokens")) * FORWARD
    states = (shape["layers"] + 1) * shape["width"] * (sentences * FLOAT + words * HALF)
    batches = passes * tokens / plan.study.config["pretrain"]["micro_batch_tokens"]
    return plan.device(job, plan.steps(batches, work), passes * states)


def compared(plan: Estimator, analysis: str) -> int:
    """Return how many pairs of encoders an analysis compares, seeds counted one by one."""
    made = plan.study.alignment.plan(analysis)
    rows = made["comparisons"] if analysis == "cka" else made["languages"].values()
    return sum(len(row["seeds"]) for row in rows)


@rule
def translate_words(plan: Estimator, job: Job) -> Cost:
    """Words against words, at every layer and in the embedding matrix, trained and untrained, fastText once."""
    align, shape = plan.study.config["align"], plan.study.config["model"]
    words = min(align["word_vocabulary"], align["word_sentences"])
    tables = 2 * (shape["layers"] + 2) * compared(plan, "words") + len(plan.study.alignment.languages("words"))
    return plan.device(job, tables * 2 * words**2 * shape["width"] / plan.rates("device.similarity"))


@rule
def retrieve_sentences(plan: Estimator, job: Job) -> Cost:
    """Sentences against sentences at every layer, both directions, with and without the map."""
    shape = plan.study.config["model"]
    tables = 4 * 2 * (shape["layers"] + 1) * compared(plan, "sentences")
    return plan.device(job, tables * 2 * plan.parallel() ** 2 * shape["width"] / plan.rates("device.similarity"))


@rule
def compare_encoders(plan: Estimator, job: Job) -> Cost:
    """Every layer with every layer of each pair of encoders."""
    shape = plan.study.config["model"]
    products = 3 * (shape["layers"] + 1) ** 2 * compared(plan, "cka")
    return plan.cores(job, products * 2 * plan.parallel() * shape["width"] ** 2 / plan.rates("core"))


@rule
def transfer_contextual(plan: Estimator, job: Job) -> Cost:
    """Task layers on the states of every layer that is asked for, of every data set."""
    own = plan.study.contextual.jobs[job.wildcards["job"]]
    shape, options = plan.study.config["model"], plan.study.config["align"]["contextual"]
    head = {**shape, "layers": options["task_layers"], "feedforward": options["feedforward"]}
    seconds = 0.0
    for data in plan.study.contextual.data(own.name).values():
        task, tokens = data["task"], plan.rates(data["task"])
        on_top = operations(head, tokens)
        seen = options["epochs"] * plan.lines(data["train"], task, "train")
        read = seen + len(own.ways) * _tested(plan, task, data)
        work = tokens * (seen * on_top + FORWARD * read * (operations(shape, tokens) + on_top))
        seconds += len(options["layers"]) * plan.steps(seen / options["batch"], work, "device.tuning_step")
    return plan.device(job, seconds)

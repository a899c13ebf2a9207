"""What every rule costs: from a study's numbers and the rates to seconds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from workflow_scripts.grid import domain_in
from workflow_scripts.plan.jobs import Cost, Job
from workflow_scripts.plan.rates import Rates
from workflow_scripts.plan.sizes import Sizes
from workflow_scripts.study import Study
from xling.finetune.settings import Point

FORWARD = 1 / 3  # of the operations of training: backward takes twice as many as forward
FLOAT, HALF = 4, 2  # bytes: states of words are float16
LOGIN_MINUTES = 30  # of the class `login` (rules/common.smk): jobs small enough for a login node


@dataclass(frozen=True)
class Estimator:
    """Estimates jobs of one study at some rates."""

    study: Study
    rates: Rates
    sizes: Sizes

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


def operations(run: Mapping[str, Any], words: int) -> float:
    """Return the useful operations that training on one token takes (the formula of xling.pretrain.record)."""
    shape, train = run["shape"], run["pretrain"]
    matrices = 4 * shape["width"] ** 2 + 2 * shape["width"] * shape["feedforward"]
    layers = shape["layers"] * (6 * matrices + 12 * train["length"] * shape["width"])
    return float(layers + 6 * words * shape["width"] * train["mask_rate"])


def encoder_operations(run: Mapping[str, Any], length: float) -> float:
    """Return the operations of training on one token of sequences of a length, without a softmax."""
    return operations({"shape": run["shape"], "pretrain": {"length": length, "mask_rate": 0.0}}, 0)


def parameters(run: Mapping[str, Any], words: int) -> float:
    """Return the weights of a model's tables and layers, per language where separate; biases and norms are left out."""
    shape, apart = run["shape"], run["separate"]
    layer = 4 * shape["width"] ** 2 + 2 * shape["width"] * shape["feedforward"]
    copies = len(run["languages"]) - 1
    layers = shape["layers"] + copies * apart["layers"]
    tables = 1 + (copies if apart["embeddings"] else 0)
    places = 1 + (copies if apart["embeddings"] is True else 0)  # `tokens` leaves these shared
    vectors = words * tables + (shape["positions"] + shape["sentences"]) * places
    return float(layers * layer + vectors * shape["width"])


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
    if estimate is None and not job.gpus and job.resources.get("runtime") == LOGIN_MINUTES:
        estimate = quick
    return estimate(plan, job) if estimate else None


def quick(plan: Estimator, job: Job) -> Cost:
    """Little more than the start of an interpreter."""
    return plan.cores(job, 0.0)


RULES |= dict.fromkeys(["build_vocabulary", "prepare_task", "prepare_parallel", "prepare_tatoeba"], quick)


@rule
def fetch_dataset(plan: Estimator, job: Job) -> Cost:
    """The bytes that are not there yet, over the network."""
    size = plan.sizes.download(job.wildcards["dataset"]).known
    wall = plan.rates("start") + size / plan.rates("download")
    return Cost(wall, plan.rates("start"), 0.0, size, size)


@rule
def generate(plan: Estimator, job: Job) -> Cost:
    """All sentences of one embedded language, or those that the languages have together."""
    made = plan.study.config["synthetic"]
    own = made["wiki_sentences"] + made["crawl_sentences"]
    return plan.cores(job, own / plan.rates("generate"), own * plan.rates("sentence"))


@rule
def extract_text(plan: Estimator, job: Job) -> Cost:
    """A pass over the raw text."""
    language, domain = job.wildcards["language"], job.wildcards["domain"]
    text = plan.sizes.text(language, domain)
    if plan.study.language(language)["text"][domain]["format"] == "wikipedia":
        seconds = plan.sizes.xml(language, domain) / plan.rates("extract_xml")
    else:
        seconds = text / plan.rates("extract_text")
    return plan.cores(job, seconds, text * plan.rates("zst"))


@rule
def tokenise_text(plan: Estimator, job: Job) -> Cost:
    """A pass over the text with the language's tokeniser."""
    text = plan.sizes.text(job.wildcards["language"], job.wildcards["domain"])
    segmenter = plan.study.language(job.wildcards["language"])["segmenter"]
    rate = plan.rates("tokenise" if segmenter == "none" else f"tokenise_{segmenter}")
    return plan.cores(job, text / rate, text * plan.rates("zst"))


@rule
def split_corpus(plan: Estimator, job: Job) -> Cost:
    """A pass over the words."""
    language, domain = job.wildcards["language"], job.wildcards["domain"]
    seconds = plan.sizes.text(language, domain) / plan.rates("split")
    return plan.cores(job, seconds, plan.sizes.corpus(language, domain) * plan.rates("zst"))


@rule
def train_bpe(plan: Estimator, job: Job) -> Cost:
    """The words of at most so many lines."""
    codes = job.wildcards["languages"].split("-")
    text = sum(plan.sizes.corpus(code, domain_in(codes, job.wildcards["domain"], code)) for code in codes)
    read = min(text, plan.study.config["bpe"]["train_lines"] * plan.rates("line"))
    return plan.cores(job, read / plan.rates("bpe"))


@rule
def encode_text(plan: Estimator, job: Job) -> Cost:
    """A language's corpus as ids of two bytes, or four where the vocabulary has more than 65,536 words."""
    code, kind, bpe = job.wildcards["language"], job.wildcards["kind"], plan.study.config["bpe"]
    domain = domain_in(job.wildcards["languages"].split("-"), job.wildcards["domain"], code)
    words = bpe["joint_merges"] if kind == "joint" else bpe["language_merges"] * 2
    width = 4 if words > 65_536 and kind not in ("mono", "separate") else 2
    seconds = plan.sizes.corpus(code, domain) / plan.rates("encode")
    return plan.cores(job, seconds, plan.sizes.tokens(code, domain) * width)


@rule
def switch_codes(plan: Estimator, job: Job) -> Cost:
    """A pass over a training text."""
    code = job.wildcards["language"]
    text = plan.sizes.corpus(code, domain_in(job.wildcards["pair"].split("-"), job.wildcards["domain"], code))
    return plan.cores(job, text / plan.rates("switch"), text * plan.rates("zst"))


@rule
def build_dictionary(plan: Estimator, job: Job) -> Cost:
    """A pass over the dump of translations."""
    target = job.wildcards["pair"].split("-")[1]
    path = plan.study.raw(plan.study.language(target)["dictionary"]["path"])
    datasets = plan.study.datasets_of([path]) if plan.study.config["data"]["origin"] == "download" else []
    size = 4 * sum(plan.sizes.download(name).known for name in datasets) or plan.sizes.raw(path)
    return plan.cores(job, size / plan.rates("dictionary"))


@rule
def audit_anchors(plan: Estimator, job: Job) -> Cost:
    """A pass over the ids of a model's languages."""
    model = plan.study.models[job.wildcards["model"]]
    tokens = sum(plan.sizes.tokens(code, "wiki") for code in model.languages)
    return plan.cores(job, tokens / plan.rates("audit"))


@rule
def pretrain(plan: Estimator, job: Job) -> Cost:
    """All updates, the validation between them, and the model on disk."""
    name = job.wildcards["model"]
    run, words = plan.study.run(name), plan.sizes.vocabulary(name)
    train, per_token = run["pretrain"], operations(run, words)
    batches = train["updates"] * train["micro_batches"]
    tokens = batches * train["micro_batch_tokens"]
    looks = train["updates"] // train["validate_every"] * len(run["languages"])
    watched = looks * train["validation_tokens"]
    seconds = plan.steps(batches, tokens * per_token)
    seconds += plan.steps(watched / train["micro_batch_tokens"], watched * per_token * FORWARD)
    return plan.device(job, seconds + plan.rates("device.compile"), parameters(run, words) * FLOAT)


@rule
def fine_tune(plan: Estimator, job: Job) -> Cost:
    """Some grid points of one task."""
    task, transfer = job.wildcards["task"], plan.study.transfer
    numbers = transfer.batches(task)[int(job.wildcards["batch"])]
    points = transfer.points(task)
    data = transfer.data(job.wildcards["encoder"], task)
    return plan.device(job, tuning_seconds(plan, task, [points[number] for number in numbers], data))


@rule
def fine_tune_together(plan: Estimator, job: Job) -> Cost:
    """All grid points of the tasks that share a job."""
    transfer = plan.study.transfer
    data = {task: transfer.data(job.wildcards["encoder"], task) for task in transfer.together}
    seconds = [tuning_seconds(plan, task, transfer.points(task), own) for task, own in data.items()]
    return plan.device(job, sum(seconds))


def tuning_seconds(plan: Estimator, task: str, points: Sequence[Point], data: Mapping[str, Any]) -> float:
    """Return the seconds of training at some points, with the dev set after each epoch and the test sets at the end."""
    settings, tokens = plan.study.config["tasks"][task], plan.rates(task)
    train, dev = (plan.sizes.lines(data[split], task, split) for split in ("train", "dev"))
    tested = sum(plan.sizes.lines(path, task, "test") for path in data["test"].values())
    seen = settings["examples_per_epoch"] or train
    per_token = encoder_operations({"shape": plan.study.config["model"]}, tokens)
    steps = sum(settings["epochs"] * seen / point.batch for point in points)
    trained = len(points) * settings["epochs"] * seen
    evaluated = len(points) * (settings["epochs"] * dev + tested)
    work = (trained + FORWARD * evaluated) * tokens * per_token
    return plan.steps(steps, work, "device.tuning_step")


@rule
def represent_encoder(plan: Estimator, job: Job) -> Cost:
    """One pass over the words and sentences, two where the untrained encoder is represented beside it."""
    name, align, shape = job.wildcards["model"], plan.study.config["align"], plan.study.config["model"]
    alignment = plan.study.alignment
    text, sentences = alignment.text(name), len(alignment.sentences(name)) * plan.sizes.parallel()
    tokens = sentences * plan.rates("sentence_tokens")
    words = min(align["word_vocabulary"], align["word_sentences"]) if text else 0
    tokens += align["word_sentences"] * plan.rates("line") / plan.rates("token") if text else 0.0
    passes = 2 if text else 1
    per_token = encoder_operations({"shape": shape}, plan.rates("sentence_tokens")) * FORWARD
    batches = passes * tokens / plan.study.config["pretrain"]["micro_batch_tokens"]
    states = (shape["layers"] + 1) * shape["width"] * (sentences * FLOAT + words * HALF)
    return plan.device(job, plan.steps(batches, passes * tokens * per_token), passes * states)


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
    return plan.device(job, tables * 2 * plan.sizes.parallel() ** 2 * shape["width"] / plan.rates("device.similarity"))


@rule
def compare_encoders(plan: Estimator, job: Job) -> Cost:
    """Every layer with every layer of each pair of encoders."""
    shape = plan.study.config["model"]
    products = 3 * (shape["layers"] + 1) ** 2 * compared(plan, "cka")
    return plan.cores(job, products * 2 * plan.sizes.parallel() * shape["width"] ** 2 / plan.rates("core"))


@rule
def align_words(plan: Estimator, job: Job) -> Cost:
    """Links between the words of parallel sentences."""
    return plan.cores(job, plan.sizes.parallel() / plan.rates("align_words"))


@rule
def transfer_contextual(plan: Estimator, job: Job) -> Cost:
    """Task layers on the states of every layer that is asked for, of every data set."""
    contextual = plan.study.contextual
    options, own = plan.study.config["align"]["contextual"], contextual.jobs[job.wildcards["job"]]
    shape = {**plan.study.config["model"], "layers": options["task_layers"], "feedforward": options["feedforward"]}
    seconds = 0.0
    for data, _ in product(contextual.data(own.name).values(), options["layers"]):
        train = plan.sizes.lines(data["train"], data["task"], "train")
        tested = sum(plan.sizes.lines(path, data["task"], "test") for path in data["test"].values())
        tokens = plan.rates(data["task"])
        encoder, head = (encoder_operations({"shape": one}, tokens) for one in (plan.study.config["model"], shape))
        seen, read = options["epochs"] * train, options["epochs"] * train + len(own.ways) * tested
        work = tokens * (seen * head + FORWARD * read * (encoder + head))
        seconds += plan.steps(seen / options["batch"], work, "device.tuning_step")
    return plan.device(job, seconds)

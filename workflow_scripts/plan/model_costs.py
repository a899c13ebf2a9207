"""What training, fine-tuning and the analyses of encoders cost: operations of a device."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from workflow_scripts.alignment import Alignment
from workflow_scripts.plan.costs import Cost
from workflow_scripts.plan.estimate import FLOAT, FORWARD, Estimator, encoder_operations, operations, parameters
from workflow_scripts.plan.jobs import Job
from xling.finetune.settings import Point

HALF = 2  # bytes: states of words are float16


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


def fine_tune(plan: Estimator, job: Job) -> Cost:
    """Some grid points of one task."""
    task, transfer = job.wildcards["task"], plan.study.transfer
    numbers = [int(number) for number in transfer.batches(task)[int(job.wildcards["batch"])].split(",")]
    points = transfer.points(task)
    data = transfer.data(job.wildcards["encoder"], task)
    return plan.device(job, tuning_seconds(plan, task, [points[number] for number in numbers], data))


def fine_tune_together(plan: Estimator, job: Job) -> Cost:
    """All grid points of the tasks that share a job."""
    transfer = plan.study.transfer
    data = {task: transfer.data(job.wildcards["encoder"], task) for task in transfer.together}
    seconds = [tuning_seconds(plan, task, transfer.points(task), own) for task, own in data.items()]
    return plan.device(job, sum(seconds))


def tuning_seconds(plan: Estimator, task: str, points: Sequence[Point], data: Mapping[str, Any]) -> float:
    """Return the seconds of training at some points, English dev after each epoch and the test sets at the end."""
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


def compared(alignment: Alignment, analysis: str) -> int:
    """Return how many pairs of encoders an analysis compares, seeds counted one by one."""
    made = alignment.plan(analysis)
    rows = made["comparisons"] if analysis == "cka" else made["languages"].values()
    return sum(len(row["seeds"]) for row in rows)


def translate_words(plan: Estimator, job: Job) -> Cost:
    """Words against words, at every layer and in the embedding matrix, trained and untrained, fastText once."""
    align, shape, alignment = plan.study.config["align"], plan.study.config["model"], plan.study.alignment
    seeds = compared(alignment, "words")
    words = min(align["word_vocabulary"], align["word_sentences"])
    tables = 2 * (shape["layers"] + 2) * seeds + len(alignment.languages("words"))
    return plan.device(job, tables * 2 * words**2 * shape["width"] / plan.rates("device.similarity"))


def retrieve_sentences(plan: Estimator, job: Job) -> Cost:
    """Sentences against sentences at every layer, both directions, with and without the map."""
    shape = plan.study.config["model"]
    tables = 4 * 2 * (shape["layers"] + 1) * compared(plan.study.alignment, "sentences")
    return plan.device(job, tables * 2 * plan.sizes.parallel() ** 2 * shape["width"] / plan.rates("device.similarity"))


def compare_encoders(plan: Estimator, job: Job) -> Cost:
    """Every layer with every layer of each pair of encoders."""
    shape = plan.study.config["model"]
    products = 3 * (shape["layers"] + 1) ** 2 * compared(plan.study.alignment, "cka")
    return plan.cores(job, products * 2 * plan.sizes.parallel() * shape["width"] ** 2 / plan.rates("core"))


def align_words(plan: Estimator, job: Job) -> Cost:
    """Links between the words of parallel sentences."""
    return plan.cores(job, plan.sizes.parallel() / plan.rates("align_words"))


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

"""What data, text and vocabularies cost: passes over bytes."""

from workflow_scripts.plan.costs import Cost
from workflow_scripts.plan.estimate import Estimator
from workflow_scripts.plan.jobs import Job


def fetch_dataset(plan: Estimator, job: Job) -> Cost:
    """The bytes that are not there yet, over the network."""
    size = plan.sizes.download(job.wildcards["dataset"]).known
    wall = plan.rates("start") + size / plan.rates("download")
    return Cost(wall, plan.rates("start"), 0.0, size, size)


def generate(plan: Estimator, job: Job) -> Cost:
    """All sentences of one embedded language, or those that the languages have together."""
    made = plan.study.config["synthetic"]
    own = made["wiki_sentences"] + made["crawl_sentences"]
    return plan.cores(job, own / plan.rates("generate"), own * plan.rates("sentence"))


def extract_text(plan: Estimator, job: Job) -> Cost:
    """A pass over the raw text."""
    language, domain = job.wildcards["language"], job.wildcards["domain"]
    text = plan.sizes.text(language, domain)
    if plan.study.language(language)["text"][domain]["format"] == "wikipedia":
        seconds = plan.sizes.xml(language, domain) / plan.rates("extract_xml")
    else:
        seconds = text / plan.rates("extract_text")
    return plan.cores(job, seconds, text * plan.rates("zst"))


def tokenise_text(plan: Estimator, job: Job) -> Cost:
    """A pass over the text with the language's tokeniser."""
    text = plan.sizes.text(job.wildcards["language"], job.wildcards["domain"])
    segmenter = plan.study.language(job.wildcards["language"])["segmenter"]
    rate = plan.rates("tokenise" if segmenter == "none" else f"tokenise_{segmenter}")
    return plan.cores(job, text / rate, text * plan.rates("zst"))


def split_corpus(plan: Estimator, job: Job) -> Cost:
    """A pass over the words."""
    language, domain = job.wildcards["language"], job.wildcards["domain"]
    seconds = plan.sizes.text(language, domain) / plan.rates("split")
    return plan.cores(job, seconds, plan.sizes.corpus(language, domain) * plan.rates("zst"))


def train_bpe(plan: Estimator, job: Job) -> Cost:
    """The words of at most so many lines."""
    codes = job.wildcards["languages"].split("-")
    text = sum(plan.sizes.corpus(code, _domain(job, code)) for code in codes)
    read = min(text, plan.study.config["bpe"]["train_lines"] * plan.rates("line"))
    return plan.cores(job, read / plan.rates("bpe"))


def encode_text(plan: Estimator, job: Job) -> Cost:
    """A language's corpus as ids of two bytes, or four where the vocabulary has more than 65,536 words."""
    code, bpe = job.wildcards["language"], plan.study.config["bpe"]
    words = bpe["joint_merges"] if job.wildcards["kind"] == "joint" else bpe["language_merges"] * 2
    seconds = plan.sizes.corpus(code, _domain(job, code)) / plan.rates("encode")
    width = 4 if words > 65_536 and job.wildcards["kind"] not in ("mono", "separate") else 2
    return plan.cores(job, seconds, plan.sizes.tokens(code, _domain(job, code)) * width)


def switch_codes(plan: Estimator, job: Job) -> Cost:
    """A pass over a training text."""
    source, target = job.wildcards["pair"].split("-")
    code = job.wildcards["language"]
    text = plan.sizes.corpus(code, job.wildcards["domain"] if code == target and code != source else "wiki")
    return plan.cores(job, text / plan.rates("switch"), text * plan.rates("zst"))


def build_dictionary(plan: Estimator, job: Job) -> Cost:
    """A pass over the dump of translations."""
    target = job.wildcards["pair"].split("-")[1]
    path = plan.study.raw(plan.study.language(target)["dictionary"]["path"])
    datasets = plan.study.datasets_of([path]) if plan.study.config["data"]["origin"] == "download" else []
    size = 4 * sum(plan.sizes.download(name).known for name in datasets) or plan.sizes.raw(path)
    return plan.cores(job, size / plan.rates("dictionary"))


def audit_anchors(plan: Estimator, job: Job) -> Cost:
    """A pass over the ids of a model's languages."""
    model = plan.study.models[job.wildcards["model"]]
    tokens = sum(plan.sizes.tokens(code, "wiki") for code in model.languages)
    return plan.cores(job, tokens / plan.rates("audit"))


def _domain(job: Job, code: str) -> str:
    return job.wildcards["domain"] if code == job.wildcards["languages"].split("-")[-1] else "wiki"

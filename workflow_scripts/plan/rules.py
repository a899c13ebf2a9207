"""Which estimate belongs to which rule. A rule that has none is not estimated, and the plan says so."""

from collections.abc import Callable

from workflow_scripts.plan import data_costs, model_costs
from workflow_scripts.plan.costs import Cost
from workflow_scripts.plan.estimate import Estimator
from workflow_scripts.plan.jobs import Job

LOGIN_MINUTES = 30  # of the class `login` (rules/common.smk): jobs small enough for a login node

Estimate = Callable[[Estimator, Job], Cost]


def cost(plan: Estimator, job: Job) -> Cost | None:
    """Return what a job takes, or None for a rule that nobody has said anything about."""
    if not job.outputs:
        return Cost()  # a name for other jobs
    estimate = RULES.get("generate" if job.rule.startswith("generate_") else job.rule)
    if estimate is None and not job.gpus and job.resources.get("runtime") == LOGIN_MINUTES:
        estimate = quick
    return estimate(plan, job) if estimate else None


def quick(plan: Estimator, job: Job) -> Cost:
    """Little more than the start of an interpreter."""
    return plan.cores(job, 0.0)


QUICK = ["build_vocabulary", "prepare_task", "prepare_parallel", "prepare_tatoeba"]
RULES: dict[str, Estimate] = {
    "fetch_dataset": data_costs.fetch_dataset,
    "generate": data_costs.generate,
    "extract_text": data_costs.extract_text,
    "tokenise_text": data_costs.tokenise_text,
    "split_corpus": data_costs.split_corpus,
    "train_bpe": data_costs.train_bpe,
    "encode_text": data_costs.encode_text,
    "switch_codes": data_costs.switch_codes,
    "build_dictionary": data_costs.build_dictionary,
    "audit_anchors": data_costs.audit_anchors,
    "pretrain": model_costs.pretrain,
    "fine_tune": model_costs.fine_tune,
    "fine_tune_together": model_costs.fine_tune_together,
    "represent_encoder": model_costs.represent_encoder,
    "translate_words": model_costs.translate_words,
    "retrieve_sentences": model_costs.retrieve_sentences,
    "compare_encoders": model_costs.compare_encoders,
    "align_words": model_costs.align_words,
    "transfer_contextual": model_costs.transfer_contextual,
    **dict.fromkeys(QUICK, quick),
}

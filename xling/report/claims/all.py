"""Every claim, in the order of the study's questions, judged on a study."""

from xling.report.claims.alignment import ALIGNMENT
from xling.report.claims.parts import Outcome
from xling.report.claims.transfer import TRANSFER
from xling.report.measured import Study

CLAIMS = (*TRANSFER, *ALIGNMENT)


def judge_all(study: Study) -> list[Outcome]:
    """Return every claim judged on a study."""
    return [Outcome(claim, tuple(claim.parts(study))) for claim in CLAIMS]

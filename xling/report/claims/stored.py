"""Reading verdicts back from claims.json."""

from pathlib import Path
from typing import Any

from xling.core.errors import InputError
from xling.core.io import read_json
from xling.report.claims.verdict import Verdict

KEYS = {"claim", "says", "source", "verdict", "sentence", "effect", "parts", "paper"}


def read_claims(path: Path) -> dict[str, Any]:
    """Return the verdicts of a study as `xling.report.claims.render.as_json` wrote them."""
    value = read_json(path)
    claims = value.get("claims") if isinstance(value, dict) else None
    if not isinstance(claims, list) or not all(_is_claim(claim) for claim in claims) or "paper_scale" not in value:
        raise InputError(path, "not a file of verdicts", fix="made by python -m xling.report.claims")
    return dict(value)


def _is_claim(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() >= KEYS and value["verdict"] in list(Verdict)

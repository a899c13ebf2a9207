"""Reading verdicts back from claims.json."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xling.core.errors import InputError
from xling.core.io import read_json
from xling.report.claims.verdict import Coverage, Over, Verdict

COUNTS = {"cells_judged", "cells_run", "cells_wanted", "counted_in"}
KEYS = {"claim", "says", "source", "verdict", "stands", "sentence", "effect", "parts", "paper"} | COUNTS


def read_claims(path: Path) -> dict[str, Any]:
    """Return the verdicts of a study as `xling.report.claims.render.as_json` wrote them."""
    value = read_json(path)
    claims = value.get("claims") if isinstance(value, dict) else None
    if not isinstance(claims, list) or not all(_is_claim(claim) for claim in claims) or "paper_scale" not in value:
        raise InputError(path, "not a file of verdicts", fix="made by python -m xling.report.claims")
    return dict(value)


def stored_coverage(claim: Mapping[str, Any]) -> Coverage:
    """Return on how much a stored verdict, or one of its parts, rests."""
    return Coverage(claim["cells_judged"], claim["cells_run"], claim["cells_wanted"], Over(claim["counted_in"]))


def _is_claim(value: Any) -> bool:
    if not isinstance(value, dict) or not value.keys() >= KEYS:
        return False
    return value["verdict"] in list(Verdict) and value["counted_in"] in list(Over)

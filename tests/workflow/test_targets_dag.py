"""Each table, figure and cell is a target that brings what it takes and nothing else, on the real DAG."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from dag import lay_out
from embedded import study

TUNING = {"fine_tune", "write_untrained", "record_transfer"}
ALIGNING = {"represent_encoder", "translate_words", "retrieve_sentences", "compare_encoders", "transfer_contextual"}
TEXT = {"generate_en", "tokenise_text"}
MONO, TABLE = 6, 15  # monolingual models, and those of the embedded study's Table 1


def counts(folder: Path, *targets: str, config: dict[str, Any]) -> Counter[str]:
    """Return how many jobs of each rule some targets take when nothing is there yet."""
    config["study"]["results"], config["data"]["root"] = str(folder / "results"), str(folder / "data")
    below = [str(folder / target) if target.startswith("results/") else target for target in targets]
    return Counter(job.rule for job in lay_out(config, below))


@pytest.mark.parametrize(
    ("target", "changes", "brings", "not_brought"),
    [
        ("table1", {}, {"fine_tune": TABLE + 8, "pretrain": TABLE, "record_transfer": 1}, ALIGNING),
        ("figure3", {"study": {"skip": [], "seeds": [1, 2]}},
         {"pretrain": 60, "write_untrained": 2 * 12, "fine_tune": 60 + 2 * 12, "record_transfer": 1}, ALIGNING),
        ("figure4a", {}, {"represent_encoder": MONO + 5, "translate_words": 1, "pretrain": MONO + 5}, TUNING),
        ("figure6", {}, {"represent_encoder": MONO + 5, "retrieve_sentences": 1, "pretrain": MONO + 5}, TUNING),
        ("figure7", {}, {"represent_encoder": MONO + 5, "compare_encoders": 1, "pretrain": MONO + 5}, TUNING),
        ("figure5", {}, {"align_words": 3, "transfer_contextual": 8, "record_contextual": 1, "pretrain": 4 + 3}, TUNING),
        ("figure8", {}, {"align_words": 3, "transfer_contextual": 8, "pretrain": 4 + 3}, TUNING),
        ("figure1", {}, {"describe_study": 1, "draw_figure": 1}, TEXT | {"pretrain"}),
        ("paper_figures", {}, {"paper_figures": 1}, TEXT | {"pretrain"}),
        ("results/demo/transfer/en-fr.no-anchors.s1/ner.json", {},
         {"fine_tune": 1, "pretrain": 1, "write_run": 1}, {"write_untrained"}),
        ("results/demo/transfer/en-ru.untrained-separate.s1/parsing.json", {},
         {"fine_tune": 1, "write_untrained": 1}, {"pretrain"}),
        ("all", {"study": {"skip": []}}, {"pretrain": 38, "write_run": 38, "train_vectors": 5}, set()),
    ],
)  # fmt: skip
def test_a_target_brings_what_it_takes(
    tmp_path: Path, target: str, changes: dict[str, Any], brings: dict[str, int], not_brought: set[str]
) -> None:
    found = counts(tmp_path, target, config=study(**changes))
    assert {rule: found[rule] for rule in brings} == brings
    assert not not_brought & set(found)

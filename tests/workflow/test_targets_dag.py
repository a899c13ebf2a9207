"""Each table and figure is a target that brings what it takes and nothing else, on the real DAG."""

from pathlib import Path

import pytest
from dag import dry_run, preset

TUNING = {"fine_tune_together", "fine_tune", "write_untrained", "record_transfer"}
ALIGNING = {"represent_encoder", "translate_words", "retrieve_sentences", "compare_encoders", "transfer_contextual"}


@pytest.mark.parametrize(
    ("target", "brings", "models"),
    [
        ("table1", TUNING - {"fine_tune"}, 18),
        ("figure3", TUNING - {"fine_tune"}, 18),
        ("figure4a", {"represent_encoder", "translate_words"}, 6 + 5),
        ("figure6", {"represent_encoder", "retrieve_sentences"}, 6 + 5),
        ("figure7", {"represent_encoder", "compare_encoders"}, 6 + 5),
        ("figure5", {"align_words", "transfer_contextual"}, 4 + 3),
        ("figure8", {"align_words", "transfer_contextual"}, 4 + 3),
    ],
)
def test_a_target_brings_what_it_takes(tmp_path: Path, target: str, brings: set[str], models: int) -> None:
    counts, _ = dry_run(target, "--configfile", preset(tmp_path))
    assert brings <= set(counts)
    unwanted = ALIGNING if brings & TUNING else TUNING
    assert not unwanted & set(counts)
    assert counts["pretrain"] == models


@pytest.mark.parametrize("target", ["figure1", "figure2", "paper_figures"])
def test_drawings_need_no_data_at_all(tmp_path: Path, target: str) -> None:
    counts, _ = dry_run(target, "--configfile", preset(tmp_path))
    assert not {"generate_en", "tokenise_text", "pretrain"} & set(counts)

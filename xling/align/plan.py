"""Plans: JSON files that list the comparisons of a job, written by the workflow or by hand."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from xling.align.states import States, states_file
from xling.core.records import Count, Different, Positive, Share, Size, key, record, refuse
from xling.finetune.settings import LOSS, Grid, Loss, Settings


@record
class Compared:
    """A language to compare with the source: the folders of hidden states of the two languages."""

    states: dict[str, Path]

    def sides(self, kind: str, name: str, codes: Sequence[str]) -> list[States]:
        """Return the hidden states of a set of words or sentences in the given languages."""
        return [States(states_file(self.states[code], kind, name, code)) for code in codes]


@record
class ComparisonPlan:
    """All languages that an analysis compares with the source.

    The models have the same seed. `config` is a hash that is copied into the result.
    """

    source: str
    seed: int
    languages: dict[str, Any]
    config: str

    def __post_init__(self) -> None:
        for code, own in self.languages.items():
            if not {self.source, code} <= set(own.states):
                refuse([f"languages.{code}.states: expected folders of {self.source} and {code}"])


@record
class Options:
    """Task layers on frozen encoders (section 5.1.2, Figures 5 and 8)."""

    layers: Annotated[tuple[Size, ...], Field(min_length=1), Different] = key(
        "Layers of the encoder that task layers are put on; 0 is the embeddings."
    )
    task_layers: Count = key("Transformer layers that are trained for a task (four in the paper).")
    heads: Count = key("Attention heads of the task layers; they divide model.width.")
    feedforward: Count = key("Hidden size of their feed-forward blocks.")
    dropout: Share = key("Dropout of the task layers, also on attention weights.")
    epochs: Count = key("Epochs; the best by English dev is kept.")
    batch: Count = key("Sentences per step.")
    lr: Positive = key("Peak learning rate; linear warm-up, then linear decay to 0.")
    warmup_share: Share = key("Share of the steps that warm up.")
    loss: Loss = key(LOSS, default="per-batch")

    @property
    def settings(self) -> Settings:
        """Return these options as the trainer's settings: one grid point, linear warm-up and decay."""
        grid = Grid((self.batch,), (self.lr,), None)
        return Settings(self.epochs, None, "linear", self.warmup_share, grid, 1, loss=self.loss)


def plan_parser(description: str | None) -> argparse.ArgumentParser:
    """Return the command-line parser of a job that reads a plan."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", type=Path, required=True, help="a JSON file: what is compared with what")
    parser.add_argument("--device", choices=["auto", "cpu"], default="auto")
    parser.add_argument("--out", type=Path, required=True)
    return parser

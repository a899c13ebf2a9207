"""How task layers on frozen encoders are built and trained (section 5.1.2, Figures 5 and 8)."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from xling.core.errors import XlingError
from xling.core.records import Count, Different, Positive, Share, Size, key, record
from xling.finetune.settings import Grid, Settings
from xling.model.config import Shape


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

    @property
    def settings(self) -> Settings:
        """Return the training as the trainer knows it: one grid point, linear warm-up and decay."""
        return Settings(self.epochs, None, "linear", self.warmup_share, Grid((self.batch,), (self.lr,), None), 1)


def check_layers(options: Options, shapes: Mapping[str, Shape]) -> None:
    """Refuse a layer that an encoder does not have, widths that differ, and heads that do not divide them."""
    for code, shape in shapes.items():
        if (top := max(options.layers)) > shape.layers:
            raise XlingError(f"no layer {top} in the encoder of {code}: its layers are 0 to {shape.layers}")
    widths = {code: shape.width for code, shape in shapes.items()}
    width = next(iter(widths.values()))
    if set(widths.values()) != {width}:
        raise XlingError(f"an orthogonal map needs encoders of one width, not {widths}")
    if width % options.heads:
        raise XlingError(f"{options.heads} heads do not divide the width {width}")

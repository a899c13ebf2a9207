"""Figure 5: transfer through the first layers of a monolingual encoder after mapping, beside the bilingual encoder's.

python -m xling.report.figure5 --records figure5.csv --out-dir figures
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from xling.core.errors import run
from xling.report import style
from xling.report.arguments import records_parser, some_records
from xling.report.contextual import contextual_figure
from xling.report.records import BI_MLM, MLM_ALIGN, ContextualScore


def figure5(scores: Sequence[ContextualScore]) -> Figure:
    """Return the figure: rows are tasks, columns are pairs."""
    return contextual_figure(scores, (MLM_ALIGN, BI_MLM))


def main() -> None:
    """Draw Figure 5 of a study."""
    args = records_parser(__doc__).parse_args()
    scores = some_records(args.records, ContextualScore)
    with style.styled():
        style.save_figure(figure5(scores), args.out_dir, "figure5", scores)


if __name__ == "__main__":
    run(main)

"""Figure 8: transfer through the first layers of the bilingual encoder, with the mapping of Figure 5 and without.

python -m xling.report.figure8 --records figure8.csv --out-dir figures
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from xling.core.errors import run
from xling.report import style
from xling.report.arguments import records_parser, some_records
from xling.report.contextual import contextual_figure
from xling.report.records import BI_MLM, BI_MLM_ALIGN, ContextualScore


def figure8(scores: Sequence[ContextualScore]) -> Figure:
    """Return the figure: rows are tasks, columns are pairs."""
    return contextual_figure(scores, (BI_MLM_ALIGN, BI_MLM))


def main() -> None:
    """Draw Figure 8 of a study."""
    args = records_parser(__doc__).parse_args()
    scores = some_records(args.records, ContextualScore)
    with style.styled():
        style.save_figure(figure8(scores), args.out_dir, "figure8", scores)


if __name__ == "__main__":
    run(main)

"""Redraw the paper's Table 1, Figure 3 and Figure 7 from its published numbers, in seconds and without any training.

python -m xling.report.paper_figures --out-dir figures
"""

import argparse
from pathlib import Path

from xling.core.errors import run
from xling.core.log import log_to_stderr
from xling.report import published, style
from xling.report.figures.bars import figure3
from xling.report.figures.heat_maps import figure7
from xling.report.grid import write_grid
from xling.report.means import cell_means
from xling.report.table1 import CAPTION, table1


def main() -> None:
    """Write Table 1, Figure 3 and Figure 7 of the paper into a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out-dir", type=Path, required=True)
    folder = parser.parse_args().out_dir
    table, settings = published.table1(), published.settings()
    write_grid(table1(cell_means(table.cells), settings, table.deltas), folder, "table1", CAPTION)
    with style.styled():
        for name, drawn in (("figure3", figure3(table.cells, settings)), ("figure7", figure7(published.figure7()))):
            style.save_figure(drawn[0], folder, name, drawn[1])
    log_to_stderr(__name__).info("Table 1, Figure 3 and Figure 7 of the paper are in %s", folder)


if __name__ == "__main__":
    run(main)

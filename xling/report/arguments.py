"""The command line of what is made from scored cells: Table 1 and Figure 3."""

import argparse
from pathlib import Path


def cells_arguments(description: str | None) -> argparse.Namespace:
    """Read where the cells and the settings are, and where the result goes."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=Path, required=True, help="scored cells, see xling.report.records")
    parser.add_argument("--settings", type=Path, help="what each setting is (default: the paper's rows)")
    parser.add_argument("--out-dir", type=Path, required=True)
    return parser.parse_args()

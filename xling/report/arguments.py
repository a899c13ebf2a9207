"""The command lines of what is made from records: Table 1 and Figure 3 from scored cells, the others from their own."""

import argparse
from pathlib import Path
from typing import TypeVar

from xling.core.errors import InputError
from xling.report.record_files import read_records

Record = TypeVar("Record")


def cells_parser(description: str | None) -> argparse.ArgumentParser:
    """Return the command line of what shows cells: where they and the settings are, and where the result goes."""
    parser = _parser(description)
    parser.add_argument("--cells", type=Path, required=True, help="scored cells, see xling.report.records")
    parser.add_argument("--settings", type=Path, help="what each setting is (default: the paper's rows)")
    parser.add_argument("--out-dir", type=Path, required=True)
    return parser


def records_parser(description: str | None) -> argparse.ArgumentParser:
    """Return the command line of a figure: where its records are, and where its files go."""
    parser = _parser(description)
    parser.add_argument("--records", type=Path, required=True, help="what was measured, see xling.report.records")
    parser.add_argument("--out-dir", type=Path, required=True)
    return parser


def some_records(path: Path, kind: type[Record]) -> list[Record]:
    """Read the records of a figure; a file without any is an error, because there is nothing to draw."""
    records = read_records(path, kind)
    if not records:
        raise InputError(path, "no records: nothing to draw")
    return records


def _parser(description: str | None) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)

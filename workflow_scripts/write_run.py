"""Write a model's resolved run description: python -m workflow_scripts.write_run --run JSON --out run.json"""

import argparse
import json
from pathlib import Path

from xling.core.errors import run
from xling.core.io import write_json


def main() -> None:
    """Write the description that the workflow resolved."""
    args = parse_args()
    write_json(args.out, json.loads(args.run))


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", required=True, help="the resolved description as JSON")
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)

"""Compare two encoders, layer by layer (Figure 7, section 5.2).

python -m xling.cka.run --left en.safetensors --right fr.safetensors --out cka.json [--matrix]
"""

import argparse
from pathlib import Path

from xling.align.states import States, check_parallel, read_states
from xling.core.errors import InputError, run
from xling.core.io import write_json
from xling.core.log import log_to_stderr
from xling.model.similarity import BLOCK, CkaStream


def compare(left: States, right: States, every_pair: bool = False) -> CkaStream:
    """Stream two files of states of the same sentences, each read once."""
    if left.rows < 2:
        raise InputError(left.path, "CKA needs at least two sentences")
    stream = CkaStream(left.layers, right.layers, every_pair)
    for start in range(0, left.rows, BLOCK):
        blocks = ([side.read(layer, start, start + BLOCK) for layer in range(side.layers)] for side in (left, right))
        stream.add(*blocks)
    return stream


def main() -> None:
    """Compare two files of states and write the result."""
    args = parse_args()
    left, right = read_states(args.left), read_states(args.right)
    check_parallel(left, right)
    stream = compare(left, right, args.matrix)
    scores = stream.layerwise()
    log_to_stderr(__name__).info("%d sentences, %d layers: AVER %.4f", left.rows, left.layers, scores["AVER"])
    result = {"cka": scores, "sentences": left.rows, "config": args.config_hash}
    write_json(args.out, result | ({"matrix": stream.matrix()} if args.matrix else {}))


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="CKA of every layer of two encoders on the same sentences.")
    parser.add_argument("--left", type=Path, required=True, help="sentence states of the first encoder")
    parser.add_argument("--right", type=Path, required=True, help="the same sentences in the second encoder")
    parser.add_argument("--matrix", action="store_true", help="also compare every layer with every other")
    parser.add_argument("--config-hash", default="", help="what the result belongs to")
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)

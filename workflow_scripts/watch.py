"""Run a study, printing one line per stage: python -m workflow_scripts.watch TARGET --configfile PRESET… -- FLAGS

FLAGS are passed to Snakemake. Presets are checked here first, because Snakemake prints a traceback for invalid ones.
"""

import argparse
import os
import sys
from pathlib import Path

from workflow_scripts.config import REPOSITORY, read_config
from xling.core.errors import run


def main() -> None:
    """Replace this process with Snakemake; targets follow `--`, because a flag could take them as values."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="*", help="rules or files; default: everything")
    parser.add_argument("--configfile", nargs="+", type=lambda text: Path(text).resolve(), default=[], help="presets")
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    args = parser.parse_args(sys.argv[1:split])
    os.chdir(REPOSITORY)
    read_config(REPOSITORY / "config.yaml", *args.configfile)
    presets = ["--configfile", *map(str, args.configfile)] if args.configfile else []
    words = ["-m", "snakemake", "--logger", "progress", *sys.argv[split + 1 :], *presets, "--", *args.target]
    plugins = REPOSITORY / "workflow_scripts/plugins"
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(plugins), os.environ.get("PYTHONPATH")]))
    os.execv(sys.executable, [sys.executable, *words])  # noqa: S606 (no shell is needed)


if __name__ == "__main__":
    run(main)

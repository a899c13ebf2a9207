"""Run a study, printing one line per stage: python -m workflow_scripts.watch TARGET --configfile PRESET… -- FLAGS

FLAGS go to Snakemake. Presets are read here first, because for an unreadable one Snakemake shows a traceback.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from workflow_scripts.config import REPOSITORY, read_config
from workflow_scripts.study import Study, load_study
from xling.core.errors import run


def command(targets: Sequence[str], files: Sequence[Path], flags: Sequence[str]) -> list[str]:
    """Return the arguments of the Snakemake command; targets follow `--`, so that no flag takes one as its value."""
    earlier = earlier_run(load_study(read_config(REPOSITORY / "config.yaml", *files)))
    timed = [f"--logger-progress-earlier={earlier}"] if earlier else []
    presets = ["--configfile", *map(str, files)] if files else []
    return ["-m", "snakemake", "--logger", "progress", *timed, *flags, *presets, "--", *targets]


def earlier_run(study: Study) -> Path | None:
    """Return the record of an earlier run of the study, from whose times the remaining time is estimated."""
    places = [study.results, REPOSITORY / "results/reference" / study.results.name]
    return next((path for place in places if (path := place / "provenance.json").is_file()), None)


def main() -> None:
    """Replace this process by Snakemake."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="*", help="rules or files; default: everything")
    parser.add_argument("--configfile", nargs="+", type=lambda text: Path(text).resolve(), default=[], help="presets")
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    args = parser.parse_args(sys.argv[1:split])
    os.chdir(REPOSITORY)
    words = command(args.target, args.configfile, sys.argv[split + 1 :])
    plugins = REPOSITORY / "workflow_scripts/plugins"
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(plugins), os.environ.get("PYTHONPATH")]))
    os.execv(sys.executable, [sys.executable, *words])  # noqa: S606 (no shell is needed)


if __name__ == "__main__":
    run(main)

"""Run a study with one line per stage: python -m workflow_scripts.watch TARGET --configfile presets/mini.yaml -- FLAGS

Presets are read here first, because Snakemake shows a traceback for one that it cannot read. FLAGS are Snakemake's.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from workflow_scripts.config import REPOSITORY, ConfigError, read_config
from workflow_scripts.study import Study, load_study
from xling.core.errors import XlingError, run


def command(targets: Sequence[str], files: Sequence[Path], flags: Sequence[str]) -> list[str]:
    """Return the words of the Snakemake command; targets come last, where no flag can take them for its value."""
    try:
        config = read_config(REPOSITORY / "config.yaml", *files)
    except ConfigError as error:
        raise XlingError("; ".join(error.problems)) from None
    earlier = earlier_run(load_study(config))
    timed = [f"--logger-progress-earlier={earlier}"] if earlier else []
    presets = ["--configfile", *map(str, files)] if files else []
    return ["-m", "snakemake", "--logger", "progress", *timed, *flags, *presets, "--", *targets]


def earlier_run(study: Study) -> Path | None:
    """Return the record of an earlier run of the study, whose times tell how long this one will take."""
    places = [study.results, REPOSITORY / "results/reference" / study.results.name]
    return next((path for place in places if (path := place / "provenance.json").is_file()), None)


def main() -> None:
    """Become Snakemake."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="*")
    parser.add_argument("--configfile", nargs="+", type=lambda text: Path(text).resolve(), default=[])
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    args = parser.parse_args(sys.argv[1:split])
    os.chdir(REPOSITORY)
    words = command(args.target, args.configfile, sys.argv[split + 1 :])
    plugins = REPOSITORY / "workflow_scripts/plugins"
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(plugins), os.environ.get("PYTHONPATH")]))
    os.execv(sys.executable, [sys.executable, *words])  # noqa: S606 (no shell is meant)


if __name__ == "__main__":
    run(main)

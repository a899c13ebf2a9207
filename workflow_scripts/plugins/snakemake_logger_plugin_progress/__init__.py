"""The logger plugin of `snakemake --logger progress`."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3]))  # Snakemake loads loggers before the Snakefile

from workflow_scripts.progress import LogHandler as LogHandler

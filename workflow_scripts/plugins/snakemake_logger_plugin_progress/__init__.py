"""snakemake --logger progress, with this package's folder on PYTHONPATH (make demo does that)."""

from workflow_scripts.progress import LogHandler as LogHandler
from workflow_scripts.progress import LogHandlerSettings as LogHandlerSettings

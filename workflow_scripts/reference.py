"""Keep what a finished study found: python -m workflow_scripts.reference presets/demo-full.yaml --out results/reference

Copies results, not data and not weights: tables, the numbers behind every figure and the figures as SVG, verdicts, the
page, what each job found, provenance, and the description of the study in one file.
"""

import argparse
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from workflow_scripts.config import REPOSITORY, read_config
from workflow_scripts.study import Study
from xling.core.errors import XlingError, run

KEPT = (
    "tables/*",
    "records/*.csv",
    "figures/*.svg",
    "figures/**/*.csv",
    "analyses/*.json",
    "contextual/*.json",
    "transfer/*/*.json",
    "models/*/run.json",
    "models/*/provenance.json",
    "claims.*",
    "provenance.json",
    "report.html",
)
NEEDED = ("tables/table1.csv", "claims.json", "report.html", "provenance.json")
LARGEST = 8_000_000  # bytes of one file: nobody's clone should grow by weights


def kept_files(folder: Path) -> Iterator[Path]:
    """Yield the files of a finished study that are kept, relative to its folder."""
    missing = [name for name in NEEDED if not (folder / name).is_file()]
    if missing:
        raise XlingError(f"{folder}: not finished, {missing[0]} is missing (run the study first)")
    for pattern in KEPT:
        for path in sorted(folder.glob(pattern)):
            if path.is_file():
                if path.stat().st_size > LARGEST:
                    raise XlingError(f"{path}: {path.stat().st_size:,} bytes, more than {LARGEST:,} are not kept")
                yield path.relative_to(folder)


def keep(study: Study, out: Path) -> Path:
    """Put a study's results below a folder, in place of what an earlier run left there."""
    target = out / str(study.config["study"]["name"])
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=out, prefix=".") as name:
        made = Path(name) / "made"
        for path in kept_files(study.results):
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(study.results / path, made / path)
        text = yaml.safe_dump(study.config, allow_unicode=True, sort_keys=False)
        (made / "config.yaml").write_text(text, encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        made.rename(target)
    return target


def main() -> None:
    """Copy the results of one study."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("presets", type=Path, nargs="*", help="what went on top of config.yaml")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    study = Study(read_config(REPOSITORY / "config.yaml", *args.presets))
    print(f"kept in {keep(study, args.out)}")


if __name__ == "__main__":
    run(main)

"""Archive a finished study: python -m workflow_scripts.reference presets/demo-full.yaml --out results/reference

It keeps results but no data or weights: tables, figures as SVG with their numbers, verdicts, the page, provenance and
the description of the study. The results of single jobs become lines of a few files (xling.report.kept).
"""

import argparse
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from workflow_scripts.config import REPOSITORY, read_config
from workflow_scripts.study import Study
from xling.core.errors import XlingError, run
from xling.report.kept import pack

KEPT = ("tables/*", "records/*.csv", "records/*.npz", "figures/*.svg", "figures/*.csv", "analyses/*.json", "claims.*")
NEEDED = ("tables/table1.csv", "claims.json", "report.html", "provenance.json")


def keep(study: Study, out: Path) -> Path:
    """Copy a study's results to a folder below `out`, replacing those of an earlier run."""
    target = out / str(study.config["study"]["name"])
    missing = [name for name in NEEDED if not (study.results / name).is_file()]
    if missing:
        raise XlingError(f"{study.results}: not finished, {missing[0]} is missing (run the study first)")
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=out, prefix=".") as name:
        made = Path(name) / "made"
        for path in (path for pattern in (*KEPT, *NEEDED) for path in study.results.glob(pattern)):
            to = made / path.relative_to(study.results)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, to)
        pack(study.results, made)
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

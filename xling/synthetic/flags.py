"""The flags that both commands of the generator have; a wrong one is reported in one line that names it."""

import argparse
from pathlib import Path
from typing import Any, NoReturn

import yaml

from xling.core.cli import positive
from xling.core.errors import InputError, XlingError
from xling.core.io import read_json
from xling.synthetic.language import Language
from xling.synthetic.traits import Traits
from xling.synthetic.world import World


class Flags(argparse.ArgumentParser):
    """A parser with the shared flags that reports a wrong flag like every other wrong input."""

    def __init__(self, description: str) -> None:
        super().__init__(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        self.add_argument("--world-seed", required=True, type=int, help="the world that all languages of a study share")
        self.add_argument("--seed", required=True, type=int, help="which draw of text")
        self.add_argument("--root", required=True, type=Path, help="the data root to write below")

    def error(self, message: str) -> NoReturn:
        """Raise the complaint instead of printing the usage before it."""
        raise XlingError(f"{message} (see --help)")


def counts(text: str) -> dict[str, int]:
    """Read the sizes of train, dev and test, written as 4000,500,500."""
    parts = text.split(",")
    if len(parts) != 3:
        raise argparse.ArgumentTypeError(f"expected three whole numbers such as 400,50,50, found {text!r}")
    return dict(zip(("train", "dev", "test"), map(positive, parts), strict=True))


def share(text: str) -> float:
    """Read a share above 0 and at most 1."""
    value = float(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"expected a share above 0 and at most 1, found {text!r}")
    return value


def read_described(path: Path) -> Any:
    """Read a YAML or JSON file."""
    if path.suffix not in (".yaml", ".yml"):
        return read_json(path)
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise InputError(path, f"not YAML: {error}") from None


def build_language(code: str, traits: Any, world: World, path: Path) -> Language:
    """Return the language that the traits in a file describe; the code may stand in them too, but not another one."""
    if not isinstance(traits, dict) or not traits or traits.get("code", code) != code:
        raise InputError(path, f"expected a mapping of the traits of {code!r}, without another code in it")
    return Language(Traits.from_dict({"code": code, **traits}), world)

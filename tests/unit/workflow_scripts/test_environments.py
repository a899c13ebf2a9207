"""Every way to install the software has the same pins: the lock file's."""

import re
import sys

import yaml
from embedded import ROOT
from packaging.utils import canonicalize_name
from pins import read_pins
from unit.test_layers import imported

from workflow_scripts.collect_provenance import direct_dependencies

TEXT_STAGES = ("core", "synthetic", "data", "tokenization", "bpe", "codeswitch")
PROVIDES = {"yaml": "pyyaml", "backports": "backports-zstd"}
STANDARD = set(sys.stdlib_module_names) | {"compression", "xling"}  # compression: Python 3.14's own
VERSIONS = read_pins(ROOT / "requirements.lock")


def distributions(path):
    """Return the distributions that a file imports."""
    names = {name.split(".")[0] for name in imported(path)}
    return {PROVIDES.get(name, canonicalize_name(name)) for name in names - STANDARD}


def environment(path):
    """Return what conda and what pip installs in an environment; everything has an exact version."""
    *conda, pip = yaml.safe_load(path.read_text(encoding="utf-8"))["dependencies"]
    assert all(re.fullmatch(r"[a-z0-9_.-]+=[0-9][0-9.]*", entry) for entry in conda), path
    return dict(entry.split("=") for entry in conda), dict(entry.split("==") for entry in pip["pip"])


XLING, TEXT = (environment(ROOT / "envs" / f"{name}.yaml") for name in ("xling", "text"))


def test_every_environment_pins_what_the_lock_file_does():
    for path in sorted((ROOT / "envs").glob("*.yaml")):
        conda, pip = environment(path)
        assert {name: VERSIONS.get(name, version) for name, version in pip.items()} == pip, path
        assert conda["python"] == XLING[0]["python"]
    assert list(XLING[1]) == direct_dependencies(ROOT / "pyproject.toml")
    assert VERSIONS["torch"] == "2.13.0"


def test_the_text_stack_has_what_its_stages_import_and_no_torch():
    files = [path for stage in TEXT_STAGES for path in (ROOT / "xling" / stage).rglob("*.py")]
    assert set().union(*map(distributions, files)) <= set(TEXT[1])
    assert set(TEXT[1]) <= set(XLING[1]) - {"torch"}


def test_rules_that_call_a_text_stage_have_the_text_stack():
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "rules").glob("*.smk")]
    rules = [rule for text in texts for rule in re.split(r"^ *rule\b", text, flags=re.MULTILINE)]
    calls = [(stage, rule) for rule in rules for stage in re.findall(r"(?:-m|gpu_slots) xling\.(\w+)\.", rule)]
    assert len(calls) > 20
    for stage, rule in calls:
        assert bool(re.search(r"^ +TEXT_ENV$", rule, flags=re.MULTILINE)) == (stage in TEXT_STAGES), rule


def test_the_container_installs_the_lock_file_on_the_same_python():
    text = (ROOT / "envs" / "xling.def").read_text(encoding="utf-8")
    assert re.search(r"^From: python:(\S+)-slim", text, flags=re.MULTILINE)[1] == XLING[0]["python"]
    assert re.search(r"^\s+requirements\.lock\s", text, flags=re.MULTILINE)
    assert "pip install --no-cache-dir --requirement /opt/xling/requirements.lock" in text
    assert not re.search(r"pip install(?!.*requirements\.lock)", text)

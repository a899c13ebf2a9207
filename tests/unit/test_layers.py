"""The package makes sense without Snakemake; what knows the workflow does no maths; rules only wire."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STAGES = [
    "synthetic",
    "data",
    "tokenization",
    "bpe",
    "codeswitch",
    "model",
    "pretrain",
    "finetune",
    "align",
    "cka",
    "report",
    "interop",
]


def imported(path: Path) -> set[str]:
    """Return the dotted names of all modules that a file imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def code_strings(path: Path) -> list[str]:
    """Return the string constants of a file that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {
        ast.get_docstring(node, clean=False)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)
    }
    return [
        n.value
        for n in ast.walk(tree)
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and n.value not in docs
    ]


PACKAGE = sorted((ROOT / "xling").rglob("*.py"))
SCRIPTS = sorted((ROOT / "workflow_scripts").rglob("*.py"))
RULES = sorted((ROOT / "rules").glob("*.smk"))


@pytest.mark.parametrize("path", PACKAGE, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_package_knows_nothing_of_the_workflow(path: Path) -> None:
    roots = {name.split(".")[0] for name in imported(path)}
    assert not roots & {"snakemake", "workflow_scripts"}
    assert not [text for text in code_strings(path) if re.search(r"\bresults/|config\.yaml", text)]


@pytest.mark.parametrize("path", PACKAGE, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_stage_imports_only_earlier_stages(path: Path) -> None:
    stage = path.relative_to(ROOT / "xling").parts[0]
    if stage not in STAGES:
        return
    used = {name.split(".")[1] for name in imported(path) if name.startswith("xling.")} - {"core"}
    later = {name for name in used if name in STAGES and STAGES.index(name) > STAGES.index(stage)}
    assert not later


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_knows_the_workflow_does_no_maths(path: Path) -> None:
    roots = {name.split(".")[0] for name in imported(path)}
    assert not roots & {"numpy", "scipy", "torch", "pandas", "math"}


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.name)
def test_rules_only_wire(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 150
    assert not re.search(r"^\s+(script|run|notebook):", text, flags=re.MULTILINE)
    assert "config[" not in "".join(re.findall(r'"""(?:(?!""").)*python -m(?:(?!""").)*"""', text, flags=re.DOTALL))


def test_the_snakefile_is_a_table_of_contents() -> None:
    assert (ROOT / "Snakefile").read_text(encoding="utf-8").count("\n") < 90

"""The package makes sense without Snakemake; what knows the workflow does no maths; rules only wire."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STAGES = ["core", "synthetic", "data", "tokenization", "bpe", "codeswitch", "model", "pretrain", "finetune"]
STAGES += ["align", "cka", "report", "interop"]
PACKAGE = sorted((ROOT / "xling").rglob("*.py"))
TREES = {
    path: ast.parse(path.read_text(encoding="utf-8"))
    for path in (*PACKAGE, *sorted((ROOT / "workflow_scripts").rglob("*.py")))
}


def imported(path):
    """Return the dotted names of all modules that a file imports."""
    names: set[str] = set()
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def code_strings(path):
    """Return the string constants of a file that are no docstrings."""
    nodes = list(ast.walk(TREES[path]))
    documented = [node for node in nodes if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)]
    docs = {ast.get_docstring(node, clean=False) for node in documented}
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return [value for value in constants if isinstance(value, str) and value not in docs]


def later_stages(path):
    """Return the stages that a file imports although they come after its own."""
    stage = path.relative_to(ROOT / "xling").parts[0]
    used = {name.split(".")[1] for name in imported(path) if name.startswith("xling.")}
    return set() if stage not in STAGES else used & set(STAGES[STAGES.index(stage) + 1 :])


def test_the_package_knows_nothing_of_the_workflow():
    for path in PACKAGE:
        assert not {name.split(".")[0] for name in imported(path)} & {"snakemake", "workflow_scripts"}, path
        assert not [text for text in code_strings(path) if re.search(r"\bresults/|config\.yaml", text)], path


def test_a_stage_imports_only_earlier_stages():
    assert {path: found for path in PACKAGE if (found := later_stages(path))} == {}
    assert len(PACKAGE) > 100


def test_what_knows_the_workflow_does_no_maths():
    for path in TREES.keys() - set(PACKAGE):
        assert not {name.split(".")[0] for name in imported(path)} & {"numpy", "scipy", "torch", "pandas", "math"}, path


def test_rules_only_wire():
    for path in (ROOT / "rules").glob("*.smk"):
        text = path.read_text(encoding="utf-8")
        commands = re.findall(r'"""(?:(?!""").)*python -m(?:(?!""").)*"""', text, flags=re.DOTALL)
        assert text.count("\n") <= 150, path
        assert not re.search(r"^\s+(script|run|notebook):", text, flags=re.MULTILINE), path
        assert "config[" not in "".join(commands), path
    assert (ROOT / "Snakefile").read_text(encoding="utf-8").count("\n") < 90, "the Snakefile is a table of contents"

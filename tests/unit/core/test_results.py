"""A result of another configuration is refused in one line, and the commit that made a result is known."""

import json
import subprocess

import pytest
from embedded import DEMO

from workflow_scripts import expect
from xling.core.errors import InputError
from xling.core.provenance import commit, git
from xling.core.results import hashed, read_result, untrained_parts

RUN = DEMO.run("en-fr.default.s1")
SLOWER = RUN | {"pretrain": RUN["pretrain"] | {"lr": 1e-9}}


@pytest.mark.parametrize(
    ("content", "wanted", "problem"),
    [
        ({"config": "4567"}, "4567", None),
        ({"config": "0123"}, "4567", "of another configuration: 0123, not 4567"),
        ({"config": ""}, "4567", "of another configuration: none, not 4567"),
        ({"sets": {}}, "4567", "says nothing of the configuration"),
        ([], "4567", "says nothing of the configuration"),
        (dict(reversed(RUN.items())), hashed(RUN), None),
        (SLOWER, hashed(RUN), "of another configuration"),
        (SLOWER, hashed(untrained_parts(RUN)), None),  # an untrained encoder learns at no rate
        (RUN | {"seed": 9}, hashed(untrained_parts(RUN)), "of another configuration"),
    ],
)
def test_a_result_is_taken_if_it_is_of_the_wanted_configuration(tmp_path, content, wanted, problem):
    path = tmp_path / "result.json"
    path.write_text(json.dumps(content))
    if problem is None:
        assert read_result(path, wanted) == content
    else:
        with pytest.raises(InputError, match=f"result.json: {problem}.*run Snakemake again"):
            read_result(path, wanted)


def test_the_command_says_it_in_one_line(tmp_path, call, refused):
    path = tmp_path / "states=1.json"
    path.write_text('{"config": "0123"}')
    assert call(expect.main, f"{path}=0123").code == 0
    found = refused(expect.main, f"{path}=0123", f"{path}=4567", out=tmp_path / "nothing is written")
    assert f"{path}: of another configuration: 0123, not 4567" in found


def test_the_commit_of_a_checkout_or_of_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.delenv("XLING_COMMIT", raising=False)
    assert (git(tmp_path, "status"), commit(tmp_path)) == (None, "unknown")
    monkeypatch.setenv("XLING_COMMIT", "abc")
    assert commit(tmp_path) == "abc"
    (tmp_path / "inner").mkdir()
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for arguments in (["init", "-q"], [*identity, "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", "-C", tmp_path, *arguments], check=True)
    assert commit(tmp_path / "inner") == git(tmp_path, "rev-parse", "HEAD") != "abc"

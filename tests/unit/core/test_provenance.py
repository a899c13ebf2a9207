"""The commit is that of the checkout, and outside a checkout the one that the environment names."""

import subprocess
from pathlib import Path

import pytest

from xling.core.provenance import commit, git


def test_the_commit_of_a_checkout_or_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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

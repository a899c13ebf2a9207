"""The commit is the checkout's, elsewhere what the environment says; only what is installed has a version."""

import subprocess
from pathlib import Path

import pytest

from xling.core.provenance import commit, git


def test_the_commit_of_a_checkout_is_that_of_all_its_folders(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for arguments in (["init", "-q"], [*identity, "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", "-C", tmp_path, *arguments], check=True)
    assert commit(tmp_path / "inner") == git(tmp_path, "rev-parse", "HEAD")
    assert len(commit(tmp_path)) == 40


def test_outside_a_checkout_the_environment_says_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.delenv("XLING_COMMIT", raising=False)
    assert (git(tmp_path, "status"), commit(tmp_path)) == (None, "unknown")
    monkeypatch.setenv("XLING_COMMIT", "abc")
    assert commit(tmp_path) == "abc"

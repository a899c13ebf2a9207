"""Shared by the tests of the workflow: fake commands."""

import os

import pytest


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Return a function that writes a shell command which comes before all others of that name."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def write(name, body):
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)

    return write

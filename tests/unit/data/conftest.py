"""Shared by the tests of fetching: a faulty server, and the fetch command on a manifest of their own."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from faulty_server import FaultyServer
from small_data import dataset

from xling.data import fetch_dataset, manifest
from xling.data.manifest import Dataset, SourceFile


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


@pytest.fixture
def fetch(call: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str]]:
    """Return a function that runs the fetch command for datasets or files; it returns exit code and error lines."""
    monkeypatch.setattr("xling.data.download.time.sleep", lambda _: None)

    def command(*wanted: Dataset | SourceFile, root: Path = tmp_path / "data", more: tuple[object, ...] = ()) -> Any:
        datasets = [one if isinstance(one, Dataset) else dataset("d", one) for one in wanted]
        monkeypatch.setattr(manifest, "_study_manifest", lambda: {one.name: one for one in datasets})
        (tmp_path / "sources.json").write_text(json.dumps([{"name": one.name} for one in datasets]))
        return call(fetch_dataset.main, "--sources", tmp_path / "sources.json", "--root", root, *more)

    return command

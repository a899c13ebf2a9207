"""Parallel sentences as words: one file per side, equally long, or none at all."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xling.tokenization import prepare_parallel

FILES = {
    "x.tsv": "de\ten\tfr\nja\tYes\tOui, oui\nnein\tno, no\tNon\n",
    "back.txt": "yep\nnope  nope\n",
    "short.txt": "yep\n",
    "vanish.txt": "1\n\u200b\n",
    "fr.json": json.dumps({"language": "fr", "moses": "fr"}),
}
BACK = "yep\nnope nope\n"


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("--multiway x.tsv --languages fr en --file en2=back.txt --tokeniser fr=fr.json",
         {"fr.txt": "oui , oui\nnon\n", "en.txt": "Yes\nno, no\n", "en2.txt": BACK}),
        ("--multiway x.tsv --languages fr", {"fr.txt": "Oui, oui\nNon\n"}),
        ("--file source=back.txt --file target=back.txt", {"source.txt": BACK, "target.txt": BACK}),
        ("--multiway x.tsv --file en2=short.txt", "short.txt: ends after 1 sentences"),
        ("--file en=back.txt --file fr=vanish.txt --tokeniser fr=fr.json", "fr.txt, line 2: nothing left of"),
        ("--file back.txt", "expected CODE=PATH, each code once"),
        ("", "name each side once"),
        ("--file en=back.txt --multiway x.tsv --languages en", "name each side once"),
        ("--file en=a --tokeniser en=fr.json --tokeniser en=fr.json", "expected CODE=FILE, each code once"),
    ],
)  # fmt: skip
def test_one_file_per_side_or_one_line_and_nothing(
    call: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    flags: str,
    expected: dict[str, str] | str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    Path("out").mkdir()
    code, error, _ = call(prepare_parallel.main, *flags.split(), "--out-dir", "out")
    found = {path.name: path.read_text(encoding="utf-8") for path in Path("out").iterdir()}
    if isinstance(expected, str):
        assert (code, error.count("error: "), expected in error, found) == (2, 1, True, {})
    else:
        assert code == 0
        assert {name: text for name, text in found.items() if name in expected} == expected
        assert found.keys() == expected.keys() | {f".{name}.sha256" for name in expected}

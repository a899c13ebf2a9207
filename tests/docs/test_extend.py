"""docs/extend.md, followed to the letter: its files are written, its commands are run, and it sees what it says."""

import re
from pathlib import Path

import pytest
from doc_blocks import ROOT, blocks, commands, expanded, run

PAGE = ROOT / "docs" / "extend.md"
TOP, POSITIONS, GREEK = "presets/top.yaml", "presets/positions.yaml", "presets/greek.yaml"
GERMAN, ARABIC = "presets/german.yaml", "presets/arabic.yaml"
SETTING = ".venv/bin/snakemake -n table1 --configfile presets/top.yaml"
TOKENS = ".venv/bin/snakemake -n table1 --configfile presets/overlays/sep-tokens.yaml presets/positions.yaml"
GENERATED = ".venv/bin/snakemake table1 --configfile presets/top.yaml presets/greek.yaml"
SWAPPED = ".venv/bin/snakemake -n --configfile presets/german.yaml"
REAL = ".venv/bin/snakemake -n --configfile presets/paper.yaml presets/arabic.yaml"
PLAN = 'make plan PRESET="presets/paper.yaml presets/arabic.yaml"'
FETCH = ".venv/bin/snakemake fetch --keep-going --configfile presets/paper.yaml presets/arabic.yaml"
CLUSTER = (
    ".venv/bin/snakemake --profile slurm --configfile presets/paper.yaml presets/arabic.yaml"  # as REAL, elsewhere
)


@pytest.fixture
def follow(tmp_path: Path) -> "Follower":
    """Return somebody who has written the page's files, in a folder of their own."""
    return Follower(tmp_path)


class Follower:
    """Writes the files of the page and runs its commands on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = files_of_the_page()
        (folder / "presets").mkdir()
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")

    def __call__(self, command: str, *extra: str) -> str:
        """Run a command of the page with our copies of its files."""
        for name in self.files:
            command = command.replace(name, str(self.folder / name))
        return run(command, self.folder, *extra)


def files_of_the_page() -> dict[str, str]:
    """Return every file that the page has the reader write, by its name in the first line."""
    texts = [block.text for block in blocks(PAGE) if block.language == "yaml"]
    return {text.splitlines()[0].removeprefix("# "): text for text in texts}


def jobs(said: str, rule: str) -> int:
    """Return how many jobs of a rule a dry run shows."""
    found = re.search(rf"^{rule} +(\d+)$", said, re.MULTILINE)
    return int(found[1]) if found else 0


def test_the_page_has_these_files_and_commands_and_no_others() -> None:
    assert list(files_of_the_page()) == [TOP, POSITIONS, GREEK, GERMAN, ARABIC]
    assert commands(PAGE) == [SETTING, TOKENS, GENERATED, SWAPPED, REAL, PLAN, FETCH, CLUSTER]


def test_a_setting(follow: Follower) -> None:
    said = follow(SETTING)
    assert jobs(said, "pretrain") == 3
    assert "models/en-fr.sep-emb-l1-7.s1/run.json" in said


def test_a_setting_that_cannot_be_is_refused_as_the_page_says(follow: Follower) -> None:
    (shown,) = [block.text.strip() for block in blocks(PAGE) if block.language == "text"]
    path = follow.folder / TOP
    path.write_text(follow.files[TOP].replace("bpe: per-language", "bpe: joint"), encoding="utf-8")
    with pytest.raises(AssertionError, match=re.escape(shown)):
        follow(SETTING)


def test_separate_tokens_beside_separate_embeddings(follow: Follower) -> None:
    said = follow(TOKENS)
    assert jobs(said, "pretrain") == 3
    assert "models/en-fr.sep-tokens.s1/run.json" in said
    assert jobs(said, "build_vocabulary") == 4  # joint, separate, and each language's, whose streams both settings read
    assert set(re.findall(r"untrained-(\w+)", said)) == {"joint", "separate"}


def test_a_generated_language_from_raw_files_to_the_table(follow: Follower) -> None:
    follow(GENERATED, "--cores", "1")
    head, _, *rows = (follow.folder / "results/greek/tables/table1.md").read_text(encoding="utf-8").splitlines()
    columns = [name.strip() for name in head.split("|")]
    cells = [[cell.strip() for cell in row.split("|")] for row in rows]
    (row,) = [row for row in cells if len(row) == len(columns) and row[1] == "Sep Emb + L1-7"]
    assert 0 <= float(row[columns.index("NER (F1) el")]) <= 100
    assert row[columns.index("NER (F1) fr")] == "not run"

    (follow.folder / GREEK).write_text(
        follow.files[GREEK].replace("pairs: [en-el]", "pairs: [en-el, en-fr]"), encoding="utf-8"
    )
    said = follow(GENERATED, "-n")
    assert jobs(said, "pretrain") == 2  # of the new pair: what was there is not trained again
    assert "models/en-fr.sep-emb-l1-7.s1/run.json" in said


def test_a_swapped_language(follow: Follower) -> None:
    said = follow(SWAPPED)
    models = set(re.findall(r"models/([\w.-]+)/run\.json", said))
    assert jobs(said, "pretrain") == len(models) == 26
    assert len([name for name in models if name.startswith("en-de.")]) == 10
    assert [name for name in models if name.startswith("en-fr.")] == ["en-fr.default.s1"]
    assert "transfer/en-de.no-anchors.s1/" in said


def test_a_real_language(follow: Follower) -> None:
    said = follow(REAL)
    models = set(re.findall(r"models/([\w.-]+)/run\.json", said))
    assert len([name for name in models if name.startswith("en-ar.")]) == 10
    assert "ar.mono.s1" in models
    assert jobs(said, "tokenise_text") == 10  # Arabic's two domains beside the eight of the paper
    (follow.folder / ARABIC).write_text(follow.files[ARABIC].replace("moses: en ", "moses: ar "), encoding="utf-8")
    with pytest.raises(AssertionError, match=r"languages\.ar\.moses: expected one of null, as,"):
        follow(REAL)


def test_its_files_are_fetched_and_its_plan_reads_both_files(follow: Follower) -> None:
    said = follow(FETCH, "-n")
    assert jobs(said, "fetch_dataset") == 15
    assert expanded(PLAN).endswith("--configfile presets/paper.yaml presets/arabic.yaml")

"""docs/extend.md, followed to the letter; its generated study is run by tests/workflow/test_small_study.py."""

import lzma
from itertools import islice
from pathlib import Path

import pytest
from cut_data import first_sentences
from doc_blocks import EXTEND, GENERATED, Reader, blocks, commands, expanded, trained

OWN = "presets/my-german.yaml"
TOP, POSITIONS, GREEK = "presets/top.yaml", "presets/positions.yaml", "presets/greek.yaml"
GERMAN, ARABIC = "presets/german.yaml", "presets/arabic.yaml"
LOCAL = "XLING_DATA=… make run PRESET=presets/my-german.yaml TARGET=table1"
SETTING = ".venv/bin/snakemake -n table1 --configfile presets/top.yaml"
TOKENS = ".venv/bin/snakemake -n table1 --configfile presets/overlays/sep-tokens.yaml presets/positions.yaml"
SWAPPED = ".venv/bin/snakemake -n --configfile presets/german.yaml"
REAL = ".venv/bin/snakemake -n --configfile presets/paper.yaml presets/arabic.yaml"
PLAN = 'make plan PRESET="presets/paper.yaml presets/arabic.yaml" RATES=h200'
FETCH = ".venv/bin/snakemake fetch --keep-going --configfile presets/paper.yaml presets/arabic.yaml"
CLUSTER = ".venv/bin/snakemake --profile slurm --configfile presets/paper.yaml presets/arabic.yaml"  # REAL, elsewhere


@pytest.fixture
def follow(tmp_path):
    """Return a reader of the page."""
    return Reader(tmp_path)


def count(jobs, rule):
    """Return how many jobs of a rule there are."""
    return [job.rule for job in jobs].count(rule)


def test_the_page_has_these_files_and_commands_and_no_others(follow):
    assert list(follow.files) == [OWN, TOP, POSITIONS, GREEK, GERMAN, ARABIC]
    assert commands(EXTEND) == [LOCAL, SETTING, TOKENS, GENERATED, SWAPPED, REAL, PLAN, FETCH, CLUSTER]


def test_a_small_study_of_ones_own_language(follow, real_data):
    assert len(follow.files[OWN].splitlines()) < 50
    data = follow.folder / "data"
    data.mkdir()
    for code in ("en", "de"):
        with lzma.open(real_data / f"text/wiki.{code}.txt.xz", "rt", encoding="utf-8") as lines:
            (data / f"{code}.txt").write_text("".join(islice(lines, 3000)), encoding="utf-8")
    for name in ("en_ewt-ud-train", "en_ewt-ud-dev", "en_ewt-ud-test", "de_gsd-ud-test"):
        (source,) = (real_data / "ud").glob(f"*/{name}.conllu")
        with source.open(encoding="utf-8") as lines:
            (data / source.name).write_text("".join(first_sentences(lines)), encoding="utf-8")
    # Under another code, so that nothing comes from the entry of German in config.yaml; one row, to save time.
    for old, new in (("  de:", "  nds:"), ("en-de", "en-nds"), ("[default, ", "["), ("updates: 100", "updates: 20")):
        assert follow.files[OWN].count(old) == 1
        follow.files[OWN] = follow.files[OWN].replace(old, new)
    follow.write(OWN)
    said = follow.run(LOCAL, "--cores", "2")
    assert "all done in" in said
    assert f"  {follow.folder}/results/my-german/tables: " in said
    assert "warning" not in said
    table = (follow.folder / "results/my-german/tables/table1.md").read_text(encoding="utf-8")
    assert "No anchors" in table
    assert "Parsing (LAS) nds" in table


def test_a_setting(follow):
    expected = {f"en-fr.{name}.s1" for name in ("default", "sep-emb-l1-6", "sep-emb-l1-7")}
    assert trained(follow.lay_out(SETTING)) == expected


def test_a_setting_that_cannot_be_is_refused_as_the_page_says(follow, capfd):
    (shown,) = [block.text.strip() for block in blocks(EXTEND) if block.language == "text"]
    follow.write(TOP, "separate:", "bpe: joint\n    separate:")
    with pytest.raises(SystemExit, match="2"):
        follow.lay_out(SETTING)
    assert shown in capfd.readouterr().err.splitlines()


def test_separate_tokens_beside_separate_embeddings(follow):
    jobs = follow.lay_out(TOKENS)
    assert trained(jobs) == {f"en-fr.{name}.s1" for name in ("default", "sep-emb", "sep-tokens")}
    assert count(jobs, "build_vocabulary") == 4  # joint, separate, and each language's, read by both settings
    untrained = {Path(path).parent.name for job in jobs if job.rule == "write_untrained" for path in job.outputs}
    assert untrained == {"en-fr.untrained-joint.s1", "en-fr.untrained-separate.s1"}


def test_a_swapped_language(follow):
    jobs = follow.lay_out(SWAPPED)
    assert count(jobs, "pretrain") == len(trained(jobs)) == 23
    assert len([name for name in trained(jobs) if name.startswith("en-de.")]) == 10
    assert [name for name in trained(jobs) if name.startswith("en-fr.")] == ["en-fr.default.s1"]
    assert any("transfer/en-de.no-anchors.s1/" in path for job in jobs for path in job.outputs)


def test_a_real_language(follow, capfd):
    jobs = follow.lay_out(REAL)
    assert len([name for name in trained(jobs) if name.startswith("en-ar.")]) == 10
    assert "ar.mono.s1" in trained(jobs)
    assert count(jobs, "tokenise_text") == 74  # Arabic's two domains beside the 72 shards of the paper
    follow.write(ARABIC, "moses: en ", "moses: ar ")
    with pytest.raises(SystemExit, match="2"):
        follow.lay_out(REAL)
    assert "languages.ar.moses: expected one of null, as," in capfd.readouterr().err


def test_its_files_are_fetched_and_its_plan_reads_both_files(follow):
    assert count(follow.lay_out(FETCH), "fetch_dataset") == 15
    assert expanded(PLAN).endswith("--configfile presets/paper.yaml presets/arabic.yaml")

"""Text in shards: the same corpora as in one piece, a lost shard is made again alone, read text can be deleted."""

from pathlib import Path

import pytest
from dag import TINY, dry_run, nothing_to_do, output, preset, snakemake

from xling.core.io import read_json

CORPORA = ("fr.wiki", "fr.crawl")


def corpora(folder: Path, shards: int) -> tuple[str, dict[str, Path]]:
    """Make the French corpora of a tiny study whose crawl is thinned; return its preset and the corpora's statistics."""
    folder.mkdir()
    path = preset(
        folder,
        study={"languages": [], "pairs": ["en-fr"], "settings": ["default", "wiki-cc"], "extra": [], "skip": []},
        data={"root": str(folder.parent / "data")},
        synthetic=TINY | {"wiki_sentences": 400, "crawl_sentences": 1200},
        text={"valid_lines": 5, "test_lines": 5, "crawl_margin": 1.2},
        languages={"fr": {"text": {domain: {"shards": shards} for domain in ("wiki", "crawl")}}},
    )
    stats = {name: folder / f"results/demo/corpus/{name}/stats.json" for name in CORPORA}
    done = snakemake("--cores", "2", *map(str, stats.values()), "--configfile", path)
    assert done.returncode == 0, output(done)[-3000:]
    return path, stats


@pytest.mark.timeout(600)
def test_shards_change_no_corpus_and_one_that_is_lost_is_made_again_alone(tmp_path: Path) -> None:
    (_, whole), (path, cut) = corpora(tmp_path / "whole", 1), corpora(tmp_path / "cut", 2)
    for name in CORPORA:
        for file in ("train.txt.zst", "valid.txt.zst", "test.txt.zst", "stats.json"):
            assert cut[name].with_name(file).read_bytes() == whole[name].with_name(file).read_bytes()
    sizes = [sum(split["words"] for split in read_json(path)["splits"].values()) for path in cut.values()]
    assert sizes[0] - 30 < sizes[1] <= sizes[0]  # the crawl is as long as the encyclopaedia
    drawn, crawl = (read_json(tmp_path / f"whole/results/demo/{kind}/fr.crawl.json") for kind in ("tokenised", "text"))
    assert drawn["lines"] < 0.6 * crawl["paragraphs"]

    for file in (cut["fr.wiki"], *(tmp_path / "cut/results/demo").glob("t*/fr.wiki.2-of-2.*")):
        file.unlink()
    counts, _ = dry_run(str(cut["fr.wiki"]), "--configfile", path)
    assert counts == {"extract_text": 1, "tokenise_text": 1, "split_corpus": 1, "total": 3}

    Path(path).write_text(Path(path).read_text().replace("crawl_margin", "keep: false\n  crawl_margin"))
    done = snakemake("--cores", "2", str(cut["fr.wiki"]), "--configfile", path)
    assert done.returncode == 0, output(done)[-3000:]
    left = {file.name for file in (tmp_path / "cut/results/demo/tokenised").glob("fr.wiki.*")}
    assert left == {f"fr.wiki.{number}-of-2.json" for number in (1, 2)}
    assert cut["fr.wiki"].read_bytes() == whole["fr.wiki"].read_bytes()
    assert nothing_to_do(snakemake("-n", *map(str, cut.values()), "--configfile", path))

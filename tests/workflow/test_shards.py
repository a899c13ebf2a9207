"""Text in shards: the same corpora as in one piece, a lost shard is made again alone, read text can be deleted."""

import pytest
from dag import TINY, job_counts, nothing_to_do, preset, snakemake

from xling.core.io import read_json

CORPORA = ("fr.wiki", "fr.crawl")


def chosen(folder, shards, **text):
    """Return the flags of a tiny study with a thinned crawl, of which French text is read in shards."""
    path = preset(
        folder,
        study={"languages": [], "pairs": ["en-fr"], "settings": ["default", "wiki-cc"], "extra": [], "skip": []},
        synthetic=TINY | {"wiki_sentences": 400, "crawl_sentences": 1200},
        text={"valid_lines": 5, "test_lines": 5, "crawl_margin": 1.2, **text},
        languages={"fr": {"text": {domain: {"shards": shards} for domain in ("wiki", "crawl")}}},
    )
    return ["--configfile", path]


def corpora(made, *flags):
    """Make the corpora of some statistics and return the jobs that it took, and all files of all corpora."""
    done = snakemake("--cores", "2", *flags)
    assert done.returncode == 0, done.stdout[-3000:]
    return job_counts(done.stdout), {path: path.read_bytes() for path in (made / "corpus").glob("fr.*/*[tn].*")}


@pytest.mark.timeout(600)
def test_shards_change_no_corpus_and_one_that_is_lost_is_made_again_alone(tmp_path):
    made = tmp_path / "results/demo"
    wiki, crawl = stats = [made / f"corpus/{name}/stats.json" for name in CORPORA]
    _, whole = corpora(made, str(wiki), str(crawl), *chosen(tmp_path, 1))
    drawn, read = (read_json(made / f"{kind}/fr.crawl.json") for kind in ("tokenised", "text"))
    assert drawn["lines"] < 0.6 * read["paragraphs"]
    sizes = [sum(split["words"] for split in read_json(path)["splits"].values()) for path in stats]
    assert sizes[0] - 30 < sizes[1] <= sizes[0]  # the crawl is as long as the encyclopaedia

    counts, cut = corpora(made, str(wiki), str(crawl), *chosen(tmp_path, 2))
    assert counts == {"extract_text": 4, "tokenise_text": 4, "split_corpus": 2, "total": 10}
    assert cut == whole

    for file in (wiki, *made.glob("t*/fr.wiki.2-of-2.*")):
        file.unlink()
    last = chosen(tmp_path, 2, keep=False)
    counts, again = corpora(made, str(wiki), *last)
    assert counts == {"extract_text": 1, "tokenise_text": 1, "split_corpus": 1, "total": 3}
    assert again == whole
    left = {file.name for file in (made / "tokenised").glob("fr.wiki.?-*")}
    assert left == {f"fr.wiki.{number}-of-2.json" for number in (1, 2)}
    assert nothing_to_do(snakemake("-n", str(wiki), str(crawl), *last))

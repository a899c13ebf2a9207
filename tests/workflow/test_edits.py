"""What each edit of a study makes again, and which results get another identity: the guard of many GPU-days.

The real Snakemake lays out all jobs of a small study before and after an edit. A job runs again if its parameters or its
set of inputs differ, or if an input that is not ancient is made again: what Snakemake's triggers compare once everything
has been made. A result's identity is the hash that it carries. The edits, with what each must make again, are in
edits.yaml: `edit` lays keys over the study, `raise` raises the revision of a stage's code; `again` is what runs again,
and `same` what of it is a result that keeps its identity, because it only shares a job or an input with what changed.
"""

import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from dag import lay_out
from embedded import PAPER, ROOT, nested, results, study

from workflow_scripts.config import merge
from workflow_scripts.study import Study

FOLDER = Path("/nonexistent")
BASE: dict[str, Any] = {
    "study": {
        "results": str(FOLDER / "results"),
        "languages": ["en", "en2", "fr"],
        "pairs": ["en-fr"],
        "settings": ["default", "wiki-cc", "extra-anchors", "sep-emb"],
        "extra": [],
        "skip": [],
    },
    "data": {"root": str(FOLDER / "data")},
}
# The first pattern that fits a path below the results names the kind and, in its group, the thing. Plans, records,
# tables, figures and provenance take seconds, and the page shows the whole description: what makes them again is not listed.
KINDS = {
    "text": r"text/([^/]+?)(?:\.\d+-of-\d+)?\.(?:txt.zst|json)",
    "words": r"tokenised/([^/]+?)(?:\.\d+-of-\d+)?\.(?:txt.zst|json)",
    "corpus": r"corpus/([^/]+)/.*",
    "task": r"tasks/(.+)/(.+)\.jsonl",
    "parallel": r"parallel/(.+)\.txt",
    "tatoeba": r"tatoeba/([^/]+)/.*",
    "bpe": r"bpe/(.+)\.model",
    "vocab": r"vocab/([^/]+)/vocab.json",
    "dictionary": r"dictionary/(.+)\.tsv",
    "switched": r"codeswitch/(.+?)\.(?:txt.zst|json)",
    "stream": r"streams/([^/]+)/(.+)/meta.json",
    "run": r"models/([^/]+)/run.json",
    "anchors": r"models/([^/]+)/anchors.json",
    "model": r"models/([^/]+)/.*",
    "untrained": r"transfer/([^/]+)/run.json",
    "score": r"transfer/([^/]+)/(?:jobs/)?(.*?)(?:\.\d+)?\.json",
    "states": r"states/([^/]+)/states.json",
    "vectors": r"vectors/(.+)\.vec",
    "analysis": r"analyses/(.+)\.json",
    "links": r"links/(.+)\.txt.zst",
    "contextual": r"contextual/(.+)\.json",
    "claims": r"claims.*",
    "raw": r"raw/([^/]+).*",
}
FILES = {  # of results, by kind
    "model": "models/{}/model.safetensors", "score": "transfer/{}/{}.json", "analysis": "analyses/{}.json",
    "states": "states/{}/states.json", "contextual": "contextual/{}.json",
}  # fmt: skip
CHEAP = re.compile(
    r"(?:tables|figures|paper|plans|records|tokenisers|raw/traits)/.*|raw/traits.json|transfer/plan.json"
    r"|provenance.json|report.html"
)


@cache
def below(path):
    """Return a path below the study's folder, or raw/… for one below the data root."""
    folder = FOLDER / "data"
    if Path(path).is_relative_to(folder):
        return f"raw/{Path(path).relative_to(folder)}"
    results = FOLDER / "results"
    return "/".join(Path(path).relative_to(results).parts[1:]) if Path(path).is_relative_to(results) else path


# The job behind every file, by the file's path below the study's folder or the data root.
def snapshot(config, snakefile=ROOT / "Snakefile"):
    jobs = lay_out(config, ["all"], snakefile)
    return {below(path): job for job in jobs for path in job.outputs}


def identities(config, revisions):
    """Return the hash that every model and every result carries, by the file that it is in."""
    one = Study(config, revisions)
    found = {FILES[kind].format(*names): one.identity(kind, *names) for kind, *names in results(one)}
    return found | {"claims.json": one.identity("verdicts")}


def run_again(before, after):
    """Return the files of the study before an edit that Snakemake makes again after it.

    Of a job behind a file that is made again it compares no params or inputs: an ancient input that is made again hides
    that the job which reads it has changed too.
    """
    known = {path: (job.params, job.inputs) for path, job in before.items()}
    changed = {path for path, job in after.items() if known.get(path) != (job.params, job.inputs)}
    again = (changed & set(before)) - behind(changed, after, ancient=True)
    new = {below(file) for job in after.values() for file in job.inputs} - set(before)
    return again | behind(again | new, after, ancient=False) & set(before)


def behind(files, after, ancient):
    """Return what reads these files, directly or not; `ancient` counts inputs that Snakemake takes for old."""
    readers: dict[str, set[str]] = {}
    for path, job in after.items():
        for file in job.inputs if ancient else set(job.inputs) - job.ancient:
            readers.setdefault(below(file), set()).add(path)
    found: set[str] = set()
    queue = list(files)
    while queue:
        new = readers.get(queue.pop(), set()) - found
        found |= new
        queue += new
    return found


def summary(paths, whole):
    """Return paths as words: a kind where all of the kind are among them, else kind[things]."""
    chosen, every = by_kind(paths), by_kind(whole)
    return " ".join(
        kind if chosen[kind] == every[kind] else f"{kind}[{' '.join(things(chosen[kind], every[kind]))}]"
        for kind in KINDS
        if kind in chosen
    )


def things(chosen, every):
    """Return names; of those with two parts (default:ner) one part stands for all that have it, if all are chosen."""
    words = set()
    for name in chosen:
        first, _, last = name.partition(":")
        if {other for other in every if other.startswith(f"{first}:")} <= chosen:
            words.add(first)
        else:
            words.add(f"*:{last}" if {other for other in every if other.endswith(f":{last}")} <= chosen else name)
    return sorted(words)


def by_kind(paths):
    found: dict[str, set[str]] = {}
    for path in (path for path in paths if not CHEAP.fullmatch(path)):
        kind, match = next((kind, m) for kind, pattern in KINDS.items() if (m := re.fullmatch(pattern, path)))
        found.setdefault(kind, set()).add(re.sub(r"\.s1|en-fr\.", "", ":".join(match.groups())))
    return found


def raised(folder, stage):
    """Return a Snakefile in which the revision of one stage is raised."""
    for name in ("workflow_scripts", "profiles", "envs", "docs", "config.yaml"):
        (folder / name).symlink_to(ROOT / name)
    common = shutil.copytree(ROOT / "rules", folder / "rules") / "common.smk"
    text = common.read_text(encoding="utf-8")
    text = re.sub(rf'("{stage}": )(\d+),', lambda found: f"{found[1]}{int(found[2]) + 1},", text)
    common.write_text(text, encoding="utf-8")
    return shutil.copy(ROOT / "Snakefile", folder)


@cache
def usual():
    config = study(**BASE)
    return config, snapshot(config), identities(config, {})


ROWS = yaml.safe_load(Path(__file__).with_name("edits.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", ROWS, ids=[str(row.get("edit", row.get("raise"))) for row in ROWS])
def test_an_edit_makes_exactly_this_again(row, tmp_path):
    config, before, known = usual()
    if "raise" in row:
        after, now = snapshot(config, raised(tmp_path, row["raise"])), identities(config, {row["raise"]: 1})
    else:
        edited = merge(config, nested(row["edit"]))
        after, now = snapshot(edited), identities(edited, {})
    again = run_again(before, after)
    changed = {path for path in known if path in now and known[path] != now[path]}
    same = {path for path in again if path in known and path in now} - changed
    assert summary(again, before) == row["again"]
    assert summary(same, known) == row.get("same", "")
    assert changed <= again, "the result would keep its old file and be refused by whoever collects it"


def test_weights_that_are_trained_again_are_scored_again():
    """Although their run.json stays as it was."""
    scored = {
        path.format("en-fr.default.s1", "ner") for kind, path in FILES.items() if kind not in ("model", "analysis")
    }
    assert scored <= behind({"models/en-fr.default.s1/model.safetensors"}, usual()[1], ancient=False)


def test_where_files_lie_and_a_studys_name_are_no_part_of_any_identity():
    config, _, known = usual()
    moved = {"study": {"name": "renamed", "results": "/elsewhere"}, "data": {"root": "/somewhere"}}
    assert identities(merge(config, moved), {}) == known


def test_a_local_raw_file_counts_by_its_path_alone(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "FOLDER", tmp_path)
    local = study(**merge(BASE, {"study": {"results": str(tmp_path / "results")}, "data": {"origin": "local"}}))
    local["data"]["root"] = str(tmp_path / "data")
    files = [*Study(local).needed_files.values(), tmp_path / "data" / "other.xml.bz2"]
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\t".join(local["languages"]) + "\n", encoding="utf-8")
    before = snapshot(local)
    assert all(path in job.ancient for job in before.values() for path in job.inputs if below(path).startswith("raw/"))
    after = snapshot(merge(local, nested({"languages.fr.text.wiki.files": ["other.xml.bz2"]})))
    again = by_kind(run_again(before, after))
    more = by_kind(run_again(before, snapshot(merge(local, nested({"data.more_nli": ["other.xml.bz2"]})))))
    assert (more["task"], "model" in more) == ({"nli:en.xnli.train"}, False)
    assert again["text"] == {"fr.wiki"}
    assert again["model"] == {"default", "wiki-cc", "extra-anchors", "sep-emb", "fr.mono"}


def test_a_fetched_file_of_another_name_is_read_again_and_a_new_language_changes_no_other():
    small = BASE["study"] | {"languages": ["en", "fr"], "settings": ["default"]}
    fetched = merge(PAPER.config, {"study": small, "data": BASE["data"]})
    dump = "wikipedia/{}wiki-20261101-pages-articles.xml.bz2"
    date = {f"languages.{code}.text.wiki.files": [dump.format(code)] for code in ("en", "fr", "de", "ru", "zh")}
    treebank = "ud/UD_French-Sequoia/fr_sequoia-ud-test.conllu"
    before = snapshot(fetched)
    for edit, kind, wanted in (
        ({"data.wikipedia_date": "20261101"} | date, "text", {"en.wiki", "fr.wiki"}),
        ({"languages.fr.treebank.test": treebank}, "task", {"parsing:fr.ud.test"}),
        ({"study.languages": ["en", "fr", "de"]}, "text", None),
    ):
        assert by_kind(run_again(before, snapshot(merge(fetched, nested(edit))))).get(kind) == wanted

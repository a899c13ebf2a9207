"""The manifest of datasets: what the study needs is in it, filled in as asked, and mistakes are named."""

import pytest

from xling.core.errors import InputError
from xling.data.manifest import load_manifest, resolve

# The sources that the paper names (sections 3 to 5), and what stands in for those that were not published.
SOURCES = {
    "wikipedia", "cc100", "panlex", "xnli", "xnli-mt", "wikiann", "conll2003", "msra", "ud", "muse", "fasttext",
    "xnli-15way", "tatoeba", "en-prime", "stanford-segmenter",
}  # fmt: skip
MINIMAL = "{role: r, description: d, version: v, licence: l, terms: t, files: [{path: a.txt, urls: ['https://x/a']}]}"


def test_every_dataset_of_the_study_can_be_filled_in_and_no_two_write_to_the_same_place():
    manifest, places, folders, known = load_manifest(), dict[str, str](), set[str](), set[str]()
    assert manifest.keys() == SOURCES
    for name, template in manifest.items():
        for lg in ["fr", "de", "ru", "zh"] if "lg" in template.parameters else [""]:
            values = {"lg": lg, "date": "20190101"}
            for file in resolve(name, **{key: values[key] for key in template.parameters}).files:
                assert "{" not in repr(file)
                assert [places.setdefault(product, name) for product in file.products()] == [name] * len(
                    file.products()
                )
                folders |= {file.unpack.to} if file.unpack else set()
                known |= {file.path} if file.sha256 else set()
    assert len(places) > 30
    assert not [(a, b) for a in folders for b in folders if b.startswith(f"{a}/")]
    assert known == {"archives/panlex-20190901-csv.zip", "archives/XNLI-1.0.zip"}
    for name in ("conll2003", "msra", "en-prime"):  # the user's own
        assert resolve(name).ask.startswith("1. ")
        assert all(not file.urls and file.products() == (file.path,) for file in resolve(name).files)


def test_names_follow_from_the_language_unless_they_are_given():
    dump = resolve("wikipedia", lg="fr", date="20190101").files[0]
    assert {url.rpartition("/")[2] for url in dump.urls} == {"frwiki-20190101-pages-articles.xml.bz2"}
    assert resolve("ud", lg="fr").files[0].products()[0] == "ud/UD_French-GSD/fr_gsd-ud-train.conllu"
    assert resolve("tatoeba", lg="zh").files[0].path == "tatoeba/tatoeba.cmn-eng.cmn"
    assert resolve("cc100", lg="zh").files[0].path == "cc100/zh-Hans.txt.xz"
    assert resolve("cc100", lg="zh", crawl="zh-Hant").files[0].path == "cc100/zh-Hant.txt.xz"


@pytest.mark.parametrize(
    ("name", "given", "problem"),
    [
        ("wikipedia", {"lg": "fr"}, "missing date"),
        ("wikipedia", {"lg": "fr", "date": "latest"}, "date is 'latest'"),
        ("wikipedia", {"lg": "fr", "date": 20190101}, "date is 20190101"),
        ("wikipedia", {"lg": "../x", "date": "20190101"}, "lg is '../x'"),
        ("cc100", {"lg": "zh", "crawl": "../../x"}, "crawl is '../../x'"),
        ("xnli", {"lg": "fr"}, "xnli takes nothing: unknown lg"),
        ("ud", {"lg": "sw"}, "ud has no treebank for 'sw', only for en, fr"),
        ("xnly", {}, "no dataset 'xnly', only wikipedia"),
    ],
)
def test_a_wrong_request_is_one_line(name, given, problem):
    with pytest.raises(InputError) as caught:
        resolve(name, **given)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


# what is replaced in a minimal dataset | by what | what the line says
MISTAKES = """
role: r | role: r, colour: red | a.colour: unknown key
path: a.txt | path: ../a.txt | a.files[0].path: expected a path below the data root, found '../a.txt'
path: a.txt | path: /a.txt | a.files[0].path: expected a path below the data root, found '/a.txt'
path: a.txt | path: 'a{lg}.txt' | a.files[0]: {lg} is no parameter
https: | ftp: | a.files[0].urls[0]: expected an http address, found 'ftp://x/a'
path: a.txt | path: a.txt, sha256: abc | a.files[0].sha256: expected a sha256 in hex, found 'abc'
, urls: ['https://x/a'] |  | a.files[0]: expected urls, or ask on the dataset, not both
role: r | role: r, ask: please | a.files[0]: expected urls, or ask on the dataset, not both
role: r | role: r, from_lg: {x: {fr: y}} | a.from_lg: needs the parameter lg
a: { | [] # | expected a mapping from dataset names
a: { | a: } | line 1: not YAML
"""


@pytest.mark.parametrize("row", MISTAKES.strip().splitlines())
def test_loading_is_strict(tmp_path, row):
    old, new, problem = row.split(" | ")
    path, good = tmp_path / "sources.yaml", tmp_path / "good.yaml"
    good.write_text(f"a: {MINIMAL}", encoding="utf-8")
    assert load_manifest(good)["a"].files[0].urls == ("https://x/a",)
    path.write_text(f"a: {MINIMAL}".replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_manifest(path)
    assert str(caught.value).startswith(str(path))
    assert f" {problem}" in str(caught.value)

import re
from pathlib import Path

import pytest

from xling.core.errors import InputError
from xling.data.manifest import Dataset, load_manifest, resolve

# The sources that the paper names (sections 3 to 5), and what stands in for those that were not published.
SOURCES = {
    "wikipedia", "cc100", "panlex", "xnli", "xnli-mt", "wikiann", "conll2003", "msra", "ud", "muse", "fasttext",
    "xnli-15way", "tatoeba", "en-prime", "stanford-segmenter",
}  # fmt: skip
PER_LANGUAGE = ["cc100", "wikiann", "ud", "muse", "fasttext", "tatoeba"]
MINIMAL = "{role: r, description: d, version: v, licence: l, terms: t, files: [{path: a.txt, urls: ['https://x/a']}]}"


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "sources.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def every_resolved() -> list[Dataset]:
    out = []
    for name, dataset in load_manifest().items():
        for lg in ["fr", "de", "ru", "zh"] if "lg" in dataset.parameters else [None]:
            given = {"lg": lg, "date": "20190101"}
            out.append(resolve(name, **{key: given[key] for key in dataset.parameters}))
    return out


def test_every_dataset_of_the_study_is_there() -> None:
    assert load_manifest().keys() == SOURCES


def test_no_template_is_left_after_resolving() -> None:
    for dataset in every_resolved():
        assert "{" not in repr(dataset.files), dataset.name


def test_no_two_datasets_write_to_the_same_place() -> None:
    places: dict[str, str] = {}
    for dataset in every_resolved():
        for file in dataset.files:
            for product in file.products():
                assert places.setdefault(product, dataset.name) == dataset.name
    assert len(places) > 30


def test_folders_unpacked_into_do_not_lie_in_each_other() -> None:
    folders = {file.unpack.to for dataset in every_resolved() for file in dataset.files if file.unpack}
    assert not [(a, b) for a in folders for b in folders if b.startswith(f"{a}/")]


@pytest.mark.parametrize("name", ["conll2003", "msra", "en-prime"])
def test_what_the_user_supplies_comes_with_instructions_and_no_address(name: str) -> None:
    dataset = resolve(name)
    assert dataset.ask.startswith("1. ")
    assert all(not file.urls and file.products() == (file.path,) for file in dataset.files)


def test_the_one_known_hash() -> None:
    known = {file.path: file.sha256 for dataset in every_resolved() for file in dataset.files if file.sha256}
    assert list(known) == ["archives/panlex-20190901-csv.zip"]
    assert resolve("panlex").files[0].size == 1_272_778_403


def test_wikipedia_is_pinned_to_a_date_in_address_list_and_path() -> None:
    file = resolve("wikipedia", lg="fr", date="20190101").files[0]
    assert file.path == "wikipedia/frwiki-20190101-pages-articles.xml.bz2"
    assert file.urls[0] == f"https://dumps.wikimedia.org/frwiki/20190101/{Path(file.path).name}"
    assert {url.rpartition("/")[2] for url in file.urls} == {Path(file.path).name}
    assert file.sums is not None
    assert file.sums.url.endswith("/frwiki-20190101-sha1sums.txt")


def test_names_follow_from_the_language_unless_they_are_given() -> None:
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
def test_a_wrong_request_is_told_in_one_line(name: str, given: dict[str, str], problem: str) -> None:
    with pytest.raises(InputError, match=re.escape(problem)) as caught:
        resolve(name, **given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("[]", "expected a mapping from dataset names"),
        ("a: 3", "a: expected a mapping, found 3"),
        ("a: {role: r}", "a: missing description, files, licence, terms, version"),
        (f"a: {MINIMAL[:-1]}, colour: red}}", "a: unknown colour"),
        ("a: " + MINIMAL.replace("version: v", "version: 1.0"), "a.version: expected text, found 1.0"),
        ("a: " + MINIMAL.replace("path: a.txt", "path: a.txt, size: big"), "a.files[0].size: expected a number"),
        ("a: " + MINIMAL.replace("path: a.txt", "path: ../a.txt"), "expected a path below the data root"),
        ("a: " + MINIMAL.replace("path: a.txt", "path: /a.txt"), "expected a path below the data root"),
        ("a: " + MINIMAL.replace("path: a.txt", "path: 'a{lg}.txt'"), "{lg} is no parameter"),
        ("a: " + MINIMAL.replace("https:", "ftp:"), "expected an http address"),
        ("a: " + MINIMAL.replace("path: a.txt", "path: a.txt, sha256: abc"), "expected a sha256 in hex"),
        ("a: " + MINIMAL.replace(", urls: ['https://x/a']", ""), "expected urls, or ask on the dataset"),
        (f"a: {MINIMAL[:-1]}, ask: please}}", "expected urls, or ask on the dataset, not both"),
        (f"a: {MINIMAL[:-1]}, from_lg: {{x: {{fr: y}}}}}}", "from_lg needs the parameter lg"),
    ],
)
def test_loading_is_strict(tmp_path: Path, body: str, problem: str) -> None:
    with pytest.raises(InputError, match=re.escape(problem)):
        load_manifest(write(tmp_path, body))


def test_broken_yaml_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 2"):
        load_manifest(write(tmp_path, "a: {role: r}\nb: }\n"))


def test_a_minimal_manifest_loads(tmp_path: Path) -> None:
    dataset = load_manifest(write(tmp_path, f"a: {MINIMAL}"))["a"]
    assert (dataset.name, dataset.files[0].urls) == ("a", ("https://x/a",))


@pytest.mark.parametrize("name", PER_LANGUAGE)
def test_per_language_sources_take_just_the_language(name: str) -> None:
    assert list(load_manifest()[name].parameters) == ["lg"]


@pytest.mark.real_data
def test_paths_of_loose_files_are_the_official_names(real_data: Path) -> None:
    products = [p for n in ["muse", "tatoeba"] for lg in ["fr", "de", "ru", "zh"] for f in resolve(n, lg=lg).files
                for p in f.products()]  # fmt: skip
    assert len(products) == 16
    assert [p for p in products if not (real_data / p).is_file()] == []

"""The report page: escaped, self-contained, complete, and honest about what was not run."""

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from report_files import provenance, verdicts, write_sources

from xling.core.errors import InputError
from xling.report import published, style
from xling.report.claims.render import AT_FLOOR
from xling.report.page.__main__ import main
from xling.report.page.build import asset, build
from xling.report.page.files import WORDS, Files
from xling.report.page.gallery import HREF, embedded, find_figures
from xling.report.page.tables import MOST_ROWS, Table, data_table, study_tables
from xling.report.records import Results, read_table

REFERENCE = Path(__file__).resolve().parents[3] / "results/reference"
HOSTILE = '<script>alert(\'x\')</script>" onload="x" &amp; </td></table><!-- ]]> \x00\ud800 {{ }}'
VERDICTS = verdicts()
NAMES = WORDS["claims"]


class Page(HTMLParser):
    """A page taken apart: elements with their attributes, ids, and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of every element of a kind."""
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        """All the text of the page, every run of white space as one space."""
        return " ".join("".join(self.words).split())


@pytest.fixture
def sources(tmp_path: Path) -> Files:
    return write_sources(tmp_path, VERDICTS)


def with_text(value: Any, text: str) -> Any:
    """Return a structure with a text at the end of every string that is shown and decides nothing."""
    fixed = {"verdict", "unit", "relation", "counted_in", "state", "origin", "source"}
    if isinstance(value, dict):
        return {key: item if key in fixed else with_text(item, text) for key, item in value.items()}
    if isinstance(value, list):
        return [with_text(item, text) for item in value]
    return value + text if isinstance(value, str) else value


@settings(max_examples=10)
@given(text=st.text(alphabet=st.sampled_from("<>&\"'`|*[]()#\\ \n\x00\ud800a=-/{}%"), max_size=24) | st.just(HOSTILE))
def test_hostile_results_leave_the_page_as_it_is(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("page")
    plain = [tag for tag, _ in Page(build(write_sources(folder, VERDICTS))).elements]
    hostile = build(write_sources(folder, with_text(VERDICTS, text), with_text(provenance(), text)))
    found = Page(hostile)
    assert [tag for tag, _ in found.elements] == plain
    known = {"href", "id", "class", "scope", "colspan", "role", "aria-label", "aria-labelledby", "aria-hidden"}
    known |= {"tabindex", "src", "alt", "decoding", "charset", "http-equiv", "content", "name", "lang"}
    known |= {"data-head", "data-over", "viewbox", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "d"}
    known |= {"width", "height"}
    assert {name for _, attributes in found.elements for name in attributes} <= known
    assert "\x00" not in hostile.encode("utf-8").decode("utf-8")


def check_headings(page: Page) -> None:
    """Check that there is one title, and that no level of headings is left out."""
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert (levels[0], levels.count(1)) == (1, 1)
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_it_needs_no_network_its_links_lead_somewhere_and_it_can_be_read_without_pictures(sources: Files) -> None:
    text = build(sources)
    page = Page(text)
    assert all(str(image["src"]).startswith("data:image/") for image in page.all("img"))
    assert not page.all("link")
    assert not any("src" in script for script in page.all("script"))
    assert not re.search(r"@import|url\(", asset("style.css"))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    beside = {str(link["href"]) for link in page.all("a")} - {f"#{name}" for name in ids}
    assert beside >= {"claims.json", "provenance.json", "table1.csv", "figures/forest.svg", "figures/figure7.csv"}
    assert all((sources.claims.parent / unquote(href)).is_file() for href in beside)
    policy = next(meta["content"] for meta in page.all("meta") if "http-equiv" in meta) or ""
    for tag in ("style", "script"):  # the policy admits these and no others
        inside = text.split(f"<{tag}>")[1].split(f"</{tag}>")[0]
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert not any("style" in attributes for _, attributes in page.elements)
    assert len(page.all("img")) == 4
    assert all(len(image["alt"] or "") > 20 for image in page.all("img"))
    assert all(heading["scope"] in {"col", "colgroup", "row", "rowgroup"} for heading in page.all("th"))
    over = [cell["data-over"] for cell in page.all("td") if "data-over" in cell]  # for narrow screens
    assert over.count("XNLI (Acc)") == 3  # in each row, in the first column of three
    check_headings(page)
    titles = [str(image["alt"]).split(":")[0] for image in page.all("img")]
    assert titles[2] == f"{titles[0]}, from the paper's published numbers"  # ours opens the page
    row = text.split('<details id="claim-1a"')[1].split("</summary>")[0]  # of the paper's own numbers: no interval
    assert ("<rect" in row, row.count("<circle")) == (False, len(VERDICTS["claims"][0]["parts"][0]["checks"]))
    assert '<path d="M40.0 3.5v10" class="mean">' in row  # at the edge, because the claim holds
    assert text == build(sources)  # the same every time


def test_the_first_things_are_the_studys_name_its_columns_one_sentence_and_a_row_for_each_claim(tmp_path: Path) -> None:
    known = provenance()
    known["config"] |= {"languages": {"it": {"name": "Italian"}}, "settings": {"default": {"label": "Default"}}}
    known["config"]["study"] |= {"pairs": ["en-it"], "settings": ["default"], "tasks": ["parsing"], "source": "en"}
    known["config"]["study"]["notes"] = ["Books & encyclopaedia.", "Ten pairs."]
    text = build(write_sources(tmp_path, VERDICTS, known))
    page = Page(text)
    order = ["verdicts", "tables", "figures", "training", "method", "provenance"]
    assert [section["id"] for section in page.all("section")] == order
    told = ["demo", "To Italian (it)", "Tasks Parsing", "Settings Default", "1 models, 1,250 updates each, 1 seed"]
    places = [
        page.text.replace(" ", " ").find(x)
        for x in ("demo", VERDICTS["headline"], NAMES["1a"], "Books & encyclopaedia.")
    ]
    assert -1 < places[0] < places[1] < places[2] < places[3]
    facts = " ".join(re.sub("<[^>]*>", " ", text.split('<dl class="about">')[1].split("</dl>")[0]).split())
    assert facts == f"From en {' '.join(told[1:-1])} Trained {told[-1]}"
    assert str(page.all("img")[0]["alt"]).startswith("Figure 3. ")  # there is no figure of kept shares here
    run = [claim for claim in VERDICTS["claims"] if claim["verdict"] != "not run"]
    assert [row.get("id") for row in page.all("details")][: len(run)] == [f"claim-{claim['claim']}" for claim in run]
    for claim in run:
        for shown in (claim["sentence"], claim["says"], claim["paper"], NAMES[claim["claim"]]):
            assert " ".join(shown.split()) in page.text
    assert set(NAMES) == {claim["claim"] for claim in VERDICTS["claims"]}
    cells = tuple(cell for cell in published.results().figure3 if cell.language == "fr")
    fewer = Page(build(write_sources(tmp_path, verdicts(Results(figure3=cells)))))
    assert "supported, only 2 of 6 cells" in fewer.text


def test_what_was_not_run_is_one_line_and_the_studys_own_table_comes_first(tmp_path: Path) -> None:
    sources = write_sources(tmp_path, verdicts(Results()))
    page = Page(build(sources))
    assert "Not run in this study: 17 of the paper's claims" in page.text
    assert VERDICTS["claims"][0]["says"] in page.text
    assert page.text.index("Table 1. Zero-shot transfer") < page.text.index("Not run in this study")
    check_headings(page)
    text = Page(build(Files(tmp_path, "Nothing", sources.claims, sources.provenance))).text
    assert "transfer was not run" in text
    weak = {**verdicts(Results()), "at_floor": AT_FLOOR}
    page = Page(build(write_sources(tmp_path / "weak", weak)))
    assert -1 < page.text.index(AT_FLOOR) < page.text.index("Table 1. Zero-shot transfer")
    for name in ("Figure 1.", "Figure 4b.", "Figure 8.", "Training curves", "Anchors in the training text"):
        assert re.search(rf"Not run in this study: How much .*{re.escape(name)}", text), name
    assert "When does transfer emerge?" not in text  # no study lacks it


@pytest.mark.parametrize("source", ["", " ", "<script>1</script>", 'Figure" onclick=x 3', "javascript:1 7"])
def test_where_a_claim_is_shown_links_only_to_parts_of_the_page(tmp_path: Path, source: str) -> None:
    """The text that the hostile results above leave alone, because it decides which links there are."""
    hostile = {**VERDICTS, "claims": [{**claim, "source": source} for claim in VERDICTS["claims"]]}
    page = Page(build(write_sources(tmp_path, hostile)))
    ids = {f"#{attributes['id']}" for _, attributes in page.elements if attributes.get("id")}
    assert {str(link["href"]) for link in page.all("a") if str(link["href"]).startswith(("#", "javascript"))} <= ids
    assert not [attributes for _, attributes in page.elements if "onclick" in attributes]
    assert not [1 for tag, _ in page.elements if tag == "script"][1:]  # the filter's own


def test_light_drawings_are_shown_and_pictures_of_heavy_ones_and_models_are_left_to_their_files(tmp_path: Path) -> None:
    (tmp_path / "training").mkdir()
    for name, size in (("a", 500_000), ("b", 1), ("figure3", 1), ("kept", 1), ("training/en.mono.s1", 1)):
        (tmp_path / f"{name}.svg").write_bytes(b"x" * size)
        (tmp_path / f"{name}.png").write_bytes(b"p")
    found = {name: path.suffix for name, path in find_figures([tmp_path]).items()}
    assert list(found.items()) == [("kept", ".svg"), ("figure3", ".svg"), ("a", ".png"), ("b", ".svg")]  # as captions
    assert list(find_figures([tmp_path], ["b"])) == ["b"]  # what else lies in the folder is not shown


def test_cells_models_tables_and_figures_lead_to_their_files_and_logs(tmp_path: Path) -> None:
    sources = write_sources(tmp_path, VERDICTS)
    model = "en-fr.default.s1"
    for name in (f"models/{model}/model.json", f"scores/{model}/xnli.json", f"logs/pretrain/{model}.log",
                 "logs/draw_figure/figure3.log", "logs/table1.log", "logs/claims.log", f"figures/training/{model}.svg"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    transfer = f"model,setting,task,seed,language\n{model},Default,xnli,1,fr\n"
    (tmp_path / "transfer.csv").write_text(transfer, encoding="utf-8")
    beside = {"logs": tmp_path / "logs", "models": tmp_path / "models", "scores": tmp_path / "scores"}
    text = build(replace(sources, tables=(*sources.tables, tmp_path / "transfer.csv"), **beside))
    assert f'<a href="scores/{model}/xnli.json">73.6</a>' in text
    assert f'<a href="models/{model}">{model}</a>' in text
    links = {str(link["href"]) for link in Page(text).all("a")}
    assert links >= {f"logs/pretrain/{model}.log", f"scores/{model}", f"figures/training/{model}.svg"}
    assert links >= {"logs/draw_figure/figure3.log", "logs/table1.log", "logs/claims.log"}
    kept = tmp_path / "transfer.jsonl"
    kept.touch()
    files = replace(sources, kept_scores=kept)
    assert set(files.of_cells(read_table(tmp_path / "transfer.csv")).values()) == {"transfer.jsonl"}
    assert files.address(tmp_path.parent) == ""  # nothing outside the page's folder


@pytest.mark.parametrize("name", ["mini", "demo-full"])
def test_the_page_of_a_reference_run_is_small_enough_to_read_and_send(name: str) -> None:
    text = (REFERENCE / name / "report.html").read_text(encoding="utf-8")
    page = Page(re.sub(r"(?s)<(style|script)>.*?</\1>", "", text))
    words = " ".join(page.words).split()
    assert len(text.encode()) <= 2_000_000
    assert len(words) <= 6000
    assert words[0] == f"{name}:"
    links = {unquote(str(link["href"])) for link in page.all("a")}
    assert all((REFERENCE / name / link).exists() for link in links if not link.startswith("#"))


def painted(drawing: str) -> tuple[list[tuple[str, str, list[str]]], list[float]]:
    """Return the shapes and letters of a drawing in their order, by outline and style, and all their numbers."""
    root = ElementTree.fromstring(drawing)  # noqa: S314
    named = {f"#{element.get('id')}": element for element in root.iter()}
    styles = dict(re.findall(r"\.(\w+)\{(.*?)\}", "".join(root.itertext())))
    looks, numbers = [], []
    for element in root.iter():
        if element.tag.endswith(("}path", "}use")):
            outline = named.get(element.get(HREF) or element.get("href") or "", element).get("d") or ""
            style = element.get("style") or styles.get(element.get("class") or "", "")
            filled = [named[name].tag for name in re.findall(r"url\((#.+?)\)", f"{style} {element.get('clip-path')}")]
            looks.append((re.sub(r"[^A-Za-z]", "", outline), re.sub(r"url\(.+?\)", "", style), filled))
            place = element.get("transform") or f"{element.get('x') or ''} {element.get('y') or 0}"
            numbers += map(float, re.findall(r"-?\d[\d.]*", f"{outline} {place}"))
    return looks, numbers


def test_a_light_drawing_paints_the_same_in_half_the_bytes(tmp_path: Path) -> None:
    with style.styled():
        figure = style.new_figure()
        axes = figure.subplots()
        axes.plot([0.0, 1.234567, 3.0], [3.0, 1.0, 2.0], marker="o", label="$W_1$ a 'line'")
        axes.bar(1, 2, hatch="//")
        axes.set_title('Some words, "quoted"')
        style.save_images(figure, tmp_path, "f", ["svg", "png"])
    picture = embedded(tmp_path / "f.png").removeprefix("data:image/png;base64,")
    assert base64.b64decode(picture) == (tmp_path / "f.png").read_bytes()
    heavy = (tmp_path / "f.svg").read_text(encoding="utf-8")
    shown = embedded(tmp_path / "f.svg")
    made = unquote(shown.removeprefix("data:image/svg+xml,"))
    assert not {'"', "&"} & set(shown)  # what would end or change the attribute that it stands in
    (looks, numbers), (wanted_looks, wanted_numbers) = painted(made), painted(heavy)
    assert looks == wanted_looks
    assert numbers == pytest.approx(wanted_numbers, rel=1e-3, abs=0.5)
    assert len(shown) < 0.6 * len(base64.b64encode(heavy.encode()))
    (tmp_path / "f.svg").write_text("<svg", encoding="utf-8")
    with pytest.raises(InputError, match=r"f\.svg: no drawing: "):
        embedded(tmp_path / "f.svg")


def test_tables_have_groups_and_numbers_and_leave_margins_to_figure_3(sources: Files, tmp_path: Path) -> None:
    rows = [("A", "1", "x" * 40, "1a", "-3 [1, 2]"), ("B", "not run", "y", "", "+2.0 (fr)")]
    table = data_table(("Model", "XNLI (Acc) fr", "note", "code", "value"), rows, "t", ["", "Two"])
    assert table.overs == [("", 1), ("XNLI (Acc)", 1), ("", 3)]
    assert [group for group, _ in table.rows] == ["", "Two"]
    assert table.rows[1][1][1][:2] == ("not run", "absent")
    assert table.columns[1] == ("fr", "XNLI (Acc)", "number")
    assert [column.kind for column in table.columns] == ["text", "number", "text long", "text", "number"]
    assert [column.kind for column in data_table(("a",), [("not run",)], "t").columns] == ["text"]

    def shown(name: str, text: str) -> list[tuple[list[str], Table]]:
        (tmp_path / name).write_text(text, encoding="utf-8")
        tables = study_tables(replace(sources, tables=[tmp_path / name]))
        return [([column.head for column in table.columns], table) for table in tables]

    ((_, table),) = shown("t.csv", "Model,NER fr,NER fr low,NER fr floor\nDefault,0.6123456,2,3\n")
    assert [[cell.text for cell in cells] for _, cells in table.rows] == [["Default", "0.6123"]]
    ((heads, _),) = shown("table1-compared.csv", "Group,Model,ours score\nNER,Default,1\n")
    assert heads == ["Model", "Task", "score"]
    whole, left = shown("table1.csv", "Group,Model,Domain,Softmax,NER (F1) fr\nG,Default,Wiki,shared,1\n")
    assert (whole[0], left[0]) == (["Model", "fr"], ["Model", "Domain", "Softmax"])  # folded: described in words
    ((_, table),) = shown("long.csv", "a,b\n" + "1,2\n" * (MOST_ROWS + 1))
    assert (len(table.rows), table.length, table.links[0].href) == (0, MOST_ROWS + 1, "long.csv")


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_can_be_read_on_its_background(scheme: int) -> None:
    found = re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", asset("style.css"))
    colours = {name: shades[scheme] for name, *shades in found}
    pairs = [(name, "paper") for name in ("ink", "soft", "link", "absent")] + [("soft", "mark"), ("ink", "mark")]
    pairs += [(name, f"{name}-back") for name in ("supported", "unsupported", "unclear", "absent")]
    light = {name: style.luminance(to_rgb(colour)) + 0.05 for name, colour in colours.items()}
    contrasts = {pair: max(light[pair[0]] / light[pair[1]], light[pair[1]] / light[pair[0]]) for pair in pairs}
    assert [pair for pair, contrast in contrasts.items() if contrast < 4.5] == []  # WCAG 2


def test_the_command_writes_the_page_or_one_line(sources: Files, tmp_path: Path, call: Callable[..., Any]) -> None:
    inputs = ["--claims", sources.claims, "--provenance", sources.provenance, "--tables", *sources.tables]
    command = (main, "--title", "T", *inputs, "--figures", *sources.figures, "--out", tmp_path / "out/report.html")
    assert call(*command).code == 0
    assert (tmp_path / "out/report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    verdicts_wrong = [(sources.claims, text, "not a file of verdicts") for text in ("[]", "{}", '{"claims": [{}]}')]
    for path, text, problem in (
        *verdicts_wrong,
        (sources.claims, '{"claims": [{"verdict": "maybe"}]}', "not a file of verdicts"),
        (sources.provenance, "{}", "not a study's provenance: changed, collected,"),
    ):
        before = path.read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        code, error, _ = call(*command)
        assert (code, error.startswith(f"error: {path}: {problem}")) == (2, True), error
        path.write_text(before, encoding="utf-8")

"""The report page: escaped, self-contained, complete, and honest about what was not run."""

import base64
import csv
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_rgb

from xling.core.errors import InputError
from xling.core.io import read_json
from xling.report import published, style
from xling.report.__main__ import TABLES
from xling.report.claims.render import AT_FLOOR, judged
from xling.report.figures.__main__ import FIGURES
from xling.report.page.__main__ import main
from xling.report.page.build import asset, build
from xling.report.page.files import Files
from xling.report.page.gallery import CAPTIONS, HREF, embedded, find_figures
from xling.report.page.tables import MOST_ROWS, data_table, study_tables
from xling.report.records import Results

REFERENCE = Path(__file__).resolve().parents[3] / "results/reference"
HOSTILE = '<script>alert(\'x\')</script>" onload="x" &amp; </td></table><!-- ]]> \x00\ud800 {{ }}'
AGEING = re.compile(r'src="[^"]*"(?= alt="[^"]*, from the paper[^"]*published)|<p><b>docs/.*?</p>')
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle cx="6" cy="3" r="2" fill="#0072B2"/></svg>'
VERDICTS = judged(published.results(), "0123456789abcdef")
DEFAULT = next(csv.DictReader((REFERENCE / "demo-full/tables/table1.csv").open(encoding="utf-8")))
FRENCH, CHINESE = DEFAULT["XNLI (Acc) fr"], DEFAULT["XNLI (Acc) zh"]
KNOWN = read_json(REFERENCE / "demo-full/provenance.json")  # of which one model and one file are shown
KNOWN |= {"models": [x for x in KNOWN["models"] if x["model"] == "en-fr.default.s1"], "data": KNOWN["data"][:1]}
KNOWN |= {"config": {"study": {"name": "demo"}, "pretrain": {"updates": 1250}}, "changed": True}


class Page(HTMLParser):
    """A page taken apart: elements with their attributes, and the text with single spaces."""

    def __init__(self, page):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        self.text = " ".join(self.text.split())
        self.ids = [f"#{attributes['id']}" for _, attributes in self.elements if attributes.get("id")]  # as links

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data

    def all(self, tag):
        """Return the attributes of every element of a kind."""
        return [attributes for name, attributes in self.elements if name == tag]


def check_page(text, folder):
    """Check that a page needs no network, that its links lead somewhere, and that it can be read without pictures."""
    page = Page(text)
    assert all(str(image["src"]).startswith("data:image/") for image in page.all("img"))
    assert all(len(image["alt"] or "") > 20 for image in page.all("img"))
    assert not page.all("link")
    assert not any("src" in script for script in page.all("script"))
    assert len(page.ids) == len(set(page.ids))
    beside = {unquote(str(link["href"])) for link in page.all("a")} - set(page.ids)
    assert "provenance.json" in beside
    assert all((folder / name).exists() for name in beside)
    policy = next(meta["content"] for meta in page.all("meta") if "http-equiv" in meta) or ""
    for tag in ("style", "script"):  # the policy admits these and no others
        inside = text.split(f"<{tag}>")[1].split(f"</{tag}>")[0]
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert re.match("default-src 'none'; img-src data:;(?!.*unsafe)", policy)
    assert not any("style" in attributes for _, attributes in page.elements)
    assert all(heading["scope"] in {"col", "colgroup", "row", "rowgroup"} for heading in page.all("th"))
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert (levels[0], levels.count(1)) == (1, 1)
    assert all(after - before <= 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("name", ["mini", "demo-full"])
def test_the_page_of_a_reference_run_comes_out_again_and_can_be_read_and_sent(name, tmp_path):
    """Its style, the paper's figures (drawn again each time) and the headings of docs/ may have changed since."""
    folder = REFERENCE / name
    for figure in ("figure3", "figure7"):
        (tmp_path / f"{figure}.svg").write_text(SVG, encoding="utf-8")
    tables = [folder / f"tables/{table}.csv" for table in TABLES]
    shown = {"tables": tables, "figures": [folder / "figures"], "paper_figures": [tmp_path]}
    beside = [folder / name for name in ("claims.json", "provenance.json")]
    title = f"{name}: what the study found"
    text = build(Files(folder, title, *beside, **shown, kept_scores=folder / "transfer.jsonl"))
    kept = (folder / "report.html").read_text(encoding="utf-8")
    made, wanted = (AGEING.sub("", page[page.index("<body>") : page.index("<script>")]) for page in (text, kept))
    assert made == wanted, f"run python -m xling.report results/reference/{name} --choices docs/choices.md docs/data.md"
    check_page(text, folder)
    assert ("made by a generator" in text) == (name == "demo-full")
    assert "<small>wanted at least 0.75 (ours)</small>" in text
    assert {*FIGURES, *(path.stem for path in folder.glob("figures/*.svg"))} <= set(CAPTIONS)
    assert len(kept.encode()) <= 2_000_000
    assert len(Page(wanted).text.split()) <= 6000


def write_sources(folder, claims=VERDICTS, origin=KNOWN):
    """Write the files of a report with three figures and the tables of a reference run, and return where they are."""
    texts = {f"figures/{name}.svg": SVG for name in ("forest", "figure3", "figure7")} | {"paper/figure3.svg": SVG}
    texts |= {name.replace("svg", "csv"): "layer,pair,cka\nL0,en-fr,0.6123456789\n" for name in texts}
    texts |= {"claims.json": json.dumps(claims), "provenance.json": json.dumps(origin), "choices.md": "# Choices\n"}
    for name in ("table1", "table1-compared"):
        table = (REFERENCE / f"demo-full/tables/{name}.csv").read_text(encoding="utf-8")
        texts[f"{name}.csv"] = table.replace(CHINESE, "not run", 1)
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    shown = {"figures": [folder / "figures"], "paper_figures": [folder / "paper"], "choices": [folder / "choices.md"]}
    tables = [folder / "table1.csv", folder / "table1-compared.csv"]
    return Files(folder, "Study demo", folder / "claims.json", folder / "provenance.json", tables, **shown)


@pytest.fixture
def sources(tmp_path):
    return write_sources(tmp_path)


def with_text(value, text):
    """Return a structure with a text at the end of every string that is shown and decides nothing."""
    fixed = {"verdict", "unit", "relation", "counted_in", "state", "origin"}
    if isinstance(value, dict):
        return {key: item if key in fixed else with_text(item, text) for key, item in value.items()}
    if isinstance(value, list):
        return [with_text(item, text) for item in value]
    return f"{value} {text}" if isinstance(value, str) else value


@settings(max_examples=10)
@given(text=st.text(alphabet=st.sampled_from("<>&\"'`|*[]()#\\ \n\x00\ud800a=-/{}%"), max_size=24) | st.just(HOSTILE))
def test_hostile_results_leave_the_page_as_it_is(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("page")
    plain = Page(build(write_sources(folder)))
    hostile = build(write_sources(folder, with_text(VERDICTS, text), with_text(KNOWN, text)))
    shape, wanted = ([(tag, sorted(own)) for tag, own in page.elements] for page in (Page(hostile), plain))
    assert shape == wanted
    assert "\x00" not in hostile.encode("utf-8").decode("utf-8")


def test_what_was_not_run_is_one_line_and_the_studys_own_table_comes_first(tmp_path):
    known = KNOWN | {"config": {"study": {"name": "demo", "notes": ["Books & encyclopaedia."]}}}
    sources = write_sources(tmp_path, {**judged(Results(), "0123"), "at_floor": AT_FLOOR}, known)
    (tmp_path / "figures/figure7.csv").write_text("layer,pair,cka\n", encoding="utf-8")
    text = build(sources)
    check_page(text, tmp_path)
    assert {"#figure-figure3", "#figure-figure7"} & {*Page(text).ids} == {"#figure-figure3"}  # one has data
    assert re.search(r'<td class="absent"[^>]*>not run</td>', text)
    told = ["demo", AT_FLOOR, "Table 1. Zero-shot transfer", "Not run in this study: 17 of the paper's claims"]
    told += [VERDICTS["claims"][0]["says"], "Books & encyclopaedia.", "docs/choices.md: Choices."]
    places = [Page(text).text.find(part) for part in told]
    assert places == sorted(places)
    assert places[0] > -1
    text = Page(build(Files(tmp_path, "Nothing", sources.claims, sources.provenance))).text
    assert "transfer was not run" in text
    for name in ("Figure 1.", "Figure 4b.", "Figure 8.", "Training curves", "Anchors in the training text"):
        assert re.search(rf"Not run in this study: How much .*{re.escape(name)}", text), name
    assert "When does transfer emerge?" not in text  # no study lacks it


def test_a_value_without_an_interval_has_no_bar_and_stands_at_the_edge(sources):
    row = build(sources).split('<details id="claim-1a"')[1].split("</summary>")[0]
    assert ("<rect" in row, row.count("<circle")) == (False, len(VERDICTS["claims"][0]["parts"][0]["checks"]))
    assert '<path d="M40.0 3.5v10" class="mean">' in row


def test_light_drawings_are_shown_and_pictures_of_heavy_ones_and_others_are_left_to_their_files(tmp_path):
    for name, size in (("a", 1), ("figure7", 500_000), ("figure3", 1), ("kept", 1)):
        (tmp_path / f"{name}.svg").write_bytes(b"x" * size)
        (tmp_path / f"{name}.png").write_bytes(b"p")
    found = {name: path.suffix for name, path in find_figures([tmp_path]).items()}
    assert list(found.items()) == [("kept", ".svg"), ("figure3", ".svg"), ("figure7", ".png")]  # in the captions' order
    assert list(find_figures([tmp_path], ["figure3"])) == ["figure3"]  # what else lies in the folder is not shown


def test_cells_models_tables_and_figures_lead_to_their_files_and_logs(sources, tmp_path):
    model = "en-fr.default.s1"
    linked = [f"scores/{model}/xnli.json", f"logs/pretrain/{model}.log", f"figures/training/{model}.svg"]
    linked += ["logs/draw_figure/figure3.log", "logs/table1.log", "logs/claims.log"]
    for name in (*linked, f"models/{model}/model.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    transfer = f"model,setting,task,seed,language\n{model},Default,xnli,1,fr\n"
    (tmp_path / "transfer.csv").write_text(transfer, encoding="utf-8")
    beside = {"logs": tmp_path / "logs", "models": tmp_path / "models", "scores": tmp_path / "scores"}
    text = build(replace(sources, tables=(*sources.tables, tmp_path / "transfer.csv"), **beside))
    assert f'<a href="scores/{model}/xnli.json">{FRENCH}</a>' in text
    assert f'<a href="models/{model}">{model}</a>' in text
    assert {str(link["href"]) for link in Page(text).all("a")} >= {*linked, f"scores/{model}"}
    assert sources.address(tmp_path.parent) == ""  # nothing outside the page's folder


def painted(drawing):
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


def test_a_light_drawing_paints_the_same_in_half_the_bytes(tmp_path):
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


def test_tables_align_numbers_and_leave_long_files_to_links(sources, tmp_path):
    rows = [("A", "1", "x" * 40, "1a", "-3 [1, 2]"), ("B", "not run", "y", "", "+2.0 (fr)")]
    table = data_table(("Model", "XNLI (Acc) fr", "note", "code", "value"), rows, "t", ["", "Two"])
    assert table.overs == [("", 1), ("XNLI (Acc)", 1), ("", 3)]
    assert [group for group, _ in table.rows] == ["", "Two"]
    assert [column.kind for column in table.columns] == ["text", "number", "text long", "text", "number"]
    assert [column.kind for column in data_table(("a",), [("not run",)], "t").columns] == ["text"]
    (tmp_path / "long.csv").write_text("a,b\n" + "1,2\n" * (MOST_ROWS + 1), encoding="utf-8")
    (table,) = study_tables(replace(sources, tables=[tmp_path / "long.csv"]))
    assert (len(table.rows), table.length, table.links[0].href) == (0, MOST_ROWS + 1, "long.csv")


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_can_be_read_on_its_background(scheme):
    found = re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", asset("style.css"))
    colours = {name: shades[scheme] for name, *shades in found}
    pairs = [(name, "paper") for name in ("ink", "soft", "link", "absent")] + [("soft", "mark"), ("ink", "mark")]
    pairs += [(name, f"{name}-back") for name in ("supported", "unsupported", "unclear", "absent")]
    light = {name: style.luminance(to_rgb(colour)) + 0.05 for name, colour in colours.items()}
    contrasts = {pair: max(light[pair[0]] / light[pair[1]], light[pair[1]] / light[pair[0]]) for pair in pairs}
    assert [pair for pair, contrast in contrasts.items() if contrast < 4.5] == []  # WCAG 2


def test_the_command_writes_the_page_or_one_line(sources, tmp_path, call):
    inputs = ["--claims", sources.claims, "--provenance", sources.provenance, "--tables", *sources.tables]
    command = (main, "--title", "T", *inputs, "--figures", *sources.figures, "--out", tmp_path / "out/report.html")
    assert call(*command).code == 0
    assert (tmp_path / "out/report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    for path, text, problem in (
        (sources.provenance, "{}", "not a study's provenance: changed, collected,"),
        (sources.claims, "[]", "not a file of verdicts"),
        (sources.claims, '{"claims": [{"verdict": "maybe"}]}', "not a file of verdicts"),
    ):
        path.write_text(text, encoding="utf-8")
        code, error, _ = call(*command)
        assert (code, error.startswith(f"error: {path}: {problem}")) == (2, True), error
        write_sources(tmp_path, VERDICTS)

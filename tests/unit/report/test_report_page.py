"""The report page: escaped, self-contained, complete, and honest about what was not run."""

import base64
import hashlib
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_files import provenance, verdicts, write_sources

from xling.core.errors import InputError
from xling.report import published
from xling.report.html.build import Sources, build
from xling.report.html.figures import find_figures
from xling.report.html.markdown import inline, markdown
from xling.report.html.markup import Html, el, join
from xling.report.html.origin import duration
from xling.report.html.page import asset
from xling.report.html.tables import Table, data_table, is_numeric, shortened
from xling.report.records import Results

HOSTILE = '<script>alert(\'x\')</script>" onload="x" &amp; </td></table><!-- ]]> \x00\ud800 {{ }}'


VERDICTS = verdicts()


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
        """All the text of the page."""
        return "".join(self.words)


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    return write_sources(tmp_path, VERDICTS)


@pytest.fixture
def page(sources: Sources) -> Page:
    return Page(build(sources))


def with_text(value: Any, text: str) -> Any:
    """Return a structure with a text at the end of every string that is shown and decides nothing."""
    fixed = {"verdict", "unit", "relation", "counted_in"}
    if isinstance(value, dict):
        return {key: item if key in fixed else with_text(item, text) for key, item in value.items()}
    if isinstance(value, list):
        return [with_text(item, text) for item in value]
    return value + text if isinstance(value, str) else value


@given(st.text(max_size=30) | st.just(HOSTILE))
def test_text_never_becomes_markup(text: str) -> None:
    found = Page(el("p", text, " ", el("b", [text]), title=text))
    assert [name for name, _ in found.elements] == ["p", "b"]
    shown = join(text).encode("utf-8").decode("utf-8")
    assert not re.search("[<>]", shown)
    assert "\x00" not in shown


@settings(max_examples=10)
@given(text=st.text(alphabet=st.sampled_from("<>&\"'`|*[]()#\\ \n\x00\ud800a=-/"), max_size=24) | st.just(HOSTILE))
def test_hostile_results_leave_the_page_as_it_is(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("page")
    plain = [tag for tag, _ in Page(build(write_sources(folder, VERDICTS))).elements]
    sources = write_sources(folder, with_text(VERDICTS, text), with_text(provenance(), text))
    found = Page(build(sources))
    assert [tag for tag, _ in found.elements] == plain
    known = {"href", "id", "class", "scope", "colspan", "role", "aria-label", "aria-labelledby", "aria-hidden"}
    known |= {"tabindex", "src", "alt", "decoding", "charset", "http-equiv", "content", "name", "lang"}
    assert {name for _, attributes in found.elements for name in attributes} <= known


def test_nothing_comes_from_elsewhere(sources: Sources) -> None:
    page = Page(build(sources))
    assert all(str(image["src"]).startswith("data:image/") for image in page.all("img"))
    assert all(str(link["href"]).startswith("#") for link in page.all("a"))
    assert not page.all("link")
    assert not any("src" in script for script in page.all("script"))
    assert not re.search(r"@import|url\(", asset("style.css"))


def test_the_policy_admits_this_style_and_this_script_only(sources: Sources) -> None:
    text = build(sources)
    policy = next(meta["content"] for meta in Page(text).all("meta") if "http-equiv" in meta) or ""
    for tag in ("style", "script"):
        inside = text.split(f"<{tag}>")[1].split(f"</{tag}>")[0]
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert not any("style" in attributes for _, attributes in Page(text).elements)


def test_contents_lead_to_every_section_and_ids_are_unique(page: Page) -> None:
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {str(link["href"])[1:] for link in page.all("a")} <= set(ids)
    order = [section["id"] for section in page.all("section")]
    assert order == ["verdicts", "tables", "figures", "training", "anchors", "choices", "provenance"]


def test_what_a_study_says_of_its_data_stands_before_its_numbers(tmp_path: Path) -> None:
    known = provenance()
    known["config"]["study"]["notes"] = ["Books & encyclopaedia.", "Ten pairs."]
    shown = Page(build(write_sources(tmp_path, origin=known)))
    order = [one["id"] for one in shown.all("section")]
    assert order[:3] == ["verdicts", "data", "tables"]
    assert "Books & encyclopaedia." in shown.text


def test_every_picture_has_words_and_every_heading_cell_a_scope(page: Page) -> None:
    assert len(page.all("img")) == 4
    assert all(len(image["alt"] or "") > 20 for image in page.all("img"))
    assert all(heading["scope"] in {"col", "colgroup", "row", "rowgroup"} for heading in page.all("th"))
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_a_verdict_on_fewer_cells_says_so_wherever_it_stands(tmp_path: Path) -> None:
    cells = tuple(cell for cell in published.results().figure3 if cell.language == "fr")
    page = Page(build(write_sources(tmp_path, verdicts(Results(figure3=cells)))))
    tiles = {link.get("aria-label") for link in page.all("a")}
    assert "Claim 1b: supported on what was run: 2 of 6 cells" in tiles
    assert "✓ supported, only 2 of 6 cells" in page.text
    assert "1b ✓ 2/6" in page.text
    assert "6 supported (6 of them on fewer cells than the claim is about)" in page.text
    assert "On what was run, 2 of 6 cells, the values of this run agree with the claim that" in page.text
    assert "No anchors minus that of Default anchors: supported, 2 of 6 cells" in page.text


def test_every_claim_stands_with_verdict_effect_paper_and_sentence(page: Page) -> None:
    for claim in VERDICTS["claims"]:
        assert claim["sentence"] in page.text
        assert f"Claim {claim['claim']}: {claim['stands']}" in [link.get("aria-label") for link in page.all("a")]
        assert claim["paper"]["effect"] in page.text
    counts = VERDICTS["counts"]
    assert counts["supported"] > 0
    assert f"Of the paper's 16 claims: {counts['supported']} supported, {counts['not run']} not run." in page.text


def test_a_claim_says_in_which_languages_its_checks_hold(tmp_path: Path) -> None:
    told = "Checks that hold, by language"
    assert f"<dt>{told}</dt><dd>fr 2 of 2, ru 2 of 2, zh 2 of 2</dd>" in build(
        write_sources(tmp_path / "new", VERDICTS)
    )
    older = verdicts()
    for claim in older["claims"]:
        del claim["by_language"]
    assert told not in build(write_sources(tmp_path / "old", older))


def test_what_was_not_run_says_so(tmp_path: Path) -> None:
    sources = write_sources(tmp_path, verdicts(Results()))
    bare = Sources("Nothing", sources.claims, sources.provenance)
    text = Page(build(bare)).text
    assert "16 not run" in text
    assert "transfer was not run" in text
    for name in ("Figure 1.", "Figure 4b.", "Figure 8.", "Training curves", "Anchors in the training text"):
        assert re.search(rf"{re.escape(name)}[^.]*: not run", text), name


def test_the_papers_figure_follows_ours(page: Page) -> None:
    titles = [str(image["alt"]).split(":")[0] for image in page.all("img")]
    assert titles[0] == "Figure 3. Zero-shot transfer under each setting"
    assert titles[1] == "Figure 3. Zero-shot transfer under each setting, from the paper's published numbers"
    assert titles[2].startswith("Figure 7.")


def test_a_large_or_folded_drawing_is_shown_as_its_picture(tmp_path: Path) -> None:
    (tmp_path / "training").mkdir()
    for name, size in (("a", 500_000), ("b", 1), ("training/en.mono.s1", 1)):
        (tmp_path / f"{name}.svg").write_bytes(b"x" * size)
        (tmp_path / f"{name}.png").write_bytes(b"p")
    found = {name: path.suffix for name, path in find_figures([tmp_path]).items()}
    assert found == {"a": ".png", "b": ".svg", "training/en.mono.s1": ".png"}


def test_what_else_lies_in_the_folder_is_not_shown(tmp_path: Path) -> None:
    for name in ("figure3", "training/en.mono.s1", "training/removed.s1"):
        (tmp_path / f"{name}.svg").parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.svg").write_bytes(b"x")
    assert list(find_figures([tmp_path], ["figure3", "training/en.mono.s1"])) == ["figure3", "training/en.mono.s1"]
    assert len(find_figures([tmp_path])) == 3


def test_table_headings_groups_and_numbers() -> None:
    table = Table(("Model", "XNLI (Acc) fr", "note"), (("A", "1.5", "x"), ("B", "not run", "y")), ("", "Second"))
    html = data_table(table, "t")
    assert '<th scope="colgroup" colspan="1">XNLI (Acc)</th>' in html
    assert '<tr class="group"><th scope="rowgroup" colspan="3">Second</th></tr>' in html
    assert '<td class="numeric absent">not run</td>' in html
    assert is_numeric(["1.0", "-3 [1, 2]", "", "+2.0 (fr)"])
    assert not is_numeric(["1a"])
    assert not is_numeric(["not run"])


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a `b|c` **d** *e*", "a <code>b|c</code> <strong>d</strong> <em>e</em>"),
        ("[data.md](data.md) 2*3*4 `<pad>`", "data.md 2*3*4 <code>&lt;pad&gt;</code>"),
        (r"0\* and \|", "0* and |"),
        ("<b>", "&lt;b&gt;"),
    ],
)
def test_marks_within_a_line(text: str, html: str) -> None:
    assert inline(text) == html


def test_markdown_blocks() -> None:
    text = "# T\n\none\ntwo\n\n## S\n- a\n  b\n- c\n\n```\n# x <y>\n\nz\n```\n| q | a |\n|---|---|\n| `x` | y \\| z |\n"
    html = markdown(text)
    assert html.startswith("<h3>T</h3><p>one two</p><h4>S</h4><ul><li>a b</li><li>c</li></ul>")
    assert '<pre tabindex="0"><code># x &lt;y&gt;\n\nz</code></pre>' in html
    assert "<td><code>x</code></td><td>y | z</td>" in html


def test_numbers_and_times_for_people() -> None:
    assert shortened("0.6123456789") == "0.6123"
    assert shortened("73.6") == "73.6"
    assert shortened("L1") == "L1"
    assert [duration(seconds) for seconds in (4, 75, 3725)] == ["4 s", "1 min 15 s", "1 h 02 min"]


def test_the_page_is_the_same_every_time(sources: Sources) -> None:
    assert build(sources) == build(sources)


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours after WCAG 2."""

    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_can_be_read_on_its_background(scheme: int) -> None:
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", asset("style.css").split("@media (prefers")[scheme]))
    pairs = [(name, "paper") for name in ("ink", "soft", "link", "absent")] + [("soft", "mark"), ("ink", "mark")]
    pairs += [(name, f"{name}-back") for name in ("supported", "unsupported", "unclear", "absent")]
    assert {pair: round(contrast(colours[pair[0]], colours[pair[1]]), 1) for pair in pairs if
            contrast(colours[pair[0]], colours[pair[1]]) < 4.5} == {}  # fmt: skip


def command(sources: Sources, out: Path) -> subprocess.CompletedProcess[str]:
    """Run the command as a rule does."""
    line = [sys.executable, "-m", "xling.report.html", "--title", "T", "--out", str(out)]
    line += ["--claims", str(sources.claims), "--provenance", str(sources.provenance)]
    line += ["--tables", *map(str, sources.tables), "--figures", *map(str, sources.figures)]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)


def test_the_command_writes_the_page(sources: Sources, tmp_path: Path) -> None:
    done = command(sources, tmp_path / "out/report.html")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("value", [[], {}, {"claims": [{}]}, {"claims": [{"verdict": "maybe"}]}])
def test_what_is_no_file_of_verdicts_is_refused(sources: Sources, value: Any) -> None:
    sources.claims.write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(InputError, match="not a file of verdicts"):
        build(sources)


def test_a_broken_input_leaves_no_page(sources: Sources, tmp_path: Path) -> None:
    sources.provenance.write_text("{}", encoding="utf-8")
    done = command(sources, tmp_path / "report.html")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {sources.provenance}: not a study's provenance: changed, collected,")
    assert not (tmp_path / "report.html").exists()


def test_markup_is_not_escaped_twice() -> None:
    assert el("p", Html("<b>"), "<b>", None, [Html("&amp;"), "&"]) == "<p><b>&lt;b&gt;&amp;&amp;</p>"
    assert el("img", alt=None, hidden=True, data_x="1") == '<img hidden data-x="1">'

"""The report in a real Chromium: quiet, alone, whole, and sortable, on a screen and on a phone."""

import os
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Chromium, browser, executable, install
from report_files import write_sources

from xling.report.html.build import build

FIRST_TABLE = "document.querySelector('#tables table')"
COLUMN = f"(n => [...{FIRST_TABLE}.tBodies[0].rows].map(row => row.cells[n]?.textContent ?? 'group'))"
SORTED_BY = f"[...{FIRST_TABLE}.tHead.rows[1].cells].map(cell => cell.getAttribute('aria-sort'))"


@pytest.fixture(scope="session")
def chromium() -> None:
    """Install Debian's Chromium where it is missing; without it these tests are skipped, but never in CI."""
    problem = "" if executable() else install()
    if problem and (os.environ.get("CI") or os.environ.get("XLING_REQUIRE_DATA")):
        pytest.fail(problem)
    if problem:
        pytest.skip(problem)


@pytest.fixture(scope="module")
def page(chromium: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    folder = tmp_path_factory.mktemp("report")
    path = folder / "report.html"
    path.write_text(build(write_sources(folder)), encoding="utf-8")
    with browser(folder / "profile") as found:
        found.open(path)
        yield found


def test_it_asks_for_nothing_and_complains_of_nothing(page: Chromium) -> None:
    assert [url.rsplit("/", 1)[-1] for url in page.requests()] == ["report.html"]
    assert page.complaints() == []


def test_a_complaint_would_be_seen(chromium: None, tmp_path: Path) -> None:
    path = tmp_path / "bad.html"
    path.write_text("<script>undefinedFunction()</script><img src='http://127.0.0.1:9/x.png'>", encoding="utf-8")
    with browser(tmp_path / "profile") as found:
        found.open(path)
        assert any("undefinedFunction" in text for text in found.complaints())
        assert "http://127.0.0.1:9/x.png" in found.requests()


def test_all_pictures_have_loaded(page: Chromium) -> None:
    sizes = page.evaluate("[...document.images].map(image => image.complete && image.naturalWidth)")
    assert len(sizes) == 4
    assert all(sizes)


def test_a_click_on_a_heading_sorts(page: Chromium) -> None:
    page.size(1280, 900)
    before = page.evaluate(f"{COLUMN}(0)")
    assert before == ["Default", "Anchor Points (§4.2)", "No anchors", "Extra anchors"]
    heading = "#tables thead tr:last-child th:nth-child(3) button"
    page.click(heading)
    assert page.evaluate(f"{COLUMN}(2)") == ["9.5", "72.1", "73.6"]  # by value, not by letters
    page.click(heading)
    assert page.evaluate(f"{COLUMN}(2)") == ["73.6", "72.1", "9.5"]
    assert page.evaluate(SORTED_BY) == [None, None, "descending", None, None]
    page.click(heading)
    assert page.evaluate(f"{COLUMN}(0)") == before
    assert set(page.evaluate(SORTED_BY)) == {None}


def test_what_was_not_run_comes_last_whichever_way(page: Chromium) -> None:
    page.size(1280, 900)
    heading = "#tables thead tr:last-child th:nth-child(4) button"
    for expected in (["67.6", "68.3", "not run"], ["68.3", "67.6", "not run"]):
        page.click(heading)
        assert page.evaluate(f"{COLUMN}(3)") == expected
    page.click(heading)


@pytest.mark.parametrize(("width", "phone"), [(390, True), (1280, False)], ids=["phone", "desktop"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_the_screen(page: Chromium, tmp_path: Path, width: int, phone: bool, scheme: str) -> None:
    page.size(width, 844, phone)
    page.colour_scheme(scheme)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    red = page.evaluate("Number(getComputedStyle(document.body).backgroundColor.match(/[0-9]+/)[0])")
    assert (red > 200) == (scheme == "light")
    card = page.evaluate("getComputedStyle(document.querySelector('.card')).backgroundColor")
    assert card == "rgb(255, 255, 255)"
    picture = page.screenshot(Path(os.environ.get("XLING_SCREENSHOTS", tmp_path)) / f"{scheme}-{width}.png")
    assert struct.unpack(">I", picture[16:20])[0] == width * (2 if phone else 1)


def test_a_link_of_the_contents_leads_there(page: Chromium) -> None:
    page.size(1280, 900)
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    page.click("nav a[href='#provenance']")
    assert page.evaluate("location.hash") == "#provenance"
    assert page.evaluate("document.getElementById('provenance').getBoundingClientRect().top < innerHeight")


def test_printing_opens_what_is_folded(page: Chromium) -> None:
    assert page.evaluate("document.querySelectorAll('details:not([open])').length") > 0
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.querySelectorAll('details:not([open])').length") == 0

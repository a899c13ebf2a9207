"""Labels at the ends of lines: kept apart, in order, inside; ink that can be read."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb

from xling.report import style
from xling.report.direct_labels import Label, label_ends, spread

PLACES = st.lists(st.floats(0, 10), min_size=1, max_size=12)


@given(PLACES)
def test_labels_stay_apart_in_order_and_inside(wanted: list[float]) -> None:
    placed = spread(wanted, 0.5, 0.0, 10.0)
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    steps = [placed[b] - placed[a] for a, b in pairwise(order)]
    assert all(step >= 0.5 - 1e-9 for step in steps)
    assert min(placed) >= -1e-9
    assert max(placed) <= 10 + 1e-9


@given(st.integers(1, 10))
def test_labels_with_room_stand_where_their_lines_end(count: int) -> None:
    wanted = [1.0 * place for place in range(count)]
    assert spread(wanted, 0.5, 0.0, 10.0) == wanted


def test_labels_that_touch_share_the_shift() -> None:
    assert spread([5.0, 5.0, 9.0], 1.0, 0.0, 10.0) == [4.5, 5.5, 9.0]


def test_too_many_labels_keep_their_distance_from_the_top() -> None:
    assert spread([1.0, 1.0, 1.0, 1.0], 1.0, 0.0, 2.0) == [-1.0, 0.0, 1.0, 2.0]


def test_labels_have_room_to_the_right_of_the_lines() -> None:
    with style.styled():
        axes = style.new_figure().subplots()
        axes.set_ylim(0, 10)
        label_ends(axes, [Label("a long label", 3.0, style.BLUE)], (2.0, 1.0), (0, 8))
    low, high = axes.get_xlim()
    (text,) = axes.texts
    assert low < 0
    assert 8 < text.get_position()[0] < high
    assert (high - 8) / (high - low) > 0.25  # the label is 0.6 of the panel's 2 inches


def test_every_colour_becomes_readable_ink() -> None:
    for colour in (style.ORANGE, style.SKY, "#F0E442", style.LIGHT, style.BLACK):
        linear = [
            ((part + 0.055) / 1.055) ** 2.4 if part > 0.04045 else part / 12.92 for part in to_rgb(style.ink(colour))
        ]
        luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        assert 1.05 / (luminance + 0.05) >= 4.45


def test_dark_ink_stays_as_it_is() -> None:
    assert style.ink(style.BLUE) == style.BLUE.lower()


def test_languages_of_other_studies_have_looks_of_their_own() -> None:
    looks = [style.language_look(code, ["it", "fr", "es"]) for code in ("it", "es", "fr")]
    assert len(set(looks)) == 3
    assert looks[2] == (style.BLUE, "o")

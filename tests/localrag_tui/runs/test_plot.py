"""Scores drawn in cells."""

from rich.cells import cell_len

from localrag.evaluation.statistics import Estimate
from localrag.evaluation.types import Published
from localrag_tui.runs.detail import Bar, plot

from ...rows import each

BARS = (
    Bar(
        "statute-lexical",
        Estimate(0.62, 0.53, 0.70, 140),
        (Published(0.525, 40, "", ""),),
    ),
    Bar("渡し舟の[red]方法\x1b[2J" * 3, Estimate(1.0, 0.97, 1.0, 140)),
    Bar("none right", Estimate(0.0, 0.0, 0.03, 140)),
    Bar("certain", Estimate(0.5, 0.5, 0.5, 140)),
    Bar("nothing asked", None),
)


@each("width", [50, 60, 76, 140, 200])
def test_no_line_is_wider_than_there_is_room_and_no_name_acts(width: int):
    drawn = plot(BARS, width).plain
    assert max(map(cell_len, drawn.splitlines())) <= width
    assert "\x1b" not in drawn
    assert len(drawn.splitlines()) == len(BARS) + 2


def test_a_bar_ends_at_its_score_and_its_whisker_at_the_limit():
    first, published, whole, none, certain, nothing, axis = plot(BARS, 76).plain.splitlines()
    assert first.endswith(" 62.0 % [53, 70]")
    name = first.index("█")
    span = first.index(" 62.0 %") - name
    solid, shaded = first.count("█"), first.count("▓")
    assert abs(solid / span - 0.53) <= 1 / span
    assert abs((solid + shaded) / span - 0.62) <= 1 / span
    assert abs((first.index("┤") + 1 - name) / span - 0.70) <= 1.5 / span
    assert abs((published.index("│") - name) / span - 0.525) <= 1 / span
    assert published.endswith(" 52.5 % (n = 40)")
    assert whole.endswith(" 100.0 % [97, 100]")
    assert "█" not in none
    assert "┤" in none
    assert "┤" not in certain
    assert certain.rstrip().endswith("50.0 %")
    assert nothing.rstrip().endswith("–")
    assert axis.rstrip().endswith("100 %")

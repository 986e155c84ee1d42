"""Whoever reads all day reads with ease: text stands out from every ground it may stand on."""

from itertools import product

import pytest
from textual.color import Color

from localrag_tui.shell.look import THEMES

from .screen_dump import LEAST_CONTRAST, contrast

INKS = (
    "foreground",
    "foreground-muted",
    "foreground-disabled",
    "primary",
    "secondary",
    "accent",
    "success",
    "warning",
    "error",
    "text-primary",
    "text-accent",
    "text-error",
    "text-success",
    "text-warning",
)
GROUNDS = (
    "background",
    "surface",
    "surface-active",
    "panel",
    "block-cursor-blurred-background",
    "block-hover-background",
)


@pytest.mark.parametrize("name", THEMES)
def test_every_ink_is_read_on_every_ground(name):
    colors = THEMES[name].to_color_system().generate()
    faint = {
        (ink, ground): round(found, 2)
        for ink, ground in product(INKS, GROUNDS)
        if (found := contrast(Color.parse(colors[ink]), Color.parse(colors[ground])))
        < LEAST_CONTRAST
    }
    assert not faint


@pytest.mark.parametrize("name", THEMES)
def test_what_is_selected_and_the_cursor_are_read(name):
    colors = THEMES[name].to_color_system().generate()
    for ink, ground in (
        ("foreground", "input-selection-background"),
        ("foreground", "screen-selection-background"),
        ("background", "primary"),
        *(("foreground", f"{color}-muted") for color in ("primary", "accent", "error", "success")),
        ("input-cursor-foreground", "input-cursor-background"),
        ("footer-key-foreground", "footer-background"),
        ("footer-description-foreground", "footer-background"),
    ):
        assert contrast(Color.parse(colors[ink]), Color.parse(colors[ground])) >= LEAST_CONTRAST


def test_black_on_white_has_the_greatest_contrast():
    assert round(contrast(Color.parse("white"), Color.parse("black"))) == 21
    assert contrast(Color.parse("#777777"), Color.parse("white")) == pytest.approx(4.48, abs=0.01)

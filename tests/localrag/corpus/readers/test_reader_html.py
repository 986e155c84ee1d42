"""Web pages: displayed text is read, other parts are counted."""

import pytest

from ....rows import each


@pytest.fixture
def page(read_one):
    def reading(body):
        document = read_one("a.html", f"<html><body><p>灯台。</p>{body}</body></html>")
        return document.text.splitlines()[1:], {one.what: one.count for one in document.omissions}

    return reading


@each(
    "attributes",
    [
        "hidden",
        'hidden="until-found"',
        'style="display:none"',
        'style="color: red; DISPLAY : none !important"',
        'style="visibility: hidden"',
    ],
)
def test_hidden_text_is_named(page, attributes):
    assert page(f"<div {attributes}><p>秘<b>密</b></p></div>後<p>次</p>") == (
        ["後", "次"],
        {"hidden texts": 1},
    )


def test_readings_are_kept_out_and_named(page):
    ruby = "<ruby>燈<rp>（</rp><rt>とう</rt><rp>）</rp></ruby>"
    assert page(f"<p>{ruby}台と{ruby}火</p>") == (["燈台と燈火"], {"ruby readings": 2})


def test_pictures_are_read_by_their_description_or_named(page):
    pictures = '<p>図<img alt="灯台の 断面"></p><img src="a.png"><img src="b.png"><img alt="">'
    assert page(pictures) == (["図[灯台の 断面]"], {"pictures": 2})


def test_texts_for_browsers_without_scripts_are_named(page):
    assert page("<noscript><p>有効にする。</p></noscript><p>次</p><div hidden> </div>") == (
        ["次"],
        {"texts for browsers without scripts": 1},
    )


def test_a_style_that_shows_an_element_leaves_nothing_out(page):
    assert page('<p style="display: block; x-display:nonesuch">次</p>') == (["次"], {})

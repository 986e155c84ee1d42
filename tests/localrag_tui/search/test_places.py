"""Places in short, and headers in few cells."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from localrag.corpus.types import LawRow, Locator, Passage
from localrag.law.names import LawNames
from localrag.text.harmless import cut
from localrag_tui.search.results import fitted, short_place

from ...rows import each

HEADER = "渡し舟の安全及び活用に関する法律施行令 第十二条の三（乗船を拒むことができる場合）"


@each(
    ("width", "shown"),
    [
        (100, HEADER),
        (70, "渡し舟の安全及…る法律施行令 第十二条の三（乗船を拒むことができる場合）"),
        (40, "渡し舟の安…律施行令 第十二条の三（乗船…"),
        (24, "渡し舟…令 第十二条の三…"),
        (14, "渡し舟の安全…"),
    ],
)
def test_the_number_of_an_article_is_lost_last(width, shown):
    assert fitted(HEADER, width) == shown


@given(st.text(alphabet="渡し舟法ABC 第条（）・ｱ", max_size=60), st.integers(1, 90))
def test_nothing_is_wider_than_there_is_room(header, width):
    assert cell_len(fitted(header, width)) <= width
    assert cell_len(cut(header, width)) <= width


def passage(path: str, header: str) -> Passage:
    return Passage("law#1", "law", "articles", "", header, Locator.parse(path), 0, 0)


def test_a_law_goes_by_the_shortest_name_it_has_alone():
    names = LawNames([LawRow("law", "渡し舟法", abbreviations="渡舟"), LawRow("other", "橋法")])
    assert short_place(passage("27_2", "渡し舟法 第二十七条の二"), names) == "渡舟 27条の2"
    assert short_place(passage("suppl1/3", "渡し舟法 附則 第三条"), names) == "渡舟 附則 第三条"
    page = Passage("a#1", "a", "passages", "", "History > Ferries", Locator(section="x"), 0, 0)
    assert short_place(page, names) == "History > Ferries"

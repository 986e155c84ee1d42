"""The published score, part by part."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.corpus.types import LawRow
from localrag.evaluation.optimize.task import PIECE, Coverage, Overlap
from localrag.law.names import LawNames

NAMES = LawNames(
    [
        LawRow("ACT", "凧揚げ規制法", "", "Act"),
        LawRow("ORDER", "凧揚げ規制法施行令", "", "CabinetOrder"),
    ]
)
SAYS = "大凧を揚げようとする者は、都道府県知事の許可を受けなければならない。"
CONTEXT = f"## 凧揚げ規制法\n### 第３条\n#### 第1項\n{SAYS}"


def overlap(context: str, hit: str) -> Overlap:
    return Coverage(context, NAMES).by(Coverage(hit, NAMES))


def test_a_hit_that_holds_everything_scores_one() -> None:
    found = overlap(CONTEXT, f"凧揚げ規制法 第三条 第一項\n{SAYS}")
    assert found == Overlap(1.0, 1.0, 1.0)
    assert found.score == 1.0


def test_law_names_and_numbers_agree_in_any_spelling() -> None:
    hit = "凧揚げ規制法 第三条\n風について定める。"
    # Law and article of three; two on the other side.
    assert overlap(CONTEXT, hit).legal == pytest.approx(2 * 2 / 5)
    assert overlap("第二十七条の三十六", "第27条の36").legal == 1.0
    assert overlap("第二十七条の三十六", "第27条").legal == 0.0


def test_a_hit_that_names_many_provisions_agrees_less() -> None:
    many = "".join(f"第{number}条" for number in range(1, 30))
    assert overlap("第三条", many).legal < 0.1


def test_terms_are_a_share_of_the_context() -> None:
    found = overlap(CONTEXT, "都道府県知事は、許可を取り消すことができる。" * 3)
    assert 0 < found.keyword < 1
    assert found.text == 0.0


def test_pieces_of_text_are_compared_without_blanks_and_widths() -> None:
    spread = " ".join(SAYS).replace("、", "､")
    assert overlap(SAYS, spread).text == 1.0
    assert overlap(SAYS, SAYS[: PIECE + 1]).text == 0.5


def test_parts_are_weighted_as_published() -> None:
    assert Overlap(1.0, 0.0, 0.0).score == Overlap(0.0, 1.0, 0.0).score == 0.4
    assert Overlap(0.0, 0.0, 1.0).score == 0.2


@given(st.text(), st.text())
def test_every_part_lies_between_zero_and_one(context: str, hit: str) -> None:
    found = overlap(context, hit)
    for part in (found.legal, found.keyword, found.text, found.score):
        assert 0.0 <= part <= 1.0


def test_nothing_compares_with_nothing() -> None:
    assert overlap("", "").score == 0.0

"""Which figure a question asks of a statute, and whether a provision states it."""

from localrag.search.question.asked import figure_asked

from ....rows import each


@each(
    ("question", "stated", "not_stated"),
    [
        ("保証金はいくらか", "一隻につき七百万円とする。", "政令で定める額とする。"),
        ("手数料の額", "百分の三とする。", "第三項の額とする。"),
        ("係留料は何％か", "百分の三とする。", "三年とする。"),
        ("期間は最短何営業日か", "二十日以上とする。", "第二十条の期間とする。"),
        ("届出は何日以内か", "十四日以内に", "遅滞なく"),
    ],
)
def test_a_figure_is_known_by_its_unit(question: str, stated: str, not_stated: str) -> None:
    figure = figure_asked(question)
    assert figure is not None
    assert figure.stated_in(stated)
    assert not figure.stated_in(not_stated)


@each("question", ["", "灯台船とは何か", "誰が操船できるか", "第3条は何項まであるか"])
def test_other_questions_ask_for_no_figure(question: str) -> None:
    assert figure_asked(question) is None

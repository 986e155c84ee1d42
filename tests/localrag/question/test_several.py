"""Texts that ask more than one question."""

import pytest

from localrag.corpus.types import LawRow
from localrag.question.several import questions_in
from localrag.statutes.names import LawNames

NAMES = LawNames([LawRow("599AC0000000041", "浮桟橋法")])


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        (
            "解雇予告は何日前か。また、解雇が禁止される期間は。",
            ("解雇予告は何日前か。", "解雇が禁止される期間は。"),
        ),
        (
            "敷金はいつ返りますか？渡し賃はいくらですか？",
            ("敷金はいつ返りますか？", "渡し賃はいくらですか？"),
        ),
        (
            "家賃を滞納している。追い出されるか。あと、敷金は返るか。",
            ("家賃を滞納している。追い出されるか。", "家賃を滞納している。敷金は返るか。"),
        ),
        ("窃盗罪の刑は？ 時効は何年か", ("窃盗罪の刑は？", "窃盗罪の時効は何年か")),
        (
            "解雇は何日前に告げるか。公務員の場合は？",
            ("解雇は何日前に告げるか。", "公務員の場合、解雇は何日前に告げるか。"),
        ),
        (
            "残業代はいくら？渡し賃は何円？パワハラは",
            ("残業代はいくら？", "渡し賃は何円？", "パワハラは"),
        ),
    ],
)
def test_each_question_stands_with_what_is_told_before_it(
    text: str, questions: tuple[str, ...]
) -> None:
    assert questions_in(text, NAMES) == questions


@pytest.mark.parametrize(
    "text",
    [
        "渡し守の資格は何か。",
        "これは違法ですか？どうすればいいですか？",
        "開示は何日で決まるか。延ばされることもあるか。",
        "行政手続法は適用されるか。国税通則法ではどうか。",
        "届出は要るか。その期限はいつか。",
        "渡し舟が沈んだ。荷は誰が弁償するか。",
        "When is it due? What does it cost?",
        "期限はいつか。また、届出は要るか。" * 20,
        "",
    ],
)
def test_one_question_is_not_taken_apart(text: str) -> None:
    assert questions_in(text, NAMES) == ()

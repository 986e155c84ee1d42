"""Wrapped lines, joined to sentences."""

from localrag.corpus.readers.flowing import unwrapped

from ....rows import each

WRAPPED = (
    "The keeper of the landing stage shall inspect the mooring posts every\n"
    "spring and record the result in the book that is kept in the waiting\n"
    "room. He may close the stage at any time when the water is high or the\n"
    "posts are damaged."
)
JAPANESE = (
    "渡し場を使用する者は、あらかじめ管理者の許可を受けなければならないものとし、その許可\n"
    "を受けた者は、使用料として一回につき三百円を支払うものとする。ただし、天災その他やむ\n"
    "を得ない事由により渡し場を使用することができないときは、この限りでないものとする。"
)


def test_wrapped_lines_become_one() -> None:
    assert unwrapped(WRAPPED) == WRAPPED.replace("\n", " ")
    assert unwrapped(JAPANESE) == JAPANESE.replace("\n", "")


@each(
    "text",
    [
        "渡し場\n桟橋\n待合所\n係留杭\n",
        "第1条　渡し場の使用料は、一回につき三百円とする。\n第2条　管理者は、渡し場を清掃する。\n",
        "区分\t使用料の額\t納付の期限\n桟橋\t三百円\t四月一日\n",
        "宛先　渡し場管理委員会　御中\n差出人　船頭組合\n件名　届出\n",
        "一行目である。\n二行目である。\n三行目である。\n",
        "",
    ],
)
def test_other_lines_stay(text: str) -> None:
    assert unwrapped(text) == text


def test_items_and_paragraphs_stay_apart() -> None:
    text = f"{JAPANESE}\n\n(1) {JAPANESE}\n(2) {JAPANESE}"
    one = JAPANESE.replace("\n", "")
    assert unwrapped(text) == f"{one}\n\n(1) {one}\n(2) {one}"

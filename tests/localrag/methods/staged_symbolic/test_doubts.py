"""`staged-symbolic` on near misses: never `supported` if it may be wrong."""

from collections.abc import Callable

from localrag.answer.types import Answer, Status
from localrag.text.facts import Fact, FactKind, told

from ....rows import each

Ask = Callable[..., Answer]


@each(
    ("question", "expected"),
    [
        ("柳駅と楡駅はどちらも1930年以前に開業しましたか？", "YES"),
        ("柳駅と楡駅のいずれかは1910年以前に開業しましたか？", "YES"),
        ("柳駅と楡駅はどちらも1920年より前に開業しましたか？", "NO"),
        ("柳駅と楡駅はどちらも1920年までに開業しましたか？", "YES"),
        ("柳駅と楡駅はどちらも1910年以降に開業しましたか？", "NO"),
        ("柳駅と楡駅は1895年から1925年の間に開業しましたか？", ""),
        ("柳駅の廃止は楡駅の廃止より先ですか？", "NO"),
        ("榎塔と樫塔、どちらも1945年以前に完成しましたか？", "NO"),
        ("榎塔と樫塔はどちらも1960年以前に完成しましたか？", "YES"),
        ("榎塔と樫塔はどちらも高さが50mより高いですか？", "NO"),
        ("藤見ソラと萩見リク、活動期間が長いのはどちら？", "萩見リク"),
        ("榎塔と樫塔、昇降機の速度が速いのはどちら？", "榎塔"),
        ("榎塔と樫塔、昇降機の速度が遅いのはどちら？", "樫塔"),
        ("藤見ソラの父の母は誰？", "藤見トヨ"),
        ("藤見ソラの母の父は誰？", "楓ヨシ"),
    ],
)
def test_it_is_computed_as_it_is_asked(ask_near: Ask, question: str, expected: str) -> None:
    answer = ask_near(question)
    assert answer.text == expected
    assert answer.status is (Status.SUPPORTED if expected else Status.NOT_FOUND)


@each(
    "question",
    [
        "1970年の楢県の人口は？",
        "2020年の榎塔と樫塔、高さが高いのはどちら？",
        "海の次作の次作は？",
        "輪一の次の次の次は？",
        "杉塔と榎塔と樫塔、完成年が遅いのはどちら？",
        "榎塔、樫塔、柳駅のうち完成年が遅いのはどれ？",
        "藤見ソラと萩見リク、年上なのはどちらの父？",
        "藤見ソラと萩見リク、生年月日の月が早いのはどちら？",
        "榎塔と樫塔、順位が大きいのはどちら？",
        "榎塔と樫塔だけですか、完成が早いのは？",
        "藤見ソラの弟子は何人ですか？",
        "藤見ソラは昭和何年生まれ？",
        "楢県の次の知事は誰？",
    ],
)
def test_what_is_asked_besides_is_not_left_out(ask_near: Ask, question: str) -> None:
    answer = ask_near(question)
    assert answer.status is Status.NOT_FOUND
    assert answer.doubts


@each(
    ("question", "doubt"),
    [
        ("藤見ソラの所属する会社の所在地は？", "'山田' can mean other things"),
        ("甲社の設立は？", "several values: 1990年, 2000年"),
        ("藤見ソラと萩見リク、デビューが早いのはどちら？", "only similar"),
        ("柳駅と楡駅は1900年代に開業しましたか？", "only similar"),
        ("昭和の楢県の人口は？", "'昭和'"),
        ("楢県の現在の人口は？", "certain time"),
        ("甲社と乙社の社長は同じですか？", "only some of several"),
        ("甲社と乙社の業種は同じですか？", "only similar"),
    ],
)
def test_what_may_be_meant_otherwise_is_a_doubt(ask_near: Ask, question: str, doubt: str) -> None:
    answer = ask_near(question)
    assert answer.text
    assert answer.status is Status.UNSUPPORTED
    assert doubt in told(answer.doubts)


def test_values_that_do_not_decide_are_told(ask_near: Ask) -> None:
    answer = ask_near("甲社と乙社、資本金が多いのはどちら？")
    assert answer.status is Status.NOT_FOUND
    assert "甲社 (1億円) and 乙社 (8000万ドル) cannot be compared" in told(answer.doubts)


def test_more_triples_of_a_subject_than_are_looked_at_are_told(ask_near: Ask) -> None:
    answer = ask_near("大全の頁0は？")
    assert answer.text == "項0"
    assert ask_near("大全の頁9000は？").status is Status.NOT_FOUND, "頁900 is another"
    assert answer.trace.stages[-1].events == (Fact(FactKind.FIRST_TRIPLES, name="大全", n=1000),)

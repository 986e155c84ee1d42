from localrag.law.names import LawNames
from localrag.search.ranking import LexicalMatch, weigh
from localrag.search.types import Query

NAMES = LawNames.from_rows(
    [
        ("A", "渡船法", "令和九十九年法律第一号", "Act", ""),
        ("B", "渡船法施行令", "令和九十九年政令第一号", "CabinetOrder", ""),
        ("C", "索道法", "令和九十九年法律第二号", "Act", ""),
    ]
)


EQUAL = dict.fromkeys(("A#1", "B#1", "C#1", "A#suppl1/1", "page.md#1"), LexicalMatch(1.0, ""))


def test_all_laws_are_alike() -> None:
    weighed = weigh(EQUAL, Query("運航の基準"), NAMES)
    assert weighed["A#1"] == weighed["B#1"] == weighed["C#1"] == 1.0


def test_what_is_titled_with_words_of_the_question_counts_more() -> None:
    found = {
        "A#1": LexicalMatch(1.0, "渡船法 第一条（登録の有効期間）"),
        "A#2": LexicalMatch(1.0, "渡船法 第二条（登録の有効期間の満了後の運航の制限）"),
        "A#3": LexicalMatch(1.0, "渡船法 第三条"),
        "A#4": LexicalMatch(1.0, "渡船法 第四条（登録等の有効期間）"),
        "page.md#1": LexicalMatch(1.0, "渡し > 登録"),
        "page.md#2": LexicalMatch(1.0, "渡し > 事故"),
    }
    weighed = weigh(found, Query("登録の有効期間は何年か。"), NAMES)
    assert weighed["A#1"] == weighed["A#4"] == weighed["page.md#1"] > 1.0
    assert weighed["A#2"] == weighed["A#3"] == weighed["page.md#2"] == 1.0

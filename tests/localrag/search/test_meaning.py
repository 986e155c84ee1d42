"""Where a question for the meaning of a term leads, when several provisions define it."""

from collections.abc import Callable, Iterator

import pytest

import localrag
from localrag.search.pipeline import Retriever
from localrag.search.reading import Retrieval
from localrag.text.facts import FactKind

from ...rows import each

# What leads never has the smallest id of those that define its term.
ORDER, BUOYS, SHIPS, MARKS = (
    "597CO0000000031",
    "598AC0000000032",
    "599AC0000000033",
    "599AC0000000034",
)

LAWS = {
    (ORDER, "浮き物安全令", "令和九十七年政令第三十一号"): {
        "1": ("汽笛", ["この政令において「汽笛」とは、蒸気で鳴る笛をいう。"]),
        "2": ("検査", ["標柱（以下この条において「水柱」という。）は、毎年検査する。"]),
    },
    (BUOYS, "浮き物安全法", "令和九十八年法律第三十二号"): {
        "1": ("届出", ["水面に浮かぶ物（以下「浮標」という。）を置く者は、届け出る。"]),
        "2": ("霧鐘", ["この章において「霧鐘」とは、霧の日に鳴らす鐘をいう。"]),
        "3": ("定義", ["この法律において「灯船」とは、灯火を掲げる船をいう。"]),
        "5": ("潮位", ["この節において「潮位」とは、水面の高さをいう。"]),
    },
    (SHIPS, "灯船登録法", "令和九十九年法律第三十三号"): {
        "1": ("定義", ["この法律において「灯船」とは、登録を受けた船をいう。"]),
        "3": ("汽笛", ["この法律において「汽笛」とは、船の鳴らす笛をいう。"]),
    },
    (MARKS, "航路標柱法", "令和九十九年法律第三十四号"): {
        "2": ("浮標", ["この法律において「浮標」とは、水底につながれた標識をいう。"]),
        "3": ("霧鐘", ["この法律において「霧鐘」とは、標柱に掛ける鐘をいう。"]),
    },
}


@pytest.fixture(scope="module")
def laws(
    tmp_path_factory: pytest.TempPathFactory, open_statutes: Callable[..., Retriever]
) -> Iterator[localrag.Corpus]:
    home = tmp_path_factory.mktemp("meaning")
    open_statutes(home, LAWS).close()
    with localrag.open(home).corpus() as corpus:
        yield corpus


def told(retrieval: Retrieval) -> list[tuple[str, tuple[str, ...]]]:
    """The terms that several laws are told to define, and these laws."""
    return [
        (event.fields["term"], event.fields["laws"])
        for event in retrieval.trace.events
        if event.kind is FactKind.DEFINED_IN_SEVERAL
    ]


def defining(retrieval: Retrieval) -> list[str]:
    """The provisions found for defining the term, best first."""
    return [one.passage.id for one in retrieval.hits if one.reason and "defines" in str(one.reason)]


@each(
    ("question", "provisions"),
    [
        # What says the meaning for the whole law, before what names the term in passing …
        ("浮標とは何か", [f"{MARKS}#2"]),
        # … and before what holds for a chapter.
        ("霧鐘とは何か", [f"{MARKS}#3"]),
        # The law with the term in its title, an act.
        ("灯船とは何か", [f"{SHIPS}#1", f"{BUOYS}#3"]),
        ("汽笛とは何か", [f"{SHIPS}#3", f"{ORDER}#1"]),
        # Of what no provision says more of, that is the answer.
        ("潮位とは何か", [f"{BUOYS}#5"]),
        ("水柱とは何か", [f"{ORDER}#2"]),
    ],
)
def test_the_provision_that_says_most_of_the_meaning_comes_first(
    laws: localrag.Corpus, question: str, provisions: list[str]
) -> None:
    retrieval = laws.search(question)
    assert defining(retrieval) == provisions
    assert retrieval.hits[0].passage.id == provisions[0]


@pytest.mark.parametrize("question", ["灯船って何", "灯船の定義は", "灯船はどう定義されているか"])
def test_the_definition_leads_the_quotations_of_an_answer(
    laws: localrag.Corpus, question: str
) -> None:
    first, second, *_ = laws.ask(question).citations
    assert first.passage_id == f"{SHIPS}#1.1"
    assert "登録を受けた船をいう" in first.quote
    assert second.passage_id == f"{BUOYS}#3.1"


def test_several_laws_that_define_the_term_are_told(laws: localrag.Corpus) -> None:
    assert told(laws.search("汽笛とは何か")) == [("汽笛", ("灯船登録法", "浮き物安全令"))]
    assert told(laws.search("浮標とは何か")) == []


def test_of_a_law_that_is_named_its_own_definition_counts_alone(laws: localrag.Corpus) -> None:
    retrieval = laws.search("浮き物安全法における灯船とは何か")
    assert (defining(retrieval), told(retrieval)) == ([f"{BUOYS}#3"], [])


def test_filters_hold_for_definitions(laws: localrag.Corpus) -> None:
    retrieval = laws.search("汽笛とは何か", where={"kind": "CabinetOrder"})
    assert (defining(retrieval), told(retrieval)) == ([f"{ORDER}#1"], [])


def test_who_asks_for_something_else_of_a_term_is_told_of_no_definitions(
    laws: localrag.Corpus,
) -> None:
    assert told(laws.search("汽笛はいつ鳴らすか")) == []


@pytest.mark.parametrize("question", ["笛とは", "霧笛とは何か", "浮き物安全法の標識の意味は"])
def test_that_no_law_defines_a_term_is_told(laws: localrag.Corpus, question: str) -> None:
    (fact,) = [
        one for one in laws.search(question).trace.events if one.kind is FactKind.NOT_DEFINED
    ]
    assert fact.fields["term"] in question


@each(
    "question",
    [
        "灯船とは",
        "浮き物安全法の汽笛とは",
        "登録とは何日かかるものか",
        "検査は誰がするか",
        "登録を受けた小さな船とは",
        "備える書類とは",
        "登録された船とは何か",
    ],
)
def test_what_is_defined_or_asks_for_more_is_not_told_so(
    laws: localrag.Corpus, question: str
) -> None:
    assert FactKind.NOT_DEFINED not in [one.kind for one in laws.search(question).trace.events]


def test_of_a_term_that_no_law_defines_only_what_uses_it_is_quoted(laws: localrag.Corpus) -> None:
    assert laws.ask("登録とは").citations[0].passage_id == f"{SHIPS}#1.1"
    assert laws.ask("蒸気船とは").citations == ()
    # 届出 stands in the caption alone.
    assert laws.ask("届出とは").citations[0].passage_id == f"{BUOYS}#1.1"
    # 水面 is a word of 水面の高さ; 標識 and 標 are none of 標柱.
    assert laws.ask("水面とは何か").citations
    assert laws.ask("標とは何か").citations == ()

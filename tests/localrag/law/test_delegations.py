"""Which provision of an order fills in which point that an act leaves to it."""

from collections.abc import Callable, Iterator

import pytest

from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Locator
from localrag.law.delegations import filled_in
from localrag.search.pipeline import Retriever
from localrag.search.provision import Provision, show

ACT, ORDER, ORDINANCE = "598AC0000000031", "598CO0000000032", "598M60000800033"
OTHER = "598AC0000000034"

LAWS = {
    (ACT, "水車法", "令和九十八年法律第三十一号"): {
        "1": (
            "定義",
            [
                "この法律において「水車」とは、水流で回る車で政令で定めるもの（これに類するものとして"
                "政令で定めるものを含み、その大きさが政令で定める規模に満たないものを除く。）をいう。\n"
                "一　六月を超えない範囲内において政令で定める期間\n"
                "二　一年を超えない範囲内において政令で定める期間"
            ],
        ),
        "2": (
            "届出",
            [
                "水車を回す者は、国土交通省令で定めるところにより、届け出なければならない。ただし、"
                "国土交通省令で定める場合は、この限りでない。",
                "前項の届出の手数料は、政令でこれを定める。",
            ],
        ),
        "3": ("使用人", ["水車番又は政令で定める使用人は、休まない。"]),
        "4": ("使用人", ["水車番及び政令で定める使用人は、眠らない。"]),
        "6": ("許可", ["許可の有効期間は、政令で定める日数とし、政令で定める日に始まる。"]),
        "7": ("記録", ["水車の記録は、国土交通省令で定める方法により保存する。"]),
        "8": (
            "記録簿",
            [
                "水車番は、政令で定めるところにより、水車に必要なものとして政令で定めるもの（以下"
                "「道具」という。）を備える。"
            ],
        ),
    },
    (OTHER, "帆車法", "令和九十八年法律第三十四号"): {
        "1": ("", ["帆車は、政令で定める大きさとする。"]),
    },
    (ORDER, "水車法施行令", "令和九十八年政令第三十二号"): {
        "1": (
            "水車",
            [
                "法第一条に規定する類するものとして政令で定めるものは、帆車とする。",
                "法第一条に規定する水流で回る車で政令で定めるものは、木の車とする。",
                "法第一条（法第三条において準用する場合を含む。）の規模は、十尺とする。",
                "法第一条第二号に規定する政令で定める期間は、八月とする。",
                "法第一条第一号に規定する政令で定める期間は、四月とする。",
            ],
        ),
        "2": ("手数料", ["法第二条第二項の手数料は、十円とする。"]),
        "3": (
            "使用人",
            ["法第三条（法第六条において準用する場合を含む。）及び法第四条の政令で定める使用人は、"
             "番頭とする。"],
        ),
        "4": ("", ["法第六条の政令で定める日は、春の彼岸の日とする。"]),
        "5": ("", ["法第六条の政令で定める日数は、三百日とする。"]),
        "6": ("", ["法第八条の道具は、槌とする。"]),
        "7": ("", ["法第七条及び第八条の規定による備付けは、小屋の中にするものとする。"]),
    },
    (ORDINANCE, "水車法施行規則", "令和九十八年国土交通省令第三十三号"): {
        "1": (
            "届出",
            [
                "水車を回す者は、法第二条第一項の規定により届け出るときは、書面によらなければならない。",
                "法第二条第一項ただし書の国土交通省令で定める場合は、渇水の場合とする。",
            ],
        ),
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def store(
    tmp_path_factory: pytest.TempPathFactory, open_statutes: Callable[..., Retriever]
) -> Iterator[CorpusStore]:
    with open_statutes(tmp_path_factory.mktemp("mills"), LAWS) as retriever:
        yield retriever.store


def led(view: Provision) -> dict[str, list[str]]:
    """The places that fill in each point, by the words of the point."""
    return {
        of.words: [f"{link.document_id}#{link.locator.path}" for link in of.filled_in_by]
        for of in view.delegations
    }


def test_an_order_chooses_its_point_by_the_words_that_it_repeats(store: CorpusStore) -> None:
    assert led(show(store, "水車法1条")) == {
        "水流で回る車で政令で定めるもの": [f"{ORDER}#1.2"],
        "これに類するものとして政令で定めるもの": [f"{ORDER}#1.1"],
        # It says 規模 alone, without 政令で定める.
        "その大きさが政令で定める規模": [f"{ORDER}#1.3"],
        "六月を超えない範囲内において政令で定める期間": [f"{ORDER}#1.5"],
        "一年を超えない範囲内において政令で定める期間": [f"{ORDER}#1.4"],
    }


def test_a_part_shows_its_own_points(store: CorpusStore) -> None:
    (only,) = show(store, "水車法1条1項2号").delegations
    assert (only.locator, only.instrument) == (Locator("", "1", "1", "2"), "政令")
    assert store.text(ACT, only.start, only.end) == "政令で定め"


def test_a_manner_is_filled_in_by_what_opens_with_the_place_and_a_proviso_by_its_own(
    store: CorpusStore,
) -> None:
    assert led(show(store, "水車法2条")) == {
        "水車を回す者は、国土交通省令で定めるところにより": [f"{ORDINANCE}#1.1"],
        "ただし、国土交通省令で定める場合": [f"{ORDINANCE}#1.2"],
        "前項の届出の手数料は、政令でこれを定める": [f"{ORDER}#2.1"],
    }


def test_an_order_may_call_a_point_by_its_name_and_open_with_a_list(store: CorpusStore) -> None:
    assert list(led(show(store, "水車法8条")).values()) == [[f"{ORDER}#7.1"], [f"{ORDER}#6.1"]]


@pytest.mark.parametrize("article", ["3", "4"])
def test_an_order_names_several_provisions_together(store: CorpusStore, article: str) -> None:
    (links,) = led(show(store, f"水車法{article}条")).values()
    assert links == [f"{ORDER}#3.1"]


def test_a_noun_is_not_the_beginning_of_another(store: CorpusStore) -> None:
    assert list(led(show(store, "水車法6条")).values()) == [[f"{ORDER}#5.1"], [f"{ORDER}#4.1"]]


@pytest.mark.parametrize(("law", "article", "has_order"), [(ACT, "7", True), (OTHER, "1", False)])
def test_what_nothing_fills_in_says_whether_there_is_such_an_order(
    store: CorpusStore, law: str, article: str, has_order: bool
) -> None:
    (of,) = show(store, f"{law}#{article}").delegations
    assert (of.filled_in_by, of.has_order) == ((), has_order)
    (left,) = store.references_from(law, of.locator)
    assert filled_in(store, left) is None

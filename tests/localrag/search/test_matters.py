"""A matter that another law governs is named, where that law is not there."""

import pytest

from localrag.search.pipeline import Retriever
from localrag.search.types import Query
from localrag.text.facts import FactKind

LAWS = {
    ("599AC0000000024", "渡船場法", "令和九十九年法律第二十四号"): {
        "1": ("目的", ["この法律は、渡船場の安全を図ることを目的とする。"]),
        "2": ("届出", ["渡船場の管理者は、旅券の写しを添えて届け出なければならない。"]),
    },
}


def told(retriever: Retriever, question: str) -> list[str]:
    """The laws that a question is told of, which are not there."""
    events = retriever.search(Query(question)).trace.events
    return [one.fields["law"] for one in events if one.kind is FactKind.LAW_OF_MATTER]


@pytest.mark.parametrize(
    ("question", "law"),
    [
        ("パスポートをなくしました。どうすればいいですか", "旅券法"),
        ("ﾊﾟｽﾎﾟｰﾄの更新", "旅券法"),
        ("商標登録は何年もちますか", "商標法"),
    ],
)
def test_the_law_of_a_matter_is_named(laws: Retriever, question: str, law: str) -> None:
    assert told(laws, question) == [law]


def test_who_names_a_law_is_told_of_no_other(laws: Retriever) -> None:
    assert told(laws, "渡船場法の届出に添えるパスポート") == []


def test_other_documents_may_tell_of_a_matter(retriever: Retriever) -> None:
    assert told(retriever, "パスポートをなくしました") == []

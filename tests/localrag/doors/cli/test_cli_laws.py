"""What the command line says of the laws that a question names."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("sample")
ACT = "599AC0000000001"


@pytest.fixture
def title(cli: Callable[..., Any]) -> str:
    found = cli("search", "渡し舟", "-k", "1", "--json", "--law", ACT).json
    header: str = found["hits"][0]["passage"]["header"]
    return header.partition(" ")[0]


def test_search_tells_how_a_law_was_read(cli: Callable[..., Any], title: str) -> None:
    shown = cli("search", f"{title}の登録と会社法の登記", "-k", "3")
    assert shown.code == 0
    assert f"{title} is read as {title}" in shown.out
    assert "会社法: the corpus has no law called so" in shown.out


def test_search_gives_the_laws_as_json(cli: Callable[..., Any], title: str) -> None:
    found = cli("search", f"{title}の登録と会社法の登記", "--json").json
    assert [(law["words"], law["law_ids"]) for law in found["laws"]] == [
        (title, [ACT]),
        ("会社法", []),
    ]
    assert found["absent"] == ["会社法"]
    assert not found["hits"][0]["beside"]


def test_hits_of_other_laws_say_that_they_stand_beside(cli: Callable[..., Any]) -> None:
    found = cli("search", "会社法における登録の取消し", "-k", "1", "--json", "--type", "Act").json
    assert found["hits"][0]["beside"]
    assert "beside" in cli("search", "会社法における登録の取消し", "--type", "Act").out


def test_a_law_that_is_lacking_is_said_first_and_leaves_with_3(cli: Callable[..., Any]) -> None:
    reply = cli("ask", "会社法における渡し守の資格は何か")
    assert reply.code == 3
    assert reply.out.startswith("not in this corpus: 会社法")
    assert cli("ask", "会社法における渡し守の資格は何か", "--json").json["absent"] == ["会社法"]

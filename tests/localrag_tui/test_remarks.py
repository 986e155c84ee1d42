"""Notes of localrag in the language of the interface."""

import pytest

from localrag import language
from localrag_tui.remarks import remark


@pytest.mark.parametrize(
    ("noted", "told"),
    [
        ("the quote is empty", "引用文が空です"),
        (
            "金商法27条の36: the law has no such provision",
            "金商法27条の36：この法令にその条文はありません",
        ),
        ("前条 can mean 3 provisions", "前条は 3 件の条文を指す可能性があります"),
        ("what nobody [red]knows", "what nobody [red]knows"),
    ],
)
def test_what_is_known_is_translated(noted: str, told: str) -> None:
    language.use("ja")
    assert remark(noted) == told
    language.use("en")
    assert remark(noted) == noted

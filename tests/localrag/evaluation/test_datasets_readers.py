"""Files of questions: what is read, and that no defect passes."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.errors import InputError
from localrag.evaluation.datasets.readers import Sources, read
from localrag.evaluation.types import Gold, Question

from ...rows import each

PLAIN: dict[str, Any] = {
    "id": "q1",
    "question": "渡し守の資格について正しいものはどれか。",
    "options": ["十八歳以上", "二十歳以上"],
    "answer": "b",
}


def lines(*rows: Any) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def read_choices(*rows: Any) -> tuple[Question, ...]:
    return read("choices", "q.jsonl", lines(*rows), Sources())


def test_a_plain_question() -> None:
    gold = ["599AC0000000001#5.1", {"law_id": "599AC0000000001", "article": "6"}, "手引"]
    (question,) = read_choices(
        PLAIN | {"context": ["甲", "乙"], "gold": gold, "groups": {"level": "easy"}}
    )
    assert question.query.options == ("十八歳以上", "二十歳以上")
    assert (question.answer, question.context) == ("b", "甲\n\n乙")
    law = "599AC0000000001"
    assert question.gold == (Gold(law, "5"), Gold(law, "6"), Gold("手引"))
    assert question.groups == {"level": "easy", "polarity": "agrees"}


@each(
    ("options", "answer", "label"),
    [
        (["甲", "乙"], "Ｂ", "b"),
        (["甲", "乙"], "(a)", "a"),
        (["甲", "乙"], "乙", "b"),
        ({"ア": "甲", "イ": "乙"}, "イ", "b"),
        ({"1": "甲", "2": "乙"}, 2, "b"),
    ],
)
def test_answers_by_label_and_by_text(options: Any, answer: Any, label: str) -> None:
    (question,) = read_choices(PLAIN | {"options": options, "answer": answer})
    assert question.answer == label


@each(
    ("change", "part"),
    [
        ({"id": ""}, "'id' is missing"),
        ({"question": None}, "'question' is missing"),
        ({"question": "？！", "options": ["…", "。"], "answer": "a"}, "holds no word"),
        ({"question": "渡" * 20_000}, "are the limit"),
        ({"question": ["x"]}, "'question' is no text"),
        ({"question": "\ud800"}, "half a character"),
        ({"options": ["甲"], "answer": "a"}, "2 to 8 options, and has 1"),
        ({"options": []}, "and has 0"),
        ({"options": list("甲乙丙丁戊己庚辛壬")}, "and has 9"),
        ({"options": ["甲", ""]}, "Option 'b' is empty"),
        ({"options": ["甲", 3]}, "texts"),
        ({"options": {"a": "甲", "Ａ": "乙"}}, "same label"),
        ({"options": None}, "It has no options"),
        ({"choices": ["甲", "乙"]}, "both a field 'options'"),
        ({"answer": "e"}, "not one of the labels a, b"),
        ({"answer": "x" * 500}, "…"),
        ({"answer": True}, "'answer' is no text"),
        ({"options": ["b", "a"], "answer": "a"}, "can mean a or b"),
        ({"context": 3}, "'context'"),
        ({"gold": "5"}, "'gold' is no list"),
        ({"gold": [3]}, "gold place"),
        ({"gold": [{"article": "5"}]}, "'law_title' is missing"),
        ({"groups": ["x"]}, "'groups'"),
    ],
)
def test_a_defect_is_named_with_its_line(change: dict[str, Any], part: str) -> None:
    with pytest.raises(InputError) as caught:
        read_choices(PLAIN, PLAIN | {"id": "q2"} | change)
    assert "line 2: " in caught.value.cause
    assert part in caught.value.cause


def test_every_defect_is_named() -> None:
    rows = [PLAIN, PLAIN, PLAIN | {"id": "q2", "answer": "z"}, ["no object"]]
    content = lines(*rows) + b'\n{"id": "cut\n\xff\n' + b'{"id":"x","id":"y"}\n'
    with pytest.raises(InputError) as caught:
        read("choices", "q.jsonl", content, Sources())
    for part in (
        "line 2: The id 'q1' is also at line 1",
        "line 3: The answer 'z'",
        "line 4: It is no object",
        "line 5: It is not JSON",
        "line 6: It is not valid UTF-8",
        "line 7: It is not JSON (a field stands twice",
    ):
        assert part in caught.value.cause


@each("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_of_a_wider_encoding_no_lines_are_named(encoding: str) -> None:
    with pytest.raises(InputError, match=r"looks like UTF-(16|32)") as caught:
        read("choices", "q.jsonl", lines(PLAIN, PLAIN).decode().encode(encoding), Sources())
    assert "\n" not in caught.value.cause
    assert caught.value.cure == "Save it as UTF-8."


def test_the_cure_of_another_encoding_is_to_save_it_anew() -> None:
    rows = "\n".join(json.dumps(PLAIN | {"id": id_}, ensure_ascii=False) for id_ in "甲乙")
    with pytest.raises(InputError, match="line 2: It is not valid UTF-8") as caught:
        read("choices", "q.jsonl", rows.encode("cp932"), Sources())
    assert caught.value.cure.startswith("Save the file as UTF-8.")
    with pytest.raises(InputError) as caught:
        read_choices(PLAIN, PLAIN)
    assert caught.value.cure.startswith("Mend these entries")


def test_of_very_many_defects_twenty_are_named() -> None:
    with pytest.raises(InputError, match="and 80 more"):
        read("choices", "q.jsonl", b"nonsense\n" * 100, Sources())


@each(
    ("name", "content", "part"),
    [
        ("q.jsonl", b"", "is empty"),
        ("q.json", b" \n", "is empty"),
        ("q.json", b"[]", "holds no question"),
        ("q.json", b'{"a": [], "b": []}', "2 lists"),
        ("q.json", b'"text"', "0 lists"),
        ("q.json", b'{"a": 1}\n{"a": 2}', "not JSON"),
        ("q.json", b"[3]", "entry 1: It is no JSON object"),
        ("q.json", "[]".encode("utf-16"), "not valid UTF-8"),
        ("q.jsonl", "渡し守\n".encode("cp932"), "not valid UTF-8"),
        ("q.json", b"[" * 200_000, "nested too deeply"),
        ("q.jsonl", b'{"id": "' + b"x" * 5_000_000 + b'"}', "longer than"),
    ],
)
def test_files_that_are_none(name: str, content: bytes, part: str) -> None:
    with pytest.raises(InputError) as caught:
        read("choices", name, content, Sources())
    assert part in caught.value.cause


def test_one_json_value_holds_a_list_or_an_object_with_one() -> None:
    for value in ([PLAIN], {"version": 1, "samples": [PLAIN]}):
        content = b"\xef\xbb\xbf" + json.dumps(value).encode()
        assert read("choices", "q.json", content, Sources())[0].id == "q1"


def test_control_characters_are_no_part_of_a_question() -> None:
    (question,) = read_choices(PLAIN | {"question": "\x1b[2J渡し守\r\nとは何か。\x00"})
    assert question.query.text == "[2J渡し守\nとは何か。"


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_whatever_stands_in_a_field_is_a_question_or_a_named_defect(value: Any) -> None:
    for field in ("id", "question", "options", "answer", "context", "gold", "groups"):
        # Anything but a defect told by name fails here.
        with suppress(InputError):
            read_choices(PLAIN | {field: value})

"""Results for agents: as long as asked for, of the same type, and nothing is lost silently."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localrag.doors.serve.fitting import fitted, rest

from ....rows import each

RESULT = {
    "passage": {"id": "law#1", "text": "第一条　渡し舟は、" * 400},
    "left_out": 3,
    "referred_by": [
        {"label": f"第{n}条", "words": "前条に規定する渡し舟" * (n % 4 * 20)} for n in range(300)
    ],
    "trace": [{"stage": "lexical", "hits": list(range(500))}],
}


def length(value):
    return len(json.dumps(value, ensure_ascii=False))


def cuts_of(shown):
    return {cut["part"]: (cut["shown"], cut["of"]) for cut in shown["cut"]}


def test_what_fits_is_given_as_it_is():
    assert fitted(RESULT, 1_000_000) == RESULT
    # The trace goes first: with it gone all of the rest has room.
    small = {**RESULT, "passage": {"text": ""}, "referred_by": []}
    assert fitted(small, 2_000) == {
        **small, "trace": [], "cut": [{"part": "trace", "shown": 0, "of": 1}],
    }  # fmt: skip


def test_of_an_answer_the_nearest_passages_go_before_what_it_says():
    near = [{"passage_id": f"law#{n}", "beginning": "渡" * 40} for n in range(5)]
    told = {"text": "舟" * 900, "nearest": near, "trace": ["水" * 500]}
    assert fitted(told, 1_800) == {
        **told, "trace": [], "cut": [{"part": "trace", "shown": 0, "of": 1}],
    }  # fmt: skip
    shown = fitted(told, 1_200)
    assert (shown["text"], shown["nearest"]) == (told["text"], [])
    assert cuts_of(shown) == {"trace": (0, 1), "nearest": (0, 5)}


@each("most", [1_000, 2_500, 6_000, 20_000])
def test_a_long_result_is_cut_to_its_room_and_says_where(most):
    shown = fitted(RESULT, most)
    assert 0.5 * most < length(shown) <= most
    assert shown["left_out"] == 3
    cuts = cuts_of(shown)
    if (text := shown["passage"]["text"]) != RESULT["passage"]["text"]:
        assert RESULT["passage"]["text"].startswith(text)
        assert cuts["passage.text"] == (len(text), 3_600)
    assert cuts["referred_by"] == (len(shown["referred_by"]), 300)
    assert [one["label"] for one in shown["referred_by"]] == [
        one["label"] for one in RESULT["referred_by"][: len(shown["referred_by"])]
    ]


def test_the_first_field_gets_half_of_the_room_and_what_others_leave():
    shown = fitted({"text": "渡" * 9_000, "notes": ["舟" * 3_000] * 2}, 4_000)
    assert len(shown["text"]) > 1_800
    alone = fitted({"text": "渡" * 9_000, "notes": []}, 4_000)
    assert len(alone["text"]) > 3_800


@each(
    ("part", "whole"),
    [
        ("passage.text", RESULT["passage"]["text"]),
        ("referred_by", RESULT["referred_by"]),
        ("referred_by.3.words", RESULT["referred_by"][3]["words"]),
    ],
)
def test_one_comes_to_the_end_of_what_was_cut(part, whole):
    parts, start = [], 0
    while start is not None:
        found = rest(RESULT, part, start, 1_500)
        assert length(found) < 2_000
        assert (found["part"], found["start"], found["of"]) == (part, start, len(whole))
        parts.append(found["value"])
        start = found["next"]
    entries = [entry for part in parts for entry in part]
    assert len(entries) == len(whole)
    # A long entry may itself be cut.
    for shown, entry in zip(entries, whole, strict=True):
        same_kind(shown, entry)


def test_an_entry_longer_than_the_room_is_given_cut():
    names = {f"name{n}": "渡" * 190 for n in range(6)}
    long = {"id": "v1", **names, "text": "舟" * 9_000}
    value = {"versions": [long, {"id": "v2", "text": ""}]}
    first = rest(value, "versions", 0, 1_000)
    assert (first["next"], first["value"][0]["id"]) == (1, "v1")
    (cut,) = first["cut"]
    assert (cut["part"], cut["of"]) == ("versions.0.text", 9_000)
    assert rest(value, "versions", 1, 1_000)["value"] == [{"id": "v2", "text": ""}]
    assert rest(value, "versions", 7, 1_000)["value"] == []


@each(
    "part", ["", "nothing", "left_out", "passage", "referred_by.*.words", "referred_by.300", "a.b"]
)
def test_what_is_no_part_is_not_found(part):
    with pytest.raises(LookupError):
        rest(RESULT, part, 0, 1_000)


NAMES = st.text("abc", min_size=1, max_size=3)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=10), st.just("渡" * 700)),
    lambda inner: st.one_of(st.lists(inner, max_size=8), st.dictionaries(NAMES, inner, max_size=4)),
    max_leaves=20,
)


def same_kind(shown, whole):
    if isinstance(whole, dict):
        assert shown.keys() == whole.keys()
        for name, of in shown.items():
            same_kind(of, whole[name])
    elif isinstance(whole, list):
        assert len(shown) <= len(whole)
        for one, other in zip(shown, whole, strict=False):
            same_kind(one, other)
    elif isinstance(whole, str):
        assert whole.startswith(shown)
    else:
        assert shown is whole


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(NAMES, VALUES, max_size=5), st.integers(1_000, 3_000))
def test_only_texts_and_lists_are_cut(whole, most):
    shown = fitted(whole, most)
    cuts = shown.pop("cut", [])
    same_kind(shown, whole)
    assert bool(cuts) == (shown != whole)
    assert all(cut["shown"] < cut["of"] for cut in cuts)

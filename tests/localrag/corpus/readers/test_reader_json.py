"""JSON and JSON Lines: records, question sets, compression, shares."""

import gzip
import json
import lzma

import pytest

from localrag.corpus.readers import Limits, ReadFailure, ResumePoint, stream

from ....rows import each


def test_records(read_bytes):
    lines = [
        {"id": "a", "title": "灯台", "text": "光。", "author": "海野", "year": 1900},
        {"text": "題なし。"},
    ]
    first, second = read_bytes("x.jsonl", "\n".join(json.dumps(line) for line in lines))
    assert (first.id, first.title, first.metadata) == ("a", "灯台", {"author": "海野"})
    assert first.passages[0].id == "a#1"
    assert (second.id, second.title) == ("x.jsonl:2", "x.jsonl:2")


@each(
    ("line", "cause"),
    [
        (b"{", "not JSON"),
        (b"[1]", "not a JSON object"),
        (b'{"a": 1}', "no document"),
        (b'{"text": ""}', "no text"),
        (b'{"text": ["a"]}', "not a string"),
        (b'{"text": "\xff"}', "UTF-8"),
        (b'{"text": "\\ud800"}', "surrogate"),
        (b'{"id": ' + b"9" * 5000 + b', "text": "a"}', "number that is too long"),
        (b'{"text": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"text": "' + b"a" * 2_000_000 + b'"}', "longer than"),
        (b'{"question": "?", "context": 3}', "MuSiQue"),
    ],
)
def test_a_bad_line_is_named_and_the_rest_goes_on(line, cause, read_bytes):
    data = b'{"text": "a"}\n' + line + b'\n\n{"text": "b"}\n'
    first, failure, last = read_bytes("x.jsonl", data, limits=Limits(line_bytes=1_000_000))
    assert (first.text, last.text, last.id) == ("a", "b", "x.jsonl:4")
    assert isinstance(failure, ReadFailure)
    assert cause in failure.cause
    assert failure.source == "x.jsonl:2"


@pytest.mark.parametrize(("suffix", "packed"), [("xz", lzma.compress), ("gz", gzip.compress)])
def test_compressed_lines(suffix, packed, read_bytes):
    data = packed(b'{"text": "a"}\n{"text": "b"}\n' * 1000)
    assert len(read_bytes(f"x.jsonl.{suffix}", data)) == 2000
    *_, failure = read_bytes(f"x.jsonl.{suffix}", data[:-20])
    assert "cut off" in failure.cause
    *_, failure = read_bytes(f"x.jsonl.{suffix}", data, limits=Limits(small_bytes=500, growth=1))
    assert "unpacks to more than 500" in failure.cause
    (failure,) = read_bytes(f"x.jsonl.{suffix}", b"no archive")
    assert "damaged" in failure.cause


@pytest.mark.parametrize(("suffix", "packed"), [("", bytes), (".gz", gzip.compress)])
def test_reading_goes_on_after_every_mark(suffix, packed, tmp_path):
    rows = [json.dumps({"id": str(n), "text": "a"}) for n in range(10)]
    path = tmp_path / f"x.jsonl{suffix}"
    path.write_bytes(packed("\n".join([*rows[:5], "{broken", *rows[5:]]).encode()))
    whole = list(stream(path))
    marks = [outcome for outcome in whole if isinstance(outcome, ResumePoint)]
    assert [mark.line for mark in marks] == list(range(1, 12))
    assert marks[-1].bytes == path.stat().st_size
    for mark in marks:
        assert list(stream(path, after=mark.line)) == whole[whole.index(mark) + 1 :]


def test_questions_that_share_paragraphs_are_not_gone_on_with(tmp_path):
    path = tmp_path / "set.jsonl"
    path.write_text(f"{json.dumps(MUSIQUE)}\n{json.dumps(MUSIQUE)}\n")
    assert not any(isinstance(outcome, ResumePoint) for outcome in stream(path))


MUSIQUE = {
    "id": "q1",
    "paragraphs": [
        {"idx": 0, "title": "Lamp", "paragraph_text": "It shines.", "is_supporting": True},
        {"idx": 1, "title": "Tower", "paragraph_text": "It stands.", "is_supporting": False},
    ],
}
HOTPOT = {"_id": "q1", "context": [["Lamp", ["It shines.", " Far."]], ["Tower", ["It stands."]]]}


@each(
    ("value", "texts"),
    [
        ([MUSIQUE, MUSIQUE], ["It shines.", "It stands."]),
        ([HOTPOT, HOTPOT], ["It shines. Far.", "It stands."]),
        ([{"title": "Lamp", "text": "It shines."}], ["It shines."]),
        ({"Lamp": ["It shines.", " Far."]}, ["It shines. Far."]),
    ],
)
def test_question_sets_give_each_paragraph_once(value, texts, read_bytes):
    documents = read_bytes("set.json", json.dumps(value))
    assert [d.text for d in documents] == texts
    assert [d.id for d in documents] == [f"set.json:{n + 1}" for n in range(len(texts))]
    assert documents[0].title == documents[0].passages[0].header == "Lamp"


def test_question_sets_as_lines(read_bytes):
    documents = read_bytes("set.jsonl", f"{json.dumps(MUSIQUE)}\n{json.dumps(MUSIQUE)}\n")
    assert [d.id for d in documents] == ["set.jsonl:1:1", "set.jsonl:1:2"]


def test_squad_contexts(read_bytes):
    article = {"title": "灯台", "paragraphs": [{"context": "灯台 [SEP] 光る。", "qas": []}]}
    document, failure = read_bytes("s.json", json.dumps({"data": [article, {"title": "x"}]}))
    assert document.text == "灯台 [SEP] 光る。"
    assert [(p.header, p.text) for p in document.passages] == [("灯台", "光る。")]
    assert isinstance(failure, ReadFailure)


@each(
    ("data", "cause"),
    [
        ("{", "damaged in line 1"),
        ('{"a": 1}', "unknown form"),
        ('[{"a": 1}]', "unknown form"),
        ("[]", "unknown form"),
        ("3", "unknown form"),
        (b'["\xff"]', "UTF-8"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_other_json_is_refused(data, cause, read_failure):
    assert cause in read_failure("x.json", data).cause

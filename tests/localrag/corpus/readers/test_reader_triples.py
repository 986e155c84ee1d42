"""Triples as JSON Lines, as tab-separated values and as the derivations of questions."""

import bz2
import gzip
import json
import lzma
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest

from localrag.corpus.readers import Limits, ReadFailure, ResumePoint, stream
from localrag.corpus.readers.types import Omission
from localrag.corpus.types import TRIPLES, Document, Triple

from ....rows import each

Outcomes = list[Document | ReadFailure | Omission | ResumePoint]


def outcomes(folder: Path, name: str, data: str | bytes, after: int = 0) -> Outcomes:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return list(stream(path, limits=Limits(line_bytes=10_000), after=after))


def triples(found: Outcomes) -> list[Triple | None]:
    return [of.triple for one in found if isinstance(one, Document) for of in one.passages]


def failures(found: Outcomes) -> list[ReadFailure]:
    return [one for one in found if isinstance(one, ReadFailure)]


def jsonl(records: Iterable[object]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def said(subject: str, predicate: str, *objects: str) -> dict[str, object]:
    return {"subject": subject, "predicate": predicate, "object": list(objects)}


def test_a_line_is_a_triple_and_a_span_of_the_document(tmp_path: Path) -> None:
    lines = jsonl([said("凪", "職業", "女優", "歌手"), {**said("波", "種類"), "object": "犬"}])
    document, mark = outcomes(tmp_path, "k.jsonl", lines)
    assert isinstance(document, Document)
    assert (document.id, document.kind, document.title) == ("k.jsonl:1", "triples", "凪 – 波")
    assert document.text == "凪の職業は女優、歌手。\n波の種類は犬。\n"
    assert triples([document]) == [
        Triple("凪", "職業", ("女優", "歌手")),
        Triple("波", "種類", ("犬",)),
    ]
    for passage in document.passages:
        assert passage.layer == TRIPLES
        assert passage.header == passage.triple.subject
        assert document.text[passage.start : passage.end] == passage.text
    assert mark == ResumePoint(2, bytes=len(lines.encode()))


def test_source_and_date_come_along(tmp_path: Path) -> None:
    line = {**said("凪", "職業", "女優"), "source": "海図", "date": "2021-08"}
    found = outcomes(tmp_path, "k.jsonl", jsonl([line]))
    assert triples(found) == [Triple("凪", "職業", ("女優",), "海図", "2021-08")]


def test_some_hundred_make_a_document_and_a_subject_stays_whole(tmp_path: Path) -> None:
    lines = [said(f"舟{n // 7}", f"述語{n}", "値") for n in range(1_000)]
    found = outcomes(tmp_path, "k.jsonl", jsonl(lines))
    documents = [one for one in found if isinstance(one, Document)]
    assert len(documents) == 4
    assert len(triples(found)) == 1_000
    for one, other in pairwise(documents):
        assert one.passages[-1].header != other.passages[0].header


def test_a_subject_without_end_is_parted(tmp_path: Path) -> None:
    found = outcomes(tmp_path, "k.jsonl", jsonl(said("舟", f"述語{n}", "値") for n in range(1_500)))
    assert [len(one.passages) for one in found if isinstance(one, Document)] == [600, 600, 300]


def test_reading_goes_on_after_a_mark_as_if_never_stopped(tmp_path: Path) -> None:
    lines = jsonl(said(f"舟{n // 3}", f"述語{n}", "値") for n in range(900))
    found = outcomes(tmp_path, "k.jsonl", lines)
    mark = next(one for one in found if isinstance(one, ResumePoint))
    assert outcomes(tmp_path, "k.jsonl", lines, after=mark.line) == found[2:]


@each(
    ("line", "cause"),
    [
        (b"{", "not JSON"),
        (b'{"text": "a"}', "no triple as the first"),
        (b'{"title": "a", "attribute": "b", "text_offset": {"text": "c"}}', "no triple as"),
        (b'{"subject": "", "predicate": "a", "object": ["b"]}', "no subject"),
        (b'{"subject": "a", "predicate": " ", "object": ["b"]}', "no predicate"),
        (b'{"subject": "a", "predicate": "b", "object": []}', "no object"),
        (b'{"subject": "a", "predicate": "b", "object": ["\\u0000"]}', "no object"),
        (b'{"subject": "a", "predicate": "b", "object": [1]}', "than strings"),
        (b'{"subject": ["a"], "predicate": "b", "object": ["c"]}', "not a string"),
        (b'{"subject": "\xff"}', "UTF-8"),
        (b'{"subject": "' + b"a" * 20_000 + b'"}', "longer than"),
        (b'{"subject": "\\ud800", "predicate": "b", "object": ["c"]}', "surrogate"),
    ],
)
def test_a_bad_line_is_named_and_the_rest_goes_on(tmp_path: Path, line: bytes, cause: str) -> None:
    first, last = (jsonl([said(name, "種類", "犬")]).encode() for name in ("凪", "波"))
    found = outcomes(tmp_path, "k.jsonl", first + line + b"\n\n" + last)
    (failure,) = failures(found)
    assert failure.source == "k.jsonl:2"
    assert cause in failure.cause
    assert [of.subject for of in triples(found) if of] == ["凪", "波"]


def test_line_breaks_and_controls_never_reach_a_name(tmp_path: Path) -> None:
    found = outcomes(tmp_path, "k.jsonl", jsonl([said("凪\n\x1b[2J", "種\t類", "犬\r\n猫")]))
    assert triples(found) == [Triple("凪 [2J", "種 類", ("犬 猫",))]


def test_a_cut_off_file_gives_what_came_before(tmp_path: Path) -> None:
    packed = gzip.compress(jsonl(said(f"舟{n}", "種類", f"{n}") for n in range(50_000)).encode())
    found = outcomes(tmp_path, "k.jsonl.gz", packed[: len(packed) // 2])
    assert len(triples(found)) > 1_000
    assert "cut off" in failures(found)[-1].cause


def shinra(title: str, attribute: str, text: str, html: str = "") -> dict[str, object]:
    place = {"text_offset": {"start": {"line_id": 1, "offset": 0}, "text": text}} if text else {}
    return {
        "page_id": "7",
        "title": title,
        "attribute": attribute,
        "html_offset": {"start": {"line_id": 1, "offset": 0}, "text": html},
        "ENE": "1.1",
        **place,
    }


def test_values_of_shinra_that_follow_each_other_are_one_triple(tmp_path: Path) -> None:
    values = [
        shinra("凪", "別名", "なぎ"),
        shinra("凪", "別名", "ナギ"),
        shinra("凪", "別名", "なぎ"),
        shinra("凪", "職業", "", '<a href="x">女&amp;優</a>'),
        shinra("波", "職業", "犬"),
    ]
    assert triples(outcomes(tmp_path, "k.jsonl", jsonl(values))) == [
        Triple("凪", "別名", ("なぎ", "ナギ"), "Wikipedia 7"),
        Triple("凪", "職業", ("女&優",), "Wikipedia 7"),
        Triple("波", "職業", ("犬",), "Wikipedia 7"),
    ]


def test_tab_separated_values_are_one_a_line(tmp_path: Path) -> None:
    data = "凪\t職業\t女優\n凪\t職業\t歌手\n凪\t身長\t174cm\t海図\t2021\n\n凪\t職業\t舟守\n"
    assert triples(outcomes(tmp_path, "k.tsv", data)) == [
        Triple("凪", "職業", ("女優", "歌手")),
        Triple("凪", "身長", ("174cm",), "海図", "2021"),
        Triple("凪", "職業", ("舟守",)),
    ]


def test_a_header_names_the_columns(tmp_path: Path) -> None:
    data = "\ufeffdate\tObject\tid\tsubject\tpredicate\r\n2021\t女優\t1\t凪\t職業\r\n"
    found = outcomes(tmp_path, "k.tsv", data)
    assert triples(found) == [Triple("凪", "職業", ("女優",), "", "2021")]
    renamed = data.replace("Object", "value").replace("subject", "title")
    renamed = renamed.replace("predicate", "attribute")
    assert triples(outcomes(tmp_path, "k.tsv", renamed)) == triples(found)


@pytest.mark.parametrize(
    ("suffix", "pack"), [("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)]
)
def test_tab_separated_values_may_be_compressed(tmp_path: Path, suffix: str, pack) -> None:  # type: ignore[no-untyped-def]
    found = outcomes(tmp_path, f"k.tsv.{suffix}", pack("凪\t職業\t女優\n".encode()))
    assert triples(found) == [Triple("凪", "職業", ("女優",))]


@each(
    ("line", "cause"),
    [
        (b"\xff\ta\tb", "UTF-8"),
        (b"a\tb", "no object"),
        (b"\tb\tc", "no subject"),
        (b"a\t" + b"b" * 20_000 + b"\tc", "longer than"),
        (b"a\tb\tc\td\te\t\tf", "7 columns where 5 are known"),
        (b"a\tb\tc\ra\tb\td", "carriage return"),
    ],
)
def test_a_bad_row_is_named_and_the_rest_goes_on(tmp_path: Path, line: bytes, cause: str) -> None:
    found = outcomes(tmp_path, "k.tsv", "凪\ta\tb\n".encode() + line + "\n波\ta\tb\n".encode())
    (failure,) = failures(found)
    assert failure.source == "k.tsv:2"
    assert cause in failure.cause
    assert [of.subject for of in triples(found) if of] == ["凪", "波"]


def test_empty_cells_beyond_the_columns_do_no_harm(tmp_path: Path) -> None:
    found = outcomes(tmp_path, "k.tsv", "凪\t職業\t女優\t\t\t\t \n")
    assert triples(found) == [Triple("凪", "職業", ("女優",))]
    assert not failures(found)


def test_more_cells_than_a_header_names_are_told(tmp_path: Path) -> None:
    data = "subject\tpredicate\tobject\n凪\t職業\t女優\t海図\n波\t種類\t犬\n"
    found = outcomes(tmp_path, "k.tsv", data)
    assert [one.cause for one in failures(found)] == ["The line has 4 columns where 3 are known."]
    assert triples(found) == [Triple("波", "種類", ("犬",))]


@pytest.mark.parametrize("header", ["主語\t述語\t目的語\t出典\t日付", "項目\t属性\t値\t出典\t日付"])
def test_a_header_may_be_japanese_and_may_come_again(tmp_path: Path, header: str) -> None:
    data = f"\n{header}\n凪\t職業\t女優\t海図\t2021\n{header}\n波\t種類\t犬\n"
    found = outcomes(tmp_path, "k.tsv", data)
    assert triples(found) == [
        Triple("凪", "職業", ("女優",), "海図", "2021"),
        Triple("波", "種類", ("犬",)),
    ]
    assert not failures(found)


def test_lines_that_end_with_a_carriage_return_alone_are_refused(tmp_path: Path) -> None:
    (failure,) = failures(outcomes(tmp_path, "k.tsv", "凪\t職業\t女優\r波\t種類\t犬\r"))
    assert "carriage return" in failure.cause
    assert "LF" in failure.cure


@each(
    ("first", "told"),
    [(b"\n \n", 0), (b"\xff\ta\tb\n", 1), (b"a title\n", 1), (b"x" * 20_000 + b"\n", 1)],
)
@each("name", ["k.tsv", "k.jsonl"])
def test_a_bad_first_line_does_not_decide_for_the_rest(
    tmp_path: Path, name: str, first: bytes, told: int
) -> None:
    rows = "凪\t種類\t犬\n波\t種類\t猫\n"
    if name == "k.jsonl":
        rows = jsonl([said("凪", "種類", "犬"), said("波", "種類", "猫")])
        first = first.replace(b"a title", b'{"subject": ')
    found = outcomes(tmp_path, name, first + rows.encode())
    assert [of.subject for of in triples(found) if of] == ["凪", "波"]
    assert len(failures(found)) == told


def test_lines_without_columns_are_no_triples(tmp_path: Path) -> None:
    (failure,) = outcomes(tmp_path, "k.tsv", "name\nx\ny\n")
    assert isinstance(failure, ReadFailure)
    assert "less than three columns" in failure.cause


@pytest.mark.parametrize(
    "table", ["氏名\t年齢\n凪\t30\n波\t40\n", "a\tb\tc\td\te\tf\n1\t2\t3\t4\t5\t6\n"]
)
def test_a_table_of_something_else_is_a_document(tmp_path: Path, table: str) -> None:
    (document,) = outcomes(tmp_path, "k.tsv", table)
    assert document.kind == "csv"


def test_derivations_of_questions_are_read_once_each(tmp_path: Path) -> None:
    questions = [
        {
            "qid": "a",
            "question": "?",
            "derivations": [["凪", "職業", ["女優"]], ["波", "種類", "犬"]],
        },
        {"qid": "b", "question": "?", "derivations": [["凪", "職業", ["女優"]]]},
        {"qid": "c", "question": "?", "derivations": [["凪", "職業"]]},
        {"qid": "d", "question": "?", "derivations": 3},
        {"qid": "e", "question": "?", "derivations": [["灯", "職業", [7]]]},
    ]
    found = outcomes(tmp_path, "train.json", json.dumps(questions))
    assert triples(found) == [Triple("凪", "職業", ("女優",)), Triple("波", "種類", ("犬",))]
    assert [one.source for one in failures(found)] == [f"train.json:{n}" for n in (3, 4, 5)]


def test_the_shared_triples_are_all_read(shared_data: Path) -> None:
    folder = shared_data / "jemhopqa"
    found = list(stream(folder / "triples.jsonl"))
    assert len(triples(found)) == 2_186
    assert failures(found) == failures(list(stream(folder / "train.json"))) == []

"""Tables of questions: rows read, isolated and refused."""

import csv
import io
import json
import os
import threading
from pathlib import Path

import pytest

from localrag.errors import InputError, NotFoundError
from localrag.ops.batch.table import open_table
from localrag.ops.batch.types import QuestionRow, Row, UnreadableRow
from localrag.text.facts import Fact, FactKind

from ....rows import each


def rows(content: bytes | str, tmp_path: Path, suffix: str = ".jsonl") -> list[Row]:
    path = tmp_path / f"table{suffix}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with open_table(path) as table:
        found = list(table.rows())
        again = [row.line for row in table.rows()]
    assert again == [row.line for row in found], "a table can be read as often as needed"
    return found


def refused(content: bytes | str, tmp_path: Path, suffix: str = ".jsonl") -> str:
    path = tmp_path / f"table{suffix}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with open_table(path) as table, pytest.raises(InputError) as caught:
        table.check()
    assert caught.value.cure
    return caught.value.cause


def asked(row: Row) -> tuple[str, str, tuple[str, ...]]:
    assert isinstance(row, QuestionRow), row
    return row.id, row.query.text, row.query.options


def problem(row: Row) -> str:
    assert isinstance(row, UnreadableRow), row
    return row.problem.cause


def test_json_lines(tmp_path: Path) -> None:
    content = (
        '\ufeff{"question": "水位は何か"}\r\n'
        "\n"
        '{"id": 7, "question": "a?", "options": ["x", "y"], "law": "b"}\n'
        '{"id": "q", "question": "b?", "options": {"a": "x", "b": "y"}}'
    )
    found = rows(content, tmp_path)
    assert [asked(row) for row in found] == [
        ("", "水位は何か", ()),
        ("7", "a?", ("x", "y")),
        ("q", "b?", ("x", "y")),
    ]
    assert [(row.row, row.line) for row in found] == [(1, 1), (2, 3), (3, 4)]


def test_csv(tmp_path: Path) -> None:
    content = (
        "\ufeffid,question,option_a,option_b,note\r\n"
        '1,"水位, 又は\n""風速""は?",はい,いいえ,n\r\n'
        "\r\n"
        ",b?,,\r\n"
    )
    found = rows(content, tmp_path, ".csv")
    assert [asked(row) for row in found] == [
        ("1", '水位, 又は\n"風速"は?', ("はい", "いいえ")),
        ("", "b?", ()),
    ]
    assert [row.line for row in found] == [2, 5]


def test_the_content_tells_the_format_where_the_name_does_not(tmp_path: Path) -> None:
    assert asked(rows('{"question": "a?"}', tmp_path, "")[0]) == ("", "a?", ())
    assert asked(rows("question\na?\n", tmp_path, ".txt")[0]) == ("", "a?", ())


def test_documents_that_alone_are_searched(tmp_path: Path) -> None:
    rows_ = rows('{"question": "a?", "documents": ["x", "y"]}\n{"question": "a?"}\n', tmp_path)
    found = [row.query.filters.documents for row in rows_ if isinstance(row, QuestionRow)]
    assert found == [("x", "y"), ()]


@pytest.mark.parametrize(
    ("content", "suffix"),
    [
        ('{"question": "a?", "where": {"kind": ["Act", "Rule"], "chapter": "罰則"}}', ".jsonl"),
        ('{"question": "a?", "where": "kind=Act; kind=Rule;chapter = 罰則"}', ".jsonl"),
        ("question,where\na?,kind=Act; kind=Rule; chapter=罰則", ".csv"),
    ],
)
def test_what_the_documents_are_told_apart_by(content: str, suffix: str, tmp_path: Path) -> None:
    (row,) = rows(content, tmp_path, suffix)
    assert isinstance(row, QuestionRow)
    assert row.query.filters.where == (("kind", "Act"), ("kind", "Rule"), ("chapter", "罰則"))


LABELLED = {
    "columns of kana": ("question,選択肢ア,選択肢 イ\na?,十人,百人\n", ("ア", "イ")),
    "columns in circles": ("question,選択肢①,選択肢②\na?,十人,百人\n", ("①", "②")),
    "columns, one of them empty": (
        "question,選択肢1,選択肢2,選択肢3\na?,十人,,百人\n", ("1", "3")
    ),
    "columns of letters": ("question,Option_A,option_B\na?,十人,百人\n", ("A", "B")),
    "kana alone": ("番号,質問,ア,イ,正解\n1,a?,十人,百人,ア\n", ("ア", "イ")),
    "letters alone": ("質問,配点,A,B,C\na?,5,十人,百人,\n", ("A", "B")),
    "wide figures alone": ("質問,１,,２\na?,十人,,百人\n", ("１", "２")),
    "circles alone": ("質問,①,②,③,④\na?,十人,百人,,\nb?,10,20,,\n", ("①", "②")),
    "the usual letters alone": ("question,a,b\na?,十人,百人\n", ()),
    "the usual columns": ("question,option_a,option_b\na?,十人,百人\n", ()),
    "lines of a cell": ('question,選択肢\na?,"ア　十人\nイ　百人"\n', ("ア", "イ")),
    "lines with circles": ('question,選択肢\na?,"①十人\n② 百人"\n', ("①", "②")),
    "lines with brackets": ('question,選択肢\na?,"（１）十人\n（２）百人"\n', ("１", "２")),
    "lines without": ('question,選択肢\na?,"十人\n百人"\n', ()),
    "an object": ('{"question": "a?", "options": {"イ": "十人", "ロ": "百人"}}', ("イ", "ロ")),
    "the usual object": ('{"question": "a?", "options": {"a": "十人", "b": "百人"}}', ()),
    "another order": ('{"question": "a?", "options": {"b": "十人", "a": "百人"}}', ("b", "a")),
    "a list": ('{"question": "a?", "options": ["1. 十人", "2. 百人"]}', ("1", "2")),
}  # fmt: skip


@each(("content", "labels"), LABELLED.values())
def test_options_keep_the_labels_they_have(
    tmp_path: Path, content: str, labels: tuple[str, ...]
) -> None:
    row, *_ = rows(content, tmp_path, ".jsonl" if content.startswith("{") else ".csv")
    assert asked(row)[2] == ("十人", "百人")
    assert isinstance(row, QuestionRow)
    assert row.labels == labels


def test_options_headed_by_labels_alone_are_told(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("番号,質問,ア,イ,ウ\n1,a?,十人,百人,千人\n", encoding="utf-8")
    with open_table(path) as table:
        table.check()
        assert table.told == {Fact(FactKind.TABLE_OPTIONS, names=("ア", "イ", "ウ"))}
        assert not table.unused


HEADED_ALIKE = {
    "one": ("質問,A\n", "a?,営業部\n"),
    "months": ("質問," + ",".join(map(str, range(1, 13))) + "\n", "a?,三件,二件\n"),
    "months of a business year": ("質問,4,5,6,7,8,9,10,11,12,1,2,3\n", "a?" + ",三件" * 12),
    "not from the first": ("質問,B,C\n", "a?,甲,乙\n"),
    "one is missing": ("質問,ア,ウ\n", "a?,甲,乙\n"),
    "apart": ("質問,ア,備考,イ\n", "a?,甲,,乙\n"),
    "one of another kind": ("質問,ア,イ,1\n", "a?,甲,乙,丙\n"),
    "before the question": ("A,B,質問\n", "甲,乙,a?\n"),
    "counts": ("設問,1,2,3,計\n", "a?,12,3,0,15\nb?,8,4,3,15\n"),
    "marks": ("質問,A,B,C\n", "a?,○,,\nb?,,レ,\n"),
    "counts below a legend": ("設問,1,2\n", ",はい,いいえ\na?,12,3\nb?,8,7\n"),
}


@each(("header", "below"), HEADED_ALIKE.values())
def test_columns_that_are_only_headed_like_options(tmp_path: Path, header: str, below: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(header + below, encoding="utf-8")
    with open_table(path) as table:
        row = next(row for row in table.check().rows() if isinstance(row, QuestionRow))
        assert not row.query.options
        assert not table.told
        assert table.unused
        assert table.unused <= set(header.strip().split(","))


def test_beside_named_options_what_is_headed_like_one_is_none(tmp_path: Path) -> None:
    (row,) = rows("質問,選択肢1,選択肢2,A,B\na?,十人,百人,甲,乙\n", tmp_path, ".csv")
    assert asked(row)[2] == ("十人", "百人")


@each(
    "options",
    [
        ["1.5 m", "2.5 m", "3.7 m"],
        ["1 日", "2 週間"],
        ["1:30", "2:45"],
        ["一 年", "二 年"],
        ["ア　十人", "百人"],
        ["イ　十人", "ハ　百人"],
        ["1. 十人", "2. 十人"],
        ["1. 十人"],
    ],
)
def test_what_only_looks_like_a_label_stays(tmp_path: Path, options: list[str]) -> None:
    (row,) = rows(json.dumps({"question": "a?", "options": options}), tmp_path)
    assert asked(row)[2] == tuple(options)
    assert isinstance(row, QuestionRow)
    assert not row.labels


def test_names_of_fields_that_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"question": "a?", "choices": [], "level": 1}\n')
    with open_table(path) as table:
        table.check()
        assert table.unused == {"choices", "level"}


BAD_LINES = {
    "no JSON": (b"nonsense", "not JSON"),
    "no object": (b"[1]", "not a JSON object"),
    "no question": (b'{"id": "x"}', "no question"),
    "blank question": (b'{"question": " "}', "no question"),
    "question of another kind": (b'{"question": ["a"]}', "not a text"),
    "no word": ('{"question": "？！"}'.encode(), "holds no word"),
    "too long": (json.dumps({"question": "あ" * 10_001}).encode(), "10,001 characters"),
    "id of another kind": (b'{"id": true, "question": "a?"}', "The id"),
    "options of another kind": (b'{"question": "a?", "options": "x|y"}', "The options"),
    "documents of another kind": (b'{"question": "a?", "documents": "x"}', "The documents"),
    "where of another kind": (b'{"question": "a?", "where": 3}', "cannot be read"),
    "where without a value": (b'{"question": "a?", "where": {"kind": []}}', "cannot be read"),
    "where with a number": (b'{"question": "a?", "where": {"year": 1993}}', "cannot be read"),
    "where that is no label": (b'{"question": "a?", "where": "Act"}', "no filter"),
    "half a character in a value": (
        b'{"question": "a?", "where": {"kind": "\\ud800"}}',
        "not valid UTF-8",
    ),
    "no document": (b'{"question": "a?", "documents": []}', "The documents"),
    "an option of another kind": (b'{"question": "a?", "options": [1]}', "The options"),
    "not UTF-8": ('{"question": "水位"}'.encode("cp932"), "not valid UTF-8"),
    "half a character": (b'{"question": "a\\ud800"}', "not valid UTF-8"),
    "a huge number": (b'{"question": ' + b"9" * 5000 + b"}", "number that is too long"),
    "nested deeply": (b"[" * 200_000, "nested too deeply"),
    "a huge line": (b'{"question": "' + b"a" * 1_000_001 + b'"}', "longer than 1,000,000 bytes"),
}


@each(("line", "cause"), BAD_LINES.values())
def test_a_bad_line_is_isolated(tmp_path: Path, line: bytes, cause: str) -> None:
    good = b'{"question": "a?"}\n'
    first, bad, last = rows(good + line + b"\n" + good, tmp_path)
    assert cause in problem(bad)
    assert asked(first) == asked(last) == ("", "a?", ())
    assert last.line == 3


@each(
    ("line", "cause"),
    [
        (b"1,a, b?,,", "5 fields, the header 3"),
        (b'1,"a"b?,', "not CSV"),
        ("1,水位,".encode("cp932"), "not valid UTF-8"),
        (b"1", "no question"),
    ],
)
def test_a_bad_row_of_csv_is_isolated(tmp_path: Path, line: bytes, cause: str) -> None:
    good = "id,question,option_a\n0,水?,\n".encode()
    found = rows(good + line + b"\n2,b?,x\n", tmp_path, ".csv")
    assert cause in problem(found[1])
    assert asked(found[2]) == ("2", "b?", ("x",))


@pytest.mark.parametrize(
    ("table", "cure"),
    [
        ('{"question": ""}', 'a field "question"'),
        ("id,question\n1,", 'the column "question"'),
        ("番号,ご質　問\n1,", 'the column "ご質 問"'),
    ],
)
def test_where_a_question_is_missing_is_told_as_the_table_calls_it(
    tmp_path: Path, table: str, cure: str
) -> None:
    (row,) = rows(table, tmp_path, ".jsonl" if table.startswith("{") else ".csv")
    assert isinstance(row, UnreadableRow)
    assert cure in row.problem.cure


@pytest.mark.parametrize("row", ["1,水は?,x,y", "1,水は？\ud800,"])
def test_a_row_that_cannot_be_asked_keeps_its_id_and_its_question(row: str, tmp_path: Path) -> None:
    line = row.encode(errors="surrogatepass")
    found = rows(b"id,question,option_a\n" + line + b"\n", tmp_path, ".csv")[0]
    assert isinstance(found, UnreadableRow)
    assert (found.id, found.question) == ("1", "" if "\ud800" in row else "水は?")


@each(
    ("encoding", "separator", "told"),
    [
        ("euc_jp", ",", {FactKind.TABLE_EUC_JP}),
        ("cp932", "\t", {FactKind.TABLE_ENCODING, FactKind.TABLE_TABS}),
        ("utf-8-sig", ";", {FactKind.TABLE_SEMICOLONS}),
        ("utf-8", ",", set()),
    ],
)
def test_separators_and_encodings_are_told_apart(
    encoding: str, separator: str, told: set[FactKind], tmp_path: Path
) -> None:
    lines = (("番　号", "質 問", "選択肢 1"), ("1", "水位, 風速;は何か", "はい"))
    path = tmp_path / "t.csv"
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=separator).writerows(lines)
    with open_table(path) as table:
        assert asked(*table.rows()) == ("1", "水位, 風速;は何か", ("はい",))
        assert {fact.kind for fact in table.told} == told


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_titles_may_stand_above_the_header(tmp_path: Path, separator: str) -> None:
    lines = [
        ("質問一覧（2026年）", "", ""),
        (),
        ('担当は"法務部"', "", ""),
        ("質問", "", ""),
        ("番号", "質問", "選択肢"),
        ("1", "水位は\nいくらか", "ア　十人\nイ　百人"),
        ("2", "質問", ""),
    ]
    path = tmp_path / "t.csv"
    with path.open("w", encoding="cp932", newline="") as file:
        csv.writer(file, delimiter=separator, lineterminator="\r\n").writerows(lines)
    with open_table(path) as table:
        first, second = table.check().rows()
        assert asked(first) == ("1", "水位は\nいくらか", ("十人", "百人"))
        assert (first.line, second.line) == (6, 9)
        assert asked(second) == ("2", "質問", ())
        assert Fact(FactKind.TABLE_HEADER, line=5) in table.told


def test_a_row_below_the_header_that_names_columns_twice_is_no_header(tmp_path: Path) -> None:
    found = rows("番号,質問,備考\n1,a?,\n質問,設問,問題\n", tmp_path, ".csv")
    assert [asked(row)[1] for row in found] == ["a?", "設問"]


NO_TABLES = {
    "empty": (b"", ".jsonl", "holds no question"),
    "blank": (b" \n\n", ".csv", "holds no question"),
    "UTF-16": ("question\na?".encode("utf-16"), ".csv", "UTF-16"),
    "prose": ("渡し舟の話。\n二行目。\n".encode(), ".txt", "is a JSON object, or the header"),
    "prose as JSON": ("渡し舟の話。\n".encode(), ".jsonl", "not JSON"),
    "a JSON array": (b'[{"question": "a?"}]', ".json", "is a JSON object, or the header"),
    "binary": (bytes(range(256)) * 40, ".bin", "in none of the encodings that are read"),
    "ISO-2022-JP": ("番号,質問\n1,定員は\n".encode("iso2022_jp"), ".csv", "is ISO-2022-JP"),
    "UTF-16 without a mark": ("id,question\n1,定員は\n".encode("utf-16-le"), ".csv", "none of"),
    "several encodings": (
        "番号,質問\n".encode("cp932") + "1,定員は何人か\n".encode(),
        ".csv",
        "or in several: line 1.",
    ),
    "a header too far below": (b"a title\n" * 20 + b"id,question\n1,a?\n", ".csv", "first 20"),
    "another column": (b"id,query\n1,a?\n", ".csv", "'question'"),
    "lines that end with CR": (b"id,question\r1,a?\r", ".csv", "end with CR alone"),
    "only a header": (b"id,question\n", ".csv", "holds no question"),
    "options in one column": (b"question,options\na?,x|y\n", ".csv", "neither a list of texts"),
    "a column twice": (b"question,id,id\na?,1,2\n", ".csv", "id twice"),
    "no row can be asked": (b'{"query": "a?"}\n{}\n', ".jsonl", "no question"),
    "never closed": (b'id,question\n1,"a?\n2,b?\n', ".csv", "line 2 or soon after"),
    "a line without end": (b"question\n" + b"a" * 1_000_001, ".csv", "Line 2"),
}


@each(("content", "suffix", "cause"), NO_TABLES.values())
def test_what_is_no_table_is_refused(
    tmp_path: Path, content: bytes, suffix: str, cause: str
) -> None:
    assert cause in refused(content, tmp_path, suffix)


def test_an_id_twice_is_refused_with_its_lines(tmp_path: Path) -> None:
    lines = [json.dumps({"id": id_, "question": "a?"}) for id_ in ("p", "q", "p", "r", "q")]
    cause = refused("\n".join(lines), tmp_path)
    assert "'p' in lines 1, 3; 'q' in lines 2, 5" in cause


def test_rows_without_an_id_are_no_duplicates(tmp_path: Path) -> None:
    assert len(rows('{"question": "a?"}\n' * 3, tmp_path)) == 3


def test_a_missing_file(tmp_path: Path) -> None:
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(NotFoundError, match=str(path)), open_table(path):
            pass


def test_a_stream(tmp_path: Path) -> None:
    with open_table(io.BytesIO(b'{"question": "a?"}')) as table:
        assert len(list(table.rows())) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_cannot_be_rewound_is_copied(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"question\na?\nb?\n",))
    writer.start()
    with open_table(pipe) as table:
        assert len(list(table.rows())) == len(list(table.rows())) == 2
    writer.join()


def test_an_id_of_a_row_that_cannot_be_asked_is_taken(tmp_path: Path) -> None:
    content = '{"id": "q", "question": ""}\n{"id": "q", "question": "a?"}\n'
    assert "'q' in lines 1, 2" in refused(content, tmp_path)
    assert "'q' in lines 2, 3" in refused("id,question\nq,\nq,a?\n", tmp_path, ".csv")

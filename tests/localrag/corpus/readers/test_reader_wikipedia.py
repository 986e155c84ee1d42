"""Wikipedia: dumps of the search index, output of WikiExtractor, answers of the API."""

import bz2
import gzip
import json
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from localrag.corpus.readers import (
    Limits,
    LineBlock,
    Omission,
    ReadFailure,
    ResumePoint,
    read_piece,
    stream,
    supported,
)
from localrag.corpus.types import ALIAS, PASSAGES, TRIPLES, Document, Triple
from localrag.errors import InputError, to_install

from ....rows import each

SENTENCE = "海辺の灯台は夜の海を照らし、船はその光を頼りに港へ向かう。"
BOX = (
    "{{Infobox 灯台\n| 名称 = 白岬灯台\n| 高さ = 33m\n| 初点灯 = {{開始年月日|1899|4|1}}\n}}\n本文"
)


def page(title: str, text: str = SENTENCE, **fields: object) -> dict[str, object]:
    return {
        "title": title,
        "namespace": 0,
        "text": text,
        "wiki": "jawiki",
        "timestamp": "2025-12-29T01:02:03Z",
        "wikibase_item": "Q77",
        "category": ["日本の灯台"],
        "redirect": [],
        **fields,
    }


def bulk(*pages: dict[str, object], start: int = 1) -> bytes:
    lines = []
    for number, row in enumerate(pages, start=start):
        lines += [{"index": {"_type": "_doc", "_id": str(number)}}, row]
    return "".join(
        f"{json.dumps(line, ensure_ascii=False, separators=(',', ':'))}\n" for line in lines
    ).encode()


@each(
    ("name", "packed"),
    [
        ("jawiki-20211229-cirrussearch-content.json.gz", gzip.compress),
        ("jawiki_content-20260816-00000.json.bz2", bz2.compress),
        ("jawiki_content-20260816-00000.json", bytes),
        ("dump.jsonl", bytes),
    ],
)
def test_a_dump_of_the_search_index_by_any_name(name, packed, read_bytes):
    first, second = read_bytes(name, packed(bulk(page("白岬灯台"), page("黒岬灯台 (小説)"))))
    assert (first.id, first.title, first.kind) == ("白岬灯台", "白岬灯台", "wikipedia")
    assert first.metadata == {
        "wiki": "jawiki",
        "page_id": "1",
        "date": "2025-12-29",
        "wikidata": "Q77",
    }
    assert (second.id, second.source) == ("黒岬灯台 (小説)", f"{name}:4")
    assert [(p.layer, p.header, p.text) for p in first.passages] == [
        (PASSAGES, "白岬灯台", SENTENCE)
    ]


def test_passages_have_about_400_characters_and_end_at_a_sentence(read_one):
    document = read_one("x.json", bulk(page("白岬灯台", SENTENCE * 100)))
    lengths = [len(p.text) for p in document.passages]
    assert "".join(p.text for p in document.passages) == document.text
    assert all(p.text.endswith("。") for p in document.passages)
    assert min(lengths) > 250
    assert max(lengths) <= 530


def test_box_and_redirects_are_sentences_of_the_text_and_triples(read_one):
    redirects = [
        {"namespace": 0, "title": "白岬の灯台"},
        {"namespace": 0, "title": "白岬の灯台"},
        {"namespace": 4, "title": "企画"},
        {"namespace": 0, "title": "白岬灯台"},
    ]
    document = read_one("x.json", bulk(page("白岬灯台", redirect=redirects, source_text=BOX)))
    known = [p.triple for p in document.passages if p.layer == TRIPLES]
    assert known == [
        Triple("白岬灯台", predicate, (value,), "Wikipedia 白岬灯台", "2025-12-29")
        for predicate, value in [
            (ALIAS, "白岬の灯台"),
            ("名称", "白岬灯台"),
            ("高さ", "33m"),
            ("初点灯", "1899年4月1日"),
        ]
    ]
    assert all(p.text == p.triple.text for p in document.passages if p.triple)
    assert [section.title for section in document.sections] == ["基本情報"]
    facts = next(p for p in document.passages if p.header == "白岬灯台 > 基本情報")
    assert facts.layer == PASSAGES
    assert "白岬灯台の高さは33m。" in facts.text


@each(
    ("fields", "expected"),
    [
        ({"category": ["曖昧さ回避"]}, "yes"),
        ({"category": ["同名の地名", "地名の曖昧さ回避"]}, "yes"),
        ({"category": ["All disambiguation pages"]}, "yes"),
        ({"category": ["曖昧さ回避の研究者"]}, None),
    ],
)
def test_disambiguation_pages_are_recognisable(fields, expected, read_one):
    assert read_one("x.json", bulk(page("岬", **fields))).metadata.get("disambiguation") == expected


def test_what_is_no_article_is_left_out_and_counted(tmp_path):
    path = tmp_path / "x.json"
    path.write_bytes(bulk(page("企画", namespace=4), page("空", ""), page("白岬灯台")))
    outcomes = list(stream(path))
    assert [o for o in outcomes if isinstance(o, Omission)] == [
        Omission("pages that are no articles"),
        Omission("articles without text"),
    ]
    assert [o.line for o in outcomes if isinstance(o, ResumePoint)] == [2, 4, 6]


def test_reading_goes_on_in_the_middle_of_a_dump(tmp_path):
    path = tmp_path / "x.json.bz2"
    path.write_bytes(bz2.compress(bulk(*(page(f"灯台{n}") for n in range(6)))))
    whole = list(stream(path))
    assert (
        list(stream(path, after=6)) == whole[whole.index(ResumePoint(6, path.stat().st_size)) + 1 :]
    )


def test_pieces_give_what_the_whole_gives(tmp_path):
    limits = Limits(piece_bytes=500)
    path = tmp_path / "x.json.gz"
    bad = b'{"index":{"_id":"9"}}\n{broken\n\n'
    path.write_bytes(gzip.compress(bulk(*(page(f"灯台{n}") for n in range(9))) + bad))
    cut = list(stream(path, limits=limits, in_pieces=True))
    assert [type(outcome) for outcome in cut] == [LineBlock, ResumePoint] * (len(cut) // 2)
    assert len(cut) > 6
    read = [o for piece in cut[::2] for o in read_piece(piece, Limits())]
    assert read == [o for o in stream(path) if not isinstance(o, ResumePoint)]
    assert list(stream(path, limits=limits, in_pieces=True, after=cut[1].line)) == cut[2:]


BAD_PAGES = [
    (b"{", "not JSON"),
    (b"[1]", "not a JSON object"),
    (json.dumps(page("")).encode(), "no title"),
    (json.dumps(page("a") | {"title": ["b"]}).encode(), "not a string"),
    (json.dumps(page("a") | {"text": 3.5}).encode(), "not a string"),
    (json.dumps(page("a", "x" * 10_000)).encode(), "longer than"),
    (json.dumps(page("x" * 1_001)).encode(), "title has 1,001 characters"),
    (b'{"title": "\xff"}', "UTF-8"),
    (b'{"title": "a", "text": "\\ud800"}', "surrogate"),
]


@each(("line", "cause"), BAD_PAGES)
def test_a_bad_page_is_named_and_the_rest_goes_on(line, cause, read_bytes):
    data = bulk(page("甲")) + b'{"index":{}}\n' + line + b"\n" + bulk(page("乙"))
    first, failure, last = read_bytes("x.json", data, limits=Limits(line_bytes=5_000))
    assert (first.title, last.title) == ("甲", "乙")
    assert isinstance(failure, ReadFailure)
    assert cause in failure.cause
    assert failure.source == "x.json:4"
    assert failure.cure


@each(
    "odd",
    [
        {"redirect": "a"},
        {"redirect": [3, {"namespace": 0, "title": ""}]},
        {"category": None},
        {"timestamp": "yesterday"},
        {"timestamp": "9999-99-99T"},
        {"source_text": "{{" * 100_000},
        {"wikibase_item": None},
        {"timestamp": []},
        {"wikibase_item": {}, "wiki": 3.5, "source_text": ["a"], "page_id": []},
    ],
)
def test_odd_fields_cost_no_article(odd, read_one):
    assert read_one("x.json", bulk(page("白岬灯台", **odd))).text == SENTENCE


def test_a_dump_that_is_cut_off_gives_what_came_before(read_bytes):
    data = gzip.compress(bulk(*(page(f"灯台{n}", SENTENCE * n) for n in range(1, 400))))
    *documents, failure = read_bytes("x.json.gz", data[: len(data) * 3 // 4])
    assert len(documents) > 100
    assert "cut off" in failure.cause
    (failure,) = read_bytes("x.json.bz2", b"no archive")
    assert "damaged" in failure.cause


def test_a_dump_may_be_larger_than_a_whole_file(read_bytes):
    pages = [page(f"灯台{n}") for n in range(20)]
    assert len(read_bytes("x.json", bulk(*pages), limits=Limits(file_bytes=500))) == 20
    (failure,) = read_bytes("y.json", json.dumps(pages), limits=Limits(file_bytes=500))
    assert "more than 500" in failure.cause


def test_compressed_json_that_is_no_dump_is_refused_once(read_failure):
    failure = read_failure("x.json.gz", gzip.compress(b'[\n{"a": 1},\n{"a": 2}\n]'))
    assert "unknown format" in failure.cause
    assert ".jsonl" in failure.cure


def test_a_missing_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mwparserfromhell", None)
    for in_pieces in (False, True):
        path = tmp_path / "x.json"
        path.write_bytes(bulk(page("白岬灯台"), page("黒岬灯台")))
        (failure,) = stream(path, in_pieces=in_pieces)
        assert isinstance(failure, ReadFailure)
        assert failure.cure == str(to_install("wikipedia"))


def extract(title: str, text: str, page_id: int = 5) -> str:
    url = f"https://ja.wikipedia.org/wiki?curid={page_id}"
    return f'<doc id="{page_id}" url="{url}" title="{title}">\n{title}\n\n{text}\n\n</doc>\n'


def test_text_of_wikiextractor(read_bytes):
    assert supported(Path("AA/wiki_00"))
    assert supported(Path("AB/wiki_12.bz2"))
    data = extract("白岬灯台", "灯台 &lt;1&gt; である。\n二行目。") + extract(
        '"岬"と呼ばれて', "歌。", 6
    )
    first, second = read_bytes("wiki_00", data)
    assert (first.id, first.kind, first.text) == (
        "白岬灯台",
        "wikipedia",
        "灯台 <1> である。\n二行目。",
    )
    assert first.metadata == {"wiki": "jawiki", "page_id": "5"}
    assert second.id == '"岬"と呼ばれて'
    assert read_bytes("wiki_01.bz2", bz2.compress(data.encode()))[0].text == first.text


def test_bad_extracts_are_named_and_the_rest_goes_on(read_bytes):
    good = extract("白岬灯台", SENTENCE)
    data = good.encode() + b'<doc id="9">\n\xff\n</doc>\nstray\n</doc>\n' + good.encode()
    outcomes = read_bytes("wiki_00", data + extract("長", "x" * 999).encode() + b"<doc id=",
                          limits=Limits(line_bytes=500))  # fmt: skip
    failures = [outcome for outcome in outcomes if isinstance(outcome, ReadFailure)]
    assert [outcome.source for outcome in failures] == [
        "wiki_00:7",
        "wiki_00:10",
        "wiki_00:18",
        "wiki_00:24",
    ]
    assert [f.cause for f in failures] == [
        "The article is not valid UTF-8.",
        "No article begins here.",
        "The line is longer than 500 bytes.",
        "The article is cut off.",
    ]
    assert len(outcomes) == 6


def test_lines_of_wikiextractor_and_of_published_extracts(read_bytes):
    row = {"id": "5", "url": "https://ja.wikipedia.org/wiki/x", "title": "白岬灯台", "text": "岬。"}
    (document,) = read_bytes("wiki_00", json.dumps(row))
    assert (document.id, document.kind) == ("白岬灯台", "wikipedia")
    (other,) = read_bytes("x.jsonl", json.dumps(row | {"url": "https://example.org/"}))
    assert (other.id, other.kind) == ("5", "jsonl")


@pytest.mark.parametrize("as_list", [True, False])
def test_an_answer_of_the_api(as_list, read_bytes):
    text = "灯台である。\n\n\n== 歴史 ==\n建てた。\n\n\n=== 明治 ===\n光った。"
    pages = {
        "5": {"pageid": 5, "ns": 0, "title": "白岬灯台", "extract": text},
        "-1": {"title": "無"},
    }
    answer = {"query": {"pages": list(pages.values()) if as_list else pages}}
    document, failure = read_bytes("api.json", json.dumps(answer))
    assert (document.id, document.metadata["page_id"]) == ("白岬灯台", "5")
    assert [(p.header, p.text) for p in document.passages] == [
        ("白岬灯台", "灯台である。"),
        ("白岬灯台 > 歴史", "建てた。"),
        ("白岬灯台 > 歴史 > 明治", "光った。"),
    ]
    assert failure.source == "api.json:2"
    assert "no text" in failure.cause


@pytest.mark.parametrize("missing", [True, ""])
def test_a_page_that_the_api_does_not_find_is_left_out(missing, tmp_path):
    path = tmp_path / "api.json"
    pages = [{"title": "無", "missing": missing}, {"title": "甲", "extract": SENTENCE}]
    path.write_text(json.dumps({"query": {"pages": pages}}), encoding="utf-8")
    omission, document = stream(path)
    assert omission == Omission("pages that the wiki does not have")
    assert document.title == "甲"


def test_a_record_of_an_index_is_no_action(read_one):
    line = json.dumps({"index": 0, "id": "a", "title": "t", "text": SENTENCE})
    assert read_one("x.jsonl", line).id == "a"
    line = json.dumps({"index": {"n": 0}, "id": "b", "title": "t", "text": SENTENCE})
    assert read_one("x.jsonl", line).id == "b"
    spaced = b'{ "index" : { "_id" : "7" } }\n' + bulk(page("甲")).split(b"\n")[1]
    assert read_one("x.json", spaced).metadata["page_id"] == "7"


def test_announced_pages_that_are_missing_are_counted(tmp_path):
    path = tmp_path / "x.json"
    action = b'{"index":{"_id":"9"}}\n'
    path.write_bytes(action * 3 + bulk(page("甲")) + action * 2)
    outcomes = [o for o in stream(path) if not isinstance(o, ResumePoint)]
    omissions = [o for o in outcomes if isinstance(o, Omission)]
    assert omissions == [Omission("announced pages that are missing")] * 4
    (document,) = [o for o in outcomes if isinstance(o, Document)]
    assert document.metadata["page_id"] == "1"
    problem = InputError(
        "The dump ends before the page that this line announces.",
        "Check whether the file is complete.",
    )
    assert outcomes[-1] == ReadFailure("x.json:7", problem)


def test_a_blank_line_parts_no_page_from_its_action(read_one):
    data = bulk(page("甲")).replace(b"\n", b"\n\n")
    assert read_one("x.json", data).metadata["page_id"] == "1"


@each("action", [b"", b'{"index":{"_id":"9"}}\n'])
@each("line", [json.dumps(page("甲")).encode() + b"\n", b"\n"])
def test_pieces_stay_small_whatever_the_order_of_lines(action, line, tmp_path):
    limits = Limits(piece_bytes=2_000)
    path = tmp_path / "x.json"
    path.write_bytes(bulk(page("乙")) + line * 100 + action * 100 + bulk(page("丙")))
    cut = list(stream(path, limits=limits, in_pieces=True))
    pieces = [piece for piece in cut if isinstance(piece, LineBlock)]
    assert max(sum(len(line) for _, line in piece.lines) for piece in pieces) < 3_000
    assert max(len(piece.lines) for piece in pieces) < 30
    numbers = [number for piece in pieces for number, _ in piece.lines]
    assert numbers == list(range(1, len(numbers) + 1))
    read = [o for piece in pieces for o in read_piece(piece, Limits())]
    assert read == [o for o in stream(path) if not isinstance(o, ResumePoint)]


def test_a_dump_without_actions_is_named_for_what_it_is(read_failure):
    lines = b"".join(bulk(page("甲"), page("乙")).splitlines(keepends=True)[1::2])
    for name, data in (("x.json", lines), ("x.json.gz", gzip.compress(lines))):
        failure = read_failure(name, data)
        assert "looks like a dump" in failure.cause
        assert "no action" in failure.cause
        assert "npack" not in failure.cure


@pytest.mark.parametrize("name", ["x.json", "x.json.gz"])
def test_a_byte_order_mark_is_passed_over(name, read_bytes):
    data = b"\xef\xbb\xbf" + bulk(page("甲"), page("乙"))
    first, _ = read_bytes(name, gzip.compress(data) if name.endswith("gz") else data)
    assert (first.title, first.metadata["page_id"]) == ("甲", "1")


def test_dumps_inside_a_zip_are_read_as_outside(read_bytes):
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a/wiki.txt", extract("甲", SENTENCE) + extract("乙", SENTENCE, 6))
        archive.writestr("dump.json", bulk(page("丙")))
        archive.writestr("plain.txt", SENTENCE)
    *articles, text = read_bytes("x.zip", packed.getvalue())
    assert [o.title for o in articles] == ["甲", "乙", "丙"]
    assert {o.kind for o in articles} == {"wikipedia"}
    assert text.kind == "text"


def test_an_article_without_its_end_does_not_swallow_the_next(tmp_path):
    path = tmp_path / "wiki_00"
    cut = extract("甲", SENTENCE).removesuffix("</doc>\n")
    path.write_text(cut + extract("乙", SENTENCE) + cut, encoding="utf-8")
    failure, mark, document, _, last = stream(path)
    assert failure.source == "wiki_00:1"
    assert failure.cause == "The next article begins before this one ends."
    assert mark.line == cut.count("\n")
    assert document.title == "乙"
    assert "cut off" in last.cause

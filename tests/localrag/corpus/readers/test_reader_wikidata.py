"""Dumps of Wikidata: names from the whole file, and every kind of value."""

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

from localrag.corpus.readers import ReadFailure, ResumePoint, stream
from localrag.corpus.readers.types import Omission
from localrag.corpus.types import ALIAS, Document, Triple

from ....rows import each

ENTITY = "http://www.wikidata.org/entity/"
GREGORIAN, JULIAN = f"{ENTITY}Q1985727", f"{ENTITY}Q1985786"


def entity(id_: str, labels: dict[str, str], **more: Any) -> dict[str, Any]:
    return {
        "type": "property" if id_.startswith("P") else "item",
        "id": id_,
        "labels": {of: {"language": of, "value": label} for of, label in labels.items()},
        "descriptions": {},
        "aliases": {},
        "claims": {},
        "sitelinks": {},
        "lastrevid": 1,
        "modified": "2021-08-23T10:11:12Z",
        **more,
    }


def claim(property_: str, datatype: str, value: object, rank: str = "normal") -> dict[str, Any]:
    snak = {
        "snaktype": "value",
        "property": property_,
        "datatype": datatype,
        "datavalue": {"value": value, "type": "any"},
    }
    return {"mainsnak": snak, "type": "statement", "rank": rank, "qualifiers": {}}


def time(written: str, precision: int, calendar: str = GREGORIAN) -> dict[str, object]:
    return {"time": written, "precision": precision, "calendarmodel": calendar, "timezone": 0}


def dump(*entities: object) -> bytes:
    lines = (json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in entities)
    return ("[\n" + ",\n".join(lines) + "\n]\n").encode()


def outcomes(
    folder: Path, data: bytes, name: str = "dump.json", after: int = 0
) -> list[Document | ReadFailure | Omission | ResumePoint]:
    path = folder / name
    path.write_bytes(data)
    return list(stream(path, after=after))


def triples(folder: Path, *entities: object) -> list[Triple | None]:
    found = outcomes(folder, dump(*entities))
    return [of.triple for one in found if isinstance(one, Document) for of in one.passages]


NAMES = [
    entity("Q17", {"ja": "瑞穂国", "en": "Mizuho"}),
    entity("Q11", {"ja": "尋"}),
    entity("P1", {"ja": "国籍"}),
    entity("P2", {"mul": "身長"}),
    entity("P3", {"en": "height"}),
]


def said(folder: Path, *claims: dict[str, Any]) -> list[str]:
    """The values read from claims on P1."""
    item = entity("Q1", {"ja": "凪"}, claims={"P1": list(claims)})
    return [value for of in triples(folder, item, *NAMES) if of for value in of.objects]


def test_an_item_is_a_document_and_names_are_found_wherever_they_stand(tmp_path: Path) -> None:
    item = entity(
        "Q1",
        {"ja": "凪", "en": "Nagi"},
        aliases={"ja": [{"language": "ja", "value": "波野凪"}]},
        sitelinks={"jawiki": {"site": "jawiki", "title": "凪 (女優)"}},
        claims={
            "P1": [claim("P1", "wikibase-item", {"entity-type": "item", "id": "Q17"})],
            "P2": [claim("P2", "quantity", {"amount": "+1.5", "unit": f"{ENTITY}Q11"})],
            "P3": [claim("P3", "quantity", {"amount": "-3", "unit": "1"})],
        },
    )
    found = outcomes(tmp_path, dump(item, *NAMES))
    (document,) = [one for one in found if isinstance(one, Document)]
    about = ("Wikidata Q1", "2021-08-23")
    assert (document.id, document.title, document.kind) == ("wikidata:Q1", "凪 (女優)", "wikidata")
    assert document.metadata == {"wikidata": "Q1", "date": "2021-08-23"}
    assert [of.triple for of in document.passages] == [
        Triple("凪 (女優)", ALIAS, ("凪", "波野凪"), *about),
        Triple("凪 (女優)", "国籍", ("瑞穂国",), *about),
        Triple("凪 (女優)", "身長", ("1.5尋",), *about),
        Triple("凪 (女優)", "height", ("-3",), *about),
    ]


@each(
    ("value", "words"),
    [
        (time("+1986-04-14T00:00:00Z", 11), "1986年4月14日"),
        (time("+1986-04-14T00:00:00Z", 14), "1986年4月14日"),
        (time("+1986-04-00T00:00:00Z", 10), "1986年4月"),
        (time("+1986-04-14T00:00:00Z", 9), "1986年"),
        (time("+1986-00-00T00:00:00Z", 11), "1986年"),
        (time("+1980-00-00T00:00:00Z", 8), "1980年代"),
        (time("+1900-00-00T00:00:00Z", 7), "19世紀"),
        (time("+1901-00-00T00:00:00Z", 7), "20世紀"),
        (time("+2001-00-00T00:00:00Z", 6), "3千年紀"),
        (time("-0044-03-15T00:00:00Z", 11, JULIAN), "紀元前44年3月15日"),
        (time("-0300-00-00T00:00:00Z", 7), "紀元前3世紀"),
        (time("+0794-11-18T00:00:00Z", 11, JULIAN), "794年11月18日"),
        (time("+1700-01-01T00:00:00Z", 11, JULIAN), "1700年1月1日（ユリウス暦）"),
    ],
)
def test_a_time_is_written_as_exactly_as_it_is_known(
    tmp_path: Path, value: object, words: str
) -> None:
    assert said(tmp_path, claim("P1", "time", value)) == [words]


def test_texts_are_japanese_and_other_kinds_are_left_out(tmp_path: Path) -> None:
    claims = [
        claim("P1", "string", " 〒100 "),
        claim("P1", "monolingualtext", {"text": "海", "language": "ja"}),
        claim("P1", "monolingualtext", {"text": "sea", "language": "en"}),
        claim("P1", "external-id", "x"),
        claim("P1", "commonsMedia", "x.jpg"),
        claim("P1", "globe-coordinate", {"latitude": 1}),
    ]
    assert said(tmp_path, *claims) == ["〒100", "海"]


def test_the_preferred_statements_count_and_those_withdrawn_never(tmp_path: Path) -> None:
    ranked = [claim("P1", "string", rank, rank) for rank in ("normal", "deprecated", "preferred")]
    assert said(tmp_path, *ranked) == ["preferred"]
    assert said(tmp_path, *ranked[:2]) == ["normal"]
    unknown = claim("P1", "string", "x")
    unknown["mainsnak"] = {"snaktype": "somevalue", "property": "P1", "datatype": "string"}
    assert said(tmp_path, unknown) == []


def test_what_has_no_name_is_left_out_and_counted(tmp_path: Path) -> None:
    claims = {
        "P1": [
            claim("P1", "wikibase-item", {"id": "Q999"}),
            claim("P1", "time", time("-13000000000-00-00T00:00:00Z", 0)),
            claim("P1", "string", "海"),
        ],
        "P999": [claim("P999", "string", "a"), claim("P999", "string", "b")],
    }
    item = entity("Q1", {"ja": "凪"}, claims=claims)
    found = outcomes(tmp_path, dump(item, entity("Q5", {"en": "human"}), *NAMES))
    counts: dict[str, int] = {}
    for one in found:
        if isinstance(one, Omission):
            counts[one.what] = counts.get(one.what, 0) + one.count
    assert counts == {
        "values of Wikidata without a name in Japanese or English": 4,
        "entities of Wikidata without a Japanese name": 1,
        "entities of Wikidata of which nothing is said that is read": 2,
    }
    assert not [one for one in found if isinstance(one, ReadFailure)]


def test_what_is_empty_may_be_written_as_a_list(tmp_path: Path) -> None:
    empty = {"labels": [], "aliases": [], "claims": [], "sitelinks": []}
    assert triples(tmp_path, {**entity("Q1", {}), **empty}, *NAMES) == []
    item = {**entity("Q2", {"ja": "凪"}), **empty, "labels": {"ja": {"value": "凪"}}}
    item["claims"] = {"P1": [claim("P1", "string", "海")]}
    found = triples(tmp_path, item, *NAMES)
    assert found == [Triple("凪", "国籍", ("海",), "Wikidata Q2", "2021-08-23")]


@each(
    ("name", "pack"),
    [
        ("dump.json", bytes),
        ("dump.json.gz", gzip.compress),
        ("dump.json.bz2", bz2.compress),
        ("dump.json", lambda data: data.replace(b"[\n", b"[").replace(b"\n]", b"]")),
        ("dump.json", lambda data: b"\xef\xbb\xbf\n" + data.replace(b"\n", b"\r\n")),
        ("dump.jsonl", lambda data: data.replace(b"[\n", b"").replace(b"\n]", b"")),
        ("dump.jsonl", lambda data: data.replace(b"[\n", b"").replace(b"},\n", b"}\n")[:-2]),
    ],
)
def test_every_form_of_a_dump_is_read(
    tmp_path: Path, name: str, pack: Callable[[bytes], bytes]
) -> None:
    item = entity("Q1", {"ja": "凪"}, claims={"P1": [claim("P1", "string", "海")]})
    documents = [
        one
        for one in outcomes(tmp_path, pack(dump(item, *NAMES)), name)
        if isinstance(one, Document)
    ]
    assert [one.text for one in documents] == ["凪の国籍は海。\n"]


@each("name", ["dump.json", "dump.jsonl", "dump.json.gz", "dump.jsonl.xz"])
def test_a_dump_is_known_by_its_fields_however_they_are_spaced_and_ordered(
    tmp_path: Path, name: str
) -> None:
    item = entity("Q1", {"ja": "凪"}, claims={"P1": [claim("P1", "string", "海")]})
    bare = {key: item[key] for key in ("labels", "claims", "id")}
    lines = [json.dumps(one, ensure_ascii=False) for one in (bare, *NAMES)]
    data = ("[\n" + ",\n".join(lines) + "\n]\n").encode()
    pack = {".gz": gzip.compress, ".xz": lzma.compress}.get(Path(name).suffix, bytes)
    found = outcomes(tmp_path, pack(data), name)
    assert [one.text for one in found if isinstance(one, Document)] == ["凪の国籍は海。\n"]
    assert not [one for one in found if isinstance(one, ReadFailure)]


def test_records_with_such_an_id_are_no_dump(tmp_path: Path) -> None:
    record = {"id": "Q1", "type": "note", "text": "海の話。"}
    (document, _) = outcomes(tmp_path, json.dumps(record).encode(), "k.jsonl")
    assert isinstance(document, Document)
    assert (document.id, document.text) == ("Q1", "海の話。")


def test_a_line_that_is_no_entity_is_told(tmp_path: Path) -> None:
    found = outcomes(tmp_path, dump(NAMES[0], {"a": 1}, NAMES[1]))
    (failure,) = [one for one in found if isinstance(one, ReadFailure)]
    assert failure.source == "dump.json:3"
    assert "shape of Wikidata" in failure.cause


def test_reading_goes_on_after_a_mark_with_all_names_known(tmp_path: Path) -> None:
    names = [entity("P1", {"ja": "国籍"}), entity("Q17", {"ja": "瑞穂国"})]
    items = [
        entity(
            f"Q{n}", {"ja": f"舟{n}"}, claims={"P1": [claim("P1", "wikibase-item", {"id": "Q17"})]}
        )
        for n in range(100, 110)
    ]
    found = outcomes(tmp_path, dump(*names, *items))
    resumed = outcomes(tmp_path, dump(*names, *items), after=8)
    documents = [one for one in found if isinstance(one, Document)]
    assert [one for one in resumed if isinstance(one, Document)] == documents[5:]
    assert [one.line for one in resumed if isinstance(one, ResumePoint)] == list(range(9, 15))


@each(
    "bad",
    [
        b"{",
        b'{"type":"item"}',
        b'{"type":"item","id":"Q1","labels":{"ja":"x"}}',
        b'{"type":"item","id":"Q1","labels":{"ja":{"value":7}},"aliases":{"ja":[{"value":8}]}}',
        b'{"type":"item","id":"Q1","labels":{"ja":{"value":"x"}},"claims":{"P1":{}}}'[:-3] + b"7}}",
        b'{"type":"item","id":"Q1","labels":{"ja":{"value":"x"}},"claims":{"P1":[{"rank":"best"}]}}',
        b'{"type":"item","id":"Q1","labels":{"ja":{"value":"x"}},"claims":{"P1":[{"rank":"normal",'
        b'"mainsnak":{"snaktype":"value","datatype":"time","datavalue":{"value":{"time":"x"}}}}]}}',
        b'{"type":"item","id":"Q1","labels":{"ja":{"value":"\xff"}}}',
    ],
)
def test_a_bad_entity_is_named_and_the_rest_goes_on(tmp_path: Path, bad: bytes) -> None:
    item = dump(entity("Q2", {"ja": "凪"}, claims={"P1": [claim("P1", "string", "海")]}), *NAMES)
    found = outcomes(tmp_path, item.replace(b"\n]\n", b",\n" + bad + b"\n]\n"))
    (failure,) = [one for one in found if isinstance(one, ReadFailure)]
    assert failure.source == "dump.json:8"
    assert sum(isinstance(one, Document) for one in found) == 1


def test_a_cut_off_dump_gives_what_came_before_and_says_so(tmp_path: Path) -> None:
    items = [
        entity(f"Q{n}", {"ja": f"舟{n}"}, claims={"P1": [claim("P1", "string", f"{n * n}")]})
        for n in range(1, 3_000)
    ]
    packed = gzip.compress(dump(NAMES[2], *items))
    found = outcomes(tmp_path, packed[: len(packed) // 2], "dump.json.gz")
    assert isinstance(found[-1], ReadFailure)
    assert "cut off" in found[-1].cause
    assert sum(isinstance(one, Document) for one in found) > 100

"""Wikidata: dumps in JSON, an entity a line.

Statements name other entities by id, with labels anywhere in the dump. So the file is read twice:
for labels, kept in a temporary database, then for statements.

Shapes: https://doc.wikimedia.org/Wikibase/master/php/docs_topics_json.html
"""

import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import apsw

from localrag.corpus.database import scratch
from localrag.corpus.readers.bounds import Lines, complete, element, json_object
from localrag.corpus.readers.triples import triple, triples_document
from localrag.corpus.readers.types import Limits, Omission, ReadFailure, ResumePoint
from localrag.corpus.types import ALIAS, Document, Triple
from localrag.errors import InputError
from localrag.language import N_

_ENTITY = re.compile("([QP])([1-9][0-9]{0,15})")
# "mul" has names common to all languages.
_LANGUAGES = ("ja", "mul", "en")
_REMEMBERED = 20_000


class Labels:
    """The label of every entity by id; to be closed.

    An unnamed database, with some 30 bytes a label: 3 GB for all of Wikidata.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        # Countries, units and properties repeat often.
        self.get = lru_cache(_REMEMBERED)(self._get)

    @classmethod
    def of(cls, entities: Iterable[Mapping[str, Any]], aside: Path | None) -> Self:
        """Store the labels of entities: Japanese, else common, else English."""
        connection = scratch(aside)
        try:
            connection.execute("CREATE TABLE labels (key INTEGER PRIMARY KEY, label TEXT NOT NULL)")
            connection.executemany("INSERT OR REPLACE INTO labels VALUES (?, ?)", _labels(entities))
        except BaseException as error:
            connection.close()
            if not isinstance(error, apsw.Error):
                raise
            raise InputError(
                N_("The labels of the dump could not be kept aside ({problem})."),
                N_("Free space on the disk of the workspace."),
                problem=error,
            ) from error
        return cls(connection)

    def close(self) -> None:
        """Delete them."""
        self._connection.close()

    def _get(self, id_: str) -> str:
        key = _key(id_)
        found = (
            key
            and self._connection.execute(
                "SELECT label FROM labels WHERE key = ?", (key,)
            ).fetchone()
        )
        return str(found[0]) if found else ""


def _labels(entities: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, str]]:
    for entity in entities:
        labels, key = entity.get("labels"), _key(str(entity.get("id")))
        if key and isinstance(labels, dict):
            for language in _LANGUAGES:
                label = labels.get(language)
                if isinstance(label, dict) and isinstance(label.get("value"), str):
                    yield key, label["value"]
                    break


def _key(id_: str) -> int | None:
    found = _ENTITY.fullmatch(id_)
    return 2 * int(found[2]) + (found[1] == "P") if found else None


Label = Callable[[str], str]
"""The label of an id; "" if it has none."""

_TIME = re.compile(r"([+-])([0-9]{1,16})-([0-9]{2})-([0-9]{2})T.*")
_JULIAN = "Q1985786"
# Before, the Julian calendar is understood.
_FIRST_GREGORIAN_YEAR = 1583
_DAY, _MONTH, _YEAR, _DECADE, _CENTURY, _MILLENNIUM = 11, 10, 9, 8, 7, 6


def written(snak: Mapping[str, Any], label: Label) -> str | None:
    """The value of a statement in words; None for an unread kind, "" for a vague time.

    Other shapes raise the errors of Python's containers.
    """
    write = _KINDS.get(snak.get("datatype", ""))
    if write is None or snak["snaktype"] != "value":
        return None
    return write(snak["datavalue"]["value"], label)


def _quantity(value: Mapping[str, str], label: Label) -> str:
    amount = value["amount"].removeprefix("+")
    unit = value["unit"]
    if unit == "1":
        return amount
    name = label(unit.rpartition("/")[2])
    return f"{amount}{name}" if name else ""


def _time(value: Mapping[str, Any], _: Label) -> str:
    found = _TIME.fullmatch(value["time"])
    if not found:
        raise ValueError(f"no time: {value['time']!r}")
    sign, year, month, day = found[1], int(found[2]), int(found[3]), int(found[4])
    era = "紀元前" if sign == "-" else ""
    precision = value["precision"]
    if precision >= _MONTH and month and (day or precision == _MONTH):
        exact = precision >= _DAY
        date = f"{era}{year}年{month}月{f'{day}日' if exact else ''}"
        julian = value["calendarmodel"].endswith(f"/{_JULIAN}")
        told = exact and julian and not era and year >= _FIRST_GREGORIAN_YEAR
        return f"{date}（ユリウス暦）" if told else date
    if precision >= _YEAR:
        return f"{era}{year}年"
    if precision == _DECADE:
        return f"{era}{year // 10 * 10}年代"
    if precision == _CENTURY:
        return f"{era}{-(-year // 100)}世紀"
    if precision == _MILLENNIUM:
        return f"{era}{-(-year // 1000)}千年紀"
    return ""


_KINDS: Mapping[str, Callable[[Any, Label], str | None]] = {
    "wikibase-item": lambda value, label: label(value["id"]),
    "string": lambda value, _: value.strip(),
    "monolingualtext": lambda value, _: (
        value["text"].strip() if value["language"] == "ja" else None
    ),
    "quantity": _quantity,
    "time": _time,
}


KIND = "wikidata"

_ID = re.compile("[QP][1-9][0-9]*")

_UNNAMED = N_("entities of Wikidata without a Japanese name")
_SILENT = N_("entities of Wikidata of which nothing is said that is read")
_NAMELESS = N_("values of Wikidata without a name in Japanese or English")


def read_wikidata(
    name: str, lines: Lines, limits: Limits
) -> Iterator[Document | ReadFailure | Omission | ResumePoint]:
    """Read a document from every item with a Japanese name, a triple per property.

    The subject is the title of the page in the Japanese Wikipedia, else the Japanese label. Label
    and aliases become triples of `ALIAS`. Objects are items, times, quantities, strings and
    Japanese texts of the preferred statements, else of the normal ones.
    """
    with closing(Labels.of(_entities(lines, limits), limits.aside)) as labels:
        for number, line in lines:
            place = f"{name}:{number}"
            try:
                entity = _entity(complete(line, limits))
                if entity and entity.get("type") != "property":
                    yield from _item(entity, labels, place)
            except InputError as error:
                yield ReadFailure(place, error)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                problem = InputError(
                    N_("The entity has not the shape of Wikidata ({name}: {problem})."),
                    N_("Take the dump as it is published."),
                    name=type(error).__name__,
                    problem=str(error),
                )
                yield ReadFailure(place, problem)
            yield ResumePoint(number)


def holds_wikidata(first: bytes) -> bool:
    """Whether the first line shows a dump: an entity, in any spacing."""
    try:
        entity = _entity(first)
    except InputError:
        return False
    fields = {"type", "labels", "claims"} & entity.keys()
    return bool(_ID.fullmatch(str(entity.get("id")))) and len(fields) > 1


def _item(entity: Mapping[str, Any], labels: Labels, place: str) -> Iterator[Document | Omission]:
    id_, modified = str(entity["id"]), str(entity.get("modified", ""))[:10]
    label = _in_japanese(entity, "labels")
    page = entity.get("sitelinks") or {}
    subject = page["jawiki"]["title"] if "jawiki" in page else label
    if not subject:
        yield Omission(_UNNAMED)
        return
    source = f"Wikidata {id_}"
    aliases = [alias["value"] for alias in (entity.get("aliases") or {}).get("ja", ())]
    names = [other for other in (label, *aliases) if other and other != subject]
    triples = [triple(subject, ALIAS, names, source, modified)] if names else []
    nameless = 0
    for predicate, objects, lacking in _statements(entity, labels):
        nameless += lacking
        if predicate and objects:
            triples.append(triple(subject, predicate, objects, source, modified))
    if nameless:
        yield Omission(_NAMELESS, nameless)
    if triples:
        yield _document(id_, triples, modified, place)
    else:
        yield Omission(_SILENT)


def _document(id_: str, triples: list[Triple], modified: str, place: str) -> Document:
    metadata = {"wikidata": id_, **({"date": modified} if modified else {})}
    return triples_document(f"wikidata:{id_}", triples[0].subject, KIND, place, triples, metadata)


def _statements(entity: Mapping[str, Any], labels: Labels) -> Iterator[tuple[str, list[str], int]]:
    """Yield label and values of each property, and the number of values without a name."""
    for property_, statements in (entity.get("claims") or {}).items():
        by_rank: dict[str, list[Any]] = {"preferred": [], "normal": [], "deprecated": []}
        for statement in statements:
            by_rank[statement["rank"]].append(statement["mainsnak"])
        values = [written(snak, labels.get) for snak in by_rank["preferred"] or by_rank["normal"]]
        predicate = labels.get(property_)
        objects = [value for value in values if value]
        lacking = values.count("") + (0 if predicate else len(objects))
        yield predicate, objects, lacking


def _in_japanese(entity: Mapping[str, Any], field: str) -> str:
    value = (entity.get(field) or {}).get("ja")
    return value["value"] if value else ""


def _entities(lines: Lines, limits: Limits) -> Iterator[Mapping[str, Any]]:
    with suppress(InputError, OSError, EOFError, zlib.error, lzma.LZMAError):
        for _, line in lines.whole():
            with suppress(InputError):
                yield _entity(complete(line, limits))


def _entity(line: bytes) -> Mapping[str, Any]:
    bare = element(line)
    return json_object(bare) if bare else {}

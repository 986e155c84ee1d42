"""Wikidata: dumps in JSON, an entity a line.

What is said of an entity names others by id, and their labels stand anywhere in the dump. So the
file is read twice: first for the labels, which are kept aside on the disk, then for what is said.
Ids put into the store, to be resolved when they are read, would have kept it to one reading, but
then neither words nor vectors of the corpus would know a single name.
"""

import lzma
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from typing import Any

from localrag.corpus.readers.jsonl import Lines, complete, element, json_object
from localrag.corpus.readers.triples import triple, triples_document
from localrag.corpus.readers.types import Limits, Mark, Omission, ReadFailure
from localrag.corpus.readers.wikidata_labels import Labels
from localrag.corpus.readers.wikidata_values import written
from localrag.corpus.types import ALIAS, Document, Triple
from localrag.errors import InputError

KIND = "wikidata"

_ID = re.compile("[QP][1-9][0-9]*")

_UNNAMED = "entities of Wikidata without a Japanese name"
_SILENT = "entities of Wikidata of which nothing is said that is read"
_NAMELESS = "values of Wikidata without a name in Japanese or English"


def read_wikidata(
    name: str, lines: Lines, limits: Limits
) -> Iterator[Document | ReadFailure | Omission | Mark]:
    """Read a document from every item that has a Japanese name, a triple for each property.

    The subject is the title of the item's page in the Japanese Wikipedia, for it has the
    disambiguator where there is need of one, else the Japanese label; label and aliases are
    triples of the predicate `ALIAS`. A property counts with its preferred statements, or else with
    its normal ones. Objects are items, times, quantities, strings and Japanese texts; the other
    kinds (identifiers, media, coordinates …) are left out.

    Args:
        name: file name, for messages.
        lines: of the file: an array with an entity a line, or the entities alone.
        limits: bounds of a line.

    Raises:
        InputError: there is no room on the disk for the labels.
    """
    with closing(Labels.of(_entities(lines, limits))) as labels:
        for number, line in lines:
            place = f"{name}:{number}"
            try:
                entity = _entity(complete(line, limits))
                if entity and entity.get("type") != "property":
                    yield from _item(entity, labels, place)
            except InputError as error:
                yield ReadFailure(place, error.cause, error.cure)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                yield ReadFailure(
                    place,
                    f"The entity has not the shape of Wikidata ({type(error).__name__}: {error}).",
                    "Take the dump as it is published.",
                )
            yield Mark(number)


def holds_wikidata(first: bytes) -> bool:
    """Whether the first line of a file says that it is a dump: an entity, however it is spaced."""
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
    """Yield what each property says: its label, its values, and how many have no name."""
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
    """Yield the entities of the whole file; what cannot be read is told when it is read again."""
    with suppress(InputError, OSError, EOFError, zlib.error, lzma.LZMAError):
        for _, line in lines.whole():
            with suppress(InputError):
                yield _entity(complete(line, limits))


def _entity(line: bytes) -> Mapping[str, Any]:
    """Parse a line; empty for one that only opens or closes the array."""
    bare = element(line)
    return json_object(bare) if bare else {}

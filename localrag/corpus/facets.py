"""Facets of documents, and the documents with given values.

For statutes, values come from the file: kind, ministries in the law number, era and year in the id,
field, headings. `localrag prepare --layers metadata` adds values found by a model; they never
replace values of the file. Fields are the fifty categories of e-Gov's API (事項別分類); the XML of
a law has none.
"""

import json
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property, lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from localrag.corpus.database import Database
from localrag.corpus.states import INFO, DocumentInfo, enacted, info
from localrag.corpus.types import (
    ARTICLES,
    FACETS,
    PASSAGES,
    Document,
    Label,
    facet_name,
    kind_name,
    spellings_of_facet,
    spellings_of_kind,
)
from localrag.errors import NotFoundError, StoreError, UsageError
from localrag.language import N_, _
from localrag_indexes.analysis.normalize import common_year, compact, letters_of, parse_year

KIND = "kind"
"""Type of a statute (Act, CabinetOrder …), or format of another document."""
MINISTRY = "ministry"
FIELD = "field"
"""One of e-Gov's fifty categories."""
ERA = "era"
YEAR = "year"
CHAPTER = "chapter"
"""A heading without its number (罰則); a facet of passages, not documents."""
TOLD_BY_CODE = tuple(FACETS)
"""Facets found without a model, in display order."""

_CONSTITUTION = "憲法"
# 平成二十年厚生労働省令第十二号, 昭和二十七年人事院規則一一―四
_MADE = re.compile(
    r"(?:明治|大正|昭和|平成|令和)[元〇一二三四五六七八九十]+年"
    r"(?P<who>.+?)(?:令|規則|規程)(?:第[^号]*号|[〇一二三四五六七八九十百―]+)?"
)
# 政令, 勅令 and 閣令 are made by the cabinet and name no ministry.
_NOBODY = frozenset(["政", "勅", "閣"])
_NUMBER = re.compile(
    r"第[〇一二三四五六七八九十百千]+[編章節款目](?:の[一二三四五六七八九十]+)*[\s　]*"
)
_SUPPLEMENT_NAME = "附則"
_SUPPLEMENT = re.compile(r"附[\s　]*則")
# Values may contain semicolons; a label follows only a separating one.
_BEFORE_A_LABEL = re.compile("[;；](?=[^;；=＝]*[=＝])")
# 昭和50年, 平成元年, 1975年: the facet has years of the common era.
_OF_AN_ERA = re.compile("(明治|大正|昭和|平成|令和)?(元|[0-9〇一二三四五六七八九十百千]{1,4})年?")
# Share of equal characters. Two characters may differ in one: 政例 is like 政令.
_ALIKE, _ALIKE_OF_TWO = 0.6, 0.5
# Longer digit strings are no numbers.
_DIGITS = 18
# Values listed in an error, the most frequent first.
_NAMED = 12
# Often mistaken for facets; laws have an option of their own.
_LAW = frozenset(["law", "laws", "lawid", "法", "法令", "法令名", "法律", "法律名"])
# Number of cached label combinations, because clients may send any.
_KEPT = 64
# String fields of JSON records are facets too.
_RECORDS = "jsonl"


Where = Mapping[str, str | Sequence[str]]
"""Wanted values by facet; several values of one facet are alternatives."""


def labels(where: Where) -> tuple[Label, ...]:
    """Turn wanted values into labels; a value other than text is a UsageError."""
    found = []
    for key, values in where.items():
        for value in (
            [values] if isinstance(values, str) or not isinstance(values, Collection) else values
        ):
            if not isinstance(value, str):
                raise UsageError(
                    N_("{value!r} is no filter for documents."),
                    N_('Write it as {{"kind": "Act"}}, or "kind=Act".'),
                    value=value,
                )
            found.append(Label(key, value))
    return tuple(found)


def read_label(text: str) -> Label:
    """Read ``key=value``; another form is a UsageError."""
    # Japanese keyboards write a wide equals sign.
    key, equals, value = (part.strip() for part in text.replace("＝", "=", 1).partition("="))
    if not (key and equals and value):
        raise UsageError(
            N_("{text!r} is no filter for documents."),
            N_("Write it as KEY=VALUE, e.g. kind=Act."),
            text=text,
        )
    return Label(key, value)


def read_labels(text: str) -> tuple[Label, ...]:
    """Read several labels: ``kind=府省令; ministry=総務省``; none from an empty text."""
    parts = (part.strip(" 　;；") for part in _BEFORE_A_LABEL.split(text))
    return tuple(map(read_label, filter(None, parts)))


def value_name(label: Label) -> str:
    """The display name of a value; users may write it after the ``=``."""
    return kind_name(label.value) if label.key == KIND else label.value


def ministries(law_num: str) -> tuple[str, ...]:
    """Makers of an ordinance or rule, by its number: 総務省・経済産業省令第一号 has two."""
    made = _MADE.fullmatch(law_num)
    if made is None or made["who"] in _NOBODY:
        return ()
    parts = (part.removesuffix("規則").removesuffix("令") for part in made["who"].split("・"))
    return tuple(dict.fromkeys(parts))


def heading_name(title: str) -> str:
    """A heading without its number: 第二章の二 公開買付け is 公開買付け, every 附則 is 附則."""
    if _SUPPLEMENT.match(title):
        return _SUPPLEMENT_NAME
    found = _NUMBER.sub("", title, count=1) if _NUMBER.match(title) else title
    return " ".join((found or title).split())


def _plain(label: Label) -> str:
    """A value as stored: a heading without its number, a year of the common era."""
    if label.key == CHAPTER:
        return heading_name(label.value)
    written = _OF_AN_ERA.fullmatch(compact(label.value)) if label.key == YEAR else None
    if written is None:
        return label.value
    year = parse_year(written[2])
    return str(common_year(written[1], year) if written[1] else year)


def _key_and_name(key: str) -> str:
    name = facet_name(key)
    return key if name == key else _("{key} ({name})").format(key=key, name=name)


def _is_number(text: str) -> bool:
    return len(text) <= _DIGITS and text.isascii() and text.isdigit()


def _alike(written: str, values: Collection[str]) -> list[str]:
    """Close matches for a value in letters; for a number its neighbours in order."""
    if not _is_number(written):
        holding = [value for value in values if written and written in value]
        least = _ALIKE_OF_TWO if len(written) <= 2 else _ALIKE
        return holding or get_close_matches(written, values, n=3, cutoff=least)
    numbers = sorted(filter(_is_number, values), key=int)
    place = bisect_left(numbers, int(written), key=int)
    return numbers[place - 1 : place + 1] if 0 < place < len(numbers) else []


def labels_of(about: DocumentInfo | Document) -> Iterator[Label]:
    """Labels of a document without a model and without headings."""
    metadata = about.metadata
    if about.kind != "law":
        yield Label(KIND, about.kind)
        if about.kind == _RECORDS:
            # Users cannot write such keys. Headings are a facet of passages, and records have none.
            written = (
                key
                for key in metadata
                if key.strip() and not set("=＝") & set(key) and key != CHAPTER
            )
            yield from (Label(key, metadata[key]) for key in written if metadata[key])
        return
    law_type = metadata.get("law_type", "")
    if law_type:
        yield Label(KIND, law_type)
    yield from (Label(MINISTRY, name) for name in ministries(metadata.get("law_num", "")))
    if told := metadata.get("field") or (_CONSTITUTION if law_type == "Constitution" else ""):
        yield Label(FIELD, told)
    if when := enacted(about.id):
        yield Label(ERA, when.era)
        yield Label(YEAR, str(when.year))


class Counted(NamedTuple):
    """A label and its number of documents."""

    label: Label
    documents: int


class Facets:
    """Facets of a corpus on one day; wrong labels are errors, as for `canonical`.

    `documents` has ids by facet and value, without headings. `by_model` are facets with values
    found only by a model.
    """

    def __init__(
        self,
        database: Database,
        documents: Mapping[str, Mapping[str, frozenset[str]]],
        told_for: int | None = None,
        of_model: Mapping[str, Collection[Label]] = MappingProxyType({}),
    ) -> None:
        self.documents = documents
        self.told_for = told_for
        self.by_model = frozenset(key for labels in of_model.values() for key, _ in labels)
        self._of_model = of_model
        self._db = database
        # Every step of a search asks the same again.
        self._canonical = lru_cache(_KEPT)(self._find_canonical)
        self._matching = lru_cache(_KEPT)(self._find_matching)
        self._under = lru_cache(_KEPT)(self._find_under)
        self._by_letters: dict[str, Mapping[str, Sequence[str]]] = {}

    @property
    def keys(self) -> tuple[str, ...]:
        """The facets of the corpus, those without a model first."""
        known = [key for key in TOLD_BY_CODE if key in self.documents or key == CHAPTER]
        return (*known, *(key for key in self.documents if key not in known))

    def counts(self, key: str) -> Counter[str]:
        """Number of documents for each value of a facet."""
        return Counter({value: len(ids) for value, ids in self._values(key).items()})

    def canonical(self, where: tuple[Label, ...]) -> tuple[Label, ...]:
        """The labels as the corpus writes them, from any language and spelling.

        Raises `UsageError` for an unknown facet, `NotFoundError` for a value without documents.
        """
        return self._canonical(where)

    def _find_canonical(self, where: tuple[Label, ...]) -> tuple[Label, ...]:
        return tuple(dict.fromkeys(one for label in where for one in self._known(label)))

    def matching(self, where: tuple[Label, ...]) -> frozenset[str]:
        """Ids of the matching documents; see `labels`."""
        return self._matching(where)

    def _find_matching(self, where: tuple[Label, ...]) -> frozenset[str]:
        wanted: dict[str, set[str]] = defaultdict(set)
        for key, value in self.canonical(where):
            wanted[key] |= self._values(key)[value]
        return frozenset(set.intersection(*wanted.values()))

    def told_by_model(self, document: str, where: tuple[Label, ...]) -> tuple[Label, ...]:
        """The wanted labels of a document found only by a model."""
        told = self._of_model.get(document, ())
        return tuple(label for label in self.canonical(where) if label in told)

    def spans(self, where: tuple[Label, ...]) -> dict[str, list[tuple[int, int]]] | None:
        """Spans below the wanted headings, by document; None without headings."""
        named = [value for key, value in self.canonical(where) if key == CHAPTER]
        found: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for name in named:
            for document, *span in self._headed[name]:
                found[document].append((span[0], span[1]))
        return dict(found) if named else None

    def units(
        self, where: tuple[Label, ...], documents: Collection[str] | None, layers: Collection[str]
    ) -> int:
        """Count the matching passages in some layers, and in some documents if given."""
        among = documents if not where else self.matching(where)
        if among is not None and documents is not None:
            among = frozenset(among).intersection(documents)
        if among is not None and not among:
            return 0
        under = self.keys_under(where, among or ()) if where else None
        if under is not None:
            return len(under)
        row = self._db.row(
            "SELECT count(*) FROM passages"
            " JOIN shown ON shown.key = document JOIN layers ON layers.key = layer"
            " WHERE layers.name IN (SELECT value FROM json_each(?))"
            " AND (? IS NULL OR id IN (SELECT value FROM json_each(?)))",
            (json.dumps(list(layers)), *[among and json.dumps(sorted(among))] * 2),
        )
        return int(row[0]) if row else 0

    def among(self, documents: Collection[str], key: str) -> Counter[str]:
        """Number of documents for each value, within given documents."""
        wanted = frozenset(documents)
        return +Counter({value: len(ids & wanted) for value, ids in self._values(key).items()})

    def keys_under(
        self, where: tuple[Label, ...], documents: Collection[str] = ()
    ) -> frozenset[int] | None:
        """Index keys below the wanted headings, in some documents if given; None without any."""
        under = self._under(where)
        if under is None:
            return None
        return frozenset().union(*(under.get(one, ()) for one in documents or under))

    def _find_under(self, where: tuple[Label, ...]) -> Mapping[str, Collection[int]] | None:
        spans = self.spans(where)
        if spans is None:
            return None
        wanted = self.matching(where)
        rows = self._db.rows(
            "SELECT id, start, coalesce(indexed_as, passages.key) FROM passages"
            " JOIN shown ON shown.key = document JOIN layers ON layers.key = layer"
            " WHERE layers.name IN (?, ?) AND id IN (SELECT value FROM json_each(?))",
            (ARTICLES, PASSAGES, json.dumps([id_ for id_ in spans if id_ in wanted])),
        )
        found: dict[str, set[int]] = defaultdict(set)
        for id_, position, key in rows:
            if any(start <= position < end for start, end in spans[id_]):
                found[id_].add(key)
        return found

    def like(self, text: str, most: int) -> list[Counted]:
        """Labels for a typed value, part of one, or ``key=`` and a part.

        Exact matches come first, then prefixes, then inner matches. Within these, facets without a
        model come first, then frequent values.
        """
        key, equals, value = text.replace("＝", "=", 1).partition("=")
        keys = self._keys_called(key) if equals else self.keys
        wanted = letters_of(value if equals else text)
        if not (wanted or equals):
            return []
        found: dict[Label, tuple[int, int, int]] = {}
        for place, of in enumerate(keys):
            known = self._values(of)
            for letters, values in self._letters(of).items():
                if wanted in letters:
                    fit = (letters != wanted) + (not letters.startswith(wanted))
                    for one in values:
                        order = (fit, place, -len(known[one]))
                        label = Label(of, one)
                        found[label] = min(order, found.get(label, order))
        best = sorted(found.items(), key=lambda one: one[1])[:most]
        return [Counted(label, -order[2]) for label, order in best]

    def _values(self, key: str) -> Mapping[str, frozenset[str]]:
        known = self._key(key)
        return self._chapters if known == CHAPTER else self.documents[known]

    def _key(self, key: str) -> str:
        if key in self.keys:
            return key
        if called := self._keys_called(key):
            return called[0]
        spelled = {letters_of(one): of for of in self.keys for one in spellings_of_facet(of)}
        near = get_close_matches(letters_of(key), spelled, n=1)
        cure = N_("Did you mean {near}? There is: {known}.") if near else N_("There is: {known}.")
        if letters_of(key) in _LAW:
            cure = N_(
                "Name a law with --law, in a row of a batch by its id in documents. --where "
                "takes: {known}."
            )
        raise UsageError(
            N_("The corpus has no facet {key!r}."),
            cure,
            key=key,
            near=", ".join(facet_name(spelled[one]) for one in near),
            known=", ".join(map(_key_and_name, self.keys)),
        )

    def _keys_called(self, name: str) -> list[str]:
        wanted = letters_of(name)
        return [
            key for key in self.keys if wanted in map(letters_of, (key, *spellings_of_facet(key)))
        ]

    def _letters(self, key: str) -> Mapping[str, Sequence[str]]:
        """Values of a facet by the letters of each spelling."""
        if key not in self._by_letters:
            found: dict[str, list[str]] = defaultdict(list)
            for value in self._values(key):
                for spelling in spellings_of_kind(value) if key == KIND else (value,):
                    found[letters_of(spelling)].append(value)
            self._by_letters[key] = {
                letters: list(dict.fromkeys(values)) for letters, values in found.items()
            }
        return self._by_letters[key]

    def _known(self, written: Label) -> list[Label]:
        label = written._replace(key=self._key(written.key))
        values = self._values(label.key)
        if label.value in values:
            return [label]
        wanted, by_letters = letters_of(_plain(label)), self._letters(label.key)
        if wanted in by_letters:
            return [Label(label.key, value) for value in by_letters[wanted]]
        near = _alike(wanted, by_letters)
        meant = dict.fromkeys(value for letters in near for value in by_letters[letters])
        raise NotFoundError(
            N_("No document of the corpus has {label}."),
            N_("Did you mean {near}? There is: {known}.") if near else N_("There is: {known}."),
            label=written,
            near=", ".join(value_name(Label(label.key, value)) for value in list(meant)[:3]),
            known=self._named(label.key),
        )

    def _named(self, key: str) -> str:
        """The most frequent values in words; numbers in order, or as a range."""
        counts = self.counts(key)
        numbers = sorted(counts, key=int) if all(map(_is_number, counts)) else []
        if len(numbers) > _NAMED:
            return _("{first} to {last}").format(first=numbers[0], last=numbers[-1])
        known = numbers or [value for value, _documents in counts.most_common(_NAMED)]
        more = ", …" if len(counts) > len(known) else ""
        return ", ".join(value_name(Label(key, value)) for value in known) + more

    @cached_property
    def _headed(self) -> Mapping[str, Sequence[tuple[str, int, int]]]:
        """Document, start and end of the text below each heading."""
        found: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
        for title, document, start, end in self._db.rows(
            'SELECT sections.title, id, start, "end" FROM sections'
            " JOIN shown ON shown.key = document"
        ):
            found[heading_name(title)].append((document, start, end))
        return found

    @cached_property
    def _chapters(self) -> Mapping[str, frozenset[str]]:
        return {
            name: frozenset(document for document, _, _ in every)
            for name, every in self._headed.items()
        }


def facets_of(database: Database, told: Path) -> Facets:
    """Collect the facets of the shown documents; a model's metadata (`told`) may be missing."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    every, told_for = _told(told)
    of_model: dict[str, Collection[Label]] = {}
    for about in map(partial(info, database), database.rows(f"{INFO} FROM shown ORDER BY key")):
        by_code = list(labels_of(about))
        known = {key for key, _ in by_code}
        by_model = [one for one in every.get(about.id, ()) if one.key not in known]
        of_model[about.id] = by_model
        for key, value in (*by_code, *by_model):
            found[key][value].add(about.id)
    frozen = {
        key: {value: frozenset(ids) for value, ids in values.items()}
        for key, values in found.items()
    }
    return Facets(database, frozen, told_for, of_model)


def as_told(rows: Iterable[tuple[str, Sequence[Label]]], made_for: int) -> str:
    """Content of the file of a model's metadata, for `facets_of`."""
    told = {document: [list(label) for label in of_one] for document, of_one in rows}
    return json.dumps({"for": made_for, "documents": told}, ensure_ascii=False)


def _told(path: Path) -> tuple[Mapping[str, Sequence[Label]], int | None]:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        return {
            document: [Label(str(key), str(value)) for key, value in of_one]
            for document, of_one in held["documents"].items()
        }, int(held["for"])
    except FileNotFoundError:
        return {}, None
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise StoreError(
            N_("The metadata in {path} cannot be read ({problem})."),
            N_("Delete the file, then make it again: localrag prepare --layers metadata"),
            path=path,
            problem=error,
        ) from error

"""Facets: what the documents of a corpus are told apart by, and which have some values of them.

Of a statute they are derived, without any model, from what its file says: its kind, the ministries
of its number, era and year of its id, its field where the file tells it, its headings. What a model
has found (`localrag prepare --layers metadata`) comes beside that and never in its place.

e-Gov sorts laws into fifty fields (事項別分類, the ``category`` of its API, version 2), which stand
in the answers of the API but not in the XML of a law: of a bare law the field is not told, the
constitution apart, which is the one law of its field by name.
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
from localrag.database import Database
from localrag.errors import NotFoundError, StoreError, UsageError
from localrag.language import N_, _
from localrag_indexes.analysis.normalize import common_year, compact, letters_of, parse_year

KIND = "kind"
"""Of a statute its type (Act, CabinetOrder …), of all else the format it came from."""
MINISTRY = "ministry"
FIELD = "field"
"""By the fifty categories of e-Gov."""
ERA = "era"
YEAR = "year"
CHAPTER = "chapter"
"""A heading without its number (罰則); of passages, not of documents."""
TOLD_BY_CODE = tuple(FACETS)
"""The facets that no model is needed for, in the order in which they are shown."""

_CONSTITUTION = "憲法"
# 平成二十年厚生労働省令第十二号, 昭和二十七年人事院規則一一―四
_MADE = re.compile(
    r"(?:明治|大正|昭和|平成|令和)[元〇一二三四五六七八九十]+年"
    r"(?P<who>.+?)(?:令|規則|規程)(?:第[^号]*号|[〇一二三四五六七八九十百―]+)?"
)
# Of 政令, 勅令 and 閣令: the cabinet makes them, and no ministry is named.
_NOBODY = frozenset(["政", "勅", "閣"])
_NUMBER = re.compile(
    r"第[〇一二三四五六七八九十百千]+[編章節款目](?:の[一二三四五六七八九十]+)*[\s　]*"
)
_SUPPLEMENT_NAME = "附則"
_SUPPLEMENT = re.compile(r"附[\s　]*則")
# A value may hold a semicolon; what is a label by itself follows only one between two.
_BEFORE_A_LABEL = re.compile("[;；](?=[^;；=＝]*[=＝])")
# 昭和50年, 平成元年, 1975年: years of laws are those of the common era.
_OF_AN_ERA = re.compile("(明治|大正|昭和|平成|令和)?(元|[0-9〇一二三四五六七八九十百千]{1,4})年?")
# How much of a value must be as written: of two characters one may be another, 政例 is like 政令.
_ALIKE, _ALIKE_OF_TWO = 0.6, 0.5
# Of a number: years, numbers of things. What is longer is none to count with.
_DIGITS = 18
# Values that an error names, the most frequent first.
_NAMED = 12
# What is no facet, but may be taken for one: an option of its own wants laws.
_LAW = frozenset(["law", "laws", "lawid", "法", "法令", "法令名", "法律", "法律名"])
# Combinations of labels of which is kept what they lead to, of whatever clients ask for.
_KEPT = 64
# The strings of records in JSON lines are facets too.
_RECORDS = "jsonl"


Where = Mapping[str, str | Sequence[str]]
"""What documents are wanted: for each facet a value, or several of which one must hold."""


def labels(where: Where) -> tuple[Label, ...]:
    """What is wanted as labels: those of a facet are alternatives; of each facet one must hold.

    Raises:
        UsageError: a value is no text.
    """
    found = []
    for key, values in where.items():
        for value in (
            [values] if isinstance(values, str) or not isinstance(values, Collection) else values
        ):
            if not isinstance(value, str):
                raise UsageError(
                    N_("{value!r} says not what documents should be told apart by."),
                    N_('Write it as {{"kind": "Act"}}, or "kind=Act".'),
                    value=value,
                )
            found.append(Label(key, value))
    return tuple(found)


def read_label(text: str) -> Label:
    """Read ``key=value``.

    Raises:
        UsageError: it is no such thing.
    """
    # Japanese keyboards write a wide sign.
    key, equals, value = (part.strip() for part in text.replace("＝", "=", 1).partition("="))
    if not (key and equals and value):
        raise UsageError(
            N_("{text!r} says not what documents should be told apart by."),
            N_("Write it as KEY=VALUE, e.g. kind=Act."),
            text=text,
        )
    return Label(key, value)


def read_labels(text: str) -> tuple[Label, ...]:
    """Read what is written in one text: ``kind=府省令; ministry=総務省``; none in an empty one.

    Raises:
        UsageError: a part of it is no label.
    """
    parts = (part.strip(" 　;；") for part in _BEFORE_A_LABEL.split(text))
    return tuple(map(read_label, filter(None, parts)))


def value_name(label: Label) -> str:
    """A value as it is shown, and can be written after the name of its facet and ``=``."""
    return kind_name(label.value) if label.key == KIND else label.value


def ministries(law_num: str) -> tuple[str, ...]:
    """Who made an ordinance or a rule by its number, each as printed; nobody for acts and orders.

    平成二十年総務省・経済産業省令第一号 is of 総務省 and 経済産業省.
    """
    made = _MADE.fullmatch(law_num)
    if made is None or made["who"] in _NOBODY:
        return ()
    parts = (part.removesuffix("規則").removesuffix("令") for part in made["who"].split("・"))
    return tuple(dict.fromkeys(parts))


def heading_name(title: str) -> str:
    """A heading without its number: 第二章の二　公開買付け is 公開買付け, every 附則 is 附則."""
    if _SUPPLEMENT.match(title):
        return _SUPPLEMENT_NAME
    found = _NUMBER.sub("", title, count=1) if _NUMBER.match(title) else title
    return " ".join((found or title).split())


def _plain(label: Label) -> str:
    """A value as the corpus has it: a heading without its number, a year of the common era."""
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
    """The values that somebody may mean who wrote another; all of them as letters alone.

    Of a number these are its neighbours, not those that share digits with it; beyond the first and
    the last of the values it has none.
    """
    if not _is_number(written):
        holding = [value for value in values if written and written in value]
        least = _ALIKE_OF_TWO if len(written) <= 2 else _ALIKE
        return holding or get_close_matches(written, values, n=3, cutoff=least)
    numbers = sorted(filter(_is_number, values), key=int)
    place = bisect_left(numbers, int(written), key=int)
    return numbers[place - 1 : place + 1] if 0 < place < len(numbers) else []


def labels_of(about: DocumentInfo | Document) -> Iterator[Label]:
    """What a document is told apart by without any model; its headings are left out."""
    metadata = about.metadata
    if about.kind != "law":
        yield Label(KIND, about.kind)
        if about.kind == _RECORDS:
            # What cannot be written before the sign is asked for by nobody; headings are a facet
            # of passages, which records do not have.
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
    """A label, and how many documents have it."""

    label: Label
    documents: int


class _Headed(NamedTuple):
    """The characters below a heading."""

    document: str
    start: int
    end: int


class _KeysUnder(NamedTuple):
    """The keys of what stands under some headings."""

    every: frozenset[int]
    of_document: Mapping[str, Collection[int]]


class Facets:
    """The facets of a corpus on one day.

    Attributes:
        documents: ids of the documents by facet and value; headings are left out.
        told_for: the stamp of the corpus that a model's metadata were made for; None where there
            are none.
        by_model: facets of which a model has told values, and not the documents themselves.

    Args:
        of_model: by document the labels that a model has told, and not the document itself.
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
        # What was asked for is asked for again, by every stage of a search.
        self._canonical = lru_cache(_KEPT)(self._find_canonical)
        self._matching = lru_cache(_KEPT)(self._find_matching)
        self._under = lru_cache(_KEPT)(self._find_under)
        self._by_letters: dict[str, Mapping[str, Sequence[str]]] = {}

    @property
    def keys(self) -> tuple[str, ...]:
        """The facets there are, those told by code first."""
        known = [key for key in TOLD_BY_CODE if key in self.documents or key == CHAPTER]
        return (*known, *(key for key in self.documents if key not in known))

    def counts(self, key: str) -> Counter[str]:
        """How many documents have each value of a facet.

        Raises:
            UsageError: the documents are not told apart by it; names those like it.
        """
        return Counter({value: len(ids) for value, ids in self._values(key).items()})

    def canonical(self, where: tuple[Label, ...]) -> tuple[Label, ...]:
        """The labels as the corpus has them, in whatever language and spelling they are written.

        Raises:
            UsageError: the documents of the corpus are not told apart by such a facet.
            NotFoundError: no document has such a value. Both name those like it.
        """
        return self._canonical(where)

    def _find_canonical(self, where: tuple[Label, ...]) -> tuple[Label, ...]:
        return tuple(dict.fromkeys(one for label in where for one in self._known(label)))

    def matching(self, where: tuple[Label, ...]) -> frozenset[str]:
        """Ids of the documents that are wanted; see `labels`.

        Raises:
            UsageError, NotFoundError: as `canonical`.
        """
        return self._matching(where)

    def _find_matching(self, where: tuple[Label, ...]) -> frozenset[str]:
        wanted: dict[str, set[str]] = defaultdict(set)
        for key, value in self.canonical(where):
            wanted[key] |= self._values(key)[value]
        return frozenset(set.intersection(*wanted.values()))

    def told_by_model(self, document: str, where: tuple[Label, ...]) -> tuple[Label, ...]:
        """Which of the labels wanted a document has from a model, and not by itself.

        Raises:
            UsageError, NotFoundError: as `canonical`.
        """
        told = self._of_model.get(document, ())
        return tuple(label for label in self.canonical(where) if label in told)

    def spans(self, where: tuple[Label, ...]) -> dict[str, list[tuple[int, int]]] | None:
        """By document the characters that stand under the headings wanted; None where none are.

        Raises:
            UsageError, NotFoundError: as `canonical`.
        """
        named = [value for key, value in self.canonical(where) if key == CHAPTER]
        found: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for name in named:
            for headed in self._headed[name]:
                found[headed.document].append((headed.start, headed.end))
        return dict(found) if named else None

    def units(
        self, where: tuple[Label, ...], documents: Collection[str] | None, layers: Collection[str]
    ) -> int:
        """How many passages of some layers are wanted.

        Args:
            where: the labels.
            documents: ids of those that alone are wanted; None for all.
            layers: of the passages; where headings are wanted these are articles and passages.

        Raises:
            UsageError, NotFoundError: as `canonical`.
        """
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
        """How many of some documents have each value of a facet; of none that they lack.

        Raises:
            UsageError: as `counts`.
        """
        wanted = frozenset(documents)
        return +Counter({value: len(ids & wanted) for value, ids in self._values(key).items()})

    def keys_under(
        self, where: tuple[Label, ...], documents: Collection[str] = ()
    ) -> frozenset[int] | None:
        """The keys by which indexes know what is wanted, where headings are; None as `spans`.

        Args:
            where: the labels.
            documents: ids of those that alone are wanted; none for all.

        Raises:
            UsageError, NotFoundError: as `canonical`.
        """
        under = self._under(where)
        if under is None:
            return None
        if not documents:
            return under.every
        return frozenset().union(*(under.of_document.get(one, ()) for one in documents))

    def _find_under(self, where: tuple[Label, ...]) -> _KeysUnder | None:
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
        return _KeysUnder(frozenset().union(*found.values()), found)

    def like(self, text: str, most: int) -> list[Counted]:
        """What somebody may mean who types a value, a part of one, or ``key=`` and that.

        Args:
            text: what is typed; of a bare value all facets are looked through.
            most: how many are wanted.

        Returns:
            The labels that are called so, then those that begin so, then those that hold it;
            among these the facets told by code first, and the most frequent values.
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
        """A facet of the corpus, in whatever language and spelling it is written."""
        if key in self.keys:
            return key
        if called := self._keys_called(key):
            return called[0]
        spelled = {letters_of(one): of for of in self.keys for one in spellings_of_facet(of)}
        near = get_close_matches(letters_of(key), spelled, n=1)
        cure = N_("Did you mean {near}? There is: {known}.") if near else N_("There is: {known}.")
        if letters_of(key) in _LAW:
            cure = N_(
                "Name a law with --law, in a row of a batch by its id in documents. "
                "What --where takes is: {known}."
            )
        raise UsageError(
            N_("The documents of the corpus are not told apart by {key!r}."),
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
        """The values of a facet of the corpus by the letters of each of their spellings."""
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
        """The labels of the corpus that one means, in whatever language and spelling."""
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
        """The most frequent values of a facet in words; numbers in their order, or their range."""
        counts = self.counts(key)
        numbers = sorted(counts, key=int) if all(map(_is_number, counts)) else []
        if len(numbers) > _NAMED:
            return _("{first} to {last}").format(first=numbers[0], last=numbers[-1])
        known = numbers or [value for value, _documents in counts.most_common(_NAMED)]
        more = ", …" if len(counts) > len(known) else ""
        return ", ".join(value_name(Label(key, value)) for value in known) + more

    @cached_property
    def _headed(self) -> Mapping[str, Sequence[_Headed]]:
        found: dict[str, list[_Headed]] = defaultdict(list)
        for title, *headed in self._db.rows(
            'SELECT sections.title, id, start, "end" FROM sections'
            " JOIN shown ON shown.key = document"
        ):
            found[heading_name(title)].append(_Headed(*headed))
        return found

    @cached_property
    def _chapters(self) -> Mapping[str, frozenset[str]]:
        return {
            name: frozenset(headed.document for headed in every)
            for name, every in self._headed.items()
        }


def facets_of(database: Database, told: Path) -> Facets:
    """Collect the facets of the documents shown.

    Args:
        database: the corpus.
        told: the file in which a model's metadata are kept, which need not be there.

    Raises:
        StoreError: the file is damaged.
    """
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
    """What the file of a model's metadata holds; read back by `facets_of`."""
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

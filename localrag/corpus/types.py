"""Documents, passages, their places and their pages.

Kinds and facets are stored under English names and shown in the language of the interface. Users
may write them in any language: ``kind=政令`` is ``kind=CabinetOrder``.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from localrag.language import N_, _, in_every_language

ARTICLES = "articles"
"""Layer of citable units: articles, appendices, provisions outside any article."""
PARAGRAPHS = "paragraphs"
"""Layer of paragraphs (項), each with the items (号) below it."""
ITEMS = "items"
"""Layer of items and subitems (号, イ, (1) ...), each with everything below it."""
PASSAGES = "passages"
"""Layer of the passages of every other document."""
TRIPLES = "triples"
"""Layer of triples, one sentence each."""

PAGES_WITHOUT_TEXT = "pages_without_text"
"""Metadata key: pages that are images and were not read."""

PAGES_UNREADABLE = "pages_unreadable"
"""Metadata key: pages with fonts that do not name their characters."""

ALIAS = "別名"
"""Predicate for other names of the subject, redirects included."""


@dataclass(frozen=True, slots=True)
class Triple:
    """One fact: subject, predicate, objects."""

    subject: str  # as its source names it, disambiguator included ("杏 (女優)")
    predicate: str  # "生年月日"
    objects: tuple[str, ...]  # at least one; several form a set ("1986年4月14日")
    source: str = ""  # in words ("Wikidata Q1"); "" if the document itself says it
    date: str = ""  # ISO date of the state, as far as known ("2021-08-23", "2021", "")

    @property
    def text(self) -> str:
        """The triple as a sentence: 「SのPはO。」, with several objects joined by 「、」."""
        return f"{self.subject}の{self.predicate}は{'、'.join(self.objects)}。"


@dataclass(frozen=True, slots=True)
class Locator:
    """Place of a passage in its document.

    Statutes use the first five fields. Numbers are strings with branches joined by an underscore:
    第二十七条の三十六 is ``27_36``. A deleted range keeps both ends (``55:63``). Other documents
    use `section` and `page`.
    """

    # "" for main provisions. In file order, ``suppl1`` … for supplementary provisions (附則) and
    # ``appendix1`` … for appendices (別表, 様式). ``preamble`` or ``enact`` before article 1
    division: str = ""
    article: str = ""  # article number; "" outside any article
    paragraph: str = ""  # paragraph number (項); ``1`` also if the article has only one
    item: str = ""  # item number (号) with branches: 第一号の二 is ``1_2``
    subitem: str = ""  # subitem numbers from the outermost in, joined by dots: イ(2) is ``1.2``
    section: str = ""  # heading path of another document, joined by `` > ``
    page: int = 0  # page of another document, from 1; 0 if unknown
    # mean confidence of OCR on the page, 0 to 1, two decimals; None without OCR
    confidence: float | None = None

    @property
    def path(self) -> str:
        """The statute place as text: ``27_36.1.2``, ``suppl3/2.1``; "" for other documents."""
        # Spelled out for speed: finding references calls this a million times.
        if self.subitem:
            place = f"{self.article}.{self.paragraph}.{self.item}.{self.subitem}"
        elif self.item:
            place = f"{self.article}.{self.paragraph}.{self.item}"
        else:
            place = f"{self.article}.{self.paragraph}" if self.paragraph else self.article
        return f"{self.division}/{place}" if self.division else place

    @property
    def bounds(self) -> tuple[str, str]:
        """Bounds (from, up to but without) of a place and its inside, a range of an index.

        In ASCII, ``/`` follows ``.`` and ``0`` follows ``/``.
        """
        path = self.path
        if not path:
            return "", "\U0010ffff"
        if path.endswith("/"):
            return path, f"{path[:-1]}0"
        return path, f"{path}/"

    @classmethod
    def parse(cls, path: str) -> "Locator":
        """Read a `path`."""
        return _parsed(path)

    def contains(self, other: "Locator") -> bool:
        """Whether `other` is this statute place or lies inside it."""
        if self.subitem and not f"{other.subitem}.".startswith(f"{self.subitem}."):
            return False
        # All levels around the innermost given part must be equal, empty or not.
        if self.item or self.subitem:
            return (self.item, self.paragraph, self.article, self.division) == (
                other.item,
                other.paragraph,
                other.article,
                other.division,
            )
        if self.paragraph:
            return (self.paragraph, self.article, self.division) == (
                other.paragraph,
                other.article,
                other.division,
            )
        if self.article:
            return self.article == other.article and self.division == other.division
        return not self.division or self.division == other.division


@lru_cache(maxsize=1 << 16)
def _parsed(path: str) -> Locator:
    # Laws share most of their paths, so the cache hits often.
    division, _, place = path.rpartition("/")
    article, paragraph, item, subitem = (*place.split(".", 3), "", "", "")[:4]
    return Locator(division, article, paragraph, item, subitem)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of a document and its span, for outlines."""

    depth: int  # 1 for the outermost level
    title: str  # as printed ("第二章の二　公開買付けに関する開示")
    start: int  # start, end: span in the document text, in characters
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """The unit of retrieval: a piece of a document, or a text derived from one."""

    # ``<document id>#<place>``, e.g. ``323AC0000000025#27_36.1``. Unique in the corpus, and stable
    # if the document is added again
    id: str
    document_id: str
    layer: str  # the set of passages it belongs to
    text: str  # searched and quoted
    # the place in words, kept apart from the text ("金融商品取引法 第二十七条の三十六 第一項")
    header: str
    locator: Locator  # the place in numbers
    # start, end: span in the document text. In layers made by readers, ``document.text[start:end]
    # == text``
    start: int
    end: int
    source_id: str = ""  # in layers made by a model, the passage it was made from
    triple: Triple | None = None  # in the layer `TRIPLES`, the fact; else None


@dataclass(frozen=True, slots=True)
class Omission:
    """Parts of a file not read, or read with a remark."""

    what: str  # plural noun ("pictures"), always the same words; a message marked with `N_`
    count: int = 1
    in_text: bool = False  # whether the text has them ("tracked insertions", "pages read by OCR")


OMISSIONS = "omissions"
"""Metadata key: the omissions of a stored document, as JSON."""


def stored_omissions(omissions: Iterable[Omission]) -> str:
    """Write omissions as JSON for the metadata; "" for none."""
    rows = [[one.what, one.count, one.in_text] for one in omissions]
    return json.dumps(rows, ensure_ascii=False) if rows else ""


def omissions_of(metadata: Mapping[str, str]) -> tuple[Omission, ...]:
    """Read the omissions of a stored document."""
    return tuple(Omission(*row) for row in json.loads(metadata.get(OMISSIONS) or "[]"))


@dataclass(frozen=True, slots=True)
class Document:
    """One source: a law, an encyclopaedia page, a file."""

    id: str  # unique in the corpus; the law id for statutes
    title: str  # as printed ("金融商品取引法")
    kind: str  # ``law``, or the format of the file; see `KINDS`
    text: str  # the full text; every span refers to it
    source: str  # the file, with ``!member`` in a zip or ``:line`` in JSON lines
    # passages, sections: in reading order; passages layer by layer
    passages: tuple[Passage, ...] = ()
    sections: tuple[Section, ...] = ()
    # of statutes ``law_num`` (昭和二十三年法律第二十五号), ``law_type`` (see `KINDS`), ``field``.
    # ISO dates: ``promulgated``, ``date`` (of the state). ``amending_law`` (law id).
    # ``abbreviations`` (comma-separated)
    metadata: Mapping[str, str] = field(default_factory=dict)
    # set by readers only; stored in the metadata (`omissions_of`)
    omissions: tuple[Omission, ...] = ()


class LawRow(NamedTuple):
    """The names of a law; `abbreviations` are the official ones, comma-separated."""

    law_id: str
    title: str
    law_num: str = ""
    law_type: str = ""
    abbreviations: str = ""


class Label(NamedTuple):
    """A value of a facet, such as ``field=国税``."""

    key: str
    value: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}"


PAGE_STARTS = "page_starts"
"""Metadata key: start of each page in characters, comma-separated."""
_JAPANESE = re.compile("[ぁ-んァ-ヶ一-鿿]")
_WRITTEN = re.compile(r"(?: \d+(?:–\d+)?頁|, pp?\. \d+(?:–\d+)?)$")


def page_starts(metadata: Mapping[str, str]) -> tuple[int, ...]:
    """The start of each page in characters; empty if pages are unknown."""
    written = metadata.get(PAGE_STARTS, "")
    starts = written.split(",") if written else []
    return tuple(map(int, starts)) if all(start.isdecimal() for start in starts) else ()


def pages_of(starts: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """First and last page of a span, from 1; pages without text do not count."""
    last = max(start, end - 1)
    return bisect_right(starts, start), bisect_right(starts, last)


def has_pages(place: str) -> bool:
    """Whether a place ends with pages written by `with_pages`."""
    return _WRITTEN.search(place) is not None


def with_pages(place: str, first: int, last: int, text: str) -> str:
    """Set the pages of a place, by the language of the text: 意見書 12–13頁, brief, pp. 12–13."""
    bare = _WRITTEN.sub("", place)
    pages = f"{first}" if last <= first else f"{first}–{last}"
    if _JAPANESE.search(text):
        return f"{bare} {pages}頁"
    return f"{bare}, {'pp' if last > first else 'p'}. {pages}"


KINDS = {
    "Constitution": N_("Constitution"),
    "Act": N_("Acts"),
    "CabinetOrder": N_("Cabinet orders"),
    "ImperialOrder": N_("Imperial orders"),
    "MinisterialOrdinance": N_("Ministerial ordinances"),
    "Rule": N_("Rules"),
    "Misc": N_("Other laws"),
    "law": N_("Laws"),
    "text": N_("Text files"),
    "markdown": N_("Markdown"),
    "html": N_("Web pages"),
    "pdf": N_("PDF files"),
    "docx": N_("Word files"),
    "image": N_("Scanned images"),
    "jsonl": N_("Records"),
    "multihop": N_("Multi-hop paragraphs"),
    "squad": N_("Reading passages"),
    "wikipedia": N_("Wikipedia"),
    "wikidata": N_("Wikidata"),
    "triples": N_("Facts (subject, value)"),
}
"""Types of laws and kinds of documents, in display order."""

FACETS = {
    "kind": N_("kind"),
    "ministry": N_("ministry"),
    "field": N_("field"),
    "era": N_("era"),
    "year": N_("year"),
    "chapter": N_("heading"),
}
"""The facets, in display order."""

# Other accepted words: from the texts of statutes, and short forms.
_ALSO_CALLED = {
    "MinisterialOrdinance": ("省令", "府令"),
    "kind": ("文書の種類", "種類"),
    "ministry": ("省庁",),
    "era": ("年号",),
    "chapter": ("章",),
}


_PARTS = re.compile(
    r"(?P<nouns>[\w ]*?\w)s(?P<behind>(?:, | (?:of|in|inside|not|that|which|whose|with|without"
    r"|written|shown)\b).*)?"
)


def part_name(what: str, count: int) -> str:
    """Name parts after their count: 2 pictures, but 1 picture."""
    named = _(what)
    parts = _PARTS.fullmatch(named) if count == 1 and named == what else None
    if parts is None or " and " in parts["nouns"] or " and " in (parts["behind"] or "")[:40]:
        return named
    one = re.sub("ie$", "y", parts["nouns"])
    behind = re.sub("^ that (?:are|were)", _are_as_is, parts["behind"] or "")
    return one + behind.replace(" their ", " its ")


def _are_as_is(match: re.Match[str]) -> str:
    return " that was" if match[0].endswith("were") else " that is"


def omission_notes(omissions: Sequence[Omission]) -> list[str]:
    """Describe unread parts, then parts with a remark: "Not read: 3 pictures, 1 chart."."""
    notes = []
    for in_text, sentence in ((False, _("Not read: {what}.")), (True, _("Read as text: {what}."))):
        named = [
            _("{count} {what}").format(count=f"{one.count:,}", what=part_name(one.what, one.count))
            for one in omissions
            if one.in_text is in_text
        ]
        if named:
            notes.append(sentence.format(what=_(", ").join(named)))
    return notes


def kind_name(kind: str) -> str:
    """The display name of a kind; users may write it after ``kind=``."""
    return _own_word(kind, KINDS)


def facet_name(key: str) -> str:
    """The display name of a facet; users may write it before the ``=``."""
    return _own_word(key, FACETS)


def spellings_of_kind(kind: str) -> tuple[str, ...]:
    """All accepted names of a kind, the stored one first."""
    return _spellings(kind, KINDS)


def spellings_of_facet(key: str) -> tuple[str, ...]:
    """All accepted names of a facet, the stored one first."""
    return _spellings(key, FACETS)


def _own_word(name: str, words: Mapping[str, str]) -> str:
    # Names from records are no messages, even if the catalogue has the same word.
    if name not in words:
        return name
    # In English, show the stored name, because users type it.
    word = _(words[name])
    return name if word == words[name] else word


def _spellings(name: str, words: Mapping[str, str]) -> tuple[str, ...]:
    if name not in words:
        return (name,)
    return (name, *in_every_language(words[name]), *_ALSO_CALLED.get(name, ()))


_CAPTION = re.compile(r"（([^（）]+)）$")


def caption_of(header: str) -> str:
    """The caption of an article from its header (詐欺 in 刑法 第二百四十六条（詐欺）), or ""."""
    caption = _CAPTION.search(header)
    return caption[1] if caption else ""

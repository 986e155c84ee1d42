"""The values that flow through localrag: documents, their passages, where these stand, and pages.

What kinds of documents are called, and what documents are told apart by, is stored under English
names. What is shown is in the language of the interface; what a person writes may be in any:
``kind=政令`` is ``kind=CabinetOrder``, whoever asks.
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
"""Layer of a statute's citable units: articles, appendices, provisions outside any article."""
PARAGRAPHS = "paragraphs"
"""Layer of a statute's paragraphs (項), each with the items (号) it introduces."""
ITEMS = "items"
"""Layer of a statute's items and subitems (号, イ, (1) ...), each with what stands below it."""
PASSAGES = "passages"
"""Layer of the passages of every document that is not a statute."""
TRIPLES = "triples"
"""Layer of what is known of subjects, a sentence for each `Triple`."""

PAGES_WITHOUT_TEXT = "pages_without_text"
"""Key of the metadata of a document whose file has pages that are images and were not read."""

PAGES_UNREADABLE = "pages_unreadable"
"""Likewise of pages whose fonts do not say which characters they show."""

ALIAS = "別名"
"""The predicate whose objects are other names of its subject, redirects included."""


@dataclass(frozen=True, slots=True)
class Triple:
    """What is known of a subject under one predicate.

    Attributes:
        subject: as its source names it, with the disambiguator it may have ("杏 (女優)").
        predicate: "生年月日".
        objects: what holds, at least one; several are a set ("1986年4月14日").
        source: where it was taken from, in words ("Wikidata Q1"); "" where the document says it.
        date: of the state it tells, in ISO form as far as it is known ("2021-08-23", "2021"); ""
            where it is not.
    """

    subject: str
    predicate: str
    objects: tuple[str, ...]
    source: str = ""
    date: str = ""

    @property
    def text(self) -> str:
        """The triple as a sentence: 「SのPはO。」, several objects joined by 「、」."""
        return f"{self.subject}の{self.predicate}は{'、'.join(self.objects)}。"


@dataclass(frozen=True, slots=True)
class Locator:
    """Where a passage stands in its document.

    Statutes use the first five fields. Numbers are kept as strings, branch numbers joined by an
    underscore: 第二十七条の三十六 is ``27_36``; a deleted range keeps both ends (``55:63``).
    Other documents use `section` and `page`.

    Attributes:
        division: empty in main provisions; ``suppl1``, ``suppl2`` … for supplementary
            provisions (附則) and ``appendix1`` … for appendices (別表, 様式), in file order;
            ``preamble``, ``enact`` for what stands before the first article.
        article: article number, empty where the provision stands outside any article.
        paragraph: paragraph number (項), ``1`` also where the article has only one.
        item: item number (号), with branches: 第一号の二 is ``1_2``.
        subitem: numbers of the subitems from the outermost in, joined by dots: イ(2) is ``1.2``.
        section: heading path of an ordinary document, joined by `` > ``.
        page: page of an ordinary document, from 1; 0 where pages are unknown.
        confidence: how sure OCR is of the characters of that page, from 0 to 1, with two
            decimals; None where the file itself has the text.
    """

    division: str = ""
    article: str = ""
    paragraph: str = ""
    item: str = ""
    subitem: str = ""
    section: str = ""
    page: int = 0
    confidence: float | None = None

    @property
    def path(self) -> str:
        """The statute place as text: ``27_36.1.2``, ``suppl3/2.1``; empty for other documents."""
        # Written out: it is asked for a million times while references are found.
        if self.subitem:
            place = f"{self.article}.{self.paragraph}.{self.item}.{self.subitem}"
        elif self.item:
            place = f"{self.article}.{self.paragraph}.{self.item}"
        else:
            place = f"{self.article}.{self.paragraph}" if self.paragraph else self.article
        return f"{self.division}/{place}" if self.division else place

    @classmethod
    def parse(cls, path: str) -> "Locator":
        """Read back what `path` wrote."""
        return _parsed(path)

    def contains(self, other: "Locator") -> bool:
        """Whether `other` is this statute place or stands inside it."""
        if self.subitem and not f"{other.subitem}.".startswith(f"{self.subitem}."):
            return False
        # What stands around the innermost part that is given must be the same, be it empty.
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
    # Most laws have a first article with a second paragraph: few paths are new.
    division, _, place = path.rpartition("/")
    article, paragraph, item, subitem = (*place.split(".", 3), "", "", "")[:4]
    return Locator(division, article, paragraph, item, subitem)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of a document and the span it covers, for outlines: 編・章・節 or headings.

    Attributes:
        depth: 1 for the outermost level.
        title: the heading as printed ("第二章の二　公開買付けに関する開示").
        start, end: span in the document text, in characters.
    """

    depth: int
    title: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """What is retrieved: a piece of a document, or a text derived from one.

    Attributes:
        id: unique in the corpus and stable when the document is added again:
            ``<document id>#<place>``, e.g. ``323AC0000000025#27_36.1``.
        document_id: the document it belongs to.
        layer: the set of passages it belongs to.
        text: what is searched and quoted.
        header: where it stands, in words, kept apart from the text
            ("金融商品取引法 第二十七条の三十六 第一項").
        locator: where it stands, as numbers.
        start, end: its span in the document text; ``document.text[start:end] == text`` for every
            layer that readers make.
        source_id: for layers made by a model, the passage it was made from.
        triple: what the text says, in the layer `TRIPLES`; None in every other.
    """

    id: str
    document_id: str
    layer: str
    text: str
    header: str
    locator: Locator
    start: int
    end: int
    source_id: str = ""
    triple: Triple | None = None


@dataclass(frozen=True, slots=True)
class Omission:
    """Something of a file that its reader names, with its count.

    It was not read, or it was read and needs a word (`in_text`).

    Attributes:
        what: in the plural ("pictures"), the same words each time; a message marked with `N_`.
        count: how many.
        in_text: whether it is in the text all the same ("tracked insertions", "pages read by OCR").
    """

    what: str
    count: int = 1
    in_text: bool = False


OMISSIONS = "omissions"
"""Key of the metadata of a stored document that holds its omissions as JSON."""


def stored_omissions(omissions: Iterable[Omission]) -> str:
    """Write omissions as JSON, for the metadata of a document; "" for none."""
    rows = [[one.what, one.count, one.in_text] for one in omissions]
    return json.dumps(rows, ensure_ascii=False) if rows else ""


def omissions_of(metadata: Mapping[str, str]) -> tuple[Omission, ...]:
    """Read the omissions of a stored document from its metadata."""
    return tuple(Omission(*row) for row in json.loads(metadata.get(OMISSIONS) or "[]"))


@dataclass(frozen=True, slots=True)
class Document:
    """One source: a law, an encyclopaedia page, a file.

    Attributes:
        id: unique in the corpus; the law id for statutes.
        title: as printed ("金融商品取引法").
        kind: ``law`` for statutes, else the format it came from (``text``, ``markdown``,
            ``html``, ``pdf``, ``docx``, ``image``, ``jsonl``, ``multihop``, ``triples``,
            ``wikidata``).
        text: the full text; every span refers to it.
        source: the file it was read from, with ``!member`` for a zip or a line of a JSONL file.
        passages: in reading order, layer by layer.
        sections: the outline, in reading order.
        metadata: for statutes ``law_num`` (昭和二十三年法律第二十五号), ``law_type`` (Act,
            CabinetOrder, MinisterialOrdinance, Constitution, ImperialOrder, Rule, Misc),
            ``promulgated`` (ISO date), ``date`` (date of the state of the text, ISO, where the
            file name gives one), ``amending_law`` (id of the law that made it this state),
            ``abbreviations`` (official ones, separated by commas), ``field`` (e-Gov's category,
            where the answer of its API tells it).
        omissions: what of the source is not in the text, or needs a word ("tracked insertions").
            The store keeps them in the metadata (`omissions_of`); `readers.stream` gives each one
            after the document, so that a reader sets them here and nowhere else.
    """

    id: str
    title: str
    kind: str
    text: str
    source: str
    passages: tuple[Passage, ...] = ()
    sections: tuple[Section, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    omissions: tuple[Omission, ...] = ()


class LawRow(NamedTuple):
    """What names a law; `abbreviations` are the official ones, separated by commas."""

    law_id: str
    title: str
    law_num: str = ""
    law_type: str = ""
    abbreviations: str = ""


class Label(NamedTuple):
    """A value of a facet.

    Attributes:
        key: the facet ("field").
        value: "国税".
    """

    key: str
    value: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}"


PAGE_STARTS = "page_starts"
"""The metadata that say where each page of a document begins, in characters, joined by commas."""
_JAPANESE = re.compile("[ぁ-んァ-ヶ一-鿿]")
_WRITTEN = re.compile(r"(?: \d+(?:–\d+)?頁|, pp?\. \d+(?:–\d+)?)$")


def page_starts(metadata: Mapping[str, str]) -> tuple[int, ...]:
    """Where each page of a document begins, in characters; empty where pages are unknown."""
    written = metadata.get(PAGE_STARTS, "")
    starts = written.split(",") if written else []
    return tuple(map(int, starts)) if all(start.isdecimal() for start in starts) else ()


def pages_of(starts: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """The first and the last page of a span, from 1; a page without text is none of them."""
    last = max(start, end - 1)
    return bisect_right(starts, start), bisect_right(starts, last)


def has_pages(place: str) -> bool:
    """Whether a place in words ends with its pages, as `with_pages` writes them."""
    return _WRITTEN.search(place) is not None


def with_pages(place: str, first: int, last: int, text: str) -> str:
    """A place in words with its pages: 意見書 12–13頁, or brief, pp. 12–13.

    Args:
        place: in words; pages that it has already are replaced.
        first: the first page.
        last: the last page.
        text: what stands there; Japanese is cited as in Japanese.
    """
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
"""Types of laws and kinds of documents, in the order in which they are listed."""

FACETS = {
    "kind": N_("kind"),
    "ministry": N_("ministry"),
    "field": N_("field"),
    "era": N_("era"),
    "year": N_("year"),
    "chapter": N_("heading"),
}
"""What code tells documents apart by, in the order in which it is shown."""

# Beside the words that are shown: what the texts of statutes say, and short words.
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
    """The name of parts of a file behind their count: pictures, and picture behind 1."""
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
    """Say what of a file was not read, and what was read as text and needs a word.

    Returns:
        None to two sentences: "Not read: 3 pictures, 1 chart.".
    """
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
    """A type of laws or kind of documents as it is shown, and can be written after ``kind=``."""
    return _own_word(kind, KINDS)


def facet_name(key: str) -> str:
    """A facet as it is shown, and can be written before the ``=``."""
    return _own_word(key, FACETS)


def spellings_of_kind(kind: str) -> tuple[str, ...]:
    """What a type of laws or kind of documents may be called, its stored name first."""
    return _spellings(kind, KINDS)


def spellings_of_facet(key: str) -> tuple[str, ...]:
    """What a facet may be called, its stored name first."""
    return _spellings(key, FACETS)


def _own_word(name: str, words: Mapping[str, str]) -> str:
    # Other names are those of records, or of categories, whatever their words mean elsewhere here.
    if name not in words:
        return name
    # English is the language of the stored names: what is stored is what people know to write.
    word = _(words[name])
    return name if word == words[name] else word


def _spellings(name: str, words: Mapping[str, str]) -> tuple[str, ...]:
    if name not in words:
        return (name,)
    return (name, *in_every_language(words[name]), *_ALSO_CALLED.get(name, ()))

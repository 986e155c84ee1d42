"""Statutes in JSON: answers of e-Gov's API, version 2, and JSON lines with one law each.

The API gives its XML as a tree of {tag, attr, children}, turned back into elements for the reader
of XML. A JSON line has paragraphs as text, with items as lines. A leading sign alone marks no item,
because tables have lines like 百万円 … too. Its number must follow the previous one, or be the
first of its kind right below its sentence or item.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any

from lxml import etree

from localrag.corpus.readers.bounds import JSON, MARKUP, check_memory
from localrag.corpus.readers.egov_xml import join, law_document, parsed
from localrag.corpus.readers.statute import (
    StatuteBuilder,
    StatutePlace,
    article_number,
    article_words,
    integer,
    is_number,
    item_words,
    paragraph_words,
)
from localrag.corpus.readers.text import one_line, string
from localrag.corpus.readers.types import Limits, ReadFailure, one_by_one
from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS, Document
from localrag.errors import InputError
from localrag.language import N_

_TEXT = "law_full_text"
_LISTS = ("laws", "items")
_BESIDE = ("law_info", "revision_info")
# Levels of a tree; laws have about 25.
_DEEPEST = 200
_TREE = {**JSON, b'"tag"': MARKUP[b"<"]}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,99}")
_AGAIN = N_("Download the law from e-Gov again.")


def is_law(value: Any) -> bool:
    """Whether JSON is an answer about laws: with a text, a tree alone, or a list."""
    if isinstance(value, list):
        return bool(value) and _is_one(value[0])
    return _is_one(value) or _listed(value) is not None


def read_laws(
    name: str, value: Any, data: bytes, limits: Limits
) -> Iterator[Document | ReadFailure]:
    """Read the laws of JSON accepted by `is_law`; in a list, each fault is a failure."""
    check_memory(data, _TREE, limits)
    laws = value if isinstance(value, list) else _listed(value)
    if laws is None:
        yield read_law(name, value, limits)
        return
    called = name if len(laws) == 1 else ""
    yield from one_by_one(
        name, laws, lambda law, _: iter([read_law(called, law, limits, source=name)])
    )


def read_law(name: str, value: Any, limits: Limits, *, source: str = "") -> Document:
    """Read one law."""
    if not _is_one(value):
        raise _malformed(_TEXT)
    if "tag" in value:
        return law_document(_element(value), name, source=source)
    held = value.get(_TEXT)
    if not held:
        raise InputError(
            N_("The answer of e-Gov's API has no law_full_text."),
            N_("Lists of laws have no texts. Ask the API for /law_data/<law id>."),
        )
    if isinstance(held, str):
        text = parsed(_xml(held), limits)
    elif isinstance(held, dict):
        text = _element(held)
    else:
        raise _malformed(_TEXT)
    root = etree.Element("law_data_response")
    for key in _BESIDE:
        root.append(_beside(key, value.get(key)))
    etree.SubElement(root, _TEXT).append(text)
    return law_document(root, name, source=source)


def _is_one(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if _TEXT in value or any(isinstance(value.get(key), dict) for key in _BESIDE):
        return True
    return "tag" in value and ("children" in value or value["tag"] == "Law")


def _listed(value: Any) -> list[Any] | None:
    for key in _LISTS if isinstance(value, dict) else ():
        laws = value.get(key)
        if isinstance(laws, list) and laws and _is_one(laws[0]):
            return laws
    return None


def _xml(held: str) -> bytes:
    if held.lstrip().startswith("<"):
        return held.strip().encode(errors="replace")
    try:
        return base64.b64decode("".join(held.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError(
            N_("law_full_text is text, but neither XML nor base64."), _AGAIN
        ) from error


def _beside(key: str, fields: Any) -> etree._Element:
    element = etree.Element(key)
    for name, value in fields.items() if isinstance(fields, dict) else ():
        if isinstance(value, str) and _NAME.fullmatch(name):
            _add_text(etree.SubElement(element, name), value)
    return element


def _element(tree: dict[str, Any]) -> etree._Element:
    """Make elements of a tree, level by level without recursion."""
    root = etree.Element(_tag(tree, ""))
    waiting = [(root, tree, 1)]
    while waiting:
        element, node, depth = waiting.pop()
        if depth > _DEEPEST:
            raise InputError(
                N_("The tree of the law has more than {n} levels."), _AGAIN, n=_DEEPEST
            )
        _set_attributes(element, node.get("attr"))
        children = node.get("children") or []
        if not isinstance(children, list):
            raise _malformed(str(element.tag))
        for child in children:
            if isinstance(child, str):
                _add_text(element, child)
            elif isinstance(child, dict):
                below = etree.SubElement(element, _tag(child, str(element.tag)))
                waiting.append((below, child, depth + 1))
            else:
                raise _malformed(str(element.tag))
    return root


def _tag(node: dict[str, Any], above: str) -> str:
    tag = node.get("tag")
    if not isinstance(tag, str) or not _NAME.fullmatch(tag):
        raise _malformed(above or _TEXT)
    return tag


def _set_attributes(element: etree._Element, attributes: Any) -> None:
    if attributes is None:
        return
    if not isinstance(attributes, dict):
        raise _malformed(str(element.tag))
    for name, value in attributes.items():
        if not isinstance(value, str) or not _NAME.fullmatch(name):
            raise _malformed(str(element.tag))
        try:
            element.set(name, value)
        except ValueError as error:
            raise _no_character(element) from error


def _add_text(element: etree._Element, text: str) -> None:
    try:
        if len(element):
            element[-1].tail = (element[-1].tail or "") + text
        else:
            element.text = (element.text or "") + text
    except ValueError as error:
        raise _no_character(element) from error


def _malformed(tag: str) -> InputError:
    return InputError(
        N_("The tree of the law is damaged in {tag}: it is not made of {{tag, attr, children}}."),
        _AGAIN,
        tag=tag,
    )


def _no_character(element: etree._Element) -> InputError:
    return InputError(
        N_("The text in {tag} has a control character; laws have none."),
        _AGAIN,
        tag=str(element.tag),
    )


_KANJI = "[一二三四五六七八九十百千]+"
_ALPHABETS = {
    "iroha": "イロハニホヘトチリヌルヲワカヨタレソツネナラム"
    "ウヰノオクヤマケフコエテアサキユメミシヱヒモセス",
    "gojuon": "アイウエオカキクケコサシスセソタチツテトナニヌネノ"
    "ハヒフヘホマミムメモヤユヨラリルレロワ",
    "lower": "ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ",
    "upper": "ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ",
    "roman": "ⅰⅱⅲⅳⅴⅵⅶⅷⅸⅹ",
    "upper roman": "ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩ",
    "circled": "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳",
}
_ROMAN_LETTERS = ["ｉ", "ｉｉ", "ｉｉｉ", "ｉｖ", "ｖ", "ｖｉ", "ｖｉｉ", "ｖｉｉｉ", "ｉｘ", "ｘ"]

_HEAD = re.compile(r"([^　\s]{1,24})　")
_BRANCHED = re.compile(rf"({_KANJI})((?:[のノ]{_KANJI})*)")
_RANGE = re.compile(r"(.+?)(?:から|及び|及ビ|及|乃至)(.+?)(?:まで)?")
_BRACKETED = re.compile(r"[（(](.+)[）)]")
# Separates cells of tables, whose rows may begin like items.
_CELL = "｜"
_DIGITS = re.compile("[0-9０-９]{1,3}")

_Number = tuple[int, ...]
# A reading of a sign: style of its list, first and last number.
_Reading = tuple[str, _Number, _Number]


@dataclass(slots=True)
class ItemLine:
    """A line and the items below it."""

    line: str  # as printed, with its sign
    sign: str = ""  # the printed number (一の二, イ, （１）); "" for a plain line
    number: str = ""  # as locator number (``1_2``, ``1``); "" for a plain line
    below: list["ItemLine"] = field(default_factory=list)  # items and plain lines one level deeper


@dataclass(slots=True)
class _ListLevel:
    style: str
    last: _Number
    node: ItemLine


def item_lines(lines: Iterable[str]) -> list[ItemLine]:
    """Sort the lines below a sentence into items, subitems and plain lines."""
    top: list[ItemLine] = []
    levels: list[_ListLevel] = []
    directly_below = True
    for line in lines:
        head = None if _CELL in line else _HEAD.match(line)
        readings = _readings(head.group(1)) if head else ()
        reading = _continued(levels, readings) or (directly_below and _begun(levels, readings))
        directly_below = bool(reading)
        if not head or not reading:
            # It may belong to the paragraph or the item above; no provision gets it.
            (levels[-2].node.below if len(levels) > 1 else top).append(ItemLine(line))
            continue
        style, first, last = reading
        number = _locator(first) if first == last else f"{_locator(first)}:{_locator(last)}"
        node = ItemLine(line, head.group(1), number)
        (levels[-1].node.below if levels else top).append(node)
        levels.append(_ListLevel(style, last, node))
    return top


def _continued(levels: list[_ListLevel], readings: Sequence[_Reading]) -> _Reading | None:
    """Find the list continued by a sign, and close the lists inside it."""
    for reading in readings:
        for depth, level in enumerate(levels):
            if level.style == reading[0] and _follows(level.last, reading[1]):
                del levels[depth:]
                return reading
    return None


def _begun(levels: list[_ListLevel], readings: Sequence[_Reading]) -> _Reading | None:
    styles = {level.style for level in levels}
    return next((r for r in readings if r[1] == (1,) and r[0] not in styles), None)


def _follows(before: _Number, number: _Number) -> bool:
    return any(
        number == (*before[:depth], before[depth] + 1) for depth in range(len(before))
    ) or number in ((*before, 2), (*before, 1))


@lru_cache(maxsize=8192)
def _readings(sign: str) -> tuple[_Reading, ...]:
    """List the readings of a sign: イ is first in one order and second in another."""
    ends = _RANGE.fullmatch(sign)
    if ends:
        firsts, lasts = _readings(ends.group(1)), _readings(ends.group(2))
        return tuple(
            (style, first, last)
            for style, first, _ in firsts
            for other, last, _ in lasts
            if style == other and last > first
        )
    bracketed = _BRACKETED.fullmatch(sign)
    prefix = "bracketed " if bracketed else ""
    return tuple(
        (prefix + style, number, number)
        for style, number in _simple(bracketed.group(1) if bracketed else sign)
    )


def _simple(sign: str) -> list[tuple[str, _Number]]:
    branched = _BRANCHED.fullmatch(sign)
    if branched:
        parts = (branched.group(1), *re.split("[のノ]", branched.group(2))[1:])
        return [("kanji", tuple(integer(part) for part in parts))]
    if _DIGITS.fullmatch(sign):
        return [("digits", (int(sign),))]
    readings: list[tuple[str, _Number]] = []
    if sign in _ROMAN_LETTERS:
        readings.append(("roman", (_ROMAN_LETTERS.index(sign) + 1,)))
    if len(sign) == 1:
        readings += [
            (style, (alphabet.index(sign) + 1,))
            for style, alphabet in _ALPHABETS.items()
            if sign in alphabet
        ]
    return readings


def _locator(number: _Number) -> str:
    return "_".join(map(str, number))


_KINDS = (
    ("CONSTITUTION", "Constitution"),
    ("AC", "Act"),
    ("CO", "CabinetOrder"),
    ("IO", "ImperialOrder"),
    ("M", "MinisterialOrdinance"),
    ("R", "Rule"),
)
_DATE = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})")


def statute_document(record: dict[str, Any], source: str) -> Document:
    """Make the statute of one line: law_id, date, title, law_num, articles.

    An article has num, caption, title, paragraphs (num, text), suppl and suppl_label. Provisions
    outside any article have null as ``num``.
    """
    law_id = one_line(string(record, "law_id"))
    if not law_id:
        raise InputError(N_("The law has no id."), N_('Give it a field "law_id".'))
    law_num = one_line(string(record, "law_num"))
    builder = StatuteBuilder(law_id, one_line(string(record, "title")) or law_num or law_id)
    builder.line(builder.title)
    if law_num:
        builder.line(f"（{law_num}）")
    writer = _Writer(builder)
    for article in _objects(record, "articles"):
        writer.article(article)
    writer.close()
    metadata = {
        "law_num": law_num,
        "law_type": next((kind for code, kind in _KINDS if law_id[3:].startswith(code)), "Misc"),
        "date": _day(string(record, "date")),
    }
    return builder.document(source, {key: value for key, value in metadata.items() if value})


def _day(text: str) -> str:
    """A date in ISO form; "" for other texts."""
    if (written := _DATE.fullmatch(text)) is None:
        return ""
    try:
        return date(*map(int, written.groups())).isoformat()
    except ValueError as error:
        raise InputError(
            N_("The field {key!r} has an impossible date: {day}."),
            N_("Check the file."),
            key="date",
            day=text,
        ) from error


class _Writer:
    """Writes articles in order, within their supplementary provision."""

    def __init__(self, builder: StatuteBuilder) -> None:
        self._builder = builder
        self._place = StatutePlace(words=builder.title)
        self._label: str | None = None
        self._heading = ""
        self._start = 0
        self._supplements = 0

    def article(self, article: dict[str, Any]) -> None:
        if article.get("suppl"):
            self._supplement(one_line(string(article, "suppl_label")) or "附　則")
        paragraphs = list(_objects(article, "paragraphs"))
        title, number = "", ""
        if article.get("num") is not None:
            title = one_line(string(article, "title"))
            number = article_number(string(article, "num"), title)
        caption = one_line(string(article, "caption"))
        place = self._place._replace(
            article=number, words=self._place.step(article_words(number, title))
        )
        start = self._builder.position
        self._builder.line(caption)
        self._paragraphs(paragraphs, place, title)
        self._builder.provision(ARTICLES, place._replace(words=place.words + caption), start)

    def close(self) -> None:
        if self._heading:
            self._builder.section(1, self._heading, self._start)

    def _supplement(self, label: str) -> None:
        if label == self._label:
            return
        self.close()
        self._label, self._heading, self._start = label, label, self._builder.position
        self._supplements += 1
        self._builder.line(label)
        words = f"{self._builder.title} {''.join(label.split())}"
        self._place = StatutePlace(words, division=f"suppl{self._supplements}")

    def _paragraphs(self, paragraphs: list[dict[str, Any]], outer: StatutePlace, head: str) -> None:
        if not paragraphs:
            self._builder.line(head)
        for ordinal, paragraph in enumerate(paragraphs, start=1):
            number = string(paragraph, "num")
            number = number if is_number(number) else str(ordinal)
            words = paragraph_words(number) if len(paragraphs) > 1 else ""
            place = outer._replace(paragraph=number, words=outer.step(words))
            self._paragraph(string(paragraph, "text"), place, head)
            head = ""

    def _paragraph(self, text: str, place: StatutePlace, head: str) -> None:
        """Write a paragraph; this format has no number before its sentence."""
        start = self._builder.position
        first, *rest = text.split("\n")
        self._builder.line(join(head, first))
        for node in item_lines(rest):
            self._item(node, place)
        self._builder.provision(PARAGRAPHS, place, start)

    def _item(self, node: ItemLine, outer: StatutePlace) -> None:
        start = self._builder.position
        self._builder.line(node.line)
        if not node.number:
            return
        if outer.item:
            path = f"{outer.subitem}.{node.number}".lstrip(".")
            place = outer._replace(subitem=path, words=outer.step(node.sign))
        else:
            place = outer._replace(item=node.number, words=outer.step(item_words(node.sign)))
        for below in node.below:
            self._item(below, place)
        self._builder.provision(ITEMS, place, start)


def _objects(record: dict[str, Any], key: str) -> Iterator[dict[str, Any]]:
    values = record.get(key)
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise InputError(
            N_("The field {key!r} is not a list of objects."), N_("Check the file."), key=key
        )
    yield from values

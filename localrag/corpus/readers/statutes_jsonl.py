"""Statutes as JSON: one object a law, its paragraphs as text, items as lines of it."""

import re
from collections.abc import Iterator
from typing import Any

from localrag.corpus.readers.egov_text import join
from localrag.corpus.readers.item_lines import ItemLine, item_lines
from localrag.corpus.readers.records import one_line, string
from localrag.corpus.readers.statute import Place, StatuteBuilder
from localrag.corpus.readers.statute_words import (
    article_number,
    article_words,
    is_number,
    item_words,
    paragraph_words,
)
from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS, Document
from localrag.errors import InputError

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
    """Make the statute of one line.

    Args:
        record: ``{"law_id", "date", "title", "law_num", "articles": [{"num", "caption", "title",
            "paragraphs": [{"num", "text"}], "suppl", "suppl_label"}]}``. Articles whose ``num``
            is null stand outside any article.
        source: the file and line.

    Raises:
        InputError: the line has another shape, or no law id.
    """
    law_id = one_line(string(record, "law_id"))
    if not law_id:
        raise InputError("The law has no id.", 'Give it a field "law_id".')
    law_num = one_line(string(record, "law_num"))
    builder = StatuteBuilder(law_id, one_line(string(record, "title")) or law_num or law_id)
    builder.line(builder.title)
    if law_num:
        builder.line(f"（{law_num}）")
    writer = _Writer(builder)
    for article in _objects(record, "articles"):
        writer.article(article)
    writer.close()
    date = _DATE.fullmatch(string(record, "date"))
    metadata = {
        "law_num": law_num,
        "law_type": next((kind for code, kind in _KINDS if law_id[3:].startswith(code)), "Misc"),
        "date": "-".join(date.groups()) if date else "",
    }
    return builder.document(source, {key: value for key, value in metadata.items() if value})


class _Writer:
    """Writes articles in a row and keeps track of the supplementary provision they stand in."""

    def __init__(self, builder: StatuteBuilder) -> None:
        self._builder = builder
        self._place = Place(words=builder.title)
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
        """End the supplementary provision at hand."""
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
        self._place = Place(words, division=f"suppl{self._supplements}")

    def _paragraphs(self, paragraphs: list[dict[str, Any]], outer: Place, head: str) -> None:
        if not paragraphs:
            self._builder.line(head)
        for ordinal, paragraph in enumerate(paragraphs, start=1):
            number = string(paragraph, "num")
            number = number if is_number(number) else str(ordinal)
            words = paragraph_words(number) if len(paragraphs) > 1 else ""
            place = outer._replace(paragraph=number, words=outer.step(words))
            self._paragraph(string(paragraph, "text"), place, head)
            head = ""

    def _paragraph(self, text: str, place: Place, head: str) -> None:
        """Write a paragraph; in this format the number before its sentence is left out."""
        start = self._builder.position
        first, *rest = text.split("\n")
        self._builder.line(join(head, first))
        for node in item_lines(rest):
            self._item(node, place)
        self._builder.provision(PARAGRAPHS, place, start)

    def _item(self, node: ItemLine, outer: Place) -> None:
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
        raise InputError(f"The field {key!r} is not a list of objects.", "Check the file.")
    yield from values

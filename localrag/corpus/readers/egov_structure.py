"""The hierarchy of 法令標準XML, from parts down to subitems, written as one statute.

How it is written:

- A provision is one block of lines, numbers separated from sentences by a full-width space:
  第一条　この法律は… / ２　前項の… / 一　… / イ　…. The cells of a table are separated by tabs.
- An article begins with its caption, its first paragraph with the article's number, so that a
  quoted paragraph tells by itself where it stands.
- Headers name law and place in the words of citations: 第五条 第六項 第二号 イ. The paragraph is
  left out where the article has only one; the caption follows on article level:
  第二十七条の三十六（重要情報の公表）. Items without a printed sign have the header of their
  paragraph: nobody can cite a number that is not printed.
- A supplementary provision is told from others by the amending law: 附則（平成二七年五月二七日
  法律第三二号） 第二条. Paragraphs outside any article make up one passage of the article layer.
"""

from collections.abc import Callable, Iterable
from itertools import groupby

from lxml import etree

from localrag.corpus.readers.egov_text import NUMBERS, SENTENCES, inline, join, lines, sentence
from localrag.corpus.readers.statute import Place, StatuteBuilder
from localrag.corpus.readers.statute_words import (
    article_number,
    article_words,
    is_number,
    item_words,
    paragraph_words,
)
from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS

_HEADINGS = frozenset(
    ["PartTitle", "ChapterTitle", "SectionTitle", "SubsectionTitle", "DivisionTitle"]
)
_DIVISIONS = frozenset(["Part", "Chapter", "Section", "Subsection", "Division"])
_APPENDICES = ("Appdx", "SupplProvisionAppdx")
_UNTITLED = "（表題のない別表等）"
_PRELIMINARIES = {"Preamble": ("preamble", "前文"), "EnactStatement": ("enact", "制定文")}


class LawWriter:
    """Writes one ``Law`` element; every method writes one kind of element where it stands."""

    def __init__(self, builder: StatuteBuilder) -> None:
        self._builder = builder
        self._root = Place(words=builder.title)
        self._supplements = 0
        self._appendices = 0

    def law(self, law: etree._Element, body: etree._Element) -> None:
        """Write all of a law but its table of contents, which repeats the headings."""
        self._builder.line(self._builder.title)
        number = inline(law.find("LawNum"))
        if number:
            self._builder.line(f"（{number}）")
        for tag, elements in groupby(body, key=lambda element: str(element.tag)):
            if tag in _PRELIMINARIES:
                self._preliminary(elements, *_PRELIMINARIES[tag])
                continue
            for element in elements:
                if tag == "MainProvision":
                    self._division(element, self._root, depth=0)
                elif tag == "SupplProvision":
                    self._supplement(element)
                elif tag.startswith(_APPENDICES):
                    self._appendix(element, self._root)
                elif tag not in ("LawTitle", "TOC"):
                    self._lines(element)

    def _preliminary(self, elements: Iterable[etree._Element], division: str, words: str) -> None:
        place = self._root._replace(division=division, words=self._root.step(words))
        start = self._builder.position
        for element in elements:
            paragraphs = element.findall("Paragraph")
            if paragraphs:
                self._paragraphs(paragraphs, place)
            else:
                self._lines(element)
        self._builder.provision(ARTICLES, place, start)

    def _supplement(self, element: etree._Element) -> None:
        self._supplements += 1
        start = self._builder.position
        amendment = element.get("AmendLawNum", "")
        printed = inline(element.find("SupplProvisionLabel"))
        label = "".join(printed.split()) or "附則"
        heading = printed or label
        if amendment:
            label += f"（{amendment}）"
            heading += f"　（{amendment}）"
        if element.get("Extract") == "true":
            heading += "　抄"
        self._builder.line(heading)
        place = Place(self._root.step(label), division=f"suppl{self._supplements}")
        self._division(element, place, depth=1)
        self._builder.section(1, heading, start)

    def _division(self, element: etree._Element, place: Place, depth: int) -> None:
        """Write main or supplementary provisions, or a part, chapter, section … of them."""
        start = self._builder.position
        heading = ""
        for tag, children in groupby(element, key=lambda child: str(child.tag)):
            if tag == "Paragraph":
                self._unnumbered(list(children), place)
                continue
            for child in children:
                if tag == "Article":
                    self._article(child, place)
                elif tag in _DIVISIONS:
                    self._division(child, place, depth + 1)
                elif tag in _HEADINGS:
                    heading = inline(child)
                    self._builder.line(heading)
                elif tag.startswith(_APPENDICES):
                    self._appendix(child, place)
                elif tag != "SupplProvisionLabel":
                    self._lines(child)
        if heading:
            self._builder.section(depth, heading, start)

    def _unnumbered(self, paragraphs: list[etree._Element], place: Place) -> None:
        """Write paragraphs outside any article: together they are what an article is elsewhere."""
        start = self._builder.position
        self._paragraphs(paragraphs, place)
        self._builder.provision(ARTICLES, place, start)

    def _article(self, element: etree._Element, outer: Place) -> None:
        start = self._builder.position
        title = inline(element.find("ArticleTitle")).strip()
        caption = inline(element.find("ArticleCaption")).strip()
        number = article_number(element.get("Num", ""), title)
        place = outer._replace(article=number, words=outer.step(article_words(number, title)))
        head = title
        if caption and element[0].tag == "ArticleTitle":
            # Some laws print it behind the number: 第一条（この法律の趣旨）.
            head += caption
        else:
            self._builder.line(caption)
        self._paragraphs(element.findall("Paragraph"), place, head)
        for child in element:
            if child.tag not in ("ArticleTitle", "ArticleCaption", "Paragraph"):
                self._lines(child)
        if caption and not caption.startswith("（"):
            caption = f"（{caption}）"
        self._builder.provision(ARTICLES, place._replace(words=place.words + caption), start)

    def _paragraphs(self, paragraphs: list[etree._Element], outer: Place, head: str = "") -> None:
        """Write paragraphs in a row; `head`, the article's title, is printed before the first."""
        if not paragraphs:
            self._builder.line(head)
        for ordinal, element in enumerate(paragraphs, start=1):
            number = _number(element, ordinal)
            # An article of one paragraph is cited without it: 第五条第二号.
            words = paragraph_words(number) if len(paragraphs) > 1 else ""
            place = outer._replace(paragraph=number, words=outer.step(words))
            self._builder.line(inline(element.find("ParagraphCaption")))
            start = self._builder.position
            self._numbered(element, self._items(place), head)
            self._builder.provision(PARAGRAPHS, place, start)
            head = ""

    def _items(self, outer: Place) -> Callable[[etree._Element, int], None]:
        """Tell how to write what stands below the sentence of `outer`."""

        def below(element: etree._Element, ordinal: int) -> None:
            tag = str(element.tag)
            if tag == "Item":
                number, path = _number(element, ordinal), ""
            elif tag.startswith("Subitem"):
                number = outer.item
                path = f"{outer.subitem}.{_number(element, ordinal)}".lstrip(".")
            else:
                if tag != "ParagraphCaption":
                    self._lines(element)
                return
            title = inline(element.find(f"{tag}Title")).strip()
            place = outer._replace(item=number, subitem=path, words=outer.step(item_words(title)))
            start = self._builder.position
            self._numbered(element, self._items(place))
            self._builder.provision(ITEMS, place, start)

        return below

    def _numbered(
        self,
        element: etree._Element,
        below: Callable[[etree._Element, int], None],
        head: str = "",
    ) -> None:
        """Write a printed number and its sentence on one line, then what stands below them.

        Args:
            element: a paragraph, item, subitem or appendix.
            below: called with an element and its ordinal among its like.
            head: printed before the number.
        """
        counts: dict[str, int] = {}
        for child in element:
            tag = str(child.tag)
            if tag in NUMBERS:
                head = join(head, inline(child))
            elif tag in SENTENCES:
                self._builder.line(join(head, sentence(child)))
                head = ""
            else:
                self._builder.line(head)
                head = ""
                counts[tag] = counts.get(tag, 0) + 1
                below(child, counts[tag])
        self._builder.line(head)

    def _appendix(self, element: etree._Element, outer: Place) -> None:
        self._appendices += 1
        start = self._builder.position
        title = next((inline(c) for c in element if str(c.tag).endswith(("Title", "Num"))), "")
        related = inline(element.find("RelatedArticleNum"))
        words = (title if title == related else title + related) or _UNTITLED
        place = Place(outer.step(words), division=f"appendix{self._appendices}")
        self._numbered(element, self._items(place))
        self._builder.provision(ARTICLES, place, start)
        self._builder.section(2 if outer.division else 1, title or words, start)

    def _lines(self, element: etree._Element) -> None:
        for line in lines(element):
            self._builder.line(line)


def _number(element: etree._Element, ordinal: int) -> str:
    number = element.get("Num", "")
    return number if is_number(number) else str(ordinal)

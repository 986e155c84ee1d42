"""e-Gov 法令標準XML: a bare ``Law``, or one inside an answer of e-Gov's API, version 1 or 2.

Real files differ from the schema, so each element with text becomes a line, wherever it is.

- A provision is a block of lines, with a full-width space after each number: 第一条 この法律は… /
  ２ 前項の… / 一 …. Table cells are separated by tabs.
- An article begins with its caption, its first paragraph with the article number.
- Headers use the words of citations: 第五条 第六項 第二号 イ. A single paragraph is left out;
  articles add their caption. Items without a printed sign have the header of their paragraph.
- Supplementary provisions are identified by their amending law:
  附則（平成二七年五月二七日法律第三二号） 第二条.

Law id, date and amending law come from the file name, else from the API's answer, else from the
number of the law.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from itertools import groupby
from typing import NamedTuple

from lxml import etree

from localrag.corpus.readers.bounds import MARKUP, check_memory, parsed_xml
from localrag.corpus.readers.statute import (
    StatuteBuilder,
    StatutePlace,
    article_number,
    article_words,
    is_number,
    item_words,
    paragraph_words,
)
from localrag.corpus.readers.text import drop_controls, stem
from localrag.corpus.readers.types import Limits
from localrag.corpus.states import enacted
from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS, Document
from localrag.errors import InputError
from localrag.language import N_
from localrag_indexes.analysis.normalize import common_year, parse_numeral, parse_year

# The codes of ministries have letters, too: 346M50010D40003.
_LAW_ID = r"\d{3}(?:CONSTITUTION|[A-Z]{1,4}\d[0-9A-F]{7,10})"
_FILE_NAME = re.compile(rf"({_LAW_ID})(?:_(\d{{4}})(\d{{2}})(\d{{2}}))?(?:_(\w+))?")
# In e-Gov's file names: no amending law.
_NO_AMENDMENT = re.compile("0*")
# In the order of their digits in law ids, from 1.
_ERAS = {"Meiji": "明治", "Taisho": "大正", "Showa": "昭和", "Heisei": "平成", "Reiwa": "令和"}
# First year of the Gregorian calendar in Japan.
_GREGORIAN = 1873
# Kinds with an id computable from era, year and number. Ids of acts contain the proposer of the
# bill, ids of ordinances the ministry.
_COMPUTABLE = {"CabinetOrder": "CO", "ImperialOrder": "IO"}

_NUMERAL = "〇一二三四五六七八九十百千0-9０-９"
# 昭和二十三年厚生省令第四十七号; without 第…号: 昭和二十一年憲法, 昭和二十四年人事院規則一―一
_LAW_NUMBER = re.compile(
    rf"(明治|大正|昭和|平成|令和)(元|[{_NUMERAL}]{{1,4}})年(.{{1,60}}?)(?:第([{_NUMERAL}]{{1,7}})号)?"
)
# Kinds in law numbers with a fixed code in law ids.
_KINDS_OF_NUMBERS = {"法律": "AC", "政令": "CO", "勅令": "IO"}


class Identity(NamedTuple):
    """The law in a file, and the state of its text."""

    law_id: str  # as in e-Gov
    day: str  # ISO date of the text; "" if unknown
    amending_law: str  # id of the latest one; "" without one


def identity(root: etree._Element, law: etree._Element, name: str, number: str) -> Identity:
    """Identify the law in a file; an unknown id, or one unlike the content, is an InputError."""
    match = _FILE_NAME.fullmatch(stem(name))
    law_id = _law_id(root, law, match.group(1) if match else "", number)
    dated, amending = _revision(root, name, match, law_id)
    return Identity(law_id, dated, "" if _NO_AMENDMENT.fullmatch(amending) else amending)


def said(root: etree._Element, path: str) -> str:
    """A field of the API's answer beside the text."""
    return (root.findtext(f".//{path}") or "").strip()


def _revision(
    root: etree._Element, name: str, match: re.Match[str] | None, law_id: str
) -> tuple[str, str]:
    """Day of the text and amending law, from the file name, else the answer."""
    if match is None or not match.group(2):
        revision = said(root, "revision_info/law_revision_id")
        of_answer = _FILE_NAME.fullmatch(revision)
        if of_answer and of_answer.group(1) == law_id:
            name, match = revision, of_answer
    if match is None:
        return "", ""
    dated = _day(name, *match.group(2, 3, 4)) if match.group(2) else ""
    return dated, match.group(5) or ""


def _day(name: str, year: str, month: str, day: str) -> str:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError as error:
        raise InputError(
            N_("The name {name!r} has an impossible date: {day}."),
            N_("Take the file from e-Gov again, with the name it has there."),
            name=name,
            day=f"{year}-{month}-{day}",
        ) from error


def _law_id(root: etree._Element, law: etree._Element, from_name: str, number: str) -> str:
    """The law id from the file name, the API's answer, or the law number."""
    stated = (
        root.findtext(".//law_info/law_id")
        or root.findtext("./ApplData/LawId")
        or law.get("LawId")
        or ""
    ).strip()
    stated = stated if re.fullmatch(_LAW_ID, stated) else ""
    if from_name and stated and from_name != stated:
        raise InputError(
            N_("The file is named for the law {from_name} but holds the law {stated}."),
            N_("Check where it came from, then rename it to {stated}.xml."),
            from_name=from_name,
            stated=stated,
        )
    if from_name and not stated and not _can_bear(from_name, number):
        raise InputError(
            N_("The file is named for the law {from_name} but holds {number}."),
            N_("Take the file from e-Gov again, with the name it has there."),
            from_name=from_name,
            number=number,
        )
    law_id = from_name or stated or _computed_id(law)
    if not law_id:
        raise InputError(
            N_("Neither the file name nor the XML gives the law id."),
            N_(
                "Name the file <law id>.xml or <law id>_<YYYYMMDD>.xml as e-Gov does, e.g. "
                "405AC0000000088_20240401.xml."
            ),
        )
    return law_id


def _can_bear(law_id: str, law_num: str) -> bool:
    """Whether a law number fits a law id; true for all 4,183 laws at hand."""
    said, made = _LAW_NUMBER.fullmatch(law_num), enacted(law_id)
    if said is None or made is None:
        return True
    era, year, kind, number = said.groups()
    return (
        era == made.era
        and parse_year(year) == int(law_id[1:3])
        and law_id[3:].startswith(_KINDS_OF_NUMBERS.get(kind, ""))
        and (number is None or parse_numeral(number) % 1000 == int(law_id[-3:]))
    )


def _computed_id(law: etree._Element) -> str:
    era, year, number = (law.get(key, "") for key in ("Era", "Year", "Num"))
    if era not in _ERAS or not year.isdecimal():
        return ""
    dated = f"{tuple(_ERAS).index(era) + 1}{int(year):02}"
    if law.get("LawType") == "Constitution":
        return f"{dated}CONSTITUTION"
    kind = _COMPUTABLE.get(law.get("LawType", ""))
    return f"{dated}{kind}{int(number):010}" if kind and number.isdecimal() else ""


def promulgated(law: etree._Element) -> str:
    """ISO date of promulgation; "" if unknown."""
    era = _ERAS.get(law.get("Era", ""))
    parts = [law.get(key, "") for key in ("Year", "PromulgateMonth", "PromulgateDay")]
    if era is None or not all(part.isdecimal() for part in parts):
        return ""
    year, month, day = (int(part) for part in parts)
    # Earlier dates are in the lunar calendar.
    if common_year(era, year) < _GREGORIAN:
        return ""
    try:
        return date(common_year(era, year), month, day).isoformat()
    except ValueError:
        return ""


SUBITEM_LEVELS = range(1, 11)
NUMBERS = frozenset(
    ["ArticleTitle", "ParagraphNum", "ItemTitle", *(f"Subitem{n}Title" for n in SUBITEM_LEVELS)]
)
"""Numbers at the start of a line, before their sentence."""
SENTENCES = frozenset(
    [
        "ParagraphSentence",
        "ItemSentence",
        *(f"Subitem{n}Sentence" for n in SUBITEM_LEVELS),
        "ListSentence",
        *(f"Sublist{n}Sentence" for n in range(1, 4)),
        "AmendProvisionSentence",
    ]
)
"""Elements with all sentences and columns on one line."""
_INLINE = frozenset(["Ruby", "Sub", "Sup", "Line", "ArithFormula"])
_LINE_BREAK = re.compile(r"[ \t]*\n[ \t]*")


def inline(element: etree._Element | None) -> str:
    """The text of an element inside a line; ruby gives its base text."""
    if element is None:
        return ""
    text = _verbatim(element.text)
    if not len(element):
        return text
    pieces = [text]
    for child in element:
        if child.tag == "Fig":
            pieces.append(_figure(child))
        elif child.tag in _INLINE or (child.tag != "Rt" and _is_printed(child)):
            pieces.append(inline(child))
        elif child.tag != "Rt":
            pieces.append("\n" + "\n".join(lines(child)) + "\n")
        pieces.append(_verbatim(child.tail))
    return "".join(pieces)


def sentence(element: etree._Element) -> str:
    """One line of sentences, columns separated by a full-width space as printed."""
    line = ""
    for child in element:
        if child.tag == "Column":
            separator = "\n" if child.get("LineBreak") == "true" else "　"
            line += (separator if line else "") + sentence(child)
        elif child.tag == "Sentence":
            line += inline(child)
        else:
            line += "".join(f"\n{below}" for below in lines(child))
    return line or inline(element)


def lines(element: etree._Element) -> Iterator[str]:
    """Yield the printed lines of an element and its content."""
    if element.tag == "Table":
        yield from _rows(element)
    elif element.tag == "Fig":
        yield _figure(element)
    elif element.tag in SENTENCES:
        yield sentence(element)
    elif element.tag == "Sentence" or _is_printed(element):
        yield inline(element)
    else:
        head = ""
        for child in element:
            if child.tag in NUMBERS:
                head = join(head, inline(child))
                continue
            for line in lines(child):
                yield join(head, line)
                head = ""
        if head:
            yield head


def join(head: str, line: str) -> str:
    """Join a printed number and its line."""
    return f"{head}　{line}" if head and line else head or line


def _is_printed(element: etree._Element) -> bool:
    if element.text and not element.text.isspace():
        return True
    return len(element) > 0 and element[0].tag in _INLINE


def _rows(table: etree._Element) -> Iterator[str]:
    """Yield one line per row, cells separated by tabs; covered cells are empty."""
    reaching: dict[int, int] = {}
    for row in table:
        cells: list[str] = []
        for cell in row:
            _fill(cells, reaching)
            width, height = _span(cell, "colspan"), _span(cell, "rowspan")
            width = max(1, min(width, _WIDEST - len(cells)))
            for column in range(len(cells), len(cells) + width):
                reaching[column] = height - 1
            text = "　".join(line for line in lines(cell) if line)
            cells += [text.replace("\n", "　"), *[""] * (width - 1)]
        _fill(cells, reaching)
        yield "\t".join(cells).rstrip("\t")


# Columns. Printed tables have far fewer; crafted spans would fill the memory.
_WIDEST = 1_000


def _fill(cells: list[str], reaching: dict[int, int]) -> None:
    while reaching.get(len(cells), 0) and len(cells) < _WIDEST:
        reaching[len(cells)] -= 1
        cells.append("")


def _span(cell: etree._Element, name: str) -> int:
    value = cell.get(name, "1")[:9]
    return max(1, min(int(value), _WIDEST)) if value.isdecimal() else 1


def _figure(element: etree._Element) -> str:
    return f"［図：{drop_controls(element.get('src', '')).rpartition('/')[2]}］"


def _verbatim(text: str | None) -> str:
    if not text:
        return ""
    if "\n" in text:
        # Pretty printers add line breaks and indentation; full-width spaces belong to the law.
        text = _LINE_BREAK.sub("", text)
    return text if text.isprintable() else drop_controls(text)


_HEADINGS = frozenset(
    ["PartTitle", "ChapterTitle", "SectionTitle", "SubsectionTitle", "DivisionTitle"]
)
_DIVISIONS = frozenset(["Part", "Chapter", "Section", "Subsection", "Division"])
_APPENDICES = ("Appdx", "SupplProvisionAppdx")
_UNTITLED = "（表題のない別表等）"
_PRELIMINARIES = {"Preamble": ("preamble", "前文"), "EnactStatement": ("enact", "制定文")}


class LawWriter:
    """Writes one ``Law`` element, with one method per kind of element."""

    def __init__(self, builder: StatuteBuilder) -> None:
        self._builder = builder
        self._root = StatutePlace(words=builder.title)
        self._supplements = 0
        self._appendices = 0

    def law(self, law: etree._Element, body: etree._Element) -> None:
        """Write a law without its table of contents."""
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
        place = StatutePlace(self._root.step(label), division=f"suppl{self._supplements}")
        self._division(element, place, depth=1)
        self._builder.section(1, heading, start)

    def _division(self, element: etree._Element, place: StatutePlace, depth: int) -> None:
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

    def _unnumbered(self, paragraphs: list[etree._Element], place: StatutePlace) -> None:
        start = self._builder.position
        self._paragraphs(paragraphs, place)
        self._builder.provision(ARTICLES, place, start)

    def _article(self, element: etree._Element, outer: StatutePlace) -> None:
        start = self._builder.position
        title = inline(element.find("ArticleTitle")).strip()
        caption = inline(element.find("ArticleCaption")).strip()
        number = article_number(element.get("Num", ""), title)
        place = outer._replace(article=number, words=outer.step(article_words(number, title)))
        head = title
        if caption and element[0].tag == "ArticleTitle":
            # Some laws print the caption after the number: 第一条（この法律の趣旨）.
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

    def _paragraphs(
        self, paragraphs: list[etree._Element], outer: StatutePlace, head: str = ""
    ) -> None:
        """Write consecutive paragraphs, with `head`, the article number, before the first."""
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

    def _items(self, outer: StatutePlace) -> Callable[[etree._Element, int], None]:
        """Make a writer for the elements below the sentence of `outer`."""

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
        self, element: etree._Element, below: Callable[[etree._Element, int], None], head: str = ""
    ) -> None:
        """Write number and sentence on one line, then the elements below."""
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

    def _appendix(self, element: etree._Element, outer: StatutePlace) -> None:
        self._appendices += 1
        start = self._builder.position
        title = next((inline(c) for c in element if str(c.tag).endswith(("Title", "Num"))), "")
        related = inline(element.find("RelatedArticleNum"))
        words = (title if title == related else title + related) or _UNTITLED
        place = StatutePlace(outer.step(words), division=f"appendix{self._appendices}")
        self._numbered(element, self._items(place))
        self._builder.provision(ARTICLES, place, start)
        self._builder.section(2 if outer.division else 1, title or words, start)

    def _lines(self, element: etree._Element) -> None:
        for line in lines(element):
            self._builder.line(line)


def _number(element: etree._Element, ordinal: int) -> str:
    number = element.get("Num", "")
    return number if is_number(number) else str(ordinal)


def read_egov_xml(name: str, data: bytes, limits: Limits) -> Iterator[Document]:
    """Read the law in an e-Gov XML file."""
    yield law_document(parsed(data, limits), name)


def parsed(data: bytes, limits: Limits) -> etree._Element:
    """Parse e-Gov XML."""
    check_memory(data, MARKUP, limits)
    return parsed_xml(
        data,
        N_("Download the file again."),
        N_("Take the file from e-Gov: its XML declares none."),
        without_comments=True,
    )


def law_document(root: etree._Element, name: str, *, source: str = "") -> Document:
    """Make a document of a ``Law``, or of an answer of e-Gov's API around one."""
    law = root if root.tag == "Law" else next(root.iter("Law"), None)
    body = law.find("LawBody") if law is not None else None
    if law is None or body is None:
        raise InputError(
            N_("The XML holds no law (root element {tag!r})."),
            N_("Only 法令標準XML (e-Gov) is read; take the full text of the law from e-Gov."),
            tag=root.tag,
        )
    printed = inline(law.find("LawNum")).strip()
    named = identity(root, law, name, printed)
    heading = body.find("LawTitle")
    law_num = printed or said(root, "law_info/law_num")
    title = inline(heading).strip() or said(root, "revision_info/law_title") or law_num
    if not title:
        raise InputError(
            N_("The law has neither a title nor a law number."), N_("The file is damaged.")
        )
    builder = StatuteBuilder(named.law_id, title)
    LawWriter(builder).law(law, body)
    metadata = {
        "law_num": law_num,
        "law_type": law.get("LawType", ""),
        "promulgated": promulgated(law),
        "date": named.day,
        "amending_law": named.amending_law,
        "abbreviations": heading.get("Abbrev", "") if heading is not None else "",
        "field": said(root, "revision_info/category"),
    }
    held = {key: drop_controls(value) for key, value in metadata.items() if value}
    return builder.document(source or name, held)

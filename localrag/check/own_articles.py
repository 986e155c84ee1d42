"""Finds the articles of the text itself, such as 第三条 of a contract.

Headings with rising article numbers identify them; numbers before lines give their paragraphs. A
citation of such an article is looked up here, never in a law.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from localrag.corpus.types import Locator
from localrag.law.citations import ProvisionCitation
from localrag.law.notation import NUMBER, count, read_number
from localrag_indexes.analysis.normalize import in_digits

_HEADING = re.compile(
    rf"^[ \t　]*(?:#+ *)?\**(?P<article>第[ 　]?{NUMBER}[ 　]?条(?:の{NUMBER})*)\**"
    r"(?=[ 　\t（(【［\[：:.．]|$)",
    re.MULTILINE,
)
# Numbers of lines in an article: 2　, 2., ２項, (2), ②, 二.
_LINE = re.compile(
    r"^[ \t　]*(?:[-*・] *)?(?:[（(](?P<bracketed>[0-9０-９一二三四五六七八九十]{1,3})[)）]"
    r"|(?P<circled>[①-⑳])|第?(?P<plain>[0-9０-９]{1,3})(?:[.．、)）　 \t]|項)"
    r"|(?P<kanji>[一二三四五六七八九十]{1,3})[　 \t、.．])",
    re.MULTILINE,
)
# Numbers within a line: 甲は、①…、②…, …とする。2 乙は….
_WITHIN_LINE = re.compile(
    r"[①-⑳]|[（(][0-9０-９一二三四五六七八九十]{1,2}[)）]|。[ 　]?[0-9０-９]{1,2}[ 　.．]"
)
_CAPTION = re.compile(r"\A[ 　]*[（(【［\[][^\n]{1,40}[）)】］\]][ 　]*(?=\n)")
# 別紙1第2条: of an attachment, not of the text's articles.
_ATTACHED = re.compile(
    "(?:別紙|別添|別記|別表|別冊|付属書|附属書|添付書類?|添付資料|仕様書|様式|見積書|約款|覚書|原契約)"
    "[0-9０-９一二三四五六七八九十A-Za-zＡ-Ｚ]{0,3}[（(]?[^（）()。、\n]{0,20}[)）]?"
    "(?:の|記載の|に定める|中)?[ 　]?$"
)
_LONGEST_ATTACHED = 40


class _Article(NamedTuple):
    number: str
    start: int
    end: int


class OwnArticles:
    """The articles of a flowing text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._articles = list(_rising(text))
        self._starts = [article.start for article in self._articles]
        self._by_number = {article.number: article for article in self._articles}
        numbers = [article.number for article in self._articles if "_" not in article.number]
        self.is_whole = numbers == [str(number) for number in range(1, len(numbers) + 1)]

    def is_attached(self, start: int) -> bool:
        """Whether a citation belongs to an attachment of the text."""
        floor = max(0, start - _LONGEST_ATTACHED)
        return _ATTACHED.search(self._text, floor, start) is not None

    def place(self, citation: ProvisionCitation, last: Locator | None) -> Locator | None:
        """Return the own article meant by a citation, given the last one; None if unclear."""
        written, word = citation.locator, citation.article_word
        if citation.item_word or citation.paragraph_word.startswith(("前", "次", "この")):
            return None
        if written.division:
            return None
        if citation.paragraph_word == "同項":
            return last and Locator("", last.article, last.paragraph, written.item)
        if word.startswith("同"):
            return last and Locator("", last.article, written.paragraph, written.item)
        article = written.article
        if not article:
            article = self._relative(citation.start, word)
        return Locator("", article, written.paragraph, written.item) if article else None

    def _relative(self, start: int, word: str) -> str:
        """Return the article meant by 前条, 次条, or 第2項 alone."""
        at = bisect_right(self._starts, start) - 1
        if at < 0:
            return ""
        if word.startswith(("前", "次")):
            at += -count(word) if word.startswith("前") else 1
            if not 0 <= at < len(self._articles):
                # Nothing precedes the first article, so the cited one is missing.
                return "0"
        return self._articles[at].number

    def has(self, place: Locator) -> bool | None:
        """Whether the text has a provision; None if its lines do not show it."""
        article = self._by_number.get(place.article)
        if article is None:
            return False if self.is_whole else None
        if not (place.paragraph or place.item):
            return True
        body = self._text[article.start : article.end].strip()
        numbers = [next(filter(None, match.groups())) for match in _LINE.finditer(body)]
        told = {_number(number) for number in numbers}
        wanted = [int(one) for one in (place.paragraph, place.item) if one.isdecimal()]
        if not place.item and wanted == [1]:
            return True
        if all(one in told or (one == 1 and place.paragraph) for one in wanted):
            return True
        if told:
            return False
        # A line without a number may be a paragraph; some files omit numbers.
        lines = [line for line in _CAPTION.sub("", body).split("\n") if line.strip()]
        least = max([2, *wanted] if place.item else wanted, default=0)
        return None if len(lines) >= least or _WITHIN_LINE.search(body) else False


def _rising(text: str) -> Iterator[_Article]:
    """Yield the articles whose numbers rise from the first."""
    found: list[tuple[str, int, int]] = []
    for match in _HEADING.finditer(text):
        number = read_number(match["article"])
        if not found or _order(number) > _order(found[-1][0]):
            found.append((number, match.start("article"), match.end()))
    ends = [*(start for _, start, _ in found[1:]), len(text)]
    for (number, _, start), end in zip(found, ends, strict=True):
        yield _Article(number, start, end)


def _order(number: str) -> list[int]:
    return [int(part) for part in number.split("_") if part.isdecimal()]


def _number(written: str) -> int:
    if "①" <= written <= "⑳":
        return ord(written) - ord("①") + 1
    digits = in_digits(written)
    return int(digits) if digits.isdecimal() else 0

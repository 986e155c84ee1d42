"""The articles of the text itself, as contracts and rules have them: 第三条 of a contract.

Headings that number articles upwards tell them; the numbers before its lines tell what stands in an
article. A citation of one is looked up here, and never in a law.
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
# 2　, 2., ２項, (2), ②, 二: what the lines of an article are numbered by.
_LINE = re.compile(
    r"^[ \t　]*(?:[-*・] *)?(?:[（(](?P<bracketed>[0-9０-９一二三四五六七八九十]{1,3})[)）]"
    r"|(?P<circled>[①-⑳])|第?(?P<plain>[0-9０-９]{1,3})(?:[.．、)）　 \t]|項)"
    r"|(?P<kanji>[一二三四五六七八九十]{1,3})[　 \t、.．])",
    re.MULTILINE,
)
# 甲は、①…、②…, …とする。2 乙は…: numbers within a line.
_WITHIN_LINE = re.compile(
    r"[①-⑳]|[（(][0-9０-９一二三四五六七八九十]{1,2}[)）]|。[ 　]?[0-9０-９]{1,2}[ 　.．]"
)
_CAPTION = re.compile(r"\A[ 　]*[（(【［\[][^\n]{1,40}[）)】］\]][ 　]*(?=\n)")
# 別紙1第2条: of what is attached to it, which is no part of its articles.
_ATTACHED = re.compile(
    "(?:別紙|別添|別記|別表|別冊|付属書|附属書|添付書類?|添付資料|仕様書|様式|見積書|約款|覚書|原契約)"
    "[0-9０-９一二三四五六七八九十A-Za-zＡ-Ｚ]{0,3}[（(]?[^（）()。、\n]{0,20}[)）]?"
    "(?:の|記載の|に定める|中)?[ 　]?$"
)
_LONGEST_ATTACHED = 40


class _Article(NamedTuple):
    """An article of the text: its number, and where it begins and ends."""

    number: str
    start: int
    end: int


class OwnArticles:
    """The articles of a flowing text.

    Args:
        text: as it flows.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._articles = list(_rising(text))
        self._starts = [article.start for article in self._articles]
        self._by_number = {article.number: article for article in self._articles}
        numbers = [article.number for article in self._articles if "_" not in article.number]
        self.is_whole = numbers == [str(number) for number in range(1, len(numbers) + 1)]

    def is_attached(self, start: int) -> bool:
        """Whether a citation that begins at a place is of a part that is attached to the text."""
        floor = max(0, start - _LONGEST_ATTACHED)
        return _ATTACHED.search(self._text, floor, start) is not None

    def place(self, citation: ProvisionCitation, last: Locator | None) -> Locator | None:
        """The own provision that a citation means; None where code does not tell.

        Args:
            citation: of no law.
            last: the own provision that was cited last.
        """
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
        """The article that 前条 or 次条, or 第2項 alone, means where it stands."""
        at = bisect_right(self._starts, start) - 1
        if at < 0:
            return ""
        if word.startswith(("前", "次")):
            at += -count(word) if word.startswith("前") else 1
            if not 0 <= at < len(self._articles):
                # There is none before the first: what is cited is not there.
                return "0"
        return self._articles[at].number

    def has(self, place: Locator) -> bool | None:
        """Whether the text has a provision; None where its lines do not tell."""
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
        # A line without a number may be a paragraph whose number the file does not have.
        lines = [line for line in _CAPTION.sub("", body).split("\n") if line.strip()]
        least = max([2, *wanted] if place.item else wanted, default=0)
        return None if len(lines) >= least or _WITHIN_LINE.search(body) else False


def _rising(text: str) -> Iterator[_Article]:
    """The articles under headings whose numbers run upwards from the first."""
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

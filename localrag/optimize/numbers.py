"""Numbers of articles in a proposed prompt, in the spellings that a model may choose for them."""

import re
from collections.abc import Iterator

from localrag.statutes.citations import find_citations
from localrag_indexes.analysis.normalize import normalize
from localrag_indexes.analysis.numerals import NUMERAL_CHARACTERS, parse_numeral

# Spellings of old, which no statute in force uses for its numbers.
_OLD = str.maketrans({"廿": "二十", "卅": "三十", "卌": "四十", "條": "条"})
_BLANK = r"[ \t]*"
_NUMBER = rf"(?:[0-9]{{1,4}}|[{NUMERAL_CHARACTERS}]{{1,9}})"
_EACH = re.compile(_NUMBER)
# 27-3, 二十七の三, 27条の3
_BRANCHES = rf"(?:{_BLANK}条?{_BLANK}[のノ之_ー‐–—―−-]{_BLANK}{_NUMBER})"
_PLACE = rf"{_NUMBER}{_BRANCHES}*"
_AND = r"(?:[,、・;/&+~〜]|and\b|or\b|to\b|及び|又は|並びに|若しくは|から|と|や)"
_LIST = rf"{_PLACE}(?:(?:{_BLANK}{_AND})+{_BLANK}{_PLACE})*"
_WORDED = re.compile(
    rf"(?:\bart(?:icle)?s?\b\.?|§+|条文?番号){_BLANK}[:=#]?{_BLANK}({_LIST})"
    rf"|({_LIST}){_BLANK}条"
)
# "③ 条文の番号を書く" is a rule, and 三条件 a number of conditions.
_NO_ARTICLE = re.compile(rf"(?<![第0-9{NUMERAL_CHARACTERS}]){_NUMBER}{_BLANK}条(?=[文件項例])")
_BRANCHED = re.compile(rf"(?<![0-9.]){_NUMBER}{_BRANCHES}+")
_HYPHEN = re.compile(r"[_ー‐–—―−-]")
# No unit follows: neither 30日 nor 300 characters.
_ALONE = rf"(?={_BLANK}(?:$|{_AND}|[をがはにのでも]|[^\w\s.%]|\.(?!\d)))"
_NO_UNIT = re.compile(_ALONE, re.MULTILINE)
_BARE = re.compile(rf"(?:(?<![\w.])|(?<=第))({_PLACE}){_ALONE}", re.MULTILINE)
_MARKER = re.compile(r"[ \t]*\(?([0-9]{1,3})[.):、]")


def written(text: str) -> list[str]:
    """The articles that a text cites as statutes do, as in `Locator.article` ("27_36")."""
    # Blanks inside a citation would hide its number.
    compact = re.sub(r"\s", "", text)
    return [
        place.article
        for found in find_citations(compact)
        for place in (found.locator, found.last)
        if place is not None and place.article
    ]


def cited(text: str) -> Iterator[str]:
    """The articles that a text cites in any spelling: beside a word for article, or branched."""
    plain = _NO_ARTICLE.sub("", _plain(text))
    yield from written(plain)
    for match in _WORDED.finditer(plain):
        for place in re.finditer(_PLACE, match[1] or match[2]):
            yield from _read(place[0])
    for match in _BRANCHED.finditer(plain):
        if _NO_UNIT.match(plain, match.end()) or not _is_range(match[0]):
            yield from (article for article in _read(match[0]) if "_" in article)


def bare(text: str) -> Iterator[str]:
    """The numbers of two digits and more that stand alone: without a unit, no marker of a list."""
    for match in _BARE.finditer(_without_markers(_plain(text))):
        number = next(_read(match[1]), "")
        if len(number) > 1:
            yield number


def _plain(text: str) -> str:
    return normalize(text).translate(_OLD)


def _read(place: str) -> Iterator[str]:
    """The article, then what it would be with each further number for a branch."""
    article = ""
    for number in _EACH.findall(place):
        try:
            read = str(parse_numeral(number))
        except ValueError:
            return
        article = f"{article}_{read}" if article else read
        yield article


def _is_range(place: str) -> bool:
    """Whether it may be 3-4 of something."""
    numbers = [int(article.rpartition("_")[2]) for article in _read(place)]
    return _HYPHEN.search(place) is not None and numbers == sorted(numbers)


def _without_markers(text: str) -> str:
    lines, last = [], 0
    for line in text.splitlines():
        marker = _MARKER.match(line)
        if marker and int(marker[1]) in (1, last + 1):
            last = int(marker[1])
            line = line[marker.end() :]
        lines.append(line)
    return "\n".join(lines)

"""Provisions cited in English, read in the form of statutes.

"Article 27-2, paragraph (1) of the Financial Instruments and Exchange Act" is 第27条の2第1項.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from localrag.question.laws import LawNamed

_NUMBER = (
    r"(?P<article>\d{1,1000}+(?:-\d{1,3}){0,3})(?![\d%])"
    r"(?:,? ?(?:paragraph|para\.?) ?\(?(?P<paragraph>\d{1,3})\)?|\((?P<bracketed>\d{1,3})\))?"
    r"(?:,? ?(?:sub)?items? ?\(?(?P<item>\d{1,3}|[ivx]{1,6})\)?)?"
)
_CITATION = re.compile(
    rf"\b(?:(?P<several>Articles|Arts\.)|Article|Art\.) ?{_NUMBER}", re.IGNORECASE
)
_AND = r"(?:, ?(?:and |or )?| (?:and|or|&) |(?P<range> (?:to|through) | ?[–—] ?))"
# Articles 709, 710 and 715, but not what is counted: Articles 5 and 6, 30 days after.
_AND_NUMBER = re.compile(
    rf"{_AND}(?P<words>{_NUMBER})(?! ?(?:years?|months?|weeks?|days?|hours?|yen|per ?cent)\b)",
    re.IGNORECASE,
)
_JOINED = re.compile(_AND, re.IGNORECASE)
_RIGHT_BEFORE = re.compile(r"[」』\"”)]?(?:['’]s)?[,:]? ?[(（]?")
_RIGHT_BEHIND = re.compile(r",? ?[(（「『\"“]?(?:the )?")
# Article 9 (proviso) of Japan's Civil Code
_OF = re.compile(
    r"(?:,? ?\([^()]*\))?"
    r"(?:,? ?(?:ff?\.?|et seq\.?|(?:the )?(?:\w+ )?(?:sentence|clause|proviso)))?"
    r",? (?:of|under|in) (?:(?!(?:and|or)\b)[\w'’\-]+ ){0,4}[(（「『\"“]?",
    re.IGNORECASE,
)
_LARGE = 3
_ROMAN = {"i": 1, "v": 5, "x": 10}


class EnglishCitation(NamedTuple):
    """A provision cited in English.

    Attributes:
        start: where it begins.
        words: as written.
        law: of which it is, as the question names it.
        place: the same in the form of statutes ("第27条の2第1項第3号").
    """

    start: int
    words: str
    law: LawNamed
    place: str


def english_citations(text: str, laws: Sequence[LawNamed]) -> Iterator[EnglishCitation]:
    """Find the provisions cited by their English names, each number of a list by itself.

    Args:
        text: the question.
        laws: all that it names, in its order. A citation belongs to the law behind it that "of"
            joins to it (of the FIEA), else to the one right before it (Civil Code art. 709), else
            to the last one before, else to the next. Without laws there are none.
    """
    groups = [_numbers(text, match) for match in _CITATION.finditer(text)] if laws else []
    for group, law in zip(groups, _laws_cited(text, groups, laws), strict=True):
        for number in group:
            yield EnglishCitation(number.start, number.words, law, number.place)


def english_places(text: str) -> Iterator[tuple[int, int]]:
    """The spans of provisions cited in English, of whatever law: Art. 96."""
    return (found.span() for found in _CITATION.finditer(text))


class _Number(NamedTuple):
    start: int
    end: int
    words: str
    place: str


def _numbers(text: str, first: re.Match[str]) -> list[_Number]:
    """All the provisions of one list: of Articles 709 and 710 "Articles 709" and "710".

    A range is one of them.
    """
    numbers = [_Number(*first.span(), first[0], _place(first))]
    while match := _AND_NUMBER.match(text, numbers[-1].end):
        if match["range"]:
            begun, end = numbers.pop(), match.end("words")
            place = f"{begun.place}から{_place(match)}まで"
            numbers.append(_Number(begun.start, end, text[begun.start : end], place))
        elif first["several"]:
            numbers.append(_Number(*match.span("words"), match["words"], _place(match)))
        else:
            break
    if first["several"] and numbers[-1].end == first.end():
        return [numbers[0]._replace(place=_place(first, is_alone=True))]
    return numbers


def _laws_cited(
    text: str, groups: Sequence[Sequence[_Number]], laws: Sequence[LawNamed]
) -> list[LawNamed]:
    """The law of each list of provisions; a law joined to one list opens no other."""
    cited: list[LawNamed | None] = []
    joined: LawNamed | None = None
    for at, group in enumerate(groups):
        start, end = group[0].start, group[-1].end
        after = bisect_left(laws, end, key=lambda law: law.start)
        before, behind = laws[after - 1] if after else None, laws[after : after + 1]
        is_right_before = (
            before is not None
            and before != joined
            and _RIGHT_BEFORE.fullmatch(text, before.end, start)
        )
        law: LawNamed | None
        follows = at > 0 and _JOINED.fullmatch(text, groups[at - 1][-1].end, start)
        if behind and _OF.fullmatch(text, end, behind[0].start):
            law = joined = behind[0]
        elif is_right_before:
            law = before
        elif follows and cited[-1]:
            law = cited[-1]
        elif behind and _RIGHT_BEHIND.fullmatch(text, end, behind[0].start):
            law = joined = behind[0]
        elif at + 1 < len(groups) and _JOINED.fullmatch(text, end, groups[at + 1][0].start):
            # Article 9 and Article 10 of the FIEA: the next one tells.
            law = None
        else:
            law = before or behind[0]
        cited.append(law)
    for at in reversed(range(len(cited))):
        cited[at] = cited[at] or cited[at + 1]
    return [law for law in cited if law]


def _place(match: re.Match[str], *, is_alone: bool = False) -> str:
    """A provision in the form of statutes, or a range of them.

    709-712 is a range, for no branch has such a number; so is 27-36 where "Articles" has no other.
    """
    main, *branches = match["article"].split("-")
    is_large = len(main) >= _LARGE and all(len(branch) >= _LARGE for branch in branches)
    if len(branches) == 1 and int(main) < int(branches[0]) and (is_alone or is_large):
        return f"第{main}条から第{branches[0]}条まで"
    place = f"第{main}条" + "".join(f"の{branch}" for branch in branches)
    if paragraph := match["paragraph"] or match["bracketed"]:
        place += f"第{paragraph}項"
    if item := match["item"]:
        place += f"第{item if item.isdecimal() else _from_roman(item.lower())}号"
    return place


def _from_roman(letters: str) -> int:
    """Read i to xxxix: a smaller numeral before a greater one is taken from it."""
    values = [_ROMAN[letter] for letter in letters]
    following = [*values[1:], 0]
    return sum(-one if one < next_ else one for one, next_ in zip(values, following, strict=True))

"""How well a hit covers the gold context of a question: the score of the published study.

s = min(1, 0.4 legal + 0.4 keyword + 0.2 text), the best over the hits. The study names the three
parts; where it leaves a measure open, what is taken here is said below.
"""

import re
from dataclasses import dataclass
from functools import cached_property

from localrag.statutes.names import LawNames
from localrag_indexes.analysis import Analyzer
from localrag_indexes.analysis.normalize import normalize, without_blanks
from localrag_indexes.analysis.numerals import NUMERAL_CHARACTERS, parse_numeral

PIECE = 20
"""Characters of a piece of text."""

_NUMBER = rf"[0-9{NUMERAL_CHARACTERS}]+"
_PLACE = re.compile(rf"第(?P<number>{_NUMBER})(?P<kind>[条項号])(?P<branches>(?:の{_NUMBER})*)")
_JAPANESE_TERM = re.compile(r"[ぁ-ゖァ-ヺー一-鿿々]{2,}")
_HEADING = re.compile("(?m)^#+ .*$")


@dataclass(frozen=True, slots=True)
class Overlap:
    """The parts of the score, each from 0 to 1.

    Attributes:
        legal: agreement of law names and of 第〇条, 第〇項, 第〇号 between context and hit: twice
            what both hold over what each holds (Dice), as sets. Unlike a plain share of the
            context it does not rise with a hit that names many provisions.
        keyword: the share of the terms of the context that the hit holds; terms as our analyzer
            cuts them, of two or more kanji or kana.
        text: the share of the pieces of `PIECE` characters of the context, cut line by line, that
            stand in the hit letter by letter, blanks and widths apart.
    """

    legal: float = 0.0
    keyword: float = 0.0
    text: float = 0.0

    @property
    def score(self) -> float:
        """What the parts come to, from 0 to 1."""
        return min(1.0, 0.4 * self.legal + 0.4 * self.keyword + 0.2 * self.text)


class Coverage:
    """What a text holds of everything the score compares.

    Args:
        text: a gold context under Markdown headings, or a hit with its header.
        names: the names of the laws of the corpus.
    """

    def __init__(self, text: str, names: LawNames) -> None:
        self._text = text
        self._names = names

    def by(self, hit: "Coverage") -> Overlap:
        """How well a hit covers this gold context."""
        pieces = self._pieces
        return Overlap(
            legal=_dice(self._legal, hit._legal),
            keyword=_share(self._terms, hit._terms),
            text=sum(piece in hit._plain for piece in pieces) / len(pieces) if pieces else 0.0,
        )

    @cached_property
    def _legal(self) -> frozenset[str]:
        """Law ids, and places with their numbers in one spelling: 第二十七条の三十六 is 条27_36."""
        laws = {law for match in self._names.find_names(self._text) for law in match.law_ids}
        places = {_place(match) for match in _PLACE.finditer(normalize(self._text))}
        return frozenset(laws | places - {""})

    @cached_property
    def _terms(self) -> frozenset[str]:
        return frozenset(filter(_JAPANESE_TERM.fullmatch, Analyzer().terms(self._text)))

    @cached_property
    def _plain(self) -> str:
        return without_blanks(self._text)

    @cached_property
    def _pieces(self) -> tuple[str, ...]:
        lines = map(without_blanks, _HEADING.sub("", self._text).splitlines())
        return tuple(piece for line in lines if line for piece in _cut(line))


def _place(match: re.Match[str]) -> str:
    numbers = [match["number"], *match["branches"].split("の")[1:]]
    try:
        return match["kind"] + "_".join(str(parse_numeral(number)) for number in numbers)
    except ValueError:
        return ""


def _cut(line: str) -> list[str]:
    """Pieces of full length that cover the line; the last may overlap the one before it."""
    last = max(len(line) - PIECE, 0)
    return [line[start : start + PIECE] for start in (*range(0, last, PIECE), last)]


def _dice(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


def _share(wanted: frozenset[str], held: frozenset[str]) -> float:
    return len(wanted & held) / len(wanted) if wanted else 0.0

"""Names compared without regard to how they are written.

Two names are the same when their folded forms are. Folding

- normalises (`localrag_indexes.analysis.normalize`): case, width, what is invisible;
- writes old and variant forms of kanji as today's (澤 as 沢, 齋 as 斎, 髙 as 高, ヶ as ケ);
- writes numbers in digits (第十三回 and 第１３回 as 第13回). A name that holds a numeral by chance
  (三菱) changes alike on both sides;
- writes a dash after kana as the long vowel it stands for (ス－パ－), and drops other dashes;
- drops spaces, quotation marks, middle dots and double hyphens; the signs of C++ and R&B stay, ♯
  as #.

Round brackets stay: they hold the disambiguator of a name, 「杏 (女優)」.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from joyokanji import convert

from localrag_indexes.analysis.japanese import segment
from localrag_indexes.analysis.normalize import (
    normalize,
    normalize_with_offsets,
    original_span,
)
from localrag_indexes.analysis.numerals import NUMERAL_CHARACTERS, in_digits

# Forms met in names that the old forms of 常用漢字 leave out.
_VARIANTS = str.maketrans("邉濵嶋嶌冨峯舘桒彥淸靑敎鴎槙ヶヵ♯", "辺浜島島富峰館桑彦清青教鷗槇ケカ#")
_POSITIONAL = str.maketrans("〇零一二三四五六七八九壱弐参", "00123456789123")
_LONG_VOWEL = re.compile("(?<=[ぁ-ゖァ-ヺー])-")
_DROPPED = re.compile(r"[\s\-~「」『』\"'“”‘’„‟«»‹›〈〉《》【】〝〟`´・=゠]")
_NUMERAL = re.compile(f"(?<![0-9])[0-9]*+[{NUMERAL_CHARACTERS}][0-9{NUMERAL_CHARACTERS}]*")
_DISAMBIGUATED = re.compile(r"(.+)\([^()]+\)", re.DOTALL)
# Of Latin letters with their signs (C++, AT&T, F-15); that of an English genitive is none.
_LATIN = r"[#+]{0,3}[a-z]+(?:(?:['’](?!s(?![a-z0-9]))|[&.\-])[a-z0-9]+)*[#+]*"
_WORD = re.compile(rf"{_LATIN}|[0-9]+|[ァ-ヺー]+")


def fold(name: str) -> str:
    """The form of a name that is compared; empty where no character of it can be seen.

    A name that is nothing but marks keeps them.
    """
    normal = normalize(name)
    written = _NUMERAL.sub(lambda numeral: _number(numeral[0]), _modern(normal))
    return _DROPPED.sub("", written) or normal


def bare(folded: str) -> str:
    """A folded name without the disambiguator that ends it; empty where none does."""
    found = _DISAMBIGUATED.fullmatch(folded)
    return found[1] if found else ""


class FoldedText:
    """A text in its folded form, and the way back.

    Attributes:
        folded: as `fold` writes it; empty where the text is nothing but marks.
    """

    def __init__(self, text: str) -> None:
        normal, self._offsets = normalize_with_offsets(text)
        modern = _modern(normal)
        pieces = list(_pieces(modern))
        self.folded = "".join(piece.written for piece in pieces)
        self._pieces = [piece for piece in pieces for _ in piece.written]
        self._inside = {
            position
            for word in _WORD.finditer(modern)
            for position in range(word.start() + 1, word.end())
        }

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a non-empty span of the folded text stands in the original, in characters."""
        first, last = self._pieces[start], self._pieces[end - 1]
        return original_span(self._offsets, first.start, last.end)

    def begins(self, position: int) -> bool:
        """Whether a name can begin here: not inside a number or a word of letters or katakana.

        Signs are part of a word of Latin letters: C is no name in C++, C# and Objective-C.
        """
        piece = self._pieces[position]
        broken = position > 0 and self._pieces[position - 1] is piece
        return not broken and piece.start not in self._inside

    def ends(self, position: int) -> bool:
        """Whether a name can end before this position."""
        piece = self._pieces[position - 1]
        broken = position < len(self._pieces) and self._pieces[position] is piece
        return not broken and piece.end not in self._inside


class _Piece(NamedTuple):
    """What a span of normalised text is written as: a number in digits, else one character."""

    written: str
    start: int
    end: int


def _pieces(modern: str) -> Iterator[_Piece]:
    position = 0
    for numeral in _NUMERAL.finditer(modern):
        yield from _characters(modern, position, numeral.start())
        yield _Piece(_number(numeral[0]), *numeral.span())
        position = numeral.end()
    yield from _characters(modern, position, len(modern))


def _characters(modern: str, start: int, end: int) -> Iterator[_Piece]:
    for position in range(start, end):
        if not _DROPPED.match(modern[position]):
            yield _Piece(modern[position], position, position + 1)


def _modern(normal: str) -> str:
    """Write every character as it is written today; their number stays."""
    return _LONG_VOWEL.sub("ー", convert(normal, variants=True).translate(_VARIANTS))


def _number(numeral: str) -> str:
    positional = numeral.translate(_POSITIONAL)
    if positional.isdigit():
        return positional  # Keeps the zeros of 〇〇七.
    return in_digits(numeral)


_OPENING, _CLOSING = "『「“\"'", "』」”\"'"
# What makes another name of a name that it stands before, or behind.
_BEFORE = re.compile(r"[a-z0-9新旧東西南北大小元前本第真超続副準]")
_BEHIND = re.compile(r"[^\W_ぁ-ゖー氏様君達型界系人家等的]")


class WordBounds(NamedTuple):
    """The words of a text, by where they begin and by where they end."""

    starting: dict[int, str]
    ending: dict[int, str]


def words_of(text: str) -> WordBounds:
    """The words of a normalised text."""
    words, position = WordBounds({}, {}), 0
    for surface in segment(text):
        start = text.index(surface, position)
        position = start + len(surface)
        words.starting[start] = words.ending[position] = surface
    return words


def stands_alone(text: str, start: int, end: int, words: WordBounds) -> bool:
    """Whether the name in a span is no piece of another: quoted, or cut from the words around it.

    Args:
        text: normalised.
        start: of the name, in characters of the text.
        end: of the name.
        words: of the text.
    """
    before, after = text[:start][-1:], text[end:][:1]
    if before and after and before in _OPENING and after in _CLOSING:
        return True
    if start not in words.starting or end not in words.ending:
        return False
    ahead, behind = words.ending.get(start, ""), words.starting.get(end, "")
    return not (_BEFORE.fullmatch(ahead) or _BEHIND.fullmatch(behind))

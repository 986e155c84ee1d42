"""Compares words as a reader compares quotations, and finds differences.

Widths, blanks, line breaks and printed numbers of articles and items do not count. Neither do kanji
or digits for a numeral, large or small kana (あつて), and the kind of inner quotation marks.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import NamedTuple

from localrag.check.types import DiffPart
from localrag_indexes.analysis.normalize import (
    NUMERAL_CHARACTERS,
    in_digits,
    normalize,
    normalize_with_offsets,
    original_span,
)

_SAME = str.maketrans(
    "ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ『』,.",
    "あいうえおつやゆよわアイウエオツヤユヨワ「」、。",
)
_TOKEN = re.compile("[0-9]+|.", re.DOTALL)
_DROPPED = re.compile(r"[\s*_`>|]+")
_NUMERAL = re.compile(rf"[0-9{NUMERAL_CHARACTERS}]+(?:、[0-9]{{3}})*[{NUMERAL_CHARACTERS}]*")
_PRINTED_NUMBER = re.compile(
    r"^[ \t　>]*(?:第[^　 \n。、]{1,20}条[^　 \n。、]{0,12}(?:（[^（）\n]{1,60}）)?"
    r"[　 ]*[0-9０-９]{0,3}"
    r"|[0-9０-９]{1,3}|[①-⑳]|[〇一二三四五六七八九十百]{1,5}(?:の[一二三四五六七八九十]{1,3}){0,3}"
    r"|[ァ-ヶ]{1,2}|[ⅰ-ⅻ]|[（(][^（）() 　\n]{1,4}[)）])(?:[　 \t.．)）]+|$)",
    re.MULTILINE,
)
_CAPTION = re.compile(r"^[ \t　>]*（[^（）\n]{1,60}）[ \t　]*$", re.MULTILINE)
_IN_KANJI = {"および": "及び", "または": "又は", "ならびに": "並びに", "もしくは": "若しくは"}
_CONJUNCTION = re.compile("|".join(_IN_KANJI))


@dataclass(frozen=True)
class Canon:
    """A text reduced to the letters compared, with their offsets in the original."""

    text: str
    offsets: Sequence[int]
    original: str

    @property
    def tokens(self) -> list[str]:
        """The letters; a number is one token."""
        return [self.text[start:end] for start, end in self._spans]

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        return [match.span() for match in _TOKEN.finditer(self.text)]

    def written(self, start: int, end: int) -> str:
        """Return the original between two tokens; "" if empty."""
        if start >= end:
            return ""
        begin, finish = self._spans[start][0], self._spans[end - 1][1]
        first, last = original_span(self.offsets, begin, finish)
        return self.original[first:last]


def bare(text: str) -> str:
    """Replace printed numbers and captions by blanks of equal length."""
    for pattern in (_CAPTION, _PRINTED_NUMBER):
        text = pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    return text


def with_kanji_conjunctions(text: str) -> str:
    """Spell および and similar words as laws do (及び)."""
    return _CONJUNCTION.sub(lambda kana: _IN_KANJI[kana[0]], text)


@lru_cache(maxsize=4096)
def letters(text: str) -> str:
    """Return the letters of `canon` alone."""
    plain = normalize(text).translate(_SAME)
    return _NUMERAL.sub(_digits, _DROPPED.sub("", plain))


def canon(text: str) -> Canon:
    """Reduce a text for comparison."""
    normal, offsets = normalize_with_offsets(text)
    normal = normal.translate(_SAME)
    kept = [at for at, letter in enumerate(normal) if not _DROPPED.match(letter)]
    plain = "".join(normal[at] for at in kept)
    parts: list[str] = []
    places: list[int] = []
    done = 0
    for match in _NUMERAL.finditer(plain):
        digits = _digits(match)
        parts += plain[done : match.start()], digits
        places += (offsets[kept[at]] for at in range(done, match.start()))
        places += [offsets[kept[match.start()]]] * len(digits)
        done = match.end()
    parts.append(plain[done:])
    places += (offsets[kept[at]] for at in range(done, len(plain)))
    return Canon("".join(parts), [*places, len(text)], text)


def _digits(match: re.Match[str]) -> str:
    return in_digits(match[0].replace("、", ""))


class Likeness(NamedTuple):
    """The stretch of a provision most similar to a quotation."""

    share: float  # of common letters in order, 0 to 1
    diff: tuple[DiffPart, ...]  # the whole quotation beside it


def likeness(said: Canon, law: Canon) -> Likeness:
    """Find the stretch of a provision most similar to a quotation."""
    own, its = said.tokens, law.tokens
    anchor = SequenceMatcher(None, its, own, autojunk=False).find_longest_match()
    if anchor.size < 2:
        return Likeness(0.0, ())
    slack = max(40, len(own) // 2)
    first = max(0, anchor.a - anchor.b - slack)
    window = its[first : anchor.a + len(own) - anchor.b + slack]
    codes = SequenceMatcher(None, window, own, autojunk=False).get_opcodes()
    # Text around the stretch is not an omission.
    while codes and codes[0][0] == "delete":
        codes = codes[1:]
    while codes and codes[-1][0] == "delete":
        codes = codes[:-1]
    if not codes:
        return Likeness(0.0, ())
    start, end = codes[0][1], codes[-1][2]
    both = sum(code[2] - code[1] for code in codes if code[0] == "equal")
    share = 2 * both / (end - start + len(own))
    return Likeness(share, tuple(_parts(codes, said, law, first)))


def _parts(
    codes: Sequence[tuple[str, int, int, int, int]], said: Canon, law: Canon, shift: int
) -> Iterator[DiffPart]:
    for kind, law_start, law_end, start, end in codes:
        yield DiffPart(
            kind == "equal",
            said.written(start, end),
            law.written(law_start + shift, law_end + shift),
        )

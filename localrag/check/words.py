"""Words compared as a reader of quotations compares them, and what differs between two texts.

Widths, blanks and line breaks do not count, nor do the numbers printed before articles and items,
whether a numeral is in kanji or in digits, whether a small kana is printed small (あつて), and
which marks quote within a quotation.
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
    """A text as it is compared.

    Attributes:
        text: the letters that count.
        offsets: for each of them the character of the original that it stems from, and one more.
        original: as written.
    """

    text: str
    offsets: Sequence[int]
    original: str

    @property
    def tokens(self) -> list[str]:
        """The letters, a number as a whole."""
        return [self.text[start:end] for start, end in self._spans]

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        return [match.span() for match in _TOKEN.finditer(self.text)]

    def written(self, start: int, end: int) -> str:
        """What the original has from one token to another; "" where there is none between."""
        if start >= end:
            return ""
        begin, finish = self._spans[start][0], self._spans[end - 1][1]
        first, last = original_span(self.offsets, begin, finish)
        return self.original[first:last]


def bare(text: str) -> str:
    """A provision with blanks in the place of printed numbers and captions; nothing moves."""
    for pattern in (_CAPTION, _PRINTED_NUMBER):
        text = pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    return text


def with_kanji_conjunctions(text: str) -> str:
    """A text with 及び and its like spelt as laws spell them, where it has および."""
    return _CONJUNCTION.sub(lambda kana: _IN_KANJI[kana[0]], text)


@lru_cache(maxsize=4096)
def letters(text: str) -> str:
    """The letters of a text that count, as `canon` has them."""
    plain = normalize(text).translate(_SAME)
    return _NUMERAL.sub(_digits, _DROPPED.sub("", plain))


def canon(text: str) -> Canon:
    """The letters of a text that count, and where they stand."""
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
    """The stretch of a provision that is most like a quotation.

    Attributes:
        share: of the letters of both, those that both have in order, 0 to 1.
        diff: the quotation beside it, from end to end.
    """

    share: float
    diff: tuple[DiffPart, ...]


def likeness(said: Canon, law: Canon) -> Likeness:
    """Lay a quotation beside the stretch of a provision that is most like it."""
    own, its = said.tokens, law.tokens
    anchor = SequenceMatcher(None, its, own, autojunk=False).find_longest_match()
    if anchor.size < 2:
        return Likeness(0.0, ())
    slack = max(40, len(own) // 2)
    first = max(0, anchor.a - anchor.b - slack)
    window = its[first : anchor.a + len(own) - anchor.b + slack]
    codes = SequenceMatcher(None, window, own, autojunk=False).get_opcodes()
    # What stands around the stretch is not left out by who quotes it.
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

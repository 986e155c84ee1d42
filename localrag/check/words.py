"""Compares words as a reader compares quotations, and finds differences.

Widths, blanks, line breaks and printed numbers of articles and items do not count. Neither do kanji
or digits for a numeral, large or small kana (あつて), and the kind of inner quotation marks.

Spelling differs if both words are the same to the dictionary (または and 又は, 六か月 and 六箇月).
The state of the law differs if one has 懲役 or 禁錮 and the other 拘禁刑, their successor.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import groupby
from typing import NamedTuple

from localrag.check.types import DiffPart
from localrag_indexes.analysis.analyzer import Morpheme, morphemes
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


PENALTIES_RENAMED = "2025-06-01"
"""The first day of 拘禁刑 in laws (刑法等の一部を改正する法律, 令和四年法律第六十七号)."""

_OLD_PENALTY = re.compile(
    "(?:懲役|禁[錮固こ])(?:、?(?:若しくは|もしくは|又は|または|及び|および|・)(?:懲役|禁[錮固こ]))?刑?"
)
_NEW_PENALTY = "拘禁刑"
_OMITTED = re.compile(
    r"…+|・{3,}|･{3,}|\.{3,}|[（(〔［\[](?:中略|前略|後略|以下略|略|括弧書き?略|かっこ書き?略|…|［略］)[)）〕］\]]|〜略〜"
)
_BRACKETS = re.compile(r"（[^（）]*(?:（[^（）]*）[^（）]*)*）")
_INFLECTED = re.compile("動詞|形容詞|助動詞")
_KANA = re.compile("[ぁ-ゖ]$")
# The dictionary needs this much context.
_AROUND = 4


class DifferenceKind(StrEnum):
    """The kinds of difference, the worst first."""

    WORDS = "words"
    PENALTY = "penalty"
    BRACKETS = "brackets"
    NOTATION = "notation"
    OMISSION = "omission"


def differences(said: str, law: str, diff: Sequence[DiffPart]) -> set[DifferenceKind]:
    """Return the kinds of difference between a quotation and its provision."""
    if not is_of_other_penalties(said, law):
        return set(_differences(diff))
    beside = likeness(canon(renamed(said)), canon(renamed(law)))
    return {DifferenceKind.PENALTY, *_differences(beside.diff)}


def without_omissions(text: str, mark: str = "") -> str:
    """Replace marked omissions in a quotation by another text."""
    return _OMITTED.sub(mark, text)


def renamed(text: str) -> str:
    """Replace 懲役 and 禁錮 by 拘禁刑."""
    return _OLD_PENALTY.sub(_NEW_PENALTY, text)


def is_of_other_penalties(said: str, law: str) -> bool:
    """Whether one text has 懲役 or 禁錮, and the other only 拘禁刑."""
    older, newer = (said, law) if _OLD_PENALTY.search(said) else (law, said)
    has_older = _OLD_PENALTY.search(older) is not None
    return has_older and not _OLD_PENALTY.search(newer) and _NEW_PENALTY in newer


def _differences(diff: Sequence[DiffPart]) -> Iterator[DifferenceKind]:
    stretches = [(same, list(parts)) for same, parts in groupby(diff, lambda part: part.same)]
    for at, (same, parts) in enumerate(stretches):
        if same:
            continue
        before = "".join(part.law for part in stretches[at - 1][1])[-_AROUND:] if at else ""
        behind = stretches[at + 1][1] if at + 1 < len(stretches) else []
        after = "".join(part.law for part in behind)[:_AROUND]
        said, law = (
            "".join(words) for words in zip(*((p.said, p.law) for p in parts), strict=True)
        )
        yield _difference(said.strip(), law.strip(), before, after)


def _difference(said: str, law: str, before: str, after: str) -> DifferenceKind:
    if said and _OMITTED.fullmatch(said):
        return DifferenceKind.OMISSION
    if not said and _BRACKETS.fullmatch(law):
        return DifferenceKind.BRACKETS
    printed = spelt(f"{before}{law}{after}")
    head, *rest = without_omissions(said, "\0").split("\0")
    if not rest:
        is_same = spelt(f"{before}{said}{after}") == printed
    else:
        begins, ends = spelt(f"{before}{head}"), spelt(f"{rest[-1]}{after}")
        is_same = len(begins) + len(ends) <= len(printed)
        is_same &= printed[: len(begins)] == begins and printed[-len(ends) :] == ends
    return DifferenceKind.NOTATION if is_same else DifferenceKind.WORDS


def spelt(text: str) -> list[str]:
    """Spell the words of a text as in the dictionary, with their inflection."""
    # The dictionary reads 及び after まで as a verb; およびis none.
    return [_word(one) for one in morphemes(with_kanji_conjunctions(normalize(text)))]


def _word(word: Morpheme) -> str:
    inflection = _KANA.search(word.surface) if _INFLECTED.match(word.kind) else None
    return f"{word.lemma}{inflection[0] if inflection else ''}"

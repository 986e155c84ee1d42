"""Classifies the differences between a quotation and its provision.

Spelling differs if both words are the same to the dictionary (または and 又は, 六か月 and 六箇月,
少なくとも and 少くとも). The state of the law differs if one has 懲役 or 禁錮 and the other 拘禁刑,
their successor.
"""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import groupby

from localrag.check.types import DiffPart
from localrag.check.words import canon, likeness, with_kanji_conjunctions
from localrag_indexes.analysis.analyzer import Morpheme, morphemes
from localrag_indexes.analysis.normalize import normalize

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


class Difference(StrEnum):
    """The kinds of difference, the worst first."""

    WORDS = "words"
    PENALTY = "penalty"
    BRACKETS = "brackets"
    NOTATION = "notation"
    OMISSION = "omission"


def differences(said: str, law: str, diff: Sequence[DiffPart]) -> set[Difference]:
    """Return the kinds of difference between a quotation and its provision."""
    if not is_of_other_penalties(said, law):
        return set(_differences(diff))
    beside = likeness(canon(renamed(said)), canon(renamed(law)))
    return {Difference.PENALTY, *_differences(beside.diff)}


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


def _differences(diff: Sequence[DiffPart]) -> Iterator[Difference]:
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


def _difference(said: str, law: str, before: str, after: str) -> Difference:
    if said and _OMITTED.fullmatch(said):
        return Difference.OMISSION
    if not said and _BRACKETS.fullmatch(law):
        return Difference.BRACKETS
    printed = spelt(f"{before}{law}{after}")
    head, *rest = without_omissions(said, "\0").split("\0")
    if not rest:
        is_same = spelt(f"{before}{said}{after}") == printed
    else:
        begins, ends = spelt(f"{before}{head}"), spelt(f"{rest[-1]}{after}")
        is_same = len(begins) + len(ends) <= len(printed)
        is_same &= printed[: len(begins)] == begins and printed[-len(ends) :] == ends
    return Difference.NOTATION if is_same else Difference.WORDS


def spelt(text: str) -> list[str]:
    """Spell the words of a text as in the dictionary, with their inflection."""
    # The dictionary reads 及び after まで as a verb; およびis none.
    return [_word(one) for one in morphemes(with_kanji_conjunctions(normalize(text)))]


def _word(word: Morpheme) -> str:
    inflection = _KANA.search(word.surface) if _INFLECTED.match(word.kind) else None
    return f"{word.lemma}{inflection[0] if inflection else ''}"

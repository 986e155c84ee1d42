"""Decides whether a text and a provision are about the same case, by figures and endings.

産後六週間 and 産後八週間 are both in 労働基準法65条2項, for different women. A figure belongs to
its case unless the provision has another figure of the same kind in more similar words. Similar
means: more common words in its sentence or item, else more common letters around it. If the
provision has no such figure, or another bound, the nearest figure is named.

Code cannot decide about the provision of a proviso or condition. But two sentences with the same
words up to the verb cannot both be right: してはならない, しなければならない.
"""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from localrag.answer.checking import covers
from localrag.answer.checking.particulars import (
    Bound,
    Figure,
    Particulars,
    bounded,
    particulars_of,
    same_figure,
)
from localrag.answer.checking.polarity import Force, closing_force
from localrag.check.words import letters, spelt
from localrag.text.folding import Folded, fold
from localrag_indexes.analysis.analyzer import split_sentences
from localrag_indexes.analysis.normalize import normalize, with_blanks

_LISTS = re.compile("次(?:に掲げる|の各号|のとおり|の)|左の")
_MARKS = re.compile("[、。（）()]")
# Signs of a calculation: rows of a table, a sum, an average.
_RECKONS = re.compile(
    "\t|加算|合算|合計|平均|通算|乗じ|控除し|差し引|減じ"
    "|を加え(?:て|た(?:もの|それぞれ|期間|日数|年数|時間|額|数))"
)
# Letters compared on each side of a figure.
_AROUND = 60
_OTHER_SIDE = {
    Bound.FROM: Bound.BELOW,
    Bound.BELOW: Bound.FROM,
    Bound.ABOVE: Bound.UP_TO,
    Bound.UP_TO: Bound.ABOVE,
}
_TIME, _DAY = "時間", 86_400
# At most this many equally near figures are named.
_FEW = 3
# 十年以下の拘禁刑: imprisonment, or a fine.
_PENALTY = re.compile(
    r"(?P<most>(?:(?!以下の)[^、。（）\s]){1,40})以下の(?:(?P<prison>懲役|拘禁刑|禁錮|拘留)|罰金|科料|過料)"
)
LONGEST_LAW = 20_000
"""Most characters compared of one text."""


class Instead(NamedTuple):
    """Words of a text and the provision's words instead; "" if unknown."""

    words: str
    there: tuple[str, ...]


class _Placed(NamedTuple):
    """A figure with the letters around it and its sentence or item."""

    figure: Figure
    before: str
    after: str
    unit: str
    written: str


def figure_of_another_case(said: str, provisions: Sequence[str]) -> str:
    """Return a figure of a sentence the provisions give for another case, else ""."""
    folded = fold(said)
    told = list(_placed(folded, said))
    there = _placed_in(provisions)
    spans = [(one.figure.start, one.figure.end) for one in told]
    plain = with_blanks(folded.text, spans)
    for one in told:
        same = [other for other in there if same_figure(one.figure, other.figure)]
        rivals = [other for other in there if _is_rival(one.figure, other.figure)]
        if not same or not rivals:
            continue
        if max(_nearness(one, other, plain) for other in same) <= max(
            _nearness(one, other, plain) for other in rivals
        ):
            return folded.written(one.figure.start, one.figure.end)
    return ""


def other_bound(written: str, said: str, provisions: Sequence[str]) -> Instead | None:
    """Return a figure with another bound in the provisions, or None.

    "Up to three years are allowed" agrees with "more than three years are forbidden".
    """
    folded = fold(said)
    there = [one for text in provisions for one in _placed(fold(text), text)]
    for claimed in particulars_of(folded).figures:
        if claimed.bound is None or folded.written(claimed.start, claimed.end) != written:
            continue
        same = [one for one in there if same_figure(claimed, one.figure)]
        bounds = {one.figure.bound for one in same}
        if bounds and not bounds & {None, claimed.bound, _OTHER_SIDE[claimed.bound]}:
            words = tuple(dict.fromkeys(one.written for one in same))
            return Instead(bounded(folded, claimed), words[:_FEW])
    return None


def other_figures(written: str, said: str, provisions: Sequence[str]) -> tuple[str, ...]:
    """Return the provisions' figures nearest in words to a wrong figure, with bounds."""
    folded = fold(said)
    told = [
        one
        for one in _placed(folded, said)
        if folded.written(one.figure.start, one.figure.end) == written
    ]
    there = _placed_in(provisions)
    for one in told:
        rivals = [other for other in there if _is_rival(one.figure, other.figure)]
        near = [_nearness(one, other, _plain(folded.text)) for other in rivals]
        nearest = (
            other.written for other, size in zip(rivals, near, strict=True) if size == max(near)
        )
        if words := tuple(dict.fromkeys(nearest)):
            return words[:_FEW]
    return ()


def _is_rival(one: Figure, other: Figure) -> bool:
    return are_of_one_kind(one, other) and not same_figure(one, other)


def are_of_one_kind(one: Figure, other: Figure) -> bool:
    """Whether two figures count the same; hours of work and months do not."""
    return one.dimension == other.dimension and _is_of_clock(one) == _is_of_clock(other)


def _is_of_clock(figure: Figure) -> bool:
    """Whether a figure counts hours or less."""
    if figure.dimension != _TIME:
        return False
    number = max(figure.numbers, default=Fraction(0))
    return bool(number) and max(figure.values) / number < _DAY


def is_reckoned(written: str, provisions: Sequence[str]) -> bool:
    """Whether provisions give a figure by a table or a sum; not with one figure of its kind."""
    own = figures_of([written])
    rivals = [
        other for other in figures_of(provisions) if any(are_of_one_kind(one, other) for one in own)
    ]
    is_alone = all(same_figure(one, rivals[0]) for one in rivals)
    return not is_alone and any(_RECKONS.search(text) for text in provisions)


def other_penalty(said: str, sentences: Sequence[str]) -> Instead | None:
    """Return the penalty in a text if the provisions have others of its kind, else None."""
    there = [one for sentence in sentences for one in _penalties(sentence)]
    for is_prison, figure, words in _penalties(said):
        alike = [(other, its) for its_prison, other, its in there if its_prison is is_prison]
        if alike and not any(same_figure(figure, other) for other, _ in alike):
            return Instead(words, tuple(dict.fromkeys(its for _, its in alike))[:_FEW])
    return None


def _penalties(text: str) -> Iterator[tuple[bool, Figure, str]]:
    """The penalties of a text: whether imprisonment, the maximum, the words."""
    for match in _PENALTY.finditer(text):
        most = fold(match["most"])
        for figure in sorted(figures_of([match["most"]]), key=lambda one: one.end)[-1:]:
            written = most.written(figure.start, figure.end)
            yield bool(match["prison"]), figure, f"{written}以下"


def figures_of(sentences: Sequence[str]) -> list[Figure]:
    """The figures of some texts in order, with lengths of months (三月) last in each."""
    return [
        figure
        for sentence in sentences
        for figure in (*read_particulars(sentence).figures, *read_particulars(sentence).months)
    ]


@lru_cache(maxsize=512)
def read_particulars(text: str) -> Particulars:
    """The particulars of a text, read up to `LONGEST_LAW` characters."""
    return particulars_of(fold(text[:LONGEST_LAW]))


def _units(provision: str) -> Iterator[str]:
    stem = ""
    for line in provision.split("\n"):
        sentences = [line[start:end] for start, end in split_sentences(line)]
        for sentence in sentences:
            yield sentence if _LISTS.search(sentence) or not stem else f"{stem}{sentence}"
        stem = next((one for one in sentences if _LISTS.search(one)), stem)


def _placed_in(provisions: Sequence[str]) -> list[_Placed]:
    units = (unit for text in provisions for unit in _units(text))
    return [one for unit in units for one in _placed(fold(unit), unit)]


def _placed(folded: Folded, unit: str) -> Iterator[_Placed]:
    found = particulars_of(folded)
    for figure in (*found.figures, *found.months):
        before = folded.text[max(0, figure.start - _AROUND) : figure.start]
        after = folded.text[figure.end : figure.end + _AROUND]
        yield _Placed(figure, _plain(before), _plain(after), unit, bounded(folded, figure))


def _plain(text: str) -> str:
    return _MARKS.sub("", letters(text))


def _nearness(one: _Placed, other: _Placed, plain: str) -> tuple[float, int]:
    return (
        covers(plain, [other.unit]),
        _shared(one.before[::-1], other.before[::-1]) + _shared(one.after, other.after),
    )


def _shared(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


# 民法5条1項によれば、: the statement follows.
_NAMES_BEFORE = re.compile("^[はがに、]*(?:によれば|によると|により|では)?、?")
# Common letters needed before the ending, and most other letters allowed.
_SAME_SENTENCE, _SAME_ENDING = 12, 3
_KANA_BEHIND = re.compile("[ぁ-ゖ]*$")
# Both verbs of 取り消す.
_DEED = re.compile("(?:[一-鿿][いきしちにひみりえけせてねめれげべ](?=[一-鿿]$))?[一-鿿々ァ-ヶー]+$")
_TURNED = frozenset(
    frozenset(pair)
    for pair in (
        (Force.DEMANDED, Force.ALLOWED),
        (Force.DEMANDED, Force.FORBIDDEN),
        (Force.DEMANDED, Force.EXEMPTED),
        (Force.ALLOWED, Force.FORBIDDEN),
        (Force.AFFIRMED, Force.DENIED),
        (Force.AFFIRMED, Force.FORBIDDEN),
    )
)


def without_naming(said: str) -> str:
    """Remove the naming of a provision at the beginning: によれば、."""
    return _NAMES_BEFORE.sub("", said)


def turned_round(said: str, sentences: Sequence[str]) -> Instead | None:
    """Return the ending of a sentence and the provision's opposite one, or None."""
    own = _closing(without_naming(said.strip()))
    if own is None:
        return None
    lines = (line for text in sentences for line in text.split("\n"))
    for line in lines:
        for start, end in split_sentences(line):
            # Comparing letters first is quick.
            if own.letters[-_SAME_ENDING:] not in letters(line[start:end]):
                continue
            its = _closing(line[start:end])
            if its and frozenset((its.force, own.force)) in _TURNED and _is_same(own, its):
                return Instead(own.written, (its.written,))
    return None


class _Closing(NamedTuple):
    letters: str  # all before the verb, without kana
    kana: str  # between them and the ending (をし of をしなければならない)
    force: Force  # the meaning of the ending
    written: str


@lru_cache(maxsize=512)
def _closing(sentence: str) -> _Closing | None:
    normal = normalize(sentence).strip(" 。()")
    start, force = closing_force(normal)
    before = normal[:start].rstrip()
    stem = _KANA_BEHIND.sub("", before)
    deed = _DEED.search(normal, 0, len(stem))
    written = normal[deed.start() if deed else start :]
    if len(letters(stem)) < _SAME_SENTENCE:
        return None
    return _Closing(letters(stem), before[len(stem) :], force, written)


def _is_same(one: _Closing, other: _Closing) -> bool:
    first, second = spelt(one.letters), spelt(other.letters)
    size = min(len(first), len(second))
    return (
        first[-size:] == second[-size:]
        and abs(len(one.letters) - len(other.letters)) <= _SAME_SENTENCE
        and not _stems(one.kana).isdisjoint(_stems(other.kana))
    )


def _stems(kana: str) -> set[str]:
    """Return the possible stems of a verb's kana: of ける, け and する."""
    return {kana, kana[:-1], kana.removesuffix("する")}

"""Whether a figure that a text says of a provision is the one of the case it speaks of.

産後六週間 and 産後八週間 both stand in 労働基準法65条2項, of different women. A figure is that of
the case where no other figure of its kind in the provision stands in words nearer to those around
it: in a sentence or an item that has more of them, else between more of the same letters.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from localrag.check.words import letters
from localrag.reading.checking import covers
from localrag.reading.checking.particulars import Figure, particulars_of, same_figure
from localrag.reading.folding import Folded, fold
from localrag_indexes.analysis.characters import with_blanks
from localrag_indexes.analysis.sentences import split_sentences

_LISTS = re.compile("次(?:に掲げる|の各号|のとおり|の)|左の")
_MARKS = re.compile("[、。（）()]")
# Letters on each side of a figure that are compared.
_AROUND = 60


class _Placed(NamedTuple):
    """A figure with the letters around it, and the sentence or item that it stands in."""

    figure: Figure
    before: str
    after: str
    unit: str


def figure_of_another_case(said: str, provisions: Sequence[str]) -> str:
    """The figure of a text that provisions have in words no nearer than those of another figure.

    Args:
        said: a sentence.
        provisions: that have its words and all its figures.

    Returns:
        The figure as the sentence has it; "" where each stands with what it is said of.
    """
    folded = fold(said)
    told = list(_placed(folded, said))
    there = [
        one for text in provisions for unit in _units(text) for one in _placed(fold(unit), unit)
    ]
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


def _is_rival(one: Figure, other: Figure) -> bool:
    """Whether another figure could stand in the place of one: it counts the same, and is not it."""
    return one.dimension == other.dimension and not same_figure(one, other)


def _units(provision: str) -> Iterator[str]:
    """The sentences of a provision, and each of its items with the sentence that it belongs to."""
    stem = ""
    for line in provision.split("\n"):
        sentences = [line[start:end] for start, end in split_sentences(line)]
        for sentence in sentences:
            yield sentence if _LISTS.search(sentence) or not stem else f"{stem}{sentence}"
        stem = next((one for one in sentences if _LISTS.search(one)), stem)


def _placed(folded: Folded, unit: str) -> Iterator[_Placed]:
    found = particulars_of(folded)
    for figure in (*found.figures, *found.months):
        before = folded.text[max(0, figure.start - _AROUND) : figure.start]
        after = folded.text[figure.end : figure.end + _AROUND]
        yield _Placed(figure, _plain(before), _plain(after), unit)


def _plain(text: str) -> str:
    return _MARKS.sub("", letters(text))


def _nearness(one: _Placed, other: _Placed, plain: str) -> tuple[float, int]:
    """How much of a text the unit has that another figure stands in, and how much around both."""
    return (
        covers(plain, [other.unit]),
        _shared(one.before[::-1], other.before[::-1]) + _shared(one.after, other.after),
    )


def _shared(one: str, other: str) -> int:
    """How many letters two texts begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))

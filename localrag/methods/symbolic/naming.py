"""Which spans of a question name subjects of the store."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from localrag.corpus.boundaries import stands_alone, words_of
from localrag.corpus.knowledge import Mention
from localrag.methods.symbolic.model import Lookups
from localrag_indexes.analysis.normalize import normalize_with_offsets, original_span

MASK = "\ufffc"
"""Stands for each character of a name, so that no word is read into it."""

_MOST_NAMES = 12
_JOINT = re.compile(r"[と、やは]|より")


class Asked(NamedTuple):
    """A question, ready to be analysed.

    Attributes:
        question: as it was asked.
        text: normalised; every position refers to it.
        offsets: of each character in the question; see `normalize_with_offsets`.
        names: the spans that name subjects, in order, none over another.
    """

    question: str
    text: str
    offsets: Sequence[int]
    names: tuple[Mention, ...]

    def written(self, name: Mention) -> str:
        """A name as the question writes it."""
        start, end = original_span(self.offsets, name.start, name.end)
        return self.question[start:end]


def read(lookups: Lookups, question: str) -> Asked:
    """Normalise a question and find the names in it, longer ones before shorter ones."""
    text, offsets = normalize_with_offsets(question)
    words = words_of(text)
    names: list[Mention] = []
    doubtful: list[Mention] = []
    for mention in sorted(lookups.mentions(text), key=lambda one: one.start - one.end):
        if _is_free(mention, names):
            alone = stands_alone(text, mention.start, mention.end, words)
            (names if alone else doubtful).append(mention)
    # Where words begin is a guess; what is joined to a name is a name.
    for mention in doubtful:
        if _is_free(mention, names) and _is_joined(text, mention, names):
            names.append(mention)
    if len(names) > _MOST_NAMES:
        lookups.events.append(f"{len(names)} names: the first {_MOST_NAMES} were looked up")
    return Asked(question, text, offsets, tuple(sorted(names)[:_MOST_NAMES]))


def masked(text: str, names: Sequence[Mention]) -> str:
    """The text with `MASK` for every character of the names."""
    for name in names:
        text = text[: name.start] + MASK * (name.end - name.start) + text[name.end :]
    return text


def _is_free(name: Mention, names: Sequence[Mention]) -> bool:
    return not any(one.start < name.end and name.start < one.end for one in names)


def _is_joined(text: str, name: Mention, names: Sequence[Mention]) -> bool:
    return any(_JOINT.fullmatch(text, one.end, name.start) for one in names)

"""A question that follows others in a conversation, read together with them.

Whether a question leans on those before it (その罰則は) no rule tells well: of twenty that nobody
had looked at, rules for every way to lean answered nine, the questions one after the other ten. So
one that names no law is read behind those before it, and searched for by itself too
(`Rewritten.last`). What is formal is left to the resolver: 第5項 after 会社法第362条第4項.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from localrag.question.laws import laws_named, without_names
from localrag.statutes.names import LawNames
from localrag.statutes.typed import written_out

_MOST_BEFORE = 3
# A longer question says by itself what it is about.
_LONGEST = 300
# Of a longer question before only the end is read: there it asks.
_LONGEST_BEFORE = 400

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+")
_SENTENCE_END = re.compile(r"[。．？！?!]|\.\s")
# では, の場合は: all that is left of 民法では where a law alone is named.
_NOTHING_ASKED = re.compile(r"[ぁ-ゖ\s、。？?]{0,6}(?:場合)?[ぁ-ゖ\s、。？?]{0,4}")


class Rewritten(NamedTuple):
    """A question as it is to be understood after those asked before it.

    Attributes:
        text: the question, its short citations written out, behind those it is read with.
        last: the question alone, if the text begins with others; else empty.
    """

    text: str
    last: str = ""


def rewritten(question: str, history: Sequence[str], names: LawNames) -> Rewritten:
    """Read a question behind those before it, without a model; never fails.

    Args:
        question: as asked.
        history: the questions asked before it in the conversation, oldest first, as asked or as
            they were read.
        names: the laws of the corpus.
    """
    text = written_out(question, names)
    if not history or _stands_alone(text, names):
        return Rewritten(text)
    before: list[str] = []
    for earlier in reversed(history[-_MOST_BEFORE:]):
        alone = written_out(plain_end(earlier), names)
        # What was read behind others has them in it.
        if any(map(str.isalnum, alone)) and not any(alone in later for later in before):
            before.insert(0, alone)
        if laws_named(alone, names):
            break
    last = _plain(text)
    return Rewritten(" ".join([*before, last]), last) if before else Rewritten(text)


def plain_end(earlier: str) -> str:
    """What is read of an earlier question: one line, of a long one its last sentences."""
    text = _plain(earlier)
    if len(text) <= _LONGEST_BEFORE:
        return text
    tail = text[-_LONGEST_BEFORE:]
    ends = [end.end() for end in _SENTENCE_END.finditer(tail) if end.end() < len(tail)]
    return tail[ends[0] :].strip() if ends else tail


def _stands_alone(question: str, names: LawNames) -> bool:
    """Whether a question is long, or names a law and asks something of it."""
    if len(question) > _LONGEST:
        return True
    laws = laws_named(question, names)
    return bool(laws) and _NOTHING_ASKED.fullmatch(without_names(question, laws)) is None


def _plain(text: str) -> str:
    return _BLANKS.sub(" ", text).strip()

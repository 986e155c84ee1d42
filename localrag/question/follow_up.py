"""A question that leans on those before it (その罰則は), made one that stands by itself.

A question leans where its own words say so:

1. it points back (それ, その, 同法, it) and nothing in it is what it points to;
2. it asks for more of the same (もっと詳しく, go on), or of one thing told (手続をもっと詳しく);
3. it cites 第二項, 第二十八条 or 施行令 without the law;
4. all its words are said of any matter (例外はあるか, until when?), so that it has no topic; or
   it has a verb, and no noun to tell what the verb is about (何年とっておくの);
5. it puts another case to the same question (法人の場合は, what about companies?), or ends before
   anything is said of what it names (海外の会社に渡すときは, 立退料は);
6. it begins with a condition that leaves its matter unsaid (遅れたら利息はつく);
7. it names no law, and its theme stands in the question before: then it has the law of that.

What it lacks is taken from the question it leans on: the law, the provision, and the topic without
what was asked of it. Every other question stays as it is, but for citations that are typed shortly:
those are written out (刑199条 is 刑法第199条), so that whatever reads it finds them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from localrag.question import _english, _japanese
from localrag.statutes.names import LawNames
from localrag.statutes.typed import written_out

MOST_BEFORE = 8
"""Earlier questions that are read, the last ones: a chain of follow-ups is hardly longer."""

# A longer question says by itself what it is about.
_LONGEST = 300
# Of a longer question before only the end is read: there it asks.
_LONGEST_BEFORE = 400

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+")
_SENTENCE_END = re.compile(r"[。．？！?!]|\.\s")
_JAPANESE = re.compile("[\u3041-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A question as it is to be understood after those asked before it.

    Attributes:
        text: the question, standing by itself.
        asked: the question as it was asked.
        after: the question that it leans on, itself standing alone; empty where it leans on none.
    """

    text: str
    asked: str
    after: str = ""

    @property
    def changed(self) -> bool:
        """Whether it is to be read otherwise than it was asked."""
        return self.text != self.asked


def rewritten(question: str, history: Sequence[str], names: LawNames) -> Rewritten:
    """Make a question stand by itself, without a model; never fails.

    Args:
        question: as asked.
        history: the questions asked before it in the conversation, oldest first, as asked or as
            they were read.
        names: the laws of the corpus.
    """
    before = ""
    for earlier in history[-MOST_BEFORE:]:
        alone = written_out(plain_end(earlier), names)
        if not any(character.isalnum() for character in alone):
            continue
        before = _read(alone, before, names) or alone
    text = written_out(question, names)
    read = _read(_plain(text), before, names)
    return Rewritten(read, question, before) if read else Rewritten(text, question)


def _read(question: str, before: str, names: LawNames) -> str:
    """The question with what it lacks; empty where it leans on nothing, or nothing is there."""
    if not before or len(question) > _LONGEST:
        return ""
    if _JAPANESE.search(question):
        return _japanese.read_after(question, before, names)
    return _english.read_after(question, before)


def _plain(text: str) -> str:
    return _BLANKS.sub(" ", text).strip()


def plain_end(earlier: str) -> str:
    """What is read of an earlier question: one line, of a long one its last sentences."""
    text = _plain(earlier)
    if len(text) <= _LONGEST_BEFORE:
        return text
    tail = text[-_LONGEST_BEFORE:]
    ends = [end.end() for end in _SENTENCE_END.finditer(tail) if end.end() < len(tail)]
    return tail[ends[0] :].strip() if ends else tail

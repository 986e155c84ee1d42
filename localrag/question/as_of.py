"""The state of the law that a question is asked of: 令和2年4月1日時点の民法, 改正前の民法.

A day is one of the law only where the question says a state (時点, 現在, 当時の): what was done on
a day is a fact of the case. Of a month or a year it is the last day. A former state that is told by
what changed it (旧民法) has no day that code could know.
"""

import re
from calendar import monthrange
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from localrag.facts import Fact, FactKind
from localrag.question.laws import LawNamed, laws_named
from localrag.statutes.names import LawNames
from localrag_indexes.analysis.numerals import common_year, parse_numeral, parse_year

_NUMBER = "[0-9０-９〇一二三四五六七八九十元]{1,4}"
_DATE = (
    r"(?:(?P<era>明治|大正|昭和|平成|令和)[ 　]?|(?:西暦)?(?=[0-9０-９〇一二三四五六七八九]{4}))"
    rf"(?P<year>{_NUMBER})年"
    rf"(?:(?P<month>{_NUMBER})月(?:(?P<day>{_NUMBER})日)?)?"
)
_STATE = re.compile(
    rf"{_DATE}の?(?:時点|現在|当時)(?:の|に(?:おける|おいて)は?、?|で(?:の|は)?、?|は?、)?"
)
_DATE_BEFORE = re.compile(rf"{_DATE}の?$")
_LONGEST_DATE = 30
# 旧民法, 改正前の民法, 新民法: a state of the law that is told by what changed it, not by its day.
_OF_ANOTHER_STATE = re.compile(r"(?:[旧新]|(?:改正|施行)[前後]の?|改正|(?:当時|制定時)の)$")
_LONGEST_STATE = 8
_FORMER = re.compile("旧|前|当時|制定")
# ア民法第710条: the letter of an item without a blank behind it.
_BEFORE_A_NAME = re.compile("旧|改正前|前掲|前記|上記|^[ 　]*[ア-ン](?=[一-鿿])")


class FormerState(NamedTuple):
    """A former state of a law, told by what changed it.

    Attributes:
        words: as written, with the name of the law.
        start: where they begin.
        law: whose it is; it ends the words.
    """

    words: str
    start: int
    law: LawNamed


@dataclass(frozen=True, slots=True)
class StateAsked:
    """A question, and the state of the law that it is asked of.

    Attributes:
        text: the question without the words for the state.
        day: the day of the law; None where it says none.
        words: by which it says that day.
        former: the states it speaks of without a day.
    """

    text: str
    day: date | None = None
    words: str = ""
    former: tuple[FormerState, ...] = ()

    def facts(self, shown: date) -> list[Fact]:
        """What is told of it, where the law of some day is shown."""
        told = [
            Fact(FactKind.FORMER_STATE_ASKED, words=one.words, day=shown.isoformat())
            for one in self.former
        ]
        if self.day is not None:
            kind = FactKind.DAY_ASKED if self.day == shown else FactKind.DAY_GIVEN
            told.append(Fact(kind, words=self.words, day=shown.isoformat()))
        return told


def state_asked(question: str, names: LawNames) -> StateAsked:
    """Read the state of the law that a question is asked of.

    Args:
        question: as asked.
        names: the laws of the corpus; a question that names none is asked of no state.
    """
    said = _STATE.search(question)
    day = _day(said) if said else None
    text = question
    if said and day and laws_named(question, names):
        text = question[: said.start()] + question[said.end() :]
    else:
        said = day = None
    former = tuple(_former_states(text, names))
    for one in reversed(former):
        text = text[: one.start] + text[one.law.start :]
    if not any(map(str.isalnum, text)):
        text = question
    return StateAsked(text, day, said[0] if said else "", former)


def is_of_another_state(text: str, position: int) -> bool:
    """Whether the words before the name of a law that begins at a place say another state of it."""
    return _another_state(text, position) is not None


def laws_in_any_state(text: str, names: LawNames) -> list[LawNamed]:
    """The laws that a text names, also where 旧 or 改正前 stands right before a name."""
    found = laws_named(text, names)
    if not _BEFORE_A_NAME.search(text):
        return list(found)
    known = [name for name in found if name.law_ids]
    others = laws_named(_BEFORE_A_NAME.sub(lambda word: "、" * len(word[0]), text), names)
    return sorted(
        [
            *known,
            *(
                name
                for name in others
                if all(one.end <= name.start or name.end <= one.start for one in known)
            ),
        ],
        key=lambda name: name.start,
    )


def _another_state(text: str, position: int) -> re.Match[str] | None:
    return _OF_ANOTHER_STATE.search(text, max(0, position - _LONGEST_STATE), position)


def _former_states(text: str, names: LawNames) -> list[FormerState]:
    found = []
    for law in laws_in_any_state(text, names) if _FORMER.search(text) else ():
        state = _another_state(text, law.start)
        if law.law_ids and state and _FORMER.search(state[0]):
            since = max(0, state.start() - _LONGEST_DATE)
            dated = _DATE_BEFORE.search(text, since, state.start())
            start = dated.start() if dated else state.start()
            found.append(FormerState(text[start : law.end], start, law))
    return found


def _day(said: re.Match[str]) -> date | None:
    """The day that is said, of a month or a year the last one; None for no day of the calendar."""
    with suppress(ValueError):
        year = parse_year(said["year"])
        year = common_year(said["era"], year) if said["era"] else year
        month = parse_numeral(said["month"]) if said["month"] else 12
        day = parse_numeral(said["day"]) if said["day"] else monthrange(year, month)[1]
        return date(year, month, day)
    return None

"""The state of the law that a question is asked of: 令和2年4月1日時点の民法, 改正前の民法.

A day is one of the law where the question says a state (時点, 現在, 当時の, as of), or joins the
day to the name of the law alone (2019年の民法, the Civil Code in 2019). What was done on a day is a
fact of the case; that the law of another day is shown is told. Of a month or a year it is the last
day, or today. A former state that is told by what changed it (旧民法) has no day that code could
know; and of a day that no calendar has (令和2年2月30日) it is told that there is none.
"""

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from localrag.facts import Fact, FactKind
from localrag.question.english_citations import english_citations
from localrag.question.laws import LawNamed, laws_named
from localrag.statutes.names import LawNames
from localrag_indexes.analysis.numerals import common_year, parse_numeral, parse_year

_NUMBER = "[0-9０-９〇一二三四五六七八九十元]{1,4}"
_DATE = (
    r"(?:(?P<era>明治|大正|昭和|平成|令和)[ 　]?"
    r"|(?:西暦)?(?<![0-9０-９〇一二三四五六七八九])(?=[0-9０-９〇一二三四五六七八九]{4}))"
    rf"(?P<year>{_NUMBER})年"
    rf"(?:(?P<month>{_NUMBER})月(?:(?P<day>{_NUMBER})日)?)?"
)
_STATE = re.compile(
    rf"{_DATE}の?(?:時点|現在|当時)(?:の|に(?:おける|おいて)は?、?|で(?:の|は)?、?|は?、)?"
)
_DATE_BEFORE = re.compile(rf"{_DATE}の?$")
_LONGEST_DATE = 30
_ANY_DATE = re.compile(_DATE)
_JOINED = re.compile(rf"{_DATE}(?:の|における|[ 　]+)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<name>(?:{'|'.join(_MONTHS)})[a-z]*)\.?"
_ENGLISH_DATE = (
    r"(?:(?P<iso>(?P<year>[12][0-9]{3})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2}))"
    rf"|(?:{_MONTH} (?:(?P<before>[0-9]{{1,2}})(?:st|nd|rd|th)?,? )?"
    rf"|(?P<first>[0-9]{{1,2}})(?:st|nd|rd|th)? {_MONTH.replace('name', 'behind')},? )?"
    r"(?P<of>[12][0-9]{3})(?![0-9]))"
)
_ENGLISH_STATE = re.compile(
    rf",? ?\b(?:as (?:of|at)|as it (?:stood|was|read) (?:on|in)|in force (?:on|in|as of)) "
    rf"{_ENGLISH_DATE},?",
    re.IGNORECASE,
)
_ENGLISH_FACT = re.compile(rf"\b(?:on|in|since|from|by) {_ENGLISH_DATE}", re.IGNORECASE)
_BEHIND_A_LAW = re.compile(rf",? (?:on|in) {_ENGLISH_DATE}(?=[\s,?.]|$)", re.IGNORECASE)
# A year of these is that of the change: 2017年の民法改正. 施行令 is a law.
_CHANGE = re.compile(
    "改正|制定|公布|成立|廃止|施行(?!令|規則|細則|法)|amend|revis|enact|promulgat|repeal",
    re.IGNORECASE,
)
# 平成15年法律第57号 is the number of a law.
_NUMBERED = re.compile("[一-鿿]{1,12}第")
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


class DaySaid(NamedTuple):
    """A day that a question says.

    Attributes:
        words: as written, with those that make it the day of a state.
        start, end: their span in the question.
        day: of a month or a year the last one, or today; None where no calendar has it.
        is_period: whether a month or a year is said.
    """

    words: str
    start: int
    end: int
    day: date | None
    is_period: bool


@dataclass(frozen=True, slots=True)
class StateAsked:
    """A question, and the state of the law that it is asked of.

    Attributes:
        text: the question without the words for the state.
        said: the day of the law; None where it says none.
        former: the states it speaks of without a day.
        of_the_case: a day that it says, and not of the law; None where it says none.
    """

    text: str
    said: DaySaid | None = None
    former: tuple[FormerState, ...] = ()
    of_the_case: DaySaid | None = None

    @property
    def day(self) -> date | None:
        """The day of the law; None where the question says none that there is."""
        return self.said.day if self.said else None

    def facts(self, shown: date) -> list[Fact]:
        """What is told of it, where the law of some day is shown."""
        told = [
            Fact(FactKind.FORMER_STATE_ASKED, words=one.words, day=shown.isoformat())
            for one in self.former
        ]
        if self.said is not None and self.said.day is not None:
            read = FactKind.PERIOD_ASKED if self.said.is_period else FactKind.DAY_ASKED
            kind = read if self.said.day == shown else FactKind.DAY_GIVEN
            told.append(Fact(kind, words=self.said.words.strip(), day=shown.isoformat()))
        case = self.of_the_case
        if case is not None and case.day is not None and case.day < shown:
            told.append(Fact(FactKind.DAY_OF_THE_CASE, words=case.words, day=shown.isoformat()))
        told += [
            Fact(FactKind.NO_SUCH_DAY, words=one.words.strip(" ,"), day=shown.isoformat())
            for one in (self.said, case)
            if one is not None and one.day is None
        ]
        return told


def state_asked(question: str, names: LawNames, *, of_laws: bool = False) -> StateAsked:
    """Read the state of the law that a question is asked of.

    Args:
        question: as asked.
        names: the laws of the corpus.
        of_laws: whether the corpus has no documents besides. Else a question that names no law is
            asked of no state: 2020年4月1日現在の町の人口.
    """
    laws = laws_named(question, names)
    is_of_law = bool(laws or (of_laws and names.rows))
    said = _state_said(question, laws) if is_of_law else None
    text = question[: said.start] + question[said.end :] if said else question
    former = tuple(_former_states(text, names))
    of_the_case = None
    if is_of_law and not (said or former):
        of_the_case = _day_of_the_case(question, laws)
    for one in reversed(former):
        text = text[: one.start] + text[one.law.start :]
    if not any(map(str.isalnum, text)):
        text = question
    return StateAsked(text, said, former, of_the_case)


def dates_in(text: str) -> Iterator[tuple[int, int]]:
    """The spans of dates, months and years in a Japanese text; 令和 alone is none."""
    return (found.span() for found in _ANY_DATE.finditer(text))


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


def _state_said(question: str, laws: Sequence[LawNamed]) -> DaySaid | None:
    """The day that a question says of the law."""
    for pattern, read in ((_STATE, _day), (_ENGLISH_STATE, _english_day)):
        said = pattern.search(question)
        if said:
            return read(said)
    if _CHANGE.search(question):
        return None
    begins = {law.start for law in laws}
    for joined in _JOINED.finditer(question):
        if joined.end() in begins:
            return _day(joined)
    cited = (one.start + len(one.words) for one in english_citations(question, laws))
    for end in (*(law.end for law in laws), *cited):
        if behind := _BEHIND_A_LAW.match(question, end):
            return _english_day(behind)
    return None


def _day_of_the_case(question: str, laws: Sequence[LawNamed]) -> DaySaid | None:
    """The first day that a question says and that is no part of the name or number of a law."""
    if _CHANGE.search(question):
        return None
    for date_ in _ANY_DATE.finditer(question):
        of_a_name = any(law.start < date_.end() and date_.start() < law.end for law in laws)
        if not of_a_name and not _NUMBERED.match(question, date_.end()):
            return _day(date_)
    in_english = _ENGLISH_FACT.search(question)
    return _english_day(in_english) if in_english else None


def _day(said: re.Match[str]) -> DaySaid:
    """The day that is said in Japanese."""
    with suppress(ValueError):
        year = parse_year(said["year"])
        if said["era"]:
            # 平成0年 is no year, and not the one before the first.
            year = common_year(said["era"], year) if year else 0
        month, day = (
            parse_numeral(said[part]) if said[part] else None for part in ("month", "day")
        )
        return _said(said, year, month, day)
    return DaySaid(said[0], *said.span(), None, is_period=False)


def _english_day(said: re.Match[str]) -> DaySaid:
    """The day that is said in English."""
    with suppress(ValueError):
        if said["iso"]:
            return _said(said, int(said["year"]), int(said["month"]), int(said["day"]))
        name, day = said["name"] or said["behind"], said["before"] or said["first"]
        month = _MONTHS.index(name[:3].lower()) + 1 if name else None
        return _said(said, int(said["of"]), month, int(day) if day else None)
    return DaySaid(said[0], *said.span(), None, is_period=False)


def _said(said: re.Match[str], year: int, month: int | None, day: int | None) -> DaySaid:
    """The day said; of a month or a year the last one, or today where it has not come yet.

    Raises:
        ValueError: there is no such day.
    """
    first = date(year, month or 1, day or 1)
    last = first
    if day is None:
        month = month or 12
        last = date(year, month, monthrange(year, month)[1])
        today = date.today()
        last = today if first <= today < last else last
    return DaySaid(said[0], *said.span(), last, day is None)

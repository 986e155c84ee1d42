"""The day whose law is asked for: 令和2年4月1日時点の民法, 改正前の民法.

A day counts if the question names a state (時点, 現在, 当時の, as of) or joins the day to a law's
name (2019年の民法, 昨年の民法, the Civil Code in 2019). Days of the case do not count; a note says
which day's law is shown. A month or year means its last day, or today. A state named by its
amendment (旧民法, 平成29年改正前の民法) has no known day. A day outside the calendar
(令和2年2月30日) is reported.
"""

import re
from bisect import bisect_left
from calendar import monthrange
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from localrag.law.names import LawNames, NameMatch
from localrag.law.notation import case_numbers
from localrag.search.question.everyday import english_citations
from localrag.search.question.laws import LawNamed, laws_named
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis.normalize import (
    common_year,
    parse_numeral,
    parse_year,
    plain,
)

_NUMBER = "[0-9０-９〇一二三四五六七八九十元]{1,4}"
_YEAR = (
    r"(?:(?P<era>明治|大正|昭和|平成|令和)[ 　]?"
    r"|(?:西暦)?(?<![0-9０-９〇一二三四五六七八九])(?=[0-9０-９〇一二三四五六七八九]{4}))"
    rf"(?P<year>{_NUMBER})年"
)
_IN_YEAR = rf"(?:(?P<month>{_NUMBER})月(?:(?P<day>{_NUMBER})日)?)?"
_DATE = _YEAR + _IN_YEAR
_YEARS_FROM_NOW = {
    "一昨年": -2, "おととし": -2, "昨年": -1, "去年": -1,
    "今年": 0, "本年": 0, "来年": 1, "再来年": 2,
}  # fmt: skip
# 昨年の民法404条; 昨年 alone is a fact of the case.
_DATE_OF_STATE = (
    rf"(?:{_YEAR}|(?P<from_now>{'|'.join(_YEARS_FROM_NOW)})(?:の(?=[^月]{{1,4}}月))?)" + _IN_YEAR
)
_STATE = re.compile(
    rf"{_DATE_OF_STATE}の?(?:時点|現在|当時)(?:の|に(?:おける|おいて)は?、?|で(?:の|は)?、?|は?、)?"
)
_DATE_BEFORE = re.compile(rf"{_DATE}の?$")
_LONGEST_DATE = 30
_ANY_DATE = re.compile(_DATE)
_JOINED = re.compile(rf"{_DATE_OF_STATE}(?:の|における|[ 　]+)")
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
# In 2015, what did Companies Act article 429 say? But "I signed in 2015" is a fact of the case.
_BEFORE_A_LAW = re.compile(
    rf"^(?:on|in) {_ENGLISH_DATE},? (?=(?P<ask>(?:what (?:did|was|were) )?(?:the )?))",
    re.IGNORECASE,
)
# Here the year is that of the amendment: 2017年の民法改正. 施行令 is a law.
_CHANGE = re.compile(
    "改正|制定|公布|成立|廃止|施行(?!令|規則|細則|法)|amend|revis|enact|promulgat|repeal",
    re.IGNORECASE,
)
# 平成15年法律第57号 is the number of a law.
_NUMBERED = re.compile("[一-鿿]{1,12}第")
# 旧民法, 改正前の民法, 新民法: a state named by its amendment, not by its day.
_OF_ANOTHER_STATE = re.compile(r"(?:[旧新]|(?:改正|施行)[前後]の?|改正|(?:当時|制定時)の)$")
_LONGEST_STATE = 8
_FORMER = re.compile("旧|前|当時|制定")
# 平成29年法律第44号による改正前の民法, 令和2年法律第44号の個人情報保護法
_AMENDED = "(?:による?|により|によって|で)(?:の?一部)?改正"
_AMENDED_BEFORE = re.compile(rf"の|{_AMENDED}(?:され(?:た|る)(?:[前後]の)?|[前後]の?|の)")
# 民法（平成29年改正前のもの）415条
_AMENDED_BEHIND = re.compile(
    "[（(][^（）()、。]{0,40}(?:改正前|号による改正後)(?:のもの)?(?:をいう。?)?[)）]"
)
# ア民法第710条: the letter of an item without a blank behind it.
_BEFORE_A_NAME = re.compile("旧|改正前|前掲|前記|上記|^[ 　]*[ア-ン](?=[一-鿿])")


class FormerState(NamedTuple):
    """A state of a law named by its amendment.

    Attributes:
        words: as written, with the name of the law.
        start, end: span of the words around that name.
    """

    words: str
    start: int
    end: int


class DaySaid(NamedTuple):
    """A day in a question.

    Attributes:
        words: as written, with the words for the state.
        start, end: their span in the question, in plain characters.
        day: for a month or a year the last one, or today; None outside the calendar.
        is_period: whether it is a month or a year.
    """

    words: str
    start: int
    end: int
    day: date | None
    is_period: bool


@dataclass(frozen=True, slots=True)
class StateAsked:
    """A question with the state of the law it asks for.

    Attributes:
        text: the question in plain characters, without the words for the state.
        said: the day of the law, or None.
        former: states named without a day.
        of_the_case: a day of the case, or None.
    """

    text: str
    said: DaySaid | None = None
    former: tuple[FormerState, ...] = ()
    of_the_case: DaySaid | None = None

    @property
    def day(self) -> date | None:
        """The day of the law, or None if there is none in the calendar."""
        return self.said.day if self.said else None

    def facts(self, shown: date) -> list[Fact]:
        """Notes on the day whose law is shown."""
        told = [
            Fact(FactKind.FORMER_STATE_ASKED, words=one.words, day=shown.isoformat())
            for one in self.former
        ]
        if self.said is not None and self.said.day is not None:
            read = FactKind.PERIOD_ASKED if self.said.is_period else FactKind.DAY_ASKED
            kind = read if self.said.day == shown else FactKind.DAY_GIVEN
            told.append(Fact(kind, words=self.said.words.strip(" ,"), day=shown.isoformat()))
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
    """Read the state of the law asked for.

    Args:
        question: as asked.
        names: the laws of the corpus.
        of_laws: whether the corpus has only laws. With other documents, a question without a law
            has no state: 2020年4月1日現在の町の人口.
    """
    asked, question = question, plain(question)
    laws = laws_named(question, names)
    is_of_law = bool(laws or (of_laws and names.rows))
    said = _state_said(question, laws) if is_of_law else None
    text = question[: said.start] + question[said.end :] if said else question
    former = tuple(_former_states(text, names))
    of_the_case = None
    if is_of_law and not (said or former):
        of_the_case = _day_of_the_case(question, laws)
    for one in reversed(former):
        text = text[: one.start] + text[one.end :]
    if text == question or not any(map(str.isalnum, text)):
        text = asked
    return StateAsked(text, said, former, of_the_case)


def is_of_another_state(text: str, position: int) -> bool:
    """Whether the words before a law's name mark another state of it."""
    return _another_state(text, position) is not None


def laws_in_any_state(text: str, names: LawNames) -> list[LawNamed]:
    """The laws named in a text, also after 旧 or 改正前."""
    found = laws_named(text, names)
    if not _BEFORE_A_NAME.search(text):
        return list(found)
    known = [name for name in found if name.law_ids]
    others = laws_named(_BEFORE_A_NAME.sub(lambda word: "、" * len(word[0]), text), names)
    return sorted(
        [
            *known,
            *(name for name in others if not _overlaps(known, name)),
        ],
        key=lambda name: name.start,
    )


def _overlaps(known: Sequence[LawNamed], name: LawNamed) -> bool:
    at = bisect_left(known, name.end, key=lambda one: one.start)
    return at > 0 and known[at - 1].end > name.start


def _another_state(text: str, position: int) -> re.Match[str] | None:
    return _OF_ANOTHER_STATE.search(text, max(0, position - _LONGEST_STATE), position)


def _former_states(text: str, names: LawNames) -> list[FormerState]:
    numbers = names.find_numbers(text)
    found = []
    for law in laws_in_any_state(text, names) if numbers or _FORMER.search(text) else ():
        if not law.law_ids:
            continue
        start = _start_of_state(text, law, numbers)
        if start < law.start:
            found.append(FormerState(text[start : law.end], start, law.start))
        elif behind := _AMENDED_BEHIND.match(text, law.end):
            found.append(FormerState(text[law.start : behind.end()], *behind.span()))
    return found


def _start_of_state(text: str, law: LawNamed, numbers: Sequence[NameMatch]) -> int:
    """Where the words for another state before a law's name begin."""
    for number in numbers:
        # 明治29年法律第89号の民法: the law's own number.
        is_own = set(number.law_ids).intersection(law.law_ids)
        if not is_own and _AMENDED_BEFORE.fullmatch(text, number.end, law.start):
            return number.start
    state = _another_state(text, law.start)
    if state is None or not _FORMER.search(state[0]):
        return law.start
    since = max(0, state.start() - _LONGEST_DATE)
    dated = _DATE_BEFORE.search(text, since, state.start())
    return dated.start() if dated else state.start()


def _state_said(question: str, laws: Sequence[LawNamed]) -> DaySaid | None:
    """The day of the law in a question."""
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
    cited = list(english_citations(question, laws))
    before = _BEFORE_A_LAW.match(question)
    if before and before.end("ask") in {*begins, *(one.start for one in cited)}:
        return _english_day(before)
    for end in (*(law.end for law in laws), *(one.start + len(one.words) for one in cited)):
        if behind := _BEHIND_A_LAW.match(question, end):
            return _english_day(behind)
    return None


def _day_of_the_case(question: str, laws: Sequence[LawNamed]) -> DaySaid | None:
    """The first day of the case: it belongs to no law, number or judgment.

    Days of amendments are skipped, unless they are outside the calendar.
    """
    cases = {start for start, _ in case_numbers(question)}
    said = [
        _day(date_)
        for date_ in _ANY_DATE.finditer(question)
        if date_.start() not in cases
        and all(date_.end() <= law.start or law.end <= date_.start() for law in laws)
        and not _NUMBERED.match(question, date_.end())
    ]
    said += map(_english_day, _ENGLISH_FACT.finditer(question))
    is_of_a_change = _CHANGE.search(question) is not None
    return next((one for one in said if one.day is None or not is_of_a_change), None)


def _day(said: re.Match[str]) -> DaySaid:
    """The day of a Japanese match."""
    with suppress(ValueError):
        year = _year(said)
        month, day = (
            parse_numeral(said[part]) if said[part] else None for part in ("month", "day")
        )
        return _said(said, year, month, day)
    return DaySaid(said[0], *said.span(), None, is_period=False)


def _year(said: re.Match[str]) -> int:
    """The year of the common era, or 0 for an impossible year (平成0年)."""
    told = said.groupdict()
    if from_now := told.get("from_now"):
        return date.today().year + _YEARS_FROM_NOW[from_now]
    year = parse_year(told["year"])
    return common_year(told["era"], year) if told["era"] and year else year


def _english_day(said: re.Match[str]) -> DaySaid:
    """The day of an English match."""
    with suppress(ValueError):
        if said["iso"]:
            return _said(said, int(said["year"]), int(said["month"]), int(said["day"]))
        name, day = said["name"] or said["behind"], said["before"] or said["first"]
        month = _MONTHS.index(name[:3].lower()) + 1 if name else None
        return _said(said, int(said["of"]), month, int(day) if day else None)
    return DaySaid(said[0], *said.span(), None, is_period=False)


def _said(said: re.Match[str], year: int, month: int | None, day: int | None) -> DaySaid:
    """The day; for a month or a year its last day, or today if that is later.

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

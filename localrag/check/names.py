"""Checks the names of laws: their numbers, former titles, and unknown names."""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from localrag.check.law_texts import LawTexts
from localrag.check.laws import WrittenLaws
from localrag.check.source import Flow
from localrag.check.types import Finding, Part, Verdict
from localrag.facts import Fact, FactKind
from localrag.question.laws import LawNamed, is_known_title

_BRACKETS = re.compile(r"[」』]?[ 　]?[（(](?=明治|大正|昭和|平成|令和)")
# A law itself, not an amending or amended one.
_GOES_ON = re.compile(r"[）)。、，,]|[ 　]?以下|$")
_FORMER = re.compile("(?:旧|当時の|かつての|改称前の)$")
_NOW_CALLED = re.compile(r"[^。\n]{0,30}(?:改称|名称|題名|現行|現在|旧)")
# A name this similar to a title is misspelt; with the law's number, a little less will do.
_SHORTEST, _ALIKE, _NEAR = 7, 0.86, 0.7


def check_names(laws: WrittenLaws, flow: Flow, texts: LawTexts) -> Iterator[Finding]:
    """Check the laws named in a text: their numbers, and those missing from the corpus."""
    told: set[str] = set()
    numbered = 0
    former = texts.former_titles
    for name in laws.named:
        if name.start < numbered:
            continue
        if finding := _numbered(name, flow, texts):
            numbered = max(flow.text.find("号", name.end), name.end)
            yield finding
        elif not name.law_ids and name.words not in told:
            told.add(name.words)
            yield _lacking(name, former, flow, texts)


def _numbered(name: LawNamed, flow: Flow, texts: LawTexts) -> Finding | None:
    """Check the number in brackets after a law; None without one."""
    opening = _BRACKETS.match(flow.text, name.end)
    if opening is None:
        return None
    numbers = texts.names.find_numbers(flow.text[opening.end() : opening.end() + 80])
    if (
        not numbers
        or numbers[0].start
        or not _GOES_ON.match(flow.text, opening.end() + numbers[0].end)
    ):
        return None
    number = flow.text[opening.end() : opening.end() + numbers[0].end]
    place = flow.place(name.start, opening.end() + numbers[0].end)
    by_number = numbers[0].law_ids
    verdict: Verdict = Verdict.UNCHECKED
    problem: Fact | None = Fact(FactKind.NO_SUCH_LAW, name=name.words)
    law_id = (name.law_ids or by_number or ("",))[0]
    if name.law_ids and any(texts.names.can_bear(id_, number) for id_ in name.law_ids):
        verdict, problem = Verdict.HOLDS, None
    elif name.law_ids:
        right = texts.names.rows[law_id].law_num
        verdict, problem = Verdict.FAILS, Fact(FactKind.LAW_NUMBERED, number=right)
    elif by_number:
        title = texts.names.title(by_number[0])
        problem = Fact(FactKind.LAW_CALLED, title=title)
        # A popular name (フリーランス法) need not be a title.
        if _alike(title, name.words) >= _NEAR and not _is_former(name, flow):
            verdict = Verdict.FAILS
    title = texts.names.title(law_id) if law_id else ""
    state = texts.state(law_id) if law_id else ""
    return Finding(Part.LAW, place, flow.written(place), verdict, problem, title, "", state)


def _lacking(
    name: LawNamed, former: Mapping[str, Sequence[str]], flow: Flow, texts: LawTexts
) -> Finding:
    """Explain a name of no law in the corpus."""
    place = flow.place(name.start, name.end)
    verdict, title = Verdict.UNCHECKED, ""
    problem = Fact(FactKind.NO_SUCH_LAW, name=name.words)
    if ids := former.get(name.words):
        title = texts.names.title(ids[0])
        problem = Fact(FactKind.LAW_CALLED, title=title)
        if not _is_former(name, flow):
            verdict = Verdict.FAILS
    elif title := _nearest_title(name.words, texts):
        problem = Fact(FactKind.LAW_MISSPELT, name=name.words, title=title)
        verdict = Verdict.FAILS
    return Finding(Part.LAW, place, flow.written(place), verdict, problem, title)


def _is_former(name: LawNamed, flow: Flow) -> bool:
    before = _FORMER.search(flow.text, max(0, name.start - 8), name.start)
    return bool(before or _NOW_CALLED.match(flow.text, name.end))


def _alike(title: str, name: str) -> float:
    return SequenceMatcher(None, title, name, autojunk=False).ratio()


def _nearest_title(name: str, texts: LawTexts) -> str:
    """Return the title a name misspells; "" if it may be another law."""
    if len(name) < _SHORTEST or is_known_title(name):
        return ""
    alike: list[tuple[float, str]] = []
    for title in texts.names.names:
        if abs(len(title) - len(name)) > 2 or title[0] != name[0]:
            continue
        if len(set(title) & set(name)) * 2 > len(set(name)):
            alike.append((_alike(title, name), title))
    share, nearest = max(alike, default=(0.0, ""))
    return nearest if share >= _ALIKE else ""

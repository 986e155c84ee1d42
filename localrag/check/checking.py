"""Checks a whole text: every name of a law, citation, quotation and statement, in order.

A method over the corpus can also check sentences without a citation, as claims. A claim holds or
fails only if code finds its content, or a contradiction, in a sentence of the corpus.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import partial

from localrag.answer.types import Answer, CheckedEvidence, Stance, Status, Unanswered, Veracity
from localrag.check.cells import TableCells
from localrag.check.citations import (
    check_citation,
    check_numbers,
    with_every_reading,
    without_echoes,
)
from localrag.check.law_texts import LawTexts
from localrag.check.laws import CitedRange, WrittenLaws, citations_of, cited_within
from localrag.check.quotations import Quoted, check_quotation, quotations_of
from localrag.check.source import CheckedSource, Flow
from localrag.check.statements import check_statement, statements_of
from localrag.check.types import CheckedPlace, CheckReport, Finding, Part, Verdict
from localrag.corpus.store import CorpusStore
from localrag.language import N_
from localrag.search.question.laws import LawNamed, is_known_title
from localrag.text.facts import Fact, FactKind
from localrag.text.progress import Phase, Progress, Stopwatch, ignore
from localrag_indexes.analysis.analyzer import split_sentences

CHECKING = Phase(N_("checking"), N_("places"))
Judge = Callable[[str], Answer]
"""Checks one claim: `Answerer.answer` with a method for claims."""


def check(
    store: CorpusStore,
    source: CheckedSource,
    on_event: Callable[[Progress], None] = ignore,
    judge: Judge | None = None,
) -> CheckReport:
    """Check a text against the laws of a corpus.

    `judge` checks sentences without a citation as claims; without it no model is used.
    """
    texts = LawTexts(store)
    flow = Flow(source, texts.names)
    laws = WrittenLaws(flow.text, texts.names, texts.former_titles)
    findings = [*check_names(laws, flow, texts), *check_numbers(flow, texts)]
    places = list(_places(flow, laws, texts, judge))
    tell = Stopwatch(on_event)
    for done, check_place in enumerate(places, 1):
        if finding := check_place():
            findings.append(finding)
        tell(CHECKING, done, len(places))
    findings.sort(key=lambda finding: (finding.place.start, finding.place.end))
    agreeing = tuple(_agreeing(findings))
    day = store.as_of.isoformat()
    by_ocr = tuple(one for one in source.confidences if one is not None)
    return CheckReport(
        source.name, source.kind, source.text, day, agreeing, source.omissions, by_ocr
    )


def _agreeing(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the findings in order; a sentence with a wrong citation counts as unchecked."""
    wrong = [
        finding.place.start
        for finding in findings
        if finding.part is Part.CITATION and finding.verdict is Verdict.FAILS
    ]
    for finding in findings:
        cites_wrongly = bisect_left(wrong, finding.place.end) > bisect_left(
            wrong, finding.place.start
        )
        if finding.part is Part.STATEMENT and finding.verdict is Verdict.HOLDS and cites_wrongly:
            problem = Fact(FactKind.CITED_WRONGLY)
            yield replace(finding, verdict=Verdict.UNCHECKED, problem=problem)
        else:
            yield finding


def _on_day(cited: CitedRange, texts: LawTexts) -> CitedRange:
    """Mark a citation of a state missing from the corpus, as 旧民法 on today's law."""
    is_other = cited.basis.is_other_state and texts.is_of_today
    if not is_other and not any(texts.document(law).before_first for law in cited.laws):
        return cited
    return replace(cited, basis=cited.basis._replace(is_of_day=False))


def _outside(cited: Sequence[CitedRange], quoted: Sequence[Quoted]) -> list[CitedRange]:
    """Leave out citations within quotations: the quotation itself is compared."""
    starts = [one.start for one in quoted]
    return [
        one
        for one in cited
        if not (at := bisect_right(starts, one.start)) or one.start >= quoted[at - 1].end
    ]


def _places(
    flow: Flow, laws: WrittenLaws, texts: LawTexts, judge: Judge | None
) -> Iterator[Callable[[], Finding | None]]:
    """Yield a call for each citation, quotation and statement to check."""
    everything = [
        _on_day(with_every_reading(one, flow, texts), texts)
        for one in citations_of(flow.text, laws, texts.resolver)
    ]
    cells = TableCells(flow.text)
    quoted = quotations_of(flow.text, everything, cells)
    cited = without_echoes(flow, _outside(everything, quoted), texts, cells)
    for one in cited:
        yield partial(_checked, partial(check_citation, one, flow, texts), (one,), texts)
    for quotation in quoted:
        yield partial(
            _checked, partial(check_quotation, quotation, flow, texts), quotation.cited, texts
        )
    for statement in statements_of(flow.text, cited, quoted, cells):
        yield partial(
            _checked, partial(check_statement, statement, flow, texts), statement.cited, texts
        )
    if judge is not None:
        for start, end in claims_of(flow.text, everything, laws):
            yield partial(check_claim, start, end, flow, judge)


def _checked(
    check_place: Callable[[], Finding | None], cited: Sequence[CitedRange], texts: LawTexts
) -> Finding | None:
    """Check a place; a difference from another state of the law counts as unchecked."""
    finding = check_place()
    other = [law for one in cited if one.basis.is_other_state for law in one.laws]
    if finding is None or not other or finding.verdict is Verdict.HOLDS:
        return finding
    problem = Fact(FactKind.ANOTHER_STATE, law=texts.names.title(other[0]))
    return replace(finding, verdict=Verdict.UNCHECKED, problem=problem, diff=())


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


_SHORTEST_CLAIM, _LONGEST_CLAIM = 12, 600
# Headings, rows, labels, questions and requests claim nothing.
_STATES = re.compile(r"(?:。|[a-z0-9)\"”]\.)[」』”\"）)]*$")
_ASKS = re.compile(r"(?:か|ください|下さい|ませんか|でしょうか)。?$|[?？]$")
_SET_OFF = (">", "#", "|")
_UNCHECKED = {
    Veracity.SUPPORTED: FactKind.MODEL_SUPPORTS,
    Veracity.REFUTED: FactKind.MODEL_REFUTES,
    Veracity.NOT_ENOUGH: FactKind.EVIDENCE_LACKS,
    Veracity.CONFLICTING: FactKind.EVIDENCE_CONFLICTS,
}


def claims_of(
    text: str, cited: Sequence[CitedRange], laws: WrittenLaws
) -> Iterator[tuple[int, int]]:
    """Return the spans of sentences with a statement and without a law."""
    named = [name.start for name in laws.named]
    for start, end in split_sentences(text):
        sentence = text[start:end]
        line = text[text.rfind("\n", 0, start) + 1 : end].lstrip()
        if (
            _SHORTEST_CLAIM <= len(sentence) <= _LONGEST_CLAIM
            and _STATES.search(sentence)
            and not _ASKS.search(sentence)
            and not line.startswith(_SET_OFF)
            and not cited_within(cited, start, end)
            and not any(start <= at < end for at in named)
        ):
            yield start, end


def check_claim(start: int, end: int, flow: Flow, judge: Judge) -> Finding:
    """Check one sentence as a claim; raises `Unanswered` if the model cannot be used at all."""
    place = flow.place(start, end)
    said = flow.written(place)
    try:
        answer = judge(said)
    except Unanswered as error:
        if not (error.transient or error.of_one_request):
            raise
        problem = Fact(FactKind.CLAIM_UNANSWERED, cause=str(error))
        return Finding(Part.CLAIM, place, said, Verdict.UNCHECKED, problem)
    return _of(answer, place, said)


def _of(answer: Answer, place: CheckedPlace, said: str) -> Finding:
    checked = answer.checked
    assert checked is not None
    stance = Stance.REFUTES if checked.veracity is Veracity.REFUTED else Stance.SUPPORTS
    there = checked.that(stance) or checked.evidence
    by_code = [one for one in checked.that(stance) if one.by_code]
    if checked.veracity is Veracity.REFUTED and by_code:
        words = tuple(one.written for one in by_code[0].differs)
        problem = Fact(FactKind.CLAIM_CONTRADICTED, words=words)
        return _finding(place, said, Verdict.FAILS, problem, by_code[0])
    if checked.veracity is Veracity.SUPPORTED and by_code and answer.status is Status.SUPPORTED:
        return _finding(place, said, Verdict.HOLDS, None, by_code[0])
    problem = Fact(_UNCHECKED[checked.veracity])
    return _finding(place, said, Verdict.UNCHECKED, problem, there[0] if there else None)


def _finding(
    place: CheckedPlace,
    said: str,
    verdict: Verdict,
    problem: Fact | None,
    evidence: CheckedEvidence | None,
) -> Finding:
    if evidence is None:
        return Finding(Part.CLAIM, place, said, verdict, problem)
    citation = evidence.citation
    return Finding(
        Part.CLAIM,
        place,
        said,
        verdict,
        problem,
        citation.label,
        citation.passage_id,
        citation.state,
        citation.quote,
    )

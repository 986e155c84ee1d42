"""Checks a whole text: every citation, quotation and statement, in order."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from localrag.check.cells import Cells
from localrag.check.citations import (
    check_citation,
    check_numbers,
    with_every_reading,
    without_echoes,
)
from localrag.check.claims import Judge, check_claim, claims_of
from localrag.check.law_texts import LawTexts
from localrag.check.laws import Cited, WrittenLaws, citations_of
from localrag.check.names import check_names
from localrag.check.quotations import Quoted, check_quotation, quotations_of
from localrag.check.source import Flow, Source
from localrag.check.statements import check_statement, statements_of
from localrag.check.types import CheckReport, Finding, Part, Verdict
from localrag.corpus.store import CorpusStore
from localrag.facts import Fact, FactKind
from localrag.language import N_
from localrag.progress import Phase, Progress, Stopwatch, ignore

CHECKING = Phase(N_("checking"), N_("places"))


def check(
    store: CorpusStore,
    source: Source,
    on_event: Callable[[Progress], None] = ignore,
    judge: Judge | None = None,
) -> CheckReport:
    """Check a text against the laws of a corpus.

    `judge` checks sentences without a citation as claims; without it no model is used.

    Raises:
        ModelUnusable: the model of `judge` cannot be used.
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


def _on_day(cited: Cited, texts: LawTexts) -> Cited:
    """Mark a citation of a state missing from the corpus, as 旧民法 on today's law."""
    is_other = cited.basis.is_other_state and texts.is_of_today
    if not is_other and not any(texts.document(law).before_first for law in cited.laws):
        return cited
    return replace(cited, basis=cited.basis._replace(is_of_day=False))


def _outside(cited: Sequence[Cited], quoted: Sequence[Quoted]) -> list[Cited]:
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
    cells = Cells(flow.text)
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
    check_place: Callable[[], Finding | None], cited: Sequence[Cited], texts: LawTexts
) -> Finding | None:
    """Check a place; a difference from another state of the law counts as unchecked."""
    finding = check_place()
    other = [law for one in cited if one.basis.is_other_state for law in one.laws]
    if finding is None or not other or finding.verdict is Verdict.HOLDS:
        return finding
    problem = Fact(FactKind.ANOTHER_STATE, law=texts.names.title(other[0]))
    return replace(finding, verdict=Verdict.UNCHECKED, problem=problem, diff=())

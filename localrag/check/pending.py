"""Finds citations and quotations of a text with another wording on a later day.

The corpus may hold states of a law that are not in force yet. A citation changes if the
words of its provision change, or if another provision gets its number.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import date
from itertools import pairwise

from localrag.check.checking import check
from localrag.check.law_texts import LawTexts
from localrag.check.laws import WrittenLaws, citations_of
from localrag.check.source import CheckedSource, Flow
from localrag.check.types import CheckedPlace, Finding, Part, Upcoming, Verdict
from localrag.check.words import bare
from localrag.corpus.store import CorpusStore, DocumentInfo
from localrag.corpus.types import Passage
from localrag.law.resolver import Target
from localrag.search.provision import citation_of, is_deleted
from localrag_indexes.analysis.normalize import compact


def upcoming(
    store: CorpusStore,
    source: CheckedSource,
    until: date | None = None,
    findings: Sequence[Finding] | None = None,
) -> tuple[Upcoming, ...]:
    """List the citations and quotations of a text changing after the day of the store.

    Args:
        store: the corpus on a day.
        source: the text.
        until: the last day; None for all.
        findings: of the text today; None to check it.
    """
    texts = LawTexts(store)
    flow = Flow(source, texts.names)
    laws = WrittenLaws(flow.text, texts.names, texts.former_titles)
    last = until.isoformat() if until else ""
    if findings is None:
        findings = check(store, source).findings
    checked = {_span(one) for one in findings if one.part is Part.CITATION}
    found: list[Upcoming] = []
    for cited in citations_of(flow.text, laws, texts.resolver):
        place = flow.place(cited.start, cited.end)
        if (place.start, place.end) in checked and not cited.is_several:
            for target in cited.targets:
                found += _of_citation(texts, target, place, flow.written(place), last)
    found += _quotations(store, source, _held(findings), last)
    return tuple(sorted(dict.fromkeys(found), key=lambda one: (one.day, one.place.start)))


def _of_citation(
    texts: LawTexts, target: Target, place: CheckedPlace, said: str, last: str
) -> Iterator[Upcoming]:
    """Yield a change for each later day with another text of a cited provision."""
    store = texts.store
    today = store.at(target.law_id, target.locator)
    if today is None:
        return
    day = store.as_of.isoformat()
    states = [one for one in store.states(target.law_id) if one.followed > day or not one.followed]
    for before, after in pairwise(states):
        begins = after.metadata.get("date", "")
        old, new = (store.at(one.state_id, target.locator) for one in (before, after))
        if old is None or (last and begins > last) or _same(old, new):
            continue
        gone = new is None or is_deleted(new)
        yield Upcoming(
            begins,
            Part.CITATION,
            place,
            said,
            citation_of(store, today),
            today.id,
            old.text,
            "" if gone or new is None else new.text,
            _moved_to(texts, old, before, after),
        )


def _same(old: Passage, new: Passage | None) -> bool:
    return new is not None and compact(bare(old.text)) == compact(bare(new.text))


def _moved_to(texts: LawTexts, old: Passage, before: DocumentInfo, after: DocumentInfo) -> str:
    """The new place of an article or of a passage inside one; "" without a new number."""
    for change in texts.changes(before.state_id, after.state_id):
        if change.before is None or not change.before.locator.contains(old.locator):
            continue
        if change.after is not None and change.after.locator != change.before.locator:
            return citation_of(texts.store, change.after)
    return ""


def _quotations(
    store: CorpusStore, source: CheckedSource, held: dict[tuple[int, int], Finding], last: str
) -> Iterator[Upcoming]:
    """Yield the quotations that hold until a day and not on it."""
    laws = {one.passage_id.partition("#")[0] for one in held.values()}
    for day in _days(store, laws, last):
        if not held:
            return
        with CorpusStore.open(store.path, read_only=True, as_of=day) as later:
            now = {_span(one): one for one in check(later, source).findings}
        for span, of in list(held.items()):
            after = now.get(span)
            if after is None or after.verdict is not Verdict.HOLDS:
                words = after.evidence if after else ""
                where = (of.place, of.said, of.provision, of.passage_id)
                yield Upcoming(day.isoformat(), of.part, *where, of.said, words)
                del held[span]


def _days(store: CorpusStore, laws: Collection[str], last: str) -> list[date]:
    """The first days of later texts of these laws."""
    begins = {one.metadata.get("date", "") for law in laws for one in store.states(law)}
    today = store.as_of.isoformat()
    return [
        date.fromisoformat(day)
        for day in sorted(begins)
        if day > today and not (last and day > last)
    ]


def _held(findings: Sequence[Finding]) -> dict[tuple[int, int], Finding]:
    return {
        _span(one): one
        for one in findings
        if one.part is Part.QUOTATION and one.verdict is Verdict.HOLDS and one.passage_id
    }


def _span(finding: Finding) -> tuple[int, int]:
    return finding.place.start, finding.place.end

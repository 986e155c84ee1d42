"""Checks sentences without a citation as claims, by a method over the whole corpus.

A model's opinion alone is only reported. A sentence holds or fails only if code finds its content,
or a contradiction, in a sentence of the corpus.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from localrag.check.laws import Cited, WrittenLaws, cited_within
from localrag.check.source import Flow
from localrag.check.types import Finding, Part, Place, Verdict
from localrag.facts import Fact, FactKind
from localrag.reading.types import Answer, CheckedEvidence, Stance, Status, Unanswered, Veracity
from localrag_indexes.analysis.analyzer import split_sentences

Judge = Callable[[str], Answer]
"""Checks one claim: `Answerer.answer` with a method that checks claims."""

_SHORTEST, _LONGEST = 12, 600
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


def claims_of(text: str, cited: Sequence[Cited], laws: WrittenLaws) -> Iterator[tuple[int, int]]:
    """Return the spans of sentences with a statement and without a law."""
    named = [name.start for name in laws.named]
    for start, end in split_sentences(text):
        sentence = text[start:end]
        line = text[text.rfind("\n", 0, start) + 1 : end].lstrip()
        if (
            _SHORTEST <= len(sentence) <= _LONGEST
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


def _of(answer: Answer, place: Place, said: str) -> Finding:
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
    place: Place,
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

"""Step 5: the short answer, computed from the triples where code can, else by the model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field

from localrag.corpus.types import Triple
from localrag.facts import Fact, FactKind
from localrag.methods.comparison.comparing import compare
from localrag.methods.comparison.narrowing import narrowed
from localrag.methods.comparison.types import Decision, Side
from localrag.methods.staged.decomposition import Compared, Decomposition, line_of
from localrag.methods.staged.types import LONGEST_OBJECT, AskedQuery, filled
from localrag.methods.staged.wording import as_written, holds, is_found, is_same, names
from localrag.methods.toolkit import Toolkit
from localrag.reading.evidence import element
from localrag.retrieval.types import Query

STAGE = "comparison"

# The answers to a question that asks whether something holds.
_YES, _NO = "YES", "NO"
_POLAR = {"yes": _YES, "はい": _YES, "no": _NO, "いいえ": _NO}
_QUOTATION_MARKS = "『』「」"


class _AnswerReply(BaseModel):
    answer: Annotated[str, Field(max_length=LONGEST_OBJECT)]


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The end of a derivation.

    Attributes:
        text: the short answer; "" where the triples give none.
        computed: the computation, where it was computed.
        doubt: why the triples do not carry it, where they do not.
    """

    text: str
    computed: tuple[str, ...] = ()
    doubt: Fact | None = None


def conclude(
    toolkit: Toolkit, asked: Query, split: Decomposition, found: Sequence[AskedQuery]
) -> Conclusion:
    """Answer from what the queries came to; a computation needs no call of the model.

    What the model answers is carried only where it reads it off: it is what the last triple of a
    chain holds. YES, NO, a side and whatever else follows from several triples is a conclusion.

    Args:
        toolkit: of the question.
        asked: the question.
        split: its queries, and what it asks about their answers.
        found: its queries; each was answered.

    Raises:
        ModelUnusable: the model failed, or its reply is malformed for the second time.
    """
    triples = {one.query.number: one.reading.triple for one in found if one.reading}
    computed = _computed(toolkit, asked, split, found)
    if computed is not None:
        return computed
    text = _answered(toolkit, asked, list(triples.values()))
    if not text:
        return Conclusion("", doubt=Fact(FactKind.NO_ANSWER))
    polar = text in (_YES, _NO)
    if not polar and not any(_is_said(text, asked, _names(one)) for one in triples.values()):
        return Conclusion(text, doubt=Fact(FactKind.ANSWER_NOT_SAID))
    chained = split.compared is None and len(split.ends) == 1 and not polar
    if chained and _is_said(text, asked, triples[split.ends[0]].objects):
        return Conclusion(text)
    return Conclusion(text, doubt=Fact(FactKind.CONCLUDED, answer=text))


def _computed(
    toolkit: Toolkit, asked: Query, split: Decomposition, found: Sequence[AskedQuery]
) -> Conclusion | None:
    """What code finds out; None where it does not decide, which the trace says."""
    compared = split.compared
    if compared is None:
        return None
    sides = _sides(compared, found)
    outcome, text = None, ""
    problem: Fact | None = Fact(FactKind.FEW_SIDES)
    if len(sides) > 1:
        outcome = compare(compared.comparison, list(sides.values()), compared.condition)
        text, problem = _in_words(compared, sides, outcome)
        problem = problem or _misnamed(split, sides, found)
    if not problem and text not in (_YES, _NO):
        objects = {of for one in found if one.reading for of in one.reading.triple.objects}
        written = as_written(text, asked.text) if names(asked.text, text) else ""
        said = written or (text if text in objects else "")
        problem = None if said else Fact(FactKind.SIDE_UNKNOWN, side=text)
        text = said
    if problem or outcome is None:
        why = [problem] if problem else []
        toolkit.note(STAGE, [*why, Fact(FactKind.MODEL_ANSWERS)])
        return None
    return Conclusion(text, (outcome.because,))


def _answered(toolkit: Toolkit, asked: Query, triples: Sequence[Triple]) -> str:
    """The short answer of the model; "" where it finds none."""
    sentences = [triple.text for triple in triples]
    messages = toolkit.prompt(
        "staged_answer",
        asked,
        sentences=sentences,
        tag=element("text", [asked.text, *sentences]),
    )
    answer = toolkit.ask(messages, _AnswerReply, "answer").answer.strip()
    return _POLAR.get(answer.casefold(), answer) if is_found(answer) else ""


def _is_said(answer: str, asked: Query, texts: Sequence[str]) -> bool:
    """Whether texts hold a short answer, as a whole or narrowed to what is asked for."""
    return any(holds(text, answer) or holds(narrowed(text, asked.text), answer) for text in texts)


def _sides(compared: Compared, found: Sequence[AskedQuery]) -> dict[int, Side]:
    """What is compared, by the number of the query that found it."""
    readings = {one.query.number: one.reading for one in found if one.reading}
    answers = {number: reading.answer for number, reading in readings.items()}
    return {
        number: Side(
            filled(name, answers).strip(_QUOTATION_MARKS),
            readings[number].triple.predicate,
            readings[number].triple.objects,
        )
        for number, name in compared.sides.items()
        if number in readings
    }


def _misnamed(
    split: Decomposition, sides: Mapping[int, Side], found: Sequence[AskedQuery]
) -> Fact | None:
    """What is wrong with a side that is called after what another query found; None for nothing."""
    for number, side in sides.items():
        line, own, others = line_of(split.queries, number), False, False
        for one in found:
            if one.reading and any(is_same(name, side.name) for name in _names(one.reading.triple)):
                own |= one.query.number in line
                others |= one.query.number not in line
        if others and not own:
            return Fact(FactKind.SIDE_OF_ANOTHER, side=side.name, n=number)
    return None


def _in_words(
    compared: Compared, sides: Mapping[int, Side], outcome: Decision | None
) -> tuple[str, Fact | None]:
    """The answer that an outcome comes to, or why it comes to none."""
    comparison = compared.comparison.value
    if outcome is None:
        return "", Fact(FactKind.COMPARISON_UNREAD, comparison=comparison)
    if not outcome.certain or (outcome.holds is None and outcome.side is None):
        because = outcome.because
        return "", Fact(FactKind.COMPARISON_OPEN, comparison=comparison, because=because)
    if outcome.side is None:
        return _YES if outcome.holds else _NO, None
    number = list(sides)[outcome.side]
    name = sides[number].name
    if any(one != number and is_same(side.name, name) for one, side in sides.items()):
        return "", Fact(FactKind.SIDES_ALIKE, side=name)
    if not compared.claimed:
        return name, None
    if compared.claimed not in sides:
        return "", Fact(FactKind.CLAIMED_NO_SIDE, n=compared.claimed)
    return _YES if number == compared.claimed else _NO, None


def _names(triple: Triple) -> tuple[str, ...]:
    return (triple.subject, *triple.objects)

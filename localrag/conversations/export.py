"""A conversation as a Markdown file, with its citations in legal style."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from localrag.conversations.markdown import code, items, line, paragraph, quotation
from localrag.conversations.model import Conversation, Turn
from localrag.conversations.wording import WORDINGS, Wording
from localrag.facts import told
from localrag.methods.choices import labelled
from localrag.reading.types import Answer, Citation, Claim, Derivation, Step

Locate = Callable[[str, Citation], str]
"""Tells where a citation stands, in words, from the name of the corpus and the citation."""


def markdown(
    conversation: Conversation, turns: Sequence[Turn], locate: Locate, language: str = "en"
) -> str:
    """Write a conversation as Markdown.

    Args:
        conversation: for its title and date.
        turns: its questions, in order.
        locate: writes the places of citations.
        language: ``ja`` or ``en``; of what is said besides the questions and answers.
    """
    words = WORDINGS[language]
    blocks = [f"# {line(conversation.title or words.untitled)}", _date(conversation.created)]
    if not turns:
        blocks.append(words.empty)
    for number, turn in enumerate(turns, 1):
        blocks.append(f"## {words.question.format(n=number)}")
        blocks += _turn(turn, locate, words)
    return "\n\n".join(blocks) + "\n"


def _turn(turn: Turn, locate: Locate, words: Wording) -> Iterator[str]:
    yield quotation(turn.query.text)
    if turn.read_as != turn.query.text:
        yield words.read_as.format(question=line(turn.read_as))
    if turn.query.options:
        yield items(f"{label}: {line(option)}" for label, option in labelled(turn.query.options))
    made_with = [
        line(turn.corpus),
        line(turn.method or words.default_method),
        line(turn.model or words.no_model),
        _date(turn.asked),
    ]
    if turn.seconds:
        made_with.append(words.seconds.format(n=turn.seconds))
    yield " · ".join(made_with)
    if turn.answer is not None:
        yield from _answer(turn.corpus, turn.answer, locate, words)
        return
    yield f"**{words.ends.get(turn.state, words.unreadable)}**"
    if turn.cause:
        yield paragraph(f"{turn.cause} {turn.cure}".strip())
    if turn.draft:
        yield words.draft
        yield items(map(line, turn.draft))


def _answer(corpus: str, answer: Answer, locate: Locate, words: Wording) -> Iterator[str]:
    if answer.absent:
        yield f"**{words.absent}** {line('、'.join(answer.absent))}"
    yield f"**{words.statuses[answer.status]}**"
    if answer.doubts:
        yield paragraph(told(answer.doubts))
    if answer.label:
        yield f"**{line(answer.label)}** {line(answer.text)}"
    # What the extractive reader says is its quotations, which follow.
    elif answer.text and (answer.derivation or not (answer.claims or answer.citations)):
        yield paragraph(answer.text)
    if answer.claims:
        yield items(_claim(answer, claim, words) for claim in answer.claims)
    if answer.derivation:
        yield f"### {words.derivation}"
        yield from _derivation(answer, answer.derivation, words)
    if answer.citations:
        yield f"### {words.citations}"
        for number, citation in enumerate(answer.citations, 1):
            yield _citation(number, citation, locate(corpus, citation), words)


def _claim(answer: Answer, claim: Claim, words: Wording) -> str:
    """A claim, and below it what is wrong with it."""
    remarks = [words.moved] if claim.moved else []
    for mismatch in claim.mismatches:
        # Some are of the claim as a whole, which stands above.
        written = "" if mismatch.written == claim.text else f": {line(mismatch.written)}"
        remarks.append(words.mismatches[mismatch.kind] + written)
    head = f"{line(claim.text)} {_marks(answer, claim.citations, words)}".rstrip()
    return "\n  - ".join([head, *remarks])


def _citation(number: int, citation: Citation, place: str, words: Wording) -> str:
    head = f"{number}. {line(place or citation.label or citation.passage_id)}"
    if not citation.verified:
        head += f" **{words.rejected}**: {line(str(citation.problem or ''))}"
    remarks = [words.state.format(date=line(citation.state))] if citation.state else []
    remarks += [words.beside] if citation.beside else []
    head = " · ".join([head, *remarks])
    indent = " " * len(f"{number}. ")
    return "\n\n".join(
        (head, quotation(citation.quote, indent), f"{indent}{code(citation.passage_id)}")
    )


def _derivation(answer: Answer, derivation: Derivation, words: Wording) -> Iterator[str]:
    yield "\n".join(
        f"{number}. {_step(answer, step, words)}" for number, step in enumerate(derivation.steps, 1)
    )
    if derivation.computed:
        yield items(map(line, derivation.computed))


def _step(answer: Answer, step: Step, words: Wording) -> str:
    if step.triple is None:
        return f"{line(step.query)} – {words.nothing_found}"
    source = f" ({words.stages[step.stage]})" if step.stage else ""
    marks = _marks(answer, (step.citation,) if step.citation else (), words)
    return f"{line(step.query)} – {line(step.triple.text)} {marks}".rstrip() + source


def _marks(answer: Answer, numbers: Sequence[int], words: Wording) -> str:
    """The numbers of citations; a rejected one says so."""
    return "".join(
        f"[{number}]" if answer.citations[number - 1].verified else f"[{number} {words.rejected}]"
        for number in numbers
    )


def _date(time: str) -> str:
    """A time of the store as the clock on the wall showed it."""
    return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M}"

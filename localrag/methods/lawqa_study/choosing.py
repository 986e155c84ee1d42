"""The four ways of the study in which a model chooses an option by what it is shown.

- `statute-direct`: nothing; what retrieval has to beat.
- `statute-gold`: the texts known to answer; the ceiling of retrieval.
- `statute-fixed`: what is found for question and options.
- `statute-gepa`: what is found for a query that a model writes, under a prompt that GEPA has
  optimised. Where the settings name none, the built-in one stands in, and an event says so.

None of them quotes anything, so their answers are unsupported.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from localrag.answer.evidence import NumberedPassage, element
from localrag.answer.types import Answer, Claim
from localrag.errors import UsageError
from localrag.language import N_
from localrag.methods.catalogue import (
    LABELS,
    LONGEST_REASON,
    Calls,
    Case,
    Method,
    choice_among,
    labelled,
)
from localrag.methods.extractive import EVIDENCE
from localrag.methods.searches import write_query
from localrag.methods.toolkit import Toolkit
from localrag.search.query import full_text
from localrag.search.types import Hit, Query
from localrag.text.facts import Fact, FactKind
from localrag_models.chat import Message

_HITS = 5


def choose(toolkit: Toolkit, asked: Query, context: str = "") -> Answer:
    """Choose by what the model knows, or by the texts known to answer the question.

    The answer is unsupported: it quotes nothing. Its claim is the reason that the model gives.

    Raises:
        ModelUnusable: the context of the model does not hold the prompt, the model failed, or its
            reply is malformed for the second time.
    """
    return _answer(toolkit, asked, _messages(toolkit, asked, (), context))


def choose_by(toolkit: Toolkit, asked: Query, hits: Sequence[Hit]) -> Answer:
    """Choose by hits, as many as the context of the model holds; else as `choose`."""
    messages = partial(_messages, toolkit, asked)
    if not hits:
        toolkit.note(EVIDENCE, [Fact(FactKind.NOTHING_FOUND)])
        return _answer(toolkit, asked, messages(()))
    shown = toolkit.fitting(toolkit.sources(asked, hits), messages)
    return _answer(toolkit, asked, messages(shown))


def _answer(toolkit: Toolkit, asked: Query, messages: Sequence[Message]) -> Answer:
    shape = choice_among(LABELS[: len(asked.options)])
    choice = toolkit.ask(messages, shape, "choice")
    return toolkit.answer(asked, choice.label, [Claim(choice.reason, ())])


def _messages(
    toolkit: Toolkit, asked: Query, sources: Sequence[NumberedPassage], context: str = ""
) -> tuple[Message, ...]:
    return toolkit.prompt(
        "statute_choice",
        asked,
        options=labelled(asked.options),
        sources=sources,
        context=context,
        longest=LONGEST_REASON,
        tag=element("text", [full_text(asked), context, *(source.shown for source in sources)]),
    )


def _direct(case: Case, toolkit: Toolkit) -> Answer:
    """Choose by question and options alone."""
    return choose(toolkit, case.query)


DIRECT = Method(
    name="statute-direct",
    about=N_("question and options, no retrieval"),
    answer=_direct,
    source=N_("published study of lawqa_jp, way 1"),
    calls=Calls(fixed=1),
    searches=False,
)


def _gold(case: Case, toolkit: Toolkit) -> Answer:
    """Choose by the whole gold context; nothing of it is ever cut.

    Raises:
        UsageError: the question has no gold context.
    """
    if not case.context.strip():
        raise UsageError(
            N_("statute-gold reads the text that answers a question; the dataset gives none."),
            N_("Leave the question out, or use a method that searches."),
        )
    return choose(toolkit, case.query, case.context)


GOLD = Method(
    name="statute-gold",
    about=N_("the gold context given: the ceiling"),
    answer=_gold,
    source=N_("published study of lawqa_jp, way 2"),
    calls=Calls(fixed=1),
    searches=False,
    reads_context=True,
)


def _fixed(case: Case, toolkit: Toolkit) -> Answer:
    """Search by meaning for question and options, and choose by the top 5."""
    hits = toolkit.search(case.query, _HITS, words=False, meaning=True)
    return choose_by(toolkit, case.query, hits)


FIXED = Method(
    name="statute-fixed",
    about=N_("fixed-policy query from question and options, dense search, top 5"),
    answer=_fixed,
    source=N_("published study of lawqa_jp, way 3"),
    calls=Calls(fixed=1),
)


def _gepa(case: Case, toolkit: Toolkit) -> Answer:
    """Write a query, search by meaning, and choose by the top 5."""
    query = write_query(toolkit, case.query)
    hits = toolkit.search(
        replace(case.query, text=query, options=()), _HITS, words=False, meaning=True
    )
    return choose_by(toolkit, case.query, hits)


GEPA = Method(
    name="statute-gepa",
    about=N_("query written by the model under a GEPA-optimised prompt, dense search, top 5"),
    answer=_gepa,
    source=N_("published study of lawqa_jp, way 4"),
    calls=Calls(fixed=2),
    writes_queries=True,
)

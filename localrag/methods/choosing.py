"""Step `choose`: a model chooses an option, by what it is shown."""

from collections.abc import Sequence
from functools import partial

from localrag.methods.choices import LABELS, LONGEST_REASON, choice_among, labelled
from localrag.methods.toolkit import EVIDENCE, Toolkit
from localrag.reading.evidence import Source, element
from localrag.reading.model import Answer, Claim
from localrag.retrieval.model import Hit, Query
from localrag.retrieval.query import full_text
from localrag_models.chat import Message

NOTHING_FOUND = "nothing was found: the model was shown no source"


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
        toolkit.note(EVIDENCE, [NOTHING_FOUND])
        return _answer(toolkit, asked, messages(()))
    shown = toolkit.fitting(toolkit.sources(asked, hits), messages)
    return _answer(toolkit, asked, messages(shown))


def _answer(toolkit: Toolkit, asked: Query, messages: Sequence[Message]) -> Answer:
    shape = choice_among(LABELS[: len(asked.options)])
    choice = toolkit.ask(messages, shape, "choice")
    return toolkit.answer(asked, choice.label, [Claim(choice.reason, ())])


def _messages(
    toolkit: Toolkit, asked: Query, sources: Sequence[Source], context: str = ""
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

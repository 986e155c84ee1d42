"""Step `verdict`: a model judges one option by the evidence found for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, Field

from localrag.methods.choices import LONGEST_REASON
from localrag.methods.choosing import NOTHING_FOUND
from localrag.methods.toolkit import EVIDENCE, Toolkit
from localrag.reading.evidence import Source, element
from localrag.retrieval.model import Hit, Query
from localrag_models.chat import Message


class Verdict(StrEnum):
    """Whether an option answers the question, by the words of the study."""

    RIGHT = "正しい"
    LIKELY = "正解候補"
    UNLIKELY = "正解ではない"
    WRONG = "誤り"


class _Reply(BaseModel):
    # The reason comes first: the verdict is then written with it in view.
    reason: Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)]
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Judged:
    """An option with what was found about it."""

    label: str
    option: str
    verdict: Verdict
    reason: str


def judge(toolkit: Toolkit, asked: Query, label: str, option: str, hits: Sequence[Hit]) -> Judged:
    """Judge an option by hits, as many as the context of the model holds.

    Raises:
        ModelUnusable: the context of the model does not hold the prompt, the model failed, or its
            reply is malformed for the second time.
    """

    def messages(sources: Sequence[Source]) -> tuple[Message, ...]:
        texts = [asked.text, option, *(source.shown for source in sources)]
        return toolkit.prompt(
            "statute_verdict",
            asked,
            label=label,
            option=option,
            sources=sources,
            longest=LONGEST_REASON,
            tag=element("text", texts),
        )

    subject = f"option {label}"
    shown: Sequence[Source] = ()
    if hits:
        about = Query(asked.text, (option,))
        shown = toolkit.fitting(toolkit.sources(about, hits), messages, subject=subject)
    else:
        toolkit.note(EVIDENCE, [NOTHING_FOUND], subject=subject)
    reply = toolkit.ask(messages(shown), _Reply, f"verdict {label}")
    return Judged(label, option, reply.verdict, reply.reason)

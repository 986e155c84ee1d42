"""The generative reader: a model writes claims, each bound to quotations that code has checked.

An answer takes three steps. `prepare` and `check` read the corpus; `write`, which takes nearly all
of the time, needs the model alone, so several may run at once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from time import perf_counter
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, create_model
from pydantic_core import from_json

from localrag.config import ChatConfig
from localrag.corpus.store import CorpusStore
from localrag.errors import ModelUnusable
from localrag.inference.failures import named
from localrag.prompts import language_of, prompt
from localrag.reading.evidence import Source, element, fitting, sources_of
from localrag.reading.model import Answer, Citation, Claim, Status
from localrag.reading.verifier import located, verify
from localrag.reading.watching import UNWATCHED, Watch
from localrag.retrieval.model import ModelCall, Query, Retrieval, StageRecord, Trace
from localrag.retrieval.pipeline import Retriever
from localrag_models.chat import ChatModel, ChatRequest, Message, ignore
from localrag_models.errors import ContextExceeded
from localrag_models.structured import generate

EVIDENCE = "evidence"
"""The stage that chooses what the model is shown."""

# A quote must be long enough to say something, and short enough to be read.
_SHORTEST_QUOTE, _LONGEST_QUOTE = 6, 500
_LONGEST_CLAIM = 500
_MOST_CLAIMS, _MOST_CITATIONS = 6, 3


class Reply(BaseModel):
    """What a model writes; its claims are of the shape that `_reply_shape` makes."""

    status: Literal["answered", "not_found"]
    claims: list[Any]


@dataclass(frozen=True, slots=True)
class Task:
    """What a model is asked to do.

    Attributes:
        request: prompt and settings.
        sources: what it may cite.
        trace: how they were found.
    """

    request: ChatRequest
    sources: Sequence[Source]
    trace: Trace


def prepare(
    retriever: Retriever,
    query: Query,
    retrieval: Retrieval,
    model: ChatModel,
    settings: ChatConfig,
) -> Task | None:
    """Write the prompt for a question, with as much of the evidence as the context holds.

    Returns:
        The task; None where nothing was found that an answer could rest on.

    Raises:
        ModelUnusable: the model fails, or its context is too small for any evidence.
    """
    missing = retrieval.missing and not retrieval.named
    if missing or not retrieval.hits:
        return None
    since = perf_counter()
    limit = model.context - settings.max_tokens
    found = sources_of(retriever, query, retrieval.hits)
    with named():
        sources, events = fitting(found, lambda some: model.count(_messages(some, query)) <= limit)
        if not sources:
            needed = model.count(_messages(found[:1], query)) + settings.max_tokens
            raise ContextExceeded(
                f"The context of {model.id} ({model.context:,} tokens) holds not even one passage "
                f"beside a reply of {settings.max_tokens:,} tokens ({needed:,} are needed).",
                "Ask a shorter question, set chat.max_tokens lower, or use a model with a longer "
                "context (if it was trained for more: chat.context).",
                needed=needed,
                available=model.context,
            )
    record = StageRecord(
        EVIDENCE, retrieval.hits[: len(sources)], perf_counter() - since, tuple(events)
    )
    return Task(
        ChatRequest(
            messages=_messages(sources, query),
            max_tokens=settings.max_tokens,
            temperature=settings.temperature,
            seed=settings.seed,
        ),
        sources,
        replace(retrieval.trace, stages=(*retrieval.trace.stages, record)),
    )


def write(model: ChatModel, task: Task, watch: Watch = UNWATCHED) -> tuple[Reply, ModelCall]:
    """Have the model answer; the only step that takes long.

    Raises:
        Cancelled: the answer is no longer wanted.
        ModelUnusable: the model failed, or its reply was cut short or is not of the shape asked.
    """
    shape = _reply_shape(len(task.sources))
    try:
        with named():
            written, reply = generate(model, task.request, shape, _drafting(watch), watch.cancelled)
    except ModelUnusable:
        watch.require()
        raise
    usage = reply.usage
    return written, ModelCall(model.id, usage.prompt, usage.cached, usage.completion, reply.seconds)


def check(store: CorpusStore, task: Task, written: Reply, call: ModelCall) -> Answer:
    """Verify every quotation, and say how far the answer is carried by them.

    Returns:
        `supported` if every claim rests on at least one verified quotation, else `unsupported`;
        rejected quotations stay in the answer as such. `not_found`, without claims, where the
        model found no answer in the evidence.
    """
    trace = replace(task.trace, calls=(*task.trace.calls, call))
    if written.status == "not_found" or not written.claims:
        return Answer("", (), Status.NOT_FOUND, trace)
    citations: list[Citation] = []
    claims: list[Claim] = []
    for claim in written.claims:
        numbers = []
        for cited in claim.citations:
            passage = task.sources[cited.source - 1].passage
            quoted = Citation(passage.id, cited.quote, label=passage.header)
            citation = located(store, verify(store, quoted))
            if citation not in citations:
                citations.append(citation)
            numbers.append(citations.index(citation) + 1)
        claims.append(Claim(claim.text, tuple(dict.fromkeys(numbers))))
    carried = all(
        any(citations[number - 1].verified for number in claim.citations) for claim in claims
    )
    return Answer(
        text="\n".join(claim.text for claim in claims),
        citations=tuple(citations),
        status=Status.SUPPORTED if carried else Status.UNSUPPORTED,
        trace=trace,
        claims=tuple(claims),
    )


@cache
def _reply_shape(sources: int) -> type[Reply]:
    """The shape of a reply that can cite only the sources there are."""
    citation = create_model(
        "Cited",
        source=Annotated[int, Field(ge=1, le=sources)],
        quote=Annotated[str, Field(min_length=_SHORTEST_QUOTE, max_length=_LONGEST_QUOTE)],
    )
    # The quotes come first: what is claimed is then written with them in view.
    claim = create_model(
        "Claimed",
        citations=Annotated[list[citation], Field(min_length=1, max_length=_MOST_CITATIONS)],
        text=Annotated[str, Field(min_length=1, max_length=_LONGEST_CLAIM)],
    )
    return create_model(
        "Reply",
        __base__=Reply,
        claims=Annotated[list[claim], Field(max_length=_MOST_CLAIMS)],
    )


def _messages(sources: Sequence[Source], query: Query) -> tuple[Message, ...]:
    return prompt(
        "answer",
        language_of(query.text),
        question=query.text,
        options=query.options,
        sources=sources,
        tag=element("source", [source.shown for source in sources]),
    )


def _drafting(watch: Watch) -> Callable[[str], None]:
    """A listener to the pieces of a reply that tells the claims as far as they can be read."""
    if watch is UNWATCHED:
        return ignore
    text = ""
    told: list[str] = []

    def listen(piece: str) -> None:
        nonlocal text, told
        watch.wrote(piece)
        text += piece
        reply = from_json(text, allow_partial="trailing-strings")
        claims = [claim["text"] for claim in reply.get("claims", []) if "text" in claim]
        if claims != told:
            told = claims
            watch.draft(claims)

    return listen

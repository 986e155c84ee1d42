"""The published study of lawqa_jp: six ways in which a model chooses an option of a legal question.

1. `statute-direct`: from question and options alone. Retrieval has to beat it.
2. `statute-gold`: from the texts known to answer. It is the ceiling of retrieval.
3. `statute-fixed`: from the five provisions nearest in meaning to question and options.
4. `statute-gepa`: from the five nearest to a query that a model writes. GEPA has optimised its
   prompt. Without one in the settings, the built-in prompt is used, with an event.
5. `statute-options`: option by option.

   - *Query* for each option, by a model.
   - *Search*, by words or by meaning as the query suggests, and again in the named laws.
   - *Verdict* of the model on each option.
   - *Knock-out* of the options in pairs, by their verdicts and reasons.
6. `statute-options-gepa`: the fifth way with the prompt of the fourth. The study left it open.

No answer here has a quotation, so all are unsupported.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field

from localrag.answer.evidence import NumberedPassage, element
from localrag.answer.prompts import language_of
from localrag.answer.types import Answer, Claim
from localrag.errors import UsageError
from localrag.language import N_
from localrag.law.citations import LawKind, find_citations
from localrag.methods.catalogue import (
    LABELS,
    LONGEST_REASON,
    Calls,
    Case,
    choice_among,
    labelled,
    register,
)
from localrag.methods.extractive import EVIDENCE
from localrag.methods.searches import built_in, instruction, write_query
from localrag.methods.toolkit import Toolkit
from localrag.search.query import full_text
from localrag.search.types import Hit, Query
from localrag.text.facts import Fact, FactKind
from localrag_models.chat import Message

_HITS = 5
"""Provisions that ways 3 and 4 choose from."""

K, RERANKED = 5, 10
"""Hits of each search of way 5, and those that are left after reranking."""

SECOND_SEARCH = "second search"

# A query and a verdict for each option; one match fewer than there are options.
_OPTION_CALLS = Calls(fixed=-1, per_option=3)

_INTERPRETATION = re.compile(
    r"解釈|趣旨|意義|意味|定義|とは(?=[、,。?？\s何]|$)"
    r"|\b(?:interpret|meaning|purpose|defin)",
    re.IGNORECASE,
)


# Ways 1 to 4.


@register(
    "statute-direct",
    N_("question and options, no retrieval"),
    source=N_("published study of lawqa_jp, way 1"),
    calls=Calls(fixed=1),
    searches=False,
    chooses=True,
)
def choose(case: Case, toolkit: Toolkit) -> Answer:
    """Choose by what the model knows."""
    return _chosen(toolkit, case.query, _messages(toolkit, case.query, ()))


@register(
    "statute-gold",
    N_("the gold context given: the ceiling"),
    source=N_("published study of lawqa_jp, way 2"),
    calls=Calls(fixed=1),
    searches=False,
    reads_context=True,
    chooses=True,
)
def choose_by_context(case: Case, toolkit: Toolkit) -> Answer:
    """Choose by the whole gold context; raises as `choose`. Raises `UsageError`."""
    if not case.context.strip():
        raise UsageError(
            N_("statute-gold reads the text that answers a question; the dataset gives none."),
            N_("Leave the question out, or use a method that searches."),
        )
    return _chosen(toolkit, case.query, _messages(toolkit, case.query, (), case.context))


@register(
    "statute-gepa",
    N_("query written by the model under a GEPA-optimised prompt, dense search, top 5"),
    source=N_("published study of lawqa_jp, way 4"),
    calls=Calls(fixed=2),
    writes_queries=True,
    chooses=True,
    written=True,
)
@register(
    "statute-fixed",
    N_("fixed-policy query from question and options, dense search, top 5"),
    source=N_("published study of lawqa_jp, way 3"),
    calls=Calls(fixed=1),
    chooses=True,
)
def choose_by_hits(case: Case, toolkit: Toolkit, *, written: bool = False) -> Answer:
    """Search by meaning, and choose by the hits fitting the context; raises as `choose`."""
    asked, wanted = case.query, case.query
    if written:
        wanted = replace(asked, text=write_query(toolkit, asked), options=())
    hits = toolkit.search(wanted, _HITS, words=False, meaning=True)
    messages = partial(_messages, toolkit, asked)
    if not hits:
        toolkit.note(EVIDENCE, [Fact(FactKind.NOTHING_FOUND)])
        return _chosen(toolkit, asked, messages(()))
    shown = toolkit.fitting(toolkit.sources(asked, hits), messages)
    return _chosen(toolkit, asked, messages(shown))


def _chosen(toolkit: Toolkit, asked: Query, messages: Sequence[Message]) -> Answer:
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


# Ways 5 and 6.


@register(
    "statute-options-gepa",
    N_("statute-options with its queries written under a GEPA-optimised prompt"),
    calls=_OPTION_CALLS,
    writes_queries=True,
    chooses=True,
    optimised=True,
)
@register(
    "statute-options",
    N_("evidence and a verdict for each option, routed search, a knock-out decides"),
    source=N_("published study of lawqa_jp, way 5"),
    calls=_OPTION_CALLS,
    chooses=True,
)
def by_options(case: Case, toolkit: Toolkit, *, optimised: bool = False) -> Answer:
    """Query, search and judge for each option; the winner of the knock-out is the answer.

    Each step serves all options before the next: their prompts begin alike, so a model reads the
    beginning once.
    """
    asked, options = case.query, labelled(case.query.options)
    instruct = (
        instruction(toolkit, asked, per_option=True)
        if optimised
        else built_in(language_of(asked.text), per_option=True)
    )
    queries = {label: write_query(toolkit, asked, instruct, label) for label, _ in options}
    evidence = {label: _evidence(toolkit, asked, label, queries[label]) for label in queries}
    judged = [judge(toolkit, asked, label, option, evidence[label]) for label, option in options]
    winner = knock_out(judged, partial(by_verdicts, toolkit, asked))
    claims = [Claim(f"{one.label} {one.verdict}: {one.reason}", ()) for one in judged]
    return toolkit.answer(asked, winner.label, claims)


def _evidence(toolkit: Toolkit, asked: Query, label: str, query: str) -> tuple[Hit, ...]:
    wanted = replace(asked, text=query, options=())
    subject = f"option {label}"
    hits = search(toolkit, wanted, K, subject=subject)
    return toolkit.rerank(wanted, hits, RERANKED, subject=subject)


class Route(NamedTuple):
    """Whether to search by words (BM25), by meaning (dense), or by both."""

    words: bool
    meaning: bool


def route(query: str) -> Route:
    """By words if an article is named, by meaning if interpretation is asked for, else both."""
    if any(citation.locator.article for citation in find_citations(query)):
        return Route(words=True, meaning=False)
    if _INTERPRETATION.search(query):
        return Route(words=False, meaning=True)
    return Route(words=True, meaning=True)


def search(toolkit: Toolkit, asked: Query, k: int, *, subject: str = "") -> tuple[Hit, ...]:
    """Search as `route` says, and again in each law of the query without a hit.

    Returns the hits of all searches by their ranks, each once; at most `k` of each search.
    """
    words, meaning = route(asked.text)
    searches = [toolkit.search(asked, k, words=words, meaning=meaning, subject=subject)]
    hit = {one.passage.document_id for one in searches[0]}
    admitted = asked.filters.documents
    for law_id in toolkit.laws_named(asked.text):
        if law_id not in hit and (not admitted or law_id in admitted):
            inside = replace(asked, filters=replace(asked.filters, documents=(law_id,)))
            again = f"{subject} in {law_id}".strip()
            searches.append(toolkit.search(inside, k, words=words, meaning=meaning, subject=again))
    unknown = _unknown_laws(toolkit, asked.text)
    if unknown:
        toolkit.note(SECOND_SEARCH, unknown, subject=subject)
    return merged(one for hits in searches for one in hits)


def merged(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Hits of several searches by their ranks, each passage once; ranks start at 1."""
    best: dict[str, Hit] = {}
    for hit in sorted(hits, key=lambda hit: hit.rank):
        best.setdefault(hit.passage.id, hit)
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(best.values(), 1))


def _unknown_laws(toolkit: Toolkit, query: str) -> list[Fact]:
    """An event for each absent law with a cited article."""
    events: dict[Fact, None] = {}
    read = 0
    for citation in find_citations(query):
        named = citation.law.kind is LawKind.NAMED and citation.continues < 0
        if named and not _known(toolkit, query, read, citation.law.end):
            events[Fact(FactKind.QUERY_LAW_LACKING, citation=citation.text)] = None
        read = citation.end
    return list(events)


def _known(toolkit: Toolkit, query: str, read: int, end: int) -> bool:
    """Whether a name of a law of the corpus ends between two places of a query.

    The spelling does not show where a long name begins. Some titles cite provisions: such a name
    begins before `read`.
    """
    if toolkit.laws_named(query[read:end]):
        return True
    return not set(toolkit.laws_named(query[:end])) <= set(toolkit.laws_named(query[:read]))


class OptionVerdict(StrEnum):
    """Whether an option answers the question, in the words of the study."""

    RIGHT = "正しい"
    LIKELY = "正解候補"
    UNLIKELY = "正解ではない"
    WRONG = "誤り"


class _VerdictReply(BaseModel):
    # The reason comes first: the verdict follows from it.
    reason: Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)]
    verdict: OptionVerdict


@dataclass(frozen=True, slots=True)
class JudgedOption:
    """An option and the verdict on it."""

    label: str
    option: str
    verdict: OptionVerdict
    reason: str


def judge(
    toolkit: Toolkit, asked: Query, label: str, option: str, hits: Sequence[Hit]
) -> JudgedOption:
    """Judge an option by the hits fitting the context; raises as `choose`."""

    def messages(sources: Sequence[NumberedPassage]) -> tuple[Message, ...]:
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
    shown: Sequence[NumberedPassage] = ()
    if hits:
        about = Query(asked.text, (option,))
        shown = toolkit.fitting(toolkit.sources(about, hits), messages, subject=subject)
    else:
        toolkit.note(EVIDENCE, [Fact(FactKind.NOTHING_FOUND)], subject=subject)
    reply = toolkit.ask(messages(shown), _VerdictReply, f"verdict {label}")
    return JudgedOption(label, option, reply.verdict, reply.reason)


def knock_out(
    entrants: Sequence[JudgedOption], decide: Callable[[JudgedOption, JudgedOption], JudgedOption]
) -> JudgedOption:
    """The winner: a–b, c–d, then the winners. The last of an odd number gets a bye.

    `decide` gives the winner of two. It is called once less than there are entrants.
    """
    left = list(entrants)
    while len(left) > 1:
        bye = left[-1:] if len(left) % 2 else []
        pairs = zip(left[::2], left[1::2], strict=False)
        left = [decide(one, other) for one, other in pairs] + bye
    return left[0]


def by_verdicts(
    toolkit: Toolkit, asked: Query, one: JudgedOption, other: JudgedOption
) -> JudgedOption:
    """Have the model decide between two options by their verdicts; raises as `choose`."""
    pair = {one.label: one, other.label: other}
    texts = [asked.text, *(text for side in pair.values() for text in (side.option, side.reason))]
    messages = toolkit.prompt(
        "statute_knockout",
        asked,
        pair=(one, other),
        longest=LONGEST_REASON,
        tag=element("text", texts),
    )
    labels = "".join(pair)
    choice = toolkit.ask(messages, choice_among(labels), f"knock-out {'-'.join(labels)}")
    return pair[choice.label]

"""The four ways of the study in which a model chooses an option by what it is shown.

- `statute-direct`: nothing; what retrieval has to beat.
- `statute-gold`: the texts known to answer; the ceiling of retrieval.
- `statute-fixed`: what is found for question and options.
- `statute-gepa`: what is found for a query that a model writes, under a prompt that GEPA has
  optimised. Where the settings name none, the built-in one stands in, and an event says so.

None of them quotes anything, so their answers are unsupported.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field

from localrag.errors import UsageError
from localrag.facts import Fact, FactKind
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
from localrag.methods.searches import built_in, instruction, write_query
from localrag.methods.toolkit import Toolkit
from localrag.prompts import language_of
from localrag.reading.evidence import NumberedPassage, element
from localrag.reading.types import Answer, Claim
from localrag.retrieval.query import full_text
from localrag.retrieval.types import Hit, Query
from localrag.statutes.citations import LawKind, find_citations
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


# HEAD """`statute-options`: evidence and a verdict for each option, then a knock-out.
#
# 1. **Query** for each option, by a model. `statute-options-gepa`, the combination that the study
#    left open, has it written under an optimised prompt; where the settings name none, the built-in
#    one stands in, and an event says so.
# 2. **Search**, by words or by meaning as the query tells, and again in the laws that it names.
# 3. **Verdict** of the model on each option, by what was found for it.
# 4. **Knock-out** of the options in pairs, by their verdicts and reasons.
#
# It quotes nothing, so its answers are unsupported; a claim for each option says its verdict and the
# reason.
# """
#
SECOND_SEARCH = "second search"

_INTERPRETATION = re.compile(
    r"解釈|趣旨|意義|意味|定義|とは(?=[、,。?？\s何]|$)"
    r"|\b(?:interpret|meaning|purpose|defin)",
    re.IGNORECASE,
)


class Route(NamedTuple):
    """How to search: by words (BM25), by meaning (dense), or by both, fused by rank."""

    words: bool
    meaning: bool


def route(query: str) -> Route:
    """By words where an article is named, by meaning where interpretation is asked for, else both.

    A query that does both is searched by words: the number is the surer sign.
    """
    if any(citation.locator.article for citation in find_citations(query)):
        return Route(words=True, meaning=False)
    if _INTERPRETATION.search(query):
        return Route(words=False, meaning=True)
    return Route(words=True, meaning=True)


def search(toolkit: Toolkit, asked: Query, k: int, *, subject: str = "") -> tuple[Hit, ...]:
    """Search as `route` says, and once more in each law that the query names and no hit is of.

    Returns:
        The hits of all searches without duplicates, by their ranks; at most `k` of each.
    """
    words, meaning = route(asked.text)
    searches = [toolkit.search(asked, k, words=words, meaning=meaning, subject=subject)]
    hit = {one.passage.document_id for one in searches[0]}
    for law_id in _admitted(asked, toolkit.laws_named(asked.text)):
        if law_id not in hit:
            inside = replace(asked, filters=replace(asked.filters, documents=(law_id,)))
            again = f"{subject} in {law_id}".strip()
            searches.append(toolkit.search(inside, k, words=words, meaning=meaning, subject=again))
    unknown = _unknown_laws(toolkit, asked.text)
    if unknown:
        toolkit.note(SECOND_SEARCH, unknown, subject=subject)
    return merged(one for hits in searches for one in hits)


def merged(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Hits of several searches by their ranks, each passage once, ranked anew from 1."""
    best: dict[str, Hit] = {}
    for hit in sorted(hits, key=lambda hit: hit.rank):
        best.setdefault(hit.passage.id, hit)
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(best.values(), 1))


def _admitted(asked: Query, law_ids: Iterable[str]) -> list[str]:
    documents = asked.filters.documents
    return [law_id for law_id in law_ids if not documents or law_id in documents]


def _unknown_laws(toolkit: Toolkit, query: str) -> list[Fact]:
    """An event for each law that the query cites an article of and the corpus lacks."""
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

    Where a long name begins cannot be told from its spelling. Some titles cite provisions: their
    name begins before `read` and is there in full only at `end`.
    """
    if toolkit.laws_named(query[read:end]):
        return True
    return not set(toolkit.laws_named(query[:end])) <= set(toolkit.laws_named(query[:read]))


class OptionVerdict(StrEnum):
    """Whether an option answers the question, by the words of the study."""

    RIGHT = "正しい"
    LIKELY = "正解候補"
    UNLIKELY = "正解ではない"
    WRONG = "誤り"


class _VerdictReply(BaseModel):
    # The reason comes first: the verdict is then written with it in view.
    reason: Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)]
    verdict: OptionVerdict


@dataclass(frozen=True, slots=True)
class JudgedOption:
    """An option with what was found about it."""

    label: str
    option: str
    verdict: OptionVerdict
    reason: str


def judge(
    toolkit: Toolkit, asked: Query, label: str, option: str, hits: Sequence[Hit]
) -> JudgedOption:
    """Judge an option by hits, as many as the context of the model holds.

    Raises:
        ModelUnusable: the context of the model does not hold the prompt, the model failed, or its
            reply is malformed for the second time.
    """

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
    """The one that is left: a–b, c–d, then the winners; the last of an odd number gets a bye.

    Args:
        entrants: at least one.
        decide: the winner of two; called once less than there are entrants.
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
    """Have the model decide between two options by the verdicts on them and their reasons.

    Raises:
        ModelUnusable: the context of the model does not hold the prompt, the model failed, or its
            reply is malformed for the second time.
    """
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


K = 5
RERANKED = 10

CALLS = Calls(fixed=-1, per_option=3)
"""For each option a query and a verdict, and a match less than there are options."""


def _options(case: Case, toolkit: Toolkit) -> Answer:
    """Answer option by option, under the built-in prompt for queries."""
    instruct = built_in(language_of(case.query.text), per_option=True)
    return by_options(toolkit, case.query, instruct)


def by_options(toolkit: Toolkit, asked: Query, instruct: str) -> Answer:
    """Query, search and judge for each option; the winner of the knock-out is the answer.

    Each step is done for all options before the next: their prompts begin alike, and what a model
    has read of one it need not read again for the next.

    Args:
        toolkit: of the question.
        asked: the question.
        instruct: the instruction under which the queries are written.
    """
    options = labelled(asked.options)
    queries = {label: write_query(toolkit, asked, instruct, label) for label, _ in options}
    evidence = {label: _evidence(toolkit, asked, label, queries[label]) for label in queries}
    judged = [judge(toolkit, asked, label, option, evidence[label]) for label, option in options]
    winner = knock_out(judged, partial(by_verdicts, toolkit, asked))
    claims = [Claim(f"{one.label} {one.verdict}: {one.reason}", ()) for one in judged]
    return toolkit.answer(asked, winner.label, claims)


def _evidence(toolkit: Toolkit, asked: Query, label: str, query: str) -> tuple[Hit, ...]:
    """Search, once more in laws named but not hit, merge, drop duplicates, re-rank to 10."""
    wanted = replace(asked, text=query, options=())
    subject = f"option {label}"
    hits = search(toolkit, wanted, K, subject=subject)
    return toolkit.rerank(wanted, hits, RERANKED, subject=subject)


OPTIONS = Method(
    name="statute-options",
    about=N_("evidence and a verdict for each option, routed search, a knock-out decides"),
    answer=_options,
    source=N_("published study of lawqa_jp, way 5"),
    calls=CALLS,
)


def _options_gepa(case: Case, toolkit: Toolkit) -> Answer:
    """Answer option by option, under the optimised prompt for queries."""
    return by_options(toolkit, case.query, instruction(toolkit, case.query, per_option=True))


OPTIONS_GEPA = Method(
    name="statute-options-gepa",
    about=N_("statute-options with its queries written under a GEPA-optimised prompt"),
    answer=_options_gepa,
    calls=CALLS,
    writes_queries=True,
)

"""`statute-options`: evidence and a verdict for each option, then a knock-out.

It quotes nothing, so its answers are unsupported; a claim for each option says its verdict and the
reason.
"""

from dataclasses import replace
from functools import partial

from localrag.methods.choices import labelled
from localrag.methods.judging import judge
from localrag.methods.knockout import by_verdicts, knock_out
from localrag.methods.model import Calls, Case, Method
from localrag.methods.querying import built_in, write_query
from localrag.methods.routing import search
from localrag.methods.toolkit import Toolkit
from localrag.prompts import language_of
from localrag.reading.model import Answer, Claim
from localrag.retrieval.model import Hit, Query

K = 5
RERANKED = 10

CALLS = Calls(fixed=-1, per_option=3)
"""For each option a query and a verdict, and a match less than there are options."""


def answer(case: Case, toolkit: Toolkit) -> Answer:
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


METHOD = Method(
    name="statute-options",
    about="evidence and a verdict for each option, routed search, a knock-out decides",
    answer=answer,
    source="published study of lawqa_jp, way 5",
    calls=CALLS,
)

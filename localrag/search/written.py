"""A question read behind others, and several searches for one: the sum of what they find.

A question in everyday words shares few of them with the provision that answers it. What a model
writes for it does, where the model knows the law. Where it does not, little is lost: what the
question itself finds counts as much as the likeliest search.

Whether a question leans on those before it (その罰則は) no rule tells well: of twenty that nobody
had looked at, rules for every way to lean answered nine, the questions one after the other ten. So
one that names no law is read behind those before it, and searched for by itself too: with the laws
and captions that they name where it goes on about them, alone where it does not. What is formal is
left to the resolver: 第5項 after 会社法第362条第4項.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from localrag.law.names import LawNames
from localrag.law.notation import caption_of
from localrag.law.typed import written_out
from localrag.search.pipeline import Retriever
from localrag.search.question.laws import laws_named, without_names
from localrag.search.reading import Retrieval
from localrag.search.types import (
    Hit,
    Query,
    StageListener,
    StageRecord,
    Trace,
    WrittenSearch,
)
from localrag.search.units import article_unit
from localrag.text.progress import ignore
from localrag_indexes.fusion import convex_combination

STAGE = "written"
"""The stage that sums what the searches found."""

_MOST_BEFORE = 3
# A longer question says by itself what it is about.
_LONGEST = 300
# Of a longer question before only the end is read: there it asks.
_LONGEST_BEFORE = 400

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+")
_SENTENCE_END = re.compile(r"[。．？！?!]|\.\s")
# では, の場合は: all that is left of 民法では where a law alone is named.
_NOTHING_ASKED = re.compile(r"[ぁ-ゖ\s、。？?]{0,6}(?:場合)?[ぁ-ゖ\s、。？?]{0,4}")

# Hits of each search, among which the law that the model expects is looked for.
_DEPTH = 30
# What a hit counts more in the law that the model expects, and in the orders under it. Of the
# questions that may be seen (scripts/bench/lawyers.py --searches), 1.2 and 2 answer as many.
_EXPECTED, _UNDER_IT = 1.5, 1.2
# What a search counts less than the likelier one before it, and the last question by itself less
# than with those before it. What cites provisions counts more than all that is written of it.
_LESS, _ALONE, _CITING = 0.5, 0.5, 3.0
# A hit for a question alone with this share of its best score makes it one on the law before. Of
# the follow-ups that may be seen, .3 and .7 answer as many.
_OF_THE_LAW = 0.5


class Rewritten(NamedTuple):
    """A question as it is to be understood after those asked before it.

    Attributes:
        text: the question, its short citations written out, behind those it is read with.
        last: the question alone, if the text begins with others; else empty.
    """

    text: str
    last: str = ""


def rewritten(question: str, history: Sequence[str], names: LawNames) -> Rewritten:
    """Read a question behind those before it, without a model; never fails.

    Args:
        question: as asked.
        history: the questions asked before it in the conversation, oldest first, as asked or as
            they were read.
        names: the laws of the corpus.
    """
    text = written_out(question, names)
    if not history or _stands_alone(text, names):
        return Rewritten(text)
    before: list[str] = []
    for earlier in reversed(history[-_MOST_BEFORE:]):
        alone = written_out(plain_end(earlier), names)
        # What was read behind others has them in it.
        if any(map(str.isalnum, alone)) and not any(alone in later for later in before):
            before.insert(0, alone)
        if laws_named(alone, names):
            break
    last = _as_line(text)
    return Rewritten(" ".join([*before, last]), last) if before else Rewritten(text)


def plain_end(earlier: str) -> str:
    """What is read of an earlier question: one line, of a long one its last sentences."""
    text = _as_line(earlier)
    if len(text) <= _LONGEST_BEFORE:
        return text
    tail = text[-_LONGEST_BEFORE:]
    ends = [end.end() for end in _SENTENCE_END.finditer(tail) if end.end() < len(tail)]
    return tail[ends[0] :].strip() if ends else tail


def _stands_alone(question: str, names: LawNames) -> bool:
    """Whether a question is long, or names a law and asks something of it."""
    if len(question) > _LONGEST:
        return True
    laws = laws_named(question, names)
    return bool(laws) and _NOTHING_ASKED.fullmatch(without_names(question, laws)) is None


def _as_line(text: str) -> str:
    return _BLANKS.sub(" ", text).strip()


def search_written(
    retriever: Retriever,
    asked: Query,
    written: Sequence[WrittenSearch],
    k: int | None = None,
    on_stage: StageListener = ignore,
) -> Retrieval:
    """Search for a question, for its last one alone, and for what a model wrote of it.

    Args:
        retriever: of the corpus; used by one thread at a time.
        asked: the question.
        written: the searches, the likeliest first.
        k: how many hits to give back; as the settings say by default.
        on_stage: told what each stage did, as soon as it has ended.

    Returns:
        What is known of the question itself, with the hits of all searches, by the sum of their
        relative scores. Where the question names a law that the corpus lacks, its own hits alone.

    Raises:
        UsageError: the question holds no word or is too long.
        IndexUnusable: the index turned out to be damaged.
    """
    found = retriever.search(asked, k, on_stage=on_stage)
    if found.absent:
        return found
    # A law that the user names goes before the one that the model expects.
    named = " ".join(law.words for law in found.laws)
    others = [WrittenSearch(f"{named} {one.words}".strip(), one.law) for one in written]
    weights = [_CITING if found.cited else 1.0, *(_LESS**n for n in range(len(others)))]
    # What the last question cites itself it asks about, whatever its other words find.
    searched: dict[str, Retrieval] = {}
    if asked.last_start and not found.reading.resolved.cites:
        alone = retriever.search(replace(asked, text=asked.last, last=""), _DEPTH)
        searched[asked.last] = alone
        others.append(WrittenSearch(_last(retriever, asked.last, alone, found)))
        weights.append(_ALONE)
    if not others:
        return found
    most = k or retriever.k
    stages = list(found.trace.stages)

    def record(stage: StageRecord) -> None:
        stages.append(stage)
        on_stage(stage)

    each = [found]
    rankings: list[Sequence[Hit]] = [found.hits]
    for number, one in enumerate(others, 1):
        query = replace(asked, text=one.words, last="")

        def labelled(stage: StageRecord, number: int = number, text: str = query.text) -> None:
            record(replace(stage, subject=f"search {number}", query=text))

        if query.text in searched:
            retrieval = searched[query.text]
            for stage in retrieval.trace.stages:
                labelled(stage)
        else:
            retrieval = retriever.search(query, _DEPTH, on_stage=labelled)
        hits = _weighed(retrieval.hits, {} if named else _expected(retriever, one.law))
        rankings.append(hits)
        each.append(replace(retrieval, hits=hits[:most]))
    hits = _summed(rankings, weights)[:most]
    record(StageRecord(STAGE, hits, 0.0))
    return replace(found, hits=hits, trace=Trace(tuple(stages)), searches=tuple(each))


def _last(retriever: Retriever, last: str, alone: Retrieval, found: Retrieval) -> str:
    """The last question with the laws and the captions of the provisions that those before name.

    その時効は behind 民法709条 is 民法 不法行為による損害賠償 その時効は. It stays alone where its
    words lead to other laws: 有給休暇は何日か.

    Args:
        retriever: of the corpus.
        last: the last question, which names no law.
        alone: what it finds by itself.
        found: what it finds behind those before it.
    """
    named = [law_id for law in found.laws for law_id in law.law_ids]
    under = (order for law_id in named for order in retriever.orders(law_id))
    inside = frozenset((*named, *under))
    least = _OF_THE_LAW * max((hit.score for hit in alone.hits), default=0.0)
    leads = any(hit.score >= least for hit in alone.hits if hit.passage.document_id in inside)
    if not (leads or alone.reading.penalty):
        return last
    cited = retriever.store.by_ids(article_unit(one.law_id, one.locator) for one in found.cited)
    carried = [law.words for law in found.laws]
    carried += (caption_of(passage.header) for passage in cited.values())
    return " ".join(filter(None, (*dict.fromkeys(carried), last)))


def _expected(retriever: Retriever, law: str) -> dict[str, float]:
    """The weights of the documents in which a model expects the answer; none of an unknown law."""
    weights: dict[str, float] = {}
    for named in laws_named(law, retriever.names) if law else ():
        for law_id in named.law_ids:
            weights |= dict.fromkeys(retriever.orders(law_id), _UNDER_IT)
        weights |= dict.fromkeys(named.law_ids, _EXPECTED)
    return weights


def _weighed(hits: Sequence[Hit], weights: dict[str, float]) -> tuple[Hit, ...]:
    """The hits with the weights of their documents, best first."""
    scored = (
        replace(hit, score=hit.score * weights.get(hit.passage.document_id, 1.0)) for hit in hits
    )
    best = sorted(scored, key=lambda hit: -hit.score)
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(best, 1))


def _summed(rankings: Sequence[Sequence[Hit]], weights: Sequence[float]) -> tuple[Hit, ...]:
    """The hits of all rankings, each with the weighted sum of its relative scores, best first.

    What the question and a written search agree on comes before what one of them finds alone, so
    that a weak model, which writes at random, does little harm.
    """
    hits = {hit.passage.id: hit for ranking in rankings for hit in ranking}
    scores = convex_combination(
        [{hit.passage.id: hit.score for hit in ranking} for ranking in rankings],
        weights,
        [0.0] * len(rankings),
    )
    return tuple(
        replace(hits[id_], score=score, rank=rank, stage=STAGE)
        for rank, (id_, score) in enumerate(scores.items(), 1)
    )

"""Several searches for one question, and their sum: for follow-ups and for searches by a model.

A question in everyday words shares few of them with its provision. A search written by a model
shares more, if the model knows the law. If not, little is lost: the question's own hits count as
much as those of the best search.

No rule recognises follow-ups well. On twenty unseen ones, a rule for every kind answered nine, all
questions read one after the other ten. A question without a law is therefore searched twice: with
the earlier questions, and alone. It gets their laws and captions if it continues their subject.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from localrag.corpus.types import caption_of
from localrag.law.names import LawNames
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
"""The step that adds up the searches."""

_MOST_BEFORE = 3
# A longer question is complete in itself.
_LONGEST = 300
# Of a longer earlier question, only the end is read: there it asks.
_LONGEST_BEFORE = 400

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+")
_SENTENCE_END = re.compile(r"[。．？！?!]|\.\s")
# では, の場合は: the rest of a question with only a law's name (民法では).
_NOTHING_ASKED = re.compile(r"[ぁ-ゖ\s、。？?]{0,6}(?:場合)?[ぁ-ゖ\s、。？?]{0,4}")

# Hits of each search that are checked for the expected law.
_DEPTH = 30
# Weights of hits in the law expected by the model, and in its orders. On the seen questions
# (scripts/bench/lawyers.py --searches), 1.2 and 2 answer equally many.
_EXPECTED, _UNDER_IT = 1.5, 1.2
# Weight of each search relative to the one before it, of the last question alone relative to the
# one with earlier questions, and of a question with citations relative to written searches.
_LESS, _ALONE, _CITING = 0.5, 0.5, 3.0
# Share of the best score at which a hit in the earlier law marks a continued subject. On the seen
# follow-ups, .3 and .7 answer equally many.
_OF_THE_LAW = 0.5


class Rewritten(NamedTuple):
    """A question completed by earlier ones.

    Attributes:
        text: the question with short citations written out, after the questions it continues.
        last: the question alone, if `text` begins with others; else "".
    """

    text: str
    last: str = ""


def rewritten(question: str, history: Sequence[str], names: LawNames) -> Rewritten:
    """Complete a question by earlier ones, without a model; never fails.

    Args:
        question: as asked.
        history: earlier questions of the conversation, oldest first, as asked or as completed.
        names: the laws of the corpus.
    """
    text = written_out(question, names)
    if not history or _stands_alone(text, names):
        return Rewritten(text)
    before: list[str] = []
    for earlier in reversed(history[-_MOST_BEFORE:]):
        alone = written_out(plain_end(earlier), names)
        # A completed question already contains them.
        if any(map(str.isalnum, alone)) and not any(alone in later for later in before):
            before.insert(0, alone)
        if laws_named(alone, names):
            break
    last = _as_line(text)
    return Rewritten(" ".join([*before, last]), last) if before else Rewritten(text)


def plain_end(earlier: str) -> str:
    """One line of an earlier question; of a long one its last sentences."""
    text = _as_line(earlier)
    if len(text) <= _LONGEST_BEFORE:
        return text
    tail = text[-_LONGEST_BEFORE:]
    ends = [end.end() for end in _SENTENCE_END.finditer(tail) if end.end() < len(tail)]
    return tail[ends[0] :].strip() if ends else tail


def _stands_alone(question: str, names: LawNames) -> bool:
    """Whether a question is long, or names a law and asks something about it."""
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
    """Search for a question, for its last part alone, and for the searches of a model.

    Args:
        retriever: of the corpus; one thread at a time.
        asked: the question.
        written: the searches, best first.
        k: number of hits; by default as in the settings.
        on_stage: called after each step.

    Returns:
        The question's own reading with the hits of all searches, by the sum of relative scores. If
        the question names a missing law, only its own hits.

    Raises:
        UsageError: the question has no word or is too long.
        IndexUnusable: the index is damaged.
    """
    found = retriever.search(asked, k, on_stage=on_stage)
    if found.absent:
        return found
    # A law named by the user outranks the law expected by the model.
    named = " ".join(law.words for law in found.laws)
    others = [WrittenSearch(f"{named} {one.words}".strip(), one.law) for one in written]
    weights = [_CITING if found.cited else 1.0, *(_LESS**n for n in range(len(others)))]
    # Citations of the last question outrank the hits of its other words.
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
    """The last question, with the laws and captions named by earlier ones.

    その時効は after 民法709条 becomes 民法 不法行為による損害賠償 その時効は. It stays alone if its
    words lead to other laws: 有給休暇は何日か.

    Args:
        retriever: of the corpus.
        last: the last question, without a law.
        alone: its own result.
        found: its result with the earlier questions.
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
    """Weights of documents in the law expected by a model; empty for an unknown law."""
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
    """Sum the weighted relative scores of each hit over all rankings, best first.

    Agreement of question and written search outranks hits of one alone. A weak model, writing at
    random, does little harm.
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

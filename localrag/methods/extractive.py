"""`extractive`: no model; the sentences and provisions nearest to the question, word for word.

1. **Search** with all stages: resolver, words, meaning, references.
2. **Quotation** of the pieces covering most of the question, each with its stem. They are `quoted`,
   never `supported`: the reader judges them. If nothing covers enough, only the cited provisions
   are quoted.

The functions below the method serve the answers of all methods. They add provisions that change a
quoted one, quotations beside an unsupported answer, the nearest passages, and a note on old texts.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from localrag.answer.extractive import Found, nearest, quotations
from localrag.answer.types import UNWATCHED, Answer, Citation, Claim, Status, Watch, located, verify
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Passage, caption_of
from localrag.language import N_
from localrag.methods.catalogue import Case, Purpose, Resources, labelled, register
from localrag.search.pipeline import Retriever
from localrag.search.question.laws import laws_named
from localrag.search.reading import Retrieval
from localrag.search.types import (
    STATE_ASKED,
    Hit,
    Query,
    StageListener,
    StageRecord,
    TextSpan,
    Trace,
    WrittenSearch,
)
from localrag.search.units import article_unit, left, old_texts
from localrag.text.facts import Fact, FactKind
from localrag.text.progress import ignore
from localrag_indexes.fusion import convex_combination

EVIDENCE = "evidence"
"""The stage that chooses the sentences for a model."""


class PlainToolkit:
    """The means with which a method without a model answers one question.

    Every stage raises `localrag.answer.types.Cancelled` if nobody waits. `trace` has every stage
    and call of a model so far, `found` the hits of every search or reranking.
    """

    def __init__(
        self,
        resources: Resources,
        watch: Watch = UNWATCHED,
        trace: Trace = Trace(),  # noqa: B008
        asked: Query | None = None,
    ) -> None:
        """Continue after `trace`. The watch hears the passages nearest to `asked`."""
        self.trace = trace
        self.found: list[tuple[Query, tuple[Hit, ...]]] = []
        self._resources = resources
        self._watch = watch
        self._asked = asked

    def search(
        self,
        asked: Query,
        k: int | None = None,  # how many hits to return; by default as the settings say
        *,
        words: bool,
        meaning: bool,
        subject: str = "",
    ) -> tuple[Hit, ...]:
        """Search by words, by meaning or by both; `subject` names the search in the trace."""
        with self._resources.reading:
            retrieval = self._resources.retriever.rank(asked, k, words=words, meaning=meaning)
        return self._record(retrieval, asked, subject).hits

    def known(
        self, name: str, predicate: str, asked: Query, k: int, *, subject: str = ""
    ) -> tuple[Hit, ...]:
        """Search the triples by subject, in any spelling, and predicate, and by meaning."""
        with self._resources.reading:
            retrieval = self._resources.retriever.known(name, predicate, asked, k)
        return self._record(retrieval, asked, subject).hits

    def retrieve(
        self,
        asked: Query,
        k: int | None = None,
        *,
        subject: str = "",
        written: Sequence[WrittenSearch] = (),
    ) -> Retrieval:
        """Search with every stage of localrag, and with searches `written` by a model."""
        query = asked.text if subject else ""

        def record(stage: StageRecord) -> None:
            self._add(replace(stage, subject=stage.subject or subject, query=stage.query or query))

        with self._resources.reading:
            retriever = self._resources.retriever
            retrieval = search_written(retriever, asked, written, k, record)
        self._find(asked, retrieval.hits, is_of_matter=not retrieval.absent)
        return retrieval

    def rerank(
        self, asked: Query, hits: Sequence[Hit], k: int, *, subject: str = ""
    ) -> tuple[Hit, ...]:
        """Rerank hits; see `Retriever.rerank`."""
        with self._resources.reading:
            retrieval = self._resources.retriever.rerank(asked, hits, k)
        return self._record(retrieval, asked, subject).hits

    @contextmanager
    def store(self) -> Iterator[CorpusStore]:
        """The corpus, for this thread alone."""
        with self.retriever() as retriever:
            yield retriever.store

    @contextmanager
    def retriever(self) -> Iterator[Retriever]:
        """The retriever, for this thread alone."""
        with self._resources.reading:
            yield self._resources.retriever

    def quoted(self, asked: Query, retrieval: Retrieval, least: float = 0.0) -> Answer:
        """The hits nearest to the question as quotations, without a claim.

        The best quotation must answer the question with the probability `least`.
        """
        with self._resources.reading:
            found = quotations(self._resources.retriever, retrieval)
            # A cited provision is quoted even if it has few words of the question.
            enough = found.probability >= least or retrieval.cited
            citations = found.citations if enough else ()
        if found.left_out:
            left_out = Fact(FactKind.CITED_NOT_QUOTED, n=found.left_out)
            self.note(EVIDENCE, [left_out])
        # Without a hit, the search has already noted it.
        if not citations and retrieval.hits:
            with self.store() as store:
                told = left(store, asked.filters)
            if told:
                self.note(EVIDENCE, told)
        return Answer(
            text="\n".join(citation.quote for citation in citations),
            citations=citations,
            status=Status.QUOTED if citations else Status.NOT_FOUND,
            trace=self.trace,
            absent=retrieval.absent,
        )

    def note(
        self,
        stage: str,
        events: Sequence[Fact],
        hits: Sequence[Hit] = (),
        seconds: float = 0.0,
        subject: str = "",
        query: str = "",
        spans: Sequence[TextSpan] = (),
    ) -> None:
        """Record a stage that is not one of the retriever's."""
        found = tuple(hits), seconds, tuple(events)
        self._add(StageRecord(stage, *found, subject, query, spans=tuple(spans)))

    def laws_named(self, text: str) -> list[str]:
        """The ids of the laws of the corpus named in a text, in the order of their names."""
        with self._resources.reading:
            matches = self._resources.retriever.names.find_names(text)
        return list(dict.fromkeys(law_id for match in matches for law_id in match.law_ids))

    def citation(self, passage: Passage, quote: str) -> Citation:
        """The citation of a quote, checked by code; rejected if the passage does not have it."""
        with self.store() as store:
            return located(store, verify(store, Citation(passage.id, quote, label=passage.header)))

    def answer(
        self,
        asked: Query,
        label: str,
        claims: Sequence[Claim] = (),
        citations: Sequence[Citation] = (),
        doubts: Sequence[Fact] = (),
    ) -> Answer:
        """The answer for an option; `supported` with a quotation for each claim and no doubt."""
        if not citations:
            doubts = doubts or [Fact(FactKind.NOT_QUOTED)]
        carried = not doubts and all(
            any(citations[number - 1].verified for number in claim.citations) for claim in claims
        )
        return Answer(
            text=dict(labelled(asked.options))[label],
            citations=tuple(citations),
            status=Status.SUPPORTED if carried else Status.UNSUPPORTED,
            trace=self.trace,
            claims=tuple(claims),
            label=label,
            doubts=tuple(doubts),
        )

    def _record(self, retrieval: Retrieval, asked: Query, subject: str) -> Retrieval:
        for stage in retrieval.trace.stages:
            self._add(replace(stage, subject=subject, query=asked.text))
        self._find(asked, retrieval.hits)
        return retrieval

    def _find(self, asked: Query, hits: tuple[Hit, ...], *, is_of_matter: bool = True) -> None:
        self.found.append((asked, hits))
        if self._asked and is_of_matter and self._watch is not UNWATCHED:
            self._watch.near(nearest(self._asked, self.found, ()))

    def _add(self, record: StageRecord) -> None:
        self.trace = replace(self.trace, stages=(*self.trace.stages, record))
        self._watch.stage(record)
        self._watch.require()


@register(
    "extractive",
    N_("no model: the nearest sentences and provisions, word for word"),
    purpose=Purpose.USE,
)
def answer(case: Case, toolkit: PlainToolkit) -> Answer:
    """Answer one question by the steps at the head of this file."""
    return toolkit.quoted(case.query, toolkit.retrieve(case.query))


def with_quotations(answer: Answer, query: Query, resources: Resources) -> Answer:
    """An unsupported answer, with quotations found without a model.

    If the question names a law missing in the corpus, no other law is quoted.
    """
    if answer.status is not Status.UNSUPPORTED or not answer.trace.calls or answer.absent:
        return answer
    toolkit = PlainToolkit(resources)
    quoted = with_changes(toolkit.quoted(query, toolkit.retrieve(query)), resources)
    if quoted.absent:
        return answer
    told = (one for one in toolkit.trace.stages if one.stage == EVIDENCE and quoted.citations)
    trace = replace(answer.trace, stages=(*answer.trace.stages, *told))
    return replace(answer, quotations=quoted.citations, trace=trace)


def with_nearest(answer: Answer, query: Query, found: Found) -> Answer:
    """The answer with the nearest passages; none for an absent law, where another could mislead."""
    near = nearest(query, found, (*answer.citations, *answer.quotations))
    if not answer.absent:
        return replace(answer, nearest=near)
    if not near and not any(hit.beside for _query, hits in found for hit in hits):
        return answer
    *before, last = answer.trace.stages
    event = Fact(FactKind.NOTHING_NEAREST)
    stages = (*before, replace(last, events=(*last.events, event)))
    return replace(answer, trace=replace(answer.trace, stages=stages))


def with_age(answer: Answer, resources: Resources) -> Answer:
    """The answer with a note on old texts of laws; only once in a conversation."""
    shown = (*answer.citations, *answer.quotations)
    quoted = (one.passage_id.rpartition("#")[0] for one in shown if one.verified)
    with resources.reading:
        told = old_texts(resources.retriever.store, quoted)
    if not told:
        return answer
    stages = (StageRecord(STATE_ASKED, (), 0.0, tuple(told)), *answer.trace.stages)
    return replace(answer, trace=replace(answer.trace, stages=stages))


def with_changes(answer: Answer, resources: Resources) -> Answer:
    """The answer with the provisions that currently change the reading of a quoted one."""
    quoted = [one for one in answer.citations if one.verified]
    known = {one.passage_id for one in quoted}
    added: list[Citation] = []
    with resources.reading:
        store = resources.retriever.store
        for one in quoted:
            passage = store.by_id(one.passage_id)
            for by in store.changed_by(passage, (one.start, one.end)) if passage else ():
                if by.id not in known:
                    known.add(by.id)
                    cited = Citation(by.id, by.text, changes=one.label, beside=one.beside)
                    added.append(verify(store, cited))
    if not added:
        return answer
    return replace(answer, citations=(*answer.citations, *added))


# Several searches for one question, and their sum: for follow-ups, and for searches by a model.
#
# A question in everyday words shares few words with its provision. A model knowing the law writes
# a search sharing more. If it does not know the law, little is lost: the question's own hits count
# as much as the best search. A follow-up on the same subject gets the laws and captions of earlier
# questions.

WRITTEN = "written"
"""The step that adds up the searches."""

# Hits of each search checked for the expected law.
_DEPTH = 30
# Weights of hits in the law expected by the model, and in its orders. On the seen questions
# (scripts/bench/lawyers.py --searches), 1.2 and 2 answer equally many.
_EXPECTED, _UNDER_IT = 1.5, 1.2
# Weights: of each search relative to the one before it; of the last question alone; of a question
# with citations relative to written searches.
_LESS, _ALONE, _CITING = 0.5, 0.5, 3.0
# A hit in the earlier law with this share of the best score continues the subject. On the seen
# follow-ups, .3 and .7 answer equally many.
_OF_THE_LAW = 0.5


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
    record(StageRecord(WRITTEN, hits, 0.0))
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
        replace(hits[id_], score=score, rank=rank, stage=WRITTEN)
        for rank, (id_, score) in enumerate(scores.items(), 1)
    )

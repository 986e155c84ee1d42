"""`extractive`: no model; the sentences and provisions that come nearest to the question.

1. **Search.** The whole pipeline: resolver, words, meaning, references.
2. **Quotation.** The pieces of what was found that cover most of the question, each with what it
   stands under, word for word. Whether they answer the question is for the reader to judge: they
   are `quoted`, never `supported`. Where nothing covers enough of it, nothing is quoted
   but what the question cites.

This file also has what every answer gets, by any method: the provisions that change what it
quotes, quotations in the place of unsupported words of a model, the nearest passages, and a note
where the text of a law is old.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from localrag.answer.extractive import Found, nearest, quotations
from localrag.answer.types import (
    UNWATCHED,
    Answer,
    Citation,
    Claim,
    Status,
    Watch,
    located,
    verify,
)
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Passage
from localrag.language import N_
from localrag.law.applied import changed_by
from localrag.methods.catalogue import Case, Method, Resources, labelled
from localrag.search.pipeline import Retriever
from localrag.search.reading import Retrieval
from localrag.search.types import (
    STATE_ASKED,
    Hit,
    Query,
    StageRecord,
    TextSpan,
    Trace,
    WrittenSearch,
)
from localrag.search.units import left, old_texts
from localrag.search.written import search_written
from localrag.text.facts import Fact, FactKind

EVIDENCE = "evidence"
"""The stage that chooses what a model is shown."""


class PlainToolkit:
    """What a method that calls no model answers one question with.

    Every stage raises `localrag.answer.types.Cancelled` where the answer is no longer wanted.

    Attributes:
        trace: every stage and every call of a model so far.
        found: the hits of every search so far, with its query; a reranking counts as a search.
    """

    def __init__(
        self,
        resources: Resources,
        watch: Watch = UNWATCHED,
        trace: Trace = Trace(),  # noqa: B008
        asked: Query | None = None,
    ) -> None:
        """Go on after the stages and calls of `trace`.

        Args:
            resources: of the run.
            watch: follows what is done.
            trace: of what was done before.
            asked: the question; the watch hears what comes nearest to it. None for none.
        """
        self.trace = trace
        self.found: list[tuple[Query, tuple[Hit, ...]]] = []
        self._resources = resources
        self._watch = watch
        self._asked = asked

    def search(
        self,
        asked: Query,
        k: int | None = None,
        *,
        words: bool,
        meaning: bool,
        subject: str = "",
    ) -> tuple[Hit, ...]:
        """Search by words, by meaning or by both; see `Retriever.rank`.

        Args:
            asked: the query.
            k: how many hits to give back; as the settings say by default.
            words: whether to search by words.
            meaning: whether to search by meaning.
            subject: what the search is for, where a method searches several times ("option a").
        """
        with self._resources.reading:
            retrieval = self._resources.retriever.rank(asked, k, words=words, meaning=meaning)
        return self._record(retrieval, asked, subject).hits

    def known(
        self, name: str, predicate: str, asked: Query, k: int, *, subject: str = ""
    ) -> tuple[Hit, ...]:
        """Search the triples by their subject and by meaning; see `Retriever.known`.

        Args:
            name: of the subject, however it is written.
            predicate: that is asked for.
            asked: the query in words.
            k: how many hits to give back.
            subject: as for `search`.
        """
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
        """Search with every stage of localrag: resolver, words, meaning, references.

        Args:
            asked: the query.
            k: how many hits to give back; as the settings say by default.
            subject: as for `search`; "" where the question itself is searched for.
            written: searches that a model wrote for the question, which find as well.
        """
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
        """Order hits anew; see `Retriever.rerank`."""
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
        """What searches the corpus, for this thread alone."""
        with self._resources.reading:
            yield self._resources.retriever

    def quoted(self, asked: Query, retrieval: Retrieval, least: float = 0.0) -> Answer:
        """The answer of what was found that comes nearest to the question, without a claim.

        Args:
            asked: the question.
            retrieval: what was found for it.
            least: how probably the best quotation must answer the question.
        """
        with self._resources.reading:
            found = quotations(self._resources.retriever, retrieval)
            # What the question cites is quoted however little of it agrees with the rest.
            enough = found.probability >= least or retrieval.cited
            citations = found.citations if enough else ()
        if found.left_out:
            left_out = Fact(FactKind.CITED_NOT_QUOTED, n=found.left_out)
            self.note(EVIDENCE, [left_out])
        # Without a hit the search has told it.
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
        """Put a stage into the trace that is not one of the retriever's."""
        found = tuple(hits), seconds, tuple(events)
        self._add(StageRecord(stage, *found, subject, query, spans=tuple(spans)))

    def laws_named(self, text: str) -> list[str]:
        """The ids of the laws of the corpus that a text names, in the order of their names."""
        with self._resources.reading:
            matches = self._resources.retriever.names.find_names(text)
        return list(dict.fromkeys(law_id for match in matches for law_id in match.law_ids))

    def citation(self, passage: Passage, quote: str) -> Citation:
        """The citation of a quote, checked by code; rejected where the passage lacks the quote."""
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
        """The answer that chooses an option, with all that was done for it.

        It is `supported` where every claim rests on a verified quotation, there is one, and no
        doubt is left; else `unsupported`.
        """
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
        """Keep what a search found, and tell the watch what comes nearest by now."""
        self.found.append((asked, hits))
        if self._asked and is_of_matter and self._watch is not UNWATCHED:
            self._watch.near(nearest(self._asked, self.found, ()))

    def _add(self, record: StageRecord) -> None:
        self.trace = replace(self.trace, stages=(*self.trace.stages, record))
        self._watch.stage(record)
        self._watch.require()


def answer(case: Case, toolkit: PlainToolkit) -> Answer:
    """Answer one question by the steps at the head of this file."""
    return toolkit.quoted(case.query, toolkit.retrieve(case.query))


METHOD = Method(
    name="extractive",
    about=N_("no model: the sentences and provisions that come nearest, word for word"),
    answer=answer,
    chooses=False,
)


def with_quotations(answer: Answer, query: Query, resources: Resources) -> Answer:
    """An answer that a model wrote and code could not support, with what answers without a model.

    A law that the question names and the corpus lacks has no quotations in another one.
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
    """The answer with the nearest passages; none where a law that the question names is absent.

    Below the name of such a law a passage of another one could pass for an answer.
    """
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
    """The answer with a note of the laws whose text it quotes is old; once in a conversation."""
    shown = (*answer.citations, *answer.quotations)
    quoted = (one.passage_id.rpartition("#")[0] for one in shown if one.verified)
    with resources.reading:
        told = old_texts(resources.retriever.store, quoted)
    if not told:
        return answer
    stages = (StageRecord(STATE_ASKED, (), 0.0, tuple(told)), *answer.trace.stages)
    return replace(answer, trace=replace(answer.trace, stages=stages))


def with_changes(answer: Answer, resources: Resources) -> Answer:
    """The answer with the provisions that have what it quotes read otherwise for the time being."""
    quoted = [one for one in answer.citations if one.verified]
    known = {one.passage_id for one in quoted}
    added: list[Citation] = []
    with resources.reading:
        store = resources.retriever.store
        for one in quoted:
            passage = store.by_id(one.passage_id)
            for by in changed_by(store, passage, (one.start, one.end)) if passage else ():
                if by.id not in known:
                    known.add(by.id)
                    cited = Citation(by.id, by.text, changes=one.label, beside=one.beside)
                    added.append(verify(store, cited))
    if not added:
        return answer
    return replace(answer, citations=(*answer.citations, *added))

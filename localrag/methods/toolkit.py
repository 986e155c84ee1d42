"""What a method answers a question with; everything it does with it is in the trace."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, NoReturn

from localrag.config import ChatConfig
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Passage
from localrag.facts import Fact, FactKind
from localrag.inference.opening import named
from localrag.language import N_
from localrag.methods.choices import labelled
from localrag.methods.types import Resources
from localrag.prepare.layers import MK_SUMMARIES
from localrag.prepare.texts import FoundText, LayerText, source_of
from localrag.prompts import OptimisedPrompt, language_of, prompt
from localrag.reading.asking import Shape, ask
from localrag.reading.evidence import (
    LONGEST,
    ChosenSentences,
    NumberedPassage,
    Sentence,
    fitting,
    sentences_in_full,
    sentences_that_may_answer,
    sources_of,
)
from localrag.reading.extractive import nearest, quotations
from localrag.reading.support import answers
from localrag.reading.types import Answer, Citation, Claim, Status
from localrag.reading.verifier import located, verify
from localrag.reading.watching import UNWATCHED, Cancelled, Watch
from localrag.retrieval.pipeline import Retriever
from localrag.retrieval.query import check, full_text
from localrag.retrieval.reading import Retrieval
from localrag.retrieval.types import (
    Hit,
    ModelCall,
    Query,
    StageRecord,
    TextSpan,
    Trace,
    WrittenSearch,
)
from localrag.retrieval.units import left
from localrag.retrieval.written import search_written
from localrag_models.chat import Message
from localrag_models.errors import ContextExceeded

if TYPE_CHECKING:
    from localrag.prepare.summaries import Summary

EVIDENCE = "evidence"
"""The stage that chooses what a model is shown."""

# Characters of a passage below which it says too little.
_SHORTEST_SHARE = 200


class Toolkit:
    """What a method answers one question with.

    Every stage and call raises `localrag.reading.watching.Cancelled` where the answer is no longer
    wanted.

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

    @property
    def query_prompt(self) -> OptimisedPrompt | None:
        """The optimised prompt that writes queries; None for the built-in one."""
        return self._resources.query_prompt

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

    @property
    def layers_have_vectors(self) -> bool:
        """Whether the layers of the corpus can be searched by meaning."""
        with self._resources.reading:
            return self._resources.layers.has_vectors

    def search_layer(
        self,
        layer: str,
        asked: Query,
        k: int,
        *,
        word: str = "",
        words: bool = False,
        subject: str = "",
    ) -> list[FoundText]:
        """Search a derived layer by meaning; where it has no vectors, by words.

        Args:
            layer: its name.
            asked: the query.
            k: how many texts to give back.
            word: which word a prepared question asks with; empty for any.
            words: search by words instead.
            subject: as for `search`.

        Raises:
            UsageError: the layer is not prepared.
        """
        since = perf_counter()
        check(asked)
        with self._resources.reading:
            layers, store = self._resources.layers, self._resources.retriever.store
            layers.require(layer)
            stands_in = not (words or layers.has_vectors)
            search = layers.by_words if words or stands_in else layers.nearest
            found = search(store, full_text(asked), k, layer, asked.filters, word)
            if layers.is_behind:
                found = [one for one in found if source_of(store, one.found)]
            passages = store.by_ids(dict.fromkeys(one.found.passage for one in found))
        hits = [
            Hit(passages[one.found.passage], one.score, rank, layer)
            for rank, one in enumerate(found, 1)
        ]
        self._find(asked, tuple(hits))
        events = [Fact(FactKind.WORDS_FOR_MEANING)] if stands_in else []
        if layers.is_behind:
            events.append(Fact(FactKind.LAYERS_BEHIND))
        self.note(layer, events, hits, perf_counter() - since, subject, asked.text)
        return found

    def summaries(self) -> "Sequence[Summary]":
        """What the questions of documents that share metadata are about, fewer labels first.

        Raises:
            UsageError: none were prepared.
        """
        with self._resources.reading:
            layers = self._resources.layers
            layers.require(MK_SUMMARIES)
            return layers.summaries

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

    @property
    def rewrites(self) -> bool:
        """Whether a model writes searches: the settings want it, and the corpus has laws."""
        with self._resources.reading:
            laws = self._resources.retriever.names.rows
        return self.settings.write_searches and bool(laws)

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

    def answers(self, retrieval: Retrieval, cited: Sequence[Sentence]) -> float:
        """How probably sentences answer the question; see `localrag.reading.support`."""
        places = [(sentence.passage, sentence.piece) for sentence in cited]
        every = retrieval.searches or (retrieval,)
        with self._resources.reading:
            retriever = self._resources.retriever
            return max(answers(retriever, found, places) for found in every)

    def sentences(
        self,
        asked: Query,
        hits: Sequence[Hit],
        messages: Callable[[Sequence[Sentence]], Sequence[Message]],
        *,
        subject: str = "",
        whole: bool = False,
    ) -> Sequence[Sentence]:
        """The sentences of the hits that may answer, numbered, as many as the context holds.

        Args:
            asked: what they are read for.
            hits: best first.
            messages: the prompt made of them.
            subject: as for `search`.
            whole: whether the first hit is shown whole and before all others.

        Raises:
            ModelUnusable: the context of the model does not hold a single sentence.
        """
        return self._shown(
            hits,
            messages,
            lambda retriever, fits: sentences_that_may_answer(
                retriever, asked, hits, fits, whole=whole
            ),
            subject,
        )

    def all_sentences(
        self, hits: Sequence[Hit], messages: Callable[[Sequence[Sentence]], Sequence[Message]]
    ) -> Sequence[Sentence]:
        """Every sentence of the hits, numbered, as many as the context holds.

        Args:
            hits: best first, at least one; the last ranks are left out first.
            messages: the prompt made of the sentences.

        Raises:
            ModelUnusable: the context of the model does not hold a single sentence.
        """
        return self._shown(
            hits, messages, lambda retriever, fits: sentences_in_full(retriever, hits, fits)
        )

    def derived_sentences(
        self,
        found: Sequence[LayerText],
        messages: Callable[[Sequence[Sentence]], Sequence[Message]],
    ) -> Sequence[Sentence]:
        """The sentences that texts of a layer were made of, numbered, as many as the context holds.

        The model is shown them as they can be read alone. What the corpus has no longer is left
        out.

        Args:
            found: best first; the last ones are left out first.
            messages: the prompt made of the sentences.

        Raises:
            ModelUnusable: the context of the model does not hold a single sentence.
        """
        return self.fitting_sentences(
            self.source_sentences(found, lambda one, _: one.sentence), messages
        )

    def source_sentences(
        self, found: Iterable[LayerText], shown: Callable[[LayerText, Passage], str]
    ) -> list[Sentence]:
        """What texts of a layer were made of, without numbers; what is gone is left out.

        Args:
            found: the texts.
            shown: what a model is shown of each, given the passage that holds its source.
        """
        with self.store() as store:
            sources = [(one, source_of(store, one)) for one in found]
        return [
            Sentence(0, source.piece, source.passage, shown(one, source.passage))
            for one, source in sources
            if source
        ]

    def fitting_sentences(
        self,
        sentences: Sequence[Sentence],
        messages: Callable[[Sequence[Sentence]], Sequence[Message]],
    ) -> Sequence[Sentence]:
        """Sentences numbered in their order, as many as the context holds.

        Args:
            sentences: best first; the last ones are left out first.
            messages: the prompt made of them.

        Raises:
            ModelUnusable: the context of the model does not hold a single sentence.
        """
        since = perf_counter()
        numbered = [replace(one, number=number) for number, one in enumerate(sentences, 1)]
        kept = bisect_left(
            range(1, len(numbered) + 1), True, key=lambda n: not self.fits(messages(numbered[:n]))
        )
        if numbered and not kept:
            self._too_small(messages(numbered[:1]))
        events = []
        if kept < len(numbered):
            events.append(Fact(FactKind.SENTENCES_LEFT_OUT, n=kept))
        shown = dict.fromkeys(one.passage for one in numbered[:kept])
        hits = [Hit(passage, 1 / rank, rank, EVIDENCE) for rank, passage in enumerate(shown, 1)]
        self.note(EVIDENCE, events, hits, perf_counter() - since, spans=spans_of(numbered[:kept]))
        return numbered[:kept]

    def _shown(
        self,
        hits: Sequence[Hit],
        messages: Callable[[Sequence[Sentence]], Sequence[Message]],
        choose: Callable[[Retriever, Callable[[Sequence[Sentence]], bool]], ChosenSentences],
        subject: str = "",
    ) -> Sequence[Sentence]:
        since = perf_counter()
        with named(), self._resources.reading:
            chosen = choose(self._resources.retriever, lambda some: self.fits(messages(some)))
        if not chosen.sentences:
            self._too_small(messages(chosen.least))
        shown = {sentence.passage.id for sentence in chosen.sentences}
        self.note(
            EVIDENCE,
            chosen.events,
            [hit for hit in hits if hit.passage.id in shown],
            perf_counter() - since,
            subject,
            spans=spans_of(chosen.sentences),
        )
        return chosen.sentences

    def sources(self, asked: Query, hits: Sequence[Hit]) -> list[NumberedPassage]:
        """The hits as texts for a model, numbered from 1; of long ones the nearest pieces.

        A small context is shared out, so that a long first hit does not take all of it.
        """
        room = self._resources.model.context - self._resources.settings.max_tokens
        # A character of Japanese is about a token; the prompt itself needs the room of one hit.
        share = max(_SHORTEST_SHARE, room // (len(hits) + 1))
        with self._resources.reading:
            retriever = self._resources.retriever
            return sources_of(retriever, asked, hits, min(LONGEST, share))

    def fitting(
        self,
        sources: Sequence[NumberedPassage],
        messages: Callable[[Sequence[NumberedPassage]], Sequence[Message]],
        *,
        subject: str = "",
    ) -> Sequence[NumberedPassage]:
        """As many of the sources as the context of the model holds beside the reply.

        Args:
            sources: best first; the last ranks are left out first, which the trace records.
            messages: the prompt made of them.
            subject: as for `search`.

        Raises:
            ModelUnusable: the context holds not even the prompt without any source.
        """
        since = perf_counter()
        kept, events = fitting(sources, lambda some: self.fits(messages(some)))
        if not kept and not self.fits(messages(())):
            self._too_small(messages(()))
        hits = tuple(
            Hit(source.passage, 1 / rank, rank, EVIDENCE) for rank, source in enumerate(kept, 1)
        )
        self.note(EVIDENCE, events, hits, perf_counter() - since, subject)
        return kept

    def fits(self, messages: Sequence[Message]) -> bool:
        """Whether the context of the model holds a prompt beside the longest reply to it."""
        model = self._resources.model
        with named():
            return model.count(messages) + self._resources.settings.max_tokens <= model.context

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

    def prompt(self, name: str, asked: Query, **values: object) -> tuple[Message, ...]:
        """The prompt ``<name>.jinja`` in the language of the question."""
        return prompt(name, language_of(asked.text), question=asked.text, **values)

    def ask(
        self,
        messages: Sequence[Message],
        shape: type[Shape],
        purpose: str = "",
        claims: Callable[[str], Sequence[str]] | None = None,
    ) -> Shape:
        """Have the model fill in an object; a malformed reply is asked for once more.

        Args:
            messages: the prompt.
            shape: bounds every string and list it holds.
            purpose: what the call is for, for the trace ("verdict b").
            claims: reads claims out of an unfinished reply, for those who follow its making.

        Raises:
            ModelUnusable: the model failed, or its reply is malformed for the second time.
        """
        resources = self._resources
        return ask(
            resources.model,
            resources.settings,
            messages,
            shape,
            self._count,
            purpose,
            self._watch,
            claims,
        )

    def weigh(
        self, messages: Sequence[Message], options: Sequence[str], purpose: str
    ) -> Mapping[str, float]:
        """Have the model weigh words that it could answer with; see `ChatModel.choose`.

        Args:
            messages: a question; what it shares with the prompt before is not read again.
            options: the words.
            purpose: what the call is for, for the trace ("second reading").

        Returns:
            The probability of each word; together 1.

        Raises:
            ModelUnusable: the model failed, or its server gives no probabilities.
        """
        model = self._resources.model
        with named():
            choice = model.choose(messages, options, self._watch.cancelled)
        if choice is None:
            raise Cancelled
        usage = choice.usage
        counts = (usage.prompt, usage.cached, usage.completion)
        self._count(ModelCall(model.id, *counts, choice.seconds, purpose))
        return choice.probabilities

    @property
    def settings(self) -> ChatConfig:
        """Of the chat model."""
        return self._resources.settings

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

    def _too_small(self, messages: Sequence[Message]) -> NoReturn:
        """Say that the context does not hold a prompt and a reply to it."""
        model, reply = self._resources.model, self._resources.settings.max_tokens
        with named():
            needed = model.count(messages) + reply
            raise ContextExceeded(
                N_(
                    "The context of {model} ({available:,} tokens) does not hold the prompt and a "
                    "reply of {reply:,} tokens ({needed:,} are needed)."
                ),
                N_(
                    "Ask a shorter question, set chat.max_tokens lower, or use a model with a "
                    "longer context (if it was trained for more: chat.context)."
                ),
                model=model.id,
                reply=reply,
                needed=needed,
                available=model.context,
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

    def _count(self, call: ModelCall) -> None:
        self.trace = replace(self.trace, calls=(*self.trace.calls, call))


def spans_of(sentences: Iterable[Sentence]) -> list[TextSpan]:
    """Where sentences stand in their documents."""
    pieces = (one.piece for one in sentences)
    return [TextSpan(one.passage.document_id, one.start, one.end) for one in pieces]

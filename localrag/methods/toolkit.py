"""The means of a method with a model. The trace records every step."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NoReturn

from pydantic import ValidationError

from localrag.answer.asking import Shape, ask
from localrag.answer.evidence import (
    LONGEST,
    ChosenSentences,
    NumberedPassage,
    Sentence,
    fitting,
    sentences_in_full,
    sentences_that_may_answer,
    sources_of,
)
from localrag.answer.prompts import OptimisedPrompt, language_of, prompt
from localrag.answer.support import answers
from localrag.answer.types import Cancelled
from localrag.corpus.config import ChatConfig
from localrag.corpus.durable import make_folder, replace_text
from localrag.corpus.inference.opening import named
from localrag.corpus.types import Passage
from localrag.language import N_
from localrag.methods.extractive import EVIDENCE, PlainToolkit
from localrag.prepare.layers import MK_SUMMARIES, FoundText, LayerText, source_of
from localrag.search.pipeline import Retriever
from localrag.search.query import check, full_text
from localrag.search.reading import Retrieval
from localrag.search.types import (
    Hit,
    ModelCall,
    Query,
    TextSpan,
)
from localrag.text.facts import Fact, FactKind
from localrag_models.chat import Message
from localrag_models.errors import ContextExceeded

if TYPE_CHECKING:
    from localrag.prepare.summaries import Summary


# A shorter piece of a passage says too little.
_SHORTEST_SHARE = 200


MessagesOf = Callable[[Sequence[Sentence]], Sequence[Message]]
"""Makes a prompt of numbered sentences."""


class Toolkit(PlainToolkit):
    """The means of a method with a model or derived layers, for one question.

    A call of the model raises `ModelUnusable` if it failed or its reply was malformed twice. A step
    that shows sentences raises it if the context holds none of them. A search in a layer raises
    `UsageError` if it is not prepared.
    """

    @property
    def query_prompt(self) -> OptimisedPrompt | None:
        """The optimised prompt for queries; None for the built-in one."""
        return self._resources.query_prompt

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
        word: str = "",  # the interrogative of prepared questions; empty for any
        words: bool = False,
        subject: str = "",
    ) -> list[FoundText]:
        """Search a derived layer by meaning; by words if it has no vectors."""
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
        """The summaries of documents with shared metadata, fewer labels first."""
        with self._resources.reading:
            layers = self._resources.layers
            layers.require(MK_SUMMARIES)
            return layers.summaries

    def headings(self, asked: Query, count: int) -> tuple[str, ...]:
        """The headings of the first hits of a question, each once; not in the trace."""
        with self._resources.reading:
            hits = self._resources.retriever.search(asked, count).hits
        return tuple(dict.fromkeys(hit.passage.header for hit in hits))

    @property
    def rewrites(self) -> bool:
        """Whether a model writes searches: the settings allow it, and the corpus has laws."""
        with self._resources.reading:
            laws = self._resources.retriever.names.rows
        return self.settings.write_searches and bool(laws)

    def answers(self, retrieval: Retrieval, cited: Sequence[Sentence]) -> float:
        """The probability that sentences answer the question; see `localrag.answer.support`."""
        places = [(sentence.passage, sentence.piece) for sentence in cited]
        every = retrieval.searches or (retrieval,)
        with self._resources.reading:
            retriever = self._resources.retriever
            return max(answers(retriever, found, places) for found in every)

    def sentences(
        self,
        asked: Query,
        hits: Sequence[Hit],
        messages: MessagesOf,
        *,
        subject: str = "",
        whole: bool = False,
    ) -> Sequence[Sentence]:
        """The sentences that may answer, numbered, within the context; a `whole` hit first."""
        return self._shown(
            hits,
            messages,
            lambda retriever, fits: sentences_that_may_answer(
                retriever, asked, hits, fits, whole=whole
            ),
            subject,
        )

    def all_sentences(self, hits: Sequence[Hit], messages: MessagesOf) -> Sequence[Sentence]:
        """Every sentence of the hits, numbered, as many as the context holds."""
        return self._shown(
            hits, messages, lambda retriever, fits: sentences_in_full(retriever, hits, fits)
        )

    def derived_sentences(
        self, found: Sequence[LayerText], messages: MessagesOf
    ) -> Sequence[Sentence]:
        """The source sentences of texts of a layer, numbered, as many as the context holds.

        The model reads them as rewritten. Sentences no longer in the corpus are left out.
        """
        return self.fitting_sentences(
            self.source_sentences(found, lambda one, _: one.sentence), messages
        )

    def source_sentences(
        self, found: Iterable[LayerText], shown: Callable[[LayerText, Passage], str]
    ) -> list[Sentence]:
        """The source sentences still in the corpus; `shown` gives the text for a model."""
        with self.store() as store:
            sources = [(one, source_of(store, one)) for one in found]
        return [
            Sentence(0, source.piece, source.passage, shown(one, source.passage))
            for one, source in sources
            if source
        ]

    def fitting_sentences(
        self, sentences: Sequence[Sentence], messages: MessagesOf
    ) -> Sequence[Sentence]:
        """Sentences numbered in their order; the last are left out if the context is too small."""
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
        self.note_sentences(EVIDENCE, numbered[:kept], events, since=since)
        return numbered[:kept]

    def _shown(
        self,
        hits: Sequence[Hit],
        messages: MessagesOf,
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

    def note_sentences(
        self,
        stage: str,
        sentences: Sequence[Sentence],
        events: Sequence[Fact] = (),
        *,
        since: float,
        subject: str = "",
        query: str = "",
    ) -> None:
        """Record chosen sentences as a stage, begun at `since` (`time.perf_counter`)."""
        hits = _ranked((one.passage for one in sentences), stage)
        seconds, spans = perf_counter() - since, spans_of(sentences)
        self.note(stage, events, hits, seconds, subject, query, spans)

    def sources(self, asked: Query, hits: Sequence[Hit]) -> list[NumberedPassage]:
        """The hits as texts for a model, numbered from 1; the best pieces of long ones.

        Hits share a small context: the first one does not take all of it.
        """
        room = self._resources.model.context - self._resources.settings.max_tokens
        # A Japanese character is about a token. The prompt itself takes the share of one hit.
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
        """As many of the sources as the context holds beside the reply, from the first."""
        since = perf_counter()
        kept, events = fitting(sources, lambda some: self.fits(messages(some)))
        if not kept and not self.fits(messages(())):
            self._too_small(messages(()))
        hits = _ranked((source.passage for source in kept), EVIDENCE)
        self.note(EVIDENCE, events, hits, perf_counter() - since, subject)
        return kept

    def fits(self, messages: Sequence[Message]) -> bool:
        """Whether the context of the model holds a prompt beside the longest reply to it."""
        model = self._resources.model
        with named():
            return model.count(messages) + self._resources.settings.max_tokens <= model.context

    def prompt(self, name: str, asked: Query, **values: object) -> tuple[Message, ...]:
        """The prompt ``<name>.jinja`` in the language of the question."""
        return prompt(name, language_of(asked.text), question=asked.text, **values)

    def ask(
        self,
        messages: Sequence[Message],
        shape: type[Shape],
        purpose: str = "",  # the name of the call in the trace ("verdict b")
        claims: Callable[[str], Sequence[str]] | None = None,
    ) -> Shape:
        """Have the model fill in an object. A malformed reply is asked for once more."""
        model, settings = self._resources.model, self._resources.settings
        return ask(model, settings, messages, shape, self._count, purpose, self._watch, claims)

    def ask_once(self, messages: Sequence[Message], shape: type[Shape], purpose: str) -> Shape:
        """As `ask`; a stored reply to the same prompt replaces the call, with an event."""
        memory, model = self._resources.remembered, self._resources.model
        key = key_of(model.id, self.settings, messages)
        with suppress(ValidationError):
            if kept := memory.get(key) if memory else "":
                filled = shape.model_validate_json(kept)
                self.note(purpose, [Fact(FactKind.REPLY_REMEMBERED, model=model.id)])
                return filled
        filled = self.ask(messages, shape, purpose)
        if memory:
            memory.put(key, filled.model_dump_json())
        return filled

    def weigh(
        self, messages: Sequence[Message], options: Sequence[str], purpose: str
    ) -> Mapping[str, float]:
        """Have the model weigh possible answers, with probabilities; see `ChatModel.choose`."""
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
        """The settings of the chat model."""
        return self._resources.settings

    def _too_small(self, messages: Sequence[Message]) -> NoReturn:
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

    def _count(self, call: ModelCall) -> None:
        self.trace = replace(self.trace, calls=(*self.trace.calls, call))


def _ranked(passages: Iterable[Passage], stage: str) -> list[Hit]:
    different = dict.fromkeys(passages)
    return [Hit(passage, 1 / rank, rank, stage) for rank, passage in enumerate(different, 1)]


def spans_of(sentences: Iterable[Sentence]) -> list[TextSpan]:
    """The places of sentences in their documents."""
    pieces = (one.piece for one in sentences)
    return [TextSpan(one.passage.document_id, one.start, one.end) for one in pieces]


MOST = 10_000
"""Stored replies at most. The oldest are deleted first."""


class Remembered:
    """Stored replies of models, so that nobody waits for the same reply twice.

    Each request has a file in the folder ``searches`` of the workspace, named by its digest. Any
    number of processes may read and write. `localrag forget` empties the folder.
    """

    def __init__(self, folder: Path, most: int = MOST) -> None:
        self._folder = folder
        self._most = most

    def get(self, key: str) -> str:
        """The reply to a request; "" if none can be read."""
        with suppress(OSError, UnicodeDecodeError):
            return self._path(key).read_text(encoding="utf-8")
        return ""

    def put(self, key: str, reply: str) -> None:
        """Store a reply. If nothing can be written, the model is asked again next time."""
        with suppress(OSError):
            make_folder(self._folder)
            replace_text(self._path(key), reply, private=True)
            kept = list(self._folder.glob("*.json"))
            if len(kept) > self._most:
                kept.sort(key=lambda path: path.stat().st_mtime)
                for path in kept[: -self._most]:
                    path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.json"


def key_of(model: str, settings: ChatConfig, messages: Sequence[Message]) -> str:
    """The key of a request, from the model's id, a server's address, prompt and settings."""
    parts = [model, settings.server, repr(settings.temperature), str(settings.seed)]
    if settings.thinking != "off":
        parts += [settings.thinking, settings.effort]
    parts += [str(settings.max_tokens), *(f"{one.role}\0{one.content}" for one in messages)]
    return sha256("\0\0".join(parts).encode(errors="surrogatepass")).hexdigest()

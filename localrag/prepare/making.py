"""The sources and the model of a layer: sentences and parts of documents, prompts and replies."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from localrag.answer.asking import Shape, ask
from localrag.answer.pieces import Piece, sentences_of
from localrag.answer.prompts import template
from localrag.corpus.config import ChatConfig
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES, PASSAGES, Document, Passage
from localrag.errors import ModelUnusable
from localrag.prepare.layers import Made, Span, digest, unreadable
from localrag.search.types import ModelCall
from localrag_indexes.analysis.analyzer import split_sentences
from localrag_models.chat import ChatModel, Message


def sentence_spans(store: CorpusStore, document: Document) -> list[Span]:
    """The sentences of any document, in order."""
    if document.kind == "law":
        return [Span(piece.start, piece.end) for _, piece in statute_sentences(store, document)]
    return prose_spans(document)


def statute_sentences(store: CorpusStore, law: Document) -> list[tuple[Passage, Piece]]:
    """The sentences of a statute, each once, with the smallest article around it, else the law."""
    articles = (one for one in law.passages if one.layer == ARTICLES)
    found = {
        piece.start: (article, piece)
        for article in sorted(articles, key=lambda one: one.start - one.end)
        for piece in sentences_of(store, article)
    }
    return [found[start] for start in sorted(found)]


def prose_spans(document: Document) -> list[Span]:
    """The sentences of a document that is no statute, in order."""
    found: dict[int, Span] = {}
    for passage in document.passages:
        if passage.layer == PASSAGES:
            for start, end in split_sentences(document.text[passage.start : passage.end]):
                span = Span(passage.start + start, passage.start + end)
                found.setdefault(span.start, span)
    return [found[start] for start in sorted(found)]


class LayerWriter:
    """A model with the prompt of one layer. `recipe`: digest of model, prompt and `recipe`."""

    def __init__(self, model: ChatModel, settings: ChatConfig, name: str, *recipe: str) -> None:
        self._model = model
        self._settings = settings
        self._name = name
        version, *more = recipe
        written = template(name)
        self.recipe = digest(version, model.id, written, str(settings.temperature), *more)

    def fits(self, messages: Sequence[Message]) -> bool:
        """Whether the context holds a prompt beside the longest reply."""
        return self._model.count(messages) + self._settings.max_tokens <= self._model.context

    def ask(self, messages: Sequence[Message], shape: type[Shape], calls: list[ModelCall]) -> Shape:
        """Have the model fill in an object; see `localrag.answer.asking.ask`."""
        return ask(self._model, self._settings, messages, shape, calls.append, self._name)


def written(make: Callable[..., Made], *of: object) -> Made:
    """The result of a job that may fail; `make` gets a list for its calls, then `of`."""
    calls: list[ModelCall] = []
    try:
        return make(calls, *of)._replace(calls=calls)
    except ModelUnusable as error:
        return unreadable(error, calls)


class Parts:
    """A document in parts that fit a prompt; in one part if it fits."""

    def __init__(
        self,
        document: Document,
        spans: Sequence[Span],
        fits: Callable[[Span], bool],
    ) -> None:
        """Divide a document. `fits`: whether a prompt with this span leaves room for the reply."""
        self.document = document
        self.spans = spans
        self._fits = fits

    @cached_property
    def runs(self) -> list[Sequence[Span]]:
        """The sentences of each part."""
        if not self.spans or self._fits(Span(0, len(self.document.text))):
            return [self.spans] if self.spans else []
        return list(_halved(self.spans, self._fits))

    def around(self, span: Span) -> Span:
        """The part around a sentence."""
        if len(self.runs) == 1:
            return Span(0, len(self.document.text))
        return next(part for part in map(_of, self.runs) if part.start <= span.start < part.end)


def _of(run: Sequence[Span]) -> Span:
    return Span(run[0].start, run[-1].end)


def _halved(spans: Sequence[Span], fits: Callable[[Span], bool]) -> Iterator[Sequence[Span]]:
    if len(spans) == 1 or fits(_of(spans)):
        yield spans
        return
    half = len(spans) // 2
    yield from _halved(spans[:half], fits)
    yield from _halved(spans[half:], fits)

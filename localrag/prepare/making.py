"""A document in sentences, and in parts that fit the context of a model."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES, PASSAGES, Document, Passage
from localrag.prepare.layers import Span
from localrag.reading.pieces import Piece, sentences_of
from localrag_indexes.analysis.analyzer import split_sentences


def sentence_spans(store: CorpusStore, document: Document) -> list[Span]:
    """The sentences of any document, in order."""
    if document.kind == "law":
        return [Span(piece.start, piece.end) for _, piece in statute_sentences(store, document)]
    return prose_spans(document)


def statute_sentences(store: CorpusStore, law: Document) -> list[tuple[Passage, Piece]]:
    """The sentences of a statute, each once, with the narrowest article that holds it.

    Of a law without articles one holds all of it, its supplements included.
    """
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


class Parts:
    """A document in the parts that a model is shown one by one: all of it where that fits.

    Attributes:
        document: the document.
        spans: of its sentences, in order.
    """

    def __init__(
        self,
        document: Document,
        spans: Sequence[Span],
        fits: Callable[[Span], bool],
    ) -> None:
        """Remember what is to be divided.

        Args:
            document: the document.
            spans: of its sentences, in order.
            fits: whether a prompt that shows this much of it leaves room for the reply.
        """
        self.document = document
        self.spans = spans
        self._fits = fits

    @cached_property
    def runs(self) -> list[Sequence[Span]]:
        """The sentences of each part; none of a document without any."""
        if not self.spans or self._fits(Span(0, len(self.document.text))):
            return [self.spans] if self.spans else []
        return list(_halved(self.spans, self._fits))

    def around(self, span: Span) -> Span:
        """The part that a sentence stands in: all of the document, or from sentence to sentence."""
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

"""Chunks: the baseline of PR3, text cut at a size, and not by what it says.

The publication cuts documents every 256 tokens, with an overlap of 10 %. A corpus of localrag is
searched by passages, which are two or three times as long, or by articles of laws. So the passages
nearest to a query are looked for first, and cut then, into runs of whole sentences of about 256
tokens: what is cited has to be a sentence. Each run begins with the last sentence of the one
before, the nearest that whole sentences come to a tenth.
"""

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import NamedTuple

from localrag.answer.evidence import Sentence
from localrag.answer.pieces import Piece, sentences_of
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Passage
from localrag.methods.toolkit import Toolkit, spans_of
from localrag.search.types import Hit, Query
from localrag_indexes.fusion import reciprocal_rank_fusion

STAGE = "chunks"

# Of UTF-8, so that one figure serves both languages: about 256 tokens, of English 4 bytes each and
# of Japanese 3.
_BYTES = 960
# Passages that are cut for a query, and chunks that are taken of them.
_PASSAGES, _CHUNKS = 20, 10


class Chunk(NamedTuple):
    """A run of sentences of one passage."""

    passage: Passage
    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """What it is compared by."""
        return " ".join(piece.text for piece in self.pieces)


def chunks_of(store: CorpusStore, passage: Passage) -> Iterator[Chunk]:
    """Cut a passage; a sentence that is longer than a chunk is one."""
    run: list[Piece] = []
    fresh = 0
    for piece in sentences_of(store, passage):
        longer = Chunk(passage, (*run, piece))
        if fresh and len(longer.text.encode()) > _BYTES:
            yield Chunk(passage, tuple(run))
            run, fresh = run[-1:], 0
        run.append(piece)
        fresh += 1
    if fresh:
        yield Chunk(passage, tuple(run))


def nearest_chunks(toolkit: Toolkit, queries: Sequence[tuple[Query, str]]) -> list[Sentence]:
    """The sentences of the chunks nearest to some queries, each once, the best chunk first.

    Args:
        toolkit: of the question.
        queries: each with what the trace calls its search.
    """
    found = [_nearest(toolkit, asked, subject) for asked, subject in queries]
    sentences: dict[tuple[str, int], Sentence] = {}
    for chunk in reciprocal_rank_fusion(found):
        for piece in chunk.pieces:
            place = chunk.passage.document_id, piece.start
            sentences.setdefault(place, Sentence(0, piece, chunk.passage))
    return list(sentences.values())


def _nearest(toolkit: Toolkit, asked: Query, subject: str) -> list[Chunk]:
    """The chunks nearest to a query by meaning; without vectors in the order of their passages."""
    hits = toolkit.search(asked, _PASSAGES, words=False, meaning=True, subject=subject)
    since = perf_counter()
    with toolkit.retriever() as retriever:
        every = [chunk for hit in hits for chunk in chunks_of(retriever.store, hit.passage)]
        if retriever.models.dense is not None and every:
            (row,) = retriever.models.dense.likeness([asked.text], [one.text for one in every])
            every = [every[at] for at in sorted(range(len(every)), key=lambda at: -row[at])]
    chosen = every[:_CHUNKS]
    passages = dict.fromkeys(one.passage for one in chosen)
    toolkit.note(
        STAGE,
        (),
        [Hit(passage, 1 / rank, rank, STAGE) for rank, passage in enumerate(passages, 1)],
        perf_counter() - since,
        subject,
        spans=spans_of(Sentence(0, piece, one.passage) for one in chosen for piece in one.pieces),
    )
    return chosen

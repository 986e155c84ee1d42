"""`chunks` and `chunks-augmented`: the baselines of PR3, in text that is cut by size alone.

1. **Rewrite**, in `chunks-augmented` alone: up to five queries, without a summary.
2. **Retrieve.** The paper cuts documents every 256 tokens, with 10 % overlap. localrag searches
   passages, two or three times as long, and cuts the nearest ones. A chunk is a run of whole
   sentences, because a citation is a sentence. Chunks overlap by a sentence.
3. **Read**, as in `pr3`.

Source: Mombaerts et al., "Meta Knowledge for Retrieval Augmented Large Language Models" (2024).
"""

from collections.abc import Iterator
from time import perf_counter
from typing import NamedTuple

from localrag.answer.evidence import Sentence
from localrag.answer.pieces import Piece, sentences_of
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Passage
from localrag.language import N_
from localrag.methods.catalogue import Calls, register
from localrag.methods.pr3 import AUGMENTED, SOURCE, Asked, answer
from localrag.methods.toolkit import Toolkit
from localrag.search.types import Query
from localrag_indexes.fusion import reciprocal_rank_fusion

STAGE = "chunks"

# 256 tokens are about 960 bytes of UTF-8: 4 bytes a token in English, 3 in Japanese.
_BYTES = 960
# Passages cut for a query, and chunks of them.
_PASSAGES, _CHUNKS = 20, 10


class Chunk(NamedTuple):
    """A run of sentences of one passage."""

    passage: Passage
    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """The text that is compared."""
        return " ".join(piece.text for piece in self.pieces)


def chunks_of(store: CorpusStore, passage: Passage) -> Iterator[Chunk]:
    """Cut a passage. A sentence that is longer than a chunk is a chunk of its own."""
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


def nearest_chunks(toolkit: Toolkit, queries: Asked) -> list[Sentence]:
    """The sentences of the chunks nearest to some queries, each once, the best chunk first."""
    found = [_nearest(toolkit, asked, subject) for asked, subject in queries]
    sentences: dict[tuple[str, int], Sentence] = {}
    for chunk in reciprocal_rank_fusion(found):
        for piece in chunk.pieces:
            place = chunk.passage.document_id, piece.start
            sentences.setdefault(place, Sentence(0, piece, chunk.passage))
    return list(sentences.values())


def _nearest(toolkit: Toolkit, asked: Query, subject: str) -> list[Chunk]:
    """The chunks nearest in meaning; without vectors, in the order of their passages."""
    hits = toolkit.search(asked, _PASSAGES, words=False, meaning=True, subject=subject)
    since = perf_counter()
    with toolkit.retriever() as retriever:
        every = [chunk for hit in hits for chunk in chunks_of(retriever.store, hit.passage)]
        if retriever.models.dense is not None and every:
            (row,) = retriever.models.dense.likeness([asked.text], [one.text for one in every])
            every = [every[at] for at in sorted(range(len(every)), key=lambda at: -row[at])]
    chosen = every[:_CHUNKS]
    shown = [Sentence(0, piece, one.passage) for one in chosen for piece in one.pieces]
    toolkit.note_sentences(STAGE, shown, since=since, subject=subject)
    return chosen


register(
    "chunks",
    N_("a model answers in statements on the chunks of text nearest to the question"),
    source=SOURCE,
    calls=Calls(fixed=1),
    find=nearest_chunks,
    augment=False,
)(answer)
register(
    "chunks-augmented",
    N_("a model writes several queries, and answers on the chunks of text nearest to them"),
    source=SOURCE,
    calls=AUGMENTED,
    find=nearest_chunks,
)(answer)

"""JSQuAD's questions that judge and others, and a search with a paragraph withheld."""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from localrag.corpus.types import Passage
from localrag.search.reading import Retrieval
from localrag.search.types import Hit, Trace

JUDGES = 200
"""Number of judging questions, with the lowest hashes of ids; nothing is fitted on them."""


@dataclass(frozen=True)
class SquadQuestion:
    """A question of the data set.

    Attributes:
        page: title of the page that its paragraph is of.
    """

    id: str
    page: str
    text: str
    context: str
    answers: frozenset[str]


def questions(squad: Path) -> Iterator[SquadQuestion]:
    """The questions of a file, in the order of the SHA-256 of their ids."""
    found = [
        SquadQuestion(
            entry["id"],
            page["title"],
            entry["question"],
            paragraph["context"],
            frozenset(answer["text"] for answer in entry["answers"]),
        )
        for page in json.loads(squad.read_text(encoding="utf-8"))["data"]
        for paragraph in page["paragraphs"]
        for entry in paragraph["qas"]
    ]
    yield from sorted(found, key=lambda asked: hashlib.sha256(asked.id.encode()).hexdigest())


def is_paragraph(text: str, context: str) -> bool:
    """Whether a passage is the paragraph of the data, which repeats the page title before it."""
    return text.strip() in (context.strip(), context.partition("[SEP]")[2].strip())


def kept_from(found: Retrieval, withheld: Callable[[Passage], bool], k: int) -> Retrieval:
    """The hits without some passages; others of the same page stay.

    Args:
        found: more than `k` hits, to replace withheld ones.
        withheld: whether a passage is withheld.
        k: hits to return.
    """

    def rest(hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        left = [hit for hit in hits if not withheld(hit.passage)][:k]
        return tuple(replace(hit, rank=rank) for rank, hit in enumerate(left, 1))

    stages = tuple(replace(stage, hits=rest(stage.hits)) for stage in found.trace.stages)
    trace = Trace(stages, found.trace.calls)
    return replace(found, hits=rest(found.hits), trace=trace)

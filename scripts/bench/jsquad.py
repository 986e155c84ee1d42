"""JSQuAD with statutes in the same index: the right paragraph, and the answer in the quotes.

4,442 questions over 1,145 paragraphs of Japanese Wikipedia, with the 28,001 articles of the main
provisions of the 327 laws as distractors (``--supplementary``: with their supplementary provisions
and appendices too). Questions are told apart in two halves by a hash of their id, to show how far
figures vary; weights were chosen with both in view, so neither half is a hold-out.
"""

import json
import time
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from corpora import open_corpus, write_main_provisions
from options import parser
from rates import latency, rate

from localrag.reading.extractive import answer
from localrag.reading.model import Status
from localrag.retrieval.model import Query, Retrieval
from localrag.retrieval.pipeline import Retriever

MEASURES = (
    "paragraph@1",
    "paragraph@10",
    "in quote 1",
    "in quotes 1-2",
    "not found",
    "not found, paragraph withheld",
)


def main() -> None:
    """Print every measure for both halves and all questions."""
    options = parser(__doc__, work=True)
    options.add_argument("--supplementary", action="store_true", help="whole laws as distractors")
    options.add_argument("--limit", type=int, metavar="N", help="only the first N questions")
    arguments = options.parse_args()
    data, work = arguments.data, arguments.work.resolve()
    squad = data / "jsquad" / "valid-v1.3.json"
    halves: list[list[tuple[bool, ...]]] = [[], []]
    searching, answering = [], []
    whole = arguments.supplementary
    laws = data / "egov" / "xml" if whole else write_main_provisions(data, work)
    with open_corpus(work, "jsquad-whole" if whole else "jsquad", [squad, laws]) as retriever:
        for identity, question, context, answers in list(questions(squad))[: arguments.limit]:
            started = time.perf_counter()
            retrieval = retriever.search(Query(question), 10)
            searching.append(time.perf_counter() - started)
            started = time.perf_counter()
            reply = answer(retriever, Query(question))
            answering.append(time.perf_counter() - started)
            right = [same_text(hit.passage.text, context) for hit in retrieval.hits]
            quotes = [citation.quote for citation in reply.citations]
            inside = [any(gold in quote for gold in answers) for quote in quotes]
            halves[zlib.crc32(identity.encode()) % 2].append(
                (
                    any(right[:1]),
                    any(right),
                    any(inside[:1]),
                    any(inside[:2]),
                    reply.status is Status.NOT_FOUND,
                    answer(Withheld(retriever, context), Query(question)).status
                    is Status.NOT_FOUND,
                )
            )
    print(f"{'':<32}{'all':<26}{'half 0':<26}half 1")
    groups = (halves[0] + halves[1], *halves)
    print(f"{'n':<32}" + "".join(f"{len(group):<26}" for group in groups))
    for column, name in enumerate(MEASURES):
        cells = (rate(sum(row[column] for row in group), len(group)) for group in groups)
        print(f"{name:<32}" + "".join(f"{cell:<26}" for cell in cells))
    print(f"search: {latency(searching)}; ask: {latency(answering)}")


class Withheld:
    """A retriever that does not find one paragraph; others of the same page it does."""

    def __init__(self, retriever: Retriever, context: str) -> None:
        self.store = retriever.store
        self.inverse_document_frequency = retriever.inverse_document_frequency
        self._retriever = retriever
        self._context = context

    def search(self, query: Query, k: int | None) -> Retrieval:
        """Search without the paragraph."""
        found = self._retriever.search(query, k)
        hits = (hit for hit in found.hits if not same_text(hit.passage.text, self._context))
        return replace(found, hits=tuple(hits))


def questions(squad: Path) -> Iterator[tuple[str, str, str, set[str]]]:
    """Id, question, context and gold answers of every question."""
    for page in json.loads(squad.read_text(encoding="utf-8"))["data"]:
        for paragraph in page["paragraphs"]:
            for entry in paragraph["qas"]:
                gold = {answer["text"] for answer in entry["answers"]}
                yield entry["id"], entry["question"], paragraph["context"], gold


def same_text(text: str, context: str) -> bool:
    """Whether a passage is the paragraph of the data, which repeats the page title before it."""
    return text.strip() in (context.strip(), context.partition("[SEP]")[2].strip())


if __name__ == "__main__":
    main()

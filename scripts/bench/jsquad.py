"""JSQuAD without a model that writes: right paragraphs, answers in quotations, refusals.

4,442 questions over 1,145 paragraphs of Japanese Wikipedia, with the 28,001 articles of the main
provisions of the 327 laws as distractors. ``--supplementary`` adds supplementary provisions and
appendices; ``--alone`` leaves out the laws. Each question is asked with its paragraph, and with the
paragraph withheld while others of the page stay.

The 200 questions with the lowest hashes of ids judge: neither weights nor threshold of the reader
were chosen on them. The others are for development.
"""

import time
from pathlib import Path
from typing import NamedTuple

from bench.corpora import open_corpus, write_main_provisions
from bench.options import parser
from bench.rates import latency, rate
from bench.squad import JUDGES, SquadQuestion, is_paragraph, kept_from, questions

from localrag.answer.extractive import quotations
from localrag.search.pipeline import Retriever
from localrag.search.types import Query

HITS = 10


class SquadOutcome(NamedTuple):
    """Result of one question, by printed name."""

    paragraph_first: bool
    paragraph_in_the_top_10: bool
    answer_in_quote_1: bool
    answer_in_quotes_1_and_2: bool
    refused: bool
    refused_with_the_paragraph_withheld: bool


def main() -> None:
    """Print every measure for the questions that judge and for the others."""
    options = parser(__doc__, work=True, embedder=True)
    distractors = options.add_mutually_exclusive_group()
    distractors.add_argument("--supplementary", action="store_true", help="whole laws beside them")
    distractors.add_argument("--alone", action="store_true", help="no laws beside them")
    options.add_argument("--limit", type=int, metavar="N", help="of each group the first N")
    arguments = options.parse_args()
    data, work = arguments.data, arguments.work.resolve()
    squad = data / "jsquad" / "valid-v1.3.json"
    if arguments.alone:
        name, beside = "jsquad-alone", list[Path]()
    elif arguments.supplementary:
        name, beside = "jsquad-whole", [data / "egov" / "xml"]
    else:
        name, beside = "jsquad", [write_main_provisions(data, work)]
    every = list(questions(squad))
    searching: list[float] = []
    quoting: list[float] = []
    with open_corpus(work, name, [squad, *beside], arguments.embedder) as retriever:
        for group, some in (("judge", every[:JUDGES]), ("others", every[JUDGES:])):
            outcomes = [
                outcome(retriever, asked, searching, quoting) for asked in some[: arguments.limit]
            ]
            print(f"{group}, n = {len(outcomes):,}")
            for column, measure in enumerate(SquadOutcome._fields):
                held = sum(one[column] for one in outcomes)
                print(f"  {measure.replace('_', ' '):<38}{rate(held, len(outcomes))}")
    print(f"search: {latency(searching)}; quotations: {latency(quoting)}")


def outcome(
    retriever: Retriever, asked: SquadQuestion, searching: list[float], quoting: list[float]
) -> SquadOutcome:
    """Ask a question twice; the seconds it took are added to the lists."""
    query = Query(asked.text)
    started = time.perf_counter()
    # One more than is shown makes up for the paragraph withheld.
    found = retriever.search(query, HITS + 1)
    searching.append(time.perf_counter() - started)
    there = kept_from(found, lambda _: False, HITS)
    without = kept_from(found, lambda passage: is_paragraph(passage.text, asked.context), HITS)
    started = time.perf_counter()
    quotes = [citation.quote for citation in quotations(retriever, there).citations]
    quoting.append(time.perf_counter() - started)
    right = [is_paragraph(hit.passage.text, asked.context) for hit in there.hits]
    inside = [any(answer in quote for answer in asked.answers) for quote in quotes]
    return SquadOutcome(
        any(right[:1]),
        any(right),
        any(inside[:1]),
        any(inside[:2]),
        not quotes,
        not quotations(retriever, without).citations,
    )


if __name__ == "__main__":
    main()

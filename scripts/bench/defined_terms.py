"""Terms that statutes define, asked for by their name: how often a definition is quoted first.

Terms of three to twelve characters are drawn from those that the 327 laws define (``--seed``), and
each is asked for as …とは何か. The first two quotations count. ``--without`` asks again with no
look at the definitions, as a search by words would answer.
"""

import random
from unittest.mock import patch

from bench.corpora import LAWS, open_corpus
from bench.options import parser
from bench.rates import rate

from localrag.reading.extractive import quotations
from localrag.retrieval.meaning import NO_MEANING
from localrag.retrieval.pipeline import Retriever
from localrag.retrieval.types import Query

FIRST = 2
SHORTEST, LONGEST = 3, 12


def main() -> None:
    """Print the share of terms for which a definition is quoted first or second."""
    options = parser(__doc__, work=True)
    options.add_argument("--count", type=int, default=100, help="terms drawn")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--without", action="store_true", help="and without the definitions")
    options.add_argument("--misses", action="store_true", help="print the terms missed")
    arguments = options.parse_args()
    with open_corpus(
        arguments.work.resolve(), LAWS, [arguments.data / "egov" / "xml"]
    ) as retriever:
        terms = drawn(retriever, random.Random(arguments.seed), arguments.count)
        tell("definitions", retriever, terms, shown=arguments.misses)
        if arguments.without:
            place = "localrag.retrieval.resolve.meaning_asked"
            with patch(place, lambda *_: NO_MEANING):
                tell("by words", retriever, terms, shown=False)


def drawn(retriever: Retriever, draw: random.Random, count: int) -> list[str]:
    """Some of the terms that main provisions define."""
    store = retriever.store
    defined = {
        one.term
        for law_id in retriever.names.rows
        for one in store.definitions_in(law_id)
        if not one.locator.division and SHORTEST <= len(one.term) <= LONGEST
    }
    return draw.sample(sorted(defined), min(count, len(defined)))


def tell(name: str, retriever: Retriever, terms: list[str], *, shown: bool) -> None:
    """Print the share of terms whose definition is quoted first or second."""
    missed = [term for term in terms if not is_quoted(retriever, term)]
    print(f"{name:<14}{rate(len(terms) - len(missed), len(terms))}")
    for term in missed if shown else ():
        print("   ", term)


def is_quoted(retriever: Retriever, term: str) -> bool:
    """Whether one of the first quotations holds a definition of a term."""
    quoted = quotations(retriever, retriever.search(Query(f"{term}とは何か"))).citations[:FIRST]
    return any(
        citation.passage_id.startswith(f"{one.document_id}#")
        and citation.start <= one.start < citation.end
        for one in retriever.store.definitions_of(term)
        for citation in quoted
    )


if __name__ == "__main__":
    main()

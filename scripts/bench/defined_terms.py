"""Defined terms and crimes, asked for by name: how often they are quoted first.

Terms of three to twelve characters are drawn from the definitions in the 327 laws (``--seed``), and
asked for as …とは何か. Crimes are all articles of the penal code with caption and penalty, asked
for as …罪の刑は. The first two quotations count. ``--without`` asks again without definitions.
"""

import random
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from unittest.mock import patch

from bench.corpora import LAWS, open_corpus
from bench.options import parser
from bench.rates import rate

from localrag.answer.extractive import quotations
from localrag.answer.types import Citation
from localrag.corpus.types import Locator, caption_of
from localrag.search.pipeline import Retriever
from localrag.search.reading import NO_MEANING
from localrag.search.types import Query

FIRST = 2
PENAL_CODE = "刑法"
PUNISHES = re.compile("に処する")
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
        crimes = captioned(retriever)
        tell("definitions", retriever, terms, is_defined, shown=arguments.misses)
        tell("crimes", retriever, crimes, partial(is_punished, crimes), shown=arguments.misses)
        if arguments.without:
            with patch("localrag.search.reading.meaning_asked", lambda *_: NO_MEANING):
                tell("definitions, by words", retriever, terms, is_defined, shown=False)


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


def captioned(retriever: Retriever) -> dict[str, str]:
    """The articles of the penal code that punish something: by caption, the id of the last."""
    store = retriever.store
    found: dict[str, str] = {}
    for law_id in retriever.names.lookup(PENAL_CODE):
        places = map(Locator.parse, store.articles(law_id))
        for place, header in store.headers(law_id, places).items():
            passage, caption = store.at(law_id, place), caption_of(header)
            if passage and caption and PUNISHES.search(passage.text):
                found[caption] = passage.id
    return found


def tell(
    name: str,
    retriever: Retriever,
    asked: Collection[str],
    is_quoted: Callable[[Retriever, str], bool],
    *,
    shown: bool,
) -> None:
    """Print the shares quoted first and second."""
    missed = [one for one in asked if not is_quoted(retriever, one)]
    print(f"{name:<24}{rate(len(asked) - len(missed), len(asked))}")
    for one in missed if shown else ():
        print("   ", one)


def is_defined(retriever: Retriever, term: str) -> bool:
    """Whether one of the first quotations holds a definition of a term."""
    return any(
        citation.passage_id.startswith(f"{one.document_id}#")
        and citation.start <= one.start < citation.end
        for one in retriever.store.definitions_of(term)
        for citation in first(retriever, f"{term}とは何か")
    )


def is_punished(articles: Mapping[str, str], retriever: Retriever, crime: str) -> bool:
    """Whether one of the first quotations is in the article with this caption."""
    article = articles[crime]
    return any(
        citation.passage_id == article or citation.passage_id.startswith(f"{article}.")
        for citation in first(retriever, f"{crime}罪の刑は")
    )


def first(retriever: Retriever, question: str) -> Sequence[Citation]:
    """The first quotations for a question."""
    return quotations(retriever, retriever.search(Query(question))).citations[:FIRST]


if __name__ == "__main__":
    main()

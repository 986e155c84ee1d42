"""Provisions cited by number: how often they are quoted first, by form.

Paragraphs are drawn from the 327 laws (``--seed``), equally many of each, and asked for in every
form. A quotation counts if it is the paragraph, or its beginning.
"""

import random
from collections.abc import Iterator

from bench.corpora import LAWS, open_corpus
from bench.options import parser
from bench.rates import rate

from localrag.answer.extractive import quotations
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import PARAGRAPHS
from localrag.law.names import LawNames
from localrag.law.notation import cite
from localrag.search.types import Query

FORMS = ("", "の趣旨は", "について教えて", "は何を定めているか", "に違反するとどうなるか")


def main() -> None:
    """Print for every form the share of paragraphs quoted first."""
    options = parser(__doc__, work=True)
    options.add_argument("--laws", type=int, default=20, help="laws drawn")
    options.add_argument("--count", type=int, default=8, help="paragraphs of each law")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--misses", action="store_true", help="print what is quoted otherwise")
    arguments = options.parse_args()
    laws = [arguments.data / "egov" / "xml"]
    with open_corpus(arguments.work.resolve(), LAWS, laws) as retriever:
        draw = random.Random(arguments.seed)
        drawn = list(
            paragraphs(retriever.store, retriever.names, draw, arguments.laws, arguments.count)
        )
        for form in FORMS:
            wrong = []
            for cited, passage in drawn:
                query = Query(cited + form)
                citations = quotations(retriever, retriever.search(query)).citations
                if not citations or citations[0].passage_id != passage:
                    wrong.append(query.text)
            right = rate(len(drawn) - len(wrong), len(drawn))
            print(f"{'…' + form:<24}{right}")
            for question in wrong if arguments.misses else ():
                print("   ", question)


def paragraphs(
    store: CorpusStore, names: LawNames, draw: random.Random, laws: int, count: int
) -> Iterator[tuple[str, str]]:
    """Paragraphs of the main provisions as cited, in Arabic and in kanji, and their ids."""
    known = sorted(
        law_id for law_id in names.rows if names.lookup(names.title(law_id)) == (law_id,)
    )
    for law_id in draw.sample(known, min(laws, len(known))):
        places = [stand.locator for stand in store.standing(law_id, PARAGRAPHS)]
        main = [one for one in places if one.article and not one.division and ":" not in one.path]
        for place in draw.sample(main, min(count, len(main))):
            arabic = draw.random() < 0.5
            yield cite(names.title(law_id), place, arabic=arabic), f"{law_id}#{place.path}"


if __name__ == "__main__":
    main()

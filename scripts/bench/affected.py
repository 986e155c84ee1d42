"""Dependents of provisions, against the edges themselves; and the time for a law often cited.

Articles are drawn from the 327 laws (``--seed``). Then a made law is cited by ``--citing``
articles of other made laws.
"""

import random
import time
from contextlib import closing
from datetime import date
from pathlib import Path

from bench.corpora import LAWS, make_searchable, open_laws
from bench.options import parser
from bench.rates import latency, rate

from localrag.corpus.database import Database
from localrag.corpus.states import show
from localrag.corpus.store import CORPUS, CorpusStore
from localrag.search.affected import KINDS, affected
from localrag_indexes.analysis.normalize import to_kanji

CITED = "砂丘保全法"
# Articles of a made law.
ARTICLES = 100


def main() -> None:
    """Print the share of equal answers, and the times."""
    options = parser(__doc__, work=True)
    options.add_argument("--count", type=int, default=300, metavar="N", help="articles drawn")
    options.add_argument("--citing", type=int, default=5_000, metavar="N", help="citing articles")
    options.add_argument("--seed", type=int, default=0)
    arguments = options.parse_args()
    work = arguments.work.resolve()
    with open_laws(arguments.data, work) as retriever:
        store = retriever.store
        articles = [(law.law_id, one) for law in store.laws() for one in store.articles(law.law_id)]
        drawn = random.Random(arguments.seed).sample(articles, min(arguments.count, len(articles)))
        path = work / "home" / "corpora" / LAWS / "corpus.sqlite"
        with closing(Database(path, CORPUS, read_only=True)) as database:
            show(database, date.today())
            equal = sum(
                direct(database, law, article) == listed(store, f"{law}#{article}")
                for law, article in drawn
            )
        print(f"equal to the edges: {rate(equal, len(drawn))}, n = {len(drawn)}")
    made = made_laws(work / "made", arguments.citing)
    workspace, _ = make_searchable(work, "made", [made])
    with CorpusStore.open(workspace.corpus("made").store, read_only=True) as store:
        seconds = []
        for _ in range(5):
            begun = time.perf_counter()
            found = affected(store, CITED)
            seconds.append(time.perf_counter() - begun)
    print(f"a law cited by {len(found.dependents):,} articles: {latency(seconds)}")


def listed(store: CorpusStore, target: str) -> set[tuple[str, str, str]]:
    """Document, place and kind of the dependents of an article."""
    return {
        (one.place.document_id, one.place.locator.path, kind)
        for one in affected(store, target).dependents
        for kind in one.kinds
    }


def direct(database: Database, law: str, article: str) -> set[tuple[str, str, str]]:
    """The same by a look at every edge of the corpus."""
    rows = database.rows(
        "SELECT shown.id, edges.source, edges.kind, place FROM edges"
        " JOIN reached ON edge = edges.key JOIN shown ON shown.key = document"
        " JOIN works ON works.key = reached.law WHERE works.id = ?",
        (law,),
    )
    return {
        (document, source, kind)
        for document, source, kind, place in rows
        if kind in KINDS
        and is_in(place, article)
        and not (document == law and is_in(source, article))
    }


def is_in(path: str, article: str) -> bool:
    """Whether a path is an article or inside it."""
    return path == article or path.startswith(f"{article}.")


def made_laws(folder: Path, citing: int) -> Path:
    """Write a law, and other laws citing it in so many articles."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = [(CITED, ["この法律は、砂丘を守る。"])]
    for first in range(0, citing, ARTICLES):
        count = min(ARTICLES, citing - first)
        texts.append((f"第{to_kanji(1 + first)}砂丘法", [f"{CITED}第一条による。"] * count))
    for number, (title, sentences) in enumerate(texts, 1):
        law_id = f"503AC{number:010}"
        (folder / f"{law_id}_20210401_000000000000000.xml").write_text(
            law(number, title, sentences), encoding="utf-8"
        )
    return folder


def law(number: int, title: str, sentences: list[str]) -> str:
    """A law with an article for each sentence."""
    articles = "".join(
        f'<Article Num="{n}"><ArticleTitle>第{to_kanji(n)}条</ArticleTitle><Paragraph Num="1">'
        f"<ParagraphNum/><ParagraphSentence><Sentence>{sentence}</Sentence></ParagraphSentence>"
        "</Paragraph></Article>"
        for n, sentence in enumerate(sentences, 1)
    )
    return (
        f'<Law Era="Reiwa" Year="3" Num="{number}" LawType="Act" Lang="ja">'
        f"<LawNum>令和三年法律第{to_kanji(number)}号</LawNum><LawBody><LawTitle>{title}</LawTitle>"
        f"<MainProvision>{articles}</MainProvision></LawBody></Law>"
    )


if __name__ == "__main__":
    main()

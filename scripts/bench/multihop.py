"""English multi-hop questions: supporting paragraphs among the first ten hits.

50 questions each of HotpotQA (994 passages) and MuSiQue (1,890 passages), by words and, with
``--embedder``, by meaning and by both, fused by ranks and by scores. Each way is tried without and
with pages whose titles occur in the best hits.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from bench.corpora import open_corpus
from bench.options import parser
from bench.rates import rate

from localrag.corpus.config import RetrievalConfig
from localrag.search.pipeline import Retriever
from localrag.search.types import Query

CUTOFF = 10

BY_WORDS = {"words": RetrievalConfig(dense="off")}
BY_MEANING = {
    "meaning": RetrievalConfig(lexical=False),
    "both by ranks": RetrievalConfig(fusion="ranks"),
    "both by scores": RetrievalConfig(),
}


def main() -> None:
    """Print any and all supporting paragraphs at 10 for HotpotQA and MuSiQue."""
    options = parser(__doc__, work=True, embedder=True)
    arguments = options.parse_args()
    folder, work = arguments.data / "multihop", arguments.work.resolve()
    ways = BY_WORDS | BY_MEANING if arguments.embedder else BY_WORDS
    print(f"{'set':<10}{'way':<32}{'n':>4}  {'any in the top 10':<22}all in the top 10")
    for name in ("hotpotqa", "musique"):
        asked = list(supporting_paragraphs(folder / f"{name}.json"))
        paths = [folder / f"{name}_corpus.json"]
        with open_corpus(work, name, paths, arguments.embedder) as retriever:
            for way, settings in ways.items():
                for titles, follow in (("", False), (", titles followed", True)):
                    chosen = settings.model_copy(update={"follow_titles": follow})
                    found = [supported(retriever, *one, chosen) for one in asked]
                    some, every = (rate(sum(held), len(held)) for held in zip(*found, strict=True))
                    print(f"{name:<10}{way + titles:<32}{len(found):>4}  {some:<22}{every}")


def supported(
    retriever: Retriever, question: str, gold: set[str], settings: RetrievalConfig
) -> tuple[bool, bool]:
    """Whether any, and whether all of the paragraphs are among the first hits."""
    hits = retriever.search(Query(question), CUTOFF, settings).hits
    found = gold & {normal(hit.passage.text) for hit in hits}
    return bool(found), found == gold


def supporting_paragraphs(path: Path) -> Iterator[tuple[str, set[str]]]:
    """Each question with the texts of the paragraphs that support its answer."""
    for record in json.loads(path.read_text(encoding="utf-8")):
        if "paragraphs" in record:
            gold = [p["paragraph_text"] for p in record["paragraphs"] if p["is_supporting"]]
        else:
            titles = {title for title, _ in record["supporting_facts"]}
            gold = ["".join(parts) for title, parts in record["context"] if title in titles]
        yield record["question"], {normal(text) for text in gold}


def normal(text: str) -> str:
    """A text without white space: the corpora are cut and joined in their own ways."""
    return "".join(text.split())


if __name__ == "__main__":
    main()

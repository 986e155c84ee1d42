"""English multi-hop questions: supporting paragraphs among the first ten of their corpora.

50 questions each of HotpotQA (994 passages) and MuSiQue (1,890 passages).
"""

import json
from collections.abc import Iterator
from pathlib import Path

from corpora import open_corpus
from options import parser
from rates import rate

from localrag.retrieval.model import Query

CUTOFF = 10


def main() -> None:
    """Print any and all supporting paragraphs at 10 for HotpotQA and MuSiQue."""
    arguments = parser(__doc__, work=True).parse_args()
    folder, work = arguments.data / "multihop", arguments.work.resolve()
    print(f"{'set':<10}{'n':>4}  {'any of them in the top 10':<28}all of them in the top 10")
    for name in ("hotpotqa", "musique"):
        some = every = n = 0
        with open_corpus(work, name, [folder / f"{name}_corpus.json"]) as retriever:
            for question, gold in supporting_paragraphs(folder / f"{name}.json"):
                hits = retriever.search(Query(question), CUTOFF).hits
                found = gold & {normal(hit.passage.text) for hit in hits}
                n += 1
                some += bool(found)
                every += found == gold
        print(f"{name:<10}{n:>4}  {rate(some, n):<28}{rate(every, n)}")


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

"""`localrag tune-retrieval` on real vectors: statutes, Japanese and English paragraphs.

Lawyers' questions of the half that may be seen over the 327 laws, 200 development questions of
JSQuAD over its 1,145 paragraphs, and 50 each of HotpotQA and MuSiQue. Printed are, for each way of
searching, nDCG at 10, its distance to the best with the 95 % interval of the paired difference, and
a star at the chosen way.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from bench.corpora import make_searchable
from bench.lawyers import QUESTIONS, SEEN, locator_of
from bench.multihop import normal, supporting_paragraphs
from bench.options import parser
from bench.squad import JUDGES, questions

from localrag.corpus.store import CorpusStore
from localrag.corpus.types import PASSAGES
from localrag.evaluation.tuning import Tuning, tune

ASKED = 200
CORPORA = ("statutes", "jsquad-alone", "hotpotqa", "musique")

# A question, and the ids of the passages that answer it.
Judged = tuple[str, list[str]]


def main() -> None:
    """Print the ways of searching each corpus."""
    options = parser(__doc__, work=True, embedder=True)
    options.add_argument("--corpus", action="append", choices=CORPORA, help="one of them only")
    arguments = options.parse_args()
    data = arguments.data
    squad, multihop = data / "jsquad" / "valid-v1.3.json", data / "multihop"
    judged: dict[str, tuple[Path, Callable[[CorpusStore], Iterator[Judged]]]] = {
        "statutes": (data / "egov" / "xml", lambda _: provisions()),
        "jsquad-alone": (squad, lambda store: paragraphs(store, squad)),
        "hotpotqa": (
            multihop / "hotpotqa_corpus.json",
            lambda store: pages(store, multihop / "hotpotqa.json"),
        ),
        "musique": (
            multihop / "musique_corpus.json",
            lambda store: pages(store, multihop / "musique.json"),
        ),
    }
    work = arguments.work.resolve()
    for name in arguments.corpus or CORPORA:
        files, asked = judged[name]
        workspace, config = make_searchable(work, name, [files], arguments.embedder)
        path = work / f"tuning-{name}.jsonl"
        with CorpusStore.open(workspace.corpus(name).store, read_only=True) as store:
            rows = [{"question": text, "relevant": ids} for text, ids in asked(store)]
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        report(name, tune(workspace, name, config, path))


def provisions() -> Iterator[Judged]:
    """Lawyers' questions that may be seen, without follow-ups."""
    for file in sorted(QUESTIONS.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            asked = json.loads(line)
            if asked["half"] == SEEN and asked["gold"] and not asked.get("history"):
                gold = [f"{one['law_id']}#{locator_of(one).path}" for one in asked["gold"]]
                yield asked["question"], gold


def paragraphs(store: CorpusStore, squad: Path) -> Iterator[Judged]:
    """Questions of JSQuAD that do not judge, each with its paragraph."""
    ids = ids_by_text(store)
    for asked in islice(questions(squad), JUDGES, JUDGES + ASKED):
        yield asked.text, ids[normal(asked.context.partition("[SEP]")[2])]


def pages(store: CorpusStore, path: Path) -> Iterator[Judged]:
    """Multi-hop questions, each with its supporting paragraphs."""
    ids = ids_by_text(store)
    for text, gold in supporting_paragraphs(path):
        yield text, [id_ for one in gold for id_ in ids[one]]


def ids_by_text(store: CorpusStore) -> dict[str, list[str]]:
    """The ids of all passages of running text, by the text."""
    ids: dict[str, list[str]] = defaultdict(list)
    for _, passage in store.passages(layer=PASSAGES):
        ids[normal(passage.text)].append(passage.id)
    return ids


def report(name: str, tuning: Tuning) -> None:
    """Print what was measured on one corpus."""
    print(f"{name}: {tuning.questions} questions, {len(tuning.unusable)} left out")
    for trial in tuning.trials:
        mean, low, high = trial.behind
        star = "*" if trial is tuning.chosen else " "
        print(
            f" {star} {trial.name:<26}{trial.ndcg:.3f}, behind {mean:.3f} [{low:.3f}, {high:.3f}];"
            f" all {trial.all_found}, any {trial.any_found}; {trial.seconds * 1000:.0f} ms"
        )


if __name__ == "__main__":
    main()

"""Fit the matrix that turns the vector of a question to the provisions that answer it.

A contrast over all provisions: the softmax of cosines, divided by a temperature, is fitted to the
gold ones (InfoNCE: van den Oord et al. 2018, Representation Learning with Contrastive Predictive
Coding, section 2.3, with every provision as a negative). The matrix starts as the identity and is
drawn back to it. Training uses questions of lawyers and other people in the halves that may be
seen; questions of one law share a fold in cross-validation. The counted half of the older questions
only judges.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from bench.corpora import make_searchable
from bench.lawyers import ASKED, FIRST, HITS, QUESTIONS, SEEN
from bench.options import REPOSITORY, parser
from bench.rates import rate
from numpy.typing import NDArray
from train_statute_lexical import folds

from localrag.corpus.inference.opening import open_embedder
from localrag.corpus.store import CorpusStore
from localrag.search.ranking import ADAPTER, PROBE
from localrag_indexes.manifest import current
from localrag_indexes.vectors import VectorIndex

FILE = REPOSITORY / "localrag" / "search" / ADAPTER
TEMPERATURE, RIDGE = 0.03, 0.3
STEPS, BATCH, RATE = 120, 128, 0.001
FOLDS = 5
Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class AdapterExample:
    """A question with its answers.

    Attributes:
        law: of its first gold provision; questions of one law share a fold.
        half: ``seen``, or another that only judges.
        vector: of the question, shape ``(d,)``.
        gold: rows of the texts of its gold provisions.
    """

    law: str
    half: str
    vector: Matrix
    gold: list[int]


def main() -> None:
    """Print what the matrix adds, in cross-validation and on the counted half; write it."""
    options = parser(__doc__, work=True, embedder=True)
    options.add_argument("--out", type=Path, default=FILE, metavar="FILE", help="where to write it")
    arguments = options.parse_args()
    egov = arguments.data / "egov"
    laws = [egov / "xml", egov / "xml_2015"]
    workspace, config = make_searchable(arguments.work, "statutes", laws, arguments.embedder)
    place = workspace.corpus("statutes")
    folder, embedder = current(place.vectors), open_embedder(workspace, config)
    assert folder is not None, "the script needs vectors: --embedder MODEL"
    assert embedder is not None
    index = VectorIndex.open(folder)
    with CorpusStore.open(place.store, read_only=True) as store, embedder:
        rows = rows_of(store, index)
        examples = list(asked(rows, embedder.embed_queries))
        (probe,) = embedder.embed_queries([PROBE])
    texts = np.ascontiguousarray(index.vectors)
    seen = [one for one in examples if one.half == SEEN]
    counted = [one for one in examples if one.half != SEEN]
    plain: Matrix = np.eye(len(probe), dtype=np.float32)
    matrix = fit(seen, texts)
    held_out: list[tuple[bool, bool]] = []
    for fold in folds([one.law for one in seen], FOLDS, 0):
        without = fit([one for i, one in enumerate(seen) if i not in fold], texts)
        held_out += ranks([seen[i] for i in fold], texts, without)
    told("seen, as embedded", ranks(seen, texts, plain))
    told(f"seen, {FOLDS} folds by law", held_out)
    told("counted, as embedded", ranks(counted, texts, plain))
    told("counted, turned", ranks(counted, texts, matrix))
    np.savez_compressed(arguments.out, matrix=matrix.astype(np.float16), probe=probe)


def rows_of(store: CorpusStore, index: VectorIndex) -> dict[str, list[int]]:
    """By article of a law, the rows of the vectors of its texts."""
    rows: dict[str, list[int]] = defaultdict(list)
    headings = store.headings([key for key, _ in index.entries()])
    for key, row in index.entries():
        if key in headings:
            rows[headings[key][0]].append(row)
    return rows


def asked(
    rows: dict[str, list[int]], embed: Callable[[Sequence[str]], Matrix]
) -> Iterator[AdapterExample]:
    """Questions with vectors of their gold provisions, without follow-ups."""
    for file in sorted((*QUESTIONS.glob("*.jsonl"), *ASKED.glob("*.jsonl"))):
        for line in file.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            units = [f"{gold['law_id']}#{gold['article']}" for gold in one["gold"]]
            gold = sorted({row for unit in units for row in rows.get(unit, ())})
            if gold and not one.get("history"):
                (vector,) = embed([one["question"]])
                yield AdapterExample(one["gold"][0]["law_id"], one["half"], vector, gold)


def fit(examples: Sequence[AdapterExample], texts: Matrix) -> Matrix:
    """The matrix for some questions, by Adam (Kingma and Ba 2015)."""
    questions = np.stack([one.vector for one in examples])
    identity = np.eye(questions.shape[1], dtype=np.float32)
    matrix, mean, square = identity.copy(), np.zeros_like(identity), np.zeros_like(identity)
    random = np.random.default_rng(0)
    for step in range(1, STEPS + 1):
        batch = random.choice(len(examples), min(BATCH, len(examples)), replace=False)
        slope = gradient(matrix, questions[batch], [examples[i].gold for i in batch], texts)
        slope += RIDGE * (matrix - identity) / len(identity)
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        spread = np.sqrt(square / (1 - 0.999**step)) + 1e-8
        matrix = matrix - RATE * (mean / (1 - 0.9**step)) / spread
    return matrix.astype(np.float32)


def gradient(
    matrix: Matrix, questions: Matrix, gold: Sequence[Sequence[int]], texts: Matrix
) -> Matrix:
    """Of the loss by the matrix; of several gold texts the likeliest counts most."""
    turned = questions @ matrix.T
    lengths = np.linalg.norm(turned, axis=1, keepdims=True)
    units = turned / lengths
    odds = units @ texts.T / TEMPERATURE
    chosen = np.exp(odds - odds.max(axis=1, keepdims=True))
    chosen /= chosen.sum(axis=1, keepdims=True)
    for row, places in zip(chosen, gold, strict=True):
        right = row[places] / row[places].sum()
        row[places] -= right
    slope = chosen @ texts / (TEMPERATURE * len(questions))
    slope = (slope - (slope * units).sum(axis=1, keepdims=True) * units) / lengths
    found: Matrix = slope.T @ questions
    return found


def ranks(
    examples: Sequence[AdapterExample], texts: Matrix, matrix: Matrix
) -> list[tuple[bool, bool]]:
    """Of each question, whether a gold text is among the first two, and among the ten nearest."""
    found = []
    for one in examples:
        cosines = texts @ (matrix @ one.vector)
        before = int((cosines > cosines[one.gold].max()).sum())
        found.append((before < FIRST, before < HITS))
    return found


def told(what: str, found: Sequence[tuple[bool, bool]]) -> None:
    """Print both rates."""
    first, ten = (sum(column) for column in zip(*found, strict=True))
    n = len(found)
    print(f"{what:<24} n = {n}   first two {rate(first, n)}   ten {rate(ten, n)}")


if __name__ == "__main__":
    main()

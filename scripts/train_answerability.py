"""Fit the weights of ``localrag.answer.support``; writes them with their provenance.

A logistic regression with a ridge penalty and no negative weight: more of a sign always favours an
answer. Provisions, passages found by words and passages found by vectors have their own weights.
Those of provisions serve both searches, because the query matrix was fitted on the same questions.
Training data:

- JSQuAD: the paragraph is present, or withheld while others of its page stay;
- HotpotQA and MuSiQue: the supporting paragraphs are present, or all withheld;
- four-choice law questions, and lawyers' questions of the half that may be seen: a gold article is
  among the hits. Nothing is withheld, because other articles may answer too; but of a question that
  names no law the whole law is, with its orders;
- questions of other corpora: JSQuAD's on the laws, law questions on JSQuAD.

Cross-validation keeps questions of one page or law together. JSQuAD's judging questions
(``scripts/bench/squad.py``) and the counted half of lawyers' questions are left out.
``--embedder`` also fits the weights with vectors, for passages on JSQuAD; else they stay.
"""

import json
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w
from bench.corpora import law_questions, open_corpus
from bench.lawyers import ASKED, QUESTIONS
from bench.multihop import normal, supporting_paragraphs
from bench.options import REPOSITORY, parser
from bench.squad import JUDGES, SquadQuestion, is_paragraph, kept_from, questions
from scipy.optimize import minimize
from train_statute_lexical import folds

from localrag.answer.extractive import quotations
from localrag.answer.support import (
    PASSAGES_BY_VECTORS,
    PASSAGES_BY_WORDS,
    PROVISIONS,
    SIGNS,
    kind_of,
)
from localrag.corpus.types import Passage
from localrag.search.pipeline import Retriever
from localrag.search.query import OrdersUnder
from localrag.search.reading import Retrieval
from localrag.search.types import Query

WEIGHTS = REPOSITORY / "localrag" / "answer" / "answerability.toml"
HITS = 10
DEEP = 100
"""Hits before those of a whole law are withheld."""
JSQUAD, OFF_TOPIC = 800, 150
"""Questions of JSQuAD that are asked of their own corpus, and of the laws."""
FOLDS = 10
PENALTY = 1.0
LOST = {
    PROVISIONS: 0.005,
    PASSAGES_BY_WORDS: 0.03,
    PASSAGES_BY_VECTORS: 0.035,
}
"""Share of the answered questions that fall below the threshold, in cross-validation.

With those whose paragraph is not found at all, about a twentieth of all questions is then refused.
Of law it is fewer: a question whose law the corpus has is hardly ever refused.
"""
SINGLE_HOP = ("jsquad", "laws")
"""Sources whose questions one passage answers: the threshold is chosen on them."""
DIGITS = 4


@dataclass(frozen=True)
class QuotationExample:
    """The best quotation for a question.

    Attributes:
        group: page or law; never divided between training and test.
        answered: whether the answering text was found.
    """

    source: str
    group: str
    answered: bool
    signs: Mapping[str, float]


def main() -> None:
    """Fit, print what became of every source, and write the file."""
    options = parser(__doc__, work=True)
    options.add_argument("--embedder", metavar="PATH", help="fit the weights with vectors, too")
    arguments = options.parse_args()
    data, work = arguments.data, arguments.work.resolve()
    file: dict[str, Any] = tomllib.loads(WEIGHTS.read_text(encoding="utf-8"))
    found = list(observed(data, work))
    for kind in (PROVISIONS, PASSAGES_BY_WORDS):
        file[kind] = fitted(of_kind(found, kind), kind, "words")
    if arguments.embedder:
        searched = Path(arguments.embedder).name
        near = list(jsquad(data, work, arguments.embedder))
        file[PASSAGES_BY_VECTORS] = fitted(
            of_kind(near, PASSAGES_BY_VECTORS), PASSAGES_BY_VECTORS, searched
        )
    WEIGHTS.write_text(tomli_w.dumps(file), encoding="utf-8")


def of_kind(examples: Iterable[QuotationExample], kind: str) -> list[QuotationExample]:
    """The examples that are judged by the weights of one kind."""
    return [example for example in examples if kind_of(example.signs) == kind]


def fitted(examples: Sequence[QuotationExample], kind: str, searched: str) -> dict[str, Any]:
    """Weights of one kind with their provenance, as in the file; printed too."""
    names = SIGNS[kind]
    held_out = cross_validated(examples, names)
    answered = np.array([example.answered for example in examples])
    single = np.array([example.source in SINGLE_HOP for example in examples])
    quoted_from = round(float(np.quantile(held_out[answered & single], LOST[kind])), DIGITS)
    base, weights = fit(examples, names)
    sources = {}
    for source in sorted({example.source for example in examples}):
        for told, right in (("there", True), ("withheld", False)):
            of = np.array([one.source == source and one.answered == right for one in examples])
            if of.any():
                refused = float((held_out[of] < quoted_from).mean())
                sources[f"{source}, {told}"] = f"{refused:.3f} of {of.sum()}"
    provenance = {
        "script": "scripts/train_answerability.py",
        "searched": searched,
        "validation": f"{FOLDS} folds by page or law",
        "penalty": PENALTY,
        "log_loss": round(log_loss(held_out, answered), DIGITS),
        "refused": sources,
        "date": date.today().isoformat(),
    }
    print(tomli_w.dumps(provenance))
    return {
        "base": base,
        "quoted_from": quoted_from,
        "signs": dict(zip(names, weights, strict=True)),
        "provenance": provenance,
    }


def fit(examples: Sequence[QuotationExample], names: Sequence[str]) -> tuple[float, list[float]]:
    """Base and weights; the penalty applies to the signs at equal spread."""
    values = np.array([[example.signs[name] for name in names] for example in examples])
    answered = np.array([1.0 if example.answered else -1.0 for example in examples])
    spread = values.std(0)
    spread[spread == 0] = 1
    scaled = np.hstack([np.ones((len(values), 1)), values / spread])
    free = np.array([0.0, *(1.0 for _ in names)])

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margins = answered * (scaled @ weights)
        value = np.logaddexp(0, -margins).sum() + PENALTY * (free * weights**2).sum()
        slope = -(answered / (1 + np.exp(margins))) @ scaled
        return float(value), slope + 2 * PENALTY * free * weights

    bounds = [(None, None), *((0, None) for _ in names)]
    found = minimize(loss, np.zeros(len(bounds)), jac=True, method="L-BFGS-B", bounds=bounds)
    weights = found.x[1:] / spread
    return round(float(found.x[0]), DIGITS), weights.round(DIGITS).tolist()


def cross_validated(examples: Sequence[QuotationExample], names: Sequence[str]) -> np.ndarray:
    """The probability of every example, by weights fitted without its page or law."""
    found = np.zeros(len(examples))
    for held_out in folds([example.group for example in examples], FOLDS, 0):
        base, weights = fit([one for i, one in enumerate(examples) if i not in held_out], names)
        for i in held_out:
            signs = [examples[i].signs[name] for name in names]
            found[i] = 1 / (1 + np.exp(-base - np.dot(signs, weights)))
    return found


def log_loss(probable: np.ndarray, answered: np.ndarray) -> float:
    """The mean negative logarithm of the probability given to what was so."""
    return float(-np.log(np.where(answered, probable, 1 - probable)).mean())


def observed(data: Path, work: Path) -> Iterator[QuotationExample]:
    """All examples, searched by words."""
    yield from jsquad(data, work, "")
    yield from multihop(data, work)
    yield from statutes(data, work)


def jsquad(data: Path, work: Path, embedder: str) -> Iterator[QuotationExample]:
    """The paragraph there and withheld, and the lawyers' questions asked of JSQuAD."""
    squad = data / "jsquad" / "valid-v1.3.json"
    with open_corpus(work, "jsquad-alone", [squad], embedder) as retriever:
        for asked in list(questions(squad))[JUDGES : JUDGES + JSQUAD]:
            found = retriever.search(Query(asked.text), HITS + 1)
            yield from both(retriever, "jsquad", asked.page, found, of(asked))
        for group, query, _ in law_cases(data):
            found = retriever.search(query, HITS)
            yield from example(retriever, "laws in jsquad", group, found, answered=False)


def multihop(data: Path, work: Path) -> Iterator[QuotationExample]:
    """The supporting paragraphs there and withheld."""
    for name in ("hotpotqa", "musique"):
        folder = data / "multihop"
        with open_corpus(work, name, [folder / f"{name}_corpus.json"]) as retriever:
            for text, gold in supporting_paragraphs(folder / f"{name}.json"):
                found = retriever.search(Query(text), HITS + len(gold))

                def supports(passage: Passage, gold: Collection[str] = gold) -> bool:
                    return normal(passage.text) in gold

                yield from both(retriever, name, text, found, supports)


def statutes(data: Path, work: Path) -> Iterator[QuotationExample]:
    """Law questions with the gold found or its law withheld, and JSQuAD's asked of the laws."""
    laws = [data / "egov" / "xml", data / "egov" / "xml_2015"]
    with open_corpus(work, "statutes", laws) as retriever:
        orders = OrdersUnder(retriever.store, retriever.names)
        for group, query, gold in law_cases(data):
            found = retriever.search(query, DEEP)
            there = kept_from(found, lambda _: False, HITS)
            if any(hit.passage.id.partition(".")[0] in gold for hit in there.hits):
                yield from example(retriever, "laws", group, there, answered=True)
            if query.options or found.laws:
                continue
            acts = {unit.partition("#")[0] for unit in gold}
            acts |= {act for law_id in acts for act in retriever.names.parents(law_id)}
            family = acts.union(*map(orders, acts))

            def related(passage: Passage, family: Collection[str] = family) -> bool:
                return passage.document_id in family

            without = kept_from(found, related, HITS)
            yield from example(retriever, "laws", group, without, answered=False)
        for asked in list(questions(data / "jsquad" / "valid-v1.3.json"))[-OFF_TOPIC:]:
            query = Query(asked.text)
            found = retriever.search(query, HITS)
            yield from example(retriever, "jsquad in laws", asked.page, found, answered=False)


def law_cases(data: Path) -> Iterator[tuple[str, Query, frozenset[str]]]:
    """Law questions with their law, and their gold articles as ids of passages."""
    for question in law_questions(data / "lawqa" / "train.jsonl"):
        gold = frozenset(f"{one.document}#{one.article}" for one in question.gold)
        yield question.gold[0].document, question.query, gold
    for file in sorted((*QUESTIONS.glob("*.jsonl"), *ASKED.glob("*.jsonl"))):
        for line in file.read_text(encoding="utf-8").splitlines():
            asked = json.loads(line)
            # What follows other questions is no question by itself.
            if asked["half"] == "seen" and asked["gold"] and not asked.get("history"):
                gold = frozenset(f"{one['law_id']}#{one['article']}" for one in asked["gold"])
                yield asked["gold"][0]["law_id"], Query(asked["question"]), gold


def both(
    retriever: Retriever,
    source: str,
    group: str,
    found: Retrieval,
    is_gold: Callable[[Passage], bool],
) -> Iterator[QuotationExample]:
    """The example with the answering text, if found, and the one without it."""
    there = kept_from(found, lambda _: False, HITS)
    if any(is_gold(hit.passage) for hit in there.hits):
        yield from example(retriever, source, group, there, answered=True)
    yield from example(retriever, source, group, kept_from(found, is_gold, HITS), answered=False)


def example(
    retriever: Retriever,
    source: str,
    group: str,
    found: Retrieval,
    *,
    answered: bool,
) -> Iterator[QuotationExample]:
    """The example of one search; none where nothing is found at all."""
    signs = quotations(retriever, found).signs
    if signs:
        yield QuotationExample(source, group, answered, signs)


def of(asked: SquadQuestion) -> Callable[[Passage], bool]:
    """Whether a passage is the paragraph of a question."""
    return lambda passage: is_paragraph(passage.text, asked.context)


if __name__ == "__main__":
    main()

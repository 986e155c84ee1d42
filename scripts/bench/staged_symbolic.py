"""Exact match of staged-symbolic on the JEMHopQA questions, and its refusals.

The store holds the triples of these questions. Unanswerable ones are the same questions without
their own triples; the store still answers some by other triples, so wrong answers are counted
apart.

Rules and thresholds were made with half A of the questions (by a hash of ids) and all predicates in
view. Of half B only these figures were seen. ``--more N`` gives every subject N more triples, made
from those of others.

``--world`` asks questions of an invented world, written before the rules were seen. Rules were
improved on odd lines; of even lines only these figures were seen. Questions without an answer there
are unanswerable.
"""

import json
import random
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from bench.corpora import json_lines, open_corpus
from bench.options import REPOSITORY, parser
from bench.rates import latency, rate

from localrag.answer.types import Answer, Status
from localrag.corpus.config import load
from localrag.corpus.knowledge import Knowledge, KnownTriple, SubjectMention
from localrag.corpus.workspace import Workspace
from localrag.evaluation.datasets.readers import Sources, read
from localrag.evaluation.measures.answers import exact
from localrag.evaluation.types import Question
from localrag.methods.answering import Answerer, MethodResources
from localrag.methods.catalogue import method
from localrag.search.predicates import likeness
from localrag.search.types import Query

_NAME = "staged-symbolic"
_ALIKE = 0.6
_WORLD = REPOSITORY / "tests/localrag/methods/staged_symbolic"


class _SymbolicQuestion(NamedTuple):
    """A question, its answer, and the answer without its own triples."""

    question: Question
    answer: Answer
    seconds: float
    without: Answer


class _Without(Knowledge):
    """Knowledge without some triples, and without subjects that have no others."""

    def __init__(self, knowledge: Knowledge, left_out: Sequence[KnownTriple]) -> None:
        self._knowledge = knowledge
        self._left_out = set(left_out)
        self._gone = {
            subject
            for subject in {one.triple.subject for one in left_out}
            if not self.about(subject)
        }

    def subjects(self, name: str) -> list[str]:
        return [one for one in self._knowledge.subjects(name) if one not in self._gone]

    def mentions(self, text: str) -> list[SubjectMention]:
        return [
            SubjectMention(one.start, one.end, left)
            for one in self._knowledge.mentions(text)
            if (left := tuple(each for each in one.subjects if each not in self._gone))
        ]

    def about(self, subject: str, limit: int | None = None) -> list[KnownTriple]:
        return [one for one in self._knowledge.about(subject) if one not in self._left_out][:limit]


def main() -> None:
    """Print the figures of both halves, and of all questions."""
    options = parser(__doc__, work=True)
    options.add_argument("--more", type=int, default=0, metavar="N", help="made triples a subject")
    options.add_argument("--world", action="store_true", help="ask about the invented world")
    arguments = options.parse_args()
    if arguments.world:
        _print_world(_ask_world(arguments.work.resolve()))
        return
    source = arguments.data / "jemhopqa"
    content = (source / "train.json").read_bytes()
    questions = read("jemhopqa", "train.json", content, Sources())
    asked = _ask(questions, source / "triples.jsonl", arguments.work.resolve(), arguments.more)
    print(f"seconds a question: {latency([one.seconds for one in asked])}")
    halves: dict[str, Callable[[Question], bool]] = {
        "half A": _in_first_half,
        "half B": lambda question: not _in_first_half(question),
        "all": bool,
    }
    for name, chosen in halves.items():
        print(f"\n{name}")
        _print([one for one in asked if chosen(one.question)])


def _ask(
    questions: Sequence[Question], triples: Path, work: Path, more: int
) -> list[_SymbolicQuestion]:
    """Ask every question, as it is and without its own triples."""
    corpus = f"jemhopqa-{more}"
    paths = [triples, _further(triples, work, more)] if more else [triples]
    open_corpus(work, corpus, paths).close()
    workspace = Workspace(work / "home")
    asked = []
    with ExitStack() as stack:
        resources = stack.enter_context(MethodResources(workspace, corpus, load(workspace)))
        answerer = Answerer(method(_NAME), resources)
        store = resources.retriever.store
        knowledge = store.knowledge
        answerer.answer(questions[0].query)  # the first one loads the dictionaries
        for question in questions:
            since = perf_counter()
            answer = answerer.answer(question.query)
            seconds = perf_counter() - since
            own = {(triple.subject, triple.predicate) for triple in question.derivation}
            left_out = [
                one
                for subject, _ in own
                for one in knowledge.about(subject)
                if (subject, one.triple.predicate) in own
            ]
            store.knowledge = _Without(knowledge, left_out)
            asked.append(
                _SymbolicQuestion(question, answer, seconds, answerer.answer(question.query))
            )
            store.knowledge = knowledge
    return asked


def _ask_world(work: Path) -> list[tuple[str, Answer]]:
    """The questions on the invented world, each as the answer expected, "" for none, and given."""
    open_corpus(work, "world", [_WORLD / "world.tsv"]).close()
    workspace = Workspace(work / "home")
    with MethodResources(workspace, "world", load(workspace)) as resources:
        answerer = Answerer(method(_NAME), resources)
        return [
            (str(row["answer"] or ""), answerer.answer(Query(str(row["question"]))))
            for row in json_lines(_WORLD / "world_questions.jsonl")
        ]


def _print_world(asked: Sequence[tuple[str, Answer]]) -> None:
    print(
        f"{'':<8}{'n':>5}  {'exact match':<22}{'answered':<22}{'right of answered':<22}"
        f"{'right of supported':<22}{'unanswerable: n':>16}  not found"
    )
    for name, some in (("odd", asked[::2]), ("even", asked[1::2]), ("all", asked)):
        answerable = [one for one in some if one[0]]
        unanswerable = [answer for expected, answer in some if not expected]
        given = [one for one in some if one[1].status is not Status.NOT_FOUND]
        supported = [one for one in given if one[1].status is Status.SUPPORTED]
        print(
            f"{name:<8}{len(answerable):>5}  {_right(answerable):<22}"
            f"{rate(sum(one in given for one in answerable), len(answerable)):<22}"
            f"{_right(given):<22}{_right(supported):<22}{len(unanswerable):>16}  "
            f"{rate(sum(a.status is Status.NOT_FOUND for a in unanswerable), len(unanswerable))}"
        )


def _right(asked: Sequence[tuple[str, Answer]]) -> str:
    right = sum(bool(expected and exact(given.text, expected)) for expected, given in asked)
    return rate(right, len(asked))


def _further(triples: Path, work: Path, more: int) -> Path:
    """A file with more triples of every subject: new predicates, objects of others."""
    rows = list(json_lines(triples))
    draw = random.Random(1)
    path = work / f"jemhopqa-further-{more}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as out:
        for subject in dict.fromkeys(row["subject"] for row in rows):
            known = [str(row["predicate"]) for row in rows if row["subject"] == subject]
            enough = len(known) + more
            for row in draw.sample(rows, 2 * more):
                predicate = str(row["predicate"])
                if len(known) < enough and all(likeness(predicate, k) < _ALIKE for k in known):
                    known.append(predicate)
                    out.write(json.dumps(row | {"subject": subject}, ensure_ascii=False) + "\n")
    return path


def _in_first_half(question: Question) -> bool:
    return sha256(question.id.encode()).digest()[0] % 2 == 0


def _print(asked: Sequence[_SymbolicQuestion]) -> None:
    groups: dict[str, Callable[[Question], bool]] = {
        "comparison": lambda question: question.groups["type"] == "comparison",
        "  YES/NO": lambda question: question.groups["answer"] == "YES/NO",
        "  other": lambda question: (
            question.groups["type"] == "comparison" and question.groups["answer"] == "other"
        ),
        "compositional": lambda question: question.groups["type"] == "compositional",
        "all": bool,
    }
    print(
        f"{'':<15}{'n':>5}  {'exact match':<22}{'answered':<22}{'right of answered':<22}"
        f"{'supported':<22}{'right of supported':<22}"
    )
    for name, chosen in groups.items():
        some = [one for one in asked if chosen(one.question)]
        right = [one for one in some if exact(one.answer.text, one.question.answer)]
        answered = [one for one in some if one.answer.status is not Status.NOT_FOUND]
        supported = [one for one in some if one.answer.status is Status.SUPPORTED]
        rates = (
            rate(len(right), len(some)),
            rate(len(answered), len(some)),
            rate(len(right), len(answered)),
            rate(sum(one in right for one in supported), len(supported)),
        )
        print(
            f"{name:<15}{len(some):>5}  {rates[0]:<22}{rates[1]:<22}{rates[2]:<22}"
            f"{rate(len(supported), len(some)):<22}{rates[3]:<22}"
        )
    print(f"{'unanswerable':<15}{'n':>5}  {'not found':<22}{'answered wrongly':<22}")
    for name, chosen in groups.items():
        some = [one for one in asked if chosen(one.question)]
        nothing = [one for one in some if one.without.status is Status.NOT_FOUND]
        wrong = [
            one
            for one in some
            if one not in nothing and not exact(one.without.text, one.question.answer)
        ]
        print(
            f"{name:<15}{len(some):>5}  {rate(len(nothing), len(some)):<22}"
            f"{rate(len(wrong), len(some)):<22}"
        )


if __name__ == "__main__":
    main()

"""A model rates answers over a collection in pairs, on the six measures of PR3.

Each pair of entries is rated twice on each question, with either answer first. Scores are 0 to
100, and ties are allowed. The report shows how often both orders agree. An empty answer scores 0
without a call.

A line of ``ratings-<fingerprint>.jsonl`` holds the scores of two answers in one order, or a
problem. The fingerprint is the judge's.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from time import perf_counter
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field, TypeAdapter

from localrag.answer.asking import ask
from localrag.answer.evidence import element
from localrag.answer.prompts import language_of, prompt
from localrag.corpus.config import ChatConfig
from localrag.corpus.inference.opening import open_chat
from localrag.corpus.journal import Journal
from localrag.errors import ModelUnusable, WorkspaceError
from localrag.evaluation import places
from localrag.evaluation.answers import Answered, read_rows
from localrag.evaluation.judging import keep_each, opened
from localrag.evaluation.planning import Plan, Setup, fingerprint
from localrag.evaluation.types import Judging, Listener, PairRating, Scores, Spent
from localrag.language import N_, _
from localrag.methods.catalogue import LONGEST_REASON
from localrag.prepare.layers import digest
from localrag.search.types import ModelCall
from localrag.text.progress import Phase
from localrag_models.chat import ChatModel

MEASURES = ("recall", "precision", "specificity", "breadth", "depth", "relevancy")
"""What answers are rated on."""

_PHASE = Phase(N_("rating"), N_("pairs of answers"))
_STOPPED = N_("the judge was stopped before it came to these answers")
_Points = Annotated[int, Field(ge=0, le=100)]


class _GivenScores(BaseModel):
    recall: _Points
    precision: _Points
    specificity: _Points
    breadth: _Points
    depth: _Points
    relevancy: _Points


class _RatingReply(BaseModel):
    # The reason comes first: the numbers are then written with it in view.
    reason: Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)]
    first: _GivenScores
    second: _GivenScores


@dataclass(frozen=True, slots=True)
class Rating:
    """Scores of two answers in one order."""

    pair: str  # digest of the question and both answers
    scores: Scores  # of the answer shown first and the other; empty if there are none
    problem: str
    spent: Spent


_RATINGS = TypeAdapter(Rating)


class ShownPair(NamedTuple):
    """Two answers to a question, in the order shown."""

    question: str
    first: str
    second: str

    @property
    def digest(self) -> str:
        """Identifies both answers and their order."""
        return digest(*self)


class _AnswerPair(NamedTuple):
    id: str
    names: tuple[str, str]
    shown: ShownPair

    @property
    def orders(self) -> tuple[ShownPair, ShownPair]:
        return self.shown, ShownPair(self.shown.question, self.shown.second, self.shown.first)

    @property
    def has_words(self) -> bool:
        return bool(self.shown.first or self.shown.second)


def rate(plan: Plan, setups: Sequence[Setup], *, retry_failed: bool, on_event: Listener) -> int:
    """Ask for missing ratings, and for problems with `retry_failed`; returns their number."""
    left = pending(plan, setups, retry_failed=retry_failed)
    if plan.judge is None or not left:
        return 0
    model = open_chat(plan.workspace, plan.judge.config)
    assert model is not None, "a judge has a name"
    names = ", ".join(setup.name for setup in setups)
    on_event(Judging(names, plan.judge.name, 1, 1))
    asked = [(id_, partial(rated, model, plan.judge.config.chat, pair)) for id_, pair in left]
    with model, opened(_journal(_path(plan))) as journal:
        keep_each(asked, journal, model.parallel, _PHASE, names, on_event)
    return len(left)


def pending(
    plan: Plan, setups: Sequence[Setup], *, retry_failed: bool
) -> list[tuple[str, ShownPair]]:
    """Pairs of answers without a rating, with the id of their question; opens no model.

    The result is empty without a judge, or if the judge gives verdicts.
    """
    if plan.judge is None or not plan.measure.rated:
        return []
    given = _read(_path(plan))
    left: dict[str, tuple[str, ShownPair]] = {}
    for pair in _pairs(plan, setups):
        for shown in pair.orders if pair.has_words else ():
            known = given.get(shown.digest)
            if known is None or (retry_failed and known.problem):
                left[shown.digest] = (pair.id, shown)
    return list(left.values())


def expected(plan: Plan, setup: Setup) -> int:
    """Ratings still needed of an entry against earlier ones, at most."""
    before = plan.setups[: plan.setups.index(setup)]
    given = _read(_path(plan))
    known = sum(
        shown.digest in given
        for pair in _pairs(plan, (*before, setup))
        if pair.names[1] == setup.name
        for shown in pair.orders
    )
    return 2 * plan.n * len(before) - known


def ratings(plan: Plan, setups: Sequence[Setup]) -> tuple[PairRating, ...]:
    """Ratings of every two entries; empty if no judge rates them."""
    if plan.judge is None or not plan.measure.rated:
        return ()
    given = _read(_path(plan))
    return tuple(_rating(pair, given) for pair in _pairs(plan, setups))


def rated(model: ChatModel, settings: ChatConfig, pair: ShownPair) -> Rating:
    """A model rates two answers in this order.

    There are no scores if the reply stayed malformed, or the prompt does not fit the context.
    """
    begun = perf_counter()
    calls: list[ModelCall] = []
    messages = prompt(
        "judge_pair",
        language_of(pair.question),
        question=pair.question,
        first=pair.first,
        second=pair.second,
        longest=LONGEST_REASON,
        tag=element("text", pair),
    )
    scores: Scores = {}
    problem = ""
    try:
        reply = ask(model, settings, messages, _RatingReply, calls.append, "judge pair")
    except ModelUnusable as error:
        if not error.of_one_request:
            raise
        problem = error.cause
    else:
        # An empty answer scores 0, without asking the model.
        first, second = (
            given.model_dump() if text else dict.fromkeys(MEASURES, 0)
            for given, text in ((reply.first, pair.first), (reply.second, pair.second))
        )
        scores = {measure: (first[measure], second[measure]) for measure in MEASURES}
    return Rating(pair.digest, scores, problem, Spent.of(calls, perf_counter() - begun))


def _pairs(plan: Plan, setups: Sequence[Setup]) -> Iterator[_AnswerPair]:
    answers = {
        setup.name: read_rows(places.order_file(setup.folder, 0), Answered.of, plan.n)
        for setup in setups
    }
    for one, other in combinations(answers, 2):
        for row in sorted(answers[one].keys() & answers[other].keys()):
            question = plan.asked[row - 1]
            texts = answers[one][row].text.strip(), answers[other][row].text.strip()
            yield _AnswerPair(question.id, (one, other), ShownPair(question.query.text, *texts))


def _rating(pair: _AnswerPair, given: Mapping[str, Rating]) -> PairRating:
    missing = Rating("", {}, _(_STOPPED), Spent())
    if not pair.has_words:
        missing = Rating("", dict.fromkeys(MEASURES, (0, 0)), "", Spent())
    named, swapped = (given.get(shown.digest, missing) for shown in pair.orders)
    turned = {measure: (first, second) for measure, (second, first) in swapped.scores.items()}
    return PairRating(
        pair.id,
        *pair.names,
        named.scores,
        turned,
        named.problem or swapped.problem,
        Spent(*map(sum, zip(astuple(named.spent), astuple(swapped.spent), strict=True))),
    )


def _path(plan: Plan) -> Path:
    assert plan.judge is not None, "there is a judge"
    return places.ratings(
        plan.workspace, plan.questions.dataset.name, fingerprint(plan.judge.made_with)
    )


def _read(path: Path) -> dict[str, Rating]:
    return {line.row.pair: line.row for line in _journal(path).lines()}


def _journal(path: Path) -> Journal[Rating]:
    return Journal(path, _RATINGS, partial(_damaged, path))


def _damaged(path: Path, number: int) -> WorkspaceError:
    return WorkspaceError(
        N_("{path}, line {n} is no rating."),
        N_("Delete that line: the answers are rated again."),
        path=path,
        n=number,
    )

"""Choose how a corpus is searched, by measuring it on questions with known answers.

Published results differ: words find more than vectors on some corpora, and less on others.
"""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from time import perf_counter

from localrag.corpus.config import Config, RetrievalConfig
from localrag.corpus.durable import replace_text, storing
from localrag.corpus.readers.bounds import json_object, numbered_lines
from localrag.corpus.readers.types import Limits
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import PASSAGES
from localrag.corpus.workspace import CorpusPaths, Workspace
from localrag.errors import InputError, LocalragError, UsageError
from localrag.evaluation.datasets.keeping import no_file, unreadable
from localrag.language import N_, _
from localrag.search.finding import find
from localrag.search.pipeline import Retriever
from localrag.search.query import check
from localrag.search.types import Query
from localrag.search.units import article_unit

FEWEST = 10
"""Fewer questions tell nothing about which way is better."""

_LIMITS = Limits(line_bytes=1_000_000, unpacked_bytes=1 << 62)
_RESAMPLES = 2000
_SEED = 0


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question, and the units answering it."""

    query: Query
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class Unusable:
    """A line of the questions without use, and the cause."""

    line: int
    cause: str


@dataclass(frozen=True, slots=True)
class Trial:
    """One way of searching, and its figures."""

    name: str  # "words", "words + meaning 1:2, reread" …
    settings: RetrievalConfig
    ndcg: float  # mean nDCG of the first k (Järvelin and Kekäläinen 2002), with gain 1
    any_found: int  # any_found, all_found: questions with any or all units among the first k
    all_found: int
    # nDCG below the best, with its 95 % interval (paired bootstrap)
    behind: tuple[float, float, float]
    seconds: float


@dataclass(frozen=True, slots=True)
class Tuning:
    """Result of the measurement."""

    questions: int
    unusable: tuple[Unusable, ...]
    k: int
    tried: tuple[str, ...]  # the varied settings, if there is a model for them
    trials: tuple[Trial, ...]  # from the simplest to the most costly
    chosen: Trial  # the simplest one not clearly behind the best


def tune(
    workspace: Workspace,
    corpus: str,
    config: Config,  # names the models; its settings of retrieval are ignored
    questions: Path,
    *,
    on_progress: Callable[[int, int], None] | None = None,
) -> Tuning:
    """Measure every way of searching that the models allow; needs `FEWEST` usable questions."""
    everything = {"lexical": True, "dense": "auto", "rerank": "auto"}
    every = config.model_copy(update={"retrieval": config.retrieval.model_copy(update=everything)})
    with Retriever.open(workspace, corpus, every) as retriever:
        judged, unusable = _read(questions, retriever.store)
        ways = _ways(every.retrieval, retriever)
        tried = _WITH_DENSE * retriever.has_dense + _WITH_RERANK * retriever.has_rerank
        total = len(ways) * len(judged)
        measured = []
        for number, (name, settings) in enumerate(ways):
            started = perf_counter()
            ranks = []
            for done, question in enumerate(judged, 1):
                ranks.append(_ranked(retriever, question, settings))
                if on_progress is not None:
                    on_progress(number * len(judged) + done, total)
            seconds = (perf_counter() - started) / len(judged)
            measured.append((name, settings, ranks, seconds))
    trials = _compared(judged, measured, every.retrieval.k)
    chosen = next(trial for trial in trials if trial.behind[1] <= 0)
    return Tuning(len(judged), tuple(unusable), config.retrieval.k, tried, tuple(trials), chosen)


def apply(place: CorpusPaths, tuning: Tuning) -> Path:
    """Make the chosen way the default of a corpus; returns the file, changed only there."""
    if not tuning.tried:
        raise UsageError(
            N_("Only words were tried, so there is nothing to choose."),
            N_("Set embedding.model or reranking.model first: localrag models list"),
        )
    chosen = tuning.chosen
    values = {name: getattr(chosen.settings, name) for name in tuning.tried}
    lines = [
        f"# Written by `localrag tune-retrieval`: {chosen.name}, nDCG@{tuning.k} {chosen.ndcg:.3f}",
        f"# on {tuning.questions} questions. Delete this file to have the defaults again.",
        "[retrieval]",
        *(f"{name} = {_toml(value)}" for name, value in values.items()),
    ]
    path = place.settings
    with storing(path):
        replace_text(path, "\n".join(lines) + "\n")
    return path


_WITH_DENSE = ("lexical", "dense", "fusion", "lexical_weight", "dense_weight")
_WITH_RERANK = ("rerank",)
_COMMON = {"lexical": True, "dense": "auto", "fusion": "scores"}


def _ways(settings: RetrievalConfig, retriever: Retriever) -> list[tuple[str, RetrievalConfig]]:
    ways: list[tuple[str, dict[str, object]]] = [("words", {"dense": "off"})]
    if retriever.has_dense:
        ways.append(("meaning", {"lexical": False}))
        for words, meaning in ((2, 1), (1, 1), (1, 2)):
            ways.append(
                (
                    f"words + meaning {words}:{meaning}",
                    {"lexical_weight": float(words), "dense_weight": float(meaning)},
                )
            )
        equal = {"fusion": "ranks", "lexical_weight": 1.0, "dense_weight": 1.0}
        ways.append(("words + meaning by ranks", equal))
    plain = [(name, {**changes, "rerank": "off"}) for name, changes in ways]
    reread = [(f"{name}, reread", {**changes, "rerank": "on"}) for name, changes in ways]
    chosen = plain + reread if retriever.has_rerank else plain
    return [(name, settings.model_copy(update={**_COMMON, **changes})) for name, changes in chosen]


def _ranked(retriever: Retriever, question: JudgedQuestion, settings: RetrievalConfig) -> list[str]:
    retrieval = retriever.search(question.query, settings=settings)
    return [hit.passage.id for hit in retrieval.hits]


def _compared(
    judged: Sequence[JudgedQuestion],
    measured: Sequence[tuple[str, RetrievalConfig, Sequence[Sequence[str]], float]],
    k: int,
) -> list[Trial]:
    gains = [
        [
            _ndcg(ranked, question.relevant, k)
            for ranked, question in zip(ranks, judged, strict=True)
        ]
        for _, _, ranks, _ in measured
    ]
    best = max(gains, key=fmean)
    return [
        Trial(
            name,
            settings,
            ndcg=fmean(gain),
            any_found=sum(
                not question.relevant.isdisjoint(ranked)
                for ranked, question in zip(ranks, judged, strict=True)
            ),
            all_found=sum(
                question.relevant <= set(ranked)
                for ranked, question in zip(ranks, judged, strict=True)
            ),
            behind=_difference(best, gain),
            seconds=seconds,
        )
        for (name, settings, ranks, seconds), gain in zip(measured, gains, strict=True)
    ]


def _ndcg(ranked: Sequence[str], relevant: frozenset[str], k: int) -> float:
    gain = sum(1 / math.log2(rank + 1) for rank, unit in enumerate(ranked, 1) if unit in relevant)
    return gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(len(relevant), k) + 1))


def _difference(best: Sequence[float], other: Sequence[float]) -> tuple[float, float, float]:
    """Mean paired difference with its 95 % percentile interval (Efron 1979, bootstrap)."""
    differences = [a - b for a, b in zip(best, other, strict=True)]
    rng = random.Random(_SEED)  # noqa: S311 - chance for statistics, not for secrets
    means = sorted(fmean(rng.choices(differences, k=len(differences))) for _ in range(_RESAMPLES))
    return (
        fmean(differences),
        means[round(0.025 * _RESAMPLES)],
        means[round(0.975 * _RESAMPLES) - 1],
    )


def _read(path: Path, store: CorpusStore) -> tuple[list[JudgedQuestion], list[Unusable]]:
    judged: list[JudgedQuestion] = []
    unusable: list[Unusable] = []
    for line, found in _lines(path, store):
        if isinstance(found, LocalragError):
            unusable.append(Unusable(line, found.cause))
        else:
            judged.append(found)
    if len(judged) < FEWEST:
        first = ""
        if unusable:
            words = _(" Line {n}: {cause}")
            first = words.format(n=unusable[0].line, cause=unusable[0].cause)
        raise InputError(
            N_("{path} holds {n} questions that can be measured; {fewest} are the least.{first}"),
            N_('Write one a line: {{"question": "…", "relevant": ["渡し舟法8条"]}}'),
            path=path,
            n=len(judged),
            fewest=FEWEST,
            first=first,
        )
    return judged, unusable


def _lines(path: Path, store: CorpusStore) -> Iterator[tuple[int, JudgedQuestion | LocalragError]]:
    try:
        with path.open("rb") as stream:
            for number, line in numbered_lines(stream, _LIMITS):
                if line is None:
                    yield number, InputError(N_("The line is too long."))
                elif line.strip():
                    try:
                        yield number, _judged(json_object(line), store)
                    except LocalragError as problem:
                        yield number, problem
    except FileNotFoundError as error:
        raise no_file(path) from error
    except OSError as error:
        raise unreadable(path, error) from error


def _judged(record: dict[str, object], store: CorpusStore) -> JudgedQuestion:
    match record:
        case {"question": str(question), "relevant": [*relevant]} if relevant and all(
            isinstance(one, str) for one in relevant
        ):
            pass
        case _:
            raise InputError(
                N_('The line needs "question", a text, and "relevant", a list of texts.')
            )
    options = record.get("options") or []
    if not isinstance(options, list) or not all(isinstance(option, str) for option in options):
        raise InputError(N_('"options" is not a list of texts.'))
    query = Query(question, tuple(options))
    check(query)
    return JudgedQuestion(query, frozenset(_unit(store, str(one)) for one in relevant))


def _unit(store: CorpusStore, written: str) -> str:
    """The unit of an entry in ``relevant``."""
    passage = find(store, written)
    if passage.layer == PASSAGES:
        return passage.id
    return article_unit(passage.document_id, passage.locator)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)

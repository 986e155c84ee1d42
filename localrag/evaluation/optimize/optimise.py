"""Optimise the prompt for writing queries, with GEPA; resumable, within a budget.

Source: Agrawal et al., "GEPA: Reflective Prompt Evolution Can Outperform Reinforcement Learning",
2025 (reflective mutation, selection from the Pareto front of the validation questions). Its merge
step is left out, because there is one text.
"""

import logging
import random
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any

from localrag.answer.prompts import Language, OptimisedPrompt, language_of
from localrag.corpus.config import Config, MethodConfig
from localrag.corpus.inference.opening import server_of
from localrag.corpus.workspace import Workspace
from localrag.errors import UsageError, to_install
from localrag.evaluation.datasets import loading
from localrag.evaluation.optimize.adapter import COMPONENT, Failed, QueryAdapter, Reflection
from localrag.evaluation.optimize.folder import Ended, Outcomes, RunFolder, Spending, key_of
from localrag.evaluation.optimize.leakage import LeakageGuard
from localrag.evaluation.optimize.task import QueryTask, Shared, scorable, weight, with_model
from localrag.evaluation.optimize.types import (
    Accepted,
    Begun,
    Listener,
    Objective,
    OptimisationOutcome,
    OptimisationPlan,
    OptimisationProgress,
    Reported,
    Reporting,
    Rollout,
)
from localrag.evaluation.types import Question, Questions
from localrag.language import N_
from localrag.methods.answering import MethodResources
from localrag.methods.catalogue import mark
from localrag.methods.searches import built_in
from localrag.ops.batch import origin as answers
from localrag.ops.batch.origin import Origin, weights
from localrag.text.facts import Fact, FactKind
from localrag.text.progress import ignore

FEWEST = 4
"""Questions that an optimisation needs: two to learn from, two to choose by."""


@dataclass(frozen=True, slots=True)
class Material:
    """Questions and first instruction of a run."""

    questions: Questions
    train: list[Question]
    validation: list[Question]
    unusable: int  # number of questions without what the objective needs
    language: Language
    seed: str
    others: list[Question]

    @classmethod
    def read(cls, workspace: Workspace, plan: OptimisationPlan, corpus: str) -> "Material":
        """Read and divide the questions of a plan; their laws are those of a corpus."""
        questions = _loaded(workspace, plan, plan.questions, corpus)
        usable = [one for one in questions.questions if scorable(one, plan.objective)]
        train, validation = split(usable, plan.seed, plan.limit)
        if len(train) + len(validation) < FEWEST:
            raise UsageError(
                N_(
                    "Only {n} questions can be used; {fewest} are needed. {lacking} of the dataset "
                    "have no gold place."
                )
                if plan.objective is Objective.RECALL
                else N_(
                    "Only {n} questions can be used; {fewest} are needed. {lacking} of the dataset "
                    "have no gold context."
                ),
                N_("Choose another dataset, split or --objective, or a higher --limit."),
                n=len(train) + len(validation),
                fewest=FEWEST,
                lacking=len(questions.questions) - len(usable),
            )
        if plan.calls <= len(validation):
            # Half of the questions, rounded up, are for validation.
            limit = 2 * (plan.calls - 1)
            raise UsageError(
                N_(
                    "The calls ({calls:,}) do not even score the built-in instruction on the {n:,} "
                    "validation questions."
                ),
                N_("Set --calls to {enough:,} at least; a good prompt takes some times as many.")
                if limit < FEWEST
                else N_(
                    "Set --calls to {enough:,} at least; a good prompt takes some times as many. "
                    "Or use fewer questions: --limit {limit:,}."
                ),
                calls=plan.calls,
                n=len(validation),
                enough=len(validation) + 1,
                limit=limit,
            )
        language = language_of("".join(one.query.text for one in train))
        unusable = len(questions.questions) - len(usable)
        others = _others(workspace, plan, corpus, [*train, *validation])
        return cls(questions, train, validation, unusable, language, built_in(language), others)


def _loaded(
    workspace: Workspace, plan: OptimisationPlan, file: Path | None, corpus: str
) -> Questions:
    gold_alone = plan.objective is Objective.RECALL
    return loading.load(
        workspace, plan.dataset, plan.split, file, corpus=corpus, gold_alone=gold_alone
    )


def _others(
    workspace: Workspace, plan: OptimisationPlan, corpus: str, taking_part: Sequence[Question]
) -> list[Question]:
    if plan.report is None:
        return []
    marks = {mark(one.query.text, one.query.options) for one in taking_part}
    every = _loaded(workspace, plan, plan.report, corpus).questions
    others = [one for one in every if scorable(one, plan.objective)]
    both = sum(mark(one.query.text, one.query.options) in marks for one in others)
    if both or not others:
        raise UsageError(
            N_("{n:,} questions of {path} take part in the optimisation.")
            if both
            else N_("No question of {path} can be used."),
            N_("Give --report a file of other questions, with gold places."),
            n=both,
            path=plan.report,
        )
    return others


def split(
    questions: Sequence[Question], seed: int, limit: int = 0
) -> tuple[list[Question], list[Question]]:
    """Divide questions into two disjoint halves, for training and validation.

    Each group of questions (the first of `Question.groups`, such as the law) is halved. Equal
    questions and seed give equal halves. A `limit` of 0 uses all.
    """
    chosen = sorted(questions, key=lambda question: question.id)
    random.Random(seed).shuffle(chosen)  # noqa: S311 - chance, no secret
    chosen = chosen[: limit or None]
    chosen.sort(key=_group)
    return chosen[1::2], chosen[::2]


def _group(question: Question) -> str:
    return next(iter(question.groups.values()), "")


METHOD = "statute-gepa"
"""The method of the optimised query; other methods can use the prompt too."""

_STOPPED = "stopped"
_log = logging.getLogger(__name__)


def optimise(
    workspace: Workspace,
    corpus: str,
    config: Config,
    plan: OptimisationPlan,
    *,
    restart: bool = False,
    on_event: Listener = ignore,
) -> OptimisationOutcome:
    """Optimise the instruction for writing queries, and save the best one.

    A stopped run continues with the same candidates as an unbroken one, and keeps its outcomes
    after any error. More calls or minutes extend a finished run. A prompt edited by hand is
    replaced only on a restart.
    """
    if find_spec("gepa") is None:
        raise UsageError(N_("GEPA is not installed."), to_install("optimize"))
    if not config.chat.model:
        raise UsageError(
            N_("The settings name no model that writes queries."),
            Fact(FactKind.TO_NAME_MODEL),
        )
    config = config.model_copy(update={"method": MethodConfig(name=METHOD)})
    folder = RunFolder.of(workspace, plan.name)
    material = Material.read(workspace, plan, corpus)
    with ExitStack() as opened:
        opened.enter_context(folder.held())
        origin = origin_of(workspace, corpus, config, plan, material.questions, material.seed)
        folder.begin(origin, restart=restart)
        journal = opened.enter_context(Outcomes(folder.journal))
        writing = opened.enter_context(MethodResources(workspace, corpus, config))
        models = (config.chat.model, plan.reflection or config.chat.model)
        reflecting = writing
        if len(set(models)) > 1:
            other = MethodResources(workspace, corpus, with_model(config, plan.reflection))
            reflecting = opened.enter_context(other)
        on_event(
            Begun(
                train=len(material.train),
                validation=len(material.validation),
                unusable=material.unusable,
                known=len(journal),
                torn=journal.torn,
                models=tuple(dict.fromkeys((writing.model.id, reflecting.model.id))),
                loaded=weight(workspace, *dict.fromkeys(models)),
            )
        )
        run = _Run(folder, plan, material, journal, writing, reflecting, on_event, restart)
        try:
            run.go()
        finally:
            # Write the report, however the run ends.
            run.conclude()
        run.report()
    if run.outcome is None:
        raise UsageError(
            N_(
                "The budget is spent, and the built-in instruction is not scored on "
                "all validation questions yet."
            ),
            N_("Allow more with --minutes or --calls: the same command goes on."),
        )
    return run.outcome


@dataclass
class _Run:
    folder: RunFolder
    plan: OptimisationPlan
    material: Material
    journal: Outcomes
    writing: MethodResources
    reflecting: MethodResources
    on_event: Listener
    restart: bool
    outcome: OptimisationOutcome | None = None
    _notes: set[Fact] = field(default_factory=set)
    _end: str = _STOPPED

    def __post_init__(self) -> None:
        self.spending = Spending(self.journal, self.plan, self._spent)
        material = self.material
        retriever = self.writing.retriever
        task = QueryTask(Shared.of(self.writing, retriever), self.plan.objective)
        self.adapter = QueryAdapter(
            task=task,
            reflection=Reflection(
                Shared.of(self.reflecting, retriever),
                material.language,
                self.plan.seed,
                self.plan.objective,
            ),
            guard=LeakageGuard(
                [*material.train, *material.validation], material.seed, retriever.names
            ),
            spending=self.spending,
            on_candidate=lambda *found: self.on_event(Accepted(*found)),
            on_leak=self.on_event,
            on_note=self._note,
        )

    def go(self) -> None:
        """Run GEPA until the budget is spent or nothing is left to try."""
        from gepa.api import optimize

        # The protocol wants an attribute with a function; a method works too.
        adapter: Any = self.adapter
        try:
            optimize(
                seed_candidate={COMPONENT: self.material.seed},
                trainset=self.material.train,
                valset=self.material.validation,
                adapter=adapter,
                stop_callbacks=adapter,
                callbacks=[adapter],
                logger=_Log(),
                seed=self.plan.seed,
                track_best_outputs=False,
            )
            self._end = self.adapter.end
        except Ended as end:
            self._end = end.why
        except Failed as failed:
            raise failed.error from failed

    def conclude(self) -> None:
        adapter, plan = self.adapter, self.plan
        earlier = self.folder.outcome() if self._end == _STOPPED else None
        # A run stopped among known outcomes has reached less than before.
        if not adapter.candidates or (earlier and earlier.calls > self.spending.calls):
            return
        scores = [candidate.score for candidate in adapter.candidates]
        self.outcome = OptimisationOutcome(
            name=plan.name,
            end=self._end,
            candidates=tuple(adapter.candidates),
            best=scores.index(max(scores)),
            validation=len(self.material.validation),
            refused=adapter.refused,
            calls=self.spending.calls,
            seconds=self.spending.seconds,
        )
        self.folder.write(self.outcome)
        if not self.restart and self.folder.prompt_is_foreign:
            self._note(Fact(FactKind.PROMPT_KEPT, name=plan.name))
            return
        best = OptimisedPrompt(plan.name, adapter.candidates[self.outcome.best].text)
        prompt = replace(best, provenance=self._provenance(self.outcome, best.digest))
        prompt.save(self.folder.prompt.parent)

    def report(self) -> None:
        """Try the built-in and the best instruction on the questions of the report."""
        others, outcome = self.material.others, self.outcome
        if not others or outcome is None:
            return
        texts = (outcome.candidates[0].text, outcome.candidates[outcome.best].text)
        made: list[list[Rollout]] = []
        for before, text in enumerate(texts):
            made.append([])
            for done, question in enumerate(others, 1 + before * len(others)):
                key = key_of("report", question.id, question.query.text, text)
                rollout = self.journal.get(key)
                if not isinstance(rollout, Rollout):
                    rollout = self.adapter.task.run(text, question)
                    self.journal.put(key, rollout)
                made[-1].append(rollout)
                self.on_event(Reporting(done, 2 * len(others)))
        first, second = made
        self.outcome = replace(
            outcome,
            reported=Reported(
                n=len(others),
                found=(_found(others, first), _found(others, second)),
                scores=(fmean(one.score for one in first), fmean(one.score for one in second)),
            ),
        )
        self.folder.write(self.outcome)

    def _provenance(
        self, outcome: OptimisationOutcome, digest: str
    ) -> dict[str, str | int | float | bool]:
        plan, questions = self.plan, self.material.questions
        return {
            "digest": digest,
            "made_by": f"GEPA {version('gepa')}",
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "dataset": questions.dataset.name,
            "split": questions.split,
            "sha256": questions.sha256,
            "train_n": len(self.material.train),
            "validation_n": outcome.validation,
            "objective": plan.objective.value,
            "seed_score": outcome.candidates[0].score,
            "best_score": outcome.candidates[outcome.best].score,
            "is_seed": outcome.best == 0,
            "candidates": len(outcome.candidates),
            "model": self.writing.model.id,
            "reflection_model": self.reflecting.model.id,
            "seed": plan.seed,
            "calls": outcome.calls,
            "seconds": round(outcome.seconds, 1),
            "ended": outcome.end,
            "seen": " ".join(
                mark(question.query.text, question.query.options)
                for question in (*self.material.train, *self.material.validation)
            ),
        }

    def _spent(self, outcome: object, replayed: bool) -> None:
        if isinstance(outcome, Rollout):
            for note in outcome.notes:
                self._note(note)
        candidates = self.adapter.candidates
        self.on_event(
            OptimisationProgress(
                candidates=len(candidates),
                best=max((candidate.score for candidate in candidates), default=None),
                calls=self.spending.calls,
                seconds=self.spending.seconds,
                plan=self.plan,
                replayed=replayed,
            )
        )

    def _note(self, note: Fact) -> None:
        if note not in self._notes:
            self._notes.add(note)
            self.on_event(note)


def _found(questions: Sequence[Question], rollouts: Sequence[Rollout]) -> int:
    return sum(
        sum(rollout.missed.values()) < len(question.gold) and not rollout.problem
        for question, rollout in zip(questions, rollouts, strict=True)
    )


class _Log:
    """GEPA's messages go to the log; events inform the user."""

    log: Callable[[str], None] = staticmethod(_log.debug)


def origin_of(
    workspace: Workspace,
    corpus: str,
    config: Config,
    plan: OptimisationPlan,
    questions: Questions,
    seed: str,
) -> Origin:
    """Everything that outcomes depend on, except the budget.

    The address of a server is part of it, because it does not reveal the weights of a model.
    """
    reflection = plan.reflection or config.chat.model
    return {
        **answers.origin_of(workspace, corpus, config),
        **server_of("chat", config.chat),
        "gepa": version("gepa"),
        "dataset": questions.dataset.name,
        "split": questions.split,
        "questions.sha256": questions.sha256,
        "limit": plan.limit,
        "objective": plan.objective.value,
        "seed": plan.seed,
        "instruction": sha256(seed.encode()).hexdigest()[:16],
        "reflection.model": reflection,
        **{
            name.replace("chat.", "reflection."): value
            for name, value in weights(workspace, with_model(config, reflection), "chat").items()
        },
        **server_of("reflection", with_model(config, reflection).chat),
    }

"""The writer of queries as GEPA sees it: evaluation, examples, and proposals of instructions."""

import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BaseModel, Field

from localrag.answer.prompts import Language, prompt
from localrag.errors import ModelUnusable
from localrag.evaluation.optimize.folder import Spending, key_of
from localrag.evaluation.optimize.leakage import LeakageGuard
from localrag.evaluation.optimize.task import FOUND, QueryTask, Shared, as_written
from localrag.evaluation.optimize.types import (
    Candidate,
    Leak,
    Objective,
    Proposal,
    RefusedProposals,
    Rollout,
)
from localrag.evaluation.types import Question
from localrag.methods.toolkit import Toolkit
from localrag.text.facts import Fact, FactKind
from localrag.text.harmless import shorten
from localrag_models.chat import Message

if TYPE_CHECKING:
    from gepa.core.adapter import EvaluationBatch


LONGEST_INSTRUCTION = 1_200
"""Characters of an instruction, at most."""

_LONGEST_QUESTION = 600
_LONGEST_OPTION = 200
# The instruction and its analysis, where a character takes more than one token.
_TOKENS = 2_048
# Equal examples should not always give the same proposal.
_TEMPERATURE = 0.7
_LAYOUT = dict.fromkeys(map(ord, "\t\n\r"))
Example = Mapping[str, Any]


_UNPRINTABLE = ("Cc", "Cf", "Cs")
"""Categories of Unicode: control characters, invisible marks, halves of a surrogate pair."""


def _printable(text: str) -> str:
    # Control characters would reach terminals and files.
    if any(
        unicodedata.category(character) in _UNPRINTABLE for character in text.translate(_LAYOUT)
    ):
        raise ValueError("control characters")
    return text


class Instruction(BaseModel):
    """The reply. The reasons come first, so that the instruction follows from them."""

    analysis: Annotated[str, Field(max_length=400)]
    instruction: Annotated[str, Field(max_length=LONGEST_INSTRUCTION), AfterValidator(_printable)]


def example_of(question: Question, rollout: Rollout) -> dict[str, Any]:
    """One question for the reflection model, without gold text, names or numbers."""
    return {
        "question": shorten(question.query.text, _LONGEST_QUESTION),
        "options": [shorten(option, _LONGEST_OPTION) for option in question.query.options],
        "query": rollout.query,
        "problem": rollout.problem,
        "found": list(rollout.found),
        "missed": dict(rollout.missed),
        "score": round(rollout.score, 2),
        "parts": {name: round(value, 2) for name, value in rollout.parts.items()},
    }


@dataclass(frozen=True, slots=True)
class Reflection:
    """A model for proposing instructions."""

    resources: Shared
    language: Language
    seed: int  # of the sampling, with the number of the proposal
    objective: Objective

    def messages(self, instruction: str, examples: Sequence[Example]) -> tuple[Message, ...]:
        """The prompt with all examples."""
        material = json.dumps(
            {"instruction": instruction, "examples": list(examples)}, ensure_ascii=False, indent=1
        )
        return prompt(
            "reflection",
            self.language,
            material=material,
            found=FOUND[self.objective],
            by_rank=self.objective is Objective.RECALL,
            longest=LONGEST_INSTRUCTION,
        )

    def fitting(self, instruction: str, examples: Sequence[Example]) -> Sequence[Example]:
        """The first examples fitting the context beside the reply; at least one."""
        model = self.resources.model
        kept = list(examples)
        while len(kept) > 1 and (
            model.count(self.messages(instruction, kept)) + self._tokens > model.context
        ):
            kept.pop()
        return kept

    def propose(self, messages: Sequence[Message], number: int) -> Proposal:
        """Ask for an instruction, twice if the reply is malformed; `number` seeds the sampling."""
        since = perf_counter()
        settings = self.resources.settings.model_copy(
            update={
                "temperature": _TEMPERATURE,
                "seed": self.seed + 2 * number,
                "max_tokens": self._tokens,
            }
        )
        toolkit = Toolkit(replace(self.resources, settings=settings))
        text, problem = "", ""
        try:
            text = toolkit.ask(messages, Instruction, f"proposal {number}").instruction.strip()
        except ModelUnusable as error:
            # Another proposal may succeed; any other error would repeat.
            if error.kind != "ReplyInvalid":
                raise
            problem = as_written(error)
        if not text and not problem:
            problem = "The reply holds no instruction."
        return Proposal(text, problem, len(toolkit.trace.calls), perf_counter() - since)

    @property
    def _tokens(self) -> int:
        return max(self.resources.settings.max_tokens, _TOKENS)


COMPONENT = "instruction"
"""The one part of a candidate that GEPA rewrites."""

# Rounds without a model call: every remaining choice was tried before.
_IDLE_ROUNDS = 100


class Failed(BaseException):
    """A proposal failed, and the next one would fail too."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass
class QueryAdapter:
    """`gepa.core.adapter.GEPAAdapter` for the writer of queries, with outcomes from `Spending`."""

    task: QueryTask
    reflection: Reflection
    guard: LeakageGuard
    spending: Spending
    on_candidate: Callable[[int, Candidate, bool], None]
    on_leak: Callable[[Leak], None]
    on_note: Callable[[Fact], None]  # receives notes on what is left out
    # scored on all validation questions; the seed first
    candidates: list[Candidate] = field(default_factory=list)
    refused: RefusedProposals = field(default_factory=RefusedProposals)
    end: str = ""  # why GEPA was stopped; "" if it was not
    _proposals: int = 0
    _tried: set[str] = field(default_factory=set)
    _outcomes: int = 0
    _idle: int = 0

    def evaluate(
        self,
        batch: list[Question],
        candidate: dict[str, str],
        capture_traces: bool = False,
    ) -> "EvaluationBatch[tuple[Question, Rollout], Rollout]":
        """Try a candidate on questions; an unusable reply scores 0."""
        from gepa.core.adapter import EvaluationBatch

        text = candidate[COMPONENT]
        self._tried.add(text)
        wanted = {
            key_of("rollout", question.id, text): partial(self.task.run, text, question)
            for question in batch
        }
        self.spending.ahead(wanted, self.task.resources.model.parallel)
        made = {key: self.spending.once(key, Rollout, make) for key, make in wanted.items()}
        rollouts = [made[key_of("rollout", question.id, text)] for question in batch]
        return EvaluationBatch(
            outputs=rollouts,
            scores=[rollout.score for rollout in rollouts],
            trajectories=list(zip(batch, rollouts, strict=True)) if capture_traces else None,
        )

    def make_reflective_dataset(
        self,
        candidate: dict[str, str],
        eval_batch: "EvaluationBatch[tuple[Question, Rollout], Rollout]",
        components_to_update: list[str],
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Examples for the reflection model."""
        del candidate
        examples = [example_of(*trajectory) for trajectory in eval_batch.trajectories or ()]
        return dict.fromkeys(components_to_update, examples)

    def propose_new_texts(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """Propose a new instruction; empty if it is malformed, leaking or known."""
        del components_to_update
        self._proposals += 1
        number = self._proposals
        text, examples = candidate[COMPONENT], reflective_dataset[COMPONENT]
        shown = self.reflection.fitting(text, examples)
        if len(shown) < len(examples):
            self.on_note(Fact(FactKind.EXAMPLES_LEFT_OUT))
        messages = self.reflection.messages(text, shown)
        key = key_of("proposal", str(number), *(message.content for message in messages))
        try:
            made = self.spending.once(
                key, Proposal, lambda: self.reflection.propose(messages, number)
            )
        except Exception as error:
            # GEPA would log it, and continue with the next proposal.
            raise Failed(error) from error
        return {COMPONENT: made.text} if self._admits(made) else {}

    def __call__(self, gepa_state: object) -> bool:
        """Whether GEPA stops before its next round."""
        del gepa_state
        self._idle = self._idle + 1 if self.spending.outcomes == self._outcomes else 0
        self._outcomes = self.spending.outcomes
        if max(candidate.score for candidate in self.candidates) >= 1.0:
            self.end = "perfect"
        elif self._idle >= _IDLE_ROUNDS:
            self.end = "idle"
        return bool(self.end)

    def on_valset_evaluated(self, event: Mapping[str, Any]) -> None:
        """Record a candidate scored on all validation questions."""
        parents = event["parent_ids"]
        found = Candidate(
            event["candidate"][COMPONENT],
            event["average_score"],
            parents[0] if parents else None,
        )
        best = all(found.score > candidate.score for candidate in self.candidates)
        self.candidates.append(found)
        self.on_candidate(len(self.candidates) - 1, found, best)

    def on_candidate_rejected(self, event: Mapping[str, Any]) -> None:
        """Count a proposal no better than its parent."""
        del event
        self._count(not_better=1)

    def _admits(self, made: Proposal) -> bool:
        if made.problem:
            self._count(malformed=1)
        elif made.text in self._tried:
            self._count(repeated=1)
        elif (leak := self.guard.find(made.text)) is not None:
            self._count(leaking=1)
            self.on_leak(leak)
        else:
            return True
        return False

    def _count(self, **more: int) -> None:
        counts = {name: getattr(self.refused, name) + count for name, count in more.items()}
        self.refused = replace(self.refused, **counts)

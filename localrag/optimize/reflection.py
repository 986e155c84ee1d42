"""Has a model propose a better instruction from examples of what the present one brought."""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field

from localrag.errors import ModelUnusable
from localrag.evaluation.types import Question
from localrag.methods.toolkit import Toolkit
from localrag.optimize.task import FOUND, Shared, as_written
from localrag.optimize.types import Proposal, Rollout
from localrag.prompts import Language, prompt
from localrag_models.chat import Message

LONGEST_INSTRUCTION = 1_200
"""Characters of an instruction, at most."""

_LONGEST_QUESTION = 600
_LONGEST_OPTION = 200
# The instruction and its analysis, where a character takes more than one token.
_TOKENS = 2_048
# The same examples shall not bring the same proposal every time.
_TEMPERATURE = 0.7
_LAYOUT = dict.fromkeys(map(ord, "\t\n\r"))
Example = Mapping[str, Any]


_UNPRINTABLE = ("Cc", "Cf", "Cs")
"""Categories of Unicode: control characters, invisible marks, halves of a surrogate pair."""


def _printable(text: str) -> str:
    # They tell a model nothing, and would reach terminals and files.
    if any(
        unicodedata.category(character) in _UNPRINTABLE for character in text.translate(_LAYOUT)
    ):
        raise ValueError("control characters")
    return text


class Instruction(BaseModel):
    """The reply; what it rests on is written first, so that the instruction follows from it."""

    analysis: Annotated[str, Field(max_length=400)]
    instruction: Annotated[str, Field(max_length=LONGEST_INSTRUCTION), AfterValidator(_printable)]


def example_of(question: Question, rollout: Rollout) -> dict[str, Any]:
    """What a model is told of one question: no gold text, no name or number of a gold provision."""
    return {
        "question": _shortened(question.query.text, _LONGEST_QUESTION),
        "options": [_shortened(option, _LONGEST_OPTION) for option in question.query.options],
        "query": rollout.query,
        "problem": rollout.problem,
        "found": list(rollout.found),
        "missed": dict(rollout.missed),
        "score": round(rollout.score, 2),
        "parts": {name: round(value, 2) for name, value in rollout.parts.items()},
    }


@dataclass(frozen=True, slots=True)
class Reflection:
    """A model that proposes instructions.

    Attributes:
        resources: the model; the corpus is not looked at.
        language: of the instructions.
        seed: of the sampling, together with the number of the proposal.
    """

    resources: Shared
    language: Language
    seed: int

    def messages(self, instruction: str, examples: Sequence[Example]) -> tuple[Message, ...]:
        """The prompt made of all examples."""
        material = json.dumps(
            {"instruction": instruction, "examples": list(examples)}, ensure_ascii=False, indent=1
        )
        return prompt(
            "reflection",
            self.language,
            material=material,
            found=FOUND,
            longest=LONGEST_INSTRUCTION,
        )

    def fitting(self, instruction: str, examples: Sequence[Example]) -> Sequence[Example]:
        """The first examples, as many as the context holds beside the reply; one at least."""
        model = self.resources.model
        kept = list(examples)
        while len(kept) > 1 and (
            model.count(self.messages(instruction, kept)) + self._tokens > model.context
        ):
            kept.pop()
        return kept

    def propose(self, messages: Sequence[Message], number: int) -> Proposal:
        """Ask for an instruction, once more where the reply is malformed.

        Args:
            messages: the prompt.
            number: of the proposal; another one is sampled anew.

        Raises:
            ModelUnusable: the model failed.
        """
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
            # Another proposal may do better; whatever else it is would fail that as well.
            if error.kind != "ReplyInvalid":
                raise
            problem = as_written(error)
        if not text and not problem:
            problem = "The reply holds no instruction."
        return Proposal(text, problem, len(toolkit.trace.calls), perf_counter() - since)

    @property
    def _tokens(self) -> int:
        return max(self.resources.settings.max_tokens, _TOKENS)


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"

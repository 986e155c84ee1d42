"""Every method by its name: what a method is given and gives back, the options it chooses between.

What a method needs is imported when it is used.
"""

import difflib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pkgutil import resolve_name
from threading import RLock
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from pydantic import BaseModel, Field, create_model

from localrag.answer.types import Answer, Stage
from localrag.corpus.config import ChatConfig, MethodConfig
from localrag.errors import UsageError
from localrag.language import N_
from localrag.search.types import Query

if TYPE_CHECKING:
    # The table of the methods needs none of these.
    from localrag.answer.prompts import OptimisedPrompt
    from localrag.methods.remembered import Remembered
    from localrag.methods.toolkit import Toolkit
    from localrag.prepare.index import LayerIndex
    from localrag.search.pipeline import Retriever
    from localrag_models.chat import ChatModel

LABELS = "abcdefgh"
"""The label of the first option, of the second …"""

FEWEST = 2
"""Options that leave something to choose."""

LONGEST_REASON = 300
"""Characters of the reasons that a model gives for a verdict or a choice, at most."""


class OptionChoice(BaseModel):
    """A reply that chooses an option; `choice_among` bounds it to the labels there are.

    Attributes:
        reason: written first, so that the label follows from it.
    """

    reason: Annotated[str, Field(max_length=LONGEST_REASON)]
    label: str


def labelled(options: Sequence[str]) -> list[tuple[str, str]]:
    """Each option after its label."""
    return list(zip(LABELS, options, strict=False))


@cache
def choice_among(labels: str) -> type[OptionChoice]:
    """The shape of a reply that chooses one of `labels`, given as one string: "abcd", "ab"."""
    label: Any = Annotated[str, Field(pattern=f"^[{labels}]$")]
    return create_model("Choice", __base__=OptionChoice, label=label)


def mark(question: str, options: Sequence[str]) -> str:
    """What stands for a question, whatever the order of its options; 12 hexadecimal digits."""
    content = json.dumps([question, sorted(options)]).encode()
    return blake2b(content, digest_size=6).hexdigest()


class Resources(Protocol):
    """What all questions of a run share.

    Attributes:
        settings: of the chat model.
        reading: held while the retriever is used, which serves one thread at a time.
    """

    settings: ChatConfig
    reading: RLock

    @property
    def layers(self) -> "LayerIndex":
        """The derived layers of the corpus; opened when they are first needed.

        Raises:
            UsageError: none was prepared.
        """
        ...

    @property
    def query_prompt(self) -> "OptimisedPrompt | None":
        """The optimised prompt that writes queries; None for the built-in one."""
        ...

    @property
    def remembered(self) -> "Remembered | None":
        """What models wrote before; None where nothing is kept."""
        ...

    @property
    def retriever(self) -> "Retriever":
        """Finds passages; opened when it is first needed."""
        ...

    @property
    def model(self) -> "ChatModel":
        """The chat model; opened when it is first needed.

        Raises:
            UsageError: the settings name none.
        """
        ...


@dataclass(frozen=True, slots=True)
class Case:
    """A question as a method gets it.

    Attributes:
        query: the question; its options in the order in which they are labelled a, b, c …
        context: the texts that are known to answer it; "" where they are not known, as outside an
            evaluation. Only methods with `Method.reads_context` look at it.
        stages: what is asked in turn. Only methods with `Method.staged` look at it.
        settings: of the method, its name apart.
    """

    query: Query
    context: str = ""
    stages: tuple[Stage, ...] = tuple(Stage)
    settings: MethodConfig = MethodConfig()  # noqa: RUF009 - immutable


@dataclass(frozen=True, slots=True)
class Calls:
    """How many calls of a model one question takes.

    More where a malformed reply is asked for again; fewer where a step has nothing to show a model,
    because nothing was found or the context holds none of it.

    Attributes:
        fixed: whatever the question.
        per_option: for each option besides.
        more: so many more at most, where what is found decides.
    """

    fixed: int = 0
    per_option: int = 0
    more: int = 0

    def of(self, options: int) -> int:
        """The calls that a question with so many options takes at least."""
        return self.fixed + self.per_option * options

    def most(self, options: int) -> int:
        """The calls that it takes at most."""
        return self.of(options) + self.more


@dataclass(frozen=True, slots=True)
class Method:
    """A way to answer, under the name it is called by.

    Attributes:
        name: "statute-fixed".
        about: what it does, in one sentence; a message marked with `N_`, as `source` is.
        source: the publication and section that describe it; "" for a method of this project.
        calls: of a chat model; none where it needs no model.
        searches: whether it looks into the corpus.
        reads_context: whether it is given the texts known to answer the question: it marks what
            retrieval could reach at best, and answers no question of a user.
        chooses: whether it answers with one of the options, and needs some.
        writes_queries: whether it can follow an optimised prompt (`localrag optimize`).
        settings: those of the section ``method`` that it follows, by name ("threshold"), beside the
            prompt that `writes_queries` says.
        derives: whether its answers have a derivation.
        layers: of the corpus, which it searches in (`localrag prepare`).
        checks: whether what it is asked is a claim, and its answer says what the evidence says of
            it (`Answer.checked`).
        answer: answers one question with a fresh toolkit. It raises nothing but errors of
            localrag; a reply that stays malformed after the retry is `ModelUnusable`.
    """

    name: str
    about: str
    answer: "Callable[[Case, Toolkit], Answer]"
    source: str = ""
    calls: Calls = Calls()
    searches: bool = True
    reads_context: bool = False
    chooses: bool = True
    writes_queries: bool = False
    settings: tuple[str, ...] = ()
    derives: bool = False
    layers: tuple[str, ...] = ()
    checks: bool = False

    def takes(self, query: Query) -> bool:
        """Whether a question has as many options as the method needs."""
        return not self.chooses or FEWEST <= len(query.options) <= len(LABELS)

    @property
    def staged(self) -> bool:
        """Whether it asks in the order that the settings give (``method.stages``)."""
        return "stages" in self.settings

    @property
    def needs_model(self) -> bool:
        """Whether it cannot answer without a chat model."""
        return self.calls != Calls()


_PLACES = {
    "extractive": "extractive:METHOD",
    "generative": "generative:METHOD",
    "statute-direct": "lawqa_study.choosing:DIRECT",
    "statute-gold": "lawqa_study.choosing:GOLD",
    "statute-fixed": "lawqa_study.choosing:FIXED",
    "statute-gepa": "lawqa_study.choosing:GEPA",
    "statute-options": "lawqa_study.options:OPTIONS",
    "statute-options-gepa": "lawqa_study.options:OPTIONS_GEPA",
    "statute-localrag": "statute_localrag:METHOD",
    "statute-lexical": "agreement.lexical:METHOD",
    "naive": "multihop.naive:METHOD",
    "naive-qd": "multihop.naive_qd:METHOD",
    "decon-plain": "multihop.decon:PLAIN",
    "decon-plain-qd": "multihop.decon:PLAIN_QD",
    "decon": "multihop.decon:DECON",
    "decon-hybrid": "multihop.decon:HYBRID",
    "chain": "multihop.chain:METHOD",
    "staged": "staged.method:METHOD",
    "staged-symbolic": "staged_symbolic.method:METHOD",
    "chunks": "pr3.method:CHUNKS",
    "chunks-augmented": "pr3.method:CHUNKS_AUGMENTED",
    "pr3-plain": "pr3.method:PLAIN",
    "pr3": "pr3.method:PR3",
    "pr3-localrag": "pr3.method:LOCALRAG",
    "fact-check": "fact_check.method:PLAIN",
    "fact-check-context": "fact_check.method:CONTEXT",
    "fact-check-rerank": "fact_check.method:RERANK",
    "fact-check-rerank-context": "fact_check.method:RERANK_CONTEXT",
    "fact-check-context-rerank": "fact_check.method:CONTEXT_RERANK",
    "fact-check-localrag": "fact_check.method:LOCALRAG",
}

NAMES = tuple(_PLACES)
"""The methods, in the order in which tables show them."""


def method(name: str) -> Method:
    """The method of this name.

    Raises:
        UsageError: there is none; names the nearest, or all.
    """
    if name not in _PLACES:
        near = difflib.get_close_matches(name, NAMES, 1)
        raise UsageError(
            N_("There is no method {name!r}."),
            N_("Did you mean {near}?") if near else N_("There is: {known}."),
            name=name,
            near="".join(near),
            known=", ".join(NAMES),
        )
    found = resolve_name(f"localrag.methods.{_PLACES[name]}")
    assert isinstance(found, Method)
    return found

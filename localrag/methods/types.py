"""The contract of a method: what it is given, what it gives back, and what it says about itself."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Protocol

from localrag.config import ChatConfig, MethodConfig
from localrag.methods.choices import FEWEST, LABELS
from localrag.reading.types import Answer, Stage
from localrag.retrieval.types import Query

if TYPE_CHECKING:
    # The table of the methods needs none of these.
    from localrag.methods.remembered import Remembered
    from localrag.methods.toolkit import Toolkit
    from localrag.prepare.index import LayerIndex
    from localrag.prompts import OptimisedPrompt
    from localrag.retrieval.pipeline import Retriever
    from localrag_models.chat import ChatModel


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

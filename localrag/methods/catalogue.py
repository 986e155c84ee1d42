"""The methods: what one is given, what it declares, and how it is found by its name.

A method registers itself in its own file. The file has its name, or the beginning of it:
`decon-hybrid` is in ``decon.py``. So one method is found without importing the others.
"""

import difflib
import json
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from hashlib import blake2b
from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING, Annotated, Any, Protocol, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo

from localrag import methods
from localrag.answer.types import Answer
from localrag.corpus.config import ChatConfig, MethodConfig
from localrag.errors import UsageError
from localrag.language import N_
from localrag.search.types import Query

if TYPE_CHECKING:
    # The table of the methods needs none of these.
    from localrag.answer.prompts import OptimisedPrompt
    from localrag.methods.toolkit import Remembered, Toolkit
    from localrag.prepare.index import LayerIndex
    from localrag.search.pipeline import Retriever
    from localrag_models.chat import ChatModel

LABELS = "abcdefgh"
"""The labels of options, in their order."""

FEWEST = 2
"""A choice needs at least two options."""

LONGEST_REASON = 300
"""Characters of the reason that a model gives for a verdict or a choice, at most."""

WITHOUT_MODEL, WITH_MODEL = "extractive", "generative"
"""The methods used by default: without a chat model, and with one."""


class OptionChoice(BaseModel):
    """The choice of an option. `choice_among` limits its label."""

    # comes first: the label follows from it
    reason: Annotated[str, Field(max_length=LONGEST_REASON)]
    label: str


def labelled(options: Sequence[str]) -> list[tuple[str, str]]:
    """Each option after its label."""
    return list(zip(LABELS, options, strict=False))


@cache
def choice_among(labels: str) -> type[OptionChoice]:
    """The shape of a choice among `labels`, given as one string: "abcd"."""
    label: Any = Annotated[str, Field(pattern=f"^[{labels}]$")]
    return create_model("Choice", __base__=OptionChoice, label=label)


def mark(question: str, options: Sequence[str]) -> str:
    """A digest of a question, in 12 hexadecimal digits; the order of its options is ignored."""
    content = json.dumps([question, sorted(options)]).encode()
    return blake2b(content, digest_size=6).hexdigest()


class Resources(Protocol):
    """Shared by all questions of a run. A resource is opened when it is first needed."""

    settings: ChatConfig  # of the chat model
    reading: RLock  # lock for the retriever, which serves one thread at a time

    @property
    def layers(self) -> "LayerIndex":
        """The derived layers of the corpus. Raises `UsageError` if none was prepared."""
        ...

    @property
    def query_prompt(self) -> "OptimisedPrompt | None":
        """The optimised prompt for queries; None for the built-in one."""
        ...

    @property
    def remembered(self) -> "Remembered | None":
        """Stored replies of models; None if nothing is stored."""
        ...

    @property
    def retriever(self) -> "Retriever":
        """Finds passages."""
        ...

    @property
    def model(self) -> "ChatModel":
        """The chat model. Raises `UsageError` if the settings name none."""
        ...


class MethodSettings(BaseModel):
    """Base of settings for the section ``method``; a method subclasses it in its own file."""

    model_config = ConfigDict(frozen=True)

    @classmethod
    def of(cls, section: MethodConfig) -> Self:
        """The values given in a section, else the defaults."""
        given = section.model_extra or {}
        return cls(**{name: given[name] for name in cls.model_fields if name in given})


@dataclass(frozen=True, slots=True)
class Case:
    """A question as a method gets it."""

    query: Query  # the question. Its options are in the order of their labels
    # the texts known to answer it, in an evaluation; else "". Only methods with
    # `Method.reads_context` use it
    context: str = ""
    # the section ``method``; `MethodSettings.of` reads it
    settings: MethodConfig = MethodConfig()  # noqa: RUF009 - immutable


@dataclass(frozen=True, slots=True)
class Calls:
    """How many calls of a model one question takes.

    A malformed reply adds a call. A step with nothing to show the model saves one.
    """

    fixed: int = 0  # for every question
    per_option: int = 0  # for each option, in addition
    more: int = 0  # at most, if this depends on the hits

    def of(self, options: int) -> int:
        """The least calls for a question with so many options."""
        return self.fixed + self.per_option * options

    def most(self, options: int) -> int:
        """The most calls for it."""
        return self.of(options) + self.more


class Purpose(StrEnum):
    """What a method is for: everyday questions, or the figures of a publication."""

    USE = "use"
    PAPER = "paper"


@dataclass(frozen=True, slots=True)
class Method:
    """A way to answer questions."""

    name: str  # "statute-fixed"
    about: str  # one sentence, marked with `N_`
    # answers one question with a new toolkit. It raises only errors of localrag. `ModelUnusable`
    # means that a reply was malformed twice
    answer: "Callable[[Case, Toolkit], Answer]"
    purpose: Purpose = Purpose.PAPER  # the group in which `localrag methods` lists it
    source: str = ""  # publication and section, marked with `N_`; "" for a method of this project
    calls: Calls = Calls()  # of a chat model; none if it needs no model
    searches: bool = True  # whether it searches the corpus
    # whether it reads the texts known to answer. Such a method shows the ceiling of retrieval, and
    # cannot answer a user
    reads_context: bool = False
    chooses: bool = False  # whether it chooses one of the options
    writes_queries: bool = False  # whether it uses an optimised prompt (`localrag optimize`)
    settings: tuple[str, ...] = ()  # the keys of the section ``method`` that it uses
    derives: bool = False  # whether its answers have a derivation
    layers: tuple[str, ...] = ()  # the derived searched layers (`localrag prepare`)
    checks: bool = False  # whether it checks a claim (`Answer.checked`)

    def takes(self, query: Query) -> bool:
        """Whether a question has as many options as the method needs."""
        return not self.chooses or FEWEST <= len(query.options) <= len(LABELS)

    @property
    def staged(self) -> bool:
        """Whether the setting ``method.stages`` gives its order."""
        return "stages" in self.settings

    @property
    def needs_model(self) -> bool:
        """Whether it cannot answer without a chat model."""
        return self.calls != Calls()

    def settings_in(self, section: MethodConfig) -> dict[str, object]:
        """Its settings by name, with their values."""
        declared, given = _declared_fields(), section.model_extra or {}
        return {name: given.get(name, declared[name].default) for name in self.settings}


_REGISTERED: dict[str, Method] = {}

Answering = TypeVar("Answering", bound=Callable[..., Answer])


def register(name: str, about: str, **declared: Any) -> Callable[[Answering], Answering]:
    """Register a method that the decorated function answers with."""
    fields = {key: declared.pop(key) for key in list(declared) if key in Method.__slots__}

    def registered(function: Answering) -> Answering:
        _REGISTERED[name] = Method(name, about, partial(function, **declared), **fields)
        return function

    return registered


def method(name: str) -> Method:
    """The method of this name. Raises `UsageError` if no method has this name."""
    parts = name.split("-")
    beginnings = ("_".join(parts[:n]) for n in range(len(parts), 0, -1))
    if module := next((one for one in beginnings if one in _modules()), None):
        import_module(f"{methods.__name__}.{module}")
    if name in _REGISTERED:
        return _REGISTERED[name]
    known = names()
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        raise UsageError(
            N_("There is no method {name!r}."),
            N_("Did you mean {near}?") if near else N_("There is: {known}."),
            name=name,
            near="".join(near),
            known=", ".join(known),
        )
    return _REGISTERED[name]


def names() -> tuple[str, ...]:
    """All methods, in the order of tables: those to use first, the defaults before the others."""
    for module in _modules():
        import_module(f"{methods.__name__}.{module}")
    groups, defaults = tuple(Purpose), (WITHOUT_MODEL, WITH_MODEL)
    ordered = sorted(
        _REGISTERED.values(),
        key=lambda one: (groups.index(one.purpose), one.name not in defaults, one.name),
    )
    return tuple(one.name for one in ordered)


def declared_settings() -> dict[str, tuple[Any, FieldInfo]]:
    """The settings declared by methods, by name: type and field. Imports all methods."""
    names()
    return {name: (field.annotation, field) for name, field in _declared_fields().items()}


def _declared_fields(base: type[MethodSettings] = MethodSettings) -> dict[str, FieldInfo]:
    found = dict(base.model_fields)
    for one in base.__subclasses__():
        found |= _declared_fields(one)
    return found


@cache
def _modules() -> tuple[str, ...]:
    return tuple(module.name for module in pkgutil.iter_modules(methods.__path__))


if TYPE_CHECKING:
    NAMES: tuple[str, ...]
    """`names`, found when it is first looked at."""
else:

    def __getattr__(attribute: str) -> tuple[str, ...]:
        if attribute != "NAMES":
            raise AttributeError(attribute)
        return names()

"""Metadata: a model sorts every document by declared categories (PR3, preparation).

The reply is bound to the values of the categories by a grammar. What code tells of a document
(`localrag.corpus.facets`) is not asked for.
"""

from collections.abc import Iterator
from functools import cache, partial
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, create_model

from localrag.answer.asking import ask
from localrag.answer.evidence import element
from localrag.answer.prompts import language_of, prompt, template
from localrag.corpus.config import ChatConfig
from localrag.corpus.facets import labels_of
from localrag.corpus.types import Document, Label
from localrag.errors import ModelUnusable
from localrag.prepare.categories import Categories, digest_of
from localrag.prepare.layers import Job, Made, Outcome, Span, digest, unreadable
from localrag.search.types import ModelCall
from localrag_models.chat import ChatModel, Message

PROMPT = "metadata"
# Changed when code makes other metadata of the same reply.
_VERSION = "1"
# Characters of a document that are read: title, purpose or abstract stand at its beginning.
_READ = 4000


class Sorter:
    """Has a model sort documents."""

    def __init__(self, model: ChatModel, settings: ChatConfig, categories: Categories) -> None:
        self._model = model
        self._settings = settings
        self._categories = categories
        self._recipe = digest(
            _VERSION, model.id, template(PROMPT), str(settings.temperature), digest_of(categories)
        )

    def jobs(self, document: Document) -> Iterator[Job]:
        """The one job of a document: its beginning is sorted."""
        told = {label.key for label in labels_of(document)}
        asked = tuple(key for key in self._categories if key not in told)
        beginning = document.text[:_READ]
        made_of = digest(self._recipe, " ".join(asked), document.title, beginning)
        make = partial(self._made, document.title, beginning, asked)
        yield Job(document.id, Span(0, len(beginning)), digest(beginning), made_of, make)

    def _made(self, title: str, beginning: str, asked: tuple[str, ...]) -> Made:
        if not asked:
            return Made(Outcome.UNCHANGED)
        wanted = {key: self._categories[key] for key in asked}
        messages = _messages(title, beginning, wanted)
        while beginning and not self._fits(messages):
            beginning = beginning[: len(beginning) // 2]
            messages = _messages(title, beginning, wanted)
        shape = _shape(tuple((key, one.values, one.most) for key, one in wanted.items()))
        calls: list[ModelCall] = []
        try:
            reply = ask(self._model, self._settings, messages, shape, calls.append, PROMPT)
        except ModelUnusable as error:
            return unreadable(error, calls)
        labels = tuple(
            Label(key, value)
            for key, values in reply.model_dump(by_alias=True).items()
            for value in dict.fromkeys(values)
        )
        outcome = Outcome.MADE if labels else Outcome.UNCHANGED
        return Made(outcome, calls=calls, labels=labels)

    def _fits(self, messages: tuple[Message, ...]) -> bool:
        return self._model.count(messages) + self._settings.max_tokens <= self._model.context


def _messages(title: str, text: str, categories: Categories) -> tuple[Message, ...]:
    return prompt(
        PROMPT,
        language_of(title + text),
        title=title,
        text=text,
        categories=categories,
        tag=element("document", [title, text]),
    )


@cache
def _shape(wanted: tuple[tuple[str, tuple[str, ...], int], ...]) -> type[Any]:
    """What a reply may hold: of each category some of its values, or none."""
    # By an alias: a category may be called like something that every model of pydantic has.
    fields: dict[str, Any] = {}
    for number, (key, values, most) in enumerate(wanted):
        value: Any = Literal[values]
        fields[f"category_{number}"] = (
            Annotated[list[value], Field(max_length=most, alias=key)],
            ...,
        )
    shape: type[Any] = create_model("Metadata", __config__=ConfigDict(extra="forbid"), **fields)
    return shape

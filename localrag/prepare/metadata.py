"""Metadata (PR3, preparation): a model sorts every document by categories.

Categories are declared in a TOML file, or proposed by a model::

    [field]
    about = "The field of law that it belongs to"
    values = ["国税", "民事"]
    most = 1

Files of localrag have a name (`SHIPPED`), others a path. A proposal is written to a file for a
person to correct first. A grammar binds the reply to the values. The model is not asked for facets
that code knows (`localrag.corpus.facets`).
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    create_model,
    field_validator,
)

from localrag.answer.evidence import element
from localrag.answer.prompts import language_of, prompt
from localrag.corpus.config import ChatConfig
from localrag.corpus.durable import replace_text, storing
from localrag.corpus.facets import FIELD, TOLD_BY_CODE, labels_of
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Document, Label
from localrag.corpus.workspace import CorpusPaths
from localrag.errors import InputError, StoreError, UsageError
from localrag.language import N_, _
from localrag.prepare.layers import LayerJob, Made, Span, UnitOutcome, digest
from localrag.prepare.making import LayerWriter, written
from localrag.search.types import ModelCall
from localrag_indexes.analysis.normalize import letters_of
from localrag_models.chat import ChatModel, Message

SHIPPED = ("statutes", "encyclopaedia", "papers")
"""The files that come with localrag."""
PROPOSE = "propose"
"""The name that asks for a proposal."""
PROPOSAL_PROMPT = "categories"

_KEPT = "categories.toml"
_KEY = re.compile(r"[^\W\d_]\w{0,39}")
# Facets that code knows. Only the field of a law may be a category too.
_RESERVED = frozenset(TOLD_BY_CODE) - {FIELD}
# Documents for a proposal, and characters of each.
_SAMPLE, _BEGINNING = 12, 300
_Text = Annotated[str, Field(min_length=1, max_length=80)]


class Category(BaseModel):
    """A category of documents."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    about: Annotated[str, Field(min_length=1, max_length=300)]  # describes it for the model
    values: Annotated[tuple[_Text, ...], Field(min_length=2, max_length=200)]  # all of them
    most: Annotated[int, Field(ge=1, le=10)] = 1  # values of one document, at most

    @field_validator("values")
    @classmethod
    def _are_different(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(map(letters_of, values))) < len(values):
            raise ValueError(_("two values are the same"))
        return values


Categories = Mapping[str, Category]
"""By key ("field")."""

_FILE = TypeAdapter(dict[str, Category])


def load(named: str) -> Categories:
    """Read a file of categories: one of `SHIPPED`, or a path. Raises `InputError`."""
    path = Path(named)
    try:
        if named in SHIPPED:
            shipped = files("localrag.prepare").joinpath("declared", f"{named}.toml")
            text = shipped.read_text(encoding="utf-8")
        else:
            text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            N_("The categories {path} cannot be read ({problem})."),
            N_("Name a file, or one of: {known}. A model makes one: --categories propose"),
            path=named,
            problem=error,
            known=", ".join(SHIPPED),
        ) from error
    return _read(text, named)


def kept(place: CorpusPaths) -> Categories | None:
    """The categories by which a corpus was sorted last, if any. Raises `StoreError`."""
    path = place.layers / _KEPT
    try:
        return _read(path.read_text(encoding="utf-8"), str(path))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, InputError) as error:
        raise StoreError(
            N_("{path} cannot be read ({problem})."),
            N_("Delete it, and name the categories again: --categories"),
            path=path,
            problem=error,
        ) from error


def keep(place: CorpusPaths, categories: Categories) -> None:
    """Store the categories of a corpus. Raises `StorageError` if they cannot be written."""
    with storing(place.layers):
        place.layers.mkdir(parents=True, exist_ok=True)
        replace_text(place.layers / _KEPT, as_toml(categories))


def as_toml(categories: Categories) -> str:
    """The file of some categories."""
    import tomli_w

    tables = {
        key: {"about": one.about, "values": list(one.values), "most": one.most}
        for key, one in categories.items()
    }
    return tomli_w.dumps(tables)


def digest_of(categories: Categories) -> str:
    """The digest of some categories."""
    return digest(json.dumps({key: one.model_dump() for key, one in categories.items()}))


def _read(text: str, named: str) -> Categories:
    try:
        categories = _FILE.validate_python(tomllib.loads(text))
        for key in categories:
            _check_key(key)
        if not categories:
            raise ValueError(_("it holds none"))
    except (ValueError, RecursionError) as error:
        problem = str(error)
        if isinstance(error, ValidationError):
            first = error.errors()[0]
            problem = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise InputError(
            N_("{path} declares no categories ({problem})."),
            N_("A category is a table [key] with about, values and, if wanted, most."),
            path=named,
            problem=problem,
        ) from error
    return categories


def _check_key(key: str) -> None:
    if key in _RESERVED:
        raise ValueError(_("{key} is found without a model").format(key=key))
    if not _KEY.fullmatch(key):
        raise ValueError(_("{key!r} is no name of letters, digits and _").format(key=key))


_Value = Annotated[str, Field(min_length=1, max_length=40)]


class _Proposed(BaseModel):
    key: Annotated[str, Field(min_length=1, max_length=40)]
    about: Annotated[str, Field(min_length=1, max_length=200)]
    values: Annotated[list[_Value], Field(max_length=12)]


class _Proposal(BaseModel):
    categories: Annotated[list[_Proposed], Field(max_length=5)]


def propose(store: CorpusStore, model: ChatModel, settings: ChatConfig) -> Categories:
    """Have a model propose categories, from the beginnings of documents throughout a corpus."""
    sample = _sample(store)
    if not sample:
        raise UsageError(N_("The corpus has no documents."), N_("Add some: localrag add PATH"))
    writer = LayerWriter(model, settings, PROPOSAL_PROMPT, "")
    while len(sample) > 1 and not writer.fits(_proposal_messages(sample)):
        sample.pop()
    reply = writer.ask(_proposal_messages(sample), _Proposal, [])
    found: dict[str, Category] = {}
    for one in reply.categories:
        key = "_".join(one.key.casefold().replace("-", " ").split())
        # One wordless value does not spoil the others.
        named = [value for value in one.values if letters_of(value)]
        values = tuple({letters_of(value): value.strip() for value in named}.values())
        usable = _KEY.fullmatch(key) and key not in TOLD_BY_CODE
        if usable and len(values) > 1:
            found.setdefault(key, Category(about=one.about, values=values))
    if not found:
        raise UsageError(
            N_("The proposals of the model are not categories."),
            N_("Try another model, or write the file by hand; these come with localrag: {known}."),
            known=", ".join(SHIPPED),
        )
    return found


def _sample(store: CorpusStore) -> list[dict[str, str]]:
    ids = [info.id for info in store.documents()]
    step = max(1, len(ids) // _SAMPLE)
    return [
        {"title": store.document(id_).title, "text": store.text(id_, 0, _BEGINNING)}
        for id_ in ids[::step][:_SAMPLE]
    ]


def _proposal_messages(sample: Sequence[Mapping[str, str]]) -> tuple[Message, ...]:
    texts = [part for one in sample for part in one.values()]
    return prompt(
        PROPOSAL_PROMPT,
        language_of("".join(texts)),
        documents=sample,
        reserved=sorted(_RESERVED),
        tag=element("document", texts),
    )


PROMPT = "metadata"
# To be raised when code makes other metadata of the same reply.
_VERSION = "1"
# Characters read: title, purpose or abstract come first.
_READ = 4000


class Sorter:
    """Has a model sort documents."""

    def __init__(self, model: ChatModel, settings: ChatConfig, categories: Categories) -> None:
        self._categories = categories
        self._writer = LayerWriter(model, settings, PROMPT, _VERSION, digest_of(categories))

    def jobs(self, document: Document) -> Iterator[LayerJob]:
        """The one job of a document: its beginning is sorted."""
        told = {label.key for label in labels_of(document)}
        asked = tuple(key for key in self._categories if key not in told)
        beginning = document.text[:_READ]
        made_of = digest(self._writer.recipe, " ".join(asked), document.title, beginning)
        make = partial(written, self._made, document.title, beginning, asked)
        yield LayerJob(document.id, Span(0, len(beginning)), digest(beginning), made_of, make)

    def _made(
        self, calls: list[ModelCall], title: str, beginning: str, asked: tuple[str, ...]
    ) -> Made:
        if not asked:
            return Made(UnitOutcome.UNCHANGED)
        wanted = {key: self._categories[key] for key in asked}
        messages = _messages(title, beginning, wanted)
        while beginning and not self._writer.fits(messages):
            beginning = beginning[: len(beginning) // 2]
            messages = _messages(title, beginning, wanted)
        shape = _shape(tuple((key, one.values, one.most) for key, one in wanted.items()))
        reply = self._writer.ask(messages, shape, calls)
        labels = tuple(
            Label(key, value)
            for key, values in reply.model_dump(by_alias=True).items()
            for value in dict.fromkeys(values)
        )
        outcome = UnitOutcome.MADE if labels else UnitOutcome.UNCHANGED
        return Made(outcome, labels=labels)


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
    """The shape of a reply: values of each category, or none."""
    # An alias, because a category may have the name of an attribute of pydantic models.
    fields: dict[str, Any] = {}
    for number, (key, values, most) in enumerate(wanted):
        value: Any = Literal[values]
        fields[f"category_{number}"] = (
            Annotated[list[value], Field(max_length=most, alias=key)],
            ...,
        )
    shape: type[Any] = create_model("Metadata", __config__=ConfigDict(extra="forbid"), **fields)
    return shape

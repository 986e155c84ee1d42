"""Every call with its options, declared once for all doors.

The command line makes its options from these models, HTTP and MCP their schemas. `Corpus.search`
and `Corpus.ask` take the filters as keywords, the OpenAI protocol takes them in its field
``localrag``. To add a filter, add a field to `Filtered`: `CliOption` gives its spelling, `Narrows`
its effect.

A call is data: it names a corpus and words that are looked up. Nothing of it reaches a path or a
query parser.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, get_args

from localrag.errors import UsageError
from localrag.language import N_
from localrag.search import MAX_CHARACTERS

# The help of the command line waits for this module, and not for Pydantic.
if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, TypeAdapter, ValidationError
    from pydantic_core import CoreSchema

    from localrag.corpus.store import CorpusStore
    from localrag.corpus.types import Label
    from localrag.search.types import Filters, Query, Span

MOST_BEFORE = 50
"""Earlier questions that a call may name."""


@dataclass(frozen=True)
class CliOption:
    """The spelling of a field on the command line; other fields are not there.

    Attributes:
        names: of an option; none for an argument.
        help: text of the command line, if it differs from the description.
        most: largest number, if the command line allows a larger one.
        words: join several words to one text.
        stdin: ``-`` alone reads standard input.
    """

    metavar: str
    names: tuple[str, ...] = ()
    help: str = ""
    most: int | None = None
    words: bool = False
    stdin: bool = False


@dataclass(frozen=True)
class Narrows:
    """The effect of a filter.

    Attributes:
        field: the field of `Filters` with its values.
        read: the values in a corpus; raises LocalragError for an unknown one.
    """

    field: str
    read: "Callable[[CorpusStore, Any], Any]"


def _documents(store: "CorpusStore", laws: tuple[str, ...]) -> tuple[str, ...]:
    from localrag.search.contents import spans_called

    return tuple(dict.fromkeys(of.document_id for law in laws for of in spans_called(store, law)))


def _parts(store: "CorpusStore", laws: tuple[str, ...]) -> "tuple[Span, ...]":
    from localrag.search.contents import spans_called

    return tuple(of for law in laws for of in spans_called(store, law) if of.end >= 0)


def _law_types(store: "CorpusStore", names: tuple[str, ...]) -> tuple[str, ...]:
    from localrag.search.finding import law_types_called

    return law_types_called(store, names)


def _layers(store: "CorpusStore", names: tuple[str, ...]) -> tuple[str, ...]:  # noqa: ARG001
    from localrag.search.finding import layers_called

    return layers_called(names)


def _iso(store: "CorpusStore", day: date) -> str:  # noqa: ARG001 - a day is the same in each corpus
    return day.isoformat()


def _labels(store: "CorpusStore", texts: tuple[str, ...]) -> "tuple[Label, ...]":  # noqa: ARG001
    from localrag.corpus.facets import read_label, read_labels

    # Refuse an empty label: it would search everything.
    return tuple(label for text in texts for label in read_labels(text) or (read_label(text),))


class _Read:
    """A value read by a function before Pydantic checks it."""

    def __init__(self, read: Callable[[object], object]) -> None:
        self._read = read

    def __get_pydantic_core_schema__(
        self, source: Any, handler: "GetCoreSchemaHandler"
    ) -> "CoreSchema":
        from pydantic_core import core_schema

        return core_schema.no_info_before_validator_function(self._read, handler(source))


_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def _iso_day(value: object) -> object:
    # Pydantic alone would read the text of a number as a day.
    if isinstance(value, str):
        if not _DAY.fullmatch(value):
            raise ValueError("write a day as 2024-04-01")
        return date.fromisoformat(value)
    return value


def _as_whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


class _OrNull:
    """An optional field: null means its default."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: "GetCoreSchemaHandler"
    ) -> "CoreSchema":
        from pydantic_core import core_schema

        or_null = core_schema.nullable_schema(handler(source))
        return core_schema.no_info_after_validator_function(_unless_null, or_null)


def _unless_null(value: object) -> object:
    if value is None:
        from pydantic_core import PydanticUseDefault

        raise PydanticUseDefault
    return value


class Bounds:
    """Bounds of a value, named as in schemas of Pydantic: ``ge``, ``max_length``, ``pattern``."""

    def __init__(self, **bounds: Any) -> None:
        self.bounds = bounds

    def __get_pydantic_core_schema__(self, source: Any, handler: "GetCoreSchemaHandler") -> Any:
        return {**handler(source), **self.bounds}


Day = Annotated[date, _Read(_iso_day)]
"""A day, written as its JSON schema says."""
WHOLE = _Read(_as_whole)
"""For `Annotated`: JSON may write an integer as 15.0."""
OR_NULL = _OrNull()
"""For `Annotated`: many clients send null for a field without a value."""

_Question = Annotated[str, Bounds(min_length=1, max_length=MAX_CHARACTERS)]
_Written = Annotated[str, Bounds(min_length=1, max_length=2_000)]
_Name = Annotated[str, Bounds(min_length=1, max_length=200)]
_Several = Annotated[tuple[_Name, ...], Bounds(max_length=50), OR_NULL]
_Label = Annotated[str, Bounds(max_length=200, pattern=r"^\s*[^\s=＝][^=＝]*[=＝][\s\S]*\S")]
_Labels = Annotated[tuple[_Label, ...], Bounds(max_length=50), OR_NULL]
_Layer = Literal["articles", "passages", "triples"]
_Layers = Annotated[tuple[_Layer, ...], Bounds(max_length=50), OR_NULL]
_Text = Annotated[str, Bounds(min_length=1, max_length=100_000)]


def _field(default: Any = ..., *, description: str) -> Any:
    told = {"description": description}
    return field(metadata=told) if default is ... else field(default=default, metadata=told)


@dataclass(frozen=True, kw_only=True, eq=False)
class Call:
    """Fields of every call."""

    # Strict: in JSON a number is no day.
    __pydantic_config__: ClassVar[dict[str, object]] = {"extra": "forbid", "strict": True}

    corpus: Annotated[
        str, Bounds(max_length=64), OR_NULL, CliOption(metavar="NAME", names=("--corpus", "-c"))
    ] = _field("", description="Name of the corpus; without it, the setting corpus.")
    as_of: Annotated[
        Day | None,
        CliOption(
            metavar="DATE",
            names=("--as-of",),
            help="The law as of this day (2020-04-01, 令和2年4月1日); without it "
            "retrieval.as_of, else today.",
        ),
    ] = _field(None, description="The law as of this day; without it, today.")

    @classmethod
    def of(cls, **values: object) -> Self:
        """A call with checked values; raises Pydantic's ValidationError."""
        # Strictly, Pydantic takes values by name from JSON alone.
        call: Self = adapter(cls).validate_python(values, strict=False)
        return call

    def settings(self) -> dict[str, object]:
        """The settings of the call, by dotted key."""
        return {"retrieval.as_of": self.as_of.isoformat()} if self.as_of else {}


@dataclass(frozen=True, kw_only=True, eq=False)
class Filtered(Call):
    """Filters, for every searching call."""

    law: Annotated[
        _Several,
        CliOption(metavar="LAW", names=("--law",)),
        Narrows("documents", _documents),
        Narrows("parts", _parts),
    ] = _field(
        (),
        description="Only these laws, parts or articles: 民法, 民法第一編第七章, 民法709〜724条.",
    )
    type: Annotated[
        _Several, CliOption(metavar="TYPE", names=("--type",)), Narrows("law_types", _law_types)
    ] = _field(
        (),
        description="Only laws of these types: Act (法律), CabinetOrder (政令), "
        "MinisterialOrdinance …",
    )
    layer: Annotated[
        _Layers, CliOption(metavar="LAYER", names=("--layer",)), Narrows("layers", _layers)
    ] = _field((), description="Only these layers: articles, passages or triples.")
    date_from: Annotated[
        Day | None, CliOption(metavar="DATE", names=("--from",)), Narrows("date_from", _iso)
    ] = _field(None, description="Only texts of this day or later.")
    date_to: Annotated[
        Day | None, CliOption(metavar="DATE", names=("--to",)), Narrows("date_to", _iso)
    ] = _field(None, description="Only texts of this day or earlier.")
    where: Annotated[
        _Labels, CliOption(metavar="KEY=VALUE", names=("--where",)), Narrows("where", _labels)
    ] = _field(
        (),
        description="Only documents with this label: kind=Act or kind=法律, ministry=総務省, "
        "chapter=罰則. Values of one key are alternatives. `overview` lists the labels.",
    )

    def filters(self, store: "CorpusStore") -> "Filters":
        """The filters as a corpus knows them; raises UsageError, NotFoundError."""
        from localrag.search.types import NO_FILTERS

        values: dict[str, Any] = {}
        for name, narrows in _narrowing(type(self)):
            if given := getattr(self, name):
                read = narrows.read(store, given)
                values[narrows.field] = values.get(narrows.field, type(read)()) + read
        return replace(NO_FILTERS, **values)


def _narrowing(call: type[Filtered]) -> list[tuple[str, Narrows]]:
    """The filters of a call with their names."""
    return [
        (one.name, mark)
        for one in fields(call)
        for mark in get_args(one.type)
        if isinstance(mark, Narrows)
    ]


def filtered(given: Mapping[str, object]) -> Filtered:
    """Read filters by name, as Python gives them; a text is a list of one. Raises UsageError."""
    narrowing = dict(_narrowing(Filtered))
    known = {one.name: one for one in fields(Filtered) if one.name in narrowing}
    values: dict[str, object] = {}
    for name, value in given.items():
        if name not in known:
            raise UsageError(
                N_("There is no filter {name!r}."),
                N_("There is: {known}."),
                name=name,
                known=", ".join(known),
            )
        is_list = known[name].default == ()
        values[name] = [value] if is_list and isinstance(value, str) else value
    from pydantic import ValidationError

    try:
        found: Filtered = adapter(Filtered).validate_python(values, strict=False)
    except ValidationError as error:
        raise UsageError(
            N_("A filter has a wrong value: {problems}"), problems=problems(error)
        ) from error
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class SearchCall(Filtered):
    """Find the passages that answer a query best; an id that it gives can be shown."""

    query: Annotated[
        _Question,
        CliOption(
            metavar="QUERY",
            help="Words or a question; several words are joined; - reads standard input.",
            words=True,
            stdin=True,
        ),
    ] = _field(description="Words or a question.")
    k: Annotated[
        Annotated[int, Bounds(ge=1, le=100), WHOLE] | None,
        CliOption(metavar="N", names=("-k",), most=1_000),
    ] = _field(None, description="Number of passages; without it, the setting retrieval.k.")

    def as_query(self, store: "CorpusStore") -> "Query":
        """The query of the search; raises as `filters`."""
        from localrag.search.types import Query

        return Query(self.query, filters=self.filters(store))


@dataclass(frozen=True, kw_only=True, eq=False)
class AskCall(Filtered):
    """Answer a question with verbatim quotations that code has checked."""

    question: Annotated[
        _Question,
        CliOption(
            metavar="QUESTION",
            help="The question; several words are joined; - reads standard input.",
            words=True,
            stdin=True,
        ),
    ] = _field(description="The question.")
    options: Annotated[
        tuple[_Written, ...],
        Bounds(max_length=10),
        OR_NULL,
        CliOption(metavar="TEXT", names=("--option",)),
    ] = _field(
        (),
        description="Options of a multiple-choice question, for methods choosing between options.",
    )
    after: Annotated[
        tuple[_Question, ...],
        Bounds(max_length=MOST_BEFORE),
        OR_NULL,
        CliOption(metavar="QUESTION", names=("--after",)),
    ] = _field((), description="Earlier questions, oldest first; this one may refer to them.")
    model: Annotated[bool, OR_NULL] = _field(
        True, description="Let the model of the settings write, if there is one; else quote only."
    )

    def settings(self) -> dict[str, object]:
        """The settings of the call, by dotted key."""
        quoting = {"chat.model": "", "method.name": "extractive"}
        return super().settings() | ({} if self.model else quoting)

    def as_query(self, store: "CorpusStore") -> "Query":
        """The question with its options and filters; raises as `filters`."""
        from localrag.search.types import Query

        return Query(
            self.question, options=self.options, filters=self.filters(store), history=self.after
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ShowCall(Call):
    """Show a provision with its relations, the provisions of a range, or the contents of a law."""

    citation: Annotated[
        _Written,
        CliOption(
            metavar="CITATION",
            help="A citation as you would write it, the id of a passage or a document, or the name "
            "of a subject of triples.",
            words=True,
        ),
    ] = _field(
        description="A citation in any spelling (民法709条, 金商27の36), a range (民法709〜724条), "
        "a law or a part of it (民法 第三編第五章), or the id of a passage."
    )
    most: Annotated[int, Bounds(ge=1, le=200), WHOLE, OR_NULL] = _field(
        20, description="Number of provisions shown of a range."
    )
    as_read_by: Annotated[
        str,
        Bounds(max_length=2_000),
        OR_NULL,
        CliOption(metavar="CITATION", names=("--as-read-by",)),
    ] = _field("", description="Show the text with the words replaced by this provision (読替え).")


@dataclass(frozen=True, kw_only=True, eq=False)
class ResolveCall(Call):
    """Tell which provisions citations mean; ambiguous and missing ones are listed."""

    citation: _Written = _field(description="Citations as a person types them.")


@dataclass(frozen=True, kw_only=True, eq=False)
class HistoryCall(Call):
    """Show the states of a provision, and what changed in each."""

    citation: Annotated[_Written, CliOption(metavar="CITATION", words=True)] = _field(
        description="A provision, as you would cite it."
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class AffectedCall(Call):
    """List the provisions citing, applying, implementing or punishing a provision or a law."""

    citation: Annotated[_Written, CliOption(metavar="CITATION", words=True)] = _field(
        description="A provision or a law, as you would cite it."
    )
    depth: Annotated[
        int, Bounds(ge=1, le=5), WHOLE, OR_NULL, CliOption(metavar="N", names=("--depth",))
    ] = _field(1, description="Follow the references over this many steps.")


@dataclass(frozen=True, kw_only=True, eq=False)
class PendingCall(Call):
    """List amendments not yet in force, or the citations of a text changed by them."""

    text: Annotated[str, Bounds(max_length=100_000), OR_NULL] = _field(
        "", description="A text; without it, the amendments themselves are listed."
    )
    law: Annotated[
        str, Bounds(max_length=200), OR_NULL, CliOption(metavar="LAW", names=("--law",))
    ] = _field("", description="Only this law: id, title or abbreviation.")
    until: Annotated[Day | None, CliOption(metavar="DATE", names=("--until",))] = _field(
        None, description="Only up to this day."
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class DiffCall(Call):
    """Compare the states of a law on two days."""

    law: Annotated[_Written, CliOption(metavar="LAW")] = _field(
        description="Title, abbreviation or id of a law."
    )
    before: Annotated[Day, CliOption(metavar="DATE")] = _field(
        description="A day, such as 2015-12-27."
    )
    after: Annotated[Day, CliOption(metavar="DATE")] = _field(description="Another day.")


@dataclass(frozen=True, kw_only=True, eq=False)
class CheckCall(Call):
    """Check what a text cites, quotes and says of laws against their text, without a model."""

    text: _Text = _field(description="The text itself.")


def adapter(kind: Any) -> "TypeAdapter[Any]":
    """Reads a type from JSON, writes it, and knows its schema."""
    return _adapter(kind)


@cache
def _adapter(kind: Any) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def problems(error: "ValidationError") -> str:
    """Name the wrong fields of a call, with the reasons."""
    told = []
    for one in error.errors(include_url=False, include_context=False, include_input=False):
        place, words = ".".join(map(str, one["loc"])), _WORDS.get(one["type"], one["msg"])
        told.append(f"{place}: {words}".removeprefix(": "))
    return "; ".join(told)


_WORDS = {"unexpected_keyword_argument": "Extra inputs are not permitted"}
"""What Pydantic says of a field that is not there, the same for every type."""

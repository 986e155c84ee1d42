"""Every call with its options, declared once for all doors.

The command line makes its options from these models, HTTP and MCP their schemas. `Corpus.search`
and `Corpus.ask` take the filters as keywords, the OpenAI protocol takes them in its field
``localrag``. To add a filter, add a field to `Filtered` and use it in `Filtered.filters`.

A call is data: it names a corpus and words that are looked up. Nothing of it reaches a path or a
query parser.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidationError,
)
from pydantic_core import PydanticUseDefault, core_schema

from localrag.errors import UsageError
from localrag.language import N_

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.retrieval.types import Filters, Query

LONGEST_QUESTION = 10_000
"""Characters of a question; `localrag.retrieval.query` has the same limit."""
MOST_BEFORE = 50
"""Earlier questions that a call may name."""
_LONGEST_TEXT = 100_000


@dataclass(frozen=True)
class Typed:
    """How a field is written on the command line, which has no field without it.

    Attributes:
        metavar: word for the value.
        names: names of the option; none for an argument.
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


_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def _day(value: object) -> object:
    if isinstance(value, str):
        if not _DAY.fullmatch(value):
            raise ValueError("write a day as 2024-04-01")
        return date.fromisoformat(value)
    return value


# Pydantic would read the text of a number as a day.
Day = Annotated[date, BeforeValidator(_day)]
"""A day, written as its JSON schema says."""


def as_whole(value: object) -> object:
    """A number as an integer where it is one: JSON may write 15.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class _OrNull:
    """Marks an optional field that takes null for its default."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        or_null = core_schema.nullable_schema(handler(source))
        return core_schema.no_info_after_validator_function(_unless_null, or_null)


def _unless_null(value: object) -> object:
    if value is None:
        raise PydanticUseDefault
    return value


OR_NULL = _OrNull()
"""For `Annotated`: many clients send null for a field without a value."""

_Question = Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION)]
_Written = Annotated[str, Field(min_length=1, max_length=2_000)]
_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Several = Annotated[tuple[_Name, ...], Field(max_length=50), OR_NULL]
_Label = Annotated[str, Field(max_length=200, pattern=r"^\s*[^\s=＝][^=＝]*[=＝][\s\S]*\S")]
_Labels = Annotated[tuple[_Label, ...], Field(max_length=50), OR_NULL]
_Layer = Literal["articles", "passages", "triples"]
_Layers = Annotated[tuple[_Layer, ...], Field(max_length=50), OR_NULL]


class Call(BaseModel):
    """What every call says."""

    # Strict: clients send JSON, where a number is no day. The command line needs no schema.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    corpus: Annotated[
        str, Field(max_length=64), OR_NULL, Typed(metavar="NAME", names=("--corpus", "-c"))
    ] = Field("", description="Name of the corpus; without it, the setting corpus.")
    as_of: Annotated[
        Day | None,
        Typed(
            metavar="DATE",
            names=("--as-of",),
            help="The law as of this day (2020-04-01, 令和2年4月1日); without it "
            "retrieval.as_of, else today.",
        ),
    ] = Field(None, description="The law as of this day; without it, today.")

    def settings(self) -> dict[str, object]:
        """The settings that the call replaces, by dotted key."""
        return {"retrieval.as_of": self.as_of.isoformat()} if self.as_of else {}


class Filtered(Call):
    """What may be found, for every call that searches."""

    law: Annotated[_Several, Typed(metavar="LAW", names=("--law",))] = Field(
        (), description="Only these laws: ids, titles or abbreviations."
    )
    type: Annotated[_Several, Typed(metavar="TYPE", names=("--type",))] = Field(
        (),
        description="Only laws of these types: Act (法律), CabinetOrder (政令), "
        "MinisterialOrdinance …",
    )
    layer: Annotated[_Layers, Typed(metavar="LAYER", names=("--layer",))] = Field(
        (), description="Only these layers: articles, passages or triples."
    )
    date_from: Annotated[Day | None, Typed(metavar="DATE", names=("--from",))] = Field(
        None, description="Only texts of this day or later."
    )
    date_to: Annotated[Day | None, Typed(metavar="DATE", names=("--to",))] = Field(
        None, description="Only texts of this day or earlier."
    )
    where: Annotated[_Labels, Typed(metavar="KEY=VALUE", names=("--where",))] = Field(
        (),
        description="Only documents with this label: kind=Act or kind=法律, ministry=総務省, "
        "chapter=罰則. Values of one key are alternatives. `overview` lists the labels.",
    )

    def filters(self, store: "CorpusStore") -> "Filters":
        """The filters as a corpus knows them; raises as `localrag.finding.filters_of`."""
        from localrag.finding import filters_of

        return filters_of(
            store,
            laws=self.law,
            law_types=self.type,
            layers=self.layer,
            date_from=self.date_from.isoformat() if self.date_from else "",
            date_to=self.date_to.isoformat() if self.date_to else "",
            where=self.where,
        )


def filtered(given: Mapping[str, object]) -> Filtered:
    """Filters by name, as Python gives them: a text where several are possible is one of them.

    Raises:
        UsageError: a name or a value is wrong.
    """
    known = [name for name in Filtered.model_fields if name not in Call.model_fields]
    values: dict[str, object] = {}
    for name, value in given.items():
        if name not in known:
            raise UsageError(
                N_("There is no filter {name!r}."),
                N_("There is: {known}."),
                name=name,
                known=", ".join(known),
            )
        is_list = Filtered.model_fields[name].default == ()
        values[name] = [value] if is_list and isinstance(value, str) else value
    try:
        return Filtered.model_validate(values, strict=False)
    except ValidationError as error:
        raise UsageError(
            N_("A filter has a wrong value: {problems}"), problems=problems(error)
        ) from error


class SearchCall(Filtered):
    """Find the passages that answer a query best; an id that it gives can be shown."""

    query: Annotated[
        _Question,
        Typed(
            metavar="QUERY",
            help="Words or a question; several words are joined; - reads standard input.",
            words=True,
            stdin=True,
        ),
    ] = Field(description="Words or a question.")
    k: Annotated[
        int | None,
        Field(ge=1, le=100),
        BeforeValidator(as_whole),
        Typed(metavar="N", names=("-k",), most=1_000),
    ] = Field(None, description="Number of passages; without it, the setting retrieval.k.")

    def as_query(self, store: "CorpusStore") -> "Query":
        """The query that is searched for; raises as `filters`."""
        from localrag.retrieval.types import Query

        return Query(self.query, filters=self.filters(store))


class AskCall(Filtered):
    """Answer a question with verbatim quotations that code has checked."""

    question: Annotated[
        _Question,
        Typed(
            metavar="QUESTION",
            help="The question; several words are joined; - reads standard input.",
            words=True,
            stdin=True,
        ),
    ] = Field(description="The question.")
    options: Annotated[
        tuple[_Written, ...],
        Field(max_length=10),
        OR_NULL,
        Typed(metavar="TEXT", names=("--option",)),
    ] = Field((), description="Options of a multiple-choice question, for methods that choose.")
    after: Annotated[
        tuple[_Question, ...],
        Field(max_length=MOST_BEFORE),
        OR_NULL,
        Typed(metavar="QUESTION", names=("--after",)),
    ] = Field((), description="Questions asked before, which this one may refer to; oldest first.")
    model: Annotated[bool, OR_NULL] = Field(
        True, description="Let the model of the settings write, if there is one; else quote only."
    )

    def settings(self) -> dict[str, object]:
        """The settings that the call replaces, by dotted key."""
        quoting = {"chat.model": "", "method.name": "extractive"}
        return super().settings() | ({} if self.model else quoting)

    def as_query(self, store: "CorpusStore") -> "Query":
        """The question with its options and filters; raises as `filters`."""
        from localrag.retrieval.types import Query

        return Query(
            self.question, options=self.options, filters=self.filters(store), history=self.after
        )


class ShowCall(Call):
    """Show a provision with its ties, those of a list or a range, or what a law holds."""

    citation: Annotated[
        _Written,
        Typed(
            metavar="CITATION",
            help="A citation as you would write it, the id of a passage or a document, or the name "
            "of a subject of triples.",
            words=True,
        ),
    ] = Field(
        description="A citation in any spelling (民法709条, 金商27の36), a range (民法709〜724条), "
        "a law or a part of it (民法 第三編第五章), or the id of a passage."
    )
    most: Annotated[int, Field(ge=1, le=200), BeforeValidator(as_whole), OR_NULL] = Field(
        20, description="Provisions of a range that are shown."
    )
    as_read_by: Annotated[
        str,
        Field(max_length=2_000),
        OR_NULL,
        Typed(metavar="CITATION", names=("--as-read-by",)),
    ] = Field("", description="Show the text with the words that this provision replaces (読替え).")


class ResolveCall(Call):
    """Tell which provisions citations mean; ambiguous and missing ones are listed."""

    citation: _Written = Field(description="Citations as a person types them.")


class HistoryCall(Call):
    """Show the states of a provision, and what changed in each."""

    citation: Annotated[_Written, Typed(metavar="CITATION", words=True)] = Field(
        description="A provision, as you would cite it."
    )


class DiffCall(Call):
    """Compare the states in which a law was on two days."""

    law: Annotated[_Written, Typed(metavar="LAW")] = Field(
        description="Title, abbreviation or id of a law."
    )
    before: Annotated[Day, Typed(metavar="DATE")] = Field(description="A day, such as 2015-12-27.")
    after: Annotated[Day, Typed(metavar="DATE")] = Field(description="Another day.")


class CheckCall(Call):
    """Check what a text cites, quotes and says of laws against their text, without a model."""

    text: str = Field(min_length=1, max_length=_LONGEST_TEXT, description="The text itself.")


def problems(error: ValidationError) -> str:
    """What is wrong with the fields of a call."""
    return "; ".join(
        f"{'.'.join(map(str, one['loc']))}: {one['msg']}".removeprefix(": ")
        for one in error.errors(include_url=False, include_context=False, include_input=False)
    )

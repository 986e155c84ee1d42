"""What clients of every door may ask for: each call with its bounds, its result and its work.

A call is data. It names a corpus, which has to exist, and says the rest in words that are looked
up: nothing of it reaches a path, and no query language reads it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import PurePath
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidationError,
)
from pydantic_core import PydanticUseDefault, core_schema

# Before Python 3.12 Pydantic makes schemas of this one alone.
from typing_extensions import TypedDict

from localrag.as_json.checks import MOST_LISTED, CheckJson, check_as_json
from localrag.as_json.found import (
    AnswerJson,
    CorpusJson,
    RetrievalJson,
    answer_as_json,
    corpus_as_json,
    retrieval_as_json,
)
from localrag.as_json.statutes import (
    ComparisonJson,
    HistoryJson,
    LookedUpJson,
    ResolutionJson,
    comparison_as_json,
    history_as_json,
    looked_up_as_json,
    resolution_as_json,
)
from localrag.errors import LocalragError, ModelUnusable
from localrag.export.answer import answer_blocks
from localrag.export.markdown import markdown
from localrag.export.provision import place
from localrag.finding import filters_of, resolve
from localrag.methods.answering import answering_method
from localrag.provision import LookedUp
from localrag.reading import wording
from localrag.reading.types import UNWATCHED, Watch
from localrag.retrieval.query import MAX_CHARACTERS
from localrag.retrieval.types import Query
from localrag.session import Corpus, Session
from localrag_indexes.errors import IndexingError


def _day(value: object) -> object:
    if isinstance(value, str):
        if not _DAY.fullmatch(value):
            raise ValueError("write a day as 2024-04-01")
        return date.fromisoformat(value)
    return value


def as_whole(value: object) -> object:
    """The whole number that a number is: in JSON 15.0 is one, too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
# Pydantic would take the text of a number for a day.
Day = Annotated[date, BeforeValidator(_day)]
"""A day, written as its JSON schema says."""


class _OrNull:
    """Marks a field that need not be given: null in its place says the same."""

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
"""For `Annotated`: many clients send null for whatever they have no value for."""

_Question = Annotated[str, Field(min_length=1, max_length=MAX_CHARACTERS)]
_Written = Annotated[str, Field(min_length=1, max_length=2_000)]
_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Several = Annotated[tuple[_Name, ...], Field(max_length=50)]
_Label = Annotated[str, Field(max_length=200, pattern=r"^\s*[^\s=＝][^=＝]*[=＝][\s\S]*\S")]
_Labels = Annotated[tuple[_Label, ...], Field(max_length=50)]
_Layers = Annotated[tuple[Literal["articles", "passages", "triples"], ...], Field(max_length=50)]
_LONGEST_TEXT = 100_000
MOST_BEFORE = 50
"""Questions asked before, at most, that one may lean on."""


class Call(BaseModel):
    """What every call says."""

    # Strict: what clients send is JSON, and a number is no day.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    corpus: Annotated[str, Field(max_length=64), OR_NULL] = Field(
        "", description="Corpus to work on; the one of the settings where empty."
    )
    as_of: Day | None = Field(None, description="The law as of this day; today where none is.")


class _Filtered(Call):
    law: Annotated[_Several, OR_NULL] = Field(
        (), description="Only these laws: ids, titles or abbreviations."
    )
    type: Annotated[_Several, OR_NULL] = Field(
        (), description="Only laws of these types: Act, CabinetOrder …"
    )
    layer: Annotated[_Layers, OR_NULL] = Field((), description="Only these layers.")
    date_from: Day | None = Field(None, description="Only texts of this day or later.")
    date_to: Day | None = Field(None, description="Only texts of this day or earlier.")
    where: Annotated[_Labels, OR_NULL] = Field(
        (),
        description="Only documents that are so, KEY=VALUE (kind=Act, ministry=総務省, "
        "chapter=罰則): of one key one of the values, of each key one.",
    )

    def query(self, corpus: Corpus, text: str, **more: Any) -> Query:
        """The query that it makes; raises as `localrag.finding.filters_of`."""
        filters = filters_of(
            corpus.store,
            laws=self.law,
            law_types=self.type,
            layers=self.layer,
            date_from=self.date_from.isoformat() if self.date_from else "",
            date_to=self.date_to.isoformat() if self.date_to else "",
            where=self.where,
        )
        return Query(text, filters=filters, **more)


class SearchCall(_Filtered):
    """Find the passages that answer a query best; an id that it gives can be shown."""

    query_: _Question = Field(alias="query", description="Words or a question.")
    k: Annotated[int, Field(ge=1, le=100), BeforeValidator(as_whole)] | None = Field(
        None, description="Passages; else the setting retrieval.k."
    )


class ShowCall(Call):
    """Show a provision with its ties, those of a list or a range, or what a law holds."""

    citation: _Written = Field(
        description="A citation in any spelling (民法709条, 金商27の36), a range (民法709〜724条), "
        "a law or a part of it (民法 第三編第五章), or the id of a passage."
    )
    most: Annotated[int, Field(ge=1, le=200), BeforeValidator(as_whole), OR_NULL] = Field(
        20, description="Provisions of a range that are shown."
    )
    as_read_by: Annotated[str, Field(max_length=2_000), OR_NULL] = Field(
        "", description="Provision by whose readings (読替え) it is read."
    )


class ResolveCall(Call):
    """Tell which provisions citations mean; ambiguous and missing ones are listed."""

    citation: _Written = Field(description="Citations as a person types them.")


class HistoryCall(Call):
    """Show the states of a provision, and what changed in each."""

    citation: _Written = Field(description="A provision, as a person cites it.")


class DiffCall(Call):
    """Compare the states in which a law was on two days."""

    law: _Written = Field(description="Title, abbreviation or id of a law.")
    before: Day = Field(description="A day.")
    after: Day = Field(description="Another day.")


class CheckCall(Call):
    """Check what a text cites, quotes and says of laws against their text, without a model."""

    text: str = Field(min_length=1, max_length=_LONGEST_TEXT, description="The text itself.")


class AskCall(_Filtered):
    """Answer a question with verbatim quotations that code has checked."""

    question: _Question = Field(description="The question.")
    options: Annotated[tuple[_Written, ...], Field(max_length=10), OR_NULL] = Field(
        (), description="Options of a multiple-choice question, for methods that choose."
    )
    after: Annotated[tuple[_Question, ...], Field(max_length=MOST_BEFORE), OR_NULL] = Field(
        (), description="Questions asked before, which this one may lean on; oldest first."
    )
    model: Annotated[bool, OR_NULL] = Field(
        True, description="Let the model of the settings write, if there is one; else quote only."
    )


@dataclass(frozen=True)
class Work:
    """A kind of call: what it takes, what it gives, and who does it.

    Attributes:
        takes: the model of the call.
        gives: the type of its result, as JSON.
        do: carries it out; raises `LocalragError`.
    """

    takes: type[Call]
    gives: Any
    do: Callable[[Corpus, Any], Any]

    @property
    def about(self) -> str:
        """What it does, for whoever reads a list of calls."""
        return str(self.takes.__doc__)


def _search(corpus: Corpus, call: SearchCall) -> RetrievalJson:
    query = call.query(corpus, call.query_)
    return retrieval_as_json(query, corpus.search(query, call.k))


def _show(corpus: Corpus, call: ShowCall) -> LookedUpJson:
    if call.as_read_by:
        shown = corpus.show(call.citation, as_read_by=call.as_read_by)
        return looked_up_as_json(LookedUp((shown,)))
    return looked_up_as_json(corpus.look_up(call.citation, call.most))


def _resolve(corpus: Corpus, call: ResolveCall) -> ResolutionJson:
    return resolution_as_json(resolve(corpus.store, call.citation))


def _history(corpus: Corpus, call: HistoryCall) -> HistoryJson:
    return history_as_json(corpus.history(call.citation))


def _diff(corpus: Corpus, call: DiffCall) -> ComparisonJson:
    return comparison_as_json(corpus.diff(call.law, call.before, call.after))


def _check(corpus: Corpus, call: CheckCall) -> CheckJson:
    return check_as_json(corpus.check(call.text), MOST_LISTED)


class ToldJson(TypedDict):
    """An answer for people: as JSON, why it has its status, and all of it as Markdown."""

    answer: AnswerJson
    verdict: str
    markdown: str


def answered(corpus: Corpus, call: AskCall, watch: Watch = UNWATCHED) -> ToldJson:
    """Answer the question of a call.

    Raises:
        as `Corpus.ask`, and Cancelled where the watch says so.
    """
    query = call.query(corpus, call.question, options=call.options, history=call.after)
    answer = corpus.ask(query, watch)
    shown = markdown(answer_blocks(answer, partial(place, corpus.store)))
    return {
        "answer": answer_as_json(query, answer),
        "verdict": wording.verdict(answer),
        "markdown": shown.strip(),
    }


def _ask(corpus: Corpus, call: AskCall) -> AnswerJson:
    return answered(corpus, call)["answer"]


WORK: Mapping[str, Work] = {
    "search": Work(SearchCall, RetrievalJson, _search),
    "show": Work(ShowCall, LookedUpJson, _show),
    "resolve": Work(ResolveCall, ResolutionJson, _resolve),
    "history": Work(HistoryCall, HistoryJson, _history),
    "diff": Work(DiffCall, ComparisonJson, _diff),
    "check": Work(CheckCall, CheckJson, _check),
    "ask": Work(AskCall, AnswerJson, _ask),
}
"""Every call by its name: a tool of `mcp`, a route of `serve`."""

TOLD = "told"
"""The name of a question whose answer people are to read."""

EVERY: Mapping[str, Work] = {**WORK, TOLD: Work(AskCall, ToldJson, answered)}
"""Every kind of work, those too that no client calls by its name."""


def session_of(session: Session, call: Call) -> Session:
    """The session with what a call says of the day and the model."""
    settings: dict[str, object] = {}
    if call.as_of:
        settings["retrieval.as_of"] = call.as_of.isoformat()
    if isinstance(call, AskCall) and not call.model:
        settings |= {"chat.model": "", "method.name": "extractive"}
    return session.with_settings(settings)


def writes(session: Session, call: AskCall) -> bool:
    """Whether a model takes part in the answer to a call.

    Raises:
        ConfigError: the settings are not valid.
        UsageError: they name no method that answers, or no corpus can have such a name.
    """
    opened = session_of(session, call).corpus(call.corpus)
    return answering_method(opened.config).needs_model


def corpora_of(session: Session, names: Sequence[str]) -> list[CorpusJson]:
    """The corpora of these names, as JSON; raises as `corpus_as_json`."""
    return [corpus_as_json(session.workspace.corpus(name)) for name in names]


def told(error: ValidationError) -> str:
    """What is wrong with the fields of a call."""
    return "; ".join(
        f"{'.'.join(map(str, one['loc']))}: {one['msg']}".removeprefix(": ")
        for one in error.errors(include_url=False, include_context=False, include_input=False)
    )


@dataclass(frozen=True)
class Refusal:
    """Why a call has no result; an error that has crossed from one process to another.

    Attributes:
        kind: the name of the error.
        cause, cure: what went wrong and what to do about it, in words that name no path.
        code: the exit code that the command line would leave with.
        transient: whether the same call can succeed a little later.
        within: all of it, with the paths, for the log; "" where there is none.
    """

    kind: str
    cause: str
    cure: str
    code: int
    transient: bool = False
    within: str = ""

    @classmethod
    def of(cls, error: LocalragError) -> "Refusal":
        """The refusal that an error is, in the language in use."""
        transient = isinstance(error, ModelUnusable) and error.transient
        kind = next(one.__name__ for one in type(error).__mro__ if one.__module__ == _ERRORS)
        shown = copy(error)
        shown.fields = {name: _placeless(value) for name, value in error.fields.items()}
        cause, cure = map(_without_paths, (shown.cause, shown.cure))
        within = str(error)
        if within == f"{cause} {cure}".strip():
            within = ""
        return cls(kind, cause, cure, error.exit_code, transient, within)

    def __str__(self) -> str:
        return f"{self.cause} {self.cure}".strip()


_ERRORS = LocalragError.__module__
# A path from the root on, of two names at least, and its last name. Addresses of this server stay.
_PATH = re.compile(
    r"(?<![\w:/.~])(?:~|[A-Za-z]:)?[/\\](?!v1/)(?:[^\s/\\'\"`<>|:;,、。（）「」()]+[/\\])+"
    r"([^\s/\\'\"`<>|:;,、。（）「」()]*)"
)


def _placeless(value: object) -> object:
    """A value of an error without the folder in which a file is."""
    match value:
        case PurePath():
            return value.name
        case str() if PurePath(value).is_absolute():
            return PurePath(value).name
        case OSError(errno=int(number), strerror=str(reason), filename=str(file)):
            return OSError(number, reason, PurePath(file).name)
        case IndexingError():
            inner = copy(value)
            inner.fields = {name: _placeless(of) for name, of in value.fields.items()}
            return inner
        case _:
            return value


def _without_paths(text: str) -> str:
    return _PATH.sub(lambda path: path[1] or "…", text)

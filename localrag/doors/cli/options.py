"""Shared by several verbs: options, the options of calls, notes about an index."""

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from datetime import date
from functools import wraps
from itertools import chain
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import typer
from typer.models import ParameterInfo

from localrag.corpus.workspace import Workspace
from localrag.doors.calls import AskCall, Bounds, Call, CliOption, Filtered
from localrag.doors.cli.terminal import duration, tell_note
from localrag.doors.session import Corpus, Session
from localrag.errors import LocalragError, UsageError
from localrag.language import N_, _


def switched(
    session: Session, lexical: bool | None, dense: bool | None, rerank: bool | None
) -> Session:
    """The session with stages on or off; None keeps the setting."""
    switch = {None: None, True: "on", False: "off"}
    return session.with_settings(
        {
            "retrieval.lexical": lexical,
            "retrieval.dense": switch[dense],
            "retrieval.rerank": switch[rerank],
        }
    )


def indexing(session: Session, corpus: str) -> str:
    """The command for updating the indexes of a corpus."""
    usual = corpus == session.config().corpus
    return "localrag index" if usual else f"localrag index --corpus {corpus}"


_WORTH_SAYING = 5.0
"""Seconds; shorter waits are not announced."""


def tell_expected(session: Session, model: str) -> None:
    """Say how long a reply of a model takes here, by its id, if it is long and was measured."""
    from localrag.corpus.inference.speeds import speeds

    speed = speeds(session.workspace).get(model)
    if speed is None or not speed.replies or speed.seconds / speed.replies < _WORTH_SAYING:
        return
    words = _(
        "a reply of {model} takes about {time} here ({n} replies measured). "
        "--no-model quotes without it; localrag doctor shows the GPU"
    )
    time = duration(speed.seconds / speed.replies)
    tell_note(words.format(model=model, time=time, n=speed.replies))


def given(text: str) -> str:
    """A typed text; for ``-``, standard input."""
    return unicode(sys.stdin.read() if text == "-" else text)


def tell_if_behind(corpus: Corpus) -> None:
    """Say so if the index of an open corpus is behind its documents."""
    from localrag.search.units import IndexState, state, vector_state

    if state(corpus.place, corpus.store) is not IndexState.FRESH:
        behind = _("it was indexed")
    elif vector_state(corpus.place, corpus.store) is IndexState.BEHIND:
        behind = _("its vectors were made")
    else:
        return
    message = _(
        "corpus {name} has changed since {behind}. To find new texts, "
        "run: localrag index --corpus {name}"
    )
    tell_note(message.format(name=corpus.name, behind=behind))


def completing(
    names: Callable[[Workspace], list[str]],
) -> Callable[[typer.Context, str], list[str]]:
    """Shell completion for some names."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            known = names(Workspace.locate(ctx.find_root().params.get("home")))
        except (LocalragError, OSError):
            return []
        return [name for name in known if name.startswith(incomplete)]

    return complete


complete_corpus = completing(Workspace.corpora)


@dataclass(frozen=True)
class _Option:
    """A field of a call on the command line: its type is without bounds and None."""

    field: Field[Any]
    typed: CliOption
    kind: Any
    bounds: Mapping[str, Any]

    def parameter(self) -> inspect.Parameter:
        """The parameter for Typer."""
        is_list = self.typed.words or self.kind is tuple
        annotation: Any = list[str] if is_list else int if self.kind is int else str
        default: Any = "" if annotation is str else None
        if self.field.default is MISSING:
            default = inspect.Parameter.empty
        elif default is None:
            annotation |= None
        annotation = Annotated[annotation, self.info()]
        kind = inspect.Parameter.KEYWORD_ONLY
        return inspect.Parameter(self.field.name, kind, default=default, annotation=annotation)

    def info(self) -> Any:
        """The option or argument of Typer."""
        told: dict[str, Any] = {
            "metavar": self.typed.metavar,
            "help": self.typed.help or self.field.metadata["description"],
            "min": self.bounds.get("ge"),
            "max": self.typed.most or self.bounds.get("le"),
            "autocompletion": complete_corpus if self.field.name == "corpus" else None,
            "show_default": False,
        }
        names = self.typed.names
        return typer.Option(*names, **told) if names else typer.Argument(**told)

    def read(self, given: Any) -> Any:
        """Turn the typed text into the value of the field.

        Raises:
            UsageError: it is not a date, or not UTF-8.
        """
        if given is None:
            return self.field.default
        if self.typed.words:
            text = " ".join(given)
            return unicode(sys.stdin.read() if self.typed.stdin and text == "-" else text)
        if self.kind is tuple:
            return tuple(map(unicode, given))
        if self.kind is date:
            return day((*self.typed.names, self.typed.metavar)[0], given) if given else None
        return unicode(given) if isinstance(given, str) else given


def _options(call: type[Any]) -> Mapping[str, inspect.Parameter | _Option]:
    """The options of a call, its own first, then inherited ones.

    A field declared with an option of Typer is a parameter already.
    """
    declared = {one.name: one for one in fields(call)}
    names = (name for kind in call.__mro__ for name in vars(kind).get("__annotations__", ()))
    found: dict[str, inspect.Parameter | _Option] = {}
    for one in (declared[name] for name in names if name in declared):
        kind, marks = _plain(one.type)
        bounds = [mark.bounds.items() for mark in marks if isinstance(mark, Bounds)]
        for mark in marks:
            if isinstance(mark, CliOption):
                found[one.name] = _Option(one, mark, kind, dict(chain.from_iterable(bounds)))
            elif isinstance(mark, ParameterInfo):
                found[one.name] = _parameter(one)
    return found


def _parameter(field: Field[Any]) -> inspect.Parameter:
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(field.name, kind, default=default, annotation=field.type)


def _plain(kind: Any) -> tuple[Any, list[Any]]:
    """A type without None, and its marks."""
    marks: list[Any] = []
    while get_origin(kind) in (Annotated, Union, UnionType):
        if get_origin(kind) is Annotated:
            marks += get_args(kind)[1:]
        kind = get_args(kind)[0]
    return get_origin(kind) or kind, marks


def with_options(verb: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter `call` of a verb by its options."""
    signature = inspect.signature(verb)
    if "call" not in signature.parameters:
        return verb
    kind: type[Any] = signature.parameters["call"].annotation
    options = _options(kind)

    @wraps(verb)
    def run(**given: Any) -> None:
        # Bounds for JSON do not apply here; Typer has checked the others.
        values = {
            name: one.read(given.pop(name)) if isinstance(one, _Option) else given.pop(name)
            for name, one in options.items()
        }
        verb(call=kind(**values), **given)

    spread: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        own = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        spread += map(_as_parameter, options.values()) if name == "call" else [own]
    run.__signature__ = signature.replace(parameters=spread)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in spread}
    return run


def _as_parameter(option: inspect.Parameter | _Option) -> inspect.Parameter:
    return option.parameter() if isinstance(option, _Option) else option


def option_of(call: type[Call], name: str) -> Any:
    """The option of a call, for a verb of another one."""
    (info,) = get_args(_as_parameter(_options(call)[name]).annotation)[1:]
    return info


CorpusName = Annotated[str, option_of(Call, "corpus")]
AsOf = Annotated[str, option_of(Call, "as_of")]
Where = Annotated[list[str] | None, option_of(Filtered, "where")]
MethodName = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="Method of the answer (localrag methods); else method.name, "
        "else generative with a model, extractive without.",
        show_default=False,
    ),
]
Ray = Annotated[
    str,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Use a Ray cluster: its address (host:6379, auto), or local for this machine.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
TextFile = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Write it to a new file, a document of Word (.docx) or Markdown (.md).",
    ),
]


DatasetName = Annotated[
    str,
    typer.Argument(
        metavar="DATASET",
        help="Name of a dataset (localrag data list), or the path of questions of your own "
        "(.jsonl, .json) or of a declaration (.toml).",
        show_default=False,
    ),
]
SplitName = Annotated[
    str, typer.Option("--split", metavar="NAME", help="Split; without it, the first one.")
]
QuestionsFile = Annotated[
    Path | None,
    typer.Option(
        "--questions",
        metavar="FILE",
        help="Questions of your own, in the dataset's format, instead of "
        "its own. Published figures are not compared.",
    ),
]
CorpusSearched = Annotated[
    str,
    typer.Option(
        "--corpus",
        "-c",
        metavar="NAME",
        help="Corpus to search; without it, the dataset's corpus, or the setting corpus.",
        autocompletion=complete_corpus,
        show_default=False,
    ),
]

Options = Annotated[list[str] | None, option_of(AskCall, "options")]
Lexical = Annotated[
    bool | None, typer.Option("--lexical/--no-lexical", help="Search by words or not.")
]
Dense = Annotated[
    bool | None,
    typer.Option("--dense/--no-dense", help="Search by meaning or not (embedding.model)."),
]
Rerank = Annotated[
    bool | None,
    typer.Option("--rerank/--no-rerank", help="Rerank the best hits or not (reranking.model)."),
]


def on(session: Session, as_of: str) -> Session:
    """The session with the law of a day; "" changes nothing. Raises UsageError."""
    asked = Call(as_of=day("--as-of", as_of) if as_of else None)
    return session.with_settings(asked.settings())


def unicode(text: str) -> str:
    """The same text, if it is valid Unicode; raises UsageError."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            N_("The text is not valid UTF-8."), N_("Convert it to UTF-8 first.")
        ) from error
    return text


def day(option: str, value: str) -> date:
    """Read a day; raises UsageError."""
    from localrag.text.dates import read_day

    if read := read_day(value):
        return read
    raise UsageError(
        N_("{option} {value!r} is not a date."),
        N_("Write it as {option} 2024-04-01."),
        option=option,
        value=value,
    )

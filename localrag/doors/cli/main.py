"""The command `localrag`: registers verbs, finds them, shows their help and their errors.

Verbs import heavy modules when they run: help and completion are fast.
"""

import io
import os
import re
import sys
from collections import UserDict
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.main import get_command_from_info, get_group_from_info
from typer.models import CommandInfo, TyperInfo

from localrag import language
from localrag.corpus.workspace import Workspace
from localrag.doors.cli.help import EXIT_CODES, Command, Group, bounds_of, name_of
from localrag.doors.cli.start import language_of, overrides
from localrag.errors import LocalragError
from localrag.language import N_, _

if TYPE_CHECKING:
    from typer._click import Command as ClickCommand
    from typer._click import Context


class Root(Group):
    """The command line itself: it finds its language first."""

    def parse_args(self, ctx: "Context", args: list[str]) -> list[str]:
        """Read the options before the verb; the language decides how errors are worded."""
        resilient, ctx.resilient_parsing = ctx.resilient_parsing, True
        given, _rest, _order = self.make_parser(ctx).parse_args(args=list(args))
        ctx.resilient_parsing = resilient
        home = given.get("home")
        language.use(
            language_of(
                Path(home) if home else None, given.get("assignments") or (), given.get("lang", "")
            )
        )
        return super().parse_args(ctx, args)

    def _verbs(self) -> list[tuple[str, str]]:
        # Importing the modules takes as long as the rest of the help.
        return [(name, _(purpose)) for name, purpose in _purposes().items()]


app = typer.Typer(
    name="localrag",
    pretty_exceptions_enable=False,
    # Plain help is four times faster than framed help.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
"""The command line; the modules of the verbs add theirs when they are imported."""
_ROOT = app


def verb(
    app: typer.Typer, name: str, *, examples: Sequence[str], exit_codes: Sequence[int]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function as the verb `name`; its docstring is the help, after the purpose.

    A parameter `call` gets the options of its type (`localrag.doors.calls`), or of a dataclass
    with options of Typer. `examples` are commands to copy.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        # Without a verb nobody waits for Pydantic.
        from localrag.doors.cli.options import with_options

        about = function.__doc__ or ""
        if app is _ROOT:
            about = f"{_purposes()[name]}\n\n{about}"
        kind = with_examples(Command, examples, exit_codes)
        app.command(name, help=about, cls=kind)(with_options(function))
        return function

    return register


def group(
    name: str,
    *,
    about: str = "",
    examples: Sequence[str],
    exit_codes: Sequence[int],
    kind: type[Group] = Group,
) -> typer.Typer:
    """A group of verbs; alone it prints its help.

    `about` is further help. `exit_codes` are of all its verbs. `kind` reads its arguments.
    """
    every = N_("Every verb here takes --json.")
    purpose = _purposes()[name]
    about = "\n\n".join(filter(None, (purpose, about, every)))
    kind = with_examples(kind, examples, exit_codes)
    verbs = typer.Typer(rich_markup_mode=None)
    app.add_typer(verbs, name=name, help=about, short_help=purpose, cls=kind)

    @verbs.callback(invoke_without_command=True)
    def help_without_verb(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    return verbs


def with_examples(kind: type[Any], examples: Sequence[str], exit_codes: Sequence[int]) -> type[Any]:
    """A class of commands with examples and exit codes: Typer does not pass them on."""
    return type(kind.__name__, (kind,), {"examples": examples, "exit_codes": exit_codes})


def in_words(error: typer.TyperException) -> str:
    """The problem of a command line, in words."""
    values: Any = error
    param = getattr(error, "param", None)
    name = getattr(error, "option_name", "")
    if param:
        name = param.opts[0] if param.param_type_name == "option" else name_of(param)
    match type(error).__name__:
        case "NoSuchOption" if values.possibilities:
            names = ", ".join(sorted(values.possibilities))
            return _("There is no option {name}; perhaps {names}.").format(name=name, names=names)
        case "NoSuchOption":
            return _("There is no option {name}.").format(name=name)
        case "MissingParameter":
            return _("{name} is missing.").format(name=name.removesuffix("..."))
        case "BadOptionUsage":
            return _("{name} needs a value, or takes none.").format(name=name)
        case "BadParameter" if param:
            taken = bounds_of(param) or _(param.metavar)
            return _("{name} has a wrong value: it takes {taken}.").format(name=name, taken=taken)
        case _:
            return error.format_message()


PURPOSES = {
    "setting_up": {
        "setup": N_("Set this machine up: models, laws and index, to a first answer."),
    },
    "corpora": {
        "init": N_("Make the workspace, the folder that holds everything."),
        "add": N_("Read files into a corpus."),
        "list": N_("List the corpora of the workspace, or the documents of one corpus."),
        "remove": N_("Remove documents from a corpus, or a whole corpus."),
        "index": N_("Make a corpus searchable."),
    },
    "updating": {
        "update": N_("Bring the laws of a corpus up to date by a newer archive."),
        "watch": N_("Keep a corpus like the files of folders, from now on."),
    },
    "laws": {
        "laws": N_("Get the laws from e-Gov, and keep them up to date."),
    },
    "calls": {
        "search": N_("Find the best passages of a corpus for a query."),
        "show": N_(
            "Show a provision, or a passage of another document, and everything related to it."
        ),
        "history": N_("Show the states of a provision in the corpus, and the changes in each."),
        "affected": N_(
            "List the provisions citing, applying, implementing or punishing a provision or a law."
        ),
        "pending": N_(
            "List amendments not yet in force, or the citations of a text changed by them."
        ),
        "diff": N_("Compare the states of a law on two days."),
    },
    "answering": {
        "check": N_(
            "Check a text about laws: citations, quotations, figures, names and numbers of laws."
        ),
        "ask": N_("Answer a question from the corpus, with verbatim, checked quotations."),
    },
    "serve": {
        "tui": N_(
            "Open the workbench: ask, read, search, watch runs and models, all in the terminal."
        ),
        "mcp": N_("Give agents tools and resources, by the Model Context Protocol."),
        "serve": N_("Serve a web page, an HTTP interface, and the OpenAI protocol."),
    },
    "batch": {
        "batch": N_("Answer every question of a file, as ask would."),
        "tune-retrieval": N_(
            "Measure the best search for a corpus: words, meaning, both, reranked or not."
        ),
        "methods": N_("List the methods for ask, batch and eval."),
    },
    "prepare": {
        "prepare": N_("Make layers of a corpus: texts for searching, never quoted."),
        "calibrate": N_(
            "Show the similarity of questions to the prepared ones, for the choice of "
            "method.threshold."
        ),
    },
    "setup": {
        "overview": N_(
            "Show the contents of a corpus: counts, labels for --where, layers, and questions."
        ),
        "config": N_("Show the settings and the source of each value."),
        "doctor": N_("Find problems, and the commands to solve them."),
    },
    "confidential": {
        "backup": N_(
            "Write everything but the models into one file, while the workspace is in use."
        ),
        "restore": N_("Replace the workspace by a backup: all of it, or nothing."),
        "forget": N_("Remove a conversation, a run, documents or a corpus for good."),
    },
    "data": {
        "data": N_("See and bring in datasets to evaluate with."),
    },
    "evaluate": {
        "eval": N_("Measure methods on questions whose answers are known."),
    },
    "optimize": {
        "optimize": N_("Make prompts better on known questions (GEPA)."),
    },
    "models": {
        "models": N_("See, fetch, check and carry models."),
    },
    "bundle": {
        "bundle": N_("Make, check and install everything needed by a machine without a network."),
    },
}
"""The purpose of every verb, by the module that defines it, in the order of the help."""


_TOUR = (
    "localrag init",
    "localrag add --sample",
    "localrag index",
    "localrag ask 渡し舟を運航してはならない水位の基準は何か。",
)


def _version(wanted: bool) -> None:
    if wanted:
        from localrag import __version__

        print(f"localrag {__version__}")  # noqa: T201 - the whole output of this option
        raise typer.Exit


def _front_door(
    context: typer.Context,
    home: Annotated[
        Path | None,
        typer.Option(
            envvar="LOCALRAG_HOME",
            metavar="FOLDER",
            help="Workspace folder; without it, the user's data folder.",
        ),
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Use another setting for this call."),
    ] = None,
    lang: Annotated[
        str,
        typer.Option(metavar="CODE", help="Language of the output: ja or en."),
    ] = "",
    version: Annotated[  # noqa: ARG001 - its callback acts
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Answer questions from Japanese statutes and other texts with checked quotations, offline.

    Every verb explains itself: localrag VERB --help.
    """
    given = overrides(assignments or [], lang)
    if assignments:
        # Verbs without settings refuse wrong ones too.
        from localrag.corpus.config import require_valid

        require_valid(given)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        return
    # The help does without these.
    from localrag.doors.cli.terminal import tell_warnings
    from localrag.doors.session import Session

    tell_warnings()
    context.obj = Session(Workspace.locate(home), given)


_MODULES = {name: module for module, names in PURPOSES.items() for name in names}


def _purposes() -> dict[str, str]:
    return {name: words for named in PURPOSES.values() for name, words in named.items()}


class _Verbs(UserDict[str, Any]):
    """The verbs by name; a module is imported when its verb is needed."""

    def __getitem__(self, name: str) -> Any:
        """The verb of a name; raises KeyError."""
        verb = self.data[name]
        if isinstance(verb, str):
            verb = self.data[name] = _made(_registered(name))
        return verb


def _registered(name: str) -> CommandInfo | TyperInfo:
    import_module(f"localrag.doors.cli.{_MODULES[name]}")
    registered: list[CommandInfo | TyperInfo] = [*app.registered_commands, *app.registered_groups]
    (found,) = (one for one in registered if one.name == name)
    return found


def _made(registered: CommandInfo | TyperInfo) -> "ClickCommand":
    shown: dict[str, Any] = {
        "pretty_exceptions_short": False,
        "rich_markup_mode": app.rich_markup_mode,
    }
    if isinstance(registered, CommandInfo):
        return get_command_from_info(registered, **shown)
    return get_group_from_info(registered, suggest_commands=app.suggest_commands, **shown)


@cache
def _command_line() -> Callable[..., Any]:
    kind = with_examples(Root, _TOUR, tuple(EXIT_CODES))
    app.callback(invoke_without_command=True, cls=kind)(_front_door)
    command = typer.main.get_command(app)
    command.commands = _Verbs(_MODULES)  # type: ignore[attr-defined]
    return command


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line, as `localrag.doors.cli.start.run` does, and show its errors."""
    # A terminal shows a question mark for an unknown character. Input that is not UTF-8 is kept,
    # and refused by name.
    for stream, errors in (
        (sys.stdout, "replace"),
        (sys.stderr, "replace"),
        (sys.stdin, "surrogateescape"),
    ):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)
    try:
        return _outcome(
            _command_line()(args=arguments, prog_name="localrag", standalone_mode=False)
        )
    except SystemExit as leaving:
        return _outcome(leaving.code)
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001 - the last line of defence
        return tell_failure(error)


def tell_failure(error: BaseException) -> int:
    """Show the error of a command, and return its exit code."""
    from localrag.doors.cli.terminal import failure

    if isinstance(error, KeyboardInterrupt):
        return _interrupted()
    if isinstance(error, typer.TyperException):
        failure(in_words(error), _usage_hint(error))
        return error.exit_code
    _traceback_on_demand(error)
    if isinstance(error, LocalragError):
        failure(error.cause, error.cure)
        return error.exit_code
    failure(
        _("unexpected error: {error}").format(error=f"{type(error).__name__}: {error}"),
        _("Run it again with LOCALRAG_DEBUG=1 in the environment to see the traceback."),
    )
    return 1


def _outcome(value: object) -> int:
    if value == 130:  # Typer answers Ctrl-C with this code
        return _interrupted()
    return value if isinstance(value, int) else 0


def _interrupted() -> int:
    from localrag.doors.cli.terminal import tell

    tell(_("interrupted; finished work is kept, nothing is half-done"))
    return 130


def _usage_hint(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    if context is None:
        return _("{command} --help shows its arguments.").format(command="localrag")
    root = context.find_root()
    verb = context.command_path.removeprefix(root.command_path)
    unknown = getattr(error, "option_name", "")
    for option in root.command.params:
        if verb and unknown in option.opts:
            written = " ".join(filter(None, (unknown, option.metavar)))
            line = f"{root.command_path} {written}{verb} …"
            return _("Write it before the verb: {line}").format(line=line)
    command = context.command_path
    if text := _text(context, error):
        return _(
            "A text that begins with a dash goes after --: {command} -- {text} "
            "({command} --help shows every option)."
        ).format(command=command, text=text)
    return _("{command} --help shows its arguments.").format(command=command)


def _text(context: "Context", error: typer.TyperException) -> str:
    unknown = getattr(error, "option_name", "")
    if type(error).__name__ != "NoSuchOption" or re.fullmatch(r"--[a-z][a-z-]*", unknown):
        return ""
    taken = (one for one in context.command.params if one.param_type_name == "argument")
    return next((_(one.metavar) for one in taken if one.metavar), "")


def _traceback_on_demand(error: BaseException) -> None:
    if os.environ.get("LOCALRAG_DEBUG", "") not in ("", "0"):
        import traceback

        from localrag.doors.cli.terminal import tell

        for line in "".join(traceback.format_exception(error)).splitlines():
            tell(line)

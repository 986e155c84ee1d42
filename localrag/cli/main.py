"""The command `localrag`: the verbs, and how their errors are shown.

Nothing heavy is imported here or at the head of a verb's file: a verb imports what it needs when it
runs, so that help and completion answer at once.
"""

import io
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from localrag import language
from localrag.cli.start import options, overrides
from localrag.cli.terminal import failure, tell, tell_warnings
from localrag.cli.verbs import EXIT_CODES, Group, app, in_words, with_examples
from localrag.errors import LocalragError
from localrag.language import _
from localrag.session import Session
from localrag.workspace import Workspace

if TYPE_CHECKING:
    from typer._click import Context

_VERBS = (
    "corpora",
    "update",
    "search",
    "history",
    "check",
    "ask",
    "tui",
    "serve",
    "batch",
    "tune_retrieval",
    "methods",
    "prepare",
    "overview",
    "setup",
    "confidential",
    "data",
    "evaluate",
    "optimize",
    "models",
    "bundle",
)
"""The modules of the verbs, in the order of the help."""


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
        typer.Option(metavar="CODE", help="Language of what is printed: ja or en."),
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
        # Verbs that read no settings refuse a wrong one, too.
        from localrag.config import require_valid

        require_valid(given)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
    context.obj = Session(Workspace.locate(home), given)


@cache
def _command_line() -> Callable[..., Any]:
    """The verbs, made once however many command lines a program runs."""
    kind = with_examples(Group, _TOUR, tuple(EXIT_CODES))
    app.callback(invoke_without_command=True, cls=kind)(_front_door)
    for name in _VERBS:
        import_module(f"localrag.cli.{name}")
    return typer.main.get_command(app)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; `arguments` default to those of the process.

    Errors are shown, never raised; the environment variable LOCALRAG_DEBUG=1 adds their traceback.
    """
    # A terminal that cannot show a character gets a question mark, not a traceback; input that is
    # not UTF-8 is kept as it is, to be refused by name.
    for stream, errors in (
        (sys.stdout, "replace"),
        (sys.stderr, "replace"),
        (sys.stdin, "surrogateescape"),
    ):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)
    tell_warnings()
    try:
        language.use(language_of(sys.argv[1:] if arguments is None else arguments))
        call = _command_line()
        return _outcome(call(args=arguments, prog_name="localrag", standalone_mode=False))
    except SystemExit as leaving:
        return _outcome(leaving.code)
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001 - the last line of defence
        return tell_failure(error)


def language_of(words: Sequence[str]) -> str:
    """The language of this call: as it says, else as the settings, else as the environment does."""
    from localrag.config_sources import collect

    given = options(words)
    wanted: object = None
    # What is wrong with these is told by what needs them.
    with suppress(LocalragError):
        named = overrides(given.set, given.lang) if given else {}
        wanted, _source = collect(Workspace.locate(given.home if given else None), named).get(
            "language", (None, "")
        )
    return str(wanted) if wanted in language.LANGUAGES else language.of_environment()


def tell_failure(error: BaseException) -> int:
    """Show what has ended a command, and give its exit code."""
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
        _("an error nobody foresaw: {error}").format(error=f"{type(error).__name__}: {error}"),
        _("Run it again with LOCALRAG_DEBUG=1 in the environment to see the traceback."),
    )
    return 1


def _outcome(value: object) -> int:
    if value == 130:  # Typer answers Ctrl-C with this code
        return _interrupted()
    return value if isinstance(value, int) else 0


def _interrupted() -> int:
    tell(_("interrupted; what was finished is kept, nothing is half-done"))
    return 130


def _usage_hint(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    if context is None:
        return _("{command} --help shows what it takes.").format(command="localrag")
    root = context.find_root()
    verb = context.command_path.removeprefix(root.command_path)
    unknown = getattr(error, "option_name", "")
    for option in root.command.params:
        if verb and unknown in option.opts:
            written = " ".join(filter(None, (unknown, option.metavar)))
            line = f"{root.command_path} {written}{verb} …"
            return _("It goes before the verb: {line}").format(line=line)
    command = context.command_path
    if text := _text(context, error):
        return _(
            "A text that begins with a dash goes after --: {command} -- {text} "
            "({command} --help shows every option)."
        ).format(command=command, text=text)
    return _("{command} --help shows what it takes.").format(command=command)


def _text(context: "Context", error: typer.TyperException) -> str:
    """What can be given after ``--``, where what was read as an option may be a text."""
    unknown = getattr(error, "option_name", "")
    if type(error).__name__ != "NoSuchOption" or re.fullmatch(r"--[a-z][a-z-]*", unknown):
        return ""
    taken = (one for one in context.command.params if one.param_type_name == "argument")
    return next((_(one.metavar) for one in taken if one.metavar), "")


def _traceback_on_demand(error: BaseException) -> None:
    if os.environ.get("LOCALRAG_DEBUG", "") not in ("", "0"):
        import traceback

        for line in "".join(traceback.format_exception(error)).splitlines():
            tell(line)

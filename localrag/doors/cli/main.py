"""The command `localrag`: registers verbs, finds them, shows their help and their errors.

Verbs import heavy modules when they run: help and completion are fast.
"""

import errno
import io
import os
import re
import sys
from collections import Counter, UserDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cache, partial
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command_from_info, get_group_from_info
from typer.models import CommandInfo, TyperInfo

from localrag import language
from localrag.corpus.workspace import Workspace
from localrag.doors.cli.start import language_of, overrides
from localrag.doors.cli.terminal import failure, tell, tell_warnings
from localrag.doors.session import Session
from localrag.errors import LocalragError, UsageError
from localrag.language import N_, _

if TYPE_CHECKING:
    from typer._click import Command as ClickCommand
    from typer._click import Context, HelpFormatter

EXIT_CODES = {
    0: N_("done"),
    1: N_("unexpected error; please report it"),
    2: N_("the request is malformed"),
    3: N_("nothing was found, a claim is not supported, or a law named is not in the corpus"),
    4: N_("a file or a question failed; the rest was done"),
    5: N_("the workspace, a store or an index cannot be used as it is"),
    6: N_("another process is writing; try again later"),
    7: N_("the disk is full or the folder cannot be written"),
    8: N_("a model or its server cannot be used"),
    130: N_("interrupted with Ctrl-C; finished work is kept"),
    141: N_("the reader of the output went away"),
}
"""Every exit code of the command line; the errors behind them are in `localrag.errors`."""

# Help texts of Typer.
_OF_TYPER = (
    N_("Show this message and exit."),
    N_("Install completion for the current shell."),
    N_("Show completion for the current shell, to copy it or customize the installation."),
)

_WIDEST = 80
# Wider names get a line of their own.
_WIDEST_NAME = 30


class _Explained:
    """The help of a verb or a group, translated when it is shown."""

    examples: ClassVar[Sequence[str]] = ()
    exit_codes: ClassVar[Sequence[int]] = ()
    _read: frozenset[str] = frozenset()
    """Parameters that are files or folders to be read."""

    help: str | None
    short_help: str | None

    def get_short_help_str(self, limit: int = 0) -> str:  # noqa: ARG002 - wraps, cuts nothing
        return _short(self)

    def format_help(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        width = min(get_terminal_size().columns, _WIDEST) - 2
        params = self.get_params(ctx)  # type: ignore[attr-defined]
        formatter.write(f"{_('Usage:')} {ctx.command_path} {' '.join(self._usage(params))}\n")
        for paragraph in paragraphs(self.help or ""):
            rows = _rows(_(paragraph), width - 2)
            formatter.write("\n" + "".join(f"  {row}\n" for row in rows))
        if self.examples:
            lines = (f"    {example}\n" for example in self.examples)
            formatter.write(f"\n  {_('Examples:')}\n{''.join(lines)}")
        for kind, heading in (("argument", _("Arguments:")), ("option", _("Options:"))):
            records = [
                _record(param, ctx)
                for param in params
                if param.param_type_name == kind and not param.hidden
            ]
            formatter.write("".join(_listed(heading, records, width)))
        formatter.write("".join(_listed(_("Commands:"), self._verbs(), width)))
        if self.exit_codes:
            lines = (f"    {code:<3} {_(EXIT_CODES[code])}\n" for code in self.exit_codes)
            formatter.write(f"\n  {_('Exit codes:')}\n{''.join(lines)}")

    def _verbs(self) -> list[tuple[str, str]]:
        commands = getattr(self, "commands", {}).items()
        return [(name, command.get_short_help_str()) for name, command in commands]

    def _usage(self, params: Sequence[Any]) -> Iterator[str]:
        yield _("[OPTIONS]")
        for param in params:
            if param.param_type_name == "argument":
                yield _name(param) if param.required else f"[{_name(param)}]"
        if isinstance(self, TyperGroup):
            yield _("COMMAND [ARGS]...")

    def parse_args(self, ctx: "Context", args: list[str]) -> list[str]:
        """Read the arguments; raises UsageError if there are too many, or a file is unreadable."""
        ctx.allow_extra_args = True
        for param in self.get_params(ctx):  # type: ignore[attr-defined]
            about = param.type_descriptor.parameter_info
            if about.readable:
                # Typer's own error names neither the file nor the reason.
                about.readable = False
                self._read |= {param.name}
        rest: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
        _require_readable(ctx.params.get(name) for name in self._read)
        if rest and not isinstance(self, TyperGroup) and not ctx.resilient_parsing:
            raise UsageError(
                N_("unexpected extra argument: {arguments}"),
                N_("{command} --help shows its arguments."),
                arguments=" ".join(rest),
                command=ctx.command_path,
            )
        return rest

    def make_parser(self, ctx: "Context") -> Any:
        """A parser that refuses an option given twice: the last value would silently win."""
        parser = super().make_parser(ctx)  # type: ignore[misc]
        if not ctx.resilient_parsing:
            parser.parse_args = partial(_parsed_once, parser.parse_args)
        return parser


def _parsed_once(parse: Callable[..., Any], args: list[str]) -> Any:
    parsed = parse(args=args)
    for param, times in Counter(parsed[2]).items():
        choice = not getattr(param, "is_flag", False) or param.secondary_opts
        if times > 1 and choice and param.param_type_name == "option" and not param.multiple:
            raise UsageError(
                N_("{option} is given {times} times, and takes one value."),
                N_("Give it once."),
                option=max(param.opts, key=len),
                times=times,
            )
    return parsed


def _short(verb: Any) -> str:
    return _(verb.short_help or paragraphs(verb.help or "")[0])


def _require_readable(values: Iterable[object]) -> None:
    """Refuse files and folders that exist and cannot be read; raises UsageError."""
    for value in values:
        for path in value if isinstance(value, list | tuple) else [value]:
            if isinstance(path, Path) and _may(os.F_OK, path) and not _may(os.R_OK, path):
                raise UsageError(
                    N_("{path} cannot be read ({problem})."),
                    N_(
                        "Your account may not read it: let its owner run the command "
                        "or change the permissions, or name another one."
                    ),
                    path=path,
                    problem=PermissionError(errno.EACCES, os.strerror(errno.EACCES)),
                )


def _may(mode: int, path: Path) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


class Command(_Explained, TyperCommand):
    """A verb."""


class Group(_Explained, TyperGroup):
    """A group of verbs."""

    def resolve_command(
        self, ctx: "Context", args: list[str]
    ) -> "tuple[str | None, ClickCommand | None, list[str]]":
        """Find a verb; raises UsageError if there is none."""
        if args[0] not in self.commands and not ctx.resilient_parsing:
            close = get_close_matches(args[0], self.commands, n=1)
            cure = N_("Perhaps: {command} {close}") if close else N_("{command} --help names them.")
            raise UsageError(
                N_("There is no verb {name!r}."),
                cure,
                name=args[0],
                command=ctx.command_path,
                close="".join(close),
            )
        return super().resolve_command(ctx, args)


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
        # Making every command takes as long as the rest of the help.
        return [(name, _short(_registered(name))) for name in _MODULES]


app = typer.Typer(
    name="localrag",
    pretty_exceptions_enable=False,
    # Plain help is four times faster than framed help.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
"""The command line; the modules of the verbs add theirs when they are imported."""


def verb(
    app: typer.Typer, name: str, *, examples: Sequence[str], exit_codes: Sequence[int]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function as the verb `name`; its docstring is the help.

    A parameter `call` gets the options of that call (`localrag.doors.calls`).

    Args:
        app: the command line, or a group.
        name: name of the verb.
        examples: commands to copy.
        exit_codes: its exit codes.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        # Without a verb nobody waits for Pydantic.
        from localrag.doors.cli.options import with_options

        kind = with_examples(Command, examples, exit_codes)
        app.command(name, help=function.__doc__, cls=kind)(with_options(function))
        return function

    return register


def group(
    name: str,
    *,
    short: str,
    about: str = "",
    examples: Sequence[str],
    exit_codes: Sequence[int],
    kind: type[Group] = Group,
) -> typer.Typer:
    """A group of verbs; alone it prints its help.

    Args:
        name: name of the group.
        short: its purpose, one sentence.
        about: further help.
        examples: commands to copy.
        exit_codes: exit codes of all its verbs.
        kind: how it reads its arguments.
    """
    every = N_("Every verb here takes --json.")
    about = "\n\n".join(filter(None, (short, about, every)))
    kind = with_examples(kind, examples, exit_codes)
    verbs = typer.Typer(rich_markup_mode=None)
    app.add_typer(verbs, name=name, help=about, short_help=short, cls=kind)

    @verbs.callback(invoke_without_command=True)
    def help_without_verb(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    return verbs


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a docstring; each is a message."""
    return [" ".join(part.split()) for part in cleandoc(text).split("\n\n")]


def with_examples(kind: type[Any], examples: Sequence[str], exit_codes: Sequence[int]) -> type[Any]:
    """A class of commands with examples and exit codes: Typer does not pass them on."""
    return type(kind.__name__, (kind,), {"examples": examples, "exit_codes": exit_codes})


def _record(param: Any, ctx: "Context") -> tuple[str, str]:
    """The name and the help of a parameter."""
    extra = []
    if param.show_envvar and param.envvar:
        extra.append(_("environment: {variable}").format(variable=param.envvar))
    default = param.get_default(ctx, call=False)
    # False, None and "" are no values to show.
    if param.show_default and default:
        extra.append(_("default: {value}").format(value=getattr(default, "value", default)))
    if bounds := _bounds(param):
        extra.append(bounds)
    if getattr(param, "multiple", False):
        extra.append(_("may be repeated"))
    if param.required:
        extra.append(_("required"))
    told = _(param.help) if param.help else ""
    return _name(param), f"{told} [{'; '.join(extra)}]".strip() if extra else told


def _name(param: Any) -> str:
    """The names of a parameter, and a word for its value."""
    value = "" if getattr(param, "is_flag", False) else _(param.metavar)
    if param.param_type_name == "argument":
        return f"{value}..." if param.nargs != 1 else value
    names = (sorted(names, key=len) for names in (param.opts, param.secondary_opts) if names)
    return f"{' / '.join(map(', '.join, names))} {value}".strip()


def _bounds(param: Any) -> str:
    """The bounds of a number, or ""."""
    low, high = getattr(param, "min", None), getattr(param, "max", None)
    if low is None and high is None:
        return ""
    if high is None:
        return _("{low} or more").format(low=low)
    return _("{low} to {high}").format(low=low, high=high)


def _listed(heading: str, records: Sequence[tuple[str, str]], width: int) -> Iterator[str]:
    """The lines of a list of names with their meanings."""
    if not records:
        return
    yield f"\n{heading}\n"
    column = min(max(_cells(name) for name, _told in records), _WIDEST_NAME) + 2
    for name, told in records:
        rows = _rows(told, width - column - 2)
        if _cells(name) + 2 > column:
            yield f"  {name}\n"
            name = ""
        yield f"  {name}{' ' * (column - _cells(name))}{next(rows, '')}\n"
        for row in rows:
            yield f"  {' ' * column}{row}\n"


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    from localrag.text.harmless import cells

    return cells(text)


def _rows(text: str, width: int) -> Iterator[str]:
    """A text in rows of this width."""
    if text.isascii():
        import textwrap

        return iter(textwrap.wrap(text, width, break_on_hyphens=False))
    from localrag.text.harmless import Layout

    return (text[row.start : row.end].rstrip() for row in Layout(text, width))


def in_words(error: typer.TyperException) -> str:
    """The problem of a command line, in words."""
    values: Any = error
    param = getattr(error, "param", None)
    name = getattr(error, "option_name", "")
    if param:
        name = param.opts[0] if param.param_type_name == "option" else _name(param)
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
            taken = _bounds(param) or _(param.metavar)
            return _("{name} has a wrong value: it takes {taken}.").format(name=name, taken=taken)
        case _:
            return error.format_message()


_VERBS = {
    "corpora": ("init", "add", "list", "remove", "index", "update"),
    "laws": ("laws",),
    "calls": ("search", "show", "history", "diff", "check", "ask"),
    "serve": ("tui", "mcp", "serve"),
    "batch": ("batch", "tune-retrieval", "methods"),
    "prepare": ("prepare", "calibrate"),
    "setup": ("overview", "config", "doctor"),
    "confidential": ("backup", "restore", "forget"),
    "data": ("data",),
    "evaluate": ("eval",),
    "optimize": ("optimize",),
    "models": ("models",),
    "bundle": ("bundle",),
}
"""The verbs by the modules that define them, in the order of the help."""


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
    context.obj = Session(Workspace.locate(home), given)


_MODULES = {name: module for module, names in _VERBS.items() for name in names}


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
    tell_warnings()
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

        for line in "".join(traceback.format_exception(error)).splitlines():
            tell(line)

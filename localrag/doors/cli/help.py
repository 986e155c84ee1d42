"""The help of verbs and groups, in the language in use, and how their arguments are read."""

import errno
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import partial
from inspect import cleandoc
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, ClassVar

from typer.core import TyperCommand, TyperGroup

from localrag.errors import UsageError
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
        return short(self)

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
                yield name_of(param) if param.required else f"[{name_of(param)}]"
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
        """A parser without repeated options: the last value would silently win."""
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


def short(verb: Any) -> str:
    """The purpose of a verb or a group."""
    return _(verb.short_help or paragraphs(verb.help or "")[0])


def _require_readable(values: Iterable[object]) -> None:
    """Refuse existing, unreadable files and folders; raises UsageError."""
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


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a docstring; each is a message."""
    return [" ".join(part.split()) for part in cleandoc(text).split("\n\n")]


def _record(param: Any, ctx: "Context") -> tuple[str, str]:
    """The name and the help of a parameter."""
    extra = []
    if param.show_envvar and param.envvar:
        extra.append(_("environment: {variable}").format(variable=param.envvar))
    default = param.get_default(ctx, call=False)
    # False, None and "" are no values to show.
    if param.show_default and default:
        extra.append(_("default: {value}").format(value=getattr(default, "value", default)))
    if bounds := bounds_of(param):
        extra.append(bounds)
    if getattr(param, "multiple", False):
        extra.append(_("may be repeated"))
    if param.required:
        extra.append(_("required"))
    told = _(param.help) if param.help else ""
    return name_of(param), f"{told} [{'; '.join(extra)}]".strip() if extra else told


def name_of(param: Any) -> str:
    """The names of a parameter, and a word for its value."""
    value = "" if getattr(param, "is_flag", False) else _(param.metavar)
    if param.param_type_name == "argument":
        return f"{value}..." if param.nargs != 1 else value
    names = (sorted(names, key=len) for names in (param.opts, param.secondary_opts) if names)
    return f"{' / '.join(map(', '.join, names))} {value}".strip()


def bounds_of(param: Any) -> str:
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

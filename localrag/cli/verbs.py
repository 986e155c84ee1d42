"""How a verb is registered: its help is put together in one way, with examples and exit codes."""

from collections.abc import Callable, Sequence
from inspect import cleandoc

import typer

EXIT_CODES = {
    0: "done",
    1: "an error nobody foresaw (a bug)",
    2: "the request is malformed",
    3: "nothing was found, a claim is not supported, or a law named is not in the corpus",
    4: "a file or a question failed; the rest was done",
    5: "the workspace, a store or an index cannot be used as it is",
    6: "another process is writing; try again later",
    7: "the disk is full or the folder cannot be written",
    8: "a model or its server cannot be used",
    130: "interrupted with Ctrl-C; what was finished is kept",
    141: "the reader of the output went away",
}
"""Every exit code of the command line; the errors behind them are in `localrag.errors`."""


def verb(
    app: typer.Typer, name: str, *, examples: Sequence[str], exit_codes: Sequence[int]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function as the verb `name`; its docstring says what the verb does."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        app.command(name, help=_help(function.__doc__ or "", examples, exit_codes))(function)
        return function

    return register


def verbs(
    parent: typer.Typer,
    app: typer.Typer,
    name: str,
    *,
    short: str,
    about: str = "",
    examples: Sequence[str],
    exit_codes: Sequence[int],
) -> None:
    """Register a group of verbs; without one of them it prints its help.

    Args:
        parent: what it is added to.
        app: the group.
        name: of the group.
        short: what it is for, one sentence.
        about: more than that, for its own help.
        examples: commands to copy.
        exit_codes: of all its verbs.
    """
    opening = f"{short.removesuffix('.')}; every verb here takes --json."
    description = f"{opening}\n\n{about}" if about else opening
    parent.add_typer(
        app, name=name, help=_help(description, examples, exit_codes), short_help=short
    )

    @app.callback(invoke_without_command=True)
    def help_without_verb(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())


def codes_in_words(codes: Sequence[int] = tuple(EXIT_CODES)) -> str:
    """List exit codes as a block of help text."""
    return _block(["Exit codes:", *(f"  {code:<3} {EXIT_CODES[code]}" for code in codes)])


def _help(description: str, examples: Sequence[str], exit_codes: Sequence[int]) -> str:
    shown = _block(["Examples:", *(f"  {example}" for example in examples)])
    return f"{cleandoc(description)}\n\n{shown}\n\n{codes_in_words(exit_codes)}"


def _block(lines: Sequence[str]) -> str:
    # The backspace keeps the help formatter from joining the lines of a paragraph.
    return "\n".join(["\b", *lines])

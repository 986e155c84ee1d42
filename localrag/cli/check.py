"""``localrag check``: what a text says of laws, checked against those of the corpus."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from localrag.cli.main import app, verb
from localrag.cli.options import AsOf, CorpusName, Json, on, unicode
from localrag.cli.terminal import emit, say, say_text, tell
from localrag.errors import UsageError
from localrag.language import N_, _

if TYPE_CHECKING:
    from localrag.check import CheckReport, Finding

ClaimMethod = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        help="Check sentences that cite no law with this method: fact-check-localrag, fact-check …",
        show_default=False,
    ),
]
_STYLES = {"does-not-hold": "bold red", "not-checked": "yellow", "holds": "green"}
# What is shown of a long text in a line.
_SHOWN = 120


@verb(
    app,
    "check",
    examples=[
        "localrag check memo.docx --out memo-checked.docx",
        "localrag check opinion.md --as-of 2024-04-01",
        "localrag check memo.md --method fact-check-localrag",
        "localrag check '渡し舟法第6条の届出は、20日以内にしなければならない。'",
        "localrag check brief.pdf --json",
    ],
    exit_codes=(0, 2, 3, 4, 5, 7, 8),
)
def check(
    context: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|TEXT",
            help="One or more files (see below), the text itself, or - for standard input.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="REPORT",
            help="Write a report: .html, .md, or .docx with comments.",
        ),
    ] = None,
    show_all: Annotated[bool, typer.Option("--all", help="Show what holds, too.")] = False,
    method: ClaimMethod = "",
    as_of: AsOf = "",
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """Check what a text says of laws: citations, quotations, figures, names and numbers of laws.

    Every citation is looked up in the law of the day, in lists and ranges too. Quotations are
    compared word for word, and the difference is shown. Figures, periods, amounts, bounds (以上,
    超える) and what must or must not be done are compared with the cited provision. No model is
    needed.

    Files that are read: .docx, .pdf, .xlsx, .pptx, .eml, .msg, .csv, .html, .md and .txt. Several
    files are checked one by one; --json then writes a list of reports.

    "No difference found" is said of sentences: figures, bounds, words and what must or must not be
    done agree. Who does what to whom, conditions left out, and 及び for 又は are not compared.

    With --method the sentences that cite no law are checked, too, each as a claim, with the model
    of the settings and the sentences of the corpus (localrag methods).

    Articles of the text itself (a contract: 第3条, 本契約第5条) are looked up in it. Numbers of
    cases are no citations. A provision that is missing from a text older than five years is
    not checked: a later text may have it.

    Only what code can show is called wrong. The rest is counted as not checked, with the reason.
    The exit code is 3 where something does not hold. For a Word file --out writes the comments into
    a copy.
    """
    from localrag.as_json.checks import check_as_json
    from localrag.check import named_files
    from localrag.check.wording import title
    from localrag.cli.terminal import Meter
    from localrag.export.report import known_suffix, write_report

    text = " ".join(words)
    paths = named_files(words)
    if out is not None:
        known_suffix(out)
        if len(paths) > 1:
            raise UsageError(
                N_("A report is of one file, and {n} are named."),
                N_("Check each file by itself with --out."),
                n=len(paths),
            )
    session = on(context.obj, as_of).with_settings({"method.name": method or None})
    with session.corpus(corpus) as searched, Meter() as meter:
        given = sys.stdin.read() if text == "-" else text
        sources: Sequence[Path | str] = paths or [unicode(given)]
        reports = [
            searched.check(source, on_event=meter.update, claims=bool(method)) for source in sources
        ]
    if out is not None:
        write_report(reports[0], out, paths[0] if paths else None)
    if as_json:
        told = [check_as_json(report) for report in reports]
        emit(told if len(paths) > 1 else told[0])
    else:
        for report in reports:
            if len(paths) > 1:
                say((title(report), "bold"))
            _print(report, show_all=show_all)
        if out is not None:
            tell(_("The report is in {path}.").format(path=out))
    if not all(report.holds for report in reports):
        raise typer.Exit(3)


def _print(report: "CheckReport", *, show_all: bool) -> None:
    from localrag.check import Verdict, wording

    for finding in report.findings:
        if show_all or finding.verdict is not Verdict.HOLDS:
            _print_finding(finding, report.kind)
    say((wording.counts(report), "bold"))
    for note in wording.notes(report):
        say((note, "yellow"))
    if not report.findings:
        tell(_("The text cites no provision and names no law with its number."))


def _print_finding(finding: "Finding", kind: str) -> None:
    from localrag.check import wording
    from localrag.harmless import shorten

    style = _STYLES[finding.verdict.value]
    place = wording.place(finding.place, kind)
    say((place, "cyan"), "  ", (wording.verdict(finding), style))
    say(shorten(" ".join(finding.said.split()), _SHOWN), indent=2)
    if finding.diff:
        say_text(*_marked(finding), indent=2)
    if finding.provision:
        say((wording.compared(finding), "dim"), indent=2)


def _marked(finding: "Finding") -> list[str | tuple[str, str]]:
    """A quotation beside the provision: [-the law's words-] {+those of the text+}."""
    parts: list[str | tuple[str, str]] = []
    for part in finding.diff:
        law, said = (" ".join(words.split()) for words in (part.law, part.said))
        if part.same:
            parts.append(law)
            continue
        parts += [(f"[-{law}-]", "green")] if law else []
        parts += [(f"{{+{said}+}}", "red")] if said else []
    return parts

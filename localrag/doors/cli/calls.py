"""The verbs `search`, `show`, `history`, `diff`, `check` and `ask`: calls of every door."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from localrag.doors.calls import (
    AffectedCall,
    AskCall,
    Call,
    DiffCall,
    HistoryCall,
    PendingCall,
    SearchCall,
    ShowCall,
)
from localrag.doors.cli.main import app, verb
from localrag.doors.cli.options import (
    Dense,
    Json,
    Lexical,
    MethodName,
    Options,
    Rerank,
    switched,
    tell_expected,
    tell_if_behind,
    unicode,
)
from localrag.doors.cli.terminal import emit, say, tell
from localrag.doors.session import Session
from localrag.errors import UsageError
from localrag.language import N_, _

if TYPE_CHECKING:
    from localrag.answer.types import Answer
    from localrag.check import CheckReport
    from localrag.corpus.store import CorpusStore
    from localrag.search.provision import LookedUp
    from localrag.search.types import Query


@verb(
    app,
    "search",
    examples=[
        "localrag search 渡し守の資格",
        "localrag search 敷金 返還",
        "localrag search 登録の取消し --type Act --explain",
        "localrag search 罰金 --where kind=Act --where chapter=罰則",
        "localrag search --rewrite 夜に渡し舟を出していいか",
        "localrag search '\"水位の基準\" 運航'",
        "localrag search 'founder of the observatory' -k 3 --json",
    ],
    exit_codes=(0, 2, 3, 5, 8),
)
def search(
    context: typer.Context,
    call: SearchCall,
    option: Options = None,
    lexical: Lexical = None,
    dense: Dense = None,
    rerank: Rerank = None,
    rewrite: Annotated[
        bool,
        typer.Option(
            "--rewrite",
            help="Have the chat model rewrite the query in the words of "
            "statutes, and search for these too.",
        ),
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show every stage of the search.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Citations in the query (金商法27条の36, 同法施行令第3条) are resolved to the provisions
    themselves. Laws in the query (薬機法, APPI) come first, other laws beside; the output names
    laws that the corpus does not have. The index is searched by words, and by meaning if there is a
    model. The results are fused, reranked if there is a reranker, and completed by implementing
    provisions.

    Every passage contains the words in double quotation marks ('"正当の事由" 解約').
    """
    from localrag.doors.as_json.found import retrieval_as_json
    from localrag.doors.cli import render
    from localrag.page.answer import note_blocks

    session: Session = context.obj.with_settings(call.settings())
    with switched(session, lexical, dense, rerank).corpus(call.corpus) as opened:
        names = opened.retriever.names
        tell_if_behind(opened)
        options = tuple(map(unicode, option or ()))
        asked = replace(call.as_query(opened.store), options=options)
        retrieval = opened.search(asked, call.k, rewrite=rewrite)
    if as_json:
        emit(retrieval_as_json(asked, retrieval))
    else:
        if explain:
            render.print_trace(retrieval.trace)
        render.print_laws(retrieval.laws, names)
        render.print_hits(asked, retrieval.hits)
        render.print_blocks(note_blocks(retrieval.trace, retrieval.absent))
        if not retrieval.hits:
            tell(_("Nothing was found."))
    if not retrieval.hits:
        raise typer.Exit(3)


_LINKS = 20
TextFile = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Write it to a new file, a document of Word (.docx) or Markdown (.md).",
    ),
]


@verb(
    app,
    "show",
    examples=[
        "localrag show 渡し舟法8条",
        "localrag show 金商27の36①二",
        "localrag show 民法709〜724条",
        "localrag show 民法 第三編第五章",
        "localrag show 薬機法施行規則 附則第3条",
        "localrag show 323AC0000000025#27_36 --json",
        "localrag show 民法709〜724条 --out 不法行為.docx",
        "localrag show 渡し舟法3条 --as-read-by 渡し舟法8条",
        "localrag show triples/boats.tsv:2",
        "localrag show かわせみ丸",
    ],
    exit_codes=(0, 2, 3, 5, 7),
)
def show(
    context: typer.Context,
    call: ShowCall,
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Print every provision, link and triple, not only the first of each kind.",
        ),
    ] = False,
    out: TextFile = None,
    as_json: Json = False,
) -> None:
    """A provision: its text, its place (編・章・節), the provisions of orders that implement it,
    its references in both directions, and the definitions of its terms. Name a law by title or
    abbreviation, a provision in any spelling. For an ambiguous citation all provisions are listed,
    and none is chosen.

    A list or a range (5条及び6条, 709〜724条): the text of each provision. A law or a part of it:
    its headings and articles.

    A provision may replace words of another one (「知事」とあるのは「市長」); both show it.
    --as-read-by prints the text with these words replaced. Code makes this text; no law contains
    it. Replacements are marked, with the original words beside; words not found are listed.

    Another document (a page, an article of Wikipedia): its first passage. A triple, a document of
    triples (facts.tsv:1, wikidata:Q42) or the name of a subject: the triple, and other triples of
    its subject.
    """
    from localrag.doors.as_json.statutes import looked_up_as_json
    from localrag.search.provision import MOST, LookedUp

    if out is not None:
        from localrag.page.files import TEXTS, require_ending

        require_ending(out, TEXTS)

    session: Session = context.obj
    with session.with_settings(call.settings()).corpus(call.corpus) as opened:
        if call.as_read_by:
            found = LookedUp((opened.show(call.citation, as_read_by=call.as_read_by),))
        else:
            found = opened.look_up(call.citation, None if everything else MOST)
        if out is not None:
            from localrag.page.files import write_blocks
            from localrag.page.provision import filed_provisions

            write_blocks(out, filed_provisions(opened.store, found))
            tell(_("written: {path}").format(path=out))
    if as_json:
        emit(looked_up_as_json(found))
    elif out is None:
        _print_looked_up(found, None if everything else _LINKS)


def _print_looked_up(found: "LookedUp", most: int | None) -> None:
    from localrag.doors.cli.render import print_blocks
    from localrag.page.provision import looked_up_blocks

    print_blocks(looked_up_blocks(found, in_short=True), entries=most)
    if found.left_out:
        tell(_("… and {n:,} more; --all shows them").format(n=found.left_out))
    views = found.provisions
    if len(views) > 1:
        tell(_("Relations of one of them: localrag show ID"))
    elif views and views[0].read_by and views[0].as_read is None:
        hint = _("localrag show {law} --as-read-by {by} prints the text with the words replaced")
        law, by = views[0].passage.header, views[0].read_by[0].label
        say((hint.format(law=_typed(law), by=_typed(by)), "dim"))


def _typed(header: str) -> str:
    return header.partition("（")[0].replace(" ", "")


@verb(
    app,
    "history",
    examples=[
        "localrag history 渡し舟法8条",
        "localrag history 民法709条",
        "localrag history --as-of 2016-01-01 会社法331条",
    ],
    exit_codes=(0, 2, 3, 5),
)
def history(
    context: typer.Context,
    call: HistoryCall,
    as_json: Json = False,
) -> None:
    """A corpus holds every state of a law that was added: e-Gov's file names contain the law and
    the day from which the state is in force. Changes are shown by paragraph and item. An article
    with a new number is followed.

    The citation is read in the state of today, or of --as-of.
    """
    from localrag.doors.as_json.statutes import history_as_json
    from localrag.doors.cli.render import print_blocks
    from localrag.page.history import history_blocks

    session: Session = context.obj
    with session.with_settings(call.settings()).corpus(call.corpus) as opened:
        found = opened.history(call.citation)
    if as_json:
        emit(history_as_json(found))
        return
    print_blocks(history_blocks(found))


@verb(
    app,
    "affected",
    examples=[
        "localrag affected 渡し舟法8条",
        "localrag affected 民法709条 --depth 2",
        "localrag affected 会社法 --out 会社法.graphml",
    ],
    exit_codes=(0, 2, 3, 5, 7),
)
def affected(
    context: typer.Context,
    call: AffectedCall,
    everything: Annotated[
        bool, typer.Option("--all", help="Print every law and provision, not only the first.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write it to a new file: Word (.docx), Markdown (.md), or a graph (.graphml).",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """If the provision is amended or repealed, these provisions need a look. Counts are by law.
    Only laws of the corpus are known. References inside the provision itself do not count.

    --depth 2 also lists the dependents of those provisions, and the way: A → B → C.
    """
    from localrag.doors.as_json.statutes import affected_as_json
    from localrag.doors.cli.render import print_blocks
    from localrag.page.affected import affected_blocks, write_graphml
    from localrag.page.files import GRAPH, TEXTS, opened, require_ending, write_blocks

    if out is not None:
        require_ending(out, (*TEXTS, GRAPH))
    session: Session = context.obj
    with session.with_settings(call.settings()).corpus(call.corpus) as corpus:
        found = corpus.affected(call.citation, call.depth)
    if out is not None:
        if out.suffix.lower() == GRAPH:
            with opened(out, replace=False) as file:
                write_graphml(found, file)
        else:
            write_blocks(out, affected_blocks(found))
        tell(_("written: {path}").format(path=out))
    if as_json:
        emit(affected_as_json(found))
    elif out is None:
        print_blocks(affected_blocks(found), entries=None if everything else _LINKS)
    if not found.dependents:
        raise typer.Exit(3)


@verb(
    app,
    "pending",
    examples=[
        "localrag pending",
        "localrag pending --until 2027-04-01 --law 民法",
        "localrag pending memo.docx",
        "localrag pending memo.docx --out memo.ics",
    ],
    exit_codes=(0, 2, 3, 5, 7),
)
def pending(
    context: typer.Context,
    call: PendingCall,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE|TEXT", help="A file, the text itself, or - for input."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write it to a new file: a calendar (.ics), Word (.docx) or Markdown (.md).",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Without a text: the later texts of the laws in the corpus, by day, with their changes by
    paragraph and item. Add them like other texts: e-Gov's file names contain the day.

    With a text (a memo, a contract): its changing citations and quotations, by day. The words
    before and after are shown, or the new number of a moved provision.

    The exit code is 3 if there is nothing.
    """
    from localrag.check import named_files
    from localrag.doors.as_json.checks import pending_as_json
    from localrag.doors.cli.render import print_blocks
    from localrag.page.calendar import events, write_calendar
    from localrag.page.files import CALENDAR, TEXTS, opened, require_ending, write_blocks
    from localrag.page.history import amendment_blocks, upcoming_blocks

    if out is not None:
        require_ending(out, (CALENDAR, *TEXTS))
    paths = named_files(words or ())
    if len(paths) > 1:
        raise UsageError(N_("A call takes one file, and {n} are named."), n=len(paths))
    text = " ".join(words or ())
    session: Session = context.obj
    with session.with_settings(call.settings()).corpus(call.corpus) as corpus:
        day = corpus.store.as_of
        amendments = () if text else corpus.pending(call.until, call.law)
        given = sys.stdin.read() if text == "-" else text
        source = paths[0] if paths else unicode(given)
        changed = corpus.upcoming(source, call.until) if text else ()
    blocks = list(upcoming_blocks(changed) if text else amendment_blocks(amendments))
    if out is not None:
        if out.suffix.lower() == CALENDAR:
            with opened(out, replace=False) as file:
                write_calendar(events(amendments, changed), file)
        else:
            write_blocks(out, blocks)
        tell(_("written: {path}").format(path=out))
    if as_json:
        emit(pending_as_json(day, amendments, changed))
    elif out is None:
        print_blocks(blocks)
    if not (amendments or changed):
        raise typer.Exit(3)


@verb(
    app,
    "diff",
    examples=[
        "localrag diff 会社法 2015-12-27 2025-06-01",
        "localrag diff 金融商品取引法 2015-12-01 2024-04-01 --json",
    ],
    exit_codes=(0, 2, 3, 5),
)
def diff(
    context: typer.Context,
    call: DiffCall,
    as_json: Json = False,
) -> None:
    """Articles that were added, deleted, changed or renumbered are listed in the order of the later
    state, with their changes by paragraph and item. Widths of characters, blanks and printed
    numbers do not count.

    If the corpus has one text for both days, changes between them are unknown, and the exit code is
    3. A text much older than its day is named.
    """
    from localrag.doors.as_json.statutes import comparison_as_json
    from localrag.doors.cli.render import print_blocks
    from localrag.page.history import comparison_blocks

    session: Session = context.obj
    with session.with_settings(call.settings()).corpus(call.corpus) as opened:
        found = opened.diff(call.law, call.before, call.after)
    if as_json:
        emit(comparison_as_json(found))
        return
    print_blocks(comparison_blocks(found))


ClaimMethod = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        help="Check sentences that cite no law with this method: fact-check-localrag, fact-check …",
        show_default=False,
    ),
]
# Characters of a sentence in a line.
_SAID = 120


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
    call: Call,
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
    show_all: Annotated[bool, typer.Option("--all", help="Also show correct statements.")] = False,
    method: ClaimMethod = "",
    as_json: Json = False,
) -> None:
    """Every citation is looked up in the law of the day, in lists and ranges too. Quotations are
    compared word for word, and the difference is shown. Figures, periods, amounts, bounds (以上,
    超える), duties and prohibitions are compared with the cited provision. No model is needed.

    Files: .docx, .pdf, .xlsx, .pptx, .eml, .msg, .csv, .html, .md and .txt. Several files are
    checked one by one; --json then writes a list of reports.

    "No difference found" means: figures, bounds, words, duties and prohibitions agree. Subjects,
    objects, missing conditions, and 及び for 又は are not compared.

    --method also checks the sentences that cite no law, each as a claim, with the model of the
    settings and the sentences of the corpus (localrag methods).

    Articles of the text itself (a contract: 第3条, 本契約第5条) are looked up in it. Case numbers
    are no citations. A provision missing from a text older than five years is not checked: a later
    text may have it.

    Only errors proved by code are called wrong. The rest is counted as not checked, with the
    reason. The exit code is 3 if anything is wrong. For a Word file --out writes comments into a
    copy.
    """
    from localrag.check import named_files
    from localrag.check.wording import title
    from localrag.doors.as_json.checks import check_as_json
    from localrag.doors.cli.terminal import Meter
    from localrag.page.report import known_suffix, write_report

    paths = named_files(words)
    if out is not None:
        known_suffix(out)
        if len(paths) > 1:
            raise UsageError(
                N_("A report is of one file, and {n} are named."),
                N_("Check each file by itself with --out."),
                n=len(paths),
            )
    session: Session = context.obj
    session = session.with_settings({**call.settings(), "method.name": method or None})
    with session.corpus(call.corpus) as searched, Meter() as meter:
        sources: Sequence[Path | str] = paths or [_given(" ".join(words))]
        reports = [
            searched.check(source, on_event=meter.update, claims=bool(method)) for source in sources
        ]
    if out is not None:
        write_report(reports[0], out, paths[0] if paths else None)
    if as_json:
        told = list(map(check_as_json, reports))
        emit(told if len(paths) > 1 else told[0])
    else:
        for report in reports:
            if len(paths) > 1:
                say((title(report), "bold"))
            _print_check(report, show_all=show_all)
            if report.upcoming:
                of = report.name or _("TEXT")
                tell(_("The changes: localrag pending {of}").format(of=of))
        if out is not None:
            tell(_("The report is in {path}.").format(path=out))
    if not all(report.holds for report in reports):
        raise typer.Exit(3)


def _given(text: str) -> str:
    return unicode(sys.stdin.read() if text == "-" else text)


def _print_check(report: "CheckReport", *, show_all: bool) -> None:
    from localrag.doors.cli.render import print_blocks
    from localrag.page.report import check_blocks

    print_blocks(check_blocks(report, show_all=show_all), _SAID)
    if not report.findings:
        tell(_("The text cites no provision and names no law with its number."))


@verb(
    app,
    "ask",
    examples=[
        "localrag ask 渡し舟を運航してはならない水位の基準は何か。",
        "localrag ask 'When was the Fennimore refractor finished?'",
        "localrag ask 敷金 返還 いつ",
        "localrag ask 敷金 返還 いつ --out 敷金.docx",
        "localrag ask - --json < question.txt",
        "localrag ask --after 渡し舟を運航してはならない水位の基準は何か。 その罰則は",
        "localrag --set chat.model=qwen3-8b ask 渡し守になるには何が要るか。",
        "localrag ask --method statute-lexical --option 三年以上操縦に従事した経験 "
        "--option 十年以上操縦に従事した経験 渡し守の資格として正しいものはどれか。",
    ],
    exit_codes=(0, 2, 3, 5, 7, 8),
)
def ask(
    context: typer.Context,
    call: AskCall,
    lexical: Lexical = None,
    dense: Dense = None,
    rerank: Rerank = None,
    method: MethodName = None,
    no_model: Annotated[
        bool,
        typer.Option("--no-model", help="Answer with quotations only, even if there is a model."),
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show how the evidence was found.")
    ] = False,
    out: TextFile = None,
    as_json: Json = False,
) -> None:
    """Without a model, the answer quotes the closest sentences and provisions, word for word. Check
    that they answer your question.

    With a model (chat.model), the model writes claims with the numbers of their sentences. Code
    inserts the words of these sentences. It checks every figure, date, name, provision and negation
    of a claim against them. The answer is supported only if all of them are there. Others are
    named, and the answer is unsupported.

    The exit code is 3 if a claim is not supported, nothing is close, or the corpus does not have a
    law of the question. A follow-up (その罰則は) is completed from the questions of --after, and
    the completed question is shown. --method uses another method; some choose between options.
    """
    from localrag.answer import wording
    from localrag.answer.types import Status
    from localrag.doors.cli import render
    from localrag.doors.cli.terminal import shown_draft
    from localrag.page.answer import answer_blocks, label, note_blocks, read_as

    if out is not None:
        from localrag.page.files import TEXTS, require_ending

        require_ending(out, TEXTS)
    call = replace(call, model=not no_model)
    session: Session = context.obj.with_settings(call.settings())
    session = switched(session, lexical, dense, rerank).with_settings({"method.name": method})
    with session.corpus(call.corpus) as opened:
        with shown_draft() as loading:
            answerer = opened.answerer(loading.loading)
        tell_if_behind(opened)
        if answerer.model:
            tell_expected(session, answerer.model)
        asked = call.as_query(opened.store)
        with shown_draft(answerer.model) as draft:
            reply = opened.ask(asked, draft)
        if out is not None:
            _write_answer(out, opened.store, asked, reply)
    if as_json:
        from localrag.doors.as_json.found import answer_as_json

        emit(answer_as_json(asked, reply))
    elif out is None:
        if explain:
            from localrag.corpus.inference.placement import placement_facts

            found = placement_facts(session.workspace, session.config())
            places = [place for _setting, _model, place in found if reply.trace.calls]
            render.print_trace(reply.trace, places)
        if reply.read_as:
            render.print_blocks([read_as(reply.read_as)], render.QUOTED)
        verdict = wording.verdict(reply)
        if reply.status is Status.NOT_FOUND and reply.trace.calls and not reply.doubts:
            verdict = _("{verdict} (see --no-model)").format(verdict=verdict)
        render.print_blocks(answer_blocks(reply, label, verdict), render.QUOTED)
        render.print_blocks(note_blocks(reply.trace, reply.absent))
    if reply.absent or reply.status not in (Status.SUPPORTED, Status.QUOTED):
        raise typer.Exit(3)


def _write_answer(out: Path, store: "CorpusStore", asked: "Query", reply: "Answer") -> None:
    from localrag.methods.catalogue import labelled
    from localrag.page.answer import filed_answer, question_blocks
    from localrag.page.files import write_blocks
    from localrag.page.provision import place

    question = question_blocks(asked.text, labelled(asked.options), reply.read_as)
    write_blocks(out, [*question, *filed_answer(reply, partial(place, store))])
    tell(_("written: {path}").format(path=out))

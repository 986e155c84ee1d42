"""The verbs `search`, `show`, `history`, `affected`, `pending` and `diff`: finding and reading."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from localrag.doors.calls import (
    AffectedCall,
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
    Options,
    Rerank,
    TextFile,
    given,
    switched,
    tell_if_behind,
    unicode,
)
from localrag.doors.cli.terminal import emit, say, tell
from localrag.doors.session import Session
from localrag.errors import UsageError
from localrag.language import N_, _

if TYPE_CHECKING:
    from localrag.search.provision import LookedUp


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
        source = paths[0] if paths else given(text)
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

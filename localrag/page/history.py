"""The states of a provision and the comparison of two states of a law, as blocks."""

from collections.abc import Iterator

from localrag.corpus.states import DocumentInfo
from localrag.language import _, colon
from localrag.page.blocks import Block, Heading, Notice, Quotation, Remark, Sides, paragraph
from localrag.search.history import Comparison, History, Version, headline
from localrag.search.history.comparing import CHANGES, Change, ChangeKind


def history_blocks(found: History) -> Iterator[Block]:
    """Yield the first text of a provision, then its change in each later state."""
    yield Heading(1, found.title)
    for version in found.versions:
        yield Heading(2, headline(version))
        first = version is found.versions[0] and version.change is None
        if first and version.passage is not None:
            yield Quotation(version.passage.text)
        yield from change_blocks(version)
    yield from map(Notice, found.notes)


def change_blocks(version: Version) -> Iterator[Sides]:
    """Yield what a state changes in a provision."""
    if version.change is not None:
        yield from _sides(version.change)


def comparison_blocks(found: Comparison) -> Iterator[Block]:
    """Yield the changes between two states of a law."""
    title = found.after.title
    yield Heading(1, title)
    yield paragraph(Remark(f"{_date_of(found.before)} → {_date_of(found.after)}"))
    for fact in found.left_out:
        yield paragraph(Remark(str(fact)))
    yield from map(Notice, found.notes)
    if not found.changes:
        yield paragraph(_("Nothing changed."))
    for change in found.changes:
        headers = " → ".join(_headers(change, title))
        yield Heading(2, f"{_(CHANGES[change.kind])}{colon()}{headers}")
        yield from _sides(change)


def _sides(change: Change) -> Iterator[Sides]:
    for line in change.lines:
        before, after = (side.text if side else "" for side in (line.before, line.after))
        yield Sides(before, after, line.place)


def _headers(change: Change, title: str) -> list[str]:
    passages = (change.before, change.after)
    headers = [one.header.removeprefix(title).strip(" ") for one in passages if one]
    is_moved = change.kind is ChangeKind.MOVED
    return list(dict.fromkeys(headers)) if is_moved else headers[-1:]


def _date_of(state: DocumentInfo) -> str:
    return state.metadata.get("date") or _("without a date")

"""States of a provision, comparisons of two states of a law, and amendments to come, as blocks."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from localrag.check.types import Upcoming
from localrag.corpus.states import DocumentInfo
from localrag.language import _, colon
from localrag.page.blocks import Block, Heading, Notice, Quotation, Remark, Sides, Strong, paragraph
from localrag.search.history import Amendment, Comparison, History, Version, amended_by, headline
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
    yield from _changes(found.changes, title, 2)


def amendment_blocks(amendments: Sequence[Amendment]) -> Iterator[Block]:
    """Yield the amendments to come by day, with the changed provisions."""
    if not amendments:
        yield paragraph(_("No text of the corpus comes into force later."))
    for one in amendments:
        yield Heading(2, f"{one.day} {one.after.title}")
        if number := amended_by(one.after):
            yield paragraph(Remark(_("amended by {law}").format(law=number)))
        if one.before is None:
            yield paragraph(_("a new law"))
        elif not one.changes:
            yield paragraph(_("Nothing changed."))
        yield from _changes(one.changes, one.after.title, 3)


def upcoming_blocks(found: Sequence[Upcoming]) -> Iterator[Block]:
    """Yield the changing citations and quotations of a text, by day."""
    if not found:
        yield paragraph(_("No later text of the corpus changes a citation or quotation."))
    for day, group in groupby(found, lambda one: one.day):
        yield Heading(2, day)
        for one in group:
            line = _("line {n}").format(n=one.place.line)
            yield paragraph(f"{line}{colon()}", Strong(one.said), " ", Remark(one.provision))
            if one.moved_to:
                yield Sides(one.provision, one.moved_to)
            else:
                yield Sides(one.before, one.after or _("(gone)"))


def _changes(changes: Sequence[Change], title: str, level: int) -> Iterator[Block]:
    for change in changes:
        headers = " → ".join(_headers(change, title))
        yield Heading(level, f"{_(CHANGES[change.kind])}{colon()}{headers}")
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

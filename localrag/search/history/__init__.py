"""The states of a law, as in ``localrag history`` and ``localrag diff``."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from localrag.corpus.states import enacted, is_old
from localrag.corpus.store import CorpusStore, DocumentInfo
from localrag.corpus.types import ARTICLES, Document, Locator, Passage
from localrag.errors import NotFoundError, UsageError
from localrag.language import N_, _
from localrag.search.finding import find, laws_called
from localrag.search.history.comparing import CHANGES, Change, compare, left_out
from localrag.text.facts import Fact, FactKind


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two states of a law, compared.

    Attributes:
        before, after: the states.
        changes: in reading order.
        left_out: parts missing as a whole from one text; they count as no change.
        notes: on texts much older than the day asked for.
    """

    before: DocumentInfo
    after: DocumentInfo
    changes: tuple[Change, ...]
    left_out: tuple[Fact, ...] = ()
    notes: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Version:
    """A provision in one state of its law.

    Attributes:
        state: of the law.
        passage: None if absent from this state.
        change: against the state before; None if unchanged, and for the first state.
    """

    state: DocumentInfo
    passage: Passage | None
    change: Change | None = None


@dataclass(frozen=True, slots=True)
class History:
    """A provision in the states of its law, the earliest first.

    Attributes:
        title: its heading.
        versions: one for each state in the corpus.
        notes: the states available; the texts between them are unknown here.
    """

    title: str
    versions: tuple[Version, ...]
    notes: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Amendment:
    """A later state of a law, and its changes.

    Attributes:
        before: the state before it; None for a new law.
        after: the later state.
        changes: in reading order; empty for a new law.
    """

    before: DocumentInfo | None
    after: DocumentInfo
    changes: tuple[Change, ...] = ()

    @property
    def day(self) -> str:
        """The day it comes into force, as ISO date."""
        return self.after.metadata.get("date", "")


_TYPES = {"AC": "法律", "CO": "政令"}
_LAW_ID = re.compile(r"[1-5](\d{2})(AC|CO)\d(\d{9})")


def amended_by(state: DocumentInfo) -> str:
    """The number of the amending law: 令和6年法律第65号, or "" if unknown.

    Ids other than those of acts and cabinet orders are returned unchanged.
    """
    law_id = state.metadata.get("amending_law", "")
    match, made = _LAW_ID.fullmatch(law_id), enacted(law_id)
    if match is None or made is None:
        return law_id
    year, kind, number = match.groups()
    return f"{made.era}{int(year)}年{_TYPES[kind]}第{int(number)}号"


def headline(version: Version) -> str:
    """When a state is in force, by which law, and the change of the provision."""
    state = version.state
    date = state.metadata.get("date") or _("without a date")
    period = f"{date} – {state.followed}"
    if not state.followed:
        period = _("from {date} on; the last text in this corpus").format(date=date)
    parts = [period]
    if law := amended_by(state):
        parts.append(_("amended by {law}").format(law=law))
    if version.change is not None:
        parts.append(_(CHANGES[version.change.kind]))
    elif version.passage is None:
        parts.append(_("not in this state"))
    return "  ".join(parts)


def history(store: CorpusStore, target: str) -> History:
    """Follow a provision through the states of its law.

    Args:
        store: the corpus; the citation is read in its current state.
        target: a citation as for `provision.show`, of one article or a part of it.

    Raises:
        NotFoundError: there is no such provision.
        UsageError: it is ambiguous, or not in a law.
    """
    shown = _article(store, target)
    states = store.states(shown.document_id)
    documents = [store.read(state.key) for state in states]
    today = states.index(store.document(shown.document_id))
    versions: list[Version] = [Version(states[today], shown)]
    passage: Passage | None = shown
    for at in range(today, 0, -1):
        change = _change_of(passage, documents[at - 1], documents[at], backwards=True)
        versions[0] = Version(states[at], passage, change)
        passage = _other_side(change, passage, documents[at - 1], backwards=True)
        versions.insert(0, Version(states[at - 1], passage))
    passage = shown
    for at in range(today + 1, len(states)):
        change = _change_of(passage, documents[at - 1], documents[at])
        passage = _other_side(change, passage, documents[at])
        versions.append(Version(states[at], passage, change))
    return History(shown.header, tuple(versions), (_held(states),))


def diff(store: CorpusStore, law: str, before: date, after: date) -> Comparison:
    """Compare the states of a law on two days.

    Raises:
        NotFoundError: the corpus has no such law, no state of it for a day, or only one state for
            both days.
        UsageError: the name is ambiguous.
    """
    states = store.states(_law(store, law))
    days = sorted((before, after))
    one, other = (_on(states, day) for day in days)
    if one.key == other.key:
        raise NotFoundError(
            N_(
                "The corpus has one text of {title} for both days, dated {date}. It is not "
                "known if the law changed between them."
            ),
            N_("It has the texts of: {dates}. Add the text of the other day: localrag add PATH"),
            title=one.title,
            date=one.metadata.get("date") or _("an unknown day"),
            dates=_(", ").join(filter(None, (state.metadata.get("date") for state in states)))
            or _("an unknown day"),
        )
    old, new = store.read(one.key), store.read(other.key)
    return Comparison(
        one,
        other,
        compare(old, new),
        tuple(left_out(one, old, other, new)),
        tuple(_far_before((one, other), days)),
    )


def pending(store: CorpusStore, until: date | None = None, law: str = "") -> tuple[Amendment, ...]:
    """List the states coming into force after the day of the store, by day.

    Args:
        store: the corpus on a day.
        until: the last day; None for all.
        law: title, abbreviation or id of one law; "" for all.

    Raises:
        NotFoundError: the corpus has no such law.
        UsageError: the name is ambiguous.
    """
    last = until.isoformat() if until else ""
    laws = [_law(store, law)] if law else store.works_to_come(last)
    found = [one for id_ in laws for one in _amendments(store, id_, last)]
    return tuple(sorted(found, key=lambda one: one.day))


def _amendments(store: CorpusStore, law: str, last: str) -> Iterator[Amendment]:
    states = store.states(law)
    for before, after in zip((None, *states), states, strict=False):
        day = after.metadata.get("date", "")
        if day <= store.as_of.isoformat() or (last and day > last):
            continue
        if before is not None:
            changes = compare(store.read(before.key), store.read(after.key))
            yield Amendment(before, after, changes)
        elif after.not_yet:
            yield Amendment(None, after)


def _held(states: Sequence[DocumentInfo]) -> Fact:
    days = tuple(state.metadata.get("date") or _("without a date") for state in states)
    return Fact(FactKind.STATES_HELD, law=states[0].title, days=days)


def _far_before(states: Sequence[DocumentInfo], days: Sequence[date]) -> Iterator[Fact]:
    """A note on texts much older than the days asked for."""
    for state, day in zip(states, days, strict=True):
        begun = state.metadata.get("date", "")
        if is_old(begun, day):
            yield Fact(FactKind.LAST_STATE, law=state.title, date=begun, day=day.isoformat())


def _change_of(
    passage: Passage | None, before: Document, after: Document, *, backwards: bool = False
) -> Change | None:
    """The change of a passage of the later state."""
    if passage is None:
        return None
    for change in compare(before, after):
        side = change.after if backwards else change.before
        if side is not None and side.locator == passage.locator:
            return change
    return None


def _other_side(
    change: Change | None, passage: Passage | None, other: Document, *, backwards: bool = False
) -> Passage | None:
    """The passage on the other side of a change, or at the same place without one."""
    if change is not None:
        return change.before if backwards else change.after
    if passage is None:
        return None
    same = (p for p in other.passages if p.layer == ARTICLES and p.locator == passage.locator)
    return next(same, None)


def _article(store: CorpusStore, target: str) -> Passage:
    """The article of a citation."""
    passage = find(store, target)
    place = passage.locator
    article = store.at(passage.document_id, Locator(place.division, place.article), ARTICLES)
    if article is None:
        raise UsageError(
            N_("{target!r} is not a provision of a law."),
            N_("Name one: localrag history 民法709条"),
            target=target,
        )
    return article


def _law(store: CorpusStore, name: str) -> str:
    found = laws_called(store, name)
    if len(found) > 1:
        raise UsageError(
            N_("{name!r} can mean {n:,} laws."),
            N_("Give the id of one: {ids}"),
            name=name,
            n=len(found),
            ids=", ".join(found),
        )
    return found[0]


def _on(states: Sequence[DocumentInfo], day: date) -> DocumentInfo:
    begun = [state for state in states if state.metadata.get("date", "") <= day.isoformat()]
    if begun:
        return begun[-1]
    raise NotFoundError(
        N_("The corpus has no state of {title} in force on {day}."),
        N_("Its first one is of {first}."),
        title=states[0].title,
        day=day.isoformat(),
        first=states[0].metadata.get("date", ""),
    )

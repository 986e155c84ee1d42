"""Writes the days of amendments as a calendar (iCalendar, RFC 5545)."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from hashlib import sha256
from itertools import groupby
from typing import IO, NamedTuple

from localrag.check.types import Upcoming
from localrag.language import _
from localrag.search.history import Amendment, amended_by
from localrag.text.harmless import harmless

# Longest line, in octets (section 3.1).
_LINE = 75
_SPECIAL = re.compile(r"([\\;,])")


class Event(NamedTuple):
    """An event of a whole day; `day` is an ISO date."""

    day: str
    title: str
    words: str


def write_calendar(events: Iterable[Event], file: IO[bytes]) -> None:
    """Write events of whole days; raises `OSError`."""
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//localrag//pending//EN"]
    for event in events:
        # The same event keeps its id, so importing it again replaces it.
        id_ = sha256("\n".join(event).encode()).hexdigest()[:32]
        lines += [
            "BEGIN:VEVENT",
            f"UID:{id_}@localrag",
            f"DTSTAMP:{now}",
            f"DTSTART;VALUE=DATE:{date.fromisoformat(event.day):%Y%m%d}",
            f"SUMMARY:{_text(event.title)}",
            f"DESCRIPTION:{_text(event.words)}",
            "END:VEVENT",
        ]
    for line in (*lines, "END:VCALENDAR"):
        file.write(_folded(line))


def _text(words: str) -> str:
    return _SPECIAL.sub(r"\\\1", harmless(words)).replace("\n", "\\n")


def _folded(line: str) -> bytes:
    """A line in pieces of at most 75 octets; no character is cut in two."""
    pieces, piece = [], b""
    for character in line:
        if len(piece) + len(character.encode()) > _LINE:
            pieces.append(piece)
            piece = b" "
        piece += character.encode()
    return b"\r\n".join([*pieces, piece]) + b"\r\n"


def events(amendments: Iterable[Amendment], changed: Iterable[Upcoming]) -> Iterator[Event]:
    """Yield an event for each amendment, and for each day with changing citations."""
    for one in amendments:
        headers = [side.header for of in one.changes if (side := of.after or of.before)]
        yield Event(one.day, one.after.title, "\n".join([amended_by(one.after), *headers]).strip())
    for day, group in groupby(changed, lambda one: one.day):
        lines = [f"{one.said} ({one.provision})" for one in group]
        yield Event(day, _("{n} citations change").format(n=len(lines)), "\n".join(lines))

"""Cuts results to a size for agents, and names each place and amount.

A provision with hundreds of references has 236,000 characters of JSON; a model reads a few
thousand. Only texts and lists are cut: a result keeps its type. The first field of an object gets
up to half of the room, and so do entries of a list. The trace goes first, then the nearest
provisions of an answer.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile
from typing import Any

# Before Python 3.12 Pydantic makes schemas of this one alone.
from typing_extensions import TypedDict

from localrag.text.harmless import json_text

# Shorter texts can be names, and are never cut.
_NAME = 200
# An entry needs this many characters to be worth its place.
_WORTH = 200
# These fields go first, in this order.
_FIRST_TO_GO = ("trace", "nearest")
# The list of cuts needs room itself and changes with it: try this often, with less room by this
# share each time.
_TRIES, _STEP = 20, 50


class CutJson(TypedDict):
    """A cut in a result.

    `part` is the place: `passage.text`, or `hits.*.passage.text` for several entries. `shown` and
    `of` count entries or characters; for several entries they are sums.
    """

    part: str
    shown: int
    of: int


class RestJson(TypedDict):
    """Part of a list or a text of a result; `next` is the beginning of the rest."""

    part: str
    start: int
    of: int
    value: list[Any] | str
    next: int | None


def fitted(value: dict[str, Any], most: int) -> dict[str, Any]:
    """Cut a result to `most` characters of JSON; its field `cut` lists the cuts.

    The given value stays unchanged. Names alone can exceed `most`.
    """
    room = most
    for _ in range(_TRIES):
        cutting = _Cutting()
        given = value
        for part in _FIRST_TO_GO:
            if given.get(part) and _length(given) > room:
                cutting.note((part,), 0, len(given[part]))
                given = {**given, part: []}
        shown = cutting.told_in(cutting.fit(given, room, ()))
        over = _length(shown) - most
        if over <= 0:
            break
        room -= max(over, most // _STEP)
    return shown


def rest(value: Any, part: str, start: int, most: int) -> dict[str, Any]:
    """Part of a list or a text of a result, as `RestJson`; raises LookupError.

    Args:
        value: the whole result.
        part: place of the list or text, as in `CutJson`.
        start: first entry or character.
        most: characters of JSON, roughly; at least one entry or character is returned.
    """
    path: list[str | int] = []
    for step in part.split("."):
        if isinstance(value, list) and step.isdecimal():
            path.append(int(step))
        elif isinstance(value, dict):
            path.append(step)
        else:
            raise LookupError(part)
        value = value[path[-1]]
    if not isinstance(value, (list, str)):
        raise LookupError(part)
    cutting = _Cutting()
    left = value[start:]
    if isinstance(left, str):
        shown: list[Any] | str = left[: max(1, _characters(left, most))]
    else:
        shown = cutting.fit_list(left, most, tuple(path), start)
        # Without one entry nobody would reach the next.
        shown = shown or [cutting.fit(one, most, (*path, start)) for one in left[:1]]
    end = start + len(shown)
    cutting.drop(tuple(path))
    found: RestJson = {
        "part": part,
        "start": start,
        "of": len(value),
        "value": shown,
        "next": end if end < len(value) else None,
    }
    return cutting.told_in({**found})


@dataclass(frozen=True)
class _Cut:
    path: tuple[str | int, ...]
    shown: int
    of: int


class _Cutting:
    """Cuts values, and records the cuts."""

    def __init__(self) -> None:
        self._cuts: list[_Cut] = []

    def note(self, path: tuple[str | int, ...], shown: int, of: int) -> None:
        """Record a cut."""
        self._cuts.append(_Cut(path, shown, of))

    def drop(self, path: tuple[str | int, ...]) -> None:
        """Drop the record of a cut."""
        self._cuts = [cut for cut in self._cuts if cut.path != path]

    def told_in(self, value: dict[str, Any]) -> dict[str, Any]:
        """An object with its list of cuts, if there are any."""
        return {**value, "cut": self._told()} if self._cuts else value

    def _told(self) -> list[CutJson]:
        # Equal cuts in several entries become one.
        groups: dict[tuple[str, ...], list[_Cut]] = {}
        for cut in self._cuts:
            same = tuple("*" if isinstance(step, int) else step for step in cut.path)
            groups.setdefault(same, []).append(cut)
        return [
            {
                "part": ".".join(same if len(cuts) > 1 else map(str, cuts[0].path)),
                "shown": sum(cut.shown for cut in cuts),
                "of": sum(cut.of for cut in cuts),
            }
            for same, cuts in groups.items()
        ]

    def fit(self, value: Any, room: int, path: tuple[str | int, ...]) -> Any:
        """A value in this many characters, or as few as possible."""
        if _length(value) <= room:
            return value
        if isinstance(value, str) and len(value) > _NAME:
            kept = max(_NAME, _characters(value, room))
            self.note(path, kept, len(value))
            return value[:kept]
        if isinstance(value, list):
            return self.fit_list(value, room, path, 0)
        if isinstance(value, dict):
            left = room - sum(_length(name) + 4 for name in value)
            entries = [(name, of, 2) for name, of in value.items()]
            return dict(zip(value, self._share(entries, left, path), strict=True))
        return value

    def fit_list(
        self, values: Sequence[Any], room: int, path: tuple[str | int, ...], first: int
    ) -> list[Any]:
        """The fitting entries of a list; `first` is the number of the first."""
        ends = accumulate(min(_length(one), _least(one) + _WORTH) + 2 for one in values)
        count = sum(1 for _ in takewhile(lambda end: end + 2 <= room, ends))
        entries = [(first + at, values[at], count - at) for at in range(count)]
        shown = list(self._share(entries, room - 2 - 2 * count, path))
        if count < len(values):
            self.note(path, count, len(values))
        return shown

    def _share(
        self, entries: Sequence[tuple[str | int, Any, int]], room: int, path: tuple[str | int, ...]
    ) -> Iterable[Any]:
        """Values in one room: each gets a part, and room not needed by later ones.

        Args:
            entries: step to each value, the value, and the number of parts that share the room.
            room: characters for all of them.
            path: place of the values.
        """
        wanted = sum(_length(value) for _, value, _ in entries)
        needed = sum(_least(value) for _, value, _ in entries)
        for step, value, parts in entries:
            wanted -= _length(value)
            needed -= _least(value)
            given = min(room - needed, max(room // parts, room - wanted))
            shown = self.fit(value, given, (*path, step))
            room -= _length(shown)
            yield shown


def _length(value: Any) -> int:
    return len(json_text(value))


def _least(value: Any) -> int:
    """The fewest characters of a value."""
    if isinstance(value, list):
        return 2
    if isinstance(value, dict):
        return 2 + sum(_length(name) + 4 + _least(of) for name, of in value.items())
    if isinstance(value, str):
        return _length(value[:_NAME])
    return _length(value)


def _characters(text: str, room: int) -> int:
    return max(0, (room - 2) * len(text) // max(1, _length(text)))

"""Results as long as an agent can read: what is longer is cut, and says where, and how much.

Of a provision that hundreds refer to the JSON has 236,000 characters; a model reads some thousand.
Texts and lists are cut, nothing else, so that a result stays what its type says. What stands first
in an object says most, and gets up to half of the room; the entries of a list get the same. What
was done for a result (its trace) goes first, and then what an answer does not quote.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile
from typing import Any

# Before Python 3.12 Pydantic makes schemas of this one alone.
from typing_extensions import TypedDict

from localrag.harmless import json_text

# A text of so many characters can be a name, and is never cut.
_NAME = 200
# An entry of a list is worth its place if so many characters of what can be cut remain.
_WORTH = 200
# What goes before anything else is cut, in this order: the trace, and what is near an answer.
_FIRST_TO_GO = ("trace", "nearest")
# The list of what was cut takes room itself, and changes with it: so often less room is tried, each
# time by this share at least.
_TRIES, _STEP = 20, 50


class CutJson(TypedDict):
    """What of a result is not there.

    `part` is where: `passage.text`; of the same in several entries `hits.*.passage.text`. `shown`
    and `of` count the entries of a list, or the characters of a text; of several, their sums.
    """

    part: str
    shown: int
    of: int


class RestJson(TypedDict):
    """A list or a text of a result, from an entry or a character on; `next` is where it goes on."""

    part: str
    start: int
    of: int
    value: list[Any] | str
    next: int | None


def fitted(value: dict[str, Any], most: int) -> dict[str, Any]:
    """Cut a result to so many characters of JSON; what is cut stands in a field of it, `cut`.

    Args:
        value: a result; it stays as it is.
        most: characters; a result whose names alone are longer stays longer.
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
    """A list or a text of a result, from an entry or a character on: a `RestJson`.

    Args:
        value: the whole result.
        part: where the list or text is, as a `CutJson` has it.
        start: the first entry, or character, that is given.
        most: characters of JSON that it has, about; one entry or character is given, at least.

    Raises:
        LookupError: the result has no such part, or it is neither a list nor a text.
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
        # One entry at least, or nobody would ever come to the next.
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
    """Cuts values, and keeps what was cut and where."""

    def __init__(self) -> None:
        self._cuts: list[_Cut] = []

    def note(self, path: tuple[str | int, ...], shown: int, of: int) -> None:
        """Keep that a text or a list was cut."""
        self._cuts.append(_Cut(path, shown, of))

    def drop(self, path: tuple[str | int, ...]) -> None:
        """Forget that what stands there was cut: it is told otherwise."""
        self._cuts = [cut for cut in self._cuts if cut.path != path]

    def told_in(self, value: dict[str, Any]) -> dict[str, Any]:
        """An object with what was cut of it, where something was."""
        return {**value, "cut": self._told()} if self._cuts else value

    def _told(self) -> list[CutJson]:
        # The same in several entries of a list is told as one.
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
        """A value in so many characters, or as few as it can have."""
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
        """As many entries of a list as have room; `first` is the number of the first of them."""
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
        """Values in one room: of what is left each gets a part, and what the later do not need.

        Args:
            entries: the step to each value, the value, and of how many parts it gets one.
            room: characters for all of them.
            path: to what holds them.
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
    """Characters that a value has when all of it that can be cut is."""
    if isinstance(value, list):
        return 2
    if isinstance(value, dict):
        return 2 + sum(_length(name) + 4 + _least(of) for name, of in value.items())
    if isinstance(value, str):
        return _length(value[:_NAME])
    return _length(value)


def _characters(text: str, room: int) -> int:
    return max(0, (room - 2) * len(text) // max(1, _length(text)))

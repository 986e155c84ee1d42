"""The rows of a vector index: which keys and attributes belong to each text."""

import json
from array import array
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from localrag_indexes.vectors import layout

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class TableWriter:
    """Collects rows in memory, compactly, and writes them."""

    def __init__(self, attributes: Sequence[str]) -> None:
        self._places = array("q")
        self._keys = array("q")
        self._values: dict[str, dict[str, int]] = {name: {} for name in attributes}
        self._codes = [array("i") for _ in attributes]

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, place: int, key: int, attributes: Mapping[str, str | int]) -> None:
        """Note that a text stands at `place` and belongs to `key`."""
        self._places.append(place)
        self._keys.append(key)
        for (name, known), codes in zip(self._values.items(), self._codes, strict=True):
            value = attributes.get(name)
            codes.append(-1 if value is None else known.setdefault(str(value), len(known)))

    def write(self, folder: Path, count: int) -> None:
        """Write the rows of `count` texts."""
        import numpy as np

        places = np.frombuffer(self._places, np.int64)
        keys = np.frombuffer(self._keys, np.int64)
        order = np.lexsort((keys, places))
        starts = np.searchsorted(places[order], np.arange(count + 1))
        codes = np.empty((len(self._codes), len(keys)), np.int32)
        for number, column in enumerate(self._codes):
            codes[number] = np.frombuffer(column, np.int32)[order]
        layout.save(folder / layout.STARTS, starts.astype(np.int64))
        layout.save(folder / layout.KEYS, keys[order])
        layout.save(folder / layout.CODES, codes)
        values = {name: list(known) for name, known in self._values.items()}
        (folder / layout.VALUES).write_text(json.dumps(values), encoding="ascii")


class Table:
    """The rows of an index, mapped from its files.

    Attributes:
        keys: of each row, shape ``(r,)``.
        starts: the rows of place p are ``starts[p]:starts[p + 1]``.
    """

    def __init__(
        self,
        keys: "NDArray[np.int64]",
        starts: "NDArray[np.int64]",
        codes: Mapping[str, "NDArray[np.int32]"],
        values: bytes,
    ) -> None:
        self.keys = keys
        self.starts = starts
        self._codes = codes
        self._values_json = values

    @classmethod
    def open(cls, folder: Path, rows: int, count: int, attributes: Sequence[str]) -> Self:
        """Open the table of an index of so many rows and texts.

        Raises:
            IndexDamaged, OSError: a file of it is not what was written.
        """
        codes = layout.load(folder / layout.CODES, "<i4", (len(attributes), rows))
        return cls(
            layout.load(folder / layout.KEYS, "<i8", (rows,)),
            layout.load(folder / layout.STARTS, "<i8", (count + 1,)),
            dict(zip(attributes, codes, strict=True)),
            # Read now, since the folder may be gone when a filter comes; parsed only then.
            (folder / layout.VALUES).read_bytes(),
        )

    def admitted(
        self, where: Mapping[str, Collection[str]], between: Mapping[str, tuple[str, str]]
    ) -> "NDArray[np.bool_] | None":
        """Tell which rows pass the filters, shape ``(r,)``; None where every row does.

        Raises:
            LookupError, ValueError: the table is not what was written.
        """
        import numpy as np

        passing = np.ones(len(self.keys), np.bool_)
        for name, allowed in where.items():
            wanted = frozenset(allowed)
            passing &= self._holding(name, [value in wanted for value in self._values[name]])
        for name, (low, high) in between.items():
            inside = [low <= v and (not high or v <= high) for v in self._values[name]]
            passing &= self._holding(name, inside)
        return None if passing.all() else passing

    def places(self, rows: "NDArray[np.bool_]") -> "NDArray[np.int64]":
        """Find the places that have at least one of the rows, ascending."""
        import numpy as np

        sums = np.concatenate(([0], np.cumsum(rows)))
        return np.flatnonzero(np.diff(sums[self.starts]))

    def _holding(self, name: str, allowed: list[bool]) -> "NDArray[np.bool_]":
        """Tell which rows have an allowed value; those without one, -1, meet the last False."""
        import numpy as np

        return np.array([*allowed, False])[self._codes[name]]

    @cached_property
    def _values(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = json.loads(self._values_json)
        return {name: found[name] for name in self._codes}

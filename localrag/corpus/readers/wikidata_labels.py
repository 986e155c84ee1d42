"""The labels of a dump of Wikidata, kept aside on the disk while it is read."""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Self

from localrag.errors import InputError

_ID = re.compile("([QP])([1-9][0-9]{0,15})")
# "mul" holds names that all languages have in common.
_LANGUAGES = ("ja", "mul", "en")
_REMEMBERED = 20_000


class Labels:
    """The label of every entity by its id, to be closed.

    They lie in a nameless database that SQLite keeps in the folder for temporary files and deletes
    when it is closed: some 30 bytes each, 3 GB for the whole of Wikidata.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        # Countries, units and properties come again and again.
        self.get = lru_cache(_REMEMBERED)(self._get)

    @classmethod
    def of(cls, entities: Iterable[Mapping[str, Any]]) -> Self:
        """Keep the labels of these entities: the Japanese one, or else the common or English one.

        Raises:
            InputError: there is no room on the disk.
        """
        connection = sqlite3.connect("")
        try:
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("CREATE TABLE labels (key INTEGER PRIMARY KEY, label TEXT NOT NULL)")
            connection.executemany("INSERT OR REPLACE INTO labels VALUES (?, ?)", _labels(entities))
        except BaseException as error:
            connection.close()
            if not isinstance(error, sqlite3.Error):
                raise
            raise InputError(
                f"The labels of the dump could not be kept aside ({error}).",
                "Free space in the folder for temporary files, or name another one with TMPDIR.",
            ) from error
        return cls(connection)

    def close(self) -> None:
        """Delete them."""
        self._connection.close()

    def _get(self, id_: str) -> str:
        key = _key(id_)
        found = (
            key
            and self._connection.execute(
                "SELECT label FROM labels WHERE key = ?", (key,)
            ).fetchone()
        )
        return str(found[0]) if found else ""


def _labels(entities: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, str]]:
    for entity in entities:
        labels, key = entity.get("labels"), _key(str(entity.get("id")))
        if key and isinstance(labels, dict):
            for language in _LANGUAGES:
                label = labels.get(language)
                if isinstance(label, dict) and isinstance(label.get("value"), str):
                    yield key, label["value"]
                    break


def _key(id_: str) -> int | None:
    """The id as one number: items are even, properties odd."""
    found = _ID.fullmatch(id_)
    return 2 * int(found[2]) + (found[1] == "P") if found else None

"""The tables of a corpus store, and the upgrades that lead from one version to the next.

Each ``NNNN_name.sql`` beside this file lifts a store from version N-1 to N. A new store runs
them all, an older one those it lacks, so both end with the same tables. A released file is never
edited: a change of the tables is a new file.
"""

import sqlite3
from pathlib import Path

UPGRADES = tuple(sorted(Path(__file__).parent.glob("[0-9]*.sql")))
VERSION = len(UPGRADES)


def upgrade(connection: sqlite3.Connection, *, until: int = VERSION) -> None:
    """Run the upgrades a store lacks, each in one transaction: it is applied whole or not at all.

    Args:
        connection: an open store, outside any transaction.
        until: stop at this version.
    """
    for number, file in enumerate(UPGRADES[:until], start=1):
        if version(connection) < number:
            script = file.read_text(encoding="utf-8")
            # Another process may have upgraded meanwhile; then the script fails on its first
            # CREATE, the transaction is rolled back, and the loop finds the version reached.
            try:
                connection.executescript(
                    f"BEGIN IMMEDIATE;\n{script}\nPRAGMA user_version = {number};\nCOMMIT;"
                )
            except sqlite3.OperationalError:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                if version(connection) < number:
                    raise


def version(connection: sqlite3.Connection) -> int:
    """Return the version a store was left in; 0 for an empty file."""
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found

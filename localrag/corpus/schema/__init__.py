"""The tables of a corpus store, an upgrade for each version beside this file."""

from pathlib import Path

from localrag.database import Schema

CORPUS = Schema(
    name="corpus store",
    upgrades=tuple(sorted(Path(__file__).parent.glob("[0-9]*.sql"))),
    first="Add documents first: localrag add PATH",
    again="add the documents again: localrag add PATH",
    lift="Upgrade it by indexing again: localrag index",
)

"""The tables of the conversations, an upgrade for each version beside this file."""

from pathlib import Path

from localrag.database import Schema

CONVERSATIONS = Schema(
    name="file of conversations",
    upgrades=tuple(sorted(Path(__file__).parent.glob("[0-9]*.sql"))),
    first="Begin a conversation: localrag tui",
    again="begin with none: localrag tui",
    lift="Open it once to write: localrag tui",
)

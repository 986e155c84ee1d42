"""The tables of the conversations, an upgrade for each version beside this file."""

from pathlib import Path

from localrag.database import Schema
from localrag.language import N_

CONVERSATIONS = Schema(
    name=N_("file of conversations"),
    upgrades=tuple(sorted(Path(__file__).parent.glob("[0-9]*.sql"))),
    first=N_("Begin a conversation: localrag tui"),
    again=N_("begin with none: localrag tui"),
    lift=N_("Open it once to write: localrag tui"),
)

"""What was chosen in the workbench, remembered in the workspace: ``tui.json``."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from localrag.corpus.durable import replace_text
from localrag.errors import StorageError
from localrag.language import _
from localrag.search.types import Filters
from localrag_tui.shown import harmless

# A file of another hand may hold anything: what no user can have chosen counts as damaged. A path
# is the longest text, 64 bits hold the largest number of the store.
_LONGEST, _LARGEST = 5_000, 2**63 - 1
_MOST_BYTES = 1_000_000
_Text = Annotated[str, Field(max_length=_LONGEST)]
_Whole = Annotated[int, Field(ge=0, le=_LARGEST)]


class Choices(BaseModel):
    """What is there again the next time.

    Attributes:
        language, theme: of the interface; "" where none was chosen.
        mode: the screen in view.
        corpus, method, model: what answers, as the settings name it; None where none was chosen,
            so that the settings say.
        conversation: the one in view; 0 for a new one.
        asked_of: what questions are limited to.
        reading: by corpus what is open on the Read screen: for each pane the document and the
            place in its text.
        search, filters: what was searched for last, and where.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    language: _Text = ""
    theme: _Text = ""
    mode: _Text = ""
    corpus: _Text | None = None
    method: _Text | None = None
    model: _Text | None = None
    conversation: _Whole = 0
    asked_of: Filters = Filters()
    search: _Text = ""
    filters: Filters = Filters()
    reading: dict[_Text, tuple[tuple[_Text, _Whole], ...]] = {}

    @field_validator("filters", "asked_of")
    @classmethod
    def _dated(cls, filters: Filters) -> Filters:
        for date in (filters.date_from, filters.date_to):
            if date != harmless(date)[:_LONGEST]:
                raise ValueError(date)
        return filters


class Memory:
    """Keeps the choices in a file, written by a thread: a slow disk holds up no key.

    A file that cannot be read or written is done without, and told of once. What another
    workbench has chosen since stays in it, unless it is chosen otherwise here.

    Args:
        path: the file.
        tell: called with what is wrong with it, from any thread.

    Attributes:
        choices: as they are now.
    """

    def __init__(self, path: Path, tell: Callable[[StorageError], object]) -> None:
        self._path = path
        self._tell = tell
        self._told = False
        self._writer = ThreadPoolExecutor(1, "memory")
        self.choices = self._kept = self._read()

    def remember(self, **chosen: object) -> None:
        """Change choices, by their names."""
        choices = Choices.model_validate({**self.choices.model_dump(), **chosen})
        if choices != self.choices:
            self.choices = choices
            self._writer.submit(self._write, choices)

    def close(self) -> None:
        """Wait until what was chosen is written."""
        self._writer.shutdown()

    def _write(self, choices: Choices) -> None:
        if choices != self.choices:
            return  # A later one is on its way.
        try:
            there = self._load()
        except (OSError, ValidationError):
            there = self._kept
        try:
            merged = _merged(there, self._kept, choices)
            replace_text(self._path, merged.model_dump_json(indent=1))
            self._told, self._kept = False, choices
        except OSError as error:
            what = _("What you choose cannot be kept in {path} ({reason}).")
            self._complain(what, error, _("Make it writable, or free some space."))

    def _read(self) -> Choices:
        try:
            return self._load()
        except FileNotFoundError:
            return Choices()
        except (OSError, ValidationError) as error:
            what = _("The choices in {path} could not be read ({reason}).")
            self._complain(what, error, _("Choose again: it is written anew."))
        return Choices()

    def _load(self) -> Choices:
        with self._path.open("rb") as file:
            # What is longer ends in the middle, and is no JSON.
            return Choices.model_validate_json(file.read(_MOST_BYTES))

    def _complain(self, what: str, error: OSError | ValidationError, cure: str) -> None:
        if not self._told:
            self._told = True
            if isinstance(error, OSError):
                reason = error.strerror or str(error)
            else:
                reason = _("it is damaged, {n} faults").format(n=error.error_count())
            self._tell(StorageError(what.format(path=self._path, reason=reason), cure))


def _merged(there: Choices, before: Choices, now: Choices) -> Choices:
    """What is there, with what has changed here."""
    changed = {name: chosen for name, chosen in now if chosen != getattr(before, name)}
    read = {
        corpus: panes
        for corpus, panes in now.reading.items()
        if panes != before.reading.get(corpus)
    }
    return there.model_copy(update={**changed, "reading": {**there.reading, **read}})

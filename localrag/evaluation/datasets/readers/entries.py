"""Entries of a file of questions, and their fields."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from io import BytesIO
from typing import Any

from localrag.corpus.readers.bounds import numbered_lines
from localrag.corpus.readers.text import drop_controls
from localrag.corpus.readers.types import Limits
from localrag.errors import InputError
from localrag.language import N_, _
from localrag.law.names import LawNames
from localrag_indexes.analysis.normalize import without_blanks

Fields = Mapping[str, Any]
"""An entry: its fields by name."""

_LIMITS = Limits(line_bytes=4_000_000)


def entries(name: str, content: bytes) -> Iterator[tuple[str, Fields | InputError]]:
    """Yield each entry with its place ("line 3"), or its defect.

    A ``.json`` file is a list of entries, or an object with one such list. Other files have one
    entry a line; blank lines are skipped.
    """
    if not content.strip():
        raise InputError(N_("{name} is empty."), N_("Check how it was saved."), name=name)
    # Its line breaks have several bytes, so every line would be a defect.
    if not (encoding := json.detect_encoding(content)).startswith("utf-8"):
        raise InputError(
            N_("{name} is not valid UTF-8: it looks like {encoding}."),
            N_("Save it as UTF-8."),
            name=name,
            encoding=encoding.upper(),
        )
    if not name.lower().endswith(".json"):
        yield from _lines(content)
        return
    for number, entry in enumerate(_list(name, _parsed(name, content)), 1):
        is_object = isinstance(entry, dict)
        yield (
            _("entry {n}").format(n=number),
            entry if is_object else InputError(N_("It is no JSON object.")),
        )


def is_utf8(content: bytes) -> bool:
    """Whether the bytes of a file are UTF-8."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def text(fields: Fields, *names: str) -> str:
    """The first of some fields that is present, stripped; "" if there is none."""
    name = next((name for name in names if fields.get(name) is not None), "")
    value = fields.get(name, "")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise InputError(N_("The field {name!r} is no text."), name=name)
    return checked(name, value)


def required(fields: Fields, *names: str) -> str:
    """As `text`, but not empty. Raises `InputError` if it is missing or blank."""
    value = text(fields, *names)
    if not value:
        raise InputError(N_("The field {name!r} is missing or empty."), name=names[0])
    return value


def checked(name: str, value: str) -> str:
    """A text without control characters, stripped. Raises `InputError`."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputError(N_("The field {name!r} holds half a character."), name=name) from error
    return drop_controls(value).strip()


def _lines(content: bytes) -> Iterator[tuple[str, Fields | InputError]]:
    for number, line in numbered_lines(BytesIO(content), _LIMITS):
        where = _("line {n}").format(n=number)
        if line is None:
            yield (
                where,
                InputError(N_("It is longer than {most:,} bytes."), most=_LIMITS.line_bytes),
            )
        elif line.strip():
            try:
                value = _parsed(_("It"), line)
            except InputError as defect:
                yield where, defect
            else:
                yield (
                    where,
                    value if isinstance(value, dict) else InputError(N_("It is no object.")),
                )


def _parsed(what: str, content: bytes) -> Any:
    try:
        return json.loads(content.decode("utf-8-sig"), object_pairs_hook=_unambiguous)
    except UnicodeDecodeError as error:
        raise InputError(
            N_("{what} is not valid UTF-8 at byte {start}."),
            N_("Save it as UTF-8."),
            what=what,
            start=error.start,
        ) from error
    except ValueError as error:
        raise InputError(
            N_("{what} is not JSON ({problem})."),
            N_("Where every line is a value of its own, name the file .jsonl."),
            what=what,
            problem=error,
        ) from error
    except RecursionError as error:
        raise InputError(N_("{what} is nested too deeply."), what=what) from error


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a field stands twice in one object")
    return fields


def _list(name: str, value: Any) -> Sequence[Any]:
    if isinstance(value, list):
        return value
    lists = [one for one in value.values() if isinstance(one, list)] if _is_object(value) else []
    if len(lists) != 1:
        raise InputError(
            N_("{name} holds {n} lists of questions, not one."),
            N_("Write one JSON list, or an object with one."),
            name=name,
            n=len(lists),
        )
    found: list[Any] = lists[0]
    return found


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


Titled = Mapping[str, Sequence[tuple[str, str]]]
"""Ids and texts of documents by title, without blanks, width and case.

The text of a unique title may be left out, unless own documents are requested.
"""


Stored = Mapping[str, Mapping[str, str]]
"""By number of a claim, ids of its scraped documents by address."""


class Sources:
    """Ids in a corpus for the names in gold places; read at the first lookup.

    `lacking` has titles of own documents missing from the corpus, by question. `position` is the
    number of the current entry, from 0.
    """

    def __init__(
        self,
        open_names: Callable[[], LawNames | None] = lambda: None,
        open_titled: Callable[[], Titled] = dict,
        *,
        own_documents: bool = False,
        gold_alone: bool = False,
        open_stored: Callable[[], Stored] = dict,
    ) -> None:
        self.lacking: dict[str, list[str]] = {}
        self.asks_for_own = own_documents
        self.gold_alone = gold_alone
        self.position = 0
        self._open_names = open_names
        self._open_titled = open_titled
        self._open_stored = open_stored

    def law_id(self, name: str) -> str:
        """Id of the only law with this name; "" otherwise."""
        if self._names is None:
            return ""
        found = self._names.lookup(name)
        return found[0] if len(found) == 1 else ""

    def document_id(self, title: str, text: str) -> str:
        """Id of the document with this title, and among several with this text; "" otherwise."""
        found = self._titled.get(without_blanks(title), ())
        if len(found) > 1:
            found = [one for one in found if without_blanks(one[1]) == without_blanks(text)]
        return found[0][0] if found else ""

    def own_documents(
        self, question: str, paragraphs: Iterable[tuple[str, str]]
    ) -> tuple[str, ...]:
        """Ids of documents with these titles and texts; missing ones are noted.

        None if not asked.
        """
        if not self.asks_for_own:
            return ()
        found: dict[str, None] = {}
        for title, text in paragraphs:
            there = (
                id_
                for id_, held in self._titled.get(without_blanks(title), ())
                if without_blanks(held) == without_blanks(text)
            )
            if id_ := next(there, ""):
                found[id_] = None
            else:
                self.lacking.setdefault(question, []).append(title)
        return tuple(found)

    def stored(self, claim: str) -> Mapping[str, str]:
        """Documents scraped for the claim of this number: ids by address. Raises `InputError`."""
        found = self._stored.get(claim, {})
        if self._stored and not found and self.asks_for_own:
            raise InputError(
                N_("The corpus has no page of the knowledge store of claim {claim}."), claim=claim
            )
        return found

    @cached_property
    def _stored(self) -> Stored:
        return self._open_stored()

    @cached_property
    def _names(self) -> LawNames | None:
        return self._open_names()

    @cached_property
    def _titled(self) -> Titled:
        return self._open_titled()

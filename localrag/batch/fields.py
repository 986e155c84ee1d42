"""The fields of a row, and the question they make."""

from collections.abc import Mapping
from typing import Any

from localrag.batch.model import Question
from localrag.errors import InputError
from localrag.retrieval.model import Query
from localrag.retrieval.query import check

FIELDS = ("id", "question", "options")


def question(row: int, line: int, record: Mapping[str, Any]) -> Question:
    """Make the question of a row.

    Raises:
        InputError: a field is missing, of the wrong kind, or not Unicode.
        UsageError: the question holds no word or is too long.
    """
    query = Query(text=_text(record), options=_options(record))
    id_ = _id(record)
    _check_unicode(query.text, id_, *query.options)
    check(query)
    return Question(row, line, id_, query)


def readable_id(record: Mapping[str, Any]) -> str:
    """The id of a row that cannot be asked; empty where it has none that can be read."""
    try:
        id_ = _id(record)
        _check_unicode(id_)
    except InputError:
        return ""
    return id_


def _text(record: Mapping[str, Any]) -> str:
    text = record.get("question", "")
    if not isinstance(text, str):
        raise InputError("The question is not a text.", 'Write the field "question" as a string.')
    if not text.strip():
        raise InputError("The row has no question.", 'Give it a field "question".')
    return text


def _id(record: Mapping[str, Any]) -> str:
    id_ = record.get("id")
    if id_ is None:
        return ""
    if isinstance(id_, str) or (isinstance(id_, int) and not isinstance(id_, bool)):
        return str(id_)
    raise InputError("The id is neither a string nor a whole number.")


def _options(record: Mapping[str, Any]) -> tuple[str, ...]:
    options = record.get("options")
    if options is None:
        return ()
    if isinstance(options, Mapping):
        options = list(options.values())
    if isinstance(options, list) and all(isinstance(option, str) for option in options):
        return tuple(options)
    raise InputError(
        "The options are neither a list of texts nor an object of texts.",
        'Write {"a": "…", "b": "…"} or ["…", "…"].',
    )


def _check_unicode(*texts: str) -> None:
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            "The row is not valid UTF-8, or holds half a character (\\ud800 to \\udfff).",
            "Save the file as UTF-8, and leave half characters out.",
        ) from error

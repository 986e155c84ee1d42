"""JSON Lines, plain or compressed: records, statutes and questions, one a line, streamed."""

import json
from collections.abc import Iterator
from typing import IO, Any

from localrag.corpus.model import Document
from localrag.corpus.readers.model import Limits, ReadFailure
from localrag.corpus.readers.records import new_contexts, paragraph_document, record_document
from localrag.corpus.readers.statutes_jsonl import statute_document
from localrag.errors import InputError

_CHUNK = 1 << 20


def read_jsonl(
    name: str, stream: IO[bytes], limits: Limits, shard: tuple[int, int] = (0, 1)
) -> Iterator[Document | ReadFailure]:
    """Read a document, or the paragraphs of a question, from every line.

    Args:
        name: file name, for messages and for the ids of records without one.
        stream: of bytes, at its beginning, already unpacked.
        limits: bounds of a line and of the whole.
        shard: ``(i, n)`` reads only every n-th line, beginning with the i-th.

    Raises:
        InputError: the stream unpacks to more than allowed or holds no line at all.
    """
    share, shares = shard
    line_number = 0
    seen: set[tuple[str, str]] = set()
    for line_number, line in numbered_lines(stream, limits):
        if line_number % shares != share or (line is not None and not line.strip()):
            continue
        place = f"{name}:{line_number}"
        if line is None:
            yield ReadFailure(place, f"The line is longer than {limits.line_bytes:,} bytes.")
            continue
        try:
            yield from _documents(json_object(line), place, seen)
        except InputError as error:
            yield ReadFailure(place, error.cause, error.cure)
    if not line_number:
        raise InputError("The file is empty.", "Remove it, or check how it was saved.")


def _documents(
    record: dict[str, Any], place: str, seen: set[tuple[str, str]]
) -> Iterator[Document | ReadFailure]:
    if "law_id" in record and "articles" in record:
        yield statute_document(record, place)
    elif "text" in record:
        yield record_document(record, default_id=place, source=place, kind="jsonl")
    elif "paragraphs" in record or "context" in record:
        for ordinal, context in enumerate(new_contexts(record, seen), start=1):
            yield paragraph_document(f"{place}:{ordinal}", place, *context)
    else:
        raise InputError("The line is no document.", 'Give it the fields "id", "title" and "text".')


def json_object(line: bytes) -> dict[str, Any]:
    """Parse a line that holds one JSON object in UTF-8.

    Raises:
        InputError: it holds something else.
    """
    try:
        value = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(
            f"The line is not valid UTF-8 at byte {error.start}.", "Save the file as UTF-8."
        ) from error
    except ValueError as error:
        raise InputError(
            f"The line is not JSON: {error}.", "Write one complete JSON object a line."
        ) from error
    except RecursionError as error:
        raise InputError("The line is nested too deeply.") from error
    if not isinstance(value, dict):
        raise InputError("The line is not a JSON object.", "Write one JSON object a line.")
    return value


def numbered_lines(stream: IO[bytes], limits: Limits) -> Iterator[tuple[int, bytes | None]]:
    """Yield lines with their numbers from 1; None for one that is too long.

    Raises:
        InputError: the stream unpacks to more than allowed.
    """
    total, number = 0, 0
    while line := stream.readline(limits.line_bytes + 1):
        number += 1
        total += len(line)
        too_long = len(line) > limits.line_bytes
        rest = line
        while too_long and rest and not rest.endswith(b"\n"):
            rest = stream.readline(_CHUNK)
            total += len(rest)
            if total > limits.unpacked_bytes:
                break
        if total > limits.unpacked_bytes:
            raise InputError(
                f"The file unpacks to more than {limits.unpacked_bytes:,} bytes.",
                "Split it into several files.",
            )
        yield number, None if too_long else line

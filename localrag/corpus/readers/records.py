"""JSON values that hold documents: `{id, title, text}` records and question-answering sets."""

import re
from collections.abc import Iterator
from typing import Any

from localrag.corpus.readers.prose import prose
from localrag.corpus.readers.text import drop_controls
from localrag.corpus.types import Document
from localrag.errors import InputError
from localrag.language import N_

_SEPARATOR = " [SEP] "
"""Stands between title and text in the contexts of JSQuAD; no part of the text."""
_PASSAGE = re.compile(r"^Passage (\d+):[ \t]*\n", re.MULTILINE)
"""Stands before the title of each passage in the contexts of LongBench."""


def string(record: dict[str, Any], key: str) -> str:
    """Return a string field, control characters dropped; empty where missing.

    Raises:
        InputError: the field holds something else.
    """
    value = record.get(key)
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise InputError(
            N_("The field {key!r} is not a string."),
            N_("Write it as a JSON string."),
            key=key,
        )
    return drop_controls(value)


def one_line(text: str) -> str:
    """Return `text` without line breaks and tabs, for titles and ids."""
    return text.replace("\n", " ").replace("\t", " ").strip()


def record_document(record: dict[str, Any], *, default_id: str, source: str, kind: str) -> Document:
    """Make the document of one `{id, title, text}` record; its other strings are metadata.

    Raises:
        InputError: there is no text, or a field is not a string.
    """
    text = string(record, "text")
    if not text.strip():
        raise InputError(
            N_("The record has no text."),
            N_('Give it a field "text".'),
        )
    id_ = one_line(string(record, "id")) or default_id
    return prose(
        id_=id_,
        title=one_line(string(record, "title")) or id_,
        kind=kind,
        text=text,
        source=source,
        metadata={
            one_line(drop_controls(key)): drop_controls(value)
            for key, value in record.items()
            if key not in ("id", "title", "text") and isinstance(value, str)
        },
    )


def question_contexts(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield title and text of every paragraph that comes with one question of a multi-hop set.

    Raises:
        InputError: the record has another shape.
    """
    try:
        if "paragraphs" in record:
            for paragraph in record["paragraphs"]:
                yield str(paragraph["title"]), str(paragraph["paragraph_text"])
        elif isinstance(record["context"], str):
            yield from _numbered_passages(record["context"])
        else:
            for title, sentences in record["context"]:
                yield str(title), "".join(sentences)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            N_("The question's paragraphs have neither the form of MuSiQue nor of HotpotQA."),
            N_("Take the files as they are published."),
        ) from error


def _numbered_passages(context: str) -> Iterator[tuple[str, str]]:
    """Yield title and text of the passages of LongBench, which are numbered from 1.

    Raises:
        ValueError: there are none.
    """
    heads: list[re.Match[str]] = []
    for head in _PASSAGE.finditer(context):
        # A line of a passage may look like the head of another one.
        if head[1] == str(len(heads) + 1):
            heads.append(head)
    if not heads:
        raise ValueError("no numbered passage")
    ends = [*(head.start() for head in heads[1:]), len(context)]
    for head, end in zip(heads, ends, strict=True):
        title, _, text = context[head.end() : end].partition("\n")
        yield title.strip(), text.strip()


def new_contexts(record: dict[str, Any], seen: set[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the contexts of a question that are not in `seen`, and add them to it.

    Raises:
        InputError: the record has another shape.
    """
    for context in question_contexts(record):
        if context not in seen and context[1].strip():
            seen.add(context)
            yield context


def paragraph_document(id_: str, source: str, title: str, text: str) -> Document:
    """Make the document of one paragraph of a multi-hop set."""
    return prose(
        id_=id_,
        title=one_line(drop_controls(title)),
        kind="multihop",
        text=drop_controls(text),
        source=source,
    )


def squad_document(id_: str, source: str, title: str, context: str) -> Document:
    """Make the document of one SQuAD context, titled by its article."""
    context = drop_controls(context)
    head, separator, _ = context.partition(_SEPARATOR)
    return prose(
        id_=id_,
        title=one_line(drop_controls(title)),
        kind="squad",
        text=context,
        source=source,
        begin=len(head) + len(separator) if separator and head == title else 0,
    )

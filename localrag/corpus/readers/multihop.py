"""JSON files: laws of e-Gov, and question-answering sets (multi-hop questions, SQuAD, AVeriTeC)."""

import json
from collections.abc import Iterator
from typing import Any

from localrag.corpus.readers.averitec import claim_documents, is_claim
from localrag.corpus.readers.bounds import JSON, check_memory
from localrag.corpus.readers.egov_json import is_law, read_laws
from localrag.corpus.readers.records import (
    new_contexts,
    paragraph_document,
    record_document,
    squad_document,
)
from localrag.corpus.readers.triples import Placed, triple, triple_documents
from localrag.corpus.readers.types import Limits, Mark, Omission, ReadFailure
from localrag.corpus.readers.wikipedia_dumps import read_api
from localrag.corpus.types import Document, Triple
from localrag.errors import InputError
from localrag.language import N_

_SHAPES = InputError(
    N_("The JSON has none of the forms that are read."),
    N_(
        "These are read: laws of e-Gov's API, lists of {id, title, text}, and the files of "
        "MuSiQue, HotpotQA, SQuAD, JEMHopQA and AVeriTeC. Write other data as JSONL of {id, "
        "title, text}."
    ),
)


def read_json(
    name: str,
    data: bytes,
    limits: Limits,
) -> Iterator[Document | ReadFailure | Omission]:
    """Read the documents of a JSON file; what stands with a set's questions only once each.

    Of MuSiQue and HotpotQA these are the paragraphs, of JEMHopQA the triples of the derivations, of
    AVeriTeC the answers: a corpus made of them holds what is asked for.

    Ids are ``<file name>:<n>``, counted from 1 over the documents, unless a record has its own.

    Raises:
        InputError: the file is not JSON, or of a form that is not known.
    """
    check_memory(data, JSON, limits)
    value = _load(data)
    if is_law(value):
        yield from read_laws(name, value, data, limits)
    elif isinstance(value, dict) and isinstance(value.get("query"), dict):
        yield from read_api(name, value["query"].get("pages"))
    elif isinstance(value, dict) and isinstance(value.get("data"), list):
        yield from _squad(name, value["data"])
    elif isinstance(value, dict):
        yield from _titled(name, value)
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        if "paragraphs" in value[0] or "context" in value[0]:
            yield from _questions(name, value)
        elif is_claim(value[0]):
            yield from _claims(name, value)
        elif "derivations" in value[0]:
            yield from _derivations(name, value)
        else:
            yield from _records(name, value)
    else:
        raise _SHAPES


def _questions(name: str, records: list[dict[str, Any]]) -> Iterator[Document | ReadFailure]:
    """Yield the paragraphs of a multi-hop set, each title and text once."""
    seen: set[tuple[str, str]] = set()
    for ordinal, record in enumerate(records, start=1):
        try:
            for title, text in new_contexts(record, seen):
                yield paragraph_document(f"{name}:{len(seen)}", name, title, text)
        except InputError as error:
            yield ReadFailure(f"{name}:{ordinal}", error)


def _claims(name: str, records: list[dict[str, Any]]) -> Iterator[Document | ReadFailure]:
    """Yield the answers of the claims of AVeriTeC, those from one page as one document."""
    for ordinal, record in enumerate(records, start=1):
        place = f"{name}:{ordinal}"
        try:
            yield from claim_documents(record, place, name)
        except InputError as error:
            yield ReadFailure(place, error)


def _derivations(name: str, records: list[dict[str, Any]]) -> Iterator[Document | ReadFailure]:
    """Yield the triples that the answers of JEMHopQA follow from, some hundred a document."""
    outcomes = triple_documents(name, _derived(name, records))
    return (outcome for outcome in outcomes if not isinstance(outcome, Mark))


def _derived(name: str, records: list[dict[str, Any]]) -> Iterator[Placed | ReadFailure]:
    seen: set[Triple] = set()
    for ordinal, record in enumerate(records, start=1):
        try:
            for subject, predicate, objects in record["derivations"]:
                values = [objects] if isinstance(objects, str) else objects
                said = triple(subject, predicate, values)
                if said not in seen:
                    seen.add(said)
                    yield Placed(ordinal, ordinal, said)
        except (InputError, AttributeError, KeyError, TypeError, ValueError):
            yield ReadFailure(
                f"{name}:{ordinal}",
                InputError(
                    N_("The question's derivations have not the form of JEMHopQA."),
                    N_("Take the files as they are published."),
                ),
            )


def _records(name: str, records: list[dict[str, Any]]) -> Iterator[Document | ReadFailure]:
    if "text" not in records[0]:
        raise _SHAPES
    for ordinal, record in enumerate(records, start=1):
        place = f"{name}:{ordinal}"
        try:
            yield record_document(record, default_id=place, source=name, kind="multihop")
        except InputError as error:
            yield ReadFailure(place, error)


def _titled(name: str, corpus: dict[str, Any]) -> Iterator[Document | ReadFailure]:
    """Read a corpus written as one object: title to list of sentences."""
    for ordinal, (title, sentences) in enumerate(corpus.items(), start=1):
        if not isinstance(sentences, list) or not all(isinstance(s, str) for s in sentences):
            raise _SHAPES
        try:
            yield paragraph_document(f"{name}:{ordinal}", name, title, "".join(sentences))
        except InputError as error:
            yield ReadFailure(f"{name}:{ordinal}", error)


def _squad(name: str, articles: list[Any]) -> Iterator[Document | ReadFailure]:
    ordinal = 0
    for article in articles:
        try:
            contexts = [(str(article["title"]), str(p["context"])) for p in article["paragraphs"]]
        except (KeyError, TypeError):
            yield ReadFailure(f"{name}:{ordinal + 1}", _SHAPES)
            continue
        for title, context in contexts:
            ordinal += 1
            try:
                yield squad_document(f"{name}:{ordinal}", name, title, context)
            except InputError as error:
                yield ReadFailure(f"{name}:{ordinal}", error)


def _load(data: bytes) -> Any:
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        raise InputError(
            N_("The JSON is damaged in line {line} ({problem})."),
            N_("Check whether the file is complete; JSON Lines belong in a file named .jsonl."),
            line=error.lineno,
            problem=error.msg,
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(
            N_("The JSON is not valid UTF-8 at byte {byte}."),
            N_("Save the file as UTF-8."),
            byte=error.start,
        ) from error
    except RecursionError as error:
        raise InputError(
            N_("The JSON is nested too deeply."),
            N_("Check where it came from."),
        ) from error

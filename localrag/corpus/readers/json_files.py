"""JSON files and JSON Lines: records, laws, question sets, claims.

Answers of one claim of AVeriTeC (MichSchli/AVeriTeC) from one page form a document. Its knowledge
store (shared tasks of FEVER) has one file per claim, named by its number. There each line is a
page: ``claim_id``, ``url`` and ``url2text``, the sentences.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import PurePosixPath
from typing import Any

from localrag.corpus.readers.bounds import JSON, check_memory, complete, json_object, parsed_json
from localrag.corpus.readers.prose import prose
from localrag.corpus.readers.statutes_json import is_law, read_law, read_laws, statute_document
from localrag.corpus.readers.text import drop_controls, one_line, string
from localrag.corpus.readers.triples import Placed, triple, triple_documents
from localrag.corpus.readers.types import (
    Limits,
    LineBlock,
    NumberedLine,
    Omission,
    ReadFailure,
    ResumePoint,
    one_by_one,
)
from localrag.corpus.readers.wikipedia import extract_document, is_extract, read_api
from localrag.corpus.types import Document, Triple
from localrag.errors import InputError
from localrag.language import N_

_SHAPE = InputError(
    N_("The claim's questions have not the form of AVeriTeC."),
    N_("Take the files as they are published."),
)
# The answer type for a question without an answer.
_NONE = "Unanswerable"
_NO_ADDRESS = "no address given"


def is_claim(record: Mapping[str, Any]) -> bool:
    """Whether a record is a claim with its questions."""
    return "claim" in record and isinstance(record.get("questions"), list)


def claim_questions(record: Mapping[str, Any]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """The questions of a claim with their answers; another shape is an InputError."""
    found = []
    for one in map(_mapping, record["questions"]):
        answers = one.get("answers")
        if not isinstance(answers, list):
            raise _SHAPE
        found.append((_string(one.get("question")), [_mapping(answer) for answer in answers]))
    return found


def answer_text(answer: Mapping[str, Any]) -> str:
    """An answer, with the explanation of a yes or no."""
    given = answer.get("answer"), answer.get("boolean_explanation") or ""
    text, explained = (drop_controls(_string(one)).strip() for one in given)
    return f"{text}. {explained}" if text and explained else text


def evidence_pages(record: Mapping[str, Any]) -> dict[str, str]:
    """The answers of a claim by the address of their page, without unanswerable ones."""
    pages: dict[str, dict[str, None]] = {}
    for _question, answers in claim_questions(record):
        for answer in answers:
            text = answer_text(answer)
            if text and answer.get("answer_type") != _NONE:
                url = " ".join(drop_controls(_string(answer.get("source_url") or "")).split())
                pages.setdefault(url or _NO_ADDRESS, {})[text] = None
    return {url: "\n".join(texts) for url, texts in pages.items()}


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _SHAPE
    return value


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise _SHAPE
    return value


def claim_documents(record: Mapping[str, Any], place: str, source: str) -> Iterator[Document]:
    """Make the documents for the answers of one claim."""
    for ordinal, (url, text) in enumerate(evidence_pages(record).items(), start=1):
        id_ = f"{place}:{ordinal}"
        yield prose(id_=id_, title=url, kind="averitec", text=text, source=source)


CLAIM_OF = "claim_id"
"""Metadata key: the claim of a page in the knowledge store."""

STORE = "averitec-store"
"""The kind of these documents."""

_EMPTY = N_("pages of the knowledge store without text")


def holds_store(line: bytes) -> bool:
    """Whether a line looks like a page of the knowledge store."""
    # Quotes inside a text are escaped.
    return b'"url2text"' in line and b'"url"' in line


def read_store(
    name: str, lines: Iterable[NumberedLine], limits: Limits
) -> Iterator[Document | ReadFailure | Omission | ResumePoint]:
    """Read one page from every line of a knowledge store."""
    claim = PurePosixPath(name).name.partition(".")[0]
    for number, line in lines:
        place = f"{name}:{number}"
        try:
            if line is None or line.strip():
                page = json_object(complete(line, limits))
                yield _page(page, claim, place, name) or Omission(_EMPTY)
        except InputError as error:
            yield ReadFailure(place, error)
        yield ResumePoint(number)


def _page(page: Mapping[str, Any], claim: str, place: str, source: str) -> Document | None:
    match page.get("url2text"):
        case list() as sentences if all(isinstance(one, str) for one in sentences):
            pass
        case _:
            raise InputError(
                N_("The line has no list of sentences in the field 'url2text'."),
                N_("Take the files as they are published."),
            )
    text = "\n".join(one for each in sentences if (one := drop_controls(each).strip()))
    if not text:
        return None
    url = one_line(string(dict(page), "url"))
    own = one_line(string(dict(page), CLAIM_OF)) or claim
    return prose(
        id_=place,
        title=url or place,
        kind=STORE,
        text=text,
        source=source,
        metadata={CLAIM_OF: own, "url": url},
    )


def read_jsonl(
    name: str, lines: Iterable[NumberedLine], limits: Limits
) -> Iterator[Document | ReadFailure | ResumePoint]:
    """Read a document, or the paragraphs of a question, from every line."""
    seen: set[tuple[str, str]] = set()
    for number, line in lines:
        place = f"{name}:{number}"
        try:
            if line is None or line.strip():
                record = json_object(complete(line, limits))
                if is_law(record):
                    yield read_law("", record, limits, source=place)
                else:
                    yield from _of_line(record, place, seen)
        except InputError as error:
            yield ReadFailure(place, error)
        if not seen:  # Else a later line is read differently for what stood before it.
            yield ResumePoint(number)


def holds_statutes(line: bytes) -> bool:
    """Whether a line looks like a statute."""
    # In the text of a record quotes are escaped.
    return b'"law_id"' in line and b'"articles"' in line


def cut_statutes(
    name: str, lines: Iterable[NumberedLine], limits: Limits
) -> Iterator[LineBlock | Document | ReadFailure | ResumePoint]:
    """Cut the leading statutes of a file into pieces of about a megabyte."""
    rest = iter(lines)
    piece: list[NumberedLine] = []
    size = 0
    for number, line in rest:
        if line is None or not holds_statutes(line):
            yield from _cut(name, piece)
            yield from read_jsonl(name, chain([(number, line)], rest), limits)
            return
        piece.append((number, line))
        size += len(line)
        if size >= limits.piece_bytes:
            yield from _cut(name, piece)
            piece, size = [], 0
    yield from _cut(name, piece)


def _cut(name: str, piece: Sequence[NumberedLine]) -> Iterator[LineBlock | ResumePoint]:
    if piece:
        yield LineBlock(name, tuple(piece), read_jsonl)
        yield ResumePoint(piece[-1][0])


def _of_line(
    record: dict[str, Any], place: str, seen: set[tuple[str, str]]
) -> Iterator[Document | ReadFailure]:
    if "law_id" in record and "articles" in record:
        yield statute_document(record, place)
    elif is_extract(record):
        yield extract_document(record, place)
    elif is_claim(record):
        yield from claim_documents(record, place, place)
    elif "text" in record:
        yield record_document(record, default_id=place, source=place, kind="jsonl")
    elif "paragraphs" in record or "context" in record:
        for ordinal, context in enumerate(new_contexts(record, seen), start=1):
            yield paragraph_document(f"{place}:{ordinal}", place, *context)
    else:
        raise InputError(
            N_("The line is no document."), N_('Give it the fields "id", "title" and "text".')
        )


# Separates title and text in the contexts of JSQuAD.
_SEPARATOR = " [SEP] "
# Precedes the title of each passage in LongBench.
_PASSAGE_HEAD = re.compile(r"^Passage (\d+):[ \t]*\n", re.MULTILINE)


def record_document(record: dict[str, Any], *, default_id: str, source: str, kind: str) -> Document:
    """Make the document of one `{id, title, text}` record; other strings become metadata."""
    text = string(record, "text")
    if not text.strip():
        raise InputError(N_("The record has no text."), N_('Give it a field "text".'))
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
    """Yield title and text of a question's paragraphs; another shape is an InputError."""
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
    """Yield title and text of the passages of LongBench, numbered from 1."""
    heads: list[re.Match[str]] = []
    for head in _PASSAGE_HEAD.finditer(context):
        # A line inside a passage may look like the next heading.
        if head[1] == str(len(heads) + 1):
            heads.append(head)
    if not heads:
        raise ValueError("no numbered passage")
    ends = [*(head.start() for head in heads[1:]), len(context)]
    for head, end in zip(heads, ends, strict=True):
        title, _, text = context[head.end() : end].partition("\n")
        yield title.strip(), text.strip()


def new_contexts(record: dict[str, Any], seen: set[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the contexts of a question not yet in `seen`, and add them to it."""
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


_SHAPES = InputError(
    N_("The JSON has an unknown form."),
    N_(
        "These are read: laws of e-Gov's API, lists of {id, title, text}, and the files of "
        "MuSiQue, HotpotQA, SQuAD, JEMHopQA and AVeriTeC. Write other data as JSONL of {id, "
        "title, text}."
    ),
)


def read_json(
    name: str, data: bytes, limits: Limits
) -> Iterator[Document | ReadFailure | Omission]:
    """Read the documents of a JSON file, with ids ``<file name>:<n>``, from 1, or their own.

    Texts shared by questions are read only once.
    """
    check_memory(data, JSON, limits)
    value = parsed_json(data, _damaged)
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
            yield from one_by_one(
                name, value, lambda claim, place: claim_documents(claim, place, name)
            )
        elif "derivations" in value[0]:
            yield from _derivations(name, value)
        else:
            yield from _records(name, value)
    else:
        raise _SHAPES


def _questions(name: str, records: list[dict[str, Any]]) -> Iterator[Document | ReadFailure]:
    """Yield the paragraphs of a multi-hop set, each title and text once."""
    seen: set[tuple[str, str]] = set()

    def paragraphs(record: dict[str, Any], _: str) -> Iterator[Document]:
        for title, text in new_contexts(record, seen):
            yield paragraph_document(f"{name}:{len(seen)}", name, title, text)

    return one_by_one(name, records, paragraphs)


def _derivations(name: str, records: list[dict[str, Any]]) -> Iterator[Document | ReadFailure]:
    outcomes = triple_documents(name, _derived(name, records))
    return (outcome for outcome in outcomes if not isinstance(outcome, ResumePoint))


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

    def document(record: dict[str, Any], place: str) -> Iterator[Document]:
        yield record_document(record, default_id=place, source=name, kind="multihop")

    return one_by_one(name, records, document)


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


def _damaged(error: json.JSONDecodeError) -> InputError:
    return InputError(
        N_("The JSON is damaged in line {line} ({problem})."),
        N_("Check whether the file is complete; JSON Lines belong in a file named .jsonl."),
        line=error.lineno,
        problem=error.msg,
    )

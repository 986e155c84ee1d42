"""The claims of AVeriTeC: what their answers say, as documents.

A claim (MichSchli/AVeriTeC) has ``claim``, ``label`` and ``questions``: each with ``question`` and
``answers``, these with ``answer``, ``answer_type``, ``boolean_explanation`` and ``source_url``. The
answers of one claim that were taken from one page are a document: a corpus made of them holds the
evidence, and little else.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from localrag.corpus.readers.prose import prose
from localrag.corpus.readers.text import complete, drop_controls, json_object, one_line, string
from localrag.corpus.readers.types import Limits, Mark, NumberedLine, Omission, ReadFailure
from localrag.corpus.types import Document
from localrag.errors import InputError
from localrag.language import N_

_SHAPE = InputError(
    N_("The claim's questions have not the form of AVeriTeC."),
    N_("Take the files as they are published."),
)
# What the type of an answer says that there is none.
_NONE = "Unanswerable"
_NO_ADDRESS = "no address given"


def is_claim(record: Mapping[str, Any]) -> bool:
    """Whether a record is a claim with its questions."""
    return "claim" in record and isinstance(record.get("questions"), list)


def claim_questions(record: Mapping[str, Any]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """The questions of a claim, each with its answers.

    Raises:
        InputError: the claim has another shape.
    """
    found = []
    for one in map(_mapping, record["questions"]):
        answers = one.get("answers")
        if not isinstance(answers, list):
            raise _SHAPE
        found.append((_string(one.get("question")), [_mapping(answer) for answer in answers]))
    return found


def answer_text(answer: Mapping[str, Any]) -> str:
    """What an answer says, with the explanation of a yes or no.

    Raises:
        InputError: it has another shape.
    """
    given = answer.get("answer"), answer.get("boolean_explanation") or ""
    text, explained = (drop_controls(_string(one)).strip() for one in given)
    return f"{text}. {explained}" if text and explained else text


def evidence_pages(record: Mapping[str, Any]) -> dict[str, str]:
    """The answers of a claim by the address of the page that they were taken from.

    Those to one page stand together, a line each; those without an address too, under words that
    say so. An answer that says that there is none is left out.

    Raises:
        InputError: the claim has another shape.
    """
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
    """Make the documents of the answers of one claim.

    Raises:
        InputError: the claim has another shape.
    """
    for ordinal, (url, text) in enumerate(evidence_pages(record).items(), start=1):
        id_ = f"{place}:{ordinal}"
        yield prose(id_=id_, title=url, kind="averitec", text=text, source=source)


CLAIM_OF = "claim_id"
"""The metadata of a page of the knowledge store that says for which claim it was scraped."""

STORE = "averitec-store"
"""The kind of these documents."""

_EMPTY = N_("pages of the knowledge store without text")


def holds_store(line: bytes) -> bool:
    """Whether a line is a page of the knowledge store, as far as its fields tell."""
    # In the text of a record quotes are escaped.
    return b'"url2text"' in line and b'"url"' in line


def read_store(
    name: str, lines: Iterable[NumberedLine], limits: Limits
) -> Iterator[Document | ReadFailure | Omission | Mark]:
    """Read a page from every line of a file of the knowledge store.

    Args:
        name: of the file, for messages and ids; its stem is the number of the claim where a line
            does not say it.
        lines: of the file.
        limits: bounds of a line.
    """
    claim = PurePosixPath(name).name.partition(".")[0]
    for number, line in lines:
        place = f"{name}:{number}"
        try:
            if line is None or line.strip():
                page = json_object(complete(line, limits))
                yield _page(page, claim, place, name) or Omission(_EMPTY)
        except InputError as error:
            yield ReadFailure(place, error)
        yield Mark(number)


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

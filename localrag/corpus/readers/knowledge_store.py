"""The knowledge store of AVeriTeC: pages scraped for each claim, sentence by sentence.

As the shared tasks of FEVER publish it: a file for each claim, called by its number (``0.json``),
with a JSON object a line: ``claim_id``, ``url``, ``url2text`` (the sentences of the page). A page
becomes a document, whose metadata say which claim it was scraped for. Lines are read one by one,
however many sentences a claim has.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from localrag.corpus.readers.jsonl import complete, json_object
from localrag.corpus.readers.prose import prose
from localrag.corpus.readers.records import one_line, string
from localrag.corpus.readers.text import drop_controls
from localrag.corpus.readers.types import Limits, Mark, NumberedLine, Omission, ReadFailure
from localrag.corpus.types import Document
from localrag.errors import InputError
from localrag.language import N_

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

"""Gold passages that a corpus lacks, as documents of their own.

A file of excerpts holds a JSON object a line: ``law_id`` (null for what is no statute),
``law_title``, ``article`` and ``text``. Laws in a newer state than that of the corpus are one
reason for them, guidelines another.
"""

import json
from collections.abc import Iterator

from localrag.corpus.types import Locator
from localrag.errors import InputError
from localrag.evaluation.datasets.readers.entries import Fields, entries, required, text
from localrag.evaluation.recall import JOINT, LAW_ID
from localrag.statutes.notation import cite


def as_documents(name: str, content: bytes) -> str:
    """The excerpts of a file as documents ``{id, title, text}``, a JSON object a line.

    Args:
        name: of the file, for messages.
        content: the whole file.

    Raises:
        InputError: an entry is no excerpt; names the first such line.
    """
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in _documents(name, content))


def law_of(document_id: str, title: str) -> tuple[str, str] | None:
    """The id and the title of the law that a document is an excerpt of; None if it is of none."""
    law_id, *rest = document_id.rsplit(JOINT, 2)
    if len(rest) != 2 or not rest[1].isdecimal() or not LAW_ID.fullmatch(law_id):
        return None
    return law_id, title.removesuffix(cite("", Locator(article=rest[0])))


def _documents(name: str, content: bytes) -> Iterator[dict[str, str]]:
    for number, (where, entry) in enumerate(entries(name, content)):
        try:
            if isinstance(entry, InputError):
                raise entry
            yield _document(number, entry)
        except InputError as defect:
            raise InputError(f"{name}, {where}: {defect.cause}", defect.cure) from defect


def _document(number: int, entry: Fields) -> dict[str, str]:
    law_id, title = text(entry, "law_id"), required(entry, "law_title")
    article, content = text(entry, "article"), required(entry, "text")
    place = cite(title, Locator(article=article)) if law_id else f"{title} {article}".strip()
    return {
        "id": JOINT.join((law_id or title, article, str(number))),
        "title": place,
        "text": content,
    }

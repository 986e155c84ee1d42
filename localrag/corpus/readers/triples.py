"""Documents of triples: some hundred that follow each other in a file, or those on one entity."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from localrag.corpus.readers.records import one_line
from localrag.corpus.readers.text import bounded, drop_controls
from localrag.corpus.readers.types import Mark, ReadFailure
from localrag.corpus.types import TRIPLES, Document, Locator, Passage, Triple
from localrag.errors import InputError
from localrag.language import N_, _

KIND = "triples"

# Few enough to be read at a glance and replaced at little cost, enough that rows of documents
# weigh nothing. One with many triples on its last subject may hold twice as many.
_MANY = 300


class Placed(NamedTuple):
    """A triple, and the first and the last line of the file that it comes from."""

    first: int
    last: int
    triple: Triple


def triple(
    subject: str, predicate: str, objects: Iterable[str], source: str = "", date: str = ""
) -> Triple:
    """Make a triple of what a file says, without control characters and line breaks.

    Raises:
        InputError: a part is empty, or holds half of a surrogate pair; subject or predicate are
            too long.
    """
    subject, predicate, source, date = map(_clean, (subject, predicate, source, date))
    values = tuple(dict.fromkeys(value for value in map(_clean, objects) if value))
    for what, part in (
        (N_("subject"), subject),
        (N_("predicate"), predicate),
        (N_("object"), values),
    ):
        if not part:
            raise InputError(
                N_("The triple has no {what}."),
                N_("Give it subject, predicate, object."),
                what=_(what),
            )
    try:
        "".join((subject, predicate, *values, source, date)).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            N_("The text holds half of a surrogate pair."),
            N_("Save it as valid Unicode."),
        ) from error
    return Triple(
        bounded(N_("subject"), subject), bounded(N_("predicate"), predicate), values, source, date
    )


def sets(placed: Iterable[Placed | ReadFailure]) -> Iterator[Placed | ReadFailure]:
    """Make one triple of those that follow each other and differ in their objects alone."""
    for key, run in groupby(placed, key=_statement):
        if key is None:
            yield from run
            continue
        members = [member for member in run if isinstance(member, Placed)]
        objects = dict.fromkeys(of for member in members for of in member.triple.objects)
        whole = members[0].triple
        together = Triple(whole.subject, whole.predicate, tuple(objects), whole.source, whole.date)
        yield Placed(members[0].first, members[-1].last, together)


def triple_documents(
    name: str, placed: Iterable[Placed | ReadFailure]
) -> Iterator[Document | ReadFailure | Mark]:
    """Yield documents of some hundred triples each, named after the first of their lines.

    What is known of a subject and stands together stays together.
    """
    some: list[Placed] = []
    for one in placed:
        if isinstance(one, ReadFailure):
            yield one
            continue
        parted = not some or some[-1].triple.subject != one.triple.subject
        if len(some) >= (_MANY if parted else 2 * _MANY):
            yield from _document(name, some)
            some = []
        some.append(one)
    if some:
        yield from _document(name, some)


def triples_document(
    id_: str,
    title: str,
    kind: str,
    source: str,
    triples: Sequence[Triple],
    metadata: Mapping[str, str] | None = None,
) -> Document:
    """Make a document that says one triple a line.

    Raises:
        InputError: the id is too long.
    """
    bounded(N_("id"), id_)
    text, passages = triple_passages(id_, triples)
    return Document(id_, title, kind, text, source, passages, metadata=dict(metadata or {}))


def triple_passages(
    document_id: str, triples: Sequence[Triple], *, start: int = 0, section: str = ""
) -> tuple[str, tuple[Passage, ...]]:
    """Write triples as the lines of a document.

    Args:
        document_id: of the document they are part of.
        triples: in reading order.
        start: where their text begins in the document, in characters.
        section: of the document that they are; it stands in the ids of the passages too.

    Returns:
        The text, each line with its line break, and a passage for each line.
    """
    lines: list[str] = []
    passages = []
    for ordinal, said in enumerate(triples, start=1):
        line = said.text
        passages.append(
            Passage(
                id=f"{document_id}#{section}{'.' if section else ''}{ordinal}",
                document_id=document_id,
                layer=TRIPLES,
                text=line,
                header=said.subject,
                locator=Locator(section=section),
                start=start,
                end=start + len(line),
                triple=said,
            )
        )
        lines.append(f"{line}\n")
        start += len(line) + 1
    return "".join(lines), tuple(passages)


def _document(name: str, some: Sequence[Placed]) -> Iterator[Document | Mark]:
    triples = [one.triple for one in some]
    place = f"{name}:{some[0].first}"
    title = " – ".join(dict.fromkeys((triples[0].subject, triples[-1].subject)))
    yield triples_document(place, title, KIND, place, triples)
    yield Mark(some[-1].last)


def _statement(one: Placed | ReadFailure) -> tuple[str, str, str, str] | None:
    if isinstance(one, ReadFailure):
        return None
    return one.triple.subject, one.triple.predicate, one.triple.source, one.triple.date


def _clean(part: str) -> str:
    return part.strip() if part.isprintable() else one_line(drop_controls(part))

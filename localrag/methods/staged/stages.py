"""One query of `staged`: its triple, and its way through the stages.

What a stage does not find passes on to the next. Code compares the triple of a model with the cited
text.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, create_model

from localrag.answer.evidence import NumberedPassage, element
from localrag.answer.pieces import pieces_of
from localrag.answer.types import Citation, Stage
from localrag.corpus.rows import FoldedText, bare, fold, stands_alone, words_of
from localrag.corpus.types import ARTICLES, PASSAGES, TRIPLES, Passage, Triple
from localrag.methods.extractive import EVIDENCE
from localrag.methods.toolkit import Toolkit
from localrag.search import MAX_CHARACTERS
from localrag.search.types import Hit, Query
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis.normalize import NUMERAL_CHARACTERS, normalize, without_blanks
from localrag_models.chat import Message

LONGEST_OBJECT = 100
"""Characters of an object, and of an answer, that a model writes, at most."""

_REFERENCE = re.compile(r"(?<![a-z0-9_])answer[ _]?([0-9]{1,9})(?![a-z0-9_])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SubQuery:
    """A query with a single answer."""

    number: int  # from 1
    text: str  # in words
    subject: str  # subject, predicate: of the triple that answers it; "" if the model named none
    predicate: str

    @property
    def label(self) -> str:
        """Its name in the trace: "query 1"."""
        return label_of(self.number)

    @property
    def references(self) -> tuple[int, ...]:
        """The numbers of the queries whose answers it contains (``Answer1``), in order."""
        written = " ".join((self.text, self.subject, self.predicate))
        return tuple(dict.fromkeys(int(number) for number in _REFERENCE.findall(written)))

    def filled(self, answers: Mapping[int, str]) -> "SubQuery":
        """The query with the answers of its references; there is one for each."""
        parts = (self.text, self.subject, self.predicate)
        return SubQuery(self.number, *(filled(part, answers) for part in parts))


def label_of(number: int) -> str:
    """The name of a query in the trace."""
    return f"query {number}"


def filled(text: str, answers: Mapping[int, str]) -> str:
    """A text with the answers of its references, as far as there are some."""
    return _REFERENCE.sub(lambda found: answers.get(int(found[1]), found[0]), text)


@dataclass(frozen=True, slots=True)
class FoundTriple:
    """A triple found by a stage for a query."""

    triple: Triple
    answer: str  # for later queries: of several objects, the meant one
    citation: Citation | None = None  # checked by code; None if the model remembers the triple
    other: str | None = None  # the subject of the citation, if it is not the one asked for


@dataclass(frozen=True, slots=True)
class AskedQuery:
    """A query and its result."""

    query: SubQuery  # with the answers of earlier queries, if it was asked
    tried: tuple[Stage, ...] = ()  # the stages it was asked of, in order
    reading: FoundTriple | None = None  # the triple of the last of them; None if no stage found one

    @property
    def stage(self) -> Stage | None:
        """The stage of the triple."""
        return self.tried[-1] if self.reading else None


_NOT_FOUND = re.compile(r"\s*not[ _]?found\s*", re.IGNORECASE)

_FIGURE = f"[0-9{NUMERAL_CHARACTERS}]"
_STARTS_FIGURE = rf"(?<!{_FIGURE})(?<!{_FIGURE}[.,])"
_ENDS_FIGURE = rf"(?!{_FIGURE}|[.,]{_FIGURE})"

_Written = Annotated[str, Field(max_length=LONGEST_OBJECT)]


class WrittenTriple(BaseModel):
    """A triple in the words of a model."""

    subject: _Written
    predicate: _Written
    object: _Written

    def read(self, query: SubQuery) -> Triple | None:
        """The triple, blanks filled from the query; None without an object."""
        if not is_found(self.object):
            return None
        subject, predicate = self.subject.strip(), self.predicate.strip()
        return Triple(
            subject or query.subject, predicate or query.predicate, (self.object.strip(),)
        )


def is_not_found(written: str) -> bool:
    """Whether a model wrote NOTFOUND."""
    return _NOT_FOUND.fullmatch(written) is not None


def is_found(written: str) -> bool:
    """Whether an object has a word and is not NOTFOUND."""
    return any(map(str.isalnum, written)) and not is_not_found(written)


def as_written(name: str, text: str) -> str:
    """A name as a text writes it, or without its disambiguator; "" if it is not there."""
    folded, whole = FoldedText(text), fold(name)
    for wanted in filter(None, (whole, bare(whole))):
        start = folded.folded.find(wanted)
        if start >= 0:
            first, last = folded.span(start, start + len(wanted))
            return text[first:last]
    return ""


def is_same(name: str, other: str) -> bool:
    """Whether two names are spellings of one; one of them may have a disambiguator."""
    one, two = fold(name), fold(other)
    return one == two or bare(one) == two or one == bare(two)


def names(text: str, name: str) -> bool:
    """Whether a text has a name, with or without its disambiguator.

    A piece of another name does not count: neither "東京都" nor "京都2" names "京都".
    """
    if not any(map(str.isalnum, name)):
        return False
    normal, whole = normalize(text), fold(name)
    folded, words = FoldedText(normal), words_of(normal)
    return any(
        folded.begins(found.start())
        and folded.ends(found.end())
        and stands_alone(normal, *folded.span(*found.span()), words)
        for wanted in filter(None, (whole, bare(whole)))
        for found in re.finditer(re.escape(wanted), folded.folded)
    )


def holds(text: str, part: str) -> bool:
    """Whether a text has a part, in any width and case, with any blanks, but no word or number cut.

    "12日" is in "５月 12日", not in "112日". "5" is not in "3.5", "京都" not in "東京都".
    """
    letters = without_blanks(part)
    if not letters:
        return False
    pattern = r"\s*".join(map(re.escape, letters))
    if re.match(_FIGURE, letters):
        pattern = _STARTS_FIGURE + pattern
    if re.match(_FIGURE, letters[-1]):
        pattern += _ENDS_FIGURE
    normal = normalize(text)
    spans = [found.span() for found in re.finditer(pattern, normal)]
    if (0, len(normal)) in spans:
        return True
    words = words_of(normal) if spans else None
    return words is not None and any(
        start in words.starting and end in words.ending for start, end in spans
    )


FOUND, SHOWN = 30, 10
"""Hits of a search, and those that a model reads after reranking."""

_LAYERS = {Stage.KNOWLEDGE: (TRIPLES,), Stage.DOCUMENTS: (PASSAGES, ARTICLES)}
# Why a model has nothing to read: filters admit no layer, nothing is found, nothing fits.
_NOTHING = {
    Stage.KNOWLEDGE: (
        FactKind.TRIPLES_KEPT_OUT,
        FactKind.NO_TRIPLES_FOUND,
        FactKind.NO_TRIPLES_FIT,
    ),
    Stage.DOCUMENTS: (
        FactKind.DOCUMENTS_KEPT_OUT,
        FactKind.NO_DOCUMENTS_FOUND,
        FactKind.NO_DOCUMENTS_FIT,
    ),
}

Search = Callable[[Query], Sequence[Hit]]


class HitChosen(BaseModel):
    """A reply with the number of a hit; 0 is NOTFOUND."""

    hit: int


Chosen = TypeVar("Chosen", bound=HitChosen)


def read_hits(
    toolkit: Toolkit,
    asked: Query,
    query: SubQuery,
    stage: Stage,
    search: Search,
    shape: type[Chosen],
) -> tuple[Chosen, Sequence[NumberedPassage]] | None:
    """Search, rerank, and have the model choose from the hits fitting its context.

    The `shape` of the reply is bound to the numbers of the hits. None, with an event, if there was
    nothing to read.
    """
    subject = query.label
    kept_out, not_found, not_fitting = _NOTHING[stage]
    layers = _admitted(asked, stage)
    if not layers:
        toolkit.note(EVIDENCE, [Fact(kept_out)], subject=subject)
        return None
    wanted = Query(query.text, filters=replace(asked.filters, layers=layers))
    found = search(wanted)
    if not found:
        toolkit.note(EVIDENCE, [Fact(not_found)], subject=subject)
        return None
    hits = toolkit.rerank(wanted, found, SHOWN, subject=subject)

    def messages(sources: Sequence[NumberedPassage]) -> tuple[Message, ...]:
        parts = (query.text, query.subject, query.predicate)
        return toolkit.prompt(
            f"staged_{stage}",
            asked,
            query=query,
            sources=sources,
            tag=element("text", [*parts, *(source.shown for source in sources)]),
        )

    shown = toolkit.fitting(toolkit.sources(wanted, hits), messages, subject=subject)
    if not shown:
        toolkit.note(EVIDENCE, [Fact(not_fitting)], subject=subject)
        return None
    return toolkit.ask(messages(shown), _bound(shape, len(shown)), f"{stage} {query.number}"), shown


def _admitted(asked: Query, stage: Stage) -> tuple[str, ...]:
    wanted = asked.filters.layers
    if not wanted:
        return _LAYERS[stage]
    return tuple(layer for layer in wanted if (layer == TRIPLES) is (stage is Stage.KNOWLEDGE))


@cache
def _bound(shape: type[Chosen], hits: int) -> type[Chosen]:
    hit: Any = Annotated[int, Field(ge=0, le=hits)]
    return create_model(shape.__name__, __base__=shape, hit=hit)


TRIPLE = "triple"


class _KnownReply(HitChosen):
    object: Annotated[str, Field(max_length=LONGEST_OBJECT)]


def _known(toolkit: Toolkit, asked: Query, query: SubQuery) -> FoundTriple | None:
    """Search the triples by subject and meaning; the model may choose one of the objects found."""
    found = read_hits(
        toolkit,
        asked,
        query,
        Stage.KNOWLEDGE,
        lambda wanted: toolkit.known(
            query.subject, query.predicate, wanted, FOUND, subject=query.label
        ),
        _KnownReply,
    )
    if found is None:
        return None
    reply, shown = found
    if not reply.hit or is_not_found(reply.object):
        return None
    passage = shown[reply.hit - 1].passage
    triple = passage.triple
    assert triple is not None, "the layer of triples holds nothing else"
    answer = _meant(triple, reply.object)
    if not answer and reply.object.strip():
        event = Fact(FactKind.OBJECT_NOT_OF_TRIPLE, object=reply.object)
        toolkit.note(TRIPLE, [event], subject=query.label)
    return FoundTriple(
        triple,
        answer or "、".join(triple.objects),
        toolkit.citation(passage, triple.text),
        None if _is_about(toolkit, query, triple) else triple.subject,
    )


def _is_about(toolkit: Toolkit, query: SubQuery, triple: Triple) -> bool:
    if not query.subject:
        return names(query.text, triple.subject)
    with toolkit.store() as store:
        return store.knowledge.surely(query.subject, triple.subject)


def _meant(triple: Triple, named: str) -> str:
    """The object named by the model, or a part of one; "" for other words."""
    holding = [one for one in triple.objects if holds(one, named)]
    same = [one for one in holding if holds(named, one)]
    return (same or [named.strip()])[0] if holding else ""


class _DocumentReply(HitChosen):
    triple: WrittenTriple | None


def _documented(toolkit: Toolkit, asked: Query, query: SubQuery) -> FoundTriple | None:
    """Search the documents; the model writes a triple and cites the sentence with its object."""
    found = read_hits(
        toolkit,
        asked,
        query,
        Stage.DOCUMENTS,
        lambda wanted: toolkit.search(wanted, FOUND, words=True, meaning=True, subject=query.label),
        _DocumentReply,
    )
    if found is None:
        return None
    reply, shown = found
    triple = reply.triple.read(query) if reply.hit and reply.triple else None
    if triple is None:
        return None
    (answer,) = triple.objects
    passage = shown[reply.hit - 1].passage
    return FoundTriple(
        triple, answer, _cited(toolkit, passage, answer), _other(query, triple, passage)
    )


def _other(query: SubQuery, triple: Triple, passage: Passage) -> str | None:
    """The subject that the passage is about instead; None if it is the right one."""
    meant = (
        is_same(triple.subject, query.subject)
        if query.subject
        else names(query.text, triple.subject)
    )
    if not meant:
        return triple.subject or passage.header
    named = any(names(text, triple.subject) for text in (passage.header, passage.text))
    return None if named else passage.header


def _cited(toolkit: Toolkit, passage: Passage, answer: str) -> Citation:
    if not holds(passage.text, answer):
        problem = Fact(FactKind.OBJECT_NOT_HELD)
        return Citation(passage.id, answer, label=passage.header, problem=problem)
    with toolkit.store() as store:
        pieces = pieces_of(store, passage)
    # An object across two sentences is quoted by itself.
    quote = next((piece.text for piece in pieces if holds(piece.text, answer)), answer)
    return toolkit.citation(passage, quote)


class _RememberedReply(BaseModel):
    triple: WrittenTriple | None


def _remembered(toolkit: Toolkit, asked: Query, query: SubQuery) -> FoundTriple | None:
    """Have the model write the triple from memory; raises as `Toolkit.ask`."""
    messages = toolkit.prompt(
        f"staged_{Stage.MODEL}",
        asked,
        query=query,
        tag=element("text", [query.text, query.subject, query.predicate]),
    )
    reply = toolkit.ask(messages, _RememberedReply, f"{Stage.MODEL} {query.number}")
    triple = reply.triple.read(query) if reply.triple else None
    return FoundTriple(triple, triple.objects[0]) if triple else None


ASK = "ask"

_READERS = {
    Stage.KNOWLEDGE: _known,
    Stage.DOCUMENTS: _documented,
    Stage.MODEL: _remembered,
}


def ask(
    toolkit: Toolkit,
    asked: Query,
    stages: Sequence[Stage],
    query: SubQuery,
    answers: Mapping[int, str],
) -> AskedQuery:
    """Ask the stages in their order until one finds a triple; `answers` by number of query."""
    for number in query.references:
        if number not in answers:
            is_before = 0 < number < query.number
            kind = FactKind.ANSWER_MISSING if is_before else FactKind.REFERS_AHEAD
            toolkit.note(ASK, [Fact(kind, n=number)], subject=query.label)
            return AskedQuery(query)
    whole = query.filled(answers)
    if not any(character.isalnum() for character in whole.text):
        toolkit.note(ASK, [Fact(FactKind.WORDLESS)], subject=query.label)
        return AskedQuery(whole)
    if len(whole.text) > MAX_CHARACTERS:
        event = Fact(FactKind.TOO_LONG, n=len(whole.text), most=MAX_CHARACTERS)
        toolkit.note(ASK, [event], subject=query.label)
        return AskedQuery(query)
    for place, stage in enumerate(stages, 1):
        reading = _READERS[stage](toolkit, asked, whole)
        if reading is not None:
            return AskedQuery(whole, tuple(stages[:place]), reading)
    return AskedQuery(whole, tuple(stages))

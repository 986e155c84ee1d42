"""Answers: what they are made of, the check of their quotes, following how one is made."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from localrag.corpus.types import (
    ITEMS,
    PARAGRAPHS,
    PASSAGES,
    Passage,
    Triple,
    page_starts,
    pages_of,
    with_pages,
)
from localrag.errors import ModelUnusable
from localrag.search.types import StageRecord, Trace
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis.normalize import compact, normalize_with_offsets, original_span

if TYPE_CHECKING:
    # The first paint of the workbench needs answers, and no store.
    from localrag.corpus.store import CorpusStore


class Status(StrEnum):
    """How far an answer is carried by its citations.

    SUPPORTED: it makes claims, and code has checked every one against what it cites.
    QUOTED: it is quotations that come nearest to the question; whether they answer it is not said.
    UNSUPPORTED: it makes a claim that its citations do not carry.
    NOT_FOUND: nothing comes near enough to be shown.
    """

    SUPPORTED = "supported"
    QUOTED = "quoted"
    UNSUPPORTED = "unsupported"
    NOT_FOUND = "not_found"


class MismatchKind(StrEnum):
    """What of a claim its sentences do not say.

    The last five are of a claim as a whole: its sentences speak of other things (WORDS), or of
    something else than the question (SUBJECT), it is not the kind of answer asked for (ANSWER), it
    only repeats the question (REPEATS), or the model itself does not find it in them when it reads
    them again (READING).
    """

    FIGURE = "figure"
    DATE = "date"
    PERIOD = "period"
    SHARE = "share"
    AMOUNT = "amount"
    PROVISION = "provision"
    NAME = "name"
    COUNTERPART = "counterpart"
    ROLE = "role"
    NEGATION = "negation"
    EXCEPTION = "exception"
    BOUND = "bound"
    MODALITY = "modality"
    WORDS = "words"
    SUBJECT = "subject"
    ANSWER = "answer"
    REPEATS = "repeats"
    READING = "reading"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Something that a claim says and its sentences do not.

    Attributes:
        kind: what it is.
        written: the words of the claim, verbatim.
    """

    kind: MismatchKind
    written: str


@dataclass(frozen=True, slots=True)
class Citation:
    """A verbatim quote and where it stands; it counts only once the verifier has found it.

    Attributes:
        passage_id: the passage quoted from.
        quote: verbatim text of the document.
        start, end: span of the quote in the document text; -1 before verification.
        label: the place in words, for people ("金融商品取引法 第二十七条の三十六 第一項 第二号").
        state: the day whose wording of the law this is, "2015-12-27"; "" for other documents.
        followed: the day from which the corpus has another wording of this law; "" for none.
        not_yet: whether that wording is not in force on the day whose law was asked for.
        before_first: whether the law had another wording on that day, which the corpus lacks.
        beside: whether it is of another law than those the question names: it answers nothing.
        confidence: how sure OCR is of the characters of its page, from 0 to 1; None where the file
            itself has the text.
        changes: the label of a provision quoted before it that it has read or applied otherwise
            for the time being (当分の間); "" where it was not added for that.
        page, last_page: the pages of the document that the quote is on; 0 where it has none.
        verified: whether the quote was found in the passage by code.
        problem: why it was rejected; None when verified.
    """

    passage_id: str
    quote: str
    start: int = -1
    end: int = -1
    label: str = ""
    state: str = ""
    followed: str = ""
    not_yet: bool = False
    before_first: bool = False
    beside: bool = False
    confidence: float | None = None
    changes: str = ""
    page: int = 0
    last_page: int = 0
    verified: bool = False
    problem: Fact | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of an answer that a model wrote.

    Attributes:
        text: the statement.
        citations: what it rests on, as numbers from 1 of the answer's citations.
        mismatches: what it says that its citations do not; none where code found it carried.
        moved: whether code cites other sentences than the model did, because these carry it.
    """

    text: str
    citations: tuple[int, ...]
    mismatches: tuple[Mismatch, ...] = ()
    moved: bool = False


class Stage(StrEnum):
    """What a step of a derivation was taken from; settings name them 1, 2 and 3.

    KNOWLEDGE: a triple of the corpus.
    DOCUMENTS: passages of the corpus, of which a model made a triple.
    MODEL: what a model knows by itself; nothing carries it.
    """

    KNOWLEDGE = "knowledge"
    DOCUMENTS = "documents"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a derivation: a query with a single answer.

    Attributes:
        query: in words, with the answers of earlier steps written into it.
        subject, predicate: what was looked for.
        triple: what was found; None for nothing.
        stage: what it was taken from; None where nothing was found.
        citation: the number, from 1, of the citation of the answer that shows it; 0 for none.
        tried: every stage that was asked, in order; the last one is `stage`, unless nothing was
            found.
    """

    query: str
    subject: str
    predicate: str
    triple: Triple | None = None
    stage: Stage | None = None
    citation: int = 0
    tried: tuple[Stage, ...] = ()


@dataclass(frozen=True, slots=True)
class Derivation:
    """How an answer follows from triples.

    Attributes:
        steps: in order.
        computed: what was computed from the objects, a sentence each
            ("1938年11月3日 < 1943年8月1日"); empty where nothing was.
    """

    steps: tuple[Step, ...]
    computed: tuple[str, ...] = ()

    @property
    def triples(self) -> tuple[Triple, ...]:
        """What was found, step by step."""
        return tuple(step.triple for step in self.steps if step.triple is not None)


class Veracity(StrEnum):
    """What evidence says of a claim: the labels of AVeriTeC (Schlichtkrull et al., 2023).

    CONFLICTING: some of it speaks for the claim and some against it, or the claim picks out what
    suits it ("Conflicting Evidence/Cherrypicking").
    """

    SUPPORTED = "supported"
    REFUTED = "refuted"
    NOT_ENOUGH = "not_enough_evidence"
    CONFLICTING = "conflicting_evidence"


class Stance(StrEnum):
    """How a sentence stands to a claim."""

    SUPPORTS = "supports"
    REFUTES = "refutes"


@dataclass(frozen=True, slots=True)
class CheckedEvidence:
    """A sentence that was found for a claim.

    Attributes:
        question: what it was found for.
        citation: its words, put in by code.
        supplement: what a model wrote of the text around it, so that it can be understood; no
            quotation, and never evidence itself. Empty where none was written.
        stance: how it stands to the claim; None where it decides nothing, or was not looked at.
        differs: what of the claim it says otherwise, found by code.
        by_code: whether code found the stance; else a model said so.
    """

    question: str
    citation: Citation
    supplement: str = ""
    stance: Stance | None = None
    differs: tuple[Mismatch, ...] = ()
    by_code: bool = False


@dataclass(frozen=True, slots=True)
class FactCheck:
    """What became of a claim that was checked.

    Attributes:
        veracity: what the evidence says of it.
        questions: that it was split into, as they were searched for.
        evidence: in the order in which a model was shown it.
    """

    veracity: Veracity
    questions: tuple[str, ...] = ()
    evidence: tuple[CheckedEvidence, ...] = ()

    def that(self, stance: Stance) -> tuple[CheckedEvidence, ...]:
        """The sentences that stand to the claim like this."""
        return tuple(one for one in self.evidence if one.stance is stance)


@dataclass(frozen=True, slots=True)
class Nearest:
    """A passage that the search found and that the answer does not quote; it may not answer.

    Attributes:
        passage_id: its id.
        label: its place in words, as for `Citation`.
        beginning: its first words, without line breaks; "…" marks that there are more.
    """

    passage_id: str
    label: str
    beginning: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with what it rests on.

    Attributes:
        text: the answer; for the extractive reader the quotes themselves, in order.
        citations: what the text rests on: best first, or in the order of the claims.
        status: how far the citations carry it.
        trace: how the evidence was found, and the calls of models.
        claims: the statements of a model, or what a method found about each option; none for the
            extractive reader.
        label: the option chosen, "a" for the first; empty where none was asked for.
        doubts: why it is not supported, where there is more to say than that of the quotations.
        derivation: the triples it follows from; None where the way to answer gives none.
        absent: laws that the question names and the corpus lacks, as written; with one of them
            nothing is supported.
        read_as: the question that it answers, where that leant on those before it and was made
            whole; empty where it is as it was asked.
        checked: what became of the claim that was asked about; None where the way to answer checks
            none. The text then says the verdict.
        nearest: what the search found besides, best first; see `localrag.answer.extractive`.
        quotations: what answers the same question without a model, word for word. Only an
            `unsupported` answer that a model wrote has them; no claim rests on them.
    """

    text: str
    citations: tuple[Citation, ...]
    status: Status
    trace: Trace
    claims: tuple[Claim, ...] = ()
    label: str = ""
    doubts: tuple[Fact, ...] = ()
    derivation: Derivation | None = None
    absent: tuple[str, ...] = ()
    read_as: str = ""
    checked: FactCheck | None = None
    nearest: tuple[Nearest, ...] = ()
    quotations: tuple[Citation, ...] = ()

    @property
    def is_concluded(self) -> bool:
        """Whether its text says more than its claims and quotations: what follows from them."""
        return self.derivation is not None or self.checked is not None

    def cited(self, claim: Claim) -> tuple[Citation, ...]:
        """The citations that a claim of it rests on."""
        return tuple(self.citations[number - 1] for number in claim.citations)


class Unanswered(ModelUnusable):
    """A question that a model failed on, with what was done for it until then.

    Attributes:
        trace: the stages and calls so far, the failing one included.
    """

    def __init__(self, error: ModelUnusable, trace: Trace) -> None:
        super().__init__(*error.args, kind=error.kind, transient=error.transient, **error.fields)
        self.trace = trace


def verify(store: "CorpusStore", citation: Citation) -> Citation:
    """The citation as far as the store confirms it.

    The quote must stand in the passage letter by letter. Only line breaks, blanks and the width
    of characters may differ; then the citation returned holds the document's own spelling.

    Returns:
        The citation with its span in the document and `verified`, or with the problem named.
    """
    passage = store.by_id(citation.passage_id)
    if passage is None:
        problem = Fact(FactKind.NO_SUCH_PASSAGE, passage=citation.passage_id)
        return replace(citation, verified=False, problem=problem)
    if not citation.quote.strip():
        return replace(citation, verified=False, problem=Fact(FactKind.QUOTE_EMPTY))
    hint = citation.start - passage.start
    if citation.start >= 0 and passage.text.startswith(citation.quote, max(hint, 0)):
        at = max(hint, 0)
    else:
        at = passage.text.find(citation.quote)
    end = at + len(citation.quote)
    if at < 0:
        at, end = _find_folded(passage.text, citation.quote)
    if at < 0:
        return replace(citation, verified=False, problem=Fact(FactKind.QUOTE_NOT_HELD))
    return replace(
        citation,
        quote=passage.text[at:end],
        start=passage.start + at,
        end=passage.start + end,
        **_pages(store, passage, citation.label, passage.start + at, passage.start + end),
        **_state(store, passage),
        confidence=passage.locator.confidence,
        verified=True,
        problem=None,
    )


def _pages(
    store: "CorpusStore", passage: Passage, label: str, start: int, end: int
) -> dict[str, Any]:
    """The label of a quotation with the pages that it is on, and the pages."""
    label = label or passage.header
    if not passage.locator.page:
        return {"label": label}
    starts = page_starts(store.document(passage.document_id).metadata)
    first, last = pages_of(starts, start, end) if starts else (passage.locator.page,) * 2
    return {
        "label": with_pages(label, first, last, passage.text),
        "page": first,
        "last_page": last,
    }


def _state(store: "CorpusStore", passage: Passage) -> dict[str, Any]:
    """Which wording of a law a passage has, as fields of a citation; none of other documents."""
    if passage.layer == PASSAGES:
        return {}
    document = store.document(passage.document_id)
    if document.kind != "law":
        return {}
    return {
        "state": document.metadata.get("date", ""),
        "followed": document.followed,
        "not_yet": document.not_yet,
        "before_first": document.before_first,
    }


def located(store: "CorpusStore", citation: Citation) -> Citation:
    """The citation with the place of the smallest provision that holds the whole quote."""
    passage = store.by_id(citation.passage_id) if citation.verified else None
    if passage is None or passage.layer == PASSAGES:
        return citation
    for layer in (ITEMS, PARAGRAPHS):
        for inner in store.within(passage.document_id, passage.locator, layer):
            if inner.start <= citation.start and citation.end <= inner.end:
                passage = min(passage, inner, key=lambda one: one.end - one.start)
    return replace(citation, passage_id=passage.id, label=passage.header)


def _find_folded(text: str, quote: str) -> tuple[int, int]:
    """Span in `text` of the quote when blanks and character widths are disregarded, or -1, -1."""
    haystack, places = _folded(text)
    needle, _ = _folded(quote)
    letters = compact(quote)
    at = haystack.find(needle) if needle else -1
    while at >= 0:
        start, end = places[at][0], places[at + len(needle) - 1][1]
        # Folding also evens out case, which a verbatim quote may not change.
        if compact(text[start:end]) == letters:
            return start, end
        at = haystack.find(needle, at + 1)
    return -1, -1


def _folded(text: str) -> tuple[str, list[tuple[int, int]]]:
    normal, offsets = normalize_with_offsets(text)
    kept = [i for i, character in enumerate(normal) if not character.isspace()]
    return (
        "".join(normal[i] for i in kept),
        [original_span(offsets, i, i + 1) for i in kept],
    )


class Cancelled(Exception):  # noqa: N818 - the name says what became of the question
    """Whoever asked does not want the answer any longer."""


class Watch:
    """Follows how an answer is made; whoever wants to hear of it overrides a method.

    Every method is called in the thread that makes the answer. What one raises ends the work and
    passes through.
    """

    def stage(self, record: StageRecord) -> None:
        """Take what a stage of the retrieval did, as soon as it has ended."""

    def near(self, nearest: Sequence[Nearest]) -> None:
        """Take what comes nearest, as soon as a search has ended; it may not answer."""

    def loading(self, model: str, done: int, total: int) -> None:
        """Take how much of a model is loaded: bytes of bytes; total 0 where nobody says."""

    def reading(self, done: int, total: int) -> None:
        """Take how much of a prompt a model has read: tokens of tokens.

        Told with (0, 0) when the model is asked. Servers mostly tell no more.
        """

    def wrote(self, piece: str) -> None:
        """Take a piece of a model's reply, about a token, as it comes."""

    def draft(self, claims: Sequence[str]) -> None:
        """Take the claims as far as a model has written them; nothing in them is checked yet."""

    def cancelled(self) -> bool:
        """Whether the answer is no longer wanted; asked at least once per token."""
        return False

    def require(self) -> None:
        """Go on only where the answer is still wanted.

        Raises:
            Cancelled: it is not.
        """
        if self.cancelled():
            raise Cancelled


UNWATCHED = Watch()
"""The watch of an answer that nobody follows."""


class Drafting:
    """Tells a watch the claims of one reply, as far as they can be read while it is written.

    Args:
        watch: is told each piece, and the claims where a piece changes them.
        claims: reads the claims out of the beginning of a reply.
    """

    def __init__(self, watch: Watch, claims: Callable[[str], Sequence[str]]) -> None:
        self._watch = watch
        self._claims = claims
        self._text = ""
        self._told: Sequence[str] = ()

    def wrote(self, piece: str) -> None:
        """Take a piece of the reply, as it comes."""
        self._watch.wrote(piece)
        self._text += piece
        claims = self._claims(self._text)
        if claims != self._told:
            self._told = claims
            self._watch.draft(claims)

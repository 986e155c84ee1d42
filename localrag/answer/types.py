"""Answers and their parts, the verification of quotations, and watching an answer being made."""

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
    # The first paint of the workbench needs answers but no store.
    from localrag.corpus.store import CorpusStore


class Status(StrEnum):
    """How well the citations support an answer.

    SUPPORTED: code has checked every claim against its citations. QUOTED: the closest quotations;
    whether they answer is not checked. UNSUPPORTED: a claim goes beyond its citations. NOT_FOUND:
    nothing is near enough to show.
    """

    SUPPORTED = "supported"
    QUOTED = "quoted"
    UNSUPPORTED = "unsupported"
    NOT_FOUND = "not_found"


class MismatchKind(StrEnum):
    """What the cited sentences do not say.

    The last five concern a whole claim: its sentences are about other things (WORDS), or not about
    the question's subject (SUBJECT); it is not the kind of answer asked for (ANSWER); it only
    repeats the question (REPEATS); the model itself does not confirm it on a second reading
    (READING).
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
    """A part of a claim missing from its sentences.

    Attributes:
        kind: what it is.
        written: the words of the claim, verbatim.
    """

    kind: MismatchKind
    written: str


@dataclass(frozen=True, slots=True)
class Citation:
    """A quotation with its place; valid only after verification.

    Attributes:
        passage_id: the passage quoted.
        quote: verbatim text of the document.
        start, end: span of the quote in the document text; -1 before verification.
        label: the place in words ("金融商品取引法 第二十七条の三十六 第一項 第二号").
        state: the day this text came into force, "2015-12-27"; "" for other documents.
        followed: the day of the next text in the corpus, or "".
        not_yet: whether the text was not yet in force on the day asked for.
        before_first: whether the corpus lacks the text of the day asked for.
        beside: whether it is outside the laws named: it answers nothing.
        confidence: of OCR in the characters of its page, 0 to 1; None for a text layer.
        changes: label of a quoted provision temporarily changed by it (当分の間), or "".
        page, last_page: pages of the quote; 0 if the document has none.
        verified: whether code found the quote in the passage.
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
    """A statement of an answer, written by a model.

    Attributes:
        text: the statement.
        citations: numbers, from 1, of the answer's citations.
        mismatches: parts missing from its citations; empty if code found it supported.
        moved: whether code replaced the model's citations by supporting ones.
    """

    text: str
    citations: tuple[int, ...]
    mismatches: tuple[Mismatch, ...] = ()
    moved: bool = False


class Stage(StrEnum):
    """The source of a derivation step; settings name them 1, 2 and 3.

    KNOWLEDGE: a triple of the corpus. DOCUMENTS: passages of the corpus, from which a model made a
    triple. MODEL: the model alone; nothing supports it.
    """

    KNOWLEDGE = "knowledge"
    DOCUMENTS = "documents"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a derivation: a query with one answer.

    Attributes:
        query: in words, with the answers of earlier steps filled in.
        subject, predicate: what was looked for.
        triple: the result, or None.
        stage: its source, or None.
        citation: number, from 1, of the citation with it; 0 for none.
        tried: every source asked, in order; the last one is `stage` if anything was found.
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
        computed: computations on the objects, a sentence each
            ("1938年11月3日 < 1943年8月1日").
    """

    steps: tuple[Step, ...]
    computed: tuple[str, ...] = ()

    @property
    def triples(self) -> tuple[Triple, ...]:
        """The results, step by step."""
        return tuple(step.triple for step in self.steps if step.triple is not None)


class Veracity(StrEnum):
    """The verdict on a claim: the labels of AVeriTeC (Schlichtkrull et al., 2023).

    CONFLICTING: evidence for and against, or selective facts ("Conflicting
    Evidence/Cherrypicking").
    """

    SUPPORTED = "supported"
    REFUTED = "refuted"
    NOT_ENOUGH = "not_enough_evidence"
    CONFLICTING = "conflicting_evidence"


class Stance(StrEnum):
    """The stance of a sentence towards a claim."""

    SUPPORTS = "supports"
    REFUTES = "refutes"


@dataclass(frozen=True, slots=True)
class CheckedEvidence:
    """A sentence found for a claim.

    Attributes:
        question: that it was found for.
        citation: its words, inserted by code.
        supplement: a model's summary of its context, or "". It is neither a quotation nor evidence.
        stance: towards the claim; None if neutral or unread.
        differs: contradictions found by code.
        by_code: whether code found the stance, not a model.
    """

    question: str
    citation: Citation
    supplement: str = ""
    stance: Stance | None = None
    differs: tuple[Mismatch, ...] = ()
    by_code: bool = False


@dataclass(frozen=True, slots=True)
class FactCheck:
    """The result of a fact-check.

    Attributes:
        veracity: the verdict.
        questions: the claim was split into, as searched for.
        evidence: in the order shown to a model.
    """

    veracity: Veracity
    questions: tuple[str, ...] = ()
    evidence: tuple[CheckedEvidence, ...] = ()

    def that(self, stance: Stance) -> tuple[CheckedEvidence, ...]:
        """The sentences with a stance."""
        return tuple(one for one in self.evidence if one.stance is stance)


@dataclass(frozen=True, slots=True)
class Nearest:
    """A passage found but not quoted; it may not answer.

    Attributes:
        passage_id: its id.
        label: its place in words, as for `Citation`.
        beginning: its first words, without line breaks; "…" if there are more.
    """

    passage_id: str
    label: str
    beginning: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer and its support.

    Attributes:
        text: the answer; for the extractive reader the quotes in order.
        citations: its support: best first, or in the order of the claims.
        status: how well the citations support it.
        trace: the search, and the model calls.
        claims: a model's statements, or a method's findings on each option; empty for the
            extractive
            reader.
        label: the option chosen, "a" for the first, or "".
        doubts: reasons against it beyond its quotations.
        derivation: the triples it follows from, or None.
        absent: laws named and missing, as written; with one of them nothing is supported.
        read_as: the follow-up as completed, or "".
        checked: the result of a fact-check, or None. The text then has the verdict.
        nearest: other hits, best first; see `localrag.answer.extractive`.
        quotations: quotations for the same question without a model, if a model's answer is
            `unsupported`. No claim rests on them.
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
        """Whether its text draws a conclusion beyond claims and quotations."""
        return self.derivation is not None or self.checked is not None

    def cited(self, claim: Claim) -> tuple[Citation, ...]:
        """The citations of a claim."""
        return tuple(self.citations[number - 1] for number in claim.citations)


class Unanswered(ModelUnusable):
    """A question a model failed on.

    Attributes:
        trace: the steps and calls so far, with the failed one.
    """

    def __init__(self, error: ModelUnusable, trace: Trace) -> None:
        super().__init__(*error.args, kind=error.kind, transient=error.transient, **error.fields)
        self.trace = trace


def verify(store: "CorpusStore", citation: Citation) -> Citation:
    """Verify a citation against the store.

    The passage must have the quote letter by letter, apart from line breaks, blanks and widths. The
    citation returned has the document's spelling.

    Returns:
        The citation, `verified` with its span, or with its problem.
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
    """The label of a quotation with its pages, and the pages."""
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
    """The state of the law of a passage, as fields of a citation; empty for other documents."""
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
    """The citation with the place of the smallest provision around the quote."""
    passage = store.by_id(citation.passage_id) if citation.verified else None
    if passage is None or passage.layer == PASSAGES:
        return citation
    for layer in (ITEMS, PARAGRAPHS):
        for inner in store.within(passage.document_id, passage.locator, layer):
            if inner.start <= citation.start and citation.end <= inner.end:
                passage = min(passage, inner, key=lambda one: one.end - one.start)
    return replace(citation, passage_id=passage.id, label=passage.header)


def _find_folded(text: str, quote: str) -> tuple[int, int]:
    """Span of a quote in `text` ignoring blanks and widths, or -1, -1."""
    haystack, places = _folded(text)
    needle, _ = _folded(quote)
    letters = compact(quote)
    at = haystack.find(needle) if needle else -1
    while at >= 0:
        start, end = places[at][0], places[at + len(needle) - 1][1]
        # Folding evens out case, too; a verbatim quote must keep it.
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
    """The answer is no longer wanted."""


class Watch:
    """Follows an answer being made; override its methods.

    Every method runs in the thread making the answer. An exception from it ends the work.
    """

    def stage(self, record: StageRecord) -> None:
        """Called after each step of the search."""

    def near(self, nearest: Sequence[Nearest]) -> None:
        """Called with the nearest passages after a search; they may not answer."""

    def loading(self, model: str, done: int, total: int) -> None:
        """Called with the bytes of a model loaded so far; total 0 if unknown."""

    def reading(self, done: int, total: int) -> None:
        """Called with the prompt tokens read so far.

        First with (0, 0), when the model is asked. Most servers report no more.
        """

    def wrote(self, piece: str) -> None:
        """Called with each piece of a reply, about a token."""

    def draft(self, claims: Sequence[str]) -> None:
        """Called with the claims written so far, unchecked."""

    def cancelled(self) -> bool:
        """Whether to stop; asked at least once per token."""
        return False

    def require(self) -> None:
        """Continue only if the answer is still wanted.

        Raises:
            Cancelled: it is not.
        """
        if self.cancelled():
            raise Cancelled


UNWATCHED = Watch()
"""A watch without a viewer."""


class Drafting:
    """Reports the claims of one reply while it is written.

    Args:
        watch: gets each piece, and changed claims.
        claims: reads claims from the beginning of a reply.
    """

    def __init__(self, watch: Watch, claims: Callable[[str], Sequence[str]]) -> None:
        self._watch = watch
        self._claims = claims
        self._text = ""
        self._told: Sequence[str] = ()

    def wrote(self, piece: str) -> None:
        """Called with a piece of the reply."""
        self._watch.wrote(piece)
        self._text += piece
        claims = self._claims(self._text)
        if claims != self._told:
            self._told = claims
            self._watch.draft(claims)

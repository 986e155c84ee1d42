"""The values of answering: citations, their verification, answers."""

from dataclasses import dataclass
from enum import StrEnum

from localrag.corpus.types import Triple
from localrag.errors import ModelUnusable
from localrag.facts import Fact
from localrag.retrieval.types import Trace


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
        nearest: what the search found besides, best first; see `localrag.reading.extractive`.
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

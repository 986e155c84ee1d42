"""Values of the search: filters, hits, and the record of every step."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from localrag.corpus.types import Label, Passage
from localrag.search.question.everyday import EverydayWord
from localrag.text.facts import Fact, FactKind

if TYPE_CHECKING:
    from localrag.search.question.laws import LawNamed


FOLLOW_UP = "follow-up"
"""The step that completes a follow-up; its record has the completed question as `query`."""

STATE_ASKED = "state"
"""The step that finds the day whose law is asked for."""


class Span(NamedTuple):
    """A part of a document, in characters of its text."""

    document_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters on passages; an empty tuple allows all.

    Attributes:
        documents: document ids.
        parts: of a document with parts here, only these.
        kinds: document kinds (``law``, ``markdown`` …).
        law_types: ``Act``, ``CabinetOrder`` …
        layers: layers to search instead of the corpus's default ones.
        date_from, date_to: ISO dates; inclusive bounds on the document's ``date`` metadata.
        where: labels of facets (`localrag.corpus.facets`): at least one of each facet.
        phrases: required words, letter by letter; blanks and punctuation do not matter.
    """

    documents: tuple[str, ...] = ()
    parts: tuple[Span, ...] = ()
    kinds: tuple[str, ...] = ()
    law_types: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    date_from: str = ""
    date_to: str = ""
    where: tuple[Label, ...] = ()
    phrases: tuple[str, ...] = ()


NO_FILTERS = Filters()


@dataclass(frozen=True, slots=True)
class Query:
    """A question to search for.

    Attributes:
        text: the question, or search words.
        options: the options of a multiple-choice question; part of the query.
        filters: on passages.
        history: earlier questions of the conversation, oldest first, as asked or as completed.
        last: the question alone, if `text` begins with earlier ones; else "".
    """

    text: str
    options: tuple[str, ...] = ()
    filters: Filters = field(default_factory=Filters)
    history: tuple[str, ...] = ()
    last: str = ""

    @property
    def last_start(self) -> int:
        """Where the last question begins in the text; 0 without earlier ones."""
        return len(self.text) - len(self.last) if self.text.endswith(self.last or "\0") else 0


@dataclass(frozen=True, slots=True)
class WrittenSearch:
    """A search written by a model for a question.

    Attributes:
        words: as the provision may say it.
        law: the law expected, by name, or "". It raises hits but filters none: a model may be
            wrong.
    """

    words: str
    law: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with its score, its rank from 1, and the step that found it.

    Attributes:
        reason: why it was chosen (it is named, it implements another provision); None for plain
            scores.
        beside: whether it is outside the laws named, or those laws are missing and the passage does
            not name them. It comes last and answers nothing.
        fills: id of the passage it implements, or "".
        punishes: id of the passage whose breach it punishes, if a penalty was asked for.
        by_model: labels of the filters, assigned to its document by a model.
    """

    passage: Passage
    score: float
    rank: int
    stage: str
    reason: Fact | None = None
    beside: bool = False
    fills: str = ""
    punishes: str = ""
    by_model: tuple[Label, ...] = ()


class TextSpan(NamedTuple):
    """A span in the text of a document."""

    document: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class StageRecord:
    """The record of one step.

    Attributes:
        stage: name of the step.
        hits: what it found, best first.
        seconds: how long it took.
        events: notes on anything left out or switched off.
        subject: what it searched for, if a method searches several times ("option a").
        query: the text searched for, if a method wrote it; "" for the question.
        wordings: everyday words of the question and the words searched for them.
        spans: sentences chosen from its hits.
    """

    stage: str
    hits: tuple[Hit, ...]
    seconds: float
    events: tuple[Fact, ...] = ()
    subject: str = ""
    query: str = ""
    wordings: tuple[EverydayWord, ...] = ()
    spans: tuple[TextSpan, ...] = ()


StageListener = Callable[[StageRecord], None]


class Reason(NamedTuple):
    """Why a unit was chosen: a relation, and the related unit or words."""

    relation: FactKind
    other: str


@dataclass(frozen=True, slots=True)
class ModelCall:
    """The cost of one call of a chat model.

    Attributes:
        model: the id of the model.
        prompt, cached, completion: tokens; `cached` prompt tokens were not evaluated again, None
            if the back end does not say.
        seconds: wall time.
        purpose: what it was for, if a method makes several ("query a", "verdict b").
        problem: why the reply could not be used, or None.
        thought: tokens of thought within `completion`.
        thinking: the thought, never quoted; doors show it folded.
        notes: remarks on the reply.
    """

    model: str
    prompt: int
    cached: int | None
    completion: int
    seconds: float
    purpose: str = ""
    problem: Fact | None = None
    thought: int = 0
    thinking: str = ""
    notes: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """The steps of one search, in order, and the model calls after it."""

    stages: tuple[StageRecord, ...] = ()
    calls: tuple[ModelCall, ...] = ()

    @property
    def events(self) -> tuple[Fact, ...]:
        """The notes of all steps, in order, then the notes of the calls, each once."""
        notes = dict.fromkeys(note for call in self.calls for note in call.notes)
        return (*(event for stage in self.stages for event in stage.events), *notes)

    @property
    def wordings(self) -> tuple[EverydayWord, ...]:
        """The everyday words in all steps, each once."""
        every = (wording for stage in self.stages for wording in stage.wordings)
        return tuple({wording.said: wording for wording in every}.values())


class LinkKind(StrEnum):
    """How a linked provision answers.

    FILLS: it implements the other (an order under an act). PUNISHES: it sets the penalty for a
    breach of the other.
    """

    FILLS = "fills"
    PUNISHES = "punishes"


@dataclass(frozen=True, slots=True)
class Link:
    """A provision that answers for another one.

    Attributes:
        unit: id of the answering passage.
        other: id of the passage found by the question's words.
        position: where one cites the other, in the text of its document, in characters.
        comes_first: whether the question asks for just this; else it is placed behind the other.
        leaves: where the other delegates to an order, in the text of its document, in characters;
            -1 if unknown.
    """

    kind: LinkKind
    unit: str
    other: str
    position: int
    comes_first: bool
    leaves: int = -1


def absent_among(laws: "Iterable[LawNamed]") -> tuple[str, ...]:
    """The laws named and missing from the corpus, as written, each once."""
    return tuple(dict.fromkeys(law.words for law in laws if not law.law_ids))

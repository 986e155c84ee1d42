"""The values of retrieval: filters, hits, and the record every stage leaves."""

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
"""The stage that makes a question whole which leans on earlier ones; it records that as `query`."""

STATE_ASKED = "state"
"""The stage that reads of which state of the law a question asks."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which passages may be found; an empty tuple allows all.

    Attributes:
        documents: document ids.
        kinds: document kinds (``law``, ``markdown`` …).
        law_types: ``Act``, ``CabinetOrder`` …
        layers: layers to search instead of the corpus's default ones.
        date_from, date_to: ISO dates; bounds on the document's ``date`` metadata, inclusive.
        where: what documents are told apart by (`localrag.corpus.facets`): of the labels of one
            facet one must hold, and of each facet one.
        phrases: what a passage must have, letter by letter; blanks and punctuation do not matter.
    """

    documents: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    law_types: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    date_from: str = ""
    date_to: str = ""
    where: tuple[Label, ...] = ()
    phrases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked.

    Attributes:
        text: the question, or the search words.
        options: the options of a multiple-choice question; part of the query.
        filters: which passages may be found.
        history: the questions asked before it in its conversation, oldest first, as asked or as
            they were read; it may lean on them.
        last: the question alone, if `text` begins with those before it; else empty.
    """

    text: str
    options: tuple[str, ...] = ()
    filters: Filters = field(default_factory=Filters)
    history: tuple[str, ...] = ()
    last: str = ""

    @property
    def last_start(self) -> int:
        """Where the last question begins in the text; 0 where there is none before it."""
        return len(self.text) - len(self.last) if self.text.endswith(self.last or "\0") else 0


@dataclass(frozen=True, slots=True)
class WrittenSearch:
    """A search that a model wrote for a question.

    Attributes:
        words: as the provision may say it.
        law: the law it is expected in, by its name; "" for none. It weighs what is found; it is no
            filter, for a model may be wrong.
    """

    words: str
    law: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with its score, its rank from 1, and the stage that found it.

    Attributes:
        reason: why the stage chose it (it is named, it fills in another provision); None for plain
            scores.
        beside: whether it answers nothing: it stands in a law other than those that the question
            names, and comes after all others; or the corpus has none of these, and the passage
            does not speak of them.
        fills: id of the passage that leaves to this one what it says; empty where none does.
        punishes: id of the passage whose breach this one punishes, where a penalty was asked for.
        by_model: the labels of the filters that its document has from a model.
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
    """Characters of the text of a document."""

    document: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class StageRecord:
    """What one stage did.

    Attributes:
        stage: its name.
        hits: what it found, best first.
        seconds: how long it took.
        events: anything it left out or switched off.
        subject: what it searched for, where a method searches several times ("option a").
        query: the text searched for, where a method put it together; empty for the question.
        wordings: everyday words of the question, with what was searched for besides.
        spans: sentences that it chose of its hits, where it chose some.
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
    """Why a unit was chosen: a relation, and the unit or the words it holds with."""

    relation: FactKind
    other: str


@dataclass(frozen=True, slots=True)
class ModelCall:
    """What one call of a chat model cost.

    Attributes:
        model: the id of the model.
        prompt, cached, completion: tokens; `cached` of the prompt's were not evaluated again,
            None where the back end does not say.
        seconds: wall time.
        purpose: what it was for, where a method makes several ("query a", "verdict b").
        problem: why the reply could not be used; None where it could.
    """

    model: str
    prompt: int
    cached: int | None
    completion: int
    seconds: float
    purpose: str = ""
    problem: Fact | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """Every stage of one retrieval, in order, and the calls of models that followed."""

    stages: tuple[StageRecord, ...] = ()
    calls: tuple[ModelCall, ...] = ()

    @property
    def events(self) -> tuple[Fact, ...]:
        """All events of all stages, in order."""
        return tuple(event for stage in self.stages for event in stage.events)

    @property
    def wordings(self) -> tuple[EverydayWord, ...]:
        """The everyday words of all questions of the stages, each once."""
        every = (wording for stage in self.stages for wording in stage.wordings)
        return tuple({wording.said: wording for wording in every}.values())


class LinkKind(StrEnum):
    """How a provision answers a question that another one's words lead to.

    FILLS: it fills in what the other leaves to an order.
    PUNISHES: it says the penalty of a breach of the other.
    """

    FILLS = "fills"
    PUNISHES = "punishes"


@dataclass(frozen=True, slots=True)
class Link:
    """A provision that answers for another one.

    Attributes:
        unit: id of the passage that answers.
        other: id of the passage that the words of the question lead to.
        position: where the one cites the other, in the text of its document, in characters.
        comes_first: whether the question asks for just this; else it stands beside the other.
        leaves: where the other leaves to an order what the one fills in, in the text of its
            document, in characters; -1 where that is not known.
    """

    kind: LinkKind
    unit: str
    other: str
    position: int
    comes_first: bool
    leaves: int = -1


def absent_among(laws: "Iterable[LawNamed]") -> tuple[str, ...]:
    """Those of some laws named that the corpus lacks, as written, each once."""
    return tuple(dict.fromkeys(law.words for law in laws if not law.law_ids))

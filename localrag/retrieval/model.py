"""The values of retrieval: filters, hits, and the record every stage leaves."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from localrag.corpus.model import Passage

if TYPE_CHECKING:
    from localrag.question.laws import LawNamed
    from localrag.statutes.resolver import Target


FOLLOW_UP = "follow-up"
"""The stage that makes a question whole which leans on earlier ones; it records that as `query`."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which passages may be found; an empty tuple allows all.

    Attributes:
        documents: document ids.
        kinds: document kinds (``law``, ``markdown`` …).
        law_types: ``Act``, ``CabinetOrder`` …
        layers: layers to search instead of the corpus's default ones.
        date_from, date_to: ISO dates; bounds on the document's ``date`` metadata, inclusive.
    """

    documents: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    law_types: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    date_from: str = ""
    date_to: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked.

    Attributes:
        text: the question, or the search words.
        options: the options of a multiple-choice question; part of the query.
        filters: which passages may be found.
        history: the questions asked before it in its conversation, oldest first, as asked or as
            they were read; it may lean on them.
    """

    text: str
    options: tuple[str, ...] = ()
    filters: Filters = field(default_factory=Filters)
    history: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with its score, its rank from 1, and the stage that found it.

    Attributes:
        reason: why the stage chose it, for the user ("第27条の13 in the question",
            "delegated by 金融商品取引法 第二十七条の十三 第一項"); empty for plain scores.
        beside: whether it stands in a law other than those that the question names; such a hit
            comes after all others, and answers nothing.
    """

    passage: Passage
    score: float
    rank: int
    stage: str
    reason: str = ""
    beside: bool = False


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
    """

    stage: str
    hits: tuple[Hit, ...]
    seconds: float
    events: tuple[str, ...] = ()
    subject: str = ""
    query: str = ""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """What one call of a chat model cost.

    Attributes:
        model: the id of the model.
        prompt, cached, completion: tokens; `cached` of the prompt's were not evaluated again,
            None where the back end does not say.
        seconds: wall time.
        purpose: what it was for, where a method makes several ("query a", "verdict b").
        problem: why the reply could not be used; empty where it could.
    """

    model: str
    prompt: int
    cached: int | None
    completion: int
    seconds: float
    purpose: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """Every stage of one retrieval, in order, and the calls of models that followed."""

    stages: tuple[StageRecord, ...] = ()
    calls: tuple[ModelCall, ...] = ()

    @property
    def events(self) -> tuple[str, ...]:
        """All events of all stages, in order."""
        return tuple(event for stage in self.stages for event in stage.events)


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The outcome of one query: the final hits and the trace of how they came about.

    Attributes:
        named: the provisions that the question itself names, or whose term it asks the meaning of.
        missing: provisions the question names that the corpus does not hold, as written.
        laws: the laws that the question names, in its order; none in a corpus without statutes.
    """

    hits: tuple[Hit, ...]
    trace: Trace
    named: "tuple[Target, ...]" = ()
    missing: tuple[str, ...] = ()
    laws: "tuple[LawNamed, ...]" = ()

    @property
    def absent(self) -> tuple[str, ...]:
        """The laws named that the corpus lacks, as written, each once."""
        return tuple(dict.fromkeys(law.words for law in self.laws if not law.law_ids))

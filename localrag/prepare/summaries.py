"""Meta knowledge summaries (PR3, preparation): the topics of documents with shared metadata.

Each combination of metadata with enough synthetic questions has a summary, and so has the whole
corpus. If the questions do not fit the context, their parts are summed up first. A summary guides
queries and is never quoted. Code keeps only sentences about the questions: small models copy their
prompt, or repeat a sentence.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, product
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field

from localrag.answer.checking import covers
from localrag.answer.evidence import element
from localrag.answer.prompts import language_of, prompt
from localrag.corpus.config import ChatConfig
from localrag.corpus.facets import FIELD, KIND, Facets
from localrag.corpus.types import Label
from localrag.corpus.workspace import CorpusPaths
from localrag.errors import UsageError
from localrag.language import N_
from localrag.prepare.decontextualized import brings_particulars
from localrag.prepare.layers import (
    METADATA,
    MK_SUMMARIES,
    SYNTHETIC_QA,
    DerivedLayer,
    DerivedText,
    LayerJob,
    Made,
    Span,
    UnitOutcome,
    digest,
)
from localrag.prepare.making import LayerWriter, written
from localrag.search.types import ModelCall
from localrag_indexes.analysis.analyzer import split_sentences
from localrag_indexes.analysis.normalize import letters_of
from localrag_models.chat import ChatModel, Message

PROMPT = "knowledge_summary"
LEAST = 10
"""Questions of a summary, at least, by default."""

# To be raised when code makes another summary of the same replies.
_VERSION = "2"
# Facets of one combination, at most, to limit their number.
_FACETS = 3
_LONGEST = 1500
# Least share of the words of a sentence in the questions. A sentence of the prompt has none.
_SHARED = 1 / 3
# Compared characters as one text.
_COMPARED = 10_000
_ALL = "*"

Place = tuple[str, int]
"""The key of a row of synthetic questions: its document and its first character."""


class Summary(NamedTuple):
    """The topics of the questions of some documents."""

    labels: tuple[Label, ...]  # of the documents; none for the whole corpus
    text: str  # the summary
    questions: int
    rests_on: tuple[Place, ...]  # the rows of the layer `SYNTHETIC_QA` with these questions


def named(labels: Sequence[Label]) -> str:
    """Labels in words, in a fixed order."""
    return " & ".join(map(str, sorted(labels))) or _ALL


def summaries(place: CorpusPaths) -> list[Summary]:
    """The summaries of a corpus, fewer labels first. Raises `StorageError` or `StoreError`."""
    rows = DerivedLayer(place, MK_SUMMARIES).standing()
    found = [
        Summary(row.labels, row.texts[0].text, row.questions, row.rests_on)
        for row in rows
        if row.texts
    ]
    return sorted(found, key=lambda one: (len(one.labels), named(one.labels)))


def summary_for(made: Sequence[Summary], where: Sequence[Label]) -> Summary | None:
    """The summary with most of the wanted labels and no others."""
    fitting = [one for one in made if set(one.labels) <= set(where)]
    return max(fitting, key=lambda one: (len(one.labels), -one.questions), default=None)


def summaries_for(made: Sequence[Summary], where: Sequence[Label]) -> list[Summary]:
    """The summaries of the wanted labels, each once; of all documents without labels.

    Labels of one facet are alternatives. Each of them, with one of each other facet, has the
    summary of `summary_for`.
    """
    of_facet: dict[str, list[Label]] = defaultdict(list)
    for label in where:
        of_facet[label.key].append(label)
    found = (summary_for(made, some) for some in product(*of_facet.values()))
    return list(dict.fromkeys(one for one in found if one is not None))


class _SummaryReply(BaseModel):
    summary: Annotated[str, Field(min_length=1, max_length=_LONGEST)]


class _QuestionRow(NamedTuple):
    place: Place
    questions: tuple[str, ...]


class Summariser:
    """Has a model sum up questions, at least `least` in a summary."""

    def __init__(
        self,
        place: CorpusPaths,
        facets: Facets,
        model: ChatModel,
        settings: ChatConfig,
        least: int = LEAST,
    ) -> None:
        self._writer = LayerWriter(model, settings, PROMPT, _VERSION)
        self._asked = _asked(place)
        self._combined = _combined(self._asked, facets, _keys(place), least)

    def units(self) -> Iterator[str]:
        """The combinations of metadata, in words."""
        return iter(self._combined)

    def jobs(self, unit: str) -> Iterator[LayerJob]:
        """The one job of a combination."""
        labels, documents = self._combined[unit]
        rows = [row for document in documents for row in self._asked[document]]
        questions = [question for row in rows for question in row.questions]
        source = digest(*questions)
        yield LayerJob(
            unit,
            Span(0, sum(map(len, questions))),
            source,
            digest(self._writer.recipe, unit, source),
            partial(written, self._made, labels, questions),
            tuple(row.place for row in rows),
            len(questions),
        )

    def _made(
        self, calls: list[ModelCall], labels: tuple[Label, ...], questions: Sequence[str]
    ) -> Made:
        refused: list[str] = []
        text = self._summed_up(named(labels) if labels else "", questions, calls, refused)
        outcome, texts = (
            (UnitOutcome.MADE, (DerivedText(text),)) if text else (UnitOutcome.REFUSED, ())
        )
        return Made(outcome, texts, "\n".join(refused), labels=labels)

    def _summed_up(
        self, about: str, items: Sequence[str], calls: list[ModelCall], refused: list[str]
    ) -> str:
        """Sum up questions, if needed in parts first; `refused` gets the others."""
        partial_ones = False
        while True:
            groups = list(self._groups(about, items, partial_ones=partial_ones))
            parts = [
                self._writer.ask(
                    _messages(about, group, partial_ones=partial_ones), _SummaryReply, calls
                ).summary
                for group in groups
            ]
            pairs = zip(parts, groups, strict=True)
            items = list(filter(None, (_kept(text, of, about, refused) for text, of in pairs)))
            if len(items) <= 1:
                return "".join(items)
            partial_ones = True

    def _groups(
        self, about: str, items: Sequence[str], *, partial_ones: bool
    ) -> Iterator[Sequence[str]]:
        """The items in as few runs of similar length as fit, of two items at least."""
        messages = _messages(about, items, partial_ones=partial_ones)
        # Two items always stay together, or there would never be one summary.
        if self._writer.fits(messages) or len(items) <= 3:
            yield items
            return
        half = len(items) // 2
        yield from self._groups(about, items[:half], partial_ones=partial_ones)
        yield from self._groups(about, items[half:], partial_ones=partial_ones)


def _kept(summary: str, items: Sequence[str], about: str, refused: list[str]) -> str:
    """The sentences of a summary about its items, each once; `refused` gets the others."""
    shown = list(_joined(items))
    titles = [about] if about else []
    kept: dict[str, str] = {}
    text = " ".join(summary.split())
    for start, end in split_sentences(text):
        sentence = text[start:end].strip()
        if (
            covers(sentence, shown, headings=titles) < _SHARED
            or brings_particulars(sentence, shown, titles)
            or letters_of(sentence) in kept
        ):
            refused.append(sentence)
        else:
            kept[letters_of(sentence)] = sentence
    return " ".join(kept.values())


def _joined(items: Sequence[str]) -> Iterator[str]:
    """The items in as few texts as are compared at once."""
    run: list[str] = []
    size = 0
    for item in items:
        if run and size + len(item) > _COMPARED:
            yield "\n".join(run)
            run, size = [], 0
        run.append(item)
        size += len(item)
    yield "\n".join(run)


def _messages(about: str, items: Sequence[str], *, partial_ones: bool) -> tuple[Message, ...]:
    return prompt(
        PROMPT,
        language_of("".join(items)),
        about=about,
        items=items,
        partial=partial_ones,
        tag=element("material", [about, *items]),
    )


def _asked(place: CorpusPaths) -> Mapping[str, Sequence[_QuestionRow]]:
    """The synthetic questions by document, in reading order."""
    found: dict[str, list[_QuestionRow]] = defaultdict(list)
    rows = sorted(DerivedLayer(place, SYNTHETIC_QA).standing(), key=lambda row: row.place)
    for row in rows:
        if row.texts:
            found[row.document].append(
                _QuestionRow(row.place, tuple(one.text for one in row.texts))
            )
    if not found:
        raise UsageError(
            N_("Summaries are made of synthetic questions, and there are none."),
            N_("Make them first: localrag prepare --layers {layers}"),
            layers=f"{SYNTHETIC_QA},{MK_SUMMARIES}",
        )
    return found


def _keys(place: CorpusPaths) -> tuple[str, ...]:
    rows = DerivedLayer(place, METADATA).standing()
    return tuple(dict.fromkeys((KIND, FIELD, *(key for row in rows for key, _ in row.labels))))


def _combined(
    asked: Mapping[str, Sequence[_QuestionRow]], facets: Facets, keys: Sequence[str], least: int
) -> Mapping[str, tuple[tuple[Label, ...], Sequence[str]]]:
    """The combinations with enough questions, with their documents."""
    of_document: dict[str, dict[str, list[Label]]] = defaultdict(lambda: defaultdict(list))
    for key in keys:
        for value, ids in facets.documents.get(key, {}).items():
            for document in ids & asked.keys():
                of_document[document][key].append(Label(key, value))
    found: dict[tuple[Label, ...], list[str]] = defaultdict(list)
    for document in asked:
        by_key = of_document[document]
        for n in range(min(_FACETS, len(by_key)) + 1):
            for some in combinations(sorted(by_key), n):
                for labels in product(*(by_key[key] for key in some)):
                    found[labels].append(document)
    counts = {id_: sum(len(row.questions) for row in rows) for id_, rows in asked.items()}
    return {
        named(labels): (labels, documents)
        for labels, documents in sorted(found.items(), key=lambda one: (len(one[0]), named(one[0])))
        if sum(counts[document] for document in documents) >= least
    }

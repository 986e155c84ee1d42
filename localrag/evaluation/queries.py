"""A model writes questions for several documents of a collection together.

Each is made from a few similar synthetic questions of different documents, its aspects. The method
is PR3's evaluation, with a prompt of localrag. `localrag eval` reads the file by its declaration.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Annotated

import tomli_w
from pydantic import BaseModel, Field, TypeAdapter

from localrag.answer.asking import ask
from localrag.answer.evidence import element
from localrag.answer.prompts import language_of, prompt, template
from localrag.corpus.config import Config
from localrag.corpus.durable import replace_text, storing
from localrag.corpus.inference.opening import open_chat
from localrag.corpus.journal import Journal
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag.errors import InputError, ModelUnusable, UsageError
from localrag.evaluation.judging import opened
from localrag.language import N_
from localrag.prepare.decontextualized import brings_particulars, pointing_words
from localrag.prepare.index import LayerIndex, require_layers
from localrag.prepare.layers import SYNTHETIC_QA, LayerText, digest
from localrag.search.types import Filters, ModelCall
from localrag.text.facts import Fact, FactKind
from localrag.text.progress import Phase, Progress, ignore
from localrag_indexes.analysis.normalize import letters_of
from localrag_indexes.fusion import in_turn
from localrag_models.chat import ChatModel, Message
from localrag_models.errors import ReplyInvalid

ASPECTS = 4
"""Synthetic questions for one question, by default."""
PROMPT = "collection_query"
MAKING = Phase(N_("asking over the collection"), N_("questions"))

_LONGEST = 300
# Nearest synthetic questions that are examined.
_NEAR = 50
_SEED = 0
# Words of a question that refer to the prompt.
_OF_PROMPT = re.compile(
    r"\b(?:the (?:list|material|text|questions?)|these|this collection|listed|mentioned|above)\b"
    "|資料|上記|挙げ|これら|文中|この(?:文書|集まり)",
    re.IGNORECASE,
)
# Digits of an id.
_ID = 12


class _QueryReply(BaseModel):
    query: Annotated[str, Field(min_length=1, max_length=_LONGEST)]


@dataclass(frozen=True, slots=True)
class MadeAspect:
    """Something a good answer mentions."""

    document: str
    text: str
    question: str  # question, answer: made from these sentences (`localrag.prepare.synthetic`)
    answer: str


@dataclass(frozen=True, slots=True)
class MadeQuery:
    """A question over a collection, as stored."""

    id: str  # digest of aspects, model and prompt
    question: str
    aspects: tuple[MadeAspect, ...]
    corpus: str
    model: str


@dataclass(slots=True)
class QueriesReport:
    """Result of `make_queries`."""

    declaration: Path  # the file for `localrag eval`
    questions: int = 0
    earlier: int = 0  # those of earlier runs among them
    models: tuple[str, ...] = ()  # their writers, the first one first
    # malformed, copied, repeated or dependent questions, and those with new names or figures
    refused: int = 0
    calls: list[ModelCall] = field(default_factory=list)  # of the model, in this run


def make_queries(
    workspace: Workspace,
    corpus: str,
    config: Config,
    declaration: Path,  # a file to write (``.toml``); the questions are beside it (``.jsonl``)
    n: int,  # questions wanted; fewer if the corpus has too few documents
    *,
    aspects: int = ASPECTS,
    on_event: Callable[[Progress], None] = ignore,
    opener: Callable[[Workspace, Config], ChatModel | None] = open_chat,
) -> QueriesReport:
    """Write questions over a corpus. After a stop, the same call continues."""
    if declaration.suffix != ".toml":
        raise UsageError(
            N_("{path} is no name for a declaration."),
            N_("Name a file that ends in .toml; the questions are written beside it."),
            path=declaration,
        )
    place = workspace.corpus(corpus)
    place.require()
    require_layers(place, [SYNTHETIC_QA])
    path = declaration.with_suffix(".jsonl")
    report = QueriesReport(declaration)
    with (
        CorpusStore.open(place.store, read_only=True) as store,
        LayerIndex.open(workspace, corpus, config, store) as layers,
    ):
        model = opener(workspace, config)
        if model is None:
            raise UsageError(
                N_("Questions over a collection are made by a chat model, and none is named."),
                Fact(FactKind.TO_SET_MODEL),
            )
        questions = Journal(path, TypeAdapter(MadeQuery), partial(_damaged, path))
        with model, opened(questions) as journal:
            earlier = _of_corpus(corpus, journal)
            writer = _QueryWriter(corpus, store, layers, model, config, report)
            writer.write(journal, earlier, n, aspects, on_event)
        if not report.questions:
            raise UsageError(
                N_("No question could be made of the corpus {corpus!r}."),
                N_("Prepare questions of more documents, or use a larger model."),
                corpus=corpus,
            )
        with storing(declaration):
            replace_text(declaration, _declared(corpus, report.models, path), private=True)
    return report


class _QueryWriter:
    def __init__(
        self,
        corpus: str,
        store: CorpusStore,
        layers: LayerIndex,
        model: ChatModel,
        config: Config,
        report: QueriesReport,
    ) -> None:
        self._corpus = corpus
        self._store = store
        self._layers = layers
        self._model = model
        self._settings = config.chat
        self._report = report
        self._recipe = digest(model.id, template(PROMPT), str(config.chat.temperature))

    def write(
        self,
        journal: Journal[MadeQuery],
        earlier: Sequence[MadeQuery],
        n: int,
        aspects: int,
        on_event: Callable[[Progress], None],
    ) -> None:
        begun = perf_counter()
        models = dict.fromkeys(one.model for one in earlier)
        there = {one.id for one in earlier}
        asked = {letters_of(one.question) for one in earlier}
        report = self._report
        report.questions = report.earlier = len(earlier)
        for group in self._groups(aspects):
            if report.questions >= n:
                break
            id_ = digest(self._recipe, *sorted(one.text for one in group))[:_ID]
            if id_ in there:
                continue
            there.add(id_)
            question = self._asked(group)
            if question and letters_of(question) not in asked:
                asked.add(letters_of(question))
                made = (
                    MadeAspect(one.document, one.sentence, one.text, one.answer) for one in group
                )
                of = (self._corpus, self._model.id)
                journal.append(MadeQuery(id_, question, tuple(made), *of))
                models.setdefault(self._model.id)
                report.questions += 1
            else:
                report.refused += 1
            on_event(Progress(MAKING, report.questions, n, perf_counter() - begun))
        report.models = tuple(models)

    def _groups(self, aspects: int) -> Iterator[list[LayerText]]:
        """Similar synthetic questions of different documents, one of each document in turn."""
        by_document: dict[str, list[LayerText]] = {}
        for text in self._layers.texts(SYNTHETIC_QA):
            by_document.setdefault(text.document, []).append(text)
        chooser = Random(_SEED)  # noqa: S311 - the same ones each time
        documents = sorted(by_document)
        chooser.shuffle(documents)
        for document in documents:
            chooser.shuffle(by_document[document])
        for first in in_turn(by_document[document] for document in documents):
            group = {first.document: first}
            for one in self._near(first):
                group.setdefault(one.document, one)
            if len(group) >= aspects:
                yield list(group.values())[:aspects]

    def _near(self, text: LayerText) -> Iterator[LayerText]:
        search = self._layers.nearest if self._layers.has_vectors else self._layers.by_words
        for one in search(self._store, text.text, _NEAR, SYNTHETIC_QA, Filters()):
            yield one.found

    def _asked(self, group: Sequence[LayerText]) -> str:
        """A new question about a group, understood without the prompt; "" if there is none."""
        messages = self._messages(group)
        try:
            reply = ask(
                self._model,
                self._settings,
                messages,
                _QueryReply,
                self._report.calls.append,
                PROMPT,
            )
        except ModelUnusable as error:
            if error.kind != ReplyInvalid.__name__:
                raise
            return ""
        query = " ".join(reply.query.split())
        letters = letters_of(query)
        asked = [one.text for one in group]
        copied = letters in map(letters_of, asked)
        is_alone = not (pointing_words(query) or _OF_PROMPT.search(query))
        titles = [self._store.document(one.document).title for one in group]
        invented = brings_particulars(query, asked, titles)
        return query if letters and is_alone and not copied and not invented else ""

    def _messages(self, group: Sequence[LayerText]) -> tuple[Message, ...]:
        items = [
            {"title": self._store.document(one.document).title, "question": one.text}
            for one in group
        ]
        texts = [text for item in items for text in item.values()]
        return prompt(
            PROMPT,
            language_of("".join(one.text for one in group)),
            items=items,
            tag=element("material", texts),
        )


def _of_corpus(corpus: str, journal: Journal[MadeQuery]) -> list[MadeQuery]:
    earlier = [line.row for line in journal.lines()]
    if other := next((one.corpus for one in earlier if one.corpus != corpus), ""):
        raise UsageError(
            N_("The questions in {path} are of the corpus {other!r}, not of {corpus!r}."),
            N_("Name another file, or the corpus: --corpus {other}"),
            path=journal.path,
            other=other,
            corpus=corpus,
        )
    return earlier


def _declared(corpus: str, models: Sequence[str], path: Path) -> str:
    made_by = " and ".join(models)
    return tomli_w.dumps(
        {
            "title": f"Questions over the collection {corpus}, made by {made_by}",
            "source": f"made by {made_by} of synthetic questions of the corpus {corpus}",
            "licence": "as the documents",
            "reader": "collection",
            "measure": "collection",
            "caveats": [
                "A model has made the questions of synthetic questions, in which some of the "
                "methods search: what other questions ask of the collection they do not tell.",
            ],
            "splits": [{"name": "made", "file": path.name}],
        }
    )


def _damaged(path: Path, line: int) -> InputError:
    return InputError(
        N_("Line {line} of {path} is no question over a collection."),
        N_("Mend or delete the line, or name another file."),
        line=line,
        path=path,
    )

"""Answers questions with a method, for `ask`, `batch`, `eval` and the workbench.

A follow-up is read together with the questions before it (`localrag.search.query.rewritten`). A
model, if there is one, completes it instead (その罰則は); see `localrag.methods.searches`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import date
from functools import cached_property
from threading import RLock
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Self, cast

from localrag.answer.types import UNWATCHED, Answer, Unanswered, Watch
from localrag.corpus.config import Config, MethodConfig
from localrag.corpus.inference.opening import open_chat
from localrag.corpus.workspace import Workspace
from localrag.errors import ModelUnusable, UsageError
from localrag.language import N_
from localrag.methods.catalogue import (
    FEWEST,
    LABELS,
    WITH_MODEL,
    WITHOUT_MODEL,
    Case,
    Method,
    Resources,
    labelled,
    mark,
    method,
)
from localrag.methods.extractive import (
    PlainToolkit,
    with_age,
    with_changes,
    with_nearest,
    with_quotations,
)
from localrag.search.pipeline import Retriever
from localrag.search.query import check, checked, rewritten
from localrag.search.question.as_of import state_asked
from localrag.search.reading import Retrieval
from localrag.search.types import FOLLOW_UP, STATE_ASKED, Query, Trace
from localrag.text.facts import Fact, FactKind
from localrag.text.progress import ignore

if TYPE_CHECKING:
    from localrag.answer.prompts import OptimisedPrompt
    from localrag.methods.toolkit import Remembered, Toolkit
    from localrag.prepare.index import LayerIndex
    from localrag_models.chat import ChatModel


class FollowedQuestion(NamedTuple):
    """A question without a history."""

    query: Query
    read_as: str = ""  # its text, if it is not as asked; else ""
    trace: Trace = Trace()  # of the reading


def read_question(
    query: Query, resources: Resources, watch: Watch = UNWATCHED, *, with_model: bool
) -> FollowedQuestion:
    """Complete a follow-up from its history; write out the citations of any other question.

    The watch hears of a follow-up as of a stage. Raises `Cancelled` if nobody waits.
    """
    with resources.reading:
        names = resources.retriever.names
    text, last = rewritten(query.text, query.history, names)
    alone = replace(query, text=text, history=(), last=last)
    if not last:
        return FollowedQuestion(alone, text if text != query.text else "")
    toolkit = PlainToolkit(resources, watch)
    events: list[Fact] = []
    if with_model:
        from localrag.methods.searches import made_whole
        from localrag.methods.toolkit import Toolkit

        toolkit = with_its_model = Toolkit(resources, watch)
        whole = made_whole(with_its_model, query, names)
        if isinstance(whole, str):
            alone = replace(alone, text=whole, last="")
        else:
            events = [whole]
    toolkit.note(FOLLOW_UP, events, query=alone.text)
    read_as = alone.text if alone.text != query.text else ""
    return FollowedQuestion(alone, read_as, toolkit.trace)


def search_rewritten(
    retriever: Retriever,
    workspace: Workspace,
    corpus: str,
    config: Config,
    asked: Query,
    k: int | None,
) -> Retrieval:
    """Search for a query, and for the searches written by the chat model."""
    if not config.chat.model:
        raise UsageError(
            N_("--rewrite has a chat model write searches, and the settings name none."),
            Fact(FactKind.TO_SET_MODEL),
        )
    from localrag.methods.searches import searches_of
    from localrag.methods.toolkit import Toolkit

    with MethodResources(workspace, corpus, config, retriever) as resources:
        resources.open(model=True)
        toolkit = Toolkit(resources)
        found = toolkit.retrieve(asked, k, written=searches_of(toolkit, asked))
    return replace(found, trace=toolkit.trace)


class MethodResources:
    """The resources of a run; fulfils `localrag.methods.catalogue.Resources`.

    Corpus and model are opened when they are first needed, and stay open. Opening raises an error
    with the cure.
    """

    def __init__(
        self,
        workspace: Workspace,
        corpus: str,
        config: Config,
        retriever: Retriever | None = None,
    ) -> None:
        """Opens nothing. A given retriever stays open."""
        self.settings = config.chat
        self._given = retriever
        self.reading = RLock()
        self._workspace = workspace
        self._corpus = corpus
        self._config = config
        self._opening = RLock()
        self._opened = ExitStack()
        self._on_load: Callable[[str, int, int], None] = ignore

    @property
    def retriever(self) -> Retriever:
        """Finds passages of the corpus."""
        with self._opening:
            return self._retriever

    @property
    def model(self) -> "ChatModel":
        """The chat model."""
        with self._opening:
            return self._model

    def checked(self, query: Query) -> Query:
        """A valid query, with the filters of the settings. Raises `UsageError`."""
        return checked(query, self._config.retrieval)

    @cached_property
    def remembered(self) -> "Remembered | None":
        """Stored replies of models."""
        from localrag.methods.toolkit import Remembered

        return Remembered(self._workspace.searches)

    @property
    def has_model(self) -> bool:
        """Whether the chat model is open."""
        return "_model" in self.__dict__

    @cached_property
    def query_prompt(self) -> "OptimisedPrompt | None":
        """The optimised prompt of the settings. Raises `NotFoundError`."""
        if not (name := self._config.method.query_prompt):
            return None
        from localrag.answer.prompts import OptimisedPrompt

        return OptimisedPrompt.load(self._workspace.prompts, name)

    @cached_property
    def _retriever(self) -> Retriever:
        if self._given is not None:
            return self._given
        opened = Retriever.open(self._workspace, self._corpus, self._config)
        return self._opened.enter_context(opened)

    @property
    def layers(self) -> "LayerIndex":
        """The index of the derived layers of the corpus."""
        with self._opening:
            return self._layers

    @cached_property
    def _layers(self) -> "LayerIndex":
        from localrag.prepare.index import LayerIndex

        store = self._retriever.store
        opened = LayerIndex.open(self._workspace, self._corpus, self._config, store)
        return self._opened.enter_context(opened)

    @cached_property
    def _model(self) -> "ChatModel":
        opened = open_chat(self._workspace, self._config, self._on_load)
        if opened is None:
            raise UsageError(
                N_("The method needs a writing model, and the settings name none."),
                Fact(FactKind.TO_SET_MODEL),
            )
        return self._opened.enter_context(opened)

    def open(
        self,
        *,
        model: bool,
        layers: Sequence[str] = (),
        on_load: Callable[[str, int, int], None] = ignore,
    ) -> None:
        """Open the corpus and layers, and the model if wanted; `on_load` as for `open_chat`."""
        self.retriever  # noqa: B018 - to look at it opens it
        if layers:
            from localrag.prepare.index import require_layers

            require_layers(self._workspace.corpus(self._corpus), layers)
            self.layers  # noqa: B018
        if model:
            with self._opening:
                self._on_load = on_load
                try:
                    self._model  # noqa: B018
                finally:
                    self._on_load = ignore

    @contextmanager
    def on_day(self, day: date | None) -> "Iterator[MethodResources]":
        """The resources for the day in a question, unless the settings give a day."""
        if day is None or self._config.retrieval.day:
            yield self
            return
        retrieval = self._config.retrieval.model_copy(update={"as_of": day.isoformat()})
        config = self._config.model_copy(update={"retrieval": retrieval})
        with _ResourcesOfADay(self._workspace, self._corpus, config, self) as then:
            yield then

    def write_down(self, query: Query, method: str) -> None:
        """Write the question into the journal, if the settings say so."""
        if self._config.journal.questions:
            from localrag.corpus.asked_journal import write_down

            write_down(self._workspace, self._corpus, method, query.text, query.options)

    def close(self) -> None:
        """Close the corpus and the model."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _ResourcesOfADay(MethodResources):
    """The corpus as of another day, with the same chat model."""

    def __init__(
        self, workspace: Workspace, corpus: str, config: Config, others: MethodResources
    ) -> None:
        super().__init__(workspace, corpus, config)
        self._others = others

    @property
    def model(self) -> "ChatModel":
        """The chat model; raises as in `MethodResources`."""
        return self._others.model

    @property
    def has_model(self) -> bool:
        return self._others.has_model


class Answerer:
    """Answers questions with one method; fulfils `localrag.ops.batch.types.AnswerSource`.

    The caller closes the resources.
    """

    def __init__(
        self,
        method: Method,
        resources: MethodResources,
        contexts: Mapping[Query, str] = MappingProxyType({}),
        settings: MethodConfig = MethodConfig(),  # noqa: B008 - immutable
    ) -> None:
        self._method = method
        self._resources = resources
        self._settings = settings
        self._contexts = contexts
        prompt = resources.query_prompt if method.writes_queries else None
        self._seen = prompt.seen if prompt else frozenset()

    @property
    def parallel(self) -> int:
        """How many threads can usefully call `answer` at the same time."""
        return self._resources.model.parallel if self._method.needs_model else 1

    @property
    def model(self) -> str:
        """The id of the model; "" for a method without one."""
        return self._resources.model.id if self._method.needs_model else ""

    @property
    def retriever(self) -> Retriever:
        """Finds passages, for one thread at a time."""
        return self._resources.retriever

    def answer(self, query: Query, watch: Watch = UNWATCHED) -> Answer:
        """Answer one question, maybe with a history; several threads may call this.

        A day in the question selects the law of that day, unless the settings give one. Raises
        `Cancelled` or `Unanswered`.
        """
        self._resources.write_down(query, self._method.name)
        asked = self._resources.checked(query)
        query, read_as, trace = read_question(
            asked,
            self._resources,
            watch,
            with_model=self._method.needs_model,
        )
        with self._resources.reading:
            retriever = self._resources.retriever
            of_laws = retriever.store.is_of_laws
            state = state_asked(query.text, retriever.names, of_laws=of_laws)
            last = state_asked(query.last, retriever.names, of_laws=of_laws).text
        case = self._case(replace(query, text=state.text, last=last), asked)
        with self._resources.on_day(state.day) as resources:
            toolkit = self._toolkit(resources, watch, trace, case.query)
            if told := state.facts(resources.retriever.store.as_of):
                toolkit.note(STATE_ASKED, told)
            if mark(asked.text, asked.options) in self._seen:
                toolkit.note("query-prompt", [Fact(FactKind.PROMPT_SAW_QUESTION)])
            try:
                answer = replace(self._method.answer(case, toolkit), read_as=read_as)
                answer = with_changes(answer, resources)
                if self._method.searches and not self._method.checks:
                    answer = with_quotations(answer, case.query, resources)
                answer = with_nearest(answer, case.query, toolkit.found)
                return answer if asked.history else with_age(answer, resources)
            except ModelUnusable as error:
                raise Unanswered(error, toolkit.trace) from error

    def _toolkit(
        self, resources: MethodResources, watch: Watch, trace: Trace, asked: Query
    ) -> "Toolkit":
        """The toolkit of the method. Only a method with a model imports the toolkit for it."""
        if self._method.needs_model or self._method.layers:
            from localrag.methods.toolkit import Toolkit

            return Toolkit(resources, watch, trace, asked)
        # A method without a model uses only this part of a toolkit.
        return cast("Toolkit", PlainToolkit(resources, watch, trace, asked))

    def _case(self, query: Query, asked: Query) -> Case:
        check(query)
        if not self._method.takes(query):
            raise UsageError(
                N_(
                    "{method} chooses between {fewest} to {most} options; the question has {count}."
                ),
                N_("Give each with --option, or in the field options of a batch."),
                method=self._method.name,
                fewest=FEWEST,
                most=len(LABELS),
                count=len(query.options),
            )
        for label, option in labelled(query.options) if self._method.chooses else ():
            if not any(character.isalnum() for character in option):
                raise UsageError(
                    N_("Option {label} holds no word."),
                    N_("Give the text of every option."),
                    label=label,
                )
        context = self._contexts.get(asked, "") if self._method.reads_context else ""
        return Case(query, context, self._settings)


@contextmanager
def open_answers(
    workspace: Workspace,
    corpus: str,
    config: Config,
    on_load: Callable[[str, int, int], None] = ignore,
) -> Iterator[Answerer]:
    """Open the method of the settings; anything unusable is an error before the first question."""
    chosen = answering_method(config)
    with MethodResources(workspace, corpus, config) as resources:
        # A missing prompt is an error before anything is loaded.
        answerer = Answerer(chosen, resources, settings=config.method)
        resources.open(model=chosen.needs_model, layers=chosen.layers, on_load=on_load)
        yield answerer


def named_method(config: Config) -> Method:
    """The method of the settings, else `WITH_MODEL` or `WITHOUT_MODEL`. Raises `UsageError`."""
    return method(config.method.name or (WITH_MODEL if config.chat.model else WITHOUT_MODEL))


def answering_method(config: Config) -> Method:
    """The method for questions of a user; see `named_method`. Raises `UsageError`."""
    chosen = named_method(config)
    if chosen.reads_context:
        raise UsageError(
            N_("{method} is given the texts answering a question; only a dataset has them."),
            N_("Use it in an evaluation: localrag eval"),
            method=chosen.name,
        )
    return chosen

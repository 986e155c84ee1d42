"""Answering: with the model that the settings name, or with quotations where they name none."""

from threading import Lock
from typing import Self

from localrag.config import ChatConfig, Config
from localrag.inference.opening import open_chat
from localrag.reading import extractive, generative
from localrag.reading.generative import Task
from localrag.reading.model import Answer, Status
from localrag.reading.watching import UNWATCHED, Watch
from localrag.retrieval.model import Query, Retrieval
from localrag.retrieval.pipeline import Retriever
from localrag.workspace import Workspace
from localrag_models.chat import ChatModel


class Answerer:
    """Answers questions about one corpus; to be closed.

    Attributes:
        retriever: finds the evidence; to be used by one thread at a time.
    """

    def __init__(self, retriever: Retriever, model: ChatModel | None, settings: ChatConfig) -> None:
        self.retriever = retriever
        self._model = model
        self._settings = settings
        self._reading = Lock()

    @classmethod
    def open(cls, workspace: Workspace, corpus: str, config: Config) -> Self:
        """Open a corpus and, if the settings name one, the model that writes answers.

        Raises:
            NotFoundError: there is no such corpus.
            StoreError, IndexUnusable, ModelUnusable: something cannot be used; the cure is named.
        """
        retriever = Retriever.open(workspace, corpus, config)
        try:
            return cls(retriever, open_chat(workspace, config), config.chat)
        except BaseException:
            retriever.close()
            raise

    def close(self) -> None:
        """Let go of the corpus and the model."""
        if self._model is not None:
            self._model.close()
        self.retriever.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def model(self) -> str:
        """The id of the model that writes answers; "" for quotations only."""
        return self._model.id if self._model is not None else ""

    @property
    def parallel(self) -> int:
        """How many threads may call `answer` at the same time and gain by it."""
        return self._model.parallel if self._model is not None else 1

    def answer(self, query: Query, watch: Watch = UNWATCHED) -> Answer:
        """Answer one question; may be called from several threads.

        Args:
            query: the question.
            watch: follows the stages, and the claims as a model writes them.

        Raises:
            Cancelled: the answer is no longer wanted.
            UsageError: the question holds no word or is too long.
            IndexUnusable: the index turned out to be damaged.
            ModelUnusable: a model failed; no answer was made.
        """
        if self._model is None:
            with self._reading:
                return extractive.answer(self.retriever, query, watch=watch)
        retrieval, task = self._prepared(query, self._model, watch)
        if task is None:
            return Answer("", (), Status.NOT_FOUND, retrieval.trace)
        reply, call = generative.write(self._model, task, watch)
        with self._reading:
            return generative.check(self.retriever.store, task, reply, call)

    def prompt_tokens(self, query: Query) -> int:
        """Tokens of the prompt that a question would need; 0 where no model takes part."""
        if self._model is None:
            return 0
        _, task = self._prepared(query, self._model)
        return self._model.count(task.request.messages) if task is not None else 0

    def _prepared(
        self, query: Query, model: ChatModel, watch: Watch = UNWATCHED
    ) -> tuple[Retrieval, Task | None]:
        with self._reading:
            found = self.retriever.search(query, on_stage=watch.stage)
            watch.require()
            task = generative.prepare(self.retriever, query, found, model, self._settings)
        if task is not None:
            # The last stage is the choice of what the model is shown.
            watch.stage(task.trace.stages[-1])
        return found, task

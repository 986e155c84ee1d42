"""The work of the workers: answering, writing and embedding."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localrag.answer.types import UNWATCHED, Answer, Watch
from localrag.corpus.config import Config, JournalConfig
from localrag.corpus.inference.opening import open_chat, open_embedder
from localrag.corpus.workspace import Workspace
from localrag.methods.answering import MethodResources, answering_method, open_answers
from localrag.ops.cluster.workers import Cluster, Errand, Pool
from localrag.search.indexing.index import Elsewhere
from localrag.search.types import Query
from localrag.text.progress import ignore
from localrag_models.chat import ChatRequest, Choice, Message, Reply, never, overlook
from localrag_models.embedding import Closing

if TYPE_CHECKING:
    from localrag_models.chat import ChatModel
    from localrag_models.embedding import Embedder, Vectors


def joined(address: str, config: Config, workers: int = 0) -> AbstractContextManager[Cluster]:
    """Join a cluster, or start one; see `Cluster.open`, also for the errors.

    `address` is its head node, or `localrag.ops.cluster.workers.LOCAL`; `workers` 0 starts as
    many as the processors allow.
    """
    return Cluster.open(address, workers=workers, threads=on_workers(config).runtime.threads)


def on_workers(config: Config) -> Config:
    """The settings of a worker: one processor unless `runtime.threads` says more."""
    threads = config.runtime.threads or 1
    return config.model_copy(
        update={"runtime": config.runtime.model_copy(update={"threads": threads})}
    )


def answers_on(
    cluster: Cluster,
) -> Callable[[Workspace, str, Config], AbstractContextManager["RemoteAnswers"]]:
    """Return a function for opening the answer source of a batch on a cluster."""

    @contextmanager
    def opened(workspace: Workspace, corpus: str, asked: Config) -> Iterator["RemoteAnswers"]:
        # The journal is kept here: a worker may have a copy of the workspace.
        config = on_workers(asked).model_copy(update={"journal": JournalConfig()})
        errand = Errand(_Answering(corpus, config), workspace, corpus, config)
        resources = MethodResources(workspace, corpus, asked)
        note = partial(resources.write_down, method=answering_method(asked).name)
        with closing(cluster.pool(errand)) as pool:
            yield RemoteAnswers(pool, note)

    return opened


class RemoteAnswers:
    """Answers questions on workers; fulfils `localrag.ops.batch.types.AnswerSource`.

    `note` is called with each question before it is asked.
    """

    def __init__(self, pool: Pool, note: Callable[[Query], object] = ignore) -> None:
        self._pool = pool
        self._note = note

    @property
    def parallel(self) -> int:
        return self._pool.parallel

    def answer(self, query: Query, watch: Watch = UNWATCHED) -> Answer:
        """Answer one question; raises `Cancelled` and the errors of `Answerer`."""
        self._note(query)
        answer: Answer = self._pool.call(query, watch.cancelled)
        return answer


@dataclass(frozen=True, slots=True)
class _Answering:
    corpus: str
    config: Config

    @contextmanager
    def __call__(self, home: Path) -> Iterator[Callable[[Query], Answer]]:
        with open_answers(Workspace(home), self.corpus, self.config) as answers:
            yield answers.answer


def chat_on(cluster: Cluster) -> "Callable[[Workspace, Config], RemoteChat | None]":
    """Return a function for opening the chat model of the settings on the workers."""

    def opened(workspace: Workspace, config: Config) -> "RemoteChat | None":
        if not config.chat.model:
            return None
        config = on_workers(config)
        return RemoteChat(cluster.pool(Errand(_Writing(config), workspace, config=config)))

    return opened


_Call = tuple[str, tuple[Any, ...]]


class RemoteChat(Closing):
    """A chat model on workers; fulfils `localrag_models.chat.ChatModel`.

    A reply comes as a whole.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        name, self.context = pool.call(("about", ()))
        super().__init__(name)
        self.parallel = pool.parallel

    def count(self, messages: Sequence[Message]) -> int:
        return int(self._pool.call(("count", (messages,))))

    def chat(
        self,
        request: ChatRequest,
        on_text: Callable[[str], None] = ignore,
        cancelled: Callable[[], bool] = never,
        on_read: Callable[[int, int], None] = overlook,
    ) -> Reply:
        del on_read
        reply: Reply = self._pool.call(("chat", (request,)), cancelled)
        on_text(reply.text)
        return reply

    def choose(
        self,
        messages: Sequence[Message],
        options: Sequence[str],
        cancelled: Callable[[], bool] = never,
    ) -> Choice | None:
        choice: Choice | None = self._pool.call(("choose", (messages, options)), cancelled)
        return choice

    def _release(self) -> None:
        self._pool.close()


@dataclass(frozen=True, slots=True)
class _Writing:
    config: Config

    @contextmanager
    def __call__(self, home: Path) -> Iterator[Callable[[_Call], Any]]:
        model = open_chat(Workspace(home), self.config)
        assert model is not None
        with model:
            yield lambda call: _of_chat(model, *call)


def _of_chat(model: "ChatModel", name: str, given: tuple[Any, ...]) -> Any:
    return (model.id, model.context) if name == "about" else getattr(model, name)(*given)


def indexing_on(cluster: Cluster) -> Elsewhere:
    """Analyse and embed on a cluster; the embedder here only splits the texts."""

    def opened(workspace: Workspace, config: Config) -> "Embedder | None":
        config = on_workers(config)
        here = open_embedder(workspace, config)
        if here is None:
            return None
        errand = Errand(_Embedding(config), workspace, config=config)
        return RemoteEmbedder(here, cluster.pool(errand))

    return Elsewhere(cluster, opened, cluster.parallel)


class RemoteEmbedder(Closing):
    """An embedder of passages on workers, and of queries here; fulfils `Embedder`."""

    def __init__(self, here: "Embedder", pool: Pool) -> None:
        self._here = here
        self._pool = pool
        self.dimension, self.max_tokens = here.dimension, here.max_tokens
        super().__init__(here.id)

    def windows(self, text: str, header: str = "") -> list[str]:
        return self._here.windows(text, header)

    def embed_queries(self, texts: Sequence[str]) -> "Vectors":
        return self._here.embed_queries(texts)

    def embed_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] | None = None
    ) -> "Vectors":
        vectors: Vectors = self._pool.call(list(texts))
        if on_progress is not None:
            on_progress(len(texts))
        return vectors

    def _release(self) -> None:
        self._pool.close()
        self._here.close()


@dataclass(frozen=True, slots=True)
class _Embedding:
    config: Config

    @contextmanager
    def __call__(self, home: Path) -> Iterator[Callable[[Sequence[str]], "Vectors"]]:
        model = open_embedder(Workspace(home), self.config)
        assert model is not None
        with model:
            yield model.embed_passages

"""The runtimes: what runs a model, and how it is opened. They are told apart here and nowhere else.

A runtime is a module below `backends` and an entry in `BY_NAME` or `BY_FORMAT`. The module offers
what the runtime can do, as functions of these names:

- ``open_chat``, ``open_embedder``, ``open_reranker``: open the model that a `ModelSpec` tells;
- ``embedder_id``: the id that the embedder would have, without loading it;
- ``list_models``, ``pull_model``: of a server that keeps models itself, which it has, and getting
  more of them.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from localrag_models.chat import (
    ChatModel,
    ChatRequest,
    Choice,
    Message,
    Reply,
    ignore,
    never,
    overlook,
)
from localrag_models.errors import N_, ServerTrouble, WrongKind

if TYPE_CHECKING:
    from localrag_models.backends.ollama import OllamaModel
    from localrag_models.chat import ChatModel
    from localrag_models.embedding import Embedder, Prefixes, Reranker
    from localrag_models.files import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """Which model is to be run, and how; a runtime takes of it what concerns it.

    Attributes:
        name: of the model, as its server or the store knows it.
        path: the file or folder of an installed model.
        id: names model and weights; empty for one that the runtime makes.
        prefixes: of an embedder; None for those that its folder or family tells.
        server: address of the server.
        servers: addresses, where several servers have the same chat model; else none.
        context: tokens of prompt and reply together; 0 leaves it to the runtime.
        timeout: seconds without a byte after which a server counts as stuck.
        parallel: calls sent to a server at the same time.
        threads: to compute with; 0 leaves it to the runtime.
        gpu_layers: layers to put on a GPU, where there is one; -1 for all.
        on_load: told which share of the weights is loaded, from 0 to 1. What it raises ends the
            loading and passes through.
    """

    name: str
    path: Path = Path()
    id: str = ""
    prefixes: "Prefixes | None" = None
    server: str = ""
    servers: tuple[str, ...] = ()
    context: int = 0
    timeout: float = 300.0
    parallel: int = 1
    threads: int = 0
    gpu_layers: int = -1
    on_load: Callable[[float], None] | None = None


@dataclass(frozen=True, slots=True)
class Runtime:
    """What runs models.

    Attributes:
        name: for messages.
        module: of the back end, imported when it is first used.
        package: that has to be installed for it; empty where none has.
        address: of its server, unless another is named; empty where one has to be, None where it
            runs in this process.
    """

    name: str
    module: str
    package: str = ""
    address: str | None = None

    @property
    def installed(self) -> bool:
        """Whether the package that it needs is there."""
        return not self.package or find_spec(self.package) is not None

    def demand(self, kind: str) -> None:
        """Go on only where it runs models of a kind: ``chat``, ``embedder`` or ``reranker``.

        Raises:
            WrongKind: it does not.
        """
        self._offered(f"open_{kind}")

    def open_chat(self, spec: ModelSpec) -> "ChatModel":
        """Open a chat model; a `ModelError` where it cannot be used."""
        open_one = self._offered("open_chat")
        if spec.servers:
            from localrag_models.runtimes import SeveralServersChat

            return SeveralServersChat(
                spec.servers,
                lambda address: open_one(replace(spec, server=address)),
                parallel=spec.parallel,
            )
        model: ChatModel = open_one(spec)
        return model

    def open_embedder(self, spec: ModelSpec) -> "Embedder":
        """Open an embedder; a `ModelError` where it cannot be used."""
        model: Embedder = self._offered("open_embedder")(spec)
        return model

    def open_reranker(self, spec: ModelSpec) -> "Reranker":
        """Open a reranker; a `ModelError` where it cannot be used."""
        model: Reranker = self._offered("open_reranker")(spec)
        return model

    def embedder_id(self, spec: ModelSpec) -> str:
        """Names an embedder and its weights.

        Raises:
            ModelError: there is no such embedder, or its server cannot be asked.
        """
        return str(self._offered("embedder_id")(spec))

    def list_models(self, server: str) -> "list[OllamaModel]":
        """The models that a server has.

        Raises:
            WrongKind: such servers do not tell.
            ModelError: the server cannot be asked.
        """
        models: list[OllamaModel] = self._offered("list_models")(server or self.address)
        return models

    def pull_model(self, name: str, server: str, on_progress: "Progress") -> None:
        """Have a server fetch a model.

        Raises:
            WrongKind: such servers do not.
            ModelError: the server cannot be asked, or the pull did not end well.
        """
        self._offered("pull_model")(name, server or self.address, on_progress)

    def _offered(self, function: str) -> Callable[..., Any]:
        offered: Callable[..., Any] | None = getattr(import_module(self.module), function, None)
        if offered is None:
            raise WrongKind(
                N_("{runtime} does not offer this ({function})."),
                N_("Use a model that something else runs."),
                runtime=self.name,
                function=function,
            )
        return offered


BY_NAME: Mapping[str, Runtime] = {
    "ollama": Runtime(
        "Ollama", "localrag_models.backends.ollama", address="http://127.0.0.1:11434"
    ),
    "openai": Runtime("Model server", "localrag_models.backends.openai", address=""),
}
"""The runtimes that stand before the name of a model: ``ollama:qwen3:8b``."""

BY_FORMAT: Mapping[str, Runtime] = {
    "gguf": Runtime("llama.cpp", "localrag_models.backends.llama_cpp", "llama_cpp"),
    "sentence-transformers": Runtime(
        "sentence-transformers",
        "localrag_models.backends.sentence_transformers",
        "sentence_transformers",
    ),
}
"""The runtimes of installed models, by the format of their files."""


def named_runtime(model: str) -> tuple[Runtime, str] | None:
    """The runtime that stands before the name of a model, and that name; None where none does."""
    runtime, colon, name = model.partition(":")
    return (BY_NAME[runtime], name) if colon and runtime in BY_NAME else None


T = TypeVar("T")

REST = 30.0
"""Seconds for which a server that failed is left out."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Server:
    """A server, and how it is; its model is opened when it is first needed."""

    address: str
    model: ChatModel | None = None
    busy: int = 0
    rests_until: float = 0.0
    opening: threading.Lock = field(default_factory=threading.Lock)


class SeveralServersChat:
    """A chat model on several servers; fulfils `localrag_models.chat.ChatModel`.

    A server that fails in passing is left out for a while, and what it was asked goes to another,
    unless a piece of its reply was heard. Where all are left out, the one that rested longest is
    asked again.
    """

    def __init__(
        self,
        addresses: Sequence[str],
        open_one: Callable[[str], ChatModel],
        *,
        parallel: int,
        rest: float = REST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Find one server that answers.

        Args:
            addresses: of the servers, of which each has the same model.
            open_one: opens the model of one.
            parallel: calls sent to each at the same time.
            rest: seconds for which one that failed is left out.
            clock: tells the seconds.

        Raises:
            ModelError: none of them can be used; what the last one failed with.
        """
        self._servers = [_Server(address) for address in addresses]
        self._open_one = open_one
        self._rest = rest
        self._clock = clock
        self._choosing = threading.Lock()
        self.parallel = parallel * len(addresses)
        self.id, self.context = self._on_one(lambda model: (model.id, model.context))

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens of the prompt made of `messages`."""
        return self._on_one(lambda model: model.count(messages))

    def chat(
        self,
        request: ChatRequest,
        on_text: Callable[[str], None] = ignore,
        cancelled: Callable[[], bool] = never,
        on_read: Callable[[int, int], None] = overlook,
    ) -> Reply:
        """Answer a request; see `localrag_models.chat.ChatModel.chat`."""
        heard = False

        def hear(piece: str) -> None:
            nonlocal heard
            heard = True
            on_text(piece)

        # Whether anybody listens decides whether a malformed reply is asked for once more.
        listener = ignore if on_text is ignore else hear
        return self._on_one(
            lambda model: model.chat(request, listener, cancelled, on_read),
            again=lambda: not heard and not cancelled(),
        )

    def choose(
        self,
        messages: Sequence[Message],
        options: Sequence[str],
        cancelled: Callable[[], bool] = never,
    ) -> Choice | None:
        """Weigh answers; see `localrag_models.chat.ChatModel.choose`."""
        return self._on_one(
            lambda model: model.choose(messages, options, cancelled),
            again=lambda: not cancelled(),
        )

    def close(self) -> None:
        """Close the connections; calling it twice does no harm."""
        for server in self._servers:
            if server.model is not None:
                server.model.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _on_one(
        self, call: Callable[[ChatModel], T], again: Callable[[], bool] = lambda: True
    ) -> T:
        """Call one server, and others where it fails in passing; each once at most."""
        asked: list[_Server] = []
        while True:
            with self._least_busy(asked) as server:
                asked.append(server)
                try:
                    return call(self._opened(server))
                except ServerTrouble as error:
                    server.rests_until = self._clock() + self._rest
                    if len(asked) == len(self._servers) or not again():
                        raise
                    _log.warning(N_("%s is left out for a while: %s"), server.address, error)

    @contextmanager
    def _least_busy(self, asked: Sequence[_Server]) -> Iterator[_Server]:
        with self._choosing:
            now = self._clock()
            left = [one for one in self._servers if all(one is not other for other in asked)]
            rested = [one for one in left if one.rests_until <= now]
            if rested:
                server = min(rested, key=lambda one: one.busy)
            else:
                server = min(left, key=lambda one: one.rests_until)
            server.busy += 1
        try:
            yield server
        finally:
            with self._choosing:
                server.busy -= 1

    def _opened(self, server: _Server) -> ChatModel:
        with server.opening:
            if server.model is None:
                server.model = self._open_one(server.address)
            return server.model

"""The runtimes that run models, and how each model is opened.

A runtime is a module below `backends` and an entry in `BY_NAME` or `BY_FORMAT`. The module may have
these functions:

- ``open_chat``, ``open_embedder``, ``open_reranker``: open the model of a `ModelSpec`;
- ``embedder_id``: the id of the embedder, without loading it;
- ``placement``: the place of the model, without loading it;
- ``list_models``, ``pull_model``: for a server that keeps models itself.
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
from typing import TYPE_CHECKING, Any, TypeVar

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
from localrag_models.embedding import Closing
from localrag_models.errors import N_, ServerTrouble, WrongKind
from localrag_models.thinking import Effort, Thinking

if TYPE_CHECKING:
    from localrag_models.chat import ChatModel
    from localrag_models.embedding import Embedder, Prefixes, Reranker
    from localrag_models.files import Progress
    from localrag_models.hardware import Placement


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """The model to run, and how; each runtime uses its part.

    Attributes:
        name: on its server or in the store.
        path: the file or folder of an installed model.
        id: names model and weights; empty for the runtime's own.
        prefixes: of an embedder; None for the prefixes of its folder or family.
        server: address of the server.
        servers: addresses of several servers with the same chat model.
        context: tokens of prompt and reply together; 0 for the runtime's choice.
        timeout: seconds without a byte until a server counts as stuck.
        parallel: calls sent to a server at the same time.
        threads: to compute with; 0 for the runtime's choice.
        gpu_layers: layers on a GPU, if there is one; -1 for all.
        thinking: whether a chat model thinks before it answers.
        effort: how long it may think.
        remembered: file of the ways to bind replies on servers; None to probe each time.
        on_load: called with the loaded share of the weights, from 0 to 1. An error it raises ends
            the loading.
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
    thinking: Thinking = "off"
    effort: Effort = "medium"
    remembered: Path | None = None
    on_load: Callable[[float], None] | None = None


@dataclass(frozen=True, slots=True)
class OllamaModel:
    """A model on an Ollama server."""

    name: str
    size: int
    digest: str
    family: str
    parameters: str
    quantization: str


@dataclass(frozen=True, slots=True)
class Runtime:
    """A program or library that runs models.

    Attributes:
        name: for messages.
        module: of the back end, imported when first used.
        package: that it needs; empty for none.
        address: default address of its server; empty if one must be given, None without a server.
    """

    name: str
    module: str
    package: str = ""
    address: str | None = None

    @property
    def installed(self) -> bool:
        return not self.package or find_spec(self.package) is not None

    def demand(self, kind: str) -> None:
        """Make sure that it runs models of a kind: ``chat``, ``embedder`` or ``reranker``.

        Raises:
            WrongKind: it does not.
        """
        self._offered(f"open_{kind}")

    def open_chat(self, spec: ModelSpec) -> "ChatModel":
        """Open a chat model, or raise a `ModelError`."""
        open_one = self._offered("open_chat")
        if spec.servers:
            return SeveralServersChat(
                spec.servers,
                lambda address: open_one(replace(spec, server=address)),
                parallel=spec.parallel,
            )
        model: ChatModel = open_one(spec)
        return model

    def open_embedder(self, spec: ModelSpec) -> "Embedder":
        model: Embedder = self._offered("open_embedder")(spec)
        return model

    def open_reranker(self, spec: ModelSpec) -> "Reranker":
        model: Reranker = self._offered("open_reranker")(spec)
        return model

    def embedder_id(self, spec: ModelSpec) -> str:
        """The id of an embedder and its weights, or a `ModelError`."""
        return str(self._offered("embedder_id")(spec))

    def placement(self, spec: ModelSpec) -> "Placement | None":
        """The place of a model, without loading it; None if the runtime does not say.

        Raises:
            ModelError: its server does not answer.
        """
        placed: Callable[[ModelSpec], Placement] | None = getattr(
            import_module(self.module), "placement", None
        )
        return placed(spec) if placed else None

    def list_models(self, server: str) -> list[OllamaModel]:
        """The models of a server.

        Raises:
            WrongKind: such servers do not list them.
            ModelError: the server does not answer.
        """
        models: list[OllamaModel] = self._offered("list_models")(server or self.address)
        return models

    def pull_model(self, name: str, server: str, on_progress: "Progress") -> None:
        """Let a server fetch a model.

        Raises:
            WrongKind: such servers cannot.
            ModelError: the server does not answer, or the pull failed.
        """
        self._offered("pull_model")(name, server or self.address, on_progress)

    def _offered(self, function: str) -> Callable[..., Any]:
        offered: Callable[..., Any] | None = getattr(import_module(self.module), function, None)
        if offered is None:
            raise WrongKind(
                N_("{runtime} does not offer this ({function})."),
                N_("Use a model run in another way."),
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
"""The runtimes named before a model: ``ollama:qwen3:8b``."""

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
    """The runtime and the name in ``ollama:qwen3:8b``; None without a runtime."""
    runtime, colon, name = model.partition(":")
    return (BY_NAME[runtime], name) if colon and runtime in BY_NAME else None


T = TypeVar("T")

REST = 30.0
"""Seconds of rest after a failure."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Server:
    """A server and its state; its model is opened when first needed."""

    address: str
    model: ChatModel | None = None
    busy: int = 0
    rests_until: float = 0.0
    opening: threading.Lock = field(default_factory=threading.Lock)


class SeveralServersChat(Closing):
    """A chat model on several servers; fulfils `localrag_models.chat.ChatModel`.

    A server with a transient failure rests for a while, and its request goes to another, unless a
    piece of the reply was heard. If all rest, the longest resting one is asked.
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

        Raises:
            ModelError: none can be used; the last error.
        """
        self._servers = [_Server(address) for address in addresses]
        self._open_one = open_one
        self._rest = rest
        self._clock = clock
        self._choosing = threading.Lock()
        self.parallel = parallel * len(addresses)
        super().__init__(self._on_one(lambda model: model.id))

    @property
    def context(self) -> int:
        """The smallest of the servers in use; it may shrink (`ChatModel.context`)."""
        return min(one.model.context for one in self._servers if one.model is not None)

    def count(self, messages: Sequence[Message]) -> int:
        return self._on_one(lambda model: model.count(messages))

    def chat(
        self,
        request: ChatRequest,
        on_text: Callable[[str], None] = ignore,
        cancelled: Callable[[], bool] = never,
        on_read: Callable[[int, int], None] = overlook,
    ) -> Reply:
        heard = False

        def hear(piece: str) -> None:
            nonlocal heard
            heard = True
            on_text(piece)

        # A malformed reply is asked for once more only if nobody listens.
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
        return self._on_one(
            lambda model: model.choose(messages, options, cancelled),
            again=lambda: not cancelled(),
        )

    def _release(self) -> None:
        for server in self._servers:
            if server.model is not None:
                server.model.close()

    def _on_one(
        self, call: Callable[[ChatModel], T], again: Callable[[], bool] = lambda: True
    ) -> T:
        """Call one server, and others after transient failures; each at most once."""
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

"""Models on an Ollama server (API of version 0.34; older ones are understood)."""

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from localrag_models.backends.chat_reranker import ChatReranker
from localrag_models.backends.servers.binding import Binds, Schema, Way, said_in
from localrag_models.backends.servers.chat import LARGEST_DEFAULT, ServerChat, agreed_context
from localrag_models.backends.servers.draft import Asked, Event, likely
from localrag_models.backends.servers.embedder import (
    LARGEST_INPUT,
    ServerEmbedder,
    demand_pooling,
    demand_whole,
)
from localrag_models.backends.servers.http import (
    Json,
    Retry,
    Server,
    StreamLeft,
    excerpt,
    text_of,
    tokens,
    warn,
)
from localrag_models.chat import Finish, never
from localrag_models.embedding import Prefixes, well_formed
from localrag_models.errors import (
    N_,
    BackendMissing,
    Cure,
    ModelError,
    ModelMissing,
    ServerRefused,
    TransferFailed,
    WrongKind,
)
from localrag_models.families import family_of, pooling_called, prefixes_of
from localrag_models.files import Progress, silent
from localrag_models.hardware import Placement
from localrag_models.runtimes import ModelSpec, OllamaModel
from localrag_models.thinking import Effort, Thinking, speaks_harmony

if TYPE_CHECKING:
    from ollama import Client, ListResponse, ProgressResponse

    from localrag_models.embedding import Vectors

_LESS = N_("{model!r} has a context of {available:,} tokens, not of {needed:,}.")
_LIST_SECONDS = 30.0
_LOOK_SECONDS = 3.0
_PULL_SECONDS = 300.0
_READ_BY_THE_CLIENT = frozenset(
    {"OLLAMA_API_KEY", "OLLAMA_HOST", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE"}
)


class OllamaServer(Server):
    """An Ollama server.

    `timeout` is in seconds without a byte, `model` the name for requests about one.
    """

    def __init__(self, address: str, *, timeout: float, model: str | None = None) -> None:
        if model == "":
            raise ModelMissing(
                N_("No model of Ollama is named."), N_("Write ollama:NAME; the names: ollama list")
            )
        super().__init__(
            address,
            name="Ollama",
            cure=N_("Start it: ollama serve"),
            probabilities=N_("Update Ollama: it gives them (logprobs) since version 0.12.11."),
            binding=N_(
                "Update Ollama: older ones ignore a schema if some families do not think. Else set "
                "thinking on, or choose another model."
            ),
            timeout=timeout,
        )
        self.model = well_formed(model or "")
        with self._failures():
            self._ollama = _client_class()(
                self.address,
                follow_redirects=False,
                # The client's own error has no status if the body is JSON but no object.
                event_hooks={"request": [_drop_key], "response": [self._demand_ok]},
                # With a key given it does not read OLLAMA_API_KEY, which is for another server.
                **{**self._options, "headers": {"Authorization": "dropped"}},
            )

    def refusal(self, status: int, message: str) -> ModelError:
        if status == 404 and "model" in message:
            return self.missing()
        if "does not support" in message:
            return WrongKind(
                N_("{server} cannot use {model!r} so: {said}"),
                N_("See its abilities: ollama show {model}"),
                server=self.described,
                model=self.model,
                said=message,
            )
        return super().refusal(status, message)

    @contextmanager
    def client(self) -> Iterator["Client"]:
        """The client that Ollama publishes; the block may only call it.

        Raises:
            ModelError: by the status; `ServerBroke` for an invalid answer.
        """
        with self._failures():
            try:
                yield self._ollama
            except ConnectionError as error:
                raise self._unreachable(error.__context__) from error
            except (ValueError, TypeError, AttributeError, RecursionError) as error:
                # The client passes on any error of json and pydantic.
                sent = getattr(error, "doc", "") or " ".join(str(error).splitlines()[:3])
                raise self.broke(
                    N_("{server} sent an answer that is not Ollama's: {said!r}"), said=excerpt(sent)
                ) from error

    def show(self) -> "ModelCard":
        """Ask the server about the model.

        Raises:
            ModelMissing: it has no model of this name.
            ServerRefused: the model is on another host, which would get every prompt.
        """
        # The client drops `remote_host`, and requires fields that such cards do not have.
        shown = self.post("/api/show", {"model": self.model})
        if host := shown.get("remote_host"):
            raise ServerRefused(
                N_(
                    "{model!r} does not run on {server}, which would send every prompt on to "
                    "{host}."
                ),
                N_("Choose a model that runs here: ollama list"),
                model=self.model,
                server=self.described,
                host=excerpt(str(host)),
            )
        return ModelCard(shown)

    def version(self) -> str:
        """The version of the server; empty if it does not say."""
        try:
            return text_of(self.get("/api/version").get("version"))
        except ServerRefused:
            return ""

    def models(self) -> list[OllamaModel]:
        with self.client() as client:
            listed = client.list().models
        return [_model(each) for each in listed]

    def missing(self) -> ModelMissing:
        """The error for a model that the server does not have."""
        return ModelMissing(
            N_("{server} has no model {model!r}."),
            N_("Get it: ollama pull {model}"),
            server=self.described,
            model=self.model,
        )

    def close(self) -> None:
        self._ollama.close()  # type: ignore[no-untyped-call]
        super().close()


class ModelCard:
    """A server's description of a model.

    Attributes:
        capabilities: of the model; None on an old server.
        context: tokens the model was trained for; 0 if unknown.
        dimension: length of its vectors; 0 if unknown.
        architecture: of its weights; empty if unknown.
        modified: when the model came to the server; empty if unknown.
        pooling: of the vectors of tokens; None if unknown.
    """

    def __init__(self, shown: Json) -> None:
        capabilities = shown.get("capabilities")
        self.capabilities = capabilities if isinstance(capabilities, list) else None
        listed = shown.get("model_info")
        info: Json = listed if isinstance(listed, dict) else {}

        def told_of(what: str) -> int:
            return tokens(info.get(f"{info.get('general.architecture')}.{what}")) or 0

        self.architecture = text_of(info.get("general.architecture"))
        self.modified = text_of(shown.get("modified_at"))
        self.context = told_of("context_length")
        self.dimension = told_of("embedding_length")
        self.pooling = pooling_called(told_of("pooling_type"))


@cache
def _client_class() -> "type[Client]":
    try:
        # Its package creates a client on import, and fails if the environment names an invalid
        # host, proxy or certificate.
        with _environment_hidden():
            from ollama import Client
    except ImportError as error:
        raise BackendMissing(
            N_("The client of Ollama cannot be loaded ({why})."),
            N_("pip install --upgrade ollama"),
            why=error,
        ) from error
    return Client


@contextmanager
def _environment_hidden() -> Iterator[None]:
    hidden = {
        name: value
        for name, value in os.environ.items()
        if name in _READ_BY_THE_CLIENT or name.lower().endswith("_proxy")
    }
    for name in hidden:
        os.environ.pop(name, None)
    try:
        yield
    finally:
        os.environ.update(hidden)


def _drop_key(request: httpx.Request) -> None:
    request.headers.pop("Authorization", None)


class OllamaChat(ServerChat):
    """A chat model on an Ollama server.

    Several families ignore ``format`` if ``think`` is false, and keep to it if they think. The
    probe finds out; see `localrag_models.backends.servers.binding`.

    The arguments are fields of `ModelSpec`; `on_retry` is called before each further attempt.

    Raises:
        ServerUnreachable: no server answers.
        ModelMissing: the server has no such model.
        WrongKind: the model cannot chat.
        ContextExceeded: `context` is more than the model has.
    """

    def __init__(
        self,
        model: str,
        *,
        server: str,
        context: int = 0,
        timeout: float = 300.0,
        parallel: int = 1,
        thinking: Thinking = "off",
        effort: Effort = "medium",
        remembered: Path | None = None,
        on_retry: Callable[[Retry], None] = warn,
    ) -> None:
        ollama = OllamaServer(server, timeout=timeout, model=model)
        try:
            card = ollama.show()
            _demand(
                model,
                card,
                "completion",
                N_("{model!r} is not a chat model: it offers {capabilities}."),
                N_("Choose a chat model."),
            )
            context = agreed_context(model, _LESS, context, card.context, LARGEST_DEFAULT)
        except BaseException:
            ollama.close()
            raise
        # A model that cannot think may refuse the option.
        self._can_think = card.capabilities is None or "thinking" in card.capabilities
        super().__init__(
            model,
            ollama,
            context=context,
            parallel=parallel,
            on_retry=on_retry,
            thinking=thinking,
            effort=effort,
            remembered=remembered,
            thinks=thinking != "off" and "thinking" in (card.capabilities or ()),
            harmony=speaks_harmony(card.architecture or model),
        )
        self._ollama = ollama
        self._card = card

    def _exchange(self, asked: Asked) -> tuple[str, Json]:
        request = asked.request
        body: Json = {
            "model": self._model,
            "messages": self._sent(request.messages),
            "stream": True,
            # Servers since 0.12.4 then refuse a long prompt; older ones cut it.
            "truncate": False,
            "shift": False,
            "options": {
                "num_ctx": self._whole,
                "num_predict": asked.limit,
                "temperature": request.temperature,
                "top_p": request.top_p,
                "seed": request.seed,
                "stop": list(request.stop),
                # A quotation repeats its source: the servers' penalty would change it.
                "repeat_penalty": 1.0,
            },
            **self._told_to_think(asked.way.thinking),
        }
        if request.schema is not None:
            body |= asked.way.spelled(request.schema)
        if asked.candidates:
            body |= {"logprobs": True, "top_logprobs": asked.candidates}
        return "/api/chat", body

    def _told_to_think(self, thinking: Thinking) -> Json:
        if self._harmony:
            # It knows levels only, and thinks at least a little.
            return {"think": "low" if thinking == "off" else self._effort}
        return {} if thinking == "auto" or not self._can_think else {"think": thinking == "on"}

    def _ways(self) -> Sequence[Way]:
        others: tuple[Thinking, ...] = ("on", "off") if self._can_think else ()
        told = dict.fromkeys((self._thinking, *others))
        return (
            *(
                Way(
                    name=f"format, thinking {thinking}",
                    thinking=thinking,
                    binds=Binds.SCHEMA,
                    spelled=_format,
                )
                for thinking in told
            ),
            Way(
                name="JSON", thinking=self._thinking, binds=Binds.JSON, spelled=lambda _: _ANY_JSON
            ),
        )

    def _version(self) -> str:
        version = self._ollama.version()
        return version and f"{version} {self._card.modified}".strip()

    def _event(self, line: str) -> Event | None:
        told = self._server.parsed(line)
        if error := told.get("error"):
            raise self._server.refusal(*said_in(error))
        message = told.get("message")
        said = message if isinstance(message, dict) else {}
        return Event(
            text=text_of(said.get("content")),
            thinking=text_of(said.get("thinking")),
            finish=_finish(told) if told.get("done") else None,
            prompt=tokens(told.get("prompt_eval_count")),
            cached=tokens(told.get("prompt_eval_cached_count")),
            completion=tokens(told.get("eval_count")),
            candidates=likely(told.get("logprobs")),
        )


_ANY_JSON: Json = {"format": "json"}


def _format(schema: Schema) -> Json:
    return {"format": schema}


def _finish(told: Json) -> Finish:
    return Finish.LENGTH if told.get("done_reason") == "length" else Finish.STOP


class OllamaEmbedder(ServerEmbedder):
    """An embedding model on an Ollama server; fulfils `localrag_models.embedding.Embedder`.

    The arguments are as in `OllamaChat`. `prefixes` None takes the prefixes of its family, by
    the name.

    Raises:
        ServerUnreachable: no server answers.
        ModelMissing: the server has no such model.
        WrongKind: the model cannot embed, or its file pools otherwise than its family.
    """

    def __init__(
        self,
        model: str,
        *,
        server: str,
        timeout: float = 300.0,
        prefixes: Prefixes | None = None,
        id: str = "",  # noqa: A002 - the name of the contract
        on_retry: Callable[[Retry], None] = warn,
    ) -> None:
        self._server = OllamaServer(server, timeout=timeout, model=model)
        try:
            card = self._server.show()
            _demand(
                model,
                card,
                "embedding",
                N_("{model!r} is not an embedder: it offers {capabilities}."),
                N_("Choose an embedding model, for example bge-m3."),
            )
            family = family_of(model)
            if family and prefixes is None:
                demand_pooling(model, self._server.described, card.pooling, family.pooling)
            self._input = min(card.context or LARGEST_INPUT, LARGEST_INPUT)
            super().__init__(
                id or embedder_id(ModelSpec(name=model, server=server, prefixes=prefixes)),
                card.dimension or len(self._ask(["a"])[0]),
                self._input * 3 // 4,
                prefixes_of(model) if prefixes is None else prefixes,
                on_retry,
            )
        except BaseException:
            self._server.close()
            raise

    def _ask(self, windows: Sequence[str]) -> "Vectors":
        import numpy as np

        with self._server.client() as client:
            told = client.embed(
                self._server.model,
                windows,
                truncate=False,
                options={"num_ctx": self._input, "num_batch": self._input},
            )
        if len(told.embeddings) != len(windows) or not self._fit(told.embeddings):
            raise self._server.no_vectors()
        read = told.prompt_eval_count or 0
        demand_whole(windows, read, self._server.model, N_("Update Ollama."))
        return np.asarray(told.embeddings, np.float32)

    def _fit(self, rows: Sequence[Sequence[float]]) -> bool:
        lengths = {len(row) for row in rows}
        return lengths == {getattr(self, "dimension", max(lengths))} - {0}

    def _release(self) -> None:
        self._server.close()


def embedder_id(spec: ModelSpec) -> str:
    """The id of an embedder and its weights, without loading it: "bge-m3:latest@79076464 (Ollama)".

    Raises:
        ModelMissing: the server has no such model.
        ModelError: the server does not answer.
    """
    model = spec.name
    full = _full(model)
    with closing(OllamaServer(spec.server, timeout=_LIST_SECONDS, model=model)) as server:
        listed = next((each for each in server.models() if each.name == full), None)
        if listed is None:
            raise server.missing()
    prefixes = prefixes_of(model) if spec.prefixes is None else spec.prefixes
    weights = f"{listed.digest} {prefixes}"
    return f"{full}@{blake2b(weights.encode(), digest_size=4).hexdigest()} (Ollama)"


def _demand(model: str, card: ModelCard, capability: str, cause: str, cure: str) -> None:
    if card.capabilities is not None and capability not in card.capabilities:
        capabilities = ", ".join(card.capabilities)
        raise WrongKind(cause, cure, model=model, capabilities=capabilities)


def list_models(server: str) -> list[OllamaModel]:
    """List the models of an Ollama server, or raise a `ModelError`."""
    with closing(OllamaServer(server, timeout=_LIST_SECONDS)) as ollama:
        return ollama.models()


def pull_model(
    model: str,
    server: str,
    on_progress: Progress = silent,
    cancelled: Callable[[], bool] = never,
) -> None:
    """Let an Ollama server fetch a model from its library; a broken pull continues where it was.

    Raises:
        ModelMissing: its library has no such model.
        TransferFailed: the pull failed.
        StreamLeft: `cancelled` returned true.
        ModelError: the server does not answer.
    """
    done = False
    with closing(OllamaServer(server, timeout=_PULL_SECONDS, model=model)) as ollama:
        with closing(_pulled(ollama)) as lines:
            for told in lines:
                if cancelled():
                    raise StreamLeft
                done = told.status == "success"
                on_progress(told.status or "", "", told.completed or 0, told.total or 0)
        if not done:
            raise ollama.broke(
                N_("{server} ended the pull of {model!r} before it was done."), model=model
            )


def _pulled(server: OllamaServer) -> "Generator[ProgressResponse, None, None]":
    from ollama import ResponseError

    with server.client() as client:
        try:
            yield from client.pull(server.model, stream=True)
        except ResponseError as error:
            raise _not_pulled(server.model, error.error) from error


def _not_pulled(model: str, error: str) -> ModelMissing | TransferFailed:
    if "not exist" in error or "not found" in error:
        return ModelMissing(
            N_("The library of Ollama has no model {model!r}: {said}"),
            N_("Look at its name again."),
            model=model,
            said=error,
        )
    return TransferFailed(
        N_("Ollama could not pull {model!r}: {said}"),
        Cure.PULL_AGAIN,
        model=model,
        said=error,
        runtime="ollama",
    )


def _model(listed: "ListResponse.Model") -> OllamaModel:
    details = listed.details
    return OllamaModel(
        name=listed.model or "",
        size=listed.size or 0,
        digest=(listed.digest or "").removeprefix("sha256:"),
        family=(details and details.family) or "",
        parameters=(details and details.parameter_size) or "",
        quantization=(details and details.quantization_level) or "",
    )


def open_chat(spec: ModelSpec) -> OllamaChat:
    """Open a chat model of the server."""
    return OllamaChat(
        spec.name,
        server=spec.server,
        context=spec.context,
        timeout=spec.timeout,
        parallel=spec.parallel,
        thinking=spec.thinking,
        effort=spec.effort,
        remembered=spec.remembered,
    )


def open_embedder(spec: ModelSpec) -> OllamaEmbedder:
    """Open an embedder of the server."""
    return OllamaEmbedder(spec.name, server=spec.server, prefixes=spec.prefixes, id=spec.id)


def open_reranker(spec: ModelSpec) -> ChatReranker:
    """Open a chat model of the server as a reranker: Ollama has no ``/rerank``."""
    return ChatReranker(open_chat(spec), spec.id)


def placement(spec: ModelSpec) -> Placement:
    """The place of a model in the memory of the server, from ``/api/ps``."""
    with closing(OllamaServer(spec.server, timeout=_LOOK_SECONDS, model=spec.name)) as server:
        listed = server.get("/api/ps").get("models")
    full = _full(spec.name)
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict) and full in (each.get("name"), each.get("model")):
            size, in_vram = _bytes(each.get("size")), _bytes(each.get("size_vram"))
            return Placement("GPU" if in_vram else None, size=size, in_vram=in_vram)
    return Placement(None, loaded=False)


def _bytes(told: object) -> int:
    return told if isinstance(told, int) and told > 0 else 0


def _full(name: str) -> str:
    return name if ":" in name.rsplit("/", 1)[-1] else f"{name}:latest"

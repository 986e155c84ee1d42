"""Chat through an Ollama server (its API as of version 0.34; older ones are understood)."""

from collections.abc import Callable

from localrag_models.backends.ollama.server import ModelCard, OllamaServer
from localrag_models.backends.servers.chat import ServerChat
from localrag_models.backends.servers.counts import likely, tokens
from localrag_models.backends.servers.http import Json
from localrag_models.backends.servers.replies import Event
from localrag_models.chat import ChatRequest, Finish
from localrag_models.errors import ContextExceeded, WrongKind
from localrag_models.retrying import Retry, warn

_LARGEST_DEFAULT = 8192


class OllamaChat(ServerChat):
    """A chat model that an Ollama server runs.

    Args:
        model: its name there, ``qwen3:8b``.
        server: address of the server.
        context: tokens of prompt and reply; 0 for what the model has, at most 8,192.
        timeout: seconds without a byte after which the server counts as stuck; loading a model
            takes part of them.
        parallel: calls sent at the same time (the server's OLLAMA_NUM_PARALLEL).
        on_retry: told of each failure that is followed by another attempt.

    Raises:
        ServerUnreachable: nobody answers.
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
        on_retry: Callable[[Retry], None] = warn,
    ) -> None:
        ollama = OllamaServer(server, timeout=timeout, model=model)
        try:
            card = ollama.show()
            context = _agreed(model, card, context)
        except BaseException:
            ollama.close()
            raise
        super().__init__(model, ollama, context=context, parallel=parallel, on_retry=on_retry)
        # A model that cannot think may refuse to be told about it.
        self._can_think = card.capabilities is None or "thinking" in card.capabilities

    def _exchange(self, request: ChatRequest, candidates: int) -> tuple[str, Json]:
        body: Json = {
            "model": self._model,
            "messages": self._sent(request.messages),
            "stream": True,
            # Servers since 0.12.4 then refuse a prompt that is too long; older ones cut it.
            "truncate": False,
            "shift": False,
            "options": {
                "num_ctx": self.context,
                "num_predict": request.max_tokens,
                "temperature": request.temperature,
                "top_p": request.top_p,
                "seed": request.seed,
                "stop": list(request.stop),
                # A quotation repeats its source: the penalty that servers apply would bend it.
                "repeat_penalty": 1.0,
            },
        }
        if self._can_think:
            body["think"] = False
        if request.schema is not None:
            body["format"] = request.schema
        if candidates:
            body |= {"logprobs": True, "top_logprobs": candidates}
        return "/api/chat", body

    def _event(self, line: str) -> Event | None:
        told = self._server.parsed(line)
        if error := told.get("error"):
            raise self._server.refusal(500, str(error))
        message = told.get("message")
        said = message if isinstance(message, dict) else {}
        return Event(
            text=_text(said.get("content")),
            thinking=_text(said.get("thinking")),
            finish=_finish(told) if told.get("done") else None,
            prompt=tokens(told.get("prompt_eval_count")),
            cached=tokens(told.get("prompt_eval_cached_count")),
            completion=tokens(told.get("eval_count")),
            candidates=likely(told.get("logprobs")),
        )


def _agreed(model: str, card: ModelCard, context: int) -> int:
    if card.capabilities is not None and "completion" not in card.capabilities:
        raise WrongKind(
            f"{model!r} is no chat model: it offers {', '.join(card.capabilities)}.",
            "Set chat.model to a model that can chat.",
        )
    if context and card.context and context > card.context:
        raise ContextExceeded(
            f"{model!r} has a context of {card.context:,} tokens, not of {context:,}.",
            f"Set chat.context to {card.context} or less, or to 0.",
            needed=context,
            available=card.context,
        )
    return context or min(card.context or _LARGEST_DEFAULT, _LARGEST_DEFAULT)


def _finish(told: Json) -> Finish:
    return Finish.LENGTH if told.get("done_reason") == "length" else Finish.STOP


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""

"""Testing a model: a short fixed task, timed, in a process of its own."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from localrag.config import Config
from localrag.language import _
from localrag.workspace import Workspace

Tell = Callable[[object], None]

_TOKENS = 96
"""Of the reply, at most."""
_EVERY = 0.1
"""Seconds between two words on how far the reply is."""
_QUERY = "渡し舟はいつ出ますか"
_FITTING = "The ferry leaves at seven o'clock every morning; 渡し舟は毎朝七時に出る。"
_OTHER = "The bakery sells bread with walnuts; パン屋は胡桃入りのパンを売る。"


@dataclass(frozen=True, slots=True)
class Writing:
    """The reply as far as it has come; `Telling`."""

    text: str

    def told(self) -> str:
        """The reply, or that the model is being loaded."""
        return self.text or _("loading …")


@dataclass(frozen=True, slots=True)
class ChatTrial:
    """How a chat model did; an `Outcome`.

    Attributes:
        text: its reply.
        tokens: of the reply.
        loading, first, seconds: to load it, to its first token, for the whole reply.
    """

    text: str
    tokens: int
    loading: float
    first: float
    seconds: float

    def told(self) -> str:
        """Speed and waiting."""
        writing = max(self.seconds - self.first, 1e-6)
        return _("{rate} tokens/s · first token after {first} s · loaded in {loading} s").format(
            rate=f"{max(self.tokens - 1, 0) / writing:.1f}",
            first=f"{self.first:.2f}",
            loading=f"{self.loading:.1f}",
        )

    def details(self) -> list[str]:
        """The same, and the reply."""
        return [self.told(), self.text or _("The reply is empty.")]


@dataclass(frozen=True, slots=True)
class EmbedderTrial:
    """How an embedder did; an `Outcome`.

    Attributes:
        dimension: of its vectors.
        alike, other: cosine similarity of a question to a sentence on the same, and on another.
        loading, seconds: to load it, to embed three texts.
    """

    dimension: int
    alike: float
    other: float
    loading: float
    seconds: float

    def told(self) -> str:
        """Whether it tells the sentences apart."""
        line = _("{dimension} dimensions · similarity: same matter {alike}, another {other}")
        return line.format(
            dimension=self.dimension, alike=f"{self.alike:.2f}", other=f"{self.other:.2f}"
        )

    def details(self) -> list[str]:
        """The same, a verdict and the time."""
        return [self.told(), *_verdict(self.alike, self.other, self.loading, self.seconds)]


@dataclass(frozen=True, slots=True)
class RerankerTrial:
    """How a reranker did; an `Outcome`.

    Attributes:
        alike, other: the scores of a passage that answers a question, and of one that does not.
        loading, seconds: to load it, to score two passages.
    """

    alike: float
    other: float
    loading: float
    seconds: float

    def told(self) -> str:
        """Whether it tells the passages apart."""
        line = _("score of a passage that answers {alike}, of another {other}")
        return line.format(alike=f"{self.alike:.2f}", other=f"{self.other:.2f}")

    def details(self) -> list[str]:
        """The same, a verdict and the time."""
        return [self.told(), *_verdict(self.alike, self.other, self.loading, self.seconds)]


def try_model(
    tell: Tell, workspace: Workspace, name: str, kind: str, config: Config, question: str
) -> ChatTrial | EmbedderTrial | RerankerTrial:
    """Load a model and give it its task.

    Args:
        tell: takes `Writing`.
        workspace: where it is installed.
        name: as the settings would name it.
        kind: ``chat``, ``embedder`` or ``reranker``.
        config: the settings that hold else.
        question: for a chat model.

    Raises:
        ModelUnusable: it cannot be used; the cure is named.
    """
    from localrag.inference.failures import named

    tell(Writing(""))
    section = {"chat": "chat", "embedder": "embedding", "reranker": "reranking"}[kind]
    chosen = getattr(config, section).model_copy(update={"model": name})
    config = config.model_copy(update={section: chosen})
    with named():
        if kind == "chat":
            return _chat(tell, workspace, config, question)
        return _embedder(workspace, config) if kind == "embedder" else _reranker(workspace, config)


def _chat(tell: Tell, workspace: Workspace, config: Config, question: str) -> ChatTrial:
    from localrag.inference.opening import open_chat
    from localrag_models.chat import ChatRequest, Message

    began = time.monotonic()
    model = open_chat(workspace, config)
    assert model is not None
    with model:
        asked = time.monotonic()
        pieces: list[str] = []
        first = told = 0.0

        def wrote(piece: str) -> None:
            nonlocal first, told
            now = time.monotonic()
            first = first or now
            pieces.append(piece)
            if now - told >= _EVERY:
                told = now
                tell(Writing("".join(pieces)))

        request = ChatRequest(messages=(Message("user", question),), max_tokens=_TOKENS)
        reply = model.chat(request, wrote)
        ended = time.monotonic()
    return ChatTrial(
        reply.text,
        reply.usage.completion,
        asked - began,
        (first or ended) - asked,
        ended - asked,
    )


def _embedder(workspace: Workspace, config: Config) -> EmbedderTrial:
    from localrag.inference.opening import open_embedder

    began = time.monotonic()
    model = open_embedder(workspace, config)
    assert model is not None
    with model:
        loaded = time.monotonic()
        query = model.embed_queries([_QUERY])[0]
        alike, other = model.embed_passages([_FITTING, _OTHER])
        seconds = time.monotonic() - loaded
        # Vectors of an embedder have the length 1.
        return EmbedderTrial(
            model.dimension, float(query @ alike), float(query @ other), loaded - began, seconds
        )


def _reranker(workspace: Workspace, config: Config) -> RerankerTrial:
    from localrag.inference.opening import open_reranker

    began = time.monotonic()
    model = open_reranker(workspace, config)
    assert model is not None
    with model:
        loaded = time.monotonic()
        alike, other = model.scores(_QUERY, [_FITTING, _OTHER])
        seconds = time.monotonic() - loaded
        return RerankerTrial(float(alike), float(other), loaded - began, seconds)


def _verdict(alike: float, other: float, loading: float, seconds: float) -> list[str]:
    return [
        _("It tells them apart.")
        if alike > other
        else _("It does not tell them apart: not fit for this corpus, or not what it says it is."),
        _("loaded in {loading} s, worked {seconds} s").format(
            loading=f"{loading:.1f}", seconds=f"{seconds:.2f}"
        ),
    ]

"""What is done with models, away from the event loop; `pull_model` alone uses the network.

`remove_model` runs in a thread, all others in a process of their own.
"""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.config import Config
from localrag.language import _
from localrag.progress import BYTES, Phase, Stopwatch
from localrag.workspace import Workspace
from localrag_tui.jobs.step import Steps
from localrag_tui.models.stock import advice
from localrag_tui.wording import size

if TYPE_CHECKING:
    from localrag_models.files import Progress


Tell = Callable[[object], None]


@dataclass(frozen=True, slots=True)
class Installed:
    """A model was installed; an `Outcome`."""

    name: str
    kind: str
    bytes: int

    def told(self) -> str:
        """What was installed."""
        return _("{name} is installed ({size})").format(name=self.name, size=size(self.bytes))

    def details(self) -> list[str]:
        """What was installed, and what to do next."""
        return [self.told(), advice(self.name, self.kind)]


@dataclass(frozen=True, slots=True)
class Exported:
    """A model was written to a file; an `Outcome`."""

    archive: Path

    def told(self) -> str:
        """Where it is."""
        return _("Written to {path}").format(path=self.archive)

    def details(self) -> list[str]:
        """Where it is, and what to do on the other machine."""
        return [self.told(), _("On the other machine: F6, i, and the path of this file.")]


@dataclass(frozen=True, slots=True)
class Verified:
    """Models were compared with their hashes; an `Outcome`.

    Attributes:
        sound: names of those that have not changed.
        damaged: cause and cure of the others.
    """

    sound: tuple[str, ...]
    damaged: tuple[tuple[str, str], ...]

    def told(self) -> str:
        """How many are damaged."""
        if self.damaged:
            return _("{n} damaged: {cause}").format(n=len(self.damaged), cause=self.damaged[0][0])
        return _("Nothing has changed: {names}").format(names=", ".join(self.sound))

    def details(self) -> list[str]:
        """What is wrong with each, and its cure."""
        lines = [line for problem in self.damaged for line in problem]
        if self.sound:
            lines.append(_("Nothing has changed: {names}").format(names=", ".join(self.sound)))
        return lines


def pull_model(tell: Tell, workspace: Workspace, wanted: str, endpoint: str) -> Installed:
    """Fetch a model, as ``localrag models pull``; what a stopped one has left is gone on with."""
    from localrag.inference.opening import named
    from localrag_models.hub import Hub, pull
    from localrag_models.store import ModelStore

    with named():
        hub = Hub(endpoint, os.environ.get("HF_TOKEN", "").strip())
        model = pull(ModelStore(workspace.models), wanted, hub, on_progress=_following(tell))
    return Installed(model.name, model.kind, model.size)


def add_model(tell: Tell, workspace: Workspace, path: Path, name: str) -> Installed:
    """Install a model from a file or folder, as ``localrag models add``."""
    from localrag.inference.opening import named
    from localrag_models.store import ModelStore

    with named():
        model = ModelStore(workspace.models).add(path, name=name, on_progress=_following(tell))
    return Installed(model.name, model.kind, model.size)


def import_model(tell: Tell, workspace: Workspace, archive: Path, name: str) -> Installed:
    """Install a model that was exported elsewhere, as ``localrag models import``."""
    from localrag.inference.opening import named
    from localrag_models.store import ModelStore

    with named():
        store = ModelStore(workspace.models)
        model = store.import_(archive, name=name, on_progress=_following(tell))
    return Installed(model.name, model.kind, model.size)


def export_model(tell: Tell, workspace: Workspace, name: str, archive: Path) -> Exported:
    """Write a model to one file, as ``localrag models export``."""
    from localrag.inference.opening import named
    from localrag_models.store import ModelStore

    with named():
        store = ModelStore(workspace.models)
        return Exported(store.export(name, archive, on_progress=_following(tell)))


def verify_models(tell: Tell, workspace: Workspace, names: Sequence[str]) -> Verified:
    """Read models through and compare them with their hashes."""
    from localrag.inference.opening import as_ours
    from localrag_models.errors import ModelError
    from localrag_models.store import ModelStore

    store, follow = ModelStore(workspace.models), _following(tell)
    sound: list[str] = []
    damaged: list[tuple[str, str]] = []
    for name in names:
        try:
            sound.append(store.verify(name, follow).name)
        except ModelError as error:
            problem = as_ours(error)
            damaged.append((problem.cause, problem.cure))
    return Verified(tuple(sound), tuple(damaged))


def remove_model(workspace: Workspace, name: str) -> None:
    """Remove a model, or what a stopped pull has left; raises as `named` says."""
    from localrag.inference.opening import named
    from localrag_models.store import ModelStore

    with named():
        ModelStore(workspace.models).remove(name)


def _following(tell: Tell) -> "Progress":
    watch = Stopwatch(Steps(tell))

    return lambda step, about, done, total: watch(Phase(step, BYTES, about), done, total)


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
        """What was told, and the reply."""
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
        """What was told, a verdict and the time."""
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
        """What was told, a verdict and the time."""
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
    from localrag.inference.opening import named

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

"""Work on models, in a process of its own (`remove_model`: a thread); `pull_model` downloads."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.corpus.config import Config
from localrag.corpus.workspace import Workspace
from localrag.errors import LocalragError
from localrag.language import _
from localrag.text.progress import BYTES, Phase, Stopwatch
from localrag_tui.models.stock import advice
from localrag_tui.shown import size
from localrag_tui.work.jobs import JobOutcome, Steps

if TYPE_CHECKING:
    from localrag_models.files import Progress
    from localrag_models.store import InstalledModel, ModelStore


Tell = Callable[[object], None]


@contextmanager
def _models(workspace: Workspace) -> "Iterator[ModelStore]":
    from localrag.corpus.inference.opening import named
    from localrag_models.store import ModelStore

    with named():
        yield ModelStore(workspace.models)


def _installed(model: "InstalledModel") -> JobOutcome:
    told = _("{name} is installed ({size})").format(name=model.name, size=size(model.size))
    return JobOutcome(told, (told, advice(model.name, model.kind)), model.name)


def pull_model(tell: Tell, workspace: Workspace, wanted: str, endpoint: str) -> JobOutcome:
    """Fetch a model, as ``localrag models pull``; continue a stopped pull."""
    from localrag_models.hub import Hub, pull

    with _models(workspace) as store:
        hub = Hub(endpoint, os.environ.get("HF_TOKEN", "").strip())
        return _installed(pull(store, wanted, hub, on_progress=_following(tell)))


def add_model(tell: Tell, workspace: Workspace, path: Path, name: str) -> JobOutcome:
    """Install a model from a file or folder, as ``localrag models add``."""
    with _models(workspace) as store:
        return _installed(store.add(path, name=name, on_progress=_following(tell)))


def import_model(tell: Tell, workspace: Workspace, archive: Path, name: str) -> JobOutcome:
    """Install an exported model, as ``localrag models import``."""
    with _models(workspace) as store:
        return _installed(store.import_(archive, name=name, on_progress=_following(tell)))


def export_model(tell: Tell, workspace: Workspace, name: str, archive: Path) -> JobOutcome:
    """Write a model to one file, as ``localrag models export``."""
    with _models(workspace) as store:
        written = store.export(name, archive, on_progress=_following(tell))
    told = _("Written to {path}").format(path=written)
    return JobOutcome(told, (told, _("On the other machine: F6, i, and the path of this file.")))


def verify_models(tell: Tell, workspace: Workspace, names: Sequence[str]) -> JobOutcome:
    """Compare models with their hashes."""
    from localrag.corpus.inference.opening import as_ours
    from localrag_models.errors import ModelError
    from localrag_models.store import ModelStore

    store, follow = ModelStore(workspace.models), _following(tell)
    sound: list[str] = []
    damaged: list[LocalragError] = []
    for name in names:
        try:
            sound.append(store.verify(name, follow).name)
        except ModelError as error:
            damaged.append(as_ours(error))
    unchanged = _("Nothing has changed: {names}").format(names=", ".join(sound))
    lines = [line for problem in damaged for line in (problem.cause, problem.cure)]
    told = unchanged
    if damaged:
        told = _("{n} damaged: {cause}").format(n=len(damaged), cause=damaged[0].cause)
    return JobOutcome(told, (*lines, unchanged) if sound else tuple(lines))


def remove_model(workspace: Workspace, name: str) -> None:
    """Remove a model, or the rest of a stopped pull. Raises `LocalragError`."""
    with _models(workspace) as store:
        store.remove(name)


def _following(tell: Tell) -> "Progress":
    watch = Stopwatch(Steps(tell))

    return lambda step, about, done, total: watch(Phase(step, BYTES, about), done, total)


_TOKENS = 96
"""Most tokens of the reply."""
_EVERY = 0.1
"""Seconds between two events about the reply."""
_QUERY = "渡し舟はいつ出ますか"
_FITTING = "The ferry leaves at seven o'clock every morning; 渡し舟は毎朝七時に出る。"
_OTHER = "The bakery sells bread with walnuts; パン屋は胡桃入りのパンを売る。"


def try_model(
    tell: Tell, workspace: Workspace, name: str, kind: str, config: Config, question: str
) -> JobOutcome:
    """Load a model and test it. Raises `ModelUnusable` if it cannot be used."""
    from localrag.corpus.inference.opening import named

    tell(_("loading …"))
    section = {"chat": "chat", "embedder": "embedding", "reranker": "reranking"}[kind]
    chosen = getattr(config, section).model_copy(update={"model": name})
    config = config.model_copy(update={section: chosen})
    with named():
        if kind == "chat":
            return _chat(tell, workspace, config, question)
        return _embedder(workspace, config) if kind == "embedder" else _reranker(workspace, config)


def _chat(tell: Tell, workspace: Workspace, config: Config, question: str) -> JobOutcome:
    from localrag.corpus.inference.opening import open_chat
    from localrag_models.chat import ChatRequest, Message

    began = time.monotonic()
    model = open_chat(workspace, config)
    assert model is not None
    with model:
        asked = time.monotonic()
        pieces: list[str] = []
        first = heard = 0.0

        def wrote(piece: str) -> None:
            nonlocal first, heard
            now = time.monotonic()
            first = first or now
            pieces.append(piece)
            if now - heard >= _EVERY:
                heard = now
                tell("".join(pieces))

        request = ChatRequest(messages=(Message("user", question),), max_tokens=_TOKENS)
        reply = model.chat(request, wrote)
        ended = time.monotonic()
    first = (first or ended) - asked
    writing = max(ended - asked - first, 1e-6)
    told = _("{rate} tokens/s · first token after {first} s · loaded in {loading} s").format(
        rate=f"{max(reply.usage.completion - 1, 0) / writing:.1f}",
        first=f"{first:.2f}",
        loading=f"{asked - began:.1f}",
    )
    return JobOutcome(told, (told, reply.text or _("The reply is empty.")))


def _embedder(workspace: Workspace, config: Config) -> JobOutcome:
    from localrag.corpus.inference.opening import open_embedder

    began = time.monotonic()
    model = open_embedder(workspace, config)
    assert model is not None
    with model:
        loaded = time.monotonic()
        query = model.embed_queries([_QUERY])[0]
        alike, other = model.embed_passages([_FITTING, _OTHER])
        seconds = time.monotonic() - loaded
        dimension = model.dimension
    # Vectors of an embedder have length 1.
    near, far = float(query @ alike), float(query @ other)
    told = _("{dimension} dimensions · similarity: same matter {alike}, another {other}").format(
        dimension=dimension, alike=f"{near:.2f}", other=f"{far:.2f}"
    )
    return JobOutcome(told, (told, *_verdict(near, far, loaded - began, seconds)))


def _reranker(workspace: Workspace, config: Config) -> JobOutcome:
    from localrag.corpus.inference.opening import open_reranker

    began = time.monotonic()
    model = open_reranker(workspace, config)
    assert model is not None
    with model:
        loaded = time.monotonic()
        alike, other = model.scores(_QUERY, [_FITTING, _OTHER])
        seconds = time.monotonic() - loaded
    told = _("score of a passage that answers {alike}, of another {other}").format(
        alike=f"{alike:.2f}", other=f"{other:.2f}"
    )
    return JobOutcome(told, (told, *_verdict(float(alike), float(other), loaded - began, seconds)))


def _verdict(alike: float, other: float, loading: float, seconds: float) -> list[str]:
    return [
        _("It distinguishes them.")
        if alike > other
        else _(
            "It does not distinguish them: it does not fit this corpus,"
            " or it is another kind of model."
        ),
        _("loaded in {loading} s, worked {seconds} s").format(
            loading=f"{loading:.1f}", seconds=f"{seconds:.2f}"
        ),
    ]

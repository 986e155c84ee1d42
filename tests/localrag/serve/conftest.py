"""A desk on the sample corpus, the server around it, and clients in this process."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tiny_models.scripted import ScriptedChat

from localrag.config import ServeConfig
from localrag.serve.desk import Desk
from localrag.serve.guarding import GuardedDesk
from localrag.serve.holders import Tokens
from localrag.serve.http import application
from localrag.session import Session
from localrag.workspace import Workspace
from localrag_models.chat import Finish

QUESTION = "渡し舟を運航してはならない水位の基準は何か。"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def session(sample_home: Path) -> Session:
    return Session(Workspace.locate(sample_home))


@pytest.fixture
async def desk(session: Session) -> AsyncIterator[Desk]:
    async with Desk(session) as desk:
        yield desk


Serve = Callable[..., Any]


@pytest.fixture
def serve(session: Session, tmp_path: Path) -> Serve:
    """Opens the server, and gives a client of it; `token` goes with every request.

    Without `tokens` it is the one that a server makes at its start.
    """

    @asynccontextmanager
    async def open_(
        tokens: Tokens | None = None,
        token: str = "",
        model: bool = False,
        home: Session = session,
        **settings: Any,
    ) -> AsyncIterator[httpx.AsyncClient]:
        of = home.with_settings({"chat.model": "scripted"}) if model else home
        if tokens is None:
            tokens = Tokens(tmp_path / "none.toml")
            token = tokens.started()
        async with Desk(of) as desk:
            limits = ServeConfig(**settings)
            app = application(GuardedDesk(desk, limits.queue), limits, tokens)
            async with httpx.AsyncClient(
                transport=httpx.ASGITransport(app, raise_app_exceptions=False),
                base_url="http://127.0.0.1",
                headers={"authorization": f"Bearer {token}"} if token else {},
            ) as client:
                yield client

    return open_


class WaitingChat(ScriptedChat):
    """Writes nothing until nobody wants it any longer."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = self.ended = False

    def chat(self, request: Any, on_text: Any = None, cancelled: Any = None, on_read: Any = None):
        self.begun = True
        while not cancelled():
            time.sleep(0.005)
        self.ended = True
        return self._reply(request, "", Finish.CANCELLED)


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Callable[..., ScriptedChat]:
    """Puts a model that says what it is told in the place of the one of the settings."""

    def use(*replies: str, model: ScriptedChat | None = None) -> ScriptedChat:
        chat = model or ScriptedChat(*replies)
        monkeypatch.setattr("localrag.methods.answering.open_chat", lambda *_: chat)
        return chat

    return use

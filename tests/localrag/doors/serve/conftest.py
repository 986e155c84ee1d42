"""A desk on the sample corpus, the server around it, and clients in this process."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
import uvicorn
from tiny_models.scripted import ScriptedChat

from localrag.corpus.config import ServeConfig
from localrag.corpus.workspace import Workspace
from localrag.doors.serve.desk import Desk
from localrag.doors.serve.guarding import GuardedDesk
from localrag.doors.serve.holders import Tokens
from localrag.doors.serve.http import application
from localrag.doors.serve.listening import opened_door
from localrag.doors.session import Session
from localrag_models.chat import Finish

from ....patience import PATIENCE, wait_for

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


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder of this account alone whose path is short enough for a Unix socket."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture
def listening(short: Path) -> Callable[..., Any]:
    """Serves an application on a Unix socket as the doors do; gives the socket's path."""

    @asynccontextmanager
    async def open_(
        app: Any, patience: float = PATIENCE, lifespan: Any = "off"
    ) -> AsyncIterator[Path]:
        with opened_door("", 0, short / "s") as door:
            server = uvicorn.Server(
                uvicorn.Config(
                    app,
                    http=door.connections(patience),
                    ws="none",
                    lifespan=lifespan,
                    log_config=None,
                    timeout_graceful_shutdown=1,
                )
            )
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(partial(server.serve, sockets=[door.listening]))
                try:
                    yield short / "s"
                finally:
                    server.should_exit = True

    return open_


@pytest.fixture
def as_another() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a command as an account that has no right to anything of this one."""
    if os.name == "nt" or os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs root and setpriv, to try it as another account")
    switch = ["setpriv", "--reuid=65534", "--clear-groups"]
    if subprocess.run([*switch, sys.executable, "-c", ""], check=False).returncode:
        pytest.skip(f"another account cannot run {sys.executable}")

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*switch, *command], capture_output=True, text=True, check=False)

    return run


async def answer(path: Path, *pieces: bytes) -> bytes:
    """What comes back for some bytes, until the connection is closed."""
    with anyio.fail_after(PATIENCE):
        async with await anyio.connect_unix(path) as connection:
            got = b""
            with suppress(anyio.BrokenResourceError, anyio.EndOfStream):
                for piece in pieces:
                    await connection.send(piece)
                while True:
                    got += await connection.receive()
            return got


class WaitingChat(ScriptedChat):
    """Writes nothing until nobody wants it any longer."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = self.ended = False

    def chat(self, request: Any, on_text: Any = None, cancelled: Any = None, on_read: Any = None):
        self.begun = True
        wait_for(cancelled)
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

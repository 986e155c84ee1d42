"""A door: a socket for its owner alone, requests that all readers read alike, none without end."""

import os
import shutil
import socket
import stat
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from localrag.doors.serve.listening import opened_door
from localrag.errors import UsageError

from ....rows import each
from .conftest import answer

HEAD = b"POST /echo HTTP/1.1\r\nHost: localhost\r\n"
SIZED = HEAD + b"Content-Length: 5\r\n"
LAST = b"GET /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@pytest.fixture
def echo():
    """An application that gives back what it is sent, and remembers it."""
    read = []

    async def give_back(request: Request) -> PlainTextResponse:
        read.append(await request.body())
        return PlainTextResponse(f"got {len(read[-1])} bytes")

    app = Starlette(routes=[Route("/echo", give_back, methods=["GET", "POST"])])
    app.state.read = read
    return app


@each(
    "sent",
    [
        SIZED + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        HEAD + b"transfer-encoding : chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n",
        SIZED + b"Content-Length: 5\r\n\r\nhello",
        SIZED + b"Content-Length: 6\r\n\r\nhello",
        HEAD + b"Content-Length: 5, 5\r\n\r\nhello",
        HEAD + b"Content-Length: +5\r\n\r\nhello",
        HEAD + b"Content-Length: 5_0\r\n\r\nhello",
        HEAD + b"Content-Length: \xef\xbc\x95\r\n\r\nhello",
        HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: xchunked\r\n\r\n",
        HEAD + b"Host: evil.example\r\n\r\n",
        HEAD + b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n",
        HEAD + b"X: a\r\n b\r\n\r\n",
        HEAD + b"X: a\r\n\tb\r\n\r\n",
        HEAD.replace(b"\r\n", b"\r\n ", 1) + b"\r\n",
        HEAD.replace(b"\r\n", b"\n") + b"\n",
        HEAD + b"X: a\nY: b\r\n\r\n",
        HEAD + b"X: a\rY: b\r\n\r\n",
        HEAD + b"X: a\0b\r\n\r\n",
        HEAD + b"X: a\r\n" * 101 + b"\r\n",
        HEAD + b"X: " + b"a" * 20_000 + b"\r\n\r\n",
        b"GET /echo\r\n\r\n",
        b"GET /echo HTTP/2.0\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
    ],
)
async def test_a_request_that_can_be_read_in_two_ways_is_refused(listening, echo, sent):
    async with listening(echo) as path:
        # What follows may be the rest of it, or another request: nothing of it is read.
        reply = await answer(path, sent + LAST)
    assert reply.startswith(b"HTTP/1.1 400 ")
    assert reply.count(b"HTTP/1.1 ") == 1
    assert echo.state.read == []


async def test_requests_in_any_pieces_and_one_after_the_other_are_read(listening, echo):
    both = SIZED + b"\r\nhello" + HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
    async with listening(echo) as path:
        await answer(path, both + LAST)
        whole = both + LAST
        await answer(path, *(whole[at : at + 1] for at in range(len(whole))))
        many = b"".join(b"X%d: a\r\n" % number for number in range(90))
        reply = await answer(path, LAST[:-2] + many + b"\r\n")
    assert echo.state.read == [b"hello", b"hi", b""] * 2 + [b""]
    assert reply.startswith(b"HTTP/1.1 200 ")


@each("sent", [b"", HEAD, HEAD[:-1], SIZED + b"\r\nhell"])
async def test_a_request_without_end_is_let_go_of(listening, echo, sent):
    # The second more is for the guard, which tells what is slow.
    async with listening(echo, patience=-0.95) as path:
        assert await answer(path, sent) == b""


def test_a_socket_is_its_owners_alone_and_goes_with_its_server(short):
    path = short / "new" / "s"
    with opened_door("", 0, path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        with pytest.raises(UsageError, match="listens at"), opened_door("", 0, path):
            pass
        assert path.exists()
    assert not path.exists()


def test_a_socket_that_a_killed_server_left_is_replaced(short):
    path = short / "s"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    with opened_door("", 0, path) as door, socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        door.listening.accept()[0].close()


def test_no_file_is_replaced_by_a_socket(short):
    path = short / "notes"
    path.write_text("mine")
    with pytest.raises(UsageError, match="is no socket"), opened_door("", 0, path):
        pass
    assert path.read_text() == "mine"


def test_a_folder_that_others_enter_is_no_place_for_a_socket(short):
    short.chmod(0o711)
    with pytest.raises(UsageError, match="chmod 700"), opened_door("", 0, short / "s"):
        pass


def test_a_path_that_is_too_long_for_a_socket_is_told(short):
    with pytest.raises(UsageError, match="a short one"), opened_door("", 0, short / ("s" * 120)):
        pass


CONNECTS = """
import socket, sys
with socket.socket(socket.AF_UNIX) as client:
    try:
        client.connect(sys.argv[1])
    except OSError as error:
        sys.exit(type(error).__name__)
    client.sendall(b"GET /echo HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n")
    print(client.recv(100).split(b"\\r\\n")[0].decode())
"""


async def test_another_account_does_not_reach_the_socket(listening, echo, as_another, short):
    python = [sys.executable, "-I", "-c", CONNECTS]
    async with listening(echo) as path:
        closed = await anyio.to_thread.run_sync(as_another, *python, str(path))
        # Each lock holds without the ones before it: the folder, the file, who connects.
        short.chmod(0o711)
        of_mode = await anyio.to_thread.run_sync(as_another, *python, str(path))
        path.chmod(0o666)
        of_peer = await anyio.to_thread.run_sync(as_another, *python, str(path))
        own = await anyio.to_thread.run_sync(
            lambda: subprocess.run([*python, str(path)], capture_output=True, text=True, check=True)
        )
    assert closed.stderr.strip() == of_mode.stderr.strip() == "PermissionError"
    assert of_peer.stdout.strip() in ("HTTP/1.1 403 Forbidden", "")
    assert own.stdout.strip() == "HTTP/1.1 200 OK"
    assert echo.state.read == [b""]


def test_another_account_reads_no_file_of_a_workspace(sample, as_another, short):
    home = short / "home"
    shutil.copytree(sample, home, copy_function=shutil.copyfile)
    short.chmod(0o755)
    home.chmod(0o700)
    for path in (home, home / "corpora" / "main" / "corpus.sqlite"):
        assert os.access(path, os.R_OK)
        tried = as_another("cat", str(path))
        assert tried.returncode == 1
        assert "Permission denied" in tried.stderr
    assert Path(home).stat().st_mode & 0o077 == 0

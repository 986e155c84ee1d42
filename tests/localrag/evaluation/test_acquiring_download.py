"""Downloading a dataset from a server on this machine that breaks off, lies and refuses."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from localrag.corpus.config import load as load_config
from localrag.corpus.workspace import Workspace
from localrag.errors import InputError, StorageError, UsageError
from localrag.evaluation.datasets import acquiring, loading
from localrag.evaluation.datasets.acquiring import download
from localrag.evaluation.datasets.keeping import DatasetFolder, digest

QUESTION = '{"id": "q1", "question": "櫂は要るか", "options": ["はい", "いいえ"], "answer": "a"}\n'
CONTENT = QUESTION.encode()

pytestmark = pytest.mark.usefixtures("loopback")


@dataclass
class Server:
    """Gives one file.

    Attributes:
        content: of the file.
        status: of every answer, if it is no success.
        drops: bytes after which the next answers break off.
        ranges: the ranges asked for.
        headers: besides those every answer has.
    """

    content: bytes = CONTENT
    status: int = 0
    drops: list[int] = field(default_factory=list)
    ranges: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    address: str = ""


@pytest.fixture
def server() -> Iterator[Server]:
    told = Server()

    class Request(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range", "")
            told.ranges.append(asked)
            start = int(asked.removeprefix("bytes=").rstrip("-") or 0)
            content = told.content[start:]
            success = 206 if asked else 200
            self.send_response(told.status or success)
            for name, value in told.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: told.drops.pop(0)] if told.drops else content)

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Request)
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    told.address = f"http://127.0.0.1:{http.server_port}/q.jsonl"
    yield told
    http.shutdown()
    http.server_close()
    thread.join()


def declare(home: Path, url: str, sha256: str = "") -> Workspace:
    """A workspace that knows the dataset ``ferries``."""
    workspace = Workspace.locate(home)
    workspace.init()
    folder = workspace.datasets / "ferries"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dataset.toml").write_text(
        'title = "t"\nsource = "s"\nlicence = "CC0"\nreader = "choices"\ncorpus = ["laws"]\n'
        'splits = [{ name = "main", file = "q/main.jsonl", '
        f'url = "{url}", sha256 = "{sha256}" }}, {{ name = "other", file = "other.jsonl" }}]\n',
        encoding="utf-8",
    )
    return workspace


def test_it_is_fetched_checked_and_recorded(home: Path, server: Server) -> None:
    workspace = declare(home, server.address, digest(CONTENT))
    told: list[tuple[str, int, int]] = []
    brought = download(workspace, "ferries", on_progress=lambda *step: told.append(step))
    assert brought.new == ("main",)
    assert [missing.path for missing in brought.missing] == ["other.jsonl", "laws"]
    assert told[-1] == ("q/main.jsonl", len(CONTENT), len(CONTENT))
    assert loading.load(workspace, "ferries").questions[0].id == "q1"
    arrival = DatasetFolder.of(workspace, "ferries").received()["q/main.jsonl"]
    assert (arrival.sha256, arrival.source) == (digest(CONTENT), server.address)
    assert download(workspace, "ferries").unchanged == ("main",)
    assert len(server.ranges) == 1, "what is here is not asked for again"


def test_a_broken_download_goes_on_where_a_hash_is_pinned(home: Path, server: Server) -> None:
    workspace = declare(home, server.address, digest(CONTENT))
    server.drops = [10, 20]
    for _ in range(2):
        with pytest.raises(InputError, match="cannot be fetched"):
            download(workspace, "ferries")
    assert download(workspace, "ferries").new == ("main",)
    assert server.ranges == ["", "bytes=10-", "bytes=30-"]


def test_a_broken_download_begins_anew_where_none_is(home: Path, server: Server) -> None:
    workspace = declare(home, server.address)
    server.drops = [10]
    with pytest.raises(InputError):
        download(workspace, "ferries")
    assert not loading.splits_at_hand(*loading.find(workspace, "ferries"))
    assert not list(workspace.datasets.rglob("*.download"))
    server.content = CONTENT.replace(b"q1", b"q2")
    assert download(workspace, "ferries").new == ("main",)
    assert server.ranges == ["", ""]
    assert loading.load(workspace, "ferries").questions[0].id == "q2"


def test_another_content_is_refused_and_forgotten(home: Path, server: Server) -> None:
    workspace = declare(home, server.address, digest(CONTENT))
    server.content = CONTENT + b" "
    with pytest.raises(InputError) as caught:
        download(workspace, "ferries")
    assert digest(CONTENT) in caught.value.cause
    assert digest(server.content) in caught.value.cause
    server.content = CONTENT
    assert download(workspace, "ferries").new == ("main",)


def test_what_is_no_file_of_questions(home: Path, server: Server) -> None:
    workspace = declare(home, server.address)
    server.content = b"<html>Sign in</html>"
    with pytest.raises(InputError, match="line 1: It is not JSON"):
        download(workspace, "ferries")
    assert not (workspace.datasets / "ferries" / "q" / "main.jsonl").exists()


@pytest.mark.parametrize("status", [403, 404, 500])
def test_a_refusal(home: Path, server: Server, status: int) -> None:
    server.status = status
    with pytest.raises(InputError, match=f"status {status}") as caught:
        download(declare(home, server.address), "ferries")
    assert "localrag data add ferries FOLDER" in caught.value.cure


def test_it_is_sent_on_only_to_https(home: Path, server: Server) -> None:
    server.status = 302
    server.headers = {"Location": "http://example.org/q.jsonl"}
    with pytest.raises(InputError, match=r"sends us on to http://example\.org/q\.jsonl") as caught:
        download(declare(home, server.address), "ferries")
    assert "declaration" not in str(caught.value)


@pytest.mark.parametrize(
    "target", ["http://127.0.0.1:9/x", "http://example.org/", "file://there/x"]
)
def test_from_https_it_is_sent_on_to_no_plain_address(
    home: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    # A server with a certificate would need an authority that trusts it.
    monkeypatch.setattr(
        httpx.HTTPTransport,
        "handle_request",
        lambda *_: httpx.Response(302, headers={"Location": target}),
    )
    with pytest.raises(InputError) as caught:
        download(declare(home, "https://example.org/q.jsonl"), "ferries")
    assert f"https://example.org/q.jsonl sends us on to {target}" in caught.value.cause


@pytest.mark.parametrize("sha256", ["", digest(CONTENT)])
def test_too_much(home: Path, server: Server, monkeypatch: pytest.MonkeyPatch, sha256: str) -> None:
    monkeypatch.setattr(acquiring, "LARGEST", 10)
    workspace = declare(home, server.address, sha256)
    with pytest.raises(InputError, match="more than 10 bytes"):
        download(workspace, "ferries")
    assert not list(workspace.datasets.rglob("*.download"))


def test_a_packed_answer(home: Path, server: Server) -> None:
    server.headers = {"Content-Encoding": "gzip"}
    with pytest.raises(InputError, match="packed"):
        download(declare(home, server.address), "ferries")


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("http://example.org/x", "no address of https"),
        ("http://127.0.0.1:9/x", "cannot be fetched"),
        ("https://[/x", "cannot be fetched"),
        ("", "No file of ferries has an address"),
    ],
)
def test_addresses_that_cannot_be_used(home: Path, url: str, part: str) -> None:
    with pytest.raises((InputError, UsageError)) as caught:
        download(declare(home, url), "ferries")
    assert part in caught.value.cause


def test_a_declaration_elsewhere_is_brought_in_with_its_files(home: Path, tmp_path: Path) -> None:
    workspace = declare(home, "")
    path = tmp_path / "mine.toml"
    path.write_bytes((workspace.datasets / "ferries" / "dataset.toml").read_bytes())
    with pytest.raises(UsageError, match="not in the workspace"):
        download(workspace, str(path))


def test_a_disk_that_cannot_be_written(home: Path, server: Server) -> None:
    workspace = declare(home, server.address)
    (workspace.datasets / "ferries" / "q").write_text("in the way", encoding="utf-8")
    with pytest.raises(StorageError):
        download(workspace, "ferries")


def test_what_came_by_hand_is_not_fetched(home: Path, server: Server, tmp_path: Path) -> None:
    workspace = declare(home, server.address)
    (tmp_path / "data" / "q").mkdir(parents=True)
    (tmp_path / "data" / "q" / "main.jsonl").write_bytes(CONTENT)
    acquiring.add(workspace, "ferries", tmp_path / "data", load_config(workspace))
    assert download(workspace, "ferries").unchanged == ("main",)
    assert not server.ranges

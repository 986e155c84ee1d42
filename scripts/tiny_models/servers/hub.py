"""A model hub on loopback with the protocol of huggingface.co, and scripted failures."""

import hashlib
import json
import threading
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Self
from urllib.parse import unquote, urlsplit

from tiny_models.servers.http import CalledServer

LARGE = 1_000
"""From this size in bytes, files are in large-file storage on another host, with a SHA-256."""


@dataclass(frozen=True)
class Asked:
    """A request for content, as it came."""

    path: str
    range: str
    authorization: str
    host: int


@dataclass
class TinyHub:
    """Repositories by name; a context manager.

    Attributes:
        repositories: content by path, by "owner/name".
        gated: names that need `token`.
        drops: bytes after which the next downloads break off, one each.
        ranges: whether parts of files can be requested.
    """

    repositories: dict[str, dict[str, bytes]]
    commit: str = "c0ffee" + 34 * "0"
    gated: frozenset[str] = frozenset()
    token: str = "hf_right"
    drops: deque[int] = field(default_factory=deque)
    status: int = 0
    announces: dict[str, str] = field(default_factory=dict)
    ranges: bool = True
    asked: list[Asked] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._servers = [_Server(self) for _ in range(2)]
        for server in self._servers:
            threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.address = f"http://127.0.0.1:{self._servers[0].server_port}"
        self.storage = f"http://127.0.0.1:{self._servers[1].server_port}"
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def describe(self, name: str) -> dict[str, object]:
        """What the hub says of a repository."""
        return {
            "id": name,
            "sha": self.commit,
            "cardData": {"license": "mit"},
            "siblings": [
                self._describe_file(path, content)
                for path, content in self.repositories[name].items()
            ],
        }

    def _describe_file(self, path: str, content: bytes) -> dict[str, object]:
        blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        told: dict[str, object] = {"rfilename": path, "size": len(content), "blobId": blob}
        if len(content) >= LARGE:
            sha256 = self.announces.get(path) or hashlib.sha256(content).hexdigest()
            told["lfs"] = {"sha256": sha256, "size": len(content), "pointerSize": 134}
        return told


class _Server(CalledServer):
    def __init__(self, hub: TinyHub) -> None:
        self.hub = hub
        super().__init__(("127.0.0.1", 0), _Request)


class _Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        hub, path = self.server.hub, unquote(urlsplit(self.path).path)
        authorization = self.headers.get("Authorization", "")
        if hub.status:
            self._send(hub.status, b"{}")
        elif path.startswith("/api/models/"):
            name, _, revision = path.removeprefix("/api/models/").partition("/revision/")
            if name not in hub.repositories:
                self._send(401, b"{}", {"X-Error-Code": "RepoNotFound"})
            elif revision not in ("main", hub.commit):
                self._send(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
            else:
                self._send(200, json.dumps(hub.describe(name)).encode())
        else:
            self._resolve(path, authorization)

    def _resolve(self, path: str, authorization: str) -> None:
        hub = self.server.hub
        name, _, rest = path.strip("/").partition("/resolve/")
        file = rest.partition("/")[2]
        asked = self.headers.get("Range", "")
        hub.asked.append(Asked(file, asked, authorization, self.server.server_port))
        content = hub.repositories.get(name, {}).get(file)
        on_hub = hub.address.endswith(f":{self.server.server_port}")
        if content is None:
            self._send(404, b"", {"X-Error-Code": "EntryNotFound"})
        elif on_hub and name in hub.gated and authorization != f"Bearer {hub.token}":
            self._send(403, b"", {"X-Error-Code": "GatedRepo"})
        elif on_hub and len(content) >= LARGE:
            self._send(302, b"", {"Location": hub.storage + path})
        else:
            self._send_content(content, int(asked.removeprefix("bytes=").rstrip("-") or 0))

    def _send_content(self, content: bytes, start: int) -> None:
        hub = self.server.hub
        part = content[start:] if hub.ranges else content
        self.send_response(206 if hub.ranges else 200)
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        if hub.drops:
            self.wfile.write(part[: hub.drops.popleft()])
            self.close_connection = True
        else:
            self.wfile.write(part)

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""

"""e-Gov's archives and API 2, served on this machine for tests and benches.

Its paths, parameters and JSON follow e-Gov's OpenAPI document (lawapi-v2.yaml, 2.1.139). By default
it behaves as e-Gov was seen to: archives have no size and no ranges, a day without changes is a
status 500. It can break off, refuse, and wait.
"""

import io
import json
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import SSLContext
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from lxml import etree

_PIECE = 1 << 16
_LIST = "all_law_list.csv"


@dataclass(frozen=True)
class FakeState:
    """A state of a law.

    Attributes:
        id: ``<law id>_<YYYYMMDD>_<amending law>``.
        title, num: of the law.
        xml: its text as 法令標準XML.
        category: number of its category.
        status: ``CurrentEnforced``, ``UnEnforced``, ``PreviousEnforced`` or ``Repeal``.
        updated: when its data was corrected.
        abbrev: its abbreviations, with commas.
    """

    id: str
    title: str
    num: str
    xml: bytes
    category: int = 46
    status: str = "CurrentEnforced"
    updated: str = "2026-11-01T09:00:00+09:00"
    abbrev: str = ""

    @property
    def law_id(self) -> str:
        """The law."""
        return self.id.partition("_")[0]

    def about(self) -> dict[str, Any]:
        """Its ``revision_info``."""
        day = self.id.split("_")[1]
        return {
            "law_revision_id": self.id,
            "law_type": "Act",
            "law_title": self.title,
            "abbrev": self.abbrev or None,
            "category": str(self.category),
            "updated": self.updated,
            "amendment_enforcement_date": f"{day[:4]}-{day[4:6]}-{day[6:]}",
            "repeal_status": "Repeal" if self.status == "Repeal" else "None",
            "current_revision_status": self.status,
        }

    def law(self) -> dict[str, Any]:
        """Its ``law_info``."""
        return {"law_id": self.law_id, "law_num": self.num, "law_type": "Act"}


@dataclass
class FakeEGov:
    """A server, its laws, its failures and its requests.

    Attributes:
        states: of all laws.
        days: ids of the changed states, by day (``20261128``).
        ranges: it sends sizes and ETags, and takes ranges.
        statuses: of the next answers, instead of them.
        drops: bytes before the next answers break off; None for a whole one.
        retry_after: the header of refusals.
        delay: seconds before each piece of 64 kB.
        location: every answer leads there.
        asked: method and path of each request, with its parameters.
        headers: of each request.
        whole: answers sent to their end, by path.
        sent: bytes of all answers.
        together: requests at the same time, at most.
    """

    states: list[FakeState] = field(default_factory=list)
    days: dict[str, list[str]] = field(default_factory=dict)
    ranges: bool = False
    statuses: list[int] = field(default_factory=list)
    drops: list[int | None] = field(default_factory=list)
    retry_after: str = ""
    delay: float = 0.0
    location: str = ""
    asked: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    whole: Counter[str] = field(default_factory=Counter)
    sent: int = 0
    together: int = 0
    address: str = ""
    _made: dict[str, bytes] = field(default_factory=dict)
    _now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def serving(self, context: SSLContext | None = None) -> Iterator["FakeEGov"]:
        """Serve on a free port."""
        http = _Server(("127.0.0.1", 0), _handler(self))
        if context:
            http.socket = context.wrap_socket(http.socket, server_side=True)
        scheme = "https" if context else "http"
        self.address = f"{scheme}://127.0.0.1:{http.server_port}"
        thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            http.shutdown()
            http.server_close()
            thread.join()

    @property
    def settings(self) -> dict[str, object]:
        """The settings of localrag for this server, without pauses."""
        return {
            "laws.archive": f"{self.address}/bulkdownload",
            "laws.api": f"{self.address}/api/2",
            "laws.pause": 0.0,
        }

    def changed(self) -> None:
        """Make the archives again."""
        self._made.clear()

    def archive(self, asked: dict[str, str]) -> bytes | None:
        """The zip for some parameters; None without one."""
        key = json.dumps(asked, sort_keys=True)
        with self._lock:
            if key not in self._made:
                states = self._states(asked)
                if states is None:
                    return None
                self._made[key] = _zipped(states)
            return self._made[key]

    def _states(self, asked: dict[str, str]) -> list[FakeState] | None:
        known = [one for one in self.states if one.status in ("CurrentEnforced", "UnEnforced")]
        match asked.get("file_section"):
            case "1":
                return known
            case "2":
                return [one for one in known if str(one.category) == asked.get("category_cd")]
            case "3" if ids := self.days.get(asked.get("update_date", "")):
                return [one for one in self.states if one.id in ids]
            case _:
                return None

    def answer(self, path: str, asked: dict[str, str]) -> tuple[int, bytes]:
        """Status and body of an answer of the API."""
        _, _, rest = path.partition("/api/2/")
        kind, _, name = unquote(rest).partition("/")
        if kind == "laws":
            return 200, _as_json(self._listed(asked))
        if kind == "law_revisions":
            found = [one for one in self.states if name in (one.law_id, one.num)]
            if not found:
                return 404, _as_json({"code": "404001", "message": "該当する法令が存在しません。"})
            states = sorted(found, key=lambda one: one.id, reverse=True)
            told = {"law_info": found[0].law(), "revisions": [one.about() for one in states]}
            return 200, _as_json(told)
        if kind == "law_data":
            return self._text(name, asked)
        if kind in ("attachment", "keyword"):
            return 404, _as_json({"code": "404003", "message": "存在しません。"})
        return 404, b"<html>not found</html>"

    def _listed(self, asked: dict[str, str]) -> dict[str, Any]:
        wanted = asked.get("repeal_status", "").split(",") if "repeal_status" in asked else None
        newest = {one.law_id: one for one in sorted(self.states, key=lambda one: one.id)}
        found = [
            one
            for one in newest.values()
            if asked.get("law_title", "") in (one.title + one.abbrev)
            and (wanted is None or one.about()["repeal_status"] in wanted)
        ]
        start, limit = int(asked.get("offset", 0)), int(asked.get("limit", 100))
        page = found[start : start + limit]
        following = start + limit if start + limit < len(found) else None
        laws = [{"law_info": one.law(), "revision_info": one.about()} for one in page]
        return {
            "total_count": len(found),
            "count": len(page),
            "next_offset": following,
            "laws": laws,
        }

    def _text(self, name: str, asked: dict[str, str]) -> tuple[int, bytes]:
        found = [one for one in self.states if name in (one.id, one.law_id, one.num)]
        if not found:
            return 404, _as_json({"code": "404001", "message": "該当する法令が存在しません。"})
        state = found[0]
        if asked.get("response_format") == "json":
            text = _tree(etree.fromstring(state.xml))
            told = {
                "law_info": state.law(),
                "revision_info": state.about(),
                "law_full_text": text,
            }
            return 200, _as_json(told)
        root = etree.Element("law_data_response")
        for name, values in (("law_info", state.law()), ("revision_info", state.about())):
            part = etree.SubElement(root, name)
            for key, value in values.items():
                etree.SubElement(part, key).text = value
        etree.SubElement(root, "law_full_text").append(etree.fromstring(state.xml))
        return 200, etree.tostring(root, encoding="UTF-8", xml_declaration=True)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Keep quiet about killed clients."""


def _handler(fake: FakeEGov) -> type[BaseHTTPRequestHandler]:
    class Request(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._note()
            try:
                self._respond()
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True
            finally:
                fake._now -= 1

        do_HEAD = do_GET  # noqa: N815 - a name of the library

        def _note(self) -> None:
            fake._now += 1
            fake.together = max(fake.together, fake._now)
            fake.asked.append(f"{self.command} {self.path}")
            fake.headers.append({key.lower(): value for key, value in self.headers.items()})

        def _respond(self) -> None:
            parts = urlsplit(self.path)
            asked = {key: values[0] for key, values in parse_qs(parts.query).items()}
            status = fake.statuses.pop(0) if fake.statuses else 0
            if status or fake.location:
                self._send(status or 302, b"<html>sorry</html>")
            elif parts.path == "/bulkdownload":
                made = fake.archive(asked)
                if made is None:
                    self._send(500, b"<html>error</html>")
                else:
                    self._send(200, made, takes_ranges=fake.ranges)
            else:
                self._send(*fake.answer(parts.path, asked))

        def _send(self, status: int, body: bytes, *, takes_ranges: bool = False) -> None:
            start = self._start(body) if takes_ranges else 0
            status = 206 if start else status
            sized = takes_ranges or "/bulkdownload" not in self.path or status >= 300
            self.send_response(status)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            if takes_ranges:
                self.send_header("ETag", f'"{len(body)}"')
            if status >= 300:
                self.send_header("Retry-After", fake.retry_after)
                self.send_header("Location", fake.location)
            if sized:
                self.send_header("Content-Length", str(len(body) - start))
            else:
                self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            if self.command == "GET":
                self._write(memoryview(body)[start:], chunked=not sized, success=status < 300)

        def _start(self, body: bytes) -> int:
            told, tag = self.headers.get("Range", ""), self.headers.get("If-Range")
            if not told or tag not in (None, f'"{len(body)}"'):
                return 0
            return int(told.removeprefix("bytes=").rstrip("-"))

        def _write(self, body: memoryview, *, chunked: bool, success: bool) -> None:
            drop = fake.drops.pop(0) if fake.drops and success else None
            end = len(body) if drop is None else min(drop, len(body))
            for at in range(0, end, _PIECE):
                if fake.delay:
                    time.sleep(fake.delay)
                piece = body[at : min(at + _PIECE, end)]
                if chunked:
                    self.wfile.write(b"%x\r\n" % len(piece))
                self.wfile.write(piece)
                if chunked:
                    self.wfile.write(b"\r\n")
                fake.sent += len(piece)
            if drop is not None:
                self.close_connection = True
                return
            if chunked:
                self.wfile.write(b"0\r\n\r\n")
            if success:
                fake.whole[self.path] += 1

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    return Request


def _zipped(states: list[FakeState]) -> bytes:
    """An archive as e-Gov makes it: a folder for each state, and a list."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        rows = "".join(f"法律,{one.num},{one.title},{one.law_id}\r\n" for one in states)
        archive.writestr(_LIST, "\ufeff法令種別,法令番号,法令名,法令ID\r\n" + rows)
        for one in states:
            archive.writestr(f"{one.id}/{one.id}.xml", one.xml)
    return packed.getvalue()


def _as_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _tree(element: Any) -> dict[str, Any]:
    children: list[Any] = [element.text] if element.text else []
    for child in element:
        children.append(_tree(child))
        if child.tail:
            children.append(child.tail)
    return {"tag": element.tag, "attr": dict(element.attrib), "children": children}

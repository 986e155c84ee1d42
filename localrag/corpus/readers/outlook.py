"""Messages of Outlook (.msg), with olefile, and striprtf for RTF (extra ``office``).

`python-oxmsg` gives neither inner messages nor copies (Cc), so it would not replace this code.
Properties follow MS-OXMSG.
"""

import re
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from io import BytesIO
from typing import TYPE_CHECKING

from localrag.corpus.readers.flowing import unwrapped
from localrag.corpus.readers.mail import (
    DEEPER,
    ENCRYPTED,
    UNREADABLE,
    Mail,
    PartReader,
    damaged,
    decoded,
    documents,
    fuller,
    header_text,
    text_of_page,
)
from localrag.corpus.readers.package import is_encrypted, protected
from localrag.corpus.readers.text import drop_controls
from localrag.corpus.readers.types import Limits, Omission, PassedOver, ReadFailure
from localrag.corpus.types import Document
from localrag.errors import InputError, to_install
from localrag.language import N_

if TYPE_CHECKING:
    from olefile import OleFileIO

IN_RTF = N_("bodies of messages in RTF alone")

_PROPERTIES = "__properties_version1.0"
_STREAM = "__substg1.0_"
_ATTACHMENT = "__attach_version1.0_"
_CLASS, _SUBJECT, _HEADERS, _BODY, _PAGE, _RTF = "001A", "0037", "007D", "1000", "1013", "1009"
_SENDER, _SENDER_SMTP, _SENDER_ADDRESS = "0C1A", "5D01", "0C1F"
_TO, _COPIES = "0E04", "0E03"
_SENT, _RECEIVED = 0x0039, 0x0E06
_CODE_PAGE, _BODY_PAGE = 0x3FFD, 0x3FDE
_NAME, _SHORT_NAME, _CONTENT, _MIME = "3707", "3704", "3701", "370E"
_OBJECT = "3701000D"
_BYTES, _TEXT, _BYTES_TEXT = "0102", "001F", "001E"
# Offset of the properties in a message, and in an inner message or attachment.
_HEAD_OF_FIRST, _HEAD_OF_INNER = 32, 24
_DEEPEST = 5
_BEGAN = datetime(1601, 1, 1, tzinfo=UTC)
_CODE_PAGES = {65001: "utf-8", 50220: "iso-2022-jp", 51932: "euc-jp", 20932: "euc-jp"}


def read_msg(
    name: str, data: bytes, limits: Limits, read_part: PartReader
) -> Iterator[Document | ReadFailure | Omission | PassedOver]:
    """Read a message of Outlook, its inner messages and its attachments."""
    try:
        import olefile
    except ImportError as error:
        raise _needed("olefile") from error
    if is_encrypted(BytesIO(data)):
        raise protected()
    try:
        with closing(olefile.OleFileIO(BytesIO(data))) as file:
            if not file.exists(_PROPERTIES):
                raise InputError(
                    N_("The file is no message of Outlook."), N_("Save it from Outlook again.")
                )
            mail = _Storage(file, (), limits).mail(0)
    except InputError:
        raise
    except Exception as error:
        # olefile raises many kinds of errors on damaged files.
        raise damaged() from error
    yield from documents(name, mail, read_part, "msg")


def _needed(package: str) -> InputError:
    return InputError(
        N_("Reading a message of Outlook needs {package}."), to_install("office"), package=package
    )


def _text_of_rtf(packed: bytes) -> str | None:
    """The text of a body in compressed RTF (MS-OXRTFCP); None if unreadable."""
    try:
        from compressed_rtf import decompress
        from striprtf.striprtf import rtf_to_text
    except ImportError as error:
        raise _needed("striprtf") from error
    try:
        rtf = decompress(packed).decode("latin-1")
        if _JAPANESE.search(rtf):
            rtf = _SPLIT.sub(_rejoined, rtf)
        read: Callable[[str], str] = rtf_to_text
        return read(rtf)
    except Exception:  # noqa: BLE001 - damage makes both raise any error
        return None


# striprtf joins two bytes of a character only if both are numeric. Word and Outlook write a letter
# as second byte: ア is \'83A.
_JAPANESE = re.compile(r"\\ansicpg932|\\fcharset128")
_LEAD = r"(?:[89][0-9a-f]|[ef][0-9a-f])"
_SPLIT = re.compile(
    rf"\\'(?P<lead>{_LEAD})(?:\\'(?P<hex>[0-9a-f]{{2}})|\\(?P<escaped>[\\{{}}])|(?P<plain>[@-\[\]-z|~]))",
    re.IGNORECASE,
)


def _rejoined(pair: re.Match[str]) -> str:
    second = pair["hex"] or f"{ord(pair['escaped'] or pair['plain']):02x}"
    return f"\\'{pair['lead']}\\'{second}"


class _Storage:
    """The properties in one folder of the file: a message or an attachment."""

    def __init__(self, file: "OleFileIO", path: tuple[str, ...], limits: Limits) -> None:
        self._file, self._path, self._limits = file, path, limits
        inside = (
            entry[len(path) :]
            for entry in file.listdir(streams=True, storages=True)
            if tuple(entry[: len(path)]) == path
        )
        self._names = sorted({entry[0] for entry in inside if entry})
        self._fixed: Mapping[int, bytes] = {}

    def mail(self, depth: int) -> Mail:
        self._fixed = self._numbers(_HEAD_OF_INNER if depth else _HEAD_OF_FIRST)
        mail = Mail()
        mail.headers = {
            "From": self._sender(),
            "To": self._text(_TO),
            "Cc": self._text(_COPIES),
            "Date": self._date(),
            "Subject": self._text(_SUBJECT),
        }
        mail.headers = {name: header_text(value) for name, value in mail.headers.items()}
        self._take_body(mail)
        for name in self._names:
            if name.startswith(_ATTACHMENT):
                self._take(name, mail, depth)
        return mail

    def _take_body(self, mail: Mail) -> None:
        # Sealed and signed content is in an attachment.
        if self._text(_CLASS).upper().endswith(("SMIME", "SMIME.MULTIPARTSIGNED")):
            mail.left_out[ENCRYPTED] += 1
        if body := self._text(_BODY, of_body=True).strip():
            page = text_of_page(self._page(), self._limits)
            mail.body.append(fuller(unwrapped(drop_controls(body)), page))
        elif page := self._page():
            mail.body.append(text_of_page(page, self._limits))
        elif self._has(_PAGE, _BYTES):
            mail.left_out[UNREADABLE] += 1
        elif self._has(_RTF, _BYTES):
            text = _text_of_rtf(self._bytes(_RTF, _BYTES))
            if text is None:
                mail.left_out[IN_RTF] += 1
            elif text.strip():
                mail.body.append(unwrapped(drop_controls(text)))

    def _take(self, name: str, mail: Mail, depth: int) -> None:
        attached = _Storage(self._file, (*self._path, name), self._limits)
        attached._fixed = self._fixed
        called = attached._text(_NAME) or attached._text(_SHORT_NAME)
        if f"{_STREAM}{_OBJECT}" in attached._names:
            inner = _Storage(self._file, (*attached._path, f"{_STREAM}{_OBJECT}"), self._limits)
            if depth >= _DEEPEST:
                mail.left_out[DEEPER] += 1
            elif _PROPERTIES in inner._names:
                mail.attach_message(called, ".msg", inner.mail(depth + 1))
            else:
                mail.attach(called, "", b"")
        elif attached._has(_CONTENT, _BYTES):
            mail.attach(called, attached._text(_MIME), attached._bytes(_CONTENT, _BYTES))

    def _has(self, property_: str, kind: str) -> bool:
        return f"{_STREAM}{property_}{kind}" in self._names

    def _bytes(self, property_: str, kind: str) -> bytes:
        if not self._has(property_, kind):
            return b""
        with self._file.openstream([*self._path, f"{_STREAM}{property_}{kind}"]) as stream:
            return bytes(stream.read())

    def _text(self, property_: str, *, of_body: bool = False) -> str:
        if wide := self._bytes(property_, _TEXT):
            return wide.decode("utf-16-le", "replace").rstrip("\0")
        narrow = self._bytes(property_, _BYTES_TEXT).rstrip(b"\0")
        return (decoded(narrow, self._charset(of_body=of_body)) or "") if narrow else ""

    def _page(self) -> str:
        data = self._bytes(_PAGE, _BYTES)
        return decoded(data, self._charset(of_body=True)) or "" if data else self._text(_PAGE)

    def _charset(self, *, of_body: bool) -> str:
        pages = (_BODY_PAGE, _CODE_PAGE) if of_body else (_CODE_PAGE, _BODY_PAGE)
        found = next((self._fixed[page] for page in pages if page in self._fixed), b"")
        number = int.from_bytes(found[:4], "little")
        return _CODE_PAGES.get(number, f"cp{number}" if number else "")

    def _numbers(self, head: int) -> Mapping[int, bytes]:
        """The fixed-size properties, by number."""
        with self._file.openstream([*self._path, _PROPERTIES]) as stream:
            data = bytes(stream.read())[head:]
        return {
            number: value
            for _kind, number, _flags, value in struct.iter_unpack(
                "<HHI8s", data[: len(data) // 16 * 16]
            )
        }

    def _sender(self) -> str:
        name = self._text(_SENDER)
        address = self._text(_SENDER_SMTP) or self._text(_SENDER_ADDRESS)
        return (
            f"{name} <{address}>"
            if name and "@" in address and name != address
            else (name or address)
        )

    def _date(self) -> str:
        for number in (_SENT, _RECEIVED):
            ticks = int.from_bytes(self._fixed.get(number, b""), "little")
            if 0 < ticks < 1 << 60:
                return format_datetime(_BEGAN + timedelta(microseconds=ticks // 10))
        headers = self._text(_HEADERS)
        return next(
            (line[5:].strip() for line in headers.splitlines() if line.lower().startswith("date:")),
            "",
        )

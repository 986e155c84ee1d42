"""Messages (.eml): headers, body, and attachments as documents of their own.

The body is the plain text or the HTML page; see `fuller`. Encrypted bodies, small pictures and
unreadable attachments are counted.
"""

import mimetypes
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from email.errors import MessageError
from email.header import decode_header
from email.message import Message
from email.parser import BytesParser
from email.policy import Compat32
from email.utils import collapse_rfc2231_value
from itertools import accumulate
from pathlib import PurePosixPath

from localrag.corpus.readers.bounds import check_memory
from localrag.corpus.readers.flowing import unwrapped
from localrag.corpus.readers.markup import read_html
from localrag.corpus.readers.ocr import is_small
from localrag.corpus.readers.prose import prose
from localrag.corpus.readers.text import brief, decode_terse, drop_controls, first_decoded, stem
from localrag.corpus.readers.types import Limits, Omission, PassedOver, ReadFailure, omitted
from localrag.corpus.types import Document
from localrag.errors import InputError
from localrag.language import N_
from localrag.text.harmless import one_line

_ADDRESS = re.compile(r"<?\b(?:https?://|mailto:)[^\s<>]+>?")
_WORD = re.compile(r"(?:(?<!\w)[-−▲△])?\d+(?:[.,]\d+)*[%％]?|[^\W\d_]+")
_MOST_COMPARED = 50_000_000


def fuller(plain: str, page: str) -> str:
    """The fuller of the two forms of a body, or both joined.

    The form with every line of the other wins, the plain text first. Else the missing lines of the
    page follow the plain text.
    """
    if not page.strip():
        return plain
    missing = _missing(page, _ADDRESS.sub(" ", plain))
    if not missing:
        return plain
    if not _missing(plain, page):
        return page
    return "\n".join([plain.rstrip("\n"), "", *missing])


def _missing(text: str, other: str) -> list[str]:
    """The lines of a text without their words in a row in another text."""
    words = _WORD.findall(other)
    joined = "".join(words)
    begins = {0, *accumulate(map(len, words))}
    missing, compared = [], 0
    for line in dict.fromkeys(text.split("\n")):
        wanted = "".join(_WORD.findall(line))
        # Beyond the cost limit a line counts as missing; at worst it appears twice.
        compared += len(joined)
        if wanted and (compared > _MOST_COMPARED or not _has(joined, begins, wanted)):
            missing.append(line)
    return missing


def _has(joined: str, begins: set[int], wanted: str) -> bool:
    at = joined.find(wanted)
    while at >= 0:
        if at in begins and at + len(wanted) in begins:
            return True
        at = joined.find(wanted, at + 1)
    return False


PartReader = Callable[[str, bytes], Iterator[Document | ReadFailure | Omission | PassedOver]]
"""Reads an attachment from its name, after the name of the message, and its bytes."""

ENCRYPTED = N_("encrypted or sealed bodies of messages")
UNREADABLE = N_("bodies of messages in an unknown encoding")
DEEPER = N_("messages inside more than five others")
SMALL = N_("small pictures (logos, icons)")

HEADERS = ("From", "To", "Cc", "Date", "Subject")
# Memory for a line of a message and for a part.
_MARKS = {b"\n": 150, b"\n--": 4_000}
_DEEPEST = 5
_LONGEST_NAME = 200
_SIGNATURES = ("application/pkcs7-signature", "application/x-pkcs7-signature")
_SEALED = ("application/pkcs7-mime", "application/x-pkcs7-mime")
# Charsets as named, with the meant ones. UTF-7 is missing, because it hides markup.
_MEANT = {
    **dict.fromkeys(("shift_jis", "sjis", "x_sjis", "ms_kanji", "windows_31j"), ("cp932",)),
    **dict.fromkeys(("euc_jp", "x_euc_jp"), ("euc_jp", "euc_jis_2004")),
    **dict.fromkeys(("gb2312", "gbk"), ("gb18030",)),
    "ks_c_5601_1987": ("cp949",),
    "iso_8859_1": ("cp1252",),
}
# Forms of a body equivalent to the page.
_FORMS = ("text/plain", "text/html", "text/enriched", "text/watch-html", "text/x-amp-html")
_UNSURE = ("", "us_ascii", "ascii", "unknown_8bit", "x_unknown", "binary", "default")
_ESCAPE = re.compile(rb"\x1b(\(B|\(J|\(I|\$@|\$B)")


@dataclass(slots=True)
class Mail:
    """A message in any format."""

    headers: dict[str, str] = field(default_factory=dict)  # names and values from `HEADERS`
    body: list[str] = field(default_factory=list)
    attachments: list[tuple[str, bytes]] = field(default_factory=list)  # names and bytes
    # attached messages with their file names
    messages: list[tuple[str, "Mail"]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)  # counts of unread parts

    def attach(self, name: str, content_type: str, content: bytes) -> None:
        """Add an attachment; see `file_name`."""
        called = file_name(name, content_type, len(self.attachments) + 1)
        self.attachments.append((called, content))

    def attach_message(self, name: str, suffix: str, message: "Mail") -> None:
        """Add a message, named by `name` or its subject."""
        number = len(self.messages) + 1
        called = name or message.headers.get("Subject", "") or f"message-{number}"
        called = file_name(called.removesuffix(suffix), "", number)
        self.messages.append((f"{called}{suffix}", message))


def read_eml(
    name: str, data: bytes, limits: Limits, read_part: PartReader
) -> Iterator[Document | ReadFailure | Omission | PassedOver]:
    """Read a message, its inner messages and its attachments."""
    check_memory(data, _MARKS, limits)
    try:
        message = BytesParser(policy=_AsWritten()).parsebytes(data)
    except (MessageError, RecursionError) as error:
        raise damaged() from error
    if not any(message.get(header) for header in (*HEADERS, "Received", "Message-ID")):
        raise InputError(
            N_("The file is no message: it has no headers."),
            N_("Save it from the mail program again."),
        )
    yield from documents(name, _Mime(limits).mail(message, 0), read_part)


def damaged() -> InputError:
    """The error for a damaged message."""
    return InputError(N_("The message is damaged."), N_("Save it from the mail program again."))


def documents(
    name: str, mail: Mail, read_part: PartReader, kind: str = "eml"
) -> Iterator[Document | ReadFailure | Omission | PassedOver]:
    """Yield a message as a document, then its attachments."""
    head = "".join(
        f"{header}: {mail.headers[header]}\n" for header in HEADERS if mail.headers.get(header)
    )
    body = "\n".join(part.strip("\n") for part in mail.body if part.strip())
    text = f"{head}\n{body}\n" if body else head
    subject = brief(mail.headers.get("Subject", "")) or stem(name)
    attachments = [(called, data) for called, data in mail.attachments if not is_small(data)]
    left_out = mail.left_out + Counter({SMALL: len(mail.attachments) - len(attachments)})
    omissions = omitted(left_out)
    if text.strip():
        yield prose(id_=name, title=subject, kind=kind, text=text, omissions=omissions)
    else:
        yield from omissions
    taken = Counter[str]()
    for called, message in mail.messages:
        yield from documents(f"{name}!{only_name(called, taken)}", message, read_part, kind)
    for called, content in attachments:
        yield from read_part(f"{name}!{only_name(called, taken)}", content)


def only_name(name: str, taken: Counter[str]) -> str:
    """A name unique among the attachments of the message."""
    taken[name] += 1
    if taken[name] == 1:
        return name
    path = PurePosixPath(name)
    return f"{path.stem} ({taken[name]}){path.suffix}"


def file_name(written: str, content_type: str, number: int) -> str:
    """The name of an attachment: one line, no folders, a suffix for its format."""
    last = re.split(r"[/\\]", one_line(written))[-1].replace("!", "_").strip(" .")
    path = PurePosixPath(last or f"attachment-{number}")
    suffix = path.suffix or mimetypes.guess_extension(content_type) or ""
    return path.stem[:_LONGEST_NAME] + suffix


def text_of_page(page: str, limits: Limits) -> str:
    """The text of an HTML body; "" if it has none."""
    # The mark overrides the encoding in the page, for the message has its own.
    data = b"\xef\xbb\xbf" + page.encode(errors="replace")
    try:
        return "".join(document.text for document in read_html("", data, limits))
    except InputError:
        return ""


class _AsWritten(Compat32):
    """Keeps headers as they came, non-ASCII bytes included."""

    def header_fetch_parse(self, name: str, value: str) -> str:  # noqa: ARG002 - its contract
        return value


class _Mime:
    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def mail(self, message: "Message[str, str]", depth: int) -> Mail:
        mail = Mail()
        for header in HEADERS:
            values = map(header_text, message.get_all(header, []))
            mail.headers[header] = ", ".join(filter(None, values))
        self._take(message, mail, depth)
        return mail

    def _take(self, part: "Message[str, str]", mail: Mail, depth: int) -> None:
        kind = part.get_content_type()
        name = _file_name_of(part)
        if kind in _SIGNATURES or kind == "application/pgp-signature":
            return
        if kind in _SEALED or kind == "multipart/encrypted":
            mail.left_out[ENCRYPTED] += 1
        elif kind == "message/rfc822" or (kind == "message/global" and part.is_multipart()):
            self._take_message(part, name, mail, depth)
        elif kind == "multipart/alternative":
            self._take_best(part, mail, depth)
        elif part.is_multipart():
            for inside in _parts(part):
                self._take(inside, mail, depth)
        elif kind in ("text/plain", "text/html") and not _is_file(part):
            if (text := self._text(part, mail)) is not None:
                mail.body.append(text)
        else:
            content = part.get_payload(decode=True)
            if isinstance(content, bytes):
                mail.attach(name, kind, content)

    def _take_message(self, part: "Message[str, str]", name: str, mail: Mail, depth: int) -> None:
        for inside in _parts(part):
            if depth >= _DEEPEST:
                mail.left_out[DEEPER] += 1
            else:
                mail.attach_message(name, ".eml", self.mail(inside, depth + 1))

    def _take_best(self, part: "Message[str, str]", mail: Mail, depth: int) -> None:
        """Take plain text and page, else the last of the other forms."""
        forms = _parts(part)
        plain = [one for one in forms if one.get_content_type() == "text/plain"]
        for one in plain:
            text = self._text(one, mail)
            if text and text.strip():
                # Other forms may carry attachments: a calendar, a picture.
                rest = [other for other in forms if other is not one]
                pages = (self._page(other, mail) for other in rest)
                mail.body.append(fuller(text, "\n".join(filter(None, pages))))
                for other in rest:
                    self._take_attached(other, mail, depth)
                return
        for other in reversed(forms):
            if other not in plain:
                before = len(mail.body)
                self._take(other, mail, depth)
                if len(mail.body) > before:
                    return

    def _page(self, form: "Message[str, str]", mail: Mail) -> str:
        pages = (one for one in _walk(form) if one.get_content_type() == "text/html")
        return "\n".join(filter(None, (self._text(one, mail) for one in pages)))

    def _take_attached(self, part: "Message[str, str]", mail: Mail, depth: int) -> None:
        for one in _walk(part):
            if one.get_content_type() not in _FORMS or _is_file(one):
                self._take(one, mail, depth)

    def _text(self, part: "Message[str, str]", mail: Mail) -> str | None:
        content = part.get_payload(decode=True)
        if not isinstance(content, bytes) or not content.strip():
            return None
        text = decoded(content, str(part.get_content_charset("") or ""))
        if text is None:
            mail.left_out[UNREADABLE] += 1
            return None
        if part.get_content_type() == "text/html":
            return text_of_page(text, self._limits)
        text = drop_controls(text)
        if str(part.get_param("format", "")).lower() == "flowed":
            return unflowed(text, delete_space=str(part.get_param("delsp", "")).lower() == "yes")
        return unwrapped(text)


def _parts(part: "Message[str, str]") -> Sequence["Message[str, str]"]:
    payload = part.get_payload()
    return [one for one in payload if isinstance(one, Message)] if isinstance(payload, list) else []


def _walk(part: "Message[str, str]") -> Iterator["Message[str, str]"]:
    if part.get_content_maintype() != "multipart":
        yield part
        return
    for inside in _parts(part):
        yield from _walk(inside)


def _is_file(part: "Message[str, str]") -> bool:
    return bool(_file_name_of(part)) or part.get_content_disposition() == "attachment"


def _file_name_of(part: "Message[str, str]") -> str:
    """The name of an attachment, in RFC 2231 or encoded words."""
    for key, header in (("filename", "content-disposition"), ("name", "content-type")):
        value = part.get_param(key, None, header)
        if value is None:
            continue
        if isinstance(value, tuple) and value[0]:
            text = decoded(value[2].encode("latin-1", "replace"), value[0])
            return text if text is not None else str(collapse_rfc2231_value(value))
        return header_text(value[2] if isinstance(value, tuple) else str(value))
    return ""


def header_text(value: str) -> str:
    """A header as one line, with encoded words decoded."""
    words = []
    unfolded = re.sub(r"\r?\n[ \t]*", " ", value)
    try:
        pieces = decode_header(unfolded)
    except (MessageError, ValueError):
        pieces = [(unfolded, None)]
    for piece, charset in pieces:
        if isinstance(piece, str):
            try:
                # Raw bytes without a declared encoding.
                piece = piece.encode("ascii", "surrogateescape")
            except UnicodeEncodeError:
                words.append(piece)
                continue
        text = decoded(piece, charset or "")
        words.append(piece.decode("ascii", "replace") if text is None else text)
    return one_line(re.sub(r"[\t\r\n]+", " ", "".join(words)).strip())


def decoded(data: bytes, charset: str) -> str | None:
    """Decode text by its declared charset; None if no known charset fits."""
    named = charset.lower().replace("-", "_").strip("\"' ")
    if named in ("utf_7", "unicode_1_1_utf_7"):
        return None
    if named.startswith("iso_2022_jp") or (named in _UNSURE and _ESCAPE.search(data)):
        return _of_jis(data)
    known = () if named in _UNSURE else _MEANT.get(named, (named,))
    if (text := first_decoded(data, (*known, "ascii"))) is not None:
        return text
    try:
        return decode_terse(data)
    except InputError:
        return None


def _of_jis(data: bytes) -> str | None:
    """Decode ISO-2022-JP, with the extra characters of Windows (①, ㈱, 髙)."""
    if (text := first_decoded(data, ("iso2022_jp", "iso2022_jp_ext"))) is not None:
        return text
    out, state, at = bytearray(), b"(B", 0
    for escape in (*_ESCAPE.finditer(data), None):
        piece = data[at : escape.start() if escape else len(data)]
        if state.startswith(b"$"):
            for first, second in zip(piece[::2], piece[1::2], strict=False):
                out += _as_cp932(first, second)
        else:
            out += bytes(byte | 0x80 for byte in piece) if state == b"(I" else piece
        if escape:
            state, at = escape[1], escape.end()
    return first_decoded(bytes(out), ["cp932"])


def _as_cp932(first: int, second: int) -> bytes:
    lead = (first - 0x21) // 2 + 0x81
    lead += 0x40 if lead > 0x9F else 0
    trail = second + (0x1F if second < 0x60 else 0x20) if first % 2 else second + 0x7E
    return bytes((lead & 0xFF, trail & 0xFF))


_QUOTED = re.compile("(>*) ?(.*)")


def unflowed(text: str, *, delete_space: bool) -> str:
    """Join the lines of a ``format=flowed`` text (RFC 3676); `delete_space` as ``DelSp``."""
    lines: list[str] = []
    open_at = -1
    for line in text.split("\n"):
        quoted = _QUOTED.fullmatch(line)
        depth, words = (len(quoted[1]), quoted[2]) if quoted and quoted[1] else (0, line)
        if not depth and words.startswith(" "):
            words = words[1:]  # It was put before what would look like a quotation.
        flows = words.endswith(" ") and words != "-- "
        kept = words[:-1] if flows and delete_space else words
        if open_at == depth:
            lines[-1] += kept
        else:
            lines.append(f"{'>' * depth} {kept}" if depth else kept)
        open_at = depth if flows else -1
    return "\n".join(line.rstrip(" ") for line in lines)

"""From bytes to text: encodings, control characters, lines, JSON records, names.

Decoding is strict: a wrong guess would store text nobody wrote. Titles and ids are part of every
passage, so their length is limited.
"""

import codecs
import json
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import PurePosixPath
from typing import IO, Any
from unicodedata import normalize

from localrag.corpus.readers.bounds import JSON, check_memory
from localrag.corpus.readers.types import Limits, NumberedLine
from localrag.errors import InputError
from localrag.harmless import shorten
from localrag.language import N_, _

# Text is kept verbatim, because quotations are checked against it. Control characters are the
# exception: nobody can quote them, and escape sequences would reach the user's terminal.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def drop_controls(text: str) -> str:
    """Drop C0 and C1 control characters except tab and newline; CR LF becomes newline."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", text)


_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    # Before UTF-16, whose little-endian mark also begins UTF-32.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Encodings meant by the names in Japanese files.
_WIDER = {"shift_jis": "cp932", "sjis": "cp932", "x_sjis": "cp932", "windows_31j": "cp932"}
# Strictest first: nearly all EUC-JP is also valid CP932 (half-width katakana), but the first
# hiragana of a CP932 text is not valid EUC-JP.
_LEGACY = ("euc_jp", "cp932")
_KANA = re.compile("[ぁ-んァ-ヶ]")
_KANJI = re.compile("[一-鿿々]")
_KANJI_RUN = re.compile("[一-鿿々]{2,}")
_SAVE_AS_UTF8 = N_("Save the file as UTF-8.")


def decode(data: bytes, declared: str = "") -> str:
    """Decode a file and drop control characters; a declared encoding is tried first.

    An empty or binary file, or one without a certain encoding, is an InputError.
    """
    text = drop_controls(_decode(data, declared))
    if not text.strip():
        raise empty_file()
    return text


def empty_file() -> InputError:
    """The error for an empty file."""
    return InputError(N_("The file is empty."), N_("Remove it, or check how it was saved."))


_HALF_WIDTH = re.compile("[｡-ﾟ]")


def decode_terse(data: bytes) -> str:
    """Decode short text without kana: a name, a table, the subject of a message.

    Of EUC-JP and CP932, the encoding with fewer half-width kana is chosen.
    """
    try:
        return decode(data)
    except InputError:
        readings = [text for one in _LEGACY if (text := first_decoded(data, [one])) is not None]
        if b"\0" in data or not data.strip() or not readings:
            raise
        return drop_controls(min(readings, key=lambda text: len(_HALF_WIDTH.findall(text))))


def first_decoded(data: bytes, encodings: Iterable[str]) -> str | None:
    """Decode by the first fitting encoding; None if none fits."""
    for encoding in encodings:
        with suppress(LookupError, UnicodeDecodeError):
            return data.decode(encoding)
    return None


def _decode(data: bytes, declared: str) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _strict(data, encoding)
    if b"\0" in data:
        raise InputError(N_("The file holds NUL bytes: it is not text."), _SAVE_AS_UTF8)
    if declared:
        normal = declared.lower().replace("-", "_")
        return _strict(data, _WIDER.get(normal, normal))
    if b"\x1b$" in data and data.isascii():
        return _strict(data, "iso2022_jp")
    for encoding in ("utf-8", *_LEGACY):
        text = first_decoded(data, [encoding])
        if text is not None and (encoding not in _LEGACY or _is_japanese(text)):
            return text
    raise InputError(
        N_(
            "The encoding is not known: neither UTF-8, UTF-16 with a byte order mark, EUC-JP, "
            "CP932 (Shift_JIS) nor ISO-2022-JP fits."
        ),
        _SAVE_AS_UTF8,
    )


def _is_japanese(text: str) -> bool:
    together = sum(map(len, _KANJI_RUN.findall(text)))
    return bool(_KANA.search(text)) or together >= max(3, 0.7 * len(_KANJI.findall(text)))


def _strict(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except LookupError as error:
        raise InputError(
            N_("The file names an unknown encoding: {encoding!r}."),
            _SAVE_AS_UTF8,
            encoding=encoding,
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(
            N_("The file is not valid {encoding} at byte {byte}."),
            _SAVE_AS_UTF8,
            encoding=encoding,
            byte=error.start,
        ) from error


# Characters. Titles of laws and wiki pages stay below 300, paths below 1,000.
_LONGEST_NAME = 1_000
_LONGEST_HEADING = 300


def stem(name: str) -> str:
    """The file name of a source without folders, archive and suffix, in NFC."""
    return normalize("NFC", PurePosixPath(name.rpartition("!")[2]).stem)


def bounded(what: str, name: str) -> str:
    """Return a name if it is short enough for every passage."""
    if len(name) > _LONGEST_NAME:
        raise InputError(
            N_("The {what} has {n:,} characters, more than {most:,}."),
            N_("Shorten it, or check how the file was made."),
            what=_(what),
            n=len(name),
            most=_LONGEST_NAME,
        )
    return name


def brief(heading: str) -> str:
    """A heading for headers; very long ones are cut."""
    return shorten(heading, _LONGEST_HEADING)


def cell(text: str) -> str:
    """A cell as part of a line, its own line breaks removed."""
    parts = [part.strip(" \t　") for part in text.replace("\t", " ").split("\n")]
    joined = ""
    for part in filter(None, parts):
        between = " " if joined and joined[-1].isascii() and part[0].isascii() else "　"
        joined += (between if joined else "") + part
    return joined


def string(record: dict[str, Any], key: str) -> str:
    """A string field without control characters; "" if missing."""
    value = record.get(key)
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise InputError(
            N_("The field {key!r} is not a string."), N_("Write it as a JSON string."), key=key
        )
    return drop_controls(value)


def one_line(text: str) -> str:
    """Replace line breaks and tabs by spaces, for titles and ids."""
    return text.replace("\n", " ").replace("\t", " ").strip()


_CHUNK = 1 << 20
# Bytes of an empty line with its end.
_EMPTY_LINE = 2
# Lines examined to recognise a file.
_HEAD = 20


class Lines:
    """The unread lines of a file, after a given one.

    Attributes:
        first: the first readable line of `head` (UTF-8, and JSON if it begins an object). It shows
            the content of the file. Without a readable line, the first one.
    """

    def __init__(self, stream: IO[bytes], limits: Limits, after: int = 0) -> None:
        self._stream, self._limits, self._after = stream, limits, after
        if next(self.whole(), None) is None:
            raise empty_file()
        # Even an unreadable line shows its format.
        fallback = next(self.head(), b"")[:_CHUNK]
        self.first = next((line for line in self.head() if _can_be_read(line, limits)), fallback)

    def __iter__(self) -> Iterator[NumberedLine]:
        return (line for line in self.whole() if line[0] > self._after)

    def head(self) -> Iterator[bytes]:
        """The first lines with content, skipped or not; to be used before iteration.

        Blank lines, too long ones, and a line that only opens an array are left out.
        """
        return (line for _, line in islice(self.whole(), _HEAD) if line and element(line))

    def whole(self) -> Iterator[NumberedLine]:
        """Every line from the start; to be used before iteration."""
        self._stream.seek(0)
        return numbered_lines(self._stream, self._limits)


def json_object(line: bytes) -> dict[str, Any]:
    """Parse a line holding one JSON object in UTF-8; others are InputErrors."""

    def damaged(error: json.JSONDecodeError) -> InputError:
        return InputError(
            N_("The line is not JSON: it goes wrong at character {character}."),
            N_("Write one complete JSON object a line."),
            character=error.colno,
        )

    value = parsed_json(utf8_line(line), damaged)
    if not isinstance(value, dict):
        raise InputError(N_("The line is not a JSON object."), N_("Write one JSON object a line."))
    return value


def utf8_line(line: bytes) -> str:
    """Decode a line of UTF-8."""
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            N_("The line is not valid UTF-8 at byte {byte}."),
            N_("Save the file as UTF-8."),
            byte=error.start,
        ) from error


def parsed_json(data: str | bytes, damaged: Callable[[json.JSONDecodeError], InputError]) -> Any:
    """Parse JSON; `damaged` makes the error for a wrong character."""
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        raise damaged(error) from error
    except UnicodeDecodeError as error:
        raise InputError(
            N_("The JSON is not valid UTF-8 at byte {byte}."),
            N_("Save the file as UTF-8."),
            byte=error.start,
        ) from error
    except ValueError as error:
        raise InputError(
            N_("The JSON holds a number that is too long."), N_("Check where it came from.")
        ) from error
    except RecursionError as error:
        raise InputError(
            N_("The JSON is nested too deeply."), N_("Check where it came from.")
        ) from error


def element(line: bytes) -> bytes:
    """A line without the brackets and commas of an array."""
    return line.strip(b"[], \t\r\n")


def complete(line: bytes | None, limits: Limits) -> bytes:
    """Return a line from `numbered_lines`."""
    if line is None:
        raise InputError(
            N_("The line is longer than {most:,} bytes."),
            N_("Check whether line breaks are missing, or split what it holds."),
            most=limits.line_bytes,
        )
    check_memory(line, JSON, limits)
    return line


def numbered_lines(stream: IO[bytes], limits: Limits) -> Iterator[NumberedLine]:
    """Yield lines with numbers from 1, without a byte order mark.

    A line over the limit is None. A stream that is too large, or mostly empty lines, is an
    InputError.
    """
    total, number, empty = 0, 0, 0
    while line := stream.readline(limits.line_bytes + 1):
        number += 1
        total += len(line)
        empty += len(line) <= _EMPTY_LINE
        if empty > limits.empty_lines + number // 2:
            raise InputError(
                N_("More than {n:,} lines of the file are empty."),
                N_("Check how it was made."),
                n=limits.empty_lines,
            )
        too_long = len(line) > limits.line_bytes
        rest = line
        while too_long and rest and not rest.endswith(b"\n"):
            rest = stream.readline(_CHUNK)
            total += len(rest)
            if total > limits.unpacked_bytes:
                break
        if total > limits.unpacked_bytes:
            raise InputError(
                N_("The file unpacks to more than {most:,} bytes."),
                N_("Split it into several files."),
                most=limits.unpacked_bytes,
            )
        if number == 1:
            line = line.removeprefix(BOM_UTF8)
        yield number, None if too_long else line


def _can_be_read(line: bytes, limits: Limits) -> bool:
    bare = element(line)
    try:
        check_memory(bare, JSON, limits)
        if bare.startswith(b"{"):
            json_object(bare)
        else:
            bare.decode()
    except (InputError, UnicodeDecodeError):
        return False
    return True

"""From bytes to text: encodings, control characters, names, fields of records.

Decoding is strict: a wrong guess would store text nobody wrote. Titles and ids are part of every
passage, so their length is limited.
"""

import codecs
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any
from unicodedata import normalize

from localrag.errors import InputError
from localrag.language import N_, _
from localrag.text.harmless import shorten

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
    """Decode a file for certain, or raise InputError; a declared encoding comes first."""
    text = drop_controls(_decode(data, declared))
    if not text.strip():
        raise empty_file()
    return text


def empty_file() -> InputError:
    """The error for an empty file."""
    return InputError(N_("The file is empty."), N_("Remove it, or check how it was saved."))


_HALF_WIDTH = re.compile("[｡-ﾟ]")


def decode_terse(data: bytes) -> str:
    """Decode short text without kana, with the fewest half-width kana."""
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

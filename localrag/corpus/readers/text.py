"""What of a source becomes text: its characters, its encoding, names that are not too long.

Decoding is strict: a wrong guess would store text that nobody wrote. Titles and ids stand in every
passage of their document, so one of megabytes would fill the memory.
"""

import codecs
import re
from pathlib import PurePosixPath
from unicodedata import normalize

from localrag.errors import InputError
from localrag.language import N_, _
from localrag.text.harmless import shorten

# Document text is kept verbatim because quotes are checked against it. Control characters are the
# one exception: they print as nothing, so no reader can quote them, and an escape sequence kept in
# the store would reach the terminal of whoever looks at a hit.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def drop_controls(text: str) -> str:
    """Drop C0 and C1 control characters but tab and newline; CR LF becomes newline."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", text)


_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    # Before UTF-16: its little-endian mark begins UTF-32's.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WIDER = {"shift_jis": "cp932", "sjis": "cp932", "x_sjis": "cp932", "windows_31j": "cp932"}
"""What is really meant by the names that Japanese files give for their encoding."""
_LEGACY = ("euc_jp", "cp932")
"""Strictest first: nearly all EUC-JP bytes are also valid CP932 (as half-width katakana), while
the first hiragana of a CP932 text is not valid EUC-JP."""
_KANA = re.compile("[ぁ-んァ-ヶ]")
_KANJI = re.compile("[一-鿿々]")
_KANJI_RUN = re.compile("[一-鿿々]{2,}")
_SAVE_AS_UTF8 = N_("Save the file as UTF-8.")


def decode(data: bytes, declared: str = "") -> str:
    """Decode a file and drop control characters.

    Args:
        data: the whole file.
        declared: the encoding the file itself names, tried before any guess.

    Raises:
        InputError: the file is empty or binary, or no encoding fits it beyond doubt.
    """
    text = drop_controls(_decode(data, declared))
    if not text.strip():
        raise InputError(
            N_("The file is empty."),
            N_("Remove it, or check how it was saved."),
        )
    return text


_HALF_WIDTH = re.compile("[｡-ﾟ]")


def decode_terse(data: bytes) -> str:
    """Decode as `decode` what may have no kana: a name, a table, the subject of a message.

    Where both EUC-JP and CP932 fit, it is the one in which no half-width kana come among the kanji.

    Raises:
        InputError: no encoding fits.
    """
    try:
        return decode(data)
    except InputError:
        if b"\0" in data or not data.strip():
            raise
        readings = []
        for encoding in _LEGACY:
            try:
                readings.append(data.decode(encoding))
            except UnicodeDecodeError:
                continue
        if not readings:
            raise
        return drop_controls(min(readings, key=lambda text: len(_HALF_WIDTH.findall(text))))


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
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding not in _LEGACY or _is_japanese(text):
            return text
    raise InputError(
        N_(
            "The encoding is not known: neither UTF-8, UTF-16 with a byte order mark, EUC-JP, "
            "CP932 (Shift_JIS) nor ISO-2022-JP fits."
        ),
        _SAVE_AS_UTF8,
    )


def _is_japanese(text: str) -> bool:
    """Whether a legacy encoding fits not by accident.

    Western text in Latin-1 often decodes to a kanji here and there, never to kana or to a text of
    which most kanji stand together: 労働基準法第20条.
    """
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


# Characters. Titles of laws and of pages of a wiki stay below 300, paths of files below 1,000.
_LONGEST_NAME = 1_000
_LONGEST_HEADING = 300


def stem(name: str) -> str:
    """Return the last part of a source's name, without folders, archive and suffix, in NFC."""
    return normalize("NFC", PurePosixPath(name.rpartition("!")[2]).stem)


def bounded(what: str, name: str) -> str:
    """Return a name that is short enough to stand in every passage.

    Args:
        what: it is the name of, a message marked with `N_`.
        name: the name.

    Raises:
        InputError: it is not.
    """
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
    """Return a heading as it stands in headers: one that is a whole text by itself is cut."""
    return shorten(heading, _LONGEST_HEADING)

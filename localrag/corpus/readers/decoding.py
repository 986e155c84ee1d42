"""From bytes to text, strictly: a wrong guess would store text that nobody wrote."""

import codecs
import re

from localrag.corpus.readers.characters import drop_controls
from localrag.errors import InputError

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
_SAVE_AS_UTF8 = "Save the file as UTF-8."


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
        raise InputError("The file is empty.", "Remove it, or check how it was saved.")
    return text


def _decode(data: bytes, declared: str) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _strict(data, encoding)
    if b"\0" in data:
        raise InputError("The file holds NUL bytes: it is not text.", _SAVE_AS_UTF8)
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
        if encoding in _LEGACY and not _KANA.search(text):
            # Western text in Latin-1 often decodes to kanji by accident, never to kana.
            continue
        return text
    raise InputError(
        "The encoding is not known: neither UTF-8, UTF-16 with a byte order mark, EUC-JP, CP932 "
        "(Shift_JIS) nor ISO-2022-JP fits.",
        _SAVE_AS_UTF8,
    )


def _strict(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except LookupError as error:
        raise InputError(
            f"The file names an unknown encoding: {encoding!r}.", _SAVE_AS_UTF8
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"The file is not valid {encoding} at byte {error.start}.", _SAVE_AS_UTF8
        ) from error

"""Text that reaches a terminal, a page or a file is shown, and never acts there."""

import json
import re
from typing import Any

# C0 (but not tab and line feed), DEL and C1 move the cursor or speak to the terminal; line
# and paragraph separators may begin a line, the bidirectional controls reorder what a reader sees;
# a lone surrogate cannot be encoded.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# These, line breaks, tabs, and what takes no room: with it two names look the same.
_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
    r"\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2060-\u206f\u3164\ufeff\uffa0"
    r"\ufff9-\ufffb\U000e0000-\U000e007f]"
)
# json.dumps escapes C0 itself.
_CONTROLS_IN_JSON = re.compile(r"[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def harmless(text: str) -> str:
    """Make control characters of a text visible (ESC becomes ␛) instead of letting them act.

    Each becomes one character, U+FFFD where it has no sign: positions in the text stay.
    """
    return _CONTROLS.sub(_picture, text)


def one_line(text: str) -> str:
    """Make all of a name visible in one line: line breaks become ␊, U+202E becomes <U+202E>.

    For names of files, documents, headings, corpora, models and tokens, wherever they are shown: a
    line break in one begins no line that passes for one of localrag.
    """
    return _UNSEEN.sub(_sign, text)


def json_text(value: Any, *, indent: int | None = None, allow_nan: bool = True) -> str:
    """Write a value as JSON in which nothing acts on a terminal that shows it.

    Args:
        value: what `json.dumps` takes.
        indent: blanks for each level; None for one line.
        allow_nan: write NaN and infinities, which only Python reads.

    Raises:
        ValueError: it holds one, and they are not allowed.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=allow_nan, indent=indent)
    return _CONTROLS_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else f"<U+{code:04X}>"


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else "\N{REPLACEMENT CHARACTER}"

"""Text that reaches a terminal is shown, and never acts there."""

import re

# C0 (but not tab and line feed), DEL and C1 move the cursor or speak to the terminal; line
# and paragraph separators may begin a line, the bidirectional controls reorder what a reader sees;
# a lone surrogate cannot be encoded.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def harmless(text: str) -> str:
    """Make control characters visible (ESC becomes ␛) instead of letting them act."""
    return _CONTROLS.sub(_picture, text)


def one_line(text: str) -> str:
    """Make line breaks visible too, in what is shown inside a line."""
    return harmless(text).replace("\n", "␊")


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else "\N{REPLACEMENT CHARACTER}"

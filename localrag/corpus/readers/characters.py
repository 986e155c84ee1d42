"""Which characters of a source may become document text."""

import re

# Document text is kept verbatim because quotes are checked against it. Control characters are the
# one exception: they print as nothing, so no reader can quote them, and an escape sequence kept in
# the store would reach the terminal of whoever looks at a hit.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def drop_controls(text: str) -> str:
    """Drop C0 and C1 control characters but tab and newline; CR LF becomes newline."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", text)

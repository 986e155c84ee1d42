"""Segmentation of Japanese text with MeCab and UniDic."""

import re
from functools import cache
from typing import Any

# MeCab holds one lattice for all it is given: a document of a megabyte would cost gigabytes.
_LONGEST_RUN = 4000
_PAUSE = re.compile(r"[。、\s]")


@cache
def _tagger() -> Any:
    import fugashi

    return fugashi.Tagger("-Owakati")


def segment(text: str) -> list[str]:
    """Cut normalised text into surfaces; blanks are dropped, all else is kept in order."""
    if len(text) <= _LONGEST_RUN:
        return _tagger().parse(text).split()  # type: ignore[no-any-return]
    surfaces: list[str] = []
    start = 0
    while start < len(text):
        end = min(start + _LONGEST_RUN, len(text))
        if end < len(text):
            pauses = [pause.end() for pause in _PAUSE.finditer(text, end - 500, end)]
            end = pauses[-1] if pauses else end
        surfaces.extend(_tagger().parse(text[start:end]).split())
        start = end
    return surfaces

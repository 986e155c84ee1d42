"""The pages of a document: where each begins, and how a place on them is written."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence

PAGE_STARTS = "page_starts"
"""The metadata that say where each page of a document begins, in characters, joined by commas."""
_JAPANESE = re.compile("[ぁ-んァ-ヶ一-鿿]")
_WRITTEN = re.compile(r"(?: \d+(?:–\d+)?頁|, pp?\. \d+(?:–\d+)?)$")


def page_starts(metadata: Mapping[str, str]) -> tuple[int, ...]:
    """Where each page of a document begins, in characters; empty where pages are unknown."""
    written = metadata.get(PAGE_STARTS, "")
    starts = written.split(",") if written else []
    return tuple(map(int, starts)) if all(start.isdecimal() for start in starts) else ()


def pages_of(starts: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """The first and the last page of a span, from 1; a page without text is none of them."""
    last = max(start, end - 1)
    return bisect_right(starts, start), bisect_right(starts, last)


def has_pages(place: str) -> bool:
    """Whether a place in words ends with its pages, as `with_pages` writes them."""
    return _WRITTEN.search(place) is not None


def with_pages(place: str, first: int, last: int, text: str) -> str:
    """A place in words with its pages: 意見書 12–13頁, or brief, pp. 12–13.

    Args:
        place: in words; pages that it has already are replaced.
        first: the first page.
        last: the last page.
        text: what stands there; Japanese is cited as in Japanese.
    """
    bare = _WRITTEN.sub("", place)
    pages = f"{first}" if last <= first else f"{first}–{last}"
    if _JAPANESE.search(text):
        return f"{bare} {pages}頁"
    return f"{bare}, {'pp' if last > first else 'p'}. {pages}"

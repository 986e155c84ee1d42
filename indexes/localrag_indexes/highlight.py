"""Where the terms of a query stand in a text, and the window that shows most of them."""

from collections import Counter
from collections.abc import Collection
from typing import Protocol

from localrag_indexes.analysis import Token


class SupportsTokens(Protocol):
    """What highlighting needs of an analyzer."""

    def tokens(self, text: str) -> list[Token]:
        """Cut `text` into terms with their spans in it."""
        ...


def highlight(
    text: str, query_terms: Collection[str], analyzer: SupportsTokens
) -> list[tuple[int, int]]:
    """Spans of `text` whose terms are among the query's, in order; neighbours come as one span."""
    spans: list[tuple[int, int]] = []
    for token in _matches(text, query_terms, analyzer):
        if spans and token.start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], token.end))
        else:
            spans.append((token.start, token.end))
    return spans


def best_window(
    text: str, query_terms: Collection[str], analyzer: SupportsTokens, size: int
) -> tuple[int, int]:
    """Find the span of at most `size` characters that shows the most different query terms.

    Of equally good ones the first with most matches wins; what room is left is put around the
    matches, evenly. Without a match it is the beginning of the text.
    """
    matches = _matches(text, query_terms, analyzer)
    best, best_value = (0, 0), (0, 0)
    inside: Counter[str] = Counter()
    first = 0
    for last, token in enumerate(matches):
        inside[token.term] += 1
        while first < last and token.end - matches[first].start > size:
            inside[matches[first].term] -= 1
            inside += Counter()
            first += 1
        value = (len(inside), last - first + 1)
        if value > best_value:
            best, best_value = (matches[first].start, token.end), value
    room = max(0, size - (best[1] - best[0]))
    start = max(0, min(best[0] - room // 2, len(text) - size))
    return start, min(len(text), start + size)


def _matches(text: str, query_terms: Collection[str], analyzer: SupportsTokens) -> list[Token]:
    wanted = frozenset(query_terms)
    return [token for token in analyzer.tokens(text) if token.term in wanted]

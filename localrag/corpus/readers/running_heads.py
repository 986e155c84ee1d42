"""Running heads, feet and page numbers, repeated at the edges of pages."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

from localrag.corpus.readers.layout import Box, Segment
from localrag_indexes.analysis.normalize import parse_numeral

# Rows examined at each edge.
_MOST_ROWS = 4
# Tolerance in points for the place of a head.
_NEAR = 8.0
_WINDOW, _LONGEST = 3, 200
_LEAST_NUMBERS, _MOST_DIGITS = 5, 4
# Pages needed to know the place of heads.
_LEAST_PAGES = 6
_NUMBER = r"(?:[0-9]{1,5}|[〇一二三四五六七八九十百]{1,6}|[ivxlc]{1,7})"
_DASH = r"[-‐-―−ー~〜～・.·|｜/]"
_PAGE_NUMBER = re.compile(
    rf"(?:{_DASH}\s*|[(\[〔【<〈《])*(?:p(?:age|p|g)?\.?|no\.?|第|頁|ページ|全)?\s*"
    rf"(?P<number>{_NUMBER})\s*(?:頁|ページ|枚目|丁|葉)?\s*"
    rf"(?:(?:/|of|中|out of|分の|{_DASH})\s*(?:全\s*)?{_NUMBER}\s*(?:頁|ページ|枚|pages?)?)?"
    rf"(?:\s*{_DASH}|[)\]〕】>〉》])*",
    re.IGNORECASE,
)
_AT_AN_END = re.compile(
    rf"^(?P<first>{_NUMBER})\s+(?P<rest>\D.*)$"
    rf"|^(?P<text>.*\D)\s+(?:{_PAGE_NUMBER.pattern.replace('number', 'inner')})$",
    re.IGNORECASE,
)
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


# The coordinates of a box from one side to the other, and the direction inward.
_SIDES = {"bottom": (1, 3, 1), "top": (1, 3, -1), "left": (0, 2, 1), "right": (0, 2, -1)}


@dataclass(slots=True)
class _Edge:
    page: int
    side: str
    row: int
    place: float
    segment: Segment
    is_far: bool
    words: str
    number: int | None


def without_running_heads(
    pages: Sequence[Sequence[Segment]], boxes: Sequence[Box]
) -> tuple[list[list[Segment]], list[str]]:
    """Separate running heads, feet and page numbers from the text of pages.

    They repeat words at the same place on nearby pages, or count with the pages. On a single page
    only unmistakable forms count ("- 3 -", "3/10"). The removed texts are returned in order.
    """
    repeated = _repeated(pages)
    rows = {
        (number, side): list(_rows_from(side, [p for p in parts if id(p) not in repeated]))
        for number, parts in enumerate(pages)
        for side in _SIDES
        if side in ("bottom", "top") or any(part.frame in (1, 3) for part in parts)
    }
    edges = [
        _Edge(
            page,
            side,
            at,
            _place(side, part.page_box, boxes[page]),
            part,
            len(row) == 1 and (at + 1 == len(found) or _is_far(side, part, found[at + 1])),
            *_read(part.text),
        )
        for (page, side), found in rows.items()
        for at, row in enumerate(found)
        for part in row
    ]
    running = _running(edges, len(pages))
    _add_beside_numbers(edges, running)
    _add_at_their_place(edges, running, len(pages))
    dropped = {
        (number, id(part))
        for number, parts in enumerate(pages)
        for part in parts
        if id(part) in repeated
    }
    for (page, _), found in rows.items():
        for at, row in enumerate(found):
            if not all(id(part) in running for part in row):
                break
            if _heads_a_table(row, found[at + 1] if at + 1 < len(found) else ()):
                break
            dropped.update((page, id(part)) for part in row)
    left_out = [
        part.text
        for number, parts in enumerate(pages)
        for part in parts
        if (number, id(part)) in dropped
    ]
    kept = [
        [part for part in parts if (number, id(part)) not in dropped]
        for number, parts in enumerate(pages)
    ]
    return kept, left_out


def _rows_from(side: str, parts: Sequence[Segment]) -> Iterator[list[Segment]]:
    """The outermost rows at one edge, each with all overlapping parts."""
    low, high, sign = _SIDES[side]
    outer = low if sign > 0 else high
    left = sorted((p for p in parts if p.text), key=lambda part: sign * part.page_box[outer])
    for _ in range(_MOST_ROWS):
        if not left:
            return
        first = left[0].page_box
        row: list[Segment] = []
        rest: list[Segment] = []
        for part in left:
            box = part.page_box
            overlap = min(first[high], box[high]) - max(first[low], box[low])
            is_beside = overlap > 0.5 * min(first[high] - first[low], box[high] - box[low])
            (row if is_beside else rest).append(part)
        yield row
        left = rest


def _is_far(side: str, part: Segment, inner: Sequence[Segment]) -> bool:
    """Whether two lines fit between a segment and the next row inward."""
    low, high, sign = _SIDES[side]
    box, boxes = part.page_box, [other.page_box for other in inner]
    if sign > 0:
        gap = min(other[low] for other in boxes) - box[high]
    else:
        gap = box[low] - max(other[high] for other in boxes)
    return gap > part.size * 2


def _place(side: str, box: Box, page: Box) -> float:
    low, high, sign = _SIDES[side]
    return sign * ((box[low] + box[high]) / 2 - page[low if sign > 0 else high])


def _read(text: str) -> tuple[str, int | None]:
    """The words of a segment without its page number, and the number."""
    if len(text) > _LONGEST:
        return text, None
    folded = " ".join(unicodedata.normalize("NFKC", text).lower().split())
    compact = folded.replace(" ", "") if len(folded) <= 40 else folded
    for form in (folded, compact):
        if whole := _PAGE_NUMBER.fullmatch(form):
            number = whole["number"]
            return form.replace(number, "#", 1), _value(number)
    if ends := _AT_AN_END.match(folded):
        if ends["first"]:
            return f"# {ends['rest']}", _value(ends["first"])
        if ends["inner"]:
            return f"{ends['text']} #", _value(ends["inner"])
    return folded, None


def _value(number: str) -> int | None:
    if number.isdecimal():
        return int(number)
    if number[0] in _ROMAN:
        values = [_ROMAN[sign] for sign in number]
        return sum(
            -value if value < following else value
            for value, following in zip(values, [*values[1:], 0], strict=True)
        )
    with suppress(ValueError):
        return parse_numeral(number)
    return None


def _running(edges: Sequence[_Edge], count: int) -> set[int]:
    """Ids of segments repeated on other pages or counting pages."""
    alike: dict[tuple[str, str, bool], list[_Edge]] = defaultdict(list)
    for edge in edges:
        alike[edge.side, edge.words, edge.number is not None].append(edge)
    found: set[int] = set()
    for (_, words, is_numbered), group in alike.items():
        for at, edge in enumerate(group):
            near = [
                other
                for other in group[max(0, at - 4 * _WINDOW) : at + 4 * _WINDOW]
                if 0 < abs(other.page - edge.page) <= _WINDOW
                and abs(other.place - edge.place) < _NEAR
                and abs(other.segment.size - edge.segment.size) < 0.6
                and _counts_on(edge, other)
            ]
            least = 1 if count <= 4 or is_numbered else 2
            if len({other.page for other in near}) >= least or (
                is_numbered
                and edge.row == 0
                and (_is_decorated(words, edge, count) or _is_set_apart(words, edge, count))
            ):
                found.add(id(edge.segment))
    return found


def _add_beside_numbers(edges: Sequence[_Edge], running: set[int]) -> None:
    """Add segments beside a page number, such as the head of a one-page chapter."""
    by_row: dict[tuple[int, str, int], list[_Edge]] = defaultdict(list)
    for edge in edges:
        by_row[edge.page, edge.side, edge.row].append(edge)
    numbered = [
        row
        for row in by_row.values()
        if any(id(edge.segment) in running and edge.number is not None for edge in row)
    ]
    for row in numbered:
        alike = {
            other[0].page
            for other in numbered
            if other[0].side == row[0].side and abs(other[0].place - row[0].place) < _NEAR
        }
        if len(alike) > 2:
            running.update(id(edge.segment) for edge in row)


def _add_at_their_place(edges: Sequence[_Edge], running: set[int], count: int) -> None:
    """Add the outermost rows at the place of heads on half of the pages."""
    outermost: dict[tuple[str, int], list[_Edge]] = defaultdict(list)
    for edge in edges:
        if edge.row == 0 and edge.side in ("top", "bottom"):
            outermost[edge.side, edge.page].append(edge)
    heads: dict[tuple[str, int, int], set[int]] = defaultdict(set)
    for row in outermost.values():
        for edge in row:
            if id(edge.segment) in running:
                heads[edge.side, *_spot(edge)].add(edge.page)
    usual = {spot for spot, pages in heads.items() if 2 * len(pages) >= count >= _LEAST_PAGES}
    for row in outermost.values():
        if all((edge.side, *_spot(edge)) in usual for edge in row):
            running.update(id(edge.segment) for edge in row)


def _spot(edge: _Edge) -> tuple[int, int]:
    return round(edge.place), round(edge.segment.size)


def _repeated(pages: Sequence[Sequence[Segment]]) -> set[int]:
    """Slanted text across several pages, and columns of five or more line numbers."""
    across: dict[tuple[str, int, int], list[tuple[int, Segment]]] = defaultdict(list)
    columns: dict[tuple[int, tuple[str, ...]], list[tuple[int, list[Segment]]]] = defaultdict(list)
    for number, parts in enumerate(pages):
        digits: dict[int, list[Segment]] = defaultdict(list)
        for part in parts:
            if part.frame < 0:
                place = round(part.page_box.x0 / 5), round(part.page_box.y0 / 5)
                across[part.text, *place].append((number, part))
            elif part.text.isdecimal() and len(part.text) <= _MOST_DIGITS:
                digits[round(part.page_box.x0 / 12)].append(part)
        for column, found in digits.items():
            found.sort(key=lambda part: -part.page_box.y1)
            if len(found) >= _LEAST_NUMBERS:
                columns[column, tuple(part.text for part in found)].append((number, found))
    out = {
        id(part)
        for found in across.values()
        if len({number for number, _ in found}) > 1
        for _, part in found
    }
    for (_, texts), pages_found in columns.items():
        steps = {int(b) - int(a) for a, b in pairwise(texts)}
        if len({number for number, _ in pages_found}) > 1 and len(steps) == 1 and min(steps) > 0:
            out.update(id(part) for _, found in pages_found for part in found)
    return out


def _counts_on(edge: _Edge, other: _Edge) -> bool:
    if edge.number is None or other.number is None:
        return True
    return other.number - edge.number == other.page - edge.page


def _is_decorated(words: str, edge: _Edge, count: int) -> bool:
    """Whether its form alone makes a page number: - 3 -, 3/10, 第3頁, Page 3."""
    if " #" in words and not _PAGE_NUMBER.fullmatch(words.replace("#", "1")):
        return False
    if words == "#":
        return False
    return bool(
        re.search(r"^[-‐-―−]\s*#\s*[-‐-―−]$|#\s*(?:/|／|of)|頁|ページ|page|^p\.", words)
    ) and (edge.number is not None and (edge.number == edge.page + 1 or count == 1))


def _is_set_apart(words: str, edge: _Edge, count: int) -> bool:
    return words == "#" and count <= 2 and edge.number == edge.page + 1 and edge.is_far


def _heads_a_table(row: Sequence[Segment], inner: Sequence[Segment]) -> bool:
    """Whether the next row inward has cells below these."""
    if len(row) < 2 or len(inner) < 2:
        return False
    aligned = sum(
        any(
            abs(part.box.x0 - other.box.x0) < 3
            or abs(part.box.x1 - other.box.x1) < 3
            or abs(part.box.x0 + part.box.x1 - other.box.x0 - other.box.x1) < 6
            for other in inner
        )
        for part in row
    )
    return aligned >= 2

"""From segments of printed lines to lines in reading order: columns, tables, rows."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby, pairwise
from operator import itemgetter
from statistics import median

from localrag.corpus.readers.flowing import KnownWords, ends_sentence, is_wide, join
from localrag.corpus.readers.layout import SPLIT, Box, Segment, is_parted, turned, uprights


@dataclass(slots=True)
class PageLine:
    """A printed line, or a row of a table."""

    text: str  # cells separated by tabs
    size: float  # of its font
    # indent, room: free space before and after it in its column; negative beyond it
    indent: float = 0.0
    room: float = 0.0
    width: float = 0.0  # of its column
    # distance to the line above in its column, in its own heights; 0 for the first
    gap: float = 0.0
    opens: bool = False  # whether it is the first of a column
    is_row: bool = False  # whether it is a row of a table
    is_ruled: bool = False  # whether a rule separates it from the line above
    frame: int = 0  # quarter turns of its text


_TEXT_COLUMN = 8.0
# Lines of a size needed to find the edge of their column.
_SHOW_EDGE = 3
_HANGING = "。、）」』，．"
_LABEL = re.compile(
    r"[・○●◎■□◆◇※•‣–◦①-⑳☐-☒*-]|[(（\[]?(?:[0-9０-９]{1,3}(?:\.[0-9]{1,3}){0,3}|[A-Za-zア-ンイロハニホヘト一二三四五六七八九十]{1,3})[.．)）\]]?"
    "|第[0-9０-９〇一二三四五六七八九十百]+[条章節編款項]?"
)


def lines(parts: Sequence[Segment], rules: Sequence[Box] = ()) -> list[PageLine]:
    """The lines of a page in reading order; drawn rules show the rows of tables."""
    by_frame: dict[int, list[Segment]] = defaultdict(list)
    for part in parts:
        if part.text:
            by_frame[part.frame].append(part)
    if not by_frame:
        return []
    main = max(by_frame, key=lambda frame: sum(len(part.text) for part in by_frame[frame]))
    out: list[PageLine] = []
    others = [frame for frame in by_frame if frame != main]
    for frame in [main, *others]:
        levels = list(_levels(rules, frame))
        bands = [(_is_one_column(band), band) for band in _bands(by_frame[frame])]
        alone = [part for is_one, band in bands if is_one for s in band.strips for part in s]
        column = _Column(alone or by_frame[frame], uprights(rules, frame))
        for is_one, group in groupby(bands, key=itemgetter(0)):
            together = [band for _, band in group]
            if is_one:
                parts_of_column = [part for band in together for s in band.strips for part in s]
                out += _column_lines(parts_of_column, column, levels)
            else:
                for band in together:
                    out += _read_band(band, levels, column.across)
    return out


def _is_one_column(band: "_Band") -> bool:
    return len(band.columns) == 1 or len(band.strips) == 1


def _levels(rules: Sequence[Box], frame: int) -> Iterator[Box]:
    for rule in rules:
        box = turned(rule, max(frame, 0))
        if box.x1 - box.x0 > 4 * (box.y1 - box.y0):
            yield box


def _strips(parts: Sequence[Segment]) -> list[list[Segment]]:
    """Parts overlapping in height, from the top down."""
    strips: list[list[Segment]] = []
    bottom = 0.0
    for part in sorted(parts, key=lambda part: -part.box.y1):
        # Font boxes are taller than their line distance, so a small overlap is no connection.
        height = (part.box.y1 - part.box.y0) * 0.3
        if strips and part.box.y1 - height > bottom:
            strips[-1].append(part)
            bottom = min(bottom, part.box.y0)
        else:
            strips.append([part])
            bottom = part.box.y0
    return strips


@dataclass(slots=True)
class _Band:
    """Strips with gaps at the same places: columns, a table, or one column."""

    strips: list[list[Segment]]
    columns: list[tuple[float, float]]


def _bands(parts: Sequence[Segment]) -> Iterator[_Band]:
    band: list[list[Segment]] = []
    columns: list[tuple[float, float]] = []
    for strip in _strips(parts):
        covered = _columns([_span(p) for p in strip], strip[0].size)
        merged = _columns([*columns, *covered], strip[0].size)
        # A strip across the gaps, or beside none, starts another band.
        if (band and len(columns) > 1 and len(merged) < max(2, len(columns) - 1)) or (
            band and len(columns) == 1 and len(covered) > 1 and len(merged) == 1
        ):
            yield from _closed(band, columns)
            band, columns = [strip], covered
        elif band and len(columns) == 1 and len(merged) > 1:
            # A single line before several columns: the strips below decide.
            yield from _closed(band, columns)
            band, columns = [strip], covered
        else:
            band.append(strip)
            columns = merged
    if band:
        yield from _closed(band, columns)


def _span(part: Segment) -> tuple[float, float]:
    marks = min(2, len(part.text) - len(part.text.rstrip(_HANGING)))
    return part.box.x0, max(part.box.x0, part.box.x1 - marks * part.size)


def _closed(band: list[list[Segment]], columns: list[tuple[float, float]]) -> Iterator[_Band]:
    """A band without single lines at its end, set apart from it."""
    rest: list[list[Segment]] = []
    if len(columns) > 1:
        while len(band) > 1 and len(band[-1]) == 1:
            above = min(p.box.y0 for p in band[-2])
            gap = above - band[-1][0].box.y1
            if gap < band[-1][0].size * 0.9:
                break
            rest.insert(0, band.pop())
    yield _Band(band, _columns([_span(p) for s in band for p in s], band[0][0].size))
    if rest:
        yield _Band(rest, _columns([_span(p) for s in rest for p in s], rest[0][0].size))


def _columns(spans: Sequence[tuple[float, float]], size: float) -> list[tuple[float, float]]:
    """The columns covered by spans; small gaps are closed."""
    out: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if out and start - out[-1][1] < size * SPLIT * 0.9:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out


class _Column:
    """A column of text and its right edge.

    Several lines must end there, because headings or punctuation may hang over it. Rules across
    lines belong to tables.
    """

    def __init__(self, parts: Sequence[Segment], across: Sequence[Box]) -> None:
        self.across = across
        self.left = min(part.box.x0 for part in parts)
        ends: dict[int, list[float]] = defaultdict(list)
        for part in parts:
            ends[round(part.size)].append(_span(part)[1])
        usual = max(ends, key=lambda size: len(ends[size]))
        self._right = _edge(ends[usual], usual)
        self._edges = {
            size: _edge(found, size) for size, found in ends.items() if len(found) >= _SHOW_EDGE
        }

    def right(self, size: float) -> float:
        return self._edges.get(round(size), self._right)


def _edge(ends: Sequence[float], size: float) -> float:
    least = max(2, len(ends) * 0.05)
    for end in sorted(ends, reverse=True):
        if sum(end - size * 1.6 <= other <= end for other in ends) >= least:
            return end
    return max(ends)


def _read_band(band: _Band, levels: Sequence[Box], across: Sequence[Box]) -> Iterator[PageLine]:
    by_column: list[list[Segment]] = [[] for _ in band.columns]
    for strip in band.strips:
        for part in strip:
            by_column[_column_of(part, band.columns)].append(part)
    if _is_text(band, by_column, levels):
        for inside in by_column:
            yield from _nested(inside, _Column(inside, across), levels)
    else:
        yield from _rows(band, levels)


def _nested(parts: list[Segment], column: _Column, levels: Sequence[Box]) -> Iterator[PageLine]:
    """A column of text, with inner columns or tables."""
    bands = list(_bands(parts))
    if len(bands) == 1 and len(bands[0].columns) == 1:
        yield from _column_lines(parts, column, levels)
        return
    for band in bands:
        if len(band.columns) == 1:
            inside = [p for strip in band.strips for p in strip]
            yield from _column_lines(inside, column, levels)
        else:
            yield from _rows(band, ())


def _column_of(part: Segment, columns: Sequence[tuple[float, float]]) -> int:
    middle = (part.box.x0 + part.box.x1) / 2
    return min(
        range(len(columns)),
        key=lambda at: max(columns[at][0] - middle, middle - columns[at][1], 0.0),
    )


def _is_text(band: _Band, by_column: Sequence[Sequence[Segment]], levels: Sequence[Box]) -> bool:
    """Whether columns are read one after the other; tables are read by rows.

    Rules over several columns make a table. Else text fills its column. The page's own order counts
    if it passes the columns once.
    """
    top, bottom = (
        max(part.box.y1 for strip in band.strips for part in strip),
        min(part.box.y0 for strip in band.strips for part in strip),
    )
    gutters = [(a[1], b[0]) for a, b in pairwise(band.columns)]
    ruled = {
        round(rule.y0)
        for rule in levels
        if bottom - 20 < rule.y0 < top + 20
        and any(rule.x0 < left and rule.x1 > right for left, right in gutters)
    }
    if len(ruled) > 2:
        return False
    order = sorted(
        (part.order, _column_of(part, band.columns)) for strip in band.strips for part in strip
    )
    returns = sum(other < column for (_, column), (_, other) in pairwise(order))
    filled = [
        _fills(inside, column) for inside, column in zip(by_column, band.columns, strict=True)
    ]
    if returns * 4 < len(band.strips):
        is_uneven = any(len(strip) > len(band.columns) for strip in band.strips)
        return any(filled) or (len(band.columns) == 2 and is_uneven)
    return all(filled) and len(band.strips) > 2


def _fills(parts: Sequence[Segment], column: tuple[float, float]) -> bool:
    size = median(part.size for part in parts) or 1.0
    width = column[1] - column[0]
    if width < size * _TEXT_COLUMN or len(parts) < 2:
        return False
    full = sum(
        part.box.x1 > column[1] - max(size * 2.5, width * 0.12) and not ends_sentence(part.text)
        for part in parts
    )
    return full * 2 >= len(parts) - 1


def _column_lines(
    parts: Sequence[Segment], column: _Column, levels: Sequence[Box]
) -> Iterator[PageLine]:
    """The lines of one column; parts beside each other are cells of a row."""
    above: list[Segment] = []
    for strip in _lines_of(parts):
        row = sorted(strip, key=lambda part: part.box.x0)
        left, right = row[0], row[-1]
        gap, is_ruled = 0.0, False
        if above:
            below, bottom = max(part.box.y1 for part in row), min(p.box.y0 for p in above)
            gap = (bottom - below) / max(left.size, 0.1)
            slack = left.size * 0.2
            is_ruled = any(
                below - slack < rule.y0 < bottom + slack
                and rule.x0 < right.box.x1
                and rule.x1 > left.box.x0
                for rule in levels
            )
        text = _spaced(row, column.across)
        yield PageLine(
            text,
            size=max(row, key=lambda part: len(part.text)).size,
            indent=left.box.x0 - column.left,
            room=column.right(left.size) - right.box.x1,
            width=column.right(left.size) - column.left,
            gap=gap,
            opens=not above,
            is_row="\t" in text,
            is_ruled=is_ruled,
            frame=left.frame,
        )
        above = row


def _spaced(row: Sequence[Segment], across: Sequence[Box]) -> str:
    """The parts of a line as text: tabs between cells, spaces in a spread line."""
    text = row[0].text
    for last, part in pairwise(row):
        gap = part.box.x0 - last.box.x1
        is_spread = gap < last.size * 2.5 and 0 <= part.order - last.order <= len(last.text) + 3
        if across and is_parted(last.box, part.box, across):
            text += "\t" + part.text
        elif is_spread and gap < last.size * 0.6:
            # Text filled into a line.
            text = join(text, part.text, KnownWords())
        elif is_spread or (last is row[0] and _is_label(last, part)):
            text += ("　" if is_wide(part.text[0]) else " ") + part.text
        else:
            text += "\t" + part.text
    return text


def _is_label(left: Segment, right: Segment) -> bool:
    gap = right.box.x0 - left.box.x1
    return gap < left.size * 4 and len(left.text) <= 6 and bool(_LABEL.fullmatch(left.text))


def _lines_of(parts: Sequence[Segment]) -> list[list[Segment]]:
    """Parts on one line, by their middle, because tall fonts overlap."""
    out: list[list[Segment]] = []
    for part in sorted(parts, key=lambda part: -(part.box.y0 + part.box.y1)):
        if out:
            last = out[-1][0].box
            overlap = min(last.y1, part.box.y1) - max(last.y0, part.box.y0)
            if overlap > 0.5 * min(last.y1 - last.y0, part.box.y1 - part.box.y0):
                out[-1].append(part)
                continue
        out.append([part])
    return out


def _rows(band: _Band, levels: Sequence[Box]) -> Iterator[PageLine]:
    """The rows of a table: text between two rules, or on one line."""
    grouped: list[list[Segment]] = []
    strips = [line for strip in band.strips for line in _lines_of(strip)]
    heights = sorted(
        {(rule.y0 + rule.y1) / 2 for rule in levels if rule.x1 - rule.x0 > strips[0][0].size * 4}
    )
    usual = _usual_gap(strips, band.columns)
    for strip in strips:
        if grouped and _is_same_row(grouped[-1], strip, heights, usual, band.columns):
            grouped[-1] += strip
        else:
            grouped.append(list(strip))
    edge = band.columns[-1][1]
    for number, row in enumerate(grouped):
        cells: list[list[Segment]] = [[] for _ in band.columns]
        for part in row:
            cells[_column_of(part, band.columns)].append(part)
        texts = [_in_one([p.text for line in _lines_of(cell) for p in line]) for cell in cells]
        yield PageLine(
            "\t".join(texts).strip("\t") if sum(map(bool, texts)) == 1 else "\t".join(texts),
            size=row[0].size,
            width=edge - band.columns[0][0],
            opens=not number,
            is_row=True,
            frame=row[0].frame,
        )


def _in_one(texts: Sequence[str]) -> str:
    return reduce(lambda done, text: join(done, text, KnownWords()), texts) if texts else ""


def _usual_gap(
    strips: Sequence[Sequence[Segment]], columns: Sequence[tuple[float, float]]
) -> float:
    """The gap between rows starting in the first column; 0 without any."""
    gaps = [
        min(part.box.y0 for part in above) - max(part.box.y1 for part in below)
        for above, below in pairwise(strips)
        if any(_column_of(part, columns) == 0 for part in below)
    ]
    return median(gaps) if gaps else 0.0


def _is_same_row(
    row: Sequence[Segment],
    strip: Sequence[Segment],
    heights: Sequence[float],
    usual: float,
    columns: Sequence[tuple[float, float]],
) -> bool:
    """Whether a line continues the row above: no rule between, or close and indented."""
    top, bottom = max(p.box.y1 for p in row), min(p.box.y0 for p in strip)
    last = min((p.box.y0 + p.box.y1) / 2 for p in row)
    first = max((p.box.y0 + p.box.y1) / 2 for p in strip)
    if heights and heights[0] < bottom and heights[-1] > top - strip[0].size:
        return not any(first < y < last for y in heights)
    gap = min(p.box.y0 for p in row) - max(p.box.y1 for p in strip)
    return all(_column_of(p, columns) for p in strip) and gap < usual * 0.7

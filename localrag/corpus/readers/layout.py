"""From the characters of printed pages to their lines in reading order.

Works on boxes alone, so that it serves a page that a program wrote and one that OCR has read.
Coordinates are points with the origin at the lower left of a page. A page is laid out in the frame
of its text: vertical Japanese, turned a quarter, has lines from left to right like any other.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from localrag.corpus.readers.flowing import ends_sentence, is_wide


class Glyph(NamedTuple):
    """A character as it is printed.

    Attributes:
        text: the character; "" where the font does not say which one it is.
        x0, y0, x1, y1: its box on the page.
        size: of the font.
        turned: quarters of a turn, counter-clockwise, from upright; -1 where it is slanted.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    turned: int = 0


class Box(NamedTuple):
    """A rectangle."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(slots=True)
class Segment:
    """Characters that follow each other in a line without a wide gap.

    Attributes:
        text: what is read.
        box: in the frame of the text: x along the line, y up.
        page_box: on the page.
        size: of the font, the usual one.
        order: where its first character is in the page's own order.
        frame: quarters of a turn of the text; -1 where it is slanted.
    """

    text: str
    box: Box
    page_box: Box
    size: float
    order: int
    frame: int


@dataclass(slots=True)
class Line:
    """A printed line, or a row of a table.

    Attributes:
        text: what is read; cells are separated by tabs.
        size: of its font.
        indent, room: what is left before and behind it in its column.
        width: of its column.
        gap: between it and the line above in its column, in its own heights; 0 for the first one.
        opens: whether it is the first one of a column.
        is_row: whether it is a row of a table.
        frame: quarters of a turn of its text.
    """

    text: str
    size: float
    indent: float = 0.0
    room: float = 0.0
    width: float = 0.0
    gap: float = 0.0
    opens: bool = False
    is_row: bool = False
    frame: int = 0


_SPLIT = 1.0
"""A gap of so many heights parts two segments of a line."""
_BLANK = 0.16
"""A gap of so many heights between Latin characters is a blank."""
_SAME = 0.2
_UPRIGHT_TOGETHER = 4
_TEXT_COLUMN = 8.0
_LABEL = re.compile(
    r"[・○●◎■□◆◇※•‣–◦①-⑳*-]|[(（\[]?(?:[0-9０-９]{1,3}(?:\.[0-9]{1,3}){0,3}|[A-Za-zア-ンイロハニホヘト一二三四五六七八九十]{1,3})[.．)）\]]?"
    "|第[0-9０-９〇一二三四五六七八九十百]+[条章節編款項]?"
)


def segments(glyphs: Sequence[Glyph]) -> list[Segment]:
    """Group the characters of a page into segments, in the page's own order."""
    placed = list(_in_frames(_once(glyphs)))
    out: list[Segment] = []
    for frame in dict.fromkeys(frame for _, frame, _ in placed):
        inside = [(order, glyph) for order, of, glyph in placed if of == frame]
        out += _segments_of(inside, frame)
    return sorted(out, key=lambda segment: segment.order)


def _once(glyphs: Sequence[Glyph]) -> Iterator[tuple[int, Glyph]]:
    """Drop what is printed twice at one place to look bold."""
    seen: dict[tuple[str, int, int], list[Glyph]] = defaultdict(list)
    for order, glyph in enumerate(glyphs):
        cell = max(glyph.size, 1.0)
        column, row = int(glyph.x0 // cell), int(glyph.y0 // cell)
        near = (
            other
            for dx in (-1, 0, 1)
            for dy in (-1, 0, 1)
            for other in seen.get((glyph.text, column + dx, row + dy), ())
        )
        if glyph.text.strip() and any(
            abs(other.x0 - glyph.x0) < cell * _SAME and abs(other.y0 - glyph.y0) < cell * _SAME
            for other in near
        ):
            continue
        if len(seen[glyph.text, column, row]) < 8:
            seen[glyph.text, column, row].append(glyph)
        yield order, glyph


# Frames: how a point of the page is turned so that the text runs from left to right.
def _turn(box: Box, frame: int) -> Box:
    x0, y0, x1, y1 = box
    match frame:
        case 1:  # Text runs up.
            return Box(y0, -x1, y1, -x0)
        case 2:
            return Box(-x1, -y1, -x0, -y0)
        case 3:  # Text runs down: vertical Japanese, and Latin words laid on their side in it.
            return Box(-y1, x0, -y0, x1)
        case _:
            return box


def _in_frames(glyphs: Iterable[tuple[int, Glyph]]) -> list[tuple[int, int, Glyph]]:
    """Tell for each character in which frame it is read: 3 for those of a vertical line."""
    found = list(glyphs)
    upright = [at for at, (_, glyph) in enumerate(found) if glyph.turned == 0]
    steps = [_step(found[a][1], found[b][1]) for a, b in pairwise(upright)]
    down, along = steps.count("down"), steps.count("along")
    if down + along < len(upright) / 3:
        down, along = _neighbours([found[at][1] for at in upright])
    frames = {at: glyph.turned for at, (_, glyph) in enumerate(found)}
    if down >= 2 and down > along:
        for run in _runs(upright, steps):
            inside = [found[at][1] for at in run]
            is_along = len(run) > 1 and _step(inside[0], inside[1]) == "along"
            fits = _fits_in_line(inside)
            if not is_along or fits:
                frames.update(dict.fromkeys(run, 3))
            if is_along and fits:
                found[run[0]] = (found[run[0]][0], _merged(inside))
                for at in run[1:]:
                    del frames[at]
    elif down >= 3:
        # A vertical part of a horizontal page.
        for run in _runs(upright, steps):
            if len(run) > 3 and _step(found[run[0]][1], found[run[1]][1]) == "down":
                frames.update(dict.fromkeys(run, 3))
    return [(found[at][0], frame, found[at][1]) for at, frame in frames.items()]


def _step(one: Glyph, other: Glyph) -> str:
    """Where the next character is: along the line, down, or elsewhere."""
    size = max(one.size, other.size, 0.1)
    dx, dy = (
        (other.x0 + other.x1 - one.x0 - one.x1) / 2,
        (other.y0 + other.y1 - one.y0 - one.y1) / 2,
    )
    if abs(dx) < size * 0.3 and size * -2.2 < dy < size * -0.45:
        return "down"
    if abs(dy) < size * 0.45 and size * 0.1 < dx < size * 2.2:
        return "along"
    return ""


def _neighbours(glyphs: Sequence[Glyph]) -> tuple[int, int]:
    """How many characters are nearer to the one below them than to the one at their right."""
    by_cell: dict[tuple[int, int], list[Glyph]] = defaultdict(list)
    size = median(glyph.size for glyph in glyphs) or 1.0 if glyphs else 1.0
    for glyph in glyphs:
        by_cell[int(glyph.x0 // (2 * size)), int(glyph.y0 // (2 * size))].append(glyph)
    down = along = 0
    for glyph in glyphs:
        column, row = int(glyph.x0 // (2 * size)), int(glyph.y0 // (2 * size))
        below = beside = 9 * size
        for other in (
            other
            for dx in (-1, 0, 1)
            for dy in (-1, 0, 1)
            for other in by_cell.get((column + dx, row + dy), ())[:40]
        ):
            if abs(other.x0 - glyph.x0) < size * 0.3 and other.y0 < glyph.y0 - size * 0.3:
                below = min(below, glyph.y0 - other.y0)
            elif abs(other.y0 - glyph.y0) < size * 0.3 and other.x0 > glyph.x0 + size * 0.2:
                beside = min(beside, other.x0 - glyph.x0)
        down += below < beside
        along += beside < below
    return down, along


def _runs(places: Sequence[int], steps: Sequence[str]) -> Iterator[list[int]]:
    """Characters that follow each other in one direction."""
    run: list[int] = []
    direction = ""
    for at, step in zip(places, [*steps, ""], strict=False):
        run.append(at)
        if not step or (direction and step != direction):
            yield run
            run, direction = [], ""
        else:
            direction = step
    if run:
        yield run


def _fits_in_line(glyphs: Sequence[Glyph]) -> bool:
    """Whether figures stand side by side in a vertical line (縦中横)."""
    return (
        len(glyphs) <= _UPRIGHT_TOGETHER
        and max(g.x1 for g in glyphs) - min(g.x0 for g in glyphs) <= glyphs[0].size * 1.6
    )


def _merged(glyphs: Sequence[Glyph]) -> Glyph:
    first = glyphs[0]
    return first._replace(
        text="".join(g.text for g in glyphs),
        x0=min(g.x0 for g in glyphs),
        x1=max(g.x1 for g in glyphs),
        y0=min(g.y0 for g in glyphs),
        y1=max(g.y1 for g in glyphs),
    )


class _Set(NamedTuple):
    """A character in its frame."""

    order: int
    glyph: Glyph
    box: Box


def segment(text: str, box: Box, size: float, order: int, *, is_vertical: bool = False) -> Segment:
    """What stands in a box of a page, read at once."""
    frame = 3 if is_vertical else 0
    return Segment(text, _turn(box, frame), box, size, order, frame)


def _segments_of(inside: Sequence[tuple[int, Glyph]], frame: int) -> Iterator[Segment]:
    turned = [_Set(order, glyph, _turn(Box(*glyph[1:5]), frame)) for order, glyph in inside]
    for line in _baselines(turned):
        part: list[_Set] = []
        for char in line:
            if part and char.glyph.text.strip():
                last = next((c for c in reversed(part) if c.glyph.text.strip()), part[-1])
                height = max(min(last.glyph.size, char.glyph.size), 0.1)
                # A blank that the file itself has is part of the line, unless it is very wide.
                blanks = sum(c.glyph.text == "　" for c in part[part.index(last) + 1 :])
                gap = char.box.x0 - last.box.x1 - blanks * height
                if gap > height * _SPLIT:
                    yield _segment(part, frame)
                    part = []
            part.append(char)
        if part:
            yield _segment(part, frame)


def _baselines(turned: Sequence[_Set]) -> Iterator[list[_Set]]:
    """Characters by line, each from left to right; small raised ones belong to their line."""
    rows: list[tuple[float, float, list[_Set]]] = []
    visible = sorted(
        (char for char in turned if char.glyph.text != " "),
        key=lambda char: (-char.glyph.size, -(char.box.y0 + char.box.y1)),
    )
    grid: dict[int, list[int]] = defaultdict(list)
    step = max(median([c.glyph.size for c in visible]) if visible else 1.0, 1.0)
    blanks = [char for char in turned if char.glyph.text == " "]
    for char in [*visible, *blanks]:
        low, high = char.box.y0, char.box.y1
        middle = (low + high) / 2
        best, nearest = None, 0.0
        for at in dict.fromkeys(
            at for cell in range(int(low // step) - 1, int(high // step) + 2) for at in grid[cell]
        ):
            bottom, top, _ = rows[at]
            height = min(top - bottom, high - low) or 0.1
            overlap = (min(top, high) - max(bottom, low)) / height
            distance = abs((bottom + top) / 2 - middle)
            if overlap > 0.5 and (best is None or distance < nearest):
                best, nearest = at, distance
        if best is None:
            for cell in range(int(low // step), int(high // step) + 1):
                grid[cell].append(len(rows))
            rows.append((low, high, [char]))
        else:
            rows[best][2].append(char)
    for _, _, row in sorted(rows, key=lambda row: -row[0]):
        yield sorted(row, key=lambda char: (round(char.box.x0, 1), char.order))


def _segment(part: Sequence[_Set], frame: int) -> Segment:
    text: list[str] = []
    last: _Set | None = None
    for char in part:
        if last is not None and _has_blank(last, char):
            text.append(" ")
        text.append(char.glyph.text)
        last = char
    boxes = [char.box for char in part if char.glyph.text.strip()] or [part[0].box]
    pages = [char.glyph for char in part if char.glyph.text.strip()] or [part[0].glyph]
    return Segment(
        "".join(text).strip(" "),
        _around(boxes),
        _around([Box(*glyph[1:5]) for glyph in pages]),
        Counter(round(glyph.size, 1) for glyph in pages).most_common(1)[0][0],
        min(char.order for char in part),
        frame,
    )


def _has_blank(one: _Set, other: _Set) -> bool:
    left, right = one.glyph.text[-1:], other.glyph.text[:1]
    if not left.strip() or not right.strip() or is_wide(left) or is_wide(right):
        return False
    return other.box.x0 - one.box.x1 > max(one.glyph.size, 0.1) * _BLANK


def _around(boxes: Sequence[Box]) -> Box:
    return Box(
        min(b.x0 for b in boxes),
        min(b.y0 for b in boxes),
        max(b.x1 for b in boxes),
        max(b.y1 for b in boxes),
    )


def lines(parts: Sequence[Segment], rules: Sequence[Box] = ()) -> list[Line]:
    """The lines of a page in reading order.

    Args:
        parts: what is read, without running heads and the like.
        rules: horizontal lines that are drawn, on the page, by which rows of tables are told.
    """
    by_frame: dict[int, list[Segment]] = defaultdict(list)
    for part in parts:
        if part.text:
            by_frame[part.frame].append(part)
    if not by_frame:
        return []
    main = max(by_frame, key=lambda frame: sum(len(part.text) for part in by_frame[frame]))
    out: list[Line] = []
    others = [frame for frame in by_frame if frame != main]
    for frame in [*others, main]:
        levels = list(_levels(rules, frame))
        page = _around([part.box for part in by_frame[frame]])
        for band in _bands(by_frame[frame]):
            out += _read_band(band, levels, (page.x0, page.x1))
    return out


def _levels(rules: Sequence[Box], frame: int) -> Iterator[float]:
    """The heights of rules along the lines."""
    for rule in rules:
        box = _turn(rule, max(frame, 0))
        if box.x1 - box.x0 > 4 * (box.y1 - box.y0):
            yield (box.y0 + box.y1) / 2


def _strips(parts: Sequence[Segment]) -> list[list[Segment]]:
    """Parts that overlap in height, from the top down."""
    strips: list[list[Segment]] = []
    bottom = 0.0
    for part in sorted(parts, key=lambda part: -part.box.y1):
        # Boxes of fonts are taller than their lines are apart: a fifth of overlap parts nothing.
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
    """Strips that have their gaps at the same places: columns, a table, or one column."""

    strips: list[list[Segment]]
    columns: list[tuple[float, float]]


def _bands(parts: Sequence[Segment]) -> Iterator[_Band]:
    band: list[list[Segment]] = []
    columns: list[tuple[float, float]] = []
    for strip in _strips(parts):
        covered = _columns([(p.box.x0, p.box.x1) for p in strip], strip[0].size)
        merged = _columns([*columns, *covered], strip[0].size)
        # What crosses the gaps, or is beside none, begins another band.
        if (band and len(columns) > 1 and len(merged) < max(2, len(columns) - 1)) or (
            band and len(columns) == 1 and len(covered) > 1 and len(merged) == 1
        ):
            yield from _closed(band, columns)
            band, columns = [strip], covered
        elif band and len(columns) == 1 and len(merged) > 1:
            # A line of one column before some of more: what it is beside shows below.
            yield from _closed(band, columns)
            band, columns = [strip], covered
        else:
            band.append(strip)
            columns = merged
    if band:
        yield from _closed(band, columns)


def _closed(band: list[list[Segment]], columns: list[tuple[float, float]]) -> Iterator[_Band]:
    """A band without the lines at its end that are beside nothing and set apart from it."""
    rest: list[list[Segment]] = []
    if len(columns) > 1:
        while len(band) > 1 and len(band[-1]) == 1:
            above = min(p.box.y0 for p in band[-2])
            gap = above - band[-1][0].box.y1
            if gap < band[-1][0].size * 0.9:
                break
            rest.insert(0, band.pop())
    yield _Band(band, _columns([(p.box.x0, p.box.x1) for s in band for p in s], band[0][0].size))
    if rest:
        yield _Band(
            rest, _columns([(p.box.x0, p.box.x1) for s in rest for p in s], rest[0][0].size)
        )


def _columns(spans: Sequence[tuple[float, float]], size: float) -> list[tuple[float, float]]:
    """What some spans cover, where less than a gap parts them as one."""
    out: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if out and start - out[-1][1] < size * _SPLIT * 0.9:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out


def _read_band(band: _Band, levels: Sequence[float], page: tuple[float, float]) -> Iterator[Line]:
    if len(band.columns) == 1:
        yield from _column_lines([part for strip in band.strips for part in strip], page)
        return
    by_column: list[list[Segment]] = [[] for _ in band.columns]
    for strip in band.strips:
        for part in strip:
            by_column[_column_of(part, band.columns)].append(part)
    if _is_text(band, by_column):
        for inside, column in zip(by_column, band.columns, strict=True):
            yield from _nested(inside, column)
    else:
        yield from _rows(band, levels)


def _nested(parts: list[Segment], column: tuple[float, float]) -> Iterator[Line]:
    """A column of text, which may have columns or tables in it."""
    bands = list(_bands(parts))
    if len(bands) == 1 and len(bands[0].columns) == 1:
        yield from _column_lines(parts, column)
        return
    for band in bands:
        if len(band.columns) == 1:
            yield from _column_lines([p for strip in band.strips for p in strip], column)
        else:
            yield from _rows(band, ())


def _column_of(part: Segment, columns: Sequence[tuple[float, float]]) -> int:
    middle = (part.box.x0 + part.box.x1) / 2
    return min(
        range(len(columns)),
        key=lambda at: max(columns[at][0] - middle, middle - columns[at][1], 0.0),
    )


def _is_text(band: _Band, by_column: Sequence[Sequence[Segment]]) -> bool:
    """Whether columns are read one after the other; a table is read by rows.

    Text fills its column, and its lines end within sentences. Where the page's own order goes down
    a column, that order is followed.
    """
    order = sorted(
        (part.order, at, strip)
        for strip, parts in enumerate(band.strips)
        for part in parts
        for at in [_column_of(part, band.columns)]
    )
    down = across = 0
    for (_, column, strip), (_, other, next_strip) in pairwise(order):
        down += column == other and next_strip > strip
        across += column != other and next_strip == strip
    filled = [
        _fills(inside, column) for inside, column in zip(by_column, band.columns, strict=True)
    ]
    texts = sum(filled)
    if down > across:
        return texts > 0 or (
            len(band.columns) == 2 and any(len(s) > len(band.columns) for s in band.strips)
        )
    return texts == len(band.columns) and len(band.strips) > 2


def _fills(parts: Sequence[Segment], column: tuple[float, float]) -> bool:
    """Whether a column holds running text."""
    size = median(part.size for part in parts) or 1.0
    width = column[1] - column[0]
    if width < size * _TEXT_COLUMN or len(parts) < 2:
        return False
    full = sum(
        part.box.x1 > column[1] - max(size * 2.5, width * 0.12) and not ends_sentence(part.text)
        for part in parts
    )
    return full * 2 >= len(parts) - 1


def _column_lines(parts: Sequence[Segment], column: tuple[float, float]) -> Iterator[Line]:
    """The lines of one column; parts beside each other are cells of a row."""
    above: list[Segment] = []
    for strip in _lines_of(parts):
        row = sorted(strip, key=lambda part: part.box.x0)
        left, right = row[0], row[-1]
        gap = 0.0
        if above:
            below = max(part.box.y1 for part in row)
            gap = (min(p.box.y0 for p in above) - below) / max(left.size, 0.1)
        text = "\t".join(part.text for part in row)
        if len(row) == 2 and _is_label(left, right):
            text, row = (
                f"{left.text}　{right.text}"
                if is_wide(right.text[0])
                else f"{left.text} {right.text}",
                [left, right],
            )
        yield Line(
            text,
            size=max(row, key=lambda part: len(part.text)).size,
            indent=left.box.x0 - column[0],
            room=column[1] - right.box.x1,
            width=column[1] - column[0],
            gap=gap,
            opens=not above,
            is_row="\t" in text,
            frame=left.frame,
        )
        above = row


def _is_label(left: Segment, right: Segment) -> bool:
    """Whether the first of two parts of a line is the number of an item or of a heading."""
    gap = right.box.x0 - left.box.x1
    return gap < left.size * 4 and len(left.text) <= 6 and bool(_LABEL.fullmatch(left.text))


def _lines_of(parts: Sequence[Segment]) -> list[list[Segment]]:
    """Parts on one line, by their middle: lines may overlap where fonts are tall."""
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


def _rows(band: _Band, levels: Sequence[float]) -> Iterator[Line]:
    """The rows of a table: what is printed between two rules, else on one line, is a row."""
    size = band.strips[0][0].size
    grouped: list[list[Segment]] = []
    strips = [line for strip in band.strips for line in _lines_of(strip)]
    for strip in strips:
        if grouped and _is_same_row(grouped[-1], strip, levels, size):
            grouped[-1] += strip
        else:
            grouped.append(list(strip))
    edge = band.columns[-1][1]
    for number, row in enumerate(grouped):
        cells: list[list[Segment]] = [[] for _ in band.columns]
        for part in row:
            cells[_column_of(part, band.columns)].append(part)
        texts = ["".join(p.text for line in _lines_of(cell) for p in line) for cell in cells]
        yield Line(
            "\t".join(texts).strip("\t") if sum(map(bool, texts)) == 1 else "\t".join(texts),
            size=row[0].size,
            width=edge - band.columns[0][0],
            opens=not number,
            is_row=True,
            frame=row[0].frame,
        )


def _is_same_row(
    row: Sequence[Segment], strip: Sequence[Segment], levels: Sequence[float], size: float
) -> bool:
    top, bottom = max(p.box.y1 for p in row), min(p.box.y0 for p in strip)
    inside = [y for y in levels if bottom < y < top]
    last, first = (
        min((p.box.y0 + p.box.y1) / 2 for p in row),
        max((p.box.y0 + p.box.y1) / 2 for p in strip),
    )
    if any(y > top for y in levels) and any(y < bottom for y in levels):
        return not any(first < y < last for y in inside)
    return False

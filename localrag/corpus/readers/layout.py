"""From the characters of printed pages to the segments of their lines.

Works on boxes alone, so that it serves a page that a program wrote and one that OCR has read.
Coordinates are points with the origin at the lower left of a page. A page is laid out in the frame
of its text: vertical Japanese, turned a quarter, has lines from left to right like any other.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from localrag.corpus.readers.flowing import is_wide


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


SPLIT, _SPLIT_APART = 1.0, 0.5
"""A gap of so many heights parts two segments of a line, where one follows the other in the file
and where it does not."""
_BLANK = 0.13
"""A gap of so many heights between Latin characters is a blank."""
_SAME = 0.2
_UPRIGHT_TOGETHER = 4


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
            # The letters of a ligature have one box.
            other[1:] != glyph[1:]
            and abs(other.x0 - glyph.x0) < cell * _SAME
            and abs(other.y0 - glyph.y0) < cell * _SAME
            for other in near
        ):
            continue
        if len(seen[glyph.text, column, row]) < 8:
            seen[glyph.text, column, row].append(glyph)
        yield order, glyph


def turned(box: Box, frame: int) -> Box:
    """A box in a frame: the page is turned so that its text runs from left to right."""
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
            is_alone = len(run) == 1 and not is_wide(inside[0].text[:1] or "\uffff")
            if (not is_along or fits) and not is_alone:
                frames.update(dict.fromkeys(run, 3))
            if is_along and fits:
                found[run[0]] = (found[run[0]][0], _merged(inside))
                for at in run[1:]:
                    del frames[at]
    elif down >= 3:
        # A vertical part of a horizontal page.
        for run in _runs(upright, steps):
            is_down = len(run) > 3 and _step(found[run[0]][1], found[run[1]][1]) == "down"
            if is_down and sum(is_wide(found[at][1].text[:1] or " ") for at in run) * 2 > len(run):
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
    return Segment(text, turned(box, frame), box, size, order, frame)


def _segments_of(inside: Sequence[tuple[int, Glyph]], frame: int) -> Iterator[Segment]:
    if frame < 0:
        yield from _slanted(inside)
        return
    placed = [_Set(order, glyph, turned(Box(*glyph[1:5]), frame)) for order, glyph in inside]
    for line in _baselines(placed):
        part: list[_Set] = []
        last: _Set | None = None
        blanks = 0
        for char in line:
            is_visible = bool(char.glyph.text.strip())
            if last is not None and is_visible:
                height = max(min(last.glyph.size, char.glyph.size), 0.1)
                # A wide blank that the file itself has is part of the line.
                gap = char.box.x0 - last.box.x1 - blanks * height
                # Cells may be near to each other, but they are not written one after the other.
                is_apart = not 0 <= char.order - part[-1].order <= _UPRIGHT_TOGETHER
                if gap > height * (_SPLIT_APART if is_apart else SPLIT):
                    yield _segment(part, frame)
                    part = []
            blanks = 0 if is_visible else blanks + (char.glyph.text == "　")
            last = char if is_visible else last
            part.append(char)
        if part:
            yield _segment(part, frame)


def _slanted(inside: Sequence[tuple[int, Glyph]]) -> Iterator[Segment]:
    """What is printed across a page, in its own order."""
    part: list[_Set] = []
    for order, glyph in inside:
        if part and order > part[-1].order + 1:
            yield _whole(part)
            part = []
        part.append(_Set(order, glyph, Box(*glyph[1:5])))
    if part:
        yield _whole(part)


def _whole(part: Sequence[_Set]) -> Segment:
    return _segment(part, -1)


def _baselines(placed: Sequence[_Set]) -> Iterator[list[_Set]]:
    """Characters by line, each from left to right; small raised ones belong to their line."""
    rows: list[tuple[float, float, list[_Set]]] = []
    visible = sorted(
        (char for char in placed if char.glyph.text != " "),
        key=lambda char: (-char.glyph.size, -(char.box.y0 + char.box.y1)),
    )
    grid: dict[int, list[int]] = defaultdict(list)
    step = max(median([c.glyph.size for c in visible]) if visible else 1.0, 1.0)
    blanks = [char for char in placed if char.glyph.text == " "]
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
        around(boxes),
        around([Box(*glyph[1:5]) for glyph in pages]),
        Counter(round(glyph.size, 1) for glyph in pages).most_common(1)[0][0],
        min(char.order for char in part),
        frame,
    )


def _has_blank(one: _Set, other: _Set) -> bool:
    left, right = one.glyph.text[-1:], other.glyph.text[:1]
    if not left.strip() or not right.strip() or is_wide(left) or is_wide(right):
        return False
    return other.box.x0 - one.box.x1 > max(one.glyph.size, 0.1) * _BLANK


def around(boxes: Sequence[Box]) -> Box:
    """The smallest box that holds some boxes."""
    return Box(
        min(b.x0 for b in boxes),
        min(b.y0 for b in boxes),
        max(b.x1 for b in boxes),
        max(b.y1 for b in boxes),
    )

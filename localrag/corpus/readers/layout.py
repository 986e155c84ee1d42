"""From the characters of printed pages to the segments of their lines.

It uses boxes alone, so it serves pages from a program and pages read by OCR. Coordinates are points
from the lower left of the page. Each text is laid out in its frame: vertical Japanese, turned a
quarter, has lines from left to right.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from statistics import median
from typing import NamedTuple

from localrag.corpus.readers.flowing import is_wide


class Glyph(NamedTuple):
    """A printed character."""

    text: str  # the character; "" if the font does not name it
    x0: float  # x0, y0, x1, y1: its box on the page
    y0: float
    x1: float
    y1: float
    size: float  # of the font
    turned: int = 0  # quarter turns counter-clockwise; -1 for slanted text
    is_after_blank: bool = False  # whether PDFium sees a space in the gap before it


class Box(NamedTuple):
    """A rectangle."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(slots=True)
class Segment:
    """Characters of a line without a wide gap."""

    text: str  # the characters
    box: Box  # in the frame of the text: x along the line, y up
    page_box: Box
    size: float  # the most frequent font size
    # position of its first character in the page's own order; between two characters for added text
    order: float
    frame: int  # quarter turns of the text; -1 for slanted text


SPLIT, _SPLIT_APART, _SPLIT_RULED = 1.0, 0.5, 0.3
"""Gaps in heights between two segments: for neighbours in the file, for others, and with an upright
rule in the gap."""
_MOST_UPRIGHTS = 400
# Gap in heights for a space between Latin characters.
_BLANK = 0.13
# The same if PDFium sees a space: it knows the widths of slanting letters.
_SLIGHT_BLANK = -0.2
# Gaps of a line needed to recognise spread letters.
_SHOW_SPREAD = 4
_ONE = "(?:[0-9]|[々〇ぁ-ヿ㐀-鿿！-｠「-】])"
_TYPED_APART = re.compile(rf"(?<![^\s])(?:{_ONE}[ 　]{{1,3}}){{3,}}{_ONE}(?!\S)")
# Numbers and names of parallel items: 甲 乙 丙.
_COUNTED = re.compile("[0-9０-９〇一二三四五六七八九十甲乙丙丁戊己ア-ンいろはにイロハニホヘト 　]+")
_SAME = 0.2
_UPRIGHT_TOGETHER = 4
_ANY = 1e9
# A reading, its maximum size relative to its word, and words compared.
_READING, _RUBY, _MOST_BASES = re.compile("[ぁ-ゖァ-ヺー・ 　]+"), 0.62, 200
# Frame of vertical writing.
_DOWN = 3
# Tolerance in heights for gaps of spread letters, and for gaps at punctuation.
_EVEN, _EVEN_AT_MARKS = 0.3, 0.7
# Width in heights of a title of two letters, and gap of table cells.
_WIDEST_PAIR, _FAR = 8.0, 3.0


def segments(glyphs: Sequence[Glyph], rules: Sequence[Box] = ()) -> list[Segment]:
    """Group the characters of a page into segments; upright rules separate them."""
    placed = list(_in_frames(_once(glyphs)))
    out: list[Segment] = []
    for frame in dict.fromkeys(frame for _, frame, _ in placed):
        inside = [(order, glyph) for order, of, glyph in placed if of == frame]
        out += _segments_of(inside, frame, uprights(rules, frame))
    return sorted(out, key=lambda segment: segment.order)


def without_ruby(parts: Sequence[Segment]) -> tuple[list[Segment], int]:
    """Segments without small readings above words, and the number of readings."""
    bases: dict[tuple[int, int], list[Segment]] = defaultdict(list)
    sizes = [part.size for part in parts if not _READING.fullmatch(part.text)]
    step = max(median(sizes), 1.0) if sizes else 1.0
    for part in parts:
        if not _READING.fullmatch(part.text) or part.size > step * _RUBY:
            bases[part.frame, int(part.box.y1 // step)].append(part)
    kept = [part for part in parts if not _is_ruby(part, bases, step)]
    return kept, len(parts) - len(kept)


def _is_ruby(part: Segment, bases: dict[tuple[int, int], list[Segment]], step: float) -> bool:
    """Whether a segment is small kana right above a word."""
    if part.size > step * _RUBY or not _READING.fullmatch(part.text):
        return False
    row = int(part.box.y0 // step)
    return any(
        part.size <= base.size * _RUBY
        and -0.5 * base.size < part.box.y0 - base.box.y1 < 0.4 * base.size
        and base.box.x0 - part.size < part.box.x0
        and part.box.x1 < base.box.x1 + part.size
        and any(map(is_wide, base.text))
        for near in (row - 1, row, row + 1)
        for base in bases.get((part.frame, near), ())[:_MOST_BASES]
    )


def _once(glyphs: Sequence[Glyph]) -> Iterator[tuple[int, Glyph]]:
    """Drop characters printed twice to look bold."""
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
            # Letters of a ligature share one box.
            other[1:7] != glyph[1:7]
            and abs(other.x0 - glyph.x0) < cell * _SAME
            and abs(other.y0 - glyph.y0) < cell * _SAME
            for other in near
        ):
            continue
        if len(seen[glyph.text, column, row]) < 8:
            seen[glyph.text, column, row].append(glyph)
        yield order, glyph


def turned(box: Box, frame: int) -> Box:
    """A box in a frame, with its text from left to right."""
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
    found = list(glyphs)
    upright = [at for at, (_, glyph) in enumerate(found) if glyph.turned == 0]
    steps = [_step(found[a][1], found[b][1]) for a, b in pairwise(upright)]
    down, along = steps.count("down"), steps.count("along")
    if down + along < len(upright) / 3:
        # For spread letters, or cells of one letter, the file's order shows the direction.
        steps = [_step(found[a][1], found[b][1], reach=_ANY) for a, b in pairwise(upright)]
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
        # Vertical text on a horizontal page.
        for run in _runs(upright, steps):
            is_down = len(run) > 3 and _step(found[run[0]][1], found[run[1]][1]) == "down"
            if is_down and sum(is_wide(found[at][1].text[:1] or " ") for at in run) * 2 > len(run):
                frames.update(dict.fromkeys(run, 3))
    return [(found[at][0], frame, found[at][1]) for at, frame in frames.items()]


def _step(one: Glyph, other: Glyph, reach: float = 2.2) -> str:
    """Direction to the next character within some heights: along, down or neither."""
    size = max(one.size, other.size, 0.1)
    dx, dy = (
        (other.x0 + other.x1 - one.x0 - one.x1) / 2,
        (other.y0 + other.y1 - one.y0 - one.y1) / 2,
    )
    if abs(dx) < size * 0.3 and size * -reach < dy < size * -0.45:
        return "down"
    if abs(dy) < size * 0.45 and size * 0.1 < dx < size * reach:
        return "along"
    return ""


def _neighbours(glyphs: Sequence[Glyph]) -> tuple[int, int]:
    """How many characters are closer to the next one below, and to the right."""
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
    """Characters following each other in one direction."""
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
    order: int
    glyph: Glyph
    box: Box


# Consecutive characters of a line.
_Part = Sequence[_Set]


def segment(
    text: str, box: Box, size: float, order: float, *, is_vertical: bool = False
) -> Segment:
    """A segment for text read in one box of the page."""
    frame = 3 if is_vertical else 0
    return Segment(text, turned(box, frame), box, size, order, frame)


def uprights(rules: Sequence[Box], frame: int) -> list[Box]:
    """Rules across the lines of a frame; in tables they separate cells."""
    boxes = (turned(rule, max(frame, 0)) for rule in rules)
    return [box for box in boxes if box.y1 - box.y0 > 4 * (box.x1 - box.x0)][:_MOST_UPRIGHTS]


def is_parted(left: Box, right: Box, across: Sequence[Box]) -> bool:
    """Whether an upright rule separates two boxes of a line."""
    middle = (left.y0 + left.y1) / 2
    return any(
        left.x1 - 1 <= rule.x0 and rule.x1 <= right.x0 + 1 and rule.y0 <= middle <= rule.y1
        for rule in across
    )


def _segments_of(
    inside: Sequence[tuple[int, Glyph]], frame: int, across: Sequence[Box]
) -> Iterator[Segment]:
    if frame < 0:
        yield from _slanted(inside)
        return
    placed = [_Set(order, glyph, turned(Box(*glyph[1:5]), frame)) for order, glyph in inside]
    # PDFium groups vertical lines with a common start into rows.
    is_in_order = frame != _DOWN
    rows = [list(_parts(line, is_in_order, across)) for line in _baselines(placed)]
    for row in _spread_joined(rows, is_in_order):
        for part in row:
            yield _segment(part, frame)


def _parts(line: _Part, is_in_order: bool, across: Sequence[Box]) -> Iterator[_Part]:
    """The characters of a line, split at wide gaps and rules."""
    part: list[_Set] = []
    last: _Set | None = None
    blanks = 0
    is_spread = _usual_gap(line) > SPLIT * 0.8
    for char in line:
        is_visible = bool(char.glyph.text.strip())
        if last is not None and is_visible:
            height = max(min(last.glyph.size, char.glyph.size), 0.1)
            # A wide space stored in the file belongs to the line.
            gap = char.box.x0 - last.box.x1 - blanks * height
            # Cells may be close, but are not consecutive in the file.
            is_apart = is_in_order and not 0 <= char.order - part[-1].order <= _UPRIGHT_TOGETHER
            is_ruled = across and gap > height * _SPLIT_RULED
            if gap > height * (_SPLIT_APART if is_apart or is_spread else SPLIT) or (
                is_ruled and is_parted(last.box, char.box, across)
            ):
                yield part
                part = []
        blanks = 0 if is_visible else blanks + (char.glyph.text == "　")
        last = char if is_visible else last
        part.append(char)
    if part:
        yield part


def _slanted(inside: Sequence[tuple[int, Glyph]]) -> Iterator[Segment]:
    """Text printed across a page, in its own order."""
    part: list[_Set] = []
    for order, glyph in inside:
        if part and order > part[-1].order + 1:
            yield _segment(part, -1)
            part = []
        part.append(_Set(order, glyph, Box(*glyph[1:5])))
    if part:
        yield _segment(part, -1)


def _spread_joined(rows: Sequence[Sequence[_Part]], is_in_order: bool) -> Iterator[list[_Part]]:
    """The parts of each line, with spread letters (均等割付) joined unless they are cells."""
    runs = [list(_even_runs(row, is_in_order)) for row in rows]
    ends = {
        (round(run[0][0].box.x0), round(run[-1][-1].box.x1))
        for row in runs
        for run in row
        if sum(map(len, run)) > 2
    }
    spans = [(row[0][0].box.x0, row[-1][-1].box.x1) for row in rows]
    middle = (min(x0 for x0, _ in spans) + max(x1 for _, x1 in spans)) / 2 if spans else 0.0
    for at, row in enumerate(runs):
        beside = [run for near in (at - 1, at + 1) if 0 <= near < len(runs) for run in runs[near]]
        out: list[_Part] = []
        for run in row:
            is_spread = (
                _is_spread(run)
                if len(run) != 2
                else _is_spread_pair(run, ends, middle if len(row) == 1 else None)
            )
            out += [list(chain(*run))] if is_spread and not _are_cells(run, beside) else run
        yield out


def _even_runs(row: Sequence[_Part], is_in_order: bool) -> Iterator[list[_Part]]:
    """Possible spread letters of a line; any other part alone."""
    run: list[_Part] = []
    gaps: list[float] = []
    steps: list[float] = []
    for part in row:
        if run:
            last = run[-1]
            size = max(part[0].glyph.size, 0.1)
            gap, step = part[0].box.x0 - last[-1].box.x1, _middle(part) - _middle(last)
            room = size * (_EVEN_AT_MARKS if _is_mark(last) or _is_mark(part) else _EVEN)
            if (
                _is_letter(last)
                and _is_letter(part)
                and (not is_in_order or 0 < part[0].order - last[-1].order <= _UPRIGHT_TOGETHER)
                and abs(size - last[0].glyph.size) < size * 0.1
                and (
                    not gaps
                    or abs(gap - median(gaps[-9:])) < room
                    or abs(step - median(steps[-9:])) < room
                )
            ):
                gaps.append(gap)
                steps.append(step)
            else:
                yield run
                run, gaps, steps = [], [], []
        run.append(part)
    if run:
        yield run


def _is_letter(part: _Part) -> bool:
    seen = [char.glyph.text for char in part if char.glyph.text.strip()]
    return len(seen) == 1 or (
        len(seen) <= _UPRIGHT_TOGETHER and not any(is_wide(text[0]) for text in seen)
    )


def _is_mark(part: _Part) -> bool:
    return not part[0].glyph.text.isalnum()


def _middle(part: _Part) -> float:
    return (part[0].box.x0 + part[-1].box.x1) / 2


def _is_spread(run: Sequence[_Part]) -> bool:
    return len(run) > 2 and sum(part[0].glyph.text.isalpha() for part in run) * 2 > len(run)


def _is_spread_pair(
    run: Sequence[_Part], ends: Container[tuple[int, int]], middle: float | None
) -> bool:
    """Whether two letters are a title (判 決), or a label as wide as another line's."""
    if not all(part[0].glyph.text.isalpha() and is_wide(part[0].glyph.text) for part in run):
        return False
    first, last, size = run[0][0].box.x0, run[1][-1].box.x1, run[0][0].glyph.size
    is_title = (
        middle is not None
        and abs((first + last) / 2 - middle) < size
        and last - first < _WIDEST_PAIR * size
    )
    return is_title or any(
        (round(first) + left, round(last) + right) in ends
        for left in (-1, 0, 1)
        for right in (-1, 0, 1)
    )


def _are_cells(run: Sequence[_Part], beside: Iterable[Sequence[_Part]]) -> bool:
    """Whether the lines above and below have cells at the places of several letters."""
    size = run[0][0].glyph.size
    is_wide_apart = run[1][0].box.x0 - run[0][-1].box.x1 > size * _FAR
    places = {round(value / size) for part in run for value in (part[0].box.x0, _middle(part))}
    found = 0
    for other in beside:
        under = sum(
            any(round(value / size) in places for value in (part[0].box.x0, _middle(part)))
            for part in other
        )
        # Spread text also forms a grid.
        if not _is_spread(other) or (is_wide_apart and under == len(other) == len(run)):
            found += under
    return found > 1


def _baselines(placed: Sequence[_Set]) -> Iterator[list[_Set]]:
    """Characters by line, from left to right; small raised ones join their line."""
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
    blank = _BLANK + _usual_gap(part)
    for char in part:
        if last is not None and _has_blank(last, char, blank):
            text.append(" ")
        text.append(char.glyph.text)
        last = char
    boxes = [char.box for char in part if char.glyph.text.strip()] or [part[0].box]
    pages = [char.glyph for char in part if char.glyph.text.strip()] or [part[0].glyph]
    return Segment(
        _typed_apart("".join(text).strip(" ")),
        around(boxes),
        around([Box(*glyph[1:5]) for glyph in pages]),
        Counter(round(glyph.size, 1) for glyph in pages).most_common(1)[0][0],
        min(char.order for char in part),
        frame,
    )


def _typed_apart(text: str) -> str:
    return _TYPED_APART.sub(
        lambda found: found[0] if _COUNTED.fullmatch(found[0]) else re.sub("[ 　]", "", found[0]),
        text,
    )


def _usual_gap(part: _Part) -> float:
    gaps = [
        (b.box.x0 - a.box.x1) / max(a.glyph.size, 0.1)
        for a, b in pairwise(part)
        if a.glyph.text.strip() and b.glyph.text.strip()
    ]
    return max(0.0, median(gaps)) if len(gaps) >= _SHOW_SPREAD else 0.0


def _has_blank(one: _Set, other: _Set, blank: float) -> bool:
    left, right = one.glyph.text[-1:], other.glyph.text[:1]
    if not left.strip() or not right.strip() or is_wide(left) or is_wide(right):
        return False
    if other.glyph.is_after_blank:
        blank -= _BLANK - _SLIGHT_BLANK
    gap, least = other.box.x0 - one.box.x1, max(one.glyph.size, 0.1) * blank
    if gap > least:
        return True
    # Quotation marks in Japanese fonts are full width, half of it empty.
    return (
        left == "”" and (right.isalnum() or right in '("“‘') and gap + _empty_half(one) > least
    ) or (right in "“‘" and left.isalnum() and gap + _empty_half(other) > least)


def _empty_half(char: _Set) -> float:
    across = char.box.x1 - char.box.x0
    return across / 2 if across > char.glyph.size * 0.9 else 0.0


def around(boxes: Sequence[Box]) -> Box:
    """The smallest box around some boxes."""
    return Box(
        min(b.x0 for b in boxes),
        min(b.y0 for b in boxes),
        max(b.x1 for b in boxes),
        max(b.y1 for b in boxes),
    )

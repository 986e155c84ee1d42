"""OCR of image pages with PP-OCR, page by page; read pages are kept on disk.

PP-OCR reads vertical columns sideways, and drops 、 and 。. So each column is cut into characters,
laid in a row. It also drops spaces, so rows are cut at wide ones. An interrupted run resumes at the
next page.
"""

import json
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import sha256
from importlib import metadata
from importlib.util import find_spec
from io import BytesIO
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from joyokanji import convert

from localrag.corpus.durable import make_folder, replace_text
from localrag.corpus.readers.text import drop_controls
from localrag.errors import InputError, to_install
from localrag.language import N_
from localrag.text.progress import ignore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]
    """Rows, columns, and red, green, blue."""

# Longer side in pixels for finding text; reading uses the full image.
_LONGEST_SIDE = 1600
# Ratio of height to width of a column; between this and its inverse it may be either.
_TALL = 1.5
# Below this confidence, text is read again in other ways.
_DOUBTFUL = 0.9
# Below this confidence it is the edge of a seal, a rule or dust; rapidocr has the same limit.
_LEAST = 0.5
# Difference of red, green and blue in a coloured pixel.
_COLOUR = 60
# Forms not used in Japan and missing in joyokanji.
_FORMS = str.maketrans("戶說稅內黃淸靑敎閱銳脫悅緖錄綠絕", "戸説税内黄清青教閲鋭脱悦緒録緑絶")
_JAPANESE = "[^\\x00-\\xff]"
_BRACKETS = re.compile(
    # Both of a pair beside Japanese, or one with its partner in another line.
    rf"(?<={_JAPANESE})\(([^()]*)\)|\((?={_JAPANESE})([^()]*)\)|\(([^()]*)\)(?={_JAPANESE})"
    rf"|(?<={_JAPANESE})[()]|[()](?={_JAPANESE})"
)
_WIDE_BRACKETS = str.maketrans("()", "（）")


@dataclass(frozen=True, slots=True)
class ScannedLine:
    """A line of print, or a column of vertical writing."""

    text: str  # as read
    # left, top, right, bottom in pixels, on the upright page
    box: tuple[float, float, float, float]
    confidence: float  # of the engine, from 0 to 1
    vertical: bool = False  # whether it is a column


class OcrEngine(Protocol):
    """Reads the image of a page."""

    @property
    def name(self) -> str:
        """Name with version, because versions read differently."""
        ...

    def read(self, image: "Image") -> list[ScannedLine]:
        """Read a page; lines are in reading order."""
        ...


def is_installed() -> bool:
    """Whether the packages for OCR are installed; does not load them."""
    return bool(find_spec("rapidocr") and find_spec("onnxruntime"))


class PaddleOcr:
    """PP-OCRv6 small, run by rapidocr and ONNX Runtime; 0 `threads` for one per core."""

    def __init__(self, threads: int = 0) -> None:
        self._threads = threads

    @property
    def name(self) -> str:
        """Name with version."""
        try:
            return f"rapidocr {metadata.version('rapidocr')}"
        except metadata.PackageNotFoundError as error:
            raise _missing() from error

    @cached_property
    def _engine(self) -> Any:
        # Loading takes a second, and most files need no OCR.
        try:
            import rapidocr
        except ImportError as error:
            raise _missing() from error
        models = Path(rapidocr.__file__).parent / "models"
        return rapidocr.RapidOCR(
            params={
                "Global.log_level": "critical",
                # It would shrink long lines; pages are resized below.
                "Global.use_preprocess_img": False,
                # With a model path it checks no hash and downloads nothing.
                "Det.model_path": str(models / "PP-OCRv6_det_small.onnx"),
                "Rec.model_path": str(models / "PP-OCRv6_rec_small.onnx"),
                "EngineConfig.onnxruntime.intra_op_num_threads": self._threads or -1,
            }
        )

    def read(self, image: "Image") -> list[ScannedLine]:
        """Read a page; lines are in reading order."""
        boxes = self._boxes(image)
        vertical = _is_vertical(boxes)
        places = _upright_places(boxes, image)
        lines = [
            self._line(image, box, place, vertical)
            for box, place in zip(boxes, places, strict=True)
        ]
        read = [line for line in lines if line.text.strip() and line.confidence >= _LEAST]
        return in_reading_order(read, vertical=vertical)

    def _boxes(self, image: "Image") -> "list[NDArray[np.float32]]":
        import cv2
        import numpy as np

        scale = min(1.0, _LONGEST_SIDE / max(image.shape[:2]))
        size = tuple(max(1, round(side * scale)) for side in image.shape[1::-1])
        small = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
        found = self._engine(small, use_det=True, use_cls=False, use_rec=False)
        if found.boxes is None:
            return []
        return [_in_order(np.asarray(box / scale, np.float32)) for box in found.boxes]

    def _line(
        self,
        image: "Image",
        box: "NDArray[np.float32]",
        place: tuple[float, float, float, float],
        vertical: bool,
    ) -> ScannedLine:
        import numpy as np

        piece = _straightened(image, box)
        height, width = piece.shape[:2]
        upright = height >= _TALL * width or (vertical and width < _TALL * height)
        text, confidence = self._row(laid_in_a_row(piece) if upright else piece)
        if confidence < _DOUBTFUL:
            others = [np.rot90(piece)] if upright else []
            if _is_coloured(piece):
                # Print below a red seal is dark in the red channel; the seal is bright.
                red = np.repeat(piece[:, :, :1], 3, axis=2)
                others.append(laid_in_a_row(red) if upright else red)
            for other in others:
                text, confidence = max((text, confidence), self._row(other), key=itemgetter(1))
        return ScannedLine(as_in_japan(text), place, round(confidence, 3), upright)

    def _row(self, row: "Image") -> tuple[str, float]:
        """The text of a row with spaces, and its confidence."""
        read, weighted = "", 0.0
        for piece, blank in _parted(row):
            text, confidence = self._text(piece)
            weighted += confidence * len(text)
            if read and text:
                read += _blank_between(read, text, blank)
            read += text
        return read, weighted / max(1, len("".join(read.split())))

    def _text(self, piece: "Image") -> tuple[str, float]:
        import numpy as np

        found = self._engine(
            np.ascontiguousarray(piece), use_det=False, use_cls=False, use_rec=True
        )
        return (found.txts[0], float(found.scores[0])) if found.txts else ("", 0.0)


def as_in_japan(text: str) -> str:
    """Text in the forms printed in Japan: 毎 for 每, wide brackets."""
    text = "".join(one if _is_in_jis(one) else convert(one) for one in text).translate(_FORMS)
    # Twice for nested brackets.
    for _ in range(2):
        text = _BRACKETS.sub(lambda found: found[0].translate(_WIDE_BRACKETS), text)
    return text


def _is_in_jis(character: str) -> bool:
    try:
        character.encode("shift_jis")
    except UnicodeEncodeError:
        return False
    return True


def _is_coloured(image: "Image") -> bool:
    import numpy as np

    spread = image.max(axis=2).astype(np.int16) - image.min(axis=2)
    return bool((spread > _COLOUR).mean() > 0.01)


def _missing() -> InputError:
    return InputError(N_("Reading scanned pages needs rapidocr."), to_install("ocr"))


def in_reading_order(lines: Sequence[ScannedLine], *, vertical: bool) -> list[ScannedLine]:
    """Lines from top to bottom, or columns from right to left."""
    if vertical:
        return sorted(lines, key=lambda line: (-(line.box[0] + line.box[2]), line.box[1]))
    return sorted(lines, key=lambda line: (line.box[1] + line.box[3], line.box[0]))


def _is_vertical(boxes: "Sequence[NDArray[np.float32]]") -> bool:
    columns = rows = 0.0
    for box in boxes:
        width, height = _size(box)
        if height >= _TALL * width:
            columns += height
        elif width >= _TALL * height:
            rows += width
    return columns > rows


def _in_order(box: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """The corners of a box clockwise from top left, an order lost in narrow skewed boxes."""
    import cv2
    import numpy as np

    corners = np.asarray(cv2.boxPoints(cv2.minAreaRect(box)), np.float32)
    turns = [np.roll(corners, -first, axis=0) for first in range(4)]

    def rightwards(turn: "NDArray[np.float32]") -> float:
        side = turn[1] - turn[0]
        return float(side[0] / max(np.linalg.norm(side), 1e-6))

    return np.asarray(max(turns, key=rightwards), np.float32)


def _upright_places(
    boxes: "Sequence[NDArray[np.float32]]", image: "Image"
) -> list[tuple[float, float, float, float]]:
    import numpy as np

    if not boxes:
        return []
    sizes = [_size(box) for box in boxes]
    angles = []
    for box, (width, height) in zip(boxes, sizes, strict=True):
        # The long side shows the skew better.
        across, down = box[1] - box[0], box[3] - box[0]
        side = across if width >= height else np.array([down[1], -down[0]])
        angles.append(float(np.arctan2(side[1], side[0])))
    longest = np.argsort([-max(size) for size in sizes])[: max(1, len(boxes) // 2)]
    angle = float(np.median([angles[at] for at in longest]))
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    middle = np.array(image.shape[1::-1]) / 2
    places = []
    for box, (width, height) in zip(boxes, sizes, strict=True):
        x, y = (turn @ (box.mean(axis=0) - middle) + middle).tolist()
        places.append((x - width / 2, y - height / 2, x + width / 2, y + height / 2))
    return places


def _size(box: "NDArray[np.float32]") -> tuple[float, float]:
    import numpy as np

    sides = np.linalg.norm(box - np.roll(box, -1, axis=0), axis=1)
    return float(max(sides[0], sides[2])), float(max(sides[1], sides[3]))


def _straightened(image: "Image", box: "NDArray[np.float32]") -> "Image":
    """The content of a skewed box as an upright image."""
    import cv2
    import numpy as np

    width, height = (max(1, round(side)) for side in _size(box))
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    turn = cv2.getPerspectiveTransform(box, corners)
    return np.asarray(
        cv2.warpPerspective(
            image, turn, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
        ),
        np.uint8,
    )


# Wide space in heights of a row; punctuation leaves as much room in its cell.
_BLANK, _BLANK_AFTER_MARKS = 0.85, 1.7
_MARKS_BEFORE, _MARKS_AFTER = "、。，．」』）)〕】・：", "「『（(〔【"


def _parted(row: "Image") -> "Iterator[tuple[Image, float]]":
    """The pieces of a row between wide spaces, each with the space before it in heights."""
    import numpy as np

    ink = _ink(row)
    filled = np.flatnonzero(ink.any(axis=1))
    if not filled.size:
        return
    high = int(filled[-1] + 1 - filled[0])
    # A speck of dust is no character.
    columns = np.flatnonzero((ink > 0).sum(axis=0) > high // 24)
    if not columns.size:
        return
    start, end, blank = 0, int(columns[0]), 0.0
    for column in map(int, columns):
        if column - end > _BLANK * high:
            middle = (end + column) // 2
            yield row[:, start:middle], blank
            start, blank = middle, (column - end) / high
        end = column
    yield row[:, start:], blank


def _blank_between(before: str, after: str, blank: float) -> str:
    is_room = before[-1] in _MARKS_BEFORE or after[0] in _MARKS_AFTER
    if is_room and blank < _BLANK_AFTER_MARKS:
        return ""
    return " " if before[-1].isascii() and after[0].isascii() else "　"


def _ink(image: "Image") -> "Image":
    import cv2
    import numpy as np

    grey = cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_RGB2GRAY)
    _, ink = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY_INV + cv2.THRESH_OTSU)
    return np.asarray(ink, np.uint8)


def laid_in_a_row(column: "Image") -> "Image":
    """The characters of a vertical column, in a row from left to right."""
    import numpy as np

    ink = _ink(column)
    filled = np.flatnonzero(ink.any(axis=0))
    if not filled.size:
        return column
    em = int(filled[-1] + 1 - filled[0])
    paper = np.median(column[ink == 0], axis=0).astype(np.uint8)
    cuts = _cuts(ink.mean(axis=1) / 255, em)
    high = max(em, *(bottom - top for top, bottom in pairwise(cuts)))
    first = max(0, int(filled[0]) - em // 20)
    upto = int(filled[-1]) + 1 + em // 20
    cells = []
    for top, bottom in pairwise(cuts):
        cell = np.empty((high, min(upto, column.shape[1]) - first, 3), np.uint8)
        cell[:] = paper
        above = (high - (bottom - top)) // 2
        cell[above : above + bottom - top] = column[top:bottom, first:upto]
        marks = np.zeros(cell.shape[:2], np.uint8)
        marks[above : above + bottom - top] = ink[top:bottom, first:upto]
        cells.append(_as_in_a_row(cell, marks, paper, em))
    return np.concatenate(cells, axis=1)


def _cuts(ink: "NDArray[np.float64]", em: int) -> list[int]:
    """Cut positions between the characters of a column: cheapest through blank rows."""
    import numpy as np

    height = len(ink)
    pitch = _pitch(ink, em)
    step = max(1, round(pitch / 24))
    rows = [*range(0, height, step), height]
    cost = np.full(len(rows), np.inf)
    came_from = np.zeros(len(rows), np.int64)
    cost[0] = 0.0
    shortest, longest = round(0.45 * pitch / step), round(1.3 * pitch / step)
    for at in range(1, len(rows)):
        cut = 4.0 * float(ink[min(rows[at], height - 1)]) if rows[at] < height else 0.0
        for before in range(max(0, at - longest), at):
            if at - before < shortest and at < len(rows) - 1:
                continue
            off = (rows[at] - rows[before]) / pitch - 1
            # First and last cell may be shorter.
            loose = before == 0 or at == len(rows) - 1
            total = cost[before] + cut + off * off * (0.1 if loose else 1.0)
            if total < cost[at]:
                cost[at], came_from[at] = total, before
    cuts, at = [height], len(rows) - 1
    while at:
        at = int(came_from[at])
        cuts.append(rows[at])
    return cuts[::-1]


# Characters needed to measure the pitch of a column.
_PITCH_FROM = 10


def _pitch(ink: "NDArray[np.float64]", em: int) -> float:
    """Distance between characters: the lag with the most similar rows."""
    import numpy as np

    shortest, longest = round(0.9 * em), round(1.5 * em)
    # A few characters may be alike by chance.
    if len(ink) < _PITCH_FROM * em:
        return 1.05 * em
    swing = ink - ink.mean()
    alike = [float(swing[lag:] @ swing[:-lag]) for lag in range(shortest, longest + 1)]
    return shortest + int(np.argmax(alike))


def _as_in_a_row(cell: "Image", ink: "Image", paper: "NDArray[np.uint8]", em: int) -> "Image":
    """A character of a column as in a row; punctuation and brackets differ."""
    import cv2
    import numpy as np

    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    if not rows.size:
        return cell
    top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
    wide, high = (right - left) / em, (bottom - top) / em
    rightwards = ((left + right) - cell.shape[1]) / 2 / em
    downwards = ((top + bottom) - len(cell)) / 2 / em
    if wide < 0.5 and high < 0.5 and rightwards > 0.1 and downwards < 0.05:
        # 、 and 。 are at the top right of a column's cell, and at the bottom left of a row's.
        moved = np.empty_like(cell)
        moved[:] = paper
        glyph = cell[top:bottom, left:right]
        low, first = len(cell) - len(glyph) - em // 10, em // 10
        moved[low : low + glyph.shape[0], first : first + glyph.shape[1]] = glyph
        return moved
    # 一 is lower and へ higher than a lying bracket, and 1 is lower than an upright ー or ～.
    is_bracket = wide > 0.55 and 0.17 < high < 0.43
    is_dash = wide < 0.27 and high > 0.76
    if is_bracket or is_dash:
        turned = np.rot90(cell)
        return np.asarray(cv2.resize(turned, cell.shape[1::-1]), np.uint8)
    return cell


DOUBTFUL = 0.9
"""Confidence below which a page should be compared with the paper."""

# Pixels: a picture with one side below the first, or both below the second, is no scan.
_LINE, _ICON = 32, 100

# Version of the image processing here; a change reads pages again.
_VERSION = 1


def is_small(data: bytes) -> bool:
    """Whether a file is a picture too small for text; False without Pillow."""
    try:
        from PIL import Image
    except ImportError:
        return False
    try:
        with warnings.catch_warnings():
            # Only the header is read, so a huge picture is harmless.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            picture = Image.open(BytesIO(data), formats=("PNG", "JPEG", "TIFF", "GIF", "BMP"))
        with picture:
            is_one = picture.format == "GIF" or getattr(picture, "n_frames", 1) == 1
            sides = picture.size
    except (Image.DecompressionBombError, OSError, SyntaxError, ValueError):
        return False
    return is_one and (min(sides) < _LINE or max(sides) < _ICON)


@dataclass(frozen=True, slots=True)
class ScannedPage:
    """A page read by OCR, with number (from 1), pixels, and lines in reading order, if any."""

    number: int
    width: int
    height: int
    lines: tuple[ScannedLine, ...]

    @property
    def characters(self) -> int:
        """Number of characters read."""
        return sum(len(line.text) for line in self.lines)

    @property
    def confidence(self) -> float:
        """Mean confidence per character, two decimals; 0 without text."""
        size = self.characters
        weighted = sum(line.confidence * len(line.text) for line in self.lines)
        return round(weighted / size, 2) if size else 0.0


@dataclass(frozen=True, slots=True)
class PageRead:
    """Progress of OCR: page `number` of a file was read, now or `earlier`; `total` to read."""

    source: str
    number: int
    characters: int
    confidence: float
    done: int
    total: int
    earlier: int


@dataclass(frozen=True, slots=True)
class Scans:
    """Reads image pages with an engine, calling `on_page`; keeps them in the folder `kept`."""

    engine: OcrEngine
    kept: Path | None = None
    on_page: Callable[[PageRead], None] = field(default=ignore, compare=False)

    def read(
        self, source: str, data: bytes, numbers: Sequence[int], image_of: "Callable[[int], Image]"
    ) -> Iterator[ScannedPage]:
        """Read pages of a file, using kept results; `image_of` makes the image of a page."""
        digest = sha256(data).hexdigest()[:32]
        earlier = 0
        for done, number in enumerate(numbers, start=1):
            path = self.kept / f"{digest}-{number}.json" if self.kept else None
            page = self._kept(path, number)
            earlier += page is not None
            if page is None:
                image = image_of(number)
                lines = self.engine.read(image)
                height, width = image.shape[:2]
                page = ScannedPage(number, width, height, tuple(map(_storable, lines)))
                if path:
                    self._keep(path, page)
            told = (source, number, page.characters, page.confidence, done, len(numbers), earlier)
            self.on_page(PageRead(*told))
            yield page

    def discard_kept(self) -> None:
        """Overwrite and delete the kept pages, if any."""
        if self.kept is None:
            return
        with suppress(OSError):
            for path in self.kept.glob("*.json"):
                path.write_bytes(bytes(path.stat().st_size))
                path.unlink()
            self.kept.rmdir()
            self.kept.parent.rmdir()  # Unless pages of another file are kept there.

    @property
    def _made_by(self) -> str:
        return f"{self.engine.name} {_VERSION}"

    def _kept(self, path: Path | None, number: int) -> ScannedPage | None:
        """The page in a file; None if damaged or from another engine."""
        if path is None:
            return None
        with suppress(OSError, ValueError, LookupError, TypeError):
            kept = json.loads(path.read_text(encoding="utf-8"))
            if kept["made_by"] == self._made_by:
                lines = (
                    ScannedLine(**{**line, "box": tuple(line["box"])}) for line in kept["lines"]
                )
                return ScannedPage(number, kept["width"], kept["height"], tuple(lines))
        return None

    def _keep(self, path: Path, page: ScannedPage) -> None:
        make_folder(path.parent)
        kept = {"made_by": self._made_by, **asdict(page)}
        replace_text(path, json.dumps(kept, ensure_ascii=False))


def _storable(line: ScannedLine) -> ScannedLine:
    text = drop_controls(line.text).replace("\n", " ").strip()
    return ScannedLine(text, line.box, line.confidence, line.vertical)

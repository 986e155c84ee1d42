"""Pages that are images: read by OCR one by one, and kept until their document is stored.

Reading a page takes seconds. Each page that was read is kept in a file of its own, so that reading
which was stopped goes on with the next page.
"""

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.corpus.durable import make_folder, replace_text
from localrag.corpus.readers.ocr import Engine, Line
from localrag.corpus.readers.text import drop_controls
from localrag.text.progress import ignore

if TYPE_CHECKING:
    from localrag.corpus.readers.ocr import Image

DOUBTFUL = 0.9
"""Confidence below which a page is to be compared with the paper."""

# Sides in pixels: a picture with one side below the first, or both below the second, is no scan.
_LINE, _ICON = 32, 100

# What is made of an image here and in `ocr`: another number reads pages again.
_VERSION = 1


def is_small(data: bytes) -> bool:
    """Whether a file is a picture too small for a text: a logo, an icon, a tracking pixel.

    False also where Pillow is not installed, and for damaged files and files of several pictures.
    """
    try:
        from PIL import Image
    except ImportError:
        return False
    try:
        with warnings.catch_warnings():
            # Only the head of the file is read; a picture that is too large is no small one.
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
    """A page that was read by OCR.

    Attributes:
        number: of the page in its file, from 1.
        width, height: of its image, in pixels.
        lines: in reading order; none on a page without text.
    """

    number: int
    width: int
    height: int
    lines: tuple[Line, ...]

    @property
    def characters(self) -> int:
        """How many were read."""
        return sum(len(line.text) for line in self.lines)

    @property
    def confidence(self) -> float:
        """How sure the engine is of a character, on average, with two decimals; 0 without text."""
        size = self.characters
        weighted = sum(line.confidence * len(line.text) for line in self.lines)
        return round(weighted / size, 2) if size else 0.0


@dataclass(frozen=True, slots=True)
class PageRead:
    """A page of a file was read, or had been read before.

    Attributes:
        source: the file.
        number: of the page in its file, from 1.
        characters: that were read on it.
        confidence: as of `ScannedPage`.
        done, total: pages of the file that OCR has to read.
        earlier: of `done`, those that had been read before.
    """

    source: str
    number: int
    characters: int
    confidence: float
    done: int
    total: int
    earlier: int


@dataclass(frozen=True, slots=True)
class Scans:
    """How pages that are images are read.

    Attributes:
        engine: what reads them.
        kept: folder of the pages that were read; None to keep none.
        on_page: called after each page.
    """

    engine: Engine
    kept: Path | None = None
    on_page: Callable[[PageRead], None] = field(default=ignore, compare=False)

    def read(
        self, source: str, data: bytes, numbers: Sequence[int], image_of: "Callable[[int], Image]"
    ) -> Iterator[ScannedPage]:
        """Read pages of a file, those that were read before from what was kept.

        Args:
            source: what messages call the file.
            data: of the file.
            numbers: of the pages, from 1.
            image_of: makes the image of the page with a number.

        Raises:
            InputError: the engine is missing, or an image cannot be made.
        """
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
        """Overwrite and remove the pages that are kept; there need be none."""
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
        """The page in a file; None where it is damaged, or of another engine."""
        if path is None:
            return None
        with suppress(OSError, ValueError, LookupError, TypeError):
            kept = json.loads(path.read_text(encoding="utf-8"))
            if kept["made_by"] == self._made_by:
                lines = (Line(**{**line, "box": tuple(line["box"])}) for line in kept["lines"])
                return ScannedPage(number, kept["width"], kept["height"], tuple(lines))
        return None

    def _keep(self, path: Path, page: ScannedPage) -> None:
        make_folder(path.parent)
        kept = {"made_by": self._made_by, **asdict(page)}
        replace_text(path, json.dumps(kept, ensure_ascii=False))


def _storable(line: Line) -> Line:
    text = drop_controls(line.text).replace("\n", " ").strip()
    return Line(text, line.box, line.confidence, line.vertical)

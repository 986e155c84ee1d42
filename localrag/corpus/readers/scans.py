"""Pages that are images: read by OCR one by one, and kept until their document is stored.

Reading a page takes seconds. Each page that was read is kept in a file of its own, so that reading
which was stopped goes on with the next page.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from localrag import access
from localrag.corpus.readers.ocr import Engine, Line
from localrag.corpus.readers.prose import prose
from localrag.corpus.readers.text import drop_controls, stem
from localrag.corpus.readers.types import Limits, OnlyImagesError
from localrag.corpus.types import Document
from localrag.durable import replace_text
from localrag.errors import InputError
from localrag.language import N_
from localrag.progress import ignore

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

    from localrag.corpus.readers.ocr import Image

DOUBTFUL = 0.9
"""Confidence below which a page is to be compared with the paper."""

# What is made of an image here and in `ocr`: another number reads pages again.
_VERSION = 1
# A pixel takes three bytes, and again as much while it is made.
_BYTES_A_PIXEL = 6


@dataclass(frozen=True, slots=True)
class ScannedPage:
    """A page that was read by OCR.

    Attributes:
        number: of the page in its file, from 1.
        lines: in reading order; none on a page without text.
    """

    number: int
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
                lines = self.engine.read(image_of(number))
                page = ScannedPage(number, tuple(map(_storable, lines)))
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
                return ScannedPage(number, tuple(lines))
        return None

    def _keep(self, path: Path, page: ScannedPage) -> None:
        access.make_folder(path.parent)
        kept = {"made_by": self._made_by, "lines": [asdict(line) for line in page.lines]}
        replace_text(path, json.dumps(kept, ensure_ascii=False))


def _storable(line: Line) -> Line:
    text = drop_controls(line.text).replace("\n", " ").strip()
    return Line(text, line.box, line.confidence, line.vertical)


def read_image(name: str, data: bytes, limits: Limits) -> Iterator[Document]:
    """Read an image file (PNG, JPEG, TIFF) as one document; its passages carry their page.

    Raises:
        OnlyImagesError: there is nothing to read it with.
        InputError: the file is damaged, too large, or holds no text.
    """
    if limits.scans is None:
        raise OnlyImagesError(
            N_("The file is an image, and images are not read here."),
            N_("Install OCR: pip install 'localrag[ocr]' (and leave ingest.ocr = auto)"),
        )
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(BytesIO(data), formats=("PNG", "JPEG", "TIFF")) as picture:
            numbers = range(1, getattr(picture, "n_frames", 1) + 1)
            pages = list(
                limits.scans.read(name, data, numbers, lambda n: _frame(picture, n, limits))
            )
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError) as error:
        raise InputError(
            N_("The image is damaged: {problem}."),
            N_("Open it in a viewer and save it again."),
            problem=drop_controls(str(error))[:200],
        ) from error
    if not any(page.lines for page in pages):
        raise InputError(
            N_("No text was found in the image."),
            N_("Check it in a viewer; scan it again with 300 dpi."),
        )
    yield scanned_document(name, "image", pages)


def _frame(picture: "Picture", number: int, limits: Limits) -> "Image":
    """A page of an image file, upright, on white paper."""
    import numpy as np
    from PIL import Image, ImageOps

    picture.seek(number - 1)
    most = limits.memory_bytes // _BYTES_A_PIXEL
    if picture.width * picture.height > most:
        raise InputError(
            N_("The image has {n:,} pixels, more than {most:,}."),
            N_("Save it with 300 dpi."),
            n=picture.width * picture.height,
            most=most,
        )
    upright = ImageOps.exif_transpose(picture).convert("RGBA")
    paper = Image.new("RGBA", upright.size, "white")
    paper.alpha_composite(upright)
    return np.asarray(paper.convert("RGB"))


def scanned_document(name: str, kind: str, pages: Sequence[ScannedPage]) -> Document:
    """A document of pages that were read by OCR."""
    texts = ["\n".join(line.text for line in page.lines) for page in pages]
    starts, position = [], 0
    for text in texts:
        starts.append(position)
        position += len(text) + 1
    return prose(
        id_=name,
        title=stem(name),
        kind=kind,
        text="\n".join(texts),
        source=name,
        pages=starts,
        confidences=[page.confidence if page.lines else None for page in pages],
    )

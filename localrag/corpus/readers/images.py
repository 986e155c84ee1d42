"""Image files: scanned pages for OCR (extra ``ocr``)."""

import warnings
from collections.abc import Iterator
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING

from localrag.corpus.readers.layout import Box
from localrag.corpus.readers.ocr import ScannedPage
from localrag.corpus.readers.pdf import document_of, printed_by_ocr
from localrag.corpus.readers.text import drop_controls
from localrag.corpus.readers.types import Limits, Omission, OnlyImagesError
from localrag.corpus.types import Document
from localrag.errors import InputError, to_install
from localrag.language import N_

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

    from localrag.corpus.readers.ocr import Image

# A3 at 600 dpi is still read.
_BYTES_A_PIXEL = 4
_POINTS_A_DOT = 72 / 300


def read_image(name: str, data: bytes, limits: Limits) -> Iterator[Document | Omission]:
    """Read an image file (PNG, JPEG, TIFF) as one document with pages."""
    if limits.scans is None:
        raise no_ocr()
    from PIL import Image

    try:
        with _opened(data) as picture:
            numbers = range(1, getattr(picture, "n_frames", 1) + 1)
            scanned = limits.scans.read(name, data, numbers, partial(_frame, picture, limits))
            pages = [printed_by_ocr(page, _paper(page)) for page in scanned]
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _too_large(str(error)) from error
    except (OSError, SyntaxError) as error:
        raise InputError(
            N_("The image is damaged ({problem})."),
            N_("Open it in a viewer and save it again."),
            problem=drop_controls(str(error))[:200],
        ) from error
    yield document_of(name, "image", pages)


def no_ocr() -> OnlyImagesError:
    """The error for an image without OCR."""
    return OnlyImagesError(
        N_("The file is an image; without OCR, or with ingest.ocr = off, it is not read."),
        to_install("ocr"),
    )


def _opened(data: bytes) -> "Picture":
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        return Image.open(BytesIO(data), formats=("PNG", "JPEG", "TIFF"))


def _frame(picture: "Picture", limits: Limits, number: int) -> "Image":
    """A page of an image file, upright, on white paper."""
    import numpy as np
    from PIL import Image, ImageOps

    picture.seek(number - 1)
    if picture.width * picture.height * _BYTES_A_PIXEL > limits.memory_bytes:
        raise _too_large(f"{picture.width:,} × {picture.height:,}")
    upright = ImageOps.exif_transpose(picture)
    if upright.mode.startswith(("I", "F")):
        # Sixteen bits per pixel or more: scaled to eight.
        grey = np.asarray(upright, np.float64)
        upright = Image.fromarray((grey / max(grey.max(), 1) * 255).astype(np.uint8))
    if upright.has_transparency_data:
        paper = Image.new("RGBA", upright.size, "white")
        paper.alpha_composite(upright.convert("RGBA"))
        upright = paper
    return np.asarray(upright.convert("RGB"))


def _too_large(size: str) -> InputError:
    return InputError(
        N_("The image has too many pixels ({size})."), N_("Save it with 300 dpi."), size=size
    )


def _paper(page: ScannedPage) -> Box:
    return Box(0.0, 0.0, page.width * _POINTS_A_DOT, page.height * _POINTS_A_DOT)

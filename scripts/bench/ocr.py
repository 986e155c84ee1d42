"""Scanned pages: the share of characters read right, by condition and engine.

Pages are set from statutes as Word would print them (A4, 10.5 points, margins of 25 mm), in rows
and in columns. Then they are scanned: skewed by 1.5 degrees, stamped with a red seal, or kept as a
poor JPEG with noise. White space and the width of characters do not count. A character is wrong for
each step of the edit distance. Times are processor seconds of one thread.
"""

import random
import shutil
import subprocess
import time
import unicodedata
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import NamedTuple

import numpy as np
from bench.options import law_files, parser
from bench.rates import rate
from lxml import etree
from PIL import Image, ImageDraw, ImageFilter, ImageFont
from rapidfuzz.distance import Levenshtein

from localrag.corpus.readers.ocr import PaddleOcr

# Debian: fonts-ipafont-mincho, fonts-ipafont-gothic, fonts-noto-cjk; all have forms for columns.
_FONTS = (
    "/usr/share/fonts/opentype/ipafont-mincho/ipam.ttf",
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/opentype/noto/NotoSerifCJK-Bold.ttc",
    "/usr/share/fonts/opentype/ipafont-gothic/ipag.ttf",
)
_POINTS, _MARGIN = 10.5, 25
_SKEW = 1.5
_PADDLE = PaddleOcr(threads=1)
_NOT_FIRST = "、。）」』］〕"

Scanner = Callable[[Image.Image, random.Random], Image.Image]


def _skewed(page: Image.Image, chance: random.Random) -> Image.Image:
    angle = chance.choice((-_SKEW, _SKEW))
    return page.rotate(angle, Image.Resampling.BICUBIC, fillcolor="white")


def _stamped(page: Image.Image, chance: random.Random) -> Image.Image:
    """Two round seals over the text, as a stamp pad leaves them."""
    ink = Image.new("L", page.size, 0)
    draw = ImageDraw.Draw(ink)
    size = page.width // 8
    for _ in range(2):
        left = chance.randrange(page.width // 8, page.width * 6 // 8)
        top = chance.randrange(page.height // 8, page.height * 6 // 8)
        for inset in (0, size // 8, size // 4):
            box = (left + inset, top + inset, left + size - inset, top + size - inset)
            draw.ellipse(box, outline=200, width=max(2, size // 30))
        draw.line((left, top + size // 2, left + size, top + size // 2), 200, size // 30)
        draw.line((left + size // 2, top, left + size // 2, top + size), 200, size // 30)
    seal = Image.new("RGB", page.size, (205, 40, 45))
    return Image.composite(_multiplied(page, seal), page, ink)


def _multiplied(page: Image.Image, seal: Image.Image) -> Image.Image:
    """Ink lets the print below it show through."""
    both = np.asarray(page, np.uint16) * np.asarray(seal, np.uint16) // 255
    return Image.fromarray(both.astype(np.uint8))


def _poor(page: Image.Image, chance: random.Random) -> Image.Image:
    noise = np.random.default_rng(chance.randrange(1 << 30))
    grain = noise.normal(0, 18, (page.height, page.width))
    noisy = np.asarray(page.filter(ImageFilter.GaussianBlur(0.6)), np.float32) + grain[..., None]
    file = BytesIO()
    Image.fromarray(noisy.clip(0, 255).astype(np.uint8)).save(file, "JPEG", quality=30)
    return Image.open(BytesIO(file.getvalue())).convert("RGB")


class Condition(NamedTuple):
    """How pages are scanned."""

    dpi: int
    scan: Scanner | None = None


CONDITIONS = {
    "300 dpi": Condition(300),
    "150 dpi": Condition(150),
    "200 dpi, skewed": Condition(200, _skewed),
    "300 dpi, stamped": Condition(300, _stamped),
    "200 dpi, JPEG with noise": Condition(200, _poor),
}


def main() -> int:
    """Print a row for each engine and condition."""
    args = _options().parse_args()
    fonts = [path for path in args.font or map(Path, _FONTS) if path.is_file()]
    if not fonts:
        print("no Japanese font was found; name one with --font")
        return 0
    engines = {_PADDLE.name: _with_rapidocr}
    if shutil.which("tesseract"):
        engines[_tesseract_name()] = _with_tesseract
    laws = law_files(args.data)
    print("engine | writing | condition | characters right | worst page | pages | s a page")
    totals: dict[tuple[str, bool], list[int]] = {}
    for vertical in (False, True):
        for name, condition in CONDITIONS.items():
            if args.only and args.only not in name:
                continue
            chance = random.Random(f"{args.seed} {vertical} {name}")
            pages = [
                _page(laws, condition, vertical, fonts[at % len(fonts)], chance, args.lines)
                for at in range(args.pages)
            ]
            for called, read in engines.items():
                wrong, seconds = [], 0.0
                for image, text in pages:
                    began = _processor_seconds()
                    got = read(image, condition.dpi, vertical)
                    seconds += _processor_seconds() - began
                    wrong.append(min(len(text), Levenshtein.distance(_plain(got), text)))
                    if args.show:
                        print(_differences(_plain(got), text))
                sizes = [len(text) for _, text in pages]
                right = sum(sizes) - sum(wrong)
                worst = min(1 - bad / size for bad, size in zip(wrong, sizes, strict=True))
                total = totals.setdefault((called, vertical), [0, 0])
                total[0], total[1] = total[0] + right, total[1] + sum(sizes)
                print(
                    f"{called} | {_writing(vertical)} | {name} | {rate(right, sum(sizes))} | "
                    f"{worst:.3f} | {len(pages)} | {seconds / len(pages):.1f}",
                    flush=True,
                )
    for (called, vertical), (right, size) in totals.items():
        print(f"{called} | {_writing(vertical)} | all | {rate(right, size)}")
    return 0


def _options() -> ArgumentParser:
    made = parser(__doc__)
    made.add_argument("--pages", type=int, default=4, help="pages of each condition")
    made.add_argument("--lines", type=int, default=99, help="lines of a page at most")
    made.add_argument("--seed", type=int, default=36, help="which paragraphs are drawn")
    made.add_argument("--only", default="", help="conditions with this in their name")
    made.add_argument("--font", type=Path, action="append", help="of the pages; may be repeated")
    made.add_argument("--show", action="store_true", help="print what was read otherwise")
    return made


def _writing(vertical: bool) -> str:
    return "columns" if vertical else "rows"


def _processor_seconds() -> float:
    children = getrusage(RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _plain(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())


def _differences(got: str, text: str) -> list[tuple[str, str]]:
    return [
        (got[max(0, step.src_pos - 3) : step.src_pos + 3], text[step.dest_pos : step.dest_pos + 1])
        for step in Levenshtein.editops(got, text)
    ][:20]


def _page(
    laws: list[Path],
    condition: Condition,
    vertical: bool,
    font: Path,
    chance: random.Random,
    most: int,
) -> tuple[Image.Image, str]:
    """A scanned page, and its text."""
    paragraphs = list(_paragraphs(chance.choice(laws)))
    first = chance.randrange(max(1, len(paragraphs) - 10))
    printed, text = _printed(paragraphs[first:], condition.dpi, vertical, font, most)
    scanned = condition.scan(printed, chance) if condition.scan else printed
    return scanned, _plain(text)


def _paragraphs(law: Path) -> Iterator[str]:
    for paragraph in etree.parse(law).iter("Paragraph"):
        words = "".join(str(text) for one in paragraph.iter("Sentence") for text in one.itertext())
        above = paragraph.getparent()
        number = paragraph.findtext("ParagraphNum") or ""
        if above is not None and above.tag == "Article" and above.find("Paragraph") is paragraph:
            if caption := above.findtext("ArticleCaption"):
                yield caption
            number = above.findtext("ArticleTitle") or ""
        yield f"{number}　{words}"


def _printed(
    paragraphs: list[str], dpi: int, vertical: bool, path: Path, most: int
) -> tuple[Image.Image, str]:
    size, margin = round(_POINTS / 72 * dpi), round(_MARGIN / 25.4 * dpi)
    font = ImageFont.truetype(path, size)
    page = Image.new("RGB", (round(8.27 * dpi), round(11.69 * dpi)), "white")
    draw = ImageDraw.Draw(page)
    length, across = (page.height, page.width) if vertical else (page.width, page.height)
    pitch = round(size * 1.8)
    most = min(most, (across - 2 * margin) // pitch)
    lines: list[str] = []
    for paragraph in paragraphs:
        lines += _lines(paragraph, (length - 2 * margin) // size)
    for number, line in enumerate(lines[:most]):
        if vertical:
            right = page.width - margin - pitch * number
            draw.text((right - size, margin), line, 20, font, direction="ttb", language="ja")
        else:
            draw.text((margin, margin + pitch * number), line, 20, font)
    return page, "".join(lines[:most])


def _lines(paragraph: str, length: int) -> Iterator[str]:
    start = 0
    while start < len(paragraph):
        end = start + length
        while end < len(paragraph) and paragraph[end] in _NOT_FIRST:
            end -= 1
        yield paragraph[start:end]
        start = end


def _with_rapidocr(image: Image.Image, dpi: int, vertical: bool) -> str:
    del dpi, vertical  # It finds out by itself.
    return "".join(line.text for line in _PADDLE.read(np.asarray(image)))


def _tesseract_name() -> str:
    version = subprocess.run(["tesseract", "--version"], capture_output=True, text=True, check=True)
    return version.stdout.splitlines()[0]


def _with_tesseract(image: Image.Image, dpi: int, vertical: bool) -> str:
    file = BytesIO()
    image.save(file, "PNG")
    language, layout = ("jpn_vert", "5") if vertical else ("jpn", "6")
    command = ["tesseract", "-", "-", "-l", language, "--psm", layout, "--dpi", str(dpi)]
    found = subprocess.run(
        command,
        input=file.getvalue(),
        capture_output=True,
        check=True,
        env={"OMP_THREAD_LIMIT": "1"},
    )
    return found.stdout.decode()


if __name__ == "__main__":
    raise SystemExit(main())

"""Images of pages: rows, columns, and their words."""

from collections.abc import Sequence
from itertools import pairwise

import pytest

from ....rows import each

np = pytest.importorskip("numpy")
pytest.importorskip("cv2")
pytest.importorskip("rapidocr")

from PIL import Image, ImageDraw, ImageFont  # noqa: E402

from localrag.corpus.readers.ocr import (  # noqa: E402
    PaddleOcr,
    ScannedLine,
    as_in_japan,
    in_reading_order,
    laid_in_a_row,
)

EM = 40


def page(lines: Sequence[str], angle: float = 0.0) -> "np.ndarray":
    """Lines of print on white paper, turned by some degrees."""
    image = Image.new("RGB", (900, 160 + 80 * len(lines)), "white")
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(36)
    for number, line in enumerate(lines):
        draw.text((60, 80 + 80 * number), line, fill="black", font=font)
    return np.asarray(image.rotate(angle, Image.Resampling.BICUBIC, fillcolor="white"))


def column(marks: Sequence[tuple[float, float, float, float]]) -> "np.ndarray":
    """A column of one cell for each mark: its left, top, right, bottom as parts of the cell."""
    image = np.full((EM * len(marks), EM, 3), 255, np.uint8)
    for number, (left, top, right, bottom) in enumerate(marks):
        rows = slice(round(EM * (number + top)), round(EM * (number + bottom)))
        image[rows, round(EM * left) : round(EM * right)] = 0
    return image


def blobs(row: "np.ndarray") -> list[tuple[int, int, int, int]]:
    """Left, top, right and bottom of black shapes in a row, from left to right."""
    ink = row[:, :, 0] < 128
    edges = np.flatnonzero(np.diff(np.concatenate([[0], ink.any(axis=0), [0]])))
    found = []
    for left, right in zip(edges[::2], edges[1::2], strict=True):
        rows = np.flatnonzero(ink[:, left:right].any(axis=1))
        found.append((int(left), int(rows[0]), int(right), int(rows[-1]) + 1))
    return found


@pytest.fixture(scope="module")
def engine():
    return PaddleOcr(threads=1)


def test_the_engine_reads_a_page_without_a_network(engine):
    # Sockets are closed in tests: the models are in the package.
    lines = engine.read(page(["The lamp burns at night.", "Article 27 of the Harbour Act"]))
    assert [line.text for line in lines] == [
        "The lamp burns at night.",
        "Article 27 of the Harbour Act",
    ]
    assert all(line.confidence > 0.9 and not line.vertical for line in lines)
    assert engine.name.startswith("rapidocr ")


def test_lines_of_a_skewed_page_are_where_they_are_on_the_upright_one(engine):
    lines = engine.read(page(["The lamp burns at night.", "The tower is kept."], angle=3))
    assert [line.text for line in lines] == ["The lamp burns at night.", "The tower is kept."]
    first, second = lines
    assert first.box[3] <= second.box[1] + 8
    assert abs(first.box[0] - second.box[0]) < 12


def test_a_blank_page_has_no_lines(engine):
    assert engine.read(np.full((400, 300, 3), 255, np.uint8)) == []


def test_characters_of_a_column_are_laid_from_left_to_right():
    whole = (0.05, 0.05, 0.95, 0.95)
    row = laid_in_a_row(column([whole] * 6))
    found = blobs(row)
    assert len(found) == 6
    gaps = [second[0] - first[0] for first, second in pairwise(found)]
    assert max(gaps) - min(gaps) <= 4
    assert row.shape[1] > 5 * row.shape[0]


def test_marks_of_a_column_look_as_in_a_row():
    whole, comma, bracket = (
        (0.05, 0.05, 0.95, 0.95),
        (0.7, 0.05, 0.9, 0.25),
        (0.05, 0.7, 0.95, 0.95),
    )
    row = laid_in_a_row(column([whole, whole, comma, whole, bracket, whole, whole]))
    found = blobs(row)
    assert len(found) == 7
    left, top, right, _bottom = found[2]
    # The comma is at the lower left of its cell, and the bracket upright.
    assert top > row.shape[0] / 2
    assert left - found[1][2] < found[3][0] - right
    left, top, right, bottom = found[4]
    assert bottom - top > 2 * (right - left)


def test_a_low_stroke_is_no_bracket():
    whole, one = (0.05, 0.05, 0.95, 0.95), (0.05, 0.46, 0.95, 0.54)
    found = blobs(laid_in_a_row(column([whole, one, whole, one, whole])))
    assert [right - left > bottom - top for left, top, right, bottom in found[1::2]] == [True, True]


def test_columns_are_read_from_right_to_left():
    columns = [
        ScannedLine(text, (x, 10, x + 20, 300), 0.9, True) for text, x in [("三", 10), ("一", 90)]
    ]
    rows = [ScannedLine(text, (10, y, 300, y + 20), 0.9) for text, y in [("三", 90), ("一", 10)]]
    assert [line.text for line in in_reading_order(columns, vertical=True)] == ["一", "三"]
    assert [line.text for line in in_reading_order(rows, vertical=False)] == ["一", "三"]


@each(
    ("read", "printed"),
    [
        ("每年", "毎年"),
        ("稅關", "税關"),
        ("(以下「港」という。)の", "（以下「港」という。）の"),
        ("桟橋(新)", "桟橋（新）"),
        ("f(x) = 1", "f(x) = 1"),
        ("收める", "收める"),
    ],
)
def test_forms_are_those_of_japan(read, printed):
    assert as_in_japan(read) == printed

"""Lines of a PDF: spaces, sentences over several lines, words split at line ends."""

import pytest
from printed_pages import PrintedPages, width

from localrag.corpus.readers.pdf import read_pdf
from localrag.corpus.readers.types import Limits
from localrag.corpus.types import Document
from localrag_indexes.analysis.analyzer import split_sentences

from ....rows import each

LEFT, SIZE, LEADING = 60.0, 10.0, 12.0

HELVETICA = b"/BaseFont /Helvetica /Encoding /WinAnsiEncoding"


def read(data: bytes) -> str:
    return next(one.text for one in read_pdf("a.pdf", data, Limits()) if isinstance(one, Document))


def text_of(pages: PrintedPages) -> str:
    return read(pages.to_bytes())


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


def justified(pages: PrintedPages, lines: list[str], top: float = 780.0) -> float:
    """Print full lines of a column and a last short one; return the height below them."""
    across = max(width(line, SIZE) for line in lines)
    for line in lines:
        words = line.split(" ")
        more = (across - width(line, SIZE)) / (len(words) - 1) if line != lines[-1] else 0.0
        x = LEFT
        for word in words:
            pages.text(x, top, word, SIZE)
            x += width(f"{word} ", SIZE) + more
        top -= LEADING
    return top


def one_page() -> PrintedPages:
    pages = PrintedPages()
    pages.page()
    return pages


def test_a_blank_behind_a_letter_that_leans_over_it_is_one():
    pages = one_page()
    shown = "[(A roof) -200 (of) -200 (form) -200 (of) -200 (half) -200 (of) -200 (fees)]"
    pages.pages[-1].content.append(f"BT /L 10 Tf 60 780 Td {shown} TJ ET")
    data = pages.to_bytes().replace(HELVETICA, b"/BaseFont /Times-Italic")
    assert read(data) == "A roof of form of half of fees"


@each(
    ("before", "sign", "after", "read"),
    [
        ("the install", "”", "process", "the install” process"),
        ("the", "“", "quay", "the “ quay"),
        ("the keeper", "’", "s book", "the keeper’s book"),
        ("the install", "”", ".", "the install”."),
        ("the quay (", "“", "pier", "the quay (“pier"),
    ],
)
def test_quotation_marks_of_full_width_have_an_empty_half(before, sign, after, read):
    pages = one_page()
    x = LEFT
    for word, is_wide in ((before, False), (sign, True), (after, False)):
        pages.text(x, 780, word, SIZE, wide=is_wide)
        x += SIZE if is_wide else width(word, SIZE)
    assert text_of(pages).replace("“ ", "“").replace("  ", " ") == read.replace("“ ", "“")


@each(
    ("line", "following", "joined"),
    [
        ("The list of boats is in the file /usr/share/ferry/list.", "gz of it.", "list.gz"),
        ("All who use the quay can ask board@lists.", "ferry.example first.", "lists.ferry"),
        ("The rules of the ferry are those of version 1.", "4-5+rev2 of it.", "1.4-5+rev2"),
        ("What is kept is one of the files book.{gz,bz2,", "xz} of the year.", "{gz,bz2,xz}"),
        ("More about the ferry is found at the page (http:", "//ferry.example).", "(http://ferry"),
        ("The keeper asks for the name, and the date, etc.", "and for the fee.", "etc. and"),
    ],
)  # fmt: skip
def test_a_name_that_a_line_end_parts_is_one(line, following, joined):
    pages = one_page()
    justified(pages, ["The quay is open to all who wish to land a boat on", line, following])
    assert joined in text_of(pages)


def test_an_option_and_a_folder_are_known_by_the_rest_of_the_text():
    pages = one_page()
    justified(
        pages,
        [
            "The tool ferry -t shows the log/ folder, or log/book once.",
            "If a keeper wants to see it, he can use ferry -",
            "t again, and it shows what is in the log/",
            "folder, and then it reads the file log/",
            "book at once, and all that is in the logs/",
            "folder too.",
        ],
    )
    text = text_of(pages)
    assert "ferry -t again" in text
    assert "in the log/ folder, and" in text
    assert "file log/book at" in text
    assert "logs/folder too" in text


@pytest.mark.parametrize("is_hyphenated", [False, True])
def test_hyphens_stay_in_a_text_that_is_not_hyphenated(is_hyphenated):
    pages = one_page()
    justified(
        pages,
        [
            "A well-known and half-open quay has a pier that is well-",
            "known, and the boats that lie there are also half-",
            "open on the side. So say the rules, or the regu-"
            if is_hyphenated
            else "open on the side. So say the rules, or say the",
            "lations, so regulations. In the season, at the start-",
            "up of the year, it is closed to all.",
        ],
    )
    assert ("startup" if is_hyphenated else "start-up") in text_of(pages)


def test_a_line_in_smaller_type_and_the_text_below_it_are_two():
    pages = one_page()
    top = justified(pages, ["The keeper calls the tool that writes the book with", "these words:"])
    for number, line in enumerate(["ferry", "ferry book", "ferry book show", "ferry book add one"]):
        pages.text(LEFT, top - 8 - 11 * number, line, 9)
    pages.text(LEFT, top - 68, "もし、帳簿がなければ、この手順を省いて次に進む。", SIZE)
    assert text_of(pages).splitlines()[-1] == "もし、帳簿がなければ、この手順を省いて次に進む。"


def test_a_paragraph_below_a_gap_is_another_where_the_one_above_fills_its_line():
    pages = one_page()
    lines = [
        "The keeper closes the quay at night, and then",
        "opens it in the early morning again.",
    ]
    top = justified(pages, [*lines, "The next one too.", *lines])
    following = ["船着場は、夜は閉めるものとし、朝に開", "けるものとする。"]
    for at, line in enumerate(following):
        pages.text(LEFT, top - LEADING * (at + 0.6), line, 10.5)
    assert text_of(pages).splitlines()[-1] == "".join(following)


def test_a_long_line_among_short_ones_fills_its_column():
    pages = PrintedPages()
    for _ in range(3):
        pages.page()
        justified(pages, ["The keeper closes the quay at night, and opens it again"] * 6)
    pages.page()
    for row in range(8):
        pages.text(LEFT, 780 - LEADING * row, f"row {row} of it:", SIZE)
    lines = ["The keeper writes the name of the boat, and of the", "boatman, in the book."]
    justified(pages, lines, 640.0)
    assert " ".join(lines) in text_of(pages).splitlines()


def test_a_title_in_the_middle_is_none_of_the_text_below_it():
    pages = one_page()
    pages.text(160, 780, "Summary", SIZE)
    justified(pages, ["Rules for all who use the ferry, or have it used for", "them."], 765.0)
    assert text_of(pages).splitlines()[0] == "Summary"


def test_a_paragraph_that_begins_in_small_letters_is_a_sentence_of_its_own():
    pages = one_page()
    pages.text(LEFT, 780, "9.2 quay", 13)
    lines = ["quay is the tool with which a keeper writes the book of", "the ferry."]
    justified(pages, lines, 755.0)
    assert sentences(text_of(pages))[-1] == " ".join(lines)


def test_the_mark_of_a_note_behind_a_full_stop_ends_a_paragraph_too():
    pages = one_page()
    top = justified(pages, ["The keeper closes the quay at night, and opens it", "by day.⁶"])
    lines = ["quay is what it is called in the book that is kept for", "it."]
    justified(pages, lines, top)
    assert sentences(text_of(pages))[-1] == " ".join(lines)


@pytest.mark.parametrize("is_ruled", [True, False])
def test_an_upright_rule_parts_the_cells_of_a_narrow_table(is_ruled):
    pages = one_page()
    justified(pages, ["渡し場の使用料は、次の表に掲げる額とする。"] * 3)
    for row, cells in enumerate([("区分", "金額", "期限"), ("第二種", "二百円", "毎月末")]):
        for column, cell in enumerate(cells):
            pages.text(LEFT + 35 * column, 700 - 18 * row, cell, SIZE)
    for column in range(4) if is_ruled else ():
        pages.rule(LEFT - 2.5 + 35 * column, 676, LEFT - 2.5 + 35 * column, 714)
    rows = text_of(pages).splitlines()[-2:]
    assert (rows == ["区分\t金額\t期限", "第二種\t二百円\t毎月末"]) == is_ruled


def test_an_accent_over_a_blank_is_the_sign_that_it_is():
    pages = one_page()
    pages.text(LEFT, 780, "Use `ls", SIZE)
    table = pages.stream(
        "begincmap 1 begincodespacerange <00> <ff> endcodespacerange"
        " 1 beginbfchar <60> <00A00300> endbfchar endcmap"
    )
    data = pages.to_bytes().replace(HELVETICA, b"/BaseFont /Helvetica /ToUnicode " + table.encode())
    assert read(data) == "Use `ls"

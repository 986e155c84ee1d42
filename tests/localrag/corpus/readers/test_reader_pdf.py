"""PDF as text: sentences over lines, columns and pages; omissions."""

import random

import pytest
from printed_documents import KINDS, SentenceMaker
from printed_pages import CMAPS, PrintedPages

from localrag.corpus.readers import Omission, Scans, stream
from localrag.corpus.readers.ocr import ScannedLine
from localrag.corpus.readers.pdf import read_pdf
from localrag.corpus.readers.types import Limits
from localrag.corpus.types import Document
from localrag.errors import InputError
from localrag_indexes.analysis.analyzer import split_sentences

from ....rows import each

FEE = "渡し場の使用料は、一回につき三百円とする。"


def read(pages: PrintedPages, limits: Limits = Limits()) -> Document:  # noqa: B008 - immutable
    (document,) = (
        one for one in read_pdf("a.pdf", pages.to_bytes(), limits) if isinstance(one, Document)
    )
    return document


def left_out(pages: PrintedPages) -> dict[str, int]:
    return {one.what: one.count for one in read(pages).omissions}


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@each("kind", KINDS)
@each("seed", [1, 2])
def test_every_sentence_of_a_kind_of_page(kind, seed):
    rng = random.Random(seed)
    made = SentenceMaker(rng)
    found = set(sentences(read(kind(rng, made)).text))
    assert [sentence for sentence in made.made if sentence not in found] == []


@each("cmap", [*CMAPS, "Identity"])
@each("vertical", [False, True])
def test_predefined_cmaps(cmap, vertical):
    pages = PrintedPages(cmap)
    pages.page()
    pages.text(300, 780, FEE, vertical=vertical)
    assert read(pages).text == FEE


def test_a_font_that_names_no_character_is_named_and_not_stored(read_failure):
    pages = PrintedPages("unmapped")
    pages.page()
    pages.text(60, 780, FEE)
    failure = read_failure("a.pdf", pages.to_bytes())
    assert "do not say which characters" in failure.cause
    assert "ocr" in failure.cure.lower()


def test_a_picture_is_read_by_what_is_given():
    pages = PrintedPages()
    pages.page()
    pages.text(60, 780, FEE)
    pages.page()
    pages.rule(60, 100, 300, 102)
    seen = []

    class Engine:
        name = "scripted"

        def read(self, image):
            seen.append(image.shape[1::-1])
            return [ScannedLine("待合所は、夜間は閉める。", (250, 200, 1300, 245), 0.9)]

    document = read(pages, Limits(scans=Scans(Engine())))
    assert document.text.endswith("待合所は、夜間は閉める。")
    assert seen == [(2480, 3509)]
    assert document.metadata["pages_read_by_ocr"] == "2:0.90"
    assert "pages_without_text" not in document.metadata
    assert document.passages[-1].locator.page == 2


HALVES = (
    "民法第七百九条は、「故意又は過失によって他人の権利又は法律上保護され",
    "る利益を侵害した者は、これによって生じた損害を賠償する責任を負う。」と定める。",
)


@each(
    ("head", "foot"),
    [
        ("意見書（案）", "- {n} -"),
        ("", "{n}/2"),
        ("", "第{n}頁"),
        ("Draft", "Page {n} of 2"),
        ("", "（{n}）"),
        ("令和八年（ワ）第一号", "{n}"),
        ("", "― {n} ―"),
    ],
)
def test_a_sentence_runs_over_running_heads_and_page_numbers(head, foot):
    pages = PrintedPages()
    for number, half in enumerate(HALVES, 1):
        pages.page()
        if head:
            pages.text(60, 800, head)
        pages.text(60, 740, half)
        pages.text(280, 40, foot.format(n=number))
    document = read(pages)
    assert document.text == "".join(HALVES)
    assert left_out(pages) == {"running heads, feet and page numbers": 4 if head else 2}
    (passage,) = document.passages
    assert passage.header == "a 1–2頁"
    assert document.metadata["page_starts"] == f"0,{len(HALVES[0])}"


def test_headings_that_count_stay():
    pages = PrintedPages()
    for number in range(1, 5):
        pages.page()
        pages.text(60, 780, f"様式第{number}号", 14)
        pages.text(60, 740, FEE)
        pages.text(280, 40, f"{number}")
    assert [f"様式第{number}号" in read(pages).text for number in range(1, 5)] == [True] * 4


def test_the_head_of_a_table_on_every_page_is_kept_once():
    pages = PrintedPages()
    for page in range(3):
        pages.page()
        for row, cells in enumerate(
            [("区分", "額", "期限"), *(("桟橋", f"{page}{n}円", "月末") for n in range(4))]
        ):
            for x, cell in zip((70, 220, 400), cells, strict=True):
                pages.text(x, 780 - row * 22, cell)
    text = read(pages).text
    assert text.splitlines()[:2] == ["区分\t額\t期限", "桟橋\t00円\t月末"]
    assert text.count("区分") == 1
    assert text.count("桟橋") == 12


def spread(text, gap, **where):
    pages = PrintedPages()
    pages.page()
    for row, line in enumerate(text.split("\n")):
        pages.text(60, 780 - row * 30, line, 10.5, stretch=gap * 10.5, **where)
    return pages


CITED = "民法第七百九条により、第709条の「損害」を賠償する。"


@each("gap", [0.2, 0.5, 1.0, 1.2, 2.0])
def test_letters_that_are_spread_are_one_text(gap):
    lines = [CITED[:14], CITED[14:]] if gap > 0.5 else [CITED]
    assert read(spread("\n".join(lines), gap)).text == CITED


@each("gap", [1.5, 2.0, 4.0])
def test_letters_that_are_printed_one_by_one_are_one_text(gap):
    pages = PrintedPages()
    pages.page()
    for at, letter in enumerate("民法第七百九条"):
        pages.text(40 + at * gap * 12, 780, letter, 12)
    pages.text(60, 700, FEE)
    assert read(pages).text.splitlines() == ["民法第七百九条", FEE]


@each("pitch", [1.3, 2.0, 3.0])
def test_vertical_letters_that_are_spread_are_one_text(pitch):
    pages = PrintedPages()
    pages.page()
    for column, line in enumerate(("民法第七百九条により", "損害を賠償する。")):
        for at, letter in enumerate(line):
            pages.text(400 - column * 24, 780 - at * pitch * 11, letter, 11)
    assert read(pages).text == "民法第七百九条により損害を賠償する。"


@pytest.mark.parametrize("typed", ["民 法 第 七 百 九 条", "民　法　第　七　百　九　条"])
def test_blanks_that_were_typed_to_spread_letters_are_left_out(typed):
    assert read(spread(typed, 0)).text == "民法第七百九条"


def test_spread_words_of_latin_letters_keep_their_blanks():
    assert read(spread("SERVICE AGREEMENT of both", 0.3)).text == "SERVICE AGREEMENT of both"


@each(
    ("rows", "step"),
    [
        (["日月火水木金土", "1234567", "89ABCDE"], 25),
        (["甲乙丙", "○×○", "×○○"], 40),
        (["山川海", "東西南", "北上下"], 60),
    ],
)
def test_cells_of_one_letter_stay_cells(rows, step):
    pages = PrintedPages()
    pages.page()
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            pages.text(60 + column * step, 780 - row * 20, cell)
    assert read(pages).text.splitlines() == ["\t".join(cells) for cells in rows]


def test_labels_spread_to_one_width_and_a_title_of_two_letters():
    pages = PrintedPages()
    pages.page()
    for x, letter in ((270, "判"), (325, "決")):
        pages.text(x, 800, letter, 15)
    for row, label in enumerate(("氏名", "電話番号", "住所")):
        step = 60 / (len(label) - 1)
        for at, letter in enumerate(label):
            pages.text(60 + at * step, 740 - row * 30, letter)
        pages.text(160, 740 - row * 30, f"（{FEE}）{FEE}")
    lines = read(pages).text.splitlines()
    assert lines[0] == "判決"
    assert [line.split("\t")[0] for line in lines[1:]] == ["氏名", "電話番号", "住所"]


def test_hyphens():
    pages = PrintedPages()
    pages.page()
    for at, line in enumerate(
        [
            "The harbour board may withdraw the authori-",
            "zation of a well-known ferry master, and a well-",
            "known keeper may then take over the stage.",
        ]
    ):
        pages.text(60, 780 - at * 14, line)
    assert read(pages).text == (
        "The harbour board may withdraw the authorization of a well-known ferry master, "
        "and a well-known keeper may then take over the stage."
    )


def test_hyphens_of_compounds_and_of_names_in_capitals():
    pages = PrintedPages()
    pages.page()
    for at, line in enumerate(
        [
            "Each keeper of a landing stage keeps the timetable there up-to-",
            "date. The keeper writes FERRYTIME and no other word on it: FERRY-",
            "TIME is what travellers on the other bank of the river look for.",
        ]
    ):
        pages.text(60, 780 - at * 14, line)
    assert read(pages).text == (
        "Each keeper of a landing stage keeps the timetable there up-to-date. The keeper writes "
        "FERRYTIME and no other word on it: FERRYTIME is what travellers on the other bank of the "
        "river look for."
    )


def test_the_further_lines_of_a_term_are_indented():
    pages = PrintedPages()
    pages.page()
    first = "-k, the keeper of the landing stage, who lights its lamp and tidies the whole quay"
    pages.text(60, 780, first)
    pages.text(90, 766, "every morning.")
    pages.text(60, 740, "-m, the master.")
    assert f"{first} every morning." in read(pages).text.splitlines()


def test_running_heads_with_the_title_of_a_section_that_is_on_one_page():
    pages = PrintedPages()
    sections = ("The stage", "The lamp", "The bell", "The rope", "The oar", "The quay", "The fare")
    for number, section in enumerate(sections):
        pages.page()
        is_first = number == 4
        pages.text(60, 800, f"CHAPTER {1 if number < 4 else 2}. FERRIES" if not is_first else "")
        if not is_first:
            pages.text(400, 800, section)
        pages.text(60, 740, f"The keeper writes page {number} of the log and signs it.")
    assert read(pages).text.splitlines() == [
        f"The keeper writes page {number} of the log and signs it." for number in range(7)
    ]


def test_a_stamp_across_pages_is_left_out():
    pages = PrintedPages()
    for half in HALVES:
        pages.page()
        pages.text(60, 740, half)
        pages.text(150, 300, "写し", 80, angle=45)
    assert read(pages).text == "".join(HALVES)


def test_radicals_stay_as_the_file_has_them():
    pages = PrintedPages()
    pages.page()
    pages.text(60, 780, "⼀⾦")
    assert read(pages).text == "⼀⾦"


def test_more_pages_than_can_be_held():
    pages = PrintedPages()
    for _ in range(50):
        pages.page()
    with pytest.raises(InputError, match="too much text"):
        list(read_pdf("a.pdf", pages.to_bytes(), Limits(file_bytes=20_000)))


def test_growth_of_work_with_lines():
    # The pieces a page consists of are looked at a bounded number of times.
    def steps(count: int) -> int:
        import sys

        pages = PrintedPages()
        pages.page()
        for at in range(count):
            pages.text(60 + at % 7 * 70, 800 - at // 7 * 1.0, "桟橋", 3)
        data, calls = pages.to_bytes(), 0

        def count_call(*_):
            nonlocal calls
            calls += 1

        sys.setprofile(count_call)
        try:
            list(read_pdf("a.pdf", data, Limits()))
        finally:
            sys.setprofile(None)
        return calls

    assert steps(2_000) < 4 * steps(1_000)


def test_a_file_that_changes_page_without_text(tmp_path):
    pages = PrintedPages()
    pages.page()
    pages.page()
    pages.text(60, 780, FEE)
    (tmp_path / "a.pdf").write_bytes(pages.to_bytes())
    document, *omitted = stream(tmp_path / "a.pdf")
    assert document.metadata["pages_without_text"] == "1"
    assert omitted == [Omission("pages without text", 1)]
    assert document.passages[0].locator.page == 2


@pytest.mark.parametrize("content", [b"(a) Tj ", b"q ", b"0 0 m 1 1 l S "])
def test_a_small_file_that_unpacks_to_millions_of_objects(content, read_failure):
    import zlib

    packed = zlib.compress(b"BT /L 9 Tf " + content * 3_000_000 + b" ET")
    pages = PrintedPages()
    pages.page()
    data = pages.to_bytes().replace(
        b"<< /Length 0 >>\nstream\n\nendstream",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed),
    )
    assert "too much text" in read_failure("a.pdf", data).cause


def test_a_page_of_many_characters_is_read():
    pages = PrintedPages()
    pages.page()
    for at in range(600):
        pages.text(60, 800 - at, "渡し場" * 25, 1)
    assert read(pages).text.count("渡し場") == 15_000

"""PDF documents with every sentence known, of each kind of page that offices print."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from printed_pages import CMAPS, PrintedPages, width

_WHO = ["管理者", "使用者", "船頭", "町長", "貸主", "借主", "委員会", "渡し守", "荷主", "届出人"]
_WHAT = ["渡し場", "桟橋", "舟小屋", "係留杭", "待合所", "灯火", "通行札", "積荷", "水門", "船着場"]
_WHEN = [
    "毎年四月一日までに",
    "日没の後は",
    "増水のときは",
    "あらかじめ",
    "正当な理由があるときは",
    "三十日以内に",
]
_DONE = [
    "点検し、その結果を帳簿に記載しなければならない",
    "無償で使用することができる",
    "他人に譲渡してはならない",
    "修繕する義務を負うものとする",
    "閉鎖する旨を掲示するものとする",
    "使用料の額を定めて公表する",
]
_EN_WHO = ["The keeper", "Every passenger", "The harbour board", "A tenant", "The ferry master"]
_EN_DO = [
    "shall inspect the landing stage",
    "may not transfer the permit",
    "must record the water level",
    "shall repair the mooring posts",
    "may close the waiting room",
]
_EN_WHEN = [
    "before the first crossing of the season",
    "within thirty days after the notification",
    "whenever the gauge shows more than two metres",
    "unless the committee has decided otherwise",
    "in accordance with the regulations on navigation",
]
_KANJI = "〇一二三四五六七八九"


@dataclass
class MadeDocument:
    """A file and its content.

    Attributes:
        sentences: in reading order, rows of tables with tabs between cells.
    """

    kind: str
    data: bytes
    sentences: list[str]
    pages: int


@dataclass
class SentenceMaker:
    """Unique sentences; `made` lists those already used, in order."""

    rng: random.Random
    count: int = 0
    made: list[str] = field(default_factory=list)

    def japanese(self) -> str:
        """A sentence, or two."""
        self.count += 1
        number = "".join(_KANJI[int(digit)] for digit in str(100 + self.count))
        pick = self.rng.choice
        sentence = f"{pick(_WHO)}は、{pick(_WHEN)}、第{number}号の{pick(_WHAT)}を{pick(_DONE)}"
        if self.rng.random() < 0.4:
            sentence += f"（{pick(_WHAT)}に関する部分を除く。）"
        sentence += "。" if self.rng.random() < 0.8 else f"。ただし、{pick(_WHEN)}この限りでない。"
        # A proviso is a sentence of its own.
        first, dot, rest = sentence.partition("。ただし")
        self.made += [first + "。", f"ただし{rest}"] if dot else [sentence]
        return sentence

    def english(self) -> str:
        """A sentence."""
        self.count += 1
        pick = self.rng.choice
        sentence = f"{pick(_EN_WHO)} {pick(_EN_DO)} number {100 + self.count} {pick(_EN_WHEN)}."
        self.made.append(sentence)
        return sentence

    def paragraph(self, sentences: int, *, english: bool = False) -> str:
        """Some sentences as one."""
        said = [self.english() if english else self.japanese() for _ in range(sentences)]
        return (" " if english else "").join(said)


_NOT_FIRST = "、。）」』，．"


def wrapped(text: str, room: float, size: float, *, indent: float = 0.0) -> list[str]:
    """Break a paragraph into lines; in Japanese no line begins with a closing mark."""
    lines, line, left = [], "", room - indent
    if text.isascii():
        for word in text.split(" "):
            longer = f"{line} {word}" if line else word
            if line and width(longer, size) > left:
                lines.append(line)
                line, left = word, room
            else:
                line = longer
    else:
        for character in text:
            if line and width(line + character, size) > left:
                if character in _NOT_FIRST:
                    if line[-1] not in _NOT_FIRST:  # One closing mark hangs over the edge.
                        line += character
                        continue
                    kept = len(line.rstrip(_NOT_FIRST)) - 1
                    lines.append(line[:kept])
                    line, left = line[kept:], room
                else:
                    lines.append(line)
                    line, left = "", room
            line += character
    return [*lines, line]


def _hyphenated(text: str, room: float, size: float) -> list[str]:
    """Lines with hyphens where a long word does not fit."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if width(longer, size) <= room:
            line = longer
            continue
        head = len(word) // 2
        if len(word) > 7 and word.isalpha() and width(f"{line} {word[:head]}-", size) <= room:
            lines.append(f"{line} {word[:head]}-")
            line = word[head:]
        else:
            lines.append(line)
            line = word
    return [*lines, line]


class _Sheet:
    """Fills pages with lines from the top down, page after page."""

    def __init__(self, pages: PrintedPages, rng: random.Random, *, size: float = 10.5) -> None:
        self.pages, self.rng, self.size = pages, rng, size
        self.left, self.right, self.top, self.bottom = 70.0, 525.0, 760.0, 90.0
        self.leading = size * rng.choice([1.4, 1.6, 1.8])
        self.decorate: Callable[[int], None] = lambda _: None
        self.y = 0.0
        self.number = 0
        self.new_page()

    def new_page(self) -> None:
        self.pages.page()
        self.number += 1
        self.decorate(self.number)
        self.y = self.top

    def line(
        self, text: str, *, indent: float = 0.0, stretch: float = 0.0, size: float = 0.0
    ) -> None:
        if self.y < self.bottom:
            self.new_page()
        self.pages.text(self.left + indent, self.y, text, size or self.size, stretch=stretch)
        self.y -= self.leading

    def paragraph(self, text: str, *, justify: bool = False, hyphens: bool = False) -> None:
        room, english = self.right - self.left, text.isascii()
        indent = 0.0 if english else self.size
        lines = (
            _hyphenated(text, room, self.size)
            if hyphens
            else wrapped(text, room, self.size, indent=indent)
        )
        for at, line in enumerate(lines):
            shift = indent if not at else 0.0
            gap = room - shift - width(line, self.size)
            spread = gap / len(line) if justify and at < len(lines) - 1 and gap > 0 else 0.0
            self.line(line, indent=shift, stretch=spread)
        if english:
            self.y -= self.leading * 0.6


def plain(rng: random.Random, text: SentenceMaker, *, english: bool = False) -> PrintedPages:
    """Paragraphs in one column over two or three pages."""
    pages = PrintedPages(rng.choice(["UniJIS-UTF16", "90ms-RKSJ"]))
    sheet = _Sheet(pages, rng)
    justify, hyphens = rng.random() < 0.5, english and rng.random() < 0.6
    for _ in range(12):
        sheet.paragraph(
            text.paragraph(rng.randint(2, 5), english=english), justify=justify, hyphens=hyphens
        )
    return pages


def plain_english(rng: random.Random, text: SentenceMaker) -> PrintedPages:
    """The same in English, ragged or justified, hyphenated or not."""
    return plain(rng, text, english=True)


def heads(rng: random.Random, text: SentenceMaker) -> PrintedPages:
    """Running heads and page numbers, over which sentences run."""
    pages = PrintedPages()
    sheet = _Sheet(pages, rng)
    first = rng.choice([1, 1, 7])
    form = rng.choice(
        [
            "- {n} -",
            "{n}/9",
            "第{n}頁",
            "Page {n} of 9",
            "{n}",
            "（{n}）",
            "― {n} ―",
            "{n} ページ",
            "p. {n}",
        ]
    )
    head = rng.choice(
        ["意見書（案）", "渡し場管理規程　第二版", "Draft of the ferry regulations", ""]
    )
    place, same = rng.choice([280.0, 500.0, 70.0]), rng.random() < 0.3

    def decorate(number: int) -> None:
        words = form.format(n=first + number - 1)
        if head:
            pages.text(70, 795, head, 9)
        if same and head:
            pages.text(460, 795, words, 9)
        else:
            pages.text(place, 45, words, 9)

    sheet.decorate = decorate
    decorate(1)
    for _ in range(14):
        sheet.paragraph(text.paragraph(rng.randint(2, 6)))
    return pages


def columns(
    rng: random.Random, text: SentenceMaker, *, english: bool = False, across: bool = False
) -> PrintedPages:
    """Two columns below a title that spans both."""
    pages = PrintedPages()
    size, leading = 9.5, 15.0
    pages.page()
    title = (
        "Rules of the ferry and its landing stages"
        if english
        else "渡し場及び桟橋の管理に関する解説"
    )
    pages.text(150, 800, title, 14)
    text.made.append(title)
    room = 218.0
    printed: list[tuple[float, float, str]] = []
    paragraphs = [text.paragraph(rng.randint(2, 4), english=english) for _ in range(8)]
    column, y = 0, 765.0
    for paragraph in paragraphs:
        indent = 0.0 if english else size
        for at, line in enumerate(wrapped(paragraph, room, size, indent=indent)):
            if y < 80:
                column, y = column + 1, 765.0
            page, side = divmod(column, 2)
            printed.append((page * 1000 - y, 70 + side * 240 + (0 if at else indent), line))
            y -= leading
    for at, (place, x, line) in enumerate(sorted(printed) if across else printed):
        page = int((place + 999) // 1000)
        if page >= len(pages.pages):
            pages.page()
        pages.text(x, page * 1000 - place, line, size)
        del at
    return pages


def columns_english(rng: random.Random, text: SentenceMaker) -> PrintedPages:
    """Two columns in English."""
    return columns(rng, text, english=True)


def columns_across(rng: random.Random, text: SentenceMaker) -> PrintedPages:
    """Two columns, drawn line by line over both."""
    return columns(rng, text, across=True)


def vertical(rng: random.Random, text: SentenceMaker, *, glyphs: bool = False) -> PrintedPages:
    """Vertical writing, by a CMap for it or a character at a time."""
    pages = PrintedPages(rng.choice(["UniJIS-UTF16", "90ms-RKSJ", "EUC"]))
    size, leading, height = 11.0, 19.0, 640.0
    lines = [
        line
        for _ in range(6)
        for line in wrapped(
            text.paragraph(rng.randint(2, 4)), height, size * (1.1 if glyphs else 1)
        )
    ]
    x, number = 0.0, 0
    for line in lines:
        if x < 60:
            pages.page()
            number += 1
            pages.text(290, 40, str(number), 9)
            x = 530.0
        if glyphs:
            pages.glyphs(x, 760, line, size, down=True)
        else:
            pages.text(x, 760, line, size, vertical=True)
        x -= leading
    return pages


def vertical_glyphs(rng: random.Random, text: SentenceMaker) -> PrintedPages:
    """Vertical writing, a character at a time."""
    return vertical(rng, text, glyphs=True)


def turned(rng: random.Random, text: SentenceMaker) -> PrintedPages:
    """A rotated page, and rotated text."""
    pages = PrintedPages()
    by_text = rng.random() < 0.5
    pages.page(rotate=0 if by_text else rng.choice([90, 180, 270]))
    angle = rng.choice([90, 270, 180]) if by_text else 0
    y = 0.0
    for _ in range(5):
        for at, line in enumerate(wrapped(text.paragraph(3), 430, 10.5, indent=10.5)):
            shift = 0 if at else 10.5
            x, down = 70 + shift, 60 + y
            place = {
                0: (x, 800 - down),
                90: (down, x),
                270: (595 - down, 780 - x),
                180: (595 - x, 20 + down),
            }[angle]
            pages.text(*place, line, 10.5, angle=angle)
            y += 17
    return pages


def table(rng: random.Random, text: SentenceMaker) -> PrintedPages:
    """A table between paragraphs, with rules or without."""
    pages = PrintedPages()
    sheet = _Sheet(pages, rng)
    sheet.paragraph(text.paragraph(3))
    xs = rng.choice([[70, 220, 380], [70, 170, 300, 430]])
    head = ["区分", "使用料の額", "納付の期限", "備考"][: len(xs)]
    rows = [head]
    for at in range(rng.randint(4, 8)):
        named, fee = f"{rng.choice(_WHAT)}{_KANJI[at]}", f"{rng.randint(2, 90)}00円"
        rows += [[named, fee, f"四月{_KANJI[at + 1]}日", "―"][: len(xs)]]
    ruled = rng.random() < 0.5
    sheet.y -= 8
    for row in rows:
        text.made.append("\t".join(row))
        for x, cell in zip(xs, row, strict=True):
            pages.text(x, sheet.y, cell, 10)
        if ruled:
            pages.rule(65, sheet.y + 13, 530, sheet.y + 13)
        sheet.y -= 20
    if ruled:
        pages.rule(65, sheet.y + 13, 530, sheet.y + 13)
    sheet.y -= 8
    sheet.paragraph(text.paragraph(3))
    return pages


def notes(rng: random.Random, text: SentenceMaker) -> PrintedPages:
    """Notes at the foot of a page, in small type, below a text that runs over the page."""
    pages = PrintedPages()
    sheet = _Sheet(pages, rng)
    sheet.bottom = 150
    for _ in range(9):
        sheet.paragraph(text.paragraph(rng.randint(3, 5)))
    body, pages_made = len(text.made), pages.pages
    for at in range(len(pages_made)):
        note = text.paragraph(1)
        last = pages.pages[at]
        pages.pages.append(pages.pages.pop(at))
        y = 110.0
        for line in wrapped(f"注{at + 1}　{note}", 455, 8):
            pages.text(70, y, line, 8)
            y -= 11
        pages.pages.insert(at, pages.pages.pop())
        assert pages.pages[at] is last
    for at in range(body, len(text.made)):
        del at
    numbered = 0
    for at in range(body, len(text.made)):
        if not text.made[at].startswith("ただし"):
            numbered += 1
            text.made[at] = f"注{numbered}　{text.made[at]}"
    return pages


def articles(rng: random.Random, text: SentenceMaker) -> PrintedPages:
    """Articles, paragraphs and items with hanging indents."""
    pages = PrintedPages()
    sheet = _Sheet(pages, rng)
    for number in range(1, 8):
        caption = f"（{rng.choice(_WHAT)}の管理）"
        text.made.append(caption)
        sheet.line(caption, indent=sheet.size)
        marks = [f"第{number}条　", "２　", "（１）　", "（２）　"][: rng.randint(1, 4)]
        for mark in marks:
            before = len(text.made)
            said = mark + text.japanese()
            text.made[before] = mark + text.made[before]
            hang = sheet.size * (1 if not mark.startswith("（") else 3)
            for at, line in enumerate(wrapped(said, sheet.right - sheet.left - hang, sheet.size)):
                sheet.line(line, indent=hang if at else hang - sheet.size)
    return pages


def codes(rng: random.Random, text: SentenceMaker) -> PrintedPages:
    """Every predefined CMap, one a page."""
    pages = PrintedPages(rng.choice([*CMAPS, "Identity"]))
    sheet = _Sheet(pages, rng)
    for _ in range(6):
        sheet.paragraph(text.paragraph(3))
    return pages


def single(rng: random.Random, text: SentenceMaker) -> PrintedPages:
    """A character at a time, bold by printing twice, in a box that does not begin at zero."""
    pages = PrintedPages()
    pages.page(box=(100, 100, 695, 942))
    y = 880.0
    bold = rng.random() < 0.5
    for _ in range(4):
        for line in wrapped(text.paragraph(2), 440, 10.5):
            pages.glyphs(170, y, line, 10.5, down=False)
            if bold:
                pages.glyphs(170.4, y, line, 10.5, down=False)
            y -= 17
    return pages


def shuffled(rng: random.Random, text: SentenceMaker) -> PrintedPages:
    """Lines drawn in any order, a stamp across them."""
    pages = PrintedPages()
    sheet = _Sheet(pages, rng)
    for _ in range(6):
        sheet.paragraph(text.paragraph(3))
    for page in pages.pages:
        rng.shuffle(page.content)
    return pages


def mixed(rng: random.Random, text: SentenceMaker) -> PrintedPages:
    """Japanese with Latin words and numbers, headings in large type."""
    pages = PrintedPages()
    sheet = _Sheet(pages, rng)
    for number in range(1, 6):
        heading = f"第{number}　{rng.choice(_WHAT)}について"
        text.made.append(heading)
        sheet.line(heading, size=13)
        said = []
        for _ in range(3):
            text.count += 1
            sentence = (
                f"{rng.choice(_WHO)}は、Ferry Act第{text.count}条に基づき、"
                f"{rng.randint(2, 99)},000円を支払い、{rng.choice(_WHAT)}を{rng.choice(_DONE)}。"
            )
            said.append(sentence)
            text.made.append(sentence)
        sheet.paragraph("".join(said))
    return pages


def chapters(rng: random.Random, text: SentenceMaker) -> PrintedPages:
    """Heads with the title on even pages and the chapter on odd ones, numbers at the outer edge."""
    pages = PrintedPages()
    sheet = _Sheet(pages, rng)
    names = ["第一章　総則", "第二章　渡し場", "第三章　罰則"]

    def decorate(number: int) -> None:
        if number % 2:
            pages.text(380, 800, names[min(number // 3, 2)], 8.5)
            pages.text(515, 800, str(number), 8.5)
        else:
            pages.text(70, 800, str(number), 8.5)
            pages.text(100, 800, "渡し場の手引", 8.5)

    sheet.decorate = decorate
    decorate(1)
    for _ in range(40):
        sheet.paragraph(text.paragraph(rng.randint(2, 5)))
    return pages


def three_columns(_: random.Random, text: SentenceMaker) -> PrintedPages:
    """Three narrow columns of ragged English."""
    pages = PrintedPages()
    pages.page()
    for column in range(3):
        y = 780.0
        for _paragraph in range(3):
            for line in wrapped(text.paragraph(2, english=True), 140, 9):
                pages.text(60 + column * 165, y, line, 9)
                y -= 12
            y -= 7
    return pages


def tall_table(rng: random.Random, text: SentenceMaker) -> PrintedPages:
    """A ruled table over two pages with cells of several lines; its head is repeated."""
    pages = PrintedPages()
    xs, head = [70, 160, 420], ["区分", "内容", "期限"]
    rows = [[f"{rng.choice(_WHAT)}{_KANJI[n % 10]}", "", f"{n + 1}月末日"] for n in range(14)]
    for row in rows:
        row[1] = (
            text.japanese().replace("。ただし、", "、ただし").rstrip("。").replace("。）", "）")
        )
    text.made[:] = ["\t".join(head), *("\t".join(row) for row in rows)]
    y = 0.0
    for row in rows:
        if y < 110:
            pages.page()
            y = 780.0
            for x, cell in zip(xs, head, strict=True):
                pages.text(x, y, cell, 10)
            pages.rule(65, y + 13, 530, y + 13)
            y -= 22
            pages.rule(65, y + 14, 530, y + 14)
        lines = wrapped(row[1], 245, 10)
        middle = y - (len(lines) - 1) * 7 if rng.random() < 0.5 else y
        pages.text(xs[0], middle, row[0], 10)
        for at, line in enumerate(lines):
            pages.text(xs[1], y - at * 14, line, 10)
        pages.text(xs[2], middle, row[2], 10)
        y -= len(lines) * 14 + 10
        pages.rule(65, y + 16, 530, y + 16)
    return pages


def margin(rng: random.Random, text: SentenceMaker) -> PrintedPages:
    """Numbers of lines in the margin, a stamp across the page."""
    pages = PrintedPages()
    sheet = _Sheet(pages, rng)

    def decorate(_: int) -> None:
        y, number = sheet.top, 1
        while y > sheet.bottom:
            pages.text(40, y, str(number), 8)
            y, number = y - sheet.leading, number + 1
        pages.text(150, 300, "写し", 90, angle=45)

    sheet.decorate = decorate
    decorate(1)
    for _ in range(12):
        sheet.paragraph(text.paragraph(rng.randint(2, 5)))
    return pages


def tiers(_: random.Random, text: SentenceMaker) -> PrintedPages:
    """Vertical writing in two tiers, figures side by side in it."""
    pages = PrintedPages()
    size, leading, height = 10.0, 17.0, 310.0
    lines = [line for _paragraph in range(9) for line in wrapped(text.paragraph(3), height, size)]
    x, tier = 0.0, 1
    for line in lines:
        if x < 70:
            tier = 1 - tier
            x = 520.0
            if not tier:
                pages.page()
        pages.text(x, 770 - tier * 350, line, size, vertical=True)
        x -= leading
    return pages


def raised(rng: random.Random, text: SentenceMaker) -> PrintedPages:
    """Marks of notes, raised and small; words printed one by one."""
    pages = PrintedPages()
    sheet = _Sheet(pages, rng)
    for _ in range(5):
        sentence = text.japanese()
        first, _, _rest = sentence.partition("、")
        text.made[-1 if "。ただし" not in sentence else -2] = text.made[
            -1 if "。ただし" not in sentence else -2
        ].replace(first, first + "*1", 1)
        head, tail = first, sentence[len(first) :]
        x = sheet.left
        pages.text(x, sheet.y, head, sheet.size)
        x += width(head, sheet.size)
        pages.text(x, sheet.y + 4, "*1", 6)
        x += width("*1", 6)
        room = int((sheet.right - x) / sheet.size)
        pages.text(x, sheet.y, tail[:room], sheet.size)
        sheet.y -= sheet.leading
        for more in (
            wrapped(tail[room:], sheet.right - sheet.left, sheet.size) if tail[room:] else []
        ):
            sheet.line(more)
        sheet.y -= sheet.leading
    for _ in range(4):
        for line in wrapped(text.paragraph(3, english=True), sheet.right - sheet.left, sheet.size):
            x = sheet.left
            for word in line.split(" "):
                pages.text(x, sheet.y, word, sheet.size)
                x += width(word + " ", sheet.size)
            sheet.y -= sheet.leading
        sheet.y -= sheet.leading * 0.7
    return pages


def landscape(rng: random.Random, text: SentenceMaker) -> PrintedPages:
    """Wide pages with wide lines, set far apart, letters spread."""
    pages = PrintedPages()
    y, spread, leading = 0.0, rng.choice([0.0, 1.5]), rng.choice([18.0, 30.0])
    for _ in range(8):
        for at, line in enumerate(wrapped(text.paragraph(3), 640, 11 + spread)):
            if y < 70:
                pages.page(box=(0, 0, 842, 595))
                y = 530.0
            pages.text(80 + (0 if at else 11), y, line, 11, stretch=spread)
            y -= leading
    return pages


KINDS: Sequence[Callable[[random.Random, SentenceMaker], PrintedPages]] = (
    plain,
    plain_english,
    heads,
    columns,
    columns_english,
    columns_across,
    vertical,
    vertical_glyphs,
    turned,
    table,
    notes,
    articles,
    codes,
    single,
    shuffled,
    mixed,
    chapters,
    three_columns,
    tall_table,
    margin,
    tiers,
    raised,
    landscape,
)


def made(count: int, seed: int) -> Iterator[MadeDocument]:
    """Files of every kind in turn."""
    for at in range(count):
        kind = KINDS[at % len(KINDS)]
        rng = random.Random(f"{seed}-{at}")
        text = SentenceMaker(rng)
        pages = kind(rng, text)
        yield MadeDocument(kind.__name__, pages.to_bytes(), text.made, len(pages.pages))

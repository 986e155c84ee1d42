"""Reads the text to check, from a file or as given, and makes it flow.

Lines are joined and citations spelled as in statutes. In tables, a law in one column and an article
number in the next are one citation: 民法, 724.

Spread letters are closed: 労 働 基 準 法 第 2 0 条 becomes 労働基準法第20条. Such rows are typed so
or copied from justified pages (均等割付). Separate words stay separate: 民法 709条 20条, figures,
Latin letters, and words beside a row unless a law's name continues.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import NamedTuple

from rich.cells import cell_len

from localrag.check.types import CheckedPlace
from localrag.corpus import readers
from localrag.corpus.readers import Limits, PassedOver, ReadFailure
from localrag.corpus.readers.text import decode
from localrag.corpus.readers.types import Unread
from localrag.corpus.types import Document, Omission, page_starts
from localrag.errors import InputError, LocalragError, UsageError
from localrag.language import N_, _
from localrag.law.names import LawNames
from localrag.law.notation import DASHES
from localrag.law.typed import short_citations
from localrag.search.question.everyday import english_citations, english_places
from localrag.search.question.laws import LawNamed, is_known_title, laws_named
from localrag.text.facts import Fact
from localrag.text.folding import Spelling
from localrag.text.harmless import one_line
from localrag_indexes.analysis.normalize import FORMAL_NUMERALS, PlainText, original_span

# In these formats a line is a paragraph; in others a sentence may continue.
_WHOLE_LINES = ("docx", "html", "pdf", "image", "xlsx", "pptx", "csv", "eml", "msg")
_FORMATS = (*_WHOLE_LINES, "text", "markdown")
_TEXT_FILES = (".txt", ".text")
# Beginnings of notes, as the reader of Word files writes them.
_NOTE = re.compile("((?:文末)?注[^　\n]{1,8})　")
_LONGEST = 5_000_000
_LONGEST_NAME = 1_000
# Not `corpus.readers.flowing`: it needs lines of common width, and pasted text has none. Here names
# of laws and cut citations show a continued line. Sentences, headings, captions, and the lines
# before items, quotations or labels (相続：) end by themselves.
_RUNS_ON = re.compile(
    r"(?<=[^。．.!?！？:：」』）)\]|#>\s])[ \t]*\n[ \t　]*"
    r"(?=[^\s#>|\-*+・○●◎■□◆◇▼▽※（(「『①-⑳])"
    r"(?!(?:第[ 　]?)?[0-9０-９〇一二三四五六七八九十百]+(?:[条章節編款][ 　（(\n]|[.)．）、　\t]))"
    r"(?![^\s。、，：:]{1,10}[：:])"
)
# A break within a paragraph of HTML or Word; a comma before it ends no sentence.
_GOES_ON = re.compile(
    r"(?<=[、，])[ \t　]*\n[ \t　]*(?=[^\s#>|\-*+・○●◎■□◆◇▼▽※（(①-⑳\t][^\t|\n]*(?:\n|$))"
)
# 『民法』第709条
_NAME_IN_MARKS = re.compile(
    "[「『【〔“](?P<name>[^「」『』【】〔〕“”。、\n]{1,60})[」』】〕”](?=第?[0-9０-９〇一二三四五六七八九十百千]+条)"
)
# 民法第709条 and 会社法第8条 on the next line: a list, no sentence.
_CITED = re.compile("[条項号](?:の[0-9０-９〇一二三四五六七八九十]+)*$")
_LAW = re.compile(r"(?!施行)[一-鿿ァ-ヶー]{1,60}?[法令則例](?=第|[0-9０-９]|[（(\s]|$)")
# 民109③ and 刑36① on the next line.
_SHORT_ENDS = re.compile("[条項号書0-9０-９①-⑳]$")
_SHORT_BEGINS = re.compile("[一-鿿ァ-ヶーA-Za-z]{1,20}[0-9０-９]")
# 第1　争点, (2) 請求の趣旨, 事件名 1: a heading or a row.
_NUMBERED_HEADING = re.compile(
    r".*[一-鿿ぁ-ゖァ-ヶー](?<!第)[ 　\t][0-9０-９]{1,4}"
    r"|[ 　\t]*(?:第?[ 　]?[0-9０-９一二三四五六七八九十]{1,3}[ 　\t.．、]|[①-⑳]|[ア-ン][ 　\t]"
    r"|[（(][0-9０-９一二三四五六七八九十ア-ンa-z]{1,2}[)）])[^。、，]{1,25}"
)
# Courts also omit 第 before kanji numerals: 七〇九条, 一条二項, 四条及び五条. 三条市 and 四条通 are
# places, 全三条 and 五か条 are counts. 七〇九 is only a citation.
_KANJI_DIGIT = "〇零一二三四五六七八九"
_NOT_BEFORE = rf"(?<![第前次全数計約各箇か{_KANJI_DIGIT}{FORMAL_NUMERALS}零十百千万億0-9０-９.．])"
_GOES_ON_AS_CITED = (
    "(?![一-鿿])|(?=[項号但本前後柱各及又並若乃以参違所準類関等]"
    "|第?[一二三四五六七八九十]{1,3}[項号])"
)
_BARE = re.compile(
    rf"{_NOT_BEFORE}(?:[{_KANJI_DIGIT}]{{2,}}+[条條](?![例約理件文])"
    rf"|[一二三四五六七八九十百千万億]++[条條](?:{_GOES_ON_AS_CITED}))"
    # Not needed right after an article (七〇九条二項).
    rf"|{_NOT_BEFORE}(?<![の条條])(?:[一二三四五六七八九十]{{1,3}}|[0-9０-９]{{1,2}})項(?:{_GOES_ON_AS_CITED})"
    rf"|(?:(?<=号[、，・と{DASHES}])|(?<=号(?:及び|又は|から|より|乃至))|(?<=号並びに)"
    r"|(?<=号(?:および|または|ないし)))[一二三四五六七八九十]{1,3}号"
)
# 一八四条の二二項 is 第百八十四条の二第二項: a branch has no 項. Here the last digit is the
# paragraph; `localrag.check.citations` asks the law about longer numbers.
_BRANCH_DIGIT = f"{_KANJI_DIGIT}十0-9０-９"
RUN_TOGETHER = re.compile(
    rf"[条條](?:[のノ][{_BRANCH_DIGIT}]{{1,3}})*?[のノ]"
    rf"(?P<run>[{_BRANCH_DIGIT}]{{1,4}}[一二三四五六七八九十1-9１-９])(?=(?P<level>[項号]))"
)
"""A branch of an article and its paragraph, or item, as one number."""
# 前掲法7条, 上記条項: as others write 同法.
_CITED_ABOVE = re.compile("(?:前掲|前記|上記)の?(?=[法条項](?![律令定則規人件文目]))")
# A label ends in a noun or a number; だけ, 及び and は continue.
_ENDS_A_LABEL = re.compile("(?:[一-鿿々ァ-ヶー](?<!及)|[0-9０-９])[ 　]*$")
_CONTINUES = re.compile("[はがをにのへ]|第?[ 　]?[0-9０-９一二三四五六七八九十]{1,3}[項号]")
# 渡し舟法 and 第8条は on the next line: an article of that law.
_ARTICLE = re.compile("[ 　]*第?[ 　]?[0-9０-９〇一二三四五六七八九十百千]{1,7}[条條]")
_OPEN = re.compile("「[^」]*$|（[^）]*$")
# A column this much narrower than the next line was not full.
_ROOM_LEFT = 0.6
_LATIN = re.compile("[A-Za-z0-9,;]")
_RETURN = re.compile("\r\n?")
_LINE_BREAK = re.compile("\r\n?|\n")
# A contract: its bare "Article 5" is its own.
_OWN_ENGLISH = re.compile(r"^[ \t]*(?:#+ *)?\**Article (\d{1,3})\b", re.IGNORECASE | re.MULTILINE)
_ENGLISH = re.compile("(?<![A-Za-z])Art", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CheckedSource:
    """A text to check."""

    name: str  # of the file; "" for a given text
    kind: str  # its format, as of a document of a corpus
    text: str  # the whole text
    pages: tuple[int, ...] = ()  # beginnings of pages, in characters; empty if unknown
    omissions: tuple[Omission, ...] = ()  # parts of the file not read or to be read with care
    # OCR confidence of each page, 0 to 1; None for pages with text, empty if all have
    confidences: tuple[float | None, ...] = ()


def given(text: str) -> CheckedSource:
    """Take a given text; raises `UsageError` if empty, `InputError` if too long."""
    if not text.strip():
        raise UsageError(
            N_("There is no text to check."), N_("Name a file, or give the text itself.")
        )
    return _bounded(CheckedSource("", "text", text))


def named_file(text: str) -> Path | None:
    """Return the file named by a text, even a missing one; None for the text itself."""
    if not text.strip() or "\n" in text or len(text) > _LONGEST_NAME:
        return None
    path = Path(text)
    looks_like_one = readers.supported(path) and not any(sign in text for sign in "。、 　「」")
    try:
        path.stat()
    except PermissionError:
        return path
    except (OSError, ValueError):
        return path if looks_like_one else None
    return path


def named_files(words: Sequence[str]) -> list[Path]:
    """Return the files named by words; [] if the words are the text itself. Raises `UsageError`."""
    whole = named_file(" ".join(words))
    if len(words) == 1 or (whole and S_ISREG(_mode(whole))):
        return [whole] if whole else []
    paths = [named_file(word) for word in words]
    if not any(path and (S_ISREG(_mode(path)) or readers.supported(path)) for path in paths):
        return []
    for word, path in zip(words, paths, strict=True):
        if path is None or not _mode(path):
            raise UsageError(
                N_("There is no file {name}, and other words of the command are files."),
                N_("Check the spelling, or give a text and files in commands of their own."),
                name=word,
            )
    return [path for path in paths if path]


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0


def opened(path: Path, limits: Limits | None = None) -> CheckedSource:
    """Read a file: text, Markdown, HTML, PDF, Office, mail, or a scan; attachments are counted."""
    if S_ISDIR(_mode(path)):
        raise InputError(
            N_("{name} is a folder."), N_("Name the files in it."), name=one_line(str(path))
        )
    documents, omissions, within = list[Document](), Counter[tuple[str, bool]](), 0
    inside = f"{path.name}!"
    for outcome in readers.stream(path, limits=limits or Limits()):
        match outcome:
            case ReadFailure(source, problem):
                if not source.startswith(inside):
                    raise _naming(path, problem)
                omissions[_named(outcome), False] += 1
            case Document(source=source):
                if source.startswith(inside):
                    within += 1
                else:
                    documents.append(outcome)
            case PassedOver():
                omissions[_named(outcome), False] += 1
            case Omission():
                omissions[outcome.what, outcome.in_text] += outcome.count
    if len(documents) != 1 or documents[0].kind not in _FORMATS:
        raise InputError(
            N_("{name} is not one text to be checked."),
            N_("Checked are text, Markdown, HTML, PDF, files of Office, mail and scanned images."),
            name=path.name,
        )
    (document,) = documents
    omissions[N_("files inside it, not checked"), False] += within
    # Reports give line numbers of text files, so lines stay.
    is_plain = document.kind == "text" and path.suffix.lower() in _TEXT_FILES
    text = decode(path.read_bytes()) if is_plain else document.text
    pages = page_starts(document.metadata)
    named = tuple(Omission(what, n, in_text) for (what, in_text), n in omissions.items() if n)
    sure = _confidences(document)
    return _bounded(CheckedSource(path.name, document.kind, text, pages, named, sure))


def _named(unread: Unread) -> str:
    told = {"source": one_line(unread.source), "cause": unread.cause, "cure": unread.cure}
    return _("file inside it: {source} ({cause} {cure})").format(**told)


def _confidences(document: Document) -> tuple[float | None, ...]:
    by_page = {one.locator.page: one.locator.confidence for one in document.passages}
    if all(confidence is None for confidence in by_page.values()):
        return ()
    return tuple(by_page.get(page) for page in range(1, max(by_page) + 1))


def _naming(path: Path, problem: LocalragError) -> LocalragError:
    if not isinstance(problem, InputError) or path.name in problem.cause:
        return problem
    cure = problem.remedy if isinstance(problem.remedy, Fact) else N_("{cure}")
    told = {"name": path.name, "cause": problem.cause, "cure": problem.cure}
    return InputError(N_("{name}: {cause}"), cure, **told)


def _bounded(source: CheckedSource) -> CheckedSource:
    if len(source.text) > _LONGEST:
        raise InputError(
            N_("The text has {n:,} characters; checked are at most {most:,}."),
            N_("Split it."),
            n=len(source.text),
            most=_LONGEST,
        )
    return source


class Flow:
    """A text as read: letters closed, lines joined, citations spelled as in statutes."""

    def __init__(self, source: CheckedSource, names: LawNames) -> None:
        self.source = source
        read = PlainText(source.text)
        spelling = Spelling(read.text, list(read.offsets))
        spelling.rewrite(_RETURN, lambda _: "\n")
        spelling.replace_spans(spread_letters(spelling.text, names))
        if source.kind not in _WHOLE_LINES:
            spelling.rewrite(_RUNS_ON, _joined(spelling.text, names))
        spelling.rewrite(_GOES_ON, lambda _: "")
        spelling.rewrite(_NAME_IN_MARKS, _without_marks(names))
        spelling.replace_spans(articles_in_columns(spelling.text, names))
        spelling.replace_spans(_in_english(spelling.text, names))
        spelling.replace_spans(short_citations(spelling.text, names))
        spelling.replace_spans(_bare_numbers(spelling.text))
        spelling.rewrite(_CITED_ABOVE, lambda _: "同")
        self.text = spelling.text
        self._offsets = spelling.offsets
        self._lines = [0, *(match.end() for match in _LINE_BREAK.finditer(source.text))]

    def place(self, start: int, end: int) -> CheckedPlace:
        """Return the place of a span in the original."""
        first, last = original_span(self._offsets, start, end)
        while last > first and self.source.text[last - 1].isspace():
            # A blank after a spread letter is dropped.
            last -= 1
        line = bisect_right(self._lines, first)
        of_note = _NOTE.match(self.source.text, self._lines[line - 1])
        note = of_note[1] if of_note is not None and self.source.kind == "docx" else ""
        page = bisect_right(self.source.pages, first)
        known = self.source.confidences[max(page, 1) - 1 : max(page, 1)]
        return CheckedPlace(first, last, line, page, note, known[0] if known else None)

    def page_ends(self, place: CheckedPlace) -> tuple[int, ...]:
        """Return the page ends within a place, from its beginning."""
        pages = self.source.pages
        raw = self.source.text[place.start : place.end]
        begin = place.start + len(raw) - len(raw.lstrip())
        inside = pages[bisect_right(pages, begin) : bisect_left(pages, place.end)]
        return tuple(page - begin for page in inside)

    def written(self, place: CheckedPlace) -> str:
        """Return the original text of a place."""
        return self.source.text[place.start : place.end].strip()


def _bare_numbers(text: str) -> list[tuple[int, int, str]]:
    """Find 七〇九条 or 二項 without 第, and yield the character before which it belongs."""
    starts = [match.start() for match in _BARE.finditer(text)]
    starts += [match.end() - 1 for match in RUN_TOGETHER.finditer(text)]
    return [(at, at + 1, f"第{text[at]}") for at in sorted(starts)]


def _in_english(text: str, names: LawNames) -> list[tuple[int, int, str]]:
    """Yield English citations and their spelling in statutes, with titles."""
    found: list[tuple[int, int, str]] = []
    is_of_articles = {"1", "2"} <= set(_OWN_ENGLISH.findall(text))
    start = 0
    for line in text.split("\n"):
        if _ENGLISH.search(line):
            laws = {
                cited.start: _titled(cited.law, names)
                for cited in english_citations(line, laws_named(line, names))
                if cited.is_joined or (cited.is_in_sentence and not is_of_articles)
            }
            found += (
                (start + one.start, start + one.end, laws.get(one.start, "") + one.place)
                for one in english_places(line)
            )
        start += len(line) + 1
    return found


def _titled(law: LawNamed, names: LawNames) -> str:
    return names.title(law.law_ids[0]) if law.law_ids else f"{law.words}の"


def _without_marks(names: LawNames) -> Callable[[re.Match[str]], str]:
    """Remove marks around the name of a law; other words keep theirs."""
    return lambda marked: marked["name"] if names.lookup(marked["name"]) else marked[0]


def _joined(text: str, names: LawNames) -> Callable[[re.Match[str]], str]:
    def join(match: re.Match[str]) -> str:
        begin, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
        line = text[max(begin, match.start() - _LONGEST_NAME) : match.start()]
        following = text[match.end() : len(text) if end < 0 else end][:_LONGEST_NAME]
        if _NUMBERED_HEADING.fullmatch(line) or _are_listed(line, following, names):
            return match[0]
        if not _is_one_name(line, following, names):
            is_of_law = names.lookup(line.strip()) and _ARTICLE.match(following)
            if _stands_alone(line, following) and not is_of_law:
                return match[0]
            if any(not one.start and _is_known(one) for one in laws_named(following, names)):
                return " "
        return " " if _LATIN.match(line[-1]) and _LATIN.match(following) else ""

    return join


def _stands_alone(line: str, following: str) -> bool:
    """Whether a line is a heading or a label: its column has room left."""
    room = cell_len(following.rstrip()) * _ROOM_LEFT - cell_len(line.strip())
    is_label = _ENDS_A_LABEL.search(line) and not _OPEN.search(line)
    return bool(room > 0 and is_label and not _CONTINUES.match(following))


def _is_one_name(line: str, following: str, names: LawNames) -> bool:
    """Whether a law's name continues on the next line: 金融商品, 取引法."""
    named = laws_named(line + following, names)
    return any(one.start < len(line) < one.end and _is_known(one) for one in named)


def _is_known(name: LawNamed) -> bool:
    return bool(name.law_ids) or is_known_title(name.words)


def _are_listed(line: str, following: str, names: LawNames) -> bool:
    """Whether a law ends a line and another begins the next; 法 and 人税法 are one."""
    if _SHORT_ENDS.search(line) and _SHORT_BEGINS.match(following):
        return any(not start for start, _, _ in short_citations(following, names))
    if not (_CITED.search(line) or _LAW.fullmatch(line.strip()) or names.lookup(line.strip())):
        return False
    begins = _LAW.match(following) or any(not name.start for name in names.find_names(following))
    return bool(begins) and not _is_one_name(line, following, names)


_LAW_HEAD = "(?:根拠)?(?:法令|法律|法)(?:の?名称?)?"
_ARTICLE_HEAD = "(?:根拠)?(?:該当)?(?:条文?|条項|条数|条名)(?:の?番号)?"
_IS_LAW_HEAD, _IS_ARTICLE_HEAD = re.compile(_LAW_HEAD), re.compile(_ARTICLE_HEAD)
_HEAD = re.compile(r"(?P<head>[^：:\t|]{1,12})[：:] ?(?P<value>.+)")
# 724, 724条, 724-2, 766の2
_NUMBER = re.compile(
    r"第?(?P<article>[0-9０-９〇一二三四五六七八九十百千]{1,6})(?:\.0)?条?"
    r"(?P<branch>(?:[のー－-][0-9０-９一二三四五六七八九十]{1,3})*)"
)
_BRANCH = re.compile("[のー－-]")
_CELL = re.compile(r"[^\t|\n]+")


class _Value(NamedTuple):
    """A cell without blanks: its span, its words, and its header."""

    start: int
    end: int
    words: str
    head: str


def articles_in_columns(text: str, names: LawNames) -> list[tuple[int, int, str]]:
    """Return the cells with article numbers, and the citation of each."""
    found: list[tuple[int, int, str]] = []
    columns: tuple[int, int] | None = None
    start = 0
    for line in text.split("\n"):
        cells = list(_values(line, start)) if "\t" in line or "|" in line else []
        start += len(line) + 1
        if not cells:
            columns = None
            continue
        columns = _columns([cell.head or cell.words for cell in cells]) or columns
        if columns is None or max(columns) >= len(cells):
            continue
        law, article = (cells[at] for at in columns)
        number = _NUMBER.fullmatch(article.words)
        if number and names.lookup(law.words):
            branch = _BRANCH.sub("の", number["branch"])
            written = f"{law.words}第{number['article']}条{branch}"
            found.append((article.start, article.end, written))
    return found


def _values(line: str, offset: int) -> Iterator[_Value]:
    for cell in _CELL.finditer(line):
        words = cell[0].strip(" 　")
        if not words:
            continue
        start = offset + cell.start() + cell[0].index(words)
        head = _HEAD.fullmatch(words)
        if head:
            yield _Value(
                start + head.start("value"), start + len(words), head["value"], head["head"]
            )
        else:
            yield _Value(start, start + len(words), words, "")


def _columns(heads: list[str]) -> tuple[int, int] | None:
    for at, (first, second) in enumerate(pairwise(heads)):
        if _IS_LAW_HEAD.fullmatch(first) and _IS_ARTICLE_HEAD.fullmatch(second):
            return at, at + 1
    return None


_KANJI = "一-鿿々"
_DIGIT = "0-9０-９"
_LETTER = f"[{_KANJI}〇ぁ-ゖァ-ヺー{_DIGIT}（）「」『』〔〕、。・]"
_BLANKS = "[ 　]{1,4}"
_ROW = re.compile(f"{_LETTER}(?:{_BLANKS}{_LETTER})+")
_STEP = re.compile(f"(?P<blanks>{_BLANKS})(?P<letter>{_LETTER})")
_IS_DIGIT = re.compile(f"[{_DIGIT}]")
_IS_KANJI = re.compile(f"[{_KANJI}]")
# This many single letters make a row; fewer need a name or a number.
_LEAST = 4
_COUNTERS = "条條項号年月日編章節款週時分秒円万億人歳"
_BEFORE_NUMBER = "第法令則例律条條項号の"
# 労 働 基 準 法第20条: the next word continues the row.
_BEGINS_ON = re.compile(f"[第{_COUNTERS}]|[^{_KANJI}]")
# 第 2 0 条 損 害 賠 償: a new word, unless it continues the citation (第 1 項, 及 び).
_CITED_NUMBER = re.compile(f"[{_DIGIT}〇一二三四五六七八九十百千][条條項号]")
_CONTINUES_CITED = re.compile(f"[第項号但本前後柱各及又並若乃以参違所準類関等]|[^{_KANJI}{_DIGIT}]")
_AROUND = 60


class _SpreadRow(NamedTuple):
    letters: str  # the first may end a word, the last may begin one
    blanks: tuple[tuple[int, int], ...]
    before: str  # before, after: the adjacent characters; "" for a blank
    after: str

    @property
    def singles(self) -> int:
        return len(self.letters) - bool(self.before) - bool(self.after)


def spread_letters(text: str, names: LawNames) -> list[tuple[int, int, str]]:
    """Return the blanks between spread letters, and their replacements, in order."""
    return [edit for row in _rows(text) for edit in _closed(row, text, names)]


def _rows(text: str) -> Iterator[_SpreadRow]:
    for match in _ROW.finditer(text):
        start, end = match.span()
        steps = list(_STEP.finditer(text, start + 1, end))
        letters = text[start] + "".join(step["letter"] for step in steps)
        before, after = text[start - 1 : start], text[end : end + 1]
        yield _SpreadRow(
            letters,
            tuple(step.span("blanks") for step in steps),
            before.strip(),
            after.strip(),
        )


def _closed(row: _SpreadRow, text: str, names: LawNames) -> Iterator[tuple[int, int, str]]:
    counted = _counted(row)
    is_row = row.singles >= _LEAST and any(map(_IS_KANJI.match, row.letters))
    name = 0 if is_row else _name_within(row, names)
    if not (is_row or counted or name):
        return
    widths = [cell_len(text[start:end]) for start, end in row.blanks]
    counts = Counter(widths)
    usual = min(width for width, count in counts.items() if count == max(counts.values()))
    for at, (start, end) in enumerate(row.blanks):
        digits = {place for place in (at, at + 1) if _IS_DIGIT.match(row.letters[place])}
        if _ends_a_citation(row, at):
            closes = False
        elif digits:
            closes = digits <= counted
        elif is_row:
            closes = _joins(row, at, text, names)
        else:
            closes = at + 1 < name
        if closes and widths[at] <= usual:
            yield start, end, ""
        elif is_row and end - start > 1:
            yield start, end, " "


def _counted(row: _SpreadRow) -> set[int]:
    """Return the digits with a counter: 2 and 0 of 第 2 0 条."""
    found: set[int] = set()
    letters = row.letters
    for number in re.finditer(f"[{_DIGIT}]+", letters):
        start, end = number.span()
        behind = letters[end : end + 1] or row.after
        ahead = letters[start - 1 : start] if start else row.before
        # 第1 2条 may be two words: 第1 is a heading.
        is_cut = (not start and bool(row.before)) or (end == len(letters) and bool(row.after))
        if is_cut and end - start < 3:
            continue
        is_spread = row.singles >= _LEAST or ahead in _BEFORE_NUMBER
        if behind and behind in _COUNTERS and is_spread:
            found |= set(range(start, end))
    return found


def _name_within(row: _SpreadRow, names: LawNames) -> int:
    """Return the length of a law's name at the beginning of a short row: 民　法第709条."""
    if row.singles >= _LEAST or (row.before and _IS_KANJI.match(row.before)):
        return 0
    for size in range(len(row.letters), 1, -1):
        goes_on = row.letters[size : size + 1] or row.after
        name = row.letters[:size]
        is_whole = not goes_on or _BEGINS_ON.match(goes_on)
        if is_whole and (names.lookup(name) or is_known_title(name)):
            return size
    return 0


def _ends_a_citation(row: _SpreadRow, at: int) -> bool:
    """Whether a blank ends a citation and a word or number follows."""
    is_cited = _CITED_NUMBER.fullmatch(row.letters[max(0, at - 1) : at + 1])
    return bool(is_cited) and not _CONTINUES_CITED.match(row.letters[at + 1])


def _joins(row: _SpreadRow, at: int, text: str, names: LawNames) -> bool:
    """Whether the letters around a blank belong to one word."""
    last = len(row.blanks) - 1
    if at == 0 and row.before and _IS_KANJI.match(row.before) and _IS_KANJI.match(row.letters):
        return _goes_on_as_name(row, at, text, names)
    is_end = at == last and row.after and _IS_KANJI.match(row.letters[-1])
    if is_end and row.letters[-1] not in _COUNTERS and not _BEGINS_ON.match(row.after):
        return _goes_on_as_name(row, at, text, names)
    return True


def _goes_on_as_name(row: _SpreadRow, at: int, text: str, names: LawNames) -> bool:
    """Whether a law's name continues across a blank at an end: 労 働 基準法."""
    start, end = row.blanks[at]
    first, last = row.blanks[0][0], row.blanks[-1][1]
    floor = max(0, first - _AROUND) if at == 0 else max(first - 1, end - 4 * _AROUND)
    before = text[floor:start].replace(" ", "").replace("　", "")
    behind = text[end : (start + 4 * _AROUND if at == 0 else last + _AROUND)]
    behind = behind.partition("\n")[0].replace(" ", "").replace("　", "")
    joined = before.rpartition("\n")[2] + behind
    cut = len(joined) - len(behind)
    return any(
        name.start < cut < name.end and (name.law_ids or is_known_title(name.words))
        for name in laws_named(joined, names)
    )

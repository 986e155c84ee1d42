"""The text that is checked: read from a file or given, and how its lines flow together."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from rich.cells import cell_len

from localrag.check.article_columns import articles_in_columns
from localrag.check.spread import spread_letters
from localrag.check.types import Place
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
from localrag.search.question.english_citations import english_citations, english_places
from localrag.search.question.laws import LawNamed, is_known_title, laws_named
from localrag.text.facts import Fact
from localrag.text.folding import Spelling
from localrag.text.harmless import one_line
from localrag_indexes.analysis.normalize import FORMAL_NUMERALS, PlainText, original_span

# Formats in which a line is a whole paragraph; in the others a sentence may go on in the next one.
_WHOLE_LINES = ("docx", "html", "pdf", "image", "xlsx", "pptx", "csv", "eml", "msg")
_FORMATS = (*_WHOLE_LINES, "text", "markdown")
_TEXT_FILES = (".txt", ".text")
# How the reader of Word files begins a footnote or an endnote.
_NOTE = re.compile("((?:文末)?注[^　\n]{1,8})　")
_LONGEST = 5_000_000
_LONGEST_NAME = 1_000
# Not `corpus.readers.flowing`: that one needs a common width, and a text that is pasted has none.
# Here the names of laws say whether a line goes on, and a citation that is cut is found whole.
# A line ends by itself after a sentence, a heading or a caption, and before an item, a quotation
# or a label (相続：).
_RUNS_ON = re.compile(
    r"(?<=[^。．.!?！？:：」』）)\]|#>\s])[ \t]*\n[ \t　]*"
    r"(?=[^\s#>|\-*+・○●◎■□◆◇▼▽※（(「『①-⑳])"
    r"(?!(?:第[ 　]?)?[0-9０-９〇一二三四五六七八九十百]+(?:[条章節編款][ 　（(\n]|[.)．）、　\t]))"
    r"(?![^\s。、，：:]{1,10}[：:])"
)
# A break within a paragraph of HTML or Word: behind a comma no sentence ends.
_GOES_ON = re.compile(
    r"(?<=[、，])[ \t　]*\n[ \t　]*(?=[^\s#>|\-*+・○●◎■□◆◇▼▽※（(①-⑳\t][^\t|\n]*(?:\n|$))"
)
# 『民法』第709条
_NAME_IN_MARKS = re.compile(
    "[「『【〔“](?P<name>[^「」『』【】〔〕“”。、\n]{1,60})[」』】〕”](?=第?[0-9０-９〇一二三四五六七八九十百千]+条)"
)
# 民法第709条 and, in the next line, 会社法第8条: a list, for no sentence has them side by side.
_CITED = re.compile("[条項号](?:の[0-9０-９〇一二三四五六七八九十]+)*$")
_LAW = re.compile(r"(?!施行)[一-鿿ァ-ヶー]{1,60}?[法令則例](?=第|[0-9０-９]|[（(\s]|$)")
# 民109③ and, in the next line, 刑36①
_SHORT_ENDS = re.compile("[条項号書0-9０-９①-⑳]$")
_SHORT_BEGINS = re.compile("[一-鿿ァ-ヶーA-Za-z]{1,20}[0-9０-９]")
# 第1　争点, (2) 請求の趣旨, 事件名 1: a heading or a row, which no sentence goes on from.
_NUMBERED_HEADING = re.compile(
    r".*[一-鿿ぁ-ゖァ-ヶー](?<!第)[ 　\t][0-9０-９]{1,4}"
    r"|[ 　\t]*(?:第?[ 　]?[0-9０-９一二三四五六七八九十]{1,3}[ 　\t.．、]|[①-⑳]|[ア-ン][ 　\t]"
    r"|[（(][0-9０-９一二三四五六七八九十ア-ンa-z]{1,2}[)）])[^。、，]{1,25}"
)
# Courts leave out 第 where the number is in kanji, too: 七〇九条, 一条二項, 四条及び五条.
# 三条市 and 四条通 are places, 全三条 and 五か条 are counted; 七〇九 is a number of nothing else.
_KANJI_DIGIT = "〇零一二三四五六七八九"
_NOT_BEFORE = rf"(?<![第前次全数計約各箇か{_KANJI_DIGIT}{FORMAL_NUMERALS}零十百千万億0-9０-９.．])"
_GOES_ON_AS_CITED = (
    "(?![一-鿿])|(?=[項号但本前後柱各及又並若乃以参違所準類関等]"
    "|第?[一二三四五六七八九十]{1,3}[項号])"
)
_BARE = re.compile(
    rf"{_NOT_BEFORE}(?:[{_KANJI_DIGIT}]{{2,}}+[条條](?![例約理件文])"
    rf"|[一二三四五六七八九十百千万億]++[条條](?:{_GOES_ON_AS_CITED}))"
    # Right behind an article (七〇九条二項) it needs none.
    rf"|{_NOT_BEFORE}(?<![の条條])(?:[一二三四五六七八九十]{{1,3}}|[0-9０-９]{{1,2}})項(?:{_GOES_ON_AS_CITED})"
    rf"|(?:(?<=号[、，・と{DASHES}])|(?<=号(?:及び|又は|から|より|乃至))|(?<=号並びに)"
    r"|(?<=号(?:および|または|ないし)))[一二三四五六七八九十]{1,3}号"
)
# 一八四条の二二項 is 第百八十四条の二第二項: a branch has no 項. Where a longer number is to be
# cut, the law tells (`localrag.check.citations`); here the last digit is the paragraph.
_BRANCH_DIGIT = f"{_KANJI_DIGIT}十0-9０-９"
RUN_TOGETHER = re.compile(
    rf"[条條](?:[のノ][{_BRANCH_DIGIT}]{{1,3}})*?[のノ]"
    rf"(?P<run>[{_BRANCH_DIGIT}]{{1,4}}[一二三四五六七八九十1-9１-９])(?=(?P<level>[項号]))"
)
"""A branch of an article and its paragraph, or item, as one number."""
# 前掲法7条, 上記条項: courts call so what others call 同法.
_CITED_ABOVE = re.compile("(?:前掲|前記|上記)の?(?=[法条項](?![律令定則規人件文目]))")
# A label ends in a noun or a number; だけ, 及び and は go on.
_ENDS_A_LABEL = re.compile("(?:[一-鿿々ァ-ヶー](?<!及)|[0-9０-９])[ 　]*$")
_CONTINUES = re.compile("[はがをにのへ]|第?[ 　]?[0-9０-９一二三四五六七八九十]{1,3}[項号]")
# 渡し舟法 and, below it, 第8条は: an article of that law.
_ARTICLE = re.compile("[ 　]*第?[ 　]?[0-9０-９〇一二三四五六七八九十百千]{1,7}[条條]")
_OPEN = re.compile("「[^」]*$|（[^）]*$")
# A column that is this much narrower than the next line was not filled.
_ROOM_LEFT = 0.6
_LATIN = re.compile("[A-Za-z0-9,;]")
_RETURN = re.compile("\r\n?")
_LINE_BREAK = re.compile("\r\n?|\n")
# A contract, which means its own by a bare Article 5.
_OWN_ENGLISH = re.compile(r"^[ \t]*(?:#+ *)?\**Article (\d{1,3})\b", re.IGNORECASE | re.MULTILINE)
_ENGLISH = re.compile("(?<![A-Za-z])Art", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Source:
    """A text to be checked.

    Attributes:
        name: of the file; "" for text that was given as such.
        kind: its format, as of a document of a corpus.
        text: all of it.
        pages: where each page begins, in characters; empty where pages are unknown.
        omissions: what of the file is not in the text, or needs a word; the report names it.
        confidences: how sure OCR is of the characters of each page, from 0 to 1; None for a page
            that has its own text; empty where all have.
    """

    name: str
    kind: str
    text: str
    pages: tuple[int, ...] = ()
    omissions: tuple[Omission, ...] = ()
    confidences: tuple[float | None, ...] = ()


def given(text: str) -> Source:
    """Text that was given as such.

    Raises:
        UsageError: it is empty.
        InputError: it is longer than can be checked.
    """
    if not text.strip():
        raise UsageError(
            N_("There is no text to check."), N_("Name a file, or give the text itself.")
        )
    return _bounded(Source("", "text", text))


def named_file(text: str) -> Path | None:
    """The file that somebody names where a text may stand, too; None where it is the text itself.

    What looks like the name of a file and is none is still taken for one, so that it is told; so is
    what lies in a folder that may not be entered.
    """
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
    """The files that the words of a command name; none where they are the text itself.

    A name with blanks that nobody quoted is one file.

    Raises:
        UsageError: one of several words is a file, and another one is not.
    """
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
    """What a path is (`stat`); 0 where there is nothing, or it may not be known."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0


def opened(path: Path, limits: Limits | None = None) -> Source:
    """Read a text file, Markdown, HTML, PDF, a file of Office, a message or a scanned image.

    Of a file that holds others (a mail with attachments) its own text is checked. The others are
    counted among the omissions; those that cannot be read are named there with their cure.

    Raises:
        InputError: it cannot be read, or is of another format.
    """
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
    omissions[N_("files inside it, which were not checked"), False] += within
    # Of a text file the lines are told, so they stay as they are.
    is_plain = document.kind == "text" and path.suffix.lower() in _TEXT_FILES
    text = decode(path.read_bytes()) if is_plain else document.text
    pages = page_starts(document.metadata)
    named = tuple(Omission(what, n, in_text) for (what, in_text), n in omissions.items() if n)
    sure = _confidences(document)
    return _bounded(Source(path.name, document.kind, text, pages, named, sure))


def _named(unread: Unread) -> str:
    told = {"source": one_line(unread.source), "cause": unread.cause, "cure": unread.cure}
    return _("file inside it: {source} ({cause} {cure})").format(**told)


def _confidences(document: Document) -> tuple[float | None, ...]:
    by_page = {one.locator.page: one.locator.confidence for one in document.passages}
    if all(confidence is None for confidence in by_page.values()):
        return ()
    return tuple(by_page.get(page) for page in range(1, max(by_page) + 1))


def _naming(path: Path, problem: LocalragError) -> LocalragError:
    """Why a file cannot be read, with its name: readers leave that to who tells of many files."""
    if not isinstance(problem, InputError) or path.name in problem.cause:
        return problem
    cure = problem.remedy if isinstance(problem.remedy, Fact) else N_("{cure}")
    told = {"name": path.name, "cause": problem.cause, "cure": problem.cure}
    return InputError(N_("{name}: {cause}"), cure, **told)


def _bounded(source: Source) -> Source:
    if len(source.text) > _LONGEST:
        raise InputError(
            N_("The text has {n:,} characters; checked are at most {most:,}."),
            N_("Split it."),
            n=len(source.text),
            most=_LONGEST,
        )
    return source


class Flow:
    """A text as it is read: plain characters, no blanks between spread letters, joined lines.

    Citations are written out as statutes write them.

    Attributes:
        text: as it is read; a line that ends in it ends a sentence.
        source: what is checked.
    """

    def __init__(self, source: Source, names: LawNames) -> None:
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

    def place(self, start: int, end: int) -> Place:
        """Where a span of the flowing text stands in what is checked."""
        first, last = original_span(self._offsets, start, end)
        while last > first and self.source.text[last - 1].isspace():
            # A blank behind a spread letter is no part of it.
            last -= 1
        line = bisect_right(self._lines, first)
        of_note = _NOTE.match(self.source.text, self._lines[line - 1])
        note = of_note[1] if of_note is not None and self.source.kind == "docx" else ""
        page = bisect_right(self.source.pages, first)
        known = self.source.confidences[max(page, 1) - 1 : max(page, 1)]
        return Place(first, last, line, page, note, known[0] if known else None)

    def page_ends(self, place: Place) -> tuple[int, ...]:
        """Where pages end within what is written at a place, counted from its beginning."""
        pages = self.source.pages
        raw = self.source.text[place.start : place.end]
        begin = place.start + len(raw) - len(raw.lstrip())
        inside = pages[bisect_right(pages, begin) : bisect_left(pages, place.end)]
        return tuple(page - begin for page in inside)

    def written(self, place: Place) -> str:
        """What stands at a place."""
        return self.source.text[place.start : place.end].strip()


def _bare_numbers(text: str) -> list[tuple[int, int, str]]:
    """Where running text has 七〇九条 or 二項 for 第七〇九条, 第二項: what is to be put in there.

    Spans of one character, in order, and what statutes write in its place: it with 第 before it.
    """
    starts = [match.start() for match in _BARE.finditer(text)]
    starts += [match.end() - 1 for match in RUN_TOGETHER.finditer(text)]
    return [(at, at + 1, f"第{text[at]}") for at in sorted(starts)]


def _in_english(text: str, names: LawNames) -> list[tuple[int, int, str]]:
    """Citations in English and how statutes write them, with the titles of their laws."""
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
    """The name of a law without the marks around it; other words keep theirs."""
    return lambda marked: marked["name"] if names.lookup(marked["name"]) else marked[0]


def _joined(text: str, names: LawNames) -> Callable[[re.Match[str]], str]:
    """What stands between two lines that are one: a blank between Latin words, else nothing."""

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
    """Whether a line is a heading or a label: no column broke it where so much room was left.

    設立 and, below it, 刑法第199条は、人を殺した者について定める。
    """
    room = cell_len(following.rstrip()) * _ROOM_LEFT - cell_len(line.strip())
    is_label = _ENDS_A_LABEL.search(line) and not _OPEN.search(line)
    return bool(room > 0 and is_label and not _CONTINUES.match(following))


def _is_one_name(line: str, following: str, names: LawNames) -> bool:
    """Whether the name of a law goes on from one line to the other: 金融商品, 取引法."""
    named = laws_named(line + following, names)
    return any(one.start < len(line) < one.end and _is_known(one) for one in named)


def _is_known(name: LawNamed) -> bool:
    return bool(name.law_ids) or is_known_title(name.words)


def _are_listed(line: str, following: str, names: LawNames) -> bool:
    """Whether a law or a citation ends a line and the name of a law begins the next.

    A name that goes on from one to the other is one: 法 and, below it, 人税法.
    """
    if _SHORT_ENDS.search(line) and _SHORT_BEGINS.match(following):
        return any(not start for start, _, _ in short_citations(following, names))
    if not (_CITED.search(line) or _LAW.fullmatch(line.strip()) or names.lookup(line.strip())):
        return False
    begins = _LAW.match(following) or any(not name.start for name in names.find_names(following))
    return bool(begins) and not _is_one_name(line, following, names)

"""The text that is checked: read from a file or given, and how its lines flow together."""

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from localrag.check.types import Place
from localrag.corpus import readers
from localrag.corpus.readers import Limits, ReadFailure
from localrag.corpus.types import Document
from localrag.errors import InputError, UsageError
from localrag.language import N_
from localrag.question.laws import english_citations, laws_named
from localrag.reading.folding import Spelling
from localrag.statutes.names import LawNames
from localrag.statutes.typed import short_citations
from localrag_indexes.analysis.normalize import original_span

# Formats in which a line is a whole paragraph; in the others a sentence may go on in the next one.
_WHOLE_LINES = ("docx", "html")
_FORMATS = (*_WHOLE_LINES, "text", "markdown", "pdf")
_LONGEST = 5_000_000
_LONGEST_NAME = 1_000
# A line ends by itself after a sentence, a heading or a caption, and before an item or a quotation.
_RUNS_ON = re.compile(
    r"(?<=[^。．.!?！？:：」』）)\]|#>\s])[ \t]*\n[ \t　]*"
    r"(?=[^\s#>|\-*+・○●◎■□◆◇▼▽※（(「『①-⑳])"
    r"(?!(?:第[ 　]?)?[0-9０-９〇一二三四五六七八九十百]+(?:[条章節編款][ 　（(\n]|[.)．）、　\t]))"
)
# 民法第709条 and, in the next line, 会社法第8条: a list, for no sentence has them side by side.
_CITED = re.compile("[条項号](?:の[0-9０-９〇一二三四五六七八九十]+)*$")
_LAW = re.compile(r"(?!施行)[一-鿿ァ-ヶー]{1,60}?[法令則例](?=第|[0-9０-９]|[（(\s]|$)")
# 第1　争点, (2) 請求の趣旨: a heading, which no sentence goes on from.
_NUMBERED_HEADING = re.compile(
    r"[ 　\t]*(?:第?[ 　]?[0-9０-９一二三四五六七八九十]{1,3}[ 　\t.．、]|[①-⑳]|[ア-ン][ 　\t]"
    r"|[（(][0-9０-９一二三四五六七八九十ア-ンa-z]{1,2}[)）])[^。、，]{1,25}"
)
_LATIN = re.compile("[A-Za-z0-9,;]")
_ENGLISH = re.compile(r"\bArt", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Source:
    """A text to be checked.

    Attributes:
        name: of the file; "" for text that was given as such.
        kind: its format, as of a document of a corpus.
        text: all of it.
        pages: where each page begins, in characters; empty where pages are unknown.
    """

    name: str
    kind: str
    text: str
    pages: tuple[int, ...] = ()


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

    What looks like the name of a file and is none is still taken for one, so that it is told.
    """
    if not text.strip() or "\n" in text or len(text) > _LONGEST_NAME:
        return None
    path = Path(text)
    looks_like_one = readers.supported(path) and not any(sign in text for sign in "。、 　「」")
    try:
        return path if looks_like_one or path.exists() else None
    except (OSError, ValueError):
        return None


def opened(path: Path, limits: Limits | None = None) -> Source:
    """Read a text file, Markdown, HTML, DOCX or PDF.

    Raises:
        InputError: it cannot be read, or is of another format.
    """
    outcomes = list(readers.read(path, limits=limits or Limits()))
    for outcome in outcomes:
        if isinstance(outcome, ReadFailure):
            raise outcome.problem
    documents = [one for one in outcomes if isinstance(one, Document) and one.kind in _FORMATS]
    if len(documents) != 1 or len(outcomes) != 1:
        raise InputError(
            N_("{name} is not one text to be checked."),
            N_("Checked are text files, Markdown, HTML, DOCX and PDF."),
            name=path.name,
        )
    (document,) = documents
    pages: dict[int, int] = {}
    for passage in document.passages:
        if passage.locator.page:
            pages.setdefault(passage.locator.page, passage.start)
    begun = tuple(pages.get(page, 0) for page in range(1, max(pages, default=0) + 1))
    return _bounded(Source(path.name, document.kind, document.text, _rising(begun)))


def _bounded(source: Source) -> Source:
    if len(source.text) > _LONGEST:
        raise InputError(
            N_("The text has {n:,} characters; checked are at most {most:,}."),
            N_("Split it."),
            n=len(source.text),
            most=_LONGEST,
        )
    return source


def _rising(starts: tuple[int, ...]) -> tuple[int, ...]:
    """Where pages begin; one without text begins with the next."""
    rising = list(starts)
    for at in range(len(rising) - 2, 0, -1):
        rising[at] = rising[at] or rising[at + 1]
    return tuple(rising)


class Flow:
    """A text as it is read: lines that go on in the next one joined, citations written out.

    Attributes:
        text: as it is read; a line that ends in it ends a sentence.
        source: what is checked.
    """

    def __init__(self, source: Source, names: LawNames) -> None:
        self.source = source
        spelling = Spelling(source.text, list(range(len(source.text) + 1)))
        if source.kind not in _WHOLE_LINES:
            spelling.rewrite(_RUNS_ON, _joined(spelling.text, names))
        spelling.replace_spans(_in_english(spelling.text, names))
        spelling.replace_spans(short_citations(spelling.text, names))
        self.text = spelling.text
        self._offsets = spelling.offsets
        self._lines = [0, *(match.end() for match in re.finditer("\n", source.text))]

    def place(self, start: int, end: int) -> Place:
        """Where a span of the flowing text stands in what is checked."""
        first, last = original_span(self._offsets, start, end)
        line = bisect_right(self._lines, first)
        return Place(first, last, line, bisect_right(self.source.pages, first))

    def written(self, place: Place) -> str:
        """What stands at a place."""
        return self.source.text[place.start : place.end].strip()


def _in_english(text: str, names: LawNames) -> list[tuple[int, int, str]]:
    """Citations in English and how statutes write them, with the titles of their laws."""
    found = []
    start = 0
    for line in text.split("\n"):
        if _ENGLISH.search(line):
            for cited in english_citations(line, laws_named(line, names)):
                at = start + cited.start
                title = names.title(cited.law.law_ids[0]) if cited.law.law_ids else cited.law.words
                found.append((at, at + len(cited.words), title + cited.place))
        start += len(line) + 1
    return found


def _joined(text: str, names: LawNames) -> Callable[[re.Match[str]], str]:
    """What stands between two lines that are one: a blank between Latin words, else nothing."""

    def join(match: re.Match[str]) -> str:
        begin, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
        line = text[max(begin, match.start() - _LONGEST_NAME) : match.start()]
        following = text[match.end() : len(text) if end < 0 else end][:_LONGEST_NAME]
        if _NUMBERED_HEADING.fullmatch(line) or _are_listed(line, following, names):
            return match[0]
        return " " if _LATIN.match(line[-1]) and _LATIN.match(following) else ""

    return join


def _are_listed(line: str, following: str, names: LawNames) -> bool:
    """Whether a law or a citation ends a line and the name of a law begins the next.

    A name that goes on from one to the other is one: 法 and, below it, 人税法.
    """
    if not (_CITED.search(line) or _LAW.fullmatch(line.strip()) or names.lookup(line.strip())):
        return False
    begins = _LAW.match(following) or any(not name.start for name in names.find_names(following))
    whole = names.find_names(line + following)
    return bool(begins) and not any(name.start < len(line) < name.end for name in whole)

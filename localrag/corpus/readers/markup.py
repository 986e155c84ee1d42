"""Plain text, Markdown and HTML."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from lxml import etree
from lxml import html as lxml_html

from localrag.corpus.readers.bounds import MARKDOWN, MARKUP, TEXT, check_memory
from localrag.corpus.readers.flowing import unwrapped
from localrag.corpus.readers.prose import SectionHeading, TextBuilder, prose
from localrag.corpus.readers.text import brief, decode, drop_controls, stem
from localrag.corpus.readers.types import Limits, omitted
from localrag.corpus.types import Document
from localrag.errors import InputError
from localrag.language import N_


def read_plain_text(name: str, data: bytes, limits: Limits) -> Iterator[Document]:
    """Read a text file as one document; wrapped lines are joined and counted."""
    check_memory(data, TEXT, limits)
    printed = decode(data)
    text = unwrapped(printed)
    joined = printed.count("\n") - text.count("\n")
    yield prose(
        id_=name, kind="text", text=text, metadata={"lines_joined": str(joined)} if joined else {}
    )


if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_FRONT_MATTER = re.compile(r"---\n.*?^---\n", re.DOTALL | re.MULTILINE)


def read_markdown(name: str, data: bytes, limits: Limits) -> Iterator[Document]:
    """Read a Markdown file as one document; front matter is not searched."""
    check_memory(data, MARKDOWN, limits)
    text = decode(data)
    front_matter = _FRONT_MATTER.match(text)
    begin = front_matter.end() if front_matter else 0
    headings = list(_headings(text, begin))
    title = brief(next((h.title for h in headings if h.depth == 1), "")) or stem(name)
    yield prose(id_=name, title=title, kind="markdown", text=text, headings=headings, begin=begin)


_LONGEST_HEADING = 1_000


def _headings(text: str, begin: int) -> Iterator[SectionHeading]:
    from markdown_it import MarkdownIt

    # The parser ends lines only at newlines; str.splitlines at more characters.
    starts = [begin, *(match.end() for match in re.compile("\n").finditer(text, begin))]
    starts.append(len(text))
    # Inline markup matters only in headings.
    parser = MarkdownIt("commonmark").disable("inline")
    tokens = parser.parse(text[begin:])
    for opening, content in pairwise(tokens):
        # Headings inside quotations and lists are no headings of the document.
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            first, last = opening.map
            title = _printed(parser, content.content)
            yield SectionHeading(int(opening.tag[1:]), title, starts[first], starts[last])


def _printed(parser: "MarkdownIt", heading: str) -> str:
    """A heading as printed; very long ones stay as written."""
    if len(heading) > _LONGEST_HEADING:
        return heading.strip()
    (inline,) = parser.enable("inline").parseInline(heading)
    parser.disable("inline")
    return "".join(child.content for child in inline.children or ()).strip()


_DECLARED = re.compile(rb"<meta[^>]*charset\s*=\s*[\"']?([\w-]+)|<\?xml[^>]*encoding=[\"']([\w-]+)")
_DROPPED = frozenset(
    ["head", "script", "style", "nav", "noscript", "template", "iframe", "object", "svg", "button"]
)
_HEADINGS = {f"h{n}": n for n in range(1, 7)}
_INLINE = frozenset(
    [
        *("a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em"),
        *("font", "i", "img", "input", "ins", "kbd", "label", "mark", "q", "ruby", "rb", "s"),
        *("samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var"),
        "wbr",
    ]
)
_RUBY = frozenset(["rt", "rp"])
_SPACES = re.compile(r"[ \t\n]+")
_UNSHOWN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\b")
_HIDDEN = N_("hidden texts")
_READINGS = N_("ruby readings")
_PICTURES = N_("pictures")
_NO_SCRIPTS = N_("texts for browsers without scripts")


def read_html(name: str, data: bytes, limits: Limits) -> Iterator[Document]:
    """Read a page as one document, without scripts, styles and navigation.

    Hidden text, ruby readings and undescribed pictures are counted.
    """
    check_memory(data, MARKUP, limits)
    declared = _DECLARED.search(data[:4096])
    encoding = next((g for g in declared.groups() if g), b"").decode() if declared else ""
    markup = decode(data, encoding)
    parser = lxml_html.HTMLParser(encoding="utf-8", remove_comments=True, huge_tree=True)
    root = lxml_html.document_fromstring(markup.encode(errors="replace"), parser=parser)
    if any("depth" in entry.message for entry in parser.error_log):
        raise InputError(N_("The page is nested too deeply."), N_("Save it again as simple HTML."))
    page = _Page()
    written = page.read(root)
    if not written.text.strip():
        raise InputError(
            N_("The page holds no text."), N_("Save it from the browser after it has loaded.")
        )
    title = brief(_collapsed(root.findtext(".//title") or "")) or stem(name)
    yield prose(
        id_=name,
        title=title,
        kind="html",
        text=written.text,
        headings=written.headings,
        omissions=omitted(page.left_out),
    )


class _Page:
    """Writes the text of a page: a line per block, table cells separated by tabs."""

    def __init__(self) -> None:
        self.left_out = Counter[str]()
        self._written = TextBuilder()
        self._line: list[str] = []
        self._preformatted = 0

    def read(self, root: etree._Element) -> TextBuilder:
        walk = etree.iterwalk(root, events=("start", "end"))
        for event, element in walk:
            tag = element.tag if isinstance(element.tag, str) else ""
            is_dropped = tag in _DROPPED or tag in _RUBY or _is_hidden(element)
            if event == "start":
                if is_dropped:
                    self._leave_out(element, tag)
                    walk.skip_subtree()
                    continue
                self._open(tag)
                self._write(self._described(element) if tag == "img" else element.text)
            else:
                if not is_dropped:
                    self._close(tag)
                self._write(element.tail)
        self._end_line()
        return self._written

    def _leave_out(self, element: etree._Element, tag: str) -> None:
        """Count parts a reader of the page would miss."""
        what = {"rt": _READINGS, "noscript": _NO_SCRIPTS}.get(tag)
        if what is None and tag not in _DROPPED and tag not in _RUBY:
            what = _HIDDEN
        if what and any(text.strip() for text in element.itertext()):
            self.left_out[what] += 1

    def _described(self, picture: etree._Element) -> str:
        alt = _collapsed(picture.get("alt", ""))
        if not alt and picture.get("alt") is None:
            # An empty description marks an ornament.
            self.left_out[_PICTURES] += 1
        return f"[{alt}]" if alt else ""

    def _open(self, tag: str) -> None:
        if tag == "pre":
            self._preformatted += 1
        if tag in ("td", "th"):
            if "".join(self._line).strip():
                self._line.append("\t")
        elif tag not in _INLINE:
            self._end_line()

    def _close(self, tag: str) -> None:
        if tag in _HEADINGS:
            self._end_line(_HEADINGS[tag])
        elif tag not in _INLINE and tag not in ("td", "th"):
            self._end_line()
        if tag == "pre":
            self._preformatted -= 1

    def _write(self, text: str | None) -> None:
        if text:
            text = drop_controls(text)
            self._line.append(text if self._preformatted else _SPACES.sub(" ", text))

    def _end_line(self, depth: int = 0) -> None:
        line = "".join(self._line).strip(" \n")
        self._line.clear()
        if line:
            self._written.add(line, depth, _collapsed(line) if depth else "")


def _is_hidden(element: etree._Element) -> bool:
    if element.get("hidden") is not None:
        return True
    return _UNSHOWN.search(element.get("style", "").lower()) is not None


def _collapsed(text: str) -> str:
    return _SPACES.sub(" ", drop_controls(text)).strip()

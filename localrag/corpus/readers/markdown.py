"""Markdown files (CommonMark)."""

import re
from collections.abc import Iterator
from itertools import pairwise

from localrag.corpus.readers.decoding import decode
from localrag.corpus.readers.naming import brief, stem
from localrag.corpus.readers.prose import Heading, prose
from localrag.corpus.readers.types import Limits
from localrag.corpus.types import Document

_FRONT_MATTER = re.compile(r"---\n.*?^---\n", re.DOTALL | re.MULTILINE)


def read_markdown(name: str, data: bytes, limits: Limits) -> Iterator[Document]:  # noqa: ARG001
    """Read a Markdown file as one document, its source kept verbatim.

    The first heading of the outermost level is the title, else the file name. Front matter stays
    in the text but is not searched.

    Raises:
        InputError: the file is empty, binary or of an unknown encoding.
    """
    text = decode(data)
    front_matter = _FRONT_MATTER.match(text)
    begin = front_matter.end() if front_matter else 0
    headings = list(_headings(text, begin))
    title = brief(next((h.title for h in headings if h.depth == 1), "")) or stem(name)
    yield prose(
        id_=name,
        title=title,
        kind="markdown",
        text=text,
        source=name,
        headings=headings,
        begin=begin,
    )


def _headings(text: str, begin: int) -> Iterator[Heading]:
    from markdown_it import MarkdownIt

    # The lines of the parser end at newlines alone, those of str.splitlines at more.
    starts = [begin, *(match.end() for match in re.compile("\n").finditer(text, begin))]
    starts.append(len(text))
    tokens = MarkdownIt("commonmark").parse(text[begin:])
    for opening, content in pairwise(tokens):
        # Headings inside quotations and lists are part of what is quoted or listed.
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            first, last = opening.map
            title = "".join(child.content for child in content.children or ()).strip()
            yield Heading(int(opening.tag[1:]), title, starts[first], starts[last])

"""Writes a statute line by line and remembers where each provision stands."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from localrag.corpus.readers.naming import bounded, brief
from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS, Document, Locator, Passage, Section
from localrag.errors import InputError

_LAYER_ORDER = {ARTICLES: 0, PARAGRAPHS: 1, ITEMS: 2}


class Place(NamedTuple):
    """Where writing stands: the fields of a locator, and the same in words."""

    words: str
    division: str = ""
    article: str = ""
    paragraph: str = ""
    item: str = ""
    subitem: str = ""

    def step(self, words: str) -> str:
        """Return the words of a place inside this one."""
        return f"{self.words} {brief(words)}" if words else self.words


class _Draft(NamedTuple):
    layer: str
    place: Place
    start: int
    end: int


class StatuteBuilder:
    """Collects the lines of one statute, its provisions and its headings, in reading order.

    Args:
        law_id: id of the document.
        title: as printed; the first words of every header.

    Raises:
        InputError: one of them is too long.
    """

    def __init__(self, law_id: str, title: str) -> None:
        self.law_id = bounded("id", law_id)
        self.title = bounded("title", title)
        self.position = 0
        self._parts: list[str] = []
        self._drafts: list[_Draft] = []
        self._sections: list[Section] = []

    def line(self, text: str) -> None:
        """Write one line; a blank one is not printed."""
        if text and not text.isspace():
            self._parts.append(text)
            self.position += len(text) + 1

    def provision(self, layer: str, place: Place, start: int) -> None:
        """Take all that was written since `start` as the provision at `place`."""
        if self.position > start:
            self._drafts.append(_Draft(layer, place, start, self.position - 1))

    def section(self, depth: int, title: str, start: int) -> None:
        """Put all that was written since `start` under the heading `title`."""
        if self.position > start:
            self._sections.append(Section(depth, title, start, self.position - 1))

    def document(self, source: str, metadata: Mapping[str, str]) -> Document:
        """Make the statute as written so far.

        Raises:
            InputError: nothing of it is a provision.
        """
        if not self._drafts:
            raise InputError("The law holds no provisions.", "The file is incomplete.")
        text = "\n".join(self._parts)
        self._drafts.sort(key=lambda draft: (_LAYER_ORDER[draft.layer], draft.start, -draft.end))
        seen: Counter[str] = Counter()
        return Document(
            id=self.law_id,
            title=self.title,
            kind="law",
            text=text,
            source=source,
            passages=tuple(self._passage(draft, text, seen) for draft in self._drafts),
            sections=tuple(sorted(self._sections, key=lambda s: (s.start, s.depth))),
            metadata=metadata,
        )

    def _passage(self, draft: _Draft, text: str, seen: Counter[str]) -> Passage:
        locator = Locator(*draft.place[1:])
        id_ = f"{self.law_id}#{locator.path}"
        seen[id_] += 1
        if seen[id_] > 1:
            # Amending acts repeat article numbers, also inside one supplementary provision.
            id_ = f"{id_}~{seen[id_]}"
        return Passage(
            id=id_,
            document_id=self.law_id,
            layer=draft.layer,
            text=text[draft.start : draft.end],
            header=draft.place.words,
            locator=locator,
            start=draft.start,
            end=draft.end,
        )

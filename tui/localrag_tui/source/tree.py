"""The tree of a corpus: shelves, documents, parts; each level is read when opened."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on, work
from textual.binding import Binding, BindingType
from textual.events import Key
from textual.message import Message
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from localrag.corpus.types import KINDS
from localrag.errors import LocalragError
from localrag.language import N_, _
from localrag.text.harmless import one_line
from localrag_tui.library import Library
from localrag_tui.screen import bench_of
from localrag_tui.shown import called
from localrag_tui.spot import Spot

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.law.names import LawNames
    from localrag.search.contents import OutlineEntry

PAGE = 200
"""Documents of a shelf listed at once."""


@dataclass(frozen=True, slots=True)
class DocumentShelf:
    """Documents of a kind.

    Attributes:
        name: the type of its laws, or the kind of its documents.
    """

    name: str
    laws: bool
    count: int


@dataclass(frozen=True, slots=True)
class Title:
    """A document on a shelf."""

    document_id: str
    title: str


def shelves(store: "CorpusStore", names: "LawNames") -> list[DocumentShelf]:
    """The shelves of a corpus, without empty ones."""
    laws = Counter(row.law_type or "Misc" for row in names.rows.values())
    found = [DocumentShelf(name, laws=True, count=count) for name, count in laws.items()]
    kinds = store.kinds()
    kinds.pop("law", None)
    found += [DocumentShelf(name, laws=False, count=count) for name, count in kinds.items()]
    order = list(KINDS)
    return sorted(
        found, key=lambda shelf: order.index(shelf.name) if shelf.name in KINDS else len(order)
    )


def titles(
    store: "CorpusStore", names: "LawNames", shelf: DocumentShelf, after: str = ""
) -> list[Title]:
    """A page of the documents of a shelf; `after` is the last one of the page before."""
    if not shelf.laws:
        return [Title(*row) for row in store.listed(shelf.name, after, PAGE)]
    laws = (row for row in names.rows.values() if (row.law_type or "Misc") == shelf.name)
    if after:
        next((row for row in laws if row.law_id == after), None)
    return [Title(row.law_id, row.title) for row in islice(laws, PAGE)]


def shelf_of(store: "CorpusStore", document_id: str) -> tuple[str, Title]:
    """The shelf of a document, and its title there.

    Raises:
        NotFoundError: the corpus has no such document.
    """
    document = store.document(document_id)
    name = document.kind if document.kind != "law" else document.metadata.get("law_type", "")
    return name or "Misc", Title(document_id, document.title)


# Up to this number of documents the shelves are open.
_FEW = 60


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A part of a document."""

    document_id: str
    entry: "OutlineEntry"


@dataclass(frozen=True, slots=True)
class More:
    """The rest of a shelf."""

    after: str


Branch = DocumentShelf | Title | DocumentPart | More
Node = TreeNode[Branch]


@dataclass(frozen=True, slots=True)
class Unfolded:
    """The unfolded branches of a tree.

    Attributes:
        paths: the path of each unfolded branch, outer ones first.
        cursor: the path of the branch under the cursor; empty for none.
    """

    paths: tuple[tuple[Branch, ...], ...]
    cursor: tuple[Branch, ...]


class PlaceTree(Tree[Branch]):
    """Shows a corpus; Enter opens a document or a part."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", N_("Open"), id="tree.open"),
        Binding("right", "into", N_("Unfold"), id="tree.unfold"),
        Binding("left", "out_of", N_("Fold"), id="tree.fold", show=False),
        Binding("delete", "remove", N_("Remove"), id="tree.remove"),
    ]

    @dataclass
    class Chosen(Message):
        """A place was chosen."""

        spot: Spot

    @dataclass
    class Typed(Message):
        """A character of a law's name was typed."""

        character: str

    @dataclass
    class Unwanted(Message):
        """Remove a document from the corpus."""

        title: Title

    def __init__(self) -> None:
        super().__init__("")
        self.show_root = False
        self.guide_depth = 2
        self.auto_expand = False
        self._library: Library | None = None
        self._growing = asyncio.Lock()

    async def fill(self, library: Library) -> int:
        """Show a corpus from the top; returns its number of documents.

        Raises:
            LocalragError: the corpus cannot be read.
        """
        async with self._growing:
            found = await library.read_names(_first_shown)
            # Shown at once: later parts would undo a key pressed meanwhile.
            self.clear()
            self._library = library
            for shelf, on_it in found:
                node = self.root.add(_label(shelf), shelf)
                if on_it:
                    self._add_titles(node, shelf, on_it)
                    node.expand()
            self.root.expand()
            self.cursor_line = 0 if found else -1
        return sum(shelf.count for shelf, _ in found)

    async def reveal(self, document_id: str, position: int) -> None:
        """Go to a document, and to its part at a position.

        Raises:
            LocalragError: the corpus has no such document, or cannot be read.
        """
        if self._library is None:
            return
        name, title = await self._library.read(lambda store: shelf_of(store, document_id))
        async with self._growing:
            node = next((n for n in self.root.children if _name(n) == name), None)
            if node is None:
                return
            await self._grow(node)
            node.expand()
            node = _child(node, title) or self._put(node, title)
            await self._grow(node)
            node.expand()
            while (inner := _around(node, position)) is not None:
                node.expand()
                await self._grow(inner)
                node = inner
            # Lines of unfolded branches are known after the next paint.
            self.call_after_refresh(self._go, node)

    def unfolded(self) -> Unfolded:
        """The unfolded branches, for another tree of the same corpus."""
        open_ = [node for node in _below(self.root) if node.is_expanded]
        cursor = _path(self.cursor_node) if self.cursor_node else ()
        return Unfolded(tuple(_path(node) for node in open_), cursor)

    async def unfold(self, unfolded: Unfolded) -> None:
        """Unfold the branches of another tree, without missing ones.

        Raises:
            LocalragError: the corpus cannot be read.
        """
        async with self._growing:
            for path in unfolded.paths:
                if (node := await self._find(path)) is not None:
                    await self._grow(node)
                    node.expand()
            under_cursor = await self._find(unfolded.cursor)
            if under_cursor is not None:
                self.call_after_refresh(self._go, under_cursor)

    async def _find(self, path: Sequence[Branch]) -> Node | None:
        node: Node | None = self.root
        for branch in path:
            if node is None:
                return None
            await self._grow(node)
            parent, node = node, _child(node, branch)
            if node is None and isinstance(branch, Title):
                node = self._put(parent, branch)
        return node if path else None

    @on(Tree.NodeHighlighted)
    def _show_its_keys(self) -> None:
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "remove":
            return self.cursor_node is not None and isinstance(self.cursor_node.data, Title)
        return super().check_action(action, parameters)

    def on_key(self, event: Key) -> None:
        """Pass on letters other than keys: they begin the name of a law."""
        character = event.character or ""
        if character.isalnum() and event.key not in self.screen.active_bindings:
            event.stop()
            self.post_message(self.Typed(character))

    def action_remove(self) -> None:
        if self.cursor_node is not None and isinstance(self.cursor_node.data, Title):
            self.post_message(self.Unwanted(self.cursor_node.data))

    def action_into(self) -> None:
        """Unfold the branch under the cursor; if unfolded, go to its first part."""
        node = self.cursor_node
        if node is None:
            return
        if node.is_expanded and node.children:
            self.move_cursor(node.children[0])
        elif node.allow_expand:
            node.expand()

    def action_out_of(self) -> None:
        """Fold the branch under the cursor; if folded, go to its parent."""
        node = self.cursor_node
        if node is None:
            return
        if node.is_expanded and node.allow_expand:
            node.collapse()
        elif node.parent is not None and not node.parent.is_root:
            self.move_cursor(node.parent)

    @on(Tree.NodeSelected)
    def _selected(self, event: Tree.NodeSelected[Branch]) -> None:
        event.stop()
        node = event.node
        match node.data:
            case Title(document_id):
                self.post_message(self.Chosen(Spot(document_id)))
            case DocumentPart(document_id, entry):
                start = entry.start
                self.post_message(self.Chosen(Spot(document_id, start, start, entry.passage_id)))
            case More():
                self._read_on(node)
            case _:
                node.toggle()

    @on(Tree.NodeExpanded)
    def _expanded(self, event: Tree.NodeExpanded[Branch]) -> None:
        event.stop()
        if not event.node.children:
            self._unfold(event.node)

    @work
    async def _unfold(self, node: Node) -> None:
        async with self._growing:
            try:
                await self._grow(node)
            except LocalragError as error:
                node.collapse()
                bench_of(self).tell(error)

    @work
    async def _read_on(self, more: Node) -> None:
        async with self._growing:
            shelf = more.parent
            if shelf is None or more not in shelf.children:
                return
            line = more.line
            try:
                await self._read_titles(shelf, more)
            except LocalragError as error:
                bench_of(self).tell(error)
            self.call_after_refresh(self._go_to_line, line)

    async def _grow(self, node: Node) -> None:
        """Add the children of a node, once."""
        if node.children or not node.allow_expand:
            return
        match node.data:
            case DocumentShelf():
                await self._read_titles(node)
            case Title(document_id):
                entries = await self._reading.read(lambda store: _outline(store, document_id))
                self._add_parts(node, document_id, entries)
            case DocumentPart(document_id, entry):
                self._add_parts(node, document_id, entry.parts)

    async def _read_titles(self, node: Node, more: Node | None = None) -> None:
        shelf = node.data
        assert isinstance(shelf, DocumentShelf)
        after = more.data.after if more is not None and isinstance(more.data, More) else ""

        def page(store: "CorpusStore", names: "LawNames") -> list[Title]:
            return titles(store, names, shelf, after)

        found = await self._reading.read_names(page)
        if more is not None:
            more.remove()
        self._add_titles(node, shelf, found)

    def _add_titles(self, node: Node, shelf: DocumentShelf, found: Sequence[Title]) -> None:
        there = {child.data for child in node.children}
        for title in found:
            if title not in there:
                node.add(_label(title), title)
        listed = sum(isinstance(child.data, Title) for child in node.children)
        if found and listed < shelf.count:
            rest = More(found[-1].document_id)
            label = _("{n} more").format(n=f"{shelf.count - listed:,}")
            node.add_leaf(Text(label, "italic"), rest)

    def _add_parts(self, node: Node, document_id: str, entries: Iterable["OutlineEntry"]) -> None:
        for entry in entries:
            part = DocumentPart(document_id, entry)
            node.add(_label(part), part, allow_expand=bool(entry.parts))
        node.allow_expand = bool(node.children)

    def _put(self, shelf: Node, title: Title) -> Node:
        rest = next((child for child in shelf.children if isinstance(child.data, More)), None)
        return shelf.add(_label(title), title, before=rest)

    def _go(self, node: Node) -> None:
        self.move_cursor(node)
        self.scroll_to(y=max(0, node.line - self.size.height // 3), animate=False)

    def _go_to_line(self, line: int) -> None:
        self.cursor_line = line

    @property
    def _reading(self) -> Library:
        assert self._library is not None
        return self._library


def _first_shown(
    store: "CorpusStore", names: "LawNames"
) -> list[tuple[DocumentShelf, list[Title]]]:
    found = shelves(store, names)
    few = sum(shelf.count for shelf in found) <= _FEW
    return [(shelf, titles(store, names, shelf, "") if few else []) for shelf in found]


def _outline(store: "CorpusStore", document_id: str) -> list["OutlineEntry"]:
    from localrag.search.contents import outline

    return outline(store, document_id)


def _name(node: Node) -> str:
    return node.data.name if isinstance(node.data, DocumentShelf) else ""


def _child(node: Node, branch: Branch) -> Node | None:
    return next((child for child in node.children if _same(child.data, branch)), None)


def _same(one: Branch | None, other: Branch) -> bool:
    if isinstance(one, DocumentPart) and isinstance(other, DocumentPart):
        return (one.document_id, one.entry.start) == (other.document_id, other.entry.start)
    return one == other


def _below(node: Node) -> Iterator[Node]:
    for child in node.children:
        yield child
        yield from _below(child)


def _path(node: Node) -> tuple[Branch, ...]:
    path: list[Branch] = []
    while node.parent is not None:
        if node.data is not None:
            path.append(node.data)
        node = node.parent
    return tuple(reversed(path))


def _around(node: Node, position: int) -> Node | None:
    for child in node.children:
        if isinstance(child.data, DocumentPart) and child.data.entry.holds(position):
            return child
    return None


def _label(branch: DocumentShelf | Title | DocumentPart) -> Text:
    match branch:
        case DocumentShelf(name, _laws, count):
            kind = called(name, KINDS)
            return Text.assemble((kind, "bold"), f"  {count:,}")
        case Title(document_id, title):
            return Text(one_line(title) or one_line(document_id))
        case DocumentPart(entry=entry):
            page = _("page {n}").format(n=entry.page) if entry.page else ""
            return Text(page or one_line(entry.title))

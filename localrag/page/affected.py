"""Dependents of a provision or a law as blocks, and as a graph in GraphML for Gephi and yEd.

In the graph an edge leads from a provision to its source. The graph of a law has laws as its nodes,
and its edges have the number of provisions.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import IO, Any

from lxml import etree

from localrag.language import _
from localrag.page.blocks import Block, Heading, Inline, PassageLink, Remark, items, paragraph
from localrag.search.affected import KINDS, Affected, Dependent, LawCount
from localrag.text.harmless import harmless

_SPACE = "http://graphml.graphdrawing.org/xmlns"
_NAMES: Any = {None: _SPACE}
_KEYS = {"label": "node", "law": "node", "kinds": "edge", "provisions": "edge"}


def affected_blocks(found: Affected) -> Iterator[Block]:
    """Yield the counts by law, the provisions of each kind, and the ways to farther ones."""
    yield Heading(1, found.label)
    direct = [one for one in found.dependents if one.depth == 1]
    if not direct:
        yield paragraph(_("Nothing in this corpus depends on it."))
        return
    words = _("{provisions:,} provisions of {laws:,} laws depend on it.")
    yield Heading(2, words.format(provisions=len(direct), laws=len(found.laws)))
    yield items(map(_law_count, found.laws))
    for kind, words in KINDS.items():
        of_kind = [one for one in direct if one.kinds[0] == kind]
        if of_kind:
            yield Heading(2, _(words), len(of_kind))
            yield items(PassageLink(one.label, one.place.id) for one in of_kind)
    farther = [one for one in found.dependents if one.depth > 1]
    if farther:
        labels = {one.place.id: one.label for one in found.dependents}
        yield Heading(2, _("Farther"), len(farther))
        yield items(_way(one, labels) for one in farther)
    if found.not_followed:
        words = _("{n:,} provisions were not followed farther: there are too many.")
        yield paragraph(words.format(n=found.not_followed))


def _law_count(law: LawCount) -> tuple[Inline, ...]:
    kinds = _(", ").join(f"{_(KINDS[kind])} {n:,}" for kind, n in law.kinds.items())
    return f"{law.title} {law.provisions:,}  ", Remark(kinds)


def _way(one: Dependent, labels: Mapping[str, str]) -> str:
    steps = [labels.get(id_, id_) for id_ in one.path[1:]]
    return " → ".join((one.label, *reversed(steps)))


def write_graphml(found: Affected, file: IO[bytes]) -> None:
    """Write the graph; raises `OSError`."""
    root = etree.Element(f"{{{_SPACE}}}graphml", nsmap=_NAMES)
    for name, of in _KEYS.items():
        kind = "int" if name == "provisions" else "string"
        key = {"id": name, "for": of, "attr.name": name, "attr.type": kind}
        etree.SubElement(root, f"{{{_SPACE}}}key", key)
    graph = etree.SubElement(root, f"{{{_SPACE}}}graph", {"id": "G", "edgedefault": "directed"})
    if found.place.locator.path:
        _of_provisions(graph, found)
    else:
        _of_laws(graph, found)
    etree.ElementTree(root).write(file, encoding="utf-8", xml_declaration=True, pretty_print=True)


def _of_provisions(graph: etree._Element, found: Affected) -> None:
    _add(graph, "node", {"id": found.place.id}, label=found.label)
    for one in found.dependents:
        _add(graph, "node", {"id": one.place.id}, label=one.label, law=one.law)
    for one in found.dependents:
        ends = {"source": one.place.id, "target": one.path[-1]}
        _add(graph, "edge", ends, kinds=", ".join(one.kinds))


def _of_laws(graph: etree._Element, found: Affected) -> None:
    edges: dict[tuple[str, str], list[Dependent]] = defaultdict(list)
    for one in found.dependents:
        edges[one.place.document_id, one.path[-1].partition("#")[0]].append(one)
    titles = {found.place.document_id: found.label}
    titles |= {one.place.document_id: one.law for one in found.dependents}
    for id_, title in titles.items():
        _add(graph, "node", {"id": id_}, label=title)
    for (source, target), its in edges.items():
        kinds = Counter(kind for one in its for kind in one.kinds)
        counted = ", ".join(f"{kind} {n}" for kind, n in kinds.most_common())
        ends = {"source": source, "target": target}
        _add(graph, "edge", ends, kinds=counted, provisions=str(len(its)))


def _add(graph: etree._Element, name: str, attributes: dict[str, str], **data: str) -> None:
    element = etree.SubElement(graph, f"{{{_SPACE}}}{name}", attributes)
    for key, text in data.items():
        etree.SubElement(element, f"{{{_SPACE}}}data", {"key": key}).text = harmless(text)

"""Writes the dependents of a provision or a law as a graph in GraphML, for Gephi and yEd.

An edge leads from a provision to its source. The graph of a law has laws as its nodes,
and its edges have the number of provisions.
"""

from collections import Counter, defaultdict
from typing import IO, Any

from lxml import etree

from localrag.search.affected import Affected, Dependent
from localrag.text.harmless import harmless

_SPACE = "http://graphml.graphdrawing.org/xmlns"
_NAMES: Any = {None: _SPACE}
_KEYS = {"label": "node", "law": "node", "kinds": "edge", "provisions": "edge"}


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

"""Text in drawings (DrawingML): boxes of slides and sheets, SmartArt of slides and Word files."""

from collections.abc import Iterator, Mapping

from lxml import etree

from localrag.corpus.readers.grids import cell
from localrag.corpus.readers.package import Package, Relation, chosen, relation_of
from localrag.corpus.readers.text import drop_controls


def paragraphs(body: etree._Element | None) -> Iterator[str]:
    """Yield the paragraphs of a text box, a line each; those without text are left out."""
    for paragraph in () if body is None else body.iterfind("{*}p"):
        if line := cell(drop_controls(_words(paragraph))):
            yield line


def _words(paragraph: etree._Element) -> str:
    parts = []
    for run in paragraph:
        tag = etree.QName(run).localname if isinstance(run.tag, str) else ""
        if tag in ("r", "fld"):
            parts.append("".join(text.text or "" for text in run.iterfind("{*}t")))
        elif tag == "br":
            parts.append("\n")
        elif tag == "AlternateContent":
            parts.append("".join(text.text or "" for text in chosen(run).iterfind(".//{*}t")))
    return "".join(parts)


def diagram(
    package: Package, parent: etree._Element, related: Mapping[str, Relation]
) -> list[str] | None:
    """The lines of a SmartArt diagram.

    Args:
        package: the file.
        parent: what the diagram is in.
        related: the relationships of the part that shows it.

    Returns:
        A line for each paragraph; None where there is no diagram, or its texts are not there.
    """
    of_parts = parent.find(".//{*}relIds")
    relation = None if of_parts is None else relation_of(of_parts, related, "dm")
    if relation is None or not package.has(relation.target):
        return None
    texts = package.root(relation.target).iterfind("{*}ptLst/{*}pt/{*}t")
    return [line for text in texts for line in paragraphs(text)]

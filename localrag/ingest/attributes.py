"""What hits can be filtered by."""

from localrag.corpus.lookups import DocumentInfo

ATTRIBUTES = ("document", "kind", "law_type", "layer", "date")
"""Names of the attributes that every index of a corpus knows."""


def attributes(document: DocumentInfo, layer: str) -> dict[str, str]:
    """The attributes of the passages of a document in a layer; those without a value are left out.

    Dates are ISO dates, so that they can be compared as strings.
    """
    about = {
        "document": document.id,
        "kind": document.kind,
        "law_type": document.metadata.get("law_type"),
        "layer": layer,
        "date": document.metadata.get("date"),
    }
    return {name: value for name, value in about.items() if value}

"""The Tantivy schema of a BM25 index and the names of its fields."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

KIND = "bm25"
KEY = "key"
HEADER = "header"
BODY = "body"
PAIRS = "pairs"
_TOKENIZER = "terms"


def attribute_field(name: str) -> str:
    """Name the field that holds an attribute; the prefix keeps it apart from ours."""
    return f"attribute_{name}"


def schema(attributes: Iterable[str]) -> Any:
    """Build the schema. Nothing is stored: entries are found again by their keys."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_integer_field(KEY, fast=True)
    for field in (HEADER, BODY, PAIRS):
        builder.add_text_field(field, tokenizer_name=_TOKENIZER, index_option="freq")
    for name in attributes:
        builder.add_text_field(attribute_field(name), tokenizer_name="raw", index_option="basic")
    return builder.build()


def create(folder: Path, fields: Any) -> Any:
    """Create an empty Tantivy index with these fields in `folder`."""
    import tantivy

    index = tantivy.Index(fields, path=str(folder))
    # Terms arrive joined by blanks; Tantivy forgets its tokenizers whenever an index is closed.
    tokenizer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer(_TOKENIZER, tokenizer)
    return index


def pairs(terms: Sequence[str]) -> list[str]:
    """Join each term with its right neighbour: what stands together is worth more together."""
    return [f"{left}\u001f{right}" for left, right in pairwise(terms)]

"""Families of embedders: the prefixes and the pooling of their training, by their names.

Servers give the name of a model, mostly with an owner, a size or a quantisation. A family without
an entry gets no prefixes.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from localrag_models.embedding import E5, Prefixes

Pooling = Literal["mean", "cls", "last"]
"""The vector of a text: the mean over its tokens, or the vector of the first or the last one."""

SEARCH = "Given a web search query, retrieve relevant passages that answer the query"
"""The task in instructions to Qwen3-Embedding, Qwen3-Reranker and the E5 models with
instructions."""


@dataclass(frozen=True, slots=True)
class Family:
    """Embedders of the same training.

    Attributes:
        pattern: found in their names, in small letters and with ``-`` for ``_`` and blanks.
    """

    pattern: re.Pattern[str]
    prefixes: Prefixes
    pooling: Pooling


def _family(pattern: str, query: str, passage: str, pooling: Pooling) -> Family:
    return Family(re.compile(pattern), Prefixes(query, passage), pooling)


_FAMILIES = (
    _family(r"(?<![a-z0-9])e5-.*instruct", f"Instruct: {SEARCH}\nQuery: ", "", "mean"),
    _family(r"(?<![a-z0-9])e5(?![a-z0-9])", E5.query, E5.passage, "mean"),
    _family(r"nomic-embed-text", "search_query: ", "search_document: ", "mean"),
    _family(r"(?<![a-z])ruri-?v3(?!.*rerank)", "検索クエリ: ", "検索文書: ", "mean"),
    _family(r"bge-?m3(?!.*rerank)", "", "", "cls"),
    _family(r"qwen3-?embedding", f"Instruct: {SEARCH}\nQuery:", "", "last"),
    _family(r"embedding-?gemma", "task: search result | query: ", "title: none | text: ", "mean"),
)
"""As their makers publish them: model cards of intfloat, nomic-ai, cl-nagoya (ruri-v3), BAAI
(bge-m3), Qwen (Qwen3-Embedding) and Google (EmbeddingGemma)."""


_POOLINGS: Mapping[int | str, Pooling] = {
    1: "mean",
    2: "cls",
    3: "last",  # in GGUF files
    "mean": "mean",
    "cls": "cls",
    "last": "last",
    "lasttoken": "last",
    "last_token": "last",
}


def pooling_called(told: object) -> Pooling | None:
    """The pooling of this name or number; None for any other."""
    return _POOLINGS.get(told) if isinstance(told, int | str) else None


def family_of(*names: str) -> Family | None:
    """The family of an embedder, by the first known one of its names; else None."""
    for name in map(_plain, names):
        for family in _FAMILIES:
            if family.pattern.search(name):
                return family
    return None


def prefixes_of(*names: str) -> Prefixes:
    """The prefixes of an embedder by its names; empty ones if its family is unknown."""
    family = family_of(*names)
    return family.prefixes if family else Prefixes()


def is_reranker(*names: str) -> bool:
    """Whether a name belongs to a chat model trained to rerank by yes and no."""
    return any("qwen3-reranker" in _plain(name) for name in names)


def _plain(name: str) -> str:
    return re.sub(r"[_\s]+", "-", name.lower())

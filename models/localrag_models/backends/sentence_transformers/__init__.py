"""Embedders and rerankers in the sentence-transformers format, run in this process by PyTorch."""

from typing import TYPE_CHECKING

from localrag_models.runtimes import ModelSpec

if TYPE_CHECKING:
    from localrag_models.backends.sentence_transformers.embedder import (
        SentenceTransformersEmbedder,
    )
    from localrag_models.backends.sentence_transformers.reranker import CrossEncoderReranker


def open_embedder(spec: ModelSpec) -> "SentenceTransformersEmbedder":
    """Load an embedder."""
    from localrag_models.backends.sentence_transformers.embedder import (
        SentenceTransformersEmbedder,
    )

    return SentenceTransformersEmbedder(
        spec.path,
        id=spec.id,
        prefixes=spec.prefixes,
        device=_device(spec),
        threads=spec.threads,
    )


def open_reranker(spec: ModelSpec) -> "CrossEncoderReranker":
    """Load a reranker."""
    from localrag_models.backends.sentence_transformers.reranker import CrossEncoderReranker

    return CrossEncoderReranker(spec.path, id=spec.id, device=_device(spec), threads=spec.threads)


def _device(spec: ModelSpec) -> str:
    """A GPU if there is one, unless no layer shall run there."""
    return "auto" if spec.gpu_layers else "cpu"

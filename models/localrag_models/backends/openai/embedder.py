"""Embedding on a server with OpenAI's protocol."""

import base64
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from localrag_models.backends.openai.server import NO_EMBEDDER, OpenAIServer
from localrag_models.backends.servers.embedder import (
    LARGEST_INPUT,
    ServerEmbedder,
    demand_pooling,
    demand_whole,
)
from localrag_models.backends.servers.http import (
    BadRequest,
    Json,
    Retry,
    Unserved,
    retrying,
    tokens,
    warn,
)
from localrag_models.embedding import E5, Prefixes
from localrag_models.errors import N_, ContextExceeded, WrongKind
from localrag_models.families import family_of, prefixes_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from localrag_models.embedding import Vectors

    Row = NDArray[np.float32]

_INPUT_IF_UNTOLD = 512
_SAMPLE = "渡し舟の船長は、定員を守らなければならない。"
"""Its vector distinguishes models; made up."""
_LARGEST_COMPONENTS = 4
_APART = 0.01
"""Distance of the vectors of one text if a server distinguishes queries and passages. Rounding
is a hundred times smaller."""
_KIND = "input_type"
_SPECIAL_TOKENS = 2


class OpenAIEmbedder(ServerEmbedder):
    """An embedder behind llama-server, vLLM, Text Embeddings Inference, Infinity or the like.

    Its name, or the name of its weights on the server, decides its family. Some servers distinguish
    queries and passages by the field ``input_type``; they get it instead of a prefix. If the server
    counts tokens, windows are as long as it allows. The arguments are as in `OllamaEmbedder`. An
    empty `id` is made from the name and the vector of a sample.

    Raises:
        ServerUnreachable: no server answers.
        ModelMissing: the server has no such model.
        WrongKind: the server does not embed, or pools otherwise than the family of the model.
    """

    def __init__(
        self,
        model: str,
        *,
        server: str,
        timeout: float = 300.0,
        prefixes: Prefixes | None = None,
        id: str = "",  # noqa: A002 - the name of the contract
        on_retry: Callable[[Retry], None] = warn,
    ) -> None:
        self._model = model
        self._server = OpenAIServer(server, timeout=timeout)
        try:
            card = self._server.card_of(model)
            self._limit = min(card.context or _INPUT_IF_UNTOLD, LARGEST_INPUT)
            if prefixes is None and (family := family_of(*card.names)):
                demand_pooling(model, self._server.described, card.pooling, family.pooling)
            sample, self._tells_apart = retrying(
                self._sampled, allowed=lambda: True, on_retry=on_retry
            )
            self._counter = self._server.text_counter_of(model)
        except BaseException:
            self._server.close()
            raise
        if self._tells_apart:
            # Here they only mark a query: the server adds its own.
            prefixes = E5
        elif prefixes is None:
            prefixes = prefixes_of(*card.names)
        super().__init__(
            id or f"{model}@{_fingerprint(sample, prefixes)} (Model server)",
            len(sample),
            self._limit if self._counter else self._limit * 3 // 4,
            prefixes,
            on_retry,
        )

    def _counts(self, texts: Sequence[str]) -> Sequence[int]:
        estimated = super()._counts(texts)
        if self._counter is None:
            return estimated
        return [self._counted(text, most) for text, most in zip(texts, estimated, strict=True)]

    def _counted(self, text: str, estimated: int) -> int:
        # A token has at least a byte: such a short text cannot be too long.
        if self._counter is None or len(text.encode()) + _SPECIAL_TOKENS <= self._limit:
            return estimated
        counted = self._counter(text)
        return estimated if counted is None else counted + _SPECIAL_TOKENS

    def _ask(self, windows: Sequence[str]) -> "Vectors":
        import numpy as np

        kind = ""
        if self._tells_apart:
            kind = "query" if windows[0].startswith(E5.query) else "passage"
            prefix = E5.query if kind == "query" else E5.passage
            windows = [window.removeprefix(prefix) for window in windows]
        rows, read = self._embedded(windows, kind)
        if {len(row) for row in rows} != {self.dimension}:
            raise self._server.broke(N_("{server} sent vectors of another length than before."))
        cure = N_("Start the server with a larger context and batch.")
        demand_whole(windows, read, self._model, cure)
        if len(windows) == 1 and read == self._limit and self._counter is None:
            # It read the most tokens it can, and may have cut the rest.
            raise ContextExceeded(
                N_("{model!r} read {available:,} tokens, all it takes."),
                cure,
                needed=read + 1,
                available=read,
                model=self._model,
            )
        return np.stack(rows)

    def _sampled(self) -> "tuple[Row, bool]":
        """The vector of a sample, and whether the server distinguishes queries and passages."""
        import numpy as np

        try:
            (passage,), _ = self._embedded([_SAMPLE], "passage")
            (query,), _ = self._embedded([_SAMPLE], "query")
        except BadRequest as error:
            if _KIND not in str(error.fields.get("said")):
                raise
            (passage,), _ = self._embedded([_SAMPLE], "")
            query = passage
        except Unserved as error:
            raise WrongKind(error.args[0], NO_EMBEDDER, **error.fields) from error
        lengths = float(np.linalg.norm(passage)), float(np.linalg.norm(query))
        if passage.shape != query.shape or not all(0 < length < np.inf for length in lengths):
            raise self._server.no_vectors()
        return passage, bool(np.linalg.norm(passage / lengths[0] - query / lengths[1]) > _APART)

    def _embedded(self, texts: Sequence[str], kind: str) -> "tuple[list[Row], int]":
        """The vectors of texts, in their order, and the number of tokens read; 0 if unknown."""
        body: Json = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        if kind:
            body[_KIND] = kind
        answer = self._server.post_anywhere("/embeddings", body)
        told = answer if isinstance(answer, dict) else {}
        listed = told.get("data")
        try:
            rows = [_row(each["embedding"]) for each in _in_order(listed)]
        except (TypeError, KeyError, ValueError):
            rows = []
        if len(rows) != len(texts) or not all(len(row) for row in rows):
            raise self._server.no_vectors()
        usage = told.get("usage")
        return rows, tokens(usage.get("prompt_tokens") if isinstance(usage, dict) else None) or 0

    def _release(self) -> None:
        self._server.close()


def _fingerprint(sample: "Row", prefixes: Prefixes) -> str:
    """Eight hexadecimal digits that change with the weights.

    OpenAI's protocol gives only the name. The places of the largest components of a vector change
    with the model, but not with the rounding of a processor.
    """
    import numpy as np

    largest = sorted(np.argsort(-sample, kind="stable")[:_LARGEST_COMPONENTS].tolist())
    whole = f"{len(sample)} {largest} {prefixes}"
    return blake2b(whole.encode(), digest_size=4).hexdigest()


def _in_order(listed: object) -> list[Json]:
    """The entries of an answer by their index; without any, in the order of the answer."""
    if not isinstance(listed, list):
        raise TypeError("no list")
    if all("index" not in each for each in listed):
        return listed
    by_index = {int(each["index"]): each for each in listed}
    return [by_index[number] for number in range(len(listed))]


def _row(told: object) -> "Row":
    """A vector from numbers, or from the base64 of 32-bit ones, lowest byte first."""
    import numpy as np

    if isinstance(told, str):
        return np.frombuffer(base64.b64decode(told, validate=True), "<f4")
    row = np.asarray(told, np.float32)
    if row.ndim != 1:
        raise ValueError("no vector")
    return row

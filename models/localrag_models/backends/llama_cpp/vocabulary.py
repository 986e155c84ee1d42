"""What has to be known of a vocabulary: which of its tokens are no text."""

from functools import cached_property
from typing import TYPE_CHECKING

from localrag_models.backends.llama_cpp.native import Model, runtime

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Vocabulary:
    """Tokens that steer a conversation instead of being said.

    Attributes:
        control: spellings of control tokens, and of markers such as ``<think>``.
        silent: whether a token has no text and does not end a reply, shape ``(vocabulary,)``.
        begin: the token put before every prompt; None where there is none.
        begin_text: the spelling of the token that begins texts, put before them or not.
        end_text: the spelling of the token that ends a turn.
    """

    def __init__(self, model: Model) -> None:
        import numpy as np

        self._llama = llama = runtime()
        self._model = model
        self._handle = vocabulary = model.vocabulary
        kinds = np.fromiter(
            (llama.llama_vocab_get_attr(vocabulary, token) for token in range(model.tokens)),
            np.int32,
            model.tokens,
        )
        hidden = (kinds & (llama.LLAMA_TOKEN_ATTR_CONTROL | llama.LLAMA_TOKEN_ATTR_UNKNOWN)) != 0
        marked = (kinds & llama.LLAMA_TOKEN_ATTR_USER_DEFINED) != 0
        unspoken = np.flatnonzero(hidden).tolist()
        markers = map(self._spelling, np.flatnonzero(marked).tolist())
        self.control = frozenset([*map(self._spelling, unspoken), *filter(_is_tag, markers)])
        self.silent = hidden
        self.silent[[token for token in unspoken if self.ends(token)]] = False
        begin = llama.llama_vocab_bos(vocabulary)
        self.begin = begin if llama.llama_vocab_get_add_bos(vocabulary) else None
        self.begin_text = self._spelling(begin)
        self.end_text = self._spelling(llama.llama_vocab_eos(vocabulary))

    def ends(self, token: int) -> bool:
        """Whether a token ends a reply."""
        return bool(self._llama.llama_vocab_is_eog(self._handle, token))

    @cached_property
    def first_bytes(self) -> "NDArray[np.int16]":
        """First byte of the text of each token, 256 where it has none; shape ``(vocabulary,)``."""
        return self._texts[0]

    @cached_property
    def single_bytes(self) -> "tuple[NDArray[np.int16], NDArray[np.int32]]":
        """The bytes that are tokens of their own, and these tokens."""
        import numpy as np

        alone = np.flatnonzero(self._texts[1] == 1).astype(np.int32)
        return self.first_bytes[alone], alone

    @cached_property
    def _texts(self) -> "tuple[NDArray[np.int16], NDArray[np.int16]]":
        """First bytes and lengths of all tokens; it takes a while, and is not always needed."""
        import numpy as np

        pieces = [self._model.piece(token) for token in range(self._model.tokens)]
        first = np.fromiter((piece[0] if piece else 256 for piece in pieces), np.int16, len(pieces))
        return first, np.fromiter(map(len, pieces), np.int16, len(pieces))

    def _spelling(self, token: int) -> str:
        if token < 0:
            return ""
        text: bytes = self._llama.llama_vocab_get_text(self._handle, token)
        return text.decode("utf-8", "replace")


def _is_tag(text: str) -> bool:
    """Some vocabularies mark runs of blanks as user-defined too; they are text."""
    return text.startswith(("<", "[")) and text.endswith((">", "]"))

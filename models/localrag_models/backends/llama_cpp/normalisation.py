"""Whether the table by which a tokenizer normalises text can be walked without leaving it.

A GGUF file of a SentencePiece tokenizer (XLM-RoBERTa, T5) holds the table in
``tokenizer.ggml.precompiled_charsmap``. llama.cpp walks it byte by byte of a text; where a damaged
entry leads out of the table it throws an error that ends the process. Nothing of that is seen while
the model is loaded, only with the text that leads there; so all entries that any text can reach are
looked at beforehand, which takes some milliseconds.

Layout: the size of the array in bytes (32 bits, little-endian), the array of 32-bit units of a
double-array trie (darts-clone by S. Yata, the form that SentencePiece writes), then the
replacements as texts that end with a zero byte.
"""

from localrag_models.errors import N_, Cure, ModelDamaged
from localrag_models.gguf import Header

_TABLE = "tokenizer.ggml.precompiled_charsmap"
_LEAF = 1 << 8
_NO_LABEL = 1 << 31


def check_normalisation(header: Header) -> None:
    """Make sure that no text leads out of the table of a tokenizer; most models have none.

    Raises:
        ModelDamaged: some text does.
    """
    values = header.metadata.get(_TABLE)
    if isinstance(values, tuple) and values and not _is_closed(values):
        raise ModelDamaged(
            N_("The table by which {path} normalises text is damaged."),
            Cure.GET_AGAIN,
            path=header.path,
        )


def _is_closed(values: tuple[object, ...]) -> bool:
    import numpy as np

    table = np.array(values, np.int64).astype(np.uint8).tobytes()
    size = int.from_bytes(table[:4], "little")
    if size % 4 or size + 4 >= len(table):
        return False
    units = np.frombuffer(table, "<u4", size // 4, 4).astype(np.int64)
    replacements = len(table) - 4 - size
    # From the state that a unit leads to, the next byte is looked for among 256 units around it.
    leads_to = np.arange(len(units)) ^ ((units >> 10) << ((units & 0x200) >> 6))
    comes_from = np.arange(len(units)) ^ (units & 0xFF)
    by_byte = (units & _NO_LABEL) == 0
    inside = (leads_to | 0xFF) < len(units)
    # The walk begins at the root, whose label nobody asks for.
    new = np.zeros(len(units), np.bool_)
    new[:1] = True
    reached = new.copy()
    states = np.zeros(len(units), np.bool_)
    while new.any():
        if not inside[new].all():
            return False
        states[leads_to[new]] = True
        ends = leads_to[new & ((units & _LEAF) != 0)]
        if (units[ends] & (_NO_LABEL - 1) >= replacements).any():
            return False
        new = by_byte & (comes_from < len(units)) & ~reached
        new[new] = states[comes_from[new]]
        reached |= new
    return len(units) > 0

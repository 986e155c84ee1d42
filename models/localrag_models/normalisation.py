"""Text as the tokenizers of XLM-R and T5 saw it in training, done once for all back ends.

SentencePiece (Kudo and Richardson 2018, section 3.3) calls the rule ``nmt_nfkc``. Its table, which
models carry along, is read differently by different libraries: half-width ｶﾞ becomes ガ in one and
カ with a loose mark in the other, and old GGUF files do not hold it at all.
"""

import re
import unicodedata

_REMOVED = (*range(0x1, 0x9), 0xB, *range(0xE, 0x20), 0x7F, 0x8F, 0x9F)
_BLANKS = "\t\n\f\r\u061c\u1680\u200b\u200c\u200e\u200f\u2028\u2029\u2581\ufeff\ufffd"
_TABLE = dict.fromkeys(_REMOVED) | dict.fromkeys(map(ord, _BLANKS), " ")
_FULL_WIDTH_TILDE = "～"
_CONTROL_TOKEN = re.compile(r"<(?=/?(?:s|pad|unk|mask|extra_id_\d+)>)")


def nmt_nfkc(text: str) -> str:
    """`text` in NFKC, controls left out, white space and the like as blanks.

    What would be read as a control token (``</s>``) is broken by a blank: text is data.
    """
    parts = text.translate(_TABLE).split(_FULL_WIDTH_TILDE)
    normal = _FULL_WIDTH_TILDE.join(unicodedata.normalize("NFKC", part) for part in parts)
    return _CONTROL_TOKEN.sub("< ", normal)

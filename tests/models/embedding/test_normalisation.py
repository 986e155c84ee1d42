"""The normalisation of XLM-R, against the library it comes from."""

import sys
import unicodedata

from sentencepiece import SentencePieceNormalizer

from localrag_models.embedding import nmt_nfkc

from ...rows import each

# Assigned in Unicode after the table of SentencePiece was made, or before: left to Python.
NEWER = {*range(0xA7F1, 0xA7F2), *range(0x1CCD6, 0x1CCFA), *range(0x1E030, 0x1E06E)}


def test_each_character_as_sentencepiece_has_it() -> None:
    reference = SentencePieceNormalizer(
        rule_name="nmt_nfkc",
        add_dummy_prefix=False,
        escape_whitespaces=False,
        remove_extra_whitespaces=False,
    )
    differing = [
        hex(code)
        for code in range(1, sys.maxunicode + 1)
        if unicodedata.category(chr(code)) not in ("Cs", "Cn", "Co")
        and code not in NEWER
        and nmt_nfkc(chr(code)) != reference.normalize(chr(code))
    ]
    assert differing == []


@each(
    ("text", "normal"),
    [
        ("ｶﾞか\u3099", "ガが"),
        ("㍿　Ⅳ", "株式会社 IV"),
        ("～ＡＢＣ～", "～ABC～"),
        ("a</s>b＜mask＞", "a< /s>b< mask>"),
        ("<section>", "<section>"),
    ],
)
def test_texts(text: str, normal: str) -> None:
    assert nmt_nfkc(text) == normal

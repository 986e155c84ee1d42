"""The names that a question speaks of: whatever answers it speaks of them, too."""

import re
from collections.abc import Iterator

from localrag_indexes.analysis.japanese import morphemes
from localrag_indexes.analysis.normalize import normalize
from localrag_indexes.analysis.stopwords import ENGLISH

_QUOTED = re.compile(r"[「『]([^「」『』]{1,80})[」』]|[\"“]([^\"“”]{2,80})[\"”]")
_KATAKANA = re.compile(r"[ァ-ヺー]{2,}(?:・[ァ-ヺー]{2,})*")
_LATIN = re.compile(r"[^\W\d_ぁ-ヿ一-鿿][\w'’&.-]*[^\W_ぁ-ヿ一-鿿]")
_JAPANESE = re.compile("[ぁ-ゖァ-ヺ一-鿿]")
_PROPER = "名詞-固有名詞"


def names_in(question: str) -> tuple[str, ...]:
    """The names in a question, normalised, each once, in the order of the text.

    Words in quotation marks, words in katakana, Latin words (in English only those with a capital
    letter, the first word of the question apart), and what the dictionary knows as a proper noun.
    """
    found = sorted(_spans(question))
    return tuple(dict.fromkeys(normalize(words) for _, words in found))


def _spans(question: str) -> Iterator[tuple[int, str]]:
    for quoted in _QUOTED.finditer(question):
        yield quoted.start(), quoted[1] or quoted[2]
    if not _JAPANESE.search(question):
        for word in _LATIN.finditer(question):
            is_common = word[0].lower() in ENGLISH
            if word.start() and word[0][0].isupper() and not is_common:
                yield word.start(), word[0].removesuffix("'s")
        return
    for pattern in (_KATAKANA, _LATIN):
        for word in pattern.finditer(question):
            yield word.start(), word[0]
    for morpheme in morphemes(question):
        if morpheme.kind.startswith(_PROPER) and not _KATAKANA.fullmatch(morpheme.surface):
            yield morpheme.start, morpheme.surface

"""The analyzer: one text in, its terms out, with or without where they stand."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from localrag_indexes.analysis import stopwords
from localrag_indexes.analysis.entities import ENTITY, term_of
from localrag_indexes.analysis.japanese import segment
from localrag_indexes.analysis.normalize import (
    normalize,
    normalize_with_offsets,
    original_span,
)

# Stands in for one entity while MeCab cuts the rest: a digit, so that what surrounds it is read
# as it would be around a number. Every digit of the text belongs to an entity.
_PLACEHOLDER = "5"
_WORD_CHARACTER = re.compile(r"\w")
# A lone hiragana is a particle or the tail of an inflected word.
_LONE_HIRAGANA = re.compile("[ぁ-ゖ]")


@dataclass(frozen=True, slots=True)
class Token:
    """A term and the span of the original text it was made from."""

    term: str
    start: int
    end: int


class Analyzer:
    """Turns Japanese and English text into terms.

    The same text gives the same terms in every process; `id` changes whenever the terms can, so
    that an index made with another analyzer is recognised.
    """

    id = "ja-en/1"

    def terms(self, text: str) -> list[str]:
        """Cut `text` into terms, in order, stop words and punctuation left out."""
        normal = normalize(text)
        entities = iter([term_of(match, _stem) for match in ENTITY.finditer(normal)])
        terms: list[str] = []
        for surface in segment(ENTITY.sub(_PLACEHOLDER, normal)):
            if _PLACEHOLDER in surface:
                terms.extend(next(entities) for _ in range(surface.count(_PLACEHOLDER)))
            else:
                terms.append(surface)
        return [term for term in terms if not _is_empty(term)]

    def tokens(self, text: str) -> list[Token]:
        """Cut `text` into the same terms as `terms`, each with its span in `text` itself."""
        normal, offsets = normalize_with_offsets(text)
        tokens = []
        for term, start, end in _located(normal):
            if not _is_empty(term):
                tokens.append(Token(term, *original_span(offsets, start, end)))
        return tokens


def _located(normal: str) -> Iterator[tuple[str, int, int]]:
    entities = ENTITY.finditer(normal)
    position = 0
    for surface in segment(ENTITY.sub(_PLACEHOLDER, normal)):
        if _PLACEHOLDER in surface:
            for _ in range(surface.count(_PLACEHOLDER)):
                entity = next(entities)
                yield term_of(entity, _stem), entity.start(), entity.end()
                position = entity.end()
        else:
            start = normal.index(surface, position)
            position = start + len(surface)
            yield surface, start, position


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


def _stem(word: str) -> str:
    return word if word in stopwords.ENGLISH else str(_stemmer().stemWord(word))


@lru_cache(maxsize=1 << 17)
def _is_empty(term: str) -> bool:
    return (
        term in stopwords.JAPANESE
        or term in stopwords.ENGLISH
        or _LONE_HIRAGANA.fullmatch(term) is not None
        or _WORD_CHARACTER.search(term) is None
    )

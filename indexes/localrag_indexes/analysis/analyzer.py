"""The analyzer: one text in, its terms out, with or without where they stand."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import filterfalse, islice
from typing import Any

from localrag_indexes.analysis.japanese import segment
from localrag_indexes.analysis.normalize import normalize, normalize_with_offsets, original_span
from localrag_indexes.analysis.numerals import (
    NUMERAL_CHARACTERS,
    YEAR_BEFORE,
    common_year,
    in_digits,
)

_PARTICLES_AND_AUXILIARIES = """
    ある あっ あり あれ いい いう いっ いる いわ おい おけ おら おり おる から くださ ください
    けれど ここ こと この これ され しか しかし しまう する そう そこ その それ たら たり だけ
    だっ だろう ちゃ つい つつ でし です でも とき ところ とも ない なお なかっ ながら なく なけれ
    なさ なっ など なら なり なる のみ べき ほど まし ます ませ また まで もう もの やっ やら よう
    より よれ られ られる れる 及び 又は 若しくは 並びに 下さい
"""
_QUESTION_WORDS = (
    "いくつ いくら いつ どう どこ どちら どなた どの どれ どんな なぜ なに なん 何 幾つ 誰"
)

JAPANESE = frozenset(_PARTICLES_AND_AUXILIARIES.split() + _QUESTION_WORDS.split())
"""Particles, auxiliaries, pronouns, conjunctions and the words questions are asked with."""

_FUNCTION_WORDS = """
    a an and are as at be been but by did do does for from had has have he her his how i if in into
    is it its no not of on or s she so such t than that the their them then there these they this
    to was we were what when where which who whom whose why will with would you
"""

ENGLISH = frozenset(_FUNCTION_WORDS.split())
"""Articles, pronouns, prepositions, auxiliaries and the words questions are asked with."""

_KANJI = NUMERAL_CHARACTERS
_NUMERAL = rf"(?:[0-9]{{1,3}}(?:,[0-9]{{3}})+(?![0-9])[{_KANJI}]*|[0-9{_KANJI}]+)"
# Copied text has stray blanks inside places: 第６条 の２.
_BRANCHES = rf"(?: ?の ?{_NUMERAL})*"
_LATIN = "a-z\u00df-\u024f"
# One kanji numeral alone is mostly part of a word (一般, 千葉): these make it a count.
_COUNTER = "(?:か月|箇月|ヶ月|か年|箇年|週間|時間|[日年月人円歳回名件点割倍])"
_ORDINAL = "[章節款目編部回種類級巻話期代位次世版]"

_ENTITY = re.compile(
    rf"(?=[0-9{_LATIN}第別明大昭平令{_KANJI}])(?:"
    rf"(?P<era>(?:{'|'.join(YEAR_BEFORE)})(?:元|{_NUMERAL})年)"
    rf"|(?P<place>(?:第 ?)?{_NUMERAL} ?[条項号]{_BRANCHES})"
    rf"|(?P<ordinal>第{_NUMERAL}{_ORDINAL}{_BRANCHES})"
    rf"|(?P<table>別表 ?(?:第 ?)?{_NUMERAL}{_BRANCHES})"
    rf"|(?P<year>(?:[0-9]{{3,4}}|[{_KANJI}]{{3,}})年)"
    rf"|(?P<number>[0-9]+\.[0-9]+|(?=[0-9]){_NUMERAL}|[{_KANJI}]{{2,}}|[{_KANJI}](?={_COUNTER}))"
    rf"|(?P<word>[{_LATIN}]+(?:['’][a-z]+)?)"
    ")"
)
"""Finds the entities of normalised text; `_term_of` gives the term of each."""

# Stands in for one entity while MeCab cuts the rest: a digit, so that what surrounds it is read
# as it would be around a number. Every digit of the text belongs to an entity.
_PLACEHOLDER = "5"
_WORD_CHARACTER = re.compile(r"\w")
# What terms have that are no words of Japanese.
_OF_ENTITIES = re.compile(f"[0-9{_LATIN}]")
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

    id = "ja-en/2"

    def terms(self, text: str) -> list[str]:
        """Cut `text` into terms, in order, stop words and punctuation left out."""
        entities: list[str] = []

        def stand_in(match: re.Match[str]) -> str:
            entities.append(_term_of(match))
            return _PLACEHOLDER

        surfaces = segment(_ENTITY.sub(stand_in, normalize(text)))
        following = iter(entities)
        terms: list[str] = []
        for surface in filterfalse(_is_empty, surfaces):
            if _PLACEHOLDER in surface:
                named = islice(following, surface.count(_PLACEHOLDER))
                terms.extend(filterfalse(_is_empty, named))
            else:
                terms.append(surface)
        return terms

    def tokens(self, text: str) -> list[Token]:
        """Cut `text` into the same terms as `terms`, each with its span in `text` itself."""
        return _tokens(text, lambda term: not _is_empty(term))


def _tokens(text: str, wants: Callable[[str], bool]) -> list[Token]:
    normal, offsets = normalize_with_offsets(text)
    return [
        Token(term, *original_span(offsets, start, end))
        for term, start, end in _located(normal)
        if wants(term)
    ]


def _located(normal: str) -> Iterator[tuple[str, int, int]]:
    entities = _ENTITY.finditer(normal)
    position = 0
    for surface in segment(_ENTITY.sub(_PLACEHOLDER, normal)):
        if _PLACEHOLDER in surface:
            for _ in range(surface.count(_PLACEHOLDER)):
                entity = next(entities)
                yield _term_of(entity), entity.start(), entity.end()
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
    return word if word in ENGLISH else str(_stemmer().stemWord(word))


@lru_cache(maxsize=1 << 17)
def _is_empty(term: str) -> bool:
    return (
        term in JAPANESE
        or term in ENGLISH
        or _LONE_HIRAGANA.fullmatch(term) is not None
        or _WORD_CHARACTER.search(term) is None
    )


def _term_of(match: re.Match[str]) -> str:
    """Name an entity by its canonical term: 第二十七条の三十六 is ``第27条の36``."""
    if match.lastgroup == "word":
        return _stem(match[0].replace("’", "'"))
    return _canonical(match.lastgroup or "", match[0])


@lru_cache(maxsize=65536)
def _canonical(kind: str, text: str) -> str:
    if kind == "era":
        era, count = text[:2], text[2:-1]
        year = in_digits("1" if count == "元" else count)
        return f"{common_year(era, int(year))}年" if year.isdigit() else text
    written = re.sub(_NUMERAL, lambda numeral: in_digits(numeral[0]), text.replace(" ", ""))
    if kind == "place" and not written.startswith("第"):
        return f"第{written}"
    if kind == "table" and not written.startswith("別表第"):
        return f"別表第{written.removeprefix('別表')}"
    return written


def highlight(text: str, query_terms: Collection[str]) -> list[tuple[int, int]]:
    """Spans of `text` whose terms are among the query's, in order; neighbours come as one span."""
    spans: list[tuple[int, int]] = []
    for token in _tokens(text, frozenset(query_terms).__contains__):
        if spans and token.start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], token.end))
        else:
            spans.append((token.start, token.end))
    return spans


def best_window(text: str, query_terms: Collection[str], size: int) -> tuple[int, int]:
    """Find the span of at most `size` characters that shows the most different query terms.

    Of equally good ones the first with most matches wins; what room is left is put around the
    matches, evenly. Without a match it is the beginning of the text. A word is looked for as it is
    written: to cut a long text into words takes longer than the search that found it.
    """
    if len(text) <= size:
        return 0, len(text)
    best, best_value = (0, 0), (0, 0)
    inside: Counter[str] = Counter()
    matches = _likely(text, frozenset(query_terms))
    first = 0
    for last, (_start, end, term) in enumerate(matches):
        inside[term] += 1
        while first < last and end - matches[first][0] > size:
            gone = matches[first][2]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            first += 1
        value = (len(inside), last - first + 1)
        if value > best_value:
            best, best_value = (matches[first][0], end), value
    room = max(0, size - (best[1] - best[0]))
    start = max(0, min(best[0] - room // 2, len(text) - size))
    return start, start + size


def _likely(text: str, wanted: Collection[str]) -> list[tuple[int, int, str]]:
    """Spans where terms stand in a text, or are written as a part of longer words, in order."""
    normal, offsets = normalize_with_offsets(text)
    found = [
        (entity.start(), entity.end(), term)
        for entity in _ENTITY.finditer(normal)
        if (term := _term_of(entity)) in wanted
    ]
    for term in wanted:
        if _OF_ENTITIES.search(term):
            continue
        start = normal.find(term)
        while start >= 0:
            found.append((start, start + len(term), term))
            start = normal.find(term, start + len(term))
    return [(*original_span(offsets, start, end), term) for start, end, term in sorted(found)]

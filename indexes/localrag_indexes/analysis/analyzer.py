"""Terms, words and sentences of Japanese and English text, each with its span in the text.

MeCab and UniDic give the words.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import filterfalse, islice, pairwise
from typing import Any, NamedTuple

from localrag_indexes.analysis.normalize import (
    NUMERAL_CHARACTERS,
    YEAR_BEFORE,
    common_year,
    in_digits,
    normalize,
    normalize_with_offsets,
    original_span,
)

# MeCab holds one lattice for all its input: a document of a megabyte would cost gigabytes.
_LONGEST_RUN = 4000
_PAUSE = re.compile(r"[。、\s]")
# Columns of UniDic: parts of speech, dictionary form, pronunciation.
_PARTS_OF_SPEECH, _LEMMA, _SOUND = 3, 7, 9
# Ways of cutting and reading a word that are tried, the likeliest first.
_READINGS = 20


class Morpheme(NamedTuple):
    """A word of MeCab."""

    surface: str  # as written
    start: int  # start, end: its span in the text
    end: int
    kind: str  # parts of speech, the general one first ("名詞-固有名詞-地名")
    lemma: str  # the dictionary form; the surface if UniDic does not have the word


@cache
def _tagger(options: str) -> Any:
    import fugashi

    return fugashi.Tagger(options)


def segment(text: str) -> list[str]:
    """Cut normalised text into surfaces; blanks are dropped, the rest is kept in order."""
    return [
        surface
        for start, end in _runs(text)
        for surface in _tagger("-Owakati").parse(text[start:end]).split()
    ]


def morphemes(text: str) -> list[Morpheme]:
    """Cut normalised text like `segment`, with the dictionary entry of each word."""
    found: list[Morpheme] = []
    for start, end in _runs(text):
        at = start
        for node in _tagger("")(text[start:end]):
            at = text.index(node.surface, at)
            # Six times as fast to read as the library's named fields.
            fields = node.feature_raw.split(",", _LEMMA + 1)
            kind = "-".join(field for field in fields[:_PARTS_OF_SPEECH] if field != "*")
            lemma = fields[_LEMMA] if len(fields) > _LEMMA else node.surface
            found.append(Morpheme(node.surface, at, at + len(node.surface), kind, lemma))
            at += len(node.surface)
    return found


def sounds(word: str) -> frozenset[str]:
    """How a word can be read aloud, in katakana: 民放 is ミンポー; may be empty."""
    read = set()
    for nodes in _tagger("").nbestToNodeList(word, _READINGS):
        pieces = [node.feature_raw.split(",") for node in nodes]
        if all(len(fields) > _SOUND for fields in pieces):
            read.add("".join(fields[_SOUND] for fields in pieces))
    return frozenset(read)


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Spans of a text for MeCab, cut at pauses where possible."""
    start = 0
    while start < len(text):
        end = min(start + _LONGEST_RUN, len(text))
        if end < len(text):
            pauses = [pause.end() for pause in _PAUSE.finditer(text, end - 500, end)]
            end = pauses[-1] if pauses else end
        yield start, end
        start = end


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
# A single kanji numeral is mostly part of a word (一般, 千葉); these make it a count.
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
"""The entities of normalised text; `_term_of` gives the term of each."""

# Replaces an entity while MeCab cuts the rest. It is a digit, so that its neighbours are read
# as around a number. Every digit of the text belongs to an entity.
_PLACEHOLDER = "5"
_WORD_CHARACTER = re.compile(r"\w")
# No Japanese words.
_OF_ENTITIES = re.compile(f"[0-9{_LATIN}]")
# A single hiragana is a particle or the end of an inflected word.
_LONE_HIRAGANA = re.compile("[ぁ-ゖ]")


@dataclass(frozen=True, slots=True)
class Token:
    """A term and the span of the original text it was made from."""

    term: str
    start: int
    end: int


class Analyzer:
    """Turns Japanese and English text into terms, the same in every process.

    `id` changes whenever the terms can, so that an index of another analyzer is recognised.
    """

    id = "ja-en/2"

    def terms(self, text: str) -> list[str]:
        """Cut `text` into terms, in order, without stop words and punctuation."""
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
        """Cut `text` into the same terms as `terms`, each with its span in `text`."""
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
    """Spans of `text` with terms of the query, in order; neighbours come as one span."""
    spans: list[tuple[int, int]] = []
    for token in _tokens(text, frozenset(query_terms).__contains__):
        if spans and token.start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], token.end))
        else:
            spans.append((token.start, token.end))
    return spans


def best_window(text: str, query_terms: Collection[str], size: int) -> tuple[int, int]:
    """Find the span of at most `size` characters with the most different query terms.

    Ties go to the span with most matches, then to the first. Spare room goes around the matches,
    evenly. Words are looked for as written: analysing a long text takes longer than the search.
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
    """Spans where terms are written in a text, also as parts of longer words, in order."""
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


_BRACKETS = {
    "（": "）", "「": "」", "『": "』", "〔": "〕", "【": "】", "〈": "〉", "《": "》",
    "［": "］", "｛": "｝", "｢": "｣", "(": ")", "[": "]",
}  # fmt: skip
_OPENERS = {closer: opener for opener, closer in _BRACKETS.items()}
_BRACKET = re.compile("[" + re.escape("".join([*_BRACKETS, *_OPENERS])) + "]")
# Statutes put whole sentences into brackets. Beyond this, an opening bracket is a typing error.
_LONGEST_BRACKET = 3000
_DEEPEST_NESTING = 40

_CLOSERS = "\"'”’)\\]）」』〕】〉》］｝｣"
_BOUNDARY = re.compile(
    r"[\r\n]+"
    r"|[。｡！？!?]+"
    r"|(?<![0-9０-９A-Za-zＡ-Ｚａ-ｚ])．"
    rf"|\.+(?=[{_CLOSERS}]*(?:\s|$))"
)
_TRAILING_CLOSERS = re.compile(r"[\"'”’]*")

_LAST_WORD = re.compile(r"(?:[A-Za-z]\.)*[A-Za-z]+$|[0-9]+$")
_NEXT_WORD = re.compile(r"[\s\"'“‘(\[]*([A-Za-z]+|\S)?")
_ABBREVIATION_LIST = """
    mr mrs ms dr prof sr jr st mt ft inc ltd co corp bros dept univ assn vs v etc eg ie cf al ca
    no nos art arts sec secs para paras ch fig figs vol vols p pp ed eds rev hon gen col maj capt
    cmdr lt sgt rep sen gov pres adm jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed
    thu fri sat sun approx est min max
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_LIST.split())
# Words that open a sentence but hardly ever follow an abbreviation inside one.
_STARTER_LIST = """
    The A An He She It They We You I In On At This That These Those There When While After Before
    If But And However His Her Its Their As For Since Although Many Some Most Both
"""
_STARTERS = frozenset(_STARTER_LIST.split())


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Return the spans of the sentences, in order, without the blanks around them.

    A sentence ends at 。！？ (full or half width), at a line break, and at an English full stop,
    unless that closes an abbreviation, initial or number. No sentence ends inside brackets or 「」,
    unless the closing one is missing or thousands of characters away. Terminators and the quotation
    marks after them belong to the sentence. Every non-blank character belongs to exactly one.
    """
    cuts = [0]
    shelter = _bracketed(text)
    sheltered_until = -1
    for match in _BOUNDARY.finditer(text):
        start = match.start()
        while shelter and shelter[-1][0] < start:
            sheltered_until = max(sheltered_until, shelter.pop()[1])
        if start < sheltered_until or not _ends_sentence(text, match, cuts[-1]):
            continue
        end = match.end()
        if not match[0].isspace():
            end = _TRAILING_CLOSERS.match(text, end).end()  # type: ignore[union-attr]
        cuts.append(end)
    cuts.append(len(text))
    spans = (_trimmed(text, start, end) for start, end in pairwise(cuts))
    return [(start, end) for start, end in spans if start < end]


def _bracketed(text: str) -> list[tuple[int, int]]:
    """Spans of the matching bracket pairs, last one first."""
    open_at: list[int] = []
    pairs: list[tuple[int, int]] = []
    for match in _BRACKET.finditer(text):
        position = match.start()
        opener = _OPENERS.get(match[0])
        if opener is None:
            open_at.append(position)
            del open_at[:-_DEEPEST_NESTING]
            continue
        for depth in range(len(open_at) - 1, -1, -1):
            if text[open_at[depth]] == opener:
                if position - open_at[depth] <= _LONGEST_BRACKET:
                    pairs.append((open_at[depth], position))
                del open_at[depth:]
                break
    pairs.sort(reverse=True)
    return pairs


def _ends_sentence(text: str, boundary: re.Match[str], sentence_start: int) -> bool:
    mark = boundary[0]
    if mark.isspace():
        return not _wraps_line(text, boundary)
    if not mark.isascii():
        return True
    following = _NEXT_WORD.match(text, boundary.end())
    next_word = following[1] if following else None
    if next_word is None:
        return True
    if next_word[0].islower():
        return False
    return mark != "." or not _closes_abbreviation(
        text, boundary.start(), sentence_start, next_word
    )


def _closes_abbreviation(text: str, stop: int, sentence_start: int, next_word: str) -> bool:
    """Whether the full stop at `stop` belongs to the word or number before it."""
    # The window keeps the search short on a text without blanks.
    last = _LAST_WORD.search(text, max(0, stop - 24), stop)
    if last is None:
        return False
    word = last[0]
    if word.isdigit():
        # "1. Scope": a number at the start of a sentence numbers what follows.
        return not text[sentence_start : last.start()].strip()
    if next_word in _STARTERS:
        return False
    return len(word) == 1 or "." in word or word.lower() in _ABBREVIATIONS


def _wraps_line(text: str, boundary: re.Match[str]) -> bool:
    """Whether a single line break only wraps an English sentence."""
    if boundary[0] not in ("\n", "\r\n") or boundary.start() == 0:
        return False
    before = text[boundary.start() - 1]
    after = text[boundary.end() : boundary.end() + 1]
    return (before.islower() or before == ",") and after.islower() and (before + after).isascii()


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end

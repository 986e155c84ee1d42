"""A guard against prompts with wording of the questions they were made from.

Such a prompt would score well on these questions and prove nothing. The guard finds:

- copied wording, whole or in pieces, in any width, case, kana, accents, blanks, punctuation and
  tags, and with one repeated letter or up to two letters inserted between the others;
- numbers of gold articles, in figures or Japanese numerals, and several bare numbers.

It does not find paraphrases, translations, pieces shorter than `PIECE`, a gold context in pieces,
numbers in English words, and reversed or enciphered text.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import unescape
from unicodedata import normalize as compose

from localrag.answer.prompts import Language, language_of
from localrag.evaluation.optimize.types import Leak
from localrag.evaluation.types import Question
from localrag.law.citations import find_citations
from localrag.law.names import LawNames
from localrag_indexes.analysis.normalize import NUMERAL_CHARACTERS, normalize, parse_numeral

LONGEST: dict[Language, int] = {"ja": 12, "en": 40}
"""Letters and digits in a row that a prompt may share with a question, by its language."""

PIECE: dict[Language, int] = {"ja": 6, "en": 20}
"""Letters and digits in a row that count towards `SPREAD`."""

SPREAD: dict[Language, int] = {"ja": 24, "en": 80}
"""Letters and digits, in pieces, that are too many of one question and its options."""

COMMON = 5
"""What the wording of so many questions has in common is of the trade, and may be used."""

NUMBERS = 3
"""Bare numbers of gold articles, this many of them, are not chance."""

_RUN: dict[Language, int] = {language: longest + 1 for language, longest in LONGEST.items()}
_NO_LETTER = re.compile(r"[\W_]+")
_ACCENT = re.compile("[\u0300-\u036f]")
# Latin only: Japanese between such brackets is wording.
_TAG = re.compile(r"</?[a-z][a-z0-9 =\"'/-]{0,40}>")
_HIRAGANA = {katakana: katakana - 0x60 for katakana in range(ord("ァ"), ord("ヶ") + 1)}
# A letter this frequent may have been inserted into copied wording.
_OFTEN = 6


class LeakageGuard:
    """Finds wording of questions, options and gold contexts in a prompt.

    Words of the first prompt (`seed`) and `names` of laws in the corpus are allowed.
    """

    def __init__(self, questions: Iterable[Question], seed: str, names: LawNames) -> None:
        known = list(questions)
        self._names = names
        free = _common(known, _RUN) | set(_runs_of([seed], _RUN, _RUN))
        self._owners = {
            run: question.id
            for question in known
            for run in _runs_of([*_asked(question), question.context], _RUN)
            if run not in free
        }
        titles = (row.title for row in names.rows.values())
        free = _common(known, PIECE) | set(_runs_of([seed, *titles], PIECE, PIECE))
        self._pieces: dict[Language, dict[str, set[str]]] = {
            language: defaultdict(set) for language in PIECE
        }
        for question in known:
            language = language_of("".join(_asked(question)))
            for piece in _runs_of(_asked(question), PIECE, (language,)):
                if piece not in free:
                    self._pieces[language][piece].add(question.id)
        self._articles = {place.article for question in known for place in question.gold} | {
            article for question in known for text in _asked(question) for article in written(text)
        }
        self._articles -= {"", *cited(seed)}

    def find(self, prompt: str) -> Leak | None:
        """The first leak in a prompt; None if there is none."""
        for reading in _readings(list(self._between_names(prompt))):
            for run in _windows(reading, _RUN.values()):
                if run in self._owners:
                    return Leak(self._owners[run], run)
            for language in PIECE:
                if (leak := self._in_pieces(reading, language)) is not None:
                    return leak
        for article in cited(prompt):
            if article in self._articles:
                return Leak("", article)
        alone = [number for number in dict.fromkeys(bare(prompt)) if number in self._articles]
        return Leak("", ", ".join(alone)) if len(alone) >= NUMBERS else None

    def _in_pieces(self, reading: Sequence[str], language: Language) -> Leak | None:
        """Whether a prompt holds too much of one question; repeated pieces count once."""
        owners, length = self._pieces[language], PIECE[language]
        letters: defaultdict[str, dict[tuple[int, int], str]] = defaultdict(dict)
        met: set[str] = set()
        for number, part in enumerate(reading):
            for start in range(len(part) - length + 1):
                piece = part[start : start + length]
                if piece in met:
                    continue
                met.add(piece)
                for question in owners.get(piece, ()):
                    letters[question] |= {
                        (number, start + place): letter for place, letter in enumerate(piece)
                    }
        for question, shared in letters.items():
            if len(shared) >= SPREAD[language]:
                return Leak(question, "".join(shared.values()))
        return None

    def _between_names(self, prompt: str) -> Iterator[str]:
        start = 0
        for name in self._names.find_names(prompt):
            # A short tag hides nothing, and would split the text around it.
            if name.end - name.start > LONGEST["ja"]:
                yield prompt[start : name.start]
                start = name.end
        yield prompt[start:]


def _asked(question: Question) -> list[str]:
    return [question.query.text, *question.query.options]


def _common(questions: Iterable[Question], lengths: Mapping[Language, int]) -> set[str]:
    # Counted in questions, not in contexts: questions on one provision share these.
    asked = Counter(
        run for question in questions for run in set(_runs_of(_asked(question), lengths))
    )
    return {run for run, count in asked.items() if count >= COMMON}


def _runs_of(
    texts: Iterable[str], lengths: Mapping[Language, int], languages: Iterable[Language] = ()
) -> Iterator[str]:
    """Every stretch of letters of the length for its language."""
    for text in texts:
        wanted = languages or (language_of(text),)
        yield from _windows([_letters(text)], [lengths[language] for language in wanted])


def _windows(texts: Iterable[str], lengths: Iterable[int]) -> Iterator[str]:
    for letters in texts:
        for length in lengths:
            for start in range(len(letters) - length + 1):
                yield letters[start : start + length]


def _readings(parts: Sequence[str]) -> Iterator[list[str]]:
    """The letters of a prompt, also without inserted ones."""
    plain = [_letters(part) for part in parts]
    yield plain
    bared = [_letters(_TAG.sub("", normalize(unescape(part)))) for part in parts]
    if bared != plain:
        yield bared
    for filler, count in Counter("".join(bared)).items():
        if count >= _OFTEN:
            yield [part.replace(filler, "") for part in bared]
    for step in (2, 3):
        for start in range(step):
            yield [part[start::step] for part in bared]


def _letters(text: str) -> str:
    bare_letters = _ACCENT.sub("", compose("NFD", text))
    return _NO_LETTER.sub("", normalize(bare_letters).translate(_HIRAGANA))


# Old spellings; no statute in force numbers with them.
_OLD = str.maketrans({"廿": "二十", "卅": "三十", "卌": "四十", "條": "条"})
_BLANK = r"[ \t]*"
_NUMBER = rf"(?:[0-9]{{1,4}}|[{NUMERAL_CHARACTERS}]{{1,9}})"
_EACH = re.compile(_NUMBER)
# 27-3, 二十七の三, 27条の3
_BRANCHES = rf"(?:{_BLANK}条?{_BLANK}[のノ之_ー‐–—―−-]{_BLANK}{_NUMBER})"
_PLACE = rf"{_NUMBER}{_BRANCHES}*"
_AND = r"(?:[,、・;/&+~〜]|and\b|or\b|to\b|及び|又は|並びに|若しくは|から|と|や)"
_LIST = rf"{_PLACE}(?:(?:{_BLANK}{_AND})+{_BLANK}{_PLACE})*"
_WORDED = re.compile(
    rf"(?:\bart(?:icle)?s?\b\.?|§+|条文?番号){_BLANK}[:=#]?{_BLANK}({_LIST})"
    rf"|({_LIST}){_BLANK}条"
)
# "③ 条文の番号を書く" is a rule, and 三条件 a number of conditions.
_NO_ARTICLE = re.compile(rf"(?<![第0-9{NUMERAL_CHARACTERS}]){_NUMBER}{_BLANK}条(?=[文件項例])")
_BRANCHED = re.compile(rf"(?<![0-9.]){_NUMBER}{_BRANCHES}+")
_HYPHEN = re.compile(r"[_ー‐–—―−-]")
# No unit follows: neither 30日 nor 300 characters.
_ALONE = rf"(?={_BLANK}(?:$|{_AND}|[をがはにのでも]|[^\w\s.%]|\.(?!\d)))"
_NO_UNIT = re.compile(_ALONE, re.MULTILINE)
_BARE = re.compile(rf"(?:(?<![\w.])|(?<=第))({_PLACE}){_ALONE}", re.MULTILINE)
_MARKER = re.compile(r"[ \t]*\(?([0-9]{1,3})[.):、]")


def written(text: str) -> list[str]:
    """Articles cited in a text as statutes do, as in `Locator.article` ("27_36")."""
    # Blanks inside a citation would hide its number.
    compact = re.sub(r"\s", "", text)
    return [
        place.article
        for found in find_citations(compact)
        for place in (found.locator, found.last)
        if place is not None and place.article
    ]


def cited(text: str) -> Iterator[str]:
    """Articles cited in a text in any spelling: with a word for article, or branched."""
    plain = _NO_ARTICLE.sub("", _plain(text))
    yield from written(plain)
    for match in _WORDED.finditer(plain):
        for place in re.finditer(_PLACE, match[1] or match[2]):
            yield from _read(place[0])
    for match in _BRANCHED.finditer(plain):
        if _NO_UNIT.match(plain, match.end()) or not _is_range(match[0]):
            yield from (article for article in _read(match[0]) if "_" in article)


def bare(text: str) -> Iterator[str]:
    """Bare numbers of at least two digits, without a unit or list marker."""
    for match in _BARE.finditer(_without_markers(_plain(text))):
        number = next(_read(match[1]), "")
        if len(number) > 1:
            yield number


def _plain(text: str) -> str:
    return normalize(text).translate(_OLD)


def _read(place: str) -> Iterator[str]:
    """An article, then the same with each following number as a branch."""
    article = ""
    for number in _EACH.findall(place):
        try:
            read = str(parse_numeral(number))
        except ValueError:
            return
        article = f"{article}_{read}" if article else read
        yield article


def _is_range(place: str) -> bool:
    """Whether it may be 3-4 of something."""
    numbers = [int(article.rpartition("_")[2]) for article in _read(place)]
    return _HYPHEN.search(place) is not None and numbers == sorted(numbers)


def _without_markers(text: str) -> str:
    lines, last = [], 0
    for line in text.splitlines():
        marker = _MARKER.match(line)
        if marker and int(marker[1]) in (1, last + 1):
            last = int(marker[1])
            line = line[marker.end() :]
        lines.append(line)
    return "\n".join(lines)

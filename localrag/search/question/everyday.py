"""What people write, in the words of statutes.

Everyday words (``vocabulary.tsv``): a statute says 会社関係者, its reader インサイダー.
Likely questions on a provision (``predicted_questions.tsv``).

English citations: "Article 27-2, paragraph (1) of the Financial Instruments and Exchange Act" is
第27条の2第1項; "Articles 709 to 715" and "Article 96(1) and (3)" are ranges and lists. A law comes
before or after its articles. Articles of a treaty or a contract belong to no law.
"""

import csv
import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from localrag_indexes.analysis import Analyzer
from localrag_indexes.analysis.normalize import (
    PlainText,
    normalize,
    normalize_with_offsets,
    original_span,
)

# The first paint of the workbench waits for this module, and not for the store.
if TYPE_CHECKING:
    from localrag.search.question.laws import LawNamed

_ENGLISH = re.compile(r"[\x00-\x7f]+")
# Allowed between the letters of a Japanese word: クーリング・オフ, 誇大 広告; and an optional
# particle between two words: 会社を辞め, 会社辞め.
_BETWEEN = re.compile(r"[\s・]+|(?<=[^ぁ-ん])[のをがは](?=[一-鿿々ァ-ヺ])")
_KATAKANA = re.compile("[ァ-ヺー]")
_KANJI = re.compile("[一-鿿々]")
_LATIN = re.compile("[A-Za-zＡ-Ｚａ-ｚ]")


@dataclass(frozen=True, slots=True)
class EverydayWord:
    """An everyday word of a question.

    Attributes:
        said: as in the question.
        start, end: its span in the question, in characters.
        phrases: equivalent statutory phrases.
        is_plain: whether it also occurs in questions not about law.
    """

    said: str
    start: int
    end: int
    phrases: tuple[str, ...]
    is_plain: bool = False

    @property
    def others(self) -> tuple[str, ...]:
        """The phrases other than the word itself."""
        return tuple(phrase for phrase in self.phrases if phrase != self.said)


class VocabularyLine(NamedTuple):
    """A line of the vocabulary.

    Attributes:
        said: everyday words for one thing, Japanese and English.
        phrases, is_plain: as in `EverydayWord`.
    """

    said: tuple[str, ...]
    phrases: tuple[str, ...]
    is_plain: bool


Key = TypeVar("Key", str, tuple[str, ...])


def wordings(question: str, besides: Iterable[tuple[int, int]] = ()) -> tuple[EverydayWord, ...]:
    """Find the everyday words of a question, in order, without overlaps; the longest first.

    Args:
        question: in Japanese or English, or both.
        besides: spans to ignore, such as titles of laws.
    """
    taken = list(besides)
    found: list[EverydayWord] = []
    every = (*_japanese(question), *_english(question))
    for wording in sorted(every, key=lambda one: (one.start, -one.end)):
        if all(wording.end <= start or end <= wording.start for start, end in taken):
            taken.append((wording.start, wording.end))
            found.append(wording)
    return tuple(found)


@cache
def entries() -> tuple[VocabularyLine, ...]:
    """The whole vocabulary, in file order."""
    text = files(__package__).joinpath("vocabulary.tsv").read_text("utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    return tuple(
        VocabularyLine(
            tuple(row["said"].split(" | ")),
            tuple(row["law"].split(" | ")),
            row["kind"] == "plain",
        )
        for row in rows
    )


class _WordsByKey(NamedTuple, Generic[Key]):
    """The words of one language, prepared for look-up.

    Attributes:
        entries: by the letters of a Japanese word, or the terms of an English one.
        longest: length of the longest word beginning with each of them.
    """

    entries: Mapping[Key, VocabularyLine]
    longest: Mapping[str, int]

    def ends(self, first: int, beginning: str, length: int) -> range:
        """Possible ends of a word at `first`, in letters or terms."""
        return range(first + 1, min(first + self.longest.get(beginning, 0), length) + 1)


@cache
def _analyzer() -> Analyzer:
    return Analyzer()


@cache
def _japanese_words() -> _WordsByKey[str]:
    words: dict[str, VocabularyLine] = {}
    for entry in entries():
        for said in entry.said:
            if not _ENGLISH.fullmatch(said):
                word = _BETWEEN.sub("", normalize(said))
                words[word] = _both(words[word], entry) if word in words else entry
    return _WordsByKey(words, _longest(words))


def _both(one: VocabularyLine, other: VocabularyLine) -> VocabularyLine:
    """Merge two lines of the same word with other particles: 相続放棄, 相続を放棄."""
    phrases = tuple(dict.fromkeys((*one.phrases, *other.phrases)))
    return VocabularyLine(one.said, phrases, one.is_plain and other.is_plain)


@cache
def _english_words() -> _WordsByKey[tuple[str, ...]]:
    words = {
        tuple(_analyzer().terms(said)): entry
        for entry in entries()
        for said in entry.said
        if _ENGLISH.fullmatch(said)
    }
    return _WordsByKey(words, _longest(words))


def _longest(words: Iterable[str | tuple[str, ...]]) -> dict[str, int]:
    longest: dict[str, int] = {}
    for word in words:
        longest[word[0]] = max(len(word), longest.get(word[0], 0))
    return longest


def _japanese(question: str) -> Iterator[EverydayWord]:
    known = _japanese_words()
    normal, offsets = normalize_with_offsets(question)
    between = {place for found in _BETWEEN.finditer(normal) for place in range(*found.span())}
    places = [place for place in range(len(normal)) if place not in between]
    letters = "".join(normal[place] for place in places)
    for first in range(len(letters)):
        for last in known.ends(first, letters[first], len(letters)):
            entry = known.entries.get(letters[first:last])
            if entry and not _goes_on(letters, first, last):
                start, end = original_span(offsets, places[first], places[last - 1] + 1)
                yield EverydayWord(question[start:end], start, end, entry.phrases, entry.is_plain)


def _goes_on(letters: str, first: int, last: int) -> bool:
    """Whether it is part of a longer word: パート in デパート, 車 in 自動車."""
    scripts = (_KATAKANA, _KANJI) if last == first + 1 else (_KATAKANA,)
    return any(
        0 < edge < len(letters) and script.match(letters[edge - 1]) and script.match(letters[edge])
        for edge in (first, last)
        for script in scripts
    )


def _english(question: str) -> Iterator[EverydayWord]:
    # Reading the English words takes half a second, and most questions have none.
    if not _LATIN.search(question):
        return
    known = _english_words()
    tokens = _analyzer().tokens(question)
    for first in range(len(tokens)):
        for last in known.ends(first, tokens[first].term, len(tokens)):
            entry = known.entries.get(tuple(token.term for token in tokens[first:last]))
            if entry:
                start, end = tokens[first].start, tokens[last - 1].end
                yield EverydayWord(question[start:end], start, end, entry.phrases, entry.is_plain)


# Questions that people ask, by the provision that answers them.
_PREDICTED = "predicted_questions.tsv"


def predicted_questions(unit: str) -> Sequence[str]:
    """The questions of an article, by the id of its passage; mostly empty."""
    return _by_unit().get(unit, ())


@cache
def predicted_fingerprint() -> str:
    """The fingerprint of the file of predicted questions."""
    return hashlib.blake2b(_predictions().encode(), digest_size=8).hexdigest()


@cache
def _predictions() -> str:
    return files(__package__).joinpath(_PREDICTED).read_text(encoding="utf-8")


@cache
def _by_unit() -> Mapping[str, Sequence[str]]:
    questions: dict[str, list[str]] = {}
    for line in _predictions().splitlines():
        law, article, question = line.split("\t")
        questions.setdefault(f"{law}#{article}", []).append(question)
    return questions


_PARAGRAPH = r"\((?P<bracketed>\d{1,3})\)"
_ITEM = r"\((?P<roman>[ivx]{1,6})\)"
_NUMBER = (
    r"(?P<article>\d{1,1000}+(?:-\d{1,3}){0,3})(?![\d%])"
    rf"(?:,? ?para(?:graph|\.)?(?P<plural>s\.?)? ?\(?(?P<paragraph>\d{{1,3}})\)?|{_PARAGRAPH})?"
    rf"(?:,? ?(?:sub)?items? ?\(?(?P<item>\d{{1,3}}|[ivx]{{1,6}})\)?|{_ITEM})?"
)
_CITATION = re.compile(
    rf"(?<![A-Za-z])(?:(?P<several>Articles|Arts\.?)|Article|Art\.?) ?{_NUMBER}", re.IGNORECASE
)
_CONJUNCTION = r", ?(?:and |or )?| (?:and|or|&) "
# A hyphen makes a range of paragraphs and items; in an article number it makes a branch.
_AND_OR_TO = rf"(?:{_CONJUNCTION}|(?P<range> (?:to|through|until) | ?[―-] ?))"
# Articles 709 to 715, from Article 709 to Article 715
_AND = (
    rf"(?:{_CONJUNCTION}"
    r"|(?P<range>(?: (?:to|through|until) | ?― ?)(?:(?:Article|Art\.) ?)?))"
)
# Articles 709, 710 and 715; but no counts: Articles 5 and 6, 30 days after.
_AND_NUMBER = re.compile(
    rf"{_AND}(?P<words>{_NUMBER})(?! ?(?:years?|months?|weeks?|days?|hours?|yen|per ?cent)\b)",
    re.IGNORECASE,
)
# Article 96(1) and (3), items (i) to (iii); but no points of the writer: (2) the plaintiff.
_AND_INNER = re.compile(
    rf"{_AND_OR_TO}(?P<words>"
    rf"(?:(?:sub)?item ?)?(?:{_PARAGRAPH}(?:{_ITEM})?|{_ITEM.replace('roman', 'item')}))"
    "(?! (?:whether|if|that|the|an?|any|its?|he|she|his|her|they|their|when|where|there|to [a-z])"
    r"\b)",
    re.IGNORECASE,
)
# Article 96, paragraphs 1 and 3
_AND_PARAGRAPH = re.compile(
    rf"{_AND_OR_TO}(?P<words>"
    r"(?P<paragraph>\d{1,3}))(?![\d%(-])",
    re.IGNORECASE,
)
_JOINED = re.compile(_AND, re.IGNORECASE)
_RIGHT_BEFORE = re.compile(r"[」』\"”)]?(?:['’]s)?[,:]? ?[(（]?")
_RIGHT_BEHIND = re.compile(r",? ?[(（「『\"“]?(?:the )?")
# Article 9 (proviso) of Japan's Civil Code
_OF = re.compile(
    r"(?:,? ?\([^()]*\))?"
    r"(?:,? ?(?:ff?\.?|et seq\.?|(?:the )?(?:\w+ )?(?:sentence|clause|proviso)))?"
    r",? (?:of|under|in) (?:(?!(?:and|or)\b)[\w'’\-]+ ){0,4}[(（「『\"“]?",
    re.IGNORECASE,
)
# Article 709, 710 and 719 of the Civil Code
_AND_SO_ON_OF = re.compile(
    rf"(?:(?:{_CONJUNCTION})\d{{1,4}}(?:-\d{{1,3}})*(?:\(\d{{1,3}}\))?)+"
    " (?:of|under) (?:the )?[A-Z]"
)
# Article 12 of this Agreement, Article 5 hereof, Article 101 TFEU: no law named before.
_WRITINGS = (
    "(?i:agreements?|contracts?|conventions?|treat(?:y|ies)|terms|by-?laws|charter|protocol"
    "|directives?|regulations?|rules|policy|lease|deed|guidelines"
    "|articles of (?:incorporation|association))"
)
_NO_CODE = "(?:AND|THE|OF|FOR|UNDER|WITH|FROM|SHALL|MAY|MUST|WILL|WHICH|THAT|NOT|ARE|WAS)"
_OF_ANOTHER = re.compile(
    ",? (?i:of|under|in) "
    "(?P<name>(?:(?i:the|this|that|these|our|your|their|said|such|its) )?"
    rf"(?:(?!(?i:and|or)\b)[\w'’\-]+,? ){{0,6}}?{_WRITINGS})\b"
    r"| (?P<here>hereof|herein)\b"
    rf"|(?:,? of the [A-Z][a-z]+)? (?P<code>(?!{_NO_CODE}\b)[A-Z]{{3,8}})\b"
)
_SENTENCE_ENDS = re.compile(
    r"(?<![Aa]rt)(?<![Aa]rts)(?<!para)(?<!\bcf)(?<!\bNo)\.\s+(?=[A-Z(\[“\"])|[。\n]"
)
_LONGEST_SENTENCE = 1_000
_LARGE = 3
# One character for one, so positions stay valid.
_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}
_ROMAN = {"i": 1, "v": 5, "x": 10}


class EnglishPlace(NamedTuple):
    """A provision or range cited in English, without its law.

    Attributes:
        start, end: its span.
        place: in the form of statutes ("第27条の2第1項第3号").
        within: its article, paragraph and item, the last as a number; "" if missing.
    """

    start: int
    end: int
    place: str
    within: tuple[str, str, str]


class EnglishCitation(NamedTuple):
    """A provision cited in English.

    Attributes:
        start: where it begins.
        words: as written.
        law: as named in the question; without ids for a contract or a foreign law.
        place: in the form of statutes ("第27条の2第1項第3号").
        is_joined: whether the law is named with the citation or its list.
        is_in_sentence: whether the law is named earlier in the sentence.
    """

    start: int
    words: str
    law: "LawNamed"
    place: str
    is_joined: bool
    is_in_sentence: bool


def english_citations(text: str, laws: "Sequence[LawNamed]") -> Iterator[EnglishCitation]:
    """Find the provisions cited in English, each number of a list separately.

    Args:
        text: the question.
        laws: all laws named, in order. A citation belongs to the law joined by "of" (of the FIEA),
            else to the law right before it (Civil Code art. 709), else to the last one before, else
            to the next. Without laws, only citations with their own (of this Agreement) are found.
    """
    read = PlainText(text)
    text = read.text.translate(_NARROW)
    groups = list(_groups(text))
    given = {
        replace(law, start=read.place(law.start), end=read.place(law.end)): law for law in laws
    }
    of_groups = _laws_cited(text, groups, list(given))
    for group, (law, is_joined) in zip(groups, of_groups, strict=True):
        if law is None:
            continue
        start = group[0].start
        is_near = start - _LONGEST_SENTENCE < law.end <= start and not _SENTENCE_ENDS.search(
            text, law.end, start + 1
        )
        for one in group:
            start, end = read.span(one.start, one.end)
            words = read.original[start:end]
            cited = given.get(law, law)
            yield EnglishCitation(start, words, cited, one.place, is_joined, is_near)


def english_places(text: str) -> Iterator[EnglishPlace]:
    """English citations without their laws: Art. 96."""
    read = PlainText(text)
    for group in _groups(read.text.translate(_NARROW)):
        for one in group:
            start, end = read.span(one.start, one.end)
            yield one._replace(start=start, end=end)


def _groups(text: str) -> Iterator[list[EnglishPlace]]:
    """Split lists: Articles 709 and 710 into "Articles 709" and "710".

    A range stays whole.
    """
    end = 0
    for match in _CITATION.finditer(text):
        # The second Article of a range belongs to it.
        if match.start() >= end:
            group = _listed(text, match)
            end = group[-1].end
            yield group


def _listed(text: str, first: re.Match[str]) -> list[EnglishPlace]:
    listed = [_read(first, *first.span())]
    plural = first["plural"]
    is_list = first["several"] or _AND_SO_ON_OF.match(text, first.end())
    while True:
        last = listed[-1]
        _, paragraph, item = last.within
        next_ = (paragraph or item) and _AND_INNER.match(text, last.end)
        next_ = next_ or (plural and _AND_PARAGRAPH.match(text, last.end))
        if next_:
            read = _read_inner(next_, last)
        elif next_ := _AND_NUMBER.match(text, last.end):
            read, plural = _read(next_, *next_.span("words")), next_["plural"]
            if not (next_["range"] or is_list):
                break
        else:
            break
        if next_["range"]:
            listed.pop()
            place = f"{last.place}から{read.place}まで"
            read = read._replace(start=last.start, place=place)
        listed.append(read)
    if first["several"] and listed[-1].end == first.end():
        return [_read(first, *first.span(), is_alone=True)]
    return listed


def _laws_cited(
    text: str, groups: Sequence[Sequence[EnglishPlace]], laws: "Sequence[LawNamed]"
) -> "list[tuple[LawNamed | None, bool]]":
    """The law of each list, and whether it is joined.

    A law joined to one list opens no other.
    """
    cited: list[tuple[LawNamed | None, bool]] = []
    joined: LawNamed | None = None
    for at, group in enumerate(groups):
        start, end = group[0].start, group[-1].end
        after = bisect_left(laws, end, key=lambda law: law.start)
        before, behind = laws[after - 1] if after else None, laws[after : after + 1]
        is_right_before = (
            before is not None
            and before != joined
            and _RIGHT_BEFORE.fullmatch(text, before.end, start)
        )
        follows = at > 0 and _JOINED.fullmatch(text, groups[at - 1][-1].end, start)
        if another := _another(text, end, behind):
            cited.append((another, True))
        elif behind and _OF.fullmatch(text, end, behind[0].start):
            joined = behind[0]
            cited.append((joined, True))
        elif is_right_before:
            cited.append((before, True))
        elif follows and cited[-1][0]:
            cited.append(cited[-1])
        elif behind and _RIGHT_BEHIND.fullmatch(text, end, behind[0].start):
            joined = behind[0]
            cited.append((joined, True))
        elif at + 1 < len(groups) and _JOINED.fullmatch(text, end, groups[at + 1][0].start):
            # Article 9 and Article 10 of the FIEA: the next one decides.
            cited.append((None, False))
        else:
            cited.append((before or (behind[0] if behind else None), False))
    for at in reversed(range(len(cited) - 1)):
        if cited[at][0] is None:
            cited[at] = cited[at + 1]
    return cited


def _another(text: str, end: int, behind: "Sequence[LawNamed]") -> "LawNamed | None":
    """The source of a list other than a law: a contract, a treaty, a foreign code."""
    from localrag.search.question.laws import LawNamed

    of = _OF_ANOTHER.match(text, end)
    if of is None or (behind and behind[0].start < of.end()):
        return None
    kind = of.lastgroup or ""
    return LawNamed(of[kind], *of.span(kind), ())


def _read(match: re.Match[str], start: int, end: int, *, is_alone: bool = False) -> EnglishPlace:
    """A provision or range in the form of statutes.

    709-712 is a range: no branch has such a number. So is 27-36 after "Articles" without another
    number.
    """
    main, *branches = match["article"].split("-")
    is_large = len(main) >= _LARGE and all(len(branch) >= _LARGE for branch in branches)
    if len(branches) == 1 and int(main) < int(branches[0]) and (is_alone or is_large):
        return EnglishPlace(start, end, f"第{main}条から第{branches[0]}条まで", ("", "", ""))
    article = f"第{main}条" + "".join(f"の{branch}" for branch in branches)
    paragraph = match["paragraph"] or match["bracketed"] or ""
    item = _in_figures(match["item"] or match["roman"] or "")
    return _place(start, end, article, paragraph, item)


def _read_inner(match: re.Match[str], last: EnglishPlace) -> EnglishPlace:
    """A paragraph or item of the last article: the (3) of Article 96(1) and (3)."""
    found = match.groupdict()
    article, paragraph, _ = last.within
    paragraph = found["paragraph"] if "paragraph" in found else found["bracketed"] or paragraph
    item = _in_figures(found.get("item") or found.get("roman") or "")
    return _place(*match.span("words"), article, paragraph, item)


def _place(start: int, end: int, article: str, paragraph: str, item: str) -> EnglishPlace:
    place = article + (f"第{paragraph}項" if paragraph else "") + (f"第{item}号" if item else "")
    return EnglishPlace(start, end, place, (article, paragraph, item))


def _in_figures(item: str) -> str:
    """3 and iii as 3; a smaller numeral before a greater one is subtracted."""
    if not item or item.isdecimal():
        return item
    values = [_ROMAN[letter] for letter in item.lower()]
    following = [*values[1:], 0]
    pairs = zip(values, following, strict=True)
    return str(sum(-one if one < next_ else one for one, next_ in pairs))

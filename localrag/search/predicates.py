"""Similarity of predicates by their wording; and step `subject`, the search in triples.

Words are alike if equal, by a common stem (長い, 長さ), by the character of a verb in a
Sino-Japanese word (造る, 建造), or by ``predicates.toml`` (生年月日, 誕生日, 生まれ).
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from localrag.corpus.knowledge import MOST_TRIPLES
from localrag.corpus.lookups import Lookups
from localrag.corpus.rows import fold
from localrag.search.units import Admission, Scores, add
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis.analyzer import JAPANESE, segment
from localrag_indexes.analysis.normalize import normalize

STAGE = "subject"

# Most subjects read for one name.
_SUBJECTS = 20
# Deduction for each subject that the name fits better.
_LESS_LIKELY = 0.1
# Score of any triple of the subject.
_OF_THE_SUBJECT = 0.01
# Bonus of the exact predicate over a synonym.
_SAME = 0.05
# Below that: meaning orders triples with equal predicates, and comes after.
_MEANING = 0.04

SAID = 0.5
"""Similarity at which a word counts as mentioning a predicate."""

_LIGHT = 0.25
_THING = 3
# Words sharing fewer of their letters are unrelated.
_LEAST_SHARED = 0.5
_SYNONYM = 0.95
_SAME_CHARACTER = 0.75
_OTHER_ASPECT = 0.4
_SHORTEST_HIRAGANA = 3
_CONTENT = re.compile(r"[^\W_ぁ-ゖ]")
_INFLECTED = re.compile(r"(?P<stem>[一-鿿々]+)[ぁ-ゖ]+")
# 造る, but not 長い: a quality is not part of a derived word (町長).
_VERB = re.compile(r"(?P<stem>[一-鿿])(?!いの?$|[くさ]$|かっ$|けれ$)[ぁ-ゖ]+")
# What is asked of an action: who (造った人, 建造者), when (造られた年, 竣工), where, how much.
_ASPECT = (
    r"(?P<who>者|人|家|主|元|会社)|(?P<when>年|日|月|時期|進水|竣工|完成|落成)"
    r"|(?P<where>地|場所)|(?P<amount>費|数|額|料)"
)
_ASPECT_BEHIND = re.compile(rf"[ぁ-ん]{{0,4}}(?:{_ASPECT})")
_OWN_ASPECT = re.compile(rf".*(?:{_ASPECT})")
_DIGITS = re.compile("[0-9]+")
_COMPOUND = re.compile(r"[一-鿿]{2,3}")


class Term(NamedTuple):
    """A meaningful word.

    Attributes:
        text: as in the normalised text.
        start: its place, in characters of the normalised text.
        things: the lines of ``predicates.toml`` with it.
        is_kind: whether it names a kind of thing (会社), which may be added.
        light: whether it says little of what is asked (人物, 名前).
        is_narrow: whether it is narrower than others of its lines (長男, 息子).
        aspect: what it asks of an action ("who" for 建造者), or "".
    """

    text: str
    start: int
    things: frozenset[int]
    is_kind: bool
    light: bool
    is_narrow: bool = False
    aspect: str = ""

    @property
    def weight(self) -> float:
        """Its weight: letters, more for a short name of a thing (父), less if light."""
        letters = len(_CONTENT.findall(self.text)) or len(self.text)
        return max(letters, _THING if self.things else 0) * (_LIGHT if self.light else 1)

    @property
    def end(self) -> int:
        """Its end, in characters."""
        return self.start + len(self.text)


@lru_cache(maxsize=1 << 14)
def terms(text: str) -> tuple[Term, ...]:
    """The meaningful words of a normalised text, in order; names of things whole."""
    vocabulary = _vocabulary()
    found = []
    position = taken = 0
    for surface in segment(text):
        start = text.index(surface, position)
        position = start + len(surface)
        if start < taken:
            continue
        named = vocabulary.names.match(text, start)
        # A single character is a word only if the text is cut on both sides.
        if named and (len(named[0]) > 1 or named[0] == surface):
            word = named[0]
        elif _CONTENT.search(surface) or _is_hiragana_word(surface):
            word = surface
        else:
            continue
        found.append(_term(text, start, word))
        taken = start + len(word)
    return tuple(found)


def _term(text: str, start: int, word: str) -> Term:
    vocabulary = _vocabulary()
    stem = _stem(word) if _INFLECTED.fullmatch(word) else ""
    return Term(
        text=word,
        start=start,
        things=vocabulary.things.get(word, frozenset()) | vocabulary.stems.get(stem, frozenset()),
        is_kind=word in vocabulary.kinds,
        light=word in vocabulary.light or stem in vocabulary.light_stems,
        is_narrow=word in vocabulary.narrow,
        aspect=_aspect(text, start, word),
    )


def alike(ours: Term, theirs: Term) -> float:
    """Similarity of two words, 0 to 1 (the same); lower if one asks who, the other when."""
    differs = ours.aspect and theirs.aspect and ours.aspect != theirs.aspect
    return _alike(ours, theirs) * (_OTHER_ASPECT if differs else 1)


def _alike(ours: Term, theirs: Term) -> float:
    if ours.text == theirs.text:
        return 1.0
    if ours.things and theirs.things:
        # Both are known: common letters do not make 出身地 and 出身校 alike.
        return _SYNONYM if ours.things & theirs.things else 0.0
    # 9000 is not like 900, nor 第12回 like 第1回.
    if _DIGITS.findall(ours.text) != _DIGITS.findall(theirs.text):
        return 0.0
    one, other = _stem(ours.text), _stem(theirs.text)
    if one == other:
        return _SYNONYM
    if _made_of(ours, theirs) or _made_of(theirs, ours):
        return _SAME_CHARACTER
    return _shared(one, other)


def likeness(asked: str, predicate: str) -> float:
    """Similarity of a stored predicate to the one asked for, 0 to 1 (the same)."""
    first, second = normalize(asked), normalize(predicate)
    if first == second:
        return 1.0
    ours, theirs = terms(first), terms(second)
    total = sum(term.weight for term in (*ours, *theirs))
    if not ours or not theirs:
        return 0.0
    met = sum(best(term, theirs) * term.weight for term in ours)
    met += sum(best(term, ours) * term.weight for term in theirs)
    return met / total


def heard(predicate: Sequence[Term], words: Sequence[Term], worth: Sequence[float] = ()) -> float:
    """How far words mention a predicate, 0 to 1.

    Args:
        predicate: its terms.
        words: of the text.
        worth: weight of each word, 0 to 1; () for 1 each.
    """
    telling = [term for term in predicate if not term.light] or predicate
    total = sum(term.weight for term in telling)
    met = sum(
        term.weight
        * max(
            (alike(term, word) * (worth[i] if worth else 1) for i, word in enumerate(words)),
            default=0.0,
        )
        for term in telling
    )
    return met / total if total else 0.0


def best(term: Term, others: Sequence[Term]) -> float:
    """The highest similarity of a word to some others."""
    return max((alike(term, other) for other in others), default=0.0)


def _aspect(text: str, start: int, word: str) -> str:
    told = _OWN_ASPECT.fullmatch(word) or _ASPECT_BEHIND.match(text, start + len(word))
    return (told.lastgroup or "") if told else ""


def _made_of(noun: Term, verb: Term) -> bool:
    """Whether a noun has the character of a verb: 建造 and 造る."""
    found = None if verb.light else _VERB.fullmatch(verb.text)
    return bool(found and found["stem"] in noun.text and _COMPOUND.fullmatch(noun.text))


class _Vocabulary(NamedTuple):
    names: re.Pattern[str]
    things: dict[str, frozenset[int]]
    stems: dict[str, frozenset[int]]
    kinds: frozenset[str]
    light: frozenset[str]
    light_stems: frozenset[str]
    narrow: frozenset[str]


@cache
def _vocabulary() -> _Vocabulary:
    text = files("localrag.search").joinpath("predicates.toml").read_text(encoding="utf-8")
    read = tomllib.loads(text)
    lines: dict[str, set[int]] = {}
    for number, words in enumerate(read["same"]):
        for word in words:
            lines.setdefault(normalize(word), set()).add(number)
    things = {word: frozenset(numbers) for word, numbers in lines.items()}
    light = frozenset(map(normalize, read["light"]))
    longest_first = sorted(lines, key=lambda word: (-len(word), word))
    return _Vocabulary(
        re.compile("|".join(map(re.escape, longest_first))),
        things,
        _by_stem(things),
        frozenset(map(normalize, read["kinds"])),
        light,
        frozenset(_stem(word) for word in light if _INFLECTED.fullmatch(word)),
        frozenset(map(normalize, read["narrow"])),
    )


def _by_stem(things: Mapping[str, frozenset[int]]) -> dict[str, frozenset[int]]:
    """Lines with inflected words, by stem (築かれた by 築く)."""
    stems: dict[str, frozenset[int]] = {}
    for word, numbers in things.items():
        if _INFLECTED.fullmatch(word):
            stems[_stem(word)] = stems.get(_stem(word), frozenset()) | numbers
    return stems


def _is_hiragana_word(surface: str) -> bool:
    """Whether hiragana alone form a word (つつじ), not a particle or verb ending."""
    return len(surface) >= _SHORTEST_HIRAGANA and surface not in JAPANESE


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    inflected = _INFLECTED.fullmatch(word)
    return inflected["stem"] if inflected else word


@lru_cache(maxsize=1 << 16)
def _shared(one: str, other: str) -> float:
    """Share of letters in the longest common piece of two words."""
    short, long = sorted((one, other), key=len)
    for size in range(len(short), 1, -1):
        if any(short[i : i + size] in long for i in range(len(short) - size + 1)):
            share = 2 * size / (len(short) + len(long))
            return share if share >= _LEAST_SHARED else 0.0
    return 0.0


def triples_of(
    store: Lookups, name: str, predicate: str, admission: Admission
) -> tuple[dict[str, float], list[Fact]]:
    """The triples of every subject a name can mean, best first.

    Args:
        store: the corpus store.
        name: of the subject, in any spelling.
        predicate: the property asked for.
        admission: which documents may be found.

    Returns:
        Scores by unit: above 1 if the predicate matches and the name means the subject first of
            all;
        and notes.
    """
    subjects = store.knowledge.subjects(name)
    events = [] if subjects else [Fact(FactKind.NO_SUBJECT, name=name)]
    if len(subjects) > _SUBJECTS:
        left = len(subjects) - _SUBJECTS
        events.append(Fact(FactKind.MORE_SUBJECTS, name=name, n=left))
    scores: dict[str, float] = {}
    wanted = fold(predicate)
    for position, subject in enumerate(subjects[:_SUBJECTS]):
        known = store.knowledge.about(subject, MOST_TRIPLES + 1)
        if len(known) > MOST_TRIPLES:
            events.append(Fact(FactKind.FIRST_TRIPLES, name=subject, n=MOST_TRIPLES))
        for passage_id, triple in known[:MOST_TRIPLES]:
            if admission.admits(passage_id.rpartition("#")[0]):
                fit = likeness(predicate, triple.predicate) + _OF_THE_SUBJECT
                fit += _SAME * (wanted == fold(triple.predicate))
                scores[passage_id] = fit / (1 + _LESS_LIKELY * position)
    return scores, events


def join(of_subject: Scores, by_meaning: Scores) -> dict[str, float]:
    """Join both rankings: by subject and predicate first, by meaning within and after.

    Args:
        of_subject: as from `triples_of`.
        by_meaning: relative to the best, 0 to 1.
    """
    return add(of_subject, {unit: _MEANING * score for unit, score in by_meaning.items()})

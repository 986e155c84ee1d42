"""How alike two predicates are, and how far a text speaks of one, by their wording.

Words are compared as they stand, by the stem they share (長い, 長さ), by the character of a verb
that stands in a word of Chinese origin (造る, 建造), and by ``predicates.toml``, which knows what
goes by several names (生年月日, 誕生日, 生まれ).

Stage `subject`: what the triples of a corpus say of a subject under a predicate.
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

# A name that more subjects share says too little to read all of them.
_SUBJECTS = 20
# What each subject that the name means more likely takes from the next one.
_LESS_LIKELY = 0.1
# What a triple of the subject has, whatever its predicate.
_OF_THE_SUBJECT = 0.01
# What the very predicate has before one that only means the same.
_SAME = 0.05
# Less than that: what is found by meaning orders what the predicate leaves open, and follows.
_MEANING = 0.04

SAID = 0.5
"""How alike a word and a predicate must be for the one to speak of the other."""

_LIGHT = 0.25
_THING = 3
# Two words that share less of their letters than this have nothing in common.
_LEAST_SHARED = 0.5
_SYNONYM = 0.95
_SAME_CHARACTER = 0.75
_OTHER_ASPECT = 0.4
_SHORTEST_HIRAGANA = 3
_CONTENT = re.compile(r"[^\W_ぁ-ゖ]")
_INFLECTED = re.compile(r"(?P<stem>[一-鿿々]+)[ぁ-ゖ]+")
# 造る, not 長い: a quality is no part of what is called after it (町長).
_VERB = re.compile(r"(?P<stem>[一-鿿])(?!いの?$|[くさ]$|かっ$|けれ$)[ぁ-ゖ]+")
# What is asked of a doing: who (造った人, 建造者), when (造られた年, 竣工), where, how much.
_ASPECT = (
    r"(?P<who>者|人|家|主|元|会社)|(?P<when>年|日|月|時期|進水|竣工|完成|落成)"
    r"|(?P<where>地|場所)|(?P<amount>費|数|額|料)"
)
_ASPECT_BEHIND = re.compile(rf"[ぁ-ん]{{0,4}}(?:{_ASPECT})")
_OWN_ASPECT = re.compile(rf".*(?:{_ASPECT})")
_DIGITS = re.compile("[0-9]+")
_COMPOUND = re.compile(r"[一-鿿]{2,3}")


class Term(NamedTuple):
    """A word that carries meaning.

    Attributes:
        text: as it stands in the normalised text.
        start: where, in characters of the normalised text.
        things: the lines of ``predicates.toml`` that have it.
        is_kind: whether it tells what something is (会社), which may be said besides.
        light: whether it says little of what is asked (人物, 名前).
        is_narrow: whether it says more than others of its lines (長男 is more than 息子).
        aspect: what it asks of a doing ("who" for 建造 in 建造者); "" where it does not tell.
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
        """How much it tells: its letters, more for a short name of a thing (父), less if light."""
        letters = len(_CONTENT.findall(self.text)) or len(self.text)
        return max(letters, _THING if self.things else 0) * (_LIGHT if self.light else 1)

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self.text)


@lru_cache(maxsize=1 << 14)
def terms(text: str) -> tuple[Term, ...]:
    """The words of a normalised text that carry meaning, in order; names of things whole."""
    vocabulary = _vocabulary()
    found = []
    position = taken = 0
    for surface in segment(text):
        start = text.index(surface, position)
        position = start + len(surface)
        if start < taken:
            continue
        named = vocabulary.names.match(text, start)
        # One character is a word only where the text is cut before and behind it.
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
    """How alike two words are, from 0 to 1 (the same); less where one is who, the other when."""
    differs = ours.aspect and theirs.aspect and ours.aspect != theirs.aspect
    return _alike(ours, theirs) * (_OTHER_ASPECT if differs else 1)


def _alike(ours: Term, theirs: Term) -> float:
    if ours.text == theirs.text:
        return 1.0
    if ours.things and theirs.things:
        # Both are known: 出身地 and 出身校 are not alike for what they have in common.
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
    """How well a predicate of the store fits the one that is asked for.

    Returns:
        0 (nothing in common) to 1 (the same).
    """
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
    """How far the words of a text speak of a predicate, from 0 to 1.

    Args:
        predicate: its terms.
        words: of the text.
        worth: of each of these words, from 0 to 1; () for 1 each.
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
    """How alike a word and the nearest of some others are."""
    return max((alike(term, other) for other in others), default=0.0)


def _aspect(text: str, start: int, word: str) -> str:
    told = _OWN_ASPECT.fullmatch(word) or _ASPECT_BEHIND.match(text, start + len(word))
    return (told.lastgroup or "") if told else ""


def _made_of(noun: Term, verb: Term) -> bool:
    """Whether a noun is made of the character of a verb: 建造 of 造る."""
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
    """The lines of what is inflected, found in any of its forms (築かれた by 築く)."""
    stems: dict[str, frozenset[int]] = {}
    for word, numbers in things.items():
        if _INFLECTED.fullmatch(word):
            stems[_stem(word)] = stems.get(_stem(word), frozenset()) | numbers
    return stems


def _is_hiragana_word(surface: str) -> bool:
    """Whether hiragana alone tell something (つつじ), and are no particle or tail of a verb."""
    return len(surface) >= _SHORTEST_HIRAGANA and surface not in JAPANESE


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    inflected = _INFLECTED.fullmatch(word)
    return inflected["stem"] if inflected else word


@lru_cache(maxsize=1 << 16)
def _shared(one: str, other: str) -> float:
    """The share of letters in the longest piece that two words have in common."""
    short, long = sorted((one, other), key=len)
    for size in range(len(short), 1, -1):
        if any(short[i : i + size] in long for i in range(len(short) - size + 1)):
            share = 2 * size / (len(short) + len(long))
            return share if share >= _LEAST_SHARED else 0.0
    return 0.0


def triples_of(
    store: Lookups, name: str, predicate: str, admission: Admission
) -> tuple[dict[str, float], list[Fact]]:
    """The triples of every subject that a name can mean, best first.

    Args:
        store: the corpus.
        name: of the subject, in whatever spelling.
        predicate: what is asked of it.
        admission: which documents may be found.

    Returns:
        Scores by unit: above 1 where the predicate is the one asked for and the name means the
        subject before all others; and events.
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
    """Both rankings as one: by subject and predicate first, by meaning within and after.

    Args:
        of_subject: as `triples_of` gives them.
        by_meaning: relative to the best, 0 to 1.
    """
    return add(of_subject, {unit: _MEANING * score for unit, score in by_meaning.items()})

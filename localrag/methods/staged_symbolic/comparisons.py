"""Questions comparing two things: 「AとB、どちらが年上？」, 「AとBはどちらも歌手ですか？」.

The pair of triples is chosen that fits the words best and gives an answer. A condition in words
(「東京都にある」, 「歌手」) is compared as a date, a quantity or a place if it is one. Otherwise
the share of its words in the objects decides, and the answer is not certain.
"""

import re
from collections.abc import Iterator, Sequence
from heapq import nlargest
from itertools import chain, combinations, product
from typing import NamedTuple

from localrag.corpus.knowledge import KnownTriple, SubjectMention
from localrag.methods.comparison import ComparisonKind, Decision, Side
from localrag.methods.comparison.comparing import compare
from localrag.methods.staged_symbolic.question import (
    LIMITED,
    MASK,
    ORDERS,
    PART_OF_DATE,
    AnswerForm,
    NamedQuestion,
    TripleAnswer,
    TripleLookups,
    comparisons_of,
    form_of,
    has_figure,
    is_date,
    is_order,
    is_ordered,
    masked,
    of_meanings,
    of_sharing,
    of_values,
    predicate_of,
    unframed,
)
from localrag.search.predicates import SAID, Term, best, heard, likeness, terms
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis.normalize import normalize

# Least likeness of the predicates of the two things.
_LEAST_ALIKE = 0.3
# Triples of each thing that are paired.
_PAIRED = 20
_FARTHEST = 24
_JOINED = re.compile(
    r"[』」\"')]?(?:\([^()]*\))?[^、,と]{0,8}?(?:と|、|,|や|より|は|および|及び|か|・|の(?:方|ほう)|$)"
)
_OF = re.compile(r"[』」\"]?の\s*$")
# Two objects may share a part, named after 同じ: 同じ県.
_RESPECT = re.compile(r"同じ(?:年代|世紀|学年|年|月|日|都道府県|[都道府県市区町村国州])")
_NO_DATE = re.compile(r"同じ(?:人|作家|監督|場所|[都道府県市区町村国])|同一人物")
_HEAD = re.compile(r"(?:[いなたる]|[年歳][上下]の)\s*$")
_HEAD_BEHIND = re.compile(r"\s*(?:$|[はでだ、?？])")
# A third thing, known to the store or not.
_ALSO_BEFORE = re.compile(
    r"[^はで、,。]{2}[』」]?(?:と|や|および|及び)[『「]?$|[』」][、,・][『「]?$"
)
_ALSO_BEHIND = re.compile(
    rf"[』」]?(?:[とや](?![、ではもどをのっい]|$|いずれ|比べ)|[、,・][『「]?{MASK})"
)
_COMMA = re.compile("[、,]")
_OF_WHICH = re.compile(
    r"(?:どちら|どっち|いずれ)の([^がはをのに]{1,8}?)(?=でしょう|です|[?？]|\s*$)"
)
_WHOLE = re.compile(r"[^\w]|[ぁ-ゖ]|$|氏|様|君|選手")


class _Compared(NamedTuple):
    name: str  # in the answer
    subject: str  # in the store
    # the names on the way, each with the subject it was taken for
    meant: tuple[tuple[str, str], ...]
    # the triple that leads to it from a named thing; () if it is named itself
    through: tuple[KnownTriple, ...] = ()


class _Wording(NamedTuple):
    sides: tuple[SubjectMention, SubjectMention]  # the two names
    rest: str  # the question, the names masked
    text: str  # the question, with blanks for the names and for the words of every question
    words: tuple[Term, ...]  # with meaning
    form: AnswerForm  # of the answer
    comparisons: tuple[ComparisonKind, ...]  # possible ones, likeliest first
    claimed: int | None  # the place of the thing that a yes-no question is about; None for both


def compared(lookups: TripleLookups, asked: NamedQuestion) -> Iterator[TripleAnswer]:
    """The possible answers to a question about two things of the store."""
    hidden = masked(asked.text, asked.names)
    for one, other in combinations(_first_named(asked), 2):
        gap = hidden[one.end : other.start]
        if len(gap) <= _FARTHEST and _JOINED.match(gap) and not _are_more(hidden, one, other):
            wording = _wording(asked, (one, other))
            if wording.form is not AnswerForm.OPEN and not _is_beyond(wording):
                yield from _candidates(lookups, asked, wording)


def _are_more(hidden: str, one: SubjectMention, other: SubjectMention) -> bool:
    """Whether the two are some of several things."""
    return bool(
        _ALSO_BEFORE.search(hidden[: one.start])
        or _ALSO_BEHIND.match(hidden, other.end)
        or MASK in (gap := hidden[one.end : other.start])
        or (_COMMA.fullmatch(gap) and _COMMA.fullmatch(hidden[: one.start][-1:]))
    )


def _is_beyond(wording: _Wording) -> bool:
    """Whether a question asks more about the two things than is compared here."""
    one, other = wording.sides
    described = wording.rest[: one.start] + wording.rest[one.end : other.start]
    if LIMITED.search(wording.rest) or (has_figure(described) and "は" not in described):
        return True
    if (owner := _OF_WHICH.search(wording.rest)) and any(
        word.things and not (word.is_kind or word.light) for word in terms(owner[1])
    ):
        return True
    return wording.comparisons[0] in ORDERS and PART_OF_DATE.search(wording.rest) is not None


def _first_named(asked: NamedQuestion) -> Iterator[SubjectMention]:
    """The names without repetitions: a yes-no question names one again."""
    seen: set[str] = set()
    for name in asked.names:
        if not seen & set(name.subjects):
            yield name
        seen |= set(name.subjects)


def _wording(asked: NamedQuestion, sides: tuple[SubjectMention, SubjectMention]) -> _Wording:
    one, other = sides
    again = [
        (name, place)
        for name in asked.names
        if name.start >= other.end and _WHOLE.match(asked.text, name.end)
        for place, side in enumerate(sides)
        if set(name.subjects) & set(side.subjects)
    ]
    rest = masked(asked.text, [*sides, *(name for name, _ in again)])
    claimed = None
    if again:
        claimed = again[0][1]
    elif "より" in rest[other.end : other.end + 5]:
        claimed = 0
    elif "より" in rest[one.end : other.start]:
        claimed = 1
    form = form_of(rest)
    text = unframed(rest)
    # Words before a name only describe it, except in 「…なのはAとBのどちら」.
    turned = "は" in rest[: one.start]
    # 「Aの面積はBより」
    asked_first = rest.startswith("の", one.end)
    words = tuple(
        word
        for word in terms(text)
        if word.start >= other.end
        or (turned and word.end <= one.start)
        or (asked_first and one.end < word.start < other.start)
    )
    comparisons = comparisons_of(rest, form, claimed=claimed is not None)
    if comparisons[0] in ORDERS:
        words = tuple(word for word in words if not _is_head(text, word))
    return _Wording(sides, rest, text, words, form, comparisons, claimed)


def _is_head(text: str, word: Term) -> bool:
    """Whether a word is only described: 寺 in 「古い寺はどちら」."""
    return bool(_HEAD.search(text, 0, word.start) and _HEAD_BEHIND.match(text, word.end))


def _telling(text: str, words: Sequence[Term]) -> tuple[Term, ...]:
    """The words without words of comparison, if others are left: 「標高が高い」."""
    ordering = [word for word in words if is_order(text, word.start)]
    others = [word for word in words if word not in ordering]
    if any(not (word.light or word.is_kind) for word in others):
        return tuple(others)
    return tuple(word for word in words if word.things or word not in ordering)


def _candidates(
    lookups: TripleLookups, asked: NamedQuestion, wording: _Wording
) -> Iterator[TripleAnswer]:
    named = tuple(
        [_Compared(written, subject, ((written, subject),)) for subject in name.subjects]
        for name in wording.sides
        for written in [asked.written(name)]
    )
    yield from _pairs(lookups, wording, _telling(wording.text, wording.words), named)
    link = _link(wording)
    if link is not None:
        words = _telling(wording.text, [word for word in wording.words if word is not link])
        reached = tuple([_follow(lookups, one, link) for one in side] for side in named)
        yield from _pairs(
            lookups, wording, words, tuple([*chain.from_iterable(side)] for side in reached)
        )


def _link(wording: _Wording) -> Term | None:
    """The word for the compared things, if they are not the named ones: 「AとBの父はどちらが」."""
    behind = wording.sides[1].end
    for word in wording.words:
        if word.start > behind and _OF.fullmatch(wording.rest, behind, word.start):
            return word
    return None


def _follow(lookups: TripleLookups, one: _Compared, link: Term) -> Iterator[_Compared]:
    for fact in lookups.about(one.subject):
        if len(fact.triple.objects) == 1 and heard(predicate_of(fact), [link]) >= SAID:
            name = fact.triple.objects[0]
            for subject in lookups.subjects(name):
                yield _Compared(name, subject, (*one.meant, (name, subject)), (fact,))


def _pairs(
    lookups: TripleLookups,
    wording: _Wording,
    words: tuple[Term, ...],
    sides: tuple[Sequence[_Compared], ...],
) -> Iterator[TripleAnswer]:
    for one, other in product(*sides):
        for ours in _likeliest(lookups.about(one.subject), words):
            for theirs in _likeliest(lookups.about(other.subject), words):
                found = _found(lookups, wording, words, (one, other), (ours, theirs))
                if found:
                    yield found


def _likeliest(facts: Sequence[KnownTriple], words: Sequence[Term]) -> Sequence[KnownTriple]:
    return nlargest(_PAIRED, facts, key=lambda fact: _covered(words, [fact], objects=True))


def _found(
    lookups: TripleLookups,
    wording: _Wording,
    words: tuple[Term, ...],
    pair: tuple[_Compared, _Compared],
    facts: tuple[KnownTriple, KnownTriple],
) -> TripleAnswer | None:
    same = likeness(facts[0].triple.predicate, facts[1].triple.predicate)
    if same < _LEAST_ALIKE:
        return None
    sides = [
        Side(one.name, fact.triple.predicate, fact.triple.objects)
        for one, fact in zip(pair, facts, strict=True)
    ]
    if _NO_DATE.search(wording.rest) and any(map(is_date, facts[0].triple.objects)):
        return None
    predicates = [predicate_of(fact) for fact in facts]
    # Addresses answer 「同じ県にある」.
    words = tuple(
        word
        for word in words
        if _is_said(word, predicates) or not _RESPECT.match(wording.rest, word.start - 2)
    )
    because = ""
    for comparison in wording.comparisons:
        conditional = comparison in CONDITIONAL
        outcome = (
            decided(comparison, sides, predicates, wording.text, wording.rest, words)
            if conditional
            else compare(comparison, sides, wording.text)
        )
        text = _text(outcome, wording, sides) if outcome else ""
        unsaid = _unsaid(wording, words, predicates, conditional=conditional)
        if outcome and text:
            spoken = sum(heard(predicate, words) for predicate in predicates) / 2
            covered = _covered(words, facts, objects=conditional)
            through = tuple(link for one in pair for link in one.through)
            doubts = [] if outcome.certain else [Fact(FactKind.ONLY_ALIKE)]
            if comparison is not wording.comparisons[0] and is_date(facts[0].triple.objects[0]):
                doubts.append(Fact(FactKind.BEGINNINGS))
            doubts += of_sharing(comparison, sides, outcome)
            doubts += of_meanings(lookups, pair[0].meant + pair[1].meant)
            return TripleAnswer(
                text,
                (*through, *facts),
                (same + 2 * covered + spoken) / 4,
                outcome.because,
                (*doubts, *of_values(facts), *_differing(facts)),
                unsaid,
            )
        if outcome:
            because = outcome.because
            break
    if words and not unsaid and all(heard(predicate, words) >= SAID for predicate in predicates):
        one, other = sides
        lookups.undecided.append(
            Fact(FactKind.NOT_DECIDED, because=because)
            if because
            else Fact(
                FactKind.INCOMPARABLE,
                one=one.name,
                of_one=tuple(one.objects),
                other=other.name,
                of_other=tuple(other.objects),
            )
        )
    return None


def _unsaid(
    wording: _Wording,
    words: Sequence[Term],
    predicates: Sequence[Sequence[Term]],
    *,
    conditional: bool,
) -> tuple[str, ...]:
    """The words that not both predicates have (Aの父とBの父), outside a condition and its noun."""
    return tuple(
        word.text
        for word in words
        if not word.light
        and not _is_said(word, predicates)
        and (
            _OF.search(wording.rest, 0, word.start)
            if conditional and word.things
            else not conditional and (not word.is_kind or _OF.search(wording.rest, 0, word.start))
        )
    )


def _differing(facts: Sequence[KnownTriple]) -> Iterator[Fact]:
    one, other = facts[0].triple.predicate, facts[1].triple.predicate
    things = [[term.things for term in predicate_of(fact) if not term.light] for fact in facts]
    if normalize(one) != normalize(other) and (things[0] != things[1] or not all(things[0])):
        yield Fact(FactKind.DIFFERENT_PREDICATES, one=one, other=other)


def _is_said(word: Term, predicates: Sequence[Sequence[Term]]) -> bool:
    return all(best(word, predicate) >= SAID for predicate in predicates)


def _text(outcome: Decision, wording: _Wording, sides: Sequence[Side]) -> str:
    if wording.form is AnswerForm.WHICH:
        return sides[outcome.side].name if outcome.side is not None else ""
    holds = outcome.holds
    if holds is None and None not in (wording.claimed, outcome.side):
        holds = wording.claimed == outcome.side
    return "" if holds is None else "YES" if holds else "NO"


def _covered(words: Sequence[Term], facts: Sequence[KnownTriple], *, objects: bool) -> float:
    """The share of the words in the predicates, and in the objects if they count."""
    predicates = [predicate_of(fact) for fact in facts]
    texts = [normalize("、".join(fact.triple.objects)) for fact in facts] if objects else []
    told = sum(
        word.weight
        * max(*(best(word, one) for one in predicates), *(held(word, one) for one in texts), 0.0)
        for word in words
    )
    return told / (sum(word.weight for word in words) or 1)


CONDITIONAL = (ComparisonKind.EACH, ComparisonKind.ANY, ComparisonKind.WHICH)
"""The comparisons that need a condition."""

# A word nearer to a predicate than this is no condition.
_ASKED = 0.5
# A number or a date with its unit.
_PIECE = r"[^\W_ぁ-ゖ]|[.,%]"
_MEASURE = re.compile(rf"(?:{_PIECE})*[0-9〇一二三四五六七八九十百千元](?:{_PIECE})*")
_TO = re.compile(r"(?:から|[~〜-])")
# Bounds, and the words for them that `compare` reads.
_BOUNDS = (
    (re.compile(r"まで"), "まで"),
    (re.compile(r"よりも?(?:前|先|早|古)"), "より前"),
    (re.compile(r"よりも?(?:後|遅|新)"), "より後"),
    (
        re.compile(
            r"よりも?[^、。]{0,10}?(?:多[いくか]|高[いくか]|長[いくか]|大き|重|広)|を?(?:上回|超)"
        ),
        "超",
    ),
    (re.compile(r"よりも?[^、。]{0,10}?(?:少な|低|短|小さ|軽|狭)|を?下回"), "未満"),
)
# Shares of the words: for a yes, for one of two, and by which this one must have more.
_MET, _LEAST, _MORE = 0.65, 0.4, 0.15
_NEAR = 0.6
_BETWEEN = re.compile(r"\W?|[のと・]|から")
_NOTHING = ("ない", "なし", "無し", "無")


def decided(
    comparison: ComparisonKind,
    sides: Sequence[Side],
    predicates: Sequence[Sequence[Term]],
    text: str,
    rest: str,
    words: Sequence[Term],
) -> Decision | None:
    """Which sides meet the condition of a question. Returns None if it is open."""
    objects = [normalize(side.objects[0]) for side in sides]
    if len({is_date(each) for each in objects if each not in _NOTHING}) > 1:
        return None
    condition = [w for w in words if max(best(w, terms_) for terms_ in predicates) < _ASKED]
    if has_figure(text):
        return _by_measure(comparison, sides, condition, text, rest)
    if is_ordered(rest):
        return None
    runs = _runs(text, condition)
    phrase = max(runs, key=len, default="")
    outcome = compare(comparison, sides, phrase) if phrase else None
    if outcome and outcome.certain and (outcome.side is not None or outcome.holds is not None):
        return outcome._replace(certain=len(runs) == 1)
    return _by_words(comparison, sides, condition, text)


def _by_measure(
    comparison: ComparisonKind,
    sides: Sequence[Side],
    condition: Sequence[Term],
    text: str,
    rest: str,
) -> Decision | None:
    """Which sides meet a condition that is a number or a date; no share of words counts."""
    measures = [found.span() for found in _MEASURE.finditer(text) if has_figure(found[0])]
    if len(measures) == 2 and _TO.fullmatch(text, measures[0][1], measures[1][0]):
        measures = [(measures[0][0], measures[1][1])]
    if len(measures) != 1:
        return None
    start, end = measures[0]
    phrase = text[start:end]
    for words, bound in _BOUNDS:
        if found := words.match(rest, end):
            phrase, end = phrase + bound, found.end()
            break
    if is_ordered(rest[:start]) or is_ordered(rest[end:]):
        return None
    outcome = compare(comparison, sides, phrase)
    if outcome is None or (outcome.side is None and outcome.holds is None):
        return None
    others = [word for word in condition if not (start <= word.start < end or word.light)]
    return outcome._replace(certain=outcome.certain and not others)


def held(word: Term, text: str) -> float:
    """How far a normalised text has a word, from 0 to 1."""
    if word.text in text:
        return 1.0
    nearest = best(word, terms(text))
    return nearest if nearest >= _NEAR else 0.0


def _runs(text: str, condition: Sequence[Term]) -> list[str]:
    """The words of a condition; neighbours are one piece of the text."""
    runs: list[tuple[int, int]] = []
    for word in condition:
        if runs and _BETWEEN.fullmatch(text, runs[-1][1], word.start):
            runs[-1] = runs[-1][0], word.end
        else:
            runs.append((word.start, word.end))
    return [text[start:end] for start, end in runs]


def _by_words(
    comparison: ComparisonKind, sides: Sequence[Side], condition: Sequence[Term], text: str
) -> Decision | None:
    shares = [_share(condition, side) for side in sides]
    if comparison is ComparisonKind.WHICH:
        if max(shares) < _LEAST or max(shares) - min(shares) < _MORE:
            return None
        place = shares.index(max(shares))
        return Decision(side=place, because=_because(sides, condition, shares), certain=False)
    # An object that is written in the question is the condition.
    shares = [
        1.0 if any(len(each) > 1 and normalize(each) in text for each in side.objects) else share
        for side, share in zip(sides, shares, strict=True)
    ]
    met = [share >= _MET for share in shares]
    holds = all(met) if comparison is ComparisonKind.EACH else any(met)
    return Decision(holds=holds, because=_because(sides, condition, shares), certain=False)


def _share(condition: Sequence[Term], side: Side) -> float:
    """The share of a condition in the objects; without a condition, whether there are any."""
    objects = [normalize(each) for each in side.objects]
    if not condition:
        return float(objects[0] not in _NOTHING)
    met = sum(word.weight * max(held(word, each) for each in objects) for word in condition)
    return met / sum(word.weight for word in condition)


def _because(sides: Sequence[Side], condition: Sequence[Term], shares: Sequence[float]) -> str:
    asked = "・".join(word.text for word in condition) or sides[0].predicate
    told = "、".join(f"{side.name}：{share:.0%}" for side, share in zip(sides, shares, strict=True))
    return f"「{asked}」の語の割合 {told}"

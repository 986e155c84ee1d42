"""Whether things meet a condition that a question puts in words: 「東京都にある」, 「歌手」.

What can be read as a date, a quantity or a place is compared as such; where it cannot, the share
of the words of the condition that the objects hold decides, which is likely but no fact.
"""

import re
from collections.abc import Sequence

from localrag.methods.comparison.comparing import compare
from localrag.methods.comparison.types import ComparisonKind, Decision, Side
from localrag.methods.staged_symbolic.wording import has_figure, is_date, is_ordered
from localrag.retrieval.predicates import Term, best, terms
from localrag_indexes.analysis.normalize import normalize

CONDITIONAL = (ComparisonKind.EACH, ComparisonKind.ANY, ComparisonKind.WHICH)
"""The comparisons that need a condition."""

# A word that a predicate is nearer to than this is about what is asked, no condition.
_ASKED = 0.5
# A number or a date, with what is written together with it.
_PIECE = r"[^\W_ぁ-ゖ]|[.,%]"
_MEASURE = re.compile(rf"(?:{_PIECE})*[0-9〇一二三四五六七八九十百千元](?:{_PIECE})*")
_TO = re.compile(r"(?:から|[~〜-])")
# What bounds it, and the words that `compare` reads.
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
# Share of the words that one thing must hold, that one must hold more than the other.
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
    """Which sides meet the condition of a question.

    Args:
        comparison: one of `CONDITIONAL`.
        sides: the things and what is known of them.
        predicates: the terms of their predicates.
        text: the question without its names, and its frame.
        rest: the question without its names.
        words: of the text.

    Returns:
        None where it cannot be told.
    """
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
    """Which sides meet a condition that is a number or a date: no share of words stands for it."""
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
    """How far a normalised text holds a word, from 0 to 1."""
    if word.text in text:
        return 1.0
    nearest = best(word, terms(text))
    return nearest if nearest >= _NEAR else 0.0


def _runs(text: str, condition: Sequence[Term]) -> list[str]:
    """The words of a condition, those that stand together as one piece of the text."""
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
    # An object that the question writes out is the condition, whatever else is said of it.
    shares = [
        1.0 if any(len(each) > 1 and normalize(each) in text for each in side.objects) else share
        for side, share in zip(sides, shares, strict=True)
    ]
    met = [share >= _MET for share in shares]
    holds = all(met) if comparison is ComparisonKind.EACH else any(met)
    return Decision(holds=holds, because=_because(sides, condition, shares), certain=False)


def _share(condition: Sequence[Term], side: Side) -> float:
    """The share of a condition that the objects hold; without any, whether there is something."""
    objects = [normalize(each) for each in side.objects]
    if not condition:
        return float(objects[0] not in _NOTHING)
    met = sum(word.weight * max(held(word, each) for each in objects) for word in condition)
    return met / sum(word.weight for word in condition)


def _because(sides: Sequence[Side], condition: Sequence[Term], shares: Sequence[float]) -> str:
    asked = "・".join(word.text for word in condition) or sides[0].predicate
    told = "、".join(f"{side.name}：{share:.0%}" for side, share in zip(sides, shares, strict=True))
    return f"「{asked}」の語の割合 {told}"

"""What is left to an order: which of the provisions that fill one in says the point asked for.

An act says その他の有価証券で政令で定めるもの, and several provisions of its orders fill it in. The
question tells the point, by the place it names, by the words of the act, by its noun; the orders
tell which of them fills that point in (`localrag.statutes.delegations`).
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Self

from localrag.corpus.lookups import Lookups
from localrag.corpus.types import ARTICLES, Locator
from localrag.facts import Fact, FactKind
from localrag.question.asked import OrderAsked
from localrag.retrieval.expand import Seed
from localrag.retrieval.reading import Reading
from localrag.retrieval.types import Link, LinkKind
from localrag.retrieval.units import Admission, Scores, article_unit
from localrag.statutes.delegations import (
    CABINET,
    CABINET_TYPES,
    LEFT,
    Filling,
    Point,
    fillings_of,
    points_left,
    points_of,
    same_before,
)
from localrag.statutes.names import LawNames
from localrag.statutes.references import INSTRUMENT
from localrag_indexes.analysis.normalize import normalize

# Characters on both sides of 政令で定める in which the noun asked for may stand.
_AFTER = 20
# Where the next paragraph begins.
_PARAGRAPH = re.compile(r"\n(?:[０-９]+|[①-⑳])　")
# How far a point is asked for whose noun the question does not have (額 in いくらか).
_UNNAMED = 0.5
# Of the question so much must stand where the act leaves a point to an order, unless it asks for
# an order, cites the place or asks for a figure.
_LEAST = 0.6
# What a provision counts that fills in another part than the one named, or no point of it.
_ELSEWHERE = 0.5
# How much counts that an order fills in the point, that it states the figure asked for, that its
# paragraph has the words of the question, and that these words have found it.
_REPEATS, _STATES, _ABOUT, _IS_FOUND = 0.5, 0.5, 0.3, 0.3
_LEAST_FIT = 0.2
# Where an order is asked for its point counts more: so far by its noun, else by the words before
# it, of which so many tell enough. A noun that stands elsewhere than right behind counts less.
_ASKED, _OF_NOUN, _ENOUGH, _SAME = 2.0, 0.6, 20, 0.8
# So many characters of the act before 政令で定める a question has that quotes it; and in so many
# places at most.
_QUOTES, _FEW, _NEAR = 6, 3, 240
_CONTENT = re.compile(r"[一-鿿々ァ-ヺーa-z0-9]{2,}")
_PROVISO = "ただし書"
_BOUNDS = re.compile(
    r"[^、。（）\n]*(?:以上|以下|以内|を?超えない|を?下らない)[^、。（）\n]{0,20}"
    rf"{INSTRUMENT}[での](?:定め|指定)"
)


class _Words(NamedTuple):
    """The words of a question, for what they share with a text.

    Attributes:
        own: the pairs of its letters, but for everyday words.
        everyday: for each everyday word its pairs, and those of each phrase of statutes for it.
    """

    own: set[str]
    everyday: list[list[set[str]]]

    @classmethod
    def of(cls, reading: Reading) -> Self:
        """The words of a question without the laws and provisions that it names."""
        said = [_pairs(one.said) for one in reading.everyday]
        own = _pairs(LEFT.sub(" ", reading.beside)).difference(*said)
        return cls(own, [[_pairs(x) for x in (one.said, *one.phrases)] for one in reading.everyday])

    def share(self, text: str) -> float:
        """The share of the words that a text has; of none it has all."""
        pairs = _pairs(text)
        total = len(self.own) + sum(len(one[0]) for one in self.everyday)
        held: float = len(self.own & pairs)
        for said, *phrases in self.everyday:
            best = max(len(one & pairs) / (len(one) or 1) for one in (said, *phrases))
            held += len(said) * best
        return held / total if total else 1.0


class _Found(NamedTuple):
    """What fills in a provision.

    Attributes:
        link: its article, tied to that of the provision.
        place: its paragraph.
        point: what it fills in; None where that is not known.
        fit: how well it answers, more than 0.
    """

    link: Link
    place: Locator
    point: Point | None
    fit: float


class Filler:
    """Finds what fills in the provisions that one question leads to.

    Args:
        store: where provisions and their references are.
        names: of the laws.
        admission: which documents may be found.
        reading: of the question.
        found: articles by how well their words agree with the question, 0 to 1.

    Attributes:
        events: what of it the user should know, once the links were looked for.
    """

    def __init__(
        self,
        store: Lookups,
        names: LawNames,
        admission: Admission,
        reading: Reading,
        found: Scores,
    ) -> None:
        self._store = store
        self._names = names
        self._admission = admission
        self._question = reading.sought.text
        self._asked = reading.orders
        self._figure = reading.figure
        self._words = _Words.of(reading)
        self._found = found
        # The noun asked for: what says it only by leaving it again is no answer.
        self._needed = ""
        self.events: list[Fact] = []

    def links(self, seeds: Sequence[Seed]) -> list[Link]:
        """What fills in the best of the seeds, and what fills that in if it leaves the point again.

        Args:
            seeds: the provisions named, or else the best ones found, best first.

        Returns:
            At most two links; none where the question does not ask for what is left to an order.
        """
        asked, further = (*self._asked, None, None)[:2]
        named = [seed for seed in seeds if seed.named] or self._quoted(asked, seeds)
        first = self._best(named or seeds, asked)
        if first is None:
            return []
        law_id = first.link.unit.rpartition("#")[0]
        self._needed = first.point.noun if first.point and asked else ""
        again = self._best([Seed(law_id, first.place, 1.0, named=False)], further)
        if again is None and further is not None:
            # Both may be left by one provision.
            again = self._best(named or seeds, further)
        return [one.link for one in (first, again) if one is not None]

    def _quoted(self, asked: OrderAsked | None, seeds: Sequence[Seed]) -> list[Seed]:
        """The places that say 政令で定める behind the same words as the question; none if many.

        They are looked for in the laws that it names, or else in those that its words have found.
        """
        if asked is None or not asked.before:
            return []
        named = [id_ for name in self._names.find_names(self._question) for id_ in name.law_ids]
        longest, places = _QUOTES - 1, list[tuple[str, int]]()
        for law_id in dict.fromkeys(named or [seed.law_id for seed in seeds]):
            text = self._store.text(law_id) if self._admission.admits(law_id) else ""
            for left in re.finditer(f"{asked.instrument}[での](?:定め|指定)る?", text):
                if not text.startswith(asked.point[:1], left.end()):
                    continue
                same = same_before(asked.before, text[max(0, left.start() - _NEAR) : left.start()])
                if same > longest:
                    longest, places = same, []
                if same == longest:
                    places.append((law_id, left.start()))
        few = places if len(places) <= _FEW else []
        return [seed for law_id, position in few for seed in self._leaving(law_id, position)]

    def _leaving(self, law_id: str, position: int) -> Iterator[Seed]:
        """The provision that leaves a point in this position of the text of a law."""
        articles = self._store.standing(law_id, ARTICLES)
        at = bisect_right(articles, position, key=lambda article: article.start) - 1
        for point in points_left(self._store, law_id, articles[at].locator) if at >= 0 else ():
            if point.reference.start == position:
                yield Seed(law_id, point.reference.source, 1.0, named=True)

    def _best(self, seeds: Sequence[Seed], asked: OrderAsked | None) -> _Found | None:
        best: _Found | None = None
        stating: set[str] = set()
        for seed in seeds:
            unit = article_unit(seed.law_id, seed.locator)
            provision = self._store.at(seed.law_id, seed.locator)
            text = provision.text if provision else ""
            # What was found only by its words and itself states the figure leaves it to no order,
            # and nothing that fits worse leads to a better answer.
            if asked is None and not seed.named and self._states(text):
                stating.add(unit)
                continue
            # A question that names the very paragraph names all that it leaves to an order.
            cited = seed.named and (bool(seed.locator.paragraph) or _PARAGRAPH.search(text) is None)
            article = Locator(seed.locator.division, seed.locator.article)
            points = points_left(self._store, seed.law_id, article)
            shares = self._shares(points, seed, asked, cited=cited)
            if asked is None and not shares:
                continue
            meant = _meant(shares, seed) if asked and seed.named else ()
            filled = False
            for filling in fillings_of(
                self._store, seed.law_id, article, lambda order: self._admits(order, asked)
            ):
                own = [point for point in points_of(filling, points) if point in shares]
                point = max(own, key=shares.__getitem__, default=None)
                if (stating and filling.passage.id not in stating) or (
                    meant and point not in meant
                ):
                    continue
                share = shares[point] if point else self._unmatched(filling, points, shares, asked)
                fit = seed.strength * self._fit(seed, filling, asked, share, cited=cited)
                filled = filled or fit > 0
                if fit > (best.fit if best else 0.0):
                    link = Link(
                        LinkKind.FILLS,
                        filling.passage.id,
                        unit,
                        filling.reference.start,
                        comes_first=asked is not None,
                        leaves=point.reference.start if point else -1,
                    )
                    best = _Found(link, filling.place, point, fit)
            if meant and provision and not filled:
                instrument = meant[0].reference.law_name
                self.events.append(
                    Fact(FactKind.NOT_FILLED_IN, provision=provision.header, instrument=instrument)
                )
        return best

    def _shares(
        self, points: Sequence[Point], seed: Seed, asked: OrderAsked | None, *, cited: bool
    ) -> dict[Point, float]:
        """How far each point of an article is asked for, 0 to 1; those that may be asked for.

        Where the question asks for no order, those are all of a place that it cites; elsewhere
        those with its words around them, those that are figures, where it asks for a figure, and
        that which was asked for and is left again.
        """
        if asked is not None:
            return {point: _agreement(point, asked) for point in points}
        shares: dict[Point, float] = {}
        for point in points:
            noun, near = _noun(point), _touch(seed.locator, point.reference.source)
            share = self._words.share(point.around)
            is_figure = self._figure is not None and self._figure.is_called(noun)
            if near and noun and noun == self._needed:
                shares[point] = 1.0
            elif near and (cited or (noun and (share >= _LEAST or is_figure))):
                shares[point] = share * (1.0 if noun and noun in self._question else _UNNAMED)
        return shares

    def _unmatched(
        self,
        filling: Filling,
        points: Sequence[Point],
        shares: Mapping[Point, float],
        asked: OrderAsked | None,
    ) -> float | None:
        """How far what no point is found for fills in what is asked for; None where not at all.

        For a figure it may say what else the act calls it: 基礎額, which is 政令で定める金額.
        """
        if asked is not None:
            none = not points_of(filling, points)
            return _ELSEWHERE * _held(_pairs(asked.point), filling.subject) if none else None
        figure = self._figure
        if figure is None or not figure.is_called(filling.subject):
            return None
        return max(
            (share for point, share in shares.items() if figure.is_called(_noun(point))),
            default=None,
        )

    def _admits(self, order: str, asked: OrderAsked | None) -> bool:
        if not self._admission.admits(order):
            return False
        if asked is None or not asked.instrument:
            return True
        return (self._names.law_type(order) in CABINET_TYPES) == (asked.instrument == CABINET)

    def _states(self, text: str) -> bool:
        """Whether a provision states the figure asked for, but for the bounds of an order's.

        五年を超えない範囲内で政令で定める期間 states none.
        """
        return self._figure is not None and self._figure.stated_in(_BOUNDS.sub("", text))

    def _fit(
        self,
        seed: Seed,
        filling: Filling,
        asked: OrderAsked | None,
        share: float | None,
        *,
        cited: bool,
    ) -> float:
        """How well a provision fills in the point asked for; 0 where it fills in another one."""
        near = _touch(seed.locator, filling.reference.target)
        states = self._figure is not None and self._figure.stated_in(_paragraph(filling))
        if asked is None:
            answers = cited or (
                share is not None and (states or seed.named or self._figure is None)
            )
            if not (near and answers):
                return 0.0
        # Who names the proviso of a place means none of what fills in the rest of it.
        exact = near and (_PROVISO not in self._question or _PROVISO in filling.clause)
        return (1.0 if exact else _ELSEWHERE) * (
            _LEAST_FIT
            + (_ASKED if asked else _REPEATS) * (share or 0.0)
            + _STATES * states
            + _ABOUT * self._words.share(f"{filling.passage.header}{_paragraph(filling)}")
            + _IS_FOUND * self._found.get(filling.passage.id, 0.0)
        )


def _meant(shares: Mapping[Point, float], seed: Seed) -> list[Point]:
    """The points of a place cited whose noun, or all of whose words before, the question has."""
    return [
        point
        for point, share in shares.items()
        if share >= _OF_NOUN and _touch(seed.locator, point.reference.source)
    ]


def _agreement(point: Point, asked: OrderAsked) -> float:
    """How far a question asks for a point by the noun and the words before it, 0 to 1."""
    if asked.instrument and (asked.instrument == CABINET) != point.of_cabinet:
        return 0.0
    # 政令で定める有価証券 is 有価証券で政令で定めるもの.
    named = _held(_pairs(asked.point), f"{point.before[-_AFTER:]} {point.after[:_AFTER]}")
    noun = max(_SAME * named, float(point.after.startswith(asked.point)))
    words = min(same_before(asked.before, point.before), _ENOUGH) / _ENOUGH
    return _OF_NOUN * noun + (1 - _OF_NOUN) * words


def _noun(point: Point) -> str:
    return point.noun or point.noun_before


def _paragraph(filling: Filling) -> str:
    """The paragraph from the line with the citation on, the items below it included."""
    text, position = filling.passage.text, filling.reference.start - filling.passage.start
    start = text.rfind("\n", 0, position) + 1
    end = _PARAGRAPH.search(text, position)
    return text[start : end.start() if end else None]


def _touch(one: Locator, other: Locator) -> bool:
    return one.contains(other) or other.contains(one)


def _pairs(text: str) -> set[str]:
    """The pairs of letters of a text that carry meaning: words without their inflection."""
    return {
        run[at : at + 2] for run in _CONTENT.findall(normalize(text)) for at in range(len(run) - 1)
    }


def _held(asked: set[str], text: str) -> float:
    """The share of the pairs asked for that a text has; of none it has all."""
    return len(asked & _pairs(text)) / len(asked) if asked else 1.0

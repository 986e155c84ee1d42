"""Connects delegated points with the provisions of orders implementing them.

One article may say 政令で定める a dozen times. An implementing provision cites the article and
repeats the point: 法第二十七条の二第一項に規定する有価証券で政令で定めるものは. So the order
identifies its point by place, by the noun behind 政令で定める, and by the words before. For a
manner (政令で定めるところにより) the order only cites the place.

These words are read when indexing and stored with the edges; matching compares them.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from localrag.corpus.links import CARRIES_OUT, DELEGATED_BY, DELEGATES, REFERS, Reference
from localrag.corpus.lookups import Lookups
from localrag.corpus.types import Locator
from localrag.law.names import alike_at_start
from localrag.law.provisions import numbers_of

INSTRUMENT = (
    r"(?:政令|(?:[一-鿿]{4}|[一-鿿]{2})?[府省]令|[一-鿿]{2,12}委員会規則"
    r"|人事院規則|最高裁判所規則|会計検査院規則)"
)
"""Names of orders in delegations, as a regular expression."""
# Characters read around 政令で定める in the act, characters kept, and characters read of the order
# behind its citation.
_AROUND, _BEFORE, _AFTER, _CLAUSE = 120, 60, 40, 600
_ASIDE = re.compile("（[^（）]*+）")
# Words before that belong to another sentence, or to the text around an aside.
_OTHER_WORDS = re.compile("^.*[。（\n]", re.DOTALL)
_SENTENCE_END = re.compile("[。\n]")
_SUBJECT = re.compile("(.*?)(?:とは、|は、|。|\n|$)")
_LEFT = re.compile(rf"(?P<instrument>{INSTRUMENT})[での](?:これを)?(?:定め|指定)")
_ENDING = re.compile("(?:する|した|され[たる]|られ[たる]|る|た)?")
# Characters shown before 政令で定める, from the start of their phrase.
_MOST_BEFORE = 24
_PHRASE = re.compile("[^、「　\n]*、?$")
# The named object of a delegation: もの, 株券等の買付け等, ところにより.
_NAMED = re.compile(
    r"ところに(?:より|よる)|[^、。（）\n]{0,24}?"
    r"(?=[はがをにで、。（）\n]|と(?!して)|から|まで|以外|のうち|又は|若しく|及び|並び|あつた|であ|$)"
)
# Text allowed before a citation that opens a paragraph: number, actor, name of the act, further
# citations.
_OPENING = re.compile(
    r"(?:[^　。、\n]{1,20}　)?(?:[^　。、（）\n]{1,40}は、)?"
    r"(?:[^　。、（）\n]{0,40}第[〇一二三四五六七八九十百千]+[条項号][^　。、（）\n]{0,16}"
    r"(?:（[^（）]*）)?(?:、|及び|並びに|又は|若しくは))*+"
    r"[^　。、（）\n]{0,40}(?:（[^）]{0,60}）)?"
)
# 政令で定めるもの（以下「届書等」という。）
_CALLED = re.compile(r"[^。、（）\n]{0,30}（[^（）]*?「([^「」]+)」という。")
_NOUN = re.compile("[一-鿿々ァ-ヺー]+")
_LAST_NOUN = re.compile(
    f"({_NOUN.pattern})(?:は、[^、。]{{0,12}}|(?:もの)?として|であつて|であって|で)?$"
)
# The link between a citation and the repeated words, without any of these before 政令で定める.
_TIE = re.compile(
    r"(?:^|[条項号段文書分])(?:の[〇一二三四五六七八九十百]+)?"
    r"(?:に規定する|の規定に(?:より|よる|基づき)|に基づき|に掲げる|に定める|の)$"
)
_IN_PROVISO, _OF_PROVISO = re.compile("(?:ただし|但し)、?"), re.compile("ただし書|但書")
_MANNER = "ところ"
CABINET = "政令"
"""The name of a cabinet order in laws."""
ACTS = ("", "Act", "Constitution")
"""Types of laws that implement nothing."""
CABINET_TYPES = ("CabinetOrder", "ImperialOrder")
# Weights of a match, besides the exactness of the place cited (0 to 3): the order repeats the
# point; its noun is the same, wholly or except for its beginning; the words before are the same, up
# to a number that suffices.
_REPEATED, _SAME_NOUN, _SAME_WORDS, _ENOUGH = 3.0, 4.0, 2.0, 20
_SAME_HEAD, _LEAST_ALIKE = 0.6, 0.5


class Words(NamedTuple):
    """The words identifying a delegated point.

    Attributes:
        shown: the point with the words around it: その他の有価証券で政令で定めるもの.
        before: words of the sentence before 政令で定める, without asides.
        after: the words behind, without asides: 有価証券の売買をいう.
        noun: the noun delegated: 有価証券; "" for もの and a manner (ところにより).
        noun_before: the noun before: 金額 in 金額で政令で定めるもの, 範囲 in 範囲は、政令で定める.
        called: its name in the rest of the law, or "".
        in_proviso: whether the sentence is a proviso (ただし).
    """

    shown: str
    before: str
    after: str
    noun: str
    noun_before: str
    called: str
    in_proviso: bool

    @classmethod
    def read(cls, text: str, start: int, end: int) -> Self:
        """Read the words of a delegation at this span of a law."""
        line = text.rfind("\n", 0, start) + 1
        before = dropping_asides(text[max(line, start - _AROUND) : start])
        before = _OTHER_WORDS.sub("", before)
        called = _CALLED.match(text, end)
        after = dropping_asides(text[end : end + _AROUND])
        ending = _ENDING.match(after)[0]  # type: ignore[index]  # It matches nothing, too.
        after = after[len(ending) :]
        phrase, named = _PHRASE.search(before), _NAMED.match(after)
        shown = phrase[0] if phrase else ""
        if len(shown) > _MOST_BEFORE:
            shown = f"…{shown[-_MOST_BEFORE:]}"
        noun, noun_before = _NOUN.match(after), _LAST_NOUN.search(before)
        return cls(
            f"{shown}{text[start:end]}{ending}{named[0] if named else ''}",
            before[-_BEFORE:],
            after[:_AFTER],
            noun[0] if noun else "",
            noun_before[1] if noun_before else "",
            called[1] if called else "",
            _IN_PROVISO.match(text, 1 + max(text.rfind(mark, 0, start) for mark in "。\n"))
            is not None,
        )


class _Repeated(NamedTuple):
    """A point repeated by an order, in parts: 有価証券で・政令・もの."""

    before: str
    instrument: str
    noun: str


class Said(NamedTuple):
    """The words of an order behind its citation of a provision.

    Attributes:
        subject: the words up to は.
        of_proviso: whether they begin with the proviso of the provision (ただし書).
        repeated: the point repeated; None for a mere citation.
    """

    subject: str
    of_proviso: bool
    repeated: _Repeated | None

    @classmethod
    def read(cls, text: str, end: int, *, of_cabinet: bool) -> Self:
        """Read the words behind a citation ending here.

        A mention of an order of another rank is a delegation of its own.
        """
        rest = dropping_asides(text[end : end + _CLAUSE])
        clause = _SENTENCE_END.split(rest, maxsplit=1)[0]
        subject, of_proviso = _subject(clause), _OF_PROVISO.match(clause) is not None
        left = _LEFT.search(clause)
        if left is None or (left["instrument"] == CABINET) != of_cabinet:
            return cls(subject, of_proviso, None)
        noun = _subject(_ENDING.sub("", clause[left.end() :], count=1))
        before = clause[: left.start()]
        repeated = _Repeated("" if _TIE.search(before) else before, left["instrument"], noun)
        return cls(subject, of_proviso, repeated)

    @classmethod
    def of_detail(cls, detail: str) -> Self:
        """Read the stored words of an edge."""
        subject, of_proviso, repeated = json.loads(detail)
        return cls(subject, of_proviso, repeated and _Repeated(*repeated))


def read_delegations(
    text: str, found: Iterable[Reference], *, law_type: str
) -> Iterator[Reference]:
    """Add the identifying words to a law's edges.

    Args:
        text: of the law.
        found: its references.
        law_type: of the law (``CabinetOrder``).

    Yields:
        All edges, and a ``carries-out`` edge for each paragraph of an order that opens with a
        provision of another law.
    """
    is_order, of_cabinet = law_type not in ACTS, law_type in CABINET_TYPES
    for one in found:
        if one.kind == DELEGATES:
            words = Words.read(text, one.start, one.end)
            yield replace(one, detail=json.dumps(words, ensure_ascii=False))
            continue
        of_another = is_order and one.law_id not in ("", one.document_id)
        opens = one.kind == REFERS and of_another and not one.source.item and _opens(text, one)
        if one.kind != DELEGATED_BY and not opens:
            yield one
            continue
        said = Said.read(text, one.end, of_cabinet=of_cabinet)
        told = replace(one, detail=json.dumps(said, ensure_ascii=False))
        yield one if opens else told
        if opens:
            yield replace(told, kind=CARRIES_OUT)


# Compared by identity: points are keys of many small tables, and unique in an article.
@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """A delegated point: its reference (``delegates``) and its words."""

    reference: Reference
    words: Words

    @property
    def of_cabinet(self) -> bool:
        """Whether it is delegated to the cabinet (政令), not to a minister."""
        return self.reference.law_name == CABINET

    @property
    def is_manner(self) -> bool:
        """Whether it delegates a manner or all the rest (必要な事項は、政令で定める)."""
        return self.words.after.startswith(_MANNER) or self.words.after[:1] in ("", "。", "、")


@dataclass(frozen=True, slots=True)
class Filling:
    """An implementing provision with its words.

    Attributes:
        reference: its citation of the delegating provision.
        said: its words behind the citation.
        of_cabinet: whether it is in a cabinet order (政令), not a minister's.
    """

    reference: Reference
    said: Said
    of_cabinet: bool

    @property
    def place(self) -> Locator:
        """Its paragraph."""
        source = self.reference.source
        return Locator(source.division, source.article, source.paragraph)


def points_left(store: Lookups, law_id: str, place: Locator) -> list[Point]:
    """The points a provision delegates, in text order."""
    left = store.references_from(law_id, place, DELEGATES)
    return [Point(of, Words(*json.loads(of.detail))) for of in left]


def fillings_of(
    store: Lookups, law_id: str, place: Locator, admits: Callable[[str], bool] = bool
) -> list[Filling]:
    """The provisions of orders that may implement an article's points.

    These repeat a point, or open a paragraph with the article in the same orders or in orders named
    after the law.

    Args:
        store: the corpus store.
        law_id: the law.
        place: in the article.
        admits: which orders may be found, by id; all by default.
    """
    edges = [
        of
        for of in store.references_to(law_id, article_of(place), DELEGATED_BY, CARRIES_OUT)
        # A supplement of an order implements supplements only.
        if of.source.paragraph and (not of.source.division or place.division)
    ]
    filling = {of.document_id for of in edges if of.kind == DELEGATED_BY}
    title = store.document(law_id).title
    types = {}
    for id_ in {of.document_id for of in edges} - {law_id}:
        order = store.document(id_)
        law_type = order.metadata.get("law_type", "")
        own = id_ in filling or order.title.startswith(title)
        if own and law_type not in ACTS and admits(id_):
            types[id_] = law_type
    return [
        Filling(of, Said.of_detail(of.detail), types[of.document_id] in CABINET_TYPES)
        for of in edges
        if of.document_id in types
    ]


def points_of(filling: Filling, points: Sequence[Point]) -> dict[Point, float]:
    """The points of an article that a provision implements, with a score.

    Returns:
        The best matching points: several if equal, none without a match. Scores compare the
        provisions implementing one point.
    """
    near = {
        point: nearness
        for point in points
        if point.of_cabinet == filling.of_cabinet
        and (nearness := _nearness(point.reference.source, filling.reference))
    }
    if not near:
        return {}
    _, of_proviso, repeated = filling.said
    likeness = {}
    for point, nearness in near.items():
        # A citation of the proviso excludes the rest.
        exactness = nearness + (of_proviso == point.words.in_proviso)
        if repeated is None:
            likeness[point] = _opening_likeness(point, filling, exactness)
        else:
            likeness[point] = _repeating_likeness(point, repeated, exactness, near)
    best = max(likeness.values())
    return {point: one for point, one in likeness.items() if one == best and one}


def match_points(
    points: Sequence[Point], fillings: Iterable[Filling]
) -> dict[Point, tuple[Filling, ...]]:
    """The implementing provisions of each point of an article, best first.

    Args:
        points: all points of the article.
        fillings: all provisions that may implement one.
    """
    by_point: dict[Point, list[tuple[float, Filling]]] = {point: [] for point in points}
    for filling in fillings:
        for point, likeness in points_of(filling, points).items():
            by_point[point].append((likeness, filling))
    return {
        point: tuple(filling for _, filling in sorted(some, key=lambda one: -one[0]))
        for point, some in by_point.items()
    }


def filled_points(store: Lookups, law_id: str, place: Locator) -> dict[Point, tuple[Filling, ...]]:
    """The implementing provisions of each point of a place, as in `match_points`.

    An order may cite the whole article, so all points of the article compete.
    """
    points = points_left(store, law_id, article_of(place))
    own = [point for point in points if place.contains(point.reference.source)]
    filled = match_points(points, fillings_of(store, law_id, place)) if own else {}
    return {point: filled[point] for point in own}


def filled_in(store: Lookups, left: Reference) -> Reference | None:
    """Find the implementing provision of a delegation.

    Args:
        store: the corpus store.
        left: a ``delegates`` reference.

    Returns:
        The reference from the implementing provision, or None.
    """
    for point, fillings in filled_points(store, left.document_id, left.source).items():
        if point.reference == left and fillings:
            return fillings[0].reference
    return None


def same_before(one: str, other: str) -> int:
    """Length of the common ending of two texts, without asides."""
    return alike_at_start(*(dropping_asides(text[-2 * _AROUND :])[::-1] for text in (one, other)))


def _opening_likeness(point: Point, filling: Filling, near: float) -> float:
    """Score of a provision that only cites the place, for one point; 0 for none."""
    last = filling.reference.target_end
    if last is not None and last.article != filling.reference.target.article:
        # 第百五十七条から第百五十九条までの権限 implements none of them.
        return 0.0
    subject = filling.said.subject
    nouns = (point.words.noun, point.words.noun_before, point.words.called)
    if any(noun and subject.endswith(noun) for noun in nouns):
        return near + 1
    # 第十条の手数料の額の計算 for 政令で定める額, if nothing matches better.
    if point.is_manner or any(len(noun) > 1 and noun in subject for noun in nouns):
        return near
    return 0.0


def _repeating_likeness(
    point: Point, repeated: _Repeated, near: float, points: Iterable[Point]
) -> float:
    """Score of a point repeated by an order; 0 for another one.

    Args:
        point: one of `points`.
        repeated: the point in the order.
        near: exactness of the place cited.
        points: all points of the place for this kind of order.
    """
    if repeated.instrument != point.reference.law_name:
        return 0.0
    alike = _alike(repeated.noun, point)
    if alike < _LEAST_ALIKE and not _is_alone(point, points):
        return 0.0
    same = alike_at_start(repeated.before[::-1], point.words.before[::-1])
    words = min(same, _ENOUGH) / _ENOUGH
    return _REPEATED + near + _SAME_NOUN * alike + _SAME_WORDS * words


def _nearness(place: Locator, reference: Reference) -> float:
    """Exactness of an order's citation of a place, at most 3; 0 for another place."""
    cited, last = reference.target, reference.target_end
    if last is not None:
        return 2 * (
            numbers_of(cited) <= numbers_of(place)[: len(numbers_of(last))] <= numbers_of(last)
        )
    if cited.contains(place):
        return 3 if place.contains(cited) else 2
    return 1 * place.contains(cited)


def _alike(noun: str, point: Point) -> float:
    """Likeness of a noun to a point's, 0 to 1: 金額 in 金額以上の, 関連商品 for 商品."""
    if not noun:
        return float(point.is_manner)
    own, after = point.words.noun, point.words.after
    same = alike_at_start(noun, after)
    if same == len(noun):
        # 政令で定める日 is not 政令で定める日数.
        return 0.9 if _is_noun(after[same : same + 1]) else 1.0
    same_head = bool(own) and (noun.endswith(own) or own.endswith(noun))
    return max(_SAME_HEAD * same_head, same / len(noun))


def _is_noun(character: str) -> bool:
    return "一" <= character <= "鿿" or "ァ" <= character <= "ヺ"


def _is_alone(point: Point, points: Iterable[Point]) -> bool:
    """Whether the place delegates nothing else to this kind of order, except a manner."""
    return not point.is_manner and not any(
        other is not point
        and other.reference.law_name == point.reference.law_name
        and not other.is_manner
        for other in points
    )


def _subject(words: str) -> str:
    """The words up to は."""
    found = _SUBJECT.match(words)
    return found[1] if found else ""


def dropping_asides(text: str) -> str:
    """A text without its brackets."""
    dropped = 1
    while dropped:
        text, dropped = _ASIDE.subn("", text)
    return text


def article_of(place: Locator) -> Locator:
    """The article, or else the division, of a place."""
    return Locator(place.division, place.article)


def _opens(text: str, of: Reference) -> bool:
    """Whether it opens a paragraph: 第六十条 戸籍法第五十条の…は."""
    start = text.rfind("\n", 0, of.start) + 1
    return bool(of.source.paragraph) and _OPENING.fullmatch(text, start, of.start) is not None

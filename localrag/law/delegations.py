"""Which provision of an order fills in which point that a provision leaves to it.

One article of an act says 政令で定める a dozen times. An order that fills a point in cites the
provision and repeats it: 法第二十七条の二第一項に規定する有価証券で政令で定めるものは. So it is the
order that chooses its point: by the place, by the noun behind 政令で定める, by the words before it.
Where the act leaves a manner (政令で定めるところにより), the order opens with the place alone.

The words that tell a point, and what is filled in, are read when a law is indexed, and stand in the
detail of its edges; to match them compares these.
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
"""What laws call an order to which they leave something, as a regular expression."""
# Characters of the act on both sides of 政令で定める that are read, that are kept, and of the order
# behind its citation.
_AROUND, _BEFORE, _AFTER, _CLAUSE = 120, 60, 40, 600
_ASIDE = re.compile("（[^（）]*+）")
# What of the words before belongs to another sentence, or to what an aside stands in.
_OTHER_WORDS = re.compile("^.*[。（\n]", re.DOTALL)
_SENTENCE_END = re.compile("[。\n]")
_SUBJECT = re.compile("(.*?)(?:とは、|は、|。|\n|$)")
_LEFT = re.compile(rf"(?P<instrument>{INSTRUMENT})[での](?:これを)?(?:定め|指定)")
_ENDING = re.compile("(?:する|した|され[たる]|られ[たる]|る|た)?")
# So many characters before 政令で定める are shown, from where their phrase begins.
_MOST_BEFORE = 24
_PHRASE = re.compile("[^、「　\n]*、?$")
# What is left, as far as it is named: もの, 株券等の買付け等, ところにより.
_NAMED = re.compile(
    r"ところに(?:より|よる)|[^、。（）\n]{0,24}?"
    r"(?=[はがをにで、。（）\n]|と(?!して)|から|まで|以外|のうち|又は|若しく|及び|並び|あつた|であ|$)"
)
# What stands before a citation that opens a paragraph: its number, who acts, the name of the act,
# others cited with it.
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
# What ties a citation to what is repeated, where nothing of this precedes 政令で定める.
_TIE = re.compile(
    r"(?:^|[条項号段文書分])(?:の[〇一二三四五六七八九十百]+)?"
    r"(?:に規定する|の規定に(?:より|よる|基づき)|に基づき|に掲げる|に定める|の)$"
)
_IN_PROVISO, _OF_PROVISO = re.compile("(?:ただし|但し)、?"), re.compile("ただし書|但書")
_MANNER = "ところ"
CABINET = "政令"
"""What a law calls an order of the cabinet."""
ACTS = ("", "Act", "Constitution")
"""Types of laws that fill in nothing."""
CABINET_TYPES = ("CabinetOrder", "ImperialOrder")
# What speaks for a point, beside how exactly its place is cited (0 to 3): that the order repeats
# it at all, that its noun is the same, in full or but for what stands before it, that the words
# before are the same, of which so many tell enough.
_REPEATED, _SAME_NOUN, _SAME_WORDS, _ENOUGH = 3.0, 4.0, 2.0, 20
_SAME_HEAD, _LEAST_ALIKE = 0.6, 0.5


class Words(NamedTuple):
    """The words that tell a point which a provision leaves to an order.

    Attributes:
        shown: what is left, with the words around it: その他の有価証券で政令で定めるもの.
        before: the words of the sentence before 政令で定める, without asides.
        after: the words behind, without asides: 有価証券の売買をいう.
        noun: the noun that is left: 有価証券; もの and a manner (ところにより) have none.
        noun_before: the noun before: 金額 of 金額で政令で定めるもの, 範囲 of 範囲は、政令で定める.
        called: what the law calls it from there on; "" where it gives it no name.
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
        """Read them where a law leaves something to an order, in this span of its text."""
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
    """A point as an order repeats it: the parts of 有価証券で・政令・もの."""

    before: str
    instrument: str
    noun: str


class Said(NamedTuple):
    """What an order says behind its citation of a provision.

    Attributes:
        subject: the words up to は: what it says something of.
        of_proviso: whether they begin with the proviso of the provision (ただし書).
        repeated: the point that it repeats; None where it only opens with the place.
    """

    subject: str
    of_proviso: bool
    repeated: _Repeated | None

    @classmethod
    def read(cls, text: str, end: int, *, of_cabinet: bool) -> Self:
        """Read it behind a citation that ends here.

        What it says of an order of another rank is what it leaves itself.
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
        """Read it of an edge."""
        subject, of_proviso, repeated = json.loads(detail)
        return cls(subject, of_proviso, repeated and _Repeated(*repeated))


def read_delegations(
    text: str, found: Iterable[Reference], *, law_type: str
) -> Iterator[Reference]:
    """Give edges of one law the words that tell what is left, and what is filled in.

    Args:
        text: of the law.
        found: its references.
        law_type: of the law (``CabinetOrder``).

    Yields:
        All of them; where a paragraph of an order opens with a provision of another law, an edge
        of the kind ``carries-out`` besides.
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


# By identity: they are keys of many small tables, and no two of an article are the same.
@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """What a provision leaves to an order: where it does (``delegates``), and its words."""

    reference: Reference
    words: Words

    @property
    def of_cabinet(self) -> bool:
        """Whether it is left to the cabinet (政令), and not to a minister."""
        return self.reference.law_name == CABINET

    @property
    def is_manner(self) -> bool:
        """Whether a manner is left, or all the rest (必要な事項は、政令で定める)."""
        return self.words.after.startswith(_MANNER) or self.words.after[:1] in ("", "。", "、")


@dataclass(frozen=True, slots=True)
class Filling:
    """A provision of an order with the words that say what it fills in.

    Attributes:
        reference: its citation of the provision that leaves the point.
        said: behind the citation.
        of_cabinet: whether the order is the cabinet's (政令), and not a minister's.
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
    """The points that a provision, with all that stands in it, leaves to orders, as they stand."""
    left = store.references_from(law_id, place, DELEGATES)
    return [Point(of, Words(*json.loads(of.detail))) for of in left]


def fillings_of(
    store: Lookups, law_id: str, place: Locator, admits: Callable[[str], bool] = bool
) -> list[Filling]:
    """The provisions of orders that may fill in what the article of a place leaves to them.

    Those that repeat what is left, and the paragraphs of the same orders, and of those named after
    the law, that open with the article.

    Args:
        store: where the laws are.
        law_id: the law.
        place: a place in the article.
        admits: which orders may be found, by their ids; all by default.
    """
    edges = [
        of
        for of in store.references_to(law_id, article_of(place), DELEGATED_BY, CARRIES_OUT)
        # A supplement of an order fills in supplements.
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
    """The points that a provision of an order fills in, of those of an article, and how surely.

    Returns:
        The points that it fits best; several where its words fit them equally, none where they
        fit none. The figures compare the provisions that fill in one point.
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
        # Who names the proviso means none of the rest.
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
    """What fills in each point of an article, what says just this first; none where nothing does.

    Args:
        points: all points that the article leaves.
        fillings: all provisions that may fill one in.
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
    """What fills in each point that a place leaves to orders, as `match_points` says.

    An order may cite the article as a whole: it chooses among all that the article leaves.
    """
    points = points_left(store, law_id, article_of(place))
    own = [point for point in points if place.contains(point.reference.source)]
    filled = match_points(points, fillings_of(store, law_id, place)) if own else {}
    return {point: filled[point] for point in own}


def filled_in(store: Lookups, left: Reference) -> Reference | None:
    """Find the provision of an order that says what a 政令で定める leaves to it.

    Args:
        store: where the laws are.
        left: a reference of the kind ``delegates``.

    Returns:
        The reference of that provision to the one that leaves it open; None where the corpus has
        none.
    """
    for point, fillings in filled_points(store, left.document_id, left.source).items():
        if point.reference == left and fillings:
            return fillings[0].reference
    return None


def same_before(one: str, other: str) -> int:
    """How many characters two texts end with alike, asides left out."""
    return alike_at_start(*(dropping_asides(text[-2 * _AROUND :])[::-1] for text in (one, other)))


def _opening_likeness(point: Point, filling: Filling, near: float) -> float:
    """How surely what only opens with a place fills in a point of it; 0 where it does not."""
    last = filling.reference.target_end
    if last is not None and last.article != filling.reference.target.article:
        # 第百五十七条から第百五十九条までの権限 carries out none of them.
        return 0.0
    subject = filling.said.subject
    nouns = (point.words.noun, point.words.noun_before, point.words.called)
    if any(noun and subject.endswith(noun) for noun in nouns):
        return near + 1
    # 第十条の手数料の額の計算 for 政令で定める額, if nothing fits better.
    if point.is_manner or any(len(noun) > 1 and noun in subject for noun in nouns):
        return near
    return 0.0


def _repeating_likeness(
    point: Point, repeated: _Repeated, near: float, points: Iterable[Point]
) -> float:
    """How surely a point is the one that an order repeats; 0 where it is not.

    Args:
        point: one of `points`.
        repeated: what the order repeats.
        near: how exactly it cites the place.
        points: all that the place cited leaves to this kind of order.
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
    """How exactly an order cites a place, 3 at most; 0 where it cites another one."""
    cited, last = reference.target, reference.target_end
    if last is not None:
        return 2 * (
            numbers_of(cited) <= numbers_of(place)[: len(numbers_of(last))] <= numbers_of(last)
        )
    if cited.contains(place):
        return 3 if place.contains(cited) else 2
    return 1 * place.contains(cited)


def _alike(noun: str, point: Point) -> float:
    """How far a noun is that of a point, 0 to 1: 金額 of 金額以上の, 関連商品 for 商品."""
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
    """Whether the place cited leaves no other thing to this kind of order, but a manner."""
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
    """A text without what stands in its brackets."""
    dropped = 1
    while dropped:
        text, dropped = _ASIDE.subn("", text)
    return text


def article_of(place: Locator) -> Locator:
    """The article, or else the division, of a place."""
    return Locator(place.division, place.article)


def _opens(text: str, of: Reference) -> bool:
    """Whether a paragraph begins with it: 第六十条　戸籍法第五十条の…は."""
    start = text.rfind("\n", 0, of.start) + 1
    return bool(of.source.paragraph) and _OPENING.fullmatch(text, start, of.start) is not None

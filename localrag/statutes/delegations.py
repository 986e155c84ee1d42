"""Which provision of an order fills in which point that a provision leaves to it.

One article of an act says 政令で定める a dozen times. An order that fills a point in cites the
provision and repeats it: 法第二十七条の二第一項に規定する有価証券で政令で定めるものは. So it is the
order that chooses its point: by the place, by the noun behind 政令で定める, by the words before it.
Where the act leaves a manner (政令で定めるところにより), the order opens with the place alone.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from localrag.corpus.links import Reference
from localrag.corpus.lookups import Lookups
from localrag.corpus.states import DocumentInfo
from localrag.corpus.types import Locator, Passage
from localrag.statutes.references import DELEGATED_BY, DELEGATES, INSTRUMENT, REFERS

# Characters before 政令で定める that are about the point, and the words right behind it.
_NEAR, _BEHIND = 60, re.compile(r"[^、。（）\n]{0,30}")
# Characters of the act on both sides of 政令で定める, and of the order behind its citation.
_AROUND, _CLAUSE = 120, 600
_ASIDE = re.compile("（[^（）]*+）")
# What of the words before belongs to another sentence, or to what an aside stands in.
_OTHER_WORDS = re.compile("^.*[。（\n]", re.DOTALL)
_SENTENCE_END = re.compile("[。\n]")
_SUBJECT = re.compile("(.*?)(?:とは、|は、|。|\n|$)")
LEFT = re.compile(rf"(?P<instrument>{INSTRUMENT})[での](?:これを)?(?:定め|指定)")
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
_ACTS = ("", "Act", "Constitution")
CABINET_TYPES = ("CabinetOrder", "ImperialOrder")
# An article that more refer to is a definition: no order carries it out by its number alone.
_TOO_MANY = 400

# What speaks for a point, beside how exactly its place is cited (0 to 3): that the order repeats
# it at all, that its noun is the same, in full or but for what stands before it, that the words
# before are the same, of which so many tell enough.
_REPEATED, _SAME_NOUN, _SAME_WORDS, _ENOUGH = 3.0, 4.0, 2.0, 20
_SAME_HEAD, _LEAST_ALIKE = 0.6, 0.5


# By identity: they are keys of many small tables, and no two of an article are the same.
@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """What a provision leaves to an order.

    Attributes:
        reference: where it does (``delegates``).
        before: the words of the sentence before 政令で定める, without asides.
        left: the words that leave it, to their ending: 政令で定め.
        ending: that of 定め or 指定: る, た, する.
        after: the words behind, without asides: 有価証券の売買をいう.
        around: the words on both sides as they stand, of the same sentence.
        called: what the law calls it from there on; "" where it gives it no name.
        in_proviso: whether the sentence is a proviso (ただし).
    """

    reference: Reference
    before: str
    left: str
    ending: str
    after: str
    around: str
    called: str
    in_proviso: bool

    @property
    def of_cabinet(self) -> bool:
        """Whether it is left to the cabinet (政令), and not to a minister."""
        return self.reference.law_name == CABINET

    @property
    def words(self) -> str:
        """What is left, with the words around it: その他の有価証券で政令で定めるもの."""
        phrase, named = _PHRASE.search(self.before), _NAMED.match(self.after)
        before = phrase[0] if phrase else ""
        if len(before) > _MOST_BEFORE:
            before = f"…{before[-_MOST_BEFORE:]}"
        return f"{before}{self.left}{self.ending}{named[0] if named else ''}"

    @property
    def noun(self) -> str:
        """The noun that is left: 有価証券; もの and a manner (ところにより) have none."""
        found = _NOUN.match(self.after)
        return found[0] if found else ""

    @property
    def noun_before(self) -> str:
        """The noun before: 金額 of 金額で政令で定めるもの, 範囲 of 範囲は、政令で定める."""
        found = _LAST_NOUN.search(self.before)
        return found[1] if found else ""

    @property
    def is_manner(self) -> bool:
        """Whether a manner is left, or all the rest (必要な事項は、政令で定める)."""
        return self.after.startswith(_MANNER) or self.after[:1] in ("", "。", "、")


@dataclass(frozen=True, slots=True)
class Filling:
    """A provision of an order with the words that say what it fills in.

    Attributes:
        passage: its article.
        reference: its citation of the provision that leaves the point.
        clause: the words behind the citation, to the end of the sentence, without asides.
        of_cabinet: whether the order is the cabinet's (政令), and not a minister's.
    """

    passage: Passage
    reference: Reference
    clause: str
    of_cabinet: bool

    @property
    def subject(self) -> str:
        """The words behind the citation up to は: what it says something of."""
        return _subject(self.clause)

    @property
    def place(self) -> Locator:
        """Its paragraph."""
        source = self.reference.source
        return Locator(source.division, source.article, source.paragraph)


class _Repeated(NamedTuple):
    """A point as an order repeats it: the parts of 有価証券で・政令・もの."""

    before: str
    instrument: str
    noun: str


def points_left(store: Lookups, law_id: str, place: Locator) -> list[Point]:
    """The points that a provision, with all that stands in it, leaves to orders, as they stand."""
    left = store.references_from(law_id, place, DELEGATES)
    article = store.at(law_id, _article(place)) if left else None
    return [_point(article, of) for of in left] if article else []


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
    citing = [
        of
        for of in store.citing(law_id, _article(place), (DELEGATED_BY, REFERS))
        # A supplement of an order fills in supplements.
        if of.source.paragraph and (not of.source.division or place.division)
    ]
    orders = {
        key: order
        for key, order in store.documents_of({of.document for of in citing}).items()
        if order.id != law_id and _law_type(order) not in _ACTS and admits(order.id)
    }
    citing = [of for of in citing if of.document in orders]
    if len(citing) > _TOO_MANY:
        citing = [of for of in citing if of.kind == DELEGATED_BY]
    title = store.document(law_id).title
    own = {of.document for of in citing if of.kind == DELEGATED_BY}
    own |= {key for key, order in orders.items() if order.title.startswith(title)}
    of_cabinet = {order.id: _law_type(order) in CABINET_TYPES for order in orders.values()}
    references = store.references(of.key for of in citing if of.document in own)
    articles = store.by_ids(dict.fromkeys(map(_article_id, references)))
    return [
        Filling(article, of, _clause(article, of.end), of_cabinet[of.document_id])
        for of in references
        if (article := articles.get(_article_id(of)))
        and (of.kind == DELEGATED_BY or (not of.source.item and _opens(article, of.start)))
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
    repeated, of_proviso = _repeated(filling), _OF_PROVISO.match(filling.clause) is not None
    likeness = {}
    for point, nearness in near.items():
        # Who names the proviso means none of the rest.
        exactness = nearness + (of_proviso == point.in_proviso)
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
    points = points_left(store, law_id, _article(place))
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
    words = [_without_asides(text[-2 * _AROUND :])[::-1] for text in (one, other)]
    return _common(*words)


def _opening_likeness(point: Point, filling: Filling, near: float) -> float:
    """How surely what only opens with a place fills in a point of it; 0 where it does not."""
    last = filling.reference.target_end
    if last is not None and last.article != filling.reference.target.article:
        # 第百五十七条から第百五十九条までの権限 carries out none of them.
        return 0.0
    subject = filling.subject
    nouns = (point.noun, point.noun_before, point.called)
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
    words = min(_common(repeated.before[::-1], point.before[::-1]), _ENOUGH) / _ENOUGH
    return _REPEATED + near + _SAME_NOUN * alike + _SAME_WORDS * words


def _nearness(place: Locator, reference: Reference) -> float:
    """How exactly an order cites a place, 3 at most; 0 where it cites another one."""
    cited, last = reference.target, reference.target_end
    if last is not None:
        return 2 * (_numbers(cited) <= _numbers(place)[: len(_numbers(last))] <= _numbers(last))
    if cited.contains(place):
        return 3 if place.contains(cited) else 2
    return 1 * place.contains(cited)


def _numbers(place: Locator) -> list[list[int]]:
    parts = place.path.rpartition("/")[2].split(".")
    return [[int(number) for number in re.findall(r"\d+", part)] for part in parts]


def _repeated(filling: Filling) -> _Repeated | None:
    """What an order repeats behind its citation; None where it only opens with the place.

    What it says of an order of another rank is what it leaves itself.
    """
    left = LEFT.search(filling.clause)
    if left is None or (left["instrument"] == CABINET) != filling.of_cabinet:
        return None
    after = filling.clause[left.end() :]
    noun = _subject(after.removeprefix(_ending(after)))
    before = filling.clause[: left.start()]
    return _Repeated("" if _TIE.search(before) else before, left["instrument"], noun)


def _alike(noun: str, point: Point) -> float:
    """How far a noun is that of a point, 0 to 1: 金額 of 金額以上の, 関連商品 for 商品."""
    if not noun:
        return float(point.is_manner)
    same = _common(noun, point.after)
    if same == len(noun):
        # 政令で定める日 is not 政令で定める日数.
        return 0.9 if _NOUN.match(point.after, same) else 1.0
    same_head = bool(point.noun) and (noun.endswith(point.noun) or point.noun.endswith(noun))
    return max(_SAME_HEAD * same_head, same / len(noun))


def _is_alone(point: Point, points: Iterable[Point]) -> bool:
    """Whether the place cited leaves no other thing to this kind of order, but a manner."""
    return not point.is_manner and not any(
        other is not point
        and other.reference.law_name == point.reference.law_name
        and not other.is_manner
        for other in points
    )


def _point(article: Passage, reference: Reference) -> Point:
    start, end = reference.start - article.start, reference.end - article.start
    before = _without_asides(article.text[max(0, start - _AROUND) : start])
    called, near = _CALLED.match(article.text, end), _BEHIND.match(article.text, end)
    after = _without_asides(article.text[end : end + _AROUND])
    ending = _ending(after)
    sentence = 1 + max(article.text.rfind(mark, 0, start) for mark in "。\n")
    return Point(
        reference,
        _OTHER_WORDS.sub("", before),
        article.text[start:end],
        ending,
        after.removeprefix(ending),
        article.text[max(sentence, start - _NEAR) : end] + (near[0] if near else ""),
        called[1] if called else "",
        _IN_PROVISO.match(article.text, sentence) is not None,
    )


def _clause(article: Passage, end: int) -> str:
    rest = _without_asides(article.text[end - article.start :][:_CLAUSE])
    ends = _SENTENCE_END.search(rest)
    return rest[: ends.start() if ends else None]


def _subject(words: str) -> str:
    """The words up to は."""
    found = _SUBJECT.match(words)
    return found[1] if found else ""


def _without_asides(text: str) -> str:
    dropped = 1
    while dropped:
        text, dropped = _ASIDE.subn("", text)
    return text


def _law_type(document: DocumentInfo) -> str:
    return document.metadata.get("law_type", "")


def _ending(words: str) -> str:
    """How 定め or 指定 goes on: る, された."""
    found = _ENDING.match(words)
    return found[0] if found else ""


def _article(place: Locator) -> Locator:
    return Locator(place.division, place.article)


def _article_id(of: Reference) -> str:
    return f"{of.document_id}#{_article(of.source).path}"


def _opens(article: Passage, position: int) -> bool:
    """Whether a paragraph begins with it: 第六十条　戸籍法第五十条の…は."""
    text, position = article.text, position - article.start
    return _OPENING.fullmatch(text, text.rfind("\n", 0, position) + 1, position) is not None


def _common(left: str, right: str) -> int:
    """How many characters two texts begin with alike."""
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    return sum(1 for _ in alike)

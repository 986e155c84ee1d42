"""Questions about points that an act leaves to an order: how often the order's provision is quoted.

Pairs of provisions of the 327 laws, at most three for each act, are asked for in six ways: by the
place as lawyers cite it, as one speaks, by the delegation, by the act's words with 政令で定める and
without, and over two steps (act, order, ordinance). The gold provision is in the order. It quotes
the act's 政令で定める額 right after its citation. The cited provision has these words once, and no
other provision quotes them.

The acts are divided into a half for development and a half that is only counted. ``--show`` prints
the questions of the first.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from bench.corpora import open_corpus
from bench.options import parser
from bench.rates import rate

from localrag.answer.extractive import Quotations, quotations
from localrag.corpus.links import DELEGATED_BY, Reference
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Locator
from localrag.law.names import LawNames
from localrag.law.notation import cite
from localrag.search.pipeline import Retriever
from localrag.search.types import Query

SEEN, COUNTED = HALVES = ("looked-at", "counted")
SEED = 15
# Questions of a half, and of one act.
IN_HALF, OF_ACT = 30, 3
WAYS = ("two steps", "plain", "words", "delegated", "spoken", "place")

_INSTRUMENT = r"(?:政令|(?:[一-鿿]{4}|[一-鿿]{2})?[府省]令|[一-鿿]{2,12}規則)"
# Two ministries may make one ordinance.
_INSTRUMENTS = rf"{_INSTRUMENT}(?:・{_INSTRUMENT})*"
# Behind a citation: 第三項に規定する保証金の額で政令で定める額は、.
_QUOTES = re.compile(
    r"(?:（[^（）]*）)?(?:に規定する|の規定により|の規定による|の)"
    r"(?P<before>[^「」。、\n（）]{0,60}?)"
    rf"(?P<left>(?P<instrument>{_INSTRUMENTS})で定める(?P<point>[^、。（）\n「」]{{1,40}}?))(?:は|とは)、"
)
# Characters behind a citation, to the end of its sentence at most, in which an order quotes.
_QUOTED = 300
# What says nothing without the words before.
_EMPTY = ("もの", "者", "場合", "とき", "事項", "額")
# Start of the words before 政令で定める, and the words leading to it.
_BEGINS = re.compile("[、。（）「」\n　]")
# What means nothing without its place.
_RELATIVE = re.compile(r"[前次同][^、。]{0,2}[条項号]")
_NOUN = re.compile("[一-鿿々ァ-ヺー]+")
_LINKS = re.compile("^(?:又は|若しくは|及び|並びに|その他|当該)")
_LEADS_OVER = re.compile(
    r"(?:(?:もの)?として|であつて|であって|において|について|その他の?|又は|若しくは|及び|[でがはをに])$"
)
# What a noun follows without の.
_BEFORE_NOUNS = re.compile("[るたいなの]$")
# Of 第5条第2項 a speaker leaves out what 第27条の2第2項 needs.
_SPOKEN = re.compile(r"(?<!の\d)(?<!の\d\d)第(?=\d+[条項号])")
_ASIDE = re.compile("（[^（）]*）")
# Characters of the act's own words in a question, and among which they are looked for.
_FEWEST, _MOST, _NEAR = 6, 45, 300
_HOW = (("額", "いくら"), ("料", "いくら"), ("期間", "どのくらい"), ("数", "いくつ"))


class DelegatedPair(NamedTuple):
    """A point that a provision leaves to an order, and the order's provision.

    Attributes:
        left: the point as quoted by the order: 政令で定める額.
        is_only_one: whether the act has `before` and `left` only once.
    """

    act: str
    place: Locator
    before: str
    left: str
    instrument: str
    point: str
    order: str
    filling: Locator
    is_only_one: bool


@dataclass(frozen=True)
class DelegationQuestion:
    """A question; `gold` is the provision to be quoted, and `act` its starting point."""

    way: str
    question: str
    act: tuple[str, Locator]
    gold: tuple[str, Locator]


def main() -> None:
    """Print for every way to ask how often the provision that fills in is quoted."""
    options = parser(__doc__, work=True)
    options.add_argument("--half", choices=HALVES, default=SEEN)
    options.add_argument("--show", action="store_true", help="print the questions looked at")
    arguments = options.parse_args()
    shown = arguments.show and arguments.half == SEEN
    outcomes: dict[str, list[tuple[bool, ...]]] = defaultdict(list)
    laws = [arguments.data / "egov" / "xml"]
    with open_corpus(arguments.work.resolve(), "statutes", laws) as retriever:
        for asked in questions(retriever.store, retriever.names)[arguments.half]:
            query = Query(asked.question)
            answer = quotations(retriever, retriever.search(query))
            outcome = judged(asked, answer)
            outcomes[asked.way].append(outcome)
            if shown:
                show(asked, answer, outcome, retriever)
    print(f"{arguments.half} half{'':<6}{'n':>3}  {'filling provision quoted':<26}", end="")
    print(f"{'its article':<26}{'with the act':<26}")
    for way, some in outcomes.items():
        print_line(way, some)
    print_line("all", [one for some in outcomes.values() for one in some])


def questions(store: CorpusStore, names: LawNames) -> Mapping[str, Sequence[DelegationQuestion]]:
    """The questions of both halves; fewer where the corpus has too few pairs."""
    by_act: dict[str, list[DelegatedPair]] = defaultdict(list)
    for pair in pairs(store, names):
        by_act[pair.act].append(pair)
    random = Random(SEED)
    acts = sorted(act for act in by_act if names.is_act(act))
    random.shuffle(acts)
    for some in by_act.values():
        random.shuffle(some)
    # Few acts have two steps: both halves have some of them.
    acts.sort(key=lambda act: not any(_suits(WAYS[0], *one) for one in _steps(act, by_act)))
    halves = acts[::2], acts[1::2]
    return {
        half: list(_asked_of(some, by_act, names))
        for half, some in zip(HALVES, halves, strict=True)
    }


def pairs(store: CorpusStore, names: LawNames) -> Iterator[DelegatedPair]:
    """All pairs of the corpus that are beyond doubt."""
    filling: dict[str, list[tuple[Reference, str]]] = defaultdict(list)
    for document in store.documents(kind="law"):
        if not names.is_act(document.id):
            for reference in store.references_from(document.id, Locator()):
                if reference.kind == DELEGATED_BY and reference.law_id:
                    words = store.text(document.id, reference.end, reference.end + _QUOTED)
                    filling[reference.law_id].append((reference, words.partition("。")[0]))
    for of_act in filling.values():
        for reference, words in of_act:
            pair = _pair(store, reference, words)
            if pair and not any(_is_rival(pair, *other) for other in of_act):
                yield pair


def _is_rival(pair: DelegatedPair, reference: Reference, words: str) -> bool:
    """Whether another paragraph says of the same place that it fills in the same."""
    return (
        pair.left in words
        and _touch(pair.place, reference.target)
        and (pair.order, pair.filling) != (reference.document_id, _paragraph(reference.source))
    )


def _pair(store: CorpusStore, reference: Reference, words: str) -> DelegatedPair | None:
    """A pair behind a reference of an order; None if the words after it are ambiguous."""
    quotes, place = _QUOTES.match(words), store.at(reference.law_id, reference.target)
    if quotes is None or place is None or reference.target_end or reference.source.division:
        return None
    own = quotes["before"] if quotes["point"] in _EMPTY else ""
    left = re.compile(f"{re.escape(own + quotes['left'])}(?![一-鿿])")
    places = list(left.finditer(place.text))
    if len(places) != 1:
        return None
    before = _own_words(place.text, places[0].start() + len(own))
    return DelegatedPair(
        reference.law_id,
        reference.target,
        before,
        quotes["left"],
        quotes["instrument"],
        quotes["point"],
        reference.document_id,
        _paragraph(reference.source),
        bool(before) and store.text(reference.law_id).count(before + quotes["left"]) == 1,
    )


def _paragraph(place: Locator) -> Locator:
    return Locator(place.division, place.article, place.paragraph)


def _own_words(text: str, end: int) -> str:
    """The words of a provision before a place, back to where a phrase begins, without asides."""
    before = text[max(0, end - _NEAR) : end]
    dropped = 1
    while dropped:
        before, dropped = _ASIDE.subn("", before)
    begins = [mark.end() for mark in _BEGINS.finditer(before)]
    fits = [at for at in begins if _FEWEST <= len(before) - at <= _MOST]
    words = before[max(fits) :] if fits else ""
    return "" if "（" in words else words


def _asked_of(
    acts: Sequence[str], by_act: Mapping[str, Sequence[DelegatedPair]], names: LawNames
) -> Iterator[DelegationQuestion]:
    """The questions of a half, those ways to ask first that suit the fewest acts."""
    left = {act: list(_steps(act, by_act)) for act in acts}
    of_act: Counter[str] = Counter()
    # What few acts have is soon used up: the other ways go on until the half is full.
    for way in WAYS * IN_HALF:
        # An act that was asked for least comes first; the sort keeps the order of the others.
        for act in sorted(acts, key=lambda act: of_act[act]):
            suited = next((one for one in left[act] if _suits(way, *one)), None)
            if suited and of_act[act] < OF_ACT:
                left[act].remove(suited)
                of_act[act] += 1
                yield _worded(way, *suited, names)
                break
        if of_act.total() == IN_HALF:
            return


def _steps(
    act: str, by_act: Mapping[str, Sequence[DelegatedPair]]
) -> Iterator[tuple[DelegatedPair, DelegatedPair | None]]:
    """Two pairs each: the implementing paragraph of the first delegates again."""
    for pair in by_act[act]:
        yield pair, None
        again = [one for one in by_act.get(pair.order, ()) if pair.filling.contains(one.place)]
        quoted = Counter(one.left for one in again)
        yield from ((pair, one) for one in again if quoted[one.left] == 1)


def _suits(way: str, pair: DelegatedPair, further: DelegatedPair | None) -> bool:
    if way == "two steps" or further is not None:
        return way == "two steps" and further is not None
    is_noun = pair.point not in _EMPTY and _NOUN.fullmatch(pair.point) is not None
    if way in ("words", "plain") and (not pair.is_only_one or _RELATIVE.search(pair.before)):
        return False
    if way == "plain":
        return is_noun and not pair.before.endswith("、") and "定め" not in pair.before
    return is_noun or way in ("words", "place")


def _worded(
    way: str, pair: DelegatedPair, further: DelegatedPair | None, names: LawNames
) -> DelegationQuestion:
    title = names.title(pair.act)
    place, spoken = cite(title, pair.place), cite("", pair.place, arabic=True)
    shortest = min((name for name, ids in names.names.items() if ids == (pair.act,)), key=len)
    own = _LINKS.sub("", pair.before) if pair.point in _EMPTY else ""
    left = f"{own}{pair.left}"
    how = next((asks for noun, asks in _HOW if pair.point.endswith(noun)), "何")
    about = _LEADS_OVER.sub("", _LINKS.sub("", pair.before)).removesuffix(pair.point)
    about += "" if not about or _BEFORE_NOUNS.search(about) else "の"
    question = {
        "place": f"{place}の{left}とは何か",
        "spoken": f"{shortest}{_SPOKEN.sub('', spoken)}の『{pair.left}』は具体的に何ですか",
        "delegated": f"{place}の委任を受けて、{pair.instrument}は{pair.point}をどう定めているか",
        "words": f"{title}で、{pair.before}{pair.left}は何か",
        "plain": f"{title}で、{about}{pair.point}は{how}か",
        "two steps": f"{place}の{left}について、{further.left if further else ''}とは何か",
    }[way]
    last = further or pair
    return DelegationQuestion(way, question, (pair.act, pair.place), (last.order, last.filling))


def judged(asked: DelegationQuestion, answer: Quotations) -> tuple[bool, bool, bool]:
    """Whether the gold, its article, and the gold with the act's provision are quoted."""
    quoted = []
    for citation in answer.citations:
        law_id, _, path = citation.passage_id.rpartition("#")
        quoted.append((law_id, Locator.parse(path)))
    gold, act = (
        any(law_id == of and _touch(place, there) for of, there in quoted)
        for law_id, place in (asked.gold, asked.act)
    )
    article = (asked.gold[0], asked.gold[1].article)
    return gold, article in [(of, place.article) for of, place in quoted], gold and act


def _touch(one: Locator, other: Locator) -> bool:
    return one.contains(other) or other.contains(one)


def print_line(way: str, some: Sequence[tuple[bool, ...]]) -> None:
    """Print the rates of some questions."""
    rates = [rate(sum(column), len(some)) for column in zip(*some, strict=True)]
    print(f"{way:<15}{len(some):>3}  {''.join(f'{one:<26}' for one in rates).rstrip()}")


def show(
    asked: DelegationQuestion, answer: Quotations, outcome: tuple[bool, ...], retriever: Retriever
) -> None:
    """Print one question, its gold and what was quoted."""
    names = retriever.names
    print(f"\n{asked.way}: {asked.question}\n   {outcome}")
    for law_id, place in (asked.act, asked.gold):
        passage = retriever.store.at(law_id, place)
        print(f"   gold    {names.title(law_id)} {place.path}  {passage.text if passage else ''}")
    for citation in answer.citations:
        print(f"   quoted  {citation.label}  {citation.quote[:80]}")


if __name__ == "__main__":
    main()

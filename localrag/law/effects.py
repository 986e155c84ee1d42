"""Effects of a statute on cited provisions: readings, temporary changes, penalties, requirements.

Readings (読替え) quote words:
同条第一項中「知事」とあるのは「市長」と、同条第二項ただし書中「県」とあり、及び
「府」とあるのは「市」と読み替えるものとする. The provision before 中 has them. A table row gives a
provision, its words and their replacement.

A penalty is apart from its prohibition: 第十七条の規定に違反した者は、…に処する. It cites the
prohibition and may repeat none of its words. A breach of an order made under a provision counts
second. Most acts also punish the legal person: 行為者を罰するほか、その法人に対して….

A requirement is a licence, a registration or a notification. The cited provision governs it:
第三条の免許を受けない者は、…てはならない. Or it describes the matter:
第三条第二項各号に掲げる事項を変更しようとするときは、…届け出なければならない.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from localrag.corpus.links import (
    BY_ORDER,
    CHANGES,
    PUNISHES,
    PUNISHES_A_BODY,
    READS,
    REQUIRES,
    Reading,
    Reads,
    Reference,
)
from localrag.corpus.types import ARTICLES, Document, Locator, Passage
from localrag.law.notation import SUPPLEMENT
from localrag.law.provisions import Cells, Innermost, bracket_before, lines_with, outside_in

_QUOTE = re.compile("[「」]")
_AND = r"(?:、|及び|並びに|又は|若しくは)"
# Text behind a quotation of words read otherwise.
_SAID = re.compile(
    rf"(?P<becomes>とあるの?[はを]、?(?:それぞれ、?)?(?=「))|とあり、?{_AND}?|{_AND}{{1,2}}(?=「)"
)
_READ = re.compile("とあ")
_NEXT = re.compile(rf"と?{_AND}{{1,2}}(?=「)")
_WITHIN = re.compile(r"(?:の規定)?(?:中|のうち)$")
_THESE = re.compile(r"これらの規定(?P<aside>（[^（）]*）)?(?:中|のうち)$")
_APPLICATION, _APPLIED = "の適用について", "準用"
_RULES = re.compile("の規定$")
_TOPIC = re.compile("(?:の規定)?[はを]|[（）]")
_HEADINGS = tuple("編章節款目")
_SENTENCE_END = re.compile(r"。(?![）」])")
_GOES_ON = re.compile(r"(?:[とに]、?|とし、)?(?:かつ、)?")
_PART = re.compile(r"(?:列記以外の部分|の見出し|柱書き?|本文|ただし書|但書|前段|後段)$")
_BETWEEN = re.compile(rf"(?:{_AND}{{1,2}}|　)$")
_LIMITED = re.compile(r"限る。?$")
_EXCEPTED = re.compile(r"除く。?$")
_LONGEST_WORD = 12
_LONGEST_THESE = 200
_LONGEST_BRACKETS = 600
_LONGEST_TOPIC = 600


# 第百十五条の規定の適用については、当分の間、…; 当分の間、第三条の規定にかかわらず、…;
# 第五条の規定は、当分の間、適用しない; 第七条中「五年」とあるのは、当分の間、「三年」とする.
_FOR_NOW = "当分の間"
_CHANGED = re.compile(
    r"(?:の規定)?(?:の適用について[はも]|にかかわらず|[はを]、当分の間、"
    r"|中(?=「[^「」\n]{1,200}」とあるのは、当分の間))"
)
# No change: 準用 applies the provision elsewhere, or continues an old law.
# 第二十二条において準用する第十六条の規定にかかわらず concerns article 22.
_APPLIED_THERE = re.compile(r"準用(?:する|される)$")
_GOES_ON_SO = re.compile("準用(?:する|し)|効力を有する")


_PENALTY = "(?:死刑|懲役|拘禁刑|禁錮|罰金|拘留|科料|過料)"
# Not a ban on licences after a punishment: 罰金の刑に処せられ.
_PUNISHES = re.compile(
    rf"{_PENALTY}[^。\n]{{0,40}}(?:[にニ]処(?:し、|する|ス|せられる)|を科する|断ずる|処断)"
)
_PUNISHES_A_BODY = re.compile(
    r"(?:行為者|違反者)[をヲ]罰(?:する|スル)(?:の?ほか|の?外|ノ外)"
    r"|法人(?:又は|若しくは)?[^。\n]{0,120}罰金刑を科する"
)
_ORDERS = re.compile("命(?:ずる|じる)ことができる|命ずるものとする")

_GRANT = "(?:許可|認可|免許|登録|認定|指定|承認|同意|確認|検査|認証)"
_IN_CLAUSE = r"(?:[^。、（）「」\n]|（[^（）\n]*）)"
_IN_SENTENCE = r"(?:[^。（）「」\n]|（[^（）\n]*）)"
# Text behind the citation of a provision. Left out are duties only mentioned:
# 許可を受けなければならない場合, 届出をしないでした者.
_REQUIRES = re.compile(
    r"(?:本文|ただし書|前段|後段)?(?:に(?:規定す|掲げ)る|の規定(?:による|により|に基づく)|の)(?:"
    # The licence or the notification there.
    r"(?:[一-鿿ァ-ヶー]{1,10}の){0,2}[一-鿿]{0,4}?"
    rf"(?:(?:{_GRANT}を(?:受け|得)|届出をし)"
    rf"(?:なければ(?!なら)|た{_IN_CLAUSE}{{1,20}}でなければ"
    rf"|(?:ないで|(?:てい)?ない(?:者|もの)は){_IN_SENTENCE}{{0,150}}?てはならない(?=[。（]))"
    rf"|{_GRANT}がなければ"
    rf"|(?:{_GRANT}を(?:受け|得)|(?:届出|申請)をし)なければならない(?=[。（]))"
    # The matter there.
    rf"|(?:(?!規定|とき|場合|以外){_IN_CLAUSE}){{0,40}}"
    rf"(?:ようとする(?:者|とき|場合|{_IN_CLAUSE}{{1,12}})|たとき)に?は、{_IN_SENTENCE}{{0,150}}?"
    rf"(?:{_GRANT}を(?:受け|得)|届出をし|届け出)なければならない(?=[。（]))"
)


class _Target(NamedTuple):
    """A provision read otherwise, as cited."""

    reference: Reference
    part: str
    excepted: tuple[Locator, ...]


class _Told(NamedTuple):
    """The provisions a text names for some words.

    Attributes:
        targets: the provisions; empty if code cannot identify them (これらの規定).
        start, end: span of the words naming them.
    """

    targets: Sequence[_Target]
    start: int
    end: int


class _Group(NamedTuple):
    """Readings for the same provisions."""

    told: _Told
    readings: list[Reading]


def find_readings(
    document: Document, cited: Sequence[Reference], rows: Iterable[Cells]
) -> Iterator[Reference]:
    """Find the readings of a statute.

    Args:
        document: the statute.
        cited: its references to provisions, in reading order.
        rows: of its replacement tables.

    Yields:
        A ``reads`` reference for every provision read otherwise. If code cannot identify it
        (これらの規定, a chapter), the reference has no law. Supplements amend other laws:
        there such readings are left out.
    """
    text, lists = document.text, _Lists(document.text, cited)
    groups = [
        group
        for start, end in lines_with(_READ, text)
        for group in _Line(text, start, end, lists).groups()
    ]
    groups += _in_rows(rows, lists)
    finder = Innermost(outside_in(document))
    for told, readings in sorted(groups, key=lambda group: group.readings[0]):
        here = finder.at(readings[0].replaced_start)
        pairs = tuple(readings)
        for reference, part, excepted in told.targets:
            yield replace(reference, kind=READS, detail=Reads(pairs, part, excepted).as_detail())
        if not told.targets and not here.division:
            nowhere, detail = Locator(), Reads(pairs).as_detail()
            yield Reference(
                document.id, here, told.start, told.end, READS, "", "", nowhere, detail=detail
            )


def find_changes(document: Document, cited: Sequence[Reference]) -> Iterator[Reference]:
    """Find the provisions that a statute changes temporarily (当分の間).

    Args:
        document: the statute.
        cited: its references to provisions, in reading order.

    Yields:
        A ``changes`` reference for every provision, each once. A quotation of the provision comes
        with the change.
    """
    text, lists = document.text, _Lists(document.text, cited)
    at = text.find(_FOR_NOW)
    while at >= 0:
        start = max(text.rfind("\n", 0, at), _sentence_before(text, at)) + 1
        ends = (_SENTENCE_END.search(text, at), text.find("\n", at))
        end = min(ends[0].end() if ends[0] else len(text), ends[1] if ends[1] >= 0 else len(text))
        yield from _changed_in(text, start, end, lists)
        at = text.find(_FOR_NOW, end)


def _changed_in(text: str, start: int, end: int, lists: "_Lists") -> Iterator[Reference]:
    """The provisions changed by one sentence."""
    seen = set()
    for said in _CHANGED.finditer(text, start, end):
        if said[0].endswith("、当分の間、") and _GOES_ON_SO.search(text, said.end(), end):
            continue
        for target in lists.ending(said.start(), start):
            of = target.reference
            place = (of.law_id, of.target, of.target_end)
            here, there = of.source, of.target
            own = of.law_id == of.document_id and (
                (here.division, here.article) == (there.division, there.article)
            )
            before = max(start, of.start - _LONGEST_WORD)
            if own or _APPLIED_THERE.search(text, before, of.start):
                continue
            if of.law_id and of.target.article and place not in seen:
                seen.add(place)
                yield replace(of, kind=CHANGES)


def find_penal(document: Document, cited: Sequence[Reference]) -> Iterator[Reference]:
    """Find what the main provisions of a statute punish.

    Args:
        document: the statute.
        cited: its references to provisions, in reading order.

    Yields:
        For each penal article an edge to itself with the words of the penalty. Further ones lead to
        the provisions cited, if it may punish their breach.
    """
    cited = [one for one in cited if one.law_id and one.target.path]
    starts = [one.start for one in cited]
    articles = [
        article
        for article in document.passages
        if article.layer == ARTICLES and not article.locator.division.startswith(SUPPLEMENT)
    ]

    def citations(article: Passage) -> Sequence[Reference]:
        return cited[bisect_left(starts, article.start) : bisect_left(starts, article.end)]

    ordering = {
        article.locator: article
        for article in articles
        if _ORDERS.search(document.text, article.start, article.end)
    }
    for article in articles:
        penalty = _PUNISHES.search(document.text, article.start, article.end)
        body = _PUNISHES_A_BODY.search(document.text, article.start, article.end)
        for words, kind in ((penalty, PUNISHES), (body, PUNISHES_A_BODY)):
            if words is None or (body and kind == PUNISHES):
                continue
            place = article.locator
            yield Reference(
                document.id, place, *words.span(), kind, document.id, document.title, place
            )
            for one in citations(article):
                yield replace(one, kind=kind)
                order = ordering.get(one.target) if one.law_id == document.id else None
                for under in citations(order) if order else ():
                    place, last = under.target, under.target_end
                    yield replace(
                        one,
                        kind=kind,
                        law_id=under.law_id,
                        law_name=under.law_name,
                        target=place,
                        target_end=last,
                        detail=BY_ORDER,
                    )


def find_requirements(document: Document, cited: Sequence[Reference]) -> Iterator[Reference]:
    """Find the licences and notifications that a statute requires.

    Args:
        document: the statute.
        cited: its references to provisions, in reading order.

    Yields:
        A ``requires`` reference to every provision cited for it.
    """
    text, lists = document.text, _Lists(document.text, cited)
    for end in sorted({one.end for one in cited}):
        if not _REQUIRES.match(text, end):
            continue
        start = max(text.rfind("\n", 0, end), _sentence_before(text, end)) + 1
        for target in lists.ending(end, start):
            of = target.reference
            if of.law_id and of.target.path:
                yield replace(of, kind=REQUIRES)


def _sentence_before(text: str, at: int) -> int:
    """The end of the sentence before a place, ignoring brackets and quotations; -1 for none."""
    found = text.rfind("。", 0, at)
    while found >= 0 and text[found + 1 : found + 2] in ("）", "」"):
        found = text.rfind("。", 0, found)
    return found


class _Lists:
    """The lists of provisions cited in a text."""

    def __init__(self, text: str, cited: Sequence[Reference]) -> None:
        self._text = text
        self._cited = cited
        self._starts = [reference.start for reference in cited]
        self._ending: dict[int, list[Reference]] = defaultdict(list)
        for reference in cited:
            self._ending[reference.end].append(reference)

    def ending(self, end: int, floor: int) -> list[_Target]:
        """The list ending at a position: 第三条第一項ただし書及び第四条（第二項を除く。）.

        Empty if a part of it is no provision: 第二章第一節及び第四条.
        """
        targets: list[_Target] = []
        joined = ""
        while True:
            part, at = self._cut(_PART, end, floor)
            opening = self._opening(at, floor)
            aside = self._text[opening : at - 1]
            excepted: tuple[Locator, ...] = ()
            if _EXCEPTED.search(aside):
                excepted = tuple(reference.target for reference in self._between(opening, at))
            limited = _LIMITED.search(aside) or (_EXCEPTED.search(aside) and not excepted)
            before, at = self._cut(_PART, opening, floor)
            members = self._ending.get(at)
            if not members:
                if joined.strip("、　") or self._text[at - 1 : at] in _HEADINGS:
                    return []
                break
            part = aside + "）" if limited else part or before
            targets += [_Target(member, part, excepted) for member in members]
            start = min(member.start for member in members)
            joined, end = self._cut(_BETWEEN, start, floor)
            if not joined:
                break
        return targets[::-1]

    def applied(self, start: int, end: int) -> list[_Target]:
        """The provisions one sentence applies, by analogy or for its own case."""
        at = self._text.rfind(_APPLICATION, start, end)
        if at >= 0:
            _, at = self._cut(_RULES, at, start)
            return self.ending(at, start)
        at = self._text.rfind(_APPLIED, start, end)
        for topic in self._topics(max(start, at - _LONGEST_TOPIC), max(at, start)):
            if found := self.ending(topic, start):
                return found
        return []

    def _topics(self, start: int, end: int) -> list[int]:
        """The end of a clause's topic outside brackets: 第三条の規定は, 第三条を."""
        found, depth = [], 0
        for mark in reversed([*_TOPIC.finditer(self._text, start, end)]):
            if mark[0] == "）":
                depth += 1
            elif mark[0] == "（":
                depth -= 1
            elif not depth:
                found.append(mark.start())
        return found[::-1]

    def _between(self, start: int, end: int) -> Sequence[Reference]:
        first = bisect_left(self._starts, start)
        return self._cited[first : bisect_left(self._starts, end, first)]

    def _cut(self, words: re.Pattern[str], end: int, floor: int) -> tuple[str, int]:
        found = words.search(self._text, max(floor, end - _LONGEST_WORD), end)
        return (found[0], found.start()) if found else ("", end)

    def _opening(self, end: int, floor: int) -> int:
        """The start of the brackets closing right before `end`, or `end`."""
        if self._text[end - 1 : end] != "）":
            return end
        opening = bracket_before(self._text, end, max(floor, end - _LONGEST_BRACKETS))
        return end if opening is None else opening


class _Line:
    """One line of a statute, read by quotations."""

    def __init__(self, text: str, start: int, end: int, lists: _Lists) -> None:
        self._text = text
        self._lists = lists
        self._quotes = _quotations(text, start, end)
        # Start of the sentence, and of the one before.
        self._sentence = self._earlier = start
        self._last: _Told | None = None

    def groups(self) -> Iterator[_Group]:
        """The readings of the line, grouped by provisions."""
        for told, pairs in groupby(self._readings(), itemgetter(0)):
            yield _Group(told, [reading for _, reading in pairs])

    def _readings(self) -> Iterator[tuple[_Told, Reading]]:
        text, quotes = self._text, self._quotes
        replaced: list[tuple[_Told, tuple[int, int]]] = []
        since, index = self._sentence, 0
        while index < len(quotes):
            opening, closing = quotes[index]
            index += 1
            said = _SAID.match(text, closing)
            if said is None or opening + 2 == closing:
                replaced, since = [], closing
                continue
            replaced.append((self._told(since, opening), (opening + 1, closing - 1)))
            since = said.end()
            if not said["becomes"] or index == len(quotes) or quotes[index][0] != since:
                continue
            replacing = [quotes[index]]
            index += 1
            while (
                len(replacing) < len(replaced)
                and index < len(quotes)
                and (joined := _NEXT.match(text, replacing[-1][1]))
                and quotes[index][0] == joined.end()
                and not _SAID.match(text, quotes[index][1])
            ):
                replacing.append(quotes[index])
                index += 1
            since = replacing[-1][1]
            if len(replacing) == 1:
                replacing *= len(replaced)
            if len(replacing) == len(replaced):
                for (told, words), (opens, closes) in zip(replaced, replacing, strict=True):
                    yield told, Reading(*words, opens + 1, closes - 1)
            replaced = []

    def _told(self, since: int, opening: int) -> _Told:
        """The provisions with the words quoted at `opening`."""
        for end in _SENTENCE_END.finditer(self._text, since, opening):
            self._earlier, self._sentence, self._last = self._sentence, end.end(), None
        floor = max(since, self._sentence)
        if these := _THESE.search(self._text, max(floor, opening - _LONGEST_THESE), opening):
            told = self._last.targets if self._last else self._applied(opening)
            # これらの規定（第三条を除く。）: code cannot identify which.
            self._last = _Told([] if these["aside"] else list(told), these.start(), opening - 1)
        elif within := _WITHIN.search(self._text, max(floor, opening - _LONGEST_WORD), opening):
            said = max(floor, self._text.rfind("、", floor, within.start()) + 1)
            told = self._lists.ending(within.start(), floor)
            self._last = _Told(told, said, within.start())
        elif self._last is None or not _GOES_ON.fullmatch(self._text, floor, opening):
            self._last = _Told(self._applied(opening), opening, opening)
        return self._last

    def _applied(self, end: int) -> list[_Target]:
        here = self._lists.applied(self._sentence, end)
        return here or self._lists.applied(self._earlier, self._sentence)


def _quotations(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The outermost quotations of a line, with their marks."""
    found, depth, opening = [], 0, 0
    for mark in _QUOTE.finditer(text, start, end):
        if mark[0] == "「":
            opening = opening if depth else mark.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                found.append((opening, mark.end()))
    return found


def _in_rows(rows: Iterable[Cells], lists: _Lists) -> Iterator[_Group]:
    """The readings of tables; a row without a provision continues the one before."""
    group = _Group(_Told((), 0, 0), [])
    for cells in rows:
        start, end = cells.provision
        if start < end:
            if group.readings and group.told.targets:
                yield group
            group = _Group(_Told(lists.ending(end, start), start, end), [])
        if cells.replaced[0] < cells.replaced[1]:
            group.readings.append(Reading(*cells.replaced, *cells.replacing))
    if group.readings and group.told.targets:
        yield group

"""Finds the laws and provisions a text cites.

A citation without a law belongs to the law of its paragraph. If the paragraph names several laws,
it may be any of them. In a contract it is an article of the contract, and never looked up in a law.
Headings with rising article numbers identify the articles of a contract.
"""

import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import NamedTuple

from localrag.check.words import with_kanji_conjunctions
from localrag.corpus.types import Locator
from localrag.law.citations import LawKind, ProvisionCitation, find_citations
from localrag.law.names import LawNames
from localrag.law.notation import NUMBER, count, read_number
from localrag.law.places import Law, SpokenLaws, is_bylaw, names_itself
from localrag.law.resolver import CitationResolver, Resolution, Target
from localrag.search.question.as_of import is_of_another_state, laws_in_any_state
from localrag.search.question.laws import LawNamed
from localrag_indexes.analysis.normalize import in_digits

# Under Article 5, according to Article 5: no law follows, unlike "of".
_IN_A_SENTENCE = re.compile(r"[a-z]+|(?<![^\s.;:!?(（])(?<![A-Za-z,] )[A-Z][a-z]*")
_LIKE_A_LAW = re.compile("(?:法律?|令|規則)$")
_JOINS = re.compile("[及又並若各条項号]$|(?:以下|同)$")
# 第3条, 3条 without a law or 同 before.
_BARE = frozenset("第0123456789０１２３４５６７８９")
_DEFINED = re.compile(
    r"[」』]?[（(](?:[^（）()\n]{0,60}?[。、，,;] ?)?(?:以下|hereinafter)[^「『“\"（）()\n]{0,20}"
    r"[「『“\"](?P<name>[^「」『』“”\"\n]{1,30})[」』”\"]"
)
# Civil Code of Japan (the "JCC")
_CALLED = re.compile(
    r"(?: of Japan)? ?\((?:[^()\"“\n]{0,60}?[,;] )?(?:the )?[“\"](?P<name>[^”\"\n]{2,30})[”\"]\)"
)
_NUMBER_BEHIND = re.compile(
    r"[」』]?[（(](?P<number>(?:明治|大正|昭和|平成|令和)[^（）()。、\n]{3,40}?号)(?=[）)。、])"
)
_STATE_WORD = re.compile("[旧新現]$|改正[前後]?")
_STATE_OF_ONE = re.compile("(?:[旧新]|改正[前後]?)法")
_OWN_ARTICLE = re.compile(
    r"^[ \t　]*(?:#+ *)?\**第[ 　]?(?P<n>[0-9０-９]{1,3}|[一二三四五六七八九十百]{1,6})"
    r"[ 　]?条(?!の)",
    re.MULTILINE,
)
# 第15条（契約期間）, followed by the next one, also in an extract.
_OWN_HEADING = re.compile(
    r"^[ \t　]*(?:#+ *)?\**第[ 　]?(?P<n>[0-9０-９]{1,3}|[一二三四五六七八九十百]{1,6})[ 　]?条"
    r"[ 　]*[（(【［\[][^（）()【】\n]{1,30}[）)】］\]]",
    re.MULTILINE,
)

_LINE_BEGINS = re.compile(r"(?:^|\n)[# *　\t]*$")
_LONGEST_INDENT = 40
# 第五条第一項ただし書; the citation itself includes 各号.
_PART = (
    r"ただし書き?|但し?書き?|本文(?![書献])|[前後]段(?![階落差])|柱書き?|(?:各号)?列記以外の部分"
)
_PARTS = re.compile(
    rf"(?:の(?!本文))?(?:{_PART})(?:(?:及び|又は|並びに|若しくは|[・、と])(?:{_PART}))*"
)
_EACH_PART = re.compile(_PART)


class Basis(NamedTuple):
    """The evidence for the law of a citation."""

    start: int  # beginning of the citation and its list
    name_start: int  # beginning of the law's name; equal to `start` without a name
    names_law: bool  # whether a law is named here, also as 同法, but not as 法
    is_certain: bool  # whether the text names the law here
    is_of_day: bool = True  # whether the corpus has the meant state, on the day
    is_own: bool = False  # whether it is an article of the text itself
    is_other_state: bool = False  # whether the text names a state by its amendment (旧民法)
    is_beside_law: bool = False  # whether its line names a law before
    has_own: bool | None = None  # whether the text has it; None if unknown or of a law


@dataclass(frozen=True, slots=True)
class CitedRange:
    """A cited provision or range."""

    start: int  # start, end: span in the flowing text
    end: int
    text: str  # the citation as written, without parts
    resolutions: tuple[Resolution, ...]  # one for each provision, at least one
    basis: Basis  # the evidence for its law
    parts: tuple[str, ...] = ()  # the cited sentences: ただし書, 後段 …; none for the whole

    @property
    def targets(self) -> tuple[Target, ...]:
        """The candidates in the corpus."""
        return tuple(target for one in self.resolutions for target in one.candidates)

    @property
    def laws(self) -> Sequence[str]:
        """The ids of the laws it may belong to."""
        targets = (t for one in self.resolutions for t in (*one.candidates, *one.cited))
        return tuple(dict.fromkeys(target.law_id for target in targets))

    @property
    def is_several(self) -> bool:
        """Whether it is ambiguous, by its law or its number."""
        return any(len(one.candidates) > 1 for one in self.resolutions)


class _Spoken(NamedTuple):
    end: int
    law: Law
    is_other_state: bool
    is_certain: bool = True


class _Heard:
    """The laws named in a text up to a place; ask for places in order."""

    # Laws remembered in all and in a paragraph, as a reader would.
    _MOST, _MOST_OF_LINE = 200, 20

    def __init__(self, named: Sequence[_Spoken], lines: Sequence[int]) -> None:
        self._named = named
        self._cited: deque[_Spoken] = deque()
        self._next = 0
        self._lines = lines
        self._line = -1
        self._recent: dict[Law, _Spoken] = {}
        self._here: dict[Law, None] = {}
        self._is_certain_here = False

    def speak(self, spoken: _Spoken) -> None:
        self._cited.append(spoken)

    def recent(self, position: int) -> Iterable[_Spoken]:
        self._go_to(position)
        return reversed(self._recent.values())

    def last_of(self, position: int, law: Law) -> _Spoken | None:
        self._go_to(position)
        return self._recent.get(law)

    def in_line(self, position: int) -> tuple[Sequence[Law], bool]:
        """Return the laws named in the line before a place, and whether one is certain."""
        self._go_to(position)
        return list(reversed(self._here)), self._is_certain_here

    def _go_to(self, position: int) -> None:
        self._turn_to_line(position)
        while (spoken := self._take(position)) is not None:
            self._recent.pop(spoken.law, None)
            self._recent[spoken.law] = spoken
            if len(self._recent) > self._MOST:
                del self._recent[next(iter(self._recent))]
            if spoken.end > self._line:
                self._here.pop(spoken.law, None)
                self._here[spoken.law] = None
                self._is_certain_here |= spoken.is_certain
                if len(self._here) > self._MOST_OF_LINE:
                    del self._here[next(iter(self._here))]

    def _turn_to_line(self, position: int) -> None:
        line = self._lines[bisect_right(self._lines, position) - 1]
        if line != self._line:
            self._line, self._here, self._is_certain_here = line, {}, False

    def _take(self, position: int) -> _Spoken | None:
        named = self._named[self._next] if self._next < len(self._named) else None
        cited = self._cited[0] if self._cited else None
        if cited is not None and cited.end <= position and (named is None or cited.end < named.end):
            return self._cited.popleft()
        if named is not None and named.end <= position:
            self._next += 1
            return named
        return None


class WrittenLaws(SpokenLaws):
    """The laws of a text, read in the order of its citations."""

    def __init__(self, text: str, names: LawNames, former: Collection[str] = ()) -> None:
        super().__init__("", names, None, {})
        self._text = text
        self.named = tuple(_with_former(_named(text, names), text, former))
        self._mentions = names.find_names(text)
        self._starts = [name.start for name in self.named]
        self._titled = [name.start for name in self._mentions]
        spoken = sorted((self._spoken_at(name) for name in self.named), key=lambda one: one.end)
        self._first_named = spoken[0].end if spoken else len(text) + 1
        self._heard = _Heard(spoken, [0, *(end.end() for end in re.finditer("\n", text))])
        self.defined = self._definitions_of(self.named)
        self._longest_defined = max(map(len, self.defined), default=0)
        own = {in_digits(match["n"]) for match in _OWN_ARTICLE.finditer(text)}
        self._has_articles = {"1", "2"} <= own or self._has_headings(text)
        self._own_articles = own if self._has_articles else frozenset()
        self.own = OwnArticles(text) if self._has_articles else None
        self._bases: list[Basis] = []
        self._cited_last = Law(())

    def _has_headings(self, text: str) -> bool:
        """Whether two headings with consecutive articles exist without a law above them."""
        headings = list(_OWN_HEADING.finditer(text))
        numbers = [in_digits(heading["n"]) for heading in headings]
        follow = any(next_ == str(int(n) + 1) for n, next_ in pairwise(numbers) if n.isdecimal())
        return follow and self._first_named > headings[0].start()

    def law_of(self, citation: ProvisionCitation) -> Law:
        """Return the law of the first citation of a list."""
        part = citation.law
        names_law = part.kind in (LawKind.NAMED, LawKind.SAME)
        is_itself = bool(self.own and part.text and names_itself(self._text, part.end))
        goes_back = part.kind is LawKind.NONE and citation.text.startswith("同")
        if goes_back and self._bases:
            law, is_certain = self._cited_last, self._was_certain
        elif part.kind is LawKind.NONE:
            law, is_certain, names_law = self._law_of_bare(citation.start)
            if not citation.locator.article:
                # 第2項: of the law cited before.
                is_certain = self._was_certain
        elif is_itself:
            law, is_certain, names_law = Law(()), True, False
        else:
            law, is_certain = self._written(citation), True
        name = self._named_at(part.end)
        # Spelling does not show the beginning of a long name; a known name does.
        start = name.start if name and name.law_ids else citation.start
        is_other = is_of_another_state(self._text, start) or self._goes_on_with_another(
            citation, law
        )
        own = self._has_articles and not law.is_told
        self._cited_last = law
        self._bases.append(
            Basis(
                citation.start,
                start,
                names_law,
                is_certain,
                is_own=own,
                is_other_state=is_other,
                is_beside_law=own and bool(self._heard.in_line(citation.start)[0]),
            )
        )
        if law.is_told:
            self._heard.speak(_Spoken(citation.end, law, is_other, is_certain))
        return law

    def _goes_on_with_another(self, citation: ProvisionCitation, law: Law) -> bool:
        """Whether 同条, 同法 or a bare article means another state, or 旧法."""
        if citation.law.kind is LawKind.NAMED:
            return _STATE_OF_ONE.fullmatch(citation.law.text) is not None
        said = self._heard.last_of(citation.start, law)
        return said is not None and said.is_other_state

    @property
    def _was_certain(self) -> bool:
        return bool(self._bases) and self._bases[-1].is_certain

    def basis(self, start: int) -> Basis:
        """Return the evidence for the law of a citation already read."""
        at = bisect_right(self._bases, start, key=lambda basis: basis.start)
        return self._bases[at - 1] if at else Basis(start, start, names_law=False, is_certain=False)

    def goes_over_to_own(self, listed: Sequence[Resolution], before: CitedRange) -> bool:
        """Whether a list of articles of a law continues with an article of the text.

        民法第709条及び第3条 in a contract with a 第3条: lists run upwards, so the latter is of the
        contract. So is an article missing from the law.
        """
        number, last = _article_of(listed), _article_of(before.resolutions)
        is_missing = any(one.problem for one in listed)
        return number in self._own_articles and (is_missing or int(number) < int(last or 0))

    def own_place(self, citation: ProvisionCitation, last: Locator | None) -> Locator | None:
        """Return the article of the text meant by a citation; None if unclear."""
        if self.own is None or self.own.is_attached(citation.start):
            return None
        return self.own.place(citation, last)

    def has_own(self, citation: ProvisionCitation, place: Locator | None) -> bool | None:
        """Whether the text has the cited article; None if a law of its paragraph may have it."""
        if self.own is None or place is None:
            return None
        has = self.own.has(place)
        if has and citation.last is not None:
            has = self.own.has(
                replace(citation.last, article=citation.last.article or place.article)
            )
        is_said_by_number = citation.locator.article and not citation.article_word
        if has is False and is_said_by_number and self.basis(citation.start).is_beside_law:
            begins = citation.law.end if citation.law.text else citation.start
            return False if names_itself(self._text, begins) else None
        return has

    def is_inside_a_name(self, citation: ProvisionCitation) -> bool:
        """Whether the citation is part of a law's title."""
        part = citation.law
        start = part.end if part.text else citation.start
        at = bisect_right(self._titled, start)
        return at > 0 and citation.end <= self._mentions[at - 1].end

    def _named_at(self, end: int) -> LawNamed | None:
        at = bisect_left(self._starts, end)
        name = self.named[at - 1] if at else None
        if name is None or name.end < end:
            return None
        own = name.end == end or self._text[end] in "（("
        return name if own else None

    def _written(self, citation: ProvisionCitation) -> Law:
        part = citation.law
        if defined := self._definition(part.text, citation.start):
            return defined
        if name := self._named_at(part.end):
            return _law_of(name, self._names)
        if _STATE_OF_ONE.fullmatch(part.text) and (law := self._acts(citation.start)):
            return law
        return super().law_of(citation)

    def _law_of_bare(self, start: int) -> tuple[Law, bool, bool]:
        """Return the law of a citation without one, and whether it is certain and named."""
        before = self._word_before(start)
        if self.own and (self.own.is_attached(start) or names_itself(self._text, start)):
            return Law(()), True, False
        if before and (before["of"] or not self._is_english(*before.span("word"))):
            word, word_end = before["word"], before.end("word")
            if name := self._named_at(word_end):
                return _law_of(name, self._names), True, True
            for size in range(min(len(word), self._longest_defined), 0, -1):
                if law := self._definition(word[-size:], start):
                    return law, True, True
            is_like_a_law = _LIKE_A_LAW.search(word) is not None or is_bylaw(word)
            is_word_alone = not _JOINS.search(word) and not _STATE_WORD.search(word)
            if is_word_alone and (is_like_a_law or not before["aside"]):
                return Law((), word), True, is_like_a_law
        if self._has_articles:
            return Law(()), False, False
        law = self._spoken_of(start)
        here, is_certain = self._heard.in_line(start)
        return law, len(here) == 1 and is_certain, False

    def _is_english(self, start: int, end: int) -> bool:
        return _IN_A_SENTENCE.fullmatch(self._text, start, end) is not None

    def _spoken_of(self, position: int) -> Law:
        here, _ = self._heard.in_line(position)
        if not here:
            last = next(iter(self._heard.recent(position)), None)
            return last.law if last else Law(())
        if not here[0].ids:
            return here[0]
        return self._law(tuple(dict.fromkeys(id_ for law in here for id_ in law.ids)))

    def _acts(self, position: int) -> Law | None:
        """Return the candidates for 法: the latest act, or the act of the latest order."""
        for one in self._heard.recent(position):
            if not one.law.ids or self._names.is_act(one.law.ids[0]):
                return one.law
            if parents := self._names.parents(one.law.ids[0]):
                return self._law(parents)
        return None

    def _mentioned(self, position: int, endings: tuple[str, ...]) -> Law | None:
        for one in self._heard.recent(position):
            title = self._names.title(one.law.ids[0]) if one.law.ids else one.law.name
            if title.endswith(endings):
                return one.law
        return None

    def _spoken_at(self, name: LawNamed) -> _Spoken:
        is_other = is_of_another_state(self._text, name.start)
        return _Spoken(name.end, _law_of(name, self._names), is_other)

    def _definition(self, name: str, position: int) -> Law | None:
        """Return the law defined under this name before the place."""
        said = self.defined.get(name, ())
        at = bisect_left(said, position, key=lambda one: one[0])
        return said[at - 1][1] if at else None

    def _definitions_of(self, named: Iterable[LawNamed]) -> Mapping[str, list[tuple[int, Law]]]:
        defined: dict[str, list[tuple[int, Law]]] = {}
        for name in named:
            law = _law_of(name, self._names)
            numbered = _NUMBER_BEHIND.match(self._text, name.end)
            if not law.ids and numbered and (ids := self._names.lookup(numbered["number"])):
                # From here on, a popular name (フリーランス法) is known by the law's number.
                law = self._law(ids)
                defined.setdefault(name.words, []).append((name.start - 1, law))
            found = _DEFINED.match(self._text, name.end) or _CALLED.match(self._text, name.end)
            if found:
                defined.setdefault(found["name"], []).append((found.end(), law))
        return defined


def _article_of(resolutions: Sequence[Resolution]) -> str:
    targets = (target for one in resolutions for target in (*one.candidates, *one.cited))
    number = next((target.locator.article for target in targets), "")
    return number if number.isdecimal() else ""


def citations_of(text: str, laws: WrittenLaws, resolver: CitationResolver) -> list[CitedRange]:
    """Return the citations of a flowing text, in order."""
    resolved = resolver.resolve(text, laws=laws)
    written = {one.start: one for one in find_citations(text)} if laws.own else {}
    last_own: Locator | None = None
    found: list[CitedRange] = []
    for (start, end), group in groupby(resolved, lambda one: (one.start, one.end)):
        members, basis = list(group), laws.basis(start)
        is_listed = found and basis.start < start and text[start] in _BARE
        if is_listed and laws.goes_over_to_own(members, found[-1]):
            basis = basis._replace(is_own=True)
        begin = basis.name_start if basis.start == start else start
        is_heading = (
            basis.is_own
            and _LINE_BEGINS.search(text, max(0, start - _LONGEST_INDENT), start)
            and text[end : end + 1] in ("", *"（( 　\n")
        )
        if not is_heading:
            behind = _PARTS.match(text, end)
            parts = tuple(_EACH_PART.findall(behind[0])) if behind else ()
            until = behind.end() if behind else end
            if basis.is_own:
                # A small corpus may have an article of that number by chance.
                members = [replace(one, candidates=()) for one in members]
            if basis.is_own and laws.own and start in written:
                last_own = laws.own_place(written[start], last_own)
                basis = basis._replace(has_own=laws.has_own(written[start], last_own))
            found.append(CitedRange(begin, until, text[begin:end], tuple(members), basis, parts))
    return found


def cited_within(cited: Sequence[CitedRange], start: int, end: int) -> Sequence[CitedRange]:
    """Return the citations beginning within a span; they are in order."""
    first = bisect_left(cited, start, key=lambda one: one.start)
    return cited[first : bisect_left(cited, end, lo=first, key=lambda one: one.start)]


def _named(text: str, names: LawNames) -> Iterator[LawNamed]:
    start = 0
    for line in text.split("\n"):
        for name in laws_in_any_state(line, names) if line.strip() else ():
            ids = name.law_ids
            # および for 及び is no misspelling.
            ids = ids or names.lookup(with_kanji_conjunctions(name.words))
            yield LawNamed(name.words, name.start + start, name.end + start, ids)
        start += len(line) + 1


def _with_former(
    named: Iterable[LawNamed], text: str, former: Collection[str]
) -> Iterator[LawNamed]:
    """Add laws named by a whole former title: 外国為替及び外国貿易管理法."""
    for name in named:
        longest = max(
            (
                title
                for title in ([] if name.law_ids else former)
                if len(title) > len(name.words) and text.endswith(title, 0, name.end)
            ),
            key=len,
            default="",
        )
        yield LawNamed(longest, name.end - len(longest), name.end, ()) if longest else name


def _law_of(name: LawNamed, names: LawNames) -> Law:
    return Law(name.law_ids, names.title(name.law_ids[0]) if name.law_ids else name.words)


_HEADING = re.compile(
    rf"^[ \t　]*(?:#+ *)?\**(?P<article>第[ 　]?{NUMBER}[ 　]?条(?:の{NUMBER})*)\**"
    r"(?=[ 　\t（(【［\[：:.．]|$)",
    re.MULTILINE,
)
# Numbers of lines in an article: 2　, 2., ２項, (2), ②, 二.
_LINE = re.compile(
    r"^[ \t　]*(?:[-*・] *)?(?:[（(](?P<bracketed>[0-9０-９一二三四五六七八九十]{1,3})[)）]"
    r"|(?P<circled>[①-⑳])|第?(?P<plain>[0-9０-９]{1,3})(?:[.．、)）　 \t]|項)"
    r"|(?P<kanji>[一二三四五六七八九十]{1,3})[　 \t、.．])",
    re.MULTILINE,
)
# Numbers within a line: 甲は、①…、②…, …とする。2 乙は….
_WITHIN_LINE = re.compile(
    r"[①-⑳]|[（(][0-9０-９一二三四五六七八九十]{1,2}[)）]|。[ 　]?[0-9０-９]{1,2}[ 　.．]"
)
_CAPTION = re.compile(r"\A[ 　]*[（(【［\[][^\n]{1,40}[）)】］\]][ 　]*(?=\n)")
# 別紙1第2条: of an attachment, not of the text's articles.
_ATTACHED = re.compile(
    "(?:別紙|別添|別記|別表|別冊|付属書|附属書|添付書類?|添付資料|仕様書|様式|見積書|約款|覚書|原契約)"
    "[0-9０-９一二三四五六七八九十A-Za-zＡ-Ｚ]{0,3}[（(]?[^（）()。、\n]{0,20}[)）]?"
    "(?:の|記載の|に定める|中)?[ 　]?$"
)
_LONGEST_ATTACHED = 40


class _Article(NamedTuple):
    number: str
    start: int
    end: int


class OwnArticles:
    """The articles of a flowing text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._articles = list(_rising(text))
        self._starts = [article.start for article in self._articles]
        self._by_number = {article.number: article for article in self._articles}
        numbers = [article.number for article in self._articles if "_" not in article.number]
        self.is_whole = numbers == [str(number) for number in range(1, len(numbers) + 1)]

    def is_attached(self, start: int) -> bool:
        """Whether a citation belongs to an attachment of the text."""
        floor = max(0, start - _LONGEST_ATTACHED)
        return _ATTACHED.search(self._text, floor, start) is not None

    def place(self, citation: ProvisionCitation, last: Locator | None) -> Locator | None:
        """Return the own article meant by a citation, given the last one; None if unclear."""
        written, word = citation.locator, citation.article_word
        if citation.item_word or citation.paragraph_word.startswith(("前", "次", "この")):
            return None
        if written.division:
            return None
        if citation.paragraph_word == "同項":
            return last and Locator("", last.article, last.paragraph, written.item)
        if word.startswith("同"):
            return last and Locator("", last.article, written.paragraph, written.item)
        article = written.article
        if not article:
            article = self._relative(citation.start, word)
        return Locator("", article, written.paragraph, written.item) if article else None

    def _relative(self, start: int, word: str) -> str:
        """Return the article meant by 前条, 次条, or 第2項 alone."""
        at = bisect_right(self._starts, start) - 1
        if at < 0:
            return ""
        if word.startswith(("前", "次")):
            at += -count(word) if word.startswith("前") else 1
            if not 0 <= at < len(self._articles):
                # Nothing precedes the first article, so the cited one is missing.
                return "0"
        return self._articles[at].number

    def has(self, place: Locator) -> bool | None:
        """Whether the text has a provision; None if its lines do not show it."""
        article = self._by_number.get(place.article)
        if article is None:
            return False if self.is_whole else None
        if not (place.paragraph or place.item):
            return True
        body = self._text[article.start : article.end].strip()
        numbers = [next(filter(None, match.groups())) for match in _LINE.finditer(body)]
        told = {_number(number) for number in numbers}
        wanted = [int(one) for one in (place.paragraph, place.item) if one.isdecimal()]
        if not place.item and wanted == [1]:
            return True
        if all(one in told or (one == 1 and place.paragraph) for one in wanted):
            return True
        if told:
            return False
        # A line without a number may be a paragraph; some files omit numbers.
        lines = [line for line in _CAPTION.sub("", body).split("\n") if line.strip()]
        least = max([2, *wanted] if place.item else wanted, default=0)
        return None if len(lines) >= least or _WITHIN_LINE.search(body) else False


def _rising(text: str) -> Iterator[_Article]:
    """Yield the articles whose numbers rise from the first."""
    found: list[tuple[str, int, int]] = []
    for match in _HEADING.finditer(text):
        number = read_number(match["article"])
        if not found or _order(number) > _order(found[-1][0]):
            found.append((number, match.start("article"), match.end()))
    ends = [*(start for _, start, _ in found[1:]), len(text)]
    for (number, _, start), end in zip(found, ends, strict=True):
        yield _Article(number, start, end)


def _order(number: str) -> list[int]:
    return [int(part) for part in number.split("_") if part.isdecimal()]


def _number(written: str) -> int:
    if "①" <= written <= "⑳":
        return ord(written) - ord("①") + 1
    digits = in_digits(written)
    return int(digits) if digits.isdecimal() else 0

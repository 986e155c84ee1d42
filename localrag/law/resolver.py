"""Resolves the citations of a question or provision to exact provisions."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from localrag.corpus.types import Locator
from localrag.law.citations import ProvisionCitation, find_citations
from localrag.law.names import LawNames
from localrag.law.notation import NUMBER, SUPPLEMENT, case_numbers
from localrag.law.places import CitedPlace, Law, Placer, SpokenLaws
from localrag.law.provisions import (
    Nesting,
    ProvisionLookup,
    RememberedProvisions,
    container,
    deleted_row,
    is_in_row,
)
from localrag.law.typed import read_typed
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis.normalize import PlainText, parse_numeral, parse_year

# Numbers and range signs, which must not be skipped.
_NUMBER = re.compile(r"[0-9０-９]+|[〇一二三四五六七八九十百千]+(?=[条項号のノ]|$)|[~～〜]")
# 7o9条: letters in place of figures.
_SLIP = re.compile("[0-9０-９A-Za-z]+")
# 附則（平成29年法律第44号）第10条
_OF_AMENDMENT = re.compile(r"附 ?則 ?[（(](?P<by>[^（）()]{2,60})[）)] ?(?P<place>.*)")
_AMENDMENT = re.compile(
    rf"(?P<era>明治|大正|昭和|平成|令和)(?P<year>元|{NUMBER})年(?:.*第(?P<number>{NUMBER})号)?"
)
_LONGEST_TARGET = 2000
_LONGEST_NAME = 120
_LONGEST_RANGE, _LONGEST_SHOWN = 100, 10_000
_FEW_LAWS = 20


@dataclass(frozen=True, slots=True)
class Target:
    """One provision of one law."""

    law_id: str
    locator: Locator


@dataclass(frozen=True, slots=True)
class Resolution:
    """One provision cited in a text; a range has one for each of its provisions.

    Attributes:
        start, end: span of the citation in the text.
        text: its words.
        candidates: alternative provisions; one if certain, none if unresolved.
        cited: the unresolved citation, if the corpus has the law.
        nearest: existing provisions (or laws, with the empty locator) near an unresolved citation.
        problem: why there are no candidates, or None.
    """

    start: int
    end: int
    text: str
    candidates: tuple[Target, ...]
    cited: tuple[Target, ...] = ()
    nearest: tuple[Target, ...] = ()
    problem: Fact | None = None


class CitationResolver:
    """Resolves citations against the laws of a corpus.

    Args:
        names: the laws.
        provisions: their provisions.
        longest_range: most provisions of a range; others are left out.
    """

    def __init__(
        self,
        names: LawNames,
        provisions: ProvisionLookup,
        *,
        longest_range: int = _LONGEST_RANGE,
    ) -> None:
        self._names = names
        self._lookup = provisions
        self._provisions = RememberedProvisions(provisions)
        self._longest_range = longest_range

    def resolve(
        self,
        text: str,
        *,
        law_id: str = "",
        locator: Locator | None = None,
        definitions: Mapping[str, str] | None = None,
        laws: SpokenLaws | None = None,
    ) -> list[Resolution]:
        """Find the provisions cited in a text, in order.

        Args:
            text: a question with its options, or the text of a provision.
            law_id: the law of the text, or its subject; "" for a free question.
            locator: the place of the text in that law, for 前条, 同項 and bare numbers.
            definitions: names valid in this text ("法"), with the ids of their laws.
            laws: determines the laws of citations, in place of the laws named.
        """
        read = PlainText(text)
        text = read.text
        if locator is None:
            # In free text a wide blank is a blank; in a law it separates labels.
            text = text.replace("　", " ")
        # The cache holds for one text: the corpus may change before the next.
        self._provisions = RememberedProvisions(self._lookup)
        own = Law((law_id,), self._names.title(law_id)) if law_id else None
        is_free = laws is None and own is None
        laws = laws or SpokenLaws(text, self._names, own, definitions or {})
        placer = Placer(self._provisions, own, text, Nesting(text))
        found: list[Resolution] = []
        citing: list[Law] = []
        for citation in find_citations(text):
            inherited = citation.continues >= 0
            law = citing[citation.continues] if inherited else laws.law_of(citation)
            citing.append(law)
            if laws.is_inside_a_name(citation):
                continue
            place = placer.place(citation, law, locator)
            if place is None:
                found.append(
                    _unresolved(citation, Fact(FactKind.NOTHING_BEFORE, citation=citation.text))
                )
                continue
            citing[-1] = place.law
            whole = self._with_whole_name(citation, text) if is_free else citation
            found += self._resolutions(whole, place, locator)
        return found if read.is_as_written else [_as_written(one, read) for one in found]

    def _with_whole_name(self, citation: ProvisionCitation, text: str) -> ProvisionCitation:
        """A citation extended to its law's whole name: 渡し舟法, not 舟法."""
        name = self._names.ending_at(text, citation.law.end) if citation.law.text else None
        if name is None or citation.continues >= 0 or name.start >= citation.start:
            return citation
        return citation._replace(start=name.start, text=text[name.start : citation.end])

    def _resolutions(
        self, citation: ProvisionCitation, place: CitedPlace, here: Locator | None
    ) -> Iterator[Resolution]:
        law_ids = place.law.ids or self._any_law(place)
        if not law_ids:
            problem = Fact(FactKind.NO_LAW_NAMED, citation=citation.text)
            if name := place.law.name:
                problem = Fact(FactKind.CITED_LAW_LACKING, citation=citation.text, name=name)
            yield _unresolved(citation, problem)
            return
        members: list[list[Target]] = []
        for law_id in law_ids:
            for division in self._divisions(law_id, place.first.division, here):
                expanded = self._expanded(
                    law_id,
                    replace(place.first, division=division),
                    place.last and replace(place.last, division=division),
                )
                members.append([Target(law_id, locator) for locator in expanded])
        for alternatives in _columns(members):
            standing = (self._standing(target) for target in alternatives)
            existing = tuple(dict.fromkeys(target for target in standing if target is not None))
            if existing:
                yield Resolution(citation.start, citation.end, citation.text, existing)
            else:
                yield self._missing(citation, alternatives)

    def _missing(self, citation: ProvisionCitation, alternatives: Sequence[Target]) -> Resolution:
        """Suggest what exists: lawyers leave out 附則 if the number implies it."""
        problem = Fact(FactKind.NO_SUCH_PROVISION, citation=citation.text)
        supplementary = [*filter(None, map(self._in_a_supplement, alternatives))]
        if supplementary:
            target = supplementary[0]
            label = self._provisions.divisions(target.law_id)[target.locator.division]
            problem = Fact(FactKind.ONLY_IN_SUPPLEMENT, citation=citation.text, division=label)
        nearest = dict.fromkeys(supplementary or map(self._nearest, alternatives))
        return _unresolved(citation, problem, tuple(alternatives), tuple(nearest))

    def _in_a_supplement(self, target: Target) -> Target | None:
        """The provision of that number in the only supplement with such an article."""
        law_id, place = target.law_id, target.locator
        article = Locator(article=place.article)
        if place.division or not place.article or self._provisions.exists(law_id, article):
            return None
        with_article = [
            division
            for division in self._provisions.divisions(law_id)
            if division.startswith(SUPPLEMENT)
            and self._provisions.exists(law_id, replace(article, division=division))
        ]
        if len(with_article) != 1:
            return None
        return self._nearest(Target(law_id, replace(place, division=with_article[0])))

    def _expanded(self, law_id: str, first: Locator, last: Locator | None) -> list[Locator]:
        """The existing provisions of a range, or the first alone."""
        if last is None:
            return [first]
        siblings = self._provisions.beside(law_id, first)
        first, last = (self._row(law_id, end) or end for end in (first, last))
        if first in siblings and last in siblings:
            start, end = siblings.index(first), siblings.index(last)
            return list(siblings[start : end + 1][: self._longest_range]) or [first, last]
        return [first, last]

    def _divisions(self, law_id: str, cited: str, here: Locator | None) -> Sequence[str]:
        """The divisions of a law a citation can mean."""
        if not cited or (here is not None and cited == here.division):
            return (cited,)
        divisions = self._provisions.divisions(law_id)
        if cited.startswith(SUPPLEMENT):
            return [d for d in divisions if d.startswith(SUPPLEMENT)] or [cited]
        return [
            division
            for division, words in divisions.items()
            if words == cited or words.startswith((cited + "（", cited + "　", cited + " "))
        ] or [cited]

    def _standing(self, target: Target) -> Target | None:
        """The provision as printed: a deleted one may be in a row with others.

        第五十条 is the row 第三十八条から第八十四条まで 削除.
        """
        if self._provisions.exists(target.law_id, target.locator):
            return target
        row = self._row(target.law_id, target.locator)
        return Target(target.law_id, row) if row else None

    def _row(self, law_id: str, locator: Locator) -> Locator | None:
        """The row of deleted provisions with an article, paragraph or item."""
        if locator.subitem or ":" in _number(locator):
            return None
        if not (locator.item or locator.paragraph):
            return deleted_row(self._provisions.articles(law_id, locator.division), locator)
        beside = self._provisions.beside(law_id, locator)
        return next((row for row in beside if is_in_row(_number(locator), _number(row))), None)

    def _nearest(self, target: Target) -> Target:
        locator: Locator | None = target.locator
        while locator is not None:
            if self._provisions.exists(target.law_id, locator):
                return Target(target.law_id, locator)
            locator = container(locator)
        return Target(target.law_id, Locator())

    def _any_law(self, place: CitedPlace) -> tuple[str, ...]:
        """Without a law: the laws of a small corpus with the provision."""
        if place.law.name or len(self._names.rows) > _FEW_LAWS:
            return ()
        return tuple(
            law_id for law_id in self._names.rows if self._provisions.exists(law_id, place.first)
        )


def parse_target(text: str, names: LawNames, provisions: ProvisionLookup) -> tuple[Resolution, ...]:
    """Read a typed citation of provisions, or a law as a whole.

    Accepts the forms of `localrag.law.typed` (金商27の36, 民 709, 憲9〜11),
    薬機法施行規則附則第3条, 憲法前文, a law id with a path (323AC0000000025 27_36.1,
    323AC0000000025#27_36.1), a title, an abbreviation, a law number. A number outside every
    citation is reported by the last resolution: it may matter.
    """
    text = text.strip()
    if len(text) > _LONGEST_TARGET:
        return ()
    read = PlainText(text)
    found = _parsed(read.text, names, provisions)
    if read.is_as_written:
        return found
    # Text written out has no span of its own in the input.
    return tuple(
        _as_written(one, read)
        if read.text[one.start : one.end] == one.text
        else replace(one, start=0, end=len(text))
        for one in found
    )


def _parsed(text: str, names: LawNames, provisions: ProvisionLookup) -> tuple[Resolution, ...]:
    law_id, _, path = text.replace("#", " ", 1).partition(" ")
    if law_id in names.rows:
        return _in_law(text, law_id, path.strip(), names, provisions)
    if whole := names.lookup(text):
        return (_found(text, (Target(id_, Locator()) for id_ in whole)),)
    typed = read_typed(text, names)
    law_ids, rest = _law_and_rest(typed.text, names)
    if divisions := tuple(_of_division(law_ids, rest, provisions)):
        return (_found(text, divisions),)
    resolver = CitationResolver(names, provisions, longest_range=_LONGEST_SHOWN)
    if amendment := _OF_AMENDMENT.fullmatch(rest):
        return tuple(_of_amendment(text, law_ids, amendment, resolver, names, provisions))
    resolved = tuple(resolver.resolve(typed.text))
    if len(law_ids) == 1 and all(one.problem for one in resolved):
        # 人事院規則一一―四（職員の身分保障）第十条: a title without a usual ending.
        of_law, named = resolver.resolve(rest, law_id=law_ids[0]), len(typed.text) - len(rest)
        if of_law and not any(one.problem for one in of_law):
            resolved = tuple(
                replace(one, start=one.start + named, end=one.end + named) for one in of_law
            )
    if typed.backwards or (typed.branched and any(one.problem for one in resolved)):
        problem = Fact(FactKind.RANGE_BACKWARDS, citation=text)
        ends = tuple(target for one in resolved for target in one.candidates)
        return (Resolution(0, len(text), text, (), nearest=ends, problem=problem),)
    unread = _unread(typed.text, resolved, names)
    if resolved and unread:
        problem = Fact(FactKind.NUMBER_UNREAD, citation=text, number=unread)
        return (*resolved, Resolution(0, len(text), text, (), problem=problem))
    return resolved


def _in_law(
    text: str, law_id: str, path: str, names: LawNames, provisions: ProvisionLookup
) -> tuple[Resolution, ...]:
    locator = Locator.parse(path)
    if not path or provisions.exists(law_id, locator):
        return (_found(text, (Target(law_id, locator),)),)
    if divisions := tuple(_of_division((law_id,), path, provisions)):
        return (_found(text, divisions),)
    resolver = CitationResolver(names, provisions, longest_range=_LONGEST_SHOWN)
    resolved = resolver.resolve(read_typed(path, names).text, law_id=law_id)
    if resolved:
        return tuple(resolved)
    problem = Fact(FactKind.NO_SUCH_PROVISION, citation=text)
    nearest = (Target(law_id, Locator()),)
    return (Resolution(0, len(text), text, (), (Target(law_id, locator),), nearest, problem),)


def _law_and_rest(text: str, names: LawNames) -> tuple[tuple[str, ...], str]:
    """Split off the longest name of a law at the start of a text."""
    for end in range(min(len(text), _LONGEST_NAME) - 1, 0, -1):
        if law_ids := names.lookup(text[:end]):
            return law_ids, text[end:].strip()
    return (), text


def _of_division(
    law_ids: Sequence[str], label: str, provisions: ProvisionLookup
) -> Iterator[Target]:
    """The content of the divisions with a label: 前文, 附則, 別表第一."""
    for law_id in law_ids:
        for division, words in provisions.divisions(law_id).items():
            if label and (words == label or words.startswith(f"{label}（")):
                if provisions.exists(law_id, Locator(division)):
                    yield Target(law_id, Locator(division))
                for article in provisions.articles(law_id, division):
                    yield Target(law_id, Locator(division, article))


def _of_amendment(
    text: str,
    law_ids: Sequence[str],
    cited: re.Match[str],
    resolver: CitationResolver,
    names: LawNames,
    provisions: ProvisionLookup,
) -> Iterator[Resolution]:
    """Resolve 附則（平成29年法律第44号）第10条: the supplement of an amending law."""
    places = read_typed(f"附則{cited['place']}", names).text
    for law_id in law_ids:
        meant = {
            division
            for division, words in provisions.divisions(law_id).items()
            if words.startswith("附則") and _is_amendment(words, cited["by"])
        }
        if not cited["place"]:
            labels = [
                words for name, words in provisions.divisions(law_id).items() if name in meant
            ]
            targets = (of for label in labels for of in _of_division((law_id,), label, provisions))
            yield _found(text, targets)
            continue
        resolved = [
            replace(one, candidates=candidates)
            for one in resolver.resolve(places, law_id=law_id)
            if (candidates := tuple(of for of in one.candidates if of.locator.division in meant))
        ]
        yield from resolved
        if not resolved:
            problem = Fact(FactKind.NO_SUCH_PROVISION, citation=text)
            nearest = (Target(law_id, Locator()),)
            yield Resolution(0, len(text), text, (), nearest, nearest, problem)


def _is_amendment(label: str, cited: str) -> bool:
    """Whether a label names the amending law cited: by its year, and its number if given."""
    told, meant = _AMENDMENT.search(label), _AMENDMENT.search(cited)
    if told is None or meant is None or told["era"] != meant["era"]:
        return cited in label
    years = [parse_year(year) for year in (told["year"], meant["year"])]
    numbers = {parse_numeral(one) for one in (told["number"], meant["number"]) if one}
    return years[0] == years[1] and len(numbers) < 2


def _unread(text: str, resolved: Sequence[Resolution], names: LawNames) -> str:
    """The first number outside every citation, law name and case number: 7o9, 7."""
    spans = [(citation.start, citation.end) for citation in resolved]
    spans += [(name.start, name.end) for name in names.find_names(text)]
    spans += case_numbers(text)
    read = bytearray(len(text))
    for start, end in spans:
        read[start:end] = b"x" * (end - start)
    for number in _NUMBER.finditer(text):
        if 0 in read[slice(*number.span())]:
            slip = _SLIP.match(text, number.start())
            return slip[0] if slip else number[0]
    return ""


def _number(locator: Locator) -> str:
    return locator.item or locator.paragraph or locator.article


def _found(text: str, targets: Iterable[Target]) -> Resolution:
    return Resolution(0, len(text), text, tuple(targets))


def _as_written(one: Resolution, read: PlainText) -> Resolution:
    start, end = read.span(one.start, one.end)
    return replace(one, start=start, end=end, text=read.original[start:end])


def _columns(members: Sequence[Sequence[Target]]) -> Iterator[list[Target]]:
    for index in range(max(map(len, members), default=0)):
        yield [targets[index] for targets in members if index < len(targets)]


def _unresolved(
    citation: ProvisionCitation,
    problem: Fact,
    cited: tuple[Target, ...] = (),
    nearest: tuple[Target, ...] = (),
) -> Resolution:
    return Resolution(citation.start, citation.end, citation.text, (), cited, nearest, problem)

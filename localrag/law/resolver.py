"""From the words of a question or a provision to the exact provisions they cite."""

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

# What may matter and must be read: a number, and the sign of a range.
_NUMBER = re.compile(r"[0-9０-９]+|[〇一二三四五六七八九十百千]+(?=[条項号のノ]|$)|[~～〜]")
# 7o9条: letters put for figures.
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
    """One provision that a text cites; a range gives one for each provision in it.

    Attributes:
        start, end: span of the citation in the text.
        text: what is written there.
        candidates: the provisions that it can mean, each an alternative to the others; one
            where it is certain, none where it could not be resolved.
        cited: where nothing was found, what was cited of laws that the corpus has.
        nearest: where nothing was found, the existing provisions (or laws, with the empty
            locator) around what was cited.
        problem: why there are no candidates; None where there are.
    """

    start: int
    end: int
    text: str
    candidates: tuple[Target, ...]
    cited: tuple[Target, ...] = ()
    nearest: tuple[Target, ...] = ()
    problem: Fact | None = None


class CitationResolver:
    """Resolves citations against the laws of one corpus.

    Args:
        names: the laws.
        provisions: which provisions they have.
        longest_range: provisions of one range that are told; the others are left out.
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
        """Find the provisions that a text cites, in order.

        Args:
            text: a question, with its options if it has some; or the text of a provision.
            law_id: the law the text is part of or is about; empty for a free question.
            locator: where the text stands in that law, for 前条, 同項 and bare numbers.
            definitions: names that hold in this text ("法"), and the ids of their laws.
            laws: what tells the laws of the citations, where those that the text speaks of do not.
        """
        read = PlainText(text)
        text = read.text
        if locator is None:
            # In free text a wide blank is a blank; in a law it sets off labels.
            text = text.replace("　", " ")
        # What is remembered is so for one text: the corpus may change before the next.
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
        """A citation from where the name of its law begins: spelling has 舟法 of 渡し舟法."""
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
        """Say what there is instead: lawyers leave out 附則 where the number tells it."""
        problem = Fact(FactKind.NO_SUCH_PROVISION, citation=citation.text)
        supplementary = [*filter(None, map(self._in_a_supplement, alternatives))]
        if supplementary:
            target = supplementary[0]
            label = self._provisions.divisions(target.law_id)[target.locator.division]
            problem = Fact(FactKind.ONLY_IN_SUPPLEMENT, citation=citation.text, division=label)
        nearest = dict.fromkeys(supplementary or map(self._nearest, alternatives))
        return _unresolved(citation, problem, tuple(alternatives), tuple(nearest))

    def _in_a_supplement(self, target: Target) -> Target | None:
        """The provision of that number of the only supplement that has such an article."""
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
        """Return the provisions of a range that exist; the first alone where there is no range."""
        if last is None:
            return [first]
        siblings = self._provisions.beside(law_id, first)
        first, last = (self._row(law_id, end) or end for end in (first, last))
        if first in siblings and last in siblings:
            start, end = siblings.index(first), siblings.index(last)
            return list(siblings[start : end + 1][: self._longest_range]) or [first, last]
        return [first, last]

    def _divisions(self, law_id: str, cited: str, here: Locator | None) -> Sequence[str]:
        """Return the divisions of a law that a citation can mean."""
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
        """The provision as the law prints it: where it is deleted, perhaps in one row with others.

        第五十条 of a law that prints 第三十八条から第八十四条まで　削除 is that row.
        """
        if self._provisions.exists(target.law_id, target.locator):
            return target
        row = self._row(target.law_id, target.locator)
        return Target(target.law_id, row) if row else None

    def _row(self, law_id: str, locator: Locator) -> Locator | None:
        """The row of deleted provisions that an article, a paragraph or an item is one of."""
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
        """Without a law, the laws of a small corpus that have the provision."""
        if place.law.name or len(self._names.rows) > _FEW_LAWS:
            return ()
        return tuple(
            law_id for law_id in self._names.rows if self._provisions.exists(law_id, place.first)
        )


def parse_target(text: str, names: LawNames, provisions: ProvisionLookup) -> tuple[Resolution, ...]:
    """Read what a user types to see provisions, or a law as a whole.

    Takes whatever `localrag.law.typed` reads (金商27の36, 民 709, 憲9〜11), 薬機法施行規則
    附則第3条, 憲法前文, a law id with a path (323AC0000000025 27_36.1, 323AC0000000025#27_36.1), a
    title, an abbreviation, a law number. Where a number in it belongs to no citation the last
    resolution says so: what was not read may be what matters.
    """
    text = text.strip()
    if len(text) > _LONGEST_TARGET:
        return ()
    read = PlainText(text)
    found = _parsed(read.text, names, provisions)
    if read.is_as_written:
        return found
    # What was written out has no place of its own in what was typed.
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
        # 人事院規則一一―四（職員の身分保障）第十条: a title that ends like no law.
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
    """Split off the longest name of a law that a text begins with."""
    for end in range(min(len(text), _LONGEST_NAME) - 1, 0, -1):
        if law_ids := names.lookup(text[:end]):
            return law_ids, text[end:].strip()
    return (), text


def _of_division(
    law_ids: Sequence[str], label: str, provisions: ProvisionLookup
) -> Iterator[Target]:
    """Yield what stands in the divisions called so: 前文, 附則, 別表第一."""
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
    """Resolve 附則（平成29年法律第44号）第10条: the supplement of the law that amends another."""
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
    """Whether a label names the law that amends as cited: by its year, and its number if told."""
    told, meant = _AMENDMENT.search(label), _AMENDMENT.search(cited)
    if told is None or meant is None or told["era"] != meant["era"]:
        return cited in label
    years = [parse_year(year) for year in (told["year"], meant["year"])]
    numbers = {parse_numeral(one) for one in (told["number"], meant["number"]) if one}
    return years[0] == years[1] and len(numbers) < 2


def _unread(text: str, resolved: Sequence[Resolution], names: LawNames) -> str:
    """Return the first number of a text that no citation, name of a law or case has: 7o9, 7."""
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
    """The number of an article, a paragraph or an item."""
    return locator.item or locator.paragraph or locator.article


def _found(text: str, targets: Iterable[Target]) -> Resolution:
    return Resolution(0, len(text), text, tuple(targets))


def _as_written(one: Resolution, read: PlainText) -> Resolution:
    """A resolution with its place in the text as it is, and what stands there."""
    start, end = read.span(one.start, one.end)
    return replace(one, start=start, end=end, text=read.original[start:end])


def _columns(members: Sequence[Sequence[Target]]) -> Iterator[list[Target]]:
    """Group the n-th provisions of each alternative together; ranges of laws differ in length."""
    for index in range(max(map(len, members), default=0)):
        yield [targets[index] for targets in members if index < len(targets)]


def _unresolved(
    citation: ProvisionCitation,
    problem: Fact,
    cited: tuple[Target, ...] = (),
    nearest: tuple[Target, ...] = (),
) -> Resolution:
    return Resolution(citation.start, citation.end, citation.text, (), cited, nearest, problem)

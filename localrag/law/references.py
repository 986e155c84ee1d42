"""Extracts a law's references: to its own provisions, to other laws, to orders."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import replace

from localrag.corpus.links import APPLIES, DELEGATED_BY, DELEGATES, REFERS, Reference
from localrag.corpus.types import Document, Locator
from localrag.law._laws import LawWords
from localrag.law.citations import (
    LawKind,
    ProvisionCitation,
    find_citations,
    law_part_before,
)
from localrag.law.delegations import (
    ACTS,
    CABINET_TYPES,
    INSTRUMENT,
    dropping_asides,
    read_delegations,
)
from localrag.law.effects import find_changes, find_penal, find_readings, find_requirements
from localrag.law.names import LawNames
from localrag.law.notation import SUPPLEMENT
from localrag.law.places import CitedPlace, Law, Placer
from localrag.law.provisions import (
    CITED_FORM,
    Innermost,
    Nesting,
    Provisions,
    Tables,
    appendices,
    deleted_row,
    in_plain_characters,
    label_of,
    outside_in,
)
from localrag_indexes.analysis.normalize import PlainText

_LEFT_TO = re.compile(r"(?<=[令則])[での](?:これを)?(?:定め|指定)")
_INSTRUMENT_BEFORE = re.compile(rf"{INSTRUMENT}$")
_PART = r"(?:各号列記以外の部分|本文|ただし書|但書|前段|後段)?"
_FILLS_IN = re.compile(
    rf"{_PART}(?:に規定する|の規定により|の規定による|の規定に基づき|に基づき|に掲げる|に定める|の)"
    rf"[^「」]{{0,80}}?({INSTRUMENT}(?:で|の)(?:定め|指定))"
)
_OPENING = re.compile(r"[^　。、（）\n]{1,20}　[^。、（）\n]{0,40}(?:[は、]、?)?")
_APPLIED_WORD = re.compile("準用")
_APPLIED = re.compile(rf"{_PART}(?:の規定)?(?:は|を)[^「」]*?準用")
_APPLYING = re.compile(r"準用(?:する|される|し、?)(?:場合における)?$")
_UNDER = re.compile(r"(?:の規定)?(?:において|により)(?:読み替えて)?準用する")
_LEFT_BY = re.compile(r"(?:に規定する|の規定による|の規定により|に掲げる|の)$")
_AMENDED = re.compile(
    r"(?:の|を削る|(?:の次に|の前に|に)[^。、（）]{1,20}を加える|を[^。、（）]{1,30}とする)改正規定"
)
_QUOTED = re.compile(r"「[^「」\n]*+(?:「[^「」\n]*+」[^「」\n]*+)*+」")
# Between citations an order names together: 第八条第四号（…）、法第二十八条の政令で定める.
_JOINS = re.compile(
    r"(?:（(?:[^（）]++|（(?:[^（）]++|（[^（）]*+）)*+）)*+）)?+(?:、|及び|並びに|又は|若しくは)"
)
_SENTENCE_END = re.compile(r"[。（）\n]")
# Some laws print it behind the number: 第七十九条（裁判所の共助） 裁判所は、….
_CAPTION = re.compile(r"（[^（）\n]*）　")
_IN_TABLE = re.compile(r"表(?:第[〇一二三四五六七八九十]+(?:の[一二三四五六七八九十]+)*)?の$")
_LONGEST_TABLE_NAME = 16
_LONGEST_TAIL = 500
_LONGEST_NAME = 120
# A 制定文 is never amended: it cites the numbers of its day.
_ENACTMENT = "enact"
_ORDER_TYPES = {"政令": "CabinetOrder"}
_OWN_RANK = {"CabinetOrder": ("政令",), "MinisterialOrdinance": ("政令", "府令", "省令")}


def extract_references(document: Document, names: LawNames) -> list[Reference]:
    """All references of a statute, in reading order; none for other documents.

    Some citations get a second reference: ``reads`` for words read otherwise (読替え), ``changes``
    for a temporary change (当分の間), ``punishes`` for the penalty of a breach, ``requires`` for a
    licence or a notification.

    Left out are references to the provision itself (この条において), references in tables about
    unnamed laws, and those in amendments or enactment clauses, which cite the numbers of their day.
    """
    if document.kind != "law":
        return []
    document, read = in_plain_characters(document)
    extraction = _Extraction(document, names)
    cited = list(extraction.citations())
    found = [
        *cited,
        *extraction.forms(),
        *extraction.readings(cited),
        *find_changes(document, cited),
        *find_penal(document, cited),
        *find_requirements(document, cited),
        *extraction.delegations(),
    ]
    law_type = names.law_type(document.id)
    found = list(read_delegations(document.text, found, law_type=law_type))
    if not read.is_as_written:
        found = [_as_written(one, read) for one in found]
    return sorted(found, key=lambda reference: (reference.start, reference.end))


def _as_written(reference: Reference, read: PlainText) -> Reference:
    start, end = read.span(reference.start, reference.end)
    return replace(reference, start=start, end=end)


class _Extraction:
    """The extraction from one document."""

    def __init__(self, document: Document, names: LawNames) -> None:
        self._document = document
        self._text = document.text
        self._names = names
        self._passages = outside_in(document)
        self._nesting = Nesting(document.text)
        self._tables = Tables(document)
        self._words = LawWords(document, names, self._nesting, self._tables)
        law_type = names.law_type(document.id)
        self._order = law_type not in ACTS
        self._is_cabinet_order = law_type in CABINET_TYPES
        self._quoted = {at for m in _QUOTED.finditer(document.text) for at in range(*m.span())}
        self._applied = [m.start() for m in _APPLIED_WORD.finditer(document.text)]
        self._left_to = list(_LEFT_TO.finditer(document.text))
        self._appendices = appendices(document)
        self._filled: set[int] = set()
        self._own_lists: set[int] = set()

    def citations(self) -> Iterator[Reference]:
        """References that cite provisions."""
        document = self._document
        provisions = Provisions([document])
        placer = Placer(provisions, self._words.own, self._text, self._nesting)
        finder = Innermost(self._passages)
        citations = find_citations(self._text, self._names)
        lists = _lists(citations)
        together = _together(citations, lists, self._text) if self._order else {}
        laws: list[Law] = []
        for index, (citation, (start, end)) in enumerate(zip(citations, lists, strict=True)):
            here = finder.at(citation.start)
            law = self._law(citations, index, laws, here, provisions)
            laws.append(law)
            if here.division == _ENACTMENT or self._is_no_reference(citation, start, end):
                continue
            place = placer.place(citation, law, here)
            if place is None:
                continue
            laws[-1] = place.law
            place = self._in_own_appendix(place, citation, here)
            if self._leads_nowhere(citation, place, here, end, provisions):
                continue
            if place.law is self._words.own:
                self._own_lists.add(end)
            kind = self._kind(citation, place, here, end, together.get(end, end))
            yield self._reference(here, citation.start, citation.end, kind, place)

    def forms(self) -> Iterator[Reference]:
        """References to forms: 様式第三号, 令第一号様式."""
        finder = Innermost(self._passages)
        own = self._words.own
        for match in CITED_FORM.finditer(self._text):
            start, label = match.start(), label_of(match[0])
            here = finder.at(start)
            if start in self._quoted or self._text[start - 1 : start] in ("\n", "", "【"):
                continue
            floor = max(0, start - _LONGEST_NAME)
            part = law_part_before(self._text, start, floor, self._names)
            law = own
            if part.kind is not LawKind.NONE:
                cited = ProvisionCitation(start, match.end(), match[0], part, Locator(label))
                law = self._words.law_of(cited, here)
            division = label if law.ids != own.ids else self._appendices.get(("", label), "")
            if law.is_told and division and division != here.division:
                begins = part.start if part.text else start
                place = CitedPlace(law, Locator(division))
                yield self._reference(here, begins, match.end(), REFERS, place)

    def readings(self, cited: list[Reference]) -> Iterator[Reference]:
        """References for readings, among those cited."""
        return find_readings(self._document, cited, self._tables.readings())

    def delegations(self) -> Iterator[Reference]:
        """Delegations; known orders by name."""
        finder = Innermost(self._passages)
        law_type = self._names.law_type(self._document.id)
        for match in self._left_to:
            start = match.start()
            written = _INSTRUMENT_BEFORE.search(self._text, max(0, start - 18), start)
            if written is None:
                continue
            start, instrument = written.start(), written[0]
            if instrument.endswith(_OWN_RANK.get(law_type, ())):
                continue
            if start in self._quoted or self._tables.replace_words(start):
                continue
            if start in self._filled or self._is_left_elsewhere(start):
                continue
            here = finder.at(start)
            is_another = self._is_left_to_another(here, match.end())
            known = () if is_another else self._orders_known_by_name(instrument)
            place = CitedPlace(Law(known, instrument), Locator())
            yield self._reference(here, start, match.end(), DELEGATES, place)

    def _law(
        self,
        citations: list[ProvisionCitation],
        index: int,
        laws: list[Law],
        here: Locator,
        provisions: Provisions,
    ) -> Law:
        """The law of a citation, given those before it."""
        citation, own = citations[index], self._words.own
        if citation.continues >= 0:
            law = laws[citation.continues]
            if citation.locator.division == SUPPLEMENT and self._words.is_amending(law):
                return own
            article = Locator(article=citation.locator.article)
            if law.is_told and self._is_applied_under(citations, index):
                return own if provisions.exists(own.ids[0], article) else law
            return law
        law = self._words.law_of(citation, here)
        bare = citation.law.kind is LawKind.NONE
        if index and bare and law is own and self._is_under(citations[index - 1], citation):
            return laws[-1]
        return law

    def _leads_nowhere(
        self,
        citation: ProvisionCitation,
        place: CitedPlace,
        here: Locator,
        end: int,
        provisions: Provisions,
    ) -> bool:
        """Whether a citation is useless: この条, an unknown law, words of an amendment."""
        in_full = not place.first.division.startswith(SUPPLEMENT)
        own = place.law.ids == self._words.own.ids
        if own and in_full and not provisions.exists(self._document.id, place.first):
            # Only supplements are printed in part: other missing places are of another law or day.
            articles = provisions.articles(self._document.id, place.first.division)
            return deleted_row(articles, place.first) is None
        if not place.law.is_told or _is_here(citation, place, here, self._words.own):
            return True
        # 第九十五条の改正規定 is an article of the amended law at that time.
        return self._words.is_amending(place.law) and _AMENDED.match(self._text, end) is not None

    def _is_left_elsewhere(self, start: int) -> bool:
        """Whether the order is named by a delegation of another provision.

        第三条第一項の政令で定める額: the cited provision delegates.
        """
        between = _LEFT_BY.search(self._text, max(0, start - 16), start)
        return between is not None and between.start() in self._own_lists

    def _is_left_to_another(self, here: Locator, end: int) -> bool:
        if not here.division.startswith(SUPPLEMENT):
            return False
        return self._words.amends(here.division) or self._text.startswith("る日", end)

    def _is_no_reference(self, citation: ProvisionCitation, start: int, end: int) -> bool:
        text = self._text
        if text[start - 1 : start] in ("\n", "") and (
            text[end : end + 1] in ("　", "\n", "") or _CAPTION.match(text, end)
        ):
            return True  # The label of a provision.
        # The entries of 別表第一の各項 are rows.
        bare = not (citation.locator.article or citation.article_word)
        floor = max(0, start - _LONGEST_TABLE_NAME)
        return (
            (bare and text[start - 1] == "の" and _IN_TABLE.search(text, floor, start) is not None)
            or citation.start in self._quoted
            or self._words.is_inside_a_title(citation)
        )

    def _is_under(self, before: ProvisionCitation, citation: ProvisionCitation) -> bool:
        """Whether its law is that of the citation before: 民法第三条において準用する第五条."""
        return _UNDER.fullmatch(self._text, before.end, citation.start) is not None

    def _is_applied_under(self, citations: list[ProvisionCitation], index: int) -> bool:
        """Whether it applies the law named next: 第九条において準用する保険業法第五条."""
        if index + 1 == len(citations):
            return False
        citation, following = citations[index : index + 2]
        return following.law.kind in (LawKind.NAMED, LawKind.SAME) and self._is_under(
            citation, following
        )

    def _kind(
        self, citation: ProvisionCitation, place: CitedPlace, here: Locator, end: int, last: int
    ) -> str:
        """The kind of a reference, from the words behind its list and behind lists named with it.

        Args:
            citation: the reference as written.
            place: its target.
            here: its own place.
            end: the end of its list.
            last: the end of the last list named with it.
        """
        text, start = self._text, citation.start
        if self._is_applied_within(start - 16, start) and _APPLYING.search(
            text, max(0, start - 16), start
        ):
            return APPLIES
        fills_in = (
            self._order
            and place.law.ids != self._words.own.ids
            and self._is_left_within(last, last + _LONGEST_TAIL)
        )
        applied = self._is_applied_within(end, end + _LONGEST_TAIL)
        if not fills_in and not applied:
            return REFERS
        last_tail = text[last : last + _LONGEST_TAIL]
        if fills_in and (filled := _FILLS_IN.match(_rest_of_sentence(last_tail))):
            # Not found if an omitted aside splits the words.
            at = text.find(filled[1], last, last + _LONGEST_TAIL)
            self._filled.update(range(last, max(at, last) + len(filled[1])))
            # A cabinet order does not implement a delegation to an ordinance, but may delegate part
            # of its own to one.
            own_rank = filled[1].startswith("政令") == self._is_cabinet_order
            return DELEGATED_BY if own_rank or self._opens(citation, here) else REFERS
        tail = _rest_of_sentence(text[end : end + _LONGEST_TAIL]) if applied else ""
        return APPLIES if _APPLIED.match(tail) else REFERS

    def _is_applied_within(self, start: int, end: int) -> bool:
        """Whether 準用 is between two positions."""
        at = bisect_left(self._applied, start)
        return at < len(self._applied) and self._applied[at] + len("準用") <= end

    def _is_left_within(self, start: int, end: int) -> bool:
        # The match begins one character before 令 or 則.
        at = bisect_right(self._left_to, start, key=re.Match.start)
        return at < len(self._left_to) and self._left_to[at].end() <= end

    def _opens(self, citation: ProvisionCitation, here: Locator) -> bool:
        """Whether it opens a paragraph: 第四条 法第四条第二項の規定による承諾は、…."""
        start = self._text.rfind("\n", 0, citation.start) + 1
        return not here.item and _OPENING.fullmatch(self._text, start, citation.start) is not None

    def _reference(
        self, here: Locator, start: int, end: int, kind: str, place: CitedPlace
    ) -> Reference:
        law, first, last = place
        return Reference(self._document.id, here, start, end, kind, law.id, law.name, first, last)

    def _in_own_appendix(
        self, place: CitedPlace, citation: ProvisionCitation, here: Locator
    ) -> CitedPlace:
        """The division of an appendix of the law itself, cited by its label."""
        if not self._appendices or place.law.ids != self._words.own.ids:
            return place
        belongs = ""
        if "附則" in citation.text:
            belongs = here.division if here.division.startswith(SUPPLEMENT) else f"{SUPPLEMENT}1"
        ends = [
            place_ and replace(place_, division=division)
            if place_ and (division := self._appendices.get((belongs, place_.division)))
            else place_
            for place_ in (place.first, place.last)
        ]
        return CitedPlace(place.law, ends[0] or place.first, ends[1])

    def _orders_known_by_name(self, instrument: str) -> tuple[str, ...]:
        own = self._document.id
        suffix = "施行令" if instrument == "政令" else "施行規則"
        wanted = _ORDER_TYPES.get(instrument, "MinisterialOrdinance")
        return self._names.order_of(own, suffix) or tuple(
            order for order in self._names.orders(own) if self._names.law_type(order) == wanted
        )


def _rest_of_sentence(tail: str) -> str:
    return _SENTENCE_END.split(dropping_asides(tail), maxsplit=1)[0]


def _lists(citations: list[ProvisionCitation]) -> list[tuple[int, int]]:
    """For each citation, the start of its list and the end of the rest of the list."""
    starts = [citation.start for citation in citations]
    ends = [citation.end for citation in citations]
    for index, citation in enumerate(citations):
        if citation.continues >= 0:
            starts[index] = starts[citation.continues]
    for index in range(len(citations) - 1, -1, -1):
        if (before := citations[index].continues) >= 0:
            ends[before] = max(ends[before], ends[index])
    return list(zip(starts, ends, strict=True))


def _together(
    citations: list[ProvisionCitation], lists: list[tuple[int, int]], text: str
) -> dict[int, int]:
    """For each list, the end of the last list named with it."""
    ends = {citation.start: end for citation, (_, end) in zip(citations, lists, strict=True)}
    last: dict[int, int] = {}
    for end in sorted(set(ends.values()), reverse=True):
        joins = _JOINS.match(text, end)
        if joins and joins.end() in ends:
            following = ends[joins.end()]
            last[end] = last.get(following, following)
    return last


def _is_here(citation: ProvisionCitation, place: CitedPlace, here: Locator, own: Law) -> bool:
    """Whether it means its own provision: この条, この項."""
    return (
        any(word.startswith(("この", "本")) for word in citation.words)
        and place.law.ids == own.ids
        and place.first.contains(here)
    )

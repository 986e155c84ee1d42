"""What the law part of a citation stands for in a question, or in a provision read by itself."""

from collections.abc import Callable, Mapping, Sequence

from localrag.statutes._lawpart import LawKind, LawPart
from localrag.statutes._places import Law
from localrag.statutes.citations import ProvisionCitation
from localrag.statutes.names import LawNames

_ACT_SUFFIXES = {"施行令": "施行令", "令": "施行令", "施行規則": "施行規則", "規則": "施行規則"}
_ACT_TYPES = ("Act", "Constitution")


class SpokenLaws:
    """The laws that a question or a single provision speaks of."""

    def __init__(
        self, text: str, names: LawNames, own: Law | None, definitions: Mapping[str, str]
    ) -> None:
        self._text = text
        self._names = names
        self._own = own
        self._definitions = definitions
        self._mentions = names.find_names(text)

    def law_of(self, citation: ProvisionCitation) -> Law:
        """Return the law of a citation that begins a list."""
        part = citation.law
        if part.kind is LawKind.TABLE:
            return Law((), part.text)
        if law_id := self._definitions.get(part.text):
            return self._law((law_id,))
        if part.kind is LawKind.NONE:
            return self._own or self._spoken_of(citation.start)
        if part.kind is LawKind.THIS:
            return self._own or self._last(citation.start) or Law((), part.text)
        if part.kind is LawKind.SAME:
            return self._same(part, citation.start)
        if part.kind is LawKind.PARENT:
            return self._acts(citation.start) or Law((), part.text)
        if part.kind in (LawKind.DECREE, LawKind.RULE) or part.text in _ACT_SUFFIXES:
            return self._order(part, citation.start)
        return self._named(part)

    def is_inside_a_name(self, citation: ProvisionCitation) -> bool:
        """Whether the citation is part of a law's title."""
        part = citation.law
        start = part.end if part.text else citation.start
        return any(name.start <= start and citation.end <= name.end for name in self._mentions)

    def _named(self, part: LawPart) -> Law:
        match = self._names.ending_at(self._text, part.end)
        if match is not None:
            return self._law(match.law_ids)
        if part.number and (ids := self._names.lookup(part.number)):
            return self._law(ids)
        return Law((), part.text)

    def _same(self, part: LawPart, position: int) -> Law:
        ending = part.text[-1]
        named = self._mentioned(
            position,
            lambda title: (
                title.endswith(("法", "律")) if ending in "法律" else title.endswith(ending)
            ),
        )
        return named or Law((), part.text)

    def _acts(self, position: int) -> Law | None:
        """Return what 法 can mean: the act of the order at hand, else the acts spoken of."""
        if self._own is not None:
            parents = self._names.parents(self._own.ids[0])
            return self._law(parents or self._own.ids)
        acts = [
            law_id
            for law_id in self._spoken_of(position).ids
            if self._names.law_type(law_id) in _ACT_TYPES
        ]
        return self._law(acts) if acts else None

    def _order(self, part: LawPart, position: int) -> Law:
        acts = self._acts(position)
        if acts is None:
            return Law((), part.text)
        suffix = _ACT_SUFFIXES.get(part.text)
        if suffix:
            ids = tuple(i for law_id in acts.ids for i in self._names.order_of(law_id, suffix))
            if ids:
                return self._law(ids)
        named = self._mentioned(position, lambda title: title.endswith(part.text))
        if named:
            return named
        orders = tuple(
            order
            for law_id in acts.ids
            for order in self._names.orders(law_id)
            if self._names.title(order).endswith(part.text)
        )
        return self._law(orders) if orders else Law((), part.text)

    def _spoken_of(self, position: int) -> Law:
        """Return what a bare article can be of: the laws named, nearest before first, then acts."""
        before = [name for name in reversed(self._mentions) if name.end <= position]
        after = [name for name in self._mentions if name.end > position]
        ids: dict[str, None] = {}
        for name in before + after:
            ids.update(dict.fromkeys(name.law_ids))
        for law_id in tuple(ids):
            ids.update(dict.fromkeys(self._names.parents(law_id)))
        return self._law(tuple(ids))

    def _last(self, position: int) -> Law | None:
        return self._mentioned(position, lambda _: True)

    def _mentioned(self, position: int, fits: Callable[[str], bool]) -> Law | None:
        """Return the law named last before a position whose title fits."""
        for name in reversed(self._mentions):
            if name.end <= position and fits(self._names.title(name.law_ids[0])):
                return self._law(name.law_ids)
        return None

    def _law(self, law_ids: Sequence[str]) -> Law:
        return Law(tuple(law_ids), self._names.title(law_ids[0]) if law_ids else "")

"""Options that name provisions: how far the provision named is the one the question describes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from math import sqrt

from localrag.corpus.types import Locator
from localrag.law.citations import find_citations
from localrag.law.names import customary
from localrag.methods.agreement.evidence import LawText, content_terms
from localrag.methods.agreement.types import Observation, ObservationKind, Signs
from localrag.methods.agreement.wording import (
    asks_for_exemption,
    asks_for_quantity,
    exempts,
    ngrams,
    states_quantity,
)
from localrag_indexes.analysis.normalize import compact

SIGNS = ("likeness", "kind", "at_hand", "new")
"""Names of the signs, in the order of the weights, and why each tells:

- `likeness`: a question for the provision that says something puts it in words of the provision.
- `kind`: asked for a period or an amount, it is one that states some; asked why something need not
  be done, one that excepts or frees.
- `at_hand`: the provision is among those that the search holds nearest to the question.
- `new`: a provision that the question itself names is what it starts from, not what it asks for.
"""

_PART = re.compile(r"(本文|ただし書き?|但書|前段|後段|柱書き?|各号列記以外の部分)?(?:の規定)?$")
_PROVISO = re.compile(r"ただし、")
_TITLE = re.compile(r"(?:法|法律|令|規則|規程|ガイドライン|指針)$")
# What stands before the noun asked for: …の提出期間|を定めた条文.
_DESCRIBES = re.compile(
    r"(?:こと|旨)?[をにがの](?:つ?いて)?(?:定め|規定|記載|示|掲げ|認め|定義|根拠).*$|の?根拠.*$",
    re.DOTALL,
)
_SIZES = (2, 3)
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class _Place:
    """A provision as an option names it.

    Attributes:
        law: its name as written; "" where none is.
        part: "本文", "ただし書" …; "" for the whole.
    """

    law: str
    locator: Locator
    part: str


def names_provisions(options: Sequence[str]) -> bool:
    """Whether most options are provisions (第5条第1項第2号) and say nothing besides."""
    return sum(_place(option) is not None for option in options) * 2 > len(options)


def signs_of_citations(
    question: str, options: Sequence[str], provisions: Sequence[LawText]
) -> list[Signs]:
    """Observe each option.

    Returns:
        Values for `SIGNS`; without the provision named, those of its words are 0.
    """
    asked = _Asked(question)
    return [_signs(asked, _place(option), provisions) for option in options]


class _Asked:
    """What a question says of the provision it wants.

    Attributes:
        focus: the last clause before the verb, which says what the provision lays down; the
            clauses before it tell the case.
    """

    def __init__(self, question: str) -> None:
        self.text = question
        described = _DESCRIBES.sub("", compact(question))
        self.focus = described.rpartition("、")[2] or described
        self.places = {
            _whole(citation.locator)
            for citation in find_citations(compact(question))
            if citation.locator.article
        }


def _signs(asked: _Asked, place: _Place | None, provisions: Sequence[LawText]) -> Signs:
    named = _provisions_at(place, provisions) if place else []
    own = "\n".join(_part_of(provision.text, place.part if place else "") for provision in named)
    above = "\n".join(words for words in (named[0].above if named else ()) if words not in own)
    is_new = place is None or _whole(place.locator) not in asked.places
    values = {
        "likeness": _likeness(asked.text, f"{own}\n{above}") if named else 0.0,
        "kind": float(
            (asks_for_quantity(asked.focus) and states_quantity(own))
            or (asks_for_exemption(asked.text) and exempts(f"{own}\n{above}"))
        ),
        "at_hand": float(bool(named)),
        "new": -float(not is_new),
    }
    findings = tuple(_findings(values, content_terms(asked.focus) & content_terms(own)))
    return Signs(values, named[0] if named else None, findings)


def _findings(values: Mapping[str, float], common: frozenset[str]) -> Iterator[Observation]:
    if not values["at_hand"]:
        yield Observation(ObservationKind.MISSING, False)
    if values["new"] < 0:
        yield Observation(ObservationKind.NAMED, False)
    if common:
        longest = sorted(common, key=lambda term: (-len(term), term))
        yield Observation(ObservationKind.COMMON, True, "、".join(longest[:_SHOWN]))


def _likeness(question: str, law: str) -> float:
    """Cosine of the sequences of letters, the mean over their sizes; 0 to 1."""
    return sum(_cosine(ngrams(question, n), ngrams(law, n)) for n in _SIZES) / len(_SIZES)


def _cosine(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / sqrt((len(one) * len(other)) or 1)


@lru_cache(maxsize=1024)
def _place(option: str) -> _Place | None:
    """The provision or law that an option is; None where it says anything more."""
    words = compact(option)
    part = _PART.search(words)
    assert part is not None
    plain = words[: part.start()]
    citations = find_citations(plain)
    if citations and citations[-1].end == len(plain):
        return _Place(citations[0].law.text, citations[-1].locator, part[1] or "")
    return _Place(plain, Locator(), "") if not citations and _TITLE.search(plain) else None


def _provisions_at(place: _Place, provisions: Sequence[LawText]) -> list[LawText]:
    of_law = [provision for provision in provisions if _same_law(place.law, provision.law)]
    for sought in (place.locator, replace(place.locator, subitem="")):
        found = [one for one in of_law if _whole(sought).contains(_whole(one.locator, inner=True))]
        if found:
            return found
    return []


def _whole(locator: Locator, *, inner: bool = False) -> Locator:
    """The place with the paragraph written that texts leave out where it is the only one.

    Args:
        locator: as it is written.
        inner: whether the text of a provision is located, which stands in a paragraph in any case.
    """
    needed = locator.article and (locator.item or inner)
    return replace(locator, paragraph="1") if needed and not locator.paragraph else locator


def _part_of(text: str, part: str) -> str:
    """The main sentence or the proviso of a text, where the part named is one of them."""
    proviso = _PROVISO.search(text)
    if not proviso or not part:
        return text
    if part.startswith(("ただし", "但")):
        return text[proviso.start() :]
    return text[: proviso.start()] if part == "本文" else text


def _same_law(named: str, title: str) -> bool:
    """Whether a name, which may be an abbreviation or the end of a title, is that of a law."""
    name, full = compact(named), compact(title)
    if not name or not full:
        return False
    return _titles().get(name) == full or full.endswith(name) or name.endswith(full)


@cache
def _titles() -> dict[str, str]:
    """Full titles by their customary abbreviations."""
    return {
        compact(short): compact(title) for title, shorts in customary().items() for short in shorts
    }

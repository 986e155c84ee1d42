"""Appendices (別表, 様式, 書式) by their labels, which every law writes in its own way.

第三号様式, 様式第三 and 別記様式第３号 are one label, 様式第三. An appendix of a supplementary
provision is called 附則別表 and told by the division it belongs to.
"""

import re
from collections.abc import Mapping

from localrag.corpus.types import ARTICLES, Document, Passage
from localrag.statutes.notation import NUMBER, SUPPLEMENT, read_number
from localrag_indexes.analysis.normalize import to_kanji

_BRANCHES = rf"(?:[のノ之]{NUMBER})*+"
_BEFORE = "(?:別記|別紙|付録|附録)?"
_FORM = "様式|書式"
_FORMS = re.compile(rf"{_FORM}|ひな形|雛形|記載例")
LABEL = re.compile(
    rf"{_BEFORE}(?:第(?P<first>{NUMBER}(?:号)?{_BRANCHES})(?P<form>{_FORM})(?P<more>{_BRANCHES})"
    rf"|(?P<name>別表|{_FORM})(?:第?(?P<number>{NUMBER})号?(?P<branches>{_BRANCHES}))?)"
)
"""How an appendix is called at its head."""
CITED_FORM = re.compile(
    # The first characters of its branches: what cannot begin one is passed over at once.
    rf"(?=[別付附第様書])(?:{_BEFORE}第{NUMBER}号?{_BRANCHES}(?:{_FORM}){_BRANCHES}"
    rf"|{_BEFORE}(?:{_FORM})第?{NUMBER}号?{_BRANCHES}|別記(?:{_FORM}))"
)
"""How a provision cites a form; 別表 is part of the citations of `localrag.statutes.citations`."""


def label_of(written: str) -> str:
    """The label at the head of some words, always written alike; "" where there is none."""
    found = LABEL.match(written.lstrip("【"))
    if found is None:
        return ""
    if found["form"]:
        return found["form"] + _number(found["first"] + found["more"])
    return found["name"] + _number((found["number"] or "") + (found["branches"] or ""))


def appendices(document: Document) -> Mapping[tuple[str, str], str]:
    """The appendices of a statute: by division they belong to ("" for the law) and label.

    Of two that are called alike (様式第一, 別記様式第一) none is meant.
    """
    supplements: dict[str, str] = {}
    found: dict[tuple[str, str], str] = {}
    for passage in document.passages:
        division = passage.locator.division
        if passage.layer != ARTICLES or not division:
            continue
        words = passage.header.removeprefix(document.title).strip()
        if division.startswith(SUPPLEMENT):
            supplements.setdefault(words.split(" ")[0], division)
        elif not passage.locator.article:
            outer, _, inner = words.partition(" ")
            belongs = supplements.get(outer, "") if outer.startswith("附則") else ""
            if label := label_of(inner if belongs else words):
                key = belongs, label
                found[key] = division if key not in found else ""
    return found


def is_form(passage: Passage) -> bool:
    """Whether a passage is a form to fill in (様式, 書式), or a model of one (ひな形, 記載例)."""
    if not passage.locator.division.startswith("appendix"):
        return False
    # The title of a law can have such a word, too.
    return _FORMS.search(passage.header.partition(" ")[2]) is not None


def names_form(text: str) -> bool:
    """Whether a text speaks of forms."""
    return _FORMS.search(text) is not None


def _number(written: str) -> str:
    numbers = read_number(written).split("_")
    return "第" + "の".join(to_kanji(int(number)) for number in numbers) if numbers[0] else ""

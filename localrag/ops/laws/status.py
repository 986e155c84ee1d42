"""The laws of a corpus: ages of their texts, days not fetched, absent laws with citations."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from localrag.corpus.store import CorpusStore
from localrag.ops.laws.getting import asked_once
from localrag.ops.laws.shelf import Kept, through, today
from localrag.ops.laws.types import CATEGORIES
from localrag.search.finding import names_of

# 民法施行法, 戸籍法施行令; not 同法, 新法, 本法, nor acts amending others.
_TITLE = re.compile(
    r"(?![ぁ-ん]|旧|新|同|本|各|改正[前後]|平成|昭和|令和|大正|明治|.*一部を改正する)"
    r".{2,}(?:法|法律|令|規則|条例)"
)


@dataclass(frozen=True, slots=True)
class LawText:
    """A law of a corpus on a day.

    Attributes:
        law_id, title, law_num, law_type: as in e-Gov.
        day: the first of its text (ISO); "" if unknown.
        days: age of the text in days; None if unknown or not yet in force.
        until: first day of its next text; "" without one.
        is_old: whether it may have been amended since; see `DocumentInfo.old`.
    """

    law_id: str
    title: str
    law_num: str
    law_type: str
    day: str
    days: int | None
    until: str
    is_old: bool


@dataclass(frozen=True, slots=True)
class AbsentLaw:
    """A law cited, but not in the corpus.

    Attributes:
        name: as cited.
        citations: their number.
        laws: number of citing documents.
    """

    name: str
    citations: int
    laws: int


@dataclass(frozen=True, slots=True)
class LawsStatus:
    """The laws of a corpus.

    Attributes:
        laws: all of them, the oldest text first.
        scopes: of the fetched files: ``all``, names of categories, ids of laws.
        through: last day (ISO) with its changes; "" if unknown.
        days_behind: days since; None if unknown.
        asked_once: days (ISO) without an archive, asked for once.
        absent: laws cited but not in the corpus, the most cited first.
    """

    laws: tuple[LawText, ...]
    scopes: tuple[str, ...]
    through: str
    days_behind: int | None
    asked_once: tuple[str, ...]
    absent: tuple[AbsentLaw, ...]


def laws_of(store: CorpusStore) -> list[LawText]:
    """The laws of a corpus with the ages of their texts, the oldest text first."""
    return sorted(_texts(store), key=lambda law: (law.day, law.law_id))


def _texts(store: CorpusStore) -> list[LawText]:
    found = []
    for one in store.documents("law"):
        day = one.metadata.get("date", "")
        known = day and not one.not_yet
        age = (store.as_of - date.fromisoformat(day)).days if known else None
        number, kind = (one.metadata.get(key, "") for key in ("law_num", "law_type"))
        found.append(
            LawText(one.id, one.title, number, kind, day, age, one.followed, is_old=one.old)
        )
    return found


def absent_laws(store: CorpusStore) -> list[AbsentLaw]:
    """List the laws cited but absent, the most citing laws first."""
    names = names_of(store)
    return [
        AbsentLaw(*row)
        for row in store.absent_names()
        if _TITLE.fullmatch(row[0]) and not names.lookup(row[0])
    ]


def status(store: CorpusStore, taken: Sequence[Kept]) -> LawsStatus:
    """Describe the laws of a corpus, and its files of e-Gov."""
    last = through(taken)
    return LawsStatus(
        laws=tuple(laws_of(store)),
        scopes=tuple(dict.fromkeys(_scope(one) for one in taken if not one.day)),
        through=last.isoformat() if last else "",
        days_behind=max(0, (today() - last).days - 1) if last else None,
        asked_once=tuple(day.isoformat() for day in asked_once(taken)),
        absent=tuple(absent_laws(store)),
    )


def _scope(one: Kept) -> str:
    kind, _, value = one.scope.partition(":")
    return CATEGORIES.get(int(value), value) if kind == "category" else value or kind

"""Where one law named in a question names another one: there stands how the two go together.

Whether a registration under one act makes a licence under another one superfluous, whether the
civil code fills what an act leaves open: the provision that says so names the other law, often as
a whole (民法の規定による), which no reference to a provision tells.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from localrag.corpus.lookups import Lookups
from localrag.corpus.types import ARTICLES
from localrag.question.asked import asks_whether
from localrag.question.laws import LawNamed, law_asked
from localrag.retrieval.types import Mention
from localrag.retrieval.units import Admission, Scores
from localrag.statutes.names import LawNames

NAMES_IT = 1.0
"""What the only provision gains that names the other law, of the most that words can give.

A question of two laws has two halves, its matter and the other law: the one tells as much as the
other.
"""

# What statutes say of a law that governs a matter, or that does not: 民法の規定による,
# 行政手続法第二章の規定は、適用しない, 銀行法第四条第一項の規定にかかわらず.
_SETTLES = re.compile(
    "適用(?:しない|せず|する。|があ|はな)|(?:規定|ところ)に(?:よ|依)る(?:。|ものとする|ほか)|(?:かかわ|拘わ?)らず|妨げない"
)
_SENTENCES = re.compile(r"[^。\n]+。?")


def mentions(
    store: Lookups,
    names: LawNames,
    admission: Admission,
    question: str,
    laws: Sequence[LawNamed],
) -> dict[str, Mention]:
    """The provisions of each of some laws that name another one of them, by unit.

    A question whether something is so (no 何, いつ, 誰 in it) asks which law governs: provisions
    that settle this count by themselves then, however many others name the other law. Who asks one
    law for a thing (刑法の名誉毀損罪で告訴する場合、刑訴法上の告訴期間はいつまでか) asks for no
    relation: the other law tells the case.

    Two kinds are left out, for they relate nothing. Supplements tell how former law became this
    one, and an order names the act that it stands under wherever it fills that in.

    Args:
        store: where the laws are.
        names: of the laws of the corpus.
        admission: which laws may be found.
        question: as it was typed.
        laws: as it names them.
    """
    settling = asks_whether(question)
    if not settling and law_asked(question, laws):
        return {}
    named = {law_id for law in laws for law_id in law.law_ids}
    found: dict[str, Mention] = {}
    for law_ids in dict.fromkeys(law.law_ids for law in laws):
        for law_id in filter(admission.admits, law_ids):
            others = named.difference(law_ids, names.parents(law_id))
            for other in sorted(others):
                for unit, mention in _naming(store, names, law_id, other, settling).items():
                    found[unit] = _joined(found[unit], mention) if unit in found else mention
    return found


def raised(
    scores: Scores, found: Mapping[str, Mention], documents: Collection[str]
) -> dict[str, float]:
    """What was found in some documents, and what names another law there whether found or not.

    Args:
        scores: relative to the best, 0 to 1.
        found: the provisions that name another law, in any document.
        documents: those searched.
    """
    return dict(scores) | {
        unit: scores.get(unit, 0.0) + NAMES_IT * mention.tells
        for unit, mention in found.items()
        if unit.rpartition("#")[0] in documents
    }


def _naming(
    store: Lookups, names: LawNames, law_id: str, other: str, settling: bool
) -> dict[str, Mention]:
    title, law = names.title(other), store.text(law_id)
    if not title:
        return {}
    places: dict[str, list[int]] = {}
    settled: set[str] = set()
    for stand in store.standing(law_id, ARTICLES):
        # To read the names of laws in a text takes longer than to look for one title.
        if stand.locator.division or title not in law[stand.start : stand.end]:
            continue
        for sentence in _SENTENCES.finditer(law, stand.start, stand.end):
            for name in names.find_names(sentence[0]):
                if other in name.law_ids:
                    places.setdefault(stand.passage_id, []).append(sentence.start() + name.start)
                    if settling and _SETTLES.search(sentence[0]):
                        settled.add(stand.passage_id)
    return {
        unit: Mention(tuple(positions), 1 / len(settled if unit in settled else places))
        for unit, positions in places.items()
    }


def _joined(one: Mention, other: Mention) -> Mention:
    return Mention(one.positions + other.positions, max(one.tells, other.tells))

"""The laws that a question names: those of the corpus, and those that the corpus lacks.

A law is known by its name, its abbreviations, its number, its usual English name, or as the order
or the ordinance of a law named before (その施行令). What the corpus does not have is known as a law
by ``known.py``.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from localrag.question import known
from localrag.statutes.names import LawNames

Orders = Callable[[str], Collection[str]]
"""The ids of the orders and ordinances under a law."""

# 改正個人情報保護法, but not 改正法.
_STATE = re.compile("改正(?=[一-鿿ァ-ヶーA-Za-z])(?!法|[後前時案規])|現行(?!法)")
# 法 goes on as another word (法人, 法令), after a name too: 医療法人. What else follows a name of
# three characters or more is said of the law: 景表法対応.
_LAST = re.compile(
    "[法律令則例典](?!人|規(?![制定])|律|令|典|案|益|的|廷|務|学|科|源|曹|制(?![定限])|師|理|話|治|体|則|例)"
)
_SHORTEST_OPEN = 3
_ORDER = re.compile("の?(?P<kind>施行令|施行規則|施行細則)")
# What an order is called besides, and not the phrase of an act that leaves something to it.
_SPOKEN = (
    "(?P<kind>内閣府令|政令|省令|府令|規則)(?=で?は|に(?:おいて|おける|よ)|上|の|で何|でど|[、。])"
)
_ITS_ORDER = re.compile(f"の{_SPOKEN}")
_ALONE = re.compile(
    "(?:(?:その|同法?の?)(?P<its>施行令|施行規則|施行細則|内閣府令|政令|省令|府令|令|規則)(?![で第]?定)"
    "|(?<![一-鿿])(?P<kind>施行令|施行規則|施行細則)"
    f"|(?<![一-鿿]){_SPOKEN.replace('<kind>', '<spoken>')}"
    "|(?P<same>同法)(?![人規律令典案益的廷務学科源曹制]))"
)
_TYPES = {
    "政令": "CabinetOrder",
    "令": "CabinetOrder",
    "内閣府令": "MinisterialOrdinance",
    "府令": "MinisterialOrdinance",
    "省令": "MinisterialOrdinance",
    "規則": "MinisterialOrdinance",
}
# 割販法で…できるか asks the law named so; 刑法の…罪で告訴する場合、 tells the case only.
_ASKED_THERE = re.compile(
    "(?:で(?:は|も)?|上(?:の|は|、|で)?|において(?:は)?|によると|によれば|だと)(?!あ|な)"
)
_IS_A_CASE = re.compile("(?:場合|とき|時|際)(?:に|は|には)?、|(?:たら|れば|ると)、")
_LONGEST_ORDER = 60
_ENGLISH_ORDER = re.compile(
    r"(?:(?P<order>(?:Cabinet )?Order for (?:the )?Enforcement|Enforcement Order)"
    r"|(?:Ministerial )?(?:Ordinance|Regulations?|Rules) for (?:the )?Enforcement"
    r"|Enforcement (?:Ordinance|Regulations?|Rules)) of (?:the )?$",
    re.IGNORECASE,
)
# 人事院規則１１―４
_NUMBERED_RULE = re.compile(
    "人事院規則[ 　]?([0-9０-９〇一二三四五六七八九]+)[―—–‐－ー-]([0-9０-９〇一二三四五六七八九]+)"
)
_IN_KANJI = str.maketrans("0123456789０１２３４５６７８９", 2 * "〇一二三四五六七八九")


@dataclass(frozen=True, slots=True)
class LawNamed:
    """A law as a question names it.

    Attributes:
        words: as written.
        start, end: their span in the question.
        law_ids: the laws of the corpus that are called so, each an alternative to the others;
            empty where the corpus has none.
    """

    words: str
    start: int
    end: int
    law_ids: tuple[str, ...]


class _Name(NamedTuple):
    """A span of a question, and the laws it names."""

    start: int
    end: int
    law_ids: tuple[str, ...]


def laws_named(text: str, names: LawNames, orders: Orders | None = None) -> tuple[LawNamed, ...]:
    """Find every law that a question names, in the order of the text; none stands in another.

    Args:
        text: the question.
        names: the laws of the corpus.
        orders: what stands under each of them; without it, the orders whose titles say so.
    """
    under = orders or names.orders
    plain = without_states(text)
    bases = list(
        _outermost([*_present(plain, names), *_lacking(plain, names), *_in_english(plain, names)])
    )
    bases += [
        _Name(start, end, ())
        for start, end in known.entitled(plain)
        if all(end <= name.start or name.end <= start for name in bases)
    ]
    found = [_with_order(text, base, names, under) for base in bases]
    for match in _ALONE.finditer(text):
        if any(name.start < match.end() and match.start() < name.end for name in found):
            continue
        if (name := _order_alone(match, found, names, under)) is not None:
            found.append(name)
    found.sort(key=lambda name: name.start)
    return tuple(
        LawNamed(text[name.start : name.end], name.start, name.end, name.law_ids) for name in found
    )


def without_states(text: str) -> str:
    """The question with 改正 and 現行 before laws put out: they are no part of a name.

    Spans of the one are spans of the other.
    """
    return _STATE.sub(lambda state: "、" * len(state[0]), text)


def without_names(text: str, laws: Iterable[LawNamed]) -> str:
    """The question with blanks in the place of the names of laws: what is asked of them."""
    for law in laws:
        text = f"{text[: law.start]}{' ' * (law.end - law.start)}{text[law.end :]}"
    return text


def law_asked(text: str, laws: Sequence[LawNamed]) -> LawNamed | None:
    """The one of several laws that a question asks, where the others belong to the case it tells.

    刑法の名誉毀損罪で告訴する場合、刑訴法上の告訴期間は asks 刑訴法.

    Args:
        text: the question.
        laws: all that it names, in its order.

    Returns:
        None where each of them may be asked.
    """
    if not laws:
        return None
    there = [law for law in laws if _ASKED_THERE.match(text, law.end)]
    if len({law.law_ids for law in there}) == 1:
        return there[0]
    ends = [*(law.start for law in laws[1:]), len(text)]
    open_ones = [
        law
        for law, end in zip(laws, ends, strict=True)
        if not _IS_A_CASE.search(text, law.end, end)
    ]
    return open_ones[0] if len({law.law_ids for law in open_ones}) == 1 else None


def _present(text: str, names: LawNames) -> Iterator[_Name]:
    found = names.find_names(text)
    for last in _LAST.finditer(text):
        match = names.ending_at(text, last.end())
        if match is not None and match.end - match.start >= _SHORTEST_OPEN:
            found.append(match)
    for match in found:
        if not known.is_another_word(text, match.start, match.end):
            yield _Name(match.start, match.end, match.law_ids)


def _lacking(text: str, names: LawNames) -> Iterator[_Name]:
    for start, end in known.in_japanese(text):
        word = text[start:end].removesuffix("典")
        # 化粧品薬機法 is two words written as one; 米国特許法 is another law than 特許法.
        tails = (word[at:] for at in range(1, len(word) - _SHORTEST_OPEN + 1))
        two_words = any(names.lookup(tail) and not names.is_title(tail) for tail in tails)
        if names.lookup(word) or known.is_title(word) or not two_words:
            yield _Name(start, end, names.lookup(word))
    for number in names.find_numbers(text):
        if not number.law_ids:
            yield _Name(number.start, number.end, ())
    for rule in _NUMBERED_RULE.finditer(text):
        title = "人事院規則{}―{}".format(*(part.translate(_IN_KANJI) for part in rule.groups()))
        ids = (id_ for id_ in names.rows if names.title(id_).partition("（")[0] == title)
        yield _Name(*rule.span(), tuple(ids))


def _in_english(text: str, names: LawNames) -> Iterator[_Name]:
    for name in known.in_english(text):
        ids = names.lookup(name.title)
        order = _ENGLISH_ORDER.search(text, max(0, name.start - _LONGEST_ORDER), name.start)
        if order is None:
            yield _Name(name.start, name.end, ids)
        else:
            kind = "施行令" if order["order"] else "施行規則"
            ids = tuple(id_ for law_id in ids for id_ in names.order_of(law_id, kind))
            yield _Name(order.start(), name.end, ids)


def _with_order(text: str, name: _Name, names: LawNames, under: Orders) -> _Name:
    """The order that is named by the law it belongs to: 薬機法の施行規則."""
    match = _ORDER.match(text, name.end) or _ITS_ORDER.match(text, name.end)
    if match is None:
        return name
    ids = _order_of(name.law_ids, match["kind"], names, under)
    if match["kind"] == "施行規則" and not ids:
        others = [i for i in name.law_ids if known.has_rules_of_other_names(names.title(i))]
        ids = _order_of(others, "規則", names, under)
    return _Name(name.start, match.end("kind"), ids)


def _order_alone(
    match: re.Match[str], found: Sequence[_Name], names: LawNames, under: Orders
) -> _Name | None:
    """The law that 同法 or その施行令 stands for; None where nothing tells."""
    before = [name for name in found if name.end <= match.start()] or list(found)
    acts = [name for name in before if not name.law_ids or names.is_act(name.law_ids[0])]
    antecedent = next(reversed(acts or before), None)
    if antecedent is None:
        return None
    if match["same"]:
        # What the corpus lacks has been named by its name.
        ids = antecedent.law_ids
        return _Name(match.start(), match.end(), ids) if ids else None
    kind = match["its"] or match["kind"] or match["spoken"]
    if not antecedent.law_ids:
        return None
    ids = _order_of(antecedent.law_ids, kind, names, under)
    return _Name(match.start(), match.end(), ids) if ids or kind.startswith("施行") else None


def _order_of(law_ids: Sequence[str], kind: str, names: LawNames, under: Orders) -> tuple[str, ...]:
    """The orders of a kind: 薬機法施行規則 is a title, その省令 any ordinance under the law."""
    titled = tuple(id_ for law_id in law_ids for id_ in names.order_of(law_id, kind))
    if titled or kind not in _TYPES:
        return titled
    return tuple(
        dict.fromkeys(
            order
            for law_id in law_ids
            for order in under(law_id)
            if names.law_type(order) == _TYPES[kind]
        )
    )


def _outermost(found: Iterable[_Name]) -> Iterator[_Name]:
    """Those that do not overlap an earlier or a longer one; of two alike that of the corpus."""
    taken: list[_Name] = []
    for name in sorted(found, key=lambda name: (name.start - name.end, not name.law_ids)):
        if all(name.end <= other.start or other.end <= name.start for other in taken):
            taken.append(name)
    return iter(sorted(taken))

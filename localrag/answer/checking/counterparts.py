"""Words that never replace each other: 許可 and 届出, 売主 and 買主; and agents and objects.

A claim with such a word differs from sentences with the counterpart alone, even if all other words
are shared. 甲は乙に支払う also differs from 乙は甲に支払う.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from localrag.answer.checking.polarity import Predicate, ReadSentence, vocabulary
from localrag.text.folding import Folded
from localrag_indexes.analysis.analyzer import ENGLISH, Morpheme, split_sentences

_Group = tuple[str, ...]


def _groups(name: str) -> tuple[_Group, ...]:
    return tuple(map(tuple, vocabulary()["counterparts"][name]))


_PARTNERS = frozenset((*_groups("partners"), *_groups("english_partners")))
_JAPANESE = (*_groups("alternatives"), *_groups("partners"))
_ENGLISH = (*_groups("english_alternatives"), *_groups("english_partners"))
# Longer words come first: 被保険者 is not 保険者. One group for all words makes the pattern a
# hundred times as fast.
_LISTED = re.compile(
    "|".join(word for group in _JAPANESE for word in group)
    + rf"|\b(?:{'|'.join(word for group in _ENGLISH for word in group)})\b"
)
# 拘禁刑はない, 書面によらない: a denied word does not count.
_DENIED = re.compile(
    r"刑?(?:では|で|によら|は|が|も)?(?:ない|なく(?!て?は?な[らり])|ず|不要|要しない|定められて(?:い)?ない)"
)

# One text joins a pair of words by "and", the other by "or".
_JOINED = (
    re.compile(
        r"(?P<left>[一-鿿ァ-ヺー]{2})、?(?:(?P<both>及び|並びに|かつ)|又は|または|若しくは|もしくは)、?"
        r"(?P<right>[一-鿿ァ-ヺー]{2})"
    ),
    re.compile(r"\b(?P<left>[a-z]+) (?:(?P<both>and)|or) (?:the |an? )?(?P<right>[a-z]+)"),
)
# 締結前 and 締結した後; not 三十日前, 以前 and 午後.
_WHEN = (
    re.compile(
        r"(?P<deed>(?:(?![〇一二三四五六七八九十百千])[一-鿿]){2})(?<![以午産])"
        r"(?:を?(?:する|した|される|された))?の?(?P<when>前後|前|後)(?![後半任期者項条号段年月日回各])"
    ),
    re.compile(r"\b(?P<when>before|after) (?:the |an? )?(?P<deed>[a-z]+)"),
)


class Counterpart(NamedTuple):
    """A word with counterparts.

    Attributes:
        group: of counterparts; for "and" and "or" the words joined, for "before" and "after" the
            event.
        member: of the group.
        is_partner: whether they are the two sides of one relation.
        is_joint: whether it is "and" or "or".
        start, end: its span.
    """

    group: tuple[str, ...]
    member: str
    start: int
    end: int
    is_partner: bool = False
    is_joint: bool = False


def counterparts_of(normal: str) -> Iterator[Counterpart]:
    """The words of a normalised text with counterparts, without denied ones."""
    for found in _LISTED.finditer(normal):
        if not _DENIED.match(normal, found.end()):
            group, member = _listed(found[0])
            yield Counterpart(group, member, *found.span(), is_partner=group in _PARTNERS)
    for pattern in _JOINED:
        for found in pattern.finditer(normal):
            member = "and" if found["both"] else "or"
            yield Counterpart((found["left"], found["right"]), member, *found.span(), is_joint=True)
    for pattern in _WHEN:
        for found in pattern.finditer(normal):
            deed = found["deed"]
            if deed not in ENGLISH and not deed.endswith("ing"):
                whens = "前後" if found["when"] == "前後" else (found["when"],)
                yield from (Counterpart((deed,), when, *found.span()) for when in whens)


@cache
def _listed(written: str) -> tuple[tuple[str, ...], str]:
    """The group and member of a form in a text."""
    return next(
        (group, word)
        for group in (*_JAPANESE, *_ENGLISH)
        for word in group
        if re.fullmatch(word, written)
    )


_NAMING = re.compile("名詞|代名詞|接頭辞|接尾辞-名詞的")
_DOER, _OTHER = frozenset("はが"), frozenset("にをへ") | {"から"}
_PARTICLE = re.compile("助詞-(?:係|格)助詞")
# Passive forms (される, してもらう), and verbs with a passive sense.
_PASSIVE = frozenset(("れる", "られる", "貰う", "頂く"))
_RECEIVED = frozenset(("受ける", "貰う", "頂く"))
# States without an agent: 登録が必要である, 許可が要る.
_STATES = frozenset(("必要", "要る"))
_NOBODY = re.compile(r"(?:とき|時|場合|もの|こと|事項|必要|\d+)$")
# Actions of two on each other.
_MUTUAL = re.compile(
    "(?:隣?接する|隣る|隣り合う|面する|似る|近い|遠い|等しい|異なる|違う|並ぶ|会う|合う|出会う|交わる|競う|戦う"
    "|繋がる|隣接|並行|対応|相当|匹敵|結婚|合流|合併|提携|協力|対戦)$"
)


class Deed(NamedTuple):
    """An action, and whether it is said of its object."""

    key: str
    is_passive: bool


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles in one sentence.

    Attributes:
        doers: subjects (は, が), with the span of their first mention.
        others: objects (に, を, へ, から).
        deeds: the actions.
        last: the action of the last predicate, or None.
    """

    doers: Mapping[str, tuple[int, int]]
    others: frozenset[str]
    deeds: frozenset[Deed]
    last: Deed | None


def roles_of(folded: Folded, sentences: Sequence[ReadSentence]) -> Iterator[Roles]:
    """Read the roles in each sentence of a Japanese text.

    Args:
        folded: the text.
        sentences: its sentences (`localrag.answer.checking.polarity.sentences_of`).
    """
    starts = [word.start for word in folded.words]
    spans = split_sentences(folded.normal)
    for (start, end), sentence in zip(spans, sentences, strict=True):
        words = folded.words[bisect_left(starts, start) : bisect_left(starts, end)]
        if words and sentence.predicates:
            deeds = {one: _deed(one, words) for one in sentence.predicates}
            last = max(sentence.predicates, key=lambda predicate: predicate.end)
            doers, others = _parts(words)
            done = frozenset(deed for deed in deeds.values() if deed)
            yield Roles(doers, others, done, deeds[last])


def exchanged(claimed: Iterable[Roles], said: Sequence[Roles]) -> Iterator[tuple[int, int]]:
    """Spans of the agents of a claim who are objects in the sentences."""
    doers = {name for one in said for name in one.doers}
    for claim in claimed:
        for name, span in claim.doers.items():
            if name not in doers and any(_are_exchanged(name, claim, one) for one in said):
                yield span


def _are_exchanged(name: str, claim: Roles, said: Roles) -> bool:
    return (
        claim.last in said.deeds
        and name in said.others
        and not (claim.others - {name}).isdisjoint(said.doers)
    )


def _deed(predicate: Predicate, words: Sequence[Morpheme]) -> Deed | None:
    """The action of a predicate; None for a state or a mutual action."""
    head, *rest = [word for word in words if predicate.start <= word.start < predicate.end]
    lemma = head.lemma.partition("-")[0]
    if lemma in _STATES | _RECEIVED or _MUTUAL.match(lemma):
        return None
    # 教える and 教わる share their kanji.
    key = lemma if head.kind.startswith("動詞") else predicate.head
    return Deed(key, any(word.lemma in _PASSIVE for word in rest))


def _parts(words: Sequence[Morpheme]) -> tuple[dict[str, tuple[int, int]], frozenset[str]]:
    """The agents and objects of a sentence."""
    doers: dict[str, tuple[int, int]] = {}
    others: set[str] = set()
    for place, word in enumerate(words):
        if not _PARTICLE.match(word.kind) or word.surface not in _DOER | _OTHER:
            continue
        first = place
        while first and _NAMING.match(words[first - 1].kind):
            first -= 1
        name = "".join(one.surface for one in words[first:place]).removesuffix("等")
        if name and word.surface in _OTHER:
            others.add(name)
        elif name and not _NOBODY.match(name) and not _is_state(words[place + 1 :]):
            doers.setdefault(name, (words[first].start, word.end))
    return doers, frozenset(others)


def _is_state(following: Sequence[Morpheme]) -> bool:
    return bool(following) and following[0].lemma.partition("-")[0] in _STATES

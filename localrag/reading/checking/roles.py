"""Who does something to whom, in Japanese: 甲は乙に支払う is not 乙は甲に支払う."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from localrag.reading.checking.forces import Predicate, ReadSentence
from localrag.reading.folding import Folded
from localrag_indexes.analysis.analyzer import Morpheme, split_sentences

_NAMING = re.compile("名詞|代名詞|接頭辞|接尾辞-名詞的")
_DOER, _OTHER = frozenset("はが"), frozenset("にをへ") | {"から"}
_PARTICLE = re.compile("助詞-(?:係|格)助詞")
# What is said of the one to whom it is done, with (される, してもらう) and by the verb itself.
_PASSIVE = frozenset(("れる", "られる", "貰う", "頂く"))
_RECEIVED = frozenset(("受ける", "貰う", "頂く"))
# Nobody does these: 登録が必要である, 許可が要る.
_STATES = frozenset(("必要", "要る"))
_NOBODY = re.compile(r"(?:とき|時|場合|もの|こと|事項|必要|\d+)$")
# What each of two does to the other.
_MUTUAL = re.compile(
    "(?:隣?接する|隣る|隣り合う|面する|似る|近い|遠い|等しい|異なる|違う|並ぶ|会う|合う|出会う|交わる|競う|戦う"
    "|繋がる|隣接|並行|対応|相当|匹敵|結婚|合流|合併|提携|協力|対戦)$"
)


class Deed(NamedTuple):
    """What is done, and whether it is said of the one to whom it is done."""

    key: str
    is_passive: bool


@dataclass(frozen=True, slots=True)
class Roles:
    """The parts that are played in one sentence.

    Attributes:
        doers: who or what it says something of (は, が), with the span where it first does.
        others: whom or what that is done to (に, を, へ, から).
        deeds: what is done.
        last: what its last predicate says is done; None where that is no deed.
    """

    doers: Mapping[str, tuple[int, int]]
    others: frozenset[str]
    deeds: frozenset[Deed]
    last: Deed | None


def roles_of(folded: Folded, sentences: Sequence[ReadSentence]) -> Iterator[Roles]:
    """Read the parts played in each sentence of a Japanese text.

    Args:
        folded: the text.
        sentences: its sentences (`localrag.reading.checking.polarity.sentences_of`).
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
    """The spans of those who do in a claim what, in the sentences, is done to them."""
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
    """What a predicate says is done; None where it tells a state, or what two do together."""
    head, *rest = [word for word in words if predicate.start <= word.start < predicate.end]
    lemma = head.lemma.partition("-")[0]
    if lemma in _STATES | _RECEIVED or _MUTUAL.match(lemma):
        return None
    # 教える and 教わる share their kanji.
    key = lemma if head.kind.startswith("動詞") else predicate.head
    return Deed(key, any(word.lemma in _PASSIVE for word in rest))


def _parts(words: Sequence[Morpheme]) -> tuple[dict[str, tuple[int, int]], frozenset[str]]:
    """Who does something in a sentence, and to whom."""
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

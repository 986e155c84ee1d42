"""Who does something to whom, in Japanese: 甲は乙に支払う is not 乙は甲に支払う."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from localrag.reading.checking.folding import Folded
from localrag.reading.checking.forces import Sentence
from localrag_indexes.analysis.japanese import Morpheme
from localrag_indexes.analysis.sentences import split_sentences

_NAMING = re.compile("名詞|代名詞|接頭辞|接尾辞-名詞的")
_DOER, _OTHER = frozenset("はが"), frozenset("にをへ") | {"から"}
_PARTICLE = re.compile("助詞-(?:係|格)助詞")
_PASSIVE = frozenset(("れる", "られる"))
# What each of two does to the other.
_MUTUAL = re.compile("接|似|近|遠|等し|面する|対応|相当|匹敵|結婚|同")


@dataclass(frozen=True, slots=True)
class Roles:
    """The parts that are played in one sentence.

    Attributes:
        doers: who or what it says something of (は, が), with the span of each.
        others: whom or what that is done to (に, を, へ, から).
        deeds: what is done, by the heads of its predicates.
        is_passive: whether it is said of the one to whom it is done.
    """

    doers: dict[str, tuple[int, int]]
    others: frozenset[str]
    deeds: frozenset[str]
    is_passive: bool


def roles_of(folded: Folded, sentences: Sequence[Sentence]) -> Iterator[Roles]:
    """Read the parts played in each sentence of a Japanese text.

    Args:
        folded: the text.
        sentences: its sentences (`localrag.reading.checking.polarity.sentences_of`).
    """
    starts = [word.start for word in folded.words]
    spans = split_sentences(folded.normal)
    for (start, end), sentence in zip(spans, sentences, strict=True):
        words = folded.words[bisect_left(starts, start) : bisect_left(starts, end)]
        deeds = frozenset(predicate.head for predicate in sentence.predicates)
        if words and deeds:
            yield _roles(words, deeds)


def exchanged(claimed: Iterable[Roles], said: Sequence[Roles]) -> Iterator[tuple[int, int]]:
    """The spans of those who do in a claim what, in the sentences, is done to them."""
    doers = {name for one in said for name in one.doers}
    for claim in claimed:
        for name, span in claim.doers.items():
            if name not in doers and any(_are_exchanged(name, claim, one) for one in said):
                yield span


def _are_exchanged(name: str, claim: Roles, said: Roles) -> bool:
    deeds = {deed for deed in claim.deeds & said.deeds if not _MUTUAL.search(deed)}
    others = claim.others - {name}
    return (
        claim.is_passive == said.is_passive
        and bool(deeds)
        and name in said.others
        and not others.isdisjoint(said.doers)
    )


def _roles(words: Sequence[Morpheme], deeds: frozenset[str]) -> Roles:
    doers: dict[str, tuple[int, int]] = {}
    others: set[str] = set()
    for place, word in enumerate(words):
        if not _PARTICLE.match(word.kind) or word.surface not in _DOER | _OTHER:
            continue
        first = place
        while first and _NAMING.match(words[first - 1].kind):
            first -= 1
        name = "".join(one.surface for one in words[first:place])
        if not name:
            continue
        if word.surface in _DOER:
            doers.setdefault(name, (words[first].start, word.end))
        else:
            others.add(name)
    return Roles(doers, frozenset(others), deeds, any(word.lemma in _PASSIVE for word in words))

"""What can be said of a deed or state: it is so or is not, one may, must, must not, need not."""

import re
from dataclasses import dataclass
from enum import StrEnum


class Force(StrEnum):
    """What is said of a deed or state.

    AFFIRMED, DENIED: that it is so, that it is not.
    ALLOWED, DEMANDED, FORBIDDEN, EXEMPTED: that one may, must, must not, need not.
    """

    AFFIRMED = "affirmed"
    DENIED = "denied"
    ALLOWED = "allowed"
    DEMANDED = "demanded"
    FORBIDDEN = "forbidden"
    EXEMPTED = "exempted"

    @property
    def is_negative(self) -> bool:
        """Whether the deed or state is not to be."""
        return self in (Force.DENIED, Force.FORBIDDEN, Force.EXEMPTED)


_CARRIED_BY = {
    # Who must, does; who may not, does not. What is more than a sentence says is not carried.
    Force.AFFIRMED: {Force.AFFIRMED, Force.ALLOWED, Force.DEMANDED},
    Force.DENIED: {Force.DENIED, Force.FORBIDDEN, Force.EXEMPTED},
    # What is done can be done.
    Force.ALLOWED: {Force.ALLOWED, Force.AFFIRMED},
    Force.DEMANDED: {Force.DEMANDED},
    Force.FORBIDDEN: {Force.FORBIDDEN, Force.DENIED},
    Force.EXEMPTED: {Force.EXEMPTED, Force.DENIED},
}
OPPOSITE = {
    Force.AFFIRMED: Force.DENIED,
    Force.DENIED: Force.AFFIRMED,
    Force.ALLOWED: Force.FORBIDDEN,
    Force.FORBIDDEN: Force.ALLOWED,
    Force.DEMANDED: Force.EXEMPTED,
    Force.EXEMPTED: Force.DEMANDED,
}

# しないものとする, しないことができる.
WHERE_DENIED = {
    Force.DEMANDED: Force.FORBIDDEN,
    Force.ALLOWED: Force.EXEMPTED,
    Force.AFFIRMED: Force.DENIED,
}
CONTRARY = WHERE_DENIED | {denied: force for force, denied in WHERE_DENIED.items()}
"""What is said of the contrary deed: who must keep it 非公開, must not make it 公開."""


class Limit(StrEnum):
    """How a text narrows what it says."""

    EXCEPT = "except"
    ONLY = "only"


@dataclass(frozen=True, slots=True)
class Predicate:
    """Something said of a deed or state.

    Attributes:
        head: the deed or state, as a key that inflected forms share.
        force: what is said of it.
        near: keys of the content words around it.
        start, end: its span in the normalised text.
        conditional: whether a condition with でなければ stands before it: only who is such may.
    """

    head: str
    force: Force
    near: frozenset[str]
    start: int
    end: int
    conditional: bool = False


@dataclass(frozen=True, slots=True)
class Limiting:
    """A limit and its span in the normalised text."""

    limit: Limit
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """One sentence: its predicates, its limits, keys of its content words.

    Attributes:
        requires: what must be, for without it something is not so: of 同意がなければ提供できない
            and 同意がある場合に限り提供できる the 同意, demanded.
        follows: spans of the predicates that say nothing beyond `requires`.
        lists: what is said of the deeds listed after it (次の行為をしてはならない).
        is_listed: whether it is such a deed (…を告げる行為).
        lifts: whether it lifts what the sentence before it says (この限りでない).
        denies, demands: whether a word in it does, be it no predicate (拒否, 義務, lack, duty).
    """

    predicates: tuple[Predicate, ...]
    limits: tuple[Limiting, ...]
    words: frozenset[str]
    requires: tuple[Predicate, ...] = ()
    follows: frozenset[tuple[int, int]] = frozenset()
    lists: Force | None = None
    is_listed: bool = False
    lifts: bool = False
    denies: bool = False
    demands: bool = False


def carries(said: Force, claimed: Force) -> bool:
    """Whether a sentence that says the one carries a claim of the other."""
    return said in _CARRIED_BY[claimed]


# Words that deny or demand without the grammar of it, where a claim puts them the plain way.
DENYING = re.compile(
    r"[不無未非禁]|拒|欠|失|除|免|しな|でな|できな|られな|れな|ず[、に]|ません"
    r"|\b(?:not|no|never|none|nothing|without|lack\w*|fail\w*|refus\w*|neither|nor|un\w{4,}|in\w{4,}able)\b|n't\b"
)
DEMANDING = re.compile(
    r"義務|必要|要す|要し|要件|なければ|べき|ものとする|責務|責任"
    r"|\b(?:must|shall|require\w*|oblig\w*|need\w*|dut(?:y|ies)|mandatory|ha(?:s|ve|d) to)\b"
)

"""What a text affirms, denies, allows, demands or forbids, and its exceptions."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from localrag.text.folding import Folded, fold, is_japanese
from localrag_indexes.analysis.analyzer import ENGLISH, Morpheme, split_sentences


class Force(StrEnum):
    """The force of a statement on an action or state.

    AFFIRMED, DENIED: it is so, it is not. ALLOWED, DEMANDED, FORBIDDEN, EXEMPTED: one may, must,
    must not, need not.
    """

    AFFIRMED = "affirmed"
    DENIED = "denied"
    ALLOWED = "allowed"
    DEMANDED = "demanded"
    FORBIDDEN = "forbidden"
    EXEMPTED = "exempted"

    @property
    def is_negative(self) -> bool:
        """Whether the action or state is excluded."""
        return self in (Force.DENIED, Force.FORBIDDEN, Force.EXEMPTED)


_CARRIED_BY = {
    # A duty implies the action, a ban its absence. A stronger claim is not supported.
    Force.AFFIRMED: {Force.AFFIRMED, Force.ALLOWED, Force.DEMANDED},
    Force.DENIED: {Force.DENIED, Force.FORBIDDEN, Force.EXEMPTED},
    # An action done is possible.
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
"""The force on the contrary action: a duty to keep 非公開 forbids 公開."""


class Limit(StrEnum):
    """A limit of a statement."""

    EXCEPT = "except"
    ONLY = "only"


@dataclass(frozen=True, slots=True)
class Predicate:
    """A statement on an action or state.

    Attributes:
        head: the action or state, as a key shared by inflected forms.
        force: of the statement.
        near: keys of the content words around it.
        start, end: its span in the normalised text.
    """

    head: str
    force: Force
    near: frozenset[str]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Limiting:
    """A limit and its span in the normalised text."""

    limit: Limit
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence: predicates, limits, keys of content words.

    Attributes:
        requires: conditions, as demands: 同意 in 同意がなければ提供できない and
            同意がある場合に限り
            提供できる. Their spans end with the words making them conditions.
        lists: the force on the actions listed after it (次の行為をしてはならない).
        is_listed: whether it is such an action (…を告げる行為).
        lifts: whether it lifts the sentence before (この限りでない).
        denies, demands: whether any word in it does, even outside a predicate (拒否, 義務, duty).
    """

    predicates: tuple[Predicate, ...]
    limits: tuple[Limiting, ...]
    words: frozenset[str]
    requires: tuple[Predicate, ...] = ()
    lists: Force | None = None
    is_listed: bool = False
    lifts: bool = False
    denies: bool = False
    demands: bool = False


def carries(said: Force, claimed: Force) -> bool:
    """Whether a statement of one force supports a claim of another."""
    return said in _CARRIED_BY[claimed]


@cache
def vocabulary() -> dict[str, Any]:
    """The word lists of ``words.toml``."""
    return tomllib.loads(files(__package__).joinpath("words.toml").read_text(encoding="utf-8"))


def expressions(name: str) -> list[tuple[str, str]]:
    """The patterns of a table of ``words.toml``, in order, with their meanings."""
    return [(said, "|".join(words)) for said, words in vocabulary()[name].items()]


DENYING = re.compile("|".join(vocabulary()["denying"]))
DEMANDING = re.compile("|".join(vocabulary()["demanding"]))


def sentences_of(folded: Folded) -> list[ReadSentence]:
    """Read the sentences of a text; a proviso also states the contrary of its rule."""
    found: list[ReadSentence] = []
    words = folded.words
    at = 0
    for start, end in split_sentences(folded.normal):
        text = folded.normal[start:end]
        if is_japanese(text):
            while at < len(words) and words[at].start < start:
                at += 1
            first = at
            while at < len(words) and words[at].start < end:
                at += 1
            sentence = _japanese(folded.normal, words[first:at])
        else:
            sentence = _english(folded.normal, start, end)
        found.append(sentence)
    return found


def is_statement(text: str) -> bool:
    """Whether a text is a statement, not just a name, a figure or a place.

    A Japanese one has an action or state, or a noun with a predicate (…である, …は…). An English
    one has a word besides names and connecting words.
    """
    if not is_japanese(text):
        return _says_something(text)
    words = fold(text).words
    return any(
        (_VERB.match(word.kind) and not _is_particle(words, place))
        or (word.kind in _OF_A_SUBJECT and word.lemma in _SUBJECTS)
        for place, word in enumerate(words)
    ) or any(tail > head + 1 for head, tail in _heads(words))


def with_provisos(sentences: Sequence[ReadSentence]) -> list[ReadSentence]:
    """Make each proviso (…は、この限りでない) state the contrary of its rule."""
    read: list[ReadSentence] = []
    for sentence in sentences:
        if sentence.lifts and read and read[-1].predicates:
            rule = max(read[-1].predicates, key=lambda predicate: predicate.end)
            lifted = replace(rule, force=OPPOSITE[rule.force], near=sentence.words)
            sentence = replace(sentence, predicates=(*sentence.predicates, lifted))
        read.append(sentence)
    return read


def with_lists(sentences: Iterable[ReadSentence]) -> Iterator[ReadSentence]:
    """Apply the force on listed actions to each of them (次に掲げる行為をしてはならない)."""
    force: Force | None = None
    for sentence in sentences:
        if force and sentence.is_listed:
            yield replace(
                sentence,
                predicates=tuple(
                    replace(one, force=force) if one.force is Force.AFFIRMED else one
                    for one in sentence.predicates
                ),
            )
        else:
            force = sentence.lists
            yield sentence


_CONTENT = re.compile(r"名詞-(?!数詞)|動詞-一般|形容詞-一般|形状詞-一般|代名詞$")
_NOUN = re.compile(r"名詞-(?!数詞)|形状詞|接尾辞-名詞的")
_VERB = re.compile(r"動詞-一般|形容詞-一般")
# 舟を出す: auxiliary verbs are independent after a particle or at the start.
_HELPING = re.compile(r"動詞-非自立可能")
_HELPS_ONLY = frozenset(vocabulary()["helps_only"])
_BEFORE_VERB = re.compile(r"助詞-(?:格|係|副)助詞|補助記号|接続詞|副詞")
# Their force on a figure is its bound.
_BOUNDING = frozenset(["越える", "超える", "上回る", "下回る", "下る", "達する", "満つ"])
_PARTICLES = frozenset(vocabulary()["particles"])
_ENDS = re.compile(r"助動詞|補助記号-句点|形容詞-非自立可能")
_FUNCTIONAL = re.compile(
    r"助動詞|助詞|動詞-非自立可能|形容詞-非自立可能|接尾辞-動詞的|接尾辞-形容詞的"
)
_COPULA = re.compile(r"だ|です|為る|出来る|居る|有る|無い|成る|為さる|致す|下さる|得る")
# Nouns without meaning of their own; their predicate belongs to the word before.
_FORMAL = frozenset(vocabulary()["formal"])
_TELLING = frozenset(vocabulary()["telling"])
_ENGLISH_TELLING = frozenset(vocabulary()["english_telling"])
_KANA_TAIL = re.compile(r"(?<=[一-鿿々])[ぁ-ん]+")
# 除く denies 含む.
_LEAVING_OUT, _INCLUDING = frozenset(["除く", "除外"]), "含"
# A prefix denying the word behind it: 不可能, 非公開, 未登記, 無許可.
_DENYING_PREFIXES = frozenset("不非未無")

_READINGS = tuple(
    (Force(said), re.compile(words)) for said, words in expressions("japanese_forces")
)
_NEGATION = re.compile(
    r"な(?:い|か(?=っ|つ)|く(?!て?は?な[らり])|けれ)|(?<![まはか])ず(?!つ|れ)|ぬ|ませ?ん(?!か)|なし|無し|まい"
)
# しない, しないものと: a denial at the end.
_DENIED = re.compile("(?:ない|ません|ぬ)$")
# Verb endings left by a construction: ものとす|る, でき|ない.
_AT_THE_END = re.compile("(?:ない|る|りません|ません|です|である|だ)?$")
_DENIED_AT_END = re.compile(r"(?:で|じゃ)は?(?:ない|なかった|ありません(?:でした)?)[。.]?$")
_JAPANESE_LIMITS, _ENGLISH_LIMITS = (
    tuple((Limit(said), re.compile(words)) for said, words in expressions(name))
    for name in ("japanese_limits", "english_limits")
)
# 同意がなければ, 免許を受けないで; 同意がある場合に限り.
_WITHOUT = re.compile("(?<=なければ|ない限り|なくして)|(?<=ないで|ないと)|(?<=ずに)")
_ONLY_IF = re.compile("(?:場合|とき|時)に(?:限り|限って|のみ|だけ)")
_LISTS = re.compile(r"(?:次に掲げる|次の各号.{0,12}に掲げる|次の)(?:行為|こと)[をはが]")
_LISTED = re.compile(r"(?:行為|こと)。?$")
_LIFTS = re.compile(r"(?:この|その)限りで(?:は)?な|(?:前項|本項|本文)の規定(?:は|を)、?適用しな")
# Words of duties, permissions and double negations.
_SAID_WITH = frozenset(vocabulary()["said_with"])
# 広告し、 and 広告され、 leave the force open; 広告したが、 does not.
_UNFINISHED = frozenset(["為る", "れる", "られる", "せる", "させる"])
_OF_A_SUBJECT, _SUBJECTS = ("助詞-係助詞", "助詞-格助詞"), frozenset(["は", "も", "が"])
_GOES_ON = re.compile(r"補助記号-読点|接続詞")
# 告げる行為は禁止されている concerns 告げる, but 掲げる行為は… does not concern 掲げる.
_DEED = re.compile("(?<!掲げる|定める)(?<!規定する)行為[はがを](?:し|す|禁|許|認め)")
_NEARBY = 14
_LONGEST_TAIL = 24


def key_of(word: Morpheme) -> str:
    """A key shared by inflected forms: 届け出る and 届出 are 届出."""
    # UniDic writes senses behind a hyphen, and kana words in kanji.
    lemma = word.lemma.partition("-")[0] or word.surface
    return _KANA_TAIL.sub("", lemma) or lemma


def is_content(word: Morpheme) -> bool:
    """Whether a Japanese word has content."""
    is_empty = word.lemma in _FORMAL or word.lemma in _PARTICLES or word.lemma in _TELLING
    return not is_empty and _CONTENT.match(word.kind) is not None


def _japanese(normal: str, words: Sequence[Morpheme]) -> ReadSentence:
    if not words:
        return ReadSentence((), (), frozenset())
    content = [
        (place, key_of(word))
        for place, word in enumerate(words)
        if is_content(word) or _stands_alone(words, place)
    ]
    start, end = words[0].start, words[-1].end
    text = normal[start:end]
    predicates: list[Predicate] = []
    goes_on: list[bool] = []
    for head, tail in _heads(words):
        said = normal[words[head].end : words[tail - 1].end] if tail > head + 1 else ""
        force = _force(said.replace(" ", "")[:_LONGEST_TAIL])
        key, begin = key_of(words[head]), head
        if words[head].lemma in _LEAVING_OUT:
            key, force = _INCLUDING, CONTRARY[force]
        if head and _is_denying(words[head - 1]):
            begin, force = head - 1, CONTRARY[force]
        near = frozenset(
            word for at, word in content if at != head and -_NEARBY <= at - head <= _NEARBY // 2
        )
        predicates.append(Predicate(key, force, near, words[begin].start, words[tail - 1].end))
        goes_on.append(
            words[head].kind.startswith(("動詞", "名詞"))
            and force is Force.AFFIRMED
            and tail < len(words)
            and bool(_GOES_ON.match(words[tail].kind) or _DEED.match(normal, words[tail].start))
            and all(word.lemma in _UNFINISHED for word in words[head + 1 : tail])
        )
    denied = _DENIED_AT_END.search(text)
    if denied and content and not any(p.end > start + denied.start() for p in predicates):
        # 発着のためではない: the denied word depends on a noun without meaning of its own.
        near = frozenset(word for _, word in content)
        predicates.append(
            Predicate(content[-1][1], Force.DENIED, near, start + denied.start(), end)
        )
        goes_on.append(False)
    limits = tuple(
        Limiting(limit, start + match.start(), start + match.end())
        for limit, pattern in _JAPANESE_LIMITS
        for match in pattern.finditer(text)
    )
    lifts = _LIFTS.search(text) is not None
    last = max(predicates, key=lambda predicate: predicate.end, default=None)
    return ReadSentence(
        tuple(_shared(predicates, goes_on)),
        limits,
        frozenset(word for _, word in content),
        tuple(_required(normal, predicates, last)) if last else (),
        last.force if last and _LISTS.search(text) else None,
        _LISTED.search(text) is not None,
        lifts,
        DENYING.search(text) is not None,
        DEMANDING.search(text) is not None,
    )


def _required(normal: str, predicates: Sequence[Predicate], last: Predicate) -> Iterator[Predicate]:
    """The conditions without which the last action is denied, or with which alone it is allowed."""
    is_negative = last.force.is_negative
    condition = _WITHOUT if is_negative else _ONLY_IF
    if last.force in (Force.DENIED, Force.FORBIDDEN, Force.ALLOWED):
        for one in predicates:
            found = condition.match(normal, one.end) if one is not last else None
            if found and one.force.is_negative is is_negative:
                yield replace(one, force=Force.DEMANDED, end=found.end())


def _shared(predicates: Sequence[Predicate], goes_on: Sequence[bool]) -> Iterator[Predicate]:
    """Apply the last action's force to all: 広告し、又は流布してはならない.

    A mere denial may concern the last one alone (届け出て、公表しない).
    """
    force = Force.AFFIRMED
    for predicate, open_ended in reversed(list(zip(predicates, goes_on, strict=True))):
        if not open_ended:
            force = predicate.force
        if not open_ended or force in (Force.AFFIRMED, Force.DENIED):
            yield predicate
        if open_ended and force is not Force.AFFIRMED:
            yield replace(predicate, force=force)


def _heads(words: Sequence[Morpheme]) -> Iterator[tuple[int, int]]:
    """The head of each predicate, and the end of its predicate words."""
    done = 0
    for place, word in enumerate(words):
        if word.lemma in _FORMAL or word.lemma in _BOUNDING or place < done:
            continue
        if _is_particle(words, place):
            continue
        if _VERB.match(word.kind) or _stands_alone(words, place):
            done = _tail(words, place + 1)
            yield place, done
        elif _NOUN.match(word.kind):
            following = words[place + 1] if place + 1 < len(words) else None
            tail = _tail(words, place + 1)
            if following is None or following.kind == "補助記号-句点":
                yield place, place + 1
            elif not _NOUN.match(following.kind) and _is_said(words[place + 1 : tail]):
                done = tail
                yield place, tail


def _stands_alone(words: Sequence[Morpheme], place: int) -> bool:
    word = words[place]
    if not _HELPING.match(word.kind) or word.lemma in _HELPS_ONLY:
        return False
    return place == 0 or _BEFORE_VERB.match(words[place - 1].kind) is not None


def _is_particle(words: Sequence[Morpheme], place: int) -> bool:
    if words[place].lemma not in _PARTICLES or place + 1 == len(words):
        return False
    following = words[place + 1]
    return not (_ENDS.match(following.kind) or following.lemma in ("物", "事"))


def _is_said(tail: Sequence[Morpheme]) -> bool:
    """Whether a noun has a predicate behind it: する, である, がない, の必要はない."""
    for place, word in enumerate(tail):
        if word.kind.startswith("助詞"):
            if place > 1:
                return False
            continue
        if _is_denying(word):
            # 入ることは不可能: the denied word follows.
            continue
        return _COPULA.fullmatch(word.lemma) is not None or word.lemma in _SAID_WITH
    return False


def _is_denying(word: Morpheme) -> bool:
    return word.kind == "接頭辞" and word.lemma in _DENYING_PREFIXES


def _tail(words: Sequence[Morpheme], start: int) -> int:
    """The end of the words giving a predicate its force."""
    end = start
    while end < len(words):
        # 入ることは不可能: a prefix belongs to the word it denies.
        said = end + 1 if _is_denying(words[end]) and end + 1 < len(words) else end
        is_functional = _FUNCTIONAL.match(words[end].kind) and not _stands_alone(words, end)
        if not is_functional and words[said].lemma not in _SAID_WITH:
            break
        end = said + 1
    return end


def _force(said: str) -> Force:
    """The force of the words behind an action or state."""
    first = min(
        (
            (match.start(), order, force)
            for order, (force, pattern) in enumerate(_READINGS)
            if (match := pattern.search(said))
        ),
        default=None,
    )
    if first is None:
        return Force.DENIED if _denials(said) % 2 else Force.AFFIRMED
    start, _, force = first
    return WHERE_DENIED.get(force, force) if _denials(said[:start]) % 2 else force


def closing_force(sentence: str) -> tuple[int, Force]:
    """The force of a Japanese sentence on its last action, and the start of the words.

    Args:
        sentence: normalised, without its final mark.
    """
    found = min(
        (
            (match.start(), order, force)
            for order, (force, pattern) in enumerate(_READINGS)
            for match in pattern.finditer(sentence, max(0, len(sentence) - _LONGEST_TAIL))
            if match.end() == len(sentence) or _AT_THE_END.match(sentence, match.end())
        ),
        default=None,
    )
    if found is None:
        denied = _DENIED.search(sentence)
        return (denied.start(), Force.DENIED) if denied else (len(sentence), Force.AFFIRMED)
    start, _, force = found
    # 予告をすること|を要しない: the action as a noun.
    before = sentence[:start].removesuffix("こと")
    if denied := _DENIED.search(before):
        return denied.start(), WHERE_DENIED.get(force, force)
    return len(before), force


def _denials(said: str) -> int:
    return len(_NEGATION.findall(said))


_ENGLISH_WORD = re.compile(r"[a-z\u00df-\u024f]+(?:['’][a-z]+)?|[0-9]+|[;:,.()]")
_ENGLISH_READINGS = expressions("english_forces")
_ENGLISH_FORCE = re.compile(
    r"\b(?:" + "|".join(f"({words})" for _, words in _ENGLISH_READINGS) + r")(?!\w)"
)
_NEARBY_IN_ENGLISH = 7
_AUXILIARY = re.compile(
    "is|are|was|were|am|be|been|ha(?:s|ve|d)|do(?:es)?|did|can(?:not)?|could|may|might|must|shall"
    "|should|will|would"
)
_STOPPED_BY = frozenset(";:,.()")


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


def _english(normal: str, start: int, end: int) -> ReadSentence:
    """Read one sentence, a span of a normalised text."""
    text = normal[start:end].replace("’", "'")
    tokens = list(_ENGLISH_WORD.finditer(text))
    keys = [_english_key(match[0]) for match in tokens]
    forces: dict[int, tuple[Force, int]] = {}
    for match in _ENGLISH_FORCE.finditer(text):
        assert match.lastindex is not None
        force = Force(_ENGLISH_READINGS[match.lastindex - 1][0])
        for place, token in enumerate(tokens):
            if token.start() < match.end():
                continue
            if token[0] in _STOPPED_BY:
                break
            if keys[place] and not token[0].endswith("ly"):
                forces.setdefault(place, (force, match.start()))
                break
    places = [place for place, key in enumerate(keys) if key]
    predicates = []
    for order, place in enumerate(places):
        force, since = forces.get(place, (Force.AFFIRMED, tokens[place].start()))
        around = places[max(order - _NEARBY_IN_ENGLISH, 0) : order + _NEARBY_IN_ENGLISH + 1]
        near = frozenset(keys[other] for other in around if other != place)
        predicates.append(
            Predicate(keys[place], force, near, start + since, start + tokens[place].end())
        )
    limits = tuple(
        Limiting(limit, start + match.start(), start + match.end())
        for limit, pattern in _ENGLISH_LIMITS
        for match in pattern.finditer(text)
    )
    return ReadSentence(
        tuple(predicates),
        limits,
        frozenset(keys[place] for place in places),
        denies=DENYING.search(text) is not None,
        demands=DEMANDING.search(text) is not None,
    )


def _says_something(text: str) -> bool:
    """Whether a text has an auxiliary verb or a lowercase content word.

    "by Johan Reed" and "in 1871" have neither.
    """
    words = text.split()
    plain = [word.strip(".,;:!?()\"'“”‘’") for word in words]
    return any(
        _AUXILIARY.fullmatch(word) or _english_key(word)
        for word in plain
        if word and word.islower()
    )


def _english_key(word: str) -> str:
    """The stem of a content word, or ""."""
    plain = word.removesuffix("'s")
    is_empty = plain in ENGLISH or plain in _ENGLISH_TELLING
    if is_empty or not plain[0].isalpha():
        return ""
    return str(_stemmer().stemWord(plain))

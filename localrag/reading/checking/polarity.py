"""What a text affirms, denies, allows, demands or forbids, and where it makes an exception."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Any

from localrag.reading.checking.folding import Folded, is_japanese
from localrag_indexes.analysis.japanese import Morpheme
from localrag_indexes.analysis.sentences import split_sentences
from localrag_indexes.analysis.stopwords import ENGLISH


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
_OPPOSITE = {
    Force.AFFIRMED: Force.DENIED,
    Force.DENIED: Force.AFFIRMED,
    Force.ALLOWED: Force.FORBIDDEN,
    Force.FORBIDDEN: Force.ALLOWED,
    Force.DEMANDED: Force.EXEMPTED,
    Force.EXEMPTED: Force.DEMANDED,
}

# しないものとする, しないことができる.
_WHERE_DENIED = {
    Force.DEMANDED: Force.FORBIDDEN,
    Force.ALLOWED: Force.EXEMPTED,
    Force.AFFIRMED: Force.DENIED,
}


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
class Sentence:
    """One sentence: its predicates in order, its limits, keys of its content words.

    Attributes:
        lifts: whether it lifts what the sentence before it says (この限りでない).
        denies, demands: whether a word in it does, be it no predicate (拒否, 義務, lack, duty).
    """

    predicates: tuple[Predicate, ...]
    limits: tuple[Limiting, ...]
    words: frozenset[str]
    lifts: bool = False
    denies: bool = False
    demands: bool = False


def carries(said: Force, claimed: Force) -> bool:
    """Whether a sentence that says the one carries a claim of the other."""
    return said in _CARRIED_BY[claimed]


def sentences_of(folded: Folded) -> list[Sentence]:
    """Read the sentences of a text; a proviso also says the contrary of the rule before it."""
    found: list[Sentence] = []
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


def with_provisos(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Let each proviso (…は、この限りでない) say the contrary of the rule that it follows."""
    read: list[Sentence] = []
    for sentence in sentences:
        if sentence.lifts and read and read[-1].predicates:
            rule = max(read[-1].predicates, key=lambda predicate: predicate.end)
            lifted = replace(rule, force=_OPPOSITE[rule.force], near=sentence.words)
            sentence = replace(sentence, predicates=(*sentence.predicates, lifted))
        read.append(sentence)
    return read


# --- Japanese ---

# Nouns that say nothing by themselves; what is said with them belongs to the word before.
_FORMAL = frozenset(
    [
        "事",
        "物",
        "為",
        "時",
        "所",
        "場合",
        "必要",
        "義務",
        "訳",
        "筈",
        "者",
        "旨",
        "限り",
        "程",
        "儘",
        "方",
        "内",
        "上",
        "中",
        "下",
        "等",
        "以上",
        "以下",
        "未満",
        "以内",
        "超",
    ]
)
_CONTENT = re.compile(r"名詞-(?!数詞)|動詞-一般|形容詞-一般|形状詞-一般|代名詞$")
_NOUN = re.compile(r"名詞-(?!数詞)|形状詞|接尾辞-名詞的")
_VERB = re.compile(r"動詞-一般|形容詞-一般")
# Verbs that have become particles (によると, に関する, における), unless a sentence ends with them.
_PARTICLES = frozenset(
    ["因る", "拠る", "依る", "関する", "対する", "於く", "於ける", "就く", "係る", "通ずる", "従う"]
)
_ENDS = re.compile(r"助動詞|補助記号-句点|形容詞-非自立可能")
_FUNCTIONAL = re.compile(
    r"助動詞|助詞|動詞-非自立可能|形容詞-非自立可能|接尾辞-動詞的|接尾辞-形容詞的"
)
_COPULA = re.compile(r"だ|です|為る|出来る|居る|有る|無い|成る|為さる|致す|下さる|得る")
# With which claims are introduced.
_TELLING = frozenset(["言う", "云う", "答え", "回答", "此れ", "其れ"])
_KANA_TAIL = re.compile(r"(?<=[一-鿿々])[ぁ-ん]+")
_OPPOSITES = {"除く": "含む", "除外": "含む", "無効": "有効", "違法": "適法", "不要": "必要"}
_PROHIBITION = re.compile("禁止|禁ずる|禁じる")

_CONSTRUCTIONS = (
    # Denied once and again, or not denied at all.
    (
        Force.AFFIRMED,
        r"(?:ない|ぬ|ず)(?:こと|わけ|もの|の)?(?:は|も|でも|では)な[いかく]"
        r"|ざるを得な|ないわけに(?:は)?いか|に(?:ほか|外|他)なら[なず]|に過ぎな|にすぎな|かもしれな|違いな"
        r"|のみならず|だけで(?:は)?なく|だけでない|ばかりで(?:は)?なく|にとどまらず|しか.{0,12}な[いかく]|とは限ら",
    ),
    (
        Force.DEMANDED,
        r"(?:なけれ|なく)[ばて]は?(?:なり|なら|いけ|いけま)(?:ない|ず|ません|なか|ぬ)"
        r"|ねばなら|(?:必要|義務)[がも](?:あ|生|有)|義務を負[うい]|義務(?:と|付)|(?:必要|義務)(?:で|だ|と[さなし])"
        r"|(?:こと)?を要(?:する|し(?!ない|ません)|す(?!る))|べき(?!で(?:は)?な)(?:で|だ|こと|もの)?|ものと(?:する|し(?=、|$))",
    ),
    (
        Force.EXEMPTED,
        r"[をはも]?要しない|を要さな|要しません|(?:必要|義務)(?:性)?[はがもを](?:な[いかく]|ありません|負わな|負いません)"
        r"|なくても?(?:よい|良い|いい|足りる|構わない|かまわない)|に及ばない|ないことができ|不要|ないものとすることができ",
    ),
    (
        Force.FORBIDDEN,
        r"て(?:は|も)?(?:なら|いけ)(?:ない|ず|ぬ)|てはなりませ|てはいけませ|(?:こと)?[はがも]?でき(?:ない|ず|ませ|なか|なく)"
        r"|(?:こと)?[はがも]?出来(?:ない|ず|ませ|なか)|を得ない|得ません|べきで(?:は)?な|ことを?禁|[はがを]禁[止じず]|許され(?:ない|ませ|ず)"
        r"|こと[はが]認められ(?:ない|ませ|ず)|ことはない|可能では?(?:な|あり)|不可能|を妨げ(?!な|ず|ませ|るものでは?な)",
    ),
    (
        Force.ALLOWED,
        r"(?:こと[がはも]?)?(?:でき|出来)る?|ても?(?:よい|良い|いい|構わな|かまわな|差し支えな)"
        r"|を妨げ(?:ない|ず|ません|るものでは?な)|(?:こと)[がは](?:認められ|許され|可能)|可能(?:で|だ|性|と)|が許され|を許",
    ),
)
_READINGS = tuple((force, re.compile(words)) for force, words in _CONSTRUCTIONS)
_NEGATION = re.compile(
    r"な(?:い|か(?=っ|つ)|く(?!て?は?な[らり])|けれ)|(?<![まはか])ず(?!つ|れ)|ぬ|ませ?ん(?!か)|なし|無し|まい"
)
_UNNEGATED = re.compile(r"少なく|間もな|なお|なんら|なく(?:なっ|なる|なり)")
_DENIED_AT_END = re.compile(r"(?:で|じゃ)は?(?:ない|なかった|ありません(?:でした)?)[。.]?$")
_CONDITION = re.compile(r"で(?:なけれ|な)(?:ば|い限り|いと|ければ)|(?:以外|ほか)(?:の者|は)")
_LIMITS = (
    (
        Limit.EXCEPT,
        r"を除[きくいかけ]|を除外|以外|ただし|但し|(?:この|その|の)限りで(?:は)?な|の(?:ほか|外)は",
    ),
    (
        Limit.ONLY,
        r"に限[りるらっ]|限り(?!で)(?=[、でに])|のみ(?!なら)|だけ(?!で(?:は)?な)|しか.{0,12}な[いかく]",
    ),
)
_JAPANESE_LIMITS = tuple((limit, re.compile(words)) for limit, words in _LIMITS)
_LIFTS = re.compile(r"(?:この|その)限りで(?:は)?な|(?:前項|本項|本文)の規定(?:は|を)、?適用しな")
# Words by which duties, liberties and double negations are put.
_SAID_WITH = frozenset(
    [
        "事",
        "必要",
        "義務",
        "訳",
        "物",
        "限り",
        "限る",
        "要する",
        "妨げる",
        "認める",
        "許す",
        "可能",
        "禁止",
        "禁ずる",
        "禁じる",
        "不要",
        "過ぎる",
        "負う",
        "足りる",
        "差し支える",
        "構う",
        "良い",
        "知れる",
        "違い",
        "筈",
        "外",
        "他",
        "べし",
    ]
)
_GOES_ON = re.compile(r"補助記号-読点|接続詞")
_NEARBY = 14
_LONGEST_TAIL = 24


# Words that deny or demand without the grammar of it, where a claim puts them the plain way.
_DENYING = re.compile(
    r"[不無未非禁]|拒|欠|失|除|免|しな|でな|できな|られな|れな|ず[、に]|ません"
    r"|\b(?:not|no|never|none|nothing|without|lack\w*|fail\w*|refus\w*|neither|nor|un\w{4,}|in\w{4,}able)\b|n't\b"
)
_DEMANDING = re.compile(
    r"義務|必要|要す|要し|要件|なければ|べき|ものとする|責務|責任"
    r"|\b(?:must|shall|require\w*|oblig\w*|need\w*|dut(?:y|ies)|mandatory|ha(?:s|ve|d) to)\b"
)


def key_of(word: Morpheme) -> str:
    """A key that the inflected forms of a word share: 届け出る and 届出 are 届出."""
    # UniDic writes the sense behind a hyphen, and kana words by their kanji.
    lemma = word.lemma.partition("-")[0] or word.surface
    return _KANA_TAIL.sub("", lemma) or lemma


def is_content(word: Morpheme) -> bool:
    """Whether a Japanese word says what a sentence is about."""
    is_empty = word.lemma in _FORMAL or word.lemma in _PARTICLES or word.lemma in _TELLING
    if is_empty or _PROHIBITION.match(word.lemma):
        return False
    return _CONTENT.match(word.kind) is not None


def _japanese(normal: str, words: Sequence[Morpheme]) -> Sentence:
    if not words:
        return Sentence((), (), frozenset())
    content = [(place, key_of(word)) for place, word in enumerate(words) if is_content(word)]
    start, end = words[0].start, words[-1].end
    text = normal[start:end]
    conditions = [match.start() + start for match in _CONDITION.finditer(text)]
    predicates: list[Predicate] = []
    goes_on: list[bool] = []
    for head, tail in _heads(words):
        said = normal[words[head].end : words[tail - 1].end] if tail > head + 1 else ""
        force = _force(said.replace(" ", "")[:_LONGEST_TAIL])
        key = key_of(words[head])
        lemma = words[head].lemma
        if lemma in _OPPOSITES:
            key, force = _OPPOSITES[lemma], _OPPOSITE[force]
        if _PROHIBITION.match(lemma):
            # What is forbidden is the deed named before the prohibition.
            deed = next((one for one in range(head - 1, -1, -1) if is_content(words[one])), head)
            key = key_of(words[deed])
            force = Force.ALLOWED if force is Force.DENIED else Force.FORBIDDEN
        near = frozenset(
            word for at, word in content if at != head and -_NEARBY <= at - head <= _NEARBY // 2
        )
        conditional = any(at < words[head].start for at in conditions)
        predicates.append(
            Predicate(key, force, near, words[head].start, words[tail - 1].end, conditional)
        )
        goes_on.append(
            words[head].kind.startswith(("動詞", "名詞"))
            and force is Force.AFFIRMED
            and tail < len(words)
            and _GOES_ON.match(words[tail].kind) is not None
        )
    denied = _DENIED_AT_END.search(text)
    if denied and content and not any(p.end > start + denied.start() for p in predicates):
        # 発着のためではない: what is denied hangs on a noun that says nothing by itself.
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
    return Sentence(
        tuple(_shared(predicates, goes_on)),
        limits,
        frozenset(word for _, word in content),
        lifts,
        _DENYING.search(text) is not None,
        _DEMANDING.search(text) is not None,
    )


def _shared(predicates: Sequence[Predicate], goes_on: Sequence[bool]) -> Iterator[Predicate]:
    """Let what the last of several deeds has said hold of all: 広告し、又は流布してはならない.

    A mere denial may be that of the last alone (届け出て、公表しない).
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
    """The head of each predicate, and where the words end that say something of it."""
    done = 0
    for place, word in enumerate(words):
        if word.lemma in _FORMAL or place < done or _is_particle(words, place):
            continue
        if _VERB.match(word.kind):
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


def _is_particle(words: Sequence[Morpheme], place: int) -> bool:
    if words[place].lemma not in _PARTICLES or place + 1 == len(words):
        return False
    following = words[place + 1]
    return not (_ENDS.match(following.kind) or following.lemma in ("物", "事"))


def _is_said(tail: Sequence[Morpheme]) -> bool:
    """Whether something is said of a noun by what follows it: する, である, がない, の必要はない."""
    for place, word in enumerate(tail):
        if word.kind.startswith("助詞"):
            if place > 1:
                return False
            continue
        return _COPULA.fullmatch(word.lemma) is not None or word.lemma in _SAID_WITH
    return False


def _tail(words: Sequence[Morpheme], start: int) -> int:
    """Where the words end that say how a predicate is meant."""
    end = start
    while end < len(words) and (
        _FUNCTIONAL.match(words[end].kind) or words[end].lemma in _SAID_WITH
    ):
        end += 1
    return end


def _force(said: str) -> Force:
    """What the words behind a deed or state say of it."""
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
    return _WHERE_DENIED.get(force, force) if _denials(said[:start]) % 2 else force


def _denials(said: str) -> int:
    return len(_NEGATION.findall(_UNNEGATED.sub("", said)))


# --- English ---

_WORD = re.compile(r"[a-z\u00df-\u024f]+(?:['’][a-z]+)?|[0-9]+|[;:,.()]")
_ENGLISH_READINGS = (
    (
        Force.AFFIRMED,
        r"not only|nothing but|not until|not without|no (?:more|less|fewer|later|longer) than"
        r"|not (?:more|less|fewer|later) than|not exceed\w*",
    ),
    (
        Force.EXEMPTED,
        r"(?:does|do|did|is|are|was|were|need) ?(?:not|n['’]t) (?:have|need|required|obliged) ?(?:to)?"
        r"|need not|not (?:be )?(?:required|obliged|necessary)(?: to)?|exempt(?:ed)? from",
    ),
    (
        Force.FORBIDDEN,
        r"(?:must|may|shall|should|can|could|ought) ?(?:not|n['’]t)|cannot|can['’]t|may no longer"
        r"|(?:prohibited|forbidden|barred|prevented) from|prohibits?|forbids?|not (?:be )?(?:allowed|permitted)(?: to)?",
    ),
    (
        Force.DEMANDED,
        r"must|shall|(?:has|have|had) to|(?:is|are|was|were) (?:required|obliged) to|ought to|requires?",
    ),
    (
        Force.DENIED,
        r"not|\w+n['’]t|never|no longer|no|without|neither|nor|none of|fail(?:s|ed)? to|hardly",
    ),
    (
        Force.ALLOWED,
        r"may|might|can|could|(?:is|are|was|were) (?:allowed|permitted|entitled|able) to",
    ),
)
_ENGLISH_FORCE = re.compile(
    r"\b(?:" + "|".join(f"({words})" for _, words in _ENGLISH_READINGS) + r")(?!\w)"
)
_ENGLISH_LIMITS = (
    (
        Limit.EXCEPT,
        re.compile(
            r"\b(?:except|unless|other than|apart from|excluding|exclud\w+|provided,? however)\b"
        ),
    ),
    (Limit.ONLY, re.compile(r"(?<!not )\b(?:only|solely|exclusively)\b")),
)
# Between the word that denies and what it denies.
_PASSED_OVER = frozenset(
    [
        "also",
        "ever",
        "yet",
        "always",
        "been",
        "being",
        "be",
        "have",
        "had",
        "it",
        "they",
        "he",
        "she",
    ]
)
_STOPPED_BY = frozenset(";:,.()")


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


def _english(normal: str, start: int, end: int) -> Sentence:
    text = normal[start:end].replace("’", "'")
    tokens = list(_WORD.finditer(text))
    keys = [_english_key(match[0]) for match in tokens]
    forces: dict[int, tuple[Force, int]] = {}
    for match in _ENGLISH_FORCE.finditer(text):
        assert match.lastindex is not None
        force = _ENGLISH_READINGS[match.lastindex - 1][0]
        for place, token in enumerate(tokens):
            if token.start() < match.end():
                continue
            if token[0] in _STOPPED_BY:
                break
            if keys[place] and token[0] not in _PASSED_OVER and not token[0].endswith("ly"):
                forces.setdefault(place, (force, match.start()))
                break
    places = [place for place, key in enumerate(keys) if key]
    predicates = []
    for order, place in enumerate(places):
        force, since = forces.get(place, (Force.AFFIRMED, tokens[place].start()))
        around = places[max(order - _NEARBY // 2, 0) : order + _NEARBY // 2 + 1]
        near = frozenset(keys[other] for other in around if other != place)
        predicates.append(
            Predicate(keys[place], force, near, start + since, start + tokens[place].end())
        )
    limits = tuple(
        Limiting(limit, start + match.start(), start + match.end())
        for limit, pattern in _ENGLISH_LIMITS
        for match in pattern.finditer(text)
    )
    return Sentence(
        tuple(predicates),
        limits,
        frozenset(keys[place] for place in places),
        denies=_DENYING.search(text) is not None,
        demands=_DEMANDING.search(text) is not None,
    )


def _english_key(word: str) -> str:
    """The stem of a word that says what a sentence is about, else ""."""
    plain = word.removesuffix("'s")
    if plain in ENGLISH or not plain[0].isalpha() or plain in _EMPTY:
        return ""
    return str(_stemmer().stemWord(plain))


_EMPTY = frozenset(
    [
        "may",
        "might",
        "must",
        "shall",
        "should",
        "can",
        "could",
        "cannot",
        "would",
        "need",
        "never",
        "neither",
        "nor",
        "none",
        "without",
        "only",
        "also",
        "just",
        "very",
        "about",
        "over",
        "under",
        "more",
        "most",
        "less",
        "least",
        "than",
        "other",
        "another",
        "any",
        "some",
        "each",
        "every",
        "according",
        "text",
        "passage",
        "says",
        "said",
        "states",
        "answer",
        "question",
        "all",
        "both",
        "one",
        "its",
        "which",
        "during",
        "while",
        "however",
        "although",
        "though",
        "being",
        "having",
    ]
)

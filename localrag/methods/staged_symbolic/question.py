"""A question as `staged-symbolic` reads it, normalised: look-ups, names (masked) and wording."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from localrag.corpus.knowledge import MOST_TRIPLES, Knowledge, KnownTriple, SubjectMention
from localrag.corpus.rows import stands_alone, words_of
from localrag.corpus.types import Triple
from localrag.methods.comparison import ComparisonKind, Decision, Side
from localrag.methods.comparison.values import contradictory, items
from localrag.search.predicates import Term, terms
from localrag.text.facts import Fact, FactKind
from localrag.text.folding import UNITS
from localrag_indexes.analysis.normalize import (
    NUMERAL_CHARACTERS,
    normalize,
    normalize_with_offsets,
    original_span,
)

# Meanings of a name that are looked up, the likeliest first.
_MOST_MEANINGS = 8


@dataclass(frozen=True, slots=True)
class TripleAnswer:
    """A possible answer and the triples behind it."""

    text: str  # a noun phrase, a name as the question writes it, YES or NO
    facts: tuple[KnownTriple, ...]
    fit: float  # of their predicates and objects with the wording, 0 to 1
    computed: str = ""  # the computation, or ""
    doubts: tuple[Fact, ...] = ()  # why it is not certain
    unsaid: tuple[str, ...] = ()  # the words of the question without a triple


def predicate_of(fact: KnownTriple) -> tuple[Term, ...]:
    """The words of the predicate of a triple."""
    return terms(normalize(fact.triple.predicate))


class TripleLookups:
    """The look-ups of one question, each made once.

    `events` lists what was left out, `undecided` known triples of two things that do not decide.
    """

    def __init__(self, knowledge: Knowledge) -> None:
        self.events: list[Fact] = []
        self.undecided: list[Fact] = []
        self._knowledge = knowledge
        self.about = cache(self._about)
        self.subjects = cache(self._subjects)

    def mentions(self, text: str) -> list[SubjectMention]:
        """The spans of subjects in a text; see `Knowledge.mentions`."""
        return [
            SubjectMention(start, end, self._likeliest(text[start:end], subjects))
            for start, end, subjects in self._knowledge.mentions(text)
        ]

    def surely(self, name: str, subject: str) -> bool:
        """Whether a name means a subject and nothing else; see `Knowledge.surely`."""
        return self._knowledge.surely(name, subject)

    def _about(self, subject: str) -> tuple[KnownTriple, ...]:
        known = self._knowledge.about(subject, MOST_TRIPLES + 1)
        if len(known) > MOST_TRIPLES:
            self.events.append(Fact(FactKind.FIRST_TRIPLES, name=subject, n=MOST_TRIPLES))
        return tuple(known[:MOST_TRIPLES])

    def _subjects(self, name: str) -> tuple[str, ...]:
        return self._likeliest(name, self._knowledge.subjects(name))

    def _likeliest(self, name: str, subjects: Sequence[str]) -> tuple[str, ...]:
        if len(subjects) > _MOST_MEANINGS:
            count, most = len(subjects), _MOST_MEANINGS
            self.events.append(Fact(FactKind.LIKELIEST_MEANINGS, name=name, n=count, most=most))
        return tuple(subjects[:_MOST_MEANINGS])


def of_meanings(lookups: TripleLookups, meant: Iterable[tuple[str, str]]) -> Iterator[Fact]:
    """The names that may mean another subject. `meant`: names, each with the subject."""
    for name, subject in meant:
        if not lookups.surely(name, subject):
            yield Fact(FactKind.OTHER_MEANING, name=name, subject=subject)


def of_values(facts: Sequence[KnownTriple]) -> Iterator[Fact]:
    """The triples with several dates or quantities that cannot all be true."""
    for _, triple in facts:
        if contradictory(triple.objects, triple.predicate):
            yield Fact(
                FactKind.CONTRADICTORY,
                predicate=triple.predicate,
                subject=triple.subject,
                values=triple.objects,
            )


def of_sharing(
    comparison: ComparisonKind, sides: Sequence[Side], outcome: Decision
) -> Iterator[Fact]:
    """A doubt if two things share an object and one of them has more."""
    if comparison in (ComparisonKind.SAME, ComparisonKind.DIFFERENT):
        shared = outcome.holds is (comparison is ComparisonKind.SAME)
        listed = {sum(len(items(each)) for each in side.objects) for side in sides}
        if shared and len(listed) > 1:
            yield Fact(FactKind.PARTLY_SHARED)


MASK = "\ufffc"
"""Replaces each character of a name, so that no word is read in it."""

_MOST_NAMES = 12
_JOINT = re.compile(r"[と、やは]|より")


class NamedQuestion(NamedTuple):
    """A question with its names."""

    question: str  # as asked
    text: str  # normalised; every position refers to it
    offsets: Sequence[int]  # of each character in the question; see `normalize_with_offsets`
    names: tuple[SubjectMention, ...]  # the spans of subjects, in order, none over another

    def written(self, name: SubjectMention) -> str:
        """A name as the question writes it."""
        start, end = original_span(self.offsets, name.start, name.end)
        return self.question[start:end]


def read(lookups: TripleLookups, question: str) -> NamedQuestion:
    """Normalise a question and find the names in it, longer ones before shorter ones."""
    text, offsets = normalize_with_offsets(question)
    words = words_of(text)
    names: list[SubjectMention] = []
    doubtful: list[SubjectMention] = []
    for mention in sorted(lookups.mentions(text), key=lambda one: one.start - one.end):
        if _is_free(mention, names):
            alone = stands_alone(text, mention.start, mention.end, words)
            (names if alone else doubtful).append(mention)
    # The beginnings of words are guessed, but a thing joined to a name is a name.
    for mention in doubtful:
        if _is_free(mention, names) and _is_joined(text, mention, names):
            names.append(mention)
    if len(names) > _MOST_NAMES:
        lookups.events.append(Fact(FactKind.FIRST_NAMES, n=len(names), most=_MOST_NAMES))
    return NamedQuestion(question, text, offsets, tuple(sorted(names)[:_MOST_NAMES]))


def masked(text: str, names: Sequence[SubjectMention]) -> str:
    """The text with `MASK` for every character of the names."""
    for name in names:
        text = text[: name.start] + MASK * (name.end - name.start) + text[name.end :]
    return text


def _is_free(name: SubjectMention, names: Sequence[SubjectMention]) -> bool:
    return not any(one.start < name.end and name.start < one.end for one in names)


def _is_joined(text: str, name: SubjectMention, names: Sequence[SubjectMention]) -> bool:
    return any(_JOINT.fullmatch(text, one.end, name.start) for one in names)


# A question for one of its named things.
CHOICE = re.compile("(?:どちら|どっち)(?!も|とも|か[はがに])|いずれ(?![もか])")
_WHICH = re.compile(rf"{CHOICE.pattern}|どの|のは[?？]?\s*$")
_OPEN = re.compile(
    r"何|誰|だれ|いつ|どこ|どれ|いくつ|どう|なに|なん|いくら|教え|知りたい|挙げて|[はの][?？]?\s*$"
)
_YES_NO = re.compile(r"か[?？。]?\s*$")
_EACH = re.compile(
    r"どちらも|どちらとも|どっちも|両方|両者|[二2]人とも|ふたりとも|いずれも|ともに|共に|双方"
)
_SAME = re.compile(r"同じ|同一|共通|等し|一致|同学年|同い年")
_DIFFERENT = re.compile(r"違[うい]|異な|別の|別々")
_ANY = re.compile(r"いますか|ありますか|(?:どちらか|いずれか)[はがに]")

# A negated question; a polite one (くれませんか) is not.
NEGATION = re.compile(r"(?<!少)な(?:い|かった)|(?<![えけれ])ません")

_ORDERS = {
    ComparisonKind.OLDER: r"[年歳]上|年長|年齢[がはの]*[上高]",
    ComparisonKind.YOUNGER: r"[年歳]下|年少|若[いかく]|年齢[がはの]*[下低]|幼い",
    ComparisonKind.EARLIER: r"先[にかだで]|[がはの]先|先な|先\s*$|早[いかくまめ]|速[いかく]"
    r"|古[いかく]|以前に|最初に",
    ComparisonKind.LATER: r"後[にかだで]|[がはの]後|後な|遅[いかくれ]|新し",
    ComparisonKind.MORE: r"多[いくかけ]|長[いくか]|高[いくかさ]|広[いくか]|大き|重[いくか]"
    r"|上回|強[いくか]",
    ComparisonKind.LESS: r"少な|短[いくか]|低[いくか]|狭[いくか]|小さ|軽[いくか]"
    r"|下回|安[いくか]",
}
ORDERS = tuple(_ORDERS)
"""The comparisons by order."""
_ORDER = re.compile("|".join(f"(?P<{name}>{words})" for name, words in _ORDERS.items()))
# Second meanings: 若い is less of an age, 高い an earlier place in a series. 長い is an earlier
# beginning if the end is unknown.
_ALSO = {
    ComparisonKind.OLDER: ComparisonKind.MORE,
    ComparisonKind.YOUNGER: ComparisonKind.LESS,
    ComparisonKind.MORE: ComparisonKind.EARLIER,
    ComparisonKind.LESS: ComparisonKind.LATER,
}
_ALSO_IN_TIME = re.compile("[長短高低]")

# A month without its year: 生年月日の月が早い.
PART_OF_DATE = re.compile("(?<!年)月日?(?=[がはだ])|の日(?=[がはだ])")

_FRAME = re.compile(
    rf"{MASK}|(?:どちら|どっち)の[^がはをのに]{{1,8}}(?=でしょう|です|[?？]|$)"
    r"|どちら(?:とも|も|の方|のほう)?|どっち(?:も)?|いずれ[もか]?|両方|両者|双方|[二2]人とも|ふたりとも"
    r"|ともに|共に|それぞれ|(?:でしょう|です|ます|ました|でした)か|でしょう|何年何月何日|何月何日|何年何月"
    r"|何(?:時間|か月|ヶ月|大学|学部|都道府県|年度|cm|km|kg|[ァ-ヶー]+|[一-鿿a-z])|いつ|どこの?|誰|だれ|なに|なん|何"
    r"|どの|の?うち|について|では|名前|名称|本当|という|そう|より|ほう|方が|方は|[?？。、]"
)

_KANJI = f"[{NUMERAL_CHARACTERS}]"
_FIGURE = re.compile(
    rf"(?<![a-z])[0-9]|{_KANJI}{{2}}|(?:{_KANJI}|元)年|{_KANJI}(?:世紀|月|[十百千万億兆人位番])"
)
# A question about now, or about earlier: triples do not say.
TIME = re.compile(
    r"現在|今の|今も|今は|当時|かつて|(?<![年紀代月日])以前[のは]|昔|往時|目下|いまの"
)
# Words that limit or sum up the compared things.
LIMITED = re.compile(
    r"だけ|のみ|しか|以外|除[いく]|片方|片一方|最も|もっとも|一番|番目|合計|合わせ|平均|の差|差[がは]|の和"
    r"|倍|半分|何[年月日人]|次に|嘘|うそ|誤り|間違い|間に|前後|割に|もし"
)
_COUNTED = re.compile(r"何(cm|km|kg|[一-鿿々a-z])")
_DATE_ASKED = re.compile(r"いつ|年月日|西暦")
_NO_DATE_ASKED = re.compile(r"誰|だれ|どこ")
_DATE = re.compile(r"[0-9元]\s*[年月日]|世紀")
# 何歳 asks for no date at all, and 何人 for a number.
_OTHER_PART, _OTHER_KIND, _NOT_COUNTED = 0.7, 0.5, 0.3


class AnswerForm(StrEnum):
    """The form of the answer: YES or NO, one of the compared things, or open."""

    YES_NO = "yes-no"
    WHICH = "which"
    OPEN = "open"


def form_of(text: str) -> AnswerForm:
    """The form of the answer; 「…のは？」 with two names asks for one of them."""
    if _WHICH.search(text):
        return AnswerForm.WHICH
    return AnswerForm.OPEN if _OPEN.search(text) or not _YES_NO.search(text) else AnswerForm.YES_NO


def comparisons_of(text: str, form: AnswerForm, *, claimed: bool) -> tuple[ComparisonKind, ...]:
    """The possible comparisons, the likeliest first; `claimed` is for a yes-no question."""
    if form is AnswerForm.YES_NO and not claimed:
        if _DIFFERENT.search(text):
            return (ComparisonKind.DIFFERENT,)
        if _SAME.search(text):
            return (ComparisonKind.SAME,)
        if _ANY.search(text) and not _EACH.search(text):
            return (ComparisonKind.ANY,)
        return (ComparisonKind.EACH,)
    orders = list(_ORDER.finditer(text))
    if not orders:
        return (ComparisonKind.WHICH,)
    order = ComparisonKind(orders[-1].lastgroup or "")
    also = _ALSO.get(order)
    if also in (ComparisonKind.EARLIER, ComparisonKind.LATER) and not _ALSO_IN_TIME.match(
        orders[-1][0]
    ):
        also = None
    return (order, also) if also else (order,)


def is_order(text: str, position: int) -> bool:
    """Whether a word of comparison (早い, 多い) is at a position of a text."""
    return _ORDER.match(text, position) is not None


def has_figure(text: str) -> bool:
    """Whether a text has a number."""
    return _FIGURE.search(text) is not None


def is_ordered(text: str) -> bool:
    """Whether a text has a word of comparison (早い, 多い); a noun (高さ) does not count."""
    return any(not found[0].endswith("さ") for found in _ORDER.finditer(text))


def unframed(text: str) -> str:
    """The text with blanks for the words that questions are built of."""
    return _FRAME.sub(lambda frame: " " * len(frame[0]), text)


def kind_fits(tail: str, triple: Triple) -> float:
    """How well the objects of a triple fit the kind asked for: 何年 「1986年」, 何区 「新宿区」."""
    whole = normalize("、".join(triple.objects))
    parts = [*_COUNTED.findall(tail), *(["日"] if "年月日" in tail else [])]
    lacking = [part for part in parts if part not in whole]
    if any(part in UNITS for part in lacking) and not has_figure(whole):
        return _NOT_COUNTED
    if lacking and is_date(whole) and not set("年月日") & set("".join(lacking)):
        return _NOT_COUNTED
    if lacking:
        return _OTHER_PART
    if (_NO_DATE_ASKED if is_date(whole) else _DATE_ASKED).search(tail):
        return _OTHER_KIND
    return 1.0


def is_date(text: str) -> bool:
    """Whether a text has a date, or a part of one."""
    return _DATE.search(text) is not None

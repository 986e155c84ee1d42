"""Checks by code whether the cited sentences support a claim.

Particulars are compared, not wording. Every figure, date, citation and name of the claim must be in
its sentences, in their headings or in the question. What it affirms, denies, allows or demands must
agree with the most similar clause. No word may replace its counterpart, nor agent the object. A
question gives the subject, never the answer: what it asks to confirm (…は五年か) must be in the
sentences, too.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import NamedTuple

from localrag.answer.checking.counterparts import (
    Counterpart,
    Roles,
    counterparts_of,
    exchanged,
    roles_of,
)
from localrag.answer.checking.particulars import (
    Dated,
    Figure,
    Name,
    Particulars,
    is_at,
    names_of,
    neighbour,
    particulars_of,
    same_date,
    same_figure,
    within,
)
from localrag.answer.checking.polarity import (
    Force,
    Limit,
    Predicate,
    ReadSentence,
    carries,
    sentences_of,
    with_lists,
    with_provisos,
)
from localrag.answer.types import Mismatch, MismatchKind
from localrag.law.citations import ProvisionCitation
from localrag.text.folding import Folded, fold, is_japanese
from localrag_indexes.analysis.normalize import letters_of, normalize

ENOUGH = 0.5
"""Share of a claim's words (`covers`) at which sentences support it."""

# Most characters read of a text; a longer claim is never supported.
_LONGEST = 20_000


class CandidateSentence(NamedTuple):
    """A sentence a claim could cite, with its heading."""

    text: str
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Carrier:
    """The sentence supporting a claim.

    Attributes:
        index: of the candidate, from 0.
        alone: whether it needs none of the other cited sentences.
    """

    index: int
    alone: bool


def mismatches(
    claim: str, sentences: Sequence[str], *, headings: Sequence[str] = (), question: str = ""
) -> tuple[Mismatch, ...]:
    """Find every part of a claim missing from its sentences, headings and question.

    Args:
        claim: one statement, Japanese or English.
        sentences: its citations, an item with its stem.
        headings: of the sentences; they complete citations such as 第二項.
        question: that it answers, or "". Particulars of an open question (who, いつ) may be
            repeated,
            those of a yes-or-no question may not.

    Returns:
        Each once, by kind. Whether the sentences are about the same thing is checked by `covers`.
    """
    letters = letters_of(claim)
    if any(letters == letters_of(sentence) for sentence in sentences):
        return ()
    return tuple(
        dict.fromkeys(_ClaimBesideSentences(claim, sentences, headings, question).mismatches())
    )


def covers(
    claim: str, sentences: Sequence[str], *, headings: Sequence[str] = (), question: str = ""
) -> float:
    """The share, 0 to 1, of a claim's content found in its sentences.

    Words of the question count as given. But the same share of what the claim adds, or of the whole
    if it adds nothing, must be in the sentences or their headings.
    """
    return _ClaimBesideSentences(claim, sentences, headings, question).coverage()


def carriers(
    claim: str,
    candidates: Sequence[CandidateSentence],
    *,
    cited: Sequence[str] = (),
    headings: Sequence[str] = (),
    question: str = "",
) -> Carrier | None:
    """Find the candidate that supports a claim, alone or with the cited sentences.

    Args:
        claim: as for `mismatches`.
        candidates: other sentences of the evidence, best first.
        cited: sentences cited that do not support the claim.
        headings: of `cited`.
        question: as for `mismatches`.

    Returns:
        The one without a mismatch that covers most of the claim, or None.
    """
    for beside, above in (((), ()), (tuple(cited), tuple(headings))):
        best: tuple[float, int] | None = None
        for index, candidate in enumerate(candidates):
            heading = (candidate.heading,) if candidate.heading else ()
            compared = _ClaimBesideSentences(
                claim, (*beside, candidate.text), (*above, *heading), question
            )
            share = compared.coverage()
            if share < ENOUGH or (best and share <= best[0]):
                continue
            if not any(True for _ in compared.mismatches()):
                best = share, index
        if best:
            return Carrier(best[1], alone=not beside)
        if not cited:
            break
    return None


@dataclass(frozen=True)
class _Reading:
    """A text, read.

    Attributes:
        keys: of its content words.
        compact: normalised text without blanks.
        tokens: its words as written, normalised.
        katakana: its runs of katakana, without long vowels, whose spelling varies.
        years: of its dates.
        counterparts: its words with counterparts.
        roles: agents and objects in its sentences.
    """

    folded: Folded
    particulars: Particulars
    names: tuple[Name, ...]
    sentences: tuple[ReadSentence, ...]
    keys: frozenset[str]
    compact: str
    tokens: frozenset[str]
    katakana: frozenset[str]
    years: frozenset[int]
    counterparts: tuple[Counterpart, ...]
    roles: tuple[Roles, ...]


# The claims of an answer share evidence: read each sentence once.
@lru_cache(maxsize=512)
def _read(text: str) -> _Reading:
    folded = fold(text)
    sentences = tuple(sentences_of(folded))
    keys = frozenset[str]().union(*(sentence.words for sentence in sentences))
    particulars = particulars_of(folded)
    latin = frozenset(_LATIN_TOKEN.findall(folded.normal))
    return _Reading(
        folded,
        particulars,
        names_of(folded),
        sentences,
        keys,
        "".join(folded.normal.split()),
        latin | {word.surface for word in folded.words},
        frozenset(run.rstrip("ー") for run in _KATAKANA_RUN.findall(folded.normal)),
        frozenset(
            end[0]
            for dated in particulars.dates
            if dated.date.has_year
            for end in (dated.date.span.low, dated.date.span.high)
            if end
        ),
        tuple(counterparts_of(folded.normal)),
        tuple(roles_of(folded, sentences)),
    )


_LATIN_TOKEN = re.compile(r"[a-z0-9\u00df-\u024f]+")
_KATAKANA_RUN = re.compile(r"[ァ-ヺー]+")

_ASKS_FOR_SOMETHING = re.compile(
    r"何|なに|なん[でのかと]|いつ|どこ|どの|どれ|どちら|どう|どん|だれ|誰|いくつ|いくら|なぜ|いかなる|いかに|幾"
    r"|\b(?:what|when|where|which|who|whom|whose|why|how)\b"
)
_ASKS_FOR_YES = re.compile(r"か[。?？\s]*$|[?？]\s*$")

_DIMENSIONS = {
    "時間": MismatchKind.PERIOD,
    "割合": MismatchKind.SHARE,
    "円": MismatchKind.AMOUNT,
    "ドル": MismatchKind.AMOUNT,
    "ユーロ": MismatchKind.AMOUNT,
    "ポンド": MismatchKind.AMOUNT,
    "元": MismatchKind.AMOUNT,
    "ウォン": MismatchKind.AMOUNT,
}


# Adjectives and nouns of one country: japan, japanese; america, american.
_NATIONAL = re.compile(r"(?:ese|ians?|ans?|ish|ia|a|y|i|s)$")
_SHORTEST_STEM = 4


def confirms(question: str) -> bool:
    """Whether a question asks for yes or no."""
    normal = normalize(question)
    return bool(_ASKS_FOR_YES.search(normal)) and not _ASKS_FOR_SOMETHING.search(normal)


class _ClaimBesideSentences:
    """A claim with its citations."""

    def __init__(
        self, claim: str, sentences: Sequence[str], headings: Sequence[str], question: str
    ) -> None:
        self.claim = _read(claim[:_LONGEST])
        self.question = _read(question[:_LONGEST])
        self.cited = [_read(text[:_LONGEST]) for text in sentences]
        self.headings = [_read(text[:_LONGEST]) for text in headings]
        self.is_whole = len(claim) <= _LONGEST
        self.texts = [*self.cited, *self.headings]
        self.asks = bool(question) and not confirms(question)
        self.given = [*self.texts, self.question] if self.asks else self.texts
        self.figures: dict[Fraction, list[Figure]] = {}
        for text in self.given:
            for figure in (*text.particulars.figures, *text.particulars.months):
                for number in figure.values | figure.numbers:
                    self.figures.setdefault(number, []).append(figure)

    def mismatches(self) -> Iterator[Mismatch]:
        """Every missing part, by kind."""
        folded, particulars = self.claim.folded, self.claim.particulars
        for figure in particulars.figures:
            if kind := self._figure(figure):
                yield Mismatch(kind, folded.written(figure.start, figure.end))
        for start, end in folded.unread:
            if not any(folded.normal[start:end] in text.compact for text in self.given):
                yield Mismatch(MismatchKind.FIGURE, folded.written_normal(start, end))
        for dated in particulars.dates:
            if kind := self._date(dated):
                yield Mismatch(kind, folded.written(dated.start, dated.end))
        for citation in particulars.provisions:
            if not self._provision(citation):
                written = folded.written(citation.start, citation.end)
                yield Mismatch(MismatchKind.PROVISION, written)
        for name in dict.fromkeys(self.claim.names):
            if not any(self._name(name, text) for text in [*self.texts, self.question]):
                yield Mismatch(MismatchKind.NAME, name.written)
        yield from self._counterparts()
        for span in exchanged(self.claim.roles, [one for text in self.cited for one in text.roles]):
            yield Mismatch(MismatchKind.ROLE, folded.written_normal(*span))
        yield from self._polarity()
        yield from self._limits()

    def coverage(self) -> float:
        """The share of the claim's content in its sentences."""
        particulars = self.claim.particulars
        spoken: list[_Spoken] = [
            *sorted(self.claim.keys),
            *particulars.figures,
            *particulars.dates,
            *particulars.provisions,
        ]
        if not spoken or not self.is_whole:
            return 0.0
        said = [_speaks_of(one, self.texts) for one in spoken]
        asked = [_speaks_of(one, [self.question]) for one in spoken]
        added = [is_said for is_said, was_asked in zip(said, asked, strict=True) if not was_asked]
        judged = added or said
        either = [one or other for one, other in zip(said, asked, strict=True)]
        return min(sum(judged) / len(judged), sum(either) / len(either))

    # --- figures and dates ---

    def _figure(self, figure: Figure) -> MismatchKind | None:
        """The mismatch of a figure, or None."""
        if said := self._said(figure):
            bounded = figure.bound is None or any(other.bound is figure.bound for other in said)
            return None if bounded else MismatchKind.BOUND
        if not figure.dimension and figure.numbers <= self._years:
            return None
        return _DIMENSIONS.get(figure.dimension, MismatchKind.FIGURE)

    def _said(self, figure: Figure) -> list[Figure]:
        number = next(iter(figure.values))
        bare = next(iter(figure.numbers))
        known = {id(one): one for key in (number, bare) for one in self.figures.get(key, ())}
        return [other for other in known.values() if same_figure(figure, other)]

    @cached_property
    def _years(self) -> set[int]:
        return {year for text in self.given for year in text.years}

    def _date(self, dated: Dated) -> MismatchKind | None:
        date = dated.date
        if not date.has_year and date.month and date.day is None:
            month = next(one for one in self.claim.particulars.months if one.start == dated.start)
            if self._said(month):
                return self._figure(month)
        given = [other for text in self.given for other in text.particulars.dates]
        said = [other for other in given if same_date(dated, other)]
        if said:
            opposed = all(other.direction not in (None, dated.direction) for other in said)
            return MismatchKind.BOUND if dated.direction and opposed else None
        plain = self.figures.get(Fraction(date.year or 0), ())
        year_is_said = date.year is not None and (
            date.year in self._years or any(not figure.dimension for figure in plain)
        )
        if year_is_said and date.month is None:
            return None
        # A year in one sentence, a day in another (同年八月): each must be there.
        days = [other.date for other in given if not other.date.has_year]
        if year_is_said and any(
            (date.month, date.day) in ((day.month, day.day), (day.month, None))
            and (day.day is not None or date.day is None)
            for day in days
        ):
            return None
        return MismatchKind.DATE

    # --- provisions ---

    def _provision(self, citation: ProvisionCitation) -> bool:
        headings = [
            cited.locator for heading in self.headings for cited in heading.particulars.provisions
        ]
        for text in self.given:
            for other in text.particulars.provisions:
                if citation.words and not set(citation.words) <= set(other.words):
                    continue
                if citation.last and citation.last != other.last:
                    continue
                places = [other.locator, *(within(other.locator, each) for each in headings)]
                # 前項の届出 is 第1項の届出 in 第2項; but 第1項 does not say what 第2項 says.
                if _behind(text, other) == _behind(self.claim, citation):
                    places += [neighbour(word, each) for word in other.words for each in headings]
                places += [other.last] if other.last else []
                if any(is_at(citation.locator, place) for place in places):
                    return True
        return False

    # --- names ---

    def _name(self, name: Name, text: _Reading) -> bool:
        words = "".join(name.text.split())
        if name.is_quoted:
            return letters_of(words) in letters_of(text.compact)
        if name.text.isascii() or _LATIN_TOKEN.match(name.text):
            parts = _LATIN_TOKEN.findall(name.text.removesuffix("'s"))
            return all(
                part in text.tokens or any(_one_country(part, token) for token in text.tokens)
                for part in parts
            )
        if _KATAKANA_RUN.fullmatch(name.text):
            return name.text.rstrip("ー") in text.katakana
        return words in text.compact

    # --- counterparts ---

    def _counterparts(self) -> Iterator[Mismatch]:
        """Words whose sentences only have their counterparts.

        Besides the right word a claim may have its partner in the same relation, and words of the
        question (許可か届出か). "And" for "or" changes only demands.
        """
        said, asked, claimed = map(_members, (self.texts, [self.question], [self.claim]))
        demands = any(
            predicate.force is Force.DEMANDED
            for sentence in self.claim.sentences
            for predicate in sentence.predicates
        )
        for one in self.claim.counterparts:
            there = said[one.group]
            is_beside = there & claimed[one.group] and (
                one.is_partner or one.member in asked[one.group]
            )
            if not there or one.member in there or is_beside or (one.is_joint and not demands):
                continue
            written = self.claim.folded.written_normal(one.start, one.end)
            yield Mismatch(MismatchKind.COUNTERPART, written)

    # --- polarity ---

    def _polarity(self) -> Iterator[Mismatch]:
        for sentence in self.claim.sentences if self._heads else ():
            last = max((one.end for one in sentence.predicates), default=0)
            excused = sentence.requires if self._are_required(sentence) else ()
            kinds: dict[tuple[int, int], list[MismatchKind | None]] = {}
            for predicate in sentence.predicates:
                span = predicate.start, predicate.end
                # 同意がなければ…できない says only that the 同意 is required.
                if any(one.start <= predicate.start < one.end for one in excused) or (
                    excused and predicate.end == last and predicate.head in self._heads
                ):
                    continue
                # 虚偽のことを告げる: a mention is no statement.
                is_mentioned = _MENTIONED.match(self.claim.folded.normal, *span)
                if not (is_mentioned and predicate.force is Force.AFFIRMED):
                    kinds.setdefault(span, []).append(self._contradiction(predicate, sentence))
            for span, (kind, *others) in kinds.items():
                # 届け出、公表しない has two readings: one of them must be there.
                if kind and all(others):
                    yield Mismatch(kind, self.claim.folded.written_normal(*span))

    def _contradiction(self, predicate: Predicate, sentence: ReadSentence) -> MismatchKind | None:
        """How the sentences contradict a predicate of the claim, or None."""
        said = self._heads.get(predicate.head, ())
        if not said and self.asks and predicate.force is Force.DENIED:
            # A question about what is so is not answered by what is not.
            return MismatchKind.NEGATION
        return _contradicted(predicate, sentence, said, self._sentences)

    def _are_required(self, sentence: ReadSentence) -> bool:
        """Whether the citations demand everything a sentence of the claim requires."""
        return bool(sentence.requires) and all(
            any(other.force is Force.DEMANDED for other, _ in self._heads.get(one.head, ()))
            and not self._contradiction(one, sentence)
            for one in sentence.requires
        )

    @cached_property
    def _sentences(self) -> list[ReadSentence]:
        """The sentences whose words the claim may vary."""
        cited = with_lists(one for text in self.cited for one in text.sentences)
        given = with_provisos(list(cited))
        given += [one for text in self.headings for one in text.sentences]
        # An answer may repeat what its question takes for granted.
        return [*given, *(self.question.sentences if self.asks else ())]

    @cached_property
    def _heads(self) -> Mapping[str, Sequence[tuple[Predicate, ReadSentence]]]:
        """Statements on each action or state."""
        heads: dict[str, list[tuple[Predicate, ReadSentence]]] = {}
        for sentence in self._sentences:
            for predicate in (*sentence.predicates, *sentence.requires):
                heads.setdefault(predicate.head, []).append((predicate, sentence))
        return heads

    def _limits(self) -> Iterator[Mismatch]:
        given = {
            limiting.limit
            for text in [*self.texts, self.question]
            for sentence in text.sentences
            for limiting in sentence.limits
        }
        for sentence in self.claim.sentences:
            # 同意がある場合に限り equals 同意がなければ…できない.
            implied = {Limit.ONLY} if self._are_required(sentence) else set()
            for limiting in sentence.limits:
                if limiting.limit not in given | implied:
                    written = self.claim.folded.written_normal(limiting.start, limiting.end)
                    yield Mismatch(MismatchKind.EXCEPTION, written)


def _behind(text: _Reading, citation: ProvisionCitation) -> str:
    return text.folded.normal[citation.end : citation.end + 2]


_MENTIONED = re.compile(".*(?:には|ために?は?|ことを)$", re.DOTALL)

_Spoken = str | Figure | Dated | ProvisionCitation


def _speaks_of(spoken: _Spoken, texts: Sequence[_Reading]) -> bool:
    """Whether texts have a content word, figure, date or citation."""
    match spoken:
        case Figure():
            return any(
                spoken.numbers <= text.years
                or any(same_figure(spoken, other) for other in text.particulars.figures)
                or any(same_figure(spoken, other) for other in text.particulars.months)
                for text in texts
            )
        case Dated():
            year = spoken.date.year
            return any(
                year in text.years
                or any(same_date(spoken, other) for other in text.particulars.dates)
                or any({year} == other.numbers for other in text.particulars.figures)
                for text in texts
            )
        case ProvisionCitation():
            return any(
                is_at(spoken.locator, within(other.locator, spoken.locator))
                for text in texts
                for other in text.particulars.provisions
            )
    in_compound = len(spoken) > 1 and is_japanese(spoken)
    return any(spoken in text.keys or (in_compound and spoken in text.compact) for text in texts)


def _members(texts: Iterable[_Reading]) -> defaultdict[tuple[str, ...], set[str]]:
    """The words with counterparts in texts, by group."""
    members: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    for text in texts:
        for one in text.counterparts:
            members[one.group].add(one.member)
    return members


def _one_country(one: str, other: str) -> bool:
    """Whether two Latin words are forms of one: Japan and Japanese, Lanricks and Lanrick."""
    if min(len(one), len(other)) < _SHORTEST_STEM or one[:3] != other[:3]:
        return False
    shared = {one, _NATIONAL.sub("", one)} & {other, _NATIONAL.sub("", other)}
    return any(len(stem) >= _SHORTEST_STEM for stem in shared)


def _contradicted(
    claimed: Predicate,
    around: ReadSentence,
    said: Sequence[tuple[Predicate, ReadSentence]],
    given: Sequence[ReadSentence],
) -> MismatchKind | None:
    """How the most similar clause contradicts a predicate, or None.

    Args:
        claimed: the predicate.
        around: its sentence.
        said: statements of the sentences on the same action or state.
        given: all sentences.
    """
    likeness: dict[tuple[int, int], list[Predicate]] = {}
    for predicate, sentence in said:
        alike = len(claimed.near & predicate.near), len(around.words & sentence.words)
        likeness.setdefault(alike, []).append(predicate)
    if not likeness:
        return _unheard_of(claimed, around, given)
    nearest = likeness[max(likeness)]
    if any(carries(one.force, claimed.force) for one in nearest):
        return None
    if nearest[0].force.is_negative != claimed.force.is_negative:
        return MismatchKind.NEGATION
    return MismatchKind.MODALITY


def _unheard_of(
    claimed: Predicate, around: ReadSentence, given: Sequence[ReadSentence]
) -> MismatchKind | None:
    """What is wrong where the sentences say it in other words: the nearest must agree in kind."""
    if claimed.force is Force.AFFIRMED:
        return None
    nearest = max(given, key=lambda sentence: len(around.words & sentence.words))
    forces = {predicate.force for predicate in nearest.predicates}
    if any(carries(force, claimed.force) for force in forces):
        return None
    if claimed.force.is_negative:
        negative = nearest.denies or any(force.is_negative for force in forces)
        return None if negative else MismatchKind.NEGATION
    if claimed.force is Force.DEMANDED:
        return None if nearest.demands else MismatchKind.MODALITY
    return MismatchKind.MODALITY if Force.FORBIDDEN in forces else None

"""How far each option of a question agrees with its provisions, by code alone.

`judge` compares statements, or options naming provisions. Each observation is a sign; more of it
speaks for agreement. A conditional logit has fitted the weights.
"""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files
from math import exp, fsum, sqrt
from typing import Any, NamedTuple

from localrag.answer.checking import mismatches
from localrag.answer.types import MismatchKind
from localrag.corpus.types import Locator
from localrag.law.citations import find_citations
from localrag.law.names import customary
from localrag.methods.agreement.evidence import (
    ComparableProvision,
    LawText,
    absolutes,
    asks_for_exemption,
    asks_for_quantity,
    concession,
    content_terms,
    evidence_for,
    exclusions,
    exempts,
    fold,
    hedge,
    ngrams,
    states_quantity,
)
from localrag.methods.catalogue import mark
from localrag.methods.polarity import Polarity, polarity_of
from localrag_indexes.analysis.analyzer import split_sentences
from localrag_indexes.analysis.normalize import compact


class ObservationKind(StrEnum):
    """The kind of an observation."""

    QUANTITY = "quantity"
    REVERSED = "reversed"
    FOREIGN = "foreign"
    ABSOLUTE = "absolute"
    HEDGE = "hedge"
    CONCESSION = "concession"
    EXCLUSION = "exclusion"
    MISSING = "missing"
    NAMED = "named"
    COMMON = "common"


@dataclass(frozen=True, slots=True)
class Observation:
    """An observation for or against an option's agreement with the law."""

    kind: ObservationKind
    agrees: bool  # whether it speaks for agreement
    said: str = ""  # the words of the option
    law: str = ""  # the words of the law; "" without any


@dataclass(frozen=True, slots=True)
class Signs:
    """The observations on one option."""

    values: Mapping[str, float]  # by name of the sign; higher speaks for agreement with the law
    provision: LawText | None  # the nearest provision; None without one
    findings: tuple[Observation, ...]  # the signs that can be put in words


@dataclass(frozen=True, slots=True)
class OptionJudgement:
    """How far one option agrees with the law."""

    agreement: float  # log-odds, comparable within one question only
    # probability that the question wants this option, 0 to 1; together 1. Its quality is in the
    # figures of the weights
    share: float
    provision: LawText | None  # the nearest provision; None without one
    quote: str  # verbatim words of the provision; "" without one
    start: int  # where the quote begins in the document or context; -1 without one
    findings: tuple[Observation, ...]  # what speaks for or against it


_WORDS = {
    ObservationKind.QUANTITY: "「{said}」の数が条文と異なる",
    ObservationKind.REVERSED: "「{said}」が条文と食い違う",
    ObservationKind.FOREIGN: "「{said}」の語が条文にない",
    ObservationKind.ABSOLUTE: "例外を認めない「{said}」が条文にない",
    ObservationKind.HEDGE: "「{said}」と例外の余地を残している",
    ObservationKind.CONCESSION: "「{said}」と要件を問題にしていない",
    ObservationKind.EXCLUSION: "条文が除いている：「{law}」",
    ObservationKind.MISSING: "その条文が手元にない",
    ObservationKind.NAMED: "設問が既に挙げている条文である",
    ObservationKind.COMMON: "設問と共通の語：{said}",
}


def in_words(finding: Observation) -> str:
    """One clause, without a full stop."""
    return _WORDS[finding.kind].format(said=finding.said, law=finding.law)


STATEMENT_SIGNS = ("backed", "strength", "contradicted", "excepted")
"""Names of the signs of statements, in the order of the weights:

- `backed`: the words that only this option has are in a provision. A wrong option adds words.
- `strength`: laws make exceptions. A claim without any (必ず, いかなる, …でも) is often wrong, a
  claim that leaves room for some (…場合がある) is often right.
- `contradicted`: it gives another figure than the law, or denies, allows or demands otherwise. It
  is checked like the claims of a model.
- `excepted`: the law excepts it (…を除く).
"""

# A term of all options separates none of them, but shows the provision that they are about.
_SHARED = 0.5
# The least extent of an exception that is shown, and the most foreign words.
_TOLD = 0.2
_SHOWN = 3
# Names and places are not listed: an option may take them from its case.
_TELLING = {
    MismatchKind.FIGURE: ObservationKind.QUANTITY,
    MismatchKind.DATE: ObservationKind.QUANTITY,
    MismatchKind.PERIOD: ObservationKind.QUANTITY,
    MismatchKind.SHARE: ObservationKind.QUANTITY,
    MismatchKind.AMOUNT: ObservationKind.QUANTITY,
    MismatchKind.BOUND: ObservationKind.QUANTITY,
    MismatchKind.COUNTERPART: ObservationKind.REVERSED,
    MismatchKind.ROLE: ObservationKind.REVERSED,
    MismatchKind.NEGATION: ObservationKind.REVERSED,
    MismatchKind.EXCEPTION: ObservationKind.REVERSED,
    MismatchKind.MODALITY: ObservationKind.REVERSED,
}


def signs_of_statements(
    question: str, options: Sequence[str], provisions: Sequence[LawText]
) -> list[Signs]:
    """Observe each option. Returns values for `STATEMENT_SIGNS`; all are 0 without a provision."""
    law = _Law(evidence_for(question, options, provisions))
    asked = content_terms(question)
    held_by = Counter(term for option in options for term in content_terms(option))
    said_by_all = frozenset.intersection(*(ngrams(option, 2) for option in options))
    return [
        _OptionBesideLaw(
            question,
            option,
            law,
            {
                term: len(options) + _SHARED - held_by[term]
                for term in sorted(content_terms(option) - asked)
            },
            len(options) + _SHARED - 1,
            ngrams(option, 2) - said_by_all,
        ).signs()
        for option in options
    ]


class _Law:
    """The words of all provisions compared with the options."""

    def __init__(self, evidence: Sequence[ComparableProvision]) -> None:
        self.evidence = evidence
        provisions = [one.provision for one in evidence]
        texts = dict.fromkeys(text for one in provisions for text in (*one.above, one.text))
        self.folded = "\n".join(map(fold, texts))
        self.terms = frozenset[str]().union(*(one.terms for one in evidence))
        self.exclusions = [words for text in texts for words in exclusions(text)]


@dataclass(frozen=True)
class _OptionBesideLaw:
    question: str
    option: str
    law: _Law
    # of its terms that the question does not have; rarer among the options is more
    weights: Mapping[str, float]
    own_weight: float  # of a term that no other option has
    own_pairs: frozenset[str]  # pairs of letters that not all options have

    def signs(self) -> Signs:
        if not self.law.evidence:
            return Signs(dict.fromkeys(STATEMENT_SIGNS, 0.0), None, ())
        shares = {id(one): self._share(one.terms) for one in self.law.evidence}
        nearest = max(self.law.evidence, key=lambda one: shares[id(one)])
        extent, excepted = self._exclusion()
        findings = [*self._contradicted(nearest), *self._strength()]
        kinds = {finding.kind for finding in findings}
        unbounded = kinds & {ObservationKind.ABSOLUTE, ObservationKind.CONCESSION}
        values = {
            "backed": math.log(shares[id(nearest)]),
            "strength": float(ObservationKind.HEDGE in kinds) - float(bool(unbounded)),
            "contradicted": -float(len(kinds & set(_TELLING.values()))),
            "excepted": -extent,
        }
        if extent > _TOLD:
            findings.append(Observation(ObservationKind.EXCLUSION, False, law=excepted))
        return Signs(values, nearest.provision, (*findings, *self._foreign_terms()))

    def _share(self, terms: frozenset[str]) -> float:
        """The share of the terms by weight, as if one of two further terms were found.

        An option of two words, one of them found, is then no surer than one of twenty.
        """
        found = sum(weight for term, weight in self.weights.items() if term in terms)
        return (found + self.own_weight) / (sum(self.weights.values()) + 2 * self.own_weight)

    def _contradicted(self, nearest: ComparableProvision) -> Iterator[Observation]:
        texts = (*nearest.provision.above, nearest.provision.text)
        for mismatch in mismatches(self.option, texts, question=self.question):
            if kind := _TELLING.get(mismatch.kind):
                yield Observation(kind, False, mismatch.written)

    def _strength(self) -> Iterator[Observation]:
        for word in absolutes(self.option):
            if word not in self.law.folded:
                yield Observation(ObservationKind.ABSOLUTE, False, word)
        if words := hedge(self.option):
            yield Observation(ObservationKind.HEDGE, True, words)
        if words := concession(self.option):
            yield Observation(ObservationKind.CONCESSION, False, words)

    def _exclusion(self) -> tuple[float, str]:
        """How far the law excepts the option, by the cosine of letter pairs, and the words for it.

        It is 0 if the option makes an exception itself.
        """
        if "除" in self.option or not self.own_pairs:
            return 0.0, ""
        best = 0.0, ""
        for words in self.law.exclusions:
            excepted = ngrams(words, 2)
            common = len(excepted & self.own_pairs)
            best = max(best, (common / math.sqrt(len(excepted) * len(self.own_pairs) or 1), words))
        return best

    def _foreign_terms(self) -> Iterator[Observation]:
        foreign = [term for term in self.weights if len(term) > 1 and term not in self.law.terms]
        for term in sorted(foreign, key=self.weights.__getitem__, reverse=True)[:_SHOWN]:
            yield Observation(ObservationKind.FOREIGN, False, term)


CITATION_SIGNS = ("likeness", "kind", "at_hand", "new")
"""Names of the signs of options naming provisions, in the order of the weights:

- `likeness`: the question describes the provision in its words.
- `kind`: the question asks for a period or an amount and the provision states one, or it asks for
  an exemption and the provision gives one.
- `at_hand`: the provision is among the hits nearest to the question.
- `new`: the question does not name the provision itself.
"""

_PART = re.compile(r"(本文|ただし書き?|但書|前段|後段|柱書き?|各号列記以外の部分)?(?:の規定)?$")
_PROVISO = re.compile(r"ただし、")
_TITLE = re.compile(r"(?:法|法律|令|規則|規程|ガイドライン|指針)$")
# The words after the description of a provision: …の提出期間|を定めた条文.
_DESCRIBES = re.compile(
    r"(?:こと|旨)?[をにがの](?:つ?いて)?(?:定め|規定|記載|示|掲げ|認め|定義|根拠).*$|の?根拠.*$",
    re.DOTALL,
)
_SIZES = (2, 3)


@dataclass(frozen=True, slots=True)
class _Place:
    """A provision as an option names it."""

    law: str  # its name as written, or ""
    locator: Locator
    part: str  # "本文", "ただし書" …; "" for the whole


def names_provisions(options: Sequence[str]) -> bool:
    """Whether most options name a provision (第5条第1項第2号) and nothing else."""
    return sum(_place(option) is not None for option in options) * 2 > len(options)


def signs_of_citations(
    question: str, options: Sequence[str], provisions: Sequence[LawText]
) -> list[Signs]:
    """Observe each option by `CITATION_SIGNS`; signs of its words are 0 without the provision."""
    asked = _WantedProvision(question)
    return [_signs(asked, _place(option), provisions) for option in options]


class _WantedProvision:
    """The provision wanted by a question.

    The last clause before the verb (`focus`) describes it, those before describe the case.
    """

    def __init__(self, question: str) -> None:
        self.text = question
        described = _DESCRIBES.sub("", compact(question))
        self.focus = described.rpartition("、")[2] or described
        self.places = {
            _whole(citation.locator)
            for citation in find_citations(compact(question))
            if citation.locator.article
        }


def _signs(asked: _WantedProvision, place: _Place | None, provisions: Sequence[LawText]) -> Signs:
    named = _provisions_at(place, provisions) if place else []
    own = "\n".join(_part_of(provision.text, place.part if place else "") for provision in named)
    above = "\n".join(words for words in (named[0].above if named else ()) if words not in own)
    is_new = place is None or _whole(place.locator) not in asked.places
    values = {
        "likeness": _likeness(asked.text, f"{own}\n{above}") if named else 0.0,
        "kind": float(
            (asks_for_quantity(asked.focus) and states_quantity(own))
            or (asks_for_exemption(asked.text) and exempts(f"{own}\n{above}"))
        ),
        "at_hand": float(bool(named)),
        "new": -float(not is_new),
    }
    findings = tuple(_findings(values, content_terms(asked.focus) & content_terms(own)))
    return Signs(values, named[0] if named else None, findings)


def _findings(values: Mapping[str, float], common: frozenset[str]) -> Iterator[Observation]:
    if not values["at_hand"]:
        yield Observation(ObservationKind.MISSING, False)
    if values["new"] < 0:
        yield Observation(ObservationKind.NAMED, False)
    if common:
        longest = sorted(common, key=lambda term: (-len(term), term))
        yield Observation(ObservationKind.COMMON, True, "、".join(longest[:_SHOWN]))


def _likeness(question: str, law: str) -> float:
    return sum(_cosine(ngrams(question, n), ngrams(law, n)) for n in _SIZES) / len(_SIZES)


def _cosine(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / sqrt((len(one) * len(other)) or 1)


@lru_cache(maxsize=1024)
def _place(option: str) -> _Place | None:
    """The provision or law named by an option; None if it says more."""
    words = compact(option)
    part = _PART.search(words)
    assert part is not None
    plain = words[: part.start()]
    citations = find_citations(plain)
    if citations and citations[-1].end == len(plain):
        return _Place(citations[0].law.text, citations[-1].locator, part[1] or "")
    return _Place(plain, Locator(), "") if not citations and _TITLE.search(plain) else None


def _provisions_at(place: _Place, provisions: Sequence[LawText]) -> list[LawText]:
    of_law = [provision for provision in provisions if _same_law(place.law, provision.law)]
    for sought in (place.locator, replace(place.locator, subitem="")):
        found = [one for one in of_law if _whole(sought).contains(_whole(one.locator, inner=True))]
        if found:
            return found
    return []


def _whole(locator: Locator, *, inner: bool = False) -> Locator:
    """The place with paragraph 1 written out; texts omit it if it is the only one."""
    needed = locator.article and (locator.item or inner)
    return replace(locator, paragraph="1") if needed and not locator.paragraph else locator


def _part_of(text: str, part: str) -> str:
    """The main sentence or the proviso of a text, if the option names one."""
    proviso = _PROVISO.search(text)
    if not proviso or not part:
        return text
    if part.startswith(("ただし", "但")):
        return text[proviso.start() :]
    return text[: proviso.start()] if part == "本文" else text


def _same_law(named: str, title: str) -> bool:
    name, full = compact(named), compact(title)
    if not name or not full:
        return False
    return _titles().get(name) == full or full.endswith(name) or name.endswith(full)


@cache
def _titles() -> dict[str, str]:
    return {
        compact(short): compact(title) for title, shorts in customary().items() for short in shorts
    }


@dataclass(frozen=True, slots=True)
class SignWeights:
    """The weight of each sign, fitted by ``scripts/train_statute_lexical.py``."""

    statements: Mapping[str, float]  # for `STATEMENT_SIGNS`
    citations: Mapping[str, float]  # for `CITATION_SIGNS`


class FittedWeights(NamedTuple):
    """All weights of the package."""

    everything: SignWeights  # fitted on all training questions
    # by the mark of a training question, the weights fitted without it
    without: Mapping[str, SignWeights]


@cache
def fitted() -> FittedWeights:
    """The weights of the package; ``weights.toml`` has their provenance."""
    text = files("localrag.methods.agreement").joinpath("weights.toml").read_text(encoding="utf-8")
    read = tomllib.loads(text)
    return FittedWeights(
        _weights(read),
        {question: _weights(fold) for fold in read["folds"] for question in fold["questions"]},
    )


def is_held_out(question: str, options: Sequence[str]) -> bool:
    """Whether a question was in the training data, so that other weights are used."""
    return mark(question, options) in fitted().without


def weights_for(question: str, options: Sequence[str]) -> SignWeights:
    """The weights for a question, fitted without it."""
    everything, without = fitted()
    return without.get(mark(question, options), everything)


def _weights(read: Mapping[str, Any]) -> SignWeights:
    return SignWeights(read["statements"], read["citations"])


# A provision of this length or less is quoted as a whole, with its exception.
_SHORT = 400


def judge(
    question: str,
    options: Sequence[str],
    provisions: Sequence[LawText],
    weights: SignWeights | None = None,
) -> list[OptionJudgement]:
    """How far each option agrees with the provisions, and how probably the question wants it.

    The order of the options makes no difference. Without provisions all options are alike. The
    default weights were fitted without this question.
    """
    kind, signs = observe(question, options, provisions)
    agreements = weigh(signs, getattr(weights or weights_for(question, options), kind))
    return [
        OptionJudgement(
            agreement, share, one.provision, *_quoted(option, one.provision), one.findings
        )
        for option, one, agreement, share in zip(
            options, signs, agreements, shares(question, agreements), strict=True
        )
    ]


def observe(
    question: str, options: Sequence[str], provisions: Sequence[LawText]
) -> tuple[str, list[Signs]]:
    """The signs of each option, and the name of their weights: "statements" or "citations"."""
    if names_provisions(options):
        return "citations", signs_of_citations(question, options, provisions)
    return "statements", signs_of_statements(question, options, provisions)


def weigh(signs: Sequence[Signs], weights: Mapping[str, float]) -> list[float]:
    """How far each option agrees with the law, on an open scale."""
    return [sum(weights[name] * value for name, value in one.values.items()) for one in signs]


def shares(question: str, agreements: Sequence[float]) -> list[float]:
    """The probability that the question wants each option, together 1.

    A softmax; of the opposite values if the question wants the deviating option.
    """
    turn = 1 if polarity_of(question) is Polarity.AGREES else -1
    highest = max(turn * agreement for agreement in agreements)
    odds = [exp(turn * agreement - highest) for agreement in agreements]
    # An exact sum does not depend on the order of the options.
    total = fsum(odds)
    return [odd / total for odd in odds]


def choose(options: Sequence[str], probable: Sequence[float]) -> int:
    """Index of the most probable option; the same one in any order of the options."""
    return max(range(len(options)), key=lambda i: (probable[i], options[i]))


def _quoted(option: str, provision: LawText | None) -> tuple[str, int]:
    """The words of the provision nearest to the option, and where they begin."""
    if provision is None:
        return "", -1
    if len(provision.text) <= _SHORT:
        return provision.text, provision.start
    sought = ngrams(option, 2)
    start, end = max(
        split_sentences(provision.text),
        key=lambda span: len(sought & ngrams(provision.text[slice(*span)], 2)),
    )
    return provision.text[start:end], provision.start + start

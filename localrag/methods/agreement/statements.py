"""Options that say something: how far the provisions at hand bear it out."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from localrag.methods.agreement.evidence import (
    ComparableProvision,
    LawText,
    content_terms,
    evidence_for,
)
from localrag.methods.agreement.types import Observation, ObservationKind, Signs
from localrag.methods.agreement.wording import (
    NumberWithUnit,
    absolutes,
    concession,
    exclusions,
    fold,
    hedge,
    negations,
    ngrams,
    quantities,
    unmatched_denial,
)
from localrag_indexes.analysis.sentences import split_sentences

SIGNS = (
    "coverage",
    "absolute",
    "hedge",
    "concession",
    "denial",
    "negation",
    "exclusion",
    "quantity",
)
"""Names of the signs, in the order of the weights."""

# What every option says tells none of them apart.
_SHARED = 0.5
# An option of two words, one of them found, is no surer than one of twenty with half of them.
_PRIOR_FOUND, _PRIOR_ALL = 3.0, 6.0
_PRIOR_EXCLUDED = 3.0
_NEAREST_PROVISIONS, _NEAREST_SENTENCES = 3, 2
_CHANCE, _LENGTH = 8, 0.3
# An exception is told to the reader from this extent on, and at most so many foreign words.
_TOLD = 0.2
_SHOWN = 3


def signs_of_statements(
    question: str, options: Sequence[str], provisions: Sequence[LawText]
) -> list[Signs]:
    """Observe each option.

    Returns:
        Values for `SIGNS`, all of them 0 where no provision is at hand.
    """
    law = _Law(evidence_for(question, options, provisions))
    asked = content_terms(question)
    held_by = Counter(term for option in options for term in content_terms(option))
    said_by_all = frozenset.intersection(*(ngrams(option, 2) for option in options))
    return [
        _OptionBesideLaw(
            option,
            law,
            {
                term: len(options) + _SHARED - held_by[term]
                for term in sorted(content_terms(option) - asked)
            },
            ngrams(option, 2) - said_by_all,
            quantities(option) - quantities(question),
        ).signs()
        for option in options
    ]


class _Law:
    """The words of all provisions that the options are held against."""

    def __init__(self, evidence: Sequence[ComparableProvision]) -> None:
        self.evidence = evidence
        texts = [text for one in evidence for text in (one.provision.text, *one.provision.above)]
        texts = list(dict.fromkeys(texts))
        self.folded = "\n".join(map(fold, texts))
        self.terms = frozenset[str]().union(*(one.terms for one in evidence))
        self.exclusions = [words for text in texts for words in exclusions(text)]
        self.sentences = [text[start:end] for text in texts for start, end in split_sentences(text)]
        self.negations: dict[str, frozenset[bool]] = {}
        for text in texts:
            for word, ways in negations(text).items():
                self.negations[word] = ways | self.negations.get(word, frozenset())

    def nearest_sentences(self, text: str) -> str:
        """The sentences that share most with a text; long ones share by chance."""
        sought = ngrams(text, 2)

        def nearness(sentence: str) -> float:
            pairs = ngrams(sentence, 2)
            return len(sought & pairs) / math.pow(_CHANCE + len(pairs), _LENGTH)

        return "".join(sorted(self.sentences, key=nearness, reverse=True)[:_NEAREST_SENTENCES])


@dataclass(frozen=True)
class _OptionBesideLaw:
    """One option beside the law.

    Attributes:
        weights: its terms that are not the question's; the fewer options share one, the more.
        own_pairs: pairs of letters that not all options have.
        own_quantities: those that the question does not name.
    """

    option: str
    law: _Law
    weights: Mapping[str, float]
    own_pairs: frozenset[str]
    own_quantities: frozenset[NumberWithUnit]

    def signs(self) -> Signs:
        if not self.law.evidence:
            return Signs(dict.fromkeys(SIGNS, 0.0), None, ())
        shares = {id(one): self._share(one.terms) for one in self.law.evidence}
        nearest = sorted(self.law.evidence, key=lambda one: -shares[id(one)])[:_NEAREST_PROVISIONS]
        findings = (
            *self._other_quantities(nearest),
            *self._wording(),
            *self._turned(),
            *self._excluded(),
            *self._foreign_terms(),
        )
        kinds = Counter(finding.kind for finding in findings)
        values = {
            "coverage": math.log(shares[id(nearest[0])]),
            "absolute": -float(kinds[ObservationKind.ABSOLUTE] > 0),
            "hedge": float(kinds[ObservationKind.HEDGE]),
            "concession": -float(kinds[ObservationKind.CONCESSION]),
            "denial": -float(kinds[ObservationKind.DENIAL]),
            "negation": -float(kinds[ObservationKind.NEGATION]),
            "exclusion": -self._exclusion()[0],
            "quantity": -float(kinds[ObservationKind.QUANTITY] > 0),
        }
        return Signs(values, nearest[0].provision, findings)

    def _share(self, terms: frozenset[str]) -> float:
        found = sum(weight for term, weight in self.weights.items() if term in terms)
        return (found + _PRIOR_FOUND) / (sum(self.weights.values()) + _PRIOR_ALL)

    def _other_quantities(self, nearest: Sequence[ComparableProvision]) -> Iterator[Observation]:
        """Quantities in whose place the nearest provision has another one.

        One without a counterpart may be the case put, which no law needs to mention.
        """
        there = [
            quantities("\n".join((one.provision.text, *one.provision.above))) for one in nearest
        ]
        for own in sorted(self.own_quantities, key=str):
            alike = next(
                filter(None, ([q for q in near if q.unit == own.unit] for near in there)), []
            )
            if alike and own not in alike:
                yield Observation(
                    ObservationKind.QUANTITY, False, str(own), "、".join(sorted(map(str, alike)))
                )

    def _wording(self) -> Iterator[Observation]:
        for word in absolutes(self.option):
            if word not in self.law.folded:
                yield Observation(ObservationKind.ABSOLUTE, False, word)
        if words := hedge(self.option):
            yield Observation(ObservationKind.HEDGE, True, words)
        if words := concession(self.option):
            yield Observation(ObservationKind.CONCESSION, False, words)
        if words := unmatched_denial(self.option, self.law.nearest_sentences(self.option)):
            yield Observation(ObservationKind.DENIAL, False, words)

    def _turned(self) -> Iterator[Observation]:
        """Words that the option negates and the law only affirms, or the other way round."""
        for word, ways in negations(self.option).items():
            there = self.law.negations.get(word)
            if there is not None and not ways & there:
                yield Observation(ObservationKind.NEGATION, False, word)

    def _exclusion(self) -> tuple[float, str]:
        """How far the option is what the law excepts, 0 to 1, and the words of the exception."""
        if "除" in self.option or not self.own_pairs:
            return 0.0, ""
        best = 0.0, ""
        for words in self.law.exclusions:
            excepted = ngrams(words, 2)
            common = len(excepted & self.own_pairs)
            of_words = common / (len(excepted) + _PRIOR_EXCLUDED)
            of_option = common / (len(self.own_pairs) + _PRIOR_EXCLUDED)
            best = max(best, (of_words * of_option**0.5, words))
        return best

    def _excluded(self) -> Iterator[Observation]:
        extent, words = self._exclusion()
        if extent > _TOLD:
            yield Observation(ObservationKind.EXCLUSION, False, law=words)

    def _foreign_terms(self) -> Iterator[Observation]:
        foreign = [term for term in self.weights if len(term) > 1 and term not in self.law.terms]
        for term in sorted(foreign, key=self.weights.__getitem__, reverse=True)[:_SHOWN]:
            yield Observation(ObservationKind.FOREIGN, False, term)

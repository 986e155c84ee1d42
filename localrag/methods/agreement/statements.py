"""Options that say something: how far the provisions at hand bear it out."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from localrag.answer.checking import mismatches
from localrag.answer.types import MismatchKind
from localrag.methods.agreement.evidence import (
    ComparableProvision,
    LawText,
    content_terms,
    evidence_for,
)
from localrag.methods.agreement.types import Observation, ObservationKind, Signs
from localrag.methods.agreement.wording import (
    absolutes,
    concession,
    exclusions,
    fold,
    hedge,
    ngrams,
)

SIGNS = ("backed", "strength", "contradicted", "excepted")
"""Names of the signs, in the order of the weights, and why each tells:

- `backed`: an option deviates by saying what the law does not; what tells it from the others
  stands in a provision, or it does not.
- `strength`: laws make exceptions. A claim without any (必ず, いかなる, …でも) falls with one of
  them, a claim that leaves room for some (…場合がある) stands with one.
- `contradicted`: it states a figure that the law does not, or denies, allows or demands what the
  law does not; checked as the claims of a model are.
- `excepted`: it is what the law excepts (…を除く).
"""

# What every option says tells none of them apart, but shows of which provision they are.
_SHARED = 0.5
# An exception is told to the reader from this extent on, and at most so many foreign words.
_TOLD = 0.2
_SHOWN = 3
# Names and places are not among them: an option may take them from the case it puts.
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
    """The words of all provisions that the options are held against."""

    def __init__(self, evidence: Sequence[ComparableProvision]) -> None:
        self.evidence = evidence
        provisions = [one.provision for one in evidence]
        texts = dict.fromkeys(text for one in provisions for text in (*one.above, one.text))
        self.folded = "\n".join(map(fold, texts))
        self.terms = frozenset[str]().union(*(one.terms for one in evidence))
        self.exclusions = [words for text in texts for words in exclusions(text)]


@dataclass(frozen=True)
class _OptionBesideLaw:
    """One option beside the law.

    Attributes:
        weights: its terms that are not the question's; the fewer options share one, the more.
        own_weight: that of a term which no other option has.
        own_pairs: pairs of letters that not all options have.
    """

    question: str
    option: str
    law: _Law
    weights: Mapping[str, float]
    own_weight: float
    own_pairs: frozenset[str]

    def signs(self) -> Signs:
        if not self.law.evidence:
            return Signs(dict.fromkeys(SIGNS, 0.0), None, ())
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
        """Share of the terms by weight, as if of two further ones of its own one were found.

        So an option of two words, one of them found, is no surer than one of twenty.
        """
        found = sum(weight for term, weight in self.weights.items() if term in terms)
        return (found + self.own_weight) / (sum(self.weights.values()) + 2 * self.own_weight)

    def _contradicted(self, nearest: ComparableProvision) -> Iterator[Observation]:
        """What the nearest provision says otherwise; another one may speak of another matter."""
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
        """How far the option is what the law excepts, 0 to 1, and the words of the exception.

        The cosine of their pairs of letters; an option that itself excepts something is none.
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

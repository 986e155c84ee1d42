"""From what was found about each option to the options that can be meant: by code alone."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from localrag.methods.polarity import Polarity, polarity_of
from localrag.prompts import Language
from localrag.reading.types import Citation, Claim

# What denies, and what it denies; the longest form first.
_TURNS = {
    r"誤っている|誤った|間違っている|間違った|(?:誤り|間違い)[での]?ある|正しくない": "正しい",
    r"(?:誤り|間違い)(?=[はをが])": "正しいもの",
    r"不適切な|適切で(?:は)?ない": "適切な",
    r"不適当な|適当で(?:は)?ない": "適当な",
    r"ふさわしくない": "ふさわしい",
    r"該当するもので(?:は)?ない": "該当する",
    r"(?<=必要)[のが]ない": "のある",
    r"(?<=義務)[のが]ない": "のある",
    r"で(?:は)?ない": "である",
    r"てい(?:は)?ない": "ている",
    r"でき(?:は)?ない": "できる",
    r"し(?:は)?ない": "する",
    r"(?<=満)たさない": "たす",
    r"さない": "す",
    r"らない": "る",
    r"れない": "れる",
}
_DENIAL = re.compile("|".join(f"(?P<t{number}>{words})" for number, words in enumerate(_TURNS)))
_AFFIRMED = dict(zip((f"t{number}" for number in range(len(_TURNS))), _TURNS.values(), strict=True))


def affirmed(question: str) -> str:
    """The question with its outermost denial turned: 該当しないもの becomes 該当するもの.

    Who is asked about one option can then say whether it is so, and need not keep in mind that
    the opposite is wanted. A question whose denial is not among the known forms stays as it is;
    `polarity_of` tells.
    """
    if polarity_of(question) is Polarity.AGREES:
        return question
    for denial in reversed(list(_DENIAL.finditer(question))):
        assert denial.lastgroup is not None
        affirmation = _AFFIRMED[denial.lastgroup]
        turned = question[: denial.start()] + affirmation + question[denial.end() :]
        if polarity_of(turned) is Polarity.AGREES:
            return turned
    return question


class Relation(StrEnum):
    """How a provision stands to an option, in the words in which models reply."""

    AGREES = "一致"
    CONTRADICTS = "矛盾"
    UNRELATED = "無関係"


class ProvisionVerdict(StrEnum):
    """What the provisions say about an option."""

    AGREES = "agrees"
    DEVIATES = "deviates"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CitedFinding:
    """A sentence cited, and what a model says it means for an option.

    Attributes:
        citations: its words with those it is read with, put in by code.
        relation: as the model says.
        difference: what differs, in its words.
    """

    citations: tuple[Citation, ...]
    relation: Relation
    difference: str = ""


Findings = Mapping[str, Sequence[CitedFinding]]
"""What was found, by the label of the option."""

_SAYS: Mapping[Language, Mapping[ProvisionVerdict, str]] = {
    "ja": {
        ProvisionVerdict.AGREES: "{} は条文と一致する",
        ProvisionVerdict.DEVIATES: "{} は条文と矛盾する",
        ProvisionVerdict.UNKNOWN: "{} の当否を決める条文は確認できない",
    },
    "en": {
        ProvisionVerdict.AGREES: "{} agrees with the provisions",
        ProvisionVerdict.DEVIATES: "{} contradicts the provisions",
        ProvisionVerdict.UNKNOWN: "no provision was found that decides {}",
    },
}


def verdict_of(findings: Sequence[CitedFinding]) -> ProvisionVerdict:
    """One contradiction outweighs every agreement: an option may be right but for one word."""
    relations = {finding.relation for finding in findings}
    if Relation.CONTRADICTS in relations:
        return ProvisionVerdict.DEVIATES
    return ProvisionVerdict.AGREES if Relation.AGREES in relations else ProvisionVerdict.UNKNOWN


def wanted(polarity: Polarity) -> ProvisionVerdict:
    """The verdict of the option asked for."""
    return ProvisionVerdict.AGREES if polarity is Polarity.AGREES else ProvisionVerdict.DEVIATES


def remaining(verdicts: Mapping[str, ProvisionVerdict], polarity: Polarity) -> list[str]:
    """The labels of the options that can be meant: those of the verdict wanted.

    Where none has it, those of which nothing is known; where all have the opposite, all.
    """
    for verdict in (wanted(polarity), ProvisionVerdict.UNKNOWN):
        labels = [label for label, found in verdicts.items() if found is verdict]
        if labels:
            return labels
    return list(verdicts)


def claims_of(findings: Findings, language: Language) -> tuple[list[Claim], list[Citation]]:
    """A claim for each option in words, and the citations they rest on.

    What was found for a verdict that did not come about is not cited: an agreement beside a
    contradiction would read as if it carried the contradiction.
    """
    claims: list[Claim] = []
    citations: list[Citation] = []
    for label, found in findings.items():
        verdict = verdict_of(found)
        text = _SAYS[language][verdict].format(label)
        numbers: dict[int, None] = {}
        differences: dict[str, None] = {}
        for finding in found:
            if _MEANS.get(finding.relation) is not verdict:
                continue
            if verdict is ProvisionVerdict.DEVIATES and finding.difference:
                differences[finding.difference] = None
            for citation in finding.citations:
                if citation not in citations:
                    citations.append(citation)
                numbers[citations.index(citation) + 1] = None
        told = f"{text}: {' / '.join(differences)}" if differences else text
        claims.append(Claim(told, tuple(numbers)))
    return claims, citations


_MEANS = {Relation.AGREES: ProvisionVerdict.AGREES, Relation.CONTRADICTS: ProvisionVerdict.DEVIATES}

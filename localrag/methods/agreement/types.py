"""The values of judging options: signs, findings, judgements."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from localrag.methods.agreement.evidence import LawText


class ObservationKind(StrEnum):
    """What a finding is about."""

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
    """One thing that speaks for or against an option's agreement with the law.

    Attributes:
        agrees: whether it speaks for agreement.
        said: the words of the option.
        law: the words of the law they are held against; "" where it has none.
    """

    kind: ObservationKind
    agrees: bool
    said: str = ""
    law: str = ""


@dataclass(frozen=True, slots=True)
class Signs:
    """What was observed of one option.

    Attributes:
        values: by name of the sign; higher speaks for agreement with the law.
        provision: what the option rests on; None where no provision is at hand.
        findings: the same in words, as far as words can tell it.
    """

    values: Mapping[str, float]
    provision: LawText | None
    findings: tuple[Observation, ...]


@dataclass(frozen=True, slots=True)
class OptionJudgement:
    """How far one option agrees with the law.

    Attributes:
        agreement: log-odds on an open scale; to be compared within a question only.
        share: how probable it is that the question wants this option, 0 to 1; the shares of a
            question sum to 1. It is as good as the figures of the weights say.
        provision: what the option rests on; None where no provision is at hand.
        quote: verbatim words of the provision; "" without one.
        start: where the quote begins in the text of the document or context; -1 without one.
        findings: what spoke for or against it.
    """

    agreement: float
    share: float
    provision: LawText | None
    quote: str
    start: int
    findings: tuple[Observation, ...]


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
    """One clause, without a full stop at its end."""
    return _WORDS[finding.kind].format(said=finding.said, law=finding.law)

"""Whether a sentence says otherwise than a claim: figures, dates, names and denials."""

from localrag.answer.checking.contradicting import contradictions, denies
from localrag.answer.types import MismatchKind

from ...rows import each

Kind = MismatchKind


@each(
    ("claim", "sentence", "kind", "written"),
    [
        (
            "The mill cost 40 percent of the budget.",
            "The mill cost 12 percent of the budget, the clerk wrote.",
            Kind.SHARE,
            "40 percent",
        ),
        ("The tower was built in 1504.", "The tower was built in 1604.", Kind.DATE, "1504"),
        (
            "The mayor signed the treaty.",
            "The mayor did not sign the treaty.",
            Kind.NEGATION,
            "signed",
        ),
        (
            "Robert Quill of the Tarn Guard was not an owner of mills.",
            "Robert Quill was an owner of mills.",
            Kind.NEGATION,
            "not an owner",
        ),
        ("時計塔は1504年に建てられた。", "時計塔は1604年に建てられた。", Kind.DATE, "1504年"),
        (
            "事故の届出は十日以内にしなければならない。",
            "事故の届出は三十日以内にしなければならない。",
            Kind.PERIOD,
            "十日以内",
        ),
        ("町長は条約に署名した。", "町長は条約に署名しなかった。", Kind.NEGATION, "署名した"),
        ("It was built in Tarn in 1504.", "It was built in Quill in 1504.", Kind.NAME, "Tarn"),
    ],
)
def test_what_a_sentence_says_otherwise(
    claim: str, sentence: str, kind: MismatchKind, written: str
) -> None:
    (found,) = contradictions(claim, sentence)
    assert (found.kind, found.written) == (kind, written)


@each(
    ("claim", "sentence"),
    [
        # It says the same, or the same rounded.
        ("The tower was built in 1504.", "The tower was built in 1504, in May."),
        ("The mill cost 40 pounds.", "The mill cost 41 pounds."),
        # It does not mention it.
        ("The tower was built in 1504.", "The tower was built by Johan Reed."),
        ("The mill cost 40 percent of the budget.", "The mill took part of the budget."),
        # It speaks of something else.
        ("The mill cost 40 percent of the budget.", "The bakery earned 90 percent of bread sales."),
        ("時計塔は1504年に建てられた。", "パン屋は1604年に開いた。"),
        # It calls the same otherwise, and says only part of the rest.
        ("Ada Frost of Tarn built the red mill.", "Quill built something."),
        ("", "The tower was built in 1604."),
        ("The tower was built in 1504.", ""),
    ],
)
def test_what_contradicts_nothing(claim: str, sentence: str) -> None:
    assert contradictions(claim, sentence) == ()


def test_names_come_alone_or_not_at_all() -> None:
    found = contradictions(
        "The hall of Tarn cost 40 percent of the budget.",
        "The hall of Quill cost 12 percent of the budget.",
    )
    assert Kind.NAME not in {one.kind for one in found}


@each(
    ("sentence", "expected"),
    [
        ("No evidence was found that Quill reported it.", True),
        ("The order was never issued.", True),
        ("The order was issued.", False),
        ("命令は出されなかった。", True),
        ("命令は出された。", False),
    ],
)
def test_whether_a_sentence_denies_anything(sentence: str, expected: bool) -> None:
    assert denies(sentence) is expected

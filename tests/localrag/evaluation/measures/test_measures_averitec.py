"""The measures of AVeriTeC, on small cases worked out by hand by the rules of the official script.

METEOR of two texts whose m words all agree, in one run, is 1 − 0.5 · (1 / m)³; of texts that share
no word, stem or sense it is 0. With a precision P and a recall R of the words that agree it is
F · (1 − 0.5 · (runs / m)³), where F = P · R / (0.9 · P + 0.1 · R).
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from localrag.answer.types import CheckedEvidence, Citation, FactCheck, Veracity
from localrag.evaluation.measures import MEASURES, Measure, averitec
from localrag.evaluation.measures.averitec import Meteor, assigned
from localrag.evaluation.types import GoldEvidence, Question
from localrag.search.types import Query
from localrag.text.facts import FactKind

# Importing both takes two seconds, in whatever process only collects the tests.
pytestmark = pytest.mark.skipif(
    not (find_spec("nltk") and find_spec("scipy")), reason="needs nltk and scipy"
)


@pytest.fixture(autouse=True)
def _no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are those without WordNet, whatever this machine has."""
    import nltk.data

    monkeypatch.setattr(nltk.data, "path", [])
    monkeypatch.setattr(averitec, "DEBIAN", Path("/nowhere"))


@pytest.fixture
def compare() -> Meteor:
    found = Meteor.open()
    assert found is not None
    return found


@pytest.fixture
def measure() -> Measure:
    return MEASURES["averitec"]([])


def claim(*evidence: tuple[str, tuple[str, ...]]) -> Question:
    found = tuple(GoldEvidence(*one) for one in evidence)
    return Question("0", Query("A claim."), Veracity.REFUTED.value, evidence=found)


def checked(veracity: Veracity, *found: tuple[str, str]) -> FactCheck:
    evidence = [CheckedEvidence(asked, Citation("d#1", quote)) for asked, quote in found]
    asked = dict.fromkeys(question for question, _ in found)
    return FactCheck(veracity, tuple(asked), tuple(evidence))


def same(words: int) -> float:
    return 1 - 0.5 / words**3


def test_meteor_of_equal_texts_and_of_unlike_ones(compare: Meteor) -> None:
    assert compare("red mill", "red mill") == pytest.approx(same(2))
    assert compare("red mill", "blue tower") == 0
    # One of two words of the candidate, one of three of the reference.
    mean = (1 / 2) * (1 / 3) / (0.9 * (1 / 2) + 0.1 * (1 / 3))
    assert compare("red barn", "red mill wheel") == pytest.approx(mean * 0.5)
    # Stems agree, and case does not count.
    assert compare("Mills", "mill") == pytest.approx(same(1))


def test_each_is_assigned_to_another_one_so_that_the_sum_is_highest(compare: Meteor) -> None:
    wanted = ["red mill wheel", "red mill"]
    # The first alone would be likest to the second, too.
    assert assigned(compare, ["red mill", "red mill wheel"], wanted) == pytest.approx(
        (same(2) + same(3)) / 2
    )
    assert assigned(compare, ["red mill"], wanted) == pytest.approx(same(2) / 2)
    assert assigned(compare, ["red mill", "blue tower", "old barn"], wanted) == pytest.approx(
        same(2) / 2
    ), "what is given besides costs nothing"


def test_only_the_first_ten_count(compare: Meteor) -> None:
    ten = [f"w{number}" for number in range(10)]
    assert assigned(compare, [*ten, "red mill"], ["red mill"]) == 0
    assert assigned(compare, [*ten[:9], "red mill"], ["red mill"]) == pytest.approx(same(2))
    assert assigned(compare, [], ["red mill"]) == assigned(compare, ["red mill"], []) == 0


def test_questions_and_evidence_are_scored_as_the_script_joins_them(measure: Measure) -> None:
    assert measure.of_checks is not None
    question = claim(("who built it", ("johan reed", "his son")), ("who paid", ()))
    right = checked(
        Veracity.REFUTED,
        ("who built it", "johan reed"),
        ("who built it", "his son"),
        ("who paid", "nobody"),
    )
    figures = measure.of_checks(right, question)
    assert figures["accuracy"] == 1
    assert figures["Q"] == pytest.approx((same(3) + same(2)) / 2)
    # "who paid No answer could be found." has eight tokens: of "who paid nobody" two agree.
    share = (2 / 3) * (2 / 8) / (0.9 * (2 / 3) + 0.1 * (2 / 8)) * (1 - 0.5 / 2**3)
    assert figures["Q+A"] == pytest.approx((same(5) + same(5) + share) / 3)
    assert [figures[f"accuracy@{level}"] for level in (0.1, 0.2, 0.25)] == [1, 1, 1]


def test_a_right_verdict_on_little_evidence_counts_at_low_levels_only(measure: Measure) -> None:
    assert measure.of_checks is not None
    # Of one word in common of four on both sides: 0.25 · 0.5.
    question = claim(("red one two", ("three",)))
    found = checked(Veracity.REFUTED, ("red four five", "six"))
    figures = measure.of_checks(found, question)
    assert figures["Q+A"] == pytest.approx(0.125)
    assert (figures["accuracy@0.1"], figures["accuracy@0.2"]) == (1, 0)
    wrong = measure.of_checks(checked(Veracity.SUPPORTED, ("red one two", "three")), question)
    assert (wrong["accuracy"], wrong["accuracy@0.1"]) == (0, 0)


def test_without_a_verdict_there_are_no_points(measure: Measure) -> None:
    assert measure.of_checks is not None
    figures = measure.of_checks(None, claim(("who paid", ())))
    assert set(figures.values()) == {0}
    assert measure.figures("Refuted", (), claim()) == {measure.score: 0}, "no text is a verdict"
    empty = measure.of_checks(FactCheck(Veracity.NOT_ENOUGH), claim())
    assert empty["Q+A"] == 0


def test_a_supplement_counts_as_part_of_what_was_shown(measure: Measure) -> None:
    assert measure.of_checks is not None
    evidence = CheckedEvidence("who", Citation("d#1", "built it"), "johan reed")
    found = FactCheck(Veracity.REFUTED, ("who",), (evidence,))
    figures = measure.of_checks(found, claim(("who", ("johan reed built it",))))
    assert figures["Q+A"] == pytest.approx(same(5))


def test_what_is_missing_is_told(monkeypatch: pytest.MonkeyPatch, measure: Measure) -> None:
    kinds = {fact.kind for fact in measure.notes}
    assert {FactKind.METEOR_WITHOUT_WORDNET, FactKind.METEOR_OTHER_SENTENCES} < kinds
    monkeypatch.setitem(sys.modules, "nltk.data", None)
    without = MEASURES["averitec"]([])
    assert [fact.kind for fact in without.notes] == [FactKind.METEOR_LEFT_OUT]
    assert without.of_checks is not None
    assert without.of_checks(checked(Veracity.REFUTED), claim()) == {"accuracy": 1}


NOUNS = ["mill", "grinder"]


def wordnet(folder: Path) -> Path:
    """A WordNet of one sense with two nouns, without the table of its files, as Debian has it."""
    folder.mkdir(parents=True)
    for kind in ("adj", "adv", "verb", "noun"):
        for name in (f"data.{kind}", f"index.{kind}", f"{kind}.exc"):
            (folder / name).write_text("")
    (folder / "cntlist.rev").write_text("")
    sense = "00000000 06 n 02 mill 0 grinder 0 000 | what grinds\n"
    (folder / "data.noun").write_text(sense)
    (folder / "index.noun").write_text("".join(f"{word} n 1 0 1 0 00000000\n" for word in NOUNS))
    return folder


def test_with_wordnet_words_of_one_sense_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compare: Meteor
) -> None:
    assert compare(*NOUNS) == 0
    monkeypatch.setattr(averitec, "DEBIAN", wordnet(tmp_path / "wordnet"))
    debian = Meteor.open()
    assert debian is not None
    assert FactKind.METEOR_WITHOUT_WORDNET not in {fact.kind for fact in debian.notes}
    assert debian(*NOUNS) == pytest.approx(same(1))


def test_wordnet_among_the_data_of_nltk_is_taken_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nltk.data

    wordnet(tmp_path / "corpora" / "wordnet")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    found = Meteor.open()
    assert found is not None
    assert found(*NOUNS) == pytest.approx(same(1))

"""The measures of JEMHopQA: the figures of the official script, and verdicts by comparison.

``official.json`` holds what the official script printed for invented questions and answers.
"""

import json
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from localrag.corpus.types import Triple
from localrag.evaluation.measures import MEASURES, AnswerVerdict, Measure
from localrag.evaluation.types import Question
from localrag.search.types import Query

from ....rows import each

OFFICIAL: dict[str, Any] = json.loads(
    Path(__file__).with_name("official.json").read_text(encoding="utf-8")
)

GOLD = [("青凪鉄道", "終着駅", ["灯台前駅"]), ("灯台前駅", "所在地", ["鳴海県", "青凪町"])]


def triples(rows: Any) -> tuple[Triple, ...]:
    return tuple(Triple(subject, predicate, tuple(objects)) for subject, predicate, objects in rows)


def asked(answer: str, derivation: Any = GOLD) -> Question:
    return Question("q", Query("終着駅はどこか。"), answer, derivation=triples(derivation))


@pytest.fixture(scope="module")
def measure(tmp_path_factory: pytest.TempPathFactory) -> Measure:
    folder = tmp_path_factory.mktemp("synonyms")
    paths = [folder / "synonyms.txt", folder / "own.txt"]
    for path, name in zip(paths, ("synonyms", "own_synonyms"), strict=True):
        path.write_text("\n".join(OFFICIAL[name]), encoding="utf-8")
    return MEASURES["jemhopqa"](paths)


@each("case", OFFICIAL["cases"])
def test_figures_are_those_of_the_official_script(measure: Measure, case: Any) -> None:
    question = asked(case["gold_answer"], case["gold_derivation"])
    figures = measure.figures(case["answer"], triples(case["derivation"]), question)
    assert {name: figures[name] for name in case["figures"]} == pytest.approx(
        case["figures"], abs=1e-9
    )
    assert figures.keys() == {*case["figures"], "char_f1"}


def test_more_words_than_letters_are_measured(measure: Measure) -> None:
    words = "山川空海風雨雪霧星月花鳥犬猫馬牛魚貝石砂土草木森林畑道橋町村"
    gold, answer = "、".join(words), "、".join(words[::-1] + words)
    figures = measure.figures(answer, (), asked(gold))
    assert figures["similarity"] > 0
    assert measure.figures(gold, (), asked(gold))["similarity"] == 1


def test_a_huge_or_broken_answer_is_measured(measure: Measure) -> None:
    figures = measure.figures("灯台前駅、" * 20_000, triples(GOLD), asked("灯台前駅"))
    assert 0 < figures["similarity"] < 0.01
    assert figures["full_f1"] == 1
    assert measure.figures("\ud800灯台前駅", (), asked("灯台前駅"))["similarity"] > 0


def test_what_made_the_figures_is_told(measure: Measure) -> None:
    installed = version("sudachidict_core")
    made, *_ = map(str, measure.notes)
    assert f"core {installed}" in made or "full" in made
    assert "synonyms.txt, own.txt" in made
    bare = MEASURES["jemhopqa"]([])
    assert "no synonyms" in str(bare.notes[0])
    assert "The official script uses" in str(bare.notes[1])


@pytest.mark.parametrize("package", ["rapidfuzz", "scipy", "sudachipy"])
def test_without_the_extra_similarities_are_left_out_and_named(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    measure = MEASURES["jemhopqa"]([])
    figures = measure.figures("灯台前駅", triples(GOLD), asked("灯台前駅"))
    assert figures == {"em": 1, "char_f1": 1}
    (note,) = map(str, measure.notes)
    assert "the extra jemhopqa" in note
    assert measure.verdict
    assert measure.verdict("灯台前駅", triples(GOLD), asked("灯台前駅")) is AnswerVerdict.TT


def test_without_a_dictionary_similarities_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setattr("localrag.evaluation.measures.jemhopqa.version", none)
    assert "similarity" not in MEASURES["jemhopqa"]([]).figures("駅", (), asked("駅"))


def test_the_larger_dictionary_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    from localrag.evaluation.measures import jemhopqa

    monkeypatch.setattr(jemhopqa, "version", {"sudachidict_full": "2", "sudachidict_core": "1"}.get)
    assert jemhopqa.installed_dictionary() == ("full", "2")


@each(
    ("answer", "derivation", "expected"),
    [
        ("灯台前駅", GOLD, "TT"),
        ("『灯台前駅』（終点）", list(reversed(GOLD)), "TT"),
        ("灯台 前駅", [*GOLD, ("青凪鉄道", "本社", ["帆掛市"])], "TT"),
        (
            "灯台前駅",
            [
                ("青凪鉄道 (私鉄)", "終点", ["灯台前駅"]),
                ("灯台前駅", "県", ["鳴海県"]),
                ("灯台前駅", "町", ["青凪町"]),
            ],
            "TT",
        ),
        ("灯台前駅", GOLD[:1], "TF"),
        ("灯台前駅", [GOLD[0], ("灯台前駅", "所在地", ["鳴海県"])], "TF"),
        ("灯台前駅", [("灯台前駅", "終着駅", ["青凪鉄道"]), GOLD[1]], "TF"),
        ("灯台前駅", [], "TF"),
        ("青凪町", GOLD, "FT"),
        ("青凪町", [], "FF"),
        ("", GOLD, "N/A"),
        (" \n　", [], "N/A"),
    ],
)
def test_verdicts_by_comparison(answer: str, derivation: Any, expected: str) -> None:
    verdict = MEASURES["jemhopqa"]([]).verdict
    assert verdict
    assert verdict(answer, triples(derivation), asked("灯台前駅")) == expected


def test_yes_and_no_have_several_spellings_in_verdicts() -> None:
    verdict = MEASURES["jemhopqa"]([]).verdict
    assert verdict
    assert verdict("はい", (), asked("YES", [])) is AnswerVerdict.TT
    assert verdict("ｙｅｓ", (), asked("YES", [])) is AnswerVerdict.TT
    assert verdict("いいえ", (), asked("YES", [])) is AnswerVerdict.FT


def test_free_text_of_other_datasets_is_looked_through() -> None:
    measure = MEASURES["contains"]([])
    assert measure.figures("それは灯台前駅だ。", (), asked("灯台前駅")) == {measure.score: 1}
    assert measure.verdict is None

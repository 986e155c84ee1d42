"""Exact match and F1 as the official scripts compute them: by hand, and by what they printed.

``official_multihop.json`` holds what the scripts of HotpotQA, 2WikiMultiHopQA and MuSiQue gave for
invented answers.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from localrag.evaluation.measures import MEASURES
from localrag.evaluation.measures.multihop import exact, normalised, word_f1
from localrag.evaluation.types import Question
from localrag.search.types import Query

from ....rows import each

OFFICIAL = Path(__file__).with_name("official_multihop.json")
_WHOLE = ("yes", "no", "noanswer")


@each(
    ("text", "form"),
    [
        ("The River Quill", "river quill"),
        ("  a\tRiver \n an Quill.", "river quill"),
        ("Theatre of the Anvil", "theatre of anvil"),
        ("U.S.", "us"),
        ("twenty-three", "twentythree"),
        ("an-apple", "anapple"),
        ("273,282", "273282"),
        ("“Quill”", "“quill”"),
        ("The", ""),
        ("", ""),
    ],
)
def test_answers_are_normalised_as_the_official_scripts_do(text: str, form: str) -> None:
    assert normalised(text) == form


@each(
    ("answer", "gold", "em", "f1"),
    [
        ("River Quill", "the river Quill.", 1, 1),
        # 2 words agree of 3 and of 2: precision 2/3, recall 1.
        ("Quill River, Tarn", "River Quill", 0, 4 / 5),
        # A word counts as often as both have it.
        ("Quill Quill", "Quill", 0, 2 / 3),
        ("March 2 and 3, 2012", "2012", 0, 1 / 3),
        ("Tarn", "Quill", 0, 0),
        ("", "Quill", 0, 0),
        ("yes", "Yes!", 1, 1),
        # One word of two agrees, but yes and no are right as a whole or not at all.
        ("yes it is", "yes", 0, 0),
        ("no", "no man", 0, 0),
        ("noanswer", "noanswer given", 0, 0),
        ("The", "a", 1, 1),
    ],
)
def test_exact_match_and_f1(answer: str, gold: str, em: float, f1: float) -> None:
    assert exact(answer, gold) == exact(gold, answer) == em
    assert word_f1(answer, gold) == pytest.approx(f1)
    assert word_f1(gold, answer) == pytest.approx(f1)


def test_of_several_right_answers_the_likest_counts() -> None:
    measure = MEASURES["multihop"]([])
    question = Question("q", Query("Which?"), "River Quill", aliases=("the Quill of Tarn", "Q"))
    assert measure.score == "f1"
    assert measure.figures("Quill Tarn", (), question) == {"em": 0, "f1": pytest.approx(4 / 5)}
    assert measure.figures("q", (), question) == {"em": 1, "f1": 1}


def test_where_nothing_is_right_no_answer_is() -> None:
    figures = MEASURES["multihop"]([]).figures
    question = Question("q", Query("Which?"), "")
    assert figures("", (), question) == {"em": 1, "f1": 1}
    assert figures("River Quill", (), question) == {"em": 0, "f1": 0}


@each("case", json.loads(OFFICIAL.read_text(encoding="utf-8"))["cases"])
def test_figures_are_those_of_the_official_scripts(case: dict[str, Any]) -> None:
    right, *aliases = case["right"]
    question = Question("q", Query("Which?"), right, aliases=tuple(aliases))
    found = MEASURES["multihop"]([]).figures(case["answer"], (), question)
    answer, *texts = map(normalised, (case["answer"], *case["right"]))
    for script in ("hotpotqa", "2wikimultihopqa", "musique"):
        if script not in case:
            assert aliases, "the script of HotpotQA takes one right answer"
            continue
        em, f1 = case[script]
        assert found["em"] == em, script
        if script == "musique":
            # That script alone takes yes and no for words like others.
            if f1 != pytest.approx(found["f1"]):
                assert {answer, *texts} & set(_WHOLE)
                assert found["f1"] == case["2wikimultihopqa"][1]
        elif not answer and "" in texts:
            # To the script of MuSiQue, where a question can be without an answer, these agree.
            assert (f1, found["f1"]) == (0, case["musique"][1])
        else:
            assert found["f1"] == pytest.approx(f1), script

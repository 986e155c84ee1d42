"""A question of a lawyer that stands by itself stays so, whatever was asked before it.

Those of the half that may be looked at are asked after others of it, about other laws.
"""

import json
from itertools import islice
from pathlib import Path
from typing import Any

from localrag.question.follow_up import rewritten
from localrag.statutes.names import LawNames

FOLDER = Path(__file__).parent / "questions"
BEFORE_EACH = 10
# A word that both questions begin with, and that says little (事件, 契約), misleads.
MOST_CHANGED = 0.005


def whole_questions() -> list[dict[str, Any]]:
    """Questions without a history, of the half that may be looked at."""
    lines = [
        json.loads(line)
        for file in sorted(FOLDER.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    return [line for line in lines if line["half"] == "seen" and not line.get("history")]


def laws_of(question: dict[str, Any]) -> set[str]:
    """The laws that a question is about."""
    return {*question["laws"], *(gold["law_id"] for gold in question["gold"])}


def test_unrelated_questions_are_not_changed() -> None:
    # Without a corpus laws are still known by the look of their names.
    names = LawNames([])
    questions = whole_questions()
    pairs, changed = 0, []
    for place, asked in enumerate(questions):
        # From another part of the list each time, and of other groups.
        others = questions[place + 7 :: 11] + questions[: place + 7 : 11]
        unrelated = (one for one in others if not laws_of(one) & laws_of(asked))
        for before in islice(unrelated, BEFORE_EACH):
            pairs += 1
            if rewritten(asked["question"], [before["question"]], names).changed:
                changed.append((before["question"], asked["question"]))
    assert pairs > 1000
    assert len(changed) <= MOST_CHANGED * pairs, changed

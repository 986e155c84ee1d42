"""Questions in the format of JEMHopQA, and the declaration of the dataset."""

import json
from typing import Any

import pytest

from localrag.corpus.types import Triple
from localrag.errors import InputError
from localrag.evaluation.datasets.loading import declared
from localrag.evaluation.datasets.readers import Sources, read
from localrag.evaluation.types import Question

from ...rows import each

ENTRY: dict[str, Any] = {
    "qid": "q1",
    "type": "compositional",
    "question": "青凪鉄道の終着駅があるのは何県ですか？",
    "answer": "鳴海県",
    "derivations": [
        ["青凪鉄道", "終着駅", ["灯台前駅"]],
        ["灯台前駅", "所在地", [" 鳴海県", "青凪町"]],
    ],
    "page_ids": ["1", "2"],
    "time_dependent": True,
}


def read_entries(*entries: Any) -> tuple[Question, ...]:
    return read("jemhopqa", "dev.json", json.dumps(entries).encode(), Sources())


def test_an_entry_is_a_question_without_options() -> None:
    (question,) = read_entries(ENTRY)
    assert (question.id, question.answer) == ("q1", "鳴海県")
    assert (question.query.text, question.query.options) == (ENTRY["question"], ())
    assert question.derivation == (
        Triple("青凪鉄道", "終着駅", ("灯台前駅",)),
        Triple("灯台前駅", "所在地", ("鳴海県", "青凪町")),
    )
    assert question.groups == {
        "type": "compositional",
        "answer": "other",
        "steps": "2",
        "time_dependent": "yes",
    }
    assert not question.gold


def test_yes_and_no_are_a_group_and_time_may_be_untold() -> None:
    _, no = read_entries(ENTRY, ENTRY | {"qid": "q2", "answer": "NO", "time_dependent": None})
    assert no.groups == {"type": "compositional", "answer": "YES/NO", "steps": "2"}


@each(
    ("change", "part"),
    [
        ({"qid": ""}, "'qid' is missing"),
        ({"type": None}, "'type' is missing"),
        ({"question": "？"}, "holds no word"),
        ({"question": "駅" * 20_000}, "are the limit"),
        ({"answer": ["鳴海県"]}, "'answer' is no text"),
        ({"answer": "\ud800"}, "half a character"),
        ({"derivations": None}, "'derivations' is no list"),
        ({"derivations": []}, "or empty"),
        ({"derivations": ["青凪鉄道"]}, "Triple 1 of its derivations is not"),
        ({"derivations": [ENTRY["derivations"][0], ["甲", "乙"]]}, "Triple 2"),
        ({"derivations": [["甲", "乙", "丙"]]}, "a list of objects"),
        ({"derivations": [["甲", "乙", []]]}, "a list of objects"),
        ({"derivations": [["甲", 3, ["丙"]]]}, "Triple 1"),
        ({"derivations": [["甲", "乙", ["丙", None]]]}, "an object that is no text"),
        ({"derivations": [["甲", " ", ["丙"]]]}, "has an empty part"),
        ({"derivations": [["甲", "乙", ["\udfff"]]]}, "half a character"),
        ({"time_dependent": "false"}, "neither true nor false"),
    ],
)
def test_a_defect_is_named_with_its_entry(change: dict[str, Any], part: str) -> None:
    with pytest.raises(InputError) as caught:
        read_entries(ENTRY, ENTRY | {"qid": "q2"} | change)
    assert "entry 2: " in caught.value.cause
    assert part in caught.value.cause


def test_the_dataset_is_declared_with_its_measure_and_caveats() -> None:
    dataset = declared()["jemhopqa"]
    assert (dataset.reader, dataset.measure) == ("jemhopqa", "jemhopqa")
    assert [split.name for split in dataset.splits] == ["train", "train-published", "dev"]
    assert any("derivations of these very questions" in caveat for caveat in dataset.caveats)

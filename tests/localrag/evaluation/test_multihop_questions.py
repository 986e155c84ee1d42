"""Questions in the formats of MuSiQue, HotpotQA, 2WikiMultiHopQA and LongBench."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from localrag.corpus.config import load as load_config
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag.errors import InputError
from localrag.evaluation.datasets import acquiring
from localrag.evaluation.datasets.loading import declared, load
from localrag.evaluation.datasets.readers import Sources, read
from localrag.evaluation.recall import ranks
from localrag.evaluation.types import Gold, Question

from ...rows import each

MUSIQUE: dict[str, Any] = {
    "id": "2hop__1_2",
    "question": "On which river does the founder of Tarn Ferries live?",
    "answer": "River Quill",
    "answer_aliases": ["the Quill", "", "River Quill"],
    "answerable": True,
    "paragraphs": [
        {"idx": 0, "title": "Tarn Ferries", "paragraph_text": "Ada Moss founded it."},
        {"idx": 1, "title": "Ada Moss", "paragraph_text": "An architect.", "is_supporting": False},
        {"idx": 2, "title": "Ada Moss", "paragraph_text": "She lives on the Quill."},
    ],
    "question_decomposition": [{"id": 1}, {"id": 2}],
}
for place in (0, 2):
    MUSIQUE["paragraphs"][place]["is_supporting"] = True
HOTPOTQA: dict[str, Any] = {
    "_id": "h1",
    "question": "Are Tarn Ferries and Quill Ferries in the same town?",
    "answer": "no",
    "type": "comparison",
    "level": "hard",
    "supporting_facts": [["Tarn Ferries", 1], ["Quill Ferries", 0], ["Tarn Ferries", 0]],
    "context": [
        ["Tarn Ferries", ["A company.", " It is in Tarn."]],
        ["Ada Moss", ["An architect."]],
        ["Quill Ferries", ["A company in Quillmere."]],
    ],
}
WIKI = {name: value for name, value in HOTPOTQA.items() if name != "level"} | {
    "type": "bridge_comparison",
    "evidences": [["Tarn Ferries", "located in", "Tarn"]] * 4,
}
LONGBENCH: dict[str, Any] = {
    "_id": "l1",
    "input": "Who founded Tarn Ferries?",
    "answers": ["Ada Moss", "Moss"],
    "context": "Passage 1:\nTarn Ferries\nAda Moss founded it.\n\nPassage 7:\nis a line of it.\n"
    "Passage 2:\nAda Moss\nAn architect.\n",
    "dataset": "musique",
    "length": 20,
    "language": "en",
    "all_classes": None,
}


def read_entries(*entries: Any, known: Sources | None = None) -> tuple[Question, ...]:
    return read("multihop", "dev.json", json.dumps(entries).encode(), known or Sources())


def test_an_entry_of_musique() -> None:
    (question,) = read_entries(MUSIQUE)
    assert (question.id, question.query.text) == ("2hop__1_2", MUSIQUE["question"])
    assert (question.answer, question.aliases) == ("River Quill", ("the Quill",))
    assert question.gold == (Gold("Tarn Ferries"), Gold("Ada Moss"))
    assert question.context == (
        "Tarn Ferries\nAda Moss founded it.\n\nAda Moss\nShe lives on the Quill."
    )
    assert question.groups == {"type": "2hop", "hops": "2", "answerable": "yes"}


def test_what_is_not_answerable_has_no_right_answer() -> None:
    (question,) = read_entries(MUSIQUE | {"answerable": False})
    assert (question.answer, question.aliases) == ("", ())
    assert question.groups["answerable"] == "no"


def test_entries_of_hotpotqa_and_2wikimultihopqa() -> None:
    hotpotqa, wiki = read_entries(HOTPOTQA, WIKI | {"_id": "w1"})
    assert hotpotqa.gold == wiki.gold == (Gold("Tarn Ferries"), Gold("Quill Ferries"))
    assert hotpotqa.context.startswith("Tarn Ferries\nA company. It is in Tarn.\n\nQuill Ferries\n")
    assert hotpotqa.groups == {"type": "comparison", "level": "hard"}
    assert wiki.groups == {"type": "bridge_comparison", "hops": "4"}
    assert (hotpotqa.answer, hotpotqa.aliases) == ("no", ())


def test_an_entry_of_longbench_does_not_say_what_supports_it() -> None:
    (question,) = read_entries(LONGBENCH)
    assert (question.query.text, question.gold) == (LONGBENCH["input"], ())
    assert (question.answer, question.aliases) == ("Ada Moss", ("Moss",))
    assert question.groups == {"dataset": "musique"}


def test_supporting_paragraphs_are_documents_of_the_corpus() -> None:
    titled = {
        "tarnferries": [("t:1", "")],
        "adamoss": [("t:2", "An architect."), ("t:3", "She  lives on the Quill.")],
    }
    (question,) = read_entries(MUSIQUE, known=Sources(open_titled=lambda: titled))
    assert question.gold == (Gold("t:1"), Gold("t:3"))
    titled["adamoss"] = titled["adamoss"][:1] * 2
    (question,) = read_entries(MUSIQUE, known=Sources(open_titled=lambda: titled))
    assert question.gold == (Gold("t:1"), Gold("Ada Moss")), "the corpus lacks this text"


@each(
    ("entry", "change", "part"),
    [
        (MUSIQUE, {"id": ""}, "'id' is missing"),
        (MUSIQUE, {"answer": None}, "'answer' is missing"),
        (MUSIQUE, {"answerable": "yes"}, "neither true nor false"),
        (MUSIQUE, {"answer_aliases": "River"}, "'answer_aliases' is no list of texts"),
        (MUSIQUE, {"answer_aliases": [1]}, "'answer_aliases' is no list of texts"),
        (MUSIQUE, {"paragraphs": [{"title": "Tarn Ferries"}]}, "neither the form"),
        (MUSIQUE, {"paragraphs": ["Tarn Ferries"]}, "neither the form"),
        (MUSIQUE, {"question": "?"}, "holds no word"),
        (HOTPOTQA, {"supporting_facts": None}, "'supporting_facts' is no list"),
        (HOTPOTQA, {"supporting_facts": [["Tarn Ferries"]]}, "'supporting_facts' is no list"),
        (HOTPOTQA, {"supporting_facts": [["a", 0], []]}, "'supporting_facts' is no list"),
        (HOTPOTQA, {"context": [["Tarn Ferries"]]}, "neither the form"),
        (HOTPOTQA, {"answer": ""}, "'answer' is missing"),
        (HOTPOTQA, {"_id": None}, "'_id' is missing"),
        (LONGBENCH, {"answers": []}, "'answers' is missing"),
        (LONGBENCH, {"answers": ["\ud800"]}, "half a character"),
    ],
)
def test_a_defect_is_named_with_its_entry(
    entry: dict[str, Any], change: dict[str, Any], part: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_entries(HOTPOTQA | {"_id": "first"}, entry | change)
    assert "entry 2: " in caught.value.cause
    assert part in caught.value.cause


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = Workspace.locate(tmp_path / "home")
    workspace.init()
    return workspace


def test_a_corpus_made_of_the_questions_holds_their_gold(
    workspace: Workspace, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "q.json").write_text(json.dumps([MUSIQUE]), encoding="utf-8")
    (folder / "long.jsonl").write_text(json.dumps(LONGBENCH) + "\n", encoding="utf-8")
    (folder / "ferries.toml").write_text(
        'title = "Ferries"\nsource = "invented"\nlicence = "CC0"\nreader = "multihop"\n'
        'measure = "multihop"\ncorpus = ["q.json", "long.jsonl"]\n'
        '[[splits]]\nname = "dev"\nfile = "q.json"\n',
        encoding="utf-8",
    )
    acquiring.add(workspace, str(folder / "ferries.toml"), folder, load_config(workspace))
    (question,) = load(workspace, "ferries").questions
    with CorpusStore.open(workspace.corpus("ferries").store, read_only=True) as store:
        passages = [passage.id for _, passage in store.passages()]
        titles = Counter(document.title for document in store.documents())
    assert titles == {"Tarn Ferries": 2, "Ada Moss": 3}
    assert all(ranks(question.gold, passages)), "each by its text, among several of its title"


@each("name", ["musique", "2wikimultihopqa", "hotpotqa"])
def test_the_datasets_are_declared_with_their_measure_and_caveats(name: str) -> None:
    dataset = declared()[name]
    assert (dataset.reader, dataset.measure) == ("multihop", "multihop")
    assert any("far easier to find" in caveat for caveat in dataset.caveats)


@pytest.mark.parametrize("name", ["musique", "hotpotqa"])
def test_the_shared_questions_find_their_gold(
    name: str, workspace: Workspace, shared_data: Path
) -> None:
    config = load_config(workspace)
    brought = acquiring.add(workspace, name, shared_data, config)
    assert brought.new == ("sample",)
    assert not brought.failed
    questions = load(workspace, name).questions
    assert len(questions) == 50
    assert all(len(question.gold) >= 2 for question in questions)
    assert all(
        gold.document.startswith(f"{name}_corpus.json:") for q in questions for gold in q.gold
    )

"""Each question on the documents that came with it, and on those without what supports it."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tiny_models.scripted import ScriptedChat

from localrag.corpus.config import load as load_config
from localrag.corpus.ingest.add import add
from localrag.corpus.workspace import Workspace
from localrag.errors import InputError, NotFoundError, UsageError
from localrag.evaluation import record
from localrag.evaluation.datasets.loading import load
from localrag.evaluation.planning import plan
from localrag.evaluation.report import MARKDOWN, measured, read
from localrag.evaluation.report.measured import answers_of
from localrag.evaluation.runner import Finished, evaluate
from localrag.evaluation.types import Evaluation, Gold, Questions
from localrag.methods.extractive import EVIDENCE
from localrag.search.indexing.index import index
from localrag_models.chat import ChatRequest, Reply, ignore, never, overlook
from localrag_models.store import ModelStore

# Both have a paragraph called Ada Moss, with texts of their own.
FERRIES: dict[str, Any] = {
    "id": "ferries",
    "question": "In which town was the founder of Tarn Ferries born?",
    "answer": "Quillmere",
    "answerable": True,
    "paragraphs": [
        {"title": "Tarn Ferries", "paragraph_text": "Tarn Ferries was founded by Ada Moss."},
        {"title": "Ada Moss", "paragraph_text": "Ada Moss was born in Quillmere."},
        {"title": "Anvil", "paragraph_text": "Anvil is a lake with nine ferries."},
        {"title": "Anvil Ferries", "paragraph_text": "Anvil Ferries was founded by Ben Roe."},
        {"title": "Blank", "paragraph_text": " "},
    ],
}
LIGHTS: dict[str, Any] = {
    "id": "lights",
    "question": "In which town does the keeper of the light of Tarn live?",
    "answer": "Anvil Town",
    "paragraphs": [
        {"title": "Light of Tarn", "paragraph_text": "Its keeper is Ada Moss the younger."},
        {"title": "Ada Moss", "paragraph_text": "Ada Moss the younger lives in Anvil Town."},
        {"title": "Tarn", "paragraph_text": "Tarn is a town with a light and a keeper."},
    ],
}
for one in (FERRIES, LIGHTS):
    for paragraph in one["paragraphs"][:2]:
        paragraph["is_supporting"] = True
NEVER = LIGHTS | {"id": "never", "question": "Who keeps the light of Anvil?", "answerable": False}
LONGBENCH = {
    "_id": "long",
    "input": "Who founded Tarn Ferries?",
    "answers": ["Ada Moss"],
    "context": "Passage 1:\nTarn Ferries\nAda Moss founded it.\nPassage 2:\nTarn\nA town.\n",
}
OF_FERRIES = tuple(f"q.json:{n}" for n in range(1, 5))
OF_LIGHTS = tuple(f"q.json:{n}" for n in range(5, 8))
_SHOWN = re.compile(r"^(\d+): .*born in Quillmere", re.MULTILINE)


class Reader(ScriptedChat):
    """Knows the town of Quillmere where it is shown, and says that nothing answers elsewhere."""

    def chat(
        self,
        request: ChatRequest,
        on_text: Callable[[str], None] = ignore,
        cancelled: Callable[[], bool] = never,
        on_read: Callable[[int, int], None] = overlook,
    ) -> Reply:
        found = _SHOWN.search(request.messages[-1].content)
        claims = [{"sentences": [int(found[1])], "text": "Quillmere"}] if found else []
        self._replies = [json.dumps({"claims": claims})]
        return super().chat(request, on_text, cancelled, on_read)


class World:
    """Questions in a file that is also their corpus."""

    def __init__(self, home: Path) -> None:
        self.workspace = Workspace.locate(home / "home")
        self.workspace.init()
        self.folder = home

    def write(self, *entries: Any, name: str = "q.json") -> Path:
        """Write a file of questions, and the declaration of a dataset of it."""
        path = self.folder / name
        path.write_text(json.dumps(entries), encoding="utf-8")
        declaration = path.with_suffix(".toml")
        declaration.write_text(
            'title = "Ferries"\nsource = "invented"\nlicence = "CC0"\nreader = "multihop"\n'
            f'measure = "multihop"\n[[splits]]\nname = "dev"\nfile = "{name}"\n',
            encoding="utf-8",
        )
        return declaration

    def add(self, *entries: Any, name: str = "q.json") -> None:
        path = self.folder / name
        path.write_text(json.dumps(entries), encoding="utf-8")
        add(self.workspace, "main", [path])
        index(self.workspace, "main")

    def load(self, *entries: Any, **options: Any) -> Questions:
        return load(self.workspace, str(self.write(*entries)), corpus="main", **options)

    def evaluate(self, questions: Questions, method: str, run: str = "") -> Finished:
        config = load_config(self.workspace, {"chat.model": "tiny"})
        return evaluate(plan(self.workspace, questions, "main", config, [method]), run=run)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def asked(world: World, tiny_chat: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world whose corpus is made of the questions, with a model that reads."""
    pytest.importorskip("llama_cpp")
    pytest.importorskip("scipy")
    world.add(FERRIES, LIGHTS)
    ModelStore(world.workspace.models).add(tiny_chat, name="tiny", kind="chat")
    monkeypatch.setattr("localrag.methods.answering.open_chat", lambda *_: Reader())
    return world


def shown(finished: Finished, world: World) -> dict[str, set[str]]:
    """By question, the documents whose passages any stage held."""
    (_, run), *_rest = (
        one for one in record.recorded(world.workspace) if one[0] == finished.folder
    )
    (path,) = run.entries[0].answers
    found: dict[str, set[str]] = {}
    for line in (world.workspace.home / path).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        ids = (id_ for stage in row["trace"]["stages"] for id_ in stage["passages"])
        found[row["id"]] = {id_.rpartition("#")[0] for id_ in ids}
    return found


def test_a_query_names_the_documents_of_its_paragraphs(world: World) -> None:
    world.add(FERRIES, LIGHTS)
    ferries, lights = world.load(FERRIES, LIGHTS, own_documents=True).questions
    assert ferries.query.filters.documents == OF_FERRIES
    assert lights.query.filters.documents == OF_LIGHTS
    assert lights.gold == tuple(map(Gold, OF_LIGHTS[:2])), "each by its text"
    whole = world.load(FERRIES, LIGHTS)
    assert not any(one.query.filters.documents for one in whole.questions)
    assert not whole.own_documents


def test_what_the_corpus_lacks_is_told_with_its_cure(world: World) -> None:
    with pytest.raises(NotFoundError, match=r"does not have 4 of the paragraphs.*'Tarn Ferries'"):
        world.load(FERRIES, own_documents=True)
    world.add(LIGHTS)
    with pytest.raises(NotFoundError, match="does not have 4 of the paragraphs") as caught:
        world.load(FERRIES, LIGHTS, own_documents=True)
    assert f"localrag add {world.folder / 'q.json'} --corpus main" in caught.value.cure
    changed = json.loads(json.dumps(LIGHTS))
    changed["paragraphs"][2]["paragraph_text"] += " So they say."
    with pytest.raises(NotFoundError, match=r"does not have 1 of the paragraphs.*'Tarn'"):
        world.load(changed, own_documents=True)


def test_of_a_few_questions_only_their_documents_are_needed(world: World) -> None:
    world.add(FERRIES)
    (ferries,) = world.load(FERRIES, LIGHTS, own_documents=True, limit=1).questions
    assert ferries.query.filters.documents == OF_FERRIES
    both = world.load(FERRIES, LIGHTS, unanswerable=True, limit=2).questions
    assert [bool(one.answer) for one in both] == [True, False]
    (answerable,) = world.load(FERRIES, LIGHTS, unanswerable=True, limit=1).questions
    assert answerable.answer
    with pytest.raises(NotFoundError, match="does not have 3 of the paragraphs"):
        world.load(FERRIES, LIGHTS, unanswerable=True, limit=3)


def test_a_run_goes_on_with_more_questions(asked: World) -> None:
    few = asked.load(FERRIES, LIGHTS, own_documents=True, limit=1)
    assert asked.evaluate(few, "naive").asked == 1
    every = asked.load(FERRIES, LIGHTS, own_documents=True)
    assert asked.evaluate(every, "naive").asked == 1, "what was asked is kept"


def test_passages_of_longbench_are_documents_but_support_nothing_that_is_told(
    world: World,
) -> None:
    world.add(LONGBENCH)
    (question,) = world.load(LONGBENCH, own_documents=True).questions
    assert question.query.filters.documents == ("q.json:1", "q.json:2")
    unmarked = "paragraphs supporting the answer of 'long' are not marked"
    with pytest.raises(UsageError, match=unmarked):
        world.load(LONGBENCH, unanswerable=True)


def test_questions_without_documents_cannot_be_asked_of_their_own(world: World) -> None:
    path = world.folder / "plain.jsonl"
    row = {"id": "q", "question": "Which?", "options": ["a river", "a lake"], "answer": "a"}
    path.write_text(json.dumps(row), encoding="utf-8")
    for option in ({"own_documents": True}, {"unanswerable": True}):
        with pytest.raises(UsageError, match="come without documents of their own"):
            load(world.workspace, str(path), corpus="main", **option)


def test_the_variant_of_a_question_lacks_what_supports_it(world: World) -> None:
    world.add(FERRIES, LIGHTS)
    found = world.load(FERRIES, LIGHTS, NEVER, unanswerable=True)
    assert found.own_documents
    assert [one.id for one in found.questions] == [
        *("ferries", "ferries-answerable-no", "lights", "lights-answerable-no"),
        "never",
    ]
    ferries, variant = found.questions[:2]
    assert variant.query.text == ferries.query.text
    assert variant.query.filters.documents == OF_FERRIES[2:]
    assert (variant.answer, variant.aliases, variant.gold, variant.context) == ("", (), (), "")
    assert [one.groups["answerable"] for one in found.questions] == ["yes", "no", "yes", "no", "no"]
    supporting = FERRIES | {"paragraphs": FERRIES["paragraphs"][:2]}
    with pytest.raises(UsageError, match="'ferries' support its answer: none is left"):
        world.load(supporting, unanswerable=True)


def test_answers_made_with_and_without_own_documents_are_kept_apart(asked: World) -> None:
    own = asked.evaluate(asked.load(FERRIES, LIGHTS, own_documents=True), "naive", "one")
    assert shown(own, asked) == {
        "ferries": set(OF_FERRIES),
        "lights": set(OF_LIGHTS),
    }
    whole = asked.evaluate(asked.load(FERRIES, LIGHTS), "naive")
    assert whole.asked == 2, "none of the answers serves for another"
    assert shown(whole, asked)["ferries"] - set(OF_FERRIES)
    made_with = own.evaluation.entries[0].made_with
    assert made_with["dataset.documents"] == "own"
    assert "dataset.documents" not in whole.evaluation.entries[0].made_with
    with pytest.raises(UsageError, match=r"differs in dataset\.documents"):
        asked.evaluate(asked.load(FERRIES, LIGHTS), "naive", "one")
    again = asked.evaluate(asked.load(FERRIES, LIGHTS, own_documents=True), "naive")
    assert (again.asked, again.folder) == (0, own.folder)


def test_a_report_gives_refusals_and_what_was_shown(asked: World) -> None:
    questions = asked.load(FERRIES, LIGHTS, unanswerable=True)
    finished = asked.evaluate(questions, "naive")
    report = read(finished.folder)
    (entry,) = report.figures.entries
    rates = {value: (one.n, one.refused.value) for value, one in entry.refusals.items()}
    assert rates == {"no": (2, 1.0), "yes": (2, 0.5)}
    assert entry.refusals["no"].refused.low < 1
    assert entry.refusals["yes"].supported.value == 0.5
    assert entry.apart["answerable"]["no"].figures["em"].value == 1, "to say nothing is right"
    assert entry.shown
    assert entry.shown.all_found.value == entry.shown.recall.value == 1
    assert entry.shown.all_found.n == 2, "where nothing supports there is nothing to show"
    text = (finished.folder / MARKDOWN).read_text(encoding="utf-8")
    assert "again without the documents supporting its answer" in text
    assert "| naive | without an answer | 2 | 100.0 %" in text
    assert "| naive | places | 2 | 100.0 % [34.2, 100.0] | 100.0 % [34.2, 100.0]" in text


def test_what_was_shown_counts_over_all_searches_and_at_any_rank(
    evaluated: Callable[..., Evaluation],
) -> None:
    pytest.importorskip("scipy")
    evaluation = evaluated(n=8, orders=1, entries=[("statute-direct", 0.5)])
    (answers,) = answers_of(evaluation)
    assert measured.shown(answers) is None, "no evidence was recorded"
    (entry,) = evaluation.entries
    ranks = {"q1": (3, 40), "q3": (0, 12), "q5": (0, 0)}
    results = tuple(
        replace(one, recall={EVIDENCE: ranks[one.question]}) if one.question in ranks else one
        for one in entry.results
    )
    (answers,) = answers_of(replace(evaluation, entries=(replace(entry, results=results),)))
    found = measured.shown(answers)
    assert found
    assert found.any_found.n == 4, "of the questions with gold, one never came to evidence"
    assert found.any_found.value == 2 / 4
    assert found.all_found.value == 1 / 4
    assert found.recall.value == (1 + 0.5) / 4


def test_a_defect_is_told_before_what_the_corpus_lacks(world: World) -> None:
    with pytest.raises(InputError) as caught:
        world.load(FERRIES | {"question": "?"}, own_documents=True)
    assert "holds no word" in caught.value.cause

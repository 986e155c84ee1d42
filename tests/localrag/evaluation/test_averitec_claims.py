"""AVeriTeC: claims and knowledge store, from files as published to verdicts that are measured."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tiny_models.scripted import ScriptedChat

from localrag.answer.types import Veracity
from localrag.corpus.config import ChatConfig, Config
from localrag.corpus.ingest.add import AddReport, add
from localrag.corpus.workspace import Workspace
from localrag.errors import InputError, UsageError
from localrag.evaluation import report
from localrag.evaluation.datasets.loading import load
from localrag.evaluation.planning import Plan, plan
from localrag.evaluation.report.claims import NONE, always, are_claims
from localrag.evaluation.runner import evaluate
from localrag.evaluation.statistics import McNemar
from localrag.evaluation.types import Gold, Question, Questions
from localrag.search.indexing.index import index
from localrag.search.types import Query
from localrag_models.store import ModelStore

CONFIG = Config(chat=ChatConfig(model="tiny", max_tokens=200))


def answer(text: str, url: str = "http://tarn.example/tower", **fields: str) -> dict[str, str]:
    return {"answer": text, "answer_type": "Extractive", "source_url": url, **fields}


def entry(claim: str, label: str = "Refuted", **fields: Any) -> dict[str, Any]:
    asked = {"question": "When was it built?", "answers": [answer("It was built in 1504.")]}
    return {"claim": claim, "label": label, "questions": [asked], **fields}


TOWER = entry("The tower was built in 1604.", claim_types=["Numerical Claim"])
HALL = {
    **entry("The hall is red.", "Not Enough Evidence"),
    "questions": [
        {
            "question": "Is it red?",
            "answers": [
                answer("No", "http://tarn.example/hall", answer_type="Boolean")
                | {"boolean_explanation": "It is blue."},
                answer("No answer could be found.", "", answer_type="Unanswerable"),
            ],
        },
        {"question": "Who painted it?", "answers": []},
    ],
}


def page(url: str, *sentences: str, **fields: str) -> dict[str, Any]:
    return {"url": url, "url2text": list(sentences), **fields}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    found = Workspace.locate(tmp_path / "home")
    found.init()
    return found


@pytest.fixture
def claims(tmp_path: Path) -> Callable[..., Path]:
    def write(*entries: Any, name: str = "claims.jsonl") -> Path:
        path = tmp_path / name
        if name.endswith(".jsonl"):
            lines = [one if isinstance(one, str) else json.dumps(one) for one in entries]
            path.write_text("\n".join(lines), encoding="utf-8")
        else:
            path.write_text(json.dumps(entries), encoding="utf-8")
        return path

    return write


@pytest.fixture
def bring(workspace: Workspace, tmp_path: Path) -> Callable[..., AddReport]:
    """Adds files of a knowledge store, by name, to the corpus `averitec`."""

    def run(**files: Sequence[Any]) -> AddReport:
        folder = tmp_path / "store"
        folder.mkdir(exist_ok=True)
        for name, pages in files.items():
            lines = [one if isinstance(one, str) else json.dumps(one) for one in pages]
            text = "\n".join(lines)
            (folder / f"{name.removeprefix('_')}.json").write_text(text, encoding="utf-8")
        report = add(workspace, "averitec", [folder])
        index(workspace, "averitec")
        return report

    return run


def questions(workspace: Workspace, path: Path, **options: Any) -> Questions:
    return load(workspace, "averitec", file=path, **options)


# --- Claims ---


@pytest.mark.parametrize("name", ["claims.jsonl", "claims.json"])
def test_claims_are_read_as_published(
    workspace: Workspace, claims: Callable[..., Path], name: str
) -> None:
    tower, hall = questions(workspace, claims(TOWER, HALL, name=name)).questions
    assert (tower.id, tower.query.text, tower.answer) == ("0", TOWER["claim"], Veracity.REFUTED)
    assert tower.groups == {"label": "Refuted", "type": "Numerical Claim"}
    assert hall.answer == Veracity.NOT_ENOUGH
    assert [(one.question, one.answers) for one in hall.evidence] == [
        ("Is it red?", ("No. It is blue.", "No answer could be found.")),
        ("Who painted it?", ()),
    ]


def test_a_claim_has_the_id_of_its_file(workspace: Workspace, claims: Callable[..., Path]) -> None:
    path = claims({**TOWER, "claim_id": 7})
    assert [one.id for one in questions(workspace, path).questions] == ["7"]


def test_a_corpus_of_the_answers_holds_the_gold(
    workspace: Workspace, claims: Callable[..., Path]
) -> None:
    path = claims(TOWER, HALL)
    assert add(workspace, "averitec", [path]).added == 2
    tower, hall = questions(workspace, path).questions
    assert tower.gold == (Gold("claims.jsonl:1:1"),)
    assert hall.gold == (Gold("claims.jsonl:2:1"),)
    assert not tower.query.filters.documents
    own = questions(workspace, path, own_documents=True).questions
    assert [one.query.filters.documents for one in own] == [
        ("claims.jsonl:1:1",),
        ("claims.jsonl:2:1",),
    ]


def test_every_broken_claim_is_named(workspace: Workspace, claims: Callable[..., Path]) -> None:
    path = claims(
        TOWER,
        "{broken",
        {"claim": "No questions."},
        {**TOWER, "label": "True"},
        {**TOWER, "questions": [{"question": "?", "answers": ["x"]}]},
        {**TOWER, "claim": "The tower. " * 2_000},
        HALL,
    )
    with pytest.raises(InputError) as caught:
        questions(workspace, path)
    told = str(caught.value)
    for line in (2, 3, 4, 5, 6):
        assert f"line {line}: " in told
    for line in (1, 7):
        assert f"line {line}: " not in told
    assert "10,000" in told, "a claim of 22,000 characters"


# --- The knowledge store ---


def test_each_claim_is_asked_of_its_own_pages(
    workspace: Workspace, claims: Callable[..., Path], bring: Callable[..., AddReport]
) -> None:
    tower = page("http://tarn.example/tower", "The tower of Tarn.", "It was built in 1504.")
    report = bring(
        _0=[tower, page("http://a.example", "x y"), "{broken", page("http://empty.example")],
        _1=[page("http://tarn.example/hall", "The hall is blue.", claim_id="1")],
    )
    assert (report.added, report.failures) == (3, 1), "the rest is done"
    path = claims(TOWER, HALL)
    found = questions(workspace, path, own_documents=True).questions
    assert [one.query.filters.documents for one in found] == [
        ("0.json:1", "0.json:2"),
        ("1.json:1",),
    ]
    assert [one.gold for one in found] == [(Gold("0.json:1"),), (Gold("1.json:1"),)]
    whole = questions(workspace, path).questions
    assert not any(one.query.filters.documents for one in whole)


def test_pages_without_an_address_or_scraped_twice_all_count(
    workspace: Workspace, claims: Callable[..., Path], bring: Callable[..., AddReport]
) -> None:
    again = page("http://a.example", "once more")
    bring(_0=[page("http://a.example", "x y"), again, page("", "z"), page("", "w")])
    (found,) = questions(workspace, claims(TOWER), own_documents=True).questions
    assert len(found.query.filters.documents) == 4


def test_an_answer_without_an_address_is_found_again(
    workspace: Workspace, claims: Callable[..., Path]
) -> None:
    nowhere = [
        {**TOWER, "questions": [{"question": "?", "answers": [answer(text, "")]}]}
        for text in ("It is old.", "It is new.")
    ]
    path = claims(*nowhere)
    add(workspace, "averitec", [path])
    found = questions(workspace, path, own_documents=True).questions
    assert [one.query.filters.documents for one in found] == [
        ("claims.jsonl:1:1",),
        ("claims.jsonl:2:1",),
    ]


def test_a_claim_without_its_store_is_named(
    workspace: Workspace, claims: Callable[..., Path], bring: Callable[..., AddReport]
) -> None:
    bring(_0=[page("http://tarn.example/tower", "The tower of Tarn.")])
    with pytest.raises(InputError, match=r"line 2: .*claim 1"):
        questions(workspace, claims(TOWER, HALL), own_documents=True)
    assert len(questions(workspace, claims(TOWER, HALL)).questions) == 2


def test_an_empty_store_is_told_and_the_others_are_read(bring: Callable[..., AddReport]) -> None:
    report = bring(_0=[], _1=[page("http://tarn.example/hall", "The hall is blue.")])
    assert report.added == 1
    assert [one.source for one in report.failed] == ["0.json"]


def test_a_store_without_a_list_of_sentences_is_told(bring: Callable[..., AddReport]) -> None:
    report = bring(_0=[{"url": "http://a.example", "url2text": "x"}, page("http://b.example", "y")])
    assert (report.added, [one.source for one in report.failed]) == (1, ["0.json:1"])


# --- Verdicts, measured ---


@pytest.fixture
def planned(
    workspace: Workspace, claims: Callable[..., Path], tiny_chat: Path
) -> Callable[..., Plan]:
    pytest.importorskip("llama_cpp")
    ModelStore(workspace.models).add(tiny_chat, name="tiny", kind="chat")

    def run(*methods: str) -> Plan:
        path = claims(TOWER, HALL)
        add(workspace, "averitec", [path])
        index(workspace, "averitec")
        return plan(workspace, questions(workspace, path), "averitec", CONFIG, methods)

    return run


@pytest.mark.parametrize("name", ["extractive", "generative", "naive"])
def test_a_method_without_verdicts_checks_no_claims(
    planned: Callable[..., Plan], name: str
) -> None:
    with pytest.raises(UsageError, match="claims"):
        planned(name)


def test_of_all_methods_those_that_check_claims_are_run(planned: Callable[..., Plan]) -> None:
    found = planned("all")
    assert all(one.method.checks for one in found.setups)
    assert len(found.setups) == 6
    assert {"extractive", "decon"} <= {one.name for one in found.left_out}


@pytest.mark.usefixtures("drawn")
def test_a_report_tells_verdicts_evidence_and_what_it_is_to_say_always_the_same(
    planned: Callable[..., Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("nltk")
    pytest.importorskip("scipy")
    asked = {"questions": ["When was it built?"]}
    verdict = {"sentences": [1], "reason": "It was built in 1504.", "label": "Refuted"}
    # Of the second claim no reply can be read.
    replies = [json.dumps(one) for one in (asked, verdict, asked)]
    model = ScriptedChat(*replies, "malformed", "malformed")
    monkeypatch.setattr("localrag.methods.answering.open_chat", lambda *_: model)
    finished = evaluate(planned("fact-check"))
    found = report.read(finished.folder)
    (entry,) = found.figures.entries
    assert entry.score is not None
    assert (entry.score.value, entry.failures) == (0.5, {"ReplyInvalid": 1})
    assert entry.verdicts is not None
    assert entry.verdicts.counts["refuted"]["refuted"] == 1
    assert entry.verdicts.counts["not_enough_evidence"][NONE] == 1
    assert entry.verdicts.labels["refuted"].f1 == 1
    assert entry.verdicts.macro_f1 == 0.25
    assert {one.name: one.score.value for one in found.figures.baselines} == {
        "always supported": 0,
        "always refuted": 0.5,
        "always not_enough_evidence": 0.5,
        "always conflicting_evidence": 0,
    }
    # Each has the first claim right, and the second wrong.
    (pair,) = found.figures.pairs
    assert (pair.first, pair.second) == (entry.name, "always refuted")
    assert (pair.mcnemar, pair.adjusted) == (McNemar(0, 0, 1.0), 1.0)
    text = (finished.folder / report.MARKDOWN).read_text(encoding="utf-8")
    assert f"{entry.name} − always refuted" in text
    assert "accuracy@0.25" in text
    drawn = (finished.folder / report.PLOT).read_text(encoding="utf-8")
    assert "not enough evidence" in drawn, "beside the rows"
    assert entry.costs is not None
    assert entry.costs.calls == 2.5


def test_questions_are_no_claims() -> None:
    question = Question("1", Query("When was it built?"), "1504")
    assert not are_claims([question])
    assert not are_claims([])
    assert always([question]) == []

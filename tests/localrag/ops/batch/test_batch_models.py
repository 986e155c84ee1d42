"""Batches answered by models: one in this process, and a parallel server."""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import pytest
from tiny_models.scripted import ScriptedChat
from tiny_models.servers.openai import OpenAIDouble

from localrag.answer.prompts import OptimisedPrompt
from localrag.corpus.config import load
from localrag.corpus.workspace import Workspace
from localrag.errors import ModelUnusable, NotFoundError
from localrag.ops.batch import estimate, run
from localrag.ops.batch.origin import origin_of, weights
from localrag_models.chat import ChatRequest, Message, Reply, ignore, never, overlook
from localrag_models.store import ModelStore

from ....patience import PATIENCE

NOTHING = '{"claims": []}'


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Nine questions with evidence in the sample corpus."""
    path = tmp_path / "questions.jsonl"
    lines = (json.dumps({"question": f"渡し守の資格は何か ({n})"}) for n in range(9))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def rows(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def test_a_model_in_this_process(
    sample: Path, tiny_chat: Path, questions: Path, tmp_path: Path
) -> None:
    pytest.importorskip("llama_cpp")
    workspace, out = Workspace.locate(sample), tmp_path / "answers.jsonl"
    model = ModelStore(workspace.models).add(tiny_chat, name="tiny", kind="chat")
    settings = {
        "chat.model": "tiny",
        "chat.write_searches": False,
        "chat.max_tokens": 60,
        "retrieval.k": 1,
        "runtime.threads": 1,
    }
    config = load(workspace, settings)

    expected = estimate(workspace, "main", config, questions)
    assert expected.left == 9
    assert expected.prompt > 9 * 100

    report = run(workspace, "main", config, questions, out, concurrency=8)
    assert report.answered + sum(report.failed.values()) == 9
    assert set(report.failed) <= {"ReplyInvalid"}
    calls = [call for row in rows(out) if "trace" in row for call in row["trace"]["calls"]]
    assert len(calls) == report.answered
    assert report.spent.prompt == sum(call["prompt"] for call in calls)
    assert report.spent.cached == sum(call["cached"] for call in calls)
    assert report.spent.completion == sum(call["completion"] for call in calls)
    made_with = json.loads((tmp_path / "answers.jsonl.run" / "made_with.json").read_text())
    assert made_with["chat.weights"] == model.id
    assert made_with["prompts"]


def test_origin_holds_what_a_method_uses(sample: Path, tiny_chat: Path) -> None:
    workspace = Workspace.locate(sample)
    ModelStore(workspace.models).add(tiny_chat, name="tiny", kind="chat")
    OptimisedPrompt("found", "Write a query.").save(workspace.prompts)
    settings = {"chat.model": "tiny", "method.query_prompt": "found"}

    def made_with(method: str) -> Mapping[str, object]:
        return origin_of(workspace, "main", load(workspace, {**settings, "method.name": method}))

    direct, fixed, gepa = map(made_with, ("statute-direct", "statute-fixed", "statute-gepa"))
    assert direct["method"] == "statute-direct"
    assert direct["chat.model"] == "tiny"
    assert not [name for name in direct if name.startswith(("corpus", "index", "retrieval"))]
    assert {"corpus.stamp", "retrieval.k", "prompts"} <= fixed.keys()
    assert "method.query_prompt.digest" in gepa
    assert "method.query_prompt.digest" not in fixed
    of_checks = {"method.sentences", "method.documents", "method.questions"}
    for name, more in {
        "fact-check": {"method.slightest_sign"},
        "fact-check-rerank": {"method.slightest_sign", "method.candidates"},
        "fact-check-localrag": {"method.around", "method.supplement"},
    }.items():
        assert {one for one in made_with(name) if one.startswith("method.")} == of_checks | more
    settings["method.query_prompt"] = "none"
    with pytest.raises(NotFoundError, match="no optimised prompt"):
        made_with("statute-gepa")


@pytest.mark.parametrize(
    ("name", "file_type", "expected"),
    [
        ("Qwen3-8B-Q4_K_M", None, "Q4_K_M"),
        ("llama-3-8b.f16", None, "F16"),
        ("model-BF16", 15, "BF16"),
        ("model", 15, "Q4_K_M"),
        ("model", 99, ""),
        ("q4you", None, ""),
    ],
)
def test_quantisation(
    home: Path,
    tiny_chat: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    file_type: int | None,
    expected: str,
) -> None:
    path = tmp_path / f"{name}.gguf"
    path.write_bytes(tiny_chat.read_bytes())
    workspace = Workspace.locate(home)
    ModelStore(workspace.models).add(path, name="x", kind="chat")
    header = SimpleNamespace(metadata={"general.file_type": file_type})
    monkeypatch.setattr("localrag.ops.batch.origin.read_header", lambda _: header)
    config = load(workspace, {"chat.model": "x"})
    assert weights(workspace, config, "chat").get("chat.quantisation", "") == expected


class Served:
    """Finds nothing in any evidence.

    Args:
        together: questions to wait for before the first answer.

    Attributes:
        answered: number of answers.
    """

    id = "served"
    context = 20_000
    parallel = 8

    def __init__(self, together: int = 1) -> None:
        self.answered = 0
        self._barrier = threading.Barrier(together)

    def count(self, messages: Sequence[Message]) -> int:
        return len(messages)

    def chat(
        self,
        request: ChatRequest,
        on_text: Callable[[str], None] = ignore,
        cancelled: Callable[[], bool] = never,
        on_read: Callable[[int, int], None] = overlook,
    ) -> Reply:
        self._barrier.wait(timeout=PATIENCE)
        self.answered += 1
        return ScriptedChat(NOTHING).chat(request, on_text, cancelled, on_read)

    def close(self) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@pytest.mark.allow_hosts(["127.0.0.1"])
def test_a_server_gets_several_questions_at_once(
    sample: Path, questions: Path, tmp_path: Path
) -> None:
    workspace, out = Workspace.locate(sample), tmp_path / "answers.jsonl"
    with OpenAIDouble(Served(together=3), context=20_000) as server:
        config = load(
            workspace,
            {
                "chat.model": "openai:tiny",
                "chat.server": f"{server.address}/v1",
                "chat.write_searches": False,
            },
        )
        report = run(workspace, "main", config, questions, out, concurrency=3)
    assert report.answered == 9, "it answers only three together"
    assert [row["row"] for row in rows(out)] == list(range(1, 10))


@pytest.mark.allow_hosts(["127.0.0.1"])
def test_a_server_that_dies(
    sample: Path, questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localrag_models.backends.servers.http._FIRST_WAIT", 0.001)
    workspace, out = Workspace.locate(sample), tmp_path / "answers.jsonl"
    chat = Served()
    with OpenAIDouble(chat, context=20_000) as server:
        settings = {
            "chat.model": "openai:tiny",
            "chat.server": f"{server.address}/v1",
            "chat.write_searches": False,
        }
        config = load(workspace, settings)

        def leave(event: object) -> None:
            if chat.answered == 4:
                server.__exit__(None, None, None)

        with pytest.raises(ModelUnusable) as caught:
            run(workspace, "main", config, questions, out, on_event=leave)
    assert caught.value.transient
    assert caught.value.cure
    assert len(rows(out)) == 4
    with OpenAIDouble(chat, context=20_000) as server:
        config = load(workspace, {**settings, "chat.server": f"{server.address}/v1"})
        report = run(workspace, "main", config, questions, out)
    assert (report.earlier, report.answered) == (4, 9), "another address changes no answer"

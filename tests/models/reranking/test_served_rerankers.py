"""Rerankers behind servers give the scores of the model itself; chat models answer yes or no."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models.encoder import TinyEncoder
from tiny_models.scripted import ScriptedChat
from tiny_models.servers import Answer, OllamaDouble, OpenAIDouble, RerankDouble

from localrag_models.backends.chat_reranker import ChatReranker
from localrag_models.backends.llama_cpp.chat import LlamaCppChat
from localrag_models.backends.llama_cpp.encoder import LlamaCppReranker
from localrag_models.backends.openai import OpenAIReranker
from localrag_models.chat import Choice, Message, Reply, never
from localrag_models.embedding import Reranker
from localrag_models.errors import ContextExceeded, ServerBroke, WrongKind
from localrag_models.runtimes import BY_FORMAT, BY_NAME, ModelSpec

QUERY = "渡し舟の定員は何名か"
PASSAGES = [f"第{number}条 渡し舟の定員は、{number}名とする。" for number in range(1, 41)]
PROTOCOLS = ["llama-server", "vllm", "tei", "infinity", "jina"]

pytestmark = pytest.mark.usefixtures("loopback")


@pytest.fixture(scope="module")
def inside(tiny_encoder: TinyEncoder) -> Iterator[LlamaCppReranker]:
    """The model in this process, for doubles to answer with."""
    with LlamaCppReranker(tiny_encoder.reranker_gguf, threads=1) as reranker:
        yield reranker


@pytest.fixture(scope="module")
def chat(tiny_chat: Path) -> Iterator[LlamaCppChat]:
    with LlamaCppChat(tiny_chat, threads=1) as model:
        yield model


def opened(address: str, name: str = "tiny") -> Reranker:
    return BY_NAME["openai"].open_reranker(ModelSpec(name=name, server=address))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_scores_are_those_of_the_model(protocol: str, inside: LlamaCppReranker) -> None:
    expected = inside.scores(QUERY, PASSAGES)
    with RerankDouble(inside, protocol) as double, opened(double.address) as reranker:
        double.requests.clear()
        np.testing.assert_allclose(reranker.scores(QUERY, PASSAGES), expected, atol=1e-4)
        assert reranker.scores(QUERY, []).shape == (0,)
        sent = [body for path, body in double.requests if path.endswith("/rerank")]
    spelling = "texts" if protocol == "tei" else "documents"
    assert [len(body[spelling]) for body in sent] == [32, 8], "servers take 32 passages at once"
    assert {body["query"] for body in sent} == {QUERY}


@pytest.mark.parametrize("protocol", ["vllm", "tei"])
def test_a_long_passage_gets_the_best_score_of_its_parts(
    protocol: str, inside: LlamaCppReranker
) -> None:
    long = "".join(PASSAGES) + "渡し守の資格は、別表に掲げる。" * 40
    with RerankDouble(inside, protocol) as double, opened(double.address) as reranker:
        double.requests.clear()
        [score] = reranker.scores(QUERY, [long])
        spelling = "texts" if protocol == "tei" else "documents"
        [body] = [body for path, body in double.requests if path.endswith("/rerank")]
        assert "".join(body[spelling]) == long, "nothing is cut"
        assert score == pytest.approx(inside.scores(QUERY, body[spelling]).max(), abs=1e-4)
        with pytest.raises(ContextExceeded):
            reranker.scores(QUERY * 40, PASSAGES)


def test_what_the_server_finds_too_long_is_split(inside: LlamaCppReranker) -> None:
    with RerankDouble(inside, "tei") as double, opened(double.address) as reranker:
        double.instead("/rerank", *[Answer.error("inputs must have less than 512 tokens", 413)] * 2)
        double.requests.clear()
        reranker.scores(QUERY, [PASSAGES[0], "別の条文"])
        halves = [body["texts"] for path, body in double.requests if path == "/rerank"][2]
        assert len(halves) > 1
        assert "".join(halves) == PASSAGES[0]


@pytest.mark.parametrize(
    "told",
    [{}, [], {"results": None}, {"results": [7]}, {"results": [{"index": 1, "score": 1}]},
     {"results": [{"index": 0}]}, {"results": [{"index": 0, "score": "x"}]}],
)  # fmt: skip
def test_answers_without_scores(
    told: object, inside: LlamaCppReranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localrag_models.backends.servers.http._FIRST_WAIT", 0.001)
    with RerankDouble(inside, "jina") as double, opened(double.address) as reranker:
        double.instead("/v1/rerank", *[Answer.json(told)] * 4)
        with pytest.raises(ServerBroke, match="no scores"):
            reranker.scores(QUERY, ["x"])


def test_a_server_that_cannot_rerank_says_what_can(
    chat: LlamaCppChat, inside: LlamaCppReranker
) -> None:
    with RerankDouble(inside, "jina") as double:
        double.instead("/v1/rerank", *[Answer.error("Start it with `--reranking`", 501)] * 2)
        with pytest.raises(WrongKind) as caught:
            OpenAIReranker("tiny", server=double.address)
        assert "llama-server --rerank" in caught.value.cure
    with (
        OpenAIDouble(chat, probabilities=False) as double,
        pytest.raises(WrongKind, match="Not Found"),
    ):
        opened(double.address)


def test_a_chat_model_reranks_by_yes_and_no() -> None:
    passages = ["関係のある条文", "無関係", "空"]
    scripted = ScriptedChat({"yes": 0.9, "no": 0.1}, {"yes": 0.2, "no": 0.8}, {"yes": 0, "no": 1})
    with ChatReranker(scripted) as reranker:
        scores = reranker.scores(QUERY, passages)
    np.testing.assert_allclose(scores[:2], [0.9, 0.2], atol=1e-5)
    assert 0 < scores[2] < 1e-5
    messages, options = scripted.offered[0]
    assert options == ["yes", "no"]
    assert [message.role for message in messages] == ["system", "user"]
    assert messages[1].content.endswith(f"\n<Query>: {QUERY}\n<Document>: {passages[0]}")


class Judge(ScriptedChat):
    """Answers yes to the likelihood that is the number in the passage, in hundredths."""

    def choose(
        self,
        messages: Sequence[Message],
        options: Sequence[str],
        cancelled: Callable[[], bool] = never,
    ) -> Choice | None:
        share = int(re.sub(r"\D", "", messages[-1].content.partition("<Document>")[2]) or 50) / 100
        weights = dict.fromkeys(options, 0.001) | {"y": share, "n": 1 - share}
        self._replies.insert(0, weights)
        return super().choose(messages, options, cancelled)

    def chat(self, *arguments: Any, **options: Any) -> Reply:
        self._replies.insert(0, "yes")
        return super().chat(*arguments, **options)


@pytest.mark.parametrize(("server", "double"), [("openai", OpenAIDouble), ("ollama", OllamaDouble)])
def test_the_chat_model_of_a_server_reranks(
    server: str, double: type[OpenAIDouble | OllamaDouble]
) -> None:
    with double(Judge()) as running:
        spec = ModelSpec(name="tiny", server=running.address)
        with BY_NAME[server].open_reranker(spec) as reranker:
            scores = reranker.scores(QUERY, ["20", "90", "50"])
    np.testing.assert_allclose(scores, [0.2, 0.9, 0.5], atol=1e-2)


def test_an_installed_chat_model_reranks(tiny_chat: Path) -> None:
    spec = ModelSpec(name="tiny", path=tiny_chat, threads=1)
    with BY_FORMAT["gguf"].open_reranker(spec) as reranker:
        scores = reranker.scores(QUERY, PASSAGES[:3])
        again = reranker.scores(QUERY, PASSAGES[2::-1])
    assert len(set(scores.tolist())) == 3
    np.testing.assert_allclose(scores, again[::-1], atol=1e-5)

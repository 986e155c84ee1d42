"""The official client of OpenAI talks with a corpus."""

import json

import numpy as np
import openai
import pytest
from tiny_models.scripted import searches

from localrag.doors.serve.desk import Desk

from ....rows import each
from .conftest import QUESTION

ASKED = [{"role": "user", "content": QUESTION}]


@pytest.fixture
def client_of():
    def make(http):
        return openai.AsyncOpenAI(
            api_key=http.headers["authorization"].removeprefix("Bearer "),
            base_url="http://127.0.0.1/v1",
            http_client=http,
            max_retries=0,
        )

    return make


async def test_an_answer_has_its_citations_in_the_text_and_as_a_field(serve, client_of):
    async with serve() as http:
        client = client_of(http)
        assert [model.id async for model in client.models.list()] == ["localrag/main"]
        reply = await client.chat.completions.create(
            model="localrag/main",
            temperature=0.5,
            messages=[{"role": "system", "content": "Be brief."}, *ASKED],
        )
    content = reply.choices[0].message.content
    answer = reply.localrag["answer"]
    assert reply.choices[0].finish_reason == "stop"
    assert answer["citations"][0]["verified"]
    assert "渡し舟の安全及び活用に関する法律施行令" in content
    assert answer["citations"][0]["quote"].split("\n")[-1][-10:] in content
    assert reply.localrag["ignored"] == ["temperature", "system"]
    assert reply.usage.total_tokens == 0


async def test_what_changes_nothing_is_taken_and_named(serve, client_of):
    tool = {"type": "function", "function": {"name": "look_up", "parameters": {}}}
    asked = {
        "tools": [],
        "tool_choice": "none",
        "parallel_tool_calls": True,
        "response_format": {"type": "text"},
        "modalities": ["text"],
        "logprobs": False,
        "reasoning_effort": "low",
        "stream_options": None,
        "metadata": {"of": "a client"},
        "store": False,
        "service_tier": "auto",
        "prompt_cache_key": "one",
        "user": "someone",
    }
    async with serve() as http:
        create = client_of(http).chat.completions.create
        first = await create(model="localrag", messages=ASKED, **asked)
        # A client sends the whole of a reply back, with fields that say nothing.
        said = first.choices[0].message.model_dump()
        again = [*ASKED, said, {"role": "user", "content": "その罰則は"}]
        second = await create(model="localrag", messages=again, tools=[tool])
    assert first.localrag["ignored"] == [
        "metadata",
        "parallel_tool_calls",
        "prompt_cache_key",
        "reasoning_effort",
        "service_tier",
    ]
    assert second.localrag["answer"]["read_as"]
    assert second.localrag["ignored"] == ["tools"]


UNKNOWN = {
    "top_k": 40,
    "min_p": 0.05,
    "repeat_penalty": 1.1,
    "chat_template_kwargs": {"enable_thinking": False},
    "options": {"num_ctx": 8192},
    "keep_alive": "5m",
    "web_search_options": {},
    "top_logprobs": None,
    "of_another_server": [[{}]],
}


@pytest.mark.parametrize("stream", [False, True])
async def test_what_only_other_servers_know_is_passed_over_and_named(serve, stream):
    said = {"role": "assistant", "content": "…", "reasoning_content": "hm", "id": "msg_1"}
    part = {"type": "text", "text": QUESTION, "cache_control": {"type": "ephemeral"}}
    asked = {
        "model": "localrag/main",
        "messages": [
            {"role": "user", "content": "渡し舟"},
            said,
            {"role": "user", "content": [part]},
        ],
        "stream": stream,
        "stream_options": {"include_usage": True, "continuous_usage_stats": True},
        **UNKNOWN,
    }
    async with serve() as http:
        reply = await http.post("/v1/chat/completions", json=asked)
    assert reply.status_code == 200
    told = reply.text
    if stream:
        told = next(line for line in told.splitlines() if '"localrag"' in line)[len("data: ") :]
    assert json.loads(told)["localrag"]["ignored"] == sorted(
        {*UNKNOWN, "reasoning_content", "id", "cache_control", "continuous_usage_stats"}
    )


@pytest.mark.parametrize("name", ["localrag/main", "localrag%2Fmain", "localrag"])
async def test_a_model_is_shown_by_its_id(serve, client_of, name):
    async with serve() as http:
        reply = await http.get(f"/v1/models/{name}")
        assert reply.json()["id"] == name.replace("%2F", "/")
        assert (await client_of(http).models.retrieve("localrag/main")).id == "localrag/main"
        for other in ("none", "localrag/none", "localrag/main/x", "%00", "..%2f..%2fcorpora"):
            gone = await http.get(f"/v1/models/{other}")
            assert gone.status_code == 404
            assert gone.json()["error"]["message"]


async def test_a_follow_up_leans_on_what_was_asked(serve, client_of):
    earlier = {"role": "assistant", "content": "…"}
    async with serve() as http:
        reply = await client_of(http).chat.completions.create(
            model="localrag",
            messages=[*ASKED, earlier, {"role": "user", "content": "その罰則は"}],
        )
    assert reply.localrag["answer"]["read_as"]


CALLED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "look_up", "arguments": '{"of": "水位"}'},
        }
    ],
}
GAVE = {"role": "tool", "tool_call_id": "call_1", "content": "水位の基準は九十九メートルである。"}
OLD = [
    {"role": "assistant", "content": "", "function_call": {"name": "look_up", "arguments": "{}"}},
    {"role": "function", "name": "look_up", "content": "水位の基準は九十九メートルである。"},
]
DECLINED = {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}


async def test_what_tools_were_asked_and_gave_before_is_passed_over(serve, client_of):
    async with serve() as http:
        create = client_of(http).chat.completions.create
        plain = await create(model="localrag", messages=ASKED)
        # The last message is what a tool gave: the question is still that of the user.
        given = await create(model="localrag", messages=[*ASKED, CALLED, GAVE])
        after = [*ASKED, CALLED, GAVE, *OLD, DECLINED, {"role": "user", "content": "その罰則は"}]
        leaning = await create(model="localrag", messages=after)
        with pytest.raises(openai.BadRequestError, match="last message"):
            await create(model="localrag", messages=[CALLED, GAVE])
    assert given.choices[0].message.content == plain.choices[0].message.content
    assert given.localrag["ignored"] == leaning.localrag["ignored"] == ["tool_calls"]
    assert leaning.localrag["answer"]["read_as"]
    assert "九十九メートル" not in str(given.localrag) + str(leaning.localrag)


async def test_it_is_streamed_once_it_is_checked(serve, client_of, scripted):
    claims = {"claims": [{"sentences": [1], "text": "水位は月まで。"}]}
    scripted(json.dumps(searches("水位")), json.dumps(claims, ensure_ascii=False))
    async with serve(model=True) as http:
        stream = await client_of(http).chat.completions.create(
            model="localrag/main",
            messages=ASKED,
            stream=True,
            stream_options={"include_usage": True},
        )
        chunks = [chunk async for chunk in stream]
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text.startswith("**unsupported**")
    (last,) = [chunk for chunk in chunks if chunk.choices and chunk.choices[0].finish_reason]
    assert last.localrag["answer"]["status"] == "unsupported"
    assert chunks[-1].usage.total_tokens > 0


@each(
    ("changed", "kind", "words"),
    [
        ({"model": "gpt-9"}, openai.NotFoundError, "no model"),
        ({"model": "localrag/../x"}, openai.NotFoundError, "no corpus"),
        ({"messages": [{"role": "assistant", "content": "a"}]}, openai.BadRequestError, "last"),
        ({"messages": [{"role": "user", "content": ""}]}, openai.BadRequestError, "question"),
        ({"messages": [{"role": "user", "content": "。"}]}, openai.BadRequestError, "no word"),
        ({"n": 2}, openai.BadRequestError, "n: "),
        ({"tool_choice": "required"}, openai.BadRequestError, "tool_choice: .*'none' or 'auto'"),
        (
            {"response_format": {"type": "json_object"}},
            openai.BadRequestError,
            "response_format.type: .*'text'",
        ),
        ({"logprobs": True}, openai.BadRequestError, "logprobs: "),
        ({"modalities": ["text", "audio"]}, openai.BadRequestError, "modalities.1: .*'text'"),
        ({"temperature": "hot"}, openai.BadRequestError, "temperature: "),
        ({"stream_options": {"include_usage": 1}}, openai.BadRequestError, "include_usage: "),
        ({"stream": True, "model": "localrag/none"}, openai.NotFoundError, "no corpus"),
    ],
)
async def test_what_is_not_answered_is_an_error_of_the_client(
    serve, client_of, changed, kind, words
):
    async with serve() as http:
        with pytest.raises(kind, match=words):
            await client_of(http).chat.completions.create(
                **{"model": "localrag", "messages": ASKED, **changed}
            )


async def test_texts_are_embedded(serve, client_of, monkeypatch):
    asked = []

    async def embed(self, texts, *, queries):
        asked.append((texts, queries))
        return np.eye(3, dtype=np.float32)[: len(texts)]

    async with serve() as http:
        client = client_of(http)
        with pytest.raises(openai.NotFoundError, match="no embedder"):
            await client.embeddings.create(model="localrag", input="a")
        monkeypatch.setattr(Desk, "embed", embed)
        two = await client.embeddings.create(model="localrag", input=["a", "b"])
        one = await client.embeddings.create(
            model="localrag", input="a", encoding_format="float", extra_body={"input_type": "query"}
        )
        named = await http.post(
            "/v1/embeddings",
            json={"model": "localrag", "input": ["a"], "truncate": "END", "encoding_format": None,
                  "input_type": None, "dimensions": 3},
        )  # fmt: skip
        assert named.json()["localrag"] == {"ignored": ["truncate"]}
        with pytest.raises(openai.BadRequestError, match="have 3 dimensions"):
            await client.embeddings.create(model="localrag", input="a", dimensions=2)
        with pytest.raises(openai.NotFoundError, match="no model"):
            await client.embeddings.create(model="other", input="a")
        with pytest.raises(openai.BadRequestError):
            await client.embeddings.create(model="localrag", input=[])
    assert [row.embedding for row in two.data] == [[1, 0, 0], [0, 1, 0]]
    assert one.data[0].embedding == [1, 0, 0]
    assert asked[:2] == [(["a", "b"], False), (["a"], True)]

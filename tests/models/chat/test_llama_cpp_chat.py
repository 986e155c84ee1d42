"""What is particular to llama.cpp: files, templates, memory, reuse of prefixes, cancelling."""

import json
import string
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import gguf
import jsonschema
import numpy as np
import pytest
from tiny_models.chat import TEMPLATE, write_chat_gguf

from localrag_models.backends.llama_cpp import native
from localrag_models.backends.llama_cpp.chat import LlamaCppChat
from localrag_models.chat import ChatRequest, Finish, Message, neutralise
from localrag_models.errors import (
    BackendMissing,
    ContextExceeded,
    ModelDamaged,
    ModelError,
    ModelMissing,
    OutOfMemory,
    ReplyInvalid,
    WrongKind,
)

from ...patience import PATIENCE
from ...rows import each

ASK = ChatRequest(messages=(Message("user", "渡し舟"),), max_tokens=8, temperature=1.0)


@pytest.fixture(scope="module")
def chat(tiny_chat: Path) -> Iterator[LlamaCppChat]:
    with LlamaCppChat(tiny_chat, threads=1) as chat:
        yield chat


def with_template(path: Path, template: str | None, *, add_bos: bool = False) -> LlamaCppChat:
    write_chat_gguf(path, template=template, add_bos=add_bos)
    return LlamaCppChat(path, context=512, threads=1)


def test_a_shared_prefix_is_evaluated_once(chat: LlamaCppChat) -> None:
    document = Message("system", "第一条　船長は、渡し舟の定員を守る。" * 60)
    requests = [
        replace(ASK, messages=(document, Message("user", f"文{number}"))) for number in range(20)
    ]
    usages = [chat.chat(request).usage for request in requests]
    length = usages[0].prompt
    assert length > 2000
    assert all(usage.cached and length - usage.cached < 80 for usage in usages[1:])
    evaluated = sum(usage.prompt - (usage.cached or 0) for usage in usages)
    assert evaluated / sum(usage.prompt for usage in usages) <= 0.1


def test_reuse_changes_no_reply(chat: LlamaCppChat, tiny_chat: Path) -> None:
    other = replace(ASK, messages=(Message("user", "渡し舟の定員"),))
    for request in (other, ASK, ASK):
        reused = chat.chat(request)
    with LlamaCppChat(tiny_chat, threads=1) as fresh:
        alone = fresh.chat(ASK)
    assert (reused.usage.cached, alone.usage.cached) == (alone.usage.prompt - 1, 0)
    assert reused.text == alone.text


def test_a_choice_reads_only_what_the_prompt_before_had_not(chat: LlamaCppChat) -> None:
    document = Message("system", "第一条　船長は、渡し舟の定員を守る。" * 60)
    chat.chat(replace(ASK, messages=(document, *ASK.messages)))
    choice = chat.choose((document, Message("user", "守るのは船長か。")), ["yes", "no"])
    assert choice is not None
    assert choice.usage.prompt > 2000
    assert choice.usage.cached is not None
    assert choice.usage.prompt - choice.usage.cached < 80
    assert choice.usage.completion == 0


def test_the_share_of_an_option_is_how_often_it_is_sampled(chat: LlamaCppChat) -> None:
    choice = chat.choose(ASK.messages, string.ascii_lowercase)
    assert choice is not None
    one = replace(ASK, max_tokens=1)
    said = [chat.chat(replace(one, seed=seed)).text.strip() for seed in range(1500)]
    sampled = sum(text.isascii() and text.isalpha() and len(text) == 1 for text in said)
    deviation = (1500 * choice.covered * (1 - choice.covered)) ** 0.5
    assert abs(sampled - 1500 * choice.covered) < 4 * deviation


def test_options_whose_first_byte_is_all_that_a_token_holds(chat: LlamaCppChat) -> None:
    with pytest.raises(ReplyInvalid, match="which may be several of 'あり', 'だめ'"):
        chat.choose(ASK.messages, ["あり", "だめ"])


def test_a_long_prompt_is_told_piece_by_piece(chat: LlamaCppChat) -> None:
    told: list[tuple[int, int]] = []
    long = replace(ASK, messages=(Message("user", "舟" * 300),))
    chat.chat(replace(ASK, messages=(Message("user", "別"),)))
    reply = chat.chat(long, on_read=lambda done, total: told.append((done, total)))
    assert reply.usage.cached is not None
    steps = [done for done, _ in told]
    assert len(steps) > 4
    assert steps[0] > reply.usage.cached
    assert steps[-1] == reply.usage.prompt
    told.clear()
    chat.chat(long, on_read=lambda done, total: told.append((done, total)))
    assert told == [(reply.usage.prompt, reply.usage.prompt)]


def test_a_call_ends_while_its_prompt_is_read(chat: LlamaCppChat) -> None:
    told: list[int] = []
    long = replace(ASK, messages=(Message("user", "舟" * 900),))
    reply = chat.chat(
        long, cancelled=lambda: len(told) >= 2, on_read=lambda done, _: told.append(done)
    )
    assert reply.finish is Finish.CANCELLED
    assert len(told) == 2
    assert told[-1] < reply.usage.prompt
    # What was read is not read again.
    assert chat.chat(long).usage.cached == told[-1]


def test_what_the_listener_to_reading_raises_passes_through(chat: LlamaCppChat) -> None:
    def broken(done: int, total: int) -> None:
        raise ZeroDivisionError

    before = chat.chat(ASK).text
    with pytest.raises(ZeroDivisionError):
        chat.chat(replace(ASK, messages=(Message("user", "舟" * 300),)), on_read=broken)
    assert chat.chat(ASK).text == before


def test_what_was_generated_is_reused_in_the_next_turn(chat: LlamaCppChat) -> None:
    schema = {"const": "第一条第一項第一号"}
    first = chat.chat(replace(ASK, schema=schema, max_tokens=99))
    turns = (*ASK.messages, Message("assistant", first.text), Message("user", "続き"))
    second = chat.chat(replace(ASK, messages=turns))
    assert second.usage.cached is not None
    assert second.usage.cached >= len(ASK.messages[0].content)


def test_the_context_is_the_one_asked_for(tiny_chat: Path) -> None:
    with LlamaCppChat(tiny_chat, context=300, threads=1) as chat:
        assert chat.context == 300
        prompt = chat.count(ASK.messages)
        greedy = replace(ASK, temperature=0.0)
        assert chat.chat(replace(greedy, max_tokens=300 - prompt)).usage.completion > 0
        with pytest.raises(ContextExceeded):
            chat.chat(replace(greedy, max_tokens=301 - prompt))


def test_the_context_of_a_model_is_what_it_was_trained_with(tmp_path: Path) -> None:
    for trained, expected in ((1000, 1000), (40960, 8192)):
        path = tmp_path / f"{trained}.gguf"
        write_chat_gguf(path, context=trained)
        with LlamaCppChat(path, threads=1) as chat:
            assert chat.context == expected


def test_a_context_past_the_trained_one_is_refused(tiny_chat: Path) -> None:
    with pytest.raises(ContextExceeded, match="4,096") as caught:
        LlamaCppChat(tiny_chat, context=4097)
    assert (caught.value.needed, caught.value.available) == (4097, 4096)


def test_a_context_larger_than_the_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "boastful.gguf"
    write_chat_gguf(path, context=2**31 - 1)
    with pytest.raises(OutOfMemory, match="GiB") as caught:
        LlamaCppChat(path, context=2**31 - 1)
    assert "smaller context" in caught.value.cure


def test_files_that_are_no_chat_model(tiny_chat: Path, tmp_path: Path) -> None:
    embedder = tmp_path / "embedder.gguf"
    writer = gguf.GGUFWriter(embedder, "bert")
    writer.add_tensor("weight", np.ones(32, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(tiny_chat.read_bytes()[:-1000])
    empty = tmp_path / "empty.gguf"
    empty.touch()
    for path, error in (
        (cut, ModelDamaged),
        (empty, ModelDamaged),
        (Path(__file__), WrongKind),
        (tmp_path / "none.gguf", ModelMissing),
        (embedder, WrongKind),
    ):
        with pytest.raises(error) as caught:
            LlamaCppChat(path)
        assert caught.value.cure


def test_a_file_that_only_llama_cpp_finds_wrong(tiny_chat: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.gguf"
    changed.write_bytes(tiny_chat.read_bytes().replace(b"blk.1.attn_q.", b"blk.1.attn_Q."))
    with pytest.raises(ModelDamaged, match=r"blk\.1\.attn_q"):
        LlamaCppChat(changed)
    unknown = tmp_path / "unknown.gguf"
    unknown.write_bytes(tiny_chat.read_bytes().replace(b"qwen3", b"qwenX"))
    with pytest.raises(WrongKind, match="qwenX"):
        LlamaCppChat(unknown)


def test_weights_that_are_no_numbers(tiny_chat: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    whole = tiny_chat.read_bytes()
    broken.write_bytes(whole[:-40_000] + b"\xff" * 40_000)
    with LlamaCppChat(broken, threads=1) as chat, pytest.raises(ModelDamaged, match="not numbers"):
        chat.chat(ASK)


def test_loading_is_told(tiny_chat: Path) -> None:
    shares: list[float] = []
    with LlamaCppChat(tiny_chat, threads=1, on_load=shares.append):
        assert len(shares) > 2
        assert shares == sorted(shares)
        assert shares[-1] == 1


@pytest.mark.parametrize("after", [0, 0.5, 1])
def test_what_the_listener_to_loading_raises_ends_it(tiny_chat: Path, after: float) -> None:
    def unwanted(share: float) -> None:
        if share >= after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LlamaCppChat(tiny_chat, threads=1, on_load=unwanted)


def test_loading_and_asking_says_nothing_on_the_terminal(
    tiny_chat: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with LlamaCppChat(tiny_chat, threads=1) as chat:
        chat.chat(ASK)
    assert capfd.readouterr() == ("", "")


def test_without_the_package_it_is_named(tiny_chat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    native.runtime.cache_clear()
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    with pytest.raises(BackendMissing, match="Install the package llama-cpp-python"):
        LlamaCppChat(tiny_chat)


def test_a_model_without_template_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongKind, match="tiny qwen3 has no chat template"):
        with_template(tmp_path / "m.gguf", None)


@pytest.mark.parametrize(
    "template",
    ["{% for %}", "{{ " + "(" * 9_000 + "1" + ")" * 9_000 + " }}", "{% for a in b %}" * 30],
    ids=["a mistake", "nested too deep", "never closed"],
)
def test_a_template_that_is_no_jinja_is_refused(tmp_path: Path, template: str) -> None:
    with pytest.raises(ModelDamaged, match="not a Jinja template"):
        with_template(tmp_path / "m.gguf", template)


_LOOP = "{% for _ in range(99999) %}"
_LETTERS = "{% for _ in 'x' * 99999 %}"
_CALLS = "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}"


@pytest.mark.parametrize(
    "template",
    [
        _LOOP * 3 + "{% endfor %}" * 3,
        _LETTERS * 3 + "{% endfor %}" * 3,
        _CALLS + "{{ f(90) }}",
        "{{ 9 ** 9 ** 9 }}",
        "{{ 'x' * 10000000000 }}",
        "{{ '%9999999999d' % 1 }}",
        "{{ '{:9999999999}'.format(1) }}",
        "{{ 'x'.ljust(9999999999) }}",
        "{{ 'x' | center(9999999999) }}",
        "{{ [1] | batch(9999999999, 0) | list }}",
        "{% set x = 'x' * 99999 %}{{ x.replace('x', x) }}",
        "{% set x = 'x' * 99999 %}{{ x | replace('x', x) }}",
        "{% set n = namespace(x='x' * 99999) %}"
        "{% for _ in range(16) %}{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x | length }}",
    ],
    ids=[
        *("ranges", "letters", "calls", "powers", "repeats", "percents", "fields", "margins"),
        *("centres", "batches", "replaces", "filters", "doubles"),
    ],
)
def test_a_template_that_never_ends_or_fills_the_memory_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, template: str
) -> None:
    monkeypatch.setattr("localrag_models.backends.llama_cpp.template._LIMIT", 0.2)
    watched = sys.gettrace()
    with (
        pytest.raises(ModelDamaged, match="takes too much"),
        with_template(tmp_path / "m.gguf", TEMPLATE + template) as chat,
    ):
        chat.chat(ASK)
    assert sys.gettrace() is watched


@pytest.mark.parametrize(
    "template",
    ["{{ raise_exception('no') }}", "nothing of it", "{{ ''.__class__.__mro__[1] }}{{ 1/0 }}"],
    ids=["refuses", "drops the content", "breaks out"],
)
def test_a_template_that_cannot_be_used_is_named(tmp_path: Path, template: str) -> None:
    with (
        with_template(tmp_path / "m.gguf", template) as chat,
        pytest.raises(WrongKind, match="tiny qwen3"),
    ):
        chat.chat(ASK)


@pytest.mark.parametrize(
    "refusal",
    [
        "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}",
        "{% set messages = messages | rejectattr('role', 'equalto', 'system') | list %}",
    ],
    ids=["raises", "drops"],
)
def test_where_there_is_no_system_role_its_text_goes_to_the_user(
    tmp_path: Path, refusal: str
) -> None:
    system, user = Message("system", "第一条"), Message("user", "渡し舟")
    folded = Message("user", "第一条\n\n渡し舟")
    with with_template(tmp_path / "m.gguf", refusal + TEMPLATE) as chat:
        assert chat.count([system, user]) == chat.count([folded])
        assert chat.count([system]) == chat.count([Message("user", "第一条")])


def test_a_model_that_always_thinks_is_told_that_it_has_thought(tmp_path: Path) -> None:
    opened = TEMPLATE.replace("<think>\\n\\n</think>\\n\\n", "<think>\\n")
    assert opened != TEMPLATE
    with (
        with_template(tmp_path / "a.gguf", opened) as always,
        with_template(tmp_path / "b.gguf", TEMPLATE) as switched,
    ):
        assert always.count(ASK.messages) == switched.count(ASK.messages)


def test_the_first_token_is_not_doubled(tmp_path: Path) -> None:
    with (
        with_template(tmp_path / "a.gguf", "{{ bos_token }}" + TEMPLATE, add_bos=True) as both,
        with_template(tmp_path / "b.gguf", TEMPLATE, add_bos=True) as tokenizer,
        with_template(tmp_path / "c.gguf", TEMPLATE) as neither,
    ):
        counts = [chat.count(ASK.messages) for chat in (both, tokenizer, neither)]
    assert counts == [counts[0], counts[0], counts[0] - 1]


def test_a_reply_gives_back_what_the_document_held(chat: LlamaCppChat) -> None:
    schema = {"const": neutralise("一<|im_end|>二</think>")}
    reply = chat.chat(replace(ASK, schema=schema, max_tokens=99))
    assert json.loads(reply.text) == "一<|im_end|>二</think>"


def test_no_control_token_comes_into_a_bound_reply(chat: LlamaCppChat) -> None:
    schema = {"type": "string", "minLength": 40, "maxLength": 40}
    for seed in range(20):
        reply = chat.chat(replace(ASK, schema=schema, max_tokens=400, seed=seed, temperature=2.0))
        assert reply.finish is Finish.STOP
        assert len(json.loads(reply.text)) == 40


def test_a_value_that_is_whole_at_the_limit_has_ended(chat: LlamaCppChat) -> None:
    schema = {"enum": ["ab"]}
    request = replace(ASK, schema=schema, max_tokens=99)
    tokens = chat.chat(request).usage.completion
    assert chat.chat(replace(request, max_tokens=tokens)).finish is Finish.STOP
    assert chat.chat(replace(request, max_tokens=tokens - 1)).finish is Finish.LENGTH


def test_a_long_prompt_can_be_cancelled_while_it_is_evaluated(chat: LlamaCppChat) -> None:
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > 20

    long = replace(ASK, messages=(Message("user", "X" * 3000),))
    expected = chat.chat(long).text
    chat.chat(ASK)
    reply = chat.chat(long, cancelled=cancelled)
    # The first batch of 512 tokens alone asks more often than that.
    assert (reply.finish, asked) == (Finish.CANCELLED, 21)
    assert (reply.text, reply.usage.completion) == ("", 0)
    assert chat.chat(long).text == expected


@pytest.mark.parametrize("after", [0, 5, 100])
def test_what_cancelled_raises_passes_through(chat: LlamaCppChat, after: int) -> None:
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        if asked > after:
            raise KeyboardInterrupt
        return False

    expected = chat.chat(ASK).text
    with pytest.raises(KeyboardInterrupt):
        chat.chat(replace(ASK, messages=(Message("user", "舟" * 500),)), cancelled=cancelled)
    assert chat.chat(ASK).text == expected


def test_a_call_can_be_cancelled_while_it_waits_for_another(chat: LlamaCppChat) -> None:
    running, release = threading.Event(), threading.Event()

    def hold(_: str) -> None:
        running.set()
        release.wait(PATIENCE)

    first = threading.Thread(target=chat.chat, args=(ASK, hold))
    first.start()
    assert running.wait(PATIENCE)
    asked = count(1)
    reply = chat.chat(ASK, cancelled=lambda: next(asked) > 3)
    release.set()
    first.join()
    assert reply.finish is Finish.CANCELLED


def test_a_closed_model_counts_no_more(tiny_chat: Path) -> None:
    chat = LlamaCppChat(tiny_chat, id="mine", context=256, threads=1)
    assert chat.id == "mine"
    chat.close()
    with pytest.raises(ModelError, match="mine has been closed"):
        chat.count(ASK.messages)


def test_the_real_vocabulary(real_vocabulary: Path) -> None:
    schema = {
        "type": "object",
        "properties": {
            "label": {"enum": ["支持", "反対"]},
            "text": {"type": "string", "minLength": 4, "maxLength": 8},
            "number": {"type": "integer", "minimum": -9, "maximum": 120},
        },
        "required": ["label", "text", "number"],
    }
    with LlamaCppChat(real_vocabulary, context=1024, threads=1) as chat:
        for seed in range(2):
            request = replace(ASK, schema=schema, max_tokens=200, seed=seed)
            jsonschema.validate(json.loads(chat.chat(request).text), schema)
        spelled = chat.count([Message("user", "<|im_end|><think><|fim_middle|></tool_call>")])
        assert spelled - chat.count([Message("user", "")]) > 16


@each(
    "wrong",
    [
        {"messages": ()},
        {"max_tokens": 0},
        {"temperature": -1.0},
        {"temperature": float("nan")},
        {"top_p": 0.0},
        {"stop": ("",)},
        {"stop": ("a",), "schema": {"type": "null"}},
    ],
)
def test_a_request_that_makes_no_sense_is_a_mistake_of_the_program(
    wrong: dict[str, object],
) -> None:
    with pytest.raises(ValueError, match=r"\w+ \w+"):
        replace(ASK, **wrong)  # type: ignore[arg-type]

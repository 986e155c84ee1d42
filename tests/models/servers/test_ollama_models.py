"""Listing, pulling and naming the models of an Ollama server, through the client of Ollama."""

import os
import subprocess
import sys

import pytest
from tiny_models.servers import Answer, End, OllamaDouble

from localrag_models.backends.ollama import embedder_id, list_models, pull_model
from localrag_models.backends.servers.http import StreamLeft
from localrag_models.errors import (
    Cure,
    ModelMissing,
    ServerBroke,
    ServerBusy,
    ServerRefused,
    ServerTimeout,
    ServerUnreachable,
    TransferFailed,
)
from localrag_models.runtimes import ModelSpec

from ...patience import wait_for
from ...rows import each

pytestmark = pytest.mark.usefixtures("loopback")


@pytest.fixture
def double(loopback):
    with OllamaDouble() as double:
        yield double


def test_listing(double):
    first, second = list_models(double.address)
    assert (first.name, first.digest, first.size) == ("tiny:latest", "a" * 64, 452_000)
    assert (first.family, first.parameters, first.quantization) == ("qwen3", "100K", "F32")
    assert second.name == "tiny-embedder:latest"


def test_what_a_list_leaves_out(double):
    double.instead("/api/tags", Answer.json({"models": [{"model": "x", "details": {}}]}))
    (model,) = list_models(double.address)
    assert (model.name, model.size, model.digest, model.family) == ("x", 0, "", "")


@each("listed", [{}, {"models": None}, {"models": "all"}, {"models": [7]}, [1], None, "models"])
def test_a_list_that_is_none(double, listed):
    double.instead("/api/tags", Answer.json(listed))
    with pytest.raises(ServerBroke, match="not Ollama"):
        list_models(double.address)


@each("sent", [b"", b"<html>", b'{"models":', b"[" * 100_000, b"\xff"])
def test_what_is_no_json(double, sent):
    double.instead("/api/tags", Answer([sent]))
    with pytest.raises(ServerBroke, match="not Ollama"):
        list_models(double.address)


@pytest.mark.parametrize("body", [b'"busy"', b'["busy"]', b'{"error": {"message": "busy"}}'])
def test_a_status_counts_whatever_comes_with_it(double, body):
    double.instead("/api/tags", Answer([body], 503), Answer([body], 400))
    with pytest.raises(ServerBusy, match=r"503: .*busy"):
        list_models(double.address)
    with pytest.raises(ServerRefused, match=r"400: .*busy"):
        list_models(double.address)


@pytest.mark.parametrize("ask", [list_models, lambda address: pull_model("x", address)])
def test_redirects_are_not_followed(double, ask):
    moved = Answer([b""], 307, headers={"Location": "http://192.0.2.1/"})
    double.instead("/api/tags", moved)
    double.instead("/api/pull", moved)
    with pytest.raises(ServerRefused, match="Redirects"):
        ask(double.address)


def test_a_server_that_hangs(double, monkeypatch):
    monkeypatch.setattr("localrag_models.backends.ollama._LIST_SECONDS", 0.3)
    double.instead("/api/tags", Answer(end=End.HANGS))
    with pytest.raises(ServerTimeout, match=r"0\.3 s"):
        list_models(double.address)


def test_pulling(double):
    seen = []
    pull_model("qwen3:8b", double.address, lambda *told: seen.append(told))
    assert [(done, total) for _, _, done, total in seen if total] == [
        (0, 100),
        (50, 100),
        (100, 100),
    ]
    assert seen[-1][0] == "success"
    assert "qwen3:8b" in [model.name for model in list_models(double.address)]


def test_pulling_what_does_not_exist(double):
    with pytest.raises(ModelMissing, match="nosuch"):
        pull_model("nosuch", double.address)


def test_a_pull_that_fails(double):
    double.instead("/api/pull", Answer([b'{"error": "no space left on device"}\n']))
    with pytest.raises(TransferFailed, match="no space left") as raised:
        pull_model("qwen3:8b", double.address)
    assert raised.value.args[1] is Cure.PULL_AGAIN


@each("end", [End.WELL, End.DIES])
@each("line", [b'{"status": "pulling manifest"}\n', b"[1]\n", b"<html>\n"])
def test_a_pull_that_breaks_off(double, line, end):
    double.instead("/api/pull", Answer([line], end=end))
    with pytest.raises(ServerBroke):
        pull_model("qwen3:8b", double.address)


@pytest.mark.parametrize("reason", [KeyboardInterrupt, ValueError])
def test_a_progress_that_raises_ends_the_pull(double, reason):
    double.instead("/api/pull", Answer([b'{"status": "pulling manifest"}\n'], end=End.HANGS))

    def stop(*progress):
        raise reason

    with pytest.raises(reason):
        pull_model("qwen3:8b", double.address, stop)
    wait_for(lambda: double.abandoned == 1)


def test_cancelling_a_pull(double):
    double.instead("/api/pull", Answer([b'{"status": "pulling"}\n'] * 3, end=End.HANGS))
    seen = []
    with pytest.raises(StreamLeft):
        pull_model(
            "qwen3:8b", double.address, lambda *told: seen.append(told), lambda: len(seen) == 2
        )
    assert len(seen) == 2
    wait_for(lambda: double.abandoned == 1)


@pytest.mark.parametrize("name", ["", "\udcff"])
def test_names_that_are_none(double, name):
    double.instead("/api/pull", Answer.error("model not found", 404))
    with pytest.raises(ModelMissing):
        pull_model(name, double.address)


def test_the_id_of_an_embedder_changes_with_its_weights(double):
    before = embedder_id(ModelSpec(name="tiny-embedder", server=double.address))
    assert before.startswith("tiny-embedder:latest@")
    assert embedder_id(ModelSpec(name="tiny-embedder:latest", server=double.address)) == before
    double.digests["tiny-embedder:latest"] = "d" * 64
    assert embedder_id(ModelSpec(name="tiny-embedder:latest", server=double.address)) != before
    with pytest.raises(ModelMissing, match="nosuch"):
        embedder_id(ModelSpec(name="nosuch", server=double.address))


def test_a_server_that_is_gone(loopback):
    with OllamaDouble() as double:
        address = double.address
    with pytest.raises(ServerUnreachable, match="ollama serve"):
        list_models(address)


def test_nothing_comes_from_the_environment(double, monkeypatch):
    for name in ("HTTP_PROXY", "ALL_PROXY", "OLLAMA_HOST"):
        monkeypatch.setenv(name, "http://192.0.2.1:1")
    monkeypatch.setenv("OLLAMA_API_KEY", "鍵 secret")
    list_models(double.address)
    pull_model("qwen3:8b", double.address)
    assert len(double.headers) == 2
    assert "secret" not in str(double.headers)


def test_no_environment_keeps_the_client_from_being_loaded(double):
    """In a process of its own: the package is loaded once."""
    hostile = {
        "all_proxy": "socks5://127.0.0.1:9",
        "HTTPS_PROXY": "socks9://h",
        "OLLAMA_HOST": "http://[bad",
        "OLLAMA_API_KEY": "鍵",
        "SSL_CERT_FILE": "/nonexistent",
        "SSL_CERT_DIR": "/nonexistent",
        "SSLKEYLOGFILE": "/nonexistent/log",
    }
    ask = f"""
import os
from localrag_models.backends.ollama import list_models
print(len(list_models({double.address!r})), {hostile!r}.items() <= os.environ.items())
"""
    told = subprocess.run(
        [sys.executable, "-c", ask], env={**os.environ, **hostile}, capture_output=True
    )
    assert told.stdout.split() == [b"2", b"True"], told.stderr.decode()
    assert not any("Authorization" in each for each in double.headers)

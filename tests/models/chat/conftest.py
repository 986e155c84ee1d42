"""Chat models of every back end, each a function that opens one: ``open(context=1024)``."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tiny_models.chat import write_chat_gguf, write_chat_gguf_with_vocabulary
from tiny_models.servers import OllamaDouble, OpenAIDouble, llama_cpp_server

from localrag_models.backends.llama_cpp.chat import LlamaCppChat
from localrag_models.chat import ChatModel
from localrag_models.runtimes import BY_NAME, ModelSpec

Opener = Callable[..., ChatModel]

SERVERS = ["ollama", "openai", "openai_llama_cpp"]
BACK_ENDS = ["llama_cpp_qwen3", "llama_cpp_llama", *SERVERS]


def _opener(runtime: str, server: str) -> Opener:
    """Opens the model ``tiny`` of a server, as the registry of runtimes does."""
    return lambda context=1024: BY_NAME[runtime].open_chat(
        ModelSpec(name="tiny", server=server, context=context)
    )


@pytest.fixture(scope="session")
def llama_cpp_qwen3(tiny_chat: Path) -> Opener:
    return lambda context=1024: LlamaCppChat(tiny_chat, context=context, threads=1)


@pytest.fixture(scope="session")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of architecture llama whose tokenizer adds a first token, as that of Llama 3 does."""
    path = tmp_path_factory.mktemp("tiny_llama") / "tiny-llama.gguf"
    write_chat_gguf(path, architecture="llama", add_bos=True)
    return path


@pytest.fixture(scope="session")
def llama_cpp_llama(tiny_llama: Path) -> Opener:
    return lambda context=1024: LlamaCppChat(tiny_llama, context=context, threads=1)


@pytest.fixture(scope="module")
def ollama(tiny_chat: Path, allow_loopback: Callable[[], None]) -> Iterator[Opener]:
    """Opens models of a server that speaks Ollama's protocol."""
    allow_loopback()
    with LlamaCppChat(tiny_chat, threads=1) as chat, OllamaDouble(chat) as server:
        yield _opener("ollama", server.address)


@pytest.fixture(scope="module")
def openai(tiny_chat: Path, allow_loopback: Callable[[], None]) -> Iterator[Opener]:
    """Opens models of a server that speaks OpenAI's protocol as llama-server does."""
    allow_loopback()
    with LlamaCppChat(tiny_chat, threads=1) as chat, OpenAIDouble(chat) as server:
        yield _opener("openai", server.address)


@pytest.fixture(scope="module")
def openai_llama_cpp(tiny_chat: Path, allow_loopback: Callable[[], None]) -> Iterator[Opener]:
    """Opens models of the real server of llama-cpp-python."""
    allow_loopback()
    with llama_cpp_server(tiny_chat) as address:
        yield _opener("openai", address)


@pytest.fixture(autouse=True)
def reachable_servers(request: pytest.FixtureRequest) -> None:
    """Lets the tests of servers reach them."""
    parameters = getattr(request.node, "callspec", None)
    back_end = parameters and parameters.params.get("open_model")
    if back_end in SERVERS:
        request.getfixturevalue("loopback")
    if back_end == "openai_llama_cpp" and "a_stop_ends" in request.node.name:
        pytest.skip("llama_cpp.server leaves invalid bytes out of a stream, and stops between them")


@pytest.fixture(scope="session")
def real_vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model with the vocabulary of Qwen2 and the chat template of Qwen3."""
    folder = Path(os.environ.get("LOCALRAG_TEST_VOCABULARY", "."))
    vocabulary, template = folder / "ggml-vocab-qwen2.gguf", folder / "Qwen-Qwen3-0.6B.jinja"
    if not vocabulary.is_file() or not template.is_file():
        pytest.skip("needs the vocabulary of Qwen2 (set LOCALRAG_TEST_VOCABULARY)")
    path = tmp_path_factory.mktemp("real_vocabulary") / "tiny-real-vocabulary.gguf"
    write_chat_gguf_with_vocabulary(path, vocabulary, template)
    return path


@pytest.fixture(scope="module", params=BACK_ENDS)
def open_model(request: pytest.FixtureRequest) -> Opener:
    """Opens a model of each back end in turn."""
    opener: Opener = request.getfixturevalue(request.param)
    return opener


@pytest.fixture(scope="module")
def model(open_model: Opener) -> Iterator[ChatModel]:
    """An open model of each back end in turn, with a context of 1,024 tokens."""
    with open_model(context=1024) as model:
        yield model

"""One model on several servers: the least busy one is asked, one that fails is left out a while."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from tiny_models.scripted import ScriptedChat

from localrag_models.chat import ChatRequest, Message, Reply
from localrag_models.errors import ReplyInvalid, ServerBroke, ServerUnreachable
from localrag_models.runtimes import BY_NAME, ModelSpec, SeveralServersChat

from ...patience import PATIENCE
from .conftest import Served

ASKED = ChatRequest(messages=(Message("user", "問い"),))


class Server(ScriptedChat):
    """Says its address, after doing what is to be done first."""

    def __init__(self, address: str, before: Callable[[], None]) -> None:
        super().__init__()
        self.address = address
        self._before = before

    def chat(self, request: ChatRequest, *given: Any) -> Reply:
        self._replies.append(self.address)
        self._before()
        return super().chat(request, *given)


class Farm:
    """Servers "a", "b" and "c", and a clock; what `wrong` holds of one, it fails with."""

    def __init__(self) -> None:
        self.now = 100.0
        self.wrong: dict[str, Exception] = {}
        self.opened: list[str] = []
        self.asked: list[str] = []

    def open(self, address: str) -> Server:
        self.opened.append(address)
        if address in self.wrong:
            raise self.wrong[address]
        return Server(address, lambda: self.before(address))

    def before(self, address: str) -> None:
        self.asked.append(address)
        if address in self.wrong:
            raise self.wrong[address]

    def model(self, addresses: str = "abc") -> SeveralServersChat:
        return SeveralServersChat(
            list(addresses), self.open, parallel=2, rest=30, clock=lambda: self.now
        )


@pytest.fixture
def farm() -> Farm:
    return Farm()


def test_the_least_busy_is_asked(farm: Farm) -> None:
    release, inside = threading.Event(), threading.Semaphore(0)

    def wait() -> None:
        inside.release()
        release.wait(PATIENCE)

    with farm.model() as model:
        assert (model.id, model.parallel) == ("scripted", 6)
        farm.before = lambda address: (farm.asked.append(address), wait())  # type: ignore[method-assign]
        threads = [threading.Thread(target=model.chat, args=(ASKED,)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for _ in threads:
            assert inside.acquire(timeout=PATIENCE)
        release.set()
        for thread in threads:
            thread.join(PATIENCE)
    assert sorted(farm.asked) == ["a", "a", "b", "b", "c", "c"]


def test_one_that_fails_is_left_out_and_tried_again_later(farm: Farm) -> None:
    with farm.model("ab") as model:
        farm.wrong["a"] = ServerUnreachable("nobody answers")
        assert [model.chat(ASKED).text for _ in range(3)] == ["b", "b", "b"]
        assert farm.asked == ["a", "b", "b", "b"]
        farm.wrong.clear()
        farm.now += 31
        assert model.chat(ASKED).text == "a"


def test_one_that_is_down_from_the_beginning(farm: Farm) -> None:
    farm.wrong["a"] = ServerUnreachable("nobody answers")
    with farm.model("ab") as model:
        assert model.count(ASKED.messages) == 2
        assert farm.opened == ["a", "b"]
        farm.wrong.clear()
        farm.now += 31
        assert model.chat(ASKED).text == "a"


def test_where_all_fail_the_last_failure_is_told(farm: Farm) -> None:
    for address in "abc":
        farm.wrong[address] = ServerUnreachable(f"nobody answers at {address}")
    with pytest.raises(ServerUnreachable, match="at c"):
        farm.model()
    assert farm.opened == ["a", "b", "c"]


def test_what_was_heard_is_not_asked_for_again(farm: Farm) -> None:
    with farm.model("ab") as model:

        def broken(piece: str) -> None:
            raise ServerBroke("in the middle")

        with pytest.raises(ServerBroke):
            model.chat(ASKED, broken)
        assert farm.asked == ["a"]


def test_the_settings_name_several(served: Served, quick_retries: None) -> None:
    """One of two addresses answers; nobody is at the other."""
    served.double.first(served.path, served.reply("yes", prompt=60))
    spec = ModelSpec(
        name="tiny", servers=("http://127.0.0.1:9", served.double.address), timeout=PATIENCE
    )
    with BY_NAME[served.protocol].open_chat(spec) as model:
        model.count([])
        served.answers(served.reply("はい"))
        assert model.chat(ChatRequest(messages=ASKED.messages, max_tokens=8)).text == "はい"


def test_a_failure_that_stays_is_no_reason_to_leave_one_out(farm: Farm) -> None:
    with farm.model("ab") as model:
        reply = Reply.__new__(Reply)
        farm.wrong["a"] = ReplyInvalid("malformed", "", reply=reply)
        with pytest.raises(ReplyInvalid):
            model.chat(ASKED)
        farm.wrong.clear()
        assert model.chat(ASKED).text == "a"

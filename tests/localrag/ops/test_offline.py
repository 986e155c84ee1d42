"""The main job without a network: in a process of its own, which is told of every attempt."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localrag.ops import offline
from localrag.ops.offline import STEPS, prove

Cli = Callable[..., Any]


def test_nothing_goes_out(cli: Cli) -> None:
    outcome = cli("doctor", "--offline", "--json")
    assert outcome.code == 0, outcome.out
    steps = outcome.json["steps"]
    assert [step["name"] for step in steps] == list(STEPS)
    assert [step["problem"] or step["sockets"] for step in steps] == [[]] * len(STEPS)


CALLS_OUT = """
import sys
from pathlib import Path
from localrag.ops import offline
import socket

def steps(folder, language):
    yield "add", lambda: None
    yield "index", lambda: socket.create_connection(("192.0.2.1", 80), 1)
    yield "search", lambda: socket.getaddrinfo("example.invalid", 443)
    there = ("192.0.2.1", 9)
    yield "ask", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", there)

offline._steps = steps
offline._main(Path(sys.argv[-2]), sys.argv[-1])
"""


def test_who_tries_to_go_out_is_named(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "calls_out.py"
    script.write_text(CALLS_OUT)
    run = subprocess.run

    def replaced(command: list[str], **options: Any) -> Any:
        return run([sys.executable, "-W", "ignore", str(script), *command[-2:]], **options)

    monkeypatch.setattr(offline, "_can_isolate", lambda: False)
    monkeypatch.setattr(offline.subprocess, "run", replaced)
    proof = prove()
    assert not proof.isolated
    assert not proof.holds
    by_name = {step.name: step for step in proof.steps}
    assert not by_name["add"].problem
    assert "192.0.2.1" in by_name["index"].sockets[0]
    assert by_name["search"].sockets == ("example.invalid:443",)
    assert "192.0.2.1" in by_name["ask"].sockets[0]
    assert by_name["workbench"].problem, "a step that was never told has failed"
    monkeypatch.setattr(offline, "prove", lambda: proof)
    outcome = cli("doctor", "--offline")
    assert outcome.code == 5
    assert "permission for sockets" in outcome.out

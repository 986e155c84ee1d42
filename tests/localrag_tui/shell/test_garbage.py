"""Garbage is collected where nobody types, and where there is too much of it."""

import gc
from collections.abc import Iterator

import pytest

from localrag_tui.shell import base
from localrag_tui.shell.base import Garbage


class Ring:
    """Holds itself, so that only a collection frees it."""

    living = 0

    def __init__(self) -> None:
        self.itself = self
        Ring.living += 1

    def __del__(self) -> None:
        Ring.living -= 1


@pytest.fixture
def left_to_us() -> Iterator[None]:
    gc.collect()
    gc.disable()
    Ring.living = 0
    yield
    gc.unfreeze()
    gc.enable()


@pytest.mark.usefixtures("left_to_us")
def test_it_waits_for_a_pause(monkeypatch):
    collector = Garbage()
    monkeypatch.setattr(base, "_WORTH", 1_000)
    collector.on_key()
    rings = [Ring() for _ in range(2_000)]
    del rings
    collector.collect()
    assert Ring.living == 2_000, "somebody types"
    monkeypatch.setattr(base, "_TYPING", 0.0)
    collector.collect()
    assert Ring.living == 0
    Ring()
    collector.collect()
    assert Ring.living == 1, "not worth a look"


@pytest.mark.usefixtures("left_to_us")
def test_too_much_is_collected_while_somebody_types(monkeypatch):
    collector = Garbage()
    monkeypatch.setattr(base, "_MOST", 1_000)
    for _ in range(2):
        collector.on_key()
        rings = [Ring() for _ in range(2_000)]
        del rings
        collector.collect()
        assert Ring.living == 0


def test_python_is_left_alone_where_it_collects():
    assert gc.isenabled()
    ring = Ring()
    Garbage().collect()
    assert gc.get_freeze_count() == 0
    del ring
    gc.collect()

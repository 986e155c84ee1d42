"""Invented laws on a fake e-Gov of this machine."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from fake_egov import FakeEGov, FakeState

from localrag.corpus.config import LawsConfig
from localrag.ops.laws.shelf import today

from ...windmills import provision

NUMBERS = "〇一二三四五六七八九"


def act(number: int, title: str, text: str = "風車は、回る。") -> bytes:
    """An act of 令和九十八年 with one article."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<Law Era="Reiwa" Year="98" Num="{number}" LawType="Act" Lang="ja">'
        f"<LawNum>令和九十八年法律第{NUMBERS[number]}号</LawNum><LawBody>"
        f"<LawTitle>{title}</LawTitle><MainProvision>{provision(1, text)}</MainProvision>"
        "</LawBody></Law>"
    ).encode()


def state(number: int, title: str, text: str = "風車は、回る。", **more: str) -> FakeState:
    """A state of such an act, by default the first one of 2020."""
    day, amending = more.pop("day", "20200401"), more.pop("amending", "000000000000000")
    return FakeState(
        id=f"598AC{number:010}_{day}_{amending}",
        title=title,
        num=f"令和九十八年法律第{NUMBERS[number]}号",
        xml=act(number, title, text),
        **more,  # type: ignore[arg-type]
    )


@pytest.fixture
def egov(loopback: None) -> Iterator[FakeEGov]:
    """A server with three laws, one of them in two states."""
    fake = FakeEGov(
        [
            state(1, "風車法"),
            state(2, "水車法", "水車は、風車法第一条の風車ではない。", abbrev="水法,水車"),
            state(3, "帆船法", "帆船は、海底法第五条の許可を受ける。"),
            state(
                3,
                "帆船法",
                "帆船は、届出をする。",
                day="21000401",
                amending="509AC0000000009",
                status="UnEnforced",
            ),
        ]
    )
    with fake.serving():
        yield fake


@pytest.fixture
def configured(egov: FakeEGov) -> Callable[..., LawsConfig]:
    """The settings for this server."""

    def make(**more: object) -> LawsConfig:
        told = {key.partition(".")[2]: value for key, value in egov.settings.items()}
        return LawsConfig.model_validate({**told, **more})

    return make


def day(before: int) -> str:
    """A day in Japan before today, as in addresses."""
    return (today() - timedelta(before)).strftime("%Y%m%d")

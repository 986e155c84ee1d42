"""``localrag laws``: from e-Gov, or from a stick, to a corpus that can be asked."""

import json
import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from fake_egov import FakeEGov, FakeState

from localrag.ops.laws.shelf import today

from ...windmills import provision

Cli = Callable[..., Any]
WINDMILLS, MILLS, SAILS = (f"598AC000000000{number}" for number in (1, 2, 3))


def act(number: int, title: str, text: str, **more: Any) -> FakeState:
    """An act of 令和九十八年 with one article, in force from 2020 unless said otherwise."""
    num = f"令和九十八年法律第{'〇一二三四五'[number]}号"
    day = more.pop("day", "20200401_000000000000000")
    xml = (
        f'<Law Era="Reiwa" Year="98" Num="{number}" LawType="Act" Lang="ja"><LawNum>{num}</LawNum>'
        f"<LawBody><LawTitle>{title}</LawTitle><MainProvision>{provision(1, text)}"
        "</MainProvision></LawBody></Law>"
    )
    return FakeState(f"598AC{number:010}_{day}", title, num, xml.encode(), **more)


@pytest.fixture
def egov(loopback: None) -> Iterator[FakeEGov]:
    fake = FakeEGov(
        [
            act(1, "風車法", "風車は、赤く塗る。"),
            act(2, "水車法", "水車は、海底法第五条の許可を受けて回す。", category=13),
            act(3, "帆船法", "帆船は、風車法第一条の風車を積まない。"),
        ]
    )
    with fake.serving():
        yield fake


@pytest.fixture
def laws(cli: Cli, home: Path, egov: FakeEGov) -> Cli:
    """Runs a verb of `laws` against this server, in a workspace."""
    assert cli("init").code == 0
    told = [f"--set={key}={value}" for key, value in egov.settings.items()]
    return lambda *arguments: cli(*told, "laws", *arguments)


def days_ago(home: Path, corpus: str, days: int) -> None:
    """Let a corpus have fetched all laws some days earlier."""
    record = home / "corpora" / corpus / "laws.json"
    told = json.loads(record.read_text())
    for one in told["files"]:
        one["fetched"] = f"{today() - timedelta(days)}T03:00:00+00:00"
    record.write_text(json.dumps(told))


def test_all_laws_come_with_one_command(laws: Cli, cli: Cli, egov: FakeEGov) -> None:
    tried = laws("download", "--dry-run")
    assert tried.code == 0, tried.err
    assert "1 file to fetch: 0 kB, 1 of unknown size" in tried.out
    assert cli("list").out == ""
    done = laws("download")
    assert done.code == 0, done.err
    assert "1 file fetched" in done.out
    assert "3 documents added" in done.out
    assert "赤く塗る" in cli("search", "風車の色").out
    again = laws("download", "--json").json
    assert ([one["scope"] for one in again["unchanged"]], again["fetched"]) == (["all"], [])
    assert again["index"]["skipped"]
    assert len([one for one in egov.asked if one.startswith("GET")]) == 1


def test_a_month_later(laws: Cli, cli: Cli, home: Path, egov: FakeEGov) -> None:
    assert laws("update").code == 2, "it is not known from which day"
    laws("download", "--json")
    days_ago(home, "main", 3)
    new, changed = (
        act(4, "凧法", "凧は、揚げる。"),
        act(1, "風車法", "風車は、青く塗る。", day="20260101_509AC0000000001"),
    )
    gone = act(3, "帆船法", "帆船は、風車法第一条の風車を積まない。", status="Repeal")
    egov.states = [egov.states[1], gone, new, changed]
    egov.days = {f"{today() - timedelta(1):%Y%m%d}": [new.id, changed.id]}
    behind = laws("status").out
    assert "4 days since then were not asked for. Run: localrag laws update" in behind
    assert "4 files to fetch" in laws("update", "--dry-run").out
    done = laws("update")
    assert done.code == 0, done.err
    assert "added: 1" in done.out
    assert "amended, a further state: 1" in done.out
    assert "localrag laws update --undo" in done.out
    assert (
        f"1 law of the corpus is no longer in force; --remove-repealed removes it: 帆船法 ({SAILS})"
        in done.err
    )
    assert "青く塗る" in cli("search", "風車の色").out
    told = laws("status", "--json").json
    assert told["through"] == (today() - timedelta(1)).isoformat()
    assert len(told["asked_once"]) == 3

    refused = laws("update", "--remove-repealed")
    assert "Add --yes" in refused.err
    removed = laws("update", "--remove-repealed", "--yes", "--json").json
    assert [one["law_id"] for one in removed["taken"]["changes"]] == [SAILS]
    assert laws("update", "--undo").code == 0
    assert SAILS in laws("list").out


def test_an_update_that_was_undone_is_asked_for_again(
    laws: Cli, cli: Cli, home: Path, egov: FakeEGov
) -> None:
    laws("download", "--json")
    days_ago(home, "main", 2)
    egov.states[0] = act(1, "風車法", "風車は、黒く塗る。")
    egov.days = {f"{today() - timedelta(1):%Y%m%d}": [egov.states[0].id]}
    corrected = laws("update", "--json").json
    assert [one["kind"] for one in corrected["taken"]["changes"]] == ["corrected"]
    assert laws("status", "--json").json["days_behind"] == 0
    undone = laws("update", "--undo", "--json").json
    assert (undone["applied"], len(undone["changes"])) == (True, 1)
    assert "赤く塗る" in cli("search", "風車の色").out
    assert laws("status", "--json").json["days_behind"] == 3
    assert laws("update", "--json").json["taken"]["applied"]
    assert "黒く塗る" in cli("search", "風車の色").out


def test_over_a_stick(laws: Cli, cli: Cli, home: Path, egov: FakeEGov, tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    done = laws("download", "--to", str(stick))
    assert f"localrag laws import {stick}" in done.out
    asked = len(egov.asked)
    first = laws("import", str(stick), "--json").json
    assert first["taken"]["added"] == 3
    listed = stick / ".laws.jsonl"
    told = json.loads(listed.read_text())
    told["fetched"] = f"{today() - timedelta(2)}T03:00:00+00:00"
    listed.write_text(json.dumps(told) + "\n")
    days_ago(home, "main", 2)
    assert len(egov.asked) == asked, "nothing is asked of a network"

    egov.states.append(act(4, "凧法", "凧は、糸で揚げる。"))
    egov.days = {f"{today() - timedelta(1):%Y%m%d}": [egov.states[3].id]}
    assert "1 file fetched" in laws("update", "--to", str(stick)).out
    second = laws("import", str(stick), "--json").json
    assert [one["kind"] for one in second["taken"]["changes"]] == ["added"]
    assert "糸で揚げる" in cli("search", "凧の糸").out
    third = laws("import", str(stick))
    assert (third.code, "nothing is new" in third.out) == (0, True)

    day = next(stick.glob("2*_xml.zip"))
    day.write_bytes(day.read_bytes()[:-1])
    damaged = laws("import", str(stick))
    assert damaged.code == 4
    assert "differs from the file fetched" in damaged.err


def test_an_archive_of_a_browser(laws: Cli, egov: FakeEGov, tmp_path: Path) -> None:
    path = tmp_path / "all_xml.zip"
    path.write_bytes(egov.archive({"file_section": "1"}) or b"")
    assert laws("import", str(path), "--json").json["taken"]["added"] == 3
    assert laws("status", "--json").json["scopes"] == ["all"]
    egov.states.pop(0)
    egov.changed()
    path.write_bytes(egov.archive({"file_section": "1"}) or b"")
    removed = laws("import", str(path), "--remove-repealed", "--yes", "--json").json
    assert [one["law_id"] for one in removed["taken"]["changes"]] == [WINDMILLS]
    path.write_bytes(path.read_bytes()[:600])
    assert "is damaged" in laws("import", str(path)).err
    assert laws("import", str(tmp_path / "nothing")).code == 3


def test_one_category_and_named_laws(laws: Cli, egov: FakeEGov) -> None:
    done = laws("download", "--category", "国税", "--json", "--corpus", "tax").json
    assert [one["file"] for one in done["fetched"]] == ["13_xml.zip"]
    assert "category_cd=13&" in egov.asked[-1]
    more = laws("download", "風車法", "砂丘法", "--format", "json", "--corpus", "tax")
    assert more.code == 4
    assert "e-Gov has no single law called 砂丘法" in more.err
    assert "added: 1" in more.out
    told = laws("status", "--corpus", "tax", "--json").json
    assert told["scopes"] == ["国税", WINDMILLS]
    assert {law["law_id"]: law["day"] for law in told["laws"]} == {
        WINDMILLS: "2020-04-01",
        MILLS: "2020-04-01",
    }
    egov.states[0] = act(1, "風車法", "風車は、黒く塗る。", updated="2026-11-20T09:00:00+09:00")
    newer = laws("update", "--corpus", "tax", "--format", "json", "--json").json
    assert [one["kind"] for one in newer["taken"]["changes"]] == ["corrected"]
    assert laws("download", "風車法", "--category", "国税").code == 2
    assert "has no category 風" in laws("download", "--category", "風").err


def test_what_is_listed(laws: Cli, egov: FakeEGov) -> None:
    laws("download", "--json")
    assert "2020-04-01" in laws("list", "風車").out
    assert (laws("list", "砂丘").code, laws("list", "--online").code) == (3, 2)
    assert MILLS in laws("list", "水車", "--online").out
    assert laws("list", "--categories", "--json").json[12] == {"category": 13, "name": "国税"}
    told = laws("status")
    assert "fetched from e-Gov: all laws, with changes through" in told.out
    assert "laws cited, but not in the corpus: 1" in told.out
    assert "海底法" in told.out
    assert laws("status", "--json").json["absent"] == [
        {"name": "海底法", "citations": 1, "laws": 1}
    ]


def test_a_failure_names_cause_and_cure(laws: Cli, home: Path, egov: FakeEGov) -> None:
    egov.statuses = [403]
    refused = laws("download")
    assert refused.code == 4
    assert "refuses the request (status 403)" in refused.err
    assert "localrag laws import FOLDER" in refused.err
    assert not (home / "corpora" / "main" / "corpus.sqlite").exists()
    shutil.rmtree(home)
    assert "localrag init" in laws("download").err

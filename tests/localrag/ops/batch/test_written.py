"""A file of answers, read row by row."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from localrag.errors import InputError
from localrag.ops.batch.rows import WrittenRows

TRAP = 'He said "status": "failed", "error": {"type": "Trap"} and {"row": 9'


@pytest.fixture
def written(bench: Any, scripted: Any) -> Any:
    """A batch with a failed row and a question that looks like an answer."""
    bench.ask("渡し舟", TRAP, "壊れた質問")

    def behave(text: str) -> None:
        if text == "壊れた質問":
            raise InputError("It is broken.", "Mend it.")

    bench.run(scripted(behave=behave))
    return bench


def test_rows_are_counted_and_read_one_by_one(written: Any) -> None:
    rows = WrittenRows(written.out)
    assert rows.refresh()
    assert not rows.refresh()
    assert rows.tally() == {"supported": 2, "InputError": 1}
    assert rows.tally(2) == {"supported": 2}
    assert rows.numbers() == [1, 2, 3]
    assert rows.numbers(failed=True) == [3]
    assert rows.numbers(failed=True, up_to=2) == []
    assert rows.row(2)["question"] == TRAP
    assert rows.row(3)["error"]["cure"] == "Mend it."


def test_it_follows_a_file_that_grows_and_is_put_in_order(written: Any) -> None:
    rows = WrittenRows(written.out)
    rows.refresh()
    row = {**rows.row(1), "row": 3}
    line = json.dumps(row, ensure_ascii=False).encode()
    with written.out.open("ab") as file:
        file.write(line)
        file.flush()
        rows.refresh()
        # The line is unfinished.
        assert rows.numbers(failed=True) == [3]
        file.write(b"\n")
    assert rows.refresh()
    assert rows.numbers(failed=True) == []
    assert rows.row(3)["question"] == "渡し舟"
    lines = written.out.read_bytes().splitlines(keepends=True)
    other = written.out.with_name("other")
    other.write_bytes(b"".join(lines[:1]))
    other.replace(written.out)
    assert rows.refresh()
    assert rows.numbers() == [1]


def test_what_no_batch_wrote_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    rows = WrittenRows(path)
    assert not rows.refresh()
    path.write_bytes(b"\xff\x00 nothing\n[]\n" + b"x" * 100_000)
    assert rows.refresh()
    assert rows.numbers() == []
    with pytest.raises(LookupError):
        rows.row(1)
    path.unlink()
    assert not rows.refresh()


def test_a_file_that_changed_under_the_reader_is_not_taken_for_another_row(written: Any) -> None:
    rows = WrittenRows(written.out)
    rows.refresh()
    lines = written.out.read_bytes().splitlines(keepends=True)
    written.out.write_bytes(b"".join([lines[1], lines[0], lines[2]]))
    with pytest.raises((ValueError, LookupError)):
        rows.row(1)


def test_several_threads_read_it_while_it_grows(written: Any) -> None:
    rows = WrittenRows(written.out)
    rows.refresh()
    row = rows.row(1)

    def grow() -> None:
        with written.out.open("a", encoding="utf-8") as file:
            for number in range(4, 20_001):
                file.write(json.dumps({**row, "row": number}, ensure_ascii=False) + "\n")

    def look() -> None:
        while len(rows.numbers()) < 20_000:
            rows.refresh()
            assert sum(rows.tally().values()) >= 3

    with ThreadPoolExecutor(5) as threads:
        for done in [threads.submit(look) for _ in range(4)] + [threads.submit(grow)]:
            done.result(30)
    assert rows.numbers() == list(range(1, 20_001))
    assert all(rows.row(number)["row"] == number for number in (1, 4, 9_999, 20_000))

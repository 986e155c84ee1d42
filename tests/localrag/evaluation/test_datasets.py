"""Datasets by name and by path: declared, found, loaded, compared with their hashes."""

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from localrag.corpus.config import load as load_config
from localrag.corpus.workspace import Workspace
from localrag.errors import InputError, LocalragError, NotFoundError, UsageError, WorkspaceError
from localrag.evaluation.datasets import acquiring
from localrag.evaluation.datasets.keeping import DatasetFolder, digest
from localrag.evaluation.datasets.loading import corpus_name, damaged, declared, find, known, load

from ...rows import each

QUESTION = '{"id": "q1", "question": "櫂は要るか", "options": ["はい", "いいえ"], "answer": "a"}\n'
DECLARATION = """
title = "渡し舟の問い"
source = "手元"
licence = "CC0"
reader = "choices"

[[splits]]
name = "first"
file = "first.jsonl"

[[splits]]
name = "second"
file = "deeper/second.jsonl"
sha256 = "SHA256"

[published]
statute-direct = [{ score = 0.5, n = 10, conditions = "another model", source = "a paper" }]
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """The declaration of a user, with its files beside it."""
    folder = tmp_path / "mine"
    (folder / "deeper").mkdir(parents=True)
    (folder / "first.jsonl").write_text(QUESTION, encoding="utf-8")
    (folder / "deeper" / "second.jsonl").write_text(QUESTION, encoding="utf-8")
    path = folder / "ferries.toml"
    text = DECLARATION.replace("SHA256", digest(QUESTION.encode()))
    path.write_text(text, encoding="utf-8")
    return path


def test_what_localrag_declares() -> None:
    lawqa = declared()["lawqa"]
    assert [split.name for split in lawqa.splits] == ["train", "all"]
    assert lawqa.splits[1].url.startswith("https://raw.githubusercontent.com/digital-go-jp/")
    assert corpus_name(lawqa) == "lawqa"
    assert "86 documents of the corpus are gold passages" in lawqa.caveats[0]
    assert lawqa.published["statute-fixed"][0].score == pytest.approx(85 / 140, abs=0.0005)


def test_every_published_figure_names_the_file_or_paper_that_it_is_from() -> None:
    figures = [
        figure
        for dataset in declared().values()
        for ones in dataset.published.values()
        for figure in ones
    ]
    assert figures
    for figure in figures:
        assert "https://" in figure.source
        assert re.search(r"commit [0-9a-f]{7}\), \S+|表\d", figure.source), figure.source
        assert figure.n
        assert figure.conditions


def test_a_declaration_by_path_has_its_files_beside_it(workspace: Workspace, mine: Path) -> None:
    first = load(workspace, str(mine))
    assert (first.split, first.dataset.name, len(first.questions)) == ("first", "ferries", 1)
    second = load(workspace, str(mine), "second")
    assert second.sha256 == digest(QUESTION.encode())
    assert second.dataset.published["statute-direct"][0].score == 0.5


def test_a_file_of_questions_needs_no_declaration(workspace: Workspace, mine: Path) -> None:
    questions = load(workspace, str(mine.parent / "first.jsonl"))
    assert (questions.split, questions.dataset.reader) == ("first.jsonl", "choices")


@each(
    ("file", "name"),
    [
        ("my questions (2).jsonl", "my-questions-2"),
        ("質問.JSON", "質問"),
        ("-.hidden.jsonl", "hidden"),
        ("!?.ndjson", "questions"),
        (f"{'x' * 100}.jsonl", "x" * 64),
        ("lawqa.jsonl", "lawqa-file"),
    ],
)
def test_a_file_of_any_name_is_a_dataset(
    workspace: Workspace, tmp_path: Path, file: str, name: str
) -> None:
    (tmp_path / file).write_text(f"[{QUESTION}]" if "JSON" in file else QUESTION, encoding="utf-8")
    questions = load(workspace, str(tmp_path / file))
    assert (questions.dataset.name, questions.split) == (name, file)
    assert corpus_name(questions.dataset) == ""


def test_a_sheet_is_no_file_of_questions(workspace: Workspace, tmp_path: Path) -> None:
    sheet = tmp_path / "q.csv"
    sheet.write_text("id,question\n", encoding="utf-8")
    for name, file in ((str(sheet), None), ("q.CSV", None), ("lawqa", sheet)):
        with pytest.raises(InputError, match=r"JSON Lines .* or JSON .* only") as caught:
            load(workspace, name, file=file)
        assert "the fields id, question, options (or choices) and answer" in caught.value.cure


def test_what_the_document_shows_is_read(workspace: Workspace, tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "docs" / "datasets.md").read_text(encoding="utf-8")
    toml, line = (text.split(f"```{kind}\n")[1].split("```")[0] for kind in ("toml", "json"))
    (tmp_path / "ferries.toml").write_text(toml, encoding="utf-8")
    dataset = find(workspace, str(tmp_path / "ferries.toml")).dataset
    assert all(getattr(dataset, part.name) for part in fields(dataset))
    (tmp_path / "q.jsonl").write_text(line, encoding="utf-8")
    (question,) = load(workspace, str(tmp_path / "q.jsonl")).questions
    assert question.gold
    assert question.context


def test_caveats_are_part_of_a_declaration(workspace: Workspace, mine: Path) -> None:
    text = mine.read_text(encoding="utf-8")
    mine.write_text(f'caveats = ["Few questions."]\n{text}', encoding="utf-8")
    assert find(workspace, str(mine)).dataset.caveats == ("Few questions.",)
    own = mine.with_name("own.jsonl")
    own.write_text(QUESTION.replace("q1", "own"), encoding="utf-8")
    assert load(workspace, str(mine), file=own).dataset.caveats == ()
    mine.write_text(f'caveats = [""]\n{text}', encoding="utf-8")
    with pytest.raises(InputError, match=r"caveats\.0"):
        find(workspace, str(mine))


def test_a_file_in_the_place_of_a_split(workspace: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text(QUESTION, encoding="utf-8")
    questions = load(workspace, "lawqa", file=file)
    assert (questions.split, questions.dataset.name) == ("own.jsonl", "lawqa")


def test_the_first_split_at_hand_is_read_where_none_is_named(
    workspace: Workspace, mine: Path
) -> None:
    (mine.parent / "first.jsonl").unlink()
    assert load(workspace, str(mine)).split == "second"


@each(
    ("name", "split", "error", "part"),
    [
        ("lawqa", "", NotFoundError, "localrag data add lawqa FOLDER"),
        ("lawqa", "all", NotFoundError, "localrag data download lawqa"),
        ("lawqa", "test", UsageError, "It has: train, all."),
        ("lawqaa", "", NotFoundError, "Did you mean lawqa?"),
        ("../lawqa", "", UsageError, "cannot be the name"),
        ("none.toml", "", InputError, "cannot be read"),
        ("none.jsonl", "", NotFoundError, "no file"),
        (f"{'x' * 300}.jsonl", "", NotFoundError, "no file"),
        ("~nobody-of-that-name/x.toml", "", UsageError, "no path"),
    ],
)
def test_what_is_not_there(
    workspace: Workspace, name: str, split: str, error: type[LocalragError], part: str
) -> None:
    with pytest.raises(error) as caught:
        load(workspace, name, split)
    assert part in str(caught.value)


def test_a_split_that_has_changed_is_refused(workspace: Workspace, mine: Path) -> None:
    second = mine.parent / "deeper" / "second.jsonl"
    changed = QUESTION.replace("はい", "否")
    second.write_text(changed, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load(workspace, str(mine), "second")
    for hash_ in (digest(QUESTION.encode()), digest(changed.encode())):
        assert hash_ in caught.value.cause


def test_a_hash_recorded_on_arrival_counts_too(workspace: Workspace, mine: Path) -> None:
    acquiring.add(workspace, str(mine), mine.parent, load_config(workspace))
    assert [dataset.name for dataset in known(workspace)] == [*declared(), "ferries"]
    assert load(workspace, "ferries").split == "first"
    (workspace.datasets / "ferries" / "first.jsonl").write_text(QUESTION * 2, encoding="utf-8")
    with pytest.raises(InputError, match="the record of its arrival"):
        load(workspace, "ferries")


def test_a_copy_made_by_hand_is_no_dataset(workspace: Workspace, mine: Path) -> None:
    copy = workspace.datasets / "copy of mine"
    copy.mkdir(parents=True)
    (copy / "dataset.toml").write_bytes(mine.read_bytes())
    assert [dataset.name for dataset in known(workspace)] == [*declared()]


def test_a_damaged_declaration_does_not_hide_the_others(workspace: Workspace, mine: Path) -> None:
    acquiring.add(workspace, str(mine), mine.parent, load_config(workspace))
    assert not damaged(workspace)
    (workspace.datasets / "broken").mkdir()
    (workspace.datasets / "broken" / "dataset.toml").write_text("title = ", encoding="utf-8")
    assert [dataset.name for dataset in known(workspace)] == [*declared(), "ferries"]
    (problem,) = damaged(workspace)
    assert "broken" in problem.cause
    with pytest.raises(NotFoundError, match="'ferry'") as caught:
        find(workspace, "ferry")
    assert "Did you mean ferries?" in caught.value.cure
    with pytest.raises(InputError, match="declares no dataset"):
        find(workspace, "broken")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"first.jsonl": {"md5": 1}}', "\udcff"])
def test_a_damaged_record_is_told(workspace: Workspace, mine: Path, content: str) -> None:
    acquiring.add(workspace, str(mine), mine.parent, load_config(workspace))
    record = DatasetFolder.of(workspace, "ferries").folder / "received.json"
    record.write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(WorkspaceError, match=r"received\.json"):
        load(workspace, "ferries")


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (("title = ", "titel = "), "titel: Extra inputs"),
        (('"choices"', '"csv"'), "choices, and no 'csv'"),
        (('"second"', '"first"'), "the name 'first' stands twice"),
        (('"deeper/second.jsonl"', '"first.jsonl"'), "the file 'first.jsonl' stands twice"),
        (("deeper/second", "../second"), "no path inside"),
        (("deeper/second", "/etc/second"), "no path inside"),
        (("deeper/second", "C:/second"), "no path inside"),
        (('"first.jsonl"', '""'), "no path inside"),
        (("first.jsonl", "Dataset.toml"), "localrag uses itself"),
        (("first.jsonl", "received.json"), "localrag uses itself"),
        (("first.jsonl", "received.json/x.jsonl"), "localrag uses itself"),
        (("first.jsonl", ".lock"), "localrag uses itself"),
        (("first.jsonl", "./excerpts/first.jsonl"), "localrag uses itself"),
        (("first.jsonl", "deeper/second.jsonl.part"), "localrag uses itself"),
        (
            ('[[splits]]\nname = "first"', 'corpus = ["excerpts"]\n[[splits]]\nname = "first"'),
            "corpus.0: Value error, is a name that localrag uses itself",
        ),
        (
            (
                '[[splits]]\nname = "first"',
                'excerpts = ["a/x.jsonl", "b/x.jsonl"]\n[[splits]]\nname = "first"',
            ),
            "excerpts: the name 'x' stands twice",
        ),
        (("0.5", "50"), "less than or equal to 1"),
        (('sha256 = "', 'sha256 = "x'), "should match pattern"),
        (("n = 10", "n = "), "Invalid value"),
    ],
)
def test_a_declaration_with_a_fault(
    workspace: Workspace, mine: Path, change: tuple[str, str], part: str
) -> None:
    text = mine.read_text(encoding="utf-8")
    assert change[0] in text
    mine.write_text(text.replace(*change), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        find(workspace, str(mine))
    assert part in caught.value.cause


@pytest.mark.parametrize("content", [b"", b"\xff", b"a = " + b"[" * 100_000])
def test_files_that_declare_nothing(workspace: Workspace, mine: Path, content: bytes) -> None:
    mine.write_bytes(content)
    with pytest.raises(InputError):
        find(workspace, str(mine))


def test_gold_finds_its_laws_in_the_corpus(sample: Path, tmp_path: Path) -> None:
    workspace = Workspace.locate(sample)
    config = load_config(workspace)
    with_title = {"law_id": "599M60000800009", "law_title": "櫂規則", "article": "3", "text": "櫂"}
    folder = tmp_path / "data"
    (folder / "lawqa").mkdir(parents=True)
    excerpts = folder / "lawqa" / "contexts_missing.jsonl"
    excerpts.write_text(json.dumps(with_title), encoding="utf-8")
    acquiring.add(workspace, "lawqa", folder, config)
    entry = {
        "ファイル名": "x",
        "問題文": "どれか",
        "選択肢": "a 甲\nb 乙",
        "output": "a",
        "コンテキスト": "## 櫂規則\n### 第3条",
    }
    file = tmp_path / "own.jsonl"
    file.write_text(json.dumps(entry), encoding="utf-8")
    law = "599M60000800009"
    for corpus, document in (("", law), ("lawqa", law), ("main", "櫂規則")):
        (question,) = load(workspace, "lawqa", file=file, corpus=corpus).questions
        assert [(gold.document, gold.article) for gold in question.gold] == [(document, "3")]

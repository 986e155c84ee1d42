"""Conversations as Markdown files."""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from localrag import language
from localrag.answer.checking import MismatchKind
from localrag.answer.types import Answer, Citation, Claim, Nearest, Status
from localrag.answer.wording import MISMATCHES, STATUSES
from localrag.corpus.database import Database
from localrag.corpus.workspace import Workspace
from localrag.errors import FileExistsAlready, NotFoundError, StorageError, UsageError
from localrag.ops.conversations.export import conversation_blocks, export, file_name
from localrag.ops.conversations.store import Conversations
from localrag.page.markdown import markdown
from localrag.search.types import Query, Trace
from localrag.text.facts import Fact, FactKind

MakeAnswer = Callable[..., Answer]

ACT = "599AC0000000001"


def nowhere(corpus: str, citation: Citation) -> str:
    return ""


def written(conversations: Conversations, talk: int, code: str = "en") -> str:
    language.use(code)
    try:
        blocks = conversation_blocks(conversations.get(talk), conversations.turns(talk), nowhere)
        text = markdown(blocks)
    finally:
        language.use("en")
    return "\n".join(row for row in text.split("\n") if row)


def test_everything_an_answer_says_is_written(
    conversations: Conversations, answer: MakeAnswer
) -> None:
    talk = conversations.new("渡し舟のこと").id
    query = Query("定員は？\nまた水位は？", ("十人", "*十二人*"))
    turn = conversations.begin(talk, query, "laws", "statute-options", "qwen3-8b")
    conversations.finish(turn.id, answer(), 4.25)
    text = written(conversations, talk)
    for part in (
        "# 渡し舟のこと\n",
        "## Question 1\n> 定員は？\\\n> また水位は？\n- a: 十人\n- b: \\*十二人\\*\n",
        "laws · statute-options · qwen3-8b · 20",
        " · 4.2 s\n**not in this corpus**: 会社法\n**unsupported**: "
        "an option was chosen, but no provision is quoted for it\n"
        "### What the texts say, word for word; check whether it answers\n- 第二項\n",
        "  `F1#8.2`\n### Written by the model, not supported\n**b** **二メートル**\n",
        "- 水位が二メートルを超えるとき。 [1][2 rejected]\n  - code chose these sentences: ",
        "  - this figure is not in the cited text: 二メートル\n",
        "### Derivation\n1. 渡し舟、定員: **十二人** [1] (triples)\n"
        "2. 渡し舟、船長: **nothing found** (triples, the model alone)\n",
        "\\=\\> 10 \\< 12\n### Citations\n",
        "1. 渡し舟法 第八条\n   > 渡し守は\n   `F1#8.1` · in force from 2026-04-01\n",
        "2. **rejected**: F1#9 (the quotation is not in the passage)\n   > ない文\n",
    ):
        assert part in text, text
    japanese = written(conversations, talk, "ja")
    for part in (
        "## 質問 1\n",
        " · 4.2 秒\n**このコーパスにない法令**：会社法\n**根拠なし**：",
        "[1][2 却下]\n",
        "  - この数が引用した文にありません：二メートル\n",
        "`F1#8.1` · 2026-04-01 施行\n",
        "2. 渡し舟、船長：**見つからず**（知識（三つ組）、モデルのみ）\n",
        "2. **却下**：F1#9（引用文が出典にありません）\n",
        "### 引用\n",
    ):
        assert part in japanese, japanese


def test_a_quotation_of_another_law_says_so(conversations: Conversations) -> None:
    talk = conversations.new().id
    turn = conversations.begin(talk, Query("会社法の資格は？"), "main", "", "")
    beside = Citation(
        "F1#8.1", "渡し守は", 10, 14, "渡し舟法", "2026-04-01", beside=True, verified=True
    )
    answer = Answer("渡し守は", (beside,), Status.QUOTED, Trace(), absent=("会社法",))
    conversations.finish(turn.id, answer, 1)
    assert "`F1#8.1` · in force from 2026-04-01 · of a law not named in the question" in written(
        conversations, talk
    )
    assert "`F1#8.1` · 2026-04-01 施行 · 質問の法令とは別の法令" in written(
        conversations, talk, "ja"
    )


def test_every_status_and_every_mismatch_has_words() -> None:
    assert STATUSES.keys() == set(Status)
    assert MISMATCHES.keys() == set(MismatchKind)


def test_what_has_no_answer_says_why(
    file: Database, conversations: Conversations, answer: MakeAnswer
) -> None:
    talk = conversations.new().id
    assert "No question has been asked." in written(conversations, talk)
    asked = [conversations.begin(talk, Query(text), "main", "", "") for text in "甲乙丙丁"]
    conversations.cancel(asked[0].id, ["書きかけ"])
    conversations.fail(asked[1].id, "The model ended.", "localrag doctor")
    conversations.finish(
        asked[2].id,
        Answer("", (), Status.NOT_FOUND, Trace()),
        0.5,
    )
    conversations.draft(asked[3].id, ["# 半分"])
    text = written(conversations, talk)
    assert "**Cancelled by the user.**\nWritten until then, and not checked:\n- 書きかけ\n" in text
    assert "**Failed.**\nThe model ended. localrag doctor\n" in text
    assert "default reader · no model · " in text
    assert "**not found**: nothing in this corpus supports an answer\n" in text
    assert text.endswith(
        "**Unfinished: it is being answered.**\nWritten until then, and not checked:\n- \\# 半分"
    )
    file.write("UPDATE answers SET body = '' WHERE turn = ?", (asked[2].id,))
    text = written(conversations, talk)
    assert (
        "**The answer cannot be read.**\nThis answer is damaged. Ask the question again.\n" in text
    )


def test_hostile_texts_stay_in_their_place(
    conversations: Conversations, answer: MakeAnswer
) -> None:
    hostile = "x\n\n# Heading\n</details>\n[a](b)\x1b[2J"
    talk = conversations.new(hostile).id
    turn = conversations.begin(talk, Query(hostile, (hostile,)), hostile, hostile, hostile)
    citation = Citation("a`#1", hostile, label=hostile, problem=Fact(FactKind.SAID, words=hostile))
    conversations.finish(
        turn.id,
        answer(
            text=hostile, citations=(citation,), claims=(Claim(hostile, (1,)),),
            quotations=(citation,), nearest=(Nearest("b`#2", hostile, hostile),), label=hostile,
            doubts=(Fact(FactKind.SAID, words=hostile),), derivation=None,
        ),
        1,
    )  # fmt: skip
    text = written(conversations, talk)
    headings = [row for row in text.split("\n") if row.startswith("#")]
    near = "### Nearest in this corpus; they may not answer"
    first = "### What the texts say, word for word; check whether it answers"
    below = ["### Written by the model, not supported", "### Citations", near]
    assert headings == [headings[0], "## Question 1", first, *below]
    assert headings[0].startswith("# x␊␊# Heading␊\\</details")
    for marked in ("\x1b", "\n</", "[a]("):
        assert marked not in text.replace("\\[a\\](", ""), marked


def test_citations_are_written_as_lawyers_do(
    sample: Path, conversations: Conversations, tmp_path: Path
) -> None:
    talk = conversations.new("渡し舟").id
    quotes = [f"{ACT}#8.1", f"{ACT}#4.2.3.1", f"{ACT}#suppl2/1.1", "pages/kite-mail.md#2", "gone#1"]
    citations = tuple(Citation(each, "運航", 1, 3, "as kept", verified=True) for each in quotes)
    for corpus in ("main", "gone"):
        turn = conversations.begin(talk, Query("問い"), corpus, "", "")
        answer = Answer("運航", citations, Status.SUPPORTED, Trace())
        conversations.finish(turn.id, answer, 1)
    path = tmp_path / "渡し舟.md"
    export(conversations, Workspace(sample), talk, path)
    rows = path.read_text(encoding="utf-8").split("\n")
    law = "渡し舟の安全及び活用に関する法律"
    assert [row for row in rows if row[:3] in ("1. ", "2. ", "3. ", "4. ", "5. ")] == [
        f"1. {law}第8条第1項（令和九十九年法律第一号）",
        f"2. {law}第4条第2項第3号イ（令和九十九年法律第一号）",
        f"3. {law}附則（令和九九年一二月一日法律第三〇号）第1条（令和九十九年法律第一号）",
        "4. Kite mail of Tarn Skerry \\> Operation",
        "5. as kept",
        *(f"{number}. as kept" for number in range(1, 6)),
    ]


def test_no_file_is_lost(
    conversations: Conversations, workspace: Workspace, tmp_path: Path
) -> None:
    talk = conversations.new("題").id
    path = tmp_path / "題.md"
    path.write_text("precious")
    with pytest.raises(FileExistsAlready, match="already"):
        export(conversations, workspace, talk, path)
    with pytest.raises(UsageError, match="is a folder"):
        export(conversations, workspace, talk, tmp_path)
    for unwritable in (
        tmp_path / "no" / "folder.md",
        tmp_path / "題.md" / "x.md",
        tmp_path / ("x" * 300),
        tmp_path / "nul\0",
    ):
        with pytest.raises(StorageError, match="cannot be written"):
            export(conversations, workspace, talk, unwritable)
    with pytest.raises(NotFoundError):
        export(conversations, workspace, talk + 1, path, replace=True)
    assert path.read_text() == "precious"
    export(conversations, workspace, talk, path, replace=True)
    assert path.read_text(encoding="utf-8").startswith("# 題\n")
    assert [file.name for file in tmp_path.iterdir() if file.name != "home"] == ["題.md"]


def test_a_full_disk_is_told(
    conversations: Conversations,
    workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "full.md").write_text("precious")
    talk = conversations.new("題").id
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StorageError, match="No space left"):
        export(conversations, workspace, talk, tmp_path / "full.md", replace=True)
    assert (tmp_path / "full.md").read_text() == "precious"
    assert not list(tmp_path.glob(".*.new"))


def test_a_title_becomes_a_file_name_for_every_system() -> None:
    assert file_name("渡し舟の 定員は？") == "渡し舟の 定員は？"
    assert file_name('a/b\\c:d*e?"<>|f\n\x00\x1b') == "a_b_c_d_e_f"
    assert file_name("../..") == file_name("") == file_name(" . ") == "conversation"
    assert len(file_name("長" * 500).encode()) <= 200
    assert file_name("x" * 500) == "x" * 200

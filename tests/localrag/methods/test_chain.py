"""`chain`, led through every branch by scripted replies."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localrag.answer.types import Status
from localrag.corpus.config import Config
from localrag.corpus.ingest.add import add
from localrag.corpus.workspace import Workspace
from localrag.methods.catalogue import method
from localrag.prepare.preparing import prepare
from localrag.search.indexing.index import index
from localrag.search.types import Query

PAGES = {
    "Tarn Ferries": "Tarn Ferries is a company with nine boats. It was founded by Ada Moss.",
    "Ada Moss": "Ada Moss was an architect. She was born in Quillmere in 1874.",
    "Quillmere": "Quillmere is a town. It lies on the lake of Anvil.",
}
QUESTION = Query("In which town was the founder of Tarn Ferries born?")
FIRST, SECOND = "Who founded Tarn Ferries?", "Where was she born?"
COMPLETED = "Where was Ada Moss born?"
NEEDED, NOT_NEEDED = {"needed": True}, {"needed": False}
YES, NO = {"holds": True}, {"holds": False}
SPLIT = {"questions": [FIRST, SECOND]}
NOTHING: dict[str, Any] = {"claims": []}


def reply(text: str, *numbers: int) -> dict[str, Any]:
    return {"claims": [{"sentences": numbers, "text": text}]}


def final(text: str) -> dict[str, Any]:
    return {"answer": text}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with the sentences of `PAGES`; never write to it."""
    folder = tmp_path_factory.mktemp("pages")
    for title, text in PAGES.items():
        (folder / f"{title}.txt").write_text(text, encoding="utf-8")
    workspace = Workspace.locate(tmp_path_factory.mktemp("chain") / "home")
    workspace.init()
    add(workspace, "main", [folder])
    index(workspace, "main")
    list(prepare(workspace, "main", Config(), ["sentences"]))
    return workspace.home


@pytest.fixture
def ask(play: Callable[..., Any], pages: Path) -> Callable[..., Any]:
    def run(*replies: Any, query: Query = QUESTION, **options: Any) -> Any:
        return play("chain", query, *replies, home=pages, **options)

    return run


def purposes(played: Any) -> list[str]:
    return [call.purpose for call in played.trace.calls]


def number(prompt: str, text: str) -> int:
    """The number of the sentence with a text in a prompt."""
    line = next(line for line in prompt.splitlines() if ": " in line and text in line)
    return int(line.partition(":")[0])


def test_each_answer_completes_the_next_question(ask: Callable[..., Any]) -> None:
    replies = [
        NEEDED, SPLIT,
        YES, reply("Ada Moss", 1),
        YES, {"question": COMPLETED}, YES, reply("Quillmere", 1),
        final("Quillmere"), reply("Quillmere", 1),
    ]  # fmt: skip
    played = ask(*replies)
    assert purposes(played) == [
        "decomposition need", "decomposition",
        "sub-question 1 enough", "answer 1",
        "sub-question 2 refers", "sub-question 2 completed",
        "sub-question 2 enough", "answer 2",
        "answer from answers", "answer from sentences",
    ]  # fmt: skip
    assert "Ada Moss" in played.prompts[4]
    assert COMPLETED in played.prompts[6]
    assert SECOND not in played.prompts[6]
    cited = number(played.prompts[-1], "Quillmere in 1874")
    answer = ask(*replies[:-1], reply("Quillmere", cited)).answer
    assert (answer.text, answer.status) == ("Quillmere", Status.SUPPORTED)
    assert [one.quote for one in answer.citations] == ["She was born in Quillmere in 1874."]


def test_what_points_to_nothing_stays_as_it_is(ask: Callable[..., Any]) -> None:
    played = ask(NEEDED, SPLIT, YES, reply("Ada Moss", 1), NO, YES, NOTHING, final("?"), NOTHING)
    assert "sub-question 2 completed" not in purposes(played)
    assert SECOND in played.prompts[5]


def test_a_question_that_need_not_be_split_is_one_step(ask: Callable[..., Any]) -> None:
    played = ask(NOT_NEEDED, YES, reply("Quillmere", 1), final("Quillmere"), NOTHING)
    assert len(purposes(played)) == 5
    assert "refers" not in " ".join(purposes(played))


def test_where_the_sentences_are_not_enough_neighbours_are_added(ask: Callable[..., Any]) -> None:
    short = Query("lake Anvil?")
    enough = ask(NOT_NEEDED, YES, NOTHING, NOTHING, query=short)
    more = ask(NOT_NEEDED, NO, NOTHING, NOTHING, query=short)
    few, many = (
        {line.partition(": ")[2] for line in played.prompts[2].splitlines() if line[:1].isdigit()}
        for played in (enough, more)
    )
    assert few <= many
    assert "It lies on the lake of Anvil." in few


def test_a_sub_question_without_an_answer_completes_none(ask: Callable[..., Any]) -> None:
    played = ask(NEEDED, SPLIT, YES, NOTHING, YES, NOTHING, NOTHING)
    assert purposes(played)[4:] == ["sub-question 2 enough", "answer 2", "answer from sentences"]
    assert played.answer.status is Status.NOT_FOUND


def test_of_two_final_answers_the_carried_one_is_given(ask: Callable[..., Any]) -> None:
    shown = ask(NOT_NEEDED, YES, NOTHING, NOTHING).prompts[2]
    steps = [NOT_NEEDED, YES, reply("Quillmere", number(shown, "Quillmere in 1874"))]
    answer = ask(*steps, final("Quillmere"), reply("Marrowdale", 1)).answer
    assert (answer.text, answer.status) == ("Quillmere", Status.SUPPORTED)
    assert [one.quote for one in answer.citations] == ["She was born in Quillmere in 1874."]
    neither = ask(*steps, final("Otterby"), reply("Marrowdale", 1)).answer
    assert (neither.text, neither.status) == ("Marrowdale", Status.UNSUPPORTED)
    alone = ask(*steps, final("Otterby"), NOTHING).answer
    assert (alone.text, alone.status) == ("Otterby", Status.UNSUPPORTED)


def test_where_nothing_is_found_nothing_is_read(ask: Callable[..., Any]) -> None:
    played = ask(NOT_NEEDED, query=Query("Zyqqx vvwkk?"))
    assert (played.answer.status, purposes(played)) == (Status.NOT_FOUND, ["decomposition need"])


def test_it_needs_the_layer_of_sentences(play: Callable[..., Any]) -> None:
    error = play("chain", QUESTION, NOT_NEEDED).error
    assert "sentences" in error.cause
    assert "localrag prepare" in error.cure


def test_a_malformed_step_is_a_typed_failure(ask: Callable[..., Any]) -> None:
    failed = ask(NOT_NEEDED, "maybe", "maybe")
    assert getattr(failed.error, "kind", "") == "ReplyInvalid"


def test_a_japanese_question_is_asked_in_japanese(ask: Callable[..., Any]) -> None:
    asked = Query("Tarn Ferries を設立した人はどこで生まれたか。")
    split = {"questions": ["Tarn Ferries を設立したのは誰か", "その人はどこで生まれたか"]}
    prompts = ask(
        NEEDED, split, YES, reply("Ada Moss", 1), YES, {"question": "Ada Moss の出生地はどこか"},
        NO, NOTHING, final("Quillmere"), NOTHING, query=asked,
    ).prompts  # fmt: skip
    for prompt, words in zip(
        (prompts[2], prompts[4], prompts[5], prompts[8]),
        ("答えられるか", "指しているか", "問いを書き直す", "日本語で答える"),
        strict=True,
    ):
        assert words in prompt


def test_the_calls_are_declared() -> None:
    calls = method("chain").calls
    assert (calls.of(0), calls.most(0)) == (5, 5 + 1 + 3 * 3 + 6)

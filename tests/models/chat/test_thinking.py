from localrag_models.thinking import ThinkingSplitter

from ...rows import each


def split(reply: str, size: int) -> tuple[str, str]:
    """Answer and reasoning of a reply that comes in pieces of this size."""
    splitter = ThinkingSplitter()
    pieces = [reply[at : at + size] for at in range(0, len(reply), size)]
    answer = "".join(map(splitter, pieces)) + splitter.end()
    return answer, splitter.thinking


@each("size", [1, 2, 5, 100])
@each(
    ("reply", "answer", "thinking"),
    [
        ("<think>\n考える。\n</think>\n\n第一条である。", "第一条である。", "考える。"),
        ("\n <think></think>答え", "答え", ""),
        ("<think>a < b</th></think> x </think>", "x </think>", "a < b</th>"),
        ("<think>終わらない", "", "終わらない"),
        ("<think>終わらない</thi", "", "終わらない</thi"),
        ("<thin air", "<thin air", ""),
        (" \n答え<think>", " \n答え<think>", ""),
        ("<thi", "<thi", ""),
        ("", "", ""),
    ],
)
def test_reasoning_is_told_from_the_answer(
    reply: str, answer: str, thinking: str, size: int
) -> None:
    assert split(reply, size) == (answer, thinking)


def test_what_is_certain_is_not_held_back() -> None:
    assert ThinkingSplitter()("第一条") == "第一条"

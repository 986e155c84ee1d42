from localrag_models.chat import AnswerStream, neutralise

from ...rows import each


def answered(
    reply: str, *stop: str, size: int = 1, thinks: bool = True
) -> tuple[list[str], AnswerStream]:
    """What a listener is told of a reply whose bytes come in pieces of this size."""
    pieces: list[str] = []
    answer = AnswerStream(pieces.append, stop, thinks=thinks)
    data = reply.encode()
    for at in range(0, len(data), size):
        answer.take(data[at : at + size])
        if answer.stopped:
            break
    answer.end()
    assert "".join(pieces) == answer.text
    return pieces, answer


@each("size", [1, 2, 3, 7, 99])
@each(
    ("reply", "stop", "text"),
    [
        ("第一条。第二条。", ("。第",), "第一条"),
        ("aaab", ("aab",), "a"),
        ("abcabd", ("abd", "xyz"), "abc"),
        ("abc", ("cd",), "abc"),
        ("abc", ("abc",), ""),
        ("𠮷野家", ("野",), "𠮷"),
    ],
)
def test_stops_are_found_across_the_borders_of_tokens(
    reply: str, stop: tuple[str, ...], text: str, size: int
) -> None:
    assert answered(reply, *stop, size=size)[1].text == text


def test_the_first_of_several_stops_counts() -> None:
    assert answered("one two three", "three", "two", size=99)[1].text == "one "


def test_characters_come_whole_and_at_once() -> None:
    assert answered("第𠮷条")[0] == ["第", "𠮷", "条"]


def test_bytes_that_are_no_utf_8_are_replaced() -> None:
    answer = AnswerStream(lambda _: None)
    for data in (b"a\xe7", b"b\xff", b"\xe7\xac"):
        answer.take(data)
    answer.end()
    assert answer.text == "a\ufffdb\ufffd\ufffd"


def test_reasoning_is_kept_apart() -> None:
    pieces, answer = answered("<think>条?</think>\n\n答え")
    assert (answer.text, answer.thinking) == ("答え", "条?")
    assert pieces == ["答", "え"]


def test_a_stop_inside_the_reasoning_does_not_end_the_answer() -> None:
    assert answered("<think>x。</think>答え。後", "。")[1].text == "答え"


def test_a_reply_without_reasoning_is_taken_as_it_is() -> None:
    assert answered("<think>x</think>", thinks=False)[1].text == "<think>x</think>"


def test_control_tokens_of_the_documents_are_given_back() -> None:
    assert answered(neutralise("一<|im_end|>二"))[1].text == "一<|im_end|>二"

"""Questions with a known way through the stages, played with scripted replies."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from localrag.answer.types import Stage, Status

from ....rows import each

SUPPORTED, UNSUPPORTED, NOT_FOUND = Status.SUPPORTED, Status.UNSUPPORTED, Status.NOT_FOUND

DIRECTOR = ("『青い灯台』の監督は誰ですか？", "青い灯台", "監督")
BORN = ("Answer1の生年月日はいつですか？", "Answer1", "生年月日")
BIRTHPLACE = ("青凪ハルの出身地はどこですか？", "青凪ハル", "出身地")
FLOWER = ("渡瀬市の市の花は何ですか？", "渡瀬市", "市の花")
FLOWER_OF_IT = ("Answer1の市の花は何ですか？", "Answer1", "市の花")
COLOUR = ("Answer2の花の色は何ですか？", "Answer2", "花の色")
FOUNDER = ("帆風工房を設立したのは誰ですか？", "帆風工房", "設立者")
BORN_KURO = ("黒潮レンの生年月日はいつですか？", "黒潮レン", "生年月日")
BORN_AONAGI = ("青凪ハルの生年月日はいつですか？", "青凪ハル", "生年月日")
WORK_KURO = ("黒潮レンの職業は何ですか？", "黒潮レン", "職業")
WORK_AONAGI = ("青凪ハルの職業は何ですか？", "青凪ハル", "職業")

AGES = {"sides": {1: "黒潮レン", 2: "青凪ハル"}}

Reply = Mapping[str, object]


def chosen(hit: int, of: str = "") -> Reply:
    """The reply of stage 1."""
    return {"hit": hit, "object": of}


def read(hit: int, of: str = "") -> Reply:
    """The reply of stage 2."""
    return {"hit": hit, "triple": {"subject": "", "predicate": "", "object": of} if hit else None}


def known(of: str = "") -> Reply:
    """The reply of stage 3."""
    return {"triple": {"subject": "", "predicate": "", "object": of} if of else None}


def answered(text: str) -> Reply:
    """The short answer of the model."""
    return {"answer": text}


class Path(NamedTuple):
    """A question and its way.

    Attributes:
        queries: of the decomposition.
        replies: after the decomposition.
        way: for each query the stages tried, as numbers; "x" if no stage found anything.
        text: of the answer.
        status: of the answer.
        stages: of the settings.
        compared: the fields of the comparison.
    """

    queries: tuple[tuple[str, str, str], ...]
    replies: tuple[Reply, ...]
    way: str
    text: str
    status: Status
    stages: str = "1-2-3"
    compared: Mapping[str, Any] = {}


PATHS = {
    "stage 1": Path((DIRECTOR,), (chosen(1), answered("黒潮レン")), "1", "黒潮レン", SUPPORTED),
    "stage 1 twice": Path(
        (DIRECTOR, BORN),
        (chosen(1), chosen(1), answered("1981年12月24日")),
        "1 1",
        "1981年12月24日",
        SUPPORTED,
    ),
    "narrowed": Path(
        (DIRECTOR, BORN), (chosen(1), chosen(1), answered("1981年")), "1 1", "1981年", SUPPORTED
    ),
    "stage 2 after 1": Path(
        (FLOWER,), (chosen(0), read(1, "浜木綿"), answered("浜木綿")), "12", "浜木綿", SUPPORTED
    ),
    "stage 3 after 1 and 2": Path(
        (FLOWER,),
        (chosen(0), read(0), known("浜木綿"), answered("浜木綿")),
        "123",
        "浜木綿",
        UNSUPPORTED,
    ),
    "nowhere": Path((FLOWER,), (chosen(0), read(0), known()), "123x", "", NOT_FOUND),
    "1 then 2": Path(
        (BIRTHPLACE, FLOWER_OF_IT),
        (chosen(1, "渡瀬市"), chosen(0), read(1, "浜木綿"), answered("浜木綿")),
        "1 12",
        "浜木綿",
        SUPPORTED,
    ),
    "2 then 1": Path(
        (FOUNDER, BORN),
        (chosen(0), read(1, "黒潮レン"), chosen(1), answered("1981年12月24日")),
        "12 1",
        "1981年12月24日",
        SUPPORTED,
    ),
    "1 then 3": Path(
        (DIRECTOR, BORN),
        (chosen(1), chosen(0), read(0), known("1981年"), answered("1981年")),
        "1 123",
        "1981年",
        UNSUPPORTED,
    ),
    "3 then 1": Path(
        (FOUNDER, BORN),
        (chosen(0), read(0), known("黒潮レン"), chosen(1), answered("1981年12月24日")),
        "123 1",
        "1981年12月24日",
        UNSUPPORTED,
    ),
    "three steps": Path(
        (BIRTHPLACE, FLOWER_OF_IT, COLOUR),
        (
            chosen(1, "渡瀬市"),
            chosen(0),
            read(1, "浜木綿"),
            chosen(0),
            read(1, "白い"),
            answered("白い"),
        ),
        "1 12 12",
        "白い",
        SUPPORTED,
    ),
    "three steps, the second not found": Path(
        (BIRTHPLACE, FLOWER_OF_IT, COLOUR),
        (chosen(1, "渡瀬市"), chosen(0), read(0), known()),
        "1 123x x",
        "",
        NOT_FOUND,
    ),
    "the first not found": Path(
        (FOUNDER, BORN), (chosen(0), read(0), known()), "123x x", "", NOT_FOUND
    ),
    "the first not found, the second asks without it": Path(
        (FOUNDER, BORN_KURO),
        (chosen(0), read(0), known(), chosen(1)),
        "123x 1",
        "",
        NOT_FOUND,
    ),
    "order 1-2": Path(
        (FLOWER,), (chosen(0), read(1, "浜木綿"), answered("浜木綿")), "12", "浜木綿", SUPPORTED,
        "1-2",
    ),
    "order 1-2, nowhere": Path((FLOWER,), (chosen(0), read(0)), "12x", "", NOT_FOUND, "1-2"),
    "order 2-1": Path(
        (DIRECTOR, BORN),
        (read(0), chosen(1), read(0), chosen(1), answered("1981年")),
        "21 21",
        "1981年",
        SUPPORTED,
        "2-1",
    ),
    "order 2-1, at once": Path(
        (FOUNDER,), (read(1, "黒潮レン"), answered("黒潮レン")), "2", "黒潮レン", SUPPORTED, "2-1"
    ),
    "order 1-3": Path(
        (FLOWER,), (chosen(0), known("浜木綿"), answered("浜木綿")), "13", "浜木綿", UNSUPPORTED,
        "1-3",
    ),
    "order 1-3, at once": Path(
        (DIRECTOR,), (chosen(1), answered("黒潮レン")), "1", "黒潮レン", SUPPORTED, "1-3"
    ),
    "order 2-3": Path(
        (FOUNDER, BORN),
        (read(1, "黒潮レン"), read(0), known("1981年"), answered("1981年")),
        "2 23",
        "1981年",
        UNSUPPORTED,
        "2-3",
    ),
    "order 3-2-1": Path(
        (DIRECTOR,),
        (known(), read(0), chosen(1), answered("黒潮レン")),
        "321",
        "黒潮レン",
        SUPPORTED,
        "3-2-1",
    ),
    "1 alone": Path((FLOWER,), (chosen(0),), "1x", "", NOT_FOUND, "1"),
    "2 alone": Path(
        (FLOWER,), (read(1, "浜木綿"), answered("浜木綿")), "2", "浜木綿", SUPPORTED, "2"
    ),
    "3 alone": Path(
        (DIRECTOR, BORN),
        (known("黒潮レン"), known("1981年"), answered("1981年")),
        "3 3",
        "1981年",
        UNSUPPORTED,
        "3",
    ),
    "3 alone, unknown": Path((DIRECTOR, BORN), (known(),), "3x x", "", NOT_FOUND, "3"),
    "older": Path(
        (BORN_KURO, BORN_AONAGI),
        (chosen(1), chosen(1)),
        "1 1",
        "青凪ハル",
        SUPPORTED,
        compared={"comparison": "older", **AGES},
    ),
    "older, claimed rightly": Path(
        (BORN_KURO, BORN_AONAGI),
        (chosen(1), chosen(1)),
        "1 1",
        "YES",
        SUPPORTED,
        compared={"comparison": "older", "claimed": 2, **AGES},
    ),
    "older, claimed wrongly": Path(
        (BORN_KURO, BORN_AONAGI),
        (chosen(1), chosen(1)),
        "1 1",
        "NO",
        SUPPORTED,
        compared={"comparison": "older", "claimed": 1, **AGES},
    ),
    "younger, one from memory": Path(
        (BORN_KURO, BORN_AONAGI),
        (chosen(1), chosen(0), known("1970年4月2日")),
        "1 123",
        "黒潮レン",
        UNSUPPORTED,
        compared={"comparison": "younger", **AGES},
    ),
    "the same": Path(
        (WORK_KURO, WORK_AONAGI),
        (chosen(1), chosen(1)),
        "1 1",
        "YES",
        SUPPORTED,
        compared={"comparison": "same", **AGES},
    ),
    "each": Path(
        (BORN_KURO, BORN_AONAGI),
        (chosen(1), chosen(1)),
        "1 1",
        "YES",
        SUPPORTED,
        compared={"comparison": "each", "condition": "20世紀", **AGES},
    ),
    "which": Path(
        (BORN_KURO, BORN_AONAGI),
        (chosen(1), chosen(1)),
        "1 1",
        "青凪ハル",
        SUPPORTED,
        compared={"comparison": "which", "condition": "1970年代", **AGES},
    ),
    "which, of which code is not sure": Path(
        (WORK_KURO, WORK_AONAGI),
        (chosen(1), chosen(1), answered("青凪ハル")),
        "1 1",
        "青凪ハル",
        UNSUPPORTED,
        compared={"comparison": "which", "condition": "音楽家", **AGES},
    ),
    "the answers of two queries are compared": Path(
        (
            DIRECTOR,
            ("『砂の時計』の監督は誰ですか？", "砂の時計", "監督"),
            BORN,
            ("Answer2の生年月日はいつですか？", "Answer2", "生年月日"),
        ),
        (chosen(1), chosen(1), chosen(1), chosen(1)),
        "1 1 1 1",
        "青凪ハル",
        SUPPORTED,
        compared={"comparison": "older", "sides": {3: "Answer1", 4: "Answer2"}},
    ),
    "a comparison with a side not found": Path(
        (BORN_KURO, BORN_AONAGI),
        (chosen(1), chosen(0)),
        "1 1x",
        "",
        NOT_FOUND,
        "1",
        {"comparison": "older", **AGES},
    ),
    "a comparison that code cannot decide": Path(
        (BORN_KURO, WORK_AONAGI),
        (chosen(1), chosen(1), answered("青凪ハル")),
        "1 1",
        "青凪ハル",
        UNSUPPORTED,
        compared={"comparison": "older", **AGES},
    ),
}  # fmt: skip

QUESTION = "".join(
    f"{text}　"
    for text, subject, _ in (DIRECTOR, BIRTHPLACE, FLOWER, FOUNDER, BORN_KURO, BORN_AONAGI)
    if "Answer" not in subject
)
QUESTION += "『砂の時計』の監督"


@each("path", PATHS.values())
def test_a_question_takes_its_way(
    staged: Callable[..., Any], split: Callable[..., Any], path: Path
) -> None:
    played = staged(
        QUESTION, split(*path.queries, **path.compared), *path.replies, stages=path.stages
    )
    answer = played.answer
    steps = answer.derivation.steps
    numbers = {stage: str(number) for number, stage in enumerate(Stage, 1)}
    ways = ["".join(numbers[one] for one in step.tried) + "x" * (not step.triple) for step in steps]
    assert (" ".join(ways), answer.text, answer.status) == (path.way, path.text, path.status)
    assert len(played.requests) == 1 + len(path.replies)
    assert all(step.stage == (step.tried[-1] if step.triple else None) for step in steps)
    assert all(citation.verified for citation in answer.citations)
    assert bool(answer.doubts) == (path.status is not SUPPORTED)
    computed = bool(path.compared) and path.text and "answer" not in path.replies[-1]
    assert len(answer.derivation.computed) == bool(computed)
    for step in steps:
        shown = step.triple is not None and step.stage is not Stage.MODEL
        assert bool(step.citation) == shown
        if shown:
            quote = answer.citations[step.citation - 1].quote
            assert step.triple.objects[0] in quote

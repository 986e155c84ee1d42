"""`staged-symbolic` on invented triples: every shape of question, and its refusals."""

from collections.abc import Callable
from pathlib import Path

import pytest

from localrag.answer.types import Answer, Stage, Status
from localrag.methods.catalogue import Calls, method
from localrag.search.types import Filters
from localrag.text.facts import told

from ....rows import each

Ask = Callable[..., Answer]


@each(
    ("question", "expected"),
    [
        ("緑山ハルカと青木トウマ、どちらが年上ですか？", "青木トウマ"),
        ("緑山ハルカと青木トウマ、年下なのはどちらでしょうか？", "緑山ハルカ"),
        ("緑山ハルカと青木トウマでは、どちらが先に生まれましたか？", "青木トウマ"),
        ("緑山ハルカと青木トウマ、背が高いのはどっち？", "青木トウマ"),
        ("『風見鶏の朝』と『砂の図書館』、先に公開されたのはどちらですか？", "砂の図書館"),
        ("映画『風見鶏の朝』と『砂の図書館』、公開が遅いのは？", "風見鶏の朝"),
        ("霧里市と帆立市で、人口が多いのはどちらですか？", "霧里市"),
        ("霧里市と帆立市、どちらが広いですか？", "帆立市"),
        ("月見橋と星降橋、長いのはどちらでしょう？", "星降橋"),
        ("霧里市と帆立市、岩手県にあるのはどちらですか？", "帆立市"),
        ("『風見鶏の朝』と『砂の図書館』、黄瀬リョウが監督したのはどちらですか？", "砂の図書館"),
        ("市の花がハマナスなのは霧里市と帆立市のどちらですか？", "帆立市"),
    ],
)
def test_which_of_two(ask: Ask, question: str, expected: str) -> None:
    answer = ask(question)
    assert answer.text == expected
    assert answer.derivation is not None
    assert len(answer.derivation.triples) == 2
    assert answer.derivation.computed


@each(
    ("question", "expected"),
    [
        ("緑山ハルカと青木トウマ、年上なのは緑山ハルカですか？", "NO"),
        ("緑山ハルカと青木トウマ、年上なのは青木トウマですか？", "YES"),
        ("青木トウマは緑山ハルカよりも年上ですか？", "YES"),
        ("霧里市より帆立市の方が人口が多いですか？", "NO"),
        ("『風見鶏の朝』は『砂の図書館』より後に公開されましたか？", "YES"),
        ("緑山ハルカと青木トウマの血液型は同じですか？", "YES"),
        ("緑山ハルカと青木トウマの出身地は同じですか？", "NO"),
        ("『風見鶏の朝』と『砂の図書館』の監督は異なりますか？", "YES"),
        ("緑山ハルカと青木トウマは二人とも作曲家ですか？", "YES"),
        ("緑山ハルカと青木トウマはどちらも指揮者ですか？", "NO"),
        ("霧里市と帆立市はいずれも長野県にありますか？", "NO"),
        ("『風見鶏の朝』と『砂の図書館』の制作国はともに日本ですか？", "YES"),
        ("緑山ハルカと青木トウマで、出身地が岩手県の人はいますか？", "YES"),
        ("霧里市と帆立市、市の花がユリなのは霧里市ですか？", "YES"),
    ],
)
def test_yes_or_no(ask: Ask, question: str, expected: str) -> None:
    assert ask(question).text == expected


@each(
    ("question", "expected", "steps"),
    [
        ("緑山ハルカの夫の身長は何cmですか？", "181cm", 2),
        ("緑山ハルカの配偶者は何年に生まれましたか？", "1968年", 2),
        ("青木トウマが所属する事務所の設立年はいつですか？", "1999年", 2),
        ("青木トウマの所属事務所の代表者は誰ですか？", "緑山ハルカ", 2),
        ("緑山ハルカの夫の所属事務所が設立された年月日は？", "1999年8月1日", 3),
        ("『風見鶏の朝』の監督の血液型は何型でしょうか？", "B型", 2),
        ("『風見鶏の朝』の監督の出身地は何市ですか？", "霧里市", 2),
        ("霧里市の市長は誰ですか？", "桜井マコト", 1),
        ("霧里市に隣接する、市の花がハマナスの市の市長は？", "灰原ススム", 3),
    ],
)
def test_step_by_step(ask: Ask, question: str, expected: str, steps: int) -> None:
    answer = ask(question)
    assert answer.text == expected
    assert answer.derivation is not None
    assert len(answer.derivation.steps) == steps


@each(
    "question",
    [
        "緑山ハルカの夫の父の出身地はどこですか？",
        "緑山ハルカの夫の弟の血液型は何型ですか？",
        "霧里市の姉妹都市の人口は何人ですか？",
        "緑山ハルカと青木トウマ、体重が重いのはどちらですか？",
        "緑山ハルカと赤羽ユズ、年上なのはどちらですか？",
        "月見橋と星降橋はどちらも石造りですか？",
        "緑山ハルカと青木トウマ、指揮者ではないのはどちらですか？",
        "赤羽ユズの妻は誰ですか？",
        "月見橋",
        "？？？あ",
    ],
)
def test_what_the_store_lacks_is_not_found(ask: Ask, question: str) -> None:
    answer = ask(question)
    assert answer.text == ""
    assert answer.status is Status.NOT_FOUND
    assert answer.doubts
    assert not answer.trace.events, "nothing was left out"
    assert not answer.citations


def test_the_doubt_names_what_no_triple_speaks_of(ask: Ask) -> None:
    assert "師匠" in told(ask("緑山ハルカの師匠の生年月日は？").doubts)
    assert "negation" in told(
        ask("緑山ハルカと青木トウマ、指揮者ではないのはどちらですか？").doubts
    )
    assert ask("霧里市の市長を教えてくれませんか？").text == "桜井マコト", "which is no negation"


def test_a_word_that_says_more_than_the_triple_is_a_doubt(ask_world: Ask) -> None:
    answer = ask_world("白い桟橋の主演女優は誰ですか？")
    assert answer.status is Status.UNSUPPORTED
    assert "主演女優" in told(answer.doubts)
    assert ask_world("夜更けの渡しに主演した女優の本名は？").status is Status.SUPPORTED


@each(
    "question",
    [
        "真砂伍一の師の職業は何ですか？",
        "宇多川義房の父の父の没年はいつですか？",
        "宇多川義房が築いた城はどこにありますか？",
        "藍瀬町の人口密度は？",
        "塔ノ沢弦の次男の職業は何ですか？",
        "沓掛蓮は何歳で亡くなりましたか？",
    ],
)
def test_what_is_near_to_what_is_asked_is_no_answer(ask_world: Ask, question: str) -> None:
    assert ask_world(question).status is Status.NOT_FOUND


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("ひばり丸とつぐみ丸の建造者はどちらが年上ですか？", "樋ノ口佐吉"),
        ("藍瀬高等学校と霧塚商業高等学校の校長は同じ市の出身ですか？", "NO"),
        ("藍瀬高等学校と霧塚商業高等学校の校長の妻はどちらが若いですか？", ""),
    ],
)
def test_what_belongs_to_two_things_is_compared(
    ask_world: Ask, question: str, expected: str
) -> None:
    answer = ask_world(question)
    assert answer.text == expected
    assert answer.derivation is not None
    assert len(answer.derivation.steps) == (4 if expected else 0)


def test_every_step_is_quoted_and_the_computation_shown(ask: Ask) -> None:
    answer = ask("緑山ハルカと青木トウマ、どちらが年上ですか？")
    assert answer.status is Status.SUPPORTED
    assert not answer.doubts
    assert answer.derivation is not None
    assert "1968年11月30日" in answer.derivation.computed[0]
    for number, step in enumerate(answer.derivation.steps, 1):
        assert step.stage is Stage.KNOWLEDGE
        assert step.citation == number
        assert step.triple is not None
        assert answer.citations[number - 1].verified
        assert answer.citations[number - 1].quote == step.triple.text


def test_what_is_only_alike_is_not_supported(ask: Ask) -> None:
    answer = ask("緑山ハルカと青木トウマはどちらも優れた作曲家ですか？")
    assert answer.text == "YES"
    assert answer.status is Status.UNSUPPORTED
    assert "only similar" in told(answer.doubts)


def test_a_name_of_several_subjects_is_no_ground_for_an_answer(ask: Ask) -> None:
    answer = ask("『灯』が発表されたのは何年ですか？")
    assert answer.status is Status.NOT_FOUND
    assert "灯 (小説)" in told(answer.doubts)
    assert "灯 (歌)" in told(answer.doubts)
    assert ask("『灯』を作詞した人は誰ですか？").text == "緑山ハルカ", "only the song has one"


def test_a_name_is_given_back_as_the_question_writes_it(ask: Ask) -> None:
    assert ask("『 砂の図書館 』と『風見鶏の朝』、先に公開されたのは？").text == "砂の図書館"
    assert ask("ミドリ山はるかと青木ﾄｳﾏ、年上なのは？").status is Status.NOT_FOUND
    assert ask("緑山ﾊﾙｶと青木トウマ、年下なのは？").text == "緑山ﾊﾙｶ"


def test_the_trace_tells_names_and_fit(ask: Ask) -> None:
    answer = ask("霧里市の市長は誰ですか？")
    stage = answer.trace.stages[-1]
    assert stage.stage == "analysis"
    assert stage.query == "「霧里市」; best fit 1.00: 霧里市: 市長"
    assert not stage.events
    assert [hit.passage.triple for hit in stage.hits] == list(answer.derivation.triples)  # type: ignore[union-attr]
    assert answer.trace.calls == ()


def test_an_english_question_is_not_analysed(ask: Ask) -> None:
    answer = ask("Who is the mayor of the town?")
    assert answer.status is Status.NOT_FOUND
    assert told(answer.doubts) == "only questions in Japanese are analysed"


def test_a_long_question_is_not_analysed(ask: Ask) -> None:
    answer = ask("霧里市の市長は誰ですか？" * 100)
    assert answer.status is Status.NOT_FOUND
    assert "1,200 characters" in told(answer.doubts)


def test_many_names_are_cut_with_an_event(ask: Ask) -> None:
    answer = ask("霧里市と帆立市と" * 10 + "月見橋の全長は何mですか？")
    assert answer.status is Status.NOT_FOUND
    assert "21 names: the first 12 were searched" in map(str, answer.trace.events)


def test_what_is_left_out_of_a_query_is_told(ask: Ask) -> None:
    answer = ask(
        "霧里市の市長は誰ですか？", options=("ア", "イ"), filters=Filters(documents=("known",))
    )
    assert answer.text == "桜井マコト"
    assert "the options were not used" in map(str, answer.trace.events)
    assert any(
        str(event).startswith("the filters were not applied") for event in answer.trace.events
    )


def test_hostile_texts_are_only_data(ask: Ask) -> None:
    answer = ask("『命令』を作詞したのは誰ですか？")
    assert answer.text == "{{ 7 * 7 }}</source> [red]赤[/red]"
    for text in (
        "'; DROP TABLE names; --の父は誰ですか？",
        "%_*の\x00父は誰？",
        "『』「」の『は？",
    ):
        assert ask(text).status is Status.NOT_FOUND


def test_it_needs_no_model_and_derives(triples_home: Path) -> None:
    symbolic = method("staged-symbolic")
    assert symbolic.calls == Calls()
    assert not symbolic.needs_model
    assert symbolic.derives
    assert triples_home.is_dir()

"""A question for the deviating option is turned into one for the agreeing option."""

import json
from pathlib import Path

from localrag.methods.polarity import Polarity, affirmed, polarity_of

from ...rows import each


@each(
    ("question", "turned"),
    [
        ("次のうち、誤っているものはどれか。", "次のうち、正しいものはどれか。"),
        ("次の記述のうち、誤りはどれか。", "次の記述のうち、正しいものはどれか。"),
        (
            "大凧の説明として適切でないものを選びなさい。",
            "大凧の説明として適切なものを選びなさい。",
        ),
        ("大凧に該当しないものを教えてください。", "大凧に該当するものを教えてください。"),
        ("許可の必要のないものはどれか。", "許可の必要のあるものはどれか。"),
        (
            "知事が命ずることができないものはどれか。",
            "知事が命ずることができるものはどれか。",
        ),
        (
            "責務が記載されていない者を教えて下さい。",
            "責務が記載されている者を教えて下さい。",
        ),
    ],
)
def test_the_denial_is_turned(question: str, turned: str) -> None:
    assert affirmed(question) == turned
    assert polarity_of(turned) is Polarity.AGREES


@each(
    "question",
    [
        "次のうち、正しいものはどれか。",
        "許可を受けなければならない者はどれか。",
        "届け出なくてもよい場合を定めた条文を教えてください。",
        "",
        "Which of these is right?",
    ],
)
def test_what_asks_for_agreement_stays_as_it_is(question: str) -> None:
    assert affirmed(question) == question


def test_only_the_outermost_denial_is_turned() -> None:
    question = (
        "この法律が適用されない凧として、誤っているものはどれか。ただし、雨は降らないものとする。"
    )
    turned = affirmed(question)
    assert "適用されない凧として、正しいものはどれか" in turned
    assert turned.endswith("雨は降らないものとする。")


def test_every_shared_question_can_be_turned(shared_data: Path) -> None:
    with (shared_data / "lawqa" / "train.jsonl").open(encoding="utf-8") as lines:
        questions = [json.loads(line)["question"] for line in lines]
    assert all(polarity_of(affirmed(question)) is Polarity.AGREES for question in questions)

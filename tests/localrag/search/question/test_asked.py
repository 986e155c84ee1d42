from localrag.search.question.asked import (
    orders_asked,
    penalty_asked,
    terms_asked,
)

from ....rows import each


@each(
    "question",
    [
        "インサイダー取引の罰則",
        "無免許で医業をしたらどんな罪になるか",
        "立ち小便 罰",
        "渡船法に違反したらどんな罰則があるか",
        "営業秘密を盗んだ場合の刑事罰は",
        "渡船法第三条に違反するとどうなるか。罰金はいくらか",
        "渡し守が休んだときに違反したらどうなる",
        "渡船法の決まりを守らなかったらどうなりますか",
        "What is the penalty for insider trading?",
        "Is smuggling punishable?",
    ],
)
def test_a_penalty_is_asked_for_in_many_words(question: str) -> None:
    asked = penalty_asked(question)
    assert asked is not None
    # Spans of the one are spans of the other.
    assert len(asked.doing) == len(question)
    assert "罰" not in asked.doing
    assert "則" not in asked.doing
    assert "penalty" not in asked.doing


@each(
    "question",
    [
        "渡し守の資格は何か",
        "penalty clause in a contract",
        "刑事訴訟法の目的",
        "契約に違反したらどうなる",
        "友人との約束を破ったらどうなる",
        "罰則",
        "罰則は、" + "次に掲げる場合の区分に応じて定める。" * 10,
        "",
    ],
)
def test_other_questions_ask_for_none(question: str) -> None:
    assert penalty_asked(question) is None


def test_what_is_done_is_the_rest_of_the_question() -> None:
    asked = penalty_asked("スピード違反の罰則を教えてください")
    assert asked is not None
    assert asked.doing.split() == ["スピード違反の"]


@each(
    ("question", "instrument", "point"),
    [
        ("金商法第27条の2第1項の政令で定める有価証券とは何か", "政令", "有価証券"),
        ("渡船法の政令で定める額はいくらか", "政令", "額"),
        ("同項の内閣府令で定める書類は？", "内閣府令", "書類"),
        ("国土交通省令に規定する様式", "国土交通省令", "様式"),
        ("個人情報保護委員会規則で定めるもの", "個人情報保護委員会規則", "もの"),
        ("名に使える漢字の範囲はどこで決まっているか", "", ""),
        ("渡船法6条の委任を受けて、国土交通省令は場所をどう定めているか", "国土交通省令", "場所"),
        ("渡船法の手数料は、政令でどう定められているか", "政令", "手数料"),
        ("渡船法6条の『政令で定める灯火』は具体的に何ですか", "政令", "灯火"),
        # Longer than others, but it asks right behind the point.
        (f"渡船法で、{'渡し場の' * 20}ために政令で定める期間はどのくらいか", "政令", "期間"),
    ],
)
def test_what_is_left_to_an_order_is_read(question: str, instrument: str, point: str) -> None:
    (asked,) = orders_asked(question)
    assert (asked.instrument, asked.point.removesuffix("は")) == (instrument, point)


def test_two_steps_ask_for_two_orders() -> None:
    first, second = orders_asked("渡船法3条の政令で定める者について、府令で定める書類とは何か")
    assert (first.instrument, first.point, first.before) == ("政令", "者", "渡船法3条の")
    assert (second.instrument, second.point) == ("府令", "書類")


@each("question", ["政令とは何か", "渡し守の資格は何か", "", "政令で定める" * 40])
def test_other_questions_ask_for_no_order(question: str) -> None:
    assert orders_asked(question) == ()


@each(
    ("question", "doing"),
    [
        ("渡船法 無免許の運航 法人の罰金", "渡船法 無免許の運航"),
        ("法人の場合、渡船法で夜間に運航したら処罰される？", "渡船法で夜間に運航"),
        ("渡船法で夜間に運航したら会社も罰せられる？", "渡船法で夜間に運航"),
        ("渡船法の両罰規定", "渡船法の"),
    ],
)
def test_the_penalty_of_the_legal_person_is_asked_for(question: str, doing: str) -> None:
    asked = penalty_asked(question)
    assert asked is not None
    assert asked.of_a_body
    assert asked.doing.strip(" 、？") == doing


@each(
    "question",
    ["宗教法人の役員の罰則", "会社が有給を取らせない場合の罰則", "法人税を脱税した場合の罰則"],
)
def test_who_names_a_body_as_the_doer_asks_for_the_penalty_of_the_doing(question: str) -> None:
    asked = penalty_asked(question)
    assert asked is not None
    assert not asked.of_a_body


@each(
    ("question", "terms"),
    [
        ("平均賃金とは何か", ("平均賃金",)),
        ("平均賃金の定義は？", ("平均賃金",)),
        ("平均賃金の定義は何か", ("平均賃金",)),
        ("「有価証券」とはどのようなものか", ("有価証券",)),
        ("専用水道って何", ("専用水道",)),
        ("刀剣類とは何をいうか", ("刀剣類",)),
        ("限定提供データはどう定義されているか", ("限定提供データ",)),
        ("でいう農地とは", ("でいう農地", "農地")),
        ("平均賃金はいつ払うか", ()),
        ("営業の許可は必要か", ()),
    ],
)
def test_a_term_whose_meaning_is_asked(question: str, terms: tuple[str, ...]) -> None:
    assert terms_asked(question) == terms

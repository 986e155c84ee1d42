"""A prompt that carries wording of the questions is recognised, however it is dressed up."""

import unicodedata

import pytest

from localrag.corpus.types import LawRow
from localrag.evaluation.optimize.leakage import COMMON, LONGEST, PIECE, SPREAD, LeakageGuard
from localrag.evaluation.optimize.types import Leak
from localrag.evaluation.types import Gold, Question
from localrag.law.names import LawNames
from localrag.methods.searches import built_in
from localrag.search.types import Query

from ....rows import each

ASKED = "大凧を揚げようとする者が受ける許可について、次のうち正しいものを選んでください。"
OPTION = "許可の有効期間は、海辺で揚げるときに限り二年とする。"
CONTEXT = "## 凧揚げ規制法\n### 第27条の36\n前項の許可の有効期間は、三年とし、更新を妨げない。"
SEED = built_in("ja")
TITLE = "凧揚げに伴う危害の防止及び空の安全の確保に関する法律"
NAMES = LawNames([LawRow("598AC0000000001", TITLE, "", "Act")])


KATAKANA = str.maketrans({chr(code): chr(code + 0x60) for code in range(ord("ぁ"), ord("ゖ") + 1)})


def question(number: int, text: str, option: str = OPTION, context: str = CONTEXT) -> Question:
    gold = (Gold("598AC0000000001", "27_36"),)
    return Question(f"q{number}", Query(text, (option, "その他")), "a", context, gold)


@pytest.fixture
def guard() -> LeakageGuard:
    return LeakageGuard([question(1, ASKED)], SEED, NAMES)


@each(
    "carried",
    [
        ASKED,
        OPTION,
        "有効期間は、三年とし、更新を妨げない",
        " ".join(ASKED),
        "\n".join(ASKED),
        "・".join(OPTION),
        unicodedata.normalize("NFKC", ASKED).replace("、", "，"),
        "大凧を「揚げようとする者」が受ける",
        ASKED[: LONGEST["ja"] + 1],
        "\x1b".join(ASKED),
        "\x00".join(ASKED),
        "ー".join(ASKED),
        "〇".join(ASKED),
        "＊".join(ASKED),
        "x".join(ASKED),
        "の".join(ASKED),
        "１".join(ASKED),
        "xy".join(ASKED),
        "".join(letter + "abcdef"[place % 6] for place, letter in enumerate(ASKED)),
        "".join(letter + "ー" * (place % 4 == 3) for place, letter in enumerate(ASKED)),
        "<br>".join(ASKED),
        '</b><b class="x">'.join(ASKED),
        "&nbsp;".join(ASKED),
        "".join(f"&#{ord(letter)};" for letter in ASKED),
        ASKED.translate(KATAKANA),
        "、それから".join(ASKED[start : start + 8] for start in range(0, len(ASKED), 8)),
    ],
)
def test_wording_is_found(guard: LeakageGuard, carried: str) -> None:
    leak = guard.find(f"{SEED}\n例: {carried} など。")
    assert leak is not None
    assert leak.question == "q1"


@each(
    "listed",
    [
        "第27条の36",
        "第二十七条の三十六第一項",
        "第２７条 の３６",
        "第一条、第27条の36を見る",
        "第 二 十 七 条 の 三 十 六",
        "第廿七条の卅六",
        "第27條の36",
        "27-36",
        "27−36、他の番号",
        "二十七の三十六",
        "Articles 3 and 27-36",
        "Art. 27_36",
        "§ 27-36",
        "条文番号: 27の36",
        "27-36, 8-2 条",
    ],
)
def test_a_gold_article_number_is_found(guard: LeakageGuard, listed: str) -> None:
    leak = guard.find(f"検索文には{listed}を書く。")
    assert leak is not None
    assert leak.wording == "27_36"


@each(
    "general",
    [
        SEED,
        f"{SEED}\n7. 期間を問われたら「有効期間」のような語を書く。",
        "法令名、第〇条、第〇項を書き、選択肢に共通する語を先に並べる。",
        "大凧を揚げようとする者が"[: LONGEST["ja"]],
        "",
        built_in("ja", per_option=True),
        built_in("en"),
        built_in("en", per_option=True),
        "許可、届出、有効期間の別を書く。大凧、小凧のような語は条文のとおりに書く。",
        "27-36 keywords in 3 parts",
    ],
)
def test_a_general_instruction_is_none(guard: LeakageGuard, general: str) -> None:
    assert guard.find(general) is None


def numbered(*articles: str) -> LeakageGuard:
    gold = tuple(Gold("598AC0000000001", article) for article in articles)
    return LeakageGuard(
        [Question("q", Query("問い", ("これ", "あれ")), "a", "", gold)], SEED, NAMES
    )


@each(
    "listed",
    [
        "27、159、166",
        "27\n159\n166",
        "第二十七・百五十九・百六十六",
        "27, 159 or 166",
        "§§ 3, 9",
        "Articles 27, 3",
        "article 159",
        "3, 27 条",
        "6-2",
        "六の二",
        "6の2を書く",
    ],
)
def test_gold_numbers_are_found_in_any_spelling(listed: str) -> None:
    leak = numbered("3", "27", "159", "166", "6_2").find(f"検索文を書く。{listed}")
    assert leak is not None
    assert leak.question == ""


@each(
    "general",
    [
        "3つまで、27字以内で、166語を超えない。",
        "Write 27 words, 159 letters or 166 characters at most.",
        "27日、159日、166日のような期間を書く。",
        "27、159の二つ",
        "3-6 keywords, 3 sentences",
        "③ 条文に使われる言葉で書く。\n3 条文の番号を書く。三条件をみたす。",
        "第〇条の〇、第1に、第3に",
        "\n".join(f"{number}. 書く。" for number in range(1, 30)),
    ],
)
def test_other_numbers_are_none(general: str) -> None:
    assert numbered("3", "27", "28", "29", "159", "166", "3_6").find(general) is None


def test_pieces_count_together_and_once() -> None:
    pieces = [f"{letter * PIECE['ja']}" for letter in "甲乙丙丁戊"]
    several = len(pieces) * PIECE["ja"]
    assert several - PIECE["ja"] == SPREAD["ja"]
    guard = LeakageGuard(
        [question(1, "、".join(f"{piece}は何か" for piece in pieces))], SEED, NAMES
    )
    assert guard.find("。".join(f"{piece}を書く" for piece in pieces)) is not None
    assert guard.find("。".join(f"{piece}を書く" for piece in pieces[:3])) is None
    assert guard.find("。".join(f"{pieces[0]}を書く{n}" for n in "春夏秋冬")) is None
    apart = [question(number, f"{piece}は何か") for number, piece in enumerate(pieces)]
    assert LeakageGuard(apart, SEED, NAMES).find("。".join(pieces)) is None


def test_what_cannot_be_found_is_what_the_help_says(guard: LeakageGuard) -> None:
    assert guard.find(ASKED[::-1]) is None
    assert guard.find("三〇センチを超える凧を飛ばすには、いかなる承認を得るべきか。") is None


def test_what_many_questions_say_may_be_said() -> None:
    phrase = "次のうち正しいものを一つ選んでください"
    several = [question(n, f"{n}番目の凧は{n}色である。{phrase}。") for n in range(COMMON)]
    assert LeakageGuard(several, SEED, NAMES).find(phrase) is None
    assert LeakageGuard(several[1:], SEED, NAMES).find(phrase) is not None


def test_names_of_laws_are_free_and_their_provisions_are_not() -> None:
    guard = LeakageGuard([question(1, f"{TITLE}第27条の36が定めるものはどれか。")], SEED, NAMES)
    assert guard.find(f"{TITLE}などの正式な名称を書く。") is None
    assert guard.find(f"{TITLE}第27条の36を書く。") == Leak("", "27_36")
    assert guard.find(f"{TITLE[2:]}が定めるものはどれか") is not None


def test_a_shared_gold_text_is_not_free() -> None:
    several = [question(n, f"{n * 111}の問い", f"{n * 222}の答え") for n in range(3 * COMMON)]
    assert LeakageGuard(several, SEED, NAMES).find("前項の許可の有効期間は、三年とし") is not None


def test_english_wording_is_longer() -> None:
    asked = "Who was the founder of the observatory at Quillmere born to?"
    english = Question("e", Query(asked, ("A miller", "A tailor")), "a", "", ())
    guard = LeakageGuard([english], built_in("en"), NAMES)
    assert guard.find("Name the founder of the observatory.") is None
    assert guard.find(asked.upper()) is not None

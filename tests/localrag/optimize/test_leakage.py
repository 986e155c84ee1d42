"""A prompt that carries wording of the questions is recognised, however it is dressed up."""

import unicodedata

import pytest

from localrag.evaluation.model import Gold, Question
from localrag.methods.querying import built_in
from localrag.optimize.leakage import COMMON, LONGEST, Leak, LeakageGuard
from localrag.retrieval.model import Query
from localrag.statutes.names import LawNames, LawRow

ASKED = "大凧を揚げようとする者が受ける許可について、次のうち正しいものを選んでください。"
OPTION = "許可の有効期間は、海辺で揚げるときに限り二年とする。"
CONTEXT = "## 凧揚げ規制法\n### 第27条の36\n前項の許可の有効期間は、三年とし、更新を妨げない。"
SEED = built_in("ja")
TITLE = "凧揚げに伴う危害の防止及び空の安全の確保に関する法律"
NAMES = LawNames([LawRow("598AC0000000001", TITLE, "", "Act")])


def question(number: int, text: str, option: str = OPTION, context: str = CONTEXT) -> Question:
    gold = (Gold("598AC0000000001", "27_36"),)
    return Question(f"q{number}", Query(text, (option, "その他")), "a", context, gold)


@pytest.fixture
def guard() -> LeakageGuard:
    return LeakageGuard([question(1, ASKED)], SEED, NAMES)


@pytest.mark.parametrize(
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
    ],
)
def test_wording_is_found(guard: LeakageGuard, carried: str) -> None:
    leak = guard.find(f"{SEED}\n例: {carried} など。")
    assert leak is not None
    assert leak.question == "q1"


@pytest.mark.parametrize(
    "listed",
    ["第27条の36", "第二十七条の三十六第一項", "第２７条 の３６", "第一条、第27条の36を見る"],
)
def test_a_gold_article_number_is_found(guard: LeakageGuard, listed: str) -> None:
    leak = guard.find(f"検索文には{listed}を書く。")
    assert leak is not None
    assert leak.wording == "27_36"


@pytest.mark.parametrize(
    "general",
    [
        SEED,
        f"{SEED}\n7. 期間を問われたら「有効期間」のような語を書く。",
        "法令名、第〇条、第〇項を書き、選択肢に共通する語を先に並べる。",
        "大凧を揚げようとする者が"[: LONGEST["ja"]],
        "",
    ],
)
def test_a_general_instruction_is_none(guard: LeakageGuard, general: str) -> None:
    assert guard.find(general) is None


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

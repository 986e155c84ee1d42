import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.methods.polarity import Polarity, polarity_of


@pytest.mark.parametrize(
    "question",
    [
        "次のうち、正しいものを教えてください。",
        "貸本業の届出について、正しいものはどれか。",
        "第３条の説明として適切なものを 1 つ選びなさい。",
        "次の記述のうち、誤っていないものを選んでください。",
        "貸本業に該当するものを教えてください。",
        "第８条に違反する行為を教えてください。",
        "店主がしてはならない行為を教えてください。",
        "届出によらなければならないものを教えてください。",
        "届出によらなければならないものとして、正しいものを教えてください。",
        "帳簿を備えなくてもよい場合を定めた条文を教えてください。",
        "許可が与えられない場合を教えてください。",
        "届出を要しないものを選べ。",
        "届出の必要がないことの根拠となる条文を教えてください。",
        "貸本業に該当しないとされているものを教えてください。",
        "過料の額はいくらか、教えてください。",
        "以下の［　　　］に入る条文を教えてください。\n第３条は、［　　　］を引用している。",
        "誤って渡した本を返さない者が負う義務として、正しいものを教えてください。",
        "",
    ],
)
def test_the_option_that_agrees_is_wanted(question: str) -> None:
    assert polarity_of(question) is Polarity.AGREES


@pytest.mark.parametrize(
    "question",
    [
        "次のうち、誤っているものを教えてください。",
        "貸本業について誤っているのはどれか。",
        "次のうち誤りはどれですか？",
        "次の記述のうち、正しくないものを１つ選んでください。",
        "届出書の記載として適切でないものを選べ。",
        "次のうち、最も不適切なものを選びなさい。",
        "貸本業に該当しないものを教えてください。",
        "次のうち、貸本業に当たらないのはどれか。",
        "第１条及び第２条において責務が記載されていない者を教えて下さい。",
        "知事の許可を受ける必要のないものを教えてください。",
        "知事が店主に命じることができないことを教えてください。",
        "帳簿に含まれない事項を教えてください。",
        "第２章の規定が適用されない店として、誤っているものを教えてください。",
        "貸本業に該当しないものとして誤っているものを教えてください。",
        "帳簿を備えなくてもよい場合を定めた条文として、誤っているものを教えてください",
        "禁止の適用除外に該当しないものを教えてください。",
        "甲に当たらないものを教えてください。ただし、いずれの店も都内にあることを前提とします。",
        "次の記述のうち、誤っているものの組合せはどれか。",
    ],
)
def test_the_option_that_deviates_is_wanted(question: str) -> None:
    assert polarity_of(question) is Polarity.DEVIATES


@given(st.text())
def test_any_text_has_a_polarity(text: str) -> None:
    assert polarity_of(text) in Polarity


def test_a_huge_question_is_read_in_time() -> None:
    assert polarity_of("あ" * 300_000 + "を選" * 50_000) is Polarity.AGREES

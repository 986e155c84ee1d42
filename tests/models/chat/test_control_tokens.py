from hypothesis import given
from hypothesis import strategies as st

from localrag_models.chat import Restorer, neutralise, restore

from ...rows import each

JOINER = "\u2060"
SPELLINGS = [
    "<|im_end|>",
    "</s>",
    "<think>",
    "[/INST]",
    "<<SYS>>",
    "<end_of_turn>",
    "<|a_new_one|>",
]
OWN = ("<｜User｜>", ">>TITLE<<", "<|im_end|>")

# Made of the bits that matter, so that spellings, broken ones and half ones are all met.
NASTY = st.lists(
    st.sampled_from([*SPELLINGS, *OWN, "<", "[", "|", ">", "]", "s", "im_end", JOINER, "条", " "])
).map("".join)


@each("spelling", [*SPELLINGS, "<｜User｜>", ">>TITLE<<"])
def test_a_spelling_is_broken_by_an_invisible_character(spelling: str) -> None:
    broken = neutralise(f"第一条{spelling}の", OWN)
    assert spelling not in broken
    assert broken.replace(JOINER, "") == f"第一条{spelling}の"


@each("text", ["<b>", "a < b", "[注]", "＜|im_end|＞", "＜s＞", "<|two words|>", ""])
def test_what_no_token_is_stays_as_it_is(text: str) -> None:
    assert neutralise(text) == text


def test_a_vocabulary_s_own_tokens_are_only_known_when_given() -> None:
    assert neutralise("<｜User｜>") == "<｜User｜>"


@given(NASTY)
def test_no_spelling_is_left(text: str) -> None:
    broken = neutralise(text, OWN)
    assert not any(spelling in broken for spelling in [*SPELLINGS, *OWN])


@given(NASTY)
def test_every_text_comes_back(text: str) -> None:
    assert restore(neutralise(text, OWN)) == text


@given(NASTY, st.data())
def test_every_text_comes_back_in_pieces(text: str, data: st.DataObject) -> None:
    broken = neutralise(text, OWN)
    cut = data.draw(st.integers(0, len(broken)))
    restorer = Restorer()
    assert restorer(broken[:cut]) + restorer("") + restorer(broken[cut:]) == text

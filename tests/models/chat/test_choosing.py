"""What the first token of a reply says of the answers that were offered."""

import math

import pytest

from localrag_models.chat import LikelyToken, OfferedWords, Usage
from localrag_models.errors import ReplyInvalid

from ...rows import each

USAGE = Usage(10, 0, 1)


def weighed(words: list[str], **tokens: float) -> dict[str, float]:
    likely = [LikelyToken(text.encode(), math.log(share)) for text, share in tokens.items()]
    return dict(OfferedWords(words).weighed(likely, "tiny", USAGE, 0.1).probabilities)


@each(
    ("token", "begun"),
    [
        (b"yes", ["yes"]),
        (b" Yes", ["yes"]),
        (b"YES,", ["yes"]),
        (b"\n\nye", ["yes"]),
        (b"yesterday", []),
        (b"nothing", []),
        (b"", []),
        (b"  ", []),
        ("はい".encode(), ["はい"]),
        ("は".encode(), ["はい"]),
        ("はい。".encode(), ["はい"]),
        ("はいけい".encode(), []),
        ("はい".encode() + b"\xe3", []),
        ("い".encode(), ["いいえ"]),
        ("は".encode()[:2], ["はい", "いいえ"]),
    ],
)
def test_the_options_that_a_token_begins(token: bytes, begun: list[str]) -> None:
    assert OfferedWords(["yes", "no", "はい", "いいえ"]).begun_by(token) == begun


def test_spellings_of_an_option_count_together() -> None:
    found = weighed(["yes", "no"], Yes=0.3, **{" yes": 0.1, "no": 0.1, "Maybe": 0.5})
    assert found == pytest.approx({"yes": 0.8, "no": 0.2})


def test_what_the_options_had_of_all_is_told() -> None:
    likely = [LikelyToken(b"Maybe", math.log(0.9)), LikelyToken(b"no", math.log(0.05))]
    choice = OfferedWords(["yes", "no"]).weighed(likely, "tiny", USAGE, 0.1)
    assert choice.probabilities == {"yes": 0.0, "no": 1.0}
    assert choice.covered == pytest.approx(0.05)
    assert (choice.usage, choice.seconds) == (USAGE, 0.1)


def test_a_reply_that_is_none_of_them() -> None:
    with pytest.raises(ReplyInvalid, match="'Maybe', not with one of 'yes', 'no'") as caught:
        weighed(["yes", "no"], Maybe=0.9, Perhaps=0.1)
    assert caught.value.reply.text == "Maybe"


def test_options_that_begin_alike_are_not_told_apart_by_chance() -> None:
    with pytest.raises(ReplyInvalid, match="'し', which may be several of 'しろ', 'しない'"):
        weighed(["しろ", "しない"], し=0.8, しろ=0.1)
    assert weighed(["しろ", "しない"], し=0.1, しろ=0.8) == {"しろ": 1.0, "しない": 0.0}


@each("words", [[], ["yes"], ["yes", "Yes"], ["yes", ""], ["yes", "no way"], ["yes", " no"]])
def test_options_that_are_no_single_words(words: list[str]) -> None:
    with pytest.raises(ValueError, match="option"):
        OfferedWords(words)

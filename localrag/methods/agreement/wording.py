"""How questions and laws word a rule: one spelling for each thing, words that turn a rule round."""

import re
from functools import lru_cache

from localrag_indexes.analysis.normalize import NUMERAL_CHARACTERS, normalize, parse_numeral

# Bounded, so that a text of nothing but numerals is read in time.
_DIGITS = rf"[0-9{NUMERAL_CHARACTERS}]{{1,16}}"
NUMERAL = rf"{_DIGITS}(?:[.・]{_DIGITS})?"
_COUNTER = (
    r"(?:営業日|箇月|か月|ヶ月|カ月|月|年|週|日|時間|人|名|円|倍|割|回|%|パーセント|箇所"
    r"|以上|以下|未満|以内|を超)"
)
_HUNDREDTHS = re.compile(rf"百分の({NUMERAL})")
_COUNTED = re.compile(rf"{NUMERAL}(?={_COUNTER})")
_PLACE = re.compile(rf"第?({NUMERAL})([条項号])((?:の{NUMERAL})*)")
_MONTHS = re.compile(r"(?<=[0-9])(?:箇|か|ヶ|カ)月")

# What claims a rule without exception; laws hardly ever do.
_ABSOLUTE = re.compile(
    r"一切|必ず|常に|いかなる|どのような|すべて|全て|のみ|だけ|に限られ|何ら|絶対"
)
# What leaves room for the exceptions that laws make.
_HEDGE = re.compile(r"場合があ|場合もあ|可能性があ|とは限らない|ことがある$|必ずしも|わけではない")
# A rule said to hold although its condition fails.
_CONCESSION = re.compile(
    r"(?:(?<!いず)(?:でも|ても)|(?<!少)なくとも)(?=[、,]|[^よい足])|にかかわらず"
)
_EXEMPT = re.compile(
    r"[ぁ-ん]なくても?[よ良]い|免れ|免除|免責|必要[はがの]?な[いく]|要しない|適用(?:され|し)ない|除外"
)
_EXEMPTS = re.compile(r"限りでない|責め?に任じない|適用しない|要しない|除く|足りる|妨げない|免れ")

_EXCLUDED = re.compile(
    r"[(（]([^()（）]*(?:[(（][^()（）]*[)）][^()（）]*){0,5})を除[くき][^()（）]*[)）]"
    r"|([^。、()（）]{4,60})を除(?:き|くほか)"
)


@lru_cache(maxsize=8192)
def fold(text: str) -> str:
    """The text with one spelling for each thing: 百分の五 is 5%, 三箇月 is 3月, あつた is あった.

    For comparison only: blanks are gone, and no position agrees with the text.
    """
    plain = re.sub(r"\s", "", normalize(text)).replace("っ", "つ").replace("パーセント", "%")
    plain = _HUNDREDTHS.sub(lambda match: f"{_number(match[1])}%", plain)
    plain = _COUNTED.sub(lambda match: _number(match[0]), plain)
    plain = _MONTHS.sub("月", plain)
    return _PLACE.sub(_place, plain)


@lru_cache(maxsize=8192)
def ngrams(text: str, n: int) -> frozenset[str]:
    """The sequences of `n` letters and digits in the folded text."""
    letters = "".join(filter(str.isalnum, fold(text)))
    return frozenset(letters[i : i + n] for i in range(len(letters) - n + 1))


def absolutes(text: str) -> list[str]:
    """Words that claim a rule without exception, unless the text takes that back."""
    folded = fold(text)
    return [] if _HEDGE.search(folded) else [match[0] for match in _ABSOLUTE.finditer(folded)]


def hedge(text: str) -> str:
    """Words that leave room for exceptions; "" without any."""
    found = _HEDGE.search(fold(text))
    return found[0] if found else ""


def concession(text: str) -> str:
    """Words that say a rule holds although its condition fails; "" without any."""
    found = None if hedge(text) else _CONCESSION.search(fold(text))
    return found[0] if found else ""


def asks_for_exemption(question: str) -> bool:
    """Whether the question is about not having to do something."""
    return _EXEMPT.search(fold(question)) is not None


def exempts(law: str) -> bool:
    """Whether the text of a law makes an exception or frees from a duty."""
    return _EXEMPTS.search(fold(law)) is not None


def exclusions(law: str) -> list[str]:
    """What the text of a law excepts: （…を除く。）, …を除き."""
    plain = re.sub(r"\s", "", normalize(law))
    return [match[1] or match[2] for match in _EXCLUDED.finditer(plain)]


def _number(written: str) -> str:
    whole, _, decimals = written.replace("・", ".").partition(".")
    try:
        value = str(parse_numeral(whole))
        digits = "".join(str(parse_numeral(digit)) for digit in decimals)
    except ValueError:
        return written
    return f"{value}.{digits}".rstrip("0").rstrip(".") if digits else value


def _place(match: re.Match[str]) -> str:
    branches = re.sub(NUMERAL, lambda branch: _number(branch[0]), match[3])
    return f"第{_number(match[1])}{match[2]}{branches}"


# Numbers of laws and of provisions are no quantities.
_NO_QUANTITY = re.compile(
    r"(?:明治|大正|昭和|平成|令和)[^()、。]{1,25}号|第[0-9]+[条項号編章節款](?:の[0-9]+)*"
)
_QUANTITY = re.compile(
    r"(?<![0-9.第の])[0-9]+(?:\.[0-9]+)?"
    r"(?:営業日|月|年|週|日|時間|人|名|円|倍|割|回|%|箇所|(?:の期間|間)?(?:以上|以下|未満|以内|を超え))"
)
_ASKED = re.compile(r"期間|期限|[価金総]?額|割合|数(?=を|の|$)|日数|年数|率|いくら")


def states_quantity(law: str) -> bool:
    """Whether the text of a law says how long, how much or how many."""
    return _QUANTITY.search(_NO_QUANTITY.sub("", fold(law))) is not None


def asks_for_quantity(question: str) -> bool:
    """Whether a question is about how long, how much or how many."""
    return _ASKED.search(question) is not None

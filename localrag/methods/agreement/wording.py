"""How questions and laws word a rule: one spelling for each thing, words that turn a rule round."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from localrag_indexes.analysis.normalize import normalize
from localrag_indexes.analysis.numerals import NUMERAL_CHARACTERS, parse_numeral

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
    r"一切|必ず|常に|いかなる|どのような|すべて|全て|理由を問わ|無期限|恒久|永久|のみ|だけ|に限られ|何ら|絶対"
)
# What leaves room for the exceptions that laws make.
_HEDGE = re.compile(r"場合があ|場合もあ|可能性があ|とは限らない|ことがある$|必ずしも|わけではない")
# A rule said to hold although its condition fails.
_CONCESSION = re.compile(
    r"(?:(?<!いず)(?:でも|ても)|(?<!少)なくとも)(?=[、,]|[^よい足])|にかかわらず"
)
_TAIL = 14

_NOT_NEEDED = re.compile(
    r"必要[はがの]?ない|不要|要しない|なくても?よい|なくとも(?:よい|足りる)|まで(?:は)?(?:求め|必要)"
)
_RELEASES = re.compile(r"要しない|必要[はがの]?ない|足りる|限りでない|適用しない|妨げない|除く")
_NOT_ALLOWED = re.compile(r"できない|得ない|られない|れない|ことはない|てはならない|禁止")
_FORBIDS = re.compile(r"できない|得ない|ては(?:なら|いけ)ない|でなければ|しない")
_EXEMPT = re.compile(
    r"[ぁ-ん]なくても?[よ良]い|免れ|免除|免責|必要[はがの]?な[いく]|要しない|適用(?:され|し)ない|除外"
)
_EXEMPTS = re.compile(r"限りでない|責め?に任じない|適用しない|要しない|除く|足りる|妨げない|免れ")

_DUTY = re.compile(r"な(?:けれ|く)[ばて]は?ならない|ねばならない|なければ")
_WORD = re.compile(r"([一-鿿々ァ-ヶー]+)([ぁ-ん]{0,10})")
_NEGATED = re.compile(r"ない|なか|なく|ず(?![つれ])|ぬ")
_LAST_LETTERS = 2

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


def unmatched_denial(text: str, law: str) -> str:
    """The denial that ends the text (必要はない, できない) where the law makes none; else ""."""
    end, words = fold(text)[-_TAIL:], fold(law)
    for said, counterpart in ((_NOT_NEEDED, _RELEASES), (_NOT_ALLOWED, _FORBIDS)):
        found = said.search(end)
        if found and not counterpart.search(words):
            return found[0]
    return ""


def asks_for_exemption(question: str) -> bool:
    """Whether the question is about not having to do something."""
    return _EXEMPT.search(fold(question)) is not None


def exempts(law: str) -> bool:
    """Whether the text of a law makes an exception or frees from a duty."""
    return _EXEMPTS.search(fold(law)) is not None


@lru_cache(maxsize=8192)
def negations(text: str) -> Mapping[str, frozenset[bool]]:
    """For each word, by its last two letters: whether it stands negated, affirmed, or both.

    A duty (しなければならない) is no negation.
    """
    found: dict[str, set[bool]] = {}
    for match in _WORD.finditer(_DUTY.sub("る", fold(text))):
        key = match[1][-_LAST_LETTERS:]
        found.setdefault(key, set()).add(_NEGATED.search(match[2]) is not None)
    return {key: frozenset(ways) for key, ways in found.items()}


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


_UNIT = r"営業日|月|年|週間|週|日|時間|人|名|円|倍|割|回|%|箇所"
_BOUND = r"以上|以下|未満|以内|を超え"
_QUANTITY = re.compile(rf"(?<![0-9.第の])([0-9]+(?:\.[0-9]+)?)({_UNIT})?(?:の期間|間)?({_BOUND})?")
# Numbers of laws and of provisions are no quantities.
_NO_QUANTITY = re.compile(
    r"(?:明治|大正|昭和|平成|令和)[^()、。]{1,25}号|第[0-9]+[条項号編章節款](?:の[0-9]+)*"
)
_ASKED = re.compile(r"期間|期限|[価金総]?額|割合|数(?=を|の|$)|日数|年数|率|いくら")


@dataclass(frozen=True, slots=True)
class NumberWithUnit:
    """A number with its unit.

    Attributes:
        number: in digits ("6", "2.25").
        unit: "月", "%" …; "" for a bare number with a bound (2以上).
    """

    number: str
    unit: str

    def __str__(self) -> str:
        return self.number + self.unit


@lru_cache(maxsize=8192)
def quantities(text: str) -> frozenset[NumberWithUnit]:
    """The quantities in a text, whatever their spelling: 三月, 3か月 and ３箇月 are one."""
    plain = _NO_QUANTITY.sub("", fold(text))
    return frozenset(
        NumberWithUnit(number, unit)
        for number, unit, bound in _QUANTITY.findall(plain)
        if unit or bound
    )


def asks_for_quantity(question: str) -> bool:
    """Whether a question is about how long, how much or how many."""
    return _ASKED.search(question) is not None

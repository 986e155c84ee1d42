"""The figure that a question asks of a statute: an amount, a time, a number of something."""

import re
import unicodedata
from dataclasses import dataclass

from localrag.question.expectation import AnswerKind, Expectation

_KANJI = "[〇一二三四五六七八九十百千]"
# 第二項 and 三号 tell places, and no figures.
_PLACE = re.compile(rf"第?{_KANJI}+(?:条|項|号|編|章|節|款|目)(?:の{_KANJI}+)*|{_KANJI}+　")
_TIME = r"(?:年|[箇か]?月|日|週間?|時間|分)"
_STATES_TIME = re.compile(rf"{_KANJI}{_TIME}|(?:翌|末)日|までの?(?:間|期間)|午[前後]")
_STATES_AMOUNT = re.compile(rf"{_KANJI}[万億]?円|分の{_KANJI}|{_KANJI}割|パーセント")
_ASKS_TIME = re.compile(
    r"(?:期間|期限|時効)(?=は|って|を教|$|[?？。])|いつ(?:まで|から)|何(?:年|[かヶ箇カ]?月|(?:営業)?日|週|時間)|どの?くらい(?:の期間|経)"
    r"|\b(?:deadline|time limit|how long|how many (?:days|months|years|weeks)|duration|by when"
    r"|statute of limitations|within what)\b",
    re.IGNORECASE,
)
_ASKS_AMOUNT = re.compile(
    r"いくら|(?:金|少|高)?額(?=$|[はがの？?])|何(?:[円割%]|パーセント)|利率|料率"
    r"|\b(?:how much|amount|what (?:annual )?(?:interest )?rate|annual rate)\b",
    re.IGNORECASE,
)
# A unit that is asked for by its name: 何ヘクタール, 何人, 何平米.
_ASKS_UNIT = re.compile(r"何([ァ-ヶー]{2,}|平方[ァ-ヶー]+|平米|m2|人|名)")
# Statutes write units out, and count people both ways.
_UNITS = {
    "平米": "平方メートル",
    "m2": "平方メートル",
    "キロ": "キロ(?:グラム|メートル)",
    "人": "[人名]",
    "名": "[人名]",
}
# The nouns of figures; what has to suffice may have any.
_AMOUNT = re.compile("額|料|率|割合|数|基準|要件")
_TIMES = re.compile("期間|期限|時期|時間|[日年月]|基準|要件")
_NUMBER = re.compile("数|員|規模|面積|率|割合|大きさ|長さ|基準|要件")


@dataclass(frozen=True, slots=True)
class AskedFigure:
    """A figure asked for.

    Attributes:
        sign: what a text of a statute shows that states such a figure.
        noun: what stands in the noun by which an act leaves such a figure to an order.
    """

    sign: re.Pattern[str]
    noun: re.Pattern[str]

    def stated_in(self, text: str) -> bool:
        """Whether a text of a statute states such a figure; its places (第二項) are none."""
        return self.sign.search(_PLACE.sub(" ", text)) is not None

    def is_called(self, noun: str) -> bool:
        """Whether an act can mean such a figure by a noun: 額 in 政令で定める額."""
        return self.noun.search(noun) is not None


def figure_asked(question: str) -> AskedFigure | None:
    """Read a question for a figure; None for any other.

    Args:
        question: without the names of laws.
    """
    question = unicodedata.normalize("NFKC", question)
    if _ASKS_AMOUNT.search(question):
        return AskedFigure(_STATES_AMOUNT, _AMOUNT)
    if unit := _ASKS_UNIT.search(question):
        counted = _UNITS.get(unit[1], re.escape(unit[1]))
        return AskedFigure(re.compile(rf"[〇一二三四五六七八九十百千万億]{counted}"), _NUMBER)
    if _ASKS_TIME.search(question):
        return AskedFigure(_STATES_TIME, _TIMES)
    expectation = Expectation.of(question)
    if expectation.kind is AnswerKind.HOW_MANY and expectation.sign is not None:
        return AskedFigure(expectation.sign, _NUMBER)
    return None

"""What kind of thing a question asks for, and whether a text offers one."""

import re
import unicodedata
from dataclasses import dataclass

_NUMBER = r"(?:\d|[〇一二三四五六七八九十百千万億兆])"
_COUNTER = (
    r"年代|年度|世紀|年間|年|[かカヶヵ]月|月|週間|日間|日|時間|時|分|秒|歳|才|人|名|回|度|位|番目|番|"
    r"本|個|つ|匹|頭|枚|台|軒|校|種類|種|万|億|円|ドル|メートル|キロ|パーセント|%|割|倍|点|"
    r"[箇かカヶヵ]所|[箇かカヶヵ]国|都市|線|駅|階|両|勝|敗|組|チーム|曲|作|巻|話|条|項|号"
)
_COUNTED = re.compile(rf"(?:何|なん)({_COUNTER})")

_KINDS = (
    # when
    (
        r"いつ|\bwhen\b|\b(?:what|which) (?:year|date|month|day|century)\b",
        rf"{_NUMBER}\s*(?:年|月|日|世紀)|時代|\b1\d\d\d\b|\b20\d\d\b",
    ),
    # how many
    (
        r"いくつ|いくら|どのくらい|どれくらい|どれほど|どの程度"
        r"|\bhow (?:many|much|long|old|far|tall|big)\b",
        rf"{_NUMBER}|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|hundred|thousand)\b",
    ),
    # what it is called
    (
        r"何と[いう言呼称]|なんと[いう言呼]|何ていう|別名|通称|名称|呼び名|略称|愛称",
        r"という|と呼|と称|と言|とい[うっ]|「|『|別名|通称|略",
    ),
    # within what time: statutes say 三月以内に, 八日を経過した, 三十日前に
    (
        r"期間|期限|時効|\b(?:deadline|time limit|how long|period)\b",
        rf"{_NUMBER}\s*(?:年|月|日|週間|時間)(?:以内|以上|間|前|を経過|を超え|が経過|に満た)",
    ),
    # why
    (
        r"なぜ|何故|理由|原因|どうして|\bwhy\b",
        r"ため|から|ので|により|によって|よって|理由|原因|\bbecause\b|\bdue to\b|\bsince\b",
    ),
)
_CLUES = tuple((re.compile(asked), re.compile(sign)) for asked, sign in _KINDS)


@dataclass(frozen=True, slots=True)
class Expectation:
    """The kind of thing a question asks for, known by a sign that texts offering it show.

    Attributes:
        sign: None where the question gives no clue.
        rest: the question without the clue, whose words (何年, how many) no answer repeats.
    """

    sign: re.Pattern[str] | None
    rest: str

    @classmethod
    def of(cls, question: str) -> "Expectation":
        """Read the clue of a question: 何人, いつ, how many, 何という, なぜ."""
        asked = _fold(question)
        if counted := _COUNTED.search(asked):
            sign = re.compile(rf"{_NUMBER}\s*{re.escape(counted[1])}")
            return cls(sign, _without(asked, counted))
        for clue, sign in _CLUES:
            if found := clue.search(asked):
                return cls(sign, _without(asked, found))
        return cls(None, question)

    def met_by(self, text: str) -> bool:
        """Whether the text offers such a thing."""
        return self.sign is not None and self.sign.search(_fold(text)) is not None


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()


def _without(text: str, match: re.Match[str]) -> str:
    return f"{text[: match.start()]} {text[match.end() :]}"

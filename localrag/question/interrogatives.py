"""What a question asks with: who, what, when, where, which, why, how, how many; told by code."""

import re
from enum import StrEnum

from localrag_indexes.analysis.normalize import normalize


class Interrogative(StrEnum):
    """The words that questions are asked with; だれ is WHO, and what year asks as when does."""

    WHO = "who"
    WHAT = "what"
    WHEN = "when"
    WHERE = "where"
    WHICH = "which"
    WHY = "why"
    HOW = "how"
    HOW_MANY = "how many"
    NONE = ""


_POINT_IN_TIME = r"year|date|day|month|century|decade|season"
# The more exact word first: どのくらい is no どの, and 何年 no 何.
_WORDS = tuple(
    (word, re.compile(pattern))
    for word, pattern in (
        (Interrogative.HOW_MANY, r"\bhow (?:many|much|long|old|far|tall|big|large|high|often)\b"
         r"|いくつ|いくら|(?:どの|どれ)(?:くらい|ぐらい|ほど|だけ)|何[人名個本枚台回度歳才件円点種匹頭冊軒割倍]"
         r"|何(?:時間|日間|年間|か[国所月]|ヶ[国所月]|箇[国所月])"),
        (Interrogative.WHEN, rf"\bwhen\b|\b(?:what|which) (?:{_POINT_IN_TIME})\b"
         r"|いつ|何(?:年代|年度|年|月|日|世紀|時)"),
        (Interrogative.WHO, r"\bwho(?:m|se)?\b|だれ|誰|どなた"),
        (Interrogative.WHERE, r"\bwhere\b|どこ|何処|何[県国市町村州]"),
        (Interrogative.WHY, r"\bwhy\b|なぜ|何故|どうして"),
        (Interrogative.WHICH, r"\bwhich\b|どの|どちら|どれ|どっち"),
        (Interrogative.HOW, r"\bhow\b|どう|どのよう|いかに|どんな"),
        (Interrogative.WHAT, r"\bwhat\b|何|なに|なん(?=[でとのだ])"),
    )
)  # fmt: skip
_HOW = re.compile("どのよう|どんなふう")


def interrogative_of(question: str) -> Interrogative:
    """The word that a question is asked with; of several the one that stands first."""
    normal = normalize(question)
    # They ask how, though they begin as どの人 and どんな人 do.
    normal = _HOW.sub("どう", normal)
    found = [
        (match.start(), order, word)
        for order, (word, pattern) in enumerate(_WORDS)
        if (match := pattern.search(normal))
    ]
    return min(found)[2] if found else Interrogative.NONE

"""What kind of thing a question asks for, and whether a text offers one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from localrag_indexes.analysis import Analyzer
from localrag_indexes.analysis.analyzer import ENGLISH
from localrag_indexes.analysis.japanese import morphemes
from localrag_indexes.analysis.normalize import letters_of, normalize

QUOTED = re.compile(r"[「『]([^「」『』]{1,80})[」』]|[\"“]([^\"“”]{2,80})[\"”]")
"""Words in quotation marks: the first group of Japanese ones, the second of others."""
_KATAKANA = re.compile(r"[ァ-ヺー]{2,}(?:・[ァ-ヺー]{2,})*")
_LATIN = re.compile(r"[^\W\d_ぁ-ヿ一-鿿][\w'’&.-]*[^\W_ぁ-ヿ一-鿿]")
_JAPANESE = re.compile("[ぁ-ゖァ-ヺ一-鿿]")
_PROPER = "名詞-固有名詞"


def names_in(question: str) -> tuple[str, ...]:
    """The names in a question, normalised, each once, in the order of the text.

    Words in quotation marks, words in katakana, Latin words (in English only those with a capital
    letter, the first word of the question apart), and what the dictionary knows as a proper noun.
    """
    found = sorted(_spans(question))
    return tuple(dict.fromkeys(normalize(words) for _, words in found))


def _spans(question: str) -> Iterator[tuple[int, str]]:
    for quoted in QUOTED.finditer(question):
        yield quoted.start(), quoted[1] or quoted[2]
    if not _JAPANESE.search(question):
        for word in _LATIN.finditer(question):
            is_common = word[0].lower() in ENGLISH
            if word.start() and word[0][0].isupper() and not is_common:
                yield word.start(), word[0].removesuffix("'s")
        return
    for pattern in (_KATAKANA, _LATIN):
        for word in pattern.finditer(question):
            yield word.start(), word[0]
    for morpheme in morphemes(question):
        if morpheme.kind.startswith(_PROPER) and not _KATAKANA.fullmatch(morpheme.surface):
            yield morpheme.start, morpheme.surface


class AnswerKind(StrEnum):
    """The kinds of answer that a question can ask for."""

    WHEN = "when"
    HOW_MANY = "how many"
    WHO = "who"
    WHERE = "where"
    CALLED = "what it is called"
    WHY = "why"
    YES_OR_NO = "yes or no"
    WHICH_LAW = "which law"
    OTHER = "other"


# How the answer is to be put, and not what it is about.
_MANNER = re.compile(
    r"西暦|フルネーム|(?:アルファベット|日本語|英語|漢字|カタカナ|ひらがな)(?:[0-9０-９一二三四五六]+文?字)?で"
    r"|(?<![0-9０-９一二三四五六])[0-9０-９一二三四五六]++文?字で|(?:別|他|ほか)の(?:言い方|呼び方)で"
    r"|(?:この)?文章(?:において|の中で|中で)"
    r"|(?:答え|こたえ|述べ|教え|挙げ|あげ)(?:よ(?!う)|なさい|てください|て下さい)"
)

_NUMBER = r"(?:\d|[〇一二三四五六七八九十百千万億兆])"
_COUNTER = (
    r"年代|年度|世紀|年間|年|[かカヶヵ]月|月|週間|日間|日|時間|時|分|秒|歳|才|人|名|回|度|位|番目|番|"
    r"本|個|つ|匹|頭|枚|台|軒|校|種類|種|万|億|円|ドル|メートル|キロ|パーセント|%|割|倍|点|"
    r"[箇かカヶヵ]所|[箇かカヶヵ]国|都市|線|駅|階|両|勝|敗|組|チーム|曲|作|巻|話|条|項|号"
)
_COUNTED = re.compile(rf"(?:何|なん)({_COUNTER})")
# Counted, these give a point in time, unless it is asked how long something lasts.
_CALENDAR = frozenset(("年", "年代", "年度", "世紀", "月", "日", "時"))
_LASTS = re.compile(r"期間|任期|刑期|時効|年数|日数|以内|までに|寿命")
_PLACES_OF_A_LAW = frozenset(("条", "項", "号"))

_CLUES = tuple(
    (kind, re.compile(clue), re.compile(sign))
    for kind, clue, sign in (
        (
            AnswerKind.WHEN,
            r"いつ|\bwhen\b|\b(?:what|which) (?:year|date|month|day|century)\b",
            rf"{_NUMBER}\s*(?:年|月|日|世紀)|時代|\b1\d\d\d\b|\b20\d\d\b",
        ),
        (
            AnswerKind.HOW_MANY,
            r"いくつ|いくら|どのくらい|どれくらい|どれほど|どの程度"
            r"|\bhow (?:many|much|long|old|far|tall|big)\b",
            rf"{_NUMBER}|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|hundred|thousand)\b",
        ),
        (
            AnswerKind.CALLED,
            r"何と[いう言呼称]|なんと[いう言呼]|何ていう|別名|通称|名称|呼び名|略称|愛称",
            r"という|と呼|と称|と言|とい[うっ]|「|『|別名|通称|略",
        ),
        # Within what time: statutes say 三月以内に, 八日を経過した, 三十日前に.
        (
            AnswerKind.HOW_MANY,
            r"期間|期限|時効|\b(?:deadline|time limit|period)\b",
            rf"{_NUMBER}\s*(?:年|月|日|週間|時間)(?:以内|以上|間|前|を経過|を超え|が経過|に満た)",
        ),
        (
            AnswerKind.WHY,
            r"なぜ|何故|理由|原因|どうして|\bwhy\b",
            r"ため|から|ので|により|によって|よって|理由|原因|\bbecause\b|\bdue to\b|\bsince\b",
        ),
    )
)

# What no sign in a text tells: a person and a place look like any other word.
_WITHOUT_SIGN = tuple(
    (kind, re.compile(clue))
    for kind, clue in (
        (AnswerKind.WHICH_LAW, r"(?:何|なん|どの|どんな|どういう)(?:という)?(?:法律|法令|条文|規定"
         r"|条)|根拠(?:条文|法令|規定)|\b(?:which|what) (?:act|law|statute|provision|article)\b"),
        (AnswerKind.WHO, r"誰|だれ|どなた|何者|\bwho(?:m|se)?\b"),
        (AnswerKind.WHERE, r"どこ|何処|どちら|\bwhere\b"),
        (AnswerKind.YES_OR_NO, r"(?:です|ます|ません|でしょう|[るいたうくすつむぶ])か[。？?]?\s*$"
         r"|^(?:is|are|was|were|do|does|did|can|could|may|must|has|have|had|should|will)\b"),
    )
)  # fmt: skip
_INTERJECTION = "感動詞"
_VERBAL = ("動詞", "助動詞", "形容詞")
# 前身は？ and 一般に？ leave open what they ask for.
_LEFT_OPEN = re.compile(r"(?:(?<!で)は|[にてをがと])[?？]?\s*$")
# Words that ask for something only where no word asks for a person or a place.
_IN_PASSING = re.compile(r"期間|期限|時効|別名|通称|名称|呼び名|略称|愛称|理由|原因")
_PERSON_OR_PLACE = re.compile(r"誰|だれ|どなた|どこ|何処|\b(?:who(?:m|se)?|where)\b")
_ASKS_WHAT = re.compile(
    r"何|なん|なに|どの|どん|どう|どれ|どち|どこ|いつ|だれ|誰|いか[がに]|いかなる"
    r"|\b(?:what|which|how|who|whom|whose|when|where)\b"
)
# What may be answered stands in the question: AとBではどちらが, A or B; or it is part of what does.
_OFFERS = re.compile(r"どちら|どっち|のうち|の中で|か、|では(?:誰|だれ|どれ|何)|略称|通称|\bor\b")
# A letter alone says nothing of where it was taken from.
_SHORTEST_REPEATED = 2


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a question asks for, and what it speaks of.

    Attributes:
        kind: of answer.
        question: as asked.
        sign: what texts that offer such a thing show; None where nothing tells them.
        rest: the question without what no answer repeats: the clue (何年, how many), and how it is
            to be answered (アルファベット三文字で答えよ).
    """

    kind: AnswerKind
    question: str
    sign: re.Pattern[str] | None
    rest: str

    @classmethod
    def of(cls, question: str) -> "Expectation":
        """Read the clue of a question: 何人, いつ, how many, 何という, なぜ."""
        asked = normalize(question)
        if counted := _COUNTED.search(asked):
            sign = re.compile(rf"{_NUMBER}\s*{re.escape(counted[1])}")
            return cls(_counted(asked, counted[1]), question, sign, _without(asked, counted))
        for kind, clue, sign in _CLUES:
            found = clue.search(asked)
            if found and not (_IN_PASSING.match(found[0]) and _PERSON_OR_PLACE.search(asked)):
                return cls(kind, question, sign, _without(asked, found))
        return cls(_kind_without_sign(asked), question, None, _MANNER.sub(" ", question))

    @property
    def names(self) -> tuple[str, ...]:
        """What the question speaks of, as `names_in` finds it."""
        return names_in(self.question)

    def met_by(self, text: str) -> bool:
        """Whether the text offers such a thing; False, too, where no sign tells."""
        return self.sign is not None and self.sign.search(normalize(text)) is not None


# What an answer holds that tells a time, or a number.
_TELLS = {
    AnswerKind.WHEN: re.compile(
        rf"{_NUMBER}|時代|世紀|頃|[前後中]$|翌|昨|同年|当時"
        r"|\b(?:century|today|during|after|before)\b"
    ),
    AnswerKind.HOW_MANY: re.compile(
        rf"{_NUMBER}|[数半全無]|なし|\b(?:no|none|all|half|one|two|three|four|five|six|seven|eight"
        r"|nine|ten|eleven|twelve|hundred|thousand|million|several|many|few)\b"
    ),
}


def answers_as_asked(answer: str, question: str) -> bool:
    """Whether an answer is of the kind asked for, and says more than the question does."""
    return is_of_kind(answer, Expectation.of(question).kind) and not repeats(answer, question)


def is_of_kind(answer: str, kind: AnswerKind) -> bool:
    """Whether an answer can be one of this kind; what no word tells, a person or a place, can."""
    sign = _TELLS.get(kind)
    return sign is None or sign.search(normalize(answer)) is not None


def repeats(answer: str, question: str) -> bool:
    """Whether an answer only says again what a question says that asks for a thing.

    「北朝」 tells nothing where 「北朝にあたる王朝は」 is asked. Whether something is so, an answer
    may say in the words of the question.
    """
    asked = normalize(question)
    asks = _ASKS_WHAT.search(asked) or _LEFT_OPEN.search(asked)
    if not asks or _OFFERS.search(asked):
        return False
    if _stands_in(answer, question):
        return True
    words = morphemes(answer)
    # Its words make another name (コンゴ民主共和国, コンゴ共和国), but no other statement.
    if not answer.isascii() and not any(word.kind.startswith(_VERBAL) for word in words):
        return False
    # An answer has no interjection: what is read as one is a name that the dictionary lacks.
    if any(word.kind.startswith(_INTERJECTION) for word in words):
        return False
    terms = Analyzer().terms
    return bool(terms(answer)) and set(terms(answer)) <= set(terms(question))


def _stands_in(answer: str, question: str) -> bool:
    """Whether an answer is a run of whole words of a question: 京都 is none of 東京都."""
    ends, letters = {0}, ""
    for word in morphemes(normalize(question)):
        letters += letters_of(word.surface)
        ends.add(len(letters))
    wanted = letters_of(answer)
    if len(wanted) < _SHORTEST_REPEATED:
        return False
    starts = (found.start() for found in re.finditer(re.escape(wanted), letters))
    return any({start, start + len(wanted)} <= ends for start in starts)


def _counted(asked: str, counter: str) -> AnswerKind:
    if counter in _PLACES_OF_A_LAW:
        return AnswerKind.WHICH_LAW
    return (
        AnswerKind.WHEN
        if counter in _CALENDAR and not _LASTS.search(asked)
        else AnswerKind.HOW_MANY
    )


def _kind_without_sign(asked: str) -> AnswerKind:
    for kind, clue in _WITHOUT_SIGN:
        if clue.search(asked) and not (kind is AnswerKind.YES_OR_NO and _ASKS_WHAT.search(asked)):
            return kind
    return AnswerKind.OTHER


def _without(text: str, match: re.Match[str]) -> str:
    return _MANNER.sub(" ", f"{text[: match.start()]} {text[match.end() :]}")

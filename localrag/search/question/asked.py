"""What a question asks for: a kind of answer, a penalty, a figure, a definition, an order.

Statutes answer in fixed wording. The penalty of an act is apart from its prohibition, and a
delegated point is in the order. So the answer is not where the question's words are.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from localrag_indexes.analysis import Analyzer
from localrag_indexes.analysis.analyzer import ENGLISH, morphemes
from localrag_indexes.analysis.normalize import letters_of, normalize


class Interrogative(StrEnum):
    """Question words; だれ counts as WHO, what year as WHEN."""

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
# Longer words first: どのくらい before どの, 何年 before 何.
_INTERROGATIVES = tuple(
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
_HOW_SO = re.compile("どのよう|どんなふう")


def interrogative_of(question: str) -> Interrogative:
    """The first question word."""
    normal = normalize(question)
    # どの人 and どんな人 begin like them, but these ask how.
    normal = _HOW_SO.sub("どう", normal)
    found = [
        (match.start(), order, word)
        for order, (word, pattern) in enumerate(_INTERROGATIVES)
        if (match := pattern.search(normal))
    ]
    return min(found)[2] if found else Interrogative.NONE


QUOTED = re.compile(r"[「『]([^「」『』]{1,80})[」』]|[\"“]([^\"“”]{2,80})[\"”]")
"""Quoted words: group 1 in Japanese marks, group 2 in others."""
_KATAKANA = re.compile(r"[ァ-ヺー]{2,}(?:・[ァ-ヺー]{2,})*")
_LATIN = re.compile(r"[^\W\d_ぁ-ヿ一-鿿][\w'’&.-]*[^\W_ぁ-ヿ一-鿿]")
_JAPANESE = re.compile("[ぁ-ゖァ-ヺ一-鿿]")
_PROPER = "名詞-固有名詞"


def names_in(question: str) -> tuple[str, ...]:
    """The names in a question, normalised, each once, in order.

    Quoted words, katakana words, Latin words (in English capitalised ones, except the first), and
    proper nouns of the dictionary.
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
    """Kinds of answers."""

    WHEN = "when"
    HOW_MANY = "how many"
    WHO = "who"
    WHERE = "where"
    CALLED = "what it is called"
    WHY = "why"
    YES_OR_NO = "yes or no"
    WHICH_LAW = "which law"
    OTHER = "other"


# How to answer, not what about.
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
# With a number these are a point in time, unless the question asks for a duration.
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
        # Time limits: statutes say 三月以内に, 八日を経過した, 三十日前に.
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

# Kinds without a sign in a text: a person and a place look like other words.
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
# 前身は？ and 一般に？ do not say what they ask for.
_LEFT_OPEN = re.compile(r"(?:(?<!で)は|[にてをがと])[?？]?\s*$")
# Words asking for something only if no word asks for a person or a place.
_IN_PASSING = re.compile(r"期間|期限|時効|別名|通称|名称|呼び名|略称|愛称|理由|原因")
_PERSON_OR_PLACE = re.compile(r"誰|だれ|どなた|どこ|何処|\b(?:who(?:m|se)?|where)\b")
_ASKS_WHAT = re.compile(
    r"何|なん|なに|どの|どん|どう|どれ|どち|どこ|いつ|だれ|誰|いか[がに]|いかなる"
    r"|\b(?:what|which|how|who|whom|whose|when|where)\b"
)
# The answer is in the question: AとBではどちらが, A or B; or part of the answer is.
_OFFERS = re.compile(r"どちら|どっち|のうち|の中で|か、|では(?:誰|だれ|どれ|何)|略称|通称|\bor\b")
# A single letter has no clear source.
_SHORTEST_REPEATED = 2


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a question asks for, and its subject.

    Attributes:
        kind: of answer.
        question: as asked.
        sign: a pattern of texts with such an answer, or None.
        rest: the question without its question words (何年, how many) and instructions
            (アルファベット三文字で答えよ).
    """

    kind: AnswerKind
    question: str
    sign: re.Pattern[str] | None
    rest: str

    @classmethod
    def of(cls, question: str) -> "Expectation":
        """Read the question words: 何人, いつ, how many, 何という, なぜ."""
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
        """Names in the question, as found by `names_in`."""
        return names_in(self.question)

    def met_by(self, text: str) -> bool:
        """Whether a text has such an answer; False without a sign."""
        return self.sign is not None and self.sign.search(normalize(text)) is not None


# Units of the answer by the question's counter: 三月 for 何日以内, 三名 for 何人.
_LASTING = r"年|[かヶカヵ箇]月|月|週|日|時間|分間|秒"
_MONEY = r"円|ドル|ユーロ|ポンド|元(?!年)|ウォン|セント|パーセント|%|割|倍"
_UNITS = (
    (frozenset(("年間", "週間", "日間", "時間", "分", "秒")), f"{_LASTING}|分"),
    (frozenset(("年", "年度", "年代", "世紀", "月", "日", "時")), rf"{_LASTING}|世紀|時|:\d"),
    (frozenset(("か月", "カ月", "ヶ月", "ヵ月")), _LASTING),
    (frozenset(("歳", "才")), "歳|才|年"),
    (frozenset(("人", "名")), "人|名"),
    (frozenset(("円", "ドル", "万", "億")), rf"[万億兆]|{_MONEY}"),
    (frozenset(("%", "パーセント", "割", "倍")), "%|パーセント|割|倍|分の|厘"),
    (frozenset(("回", "度")), "回|度|°|℃"),
)
_ENGLISH_NUMBER = (
    r"\b(?:no|none|all|half|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred"
    r"|thousand|million|several|many|few|once|twice)\b"
)
# The number of a provision answers no "how many"; 一般 and 第三者 are no numbers.
_NUMBERED = re.compile(
    rf"第{_NUMBER}+(?:条|項|号|章|節|款|編|者)(?:の{_NUMBER}+)*|{_NUMBER}+条(?:の{_NUMBER}+)*"
    rf"|十分(?![間以のを前後])|(?<!{_NUMBER})(?:[唯統同単均万]一|一[般定部方律緒体連切旦時](?!間))"
)
_A_NUMBER = re.compile(
    rf"\d|{_NUMBER}+(?:{_COUNTER}|分の|箇)|数[十百千万人年日回個]|多数|少数|無数|複数|半[分数年日額]"
    rf"|全[員額部数]|すべて|なし|無料|無償|{_ENGLISH_NUMBER}"
)
_AN_AMOUNT = re.compile(
    rf"{_NUMBER}\s*(?:{_MONEY}|[日週月年]分)|分の{_NUMBER}|[$¥£€]\s*\d|無料|無償|[全半]額|なし|\b(?:free|no)\b"
)
_A_TIME = re.compile(
    rf"\d|{_NUMBER}+(?:{_COUNTER}|箇)|元年|時代|世紀|頃|ころ|当時|翌|昨|[同毎]年|今日|現在|[前後中]$"
    r"|とき|時(?!効|価)|日(?!本)|際|まで|以[前後内]|した後|する前|満了|終了|直ちに|ただちに|遅滞なく|速やかに|あらかじめ"
    r"|\b(?:century|today|during|after|before|until|when|within|immediately|january|february"
    rf"|march|april|may|june|july|august|september|october|november|december)\b|{_ENGLISH_NUMBER}"
)
# いつでも and いくら…ても do not ask.
_ASKS_WHEN = re.compile(r"いつ(?!でも|も)|\bwhen\b")
_ASKS_HOW_MUCH = re.compile(r"いくら(?!.{0,12}[てで]も)")
_ASKS_HOW_MANY = re.compile(r"いくつ|(?:どの|どれ)くらい|どれほど|\bhow (?:many|much|long|old)\b")
# A question for a period names it and ends; 時効は何によって完成するか does not.
_ASKS_PERIOD = re.compile(
    r"(?:期間|期限|時効|年数|日数)(?:は|を|って)?"
    r"(?:何|なに|いつ(?:まで)?|どの(?:くらい|程度)|どれ(?:くらい|ほど))?"
    r"(?:ですか|でしょうか|か|教えて(?:ください|下さい)?)?[?？。\s]*$"
    r"|\b(?:deadline|time limit|period)\b"
)
# Endings of words for people.
_PERSON = re.compile(
    r"[者人長官員臣庁署省局所院会社団国県市町村府都区士師主親子父母夫妻兄弟姉妹王帝后氏組党方隊民族家手]$"
    r"|[知理監検判幹]事$|機関$|法人$|組合$|銀行$|政府$|本人$|大使$|公証役場$|警察$|[ァ-ヺー]{2}$"
)
_NUMBER_ALONE = re.compile(rf"[約第]?(?:{_NUMBER}|[,.])+")
_COUNTED_ALONE = re.compile(rf"{_NUMBER_ALONE.pattern}(?:{_COUNTER})")
_RUN = re.compile(r"[一-鿿々ァ-ヺー]+")


def gives(answer: str, question: str) -> bool:
    """Whether an answer has what a question asks for, judged by words.

    A number with a unit for 何日, an amount for いくら, a time for いつ, a person or a body for 誰.
    For several of these the answer has each.
    """
    asked = normalize(question)
    said = normalize(answer)
    without = _NUMBERED.sub(" ", said)
    bare = said.strip("。. ")
    is_number = _NUMBER_ALONE.fullmatch(bare) is not None
    for counted in _COUNTED.finditer(asked):
        # 何度も means often, and 何時代 is not a time of day.
        if asked.startswith(("も", "代"), counted.end()):
            continue
        if counted[1] not in _PLACES_OF_A_LAW and not is_number:
            units = next((units for some, units in _UNITS if counted[1] in some), "")
            given = rf"(?:{_NUMBER}|数)\s*(?:{units})|元年|時代" if units else _A_NUMBER
            if not re.search(given, without):
                return False
    if _ASKS_WHEN.search(asked):
        return _A_TIME.search(without) is not None
    if _ASKS_HOW_MUCH.search(asked):
        is_amount = is_number or _COUNTED_ALONE.fullmatch(bare) or _AN_AMOUNT.search(without)
        return bool(is_amount)
    if _ASKS_HOW_MANY.search(asked):
        return is_number or _A_NUMBER.search(without) is not None
    if _ASKS_PERIOD.search(asked) and not _COUNTED.search(asked):
        return _A_TIME.search(without) is not None
    if re.search(r"誰|だれ|どなた", asked) and not _OFFERS.search(asked):
        return _names_somebody(said, asked)
    return True


def _names_somebody(answer: str, asked: str) -> bool:
    """Whether a Japanese answer has a new word for a person or a body."""
    runs = [run[0] for run in _RUN.finditer(answer) if run[0] not in asked]
    if any(_PERSON.search(run) for run in runs) or not _JAPANESE.search(answer):
        return True
    words = morphemes(answer)
    if any(one.kind.startswith(_PROPER) and one.surface not in asked for one in words):
        return True
    # A name missing from the dictionary counts as one word.
    is_word = not any(one.kind.startswith(_VERBAL) for one in words)
    return is_word and not re.search(rf"{_NUMBER}(?:{_COUNTER})|^[^一-鿿ァ-ヺー]+$", answer)


def repeats(answer: str, question: str) -> bool:
    """Whether an answer only repeats the question.

    「北朝」 does not answer 「北朝にあたる王朝は」. A yes-or-no answer may use the question's
    words.
    """
    asked = normalize(question)
    asks = _ASKS_WHAT.search(asked) or _LEFT_OPEN.search(asked)
    if not asks or _OFFERS.search(asked):
        return False
    if _stands_in(answer, question):
        return True
    words = morphemes(answer)
    # Its words make a different name (コンゴ民主共和国, コンゴ共和国), but no different statement.
    if not answer.isascii() and not any(word.kind.startswith(_VERBAL) for word in words):
        return False
    # An answer has no interjection: such a word is a name missing from the dictionary.
    if any(word.kind.startswith(_INTERJECTION) for word in words):
        return False
    terms = Analyzer().terms
    return bool(terms(answer)) and set(terms(answer)) <= set(terms(question))


def _stands_in(answer: str, question: str) -> bool:
    """Whether an answer is a run of whole words of a question: 京都 is not one of 東京都."""
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


_PENALTY = re.compile(
    r"罰を受け(?:る|ます)?|罰則|刑罰|法定刑|処罰|罰金|科料|過料|罰せられ(?:る|ます)?|罰は|(?:どんな|どういう|どのような|何の|なんの)(?:罰則|罪|罰|刑)"
    r"|(?:懲役|禁錮|拘禁刑)(?:は|何年|[?？]|$)|(?:何年|どのくらい|どれくらい)の(?:刑|懲役|拘禁刑)"
    r"|刑事罰|ペナルティ|罰(?=[\s　]*$|[はがをに])|刑の重さ|刑期|量刑|刑は|捕まる"
    r"|(?:犯罪|罪)に(?:なる|問われ)|両罰"
    # A breach of contract or of a promise is not an offence.
    r"|(?<!契約[にを])(?<!約束[にを])(?:(?:違反し|背い|破っ)(?:たら|た(?:場合|とき)に?は?|て)"
    r"|違反する(?:と|場合は?)|守らな(?:かったら|いと|ければ|い場合は?))、?どうな(?:る|り)"
    r"|\bpenalt(?:y|ies)\b(?! clause)|\bpunish(?:able|ed|ment|ments)?\b|\bsanctions?\b"
    r"|\bcriminal(?:ly)? (?:liability|liable)\b|\bfine[ds]?\b|\bsentenced?\b",
    re.IGNORECASE,
)
# Words without meaning for the offence.
_EMPTY = re.compile(
    r"に(?:違反|反)(?:したら?|すると?)?|した(?:場合|とき|ら|者)|(?:場合|とき)(?:は|の)?"
    r"|[をがも]?(?:科|課)(?:される|せられる|されます|す)|され(?:る|ます)(?=か|[?？。]|$)|を教えて(?:ください)?|どうなる|どう|について|(?:何|なん)ですか|ですか|(?:いくら|どの(?:くらい|程度))"
    r"|\b(?:what|is|are|the|for|of|under|how|maximum|criminal)\b",
    re.IGNORECASE,
)
# 法人も罰せられるか, 法人の場合: the legal person whose people acted, not one named by its kind
# (宗教法人の役員が …).
_BODY = re.compile(
    r"両罰(?:規定)?"
    r"|(?<![一-鿿])法人(?:自体|そのもの|側)?"
    r"(?=も|に(?:は|も|対する|対して|科)|へ|の(?:場合|とき|罰|刑|責任)"
    r"|は|だと|だったら|であれば|なら|でも|[、 　？?]|$)"
    r"(?:に対する|に対して|の(?:場合|とき)(?:は|に)?|も|には?|は|の)?"
    r"|(?:会社|企業|団体|事業者|勤め先|雇い?主)(?:自体|そのもの|側)?(?:も|にも|に対する|への)"
    r"(?=[^。、]{0,12}(?:罰|処|刑|罪))"
    r"|\b(?:corporations?|compan(?:y|ies)|legal (?:persons?|entit(?:y|ies)))"
    r" (?:also|too|itself|themselves)\b"
    r"|\b(?:in the case of|what about|for) (?:a |the )?"
    r"(?:corporations?|compan(?:y|ies)|legal (?:persons?|entit(?:y|ies)))\b",
    re.IGNORECASE,
)
# A longer text describes a case or quotes a provision; a penalty in it is incidental.
_LONGEST = 80

_MARK = r"[「」『』、。，,?？!！\s]"
_NOT_A_MARK = r"[^「」『』、。，,?？!！\s]"
_WHAT = r"(?:何|なん|なに|ど[のんうれ]|誰|だれ|いかなる|いか[がに])"
# 平均賃金とは, 平均賃金の定義は何か, 平均賃金はどう定義されているか, 平均賃金は何をいうか.
_MEANING = re.compile(
    rf"(?:^|{_MARK})(?P<term>{_NOT_A_MARK}{{1,60}}?)[」』]?"
    rf"(?:(?:とは|って)、?(?:{_WHAT}|[?？。\s]|$)"
    r"|(?:という|の|\s)(?:(?:言葉|用語|語|文言)の)?(?:法律上の?|法的な?|法令上の?)?"
    r"(?:定義|意義|意味)(?:規定|条文)?(?:とは|[はがをにで]|って|について|[?？。\s]|$)"
    rf"|[はが]、?(?:{_WHAT}[^、。]{{0,8}}|法律で|法令で)?定義(?:され|し|す)"
    rf"|は、?{_WHAT}(?:いう|な|ような)?(?:もの|者|人|こと|場合)?を(?:いう|言う|指す|さす|意味)"
    r"|を定義)"
)
# The rest after a term, if only its meaning is asked for: 何か, どういう意味ですか.
_ASKS_NO_MORE = re.compile(
    r"(?:[ぁ-ゖ\s、。?？!！「」]|何|意味|意義|定義|言葉|用語|者|人|物|法律|法令|上|教|説明|下)*"
)
_TERM = re.compile("[^ぁ-ゖ]*[一-鿿ァ-ヶ][^ぁ-ゖ]*(?:の[^ぁ-ゖ]+)*")
# 労基法でいう賃金, 法律で定義する賃金: the law's name is not part of the term.
_SAID_WHERE = re.compile(
    "^(?:上の?|における?|において|に?いう|の|で(?:は|の|いう)?|(?:に|が|で)(?:定義|規定)(?:する|される|されている|した))"
    "|^.*(?:における|において|でいう|にいう|上の|(?:に|が|で)?(?:定義|規定)(?:する|される|されている|した))"
)

_INSTRUMENT = r"政令|[一-鿿]{0,6}(?:府令|省令)|[一-鿿]{2,12}委員会規則|人事院規則|最高裁判所規則"
_HOW = r"(?:どう|どのよう|どんな|何|なに|いくら|いつ)"
_LEFT = re.compile(
    rf"(?P<instrument>{_INSTRUMENT})(?:(?:で|に|において|により|によって)(?:定め|規定|指定|委任)"
    r"(?:る|する|られた|られる|られている|され|された|されている|した|している|てい)?|の(?:定め|指定)る?)"
)
# 委任を受けて、政令は期間をどう定めているか; 期間は政令でどう定められているか
_FILLED = re.compile(
    rf"委任[^。、]{{0,8}}、?(?P<instrument>{_INSTRUMENT})(?:は|では|が|の)?(?P<point>[^、。]*?)[はがを]?{_HOW}"
    rf"|(?P<named>[^、。のはが]{{0,30}})[はが]、?(?P<other>{_INSTRUMENT})(?:で|では|に|には){_HOW}"
)
_WHERE = re.compile(r"(?:どこ|何|なに|どの(?:法令|政令|省令|規則))(?:で|に)(?:決ま|決め|定め|規定)")
# In a longer text, the question must follow the point directly.
_ASKS_BEHIND = re.compile(
    r"[^、。]{0,40}?(?:とは|は|って)[^、。]{0,4}(?:何|なに|なん|ど[のんうれ]|いくら|いつ)"
)
_ENDS = re.compile(
    r"とは|って|について|[、』」]|(?:は|が)(?:何|なに|なん|どの|どん|どれ|いくら|いつ)|[?？。]|$"
)


@dataclass(frozen=True, slots=True)
class PenaltyAsked:
    """A question about a penalty.

    Attributes:
        doing: the offence, or the provision broken: the question with the words for the penalty
            blanked, so spans stay valid.
        of_a_body: whether it asks for the penalty of the legal person.
    """

    doing: str
    of_a_body: bool = False


@dataclass(frozen=True, slots=True)
class OrderAsked:
    """A question about a delegated point.

    Attributes:
        instrument: the kind of order named: 政令, 内閣府令; "" if only the place is asked for.
        point: the words of the point: 有価証券; "" if none follow.
        before: the words before 政令で定める, back to another such question.
    """

    instrument: str
    point: str
    before: str = ""


def penalty_asked(question: str) -> PenaltyAsked | None:
    """Read a question about a penalty; None for others."""
    if len(question) > _LONGEST or not _PENALTY.search(question):
        return None
    doing = _EMPTY.sub(_blank, _PENALTY.sub(_blank, _BODY.sub(_blank, question)))
    of_a_body = _BODY.search(question) is not None
    return PenaltyAsked(doing, of_a_body) if any(map(str.isalnum, doing)) else None


def terms_asked(question: str) -> tuple[str, ...]:
    """Read a question about a term: candidates for the term as written, best first.

    Words before the term may name its law (労基法でいう賃金) or belong to it.

    Args:
        question: without the names of laws.
    """
    asked = _MEANING.search(question)
    if asked is None:
        return ()
    words = asked["term"]
    return tuple(filter(None, dict.fromkeys((words, _SAID_WHERE.sub("", words)))))


def term_alone_asked(question: str) -> str:
    """The term of a question asking only for its meaning; "" for others.

    A description with a clause (許可を要しない軽微な工事) is no defined term: terms have no
    hiragana except の.

    Args:
        question: without the names of laws.
    """
    asked = _MEANING.search(question)
    if asked is None or any(map(str.isalnum, question[: asked.start()])):
        return ""
    term = terms_asked(question)[-1]
    alone = _ASKS_NO_MORE.fullmatch(question, asked.end()) is not None
    return term if alone and _TERM.fullmatch(term) else ""


def orders_asked(question: str) -> tuple[OrderAsked, ...]:
    """Read the delegated points asked for, in order; empty for other questions.

    A two-step question has two: 政令で定める者について、内閣府令で定める事項とは何か.
    """
    asked: list[OrderAsked] = []
    since = 0
    for left in _LEFT.finditer(question):
        end = _ENDS.search(question, left.end())
        point = question[left.end() : end.start() if end else None]
        asked.append(OrderAsked(left["instrument"], point, question[since : left.start()]))
        since = left.end()
    if len(question) > _LONGEST and not (asked and _ASKS_BEHIND.match(question, since)):
        return ()
    if asked:
        return tuple(asked)
    if filled := _FILLED.search(question):
        instrument, point = filled["instrument"] or filled["other"], filled["point"]
        return (OrderAsked(instrument, point or filled["named"] or ""),)
    return (OrderAsked("", ""),) if _WHERE.search(question) else ()


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


_KANJI = "[〇一二三四五六七八九十百千]"
# 第二項 and 三号 are places, not figures.
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


@dataclass(frozen=True, slots=True)
class AskedFigure:
    """A figure asked for.

    Attributes:
        sign: a pattern of statutory texts with such a figure.
    """

    sign: re.Pattern[str]

    def stated_in(self, text: str) -> bool:
        """Whether a statutory text states such a figure, apart from places (第二項)."""
        return self.sign.search(_PLACE.sub(" ", text)) is not None


def figure_asked(question: str) -> AskedFigure | None:
    """Read a question about a figure; None for others.

    Args:
        question: without the names of laws.
    """
    question = normalize(question)
    if _ASKS_AMOUNT.search(question):
        return AskedFigure(_STATES_AMOUNT)
    if _ASKS_TIME.search(question):
        return AskedFigure(_STATES_TIME)
    expectation = Expectation.of(question)
    if expectation.kind is AnswerKind.HOW_MANY and expectation.sign is not None:
        return AskedFigure(expectation.sign)
    return None

"""What a question asks of the law, where statutes answer in fixed wording: a penalty, a figure.

The penalty of a doing stands apart from its prohibition, and what an act leaves to an order stands
in the order: a question that asks for one of them is answered elsewhere than where its words are.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from localrag.question.everyday import EverydayWord
from localrag.question.expectation import AnswerKind, Expectation
from localrag_indexes.analysis.analyzer import Morpheme, morphemes
from localrag_indexes.analysis.normalize import normalize

_PENALTY = re.compile(
    r"罰を受け(?:る|ます)?|罰則|刑罰|法定刑|処罰|罰金|科料|過料|罰せられ(?:る|ます)?|罰は|(?:どんな|どういう|どのような|何の|なんの)(?:罰則|罪|罰|刑)"
    r"|(?:懲役|禁錮|拘禁刑)(?:は|何年|[?？]|$)|(?:何年|どのくらい|どれくらい)の(?:刑|懲役|拘禁刑)"
    r"|刑事罰|ペナルティ|罰(?=[\s　]*$|[はがをに])|刑の重さ|刑期|量刑|刑は|捕まる"
    r"|(?:犯罪|罪)に(?:なる|問われ)|両罰"
    # Whoever breaks a contract or a promise is not punished.
    r"|(?<!契約に)(?<!約束に)(?<!約束を)(?:違反し|(?<!違)反し|背い|破っ)(?:たら|た(?:場合|とき)に?は?|て)、?どうな(?:る|り)"
    r"|(?<!契約に)(?<!約束に)違反する(?:と|場合は?)、?どうな(?:る|り)"
    r"|(?<!契約を)(?<!約束を)守らな(?:かったら|いと|ければ|い場合は?)、?どうな(?:る|り)"
    r"|\bpenalt(?:y|ies)\b(?! clause)|\bpunish(?:able|ed|ment|ments)?\b|\bsanctions?\b"
    r"|\bcriminal(?:ly)? (?:liability|liable)\b|\bfine[ds]?\b|\bsentenced?\b",
    re.IGNORECASE,
)
# Words of such a question that say nothing of what is done.
_EMPTY = re.compile(
    r"に(?:違反|反)(?:したら?|すると?)?|した(?:場合|とき|ら|者)|(?:場合|とき)(?:は|の)?"
    r"|[をがも]?(?:科|課)(?:される|せられる|されます|す)|され(?:る|ます)(?=か|[?？。]|$)|を教えて(?:ください)?|どうなる|どう|について|(?:何|なん)ですか|ですか|(?:いくら|どの(?:くらい|程度))"
    r"|\b(?:what|is|are|the|for|of|under|how|maximum|criminal)\b",
    re.IGNORECASE,
)
# 法人も罰せられるか, 法人の場合: the body whose people did it, and not one that is named
# by its kind (宗教法人の役員が …).
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
# Who promises or pays a 罰金 or a ペナルティ need not be punished; of a 罰則 there is no doubt.
_OF_STATUTES = re.compile("罰則|刑罰|法定刑|刑事罰")
_PUNISHES = re.compile("拘禁刑|罰金|科料|過料|罰する|罰しない|刑に|の刑")
_CONTENT = re.compile("[一-鿿ァ-ヶ]")
# A longer text tells a case or quotes a provision, and names a penalty among much else.
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
# What follows a term where its meaning alone is asked for: 何か, どういう意味ですか.
_ASKS_NO_MORE = re.compile(
    r"(?:[ぁ-ゖ\s、。?？!！「」]|何|意味|意義|定義|言葉|用語|者|人|物|法律|法令|上|教|説明|下)*"
)
# Verbs before what they describe end so: 備える書類, 登録された船.
_ATTRIBUTIVE = "うくぐすつぬぶむるた"
# 労基法でいう賃金, 法律で定義する賃金; the name of the law is no part of the term.
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
# Of a longer text a question is left where it asks right behind the point.
_ASKS_BEHIND = re.compile(
    r"[^、。]{0,40}?(?:とは|は|って)[^、。]{0,4}(?:何|なに|なん|ど[のんうれ]|いくら|いつ)"
)
_ENDS = re.compile(
    r"とは|って|について|[、』」]|(?:は|が)(?:何|なに|なん|どの|どん|どれ|いくら|いつ)|[?？。]|$"
)


# 詐欺罪, 詐欺の罪; not 罪人 or 窃盗の罪を犯した者, which tell a case.
_CRIME = re.compile(r"([一-鿿々ァ-ヶー]{2,12}?)(?:の)?罪(?!を犯|に関|人|名)")


@dataclass(frozen=True, slots=True)
class PenaltyAsked:
    """A question for the penalty of a doing.

    Attributes:
        doing: what is done, or the provision that is broken: the question with blanks in the place
            of the words for the penalty, so that spans of the one are spans of the other.
        of_a_body: whether the penalty of the legal person is asked for, for which the doer acted.
    """

    doing: str
    of_a_body: bool = False


@dataclass(frozen=True, slots=True)
class OrderAsked:
    """A question for what a provision leaves to an order.

    Attributes:
        instrument: the kind of order as the question names it: 政令, 内閣府令; empty where it asks
            only where a thing is laid down.
        point: the words for what is left to it: 有価証券; empty where there are none behind.
        before: the words before 政令で定める, back to another such question.
    """

    instrument: str
    point: str
    before: str = ""


def penalty_asked(question: str, everyday: Iterable[EverydayWord] = ()) -> PenaltyAsked | None:
    """Read a question for a penalty; None for any other.

    Args:
        question: as asked.
        everyday: its everyday words. One of them can have a penalty for its matter: who asks what
            happens to one that 罰金が払えない does not ask for the penalty of a doing.
    """
    matters = [word for word in everyday if _is_about_a_penalty(word)]
    if len(question) > _LONGEST or not any(
        not any(word.start <= asks.start() and asks.end() <= word.end for word in matters)
        for asks in _PENALTY.finditer(question)
    ):
        return None
    doing = _EMPTY.sub(_blank, _PENALTY.sub(_blank, _BODY.sub(_blank, question)))
    of_a_body = _BODY.search(question) is not None
    return PenaltyAsked(doing, of_a_body) if any(map(str.isalnum, doing)) else None


def _is_about_a_penalty(word: EverydayWord) -> bool:
    """Whether a penalty is the matter of a word, and not what is asked of its matter.

    What is asked for comes last, as the head of the word: 密輸の罰金, but 罰金が払え. And whoever
    asks for it wants a provision that punishes: 遅刻したら罰金 leads to none.
    """
    asks = list(_PENALTY.finditer(word.said))
    if not asks:
        return False
    if _CONTENT.search(word.said, asks[-1].end()):
        return True
    punishes = _OF_STATUTES.search(word.said) or any(map(_PUNISHES.search, word.phrases))
    return not punishes


def terms_asked(question: str) -> tuple[str, ...]:
    """Read a question for the meaning of a term: what the term may be, as written, likeliest first.

    What stands before the term may tell of which law it is (労基法でいう賃金), or belong to it.

    Args:
        question: without the names of laws.
    """
    asked = _MEANING.search(question)
    if asked is None:
        return ()
    words = asked["term"]
    return tuple(filter(None, dict.fromkeys((words, _SAID_WHERE.sub("", words)))))


def term_alone_asked(question: str) -> str:
    """The term of a question that asks for its meaning and nothing else; empty for any other.

    What a clause describes (許可を要しない軽微な工事) is no term that a law would define so.

    Args:
        question: without the names of laws.
    """
    asked = _MEANING.search(question)
    if asked is None or any(map(str.isalnum, question[: asked.start()])):
        return ""
    term = terms_asked(question)[-1]
    alone = _ASKS_NO_MORE.fullmatch(question, asked.end()) is not None
    is_described = any(map(_describes, morphemes(term)[:-1]))
    return term if alone and _CONTENT.search(term) and not is_described else ""


def _describes(word: Morpheme) -> bool:
    """Whether what stands behind a word is described by a clause: を of 許可を要しない工事."""
    if word.kind.startswith("助詞"):
        return word.surface != "の"
    return word.kind.startswith(("動詞", "助動詞")) and word.surface[-1] in _ATTRIBUTIVE


def crimes_named(question: str) -> frozenset[str]:
    """The crimes that a question names, as the articles on them are captioned: 詐欺 of 詐欺罪."""
    return frozenset(named[1] for named in _CRIME.finditer(question))


def orders_asked(question: str) -> tuple[OrderAsked, ...]:
    """Read a question for what is left to orders, in its order; none for any other question.

    A question over two steps asks for two: 政令で定める者について、内閣府令で定める事項とは何か.
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
    question = normalize(question)
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

"""How a Japanese question leans on the one before it, and what it then says."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from localrag.question._matter import (
    Word,
    WordRole,
    ends_in_a_verb,
    matter_of,
    names_an_agent,
    words_of,
)
from localrag.question.laws import LawNamed, laws_named
from localrag.statutes.citations import ProvisionCitation, find_citations
from localrag.statutes.names import LawNames

_OPENING = re.compile(
    r"(?:それ(?:では|じゃあ?|なら)(?=[、 ])|では(?=[、 一-鿿ァ-ヶ])|で(?=[、 ])|じゃあ?"
    r"|ちなみに|また(?=、)|なお|あと(?=[、は])"
    r"|それと(?=、)|そして|なら(?=、)|ところで)[、 ]?"
)
_MORE = re.compile(
    r"(?:それは|これは)?(?:(?:もっと|もう少し|もうちょっと|より|さらに|更に)?"
    r"(?:詳し[くい]|詳細[にを]?|具体的に(?:は)?|(?:わか|分か)りやすく|かみ砕いて|簡単に|続き[をは]?|続けて"
    r"|もう一度|例えば|たとえば|つまり|要するに|要約(?:して|すると)?)"
    r"|もっと|(?:その)?(?:根拠(?:となる)?(?:の)?(?:条文|規定|法令)?|該当条文|条文|どの条文|どの条項|(?:第)?何条)(?=[はをかにでの？?。]|$))"
    r"(?:[はを]|に(?:書いて|定めて|規定されて)(?:ある|い(?:る|ます)))?(?:どこ|どれ|何|第?何条)?"
    r"(?:説明|知りたい|教え|お願い|言う|いう|話し|示し|聞き|です|ます|あり|いただ|頂|もらえ|くださ|下さ|ほし|欲し|くれ"
    r"|たい|できますか|します|して|ない|る|せん|い|て|と|か|は|を|の|え|ね|、|。|？|\?|\s)*+"
)
_BACK = re.compile(
    "そのよう[なに]|このよう[なに]|そう(?:いった|いう|した|すると|なると|でない|しない|しなかった)|そんな|こう(?:いった|いう|した)"
    "|それ(?!ぞれ)ら?|これ(?!まで|から|迄)ら?|その(?![他うま])|この|当該|上記|前記|同(?:社|氏|者|人|様|項目)"
)
_LAW_BACK = re.compile(
    "同法(?![人律規令])|(?:その|この|当該|同じ)法律?(?![人律規令])|本法(?![人律規令])|同法律"
)
_PLACE_BACK = re.compile("(?:同|その|この|当該)(?P<level>[条項号])(?![文目約例件])")
_BARE_PLACE = re.compile("[0-9０-９一二三四五六七八九十百]+(?P<level>[項号])(?!目)")
_ORDER = re.compile(
    "(?<![一-鿿])(?:(?:その|同法?の?)(?=施行|政令|省令|内閣府令|府令))?"
    "(?P<kind>施行令|施行規則|施行細則|政令|省令|内閣府令|府令)(?!で定|に委|への委)"
)
# 説明する中身をもっと詳しく: more is asked of one thing that was told.
_MORE_OF = re.compile(
    r"(?:を|は|について(?:は)?|に関して)?、?(?=(?:もっと|もう少し|もうちょっと|さらに|更に)"
    r"(?:詳し|詳細|具体|わか|分か|かみ砕|説明|教え|知りたい))"
)
_INTERROGATIVE = re.compile(
    "(?:いつ(?:まで|から|ごろ)?|どこ(?:まで|から)?|だれ|誰|何(?:か?[年月]間?|日間?|人|円|条|項|回|通|歳|割|％|パーセント|者)?(?:以内|以上|以下)?"
    "|いくら|いくつ|どの(?:よう[なに]?|程度|くらい|ぐらい)?|どんな|いかなる|どう(?:いう|いった|して|すれ)?|どれ(?:くらい|ぐらい)?"
    "|なぜ|どちら|なに|なん)(?:場合|とき|者|もの|人|こと)?"
)
_ASKED_OF_A_LAW = re.compile("目的|趣旨|題名|施行(?:日|期日)|公布|所管")
_CASE = re.compile(
    r"(?P<case>[^、。？?]{1,40}?)"
    r"(?P<mark>の(?:場合|とき|ケース)(?:に)?|(?<=[うくすつぬむぶぐるいた])(?:(?:場合|とき|時|ケース)(?:に)?|の(?=は|も))"
    r"|であれば|だったら|[ただ]ら|だと|なら(?:ば)?"
    r"|について|に関して|に対して|に|で|だけ)?(?P<topic>は|も|でも)?、?"
    r"(?:どう(?:なの|なりますか|なるの?か?|なって(?:いる|いますか)|です)?か?|同じ(?:です)?か?|同様(?:です)?か?)?[？?。]*"
)
# 店で売るのはいい: whether the doing of the question before is allowed, done in another way.
_ALLOWED = re.compile(
    "(?:いい|よい|良い|だめ|駄目|ダメ|大丈夫|OK|可)(?:です|なの|でしょう)?か?[？?。]*$"
)
# 立退料は: one thing, of which nothing is said.
_ONE_THING = re.compile("[^のはがをにでと、。]{2,12}は[？?。]*")
# 遅れたら利息はつく: whoever is late, and with what, has been told.
_UNTOLD = re.compile(
    "[^、。はがをのに]{1,12}?(?:[ただ]ら|れば|ないと|場合(?:は|に)?|とき(?:は|に)?)、?(?=.)"
)
_WHEN = re.compile("[^、。]{1,40}?の場合(?:は|には)、?(?=.)")
_ALSO = re.compile("[^、。はがを]{2,30}も(?=[一-鿿])")
_AGENT = re.compile("([一-鿿ァ-ヶー]{2,12})は(?=[一-鿿])")
_OF_A_CASE = re.compile(
    "[^、。はがを]{1,30}?(?:では|でも|だけで|の(?:場合|とき)(?:は|には)?|だと|なら|であれば)(?=.)"
)
# Whoever says no more than this has said a case, and leaves what is asked to the question before.
_CERTAIN = ("の場合", "のとき", "のケース", "であれば", "だったら", "だと", "なら")
_OF_A_VERB = ("場合", "とき", "時", "ケース")
# A case told as a clause stands for no one word of the question before.
_CLAUSE_OF_CASE = re.compile("[をがはでに]|[うくすつぬむぶぐるいた]$")
# わかりました asks nothing.
_ASKS = re.compile("[？?]|(?:か|の)[。]?$|たら|れば|ないと|ても|場合|とき")
_LEADING_CASE = re.compile("[^、。]{1,30}の場合(?:は|には)?、")
_RUN = re.compile("[一-鿿々ァ-ヶー]+")

# Possessive: the pieces of an ending can be cut in many ways.
_TAIL = re.compile(
    r"(?:(?:し|する|され|でき|できる|なけれ|なら|ば|ない|いけ|必要|こと|が|ある|あり|ます|まし|せん|られ|です|でし|ょう|だ"
    r"|よい|いい|良い|も|い|る|た|て|の|ん|か)++(?<=か)|しなければならない|する必要がある|できる|される|する"
    r"|とは|では|には|とき(?:に|は)?|について(?:は)?|に関して(?:は)?|に対して(?:は)?|における|って"
    r"|(?:を|につい)?て?(?:教えて|説明して|知りたい)(?:ください|下さい)?"
    r"|[はがをにでのともへや]|[、。，．？?！!\s])$"
)
_SENTENCE_END = re.compile("[。．？！?!\\s]+$")
_SENTENCES = re.compile("[。．？！?!]+")
# 育児休業は子が何歳に: what is asked of 子 is asked about 育児休業.
_OF_ANOTHER = re.compile("^(.+?)は[^はをに、]{1,10}が$")
_RELATIVE = re.compile("[うくすつぬむぶぐるいた]$")
_SENTENCE = re.compile("[を、]|[ぁ-ゖ]$")
_WHETHER = re.compile("か(?=[。？?\\s]*$)")
_OBJECT = re.compile("を(?P<verb>[一-鿿]{2,4})$")
_OF_LAW = re.compile("^(?:における|においては?|では?|には?|上の?|の|は)、?")
_SUBJECT = re.compile("(?<=[一-鿿ァ-ヶ])は(?=[一-鿿ァ-ヶ])")
_CLAUSE = re.compile("[をはが、。]|する|した|され|(?:とき|場合|[うくすつぬむぶぐるいたか])$")
_NOUN = re.compile(
    r"[一-鿿ァ-ヶー々]+[きけしりえ]?(?:[はもの、？?。\s]|って|とは|が(?:あ[るり]|必要|要)|$)"
)
_WITH_PARTICLE = re.compile("(?:それ|これ)ら?(?P<particle>[はがをにでの])")


class _Provision(NamedTuple):
    """The provision that a question names last, as written, down to each level."""

    article: str = ""
    paragraph: str = ""


def read_after(question: str, before: str, names: LawNames) -> str:
    """Return the question with what it lacks; empty where it lacks nothing that can be told.

    Args:
        question: one line, not empty.
        before: the question it may lean on, standing by itself.
        names: the laws of the corpus.
    """
    opening = _OPENING.match(question)
    rest = question[opening.end() :] if opening else question
    if not rest:
        return ""
    if _MORE.fullmatch(rest):
        return before
    more = _MORE_OF.search(rest)
    if more and more.start() and _MORE.fullmatch(rest, more.end()):
        return _FollowUp(f"{rest[: more.start()]}は", before, names, opened=False).read_more()
    return _FollowUp(rest, before, names, opened=opening is not None).read()


class _FollowUp:
    """One question after another.

    Args:
        rest: what is asked, without では and its like.
        before: the question before.
        names: the laws of the corpus.
        opened: whether では or its like begins it.
    """

    def __init__(self, rest: str, before: str, names: LawNames, *, opened: bool) -> None:
        self._rest = rest
        self._before = before
        self._names = names
        self._opened = opened
        self._laws_before = laws_named(before, names)

    def read_more(self) -> str:
        """The question where it asks for more of one thing: that was told of before."""
        names_itself = laws_named(self._rest, self._names) or _ORDER.search(self._rest)
        if names_itself or _BACK.search(self._rest):
            return self.read()
        return self._with_topic(self._rest, None)

    def read(self) -> str:
        if swapped := self._other_order():
            return swapped
        rest = self._with_places(self._rest)
        laws = laws_named(rest, self._names)
        spans = [(law.start, law.end) for law in laws]
        cited = find_citations(rest)
        spans += [(place.start, place.end) for place in cited]
        words = words_of(rest, spans)
        topics = matter_of(rest, words)
        if rest != self._rest and (topics or cited or _ASKED_OF_A_LAW.search(rest)):
            return rest
        back = self._back(rest, words_of(rest), topics)
        if back is not None:
            return self._with_topic(rest, back)
        if case := self._case(rest, laws, topics, words):
            return case
        if not laws and _asks_of_a_case(rest, topics, words):
            return self._with_topic(rest, None, joined=False)
        if not laws and self._says_too_little(rest, words, topics):
            return self._with_topic(rest, None, joined=False)
        names_itself = bool(laws) and rest == self._rest
        if not topics and not names_itself and _asks(rest, words):
            return self._with_topic(rest, None)
        return self._with_law(rest, words) if not laws else ""

    # What is named shortly

    def _with_places(self, rest: str) -> str:
        """The question with its laws and provisions in full."""
        law = self._laws_before[-1].words if self._laws_before else ""
        place = _provision_of(self._before, self._laws_before)
        own = laws_named(rest, self._names)

        def named_before(position: int) -> bool:
            return any(one.start < position for one in own)

        pieces = [
            (*found.span(), law)
            for found in _LAW_BACK.finditer(rest)
            if law and not named_before(found.start())
        ]
        for found in _PLACE_BACK.finditer(rest):
            words = place.paragraph if found["level"] != "条" else place.article
            if words and not _cited_before(rest, found.start()):
                pieces.append((found.start(), found.end(), words))
        for cited in find_citations(rest):
            if cited.continues >= 0 or cited.law.text or named_before(cited.start):
                continue
            words = _lacking(cited, law, place)
            if words and not any(start <= cited.start < end for start, end, _ in pieces):
                pieces.append((cited.start, cited.start, words))
        if (bare := _BARE_PLACE.match(rest)) and not pieces:
            words = place.paragraph if bare["level"] == "号" else place.article
            pieces += [(0, 0, f"{words}第")] if words else []
        for found in _ORDER.finditer(rest):
            inside = any(one.start <= found.start() < one.end for one in own)
            if law and not inside and not named_before(found.start()):
                pieces.append((found.start(), found.end(), self._order(found["kind"])))
        for start, end, words in sorted(pieces, reverse=True):
            rest = rest[:start] + words + rest[end:]
        return rest

    def _order(self, kind: str) -> str:
        """What the order of the law before is called."""
        law = self._laws_before[-1]
        ids = [order for law_id in law.law_ids for order in self._names.order_of(law_id, kind)]
        if ids:
            return self._names.title(ids[0])
        return law.words if law.words.endswith(kind) else f"{law.words}の{kind}"

    def _other_order(self) -> str:
        """The question before, put to the order of its law: 施行令ではどうなっている."""
        found = _ORDER.match(self._rest)
        if found is None or not self._laws_before:
            return ""
        after = self._rest[found.end() :]
        if not _CASE.fullmatch("令" + after) or words_of(after):
            return ""
        law, order = self._laws_before[-1], self._order(found["kind"])
        if find_citations(self._before):
            # The provision is one of the act.
            return f"{order}では、{self._before}"
        return self._before[: law.start] + order + self._before[law.end :]

    def _with_law(self, rest: str, words: list[Word]) -> str:
        """The question with the law of the one before, where a common word says so.

        After では any word will do. Else it is the theme, which Japanese puts first: after 住民監査
        請求 a question that begins with 監査の結果 goes on.
        """
        if not self._laws_before:
            return ""
        spans = [(law.start, law.end) for law in self._laws_before]
        before = words_of(self._before, spans)
        if self._opened:
            own = {rest[word.start : word.end] for word in words}
        else:
            own = _theme(rest, matter_of(rest, words))
            before = matter_of(self._before, before)
        common = own & {self._before[word.start : word.end] for word in before}
        return f"{self._laws_before[-1].words}における{rest}" if common else ""

    # What points back

    def _back(self, rest: str, words: list[Word], topics: list[Word]) -> re.Match[str] | None:
        """The first word that points back to what this question does not say."""
        for found in _BACK.finditer(rest):
            inside = any(word.start < found.end() and found.start() < word.end for word in words)
            if not inside and not any(word.end <= found.start() for word in topics):
                return found
        return None

    def _with_topic(self, rest: str, back: re.Match[str] | None, *, joined: bool = True) -> str:
        """The question with the topic of the one before, `joined` by の where that can be said."""
        particle = _WITH_PARTICLE.match(rest)
        topic = topic_of(self._before, asked=particle is not None)
        if not topic:
            return ""
        rest = _without_law(rest, topic, self._laws_before)
        clause = _CLAUSE.search(topic) is not None
        if back is not None and back.start() == 0:
            if particle and not clause:
                return self._told(f"{topic}{particle['particle']}{rest[particle.end() :]}")
            if back[0] in ("その", "この", "当該", "上記", "前記"):
                rest = rest[back.end() :].removeprefix("の")
                if not clause and re.match("場合|とき|際", rest):
                    return self._told(f"{topic}の{rest}")
        if joined and not clause and _NOUN.match(rest) and not _INTERROGATIVE.match(rest):
            return self._told(_joined(topic, rest))
        if clause and ("について、" in topic or ends_in_a_verb(topic)):
            # 国籍を選びたい。手続は: a sentence is no topic; the two read one after the other.
            before = _SENTENCE_END.sub("", self._before)
            asks = _ASKS.search(self._before) or _INTERROGATIVE.search(self._before)
            return self._told(f"{before}{'？' if asks else '。'}{rest}")
        if particle and back is not None and back.start() == 0 and particle["particle"] == "は":
            rest = rest[particle.end() :]
        return self._told(f"{topic}について、{rest}")

    def _told(self, text: str) -> str:
        """The text with the law of the question before, where it names none."""
        if not self._laws_before or laws_named(text, self._names):
            return text
        return f"{self._laws_before[-1].words}における{text}"

    # Another case

    def _case(
        self, rest: str, laws: Sequence[LawNamed], topics: list[Word], words: list[Word]
    ) -> str:
        """The question before, put to another case or law: 法人の場合は, 民法では."""
        allowed = _ALLOWED.search(rest)
        found = _CASE.fullmatch(rest, 0, allowed.start() if allowed else len(rest))
        if found is None or not (found["mark"] or found["topic"]):
            return ""
        case, mark = found["case"], found["mark"] or ""
        if allowed and mark != "の":
            return ""
        if laws:
            whole = len(laws) == 1 and laws[0].start == 0 and laws[0].end == len(case)
            return self._of_law(laws[0]) if whole else ""
        of_any_matter = not topics and not names_an_agent(case)
        of_a_verb = mark == "の" or mark.startswith((*_OF_A_VERB, "たら", "だら"))
        certain = of_a_verb or mark.startswith(_CERTAIN) or (self._opened and mark != "")
        # 65歳の人の場合: figures tell the case, and 費用も asks for something else.
        told = [word for word in words if word.end <= found.end("case")]
        asks = any(word.kind is WordRole.ASKED for word in told) and not certain
        # 民泊の届出は tells no case: the filing is what is asked for.
        last = told[-1] if told else None
        files = not mark and last is not None and last.kind is WordRole.SAID and "の" in case
        if of_any_matter or asks or (files and not names_an_agent(case)):
            return ""
        if _CLAUSE_OF_CASE.search(case):
            other = ""
        else:
            other = _parallel(case, self._before, self._laws_before)
        certain = certain or found["topic"] in ("も", "でも")
        if not (other or certain or self._opened or names_an_agent(case)):
            return ""
        if other:
            return self._before.replace(other, case)
        if not of_a_verb:
            mark = "の場合"
        elif mark == "の":
            mark = "場合"
        return f"{case}{mark}、{_LEADING_CASE.sub('', self._before)}"

    def _says_too_little(self, rest: str, words: list[Word], topics: list[Word]) -> bool:
        """Whether a topic is there, but what it belongs to, or who did what, is left unsaid."""
        asks = any(word.kind is WordRole.ASKED for word in words)
        if topics and not asks and _ONE_THING.fullmatch(rest):
            return True
        if (untold := _UNTOLD.match(rest)) is None:
            return False
        # 辞めたら失業保険は is whole: not every verb is said of any matter.
        condition = [word.kind for word in words if word.start < untold.end()]
        return WordRole.SAID in condition and WordRole.TOPIC not in condition

    def _of_law(self, law: LawNamed) -> str:
        if not self._laws_before:
            return f"{law.words}で、{self._before}"
        other = self._laws_before[-1]
        return self._before[: other.start] + law.words + self._before[other.end :]


def topic_of(question: str, *, asked: bool = False) -> str:
    """What a question is about, in its own words.

    Args:
        question: standing by itself.
        asked: with what it asks of that, where it is named: 取締役の任期, not 取締役.
    """
    sentences = [sentence for sentence in _SENTENCES.split(question) if _has_topic(sentence)]
    question = sentences[-1] if sentences else question
    asks = _INTERROGATIVE.search(question)
    part = question
    if asks is not None:
        ahead, behind = question[: asks.start()], question[asks.end() :]
        part = ahead if _has_topic(ahead) else behind
    words = words_of(part)
    carried = [word for word in words if word.kind is WordRole.TOPIC] or [
        word for word in words if word.kind is WordRole.SAID
    ]
    if not carried:
        return ""
    last = carried[-1]
    end = next(
        (word.start for word in words if word.start >= last.end and _ends_a_noun(word, words)),
        len(part),
    )
    if asked and asks is not None:
        end = len(part)
    elif end < len(part) and _RELATIVE.search(part, 0, end):
        # 働かせてよい時間 is one thing, and 働かせてよい none.
        end = next(word.end for word in words if word.start == end)
    topic = _OF_ANOTHER.sub(r"\1", part[:end].lstrip("のがをはに、 "))
    while (shorter := _TAIL.sub("", topic)) != topic and len(shorter) >= last.end - last.start:
        topic = shorter
    if asks is None and _SENTENCE.search(topic) and (whether := _WHETHER.search(question)):
        return question[: whether.end()]
    return _SUBJECT.sub("の", _OBJECT.sub(r"の\g<verb>", topic))


def _ends_a_noun(word: Word, words: list[Word]) -> bool:
    """Whether its noun goes on with nothing but what is asked: 期限, but not 事項 of 事項説明."""
    end = word.end
    for other in words[words.index(word) :]:
        if other.start > end:
            break
        if other.kind is not WordRole.ASKED:
            return False
        end = other.end
    return True


def _has_topic(text: str) -> bool:
    return any(word.kind is WordRole.TOPIC for word in words_of(text))


def _without_law(rest: str, topic: str, laws: Sequence[LawNamed]) -> str:
    """会社法の罰則は as 罰則は, where the topic names the law."""
    law = next((law.words for law in laws if law.words in topic and rest.startswith(law.words)), "")
    return _OF_LAW.sub("", rest[len(law) :]) if law else rest


def _joined(topic: str, rest: str) -> str:
    """大量保有報告書の提出 and 提出期限は as 大量保有報告書の提出期限は."""
    first = next(iter(words_of(rest)), None)
    word = rest[: first.end] if first is not None and first.start == 0 else ""
    if word and topic.endswith(f"の{word}"):
        topic = topic.removesuffix(f"の{word}")
    return f"{topic}の{rest}"


def _provision_of(text: str, laws: Sequence[LawNamed]) -> _Provision:
    """The provision that a text names last, with its law where it is told."""
    article = paragraph = ""
    for cited in find_citations(text):
        law = next((law.words for law in reversed(laws) if law.end <= cited.end), "")
        words = cited.text.removeprefix(cited.law.text)
        if cited.locator.article and "条" in words:
            cut = re.match("[^条]*条(?:の[〇一二三四五六七八九十百0-9０-９]+)*", words)
            article = law + (cut[0] if cut else words)
            paragraph = ""
            words = words.removeprefix(cut[0] if cut else "")
        if article and cited.locator.paragraph and "項" in words:
            paragraph = article + words[: words.index("項") + 1]
    return _Provision(article, paragraph or article)


def _theme(text: str, topics: list[Word]) -> set[str]:
    """The words of the noun that a question begins with; of a person or a body none."""
    noun: list[Word] = []
    for word in topics:
        if noun and word.start > noun[-1].end:
            break
        noun.append(word)
    if not noun or names_an_agent(text[: noun[-1].end]):
        return set()
    words = {text[word.start : word.end] for word in noun}
    return {word for word in words if not names_an_agent(word)}


def _asks(rest: str, words: list[Word]) -> bool:
    """Whether something is asked where nothing is named that it is asked of."""
    if any(word.kind is WordRole.TOPIC for word in words):
        return _INTERROGATIVE.search(rest) is not None or _ASKS.search(rest) is not None
    return bool(words) or _INTERROGATIVE.search(rest) is not None


def _asks_of_a_case(rest: str, topics: list[Word], words: list[Word]) -> bool:
    """Whether nothing but a case is told, and something asked of it.

    訪問販売では何日以内か; いきなり裁判ではだめか; 広告主でない者も対象か; 退職者は含まれるか.
    """
    every = [word for word in words if word.kind is WordRole.TOPIC]
    case = _ALSO.match(rest) or _OF_A_CASE.match(rest)
    if case is None and (agent := _AGENT.match(rest)) and names_an_agent(agent[1]):
        # 医者は断れるか is whole: what an agent does is matter too.
        case, topics = agent, every
    elif case is None and (when := _WHEN.match(rest)):
        case, topics = when, every
    return case is not None and all(word.end <= case.end() for word in topics)


def _lacking(cited: ProvisionCitation, law: str, place: _Provision) -> str:
    """What stands before a citation of the question before, where it begins in the middle."""
    if word := cited.article_word or cited.paragraph_word or cited.item_word:
        of = place.article if cited.article_word else place.paragraph
        return f"{of}の" if of and word[0] in "前次" else ""
    if cited.locator.article or cited.locator.division:
        return law
    return place.article if cited.locator.paragraph else place.paragraph


def _cited_before(text: str, position: int) -> bool:
    return any(cited.end <= position for cited in find_citations(text))


def _parallel(case: str, before: str, laws: Sequence[LawNamed]) -> str:
    """The word before that a new one stands for: 監査役 for 取締役, as both end alike."""
    runs = _RUN.findall(case)
    if not runs or len(runs[-1]) < 2:
        return ""
    shared = tuple(runs[-1][at : at + 2] for at in range(len(runs[-1]) - 1))
    for found in _RUN.finditer(before):
        word = found[0]
        if any(law.start <= found.start() < law.end for law in laws) or word in ("場合", case):
            continue
        if len(word) > 1 and (word[-1] == runs[-1][-1] or word.endswith(shared)):
            return word
    return ""

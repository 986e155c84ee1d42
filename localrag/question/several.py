"""Several questions asked at once (解雇予告は何日前か。また、解雇が禁止される期間は。).

Searched for as one they hide each other: what has most words of all of them is found, and one of
them stays without an answer. What is told before them belongs to each (家賃を滞納している。…). A
further one says that it is one (また), has a word to ask with or ends in its theme (敷金は); what
has none of these (延ばされることもある), or no matter of its own (どうすればいいか), belongs to the
one before. What has only a theme that is said of any matter (時効は何年か), or puts another case
(公務員の場合は), is read as the question that follows the one before.
"""

import re

from localrag.question._matter import WordRole, words_of
from localrag.question.follow_up import rewritten
from localrag.statutes.names import LawNames

# A longer text tells a case or quotes a provision.
_LONGEST = 300
_SENTENCE = re.compile(r"[^。．?？!！\n]+[。．?？!！\n]*")
_JAPANESE = re.compile("[ぁ-ゖァ-ヺ一-鿿]")
_ASKS = re.compile(
    r"(?:[?？]|(?:か|かな|かしら)[。．\s]*$|(?:は|って|とは)[。．\s]*$"
    r"|(?:教えて|おしえて)[ぁ-ん]*[。．\s]*$)"
)
_JOINS = re.compile(
    "^(?:また|あと|それと|それから|さらに|加えて|ちなみに|次に|そして|なお|もう(?:一つ|ひとつ))(?:は)?、?"
)
# どうか alone puts another case to the same question.
_ASKS_WITH = re.compile("何|なに|なん[でのかと]|いつ|いくら|いくつ|誰|だれ|ど[このれん]")
_THEME = re.compile("^[一-鿿ァ-ヶー]{2,}(?:は|って)")
_ENDS_IN_ITS_THEME = re.compile(r"(?:は|って)[?？。．\s]*$")
_ANOTHER_CASE = re.compile(r"(?:場合|とき|時|ケース)(?:は|って)[?？。．\s]*$")
_POINTS_BACK = re.compile("^(?:その|それ|これ|この|そう|では|じゃあ|もし)")


def questions_in(text: str, names: LawNames) -> tuple[str, ...]:
    """The questions that a text asks one after the other, each with what is told before it.

    Args:
        text: as asked.
        names: the laws of the corpus.

    Returns:
        Two and more; none where it asks one, or points back to what it asked.
    """
    if len(text) > _LONGEST or not _JAPANESE.search(text):
        return ()
    told = ""
    asked: list[str] = []
    for sentence in _SENTENCE.findall(text):
        plain, joined = _JOINS.subn("", sentence.strip())
        if not _ASKS.search(plain):
            told += sentence
        elif asked and (followed := _followed(plain, asked[-1], names)):
            asked.append(followed)
        elif asked and not (_is_its_own(plain) and (joined or _asks_by_itself(plain))):
            asked[-1] += sentence
        else:
            asked.append(told + plain)
    return tuple(asked) if len(asked) > 1 and _ASKS.search(text.strip()) else ()


def _followed(sentence: str, before: str, names: LawNames) -> str:
    """A question with what it lacks of the one before; empty where it is no such question."""
    has_topic = any(word.kind is WordRole.TOPIC for word in words_of(sentence))
    leans = _ANOTHER_CASE.search(sentence) or (_THEME.match(sentence) and not has_topic)
    if not leans or _POINTS_BACK.match(sentence):
        return ""
    read = rewritten(sentence, [before], names)
    return read.text if read.changed else ""


def _asks_by_itself(sentence: str) -> bool:
    return any(asks.search(sentence) for asks in (_ASKS_WITH, _ENDS_IN_ITS_THEME))


def _is_its_own(sentence: str) -> bool:
    has_matter = any(word.kind is WordRole.TOPIC for word in words_of(sentence))
    return has_matter and not _POINTS_BACK.match(sentence)

"""How an English question leans on the one before it, and what it then says."""

import re

from localrag.question._japanese import topic_of as japanese_topic
from localrag.question._matter import Word, WordRole, words_of

_OPENING = re.compile(r"(?:and|but|so|then|also|ok(?:ay)?|now)\b[,\s]*", re.IGNORECASE)
_MORE = re.compile(
    r"(?:please\s+)?(?:(?:can|could)\s+you\s+)?(?:please\s+)?"
    r"(?:(?:tell|give)\s+me\s+)?(?:(?:some\s+)?more(?:\s+details?|\s+about\s+(?:it|that|this))?"
    r"|(?:in\s+)?(?:more\s+)?details?|elaborate|explain(?:\s+(?:it|that|this))?(?:\s+(?:further|more|again))?"
    r"|go\s+on|continue|for\s+example|such\s+as|again)(?:\s+in\s+(?:more\s+)?detail)?(?:\s*,?\s*please)?\W*",
    re.IGNORECASE,
)
_CASE = re.compile(
    r"(?:(?:what|how)\s+about|(?P<if>what\s+if|if)|(?:is\s+it\s+|does\s+(?:it|that|this)\s+apply\s+)?"
    r"(?:the\s+same\s+)?(?:for|to|under|in\s+the\s+case\s+of))\s+(?P<case>[^?.!]{1,80}?)\s*[?.!]*",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|her|hers|that|this|those|these|such|one|there)\b(?!['’])",
    re.IGNORECASE,
)
# It is said of nothing: it is possible to …, how long does it take to …
_DUMMY = re.compile(
    r"\b(?:it)\s+(?:(?:\w+\s+){1,3}(?:to|that|if|for)\b)|\b(?:is|does|will|can)\s+it\s+(?:\w+\s+){0,2}(?:to|that)\b"
    r"|\b(?:is|are|was|were)\s+there\b|\bthere\s+(?:is|are|was|were)\b|\bthat\s+\w+s?\s+(?:is|are|was|the|a)\b",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"(?:(?:who|whom|whose|what|when|where|which|why|how(?:\s+(?:long|many|much|often|far|soon))?)\b\s*)?"
    r"(?:(?:is|are|was|were|do|does|did|must|can|could|may|shall|should|will|would|has|have|had)\b\s*)?"
    r"(?:there\b\s*)?",
    re.IGNORECASE,
)
_OF = re.compile(
    r"\s*\b(?:for|of|on|in|to|under|about|against|if|when|regarding|concerning)\b\s*",
    re.IGNORECASE,
)
_ENGLISH_LAW = re.compile(
    r"(?:\b(?:(?!The\b)[A-Z][\w'’&-]*\s+(?:(?:and|of|on|for|the)\s+)*)+"
    r"(?:Act|Code|Law|Order|Ordinance|Constitution)\b)"
    r"|\b[A-Z]{3,8}\b"
)
_LAW_BACK = re.compile(
    r"\b(?:that|the\s+same|this|the\s+said)\s+(?:act|law|code|order)\b", re.IGNORECASE
)
_BEFORE_VERB = re.compile(
    r"\b(?:who|what|which|i|you|we|one|someone|anyone|everyone|he|she|they|to|not)\s+$",
    re.IGNORECASE,
)
_PARTICIPLE = re.compile(r"(?<=\w)\s+(?:be\s+)?\w+(?:ed|en)$")
_PLACE = re.compile(r"\b(?P<level>article|section|paragraph|item)\s+\d+(?:[-_]\d+)*", re.IGNORECASE)
_END = re.compile(r"[\s?.!。？]+$")
_JAPANESE = re.compile("[\u3041-\u30ff\u3400-\u9fff]")
_INTERROGATIVE = re.compile(
    r"\b(?:who|whom|whose|what|when|where|which|why|how|until)\b", re.IGNORECASE
)


def read_after(question: str, before: str) -> str:
    """Return the question with what it lacks; empty where it lacks nothing that can be told.

    Args:
        question: one line, not empty.
        before: the question it may lean on, standing by itself.
    """
    opening = _OPENING.match(question)
    rest = question[opening.end() :] if opening else question
    if _MORE.fullmatch(rest):
        return before
    laws = [found[0] for found in _ENGLISH_LAW.finditer(before)]
    if laws and (named := _LAW_BACK.sub(laws[-1], rest)) != rest:
        rest = named
        if _topics(rest.replace(laws[-1], "")):
            return rest
    return _case(rest, before, laws) or _with_topic(rest, before, laws)


def topic_of(question: str) -> str:
    """What a question is about, in its own words, without what it asks of that."""
    asking = _ASKING.match(question)
    topic = _END.sub("", question[asking.end() :] if asking else question)
    words = words_of(topic)
    for asked in words:
        if asked.kind is not WordRole.ASKED or not topic[asked.start].isalpha():
            continue
        link = _OF.search(topic, asked.end)
        between = link and [word for word in words if asked.end <= word.start < link.start()]
        if link and not between and _topics(topic[link.end() :]):
            # What is the penalty for insider trading: for insider trading.
            return topic[link.end() :]
    return _PARTICIPLE.sub("", topic) if words else ""


def _case(rest: str, before: str, laws: list[str]) -> str:
    """The question before, put to another case or law: what about companies."""
    found = _CASE.fullmatch(rest)
    if found is None:
        return ""
    case = found["case"].removeprefix("the ")
    if _PLACE.match(case) or not _topics(case):
        return ""
    if laws and _ENGLISH_LAW.fullmatch(case):
        return before.replace(laws[-1], case)
    link = "if" if found["if"] else "in the case of"
    return f"{_END.sub('', before)} {link} {found['case']}?"


def _with_topic(rest: str, before: str, laws: list[str]) -> str:
    """The question with the topic, the law and the provision of the one before."""
    words = words_of(rest)
    topics = [word for word in words if word.kind is WordRole.TOPIC and not _PLACE.match(rest)]
    dummies = [found.span() for found in _DUMMY.finditer(rest)]
    back = next(
        (
            found
            for found in _BACK.finditer(rest)
            if not any(start <= found.start() < end for start, end in dummies)
            and not any(word.end <= found.start() for word in topics if not _is_verb(rest, word))
        ),
        None,
    )
    asks = bool(words) or _INTERROGATIVE.search(rest) is not None
    if (back is None and topics) or not asks:
        return ""
    if _JAPANESE.search(before):
        topic = japanese_topic(before)
    else:
        topic = topic_of(before)
        places = [found[0] for found in _PLACE.finditer(before)][-1:]
        topic = ", ".join(filter(None, (topic, *(n for n in places + laws[-1:] if n not in topic))))
    return f"Regarding {topic}: {rest}" if topic else ""


def _is_verb(text: str, word: Word) -> bool:
    """Whether a word before it makes it a verb: who enforces it, how do I contest it."""
    return _BEFORE_VERB.search(text, 0, word.start) is not None


def _topics(text: str) -> bool:
    return any(word.kind is WordRole.TOPIC for word in words_of(text))

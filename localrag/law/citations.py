"""Finds citations of provisions in any spelling: 第二十七条の三十六第一項第二号イ.

`localrag.law.resolver` resolves 同条 and 法. A title without a usual ending (皇室典範) is
recognised by the law number behind it, or from the corpus.
"""

import re
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from localrag.corpus.types import Locator
from localrag.law.names import LawNames
from localrag.law.notation import (
    AND,
    BEFORE_BARE_NUMBER,
    BLANK,
    CHAIN,
    COUNT,
    DEEPER,
    START,
    SUBITEM,
    TO,
    Chain,
    numbers_another,
    read_chain,
    read_number,
    read_subitem,
)
from localrag.law.provisions import bracket_before
from localrag_indexes.analysis.normalize import PlainText


class LawKind(StrEnum):
    """How a citation names its law."""

    NONE = ""
    NAMED = "named"
    THIS = "this"
    PARENT = "law"
    DECREE = "decree"
    RULE = "rule"
    SAME = "same"
    TABLE = "table"


class LawPart(NamedTuple):
    """The law of a citation, as written.

    Attributes:
        text: the name or word ("金融商品取引法", "法", "同法"), or "".
        kind: ``law`` is 法, ``decree`` 令, ``rule`` 規則, 府令 or 省令, each alone; ``same`` 同法,
            同令 …; ``this`` この法律, この政令 …; ``table`` 同表, 下欄 …, whose items are no
            provisions; ``named`` any other.
        start, end: its span. Spelling does not show where a long name begins: `start` is a guess,
            `end` is exact.
        number: the law number in brackets behind the name, as written.
    """

    text: str = ""
    kind: LawKind = LawKind.NONE
    start: int = 0
    end: int = 0
    number: str = ""


NO_LAW = LawPart()

_LONGEST_NAME = 120
_LONGEST_BRACKETS = 300
_ENDINGS = "法律令則憲典程例約款件規定制"
_WORD = re.compile(r"[一-鿿々ァ-ヶー・]+")
NUMBERED_WORD = re.compile("(?:[条項号](?:証|事件|議案|判決|決定|命令|通達|告示)?)?")
"""Allowed between digits and the name of a law, and not part of it."""
_PROVISIONS = re.compile(
    r".*(?:[条項号章節款編則表]中|第[〇一二三四五六七八九十百千]+[章節款編条項号])"
)
_LONG_NAME = re.compile(
    r"(?:関する|ための|関スル|[るたの])"
    r"(?:法律|(?:特別|臨時)?(?:措置|特例)法|政令|内閣府令|[一-鿿]*省令|規則|命令|件)"
    r"(?:施行令|施行規則|施行細則)?$"
)
# 大学設置基準（昭和三十一年文部省令第二十八号。以下「基準」という。）
_AFTER_NUMBER = "）)。、以"
_LONG_TITLE = re.compile("(?:関する|ための|関スル)[一-鿿々ァ-ヶー・]+$")
_AMENDED = re.compile(r".*[条項号編章節款表則]中(?P<name>[^。「」（）()\n\t　]*)$", re.DOTALL)
_CONJUNCTION = re.compile("、?(?:又は|及び|若しくは|並びに)?")
_CLAUSE = re.compile(
    r".*(?:[。「」『』（）()\n\t　]|[はがをもてで]、|、(?:又は|及び|若しくは|並びに)"
    r"|(?:において|について|により|規定による|定めによる|場合における|から(?!の)|(?<!我)が|規定する|掲げる|定める|準用する|うち|改正[前後]の|中(?=[一-鿿])(?!中小|中央|中心))、?)",
    re.DOTALL,
)
_KINDS_OF_LAW = "法|法律|令|政令|規則|府令|省令|施行令|施行規則|条例|条約"
_KINDS = {
    "法": LawKind.PARENT,
    "令": LawKind.DECREE,
    **dict.fromkeys(("規則", "府令", "省令", "内閣府令"), LawKind.RULE),
    **dict.fromkeys((f"同{kind}" for kind in _KINDS_OF_LAW.split("|")), LawKind.SAME),
    **dict.fromkeys(("本法", "当法", "本令", "本規則"), LawKind.THIS),
}
_THIS = frozenset(("法律", "政令", "府令", "省令", "規則", "命令", "法"))
_LAW_NUMBER = re.compile(
    r"(?:明治|大正|昭和|平成|令和)[^（）「」。]{1,6}年[^（）「」。]{1,30}第[^（）「」。、]{1,12}号"
)


# 昭和二十八年法律第百五十五号附則第十三条, 規則八―一二（職員の任免）第四条
_NUMBERED = re.compile(
    r"(?:(?:明治|大正|昭和|平成|令和)[〇一二三四五六七八九十元]{1,4}年)?[一-鿿]{0,12}"
    r"(?:法律|[政勅閣省府]令|規則|告示)第[〇一二三四五六七八九十百千]{1,7}号$"
    r"|(?:人事院)?規則[〇一二三四五六七八九十]{1,4}[―－][〇一二三四五六七八九十]{1,4}$"
)
# Last characters of such a number.
_NUMBER_ENDS = frozenset("号〇一二三四五六七八九十")
_LONGEST_NUMBER = 40
# 会社法第五条、第七編第二章及び第九百条; 民法第一編第百三条
_HEADING_NUMBER = "[〇一二三四五六七八九十百0-9０-９]+"
HEADING = rf"(?:第{_HEADING_NUMBER}[編章節款目](?:の{_HEADING_NUMBER})*[ 　]?)+"
"""The part of a law that may precede the article in a citation."""
_HEADING_BEFORE = re.compile(rf"{HEADING}$")
_LONGEST_HEADING = 60
_TABLE = re.compile(r"[表欄](?:の|に掲げる|に規定する|中)?$")


def table_before(text: str, position: int) -> LawPart:
    """The table of the item at `position`: 同表第三号, 下欄に掲げる第一号."""
    found = _TABLE.search(text, max(0, position - 6), position)
    if found is None:
        return NO_LAW
    return LawPart(found[0], LawKind.TABLE, found.start(), position)


def law_part_before(text: str, position: int, floor: int, names: LawNames | None = None) -> LawPart:
    """The law written right before `position`, not before `floor`.

    Args:
        text: of a law, or a question, in plain characters.
        position: start of a citation.
        floor: earliest start of the law.
        names: whose titles count, however they end.
    """
    end = _before_blanks(text, position, floor)
    if heading := _HEADING_BEFORE.search(text, max(floor, end - _LONGEST_HEADING), end):
        end = _before_blanks(text, heading.start(), floor)
    if end <= floor:
        return NO_LAW
    number, told = "", False
    last = text[end - 1]
    if last in "）)":
        opening = bracket_before(text, end, max(floor, end - _LONGEST_BRACKETS))
        if opening is None or opening <= floor:
            return NO_LAW
        if found := _LAW_NUMBER.search(text, opening, end):
            number = found[0]
            told = found.start() == opening + 1 and text[found.end()] in _AFTER_NUMBER
        end = _before_blanks(text, opening, floor)
        last = text[end - 1]
    if last in "」』":
        end -= 1
        last = text[end - 1] if end > floor else ""
    if last in _NUMBER_ENDS and (
        numbered := _NUMBERED.search(text, max(floor, end - _LONGEST_NUMBER), end)
    ):
        name = numbered[0]
        return LawPart(name, LawKind.NAMED, numbered.start(), end, number or name)
    if last and last in _ENDINGS:
        return _named(text, end, max(floor, end - _LONGEST_NAME), number)
    if names and (title := names.title_ending_at(text, end)) and title.start >= floor:
        return LawPart(text[title.start : end], LawKind.NAMED, title.start, end, number)
    return _told(text, end, max(floor, end - _LONGEST_NAME), number) if told else NO_LAW


def _before_blanks(text: str, end: int, floor: int) -> int:
    while end > floor and text[end - 1] in " 　\u00a0":
        end -= 1
    return end


def _told(text: str, end: int, floor: int, number: str) -> LawPart:
    """A title without a usual ending, recognised by its number: 大学設置基準（昭和…号）."""
    before = text[floor:end]
    word = _WORD.match(before[::-1])
    if word is None or _LONG_TITLE.search(before):
        start = floor + _name_start(before)
    else:
        start = end - word.end()
    return LawPart(text[start:end], LawKind.NAMED, start, end, number) if start < end else NO_LAW


def _named(text: str, end: int, floor: int, number: str) -> LawPart:
    before = text[floor:end]
    word = _WORD.match(before[::-1])
    if word is None:
        return NO_LAW
    name = before[len(before) - word.end() :]
    if cut := _PROVISIONS.match(name):
        name = name[cut.end() :]
    if text[end - len(name) - 1 : end - len(name)].isdecimal():
        # 令和5年（受）第709号民法: digits end a word, and 号 belongs to them.
        behind = NUMBERED_WORD.match(name)
        name = name[behind.end() :] if behind else name
    if end - len(name) == floor:
        # After a provision: 第三条中民法第五条.
        name = name.removeprefix("中")
    if not name:
        return NO_LAW
    start = end - len(name)
    if name in _THIS and text.startswith("この", start - 2):
        return LawPart("この" + name, LawKind.THIS, start - 2, end, number)
    if (kind := _KINDS.get(name)) and not before.endswith(("関する" + name, "ための" + name)):
        return LawPart(name, kind, start, end, number)
    if name[-1] not in "法律令則憲典" and not number:
        return NO_LAW
    if _LONG_NAME.search(before):
        start = floor + _name_start(before)
    return LawPart(text[start:end], LawKind.NAMED, start, end, number)


def _name_start(before: str) -> int:
    """Guess the start of a long name ending here."""
    # 第二条中民間資金等の活用による公共施設等の整備等の促進に関する法律
    amended = _AMENDED.match(before)
    if amended and not _PROVISIONS.match(amended["name"]):
        return amended.start("name")
    clause = _CLAUSE.match(before)
    start = clause.end() if clause else 0
    joined = _CONJUNCTION.match(before, start)
    return joined.end() if joined else start


_AND = rf"(?:{AND}|[及又並、，,・とや])"
_QUALIFIER = r"(?:各号列記以外の部分|柱書き?|本文|ただし書|但書|前段|後段|の規定)"
# 民法第百三条から同第百五条まで, 民法第一編第百三条及び第三編第七百九条
_OF_THE_SAME = rf"同?(?:{HEADING})?"
_OF_THE_SAME_BEFORE = re.compile(rf"(?:(?:(?<![一-鿿])|(?<=[及又並]))同(?:{HEADING})?|{HEADING})$")
_JOINED = re.compile(
    rf"(?:{_QUALIFIER}(?:{_AND}{_QUALIFIER})*)?(?:まで|迄)?(?:の規定)?[ 　]?"
    rf"{_AND}{{1,2}}[ 　]?(?:{HEADING}{_AND}{{1,2}})*{_OF_THE_SAME}"
)
_TO = re.compile(rf"{_QUALIFIER}?[ 　]?[、，]?{TO}[、，]?[ 　]?{_OF_THE_SAME}")
_UNTIL = re.compile("まで|迄")
_BRACKETS = re.compile(r"[（）()]")
_MORE_SUBITEMS = re.compile(rf"({TO}|{_AND})(?:({SUBITEM})|({DEEPER}))")
_IS_RANGE = re.compile(TO)
_ASIDE_FOLLOWS = re.compile(rf"{_QUALIFIER}?")
# 第四十五条（第三号及び第四号を除く。）
_PART_OF_OUTER = re.compile(
    r"(?:[第〇一二三四五六七八九十百千0-9０-９条項号のイ-ヲ及び又は若しくは並びに、からまで各列記以外本文ただし書前後段]"
    r"|（[^（）\n]{0,100}）){0,120}"
    r"(?:の[^。（）、\n]{1,20}に係る部分|に係る|(?:の場合)?(?:を除[くきい]|に限る)|にあ[つっ]ては)"
)
_LONGEST_JOIN = 40
_COUNTED = re.compile(rf"第{BLANK}(?P<number>{COUNT}){BLANK}(?:[条條](?![例約理件])|項(?!目))")
# Levels above an item.
_OF_ITEM = 2


class ProvisionCitation(NamedTuple):
    """A cited provision or range.

    Attributes:
        start, end: span in the text, with the law right before it.
        text: the words written.
        law: the law part; members of a list share the first one's.
        locator: the numbers as written or inherited in a list. Two divisions are not placed yet:
            ``suppl`` for any 附則, and the label of an appendix ("別表第二"). No paragraph is
            added.
        last: the last provision of a range (第五条から第七条まで), or None.
        article_word, paragraph_word, item_word: relative words (同条, 前二条, 次項, 前各号, 各号
            …),
            inherited like numbers.
        last_word: the relative word at the end of a range (第三条から前条まで).
        continues: index of the citation whose list it continues, or -1.
    """

    start: int
    end: int
    text: str
    law: LawPart
    locator: Locator
    last: Locator | None = None
    article_word: str = ""
    paragraph_word: str = ""
    item_word: str = ""
    last_word: str = ""
    continues: int = -1

    @property
    def words(self) -> tuple[str, ...]:
        """Its relative words: 前条, 同項."""
        return tuple(filter(None, (self.article_word, self.paragraph_word, self.item_word)))


def find_citations(text: str, names: LawNames | None = None) -> list[ProvisionCitation]:
    """All citations of provisions in a text, in order; never fails, linear time.

    Args:
        text: of a law, or a question.
        names: whose titles count, however they end.
    """
    plain = PlainText(text)
    found = _found_in(plain.text, names)
    return found if plain.is_as_written else [_as_written(one, plain) for one in found]


def unread_numbers(text: str) -> list[tuple[int, int]]:
    """Spans of articles and paragraphs with an invalid number: 第七百〇九九条, 第十百項.

    `find_citations` leaves them out.
    """
    plain = PlainText(text)
    found = []
    for counted in _COUNTED.finditer(plain.text):
        try:
            read_number(counted["number"])
        except ValueError:
            found.append(plain.span(*counted.span()))
    return found


def _as_written(cited: ProvisionCitation, plain: PlainText) -> ProvisionCitation:
    """A citation with its span and words in the original text."""
    start, end = plain.span(cited.start, cited.end)
    law = cited.law
    if law is not NO_LAW:
        begin, until = plain.span(law.start, law.end)
        law = law._replace(start=begin, end=until)
    return cited._replace(start=start, end=end, text=plain.original[start:end], law=law)


def _found_in(text: str, names: LawNames | None) -> list[ProvisionCitation]:
    scan = _Scan(text, names)
    position = 0
    while (start := START.search(text, position)) is not None:
        at = start.start()
        match = CHAIN.match(text, at + (text[at] in BEFORE_BARE_NUMBER))
        chain = match and read_chain(*match.groups())
        if match and chain:
            scan.take(chain, match.start(), match.end())
            position = match.end()
        elif match and match[3]:
            # An unreadable article has no continuation.
            position = match.end()
        else:
            position = at + 1
    return scan.found


class _Frame:
    """Context of citations inside one pair of brackets, and the text since the last one."""

    __slots__ = ("chain", "end", "gap", "index", "outer")

    def __init__(self, end: int, outer: "_Frame | None" = None) -> None:
        self.chain: Chain | None = None
        self.index = -1
        self.end = end
        """Where the citation ends, or without one where the brackets open."""
        self.gap = ""
        self.outer = outer
        """The frame around, where the bracket opens right after its citation."""

    def cite(self, chain: Chain, end: int) -> None:
        """Record a citation."""
        self.chain, self.end, self.gap = chain, end, ""

    def pass_over(self, text: str) -> None:
        """Record text; only the start of a long gap is kept, since it joins nothing."""
        if len(self.gap) <= _LONGEST_JOIN:
            self.gap += text


class _Scan:
    """One pass over a text, with a frame for each open bracket."""

    def __init__(self, text: str, names: LawNames | None) -> None:
        self.found: list[ProvisionCitation] = []
        self._text = text
        self._names = names
        self._end = 0
        self._frames = [_Frame(0)]

    def take(self, chain: Chain, start: int, end: int) -> None:
        """Record the chain at a span."""
        frame = self._frame_at(start)
        if chain.depth == _OF_ITEM and numbers_another(self._text, start):
            return
        first = frame.chain
        continued = None
        if first is None:
            continued = self._part_of_outer(frame, chain, end)
        elif not frame.gap and chain.depth > first.lowest:
            self._go_on(frame, chain.inside(first), end)
            return
        else:
            ranged = _TO.fullmatch(frame.gap) is not None
            if ranged or _JOINED.fullmatch(frame.gap):
                continued = chain.after(first)
                if chain.depth == 0 and "の規定" in frame.gap:
                    # 民法第五条の規定及び第七条の規定: the second one no longer belongs to the law
                    # named.
                    continued = None
                if continued is not None and ranged and self._range(frame, continued, end):
                    return
        if continued is None and chain.depth and self._text[start].isdigit():
            if not (first and self._goes_on_in_sentence(frame, first, chain, end)):
                return
            continued = chain.after(first)
        law = self.found[frame.index].law if continued is not None else NO_LAW
        begins = self._begins(frame, start)
        if continued is None and chain.depth == _OF_ITEM:
            law = table_before(self._text, start)
        elif continued is None:
            law = law_part_before(self._text, start, frame.end, self._names)
            begins = law.start if law.text else begins
        list_index = -1 if continued is None else frame.index
        self._add(frame, continued or chain, law, begins, end, list_index)
        if chain.subitem:
            self._more_subitems(frame)

    def _goes_on_in_sentence(self, frame: _Frame, first: Chain, chain: Chain, end: int) -> bool:
        """Whether 2号 continues the last item cited: 第5条1項1号は三分の一、2号は二分の一."""
        is_beside = chain.depth == first.lowest
        return is_beside and "。" not in frame.gap and self._text.startswith("は", end)

    def _begins(self, frame: _Frame, start: int) -> int:
        """The start of a citation without a law: with 同 or a part of a law."""
        floor = max(frame.end, start - _LONGEST_HEADING)
        before = _OF_THE_SAME_BEFORE.search(self._text, floor, start)
        return before.start() if before else start

    def _part_of_outer(self, frame: _Frame, chain: Chain, end: int) -> Chain | None:
        """Read the chain as part of the provision before: 第四十五条（第三号を除く。）."""
        outer = frame.outer
        if outer is None or outer.chain is None or frame.gap:
            return None
        several = outer.chain.item_word == "各号" or self.found[outer.index].last is not None
        is_narrower = chain.depth + several > outer.chain.lowest
        if not is_narrower or _PART_OF_OUTER.match(self._text, end) is None:
            return None
        frame.index = outer.index
        return chain.inside(outer.chain)

    def _go_on(self, frame: _Frame, chain: Chain, end: int) -> None:
        """Continue a citation after an aside: 第八十五条（第一種免許）第五項."""
        cited = self.found[frame.index]
        self.found[frame.index] = cited._replace(
            end=end,
            text=self._text[cited.start : end],
            locator=_locator(chain),
            paragraph_word=chain.paragraph_word,
            item_word=chain.item_word,
        )
        frame.cite(chain, end)
        self._end = end

    def _frame_at(self, start: int) -> _Frame:
        """The innermost frame at `start`; its gap is the text since its last citation."""
        gap = self._text[self._end : start]
        if "\n" in gap:
            self._frames = [_Frame(self._end + gap.rindex("\n") + 1)]
        elif "（" in gap or "）" in gap or "(" in gap or ")" in gap:
            at = 0
            for bracket in _BRACKETS.finditer(gap):
                self._frames[-1].pass_over(gap[at : bracket.start()])
                at = bracket.end()
                if bracket[0] in "（(":
                    around = self._frames[-1]
                    opening = self._end + bracket.end()
                    follows = _ASIDE_FOLLOWS.fullmatch(around.gap) is not None
                    self._frames.append(_Frame(opening, around if follows else None))
                elif len(self._frames) > 1:
                    self._frames.pop()
            self._frames[-1].pass_over(gap[at:])
        else:
            self._frames[-1].pass_over(gap)
        frame = self._frames[-1]
        if len(frame.gap) > _LONGEST_JOIN:
            frame.chain = None
        # A rejected citation belongs to the gap before the next one.
        self._end = start
        return frame

    def _add(
        self, frame: _Frame, chain: Chain, law: LawPart, start: int, end: int, continues: int
    ) -> None:
        frame.index = len(self.found)
        frame.cite(chain, end)
        self._end = end
        self.found.append(
            ProvisionCitation(
                start,
                end,
                self._text[start:end],
                law,
                _locator(chain),
                None,
                *(chain.article_word, chain.paragraph_word, chain.item_word),
                continues=continues,
            )
        )

    def _range(self, frame: _Frame, chain: Chain, end: int) -> bool:
        """Make a range of the frame's citation and the chain after から."""
        first = self.found[frame.index]
        if first.last is not None or first.last_word:
            return False
        assert frame.chain is not None
        chain = chain.of_the_same(frame.chain)
        until = _UNTIL.match(self._text, end)
        end = until.end() if until else end
        word = chain.item_word or chain.paragraph_word or chain.article_word
        relative = word in _last_words(chain, first)
        self.found[frame.index] = first._replace(
            end=end,
            text=self._text[first.start : end],
            last=None if relative else _locator(chain),
            last_word=word if relative else "",
        )
        frame.cite(chain, end)
        self._end = end
        return True

    def _more_subitems(self, frame: _Frame) -> None:
        """Further subitems: イ又はロ, イからハまで."""
        while more := _MORE_SUBITEMS.match(self._text, self._end):
            assert frame.chain is not None
            subitem = read_subitem(more[2] or more[3])
            if more[3]:
                subitem = f"{frame.chain.subitem.rpartition('.')[0]}.{subitem}"
            chain = frame.chain._replace(subitem=subitem)
            if _IS_RANGE.fullmatch(more[1]):
                if not self._range(frame, chain, more.end()):
                    break
            else:
                law = self.found[frame.index].law
                self._add(frame, chain, law, more.end(1), more.end(), frame.index)


def _last_words(chain: Chain, first: ProvisionCitation) -> tuple[str, ...]:
    """The relative words of a range's end that differ from its start."""
    pairs = (
        (chain.item_word, first.item_word),
        (chain.paragraph_word, first.paragraph_word),
        (chain.article_word, first.article_word),
    )
    return tuple(word for word, shared in pairs if word and word != shared)


@lru_cache(maxsize=65536)
def _locator(chain: Chain) -> Locator:
    return Locator(chain.division, chain.article, chain.paragraph, chain.item, chain.subitem)

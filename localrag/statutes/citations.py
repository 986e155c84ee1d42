"""Citations of provisions as they are written, in any spelling: 第二十七条の三十六第一項第二号イ.

Purely syntactic: what 同条 or 法 stands for is the resolver's work.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from localrag.corpus.model import Locator
from localrag.statutes._grammar import (
    BEFORE_BARE_NUMBER,
    CHAIN,
    DEEPER,
    START,
    SUBITEM,
    Chain,
    read_chain,
    read_subitem,
)
from localrag.statutes._lawpart import NO_LAW, LawKind, LawPart, law_part_before, table_before

__all__ = ["LawKind", "LawPart", "ProvisionCitation", "find_citations"]

_AND = (
    r"(?:及び|又は|若しくは|並びに|および|または|もしくは|ならびに"
    r"|及ビ|又ハ|若ハ|若クハ|並ニ|[及又並、，,・と])"
)
_QUALIFIER = r"(?:各号列記以外の部分|柱書き?|本文|ただし書|但書|前段|後段|の規定)"
# 会社法第五条、第七編第二章及び第九百条
_HEADING = r"(?:第[〇一二三四五六七八九十百]+[編章節款目](?:の[一二三四五六七八九十]+)*)+"
_JOINED = re.compile(
    rf"{_QUALIFIER}?(?:まで)?(?:の規定)?[ 　]?{_AND}{{1,2}}[ 　]?(?:{_HEADING}{_AND}{{1,2}})*"
)
_TO = re.compile(rf"{_QUALIFIER}?[ 　]?(?:から|乃至|ないし|[～〜~―－—-])[ 　]?")
_UNTIL = re.compile("まで")
_BRACKETS = re.compile(r"[（）()]")
_MORE_SUBITEMS = re.compile(rf"(から|{_AND})(?:({SUBITEM})|({DEEPER}))")
_ASIDE_FOLLOWS = re.compile(rf"{_QUALIFIER}?")
# 第四十五条（第三号及び第四号を除く。）
_PART_OF_OUTER = re.compile(
    r"(?:[第〇一二三四五六七八九十百千0-9０-９条項号のイ-ヲ及び又は若しくは並びに、からまで各列記以外本文ただし書前後段]"
    r"|（[^（）\n]{0,100}）){0,120}"
    r"(?:の[^。（）、\n]{1,20}に係る部分|に係る|(?:の場合)?(?:を除[くきい]|に限る)|にあ[つっ]ては)"
)
_LONGEST_JOIN = 40


@dataclass(frozen=True, slots=True)
class ProvisionCitation:
    """One provision, or one range of provisions, as a text cites it.

    Attributes:
        start, end: span in the text, with the law part where it stands right before.
        text: what is written there.
        law: the law part; later members of a list share that of the first.
        locator: the numbers as written, with those inherited along a list. Two divisions are
            named as written, not yet placed: ``suppl`` for any 附則, and the label of an
            appendix ("別表第二"). The paragraph stays empty where none is written.
        last: the last provision of a range (第五条から第七条まで), else None.
        article_word, paragraph_word, item_word: relative words in the place of numbers
            (同条, 前二条, 次項, 前各号, 各号 …), inherited along a list like the numbers.
        last_word: the relative word that ends a range (第三条から前条まで).
        continues: index of the citation whose list it continues, -1 where it begins its own.
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


def find_citations(text: str) -> list[ProvisionCitation]:
    """All citations of provisions in a text, in order; never fails, linear in the text."""
    scan = _Scan(text)
    position = 0
    while (start := START.search(text, position)) is not None:
        at = start.start()
        match = CHAIN.match(text, at + (text[at] in BEFORE_BARE_NUMBER))
        chain = match and read_chain(*match.groups())
        if match and chain:
            scan.take(chain, match.start(), match.end())
            position = match.end()
        else:
            position = at + 1
    return scan.found


class _Frame:
    """What a citation inside one pair of brackets may continue, and the text since then."""

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
        """Enter the citation read last."""
        self.chain, self.end, self.gap = chain, end, ""

    def pass_over(self, text: str) -> None:
        """Enter what follows; of a gap too long to join anything only the beginning is kept."""
        if len(self.gap) <= _LONGEST_JOIN:
            self.gap += text


class _Scan:
    """One pass over a text, a frame for each pair of brackets that is open."""

    def __init__(self, text: str) -> None:
        self.found: list[ProvisionCitation] = []
        self._text = text
        self._end = 0
        self._frames = [_Frame(0)]

    def take(self, chain: Chain, start: int, end: int) -> None:
        """Enter the chain that stands at a span."""
        frame = self._frame_at(start)
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
                    # 民法第五条の規定及び第七条の規定: the second is no more of the law named.
                    continued = None
                if continued is not None and ranged and self._range(frame, continued, end):
                    return
        if continued is None and chain.depth and self._text[start].isdigit():
            return
        law = self.found[frame.index].law if continued is not None else NO_LAW
        if continued is None and chain.depth == 2:
            law = table_before(self._text, start)
        elif continued is None:
            law = law_part_before(self._text, start, frame.end)
            start = law.start if law.text else start
        list_index = -1 if continued is None else frame.index
        self._add(frame, continued or chain, law, start, end, list_index)
        if chain.subitem:
            self._more_subitems(frame)

    def _part_of_outer(self, frame: _Frame, chain: Chain, end: int) -> Chain | None:
        """Read the chain as a part of what its bracket follows: 第四十五条（第三号を除く。）."""
        outer = frame.outer
        if outer is None or outer.chain is None or frame.gap:
            return None
        several = outer.chain.item_word == "各号" or self.found[outer.index].last is not None
        narrower = chain.depth + several > outer.chain.lowest
        if not narrower:
            return None
        if _PART_OF_OUTER.match(self._text, end) is None:
            return None
        frame.index = outer.index
        return chain.inside(outer.chain)

    def _go_on(self, frame: _Frame, chain: Chain, end: int) -> None:
        """Go on with a citation after an aside: 第八十五条（第一種免許）第五項."""
        cited = self.found[frame.index]
        self.found[frame.index] = replace(
            cited,
            end=end,
            text=self._text[cited.start : end],
            locator=_locator(chain),
            paragraph_word=chain.paragraph_word,
            item_word=chain.item_word,
        )
        frame.cite(chain, end)
        self._end = end

    def _frame_at(self, start: int) -> _Frame:
        """Return the innermost frame at `start`, its gap the text since its last citation."""
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
                chain.article_word,
                chain.paragraph_word,
                chain.item_word,
                "",
                continues,
            )
        )

    def _range(self, frame: _Frame, chain: Chain, end: int) -> bool:
        """Make a range of the frame's citation and the chain that follows から."""
        first = self.found[frame.index]
        if first.last is not None or first.last_word:
            return False
        until = _UNTIL.match(self._text, end)
        end = until.end() if until else end
        word = chain.item_word or chain.paragraph_word or chain.article_word
        relative = word in _last_words(chain, first)
        self.found[frame.index] = replace(
            first,
            end=end,
            text=self._text[first.start : end],
            last=None if relative else _locator(chain),
            last_word=word if relative else "",
        )
        frame.cite(chain, end)
        self._end = end
        return True

    def _more_subitems(self, frame: _Frame) -> None:
        """Subitems listed after the first: イ又はロ, イからハまで."""
        while more := _MORE_SUBITEMS.match(self._text, self._end):
            assert frame.chain is not None
            subitem = read_subitem(more[2] or more[3])
            if more[3]:
                subitem = f"{frame.chain.subitem.rpartition('.')[0]}.{subitem}"
            chain = frame.chain._replace(subitem=subitem)
            if more[1] == "から":
                if not self._range(frame, chain, more.end()):
                    break
            else:
                law = self.found[frame.index].law
                self._add(frame, chain, law, more.end(1), more.end(), frame.index)


def _last_words(chain: Chain, first: ProvisionCitation) -> tuple[str, ...]:
    """Return the words of a range's last provision which it does not share with the first."""
    pairs = (
        (chain.item_word, first.item_word),
        (chain.paragraph_word, first.paragraph_word),
        (chain.article_word, first.article_word),
    )
    return tuple(word for word, shared in pairs if word and word != shared)


@lru_cache(maxsize=65536)
def _locator(chain: Chain) -> Locator:
    return Locator(chain.division, chain.article, chain.paragraph, chain.item, chain.subitem)

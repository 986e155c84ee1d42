"""Resolves the law of a citation inside a statute: 法, 令, 同法, 新法, a name."""

import re
from bisect import bisect_right
from collections import defaultdict
from functools import cached_property
from typing import NamedTuple

from localrag.corpus.types import ARTICLES, Document, Locator
from localrag.law.citations import LawKind, LawPart, ProvisionCitation, law_part_before
from localrag.law.names import LawNames
from localrag.law.places import Law
from localrag.law.provisions import BLOT, Nesting, Recent, Tables, without_asides

# 金融商品取引法（昭和二十三年法律第二十五号。以下この条において「法」という。）
_ALIAS = re.compile(
    r"[（(](?P<number>[^（）()「」\n]{0,80}?)以下(?P<scope>[^（）()「」。\n]{0,60}?)"
    r"「(?P<alias>[^「」\n]{0,40}?[法令則律])」と"
)
_OUTDATED = re.compile(r"(?:旧|改正前の|廃止前の|改正前|廃止前|ナル)$")
_ENABLED = re.compile(r"に基(?:づ|い|き|づい)")
_LONGEST_HEAD = 2000
_NARROW = re.compile(r"この(?:条|項|号)|[イロハニホ]において")
_ENTERED = re.compile(r"[法律令則]（(?:明治|大正|昭和|平成|令和)[^（）「」\n]{3,40}号")
# 会社法第七編第二章第二節（第八百四十七条第二項を除く。）及び第九百条
_HEADING = r"第[〇一二三四五六七八九十百]+[編章節款目](?:の[一二三四五六七八九十]+)*"
# A missing act (会社法に規定する), but not a way of doing something (方法による).
_SOME_ACT = re.compile(
    r"[一-鿿ァ-ヶー]{1,30}(?<![方手用療技違適作工製寸合立司此同本新旧])法"
    r"(?=[にのをはがと、中]|及び|又は|その他)"
)
# The same for a long name: 信託業務の兼営等に関する法律により.
_SOME_LAW = re.compile(r"(?:関する|ための)法律(?=[にのをはがと、中]|及び|又は|その他)")
_HEADED_LAW = re.compile(rf"[法律令則](?=の?(?:目次|題名)|{_HEADING})")
_AMENDMENT = re.compile(r"附則（([^（）]{6,60}号)")
_AFTER_HEADING = re.compile(
    rf"(?:(?P<same>同[編章節款目])(?:{_HEADING})*|(?:{_HEADING})+)\0*"
    rf"(?:(?:、|及び|並びに)(?:{_HEADING})+\0*)*(?:[（(]|及び|並びに|又は|若しくは|、)$"
)
# Last characters of `_AFTER_HEADING` and of a bracket that separates law and provision.
_SETS_OFF = frozenset("（(びには、")
_IN_HEADINGS = re.compile("[編章節款目]")
# パリ条約第四条, 日米協定第六条: never a law of the corpus.
_TREATY = re.compile(
    r"(?P<name>[一-鿿々ァ-ヶー]*(?:条約|協定|議定書|憲章))(?:（[^（）\n]{0,80}）)?$"
)
_TREATY_ENDS = frozenset("約定書章）")
_LONGEST_TREATY = 120
# The law of a replacement table: from its heading and the lines above it.
_NAMED_IN_ROW = re.compile(
    r"読み?替え(?:る|られる)([^\t｜]{1,60}?)の規定[\t｜]"
    r"|([^\t｜]{1,60}?)の規定中読み?替え(?:る|られる)規定[\t｜]"
)
_NAMED_ABOVE = re.compile(r"[上一]欄に掲げる([^、。「」\n]{0,60}?)の?規定中")
_EXCEPTED = re.compile(r"(?:を除く|に限る|除く|限る)。?$")
_LONGEST_BRACKETS = 1000
_LONGEST_SET_OFF = 500
_CLOSING = re.compile("[）)]")
_UNTOLD = Law(())
_SHORT = (
    ("府令", ("府", "令")),
    ("省令", ("府", "令")),
    ("規則", ("則", "令")),
    ("令", ("令",)),
    ("法律", ("法",)),
    ("法", ("法",)),
)


class _Mention(NamedTuple):
    """A law, and the end of the words naming it."""

    end: int
    law: Law


class LawWords:
    """The laws meant by one document's words.

    Args:
        document: a statute.
        names: the laws of the corpus.
        nesting: of its text.
        tables: of its text.
    """

    def __init__(
        self, document: Document, names: LawNames, nesting: Nesting, tables: Tables
    ) -> None:
        self._text = document.text
        self._names = names
        self._nesting = nesting
        self._tables = tables
        self.own = Law((document.id,), document.title)
        self._parents = names.parents(document.id)
        self._articles = [
            (passage.start, passage.locator)
            for passage in document.passages
            if passage.layer == ARTICLES
        ]
        self._starts = [start for start, _ in self._articles]
        self._amending = self._amendments(document)
        self._amending_laws = frozenset(self._amending.values())
        self._aliases: dict[tuple[str, str, str], Law] = {}
        for match in _ALIAS.finditer(document.text):
            self._enter(match)
        self._last: dict[str, Recent[_Mention]] = defaultdict(lambda: Recent(nesting))
        self._last_article = -1
        self._headed: Law | None = None
        self._tabulated: dict[tuple[int, int], Law] = {}

    def law_of(self, citation: ProvisionCitation, here: Locator) -> Law:
        """The law of a citation at the start of a list; no `ids` outside the corpus."""
        self._go_to(citation.start)
        part = citation.law
        if part.kind is LawKind.TABLE:
            return _UNTOLD
        if part.kind is not LawKind.NONE:
            return self._of_part(part, citation.start, citation.end, here)
        if (treaty := self._treaty(citation.start)) is not None:
            return treaty
        if (law := self._set_off(citation.start, here)) is not None:
            return law
        if self._tables.cite_other_laws(citation.start):
            return self._of_table(citation.start, here)
        if not citation.locator.article or citation.locator.division:
            return self.own
        return self._amending.get(here.division, self.own)

    def _treaty(self, position: int) -> Law | None:
        """The treaty named right before a position."""
        if self._text[position - 1 : position] not in _TREATY_ENDS:
            return None
        named = _TREATY.search(self._text, max(0, position - _LONGEST_TREATY), position)
        return Law((), named["name"]) if named else None

    def is_amending(self, law: Law) -> bool:
        """Whether the law has supplementary provisions in this document."""
        return law in self._amending_laws

    def amends(self, division: str) -> bool:
        """Whether a division belongs to a law amending this one."""
        return division in self._amending

    def is_inside_a_title(self, citation: ProvisionCitation) -> bool:
        """Whether it is part of a title: X法第二条に規定する定義に関する内閣府令."""
        part = citation.law
        if part.kind is not LawKind.NAMED:
            return False
        name = self._names.ending_at(self._text, part.end)
        end = citation.end
        return name is not None and self._names.title_around(self._text, name.start, end) > end

    def _go_to(self, position: int) -> None:
        """Read on; 同法 refers to nothing in another article."""
        article = bisect_right(self._starts, position)
        if article != self._last_article:
            self._last_article = article
            self._last.clear()
            self._headed = None

    def _of_part(self, part: LawPart, start: int, end: int, here: Locator) -> Law:
        if part.kind is LawKind.THIS:
            return self.own
        if part.kind is LawKind.SAME:
            law = self._same(part, start)
            mention, name = _Mention(start, law), part.text
        else:
            law = self._aliased(part.text, here) or self._worded(part)
            mention, name = _Mention(end, law), law.name or part.text
        for short in _said(name):
            self._last[short].enter(mention, self._nesting.at(end))
        return law

    def _set_off(self, position: int, here: Locator) -> Law | None:
        """The law separated from its provision by a heading or a bracket.

        会社法第七編第二章（第八百四十七条を除く。）及び第九百条, 船員法（第一条を除く。）.
        """
        before = self._text[position - 1 : position]
        if before not in _SETS_OFF:
            return None
        floor = max(self._article_start(position), position - _LONGEST_SET_OFF)
        if _IN_HEADINGS.search(self._text, floor, position):
            heading = _AFTER_HEADING.search(without_asides(self._text, floor, position))
            if heading:
                return self._of_heading(floor + heading.start(), floor, here) or (
                    self._headed if heading["same"] else None
                )
        if before in ("（", "(") and self._is_exception(position):
            part = law_part_before(self._text, position - 1, floor, self._names)
            if part.text and part.kind is not LawKind.THIS:
                law = self._of_part(part, part.start, position - 1, here)
                known = law.ids or part.number or part.text.endswith("法律")
                return law if known else None
        return None

    def _of_heading(self, position: int, floor: int, here: Locator) -> Law | None:
        part = law_part_before(self._text, position, floor, self._names)
        if not part.text:
            return None
        self._headed = self._of_part(part, part.start, position, here)
        return self._headed

    def _of_table(self, position: int, here: Locator) -> Law:
        """The law of a replacement table, from its heading or first row."""
        heading = self._tables.heading_of(position)
        if heading is None:
            return _UNTOLD
        if heading not in self._tabulated:
            self._tabulated[heading] = self._of_heading_words(*heading, here)
        return self._tabulated[heading]

    def _of_heading_words(self, start: int, end: int, here: Locator) -> Law:
        row = self._text.rfind("\n", start, end) + 1
        in_row = _NAMED_IN_ROW.match(self._text, max(row, start), end)
        above = list(_NAMED_ABOVE.finditer(self._text, start, end))
        named = in_row or (above[-1] if above else None)
        if named is None:
            return _UNTOLD
        said, until = named.span(named.lastindex or 0)
        if said == until:
            return _UNTOLD if here.division in self._amending else self.own
        part = law_part_before(self._text, until, said, self._names)
        return self._of_part(part, part.start, part.end, here) if part.text else _UNTOLD

    def _is_exception(self, position: int) -> bool:
        """Whether the bracket around a position ends with を除く or に限る."""
        depth = len(self._nesting.at(position).open)
        for mark in _CLOSING.finditer(self._text, position, position + _LONGEST_BRACKETS):
            if len(self._nesting.at(mark.end()).open) < depth:
                return _EXCEPTED.search(self._text, position, mark.start()) is not None
        return False

    def _article_start(self, position: int) -> int:
        index = bisect_right(self._starts, position) - 1
        return self._starts[index] if index >= 0 else 0

    def _worded(self, part: LawPart) -> Law:
        if part.kind is LawKind.PARENT:
            parents = self._parents or self._enabling_act
            return Law(parents, self._names.title(parents[0])) if parents else Law((), part.text)
        if part.kind in (LawKind.DECREE, LawKind.RULE):
            suffix = "施行令" if part.kind is LawKind.DECREE else "施行規則"
            ids = tuple(i for p in self._parents for i in self._names.order_of(p, suffix))
            return Law(ids, self._names.title(ids[0]) if ids else part.text)
        return self._named(part.end, part.text, part.number)

    @cached_property
    def _enabling_act(self) -> tuple[str, ...]:
        """The act enabling an order: X法第三条の規定に基づき、…定める."""
        under = _ENABLED.search(self._text[:_LONGEST_HEAD])
        if under is None or self._names.law_type(self.own.ids[0]) == "Act":
            return ()
        named = self._names.find_names(self._text[: under.start()])
        return next((n.law_ids for n in named if self._names.law_type(n.law_ids[0]) == "Act"), ())

    def _named(self, end: int, written: str, number: str) -> Law:
        match = self._names.ending_at(self._text, end)
        if match is not None and not _OUTDATED.search(
            self._text, max(0, match.start - 4), match.start
        ):
            name = self._text[match.start : match.end]
            # Laws write full titles; a customary abbreviation here is another word.
            if self._names.is_title(name):
                return Law(self._agreeing(match.law_ids, number), name)
        if match is None and number and (ids := self._names.lookup(number)):
            return Law(ids, self._names.title(ids[0]))
        return Law((), written)

    def _agreeing(self, law_ids: tuple[str, ...], number: str) -> tuple[str, ...]:
        return tuple(i for i in law_ids if self._names.can_bear(i, number))

    def _aliased(self, word: str, here: Locator) -> Law | None:
        for division, article in (
            (here.division, here.article),
            (here.division, ""),
            ("", ""),
        ):
            if (law := self._aliases.get((division, article, word))) is not None:
                return law
        return None

    def _same(self, part: LawPart, position: int) -> Law:
        short = _said(part.text.removeprefix("同"))[0]
        if self._tables.cite_other_laws(position):
            cell = self._tables.cell_start(position)
            return self._mentioned(cell, position, short) or _UNTOLD
        at, recent = self._nesting.at(position), self._last[short]
        floor = max(self._article_start(position), position - _LONGEST_HEAD)
        line = max(floor, at.line)
        on_line = recent.on_line(at)
        since = max(line, on_line.end) if on_line else line
        if found := self._mentioned(since, position, short) or (on_line and on_line.law):
            return found
        last = recent.last(at)
        if last and last.end > line:
            return self._mentioned(last.end, position, short, asides=True) or last.law
        since = max(floor, last.end) if last else floor
        return (
            self._mentioned(line, position, short, asides=True)
            or self._mentioned(since, line, short)
            or self._mentioned(since, line, short, asides=True)
            or (last.law if last else Law((), part.text))
        )

    def _mentioned(self, start: int, end: int, short: str, *, asides: bool = False) -> Law | None:
        """The act or order mentioned last between two positions."""
        window = self._text[start:end] if asides else without_asides(self._text, start, end)
        laws = {
            match.end: Law(match.law_ids, window[match.start : match.end])
            for match in self._names.find_names(window)
            if self._names.is_title(window[match.start : match.end])
        }
        entered = [match.start() + 1 for match in _ENTERED.finditer(self._text, start, end)]
        ends = [at - start for at in entered if window[at - start - 1] == self._text[at - 1]]
        for mention in (_SOME_ACT, _SOME_LAW, _HEADED_LAW):
            ends += [match.end() for match in mention.finditer(window)]
        # A name does not extend back beyond an aside.
        written = window.replace(BLOT, "）")
        for at in ends:
            part = law_part_before(written, at, 0)
            if at not in laws and part.kind is LawKind.NAMED:
                known = self._names.is_title(part.text)
                laws[at] = Law(self._names.lookup(part.text) if known else (), part.text)
        return next(
            (laws[at] for at in sorted(laws, reverse=True) if short in _said(laws[at].name)), None
        )

    def _enter(self, match: re.Match[str]) -> None:
        end = match.start()
        number = match["number"].strip("。、 ")
        article = bisect_right(self._starts, match.start()) - 1
        here = self._articles[article][1] if article >= 0 else Locator()
        word = law_part_before(self._text, end, 0).text
        law = self._named(end, word, number)
        if not law.ids:
            law = self._aliased(word, here) or law
        if not law.ids and number and not _OUTDATED.search(self._text, max(0, end - 30), end):
            law = law._replace(ids=self._names.lookup(number))
        if _OUTDATED.search(match["alias"][:1]):
            law = law._replace(ids=())
        if not law.name:
            return
        narrow = here.article if _NARROW.search(match["scope"]) else ""
        self._aliases.setdefault((here.division, narrow, match["alias"]), law)

    def _amendments(self, document: Document) -> dict[str, Law]:
        """The amending law of each supplementary provision."""
        amendments: dict[str, Law] = {}
        for passage in document.passages:
            if passage.layer != ARTICLES:
                break
            division = passage.locator.division
            if division.startswith("suppl") and division not in amendments:
                found = _AMENDMENT.search(passage.header)
                if found:
                    amendments[division] = Law(self._names.lookup(found[1]), found[1])
        return amendments


def _said(name: str) -> tuple[str, ...]:
    """The word referring to a law of this name: 同規則 or 同令 for a ministry's 規則."""
    return next((said for ending, said in _SHORT if name.endswith(ending)), ("法",))

"""What the law part of a citation stands for in the text of a law: 法, 令, 同法, 新法, a name."""

import re
from bisect import bisect_right
from functools import cached_property

from localrag.corpus.model import ARTICLES, Document, Locator
from localrag.statutes._lawpart import LawKind, LawPart, law_part_before
from localrag.statutes._places import Law
from localrag.statutes.citations import ProvisionCitation
from localrag.statutes.names import LawNames

# 金融商品取引法（昭和二十三年法律第二十五号。以下この条において「法」という。）
_ALIAS = re.compile(
    r"[（(](?P<number>[^（）()「」\n]{0,80}?)以下(?P<scope>[^（）()「」。\n]{0,60}?)"
    r"「(?P<alias>[^「」\n]{0,40}?[法令則律])」と"
)
_OUTDATED = re.compile(r"(?:旧|改正前の|廃止前の|改正前|廃止前|ナル)$")
_ENABLED = re.compile(r"に基(?:づ|い|き|づい)")
_LONGEST_HEAD = 2000
_LONGEST_TABLE = 20_000
_NARROW = re.compile(r"この(?:条|項|号)|[イロハニホ]において")
_ENTERED = re.compile(r"[法律令則]（(?:明治|大正|昭和|平成|令和)[^（）「」\n]{3,40}号")
# An act that the corpus lacks (会社法に規定する), not a way of doing something (方法による).
_SOME_ACT = re.compile(
    r"[一-鿿ァ-ヶー]{1,30}(?<![方手用療技違適作工製寸合立司此同本新旧])法(?=[にのをはがと、]|及び|又は)"
)
_AMENDMENT = re.compile(r"附則（([^（）]{6,60}号)")
_SHORT = (
    ("府令", "府"),
    ("省令", "府"),
    ("規則", "則"),
    ("令", "令"),
    ("法律", "法"),
    ("法", "法"),
)


class LawWords:
    """The laws that one document's words stand for.

    Args:
        document: a statute.
        names: the laws of the corpus.
    """

    def __init__(self, document: Document, names: LawNames) -> None:
        self._text = document.text
        self._names = names
        self.own = Law((document.id,), document.title)
        self._parents = names.parents(document.id)
        self._articles = [
            (passage.start, passage.locator)
            for passage in document.passages
            if passage.layer == ARTICLES
        ]
        self._starts = [start for start, _ in self._articles]
        self._amending = self._amendments(document)
        self._aliases: dict[tuple[str, str, str], Law] = {}
        for match in _ALIAS.finditer(document.text):
            self._enter(match)
        self._last: dict[str, tuple[int, Law]] = {}

    def law_of(self, citation: ProvisionCitation, here: Locator) -> Law:
        """Return the law of a citation that begins a list; no `ids` outside the corpus."""
        part = citation.law
        if part.kind is LawKind.NONE:
            if not citation.locator.article or citation.locator.division:
                return self.own
            if self._is_in_a_table_on_other_laws(citation, here):
                return Law(())
            return self._amending.get(here.division, self.own)
        if part.kind is LawKind.THIS:
            return self.own
        if part.kind is LawKind.SAME:
            law = self._same(part, citation.start)
            self._last[_short(part.text)] = (citation.start, law)
        else:
            law = self._aliased(part.text, here) or self._worded(part)
            self._last[_short(law.name or part.text)] = (citation.end, law)
        return law

    def is_inside_a_title(self, citation: ProvisionCitation) -> bool:
        """Whether it is part of a title, as in X法第二条に規定する定義に関する内閣府令."""
        part = citation.law
        if part.kind is not LawKind.NAMED:
            return False
        name = self._names.ending_at(self._text, part.end)
        end = citation.end
        return name is not None and self._names.title_around(self._text, name.start, end) > end

    def _is_in_a_table_on_other_laws(self, citation: ProvisionCitation, here: Locator) -> bool:
        """Whether it stands in a row of an appendix, or of a table of words to be replaced."""
        start = citation.start
        before = self._text[max(0, start - _LONGEST_HEAD) : start].rpartition("\n")[2]
        after = self._text[start : start + _LONGEST_HEAD].partition("\n")[0]
        if not any(separator in row for separator in "\t｜" for row in (before, after)):
            return False
        if here.division.startswith("appendix"):
            return True
        head = self._text[max(self._article_start(start), start - _LONGEST_TABLE) : start]
        return "読み替え" in head or "読替え" in head

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
        """The act that an order says it is made under: X法第三条の規定に基づき、…定める."""
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
            # Laws write titles in full; a customary abbreviation here is a word of their own.
            if self._names.is_title(name):
                return Law(self._agreeing(match.law_ids, number), name)
        if match is None and number and (ids := self._names.lookup(number)):
            return Law(ids, self._names.title(ids[0]))
        return Law((), written)

    def _agreeing(self, law_ids: tuple[str, ...], number: str) -> tuple[str, ...]:
        """Those of several laws of one title whose law number is the one cited."""
        if len(law_ids) < 2 or not number:
            return law_ids
        numbered = self._names.lookup(number)
        return tuple(law_id for law_id in law_ids if law_id in numbered) or law_ids

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
        word = part.text.removeprefix("同")
        short = _short(word)
        end, law = self._last.get(short, (-1, Law((), part.text)))
        floor = max(end, self._article_start(position), position - 2000)
        window = self._text[floor:position]
        mentioned = [
            (match.end, Law(match.law_ids, window[match.start : match.end]))
            for match in self._names.find_names(window)
            if _short(window[match.start : match.end]) == short
            and self._names.is_title(window[match.start : match.end])
        ]
        if short == "法":
            known = {mention_end for mention_end, _ in mentioned}
            mentioned += [
                (match.end(), Law((), match[0]))
                for match in _SOME_ACT.finditer(window)
                if match.end() not in known
            ]
        mentioned += [
            (match.start() + 1, Law((), part.text))
            for match in _ENTERED.finditer(window)
            if _short(window[max(0, match.start() - 1) : match.start() + 1]) == short
        ]
        # A law that is known and one entered with its number at the same place are the same.
        best = max(mentioned, key=lambda entry: (entry[0], bool(entry[1].ids)), default=None)
        return best[1] if best else law

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
        """Find the amending law of each supplementary provision that belongs to one."""
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


def _short(name: str) -> str:
    for ending, short in _SHORT:
        if name.endswith(ending):
            return short
    return "法"

"""Compares quotations with the provisions they are attributed to, word for word.

A quotation is in 「」 or in a block: 民法第709条は「…」と規定する, 「…」（民法第709条）. Marked
omissions (…, （略）) are allowed. A single word of the law (第2条の「渡し舟」とは) holds if the law
has it, and is never called wrong.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from localrag.check.cells import TableCells
from localrag.check.law_texts import LawTexts
from localrag.check.laws import CitedRange, cited_within
from localrag.check.source import Flow
from localrag.check.types import Finding, Part, Verdict
from localrag.check.words import (
    PENALTIES_RENAMED,
    DifferenceKind,
    Likeness,
    bare,
    canon,
    differences,
    letters,
    likeness,
    without_omissions,
)
from localrag.corpus.types import Passage
from localrag.law.resolver import Target
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis.analyzer import split_sentences
from localrag_indexes.analysis.normalize import with_blanks

_LONGEST, _REACH = 2_000, 90
_PAIRS = {"「": "」", "『": "』", "“": "”"}
_MARK = re.compile("[「」『』“”]|\n[ \t]*\n")
# A quotation continues in the next cell: border and column header between.
_BORDER = re.compile("\t(?:[^\t\n。、：:「」『』]{1,60}[：:] ?)?")
# Insertions of an editor and notes on emphasis are no words of the law.
_INSERTED = re.compile(
    r"[〔［\[][^〔〕［］\[\]\n]{1,40}[〕］\]]|[（(](?:傍点|下線|強調|太字)[^（）()]{0,20}[)）]"
)
_SAYS = re.compile(
    r"[」』”]?(?:[（(][^（）()\n]{0,30}[)）])?(?:など|等)?と"
    r"(?:(?:明確に|明文で|それぞれ|ともに)?(?:規定|定め|明記|明示|明文|記載|書かれ|宣言|宣明|うたっ|謳|ある|あり|読め)"
    r"|の(?:規定|定め|文言|条文|明文|記載))"
)
_PARAPHRASES = re.compile(r"[」』”]?(?:という|との)?(?:旨|趣旨|意味|こと)")
_OTHER_SPEAKER = re.compile(
    "判決|判例|判示|最判|最決|最高裁|大判|高判|地判|裁判所|通説|多数説|学説|有力説|ガイドライン|指針|通達|Q&A|Ｑ＆Ａ|答弁|逐条"
    "|契約書|約款|主張|原告|被告|と解|解釈|理解|説明|いわゆる|呼ば|改正前|旧法"
)
# 行訴法11条1項の被告は「…」: here 被告 is no party of a case.
_OF_THE_PROVISION = re.compile("^の(?:原告|被告)")
_NAME_BEGINS = re.compile("[^。、「」]{0,40}")
_OPENS_BLOCK = re.compile(
    r"(?:次|以下|下記)の(?:とおり|通り|ように|条文|規定)[^。\n]{0,20}[。：:]?\s*$|[：:]\s*$"
)
_LEADS = re.compile(
    r"[はがもにを、：:\s　のでて（(本文但書前後段ただしく項号柱一二三四五六七八九]*$"
)
_BRACKETED = re.compile(r"[」』”\"]?[ 　]?[（(]")
_STRAIGHT = re.compile(r"\"(?P<words>[^\"\n「」『』]{4,2000})\"(?=[ 　]?[（(])")
# …（民法709条）, at the end of a block's last line.
_SOURCE_BEHIND = re.compile(r"[（(][^（()）\n]*[)）][。 　]*$")
_BLOCK = re.compile(r"(?:^[ \t]*>.*(?:\n|$))+", re.MULTILINE)
_LINE_BEHIND = re.compile(r"\n?[^\n]*")
_BLOCK_SIGN = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
# 民法96条1項　詐欺又は…: a source, not words of the quotation.
_HEAD = re.compile(
    r"^[^\s「」。]{1,60}?[法令則例]第?[0-9０-９〇一二三四五六七八九十百千]{1,8}条"
    r"[のノ第項号0-9０-９〇一二三四五六七八九十百千]{0,16}[　 \t]+"
)
# A single word of the law is shorter than this.
_SENTENCE, _CLAUSE, _WORDS = 24, 16, 12
_LONGEST_LIST, _LONGEST_BRACKETS = 50, 400
_CLOSES = re.compile(r"[)）\n]")
_ALIKE, _VERY_ALIKE = 0.55, 0.8
# Letters of a header or footer between pages, and of the provision around them.
_LONGEST_REMARK, _LEAST_BESIDE, _BY_CHANCE = 200, 6, 4


class Quoted(NamedTuple):
    """A quotation attributed to provisions, the likeliest last."""

    start: int  # start, end: span of its words in the flowing text, without quotation marks
    end: int
    cited: tuple[CitedRange, ...]
    is_said: bool  # whether the text claims these very words


def quotations_of(text: str, cited: Sequence[CitedRange], cells: TableCells) -> list[Quoted]:
    """Return the quotations of a flowing text with their provisions, in order."""
    blocks = list(_blocks(text, cited))
    starts = [block.start for block in blocks]
    marked = [
        quoted
        for quoted in _marked(text, cited, _Sentences(text), cells)
        if not (at := bisect_right(starts, quoted.start)) or quoted.start >= blocks[at - 1].end
    ]
    return sorted([*blocks, *marked], key=lambda quoted: quoted.start)


class _Sentences:
    """Beginnings of sentences; none is inside brackets or quotation marks."""

    def __init__(self, text: str) -> None:
        self._starts = [start for start, _ in split_sentences(text)]

    def start(self, position: int) -> int:
        at = bisect_right(self._starts, position)
        return self._starts[at - 1] if at else 0


def _marked(
    text: str, cited: Sequence[CitedRange], sentences: _Sentences, cells: TableCells
) -> Iterator[Quoted]:
    for straight in _STRAIGHT.finditer(text):
        # Only the citation after them shows the opening mark.
        if of := _behind(text, straight.end("words"), cited):
            yield Quoted(*straight.span("words"), of, True)
    for start, end in _spans(text, cells):
        is_said = _SAYS.match(text, end) is not None
        if _PARAPHRASES.match(text, end):
            is_said = False
        behind = _behind(text, end, cited)
        before = () if behind else _before(text, start, cited, sentences, is_said=is_said)
        of = behind or _beside(text, start, end, cited, cells) + before
        if of and not any(one.start <= start < one.end for one in of):
            yield Quoted(start, end, of, is_said or bool(behind))


def _spans(text: str, cells: TableCells) -> Iterator[tuple[int, int]]:
    """Yield the outermost quotations, without marks; an empty line ends them."""
    opened: list[tuple[str, int]] = []
    for mark in _MARK.finditer(text):
        sign = mark[0]
        if sign in _PAIRS:
            if opened and cells.are_apart(opened[-1][1], mark.start()):
                opened.clear()
            opened.append((sign, mark.end()))
        elif "\n" in sign:
            opened.clear()
        elif opened and sign == _PAIRS[opened[-1][0]]:
            _, start = opened.pop()
            if not opened and 1 < mark.start() - start <= _LONGEST:
                yield start, mark.start()


def _behind(text: str, end: int, cited: Sequence[CitedRange]) -> tuple[CitedRange, ...]:
    """Return the citations in brackets after a quotation: 「…」（民法第709条）."""
    opening = _BRACKETED.match(text, end)
    if opening is None:
        return ()
    closing = _CLOSES.search(text, opening.end(), opening.end() + _LONGEST_BRACKETS)
    if closing is None:
        return ()
    inside = text[opening.end() : closing.start()]
    found = tuple(cited_within(cited, opening.end(), closing.start()))
    # Sometimes only the end of a long name is recognized.
    before = inside[: found[0].start - opening.end()] if found else ""
    # 裁判所法施行令 names a law, not a court.
    spans = [(one.start - opening.end(), one.end - opening.end()) for one in found]
    if not found or not _NAME_BEGINS.fullmatch(before):
        return ()
    return () if _OTHER_SPEAKER.search(with_blanks(inside, spans)) else found


def _beside(
    text: str, start: int, end: int, cited: Sequence[CitedRange], cells: TableCells
) -> tuple[CitedRange, ...]:
    """Return the citations of the next cell, if the quotation fills its own."""
    cell = cells.around(start)
    if cell is None or cell.start < start - 1 or text[end + 1 : cell.end].strip("。"):
        return ()
    behind = [one for one in cells.beside(cell) if one.start > end]
    return tuple(named for one in behind for named in cells.naming(one, cited))


def _before(
    text: str,
    start: int,
    cited: Sequence[CitedRange],
    sentences: _Sentences,
    *,
    is_said: bool,
) -> tuple[CitedRange, ...]:
    """Return the citations before a quotation in its sentence."""
    floor = sentences.start(start - 1)
    found = _last_list(cited, floor, start)
    said_before = text[max(floor, start - _REACH) : start - 1]
    if not found and is_said and not said_before.strip(" 　「『そこで同すなわち、"):
        # 民法第709条を見る。「…」と定められている。
        line = text.rfind("\n", max(0, start - _REACH), start) + 1
        found = _last_list(cited, line or max(0, start - _REACH), start)[-1:]
    if not found:
        return ()
    last = found[-1]
    between = text[last.end : start - 1]
    if len(between) > _REACH or _OTHER_SPEAKER.search(_OF_THE_PROVISION.sub("", between)):
        return ()
    if not is_said and not _LEADS.search(between[-1:]):
        return ()
    return found


def _last_list(cited: Sequence[CitedRange], floor: int, end: int) -> tuple[CitedRange, ...]:
    at = bisect_left(cited, end, key=lambda one: one.start) - 1
    while at >= 0 and cited[at].end >= end:
        at -= 1
    found: list[CitedRange] = []
    while at >= 0 and cited[at].start >= floor and len(found) < _LONGEST_LIST:
        if found and cited[at].basis.start != found[0].basis.start:
            break
        found.append(cited[at])
        at -= 1
    return tuple(reversed(found))


def _blocks(text: str, cited: Sequence[CitedRange]) -> Iterator[Quoted]:
    """Yield block quotations with citations, from the line before, the last line or a label."""
    for match in _BLOCK.finditer(text):
        start, end = match.start(), match.end()
        above_end = start
        while above_end > 0 and text[above_end - 1].isspace():
            above_end -= 1
        above = text.rfind("\n", 0, above_end) + 1
        before = _last_list(cited, above, above_end + 1)
        labels = tuple(one for one in cited_within(cited, start, end) if _is_label(text, one))
        opened = _OPENS_BLOCK.search(text, above, above_end) is not None
        if source := _closing(text, cited, start, end):
            last_line = min(end, text.rfind("\n", start, source.start) + 1)
            if last_line > start:
                yield Quoted(start, last_line, (source,), True)
        elif behind := _bracketed_at_end(text, cited, start, end):
            bracket, of = behind
            yield Quoted(start, bracket, of, True)
        elif opened and before and not _OTHER_SPEAKER.search(text, before[-1].end, above_end):
            yield Quoted(start, end, before, True)
        elif labels:
            yield Quoted(start, end, labels, True)


def _is_label(text: str, cited: CitedRange) -> bool:
    line = text.rfind("\n", 0, cited.start) + 1
    return not text[line : cited.start].strip("> \t　*") and text[cited.end : cited.end + 1] in (
        *" 　（(\n",
    )


def _bracketed_at_end(
    text: str, cited: Sequence[CitedRange], start: int, end: int
) -> tuple[int, tuple[CitedRange, ...]] | None:
    """Return the beginning of the last brackets of a block, and their citations, or None."""
    last = start + len(text[start:end].rstrip())
    bracket = _SOURCE_BEHIND.search(text, text.rfind("\n", start, last) + 1 or start, last)
    if bracket is None or bracket.start() == start:
        return None
    of = _behind(text, bracket.start(), cited)
    return (bracket.start(), of) if of else None


def _closing(text: str, cited: Sequence[CitedRange], start: int, end: int) -> CitedRange | None:
    """Return the citation in the last line of a block, or after it: （民法第709条）."""
    behind = _LINE_BEHIND.match(text, end)
    until = behind.end() if behind else end
    for last in cited_within(cited, start, until)[-1:]:
        line = text.rfind("\n", 0, last.start) + 1
        line_end = text.find("\n", last.end)
        around = text[line : last.start] + text[last.end : line_end if line_end >= 0 else None]
        if line > start and not re.search(r"[^\s>（()）―—–\-*　]", around):
            return last
    return None


def check_quotation(quoted: Quoted, flow: Flow, texts: LawTexts) -> Finding:
    """Compare a quotation with its provisions."""
    place = flow.place(quoted.start, quoted.end)
    said = flow.written(place)
    targets = list(dict.fromkeys(t for cited in quoted.cited for t in cited.targets))
    # As written: the flowing text spells citations out.
    words = _HEAD.sub("", _BORDER.sub("", _BLOCK_SIGN.sub("", said)))
    parts = _parts(words)

    def found(
        verdict: Verdict, problem: Fact | None, passage: Passage | None, **more: object
    ) -> Finding:
        return Finding(
            Part.QUOTATION,
            place,
            said,
            verdict,
            problem,
            *texts.told(passage),
            passage.text if passage else "",
            **more,  # type: ignore[arg-type]
        )

    passages = [one for target in targets if (one := texts.at(target))]
    of_day = all(cited.basis.is_of_day for cited in quoted.cited)
    if not parts or not passages or not of_day:
        return found(Verdict.UNCHECKED, Fact(FactKind.NOTHING_TO_COMPARE), None)
    for passage in passages:
        if _has(passage, parts):
            return found(Verdict.HOLDS, None, passage)
    if _in_order("".join(letters(bare(passage.text)) for passage in passages), parts):
        return found(Verdict.HOLDS, None, passages[0])
    for passage in passages:
        if _is_parted_by_page(passage, said, flow.page_ends(place)):
            return found(Verdict.UNCHECKED, Fact(FactKind.PAGE_END_BETWEEN), passage)
    size = sum(map(len, parts))
    is_claimed = quoted.is_said or size >= _SENTENCE
    is_claimed &= all(cited.basis.is_certain for cited in quoted.cited)
    verdict = Verdict.FAILS if is_claimed and size >= _WORDS else Verdict.UNCHECKED
    if elsewhere := _elsewhere(targets, parts, texts):
        return found(verdict, elsewhere, passages[0])
    if older := _older(targets, parts, texts):
        return found(verdict, older, passages[0])
    likest, alike = _likest(passages, words)
    kinds = {DifferenceKind.WORDS}
    if alike.share >= _ALIKE:
        kinds = differences(_words(words), bare(likest.text), alike.diff)
    if DifferenceKind.WORDS not in kinds:
        return found(*_told(kinds, verdict), likest, diff=alike.diff)
    if alike.share >= (_ALIKE if quoted.is_said else _VERY_ALIKE) and verdict is Verdict.FAILS:
        return found(verdict, Fact(FactKind.QUOTED_OTHERWISE), likest, diff=alike.diff)
    if quoted.is_said and is_claimed and size >= _CLAUSE:
        return found(verdict, Fact(FactKind.QUOTED_NOWHERE), likest)
    return found(Verdict.UNCHECKED, Fact(FactKind.WORDS_NOT_THERE), likest)


def _told(kinds: set[DifferenceKind], verdict: Verdict) -> tuple[Verdict, Fact]:
    """Make the finding for a quotation with the provision's words and smaller differences."""
    if DifferenceKind.PENALTY in kinds:
        return verdict, Fact(FactKind.PENALTY_RENAMED, day=PENALTIES_RENAMED)
    if DifferenceKind.BRACKETS in kinds:
        return Verdict.UNCHECKED, Fact(FactKind.BRACKETS_LEFT_OUT)
    return Verdict.UNCHECKED, Fact(FactKind.QUOTED_IN_OTHER_NOTATION)


def _parts(text: str) -> list[str]:
    plain = _INSERTED.sub("", without_omissions(_words(text), "\0"))
    lines = (line for part in plain.split("\0") for line in part.split("\n"))
    return [part for line in lines if (part := letters(line).strip("。"))]


def _has(passage: Passage, parts: Sequence[str]) -> bool:
    return any(_in_order(letters(text), parts) for text in (bare(passage.text), passage.text))


def _is_parted_by_page(passage: Passage, said: str, ends: Sequence[int]) -> bool:
    """Whether only a header or footer at the ends of pages differs."""
    for end in ends:
        before, behind = letters(said[:end]), letters(said[end:])
        for text in (letters(bare(passage.text)), letters(passage.text)):
            head = _longest_head(before, text)
            tail = _longest_head(behind[::-1], text[::-1])
            if len(before) + len(behind) - head - tail > _LONGEST_REMARK:
                continue
            # One or two equal letters between may be chance.
            if any(
                before[: head - less] + behind[len(behind) - tail + fewer :] in text
                for less in range(_BY_CHANCE)
                for fewer in range(_BY_CHANCE)
                if min(head - less, tail - fewer) >= _LEAST_BESIDE
            ):
                return True
    return False


def _longest_head(words: str, text: str) -> int:
    return bisect_left(range(1, len(words) + 1), True, key=lambda n: words[:n] not in text)


def _in_order(text: str, parts: Sequence[str]) -> bool:
    at = 0
    for part in parts:
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


def _elsewhere(targets: Sequence[Target], parts: Sequence[str], texts: LawTexts) -> Fact | None:
    longest = max(parts, key=len)
    if len(longest) < _WORDS:
        return None
    for target in targets:
        article = texts.at(texts.article(target))
        if article and _has(article, parts):
            inner = texts.holding_in(article, longest)
            return Fact(FactKind.QUOTED_ELSEWHERE, where=texts.cited(inner))
    for law_id in dict.fromkeys(target.law_id for target in targets):
        where = texts.holding(law_id, longest)
        if where and all(part in letters(bare(where.text)) for part in parts):
            return Fact(FactKind.QUOTED_ELSEWHERE, where=texts.cited(where))
    return None


def _older(targets: Sequence[Target], parts: Sequence[str], texts: LawTexts) -> Fact | None:
    for target in targets:
        for state, passage in texts.other_states(target):
            if _has(passage, parts):
                day = state.metadata.get("date", "")
                return Fact(FactKind.QUOTED_OF_STATE, day=day)
    return None


def _likest(passages: Sequence[Passage], said: str) -> tuple[Passage, Likeness]:
    quoted = canon(_words(said))
    alike = [(passage, likeness(quoted, canon(bare(passage.text)))) for passage in passages]
    return max(alike, key=lambda one: one[1].share)


def _words(text: str) -> str:
    """Return the words of a quotation, without printed numbers if it has several lines."""
    return bare(text) if "\n" in text.strip() else text

"""Compares statements about provisions with them: figures, periods, amounts, bounds, polarity.

The comparison is that for claims of answers (`localrag.answer.checking`), but stricter about
errors: a memorandum also describes its case and court decisions. A figure is wrong if the sentence
uses the provision's words and the provision has another figure of the kind. A bound is wrong if the
provision has the same figure with the other bound. A polarity is wrong if the provision says the
opposite of the same act.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise

from localrag.answer.checking import covers, mismatches
from localrag.answer.checking.contradicting import denies
from localrag.answer.checking.particulars import (
    same_figure,
)
from localrag.answer.checking.polarity import (
    Force,
    Predicate,
    carries,
    closing_force,
    is_content,
    key_of,
    sentences_of,
    with_lists,
    with_provisos,
)
from localrag.answer.types import Mismatch, MismatchKind
from localrag.check.cases import (
    LONGEST_LAW,
    Instead,
    are_of_one_kind,
    figure_of_another_case,
    figures_of,
    is_reckoned,
    other_bound,
    other_figures,
    other_penalty,
    read_particulars,
    turned_round,
    without_naming,
)
from localrag.check.cells import Cell, TableCells, said_besides
from localrag.check.law_texts import LawTexts
from localrag.check.laws import CitedRange, cited_within
from localrag.check.quotations import Quoted
from localrag.check.source import Flow
from localrag.check.types import Finding, Part, Verdict
from localrag.check.words import (
    PENALTIES_RENAMED,
    bare,
    is_of_other_penalties,
    letters,
    renamed,
)
from localrag.corpus.types import ITEMS, Locator, Passage
from localrag.law.applied import part_span
from localrag.law.notation import case_numbers
from localrag.law.resolver import Target
from localrag.text.facts import Fact, FactKind
from localrag.text.folding import Folded, fold
from localrag_indexes.analysis.analyzer import split_sentences
from localrag_indexes.analysis.normalize import normalize, with_blanks

_FIGURES = frozenset(
    (MismatchKind.FIGURE, MismatchKind.PERIOD, MismatchKind.SHARE, MismatchKind.AMOUNT)
)
# Words a sentence may add to the provision.
_OF_NO_WEIGHT = frozenset((MismatchKind.PROVISION, MismatchKind.NAME))
_LENGTH = re.compile("[0-9０-９一二三四五六七八九十]{1,3}(?:月|年度)")
_RANGE = re.compile("[〜～~]|から")
# 1日8時間 is eight hours a day.
_RATE = re.compile("[1１一](?:日|週間?|[か箇]?月|年).*[0-9０-９一二三四五六七八九十]")
# Most characters after the statement: と定めている.
_LAST_WORDS = 12
_OPPOSITES = frozenset((MismatchKind.NEGATION, MismatchKind.MODALITY))
# Share of the sentence's subjects needed in the provision to call it wrong.
_FIGURE_FROM, _BOUND_FROM, _OPPOSITE_FROM = 0.4, 0.4, 0.75
# Share needed to call it right.
_HOLDS_FROM = 0.99
# 総議員の過半数: a share of something.
_SHARE_OF = re.compile(
    "[一-鿿]{2,8}の(?:過半数|半数|[0-9０-９〇一二三四五六七八九十百]{1,4}分の[0-9０-９〇一二三四五六七八九十]{1,4})"
)
# 十八歳にならなければ、できない and 十八歳にならなくても、できる have the same words.
_WITHOUT = re.compile("なければ(?!なら|なり)|(?<!少)な(?:く|い)(?:て|と)も|ずとも")
# 拘禁刑及び50万円以下の罰金 for 又は.
_BOTH = re.compile(
    "(?:懲役|拘禁刑|禁錮|拘留|罰金)、?(及び|並びに|かつ|と)[^、。]{1,20}(?:罰金|科料|過料)"
)
# People described by a negation: 15歳未満の者.
_COMPLEMENT = re.compile("未満|以外|でない|しない|ない(?:者|場合|とき|限り)")
_LIFTS = re.compile("この限りで(?:ない|はない|ありません)")
_NEEDED = re.compile("必要|要す|要し|要件")
_QUOTES = re.compile("「[^「」]{12,}」")
_LONGEST, _SHORTEST = 400, 10
# 民法第724条の時効は、次のとおりである。 with items below.
_OPENS_LIST = re.compile(
    r"^[^\n]*(?:次|以下|下記)の(?:とおり|通り|よう|各号|場合|もの|期間|要件|事項)[^\n]{0,30}\n"
    r"(?P<items>(?:[ 　\t]*\n)?"
    r"(?:[ 　\t]*(?:[-*+・○●◎■□◆◇▼▽※‣•]|[①-⑳]|[（(]?[0-9０-９]{1,2}[.．)）])[^\n]+(?:\n|\Z))+)",
    re.MULTILINE,
)
_LIST_ITEM = re.compile(
    r"[ 　\t]*(?:[-*+・○●◎■□◆◇▼▽※‣•]|[①-⑳]|[（(]?[0-9０-９]{1,2}[.．)）])[ 　]*(?P<said>[^\n]+)"
)
# 東京地裁令和3年（ワ）第12345号
_COURT = re.compile(r"[一-鿿]{1,6}(?:裁判所|裁)(?:[一-鿿]{1,6}支部)?[ 　]?\Z")
_LONGEST_COURT = 18
# （３） and ④ without a blank; [3], [^3]:, 注3） and ３） of footnotes.
_ITEM_MARK = re.compile(
    r"[-*+・○●◎■□◆◇▼▽※ 　\t]*(?:[（(][0-9０-９〇一二三四五六七八九十ア-ンa-zA-Z]{1,3}[)）]|[①-⑳]"
    r"|[\[［]\^?注?[0-9０-９]{1,3}[\]］]:?|注?[0-9０-９]{1,3}[)）])"
)
# …と規定している。 reports, it adds nothing.
_TELLS = re.compile(
    "(?<=[うくすつぬむるいただる])(?P<tells>と(?:(?:の|いう)旨を)?(?:され|(?:規定|明記|明示|宣言)(?:し|され|する)|定め(?:られ)?)"
    "(?:て(?:い|お)る|る|た)?)[。）) 　]*$"
)
# The case, opinions, other dates and questions are no content of the provision.
_OF_SOMETHING_ELSE = re.compile(
    "本件|原告|被告|申立人|当社|弊社|御社|貴社|当職|当該事案|事案|[甲乙丙丁]は|[甲乙丙丁]が|[A-ZＡ-Ｚ](?:社|氏|は)"
    "|判決|判例|判示|最判|最高裁|裁判例|学説|通説|解され|考え|検討|提案|予定|案では|見込|例えば|たとえば|仮に|とすると、"
    "|改正前|従前|ていた|従来|かつて|旧|当時|改正によ|改正後|引き上げ|引き下げ|では(?:な|足り)|でなく|とは異なり|違い|のに対し|一方"
    "|だろうか|でしょうか|べきか|[?？]|契約|本条|特約|約定|合意"
    # R02.4.1; laws write 令和二年四月一日.
    "|(?<![A-Za-zＡ-Ｚａ-ｚ0-9０-９])[MTSHRＭＴＳＨＲ][0-9０-９]{1,2}(?![0-9０-９A-Za-z])"
)
# The result of calculating a penalty; no provision gives it.
_RECKONED = re.compile("減軽|加重|処断|併合罪の")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence about provisions."""

    start: int  # start, end: span in the flowing text
    end: int
    text: str  # the sentence, with blanks for citations
    cited: tuple[CitedRange, ...]
    quotes_others: bool  # whether it quotes other texts: a judgment, a contract
    is_beside: bool = False  # whether it is a cell and the citation is in the next one
    is_listed: bool = False  # whether it is a list item and the citation is in the line above


def statements_of(
    text: str, cited: Sequence[CitedRange], quoted: Sequence[Quoted], cells: TableCells
) -> Iterator[Statement]:
    """Return the sentences with a statement about cited provisions."""
    quotes = [one.start for one in quoted]
    beside = _named_beside(cells, cited, quotes)
    yield from _listed(text, cited, quotes)
    for start, end in cells.sentences():
        found = cited_within(cited, start, end)
        is_quoting = bisect_left(quotes, end) > bisect_left(quotes, start)
        cell = cells.around(start)
        named = beside.get(cell, ()) if not any(one.basis.names_law for one in found) else ()
        if not (found or named) or is_quoting or _is_set_off(text, start):
            continue
        if cell and start == cell.label and not cited_within(found, start, cell.start):
            # A column header says nothing of the provision.
            start = cell.start
        spans = [(one.start - start, min(one.end, end) - start) for one in found]
        spans += _cases(text[start:end])
        if tells := _TELLS.search(text[start:end]):
            spans.append(tells.span("tells"))
        if mark := _ITEM_MARK.match(text, start, end):
            spans.append((0, mark.end() - start))
        said = with_blanks(bare(text[start:end]), spans)
        names_only = not said_besides(said)
        # は五十年とする。 says more than its length.
        long_enough = len(said.replace(" ", "")) >= _SHORTEST
        figures = read_particulars(said).figures
        long_enough |= any(one.dimension for one in figures) if named else bool(figures)
        if not names_only and long_enough:
            others = _QUOTES.search(text, start, end) is not None
            yield Statement(start, end, said, tuple(named or found), others, bool(named))


def _listed(text: str, cited: Sequence[CitedRange], quotes: Sequence[int]) -> Iterator[Statement]:
    """Yield the items below a line such as 次のとおりである."""
    for opening in _OPENS_LIST.finditer(text):
        named = cited_within(cited, opening.start(), opening.end())
        for item in _LIST_ITEM.finditer(text, opening.end("items") - len(opening["items"])):
            if not named or item.start() >= opening.end("items"):
                break
            start, end = item.span("said")
            is_quoting = bisect_left(quotes, end + 1) > bisect_left(quotes, start)
            if not cited_within(cited, start, end) and not is_quoting:
                yield Statement(start, end, item["said"], tuple(named), False, is_listed=True)


def _named_beside(
    cells: TableCells, cited: Sequence[CitedRange], quotes: Sequence[int]
) -> Mapping[Cell | None, Sequence[CitedRange]]:
    found: dict[Cell | None, Sequence[CitedRange]] = {}
    for cell in (one for row in cells.rows for one in row):
        named, others = cells.naming(cell, cited), cells.beside(cell)
        quoting = (bisect_left(quotes, one.end) > bisect_left(quotes, one.start) for one in others)
        if named and not any(quoting):
            for other in others:
                found[other] = () if other in found else named
    return found


def _cases(sentence: str) -> Iterator[tuple[int, int]]:
    for start, end in case_numbers(sentence):
        court = _COURT.search(sentence, max(0, start - _LONGEST_COURT), start)
        yield court.start() if court else start, end


def _is_set_off(text: str, start: int) -> bool:
    return text[text.rfind("\n", 0, start) + 1 : start + 1].lstrip().startswith((">", "#"))


def check_statement(statement: Statement, flow: Flow, texts: LawTexts) -> Finding | None:
    """Compare a sentence with its provisions; None if the corpus has none of them."""
    place = flow.place(statement.start, statement.end)
    targets = list(dict.fromkeys(t for cited in statement.cited for t in cited.targets))
    passages = [passage for target in targets[:_MOST] if (passage := texts.at(target))]

    def found(verdict: Verdict, problem: Fact | None, by: int = 0) -> Finding:
        return Finding(
            Part.STATEMENT,
            place,
            flow.written(place),
            verdict,
            problem,
            *texts.told(passages[by]),
            passages[by].text,
        )

    if not passages:
        return None
    law = "".join(passage.text for passage in passages)
    if reason := _not_compared(statement, len(targets), law):
        return found(Verdict.UNCHECKED, reason)
    if statement.is_beside:
        words = letters(statement.text).strip("。")
        for at, passage in enumerate(passages):
            if words in letters(bare(passage.text)):
                return found(Verdict.HOLDS, None, at)
    said, sentences = statement.text, _sentences_of(statement.cited, texts)
    headings = [passage.header for passage in passages]
    share = covers(said, sentences, headings=headings)
    if statement.is_beside and share < _FIGURE_FROM:
        # A cell with another content: a remark, a date.
        if len(said.replace(" ", "")) < _SHORTEST:
            return found(Verdict.UNCHECKED, Fact(FactKind.CELL_OF_FEW_WORDS))
        return None
    is_of_other_state = is_of_other_penalties(said, law)
    if is_of_other_state:
        said, sentences = renamed(said), list(map(renamed, sentences))
    if instead := other_penalty(said, sentences):
        by = (n for n, one in enumerate(sentences) if other_penalty(said, [one]))
        return found(Verdict.FAILS, _otherwise(instead), next(by, 0))
    if instead := turned_round(said, sentences):
        return found(Verdict.FAILS, _otherwise(instead))
    wrong = mismatches(said, sentences, headings=headings)
    of_proviso = all(map(_is_of_proviso, statement.cited))
    for mismatch in wrong:
        if instead := _shown(mismatch, share, said, sentences, of_proviso=of_proviso):
            by = (
                number
                for number, sentence in enumerate(sentences)
                if _shown(mismatch, share, said, [sentence], of_proviso=of_proviso)
            )
            return found(Verdict.FAILS, _otherwise(instead), next(by, 0))
    if where := _elsewhere(said, share, statement.cited, law, texts):
        return found(Verdict.FAILS, Fact(FactKind.QUOTED_ELSEWHERE, where=where))
    if is_of_other_state:
        day = PENALTIES_RENAMED
        return found(Verdict.UNCHECKED, Fact(FactKind.PENALTY_RENAMED, day=day))
    if (
        share >= _HOLDS_FROM
        and all(mismatch.kind in _OF_NO_WEIGHT for mismatch in wrong)
        and _is_said_alike(said, sentences)
        and all(letters(one[0]) in letters(law) for one in _SHARE_OF.finditer(said))
        and _is_in_order(said, sentences)
        and _is_each_of_its_own(statement, texts)
    ):
        if figure := figure_of_another_case(said, sentences):
            return found(Verdict.UNCHECKED, Fact(FactKind.FIGURE_OF_ANOTHER_CASE, words=figure))
        return found(Verdict.HOLDS, None)
    return found(Verdict.UNCHECKED, _left_open(said, wrong, sentences, headings))


def _not_compared(statement: Statement, provisions: int, law: str) -> Fact | None:
    """Return the reason for not comparing a sentence with its provisions, or None."""
    if statement.is_listed:
        return Fact(FactKind.LISTED_BELOW)
    if statement.end - statement.start > _LONGEST:
        return Fact(FactKind.SENTENCE_TOO_LONG)
    if provisions > _MOST:
        return Fact(FactKind.PROVISIONS_TOO_MANY)
    if any(
        cited.is_several or not cited.basis.is_of_day or not cited.targets
        for cited in statement.cited
    ):
        return Fact(FactKind.NOTHING_TO_COMPARE)
    others = [match[0] for match in _OF_SOMETHING_ELSE.finditer(statement.text)]
    if figures_of([statement.text]):
        others += _RECKONED.findall(statement.text)
    if statement.quotes_others or any(words not in law for words in others):
        return Fact(FactKind.NOT_OF_THE_PROVISION)
    return None


def _left_open(
    said: str, wrong: Sequence[Mismatch], sentences: Sequence[str], headings: Sequence[str]
) -> Fact:
    if missing := next((one for one in wrong if one.kind in _FIGURES), None):
        if is_reckoned(missing.written, sentences):
            return Fact(FactKind.FIGURE_RECKONED, words=missing.written)
        return Fact(FactKind.FIGURE_NOT_THERE, words=missing.written)
    if lacking := _lacking(said, [*sentences, *headings]):
        return Fact(FactKind.WORDS_LACKING, words=lacking)
    return Fact(FactKind.SAID_IN_OTHER_WORDS)


def _otherwise(instead: Instead) -> Fact:
    if not instead.there:
        return Fact(FactKind.SAID_OTHERWISE_ALONE, words=instead.words)
    return Fact(FactKind.SAID_OTHERWISE, words=instead.words, instead=instead.there)


def _elsewhere(
    said: str, share: float, cited: Sequence[CitedRange], law: str, texts: LawTexts
) -> str:
    """Return the other article with these words; "" also if the cited one refers on (準用)."""
    words = without_naming(letters(said)).strip("。()")
    laws = dict.fromkeys(law_id for one in cited for law_id in one.laws)
    if (
        len(words) < _LONG_SENTENCE
        or share >= _SPOKEN_OF
        or _BORROWS.search(law)
        or not all(one.basis.is_certain for one in cited)
    ):
        return ""
    held = (texts.holding(law_id, words) for law_id in laws)
    return next((texts.cited(passage) for passage in held if passage), "")


def _lacking(said: str, there: Sequence[str]) -> tuple[str, ...]:
    keys = frozenset[str]().union(*map(_words_of, there))
    lacking: dict[str, None] = {}
    text = fold(said)
    counted = False
    for is_noun, words in groupby(text.words, lambda word: _NOUN.match(word.kind) is not None):
        noun = list(words)
        if is_noun and not counted and any(is_content(w) and key_of(w) not in keys for w in noun):
            lacking[text.normal[noun[0].start : noun[-1].end]] = None
        # 六 of 六月以下.
        counted = noun[-1].kind == "名詞-数詞"
    law = letters("".join(there))
    return tuple(word for word in lacking if letters(word) not in law)[:_FEW]


@lru_cache(maxsize=512)
def _words_of(text: str) -> frozenset[str]:
    folded = fold(text[:LONGEST_LAW])
    return frozenset(key_of(word) for word in folded.words if is_content(word))


# Shorter common phrases occur in several articles by chance.
_LONG_SENTENCE, _SPOKEN_OF = 30, 0.5
_BORROWS = re.compile("準用|例による|適用する")
_NOUN = re.compile("名詞-(?!数詞)|形状詞|接頭辞|接尾辞-名詞的")
_FEW = 3
_MOST = 5
"""Most provisions compared with one sentence."""


def _is_each_of_its_own(statement: Statement, texts: LawTexts) -> bool:
    """Whether each figure is in the provision cited next to it: 刑法235条は…, …（刑法235条）."""
    if statement.is_beside:
        return True
    groups = [[statement.cited[0]]]
    for cited in statement.cited[1:]:
        last = groups[-1][-1].end - statement.start
        between = f" {statement.text[last : cited.start - statement.start]}"
        if said_besides(between):
            groups.append([cited])
        else:
            groups[-1].append(cited)
    if len(groups) == 1:
        return True
    whole = len(statement.text)
    forward = pairwise([0, *(group[0].start - statement.start for group in groups[1:]), whole])
    backward = pairwise([0, *(group[-1].end - statement.start for group in groups[:-1]), whole])
    return any(
        all(
            not any(
                one.kind in (*_FIGURES, MismatchKind.BOUND)
                for one in mismatches(statement.text[first:last], _sentences_of(group, texts))
            )
            for group, (first, last) in zip(groups, spans, strict=True)
        )
        for spans in (forward, backward)
    )


def _is_said_alike(said: str, sentences: Sequence[str]) -> bool:
    """Whether a text with the words of provisions also means them: 許される is not 許さない."""
    there = "".join(sentences)
    force = _closing_force(said)
    if force in (Force.FORBIDDEN, Force.EXEMPTED) and not any(
        carries(_closing_force(text[start:end]), force)
        for text in sentences
        for start, end in split_sentences(text)
        if not _LIFTS.search(text, start, end)
    ):
        # 予告をしてはならない for 予告をしなければならない and 予告をしない使用者は.
        return False
    return any(map(denies, sentences)) == denies(said) and all(
        set(telling.findall(said)) == set(telling.findall(there)) for telling in (_WITHOUT, _BOTH)
    )


@lru_cache(maxsize=512)
def _closing_force(sentence: str) -> Force:
    return closing_force(normalize(sentence).strip(" 。()"))[1]


def _is_in_order(said: str, sentences: Sequence[str]) -> bool:
    """Whether figures are in the same order in a provision."""
    told = figures_of([said])
    there = iter(figures_of(sentences))
    return len(told) <= 1 or all(any(same_figure(one, other) for other in there) for one in told)


def _sentences_of(cited: Sequence[CitedRange], texts: LawTexts) -> list[str]:
    parts: dict[Target, tuple[str, ...]] = {}
    for one in cited:
        for target in one.targets:
            # If different parts are cited, all of it is meant.
            parts[target] = one.parts if parts.get(target, one.parts) == one.parts else ()
    return [
        _sentence_of(target, passage, texts, of)
        for target, of in parts.items()
        if (passage := texts.at(target))
    ]


def _is_of_proviso(cited: CitedRange) -> bool:
    return bool(cited.parts) and all(part.startswith(("ただし", "但")) for part in cited.parts)


def _shown(
    mismatch: Mismatch, share: float, said: str, sentences: Sequence[str], *, of_proviso: bool
) -> Instead | None:
    """Return the provisions' words against a mismatch; `share` of its subjects are in them."""
    written = mismatch.written
    if mismatch.kind is MismatchKind.BOUND:
        return other_bound(written, said, sentences) if share >= _BOUND_FROM else None
    if mismatch.kind in _OPPOSITES:
        # A subordinate clause (行使することができる時から) is not the statement.
        said_last = said.rstrip(" 。）)").rfind(written)
        ends = said_last >= 0 and len(said) - said_last - len(written) <= _LAST_WORDS
        if share < _OPPOSITE_FROM or not ends or _is_turned_round(said, sentences):
            return None
        return _opposite(mismatch, said, sentences, of_proviso=of_proviso)
    if not _is_other_figure(mismatch, share, sentences):
        return None
    return Instead(written, other_figures(written, said, sentences))


def _is_other_figure(mismatch: Mismatch, share: float, sentences: Sequence[str]) -> bool:
    if mismatch.kind is MismatchKind.DATE and _LENGTH.fullmatch(mismatch.written):
        # 三月 in statutes is three months.
        there = [read_particulars(sentence) for sentence in sentences]
        return share >= _FIGURE_FROM and any(one.months or one.dates for one in there)
    if mismatch.kind not in _FIGURES or share < _FIGURE_FROM:
        return False
    if _RANGE.search(mismatch.written) or _RATE.match(mismatch.written):
        # 3〜5日: a rule of thumb, unless the provision has a range.
        return False
    own = read_particulars(mismatch.written).figures
    alike = any(are_of_one_kind(one, other) for one in own for other in figures_of(sentences))
    return alike and not is_reckoned(mismatch.written, sentences)


def _is_turned_round(said: str, sentences: Sequence[str]) -> bool:
    """Whether only one text defines the permitted by the forbidden; code does not compare these."""
    law = "".join(sentences)
    by_others = _COMPLEMENT.search(said) and not _COMPLEMENT.search(law)
    return bool(by_others or _WITHOUT.search(said) or _WITHOUT.search(law))


def _opposite(
    mismatch: Mismatch, said: str, sentences: Sequence[str], *, of_proviso: bool
) -> Instead | None:
    """Return the provision's opposite statement about the same act.

    A sentence agreeing with the rule is not wrong for its proviso, unless ただし書 alone is cited.
    A sentence in words of the proviso is not wrong for the rule.
    """
    claim = fold(said)
    said_sentences = sentences_of(claim)
    claimed = {
        one.head: one.force
        for sentence in said_sentences
        for one in sentence.predicates
        if claim.written_normal(one.start, one.end) == mismatch.written
    }
    spoken = frozenset[str]().union(*(sentence.words for sentence in said_sentences))
    texts = [fold(text) for text in sentences]
    read = [sentence for text in texts for sentence in sentences_of(text)]
    opposed: Instead | None = None
    rule = frozenset[str]()
    for sentence in with_provisos(list(with_lists(read))):
        last = max((one.end for one in sentence.predicates), default=0)
        # 緊急の必要があるときは…できる: the exception, in its own words.
        is_spoken_of = not sentence.lifts or of_proviso or (sentence.words - rule) & spoken
        for one in sentence.predicates:
            # 理由がなく…しない場合, 予告をしない使用者は: a condition, not the statement.
            is_told = one.force not in (Force.AFFIRMED, Force.DENIED) or one.end == last
            # 理由が必要である for 理由があるときは…できる.
            is_told &= one.force.is_negative or not _NEEDED.search(mismatch.written)
            if one.head not in claimed or not is_told or (of_proviso and not sentence.lifts):
                continue
            if not carries(one.force, claimed[one.head]):
                opposed = opposed or Instead(mismatch.written, tuple(_written(one, texts)))
            elif is_spoken_of:
                return None
        rule = sentence.words
    return opposed


def _written(predicate: Predicate, texts: Sequence[Folded]) -> list[str]:
    """Return the words of a predicate; "" if it comes from a proviso or a list."""
    words = [
        text.written_normal(predicate.start, predicate.end)
        for text in texts
        for sentence in sentences_of(text)
        if predicate in sentence.predicates
    ]
    return words[:1]


def _sentence_of(target: Target, passage: Passage, texts: LawTexts, parts: Sequence[str]) -> str:
    """Prepare a provision: an item with its introduction, or its 本文 alone."""
    text = bare(passage.text).strip()
    if len(parts) == 1 and parts[0] in ("本文", "前段"):
        text = text[slice(*(part_span(text, parts[0]) or (0, None)))]
    place = passage.locator
    if passage.layer != ITEMS or not place.paragraph:
        return text
    outer = texts.at(Target(target.law_id, Locator(place.division, place.article, place.paragraph)))
    stem = bare(outer.text[: outer.text.find("\n")]) if outer and "\n" in outer.text else ""
    return f"{stem.strip()}\n{text}"

"""Checks whether cited provisions exist, on the day or in another state."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby

from localrag.check.cells import TableCells
from localrag.check.law_texts import LawTexts, Stood
from localrag.check.laws import CitedRange
from localrag.check.source import RUN_TOGETHER, Flow
from localrag.check.types import Finding, Part, Verdict
from localrag.check.words import bare, letters
from localrag.corpus.types import PARAGRAPHS, Locator, Passage
from localrag.law.citations import HEADING, unread_numbers
from localrag.law.notation import COUNT, cite
from localrag.law.resolver import Resolution, Target
from localrag.law.typed import read_headings
from localrag.search.contents import sections_called
from localrag.search.provision import headings
from localrag.search.reading import around
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis.analyzer import split_sentences
from localrag_indexes.analysis.normalize import parse_numeral

# A text saying so is right.
_SAID_TO_BE_GONE = re.compile(
    r"[^。\n]{0,24}?(?:削除|廃止|存在し(?:ない|ません)|削られ|なくな)"
    r"|(?:という[^。\n]{1,6})?(?:は|が|など)(?:ない|無い|ありません|存しない|置かれていない|設けられていない)"
    r"|[^.\n]{0,40}?(?:not exist|no longer|deleted|repealed)"
)
# 同法, 規則: words for a law named before.
_NAMELESS = re.compile(
    "[同本当]?(?:法律?|[政府省]?令|内閣府令|規則|施行令|施行規則)|[同本当]条[例約]"
)
_EACH_ITEM = re.compile("各号$")
_PROVISO = re.compile("ただし|但")
_HIRAGANA = re.compile("[ぁ-ゖ]")
# Courts and writers also call the halves of one sentence 前段 and 後段 (触れ、又は… of
# 刑法54条1項). The part before a topic (…者は、) is no half.
_HALVES = re.compile(
    r"(?:[いきしちひみりぎじびえけせてねへめれげぜでべずつ]|とき|もの|場合)、"
    r"|、(?:又は?|及び|若しくは|並びに|[且か]つ)"
)
_UNDER = re.compile(rf"(?P<heading>{HEADING})(?:第[ 　]?)?{COUNT}[ 　]?[条條]")
_CAPTION = re.compile(r"[（(]([^（）()\n]{2,60})[）)]")
_LISTED = 5
_LACKING = (
    FactKind.PROVISION_LACKING,
    FactKind.PROVISION_LACKING_ALONE,
    FactKind.ITEMS_LACKING,
    FactKind.NOT_IN_OLD_TEXT,
)


def check_citation(cited: CitedRange, flow: Flow, texts: LawTexts) -> Finding:
    """Check whether a cited provision exists and has the cited caption."""
    place = flow.place(cited.start, cited.end)
    said = flow.written(place)

    def found(verdict: Verdict, problem: Fact | None, passage: Passage | None = None) -> Finding:
        return Finding(
            Part.CITATION,
            place,
            said,
            verdict,
            problem,
            *texts.told(passage),
        )

    targets = cited.targets
    passage = texts.at(targets[0]) if targets else None
    if not cited.basis.is_of_day:
        return found(Verdict.UNCHECKED, Fact(FactKind.OF_ANOTHER_DAY))
    if cited.basis.is_own and cited.basis.has_own is None:
        return found(Verdict.UNCHECKED, Fact(FactKind.OWN_ARTICLE))
    if cited.basis.is_own:
        if cited.basis.has_own:
            return found(Verdict.HOLDS, None)
        return found(Verdict.FAILS, Fact(FactKind.OWN_ARTICLE_LACKING))
    for lacking in cited.resolutions:
        if lacking.problem is not None:
            return _beside_law(found(*_missing(cited, lacking, flow, texts, said)), lacking, texts)
    if cited.is_several:
        several = tuple(
            texts.cited(one) for target in targets[:_LISTED] if (one := texts.at(target))
        )
        return found(Verdict.UNCHECKED, Fact(FactKind.CAN_MEAN_SEVERAL, provisions=several))
    if len(targets) == 1:
        gone = _SAID_TO_BE_GONE.match(flow.text, cited.end)
        if texts.deleted(targets[0]) and not gone:
            return found(Verdict.FAILS, _deleted(targets[0], texts), passage)
        for part in _parts(cited):
            verdict, problem = _part(part, cited, targets[0], texts)
            if problem is not None:
                return found(Verdict.UNCHECKED if gone else verdict, problem, passage)
        if problem := _caption(cited, targets[0], flow, texts):
            return found(Verdict.FAILS, problem, passage)
    if passage and (problem := _heading(cited, passage, texts)):
        return found(Verdict.FAILS, problem, passage)
    if _runs_backwards(targets, texts):
        return found(Verdict.UNCHECKED, Fact(FactKind.RANGE_BACKWARDS, citation=said), passage)
    return found(Verdict.HOLDS, None, passage)


def check_numbers(flow: Flow, texts: LawTexts) -> Iterator[Finding]:
    """Yield a finding for each unreadable number: 第七百〇九九条."""
    for start, end in unread_numbers(flow.text):
        place = flow.place(start, end)
        said = flow.written(place)
        problem = Fact(FactKind.NUMBER_MALFORMED, citation=said)
        yield Finding(Part.CITATION, place, said, Verdict.UNCHECKED, problem, *texts.told(None))


def _runs_backwards(targets: Sequence[Target], texts: LawTexts) -> bool:
    """Whether a range ends before its beginning: 第七百十一条から第七百九条まで."""
    if not targets:
        return False
    first, last = texts.at(targets[0]), texts.at(targets[-1])
    return first is not None and last is not None and last.start < first.start


def _beside_law(finding: Finding, lacking: Resolution, texts: LawTexts) -> Finding:
    """Complete a finding on a missing provision: a later state may have it."""
    if finding.problem is None or finding.problem.kind not in _LACKING or not lacking.cited:
        return finding
    law_id = lacking.cited[0].law_id
    return replace(finding, provision=texts.names.title(law_id), state=texts.state(law_id))


def with_every_reading(cited: CitedRange, flow: Flow, texts: LawTexts) -> CitedRange:
    """Add the other readings of a branch number run together with a paragraph.

    九五条の二一一項 is 第九十五条の二十一第一項 or 第九十五条の二第十一項. 94条の12項 may be
    第九十四条第十二項. The law decides.
    """
    run = RUN_TOGETHER.search(flow.written(flow.place(cited.start, cited.end)))
    if run is None or len(cited.resolutions) > 1:
        return cited
    (only,) = cited.resolutions
    meant = (
        Target(target.law_id, place)
        for target in only.candidates or only.cited
        for place in _cut_apart(target.locator, run["run"], run["level"])
    )
    there = tuple(dict.fromkeys(target for target in meant if texts.at(target)))
    if not there:
        return cited
    return replace(cited, resolutions=(replace(only, candidates=there, problem=None),))


def _cut_apart(place: Locator, run: str, level: str) -> Iterator[Locator]:
    """Yield the places meant by a branch number with a paragraph or item after it."""
    outer = place.article.rpartition("_")[0]
    for at in range(len(run)):
        if run[at] in "〇零0０":
            continue
        with suppress(ValueError):
            article = f"{outer}_{parse_numeral(run[:at])}" if at else outer
            number = str(parse_numeral(run[at:]))
            if level == "項":
                yield replace(place, article=article, paragraph=number)
            else:
                yield replace(place, article=article, item=number)


def without_echoes(
    flow: Flow, cited: Sequence[CitedRange], texts: LawTexts, cells: TableCells
) -> list[CitedRange]:
    """Leave out repeated citations within a sentence or table row, such as 前条."""
    starts = sorted({cells.begin(start, cited) for start, _ in split_sentences(flow.text)})
    by_sentence = groupby(cited, lambda one: bisect_right(starts, one.start))
    kept: list[CitedRange] = []
    for _, members in by_sentence:
        together = list(members)
        others = [one for one in together if one.basis.names_law]
        kept += (
            one
            for one in together
            if one.basis.names_law
            or not any(_echoes(one, other, flow, texts) for other in others[:_LISTED])
        )
    return kept


def _echoes(one: CitedRange, other: CitedRange, flow: Flow, texts: LawTexts) -> bool:
    """Whether a citation repeats words of another cited provision."""
    words = letters(flow.written(flow.place(one.start, one.end)))
    problems = [found.problem for found in one.resolutions if found.problem]
    if any(problem.kind is FactKind.CITED_LAW_LACKING for problem in problems):
        return False
    if words[:1].isdecimal():
        # 65条1項・2項: laws write 第二項.
        return False
    return any(
        words in letters(passage.header) or words in letters(passage.text)
        for target in other.targets[:_LISTED]
        if (passage := texts.at(target))
    )


def _missing(
    cited: CitedRange, one: Resolution, flow: Flow, texts: LawTexts, said: str
) -> tuple[Verdict, Fact]:
    problem = one.problem
    assert problem is not None
    if problem.kind is FactKind.CITED_LAW_LACKING:
        name = str(problem.fields["name"])
        if _NAMELESS.fullmatch(name):
            return Verdict.UNCHECKED, Fact(FactKind.LAW_UNTOLD, citation=said)
        if ids := texts.former_titles.get(name):
            return Verdict.UNCHECKED, Fact(FactKind.LAW_CALLED, title=texts.names.title(ids[0]))
        return Verdict.UNCHECKED, Fact(FactKind.NO_SUCH_LAW, name=name)
    if problem.kind in (FactKind.NOTHING_BEFORE, FactKind.NO_LAW_NAMED):
        return Verdict.UNCHECKED, Fact(FactKind.LAW_UNTOLD, citation=said)
    if not cited.basis.is_certain:
        return Verdict.UNCHECKED, Fact(FactKind.LAW_UNTOLD, citation=said)
    gone = _SAID_TO_BE_GONE.match(flow.text, cited.end)
    # Files of laws often omit supplementary provisions and appendices.
    aside = any(target.locator.division for target in one.cited)
    verdict = Verdict.UNCHECKED if gone or aside else Verdict.FAILS
    if len(one.cited) == 1 and (stood := texts.stood(one.cited[0])):
        return verdict, _of_another_state(stood, texts)
    if problem.kind is FactKind.ONLY_IN_SUPPLEMENT:
        # Lawyers omit 附則 if the number identifies it.
        return Verdict.UNCHECKED, problem
    title = texts.names.title(one.cited[0].law_id) if one.cited else ""
    if one.cited and (day := texts.may_be_later(one.cited[0])):
        return Verdict.UNCHECKED, Fact(FactKind.NOT_IN_OLD_TEXT, law=title, day=day)
    return verdict, _lacking(one, title, texts)


def _lacking(one: Resolution, title: str, texts: LawTexts) -> Fact:
    """Explain a missing provision by the last one of its kind and its neighbours."""
    there = [texts.at(target) for target in around(texts.store, one)]
    near = tuple(texts.cited(passage) for passage in there if passage)
    if not one.cited or not one.nearest:
        return Fact(FactKind.PROVISION_LACKING_ALONE, law=title)
    outer, wanted = one.nearest[0], one.cited[0].locator
    around_it = texts.at(outer) if outer.locator.article else None
    last = texts.last_within(outer if around_it else Target(outer.law_id, Locator(wanted.division)))
    called = texts.cited(around_it) if around_it else cite(title, Locator(wanted.division))
    if last is None and around_it and wanted.item and not wanted.subitem:
        return Fact(FactKind.ITEMS_LACKING, law=title, outer=called)
    if last is None or not near:
        return Fact(FactKind.PROVISION_LACKING_ALONE, law=title)
    if around_it and (end := texts.at(Target(outer.law_id, last))):
        near = (texts.cited(end),)
    ends = cite("", _innermost(last), arabic=True)
    return Fact(FactKind.PROVISION_LACKING, law=title, near=near, outer=called, last=ends)


def _innermost(place: Locator) -> Locator:
    if place.subitem:
        return Locator(subitem=place.subitem)
    if place.item:
        return Locator(item=place.item)
    return Locator(paragraph=place.paragraph) if place.paragraph else Locator(article=place.article)


def _parts(cited: CitedRange) -> tuple[str, ...]:
    """Return the cited parts of a provision; 各号 requires items."""
    return cited.parts or tuple(_EACH_ITEM.findall(cited.text))


def _part(
    part: str, cited: CitedRange, target: Target, texts: LawTexts
) -> tuple[Verdict, Fact | None]:
    passage = texts.at(target)
    has = passage is None or _has_part(part, passage, texts)
    if has:
        return Verdict.HOLDS, None
    part = f"各号{part}" if part.startswith("列記") else part
    if has is None:
        return Verdict.UNCHECKED, Fact(FactKind.PART_UNTOLD, part=part)
    assert passage is not None
    if not cited.basis.is_certain:
        return Verdict.UNCHECKED, Fact(FactKind.LAW_UNTOLD, citation=cited.text)
    provision = texts.cited(passage)
    if target.locator.division:
        # Files of laws often omit the exceptions of supplementary provisions.
        return Verdict.UNCHECKED, Fact(FactKind.PART_LACKING, provision=provision, part=part)
    for state, other in texts.other_states(target):
        if _has_part(part, other, texts):
            day = state.metadata.get("date", "")
            told = Fact(FactKind.PART_OF_STATE, provision=provision, part=part, day=day)
            return Verdict.FAILS, told
    if day := texts.may_be_later(target):
        told = Fact(FactKind.PART_NOT_IN_OLD_TEXT, provision=provision, part=part, day=day)
        return Verdict.UNCHECKED, told
    return Verdict.FAILS, Fact(FactKind.PART_LACKING, provision=provision, part=part)


def _has_part(part: str, passage: Passage, texts: LawTexts) -> bool | None:
    """Whether a provision has a ただし書, a 後段 …; None if its text does not show it."""
    inner = texts.store.within(passage.document_id, passage.locator, PARAGRAPHS)
    units = [bare(one.text).strip() for one in inner or [passage]]
    is_listing = any("\n" in unit for unit in units)
    has_proviso = _PROVISO.search(passage.text) is not None
    if part.startswith(("ただし", "但")):
        return has_proviso
    if part.startswith(("柱", "各号", "列記")):
        return is_listing
    stems = [unit.partition("\n")[0] for unit in units]
    if part == "本文":
        # Some writers call the words outside the items or the brackets so.
        is_plain = not is_listing and not any("（" in stem for stem in stems)
        return has_proviso or (False if is_plain else None)
    read = [[stem[start:end] for start, end in split_sentences(stem)] for stem in stems]
    if any(sum(not _PROVISO.match(one) for one in sentences) > 1 for sentences in read):
        return True
    is_told = all(_HIRAGANA.search(stem) and not _HALVES.search(stem) for stem in stems)
    return False if is_told and not has_proviso else None


def _deleted(target: Target, texts: LawTexts) -> Fact:
    if stood := texts.stood(target):
        return _of_another_state(stood, texts)
    return Fact(FactKind.PROVISION_DELETED)


def _of_another_state(stood: Stood, texts: LawTexts) -> Fact:
    day = stood.state.metadata.get("date", "")
    if stood.now is None:
        return Fact(FactKind.PROVISION_GONE, day=day)
    return Fact(FactKind.PROVISION_MOVED, day=day, now=texts.cited(stood.now))


def _heading(cited: CitedRange, passage: Passage, texts: LawTexts) -> Fact | None:
    """Return the problem with a cited heading: 民法第三編第百三条."""
    written = _UNDER.search(cited.text)
    if written is None or not cited.basis.is_certain:
        return None
    heading, law = written["heading"].strip(" 　"), passage.document_id
    parts = sections_called(texts.store, [law], read_headings(heading))
    if any(part.start <= passage.start < part.end for _, part in parts):
        return None
    if under := " ".join(headings(texts.store, passage)):
        return Fact(FactKind.UNDER_ANOTHER_HEADING, heading=heading, under=under)
    return Fact(FactKind.PART_LACKING, provision=texts.names.title(law), part=heading)


def _caption(cited: CitedRange, target: Target, flow: Flow, texts: LawTexts) -> Fact | None:
    article = texts.article(target)
    written = _CAPTION.match(flow.text, cited.end)
    if written is None or not article.locator.article:
        return None
    words, own = letters(written[1]), texts.caption(article)
    others = texts.captioned(target.law_id, written[1])
    if not others or article in others or words == letters(own or texts.caption_before(article)):
        return None
    passage = texts.at(target) if target.locator.paragraph else None
    if passage and words in letters(passage.text):
        # 第二条第三項（渡し場）: the subject of the paragraph in the writer's words.
        return None
    where = tuple(texts.cited(one) for other in others[:_LISTED] if (one := texts.at(other)))
    if not own:
        return Fact(FactKind.CAPTION_OF_ANOTHER, where=where)
    return Fact(FactKind.CAPTION_ELSEWHERE, caption=own, where=where)

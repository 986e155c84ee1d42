"""Whether the provisions that a text cites are there: in the state of the day, or elsewhere."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import groupby

from localrag.check.law_texts import LawTexts, Stood
from localrag.check.laws import Cited
from localrag.check.source import Flow
from localrag.check.types import Finding, Part, Verdict
from localrag.check.words import letters
from localrag.corpus.types import Passage
from localrag.facts import Fact, FactKind
from localrag.finding import around
from localrag.statutes.resolver import Resolution, Target
from localrag_indexes.analysis.sentences import split_sentences

# Who says that a provision is gone is right.
_SAID_TO_BE_GONE = re.compile(r"[^。\n]{0,24}?(?:削除|廃止|存在し(?:ない|ません)|削られ|なくな)")
_CAPTION = re.compile(r"[（(]([^（）()\n]{2,60})[）)]")
_LISTED = 5


def check_citation(cited: Cited, flow: Flow, texts: LawTexts) -> Finding:
    """Tell whether the provision that a citation names is there, and under its caption."""
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
    for lacking in cited.resolutions:
        if lacking.problem is not None:
            return found(*_missing(cited, lacking, flow, texts, said))
    if cited.is_several:
        several = tuple(
            texts.cited(one) for target in targets[:_LISTED] if (one := texts.at(target))
        )
        return found(Verdict.UNCHECKED, Fact(FactKind.CAN_MEAN_SEVERAL, provisions=several))
    if len(targets) == 1:
        gone = _SAID_TO_BE_GONE.match(flow.text, cited.end)
        if texts.deleted(targets[0]) and not gone:
            return found(Verdict.FAILS, _deleted(targets[0], texts), passage)
        if problem := _caption(cited, targets[0], flow, texts):
            return found(Verdict.FAILS, problem, passage)
    return found(Verdict.HOLDS, None, passage)


def without_echoes(text: str, cited: Sequence[Cited], texts: LawTexts) -> list[Cited]:
    """Leave out what a sentence repeats of a provision that it cites: its words, 前条 among them.

    Args:
        text: as it flows.
        cited: in order.
        texts: the laws.
    """
    starts = [start for start, _ in split_sentences(text)]
    by_sentence = groupby(cited, lambda one: bisect_right(starts, one.start))
    kept: list[Cited] = []
    for _, members in by_sentence:
        together = list(members)
        others = [one for one in together if one.basis.names_law]
        kept += (
            one
            for one in together
            if one.basis.names_law
            or not any(_echoes(one, other, texts) for other in others[:_LISTED])
        )
    return kept


def _echoes(one: Cited, other: Cited, texts: LawTexts) -> bool:
    """Whether a citation is one that stands in another provision cited."""
    words = letters(one.text)
    return any(
        words in letters(passage.header) or words in letters(passage.text)
        for target in other.targets[:_LISTED]
        if (passage := texts.at(target))
    )


def _missing(
    cited: Cited, one: Resolution, flow: Flow, texts: LawTexts, said: str
) -> tuple[Verdict, Fact]:
    """What is told of a provision that was not found."""
    problem = one.problem
    assert problem is not None
    if problem.kind is FactKind.CITED_LAW_LACKING:
        return Verdict.UNCHECKED, Fact(FactKind.NO_SUCH_LAW, name=str(problem.fields["name"]))
    if cited.basis.is_own:
        return Verdict.UNCHECKED, Fact(FactKind.OWN_ARTICLE)
    if problem.kind in (FactKind.NOTHING_BEFORE, FactKind.NO_LAW_NAMED):
        return Verdict.UNCHECKED, Fact(FactKind.LAW_UNTOLD, citation=said)
    if not cited.basis.is_certain:
        return Verdict.UNCHECKED, Fact(FactKind.LAW_UNTOLD, citation=said)
    gone = _SAID_TO_BE_GONE.match(flow.text, cited.end)
    # What stands in a supplement or an appendix, texts of laws often leave out.
    aside = any(target.locator.division for target in one.cited)
    verdict = Verdict.UNCHECKED if gone or aside else Verdict.FAILS
    if len(one.cited) == 1 and (stood := texts.stood(one.cited[0])):
        return verdict, _of_another_state(stood, texts)
    if problem.kind is FactKind.ONLY_IN_SUPPLEMENT:
        # Lawyers leave out 附則 where the number tells it.
        return Verdict.UNCHECKED, problem
    there = [texts.at(target) for target in around(texts.store, one)]
    near = tuple(texts.cited(passage) for passage in there if passage)
    title = texts.names.title(one.cited[0].law_id) if one.cited else ""
    if near:
        return verdict, Fact(FactKind.PROVISION_LACKING, law=title, near=near)
    return verdict, Fact(FactKind.PROVISION_LACKING_ALONE, law=title)


def _deleted(target: Target, texts: LawTexts) -> Fact:
    if stood := texts.stood(target):
        return _of_another_state(stood, texts)
    return Fact(FactKind.PROVISION_DELETED)


def _of_another_state(stood: Stood, texts: LawTexts) -> Fact:
    """What became of a provision that another state has."""
    day = stood.state.metadata.get("date", "")
    if stood.now is None:
        return Fact(FactKind.PROVISION_GONE, day=day)
    return Fact(FactKind.PROVISION_MOVED, day=day, now=texts.cited(stood.now))


def _caption(cited: Cited, target: Target, flow: Flow, texts: LawTexts) -> Fact | None:
    """What is wrong with the caption in the brackets behind a citation: that of another article."""
    written = _CAPTION.match(flow.text, cited.end)
    own = texts.caption(texts.article(target))
    if written is None or not own or letters(written[1]) == letters(own):
        return None
    others = texts.captioned(target.law_id, written[1])
    if not others or texts.article(target) in others:
        return None
    where = tuple(texts.cited(one) for other in others[:_LISTED] if (one := texts.at(other)))
    return Fact(FactKind.CAPTION_ELSEWHERE, caption=own, where=where)

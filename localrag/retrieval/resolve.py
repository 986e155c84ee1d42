"""Stage `resolve`: the provisions a question names, exactly."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from localrag.corpus.lookups import Lookups
from localrag.corpus.types import Locator
from localrag.facts import Fact, FactKind
from localrag.question.asked import crimes_named
from localrag.question.english_citations import english_citations
from localrag.question.laws import (
    LawNamed,
    names_near,
    without_names,
    without_states,
)
from localrag.retrieval.edges import NO_MEANING, Meaning, meaning_asked
from localrag.retrieval.query import asked_of, asks_nothing_else
from localrag.retrieval.scope import NO_LAWS, Scope
from localrag.retrieval.trail import Reason
from localrag.retrieval.types import Query, absent_among
from localrag.retrieval.units import Admission, Scores, article_unit
from localrag.statutes.names import LawNames
from localrag.statutes.notation import caption_of
from localrag.statutes.resolver import CitationResolver, Resolution, Target
from localrag_indexes.analysis.characters import with_blanks

STAGE = "resolve"

_PENAL_CODE = "刑法"

IN_QUESTION = 1.0
"""Score of a provision that the question itself names."""
IN_OPTION = 0.8
"""Score of a provision that one of the options names: one suggestion among several."""

# 709条以外, 709条を除く, 709条は別として, 709条ではなく, other than Article 709: what is asked for
# stands elsewhere. 709条ではないか asks for it, as do 709条は除斥期間か and 709条でなくては.
_LEFT_OUT = re.compile(
    "(?:の規定|の罪)?(?:以外|[はを]?除(?:[いかきくけこ]|外)|[はを](?:別と?に?し|さておき|ともかく|抜き|抜かし)|抜きで|のほか|の他[にの]"
    "|(?:で|じゃ)は?なく(?!な|て[はも]))"
)
_LEFT_OUT_IN_ENGLISH = re.compile(
    r"\b(?:except(?:ing)?|exclud(?:ing|es?)|other than|apart from|aside from|besides|instead of"
    r"|rather than|but not)(?: for)?(?: the)? $",
    re.IGNORECASE,
)
_LONGEST_LEFT_OUT = 20
# Articles of a law among which its purpose stands.
_HEAD, _PURPOSE = 3, "目的"
# 特許方 of 特許方35条, which names no law.
_LONGEST_WORD = 30
_WORD_BEFORE = re.compile(f"[一-鿿々ァ-ヶー]{{2,{_LONGEST_WORD}}}$")
_MOST_NEAR = 3
_LISTED = re.compile(r"[、,・ 　]|及び|又は|および|または|と|や|,? (?:and|or) |, ")


@dataclass(slots=True)
class Resolved:
    """What a question names.

    Attributes:
        targets: score of every provision named, most exact place kept.
        named: for each of them that the question or an option names, the words that name it.
        asked_for: those that the question itself names, or whose term it asks the meaning of.
        cited: those that the question itself cites, in its order, each the only one it can mean.
        cites: whether the last of several questions cites some itself.
        left_out: those that it says it does not ask for (709条以外).
        text: the question with blanks in the place of the words that leave them out.
        meaning: where the term is defined that the question asks the meaning of.
        undefined: that term, where no provision defines it or bears its name; empty where there are
            texts besides laws, which may.
        missing: what the question names and the corpus does not hold, as written.
        events: what is told of citations, of the term, and of the laws asked for.
    """

    targets: dict[Target, float] = field(default_factory=dict)
    named: dict[Target, str] = field(default_factory=dict)
    asked_for: list[Target] = field(default_factory=list)
    cited: list[Target] = field(default_factory=list)
    cites: bool = False
    left_out: list[Target] = field(default_factory=list)
    text: str = ""
    meaning: Meaning = NO_MEANING
    undefined: str = ""
    missing: list[str] = field(default_factory=list)
    events: list[Fact] = field(default_factory=list)

    def lead_with(self, target: Target, words: str) -> None:
        """Enter what is quoted first, though it is not cited by its number.

        Args:
            target: the provision.
            words: of the question, or the heading, that lead to it.
        """
        self.targets[target] = IN_QUESTION
        self.named[target] = words
        self.asked_for.append(target)
        self.cited.append(target)

    @property
    def units(self) -> Scores:
        """Scores of the units the targets belong to."""
        scores: dict[str, float] = {}
        for target, score in self.targets.items():
            if target.locator != Locator():
                unit = article_unit(target.law_id, target.locator)
                scores[unit] = max(score, scores.get(unit, 0.0))
        return scores

    @property
    def not_asked_for(self) -> frozenset[str]:
        """The units that the question leaves out as a whole."""
        return frozenset(
            article_unit(target.law_id, target.locator)
            for target in self.left_out
            if not target.locator.paragraph
        )

    @property
    def reasons(self) -> dict[str, Reason]:
        """For each unit, the words that name it, or the term it defines."""
        defines = Reason(FactKind.DEFINES, self.meaning.term)
        return dict.fromkeys(self.meaning.units, defines) | {
            article_unit(target.law_id, target.locator): Reason(FactKind.NAMED, words)
            for target, words in self.named.items()
        }


def resolve(
    resolver: CitationResolver,
    store: Lookups,
    query: Query,
    names: LawNames,
    admission: Admission,
    scope: Scope = NO_LAWS,
) -> Resolved:
    """Resolve the citations of a question and its options, as far as the filters admit them.

    An option is read after the question, so that its bare 第三条 is of the law that the question
    speaks of. Asking what a term means names the provisions that define it, in the laws that the
    question names where it names some. A crime named (詐欺罪) is the article with its name in the
    caption, in the laws that the question names, else in the penal code.
    """
    resolved = Resolved(text=query.text)
    in_english: Sequence[Resolution] = list(cited_in_english(resolver, query.text, scope.laws))
    in_japanese: Sequence[Resolution] = resolver.resolve(without_states(query.text))
    # The questions before the last one tell what it cites: 第5項 after 会社法362条4項.
    last = query.last_start
    resolved.cites = last > 0 and any(one.start >= last for one in (*in_english, *in_japanese))
    if resolved.cites:
        in_english = [one for one in in_english if one.start >= last]
        in_japanese = [one for one in in_japanese if one.start >= last]
    citing: list[Resolution] = []
    for asked, elsewhere in (
        _parted(in_japanese, query.text),
        _parted_in_english(in_english, query.text),
    ):
        citing += asked
        resolved.left_out += (target for one in elsewhere for target in one.candidates)
        resolved.text = _without(resolved.text, elsewhere, scope.laws)
    for resolution in citing:
        _enter(resolved, resolution, IN_QUESTION, admission)
        if not (resolution.candidates or _articles(resolution)):
            resolved.missing.append(resolution.text)
        if len(resolution.candidates) == 1 and resolution.candidates[0] in resolved.targets:
            resolved.cited += resolution.candidates
    resolved.events += slips(citing, query.text, names, scope.laws)
    resolved.asked_for += resolved.targets
    query = replace(query, text=resolved.text)
    matter = asked_of(query, scope.laws).text.strip()
    resolved.meaning = meaning_asked(store, names, matter, admission, scope)
    _enter_meaning(resolved)
    laws = {law_id for law in scope.laws for law_id in law.law_ids}
    for target, crime in _on_crimes(store, query.text, laws or names.lookup(_PENAL_CODE)):
        if admission.admits(target.law_id) and target not in resolved.left_out:
            resolved.lead_with(target, crime)
    if resolved.meaning.undefined and store.is_of_laws and not (resolved.targets or citing):
        resolved.undefined = resolved.meaning.undefined
        resolved.events.append(Fact(FactKind.NOT_DEFINED, term=resolved.undefined))
    if not (resolved.targets or resolved.missing or query.options):
        for target, law in _opening(store, query.text, scope):
            if admission.admits(target.law_id):
                resolved.lead_with(target, law.words)
                resolved.events.append(Fact(FactKind.CONTENTS_ELSEWHERE, law=law.words))
    for option in query.options:
        prefix = f"{query.text}\n"
        for resolution in resolver.resolve(prefix + option):
            if resolution.start >= len(prefix):
                _enter(resolved, resolution, IN_OPTION, admission)
    return resolved


def _opening(store: Lookups, question: str, scope: Scope) -> Iterator[tuple[Target, LawNamed]]:
    """Of each law that a question asks for alone (民法とは) its purpose, else its first article."""
    if not asks_nothing_else(without_names(question, scope.laws)):
        return
    for law in scope.laws:
        places = list(map(Locator.parse, store.articles(law.law_ids[0]) if law.law_ids else ()))
        headers = store.headers(law.law_ids[0], places[:_HEAD]) if places else {}
        purposes = (place for place in places[:_HEAD] if _PURPOSE in caption_of(headers[place]))
        for place in (next(purposes, None) or place for place in places[:1]):
            yield Target(law.law_ids[0], place), law


def _parted(
    resolutions: Sequence[Resolution], question: str
) -> tuple[list[Resolution], list[Resolution]]:
    """The citations that a question asks of, and those that it leaves out."""
    asked: list[Resolution] = []
    left_out: list[Resolution] = []
    following = len(question)
    for one in reversed(resolutions):
        listed = left_out and _LISTED.fullmatch(question, one.end, following)
        of_one_range = left_out and left_out[0].start == one.start
        is_out = _LEFT_OUT.match(question, one.end) or listed or of_one_range
        (left_out if is_out else asked).insert(0, one)
        following = one.start if is_out else -1
    return asked, left_out


def _parted_in_english(
    resolutions: Sequence[Resolution], question: str
) -> tuple[list[Resolution], list[Resolution]]:
    """The same in English, which says it before the first of a list."""
    asked: list[Resolution] = []
    left_out: list[Resolution] = []
    out_until = -1
    for one in resolutions:
        before = question[max(0, one.start - _LONGEST_LEFT_OUT) : one.start]
        listed = 0 <= out_until <= one.start and _LISTED.fullmatch(question, out_until, one.start)
        is_out = _LEFT_OUT_IN_ENGLISH.search(before) or listed or one.end == out_until
        (left_out if is_out else asked).append(one)
        out_until = one.end if is_out else -1
    return asked, left_out


def _without(question: str, left_out: Iterable[Resolution], laws: Sequence[LawNamed]) -> str:
    """The question with blanks in the place of the provisions that it leaves out (235条以外).

    Looked up as words, their numbers would find what names them. The name of their law stays.
    """
    for one in left_out:
        start = max(
            (law.end for law in laws if one.start <= law.start < one.end), default=one.start
        )
        before = _LEFT_OUT_IN_ENGLISH.search(question, max(0, start - _LONGEST_LEFT_OUT), start)
        behind = _LEFT_OUT.match(question, one.end)
        start = before.start() if before else start
        end = behind.end() if behind else one.end
        question = with_blanks(question, [(start, end)])
    return question


def slips(
    citing: Iterable[Resolution], question: str, names: LawNames, laws: Sequence[LawNamed] = ()
) -> Iterator[Fact]:
    """The laws that words may be slips for which stand in the place of a law: 特許方35条.

    Args:
        citing: the citations of the question.
        question: as asked.
        names: the laws of the corpus.
        laws: that the question names.
    """
    words = list(absent_among(laws))
    for problem, start in ((one.problem, one.start) for one in citing):
        if problem is not None and problem.kind is FactKind.CITED_LAW_LACKING:
            words.append(str(problem.fields["name"]))
        elif problem is not None and problem.kind is FactKind.NO_LAW_NAMED:
            words += _WORD_BEFORE.findall(question[max(0, start - _LONGEST_WORD) : start])
    for word in dict.fromkeys(words):
        if near := names_near(word, names):
            yield Fact(FactKind.LAW_NEAR, name=word, near=near[:_MOST_NEAR])


def cited_in_english(
    resolver: CitationResolver, text: str, laws: Sequence[LawNamed]
) -> Iterator[Resolution]:
    """Resolve the provisions that a text cites in English, of the laws that it names."""
    for citation in english_citations(text, laws):
        for law_id in citation.law.law_ids:
            for resolution in resolver.resolve(citation.place, law_id=law_id):
                end = citation.start + len(citation.words)
                yield replace(resolution, start=citation.start, end=end, text=citation.words)


def _articles(resolution: Resolution) -> list[Target]:
    """The articles around what a law turned out not to have."""
    return [target for target in resolution.nearest if target.locator != Locator()]


def _enter_meaning(resolved: Resolved) -> None:
    for one in resolved.meaning.main:
        target = Target(one.document_id, one.locator)
        resolved.targets.setdefault(target, IN_QUESTION)
        resolved.asked_for.append(target)
    resolved.events += resolved.meaning.events


def _on_crimes(
    store: Lookups, question: str, law_ids: Collection[str]
) -> Iterator[tuple[Target, str]]:
    """The articles that have the name of a crime for their caption."""
    crimes = crimes_named(question)
    for law_id in law_ids if crimes else ():
        places = map(Locator.parse, store.articles(law_id))
        for place, header in store.headers(law_id, places).items():
            if (caption := caption_of(header)) in crimes:
                yield Target(law_id, place), f"{caption}罪"


def _enter(resolved: Resolved, resolution: Resolution, score: float, admission: Admission) -> None:
    if resolution.problem:
        resolved.events.append(resolution.problem)
    elif len(resolution.candidates) > 1:
        count = len(resolution.candidates)
        resolved.events.append(Fact(FactKind.AMBIGUOUS, citation=resolution.text, n=count))
    # What is cited but does not exist stands in the text of another year, or is a slip: the
    # article around it is as good as suggested.
    targets = resolution.candidates or _articles(resolution)
    score = score if resolution.candidates else score * IN_OPTION
    for target in targets:
        share = score / len(targets)
        if admission.admits(target.law_id) and share > resolved.targets.get(target, 0.0):
            resolved.targets[target] = share
            resolved.named[target] = resolution.text

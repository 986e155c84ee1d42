"""Reads a question once: the laws and provisions it names, what it asks for, what to search for.

Later steps use the `Reading` and do not read the question again. Step `resolve` finds the
provisions named.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice
from typing import NamedTuple

from localrag.corpus.links import Definition
from localrag.corpus.lookups import Lookups
from localrag.corpus.types import ARTICLES, Locator, caption_of
from localrag.law.citations import find_citations
from localrag.law.names import LawNames
from localrag.law.provisions import order_of
from localrag.law.resolver import Resolution, Target
from localrag.law.typed import written_out
from localrag.search.query import (
    NO_LAWS,
    Scope,
    analyzer,
    asked_of,
    asks_nothing_else,
    full_text,
    scope_of,
)
from localrag.search.question.asked import (
    AskedFigure,
    OrderAsked,
    PenaltyAsked,
    figure_asked,
    orders_asked,
    penalty_asked,
    term_alone_asked,
    terms_asked,
)
from localrag.search.question.everyday import (
    EverydayWord,
    english_citations,
    english_places,
    wordings,
)
from localrag.search.question.laws import (
    LawNamed,
    matters_of_absent_laws,
    names_near,
    without_names,
    without_states,
)
from localrag.search.search import Searchable
from localrag.search.types import Hit, Link, Query, Reason, Trace, absent_among
from localrag.search.units import Admission, Scores, article_unit
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis.normalize import with_blanks

RESOLVE = "resolve"
"""The step that finds the provisions named, exactly."""

IN_QUESTION = 1.0
"""Score of a provision named in the question itself."""
IN_OPTION = 0.8
"""Score of a provision named in an option: one suggestion of several."""

# 709条以外, 709条を除く, 709条は別として, 709条ではなく, other than Article 709: the answer is
# elsewhere. But 709条ではないか, 709条は除斥期間か and 709条でなくては ask for the article.
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
# 特許方 in 特許方35条 is not a law.
_LONGEST_WORD = 30
_WORD_BEFORE = re.compile(f"[一-鿿々ァ-ヶー]{{2,{_LONGEST_WORD}}}$")
_MOST_NEAR = 3
# At most this many absent laws are named by the matter of a question.
_MOST_MATTERS = 2
# The purpose of a law is among its first articles.
_HEAD, _PURPOSE = 3, "目的"
_LISTED = re.compile(r"[、,・ 　]|及び|又は|および|または|と|や|,? (?:and|or) |, ")

# Longest question taken as typed by a person, in characters.
_TYPED = 200


# At most this many definitions of a term.
_MOST_DEFINITIONS = 8


class Meaning(NamedTuple):
    """Definitions of the term asked about.

    Attributes:
        term: as in the question; "" if it asks for no meaning, or no definition was found.
        definitions: best first.
        events: a note on the laws defining it, if several do.
        undefined: the term, if only its meaning is asked for and no law defines it.
    """

    term: str = ""
    definitions: tuple[Definition, ...] = ()
    events: tuple[Fact, ...] = ()
    undefined: str = ""

    @property
    def units(self) -> tuple[str, ...]:
        """Their units, best first, each once."""
        units = (article_unit(one.document_id, one.locator) for one in self.definitions)
        return tuple(dict.fromkeys(units))


NO_MEANING = Meaning()
"""For questions about something else."""


@dataclass(slots=True)
class Resolved:
    """The provisions named in a question.

    Attributes:
        targets: score of every provision named, at its most exact place.
        named: the words that name each of them.
        asked_for: provisions named in the question itself, or defining the term it asks about.
        cited: unambiguous citations of the question itself, in order.
        cites: whether the last of several questions has citations of its own.
        left_out: provisions excluded by the question (709条以外).
        text: the question with the excluding words blanked.
        meaning: definitions of the term asked about.
        undefined: that term, if no provision defines it or has its name. "" if the corpus has other
            documents, since one of them may.
        missing: citations of provisions missing from the corpus, as written.
        events: notes on citations, on the term and on the laws asked for.
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
        """Quote a provision first although its number is not cited.

        Args:
            target: the provision.
            words: of the question, or the heading, that name it.
        """
        self.targets[target] = IN_QUESTION
        self.named[target] = words
        self.asked_for.append(target)
        self.cited.append(target)

    @property
    def units(self) -> Scores:
        """Scores of the units of the targets."""
        scores: dict[str, float] = {}
        for target, score in self.targets.items():
            if target.locator != Locator():
                unit = article_unit(target.law_id, target.locator)
                scores[unit] = max(score, scores.get(unit, 0.0))
        return scores

    @property
    def not_asked_for(self) -> frozenset[str]:
        """Units excluded as a whole."""
        return frozenset(
            article_unit(target.law_id, target.locator)
            for target in self.left_out
            if not target.locator.paragraph
        )

    @property
    def reasons(self) -> dict[str, Reason]:
        """For each unit, the words naming it or the term it defines."""
        defines = Reason(FactKind.DEFINES, self.meaning.term)
        return dict.fromkeys(self.meaning.units, defines) | {
            article_unit(target.law_id, target.locator): Reason(FactKind.NAMED, words)
            for target, words in self.named.items()
        }


@dataclass(frozen=True)
class Reading:
    """A question, read.

    Attributes:
        query: the question with short citations written out and excluded provisions blanked.
        scope: the laws named.
        resolved: the provisions named, and the term asked about.
        everyday: everyday words with their statutory counterparts.
        penalty: the penalty asked for, or None.
        is_of_law: whether a person typed it and laws may answer it.
    """

    query: Query
    scope: Scope = NO_LAWS
    resolved: Resolved = field(default_factory=Resolved)
    everyday: tuple[EverydayWord, ...] = ()
    penalty: PenaltyAsked | None = None
    is_of_law: bool = False

    @property
    def laws(self) -> tuple[LawNamed, ...]:
        """The laws named, in order; none in a corpus without statutes."""
        return self.scope.laws

    @property
    def absent(self) -> tuple[str, ...]:
        """The laws named and missing from the corpus, as written, each once."""
        return self.scope.absent

    @property
    def named(self) -> tuple[Target, ...]:
        """The provisions named in the question itself, or defining the term asked about."""
        return tuple(self.resolved.asked_for)

    @property
    def missing(self) -> tuple[str, ...]:
        """The provisions named and missing from the corpus, as written."""
        return tuple(self.resolved.missing)

    @property
    def undefined(self) -> str:
        """The term asked about, if nothing else is asked and no provision defines it."""
        return self.resolved.undefined

    @cached_property
    def sought(self) -> Query:
        """The text to search for: for a question about a penalty the offence, else the question."""
        return replace(self.query, text=self.penalty.doing) if self.penalty else self.query

    @cached_property
    def matter(self) -> str:
        """The text to search for with the options, without names of laws."""
        return full_text(asked_of(self.sought, self.laws))

    @cached_property
    def beside(self) -> str:
        """The text to search for with laws and provisions blanked."""
        return self._beside(self.sought.text)

    @cached_property
    def asks_no_more(self) -> bool:
        """Whether the question has nothing besides laws and provisions."""
        return asks_nothing_else(self._beside(self.query.text))

    @cached_property
    def figure(self) -> AskedFigure | None:
        """The figure asked for, or None."""
        return figure_asked(self.matter)

    @cached_property
    def orders(self) -> tuple[OrderAsked, ...]:
        """The delegated points asked for, in order."""
        return orders_asked(self.sought.text)

    @cached_property
    def punishing(self) -> tuple[str, ...]:
        """Ids of laws whose penalties are all asked for: the question names no offence."""
        if not self.penalty or analyzer().terms(without_names(self.penalty.doing, self.laws)):
            return ()
        return tuple(dict.fromkeys(law_id for law in self.laws for law_id in law.law_ids))

    def _beside(self, question: str) -> str:
        in_english = english_citations(question, self.laws)
        question = with_blanks(
            question, ((one.start, one.start + len(one.words)) for one in in_english)
        )
        question = without_names(question, self.laws)
        return with_blanks(question, ((one.start, one.end) for one in find_citations(question)))


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The result of one query.

    Attributes:
        hits: best first.
        trace: the record of each step.
        reading: the question, read.
        cited: unambiguous provisions cited by number and admitted by the filters, in order. For a
            law asked for as a whole, its purpose or first article.
        links: hits that answer for other hits, best first.
        searches: the result of each search, the question's own first, if a model wrote others.
    """

    hits: tuple[Hit, ...]
    trace: Trace
    reading: Reading
    cited: tuple[Target, ...] = ()
    links: tuple[Link, ...] = ()
    searches: "tuple[Retrieval, ...]" = ()

    @property
    def laws(self) -> tuple[LawNamed, ...]:
        """The laws named."""
        return self.reading.laws

    @property
    def absent(self) -> tuple[str, ...]:
        """The laws named and missing from the corpus, as written, each once."""
        return self.reading.absent


def read(asked: Query, corpus: Searchable, admission: Admission) -> Reading:
    """Read a question.

    Args:
        asked: the question, checked.
        corpus: has the names of laws and their definitions.
        admission: which documents may be found.
    """
    if asked.filters.layers and ARTICLES not in asked.filters.layers:
        return Reading(asked)
    asked = replace(asked, text=written_out(asked.text, corpus.names))
    scope = scope_of(asked, corpus.names, corpus.store, corpus.orders)
    resolved = resolve(corpus, asked, admission, scope)
    scope = scope.with_cited(target.law_id for target in resolved.targets)
    asked = replace(asked, text=resolved.text)
    # Options and long texts are not in everyday words.
    if not corpus.names.rows or asked.options or len(asked.text) > _TYPED:
        return Reading(asked, scope, resolved)
    # "Art." in a citation and names of laws are not words of the matter.
    besides = [(law.start, law.end) for law in scope.laws]
    besides += ((one.start, one.end) for one in english_places(asked.text))
    everyday = wordings(asked.text, besides)
    penalty = penalty_asked(asked.text)
    if penalty:
        # Words that only ask (罰せられ) are not part of the offence.
        said = penalty.doing
        everyday = tuple(
            one for one in everyday if any(map(str.isalnum, said[one.start : one.end]))
        )
    return Reading(asked, scope, resolved, everyday, penalty, is_of_law=True)


def resolve(
    corpus: Searchable, query: Query, admission: Admission, scope: Scope = NO_LAWS
) -> Resolved:
    """Resolve the citations of a question and its options, within the filters.

    An option is read after the question: its bare 第三条 refers to the law of the question. A
    question about a term names the provisions defining it, in the laws named if there are any.
    """
    store, names = corpus.store, corpus.names
    resolved = Resolved(text=query.text)
    in_english = list(cited_in_english(corpus.resolve, query.text, scope.laws))
    in_japanese = corpus.resolve(without_states(query.text))
    # Earlier questions complete a citation: 第5項 after 会社法362条4項.
    last = query.last_start
    resolved.cites = last > 0 and any(one.start >= last for one in (*in_english, *in_japanese))
    if resolved.cites:
        in_english = [one for one in in_english if one.start >= last]
        in_japanese = [one for one in in_japanese if one.start >= last]
    citing: list[Resolution] = []
    missing: list[Resolution] = []
    for asked, elsewhere in (
        _parted(in_japanese, query.text, in_english=False),
        _parted(in_english, query.text, in_english=True),
    ):
        citing += asked
        resolved.left_out += (target for one in elsewhere for target in one.candidates)
        resolved.text = _without(resolved.text, elsewhere, scope.laws)
    for resolution in citing:
        _enter(resolved, resolution, IN_QUESTION, admission)
        # If the article exists without the paragraph cited, quote the article.
        named = resolution.candidates or _articles(resolution)
        if not named:
            missing.append(resolution)
        if len(named) == 1 and named[0] in resolved.targets:
            resolved.cited += named
    resolved.events += slips(citing, query.text, names, scope.laws)
    if store.is_of_laws and not scope.laws:
        for matter, title in islice(matters_of_absent_laws(query.text, names), _MOST_MATTERS):
            resolved.events.append(Fact(FactKind.LAW_OF_MATTER, matter=matter, law=title))
    resolved.asked_for += resolved.targets
    resolved.missing += (one.text for one in missing)
    # Show the neighbours of a missing article without quoting them.
    for target in (target for one in missing for target in around(store, one)):
        if target.locator != Locator() and admission.admits(target.law_id):
            resolved.targets.setdefault(target, IN_QUESTION)
    query = replace(query, text=resolved.text)
    matter = asked_of(query, scope.laws).text.strip()
    resolved.meaning = meaning_asked(store, names, matter, admission, scope)
    _enter_meaning(resolved)
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
        for resolution in corpus.resolve(prefix + option):
            if resolution.start >= len(prefix):
                _enter(resolved, resolution, IN_OPTION, admission)
    return resolved


def _opening(store: Lookups, question: str, scope: Scope) -> Iterator[tuple[Target, LawNamed]]:
    """For each law asked for as a whole (民法とは) its purpose, else its first article."""
    if not asks_nothing_else(without_names(question, scope.laws)):
        return
    for law in scope.laws:
        places = list(map(Locator.parse, store.articles(law.law_ids[0]) if law.law_ids else ()))
        headers = store.headers(law.law_ids[0], places[:_HEAD]) if places else {}
        purposes = (place for place in places[:_HEAD] if _PURPOSE in caption_of(headers[place]))
        for place in (next(purposes, None) or place for place in places[:1]):
            yield Target(law.law_ids[0], place), law


def _parted(
    resolutions: Sequence[Resolution], question: str, *, in_english: bool
) -> tuple[list[Resolution], list[Resolution]]:
    """Split citations into those asked about and those excluded.

    Japanese marks exclusion behind the last of a list, English before the first.
    """
    asked: list[Resolution] = []
    left_out: list[Resolution] = []
    edge = -1
    for one in resolutions if in_english else reversed(resolutions):
        if in_english:
            since = max(0, one.start - _LONGEST_LEFT_OUT)
            mark = _LEFT_OUT_IN_ENGLISH.search(question, since, one.start)
            between, next_edge = (edge, one.start), one.end
        else:
            mark = _LEFT_OUT.match(question, one.end)
            between, next_edge = (one.end, edge), one.start
        listed = edge >= 0 and _LISTED.fullmatch(question, *between)
        of_one_range = edge >= 0 and (left_out[-1].start, left_out[-1].end) == (one.start, one.end)
        is_out = mark or listed or of_one_range
        (left_out if is_out else asked).append(one)
        edge = next_edge if is_out else -1
    in_order = slice(None, None, 1 if in_english else -1)
    return asked[in_order], left_out[in_order]


def _without(question: str, left_out: Iterable[Resolution], laws: Sequence[LawNamed]) -> str:
    """Blank the excluded provisions (235条以外) but keep the name of their law.

    Searched as words, their numbers would find provisions citing them.
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
    """The laws possibly meant by a misspelt name: 特許方35条.

    Args:
        citing: the citations of the question.
        question: as asked.
        names: the laws of the corpus.
        laws: the laws named.
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
    resolve: Callable[..., list[Resolution]], text: str, laws: Sequence[LawNamed]
) -> Iterator[Resolution]:
    """Resolve English citations of the laws named in a text, by `CitationResolver.resolve`."""
    for citation in english_citations(text, laws):
        for law_id in citation.law.law_ids:
            for resolution in resolve(citation.place, law_id=law_id):
                end = citation.start + len(citation.words)
                yield replace(resolution, start=citation.start, end=end, text=citation.words)


def around(store: Lookups, resolution: Resolution) -> list[Target]:
    """The provisions nearest to a missing one; for an article those on both sides."""
    found: list[Target] = []
    for cited, nearest in zip(resolution.cited, resolution.nearest, strict=False):
        division, number = cited.locator.division, cited.locator.article
        articles = store.articles(cited.law_id, division) if number else []
        exists = nearest.locator.path != ""
        if exists or not articles:
            found.append(nearest)
        # An article of a supplement replaces one missing from the main provisions.
        if not articles or (exists and nearest.locator.division == division):
            continue
        at = bisect_left(articles, order_of(number), key=order_of)
        found += [
            Target(cited.law_id, Locator(division, a)) for a in articles[max(0, at - 1) : at + 1]
        ]
    return found or list(resolution.nearest)


def _articles(resolution: Resolution) -> list[Target]:
    return [target for target in resolution.nearest if target.locator != Locator()]


def _enter_meaning(resolved: Resolved) -> None:
    for one in resolved.meaning.definitions[:1]:
        target = Target(one.document_id, one.locator)
        resolved.targets.setdefault(target, IN_QUESTION)
        resolved.asked_for.append(target)
    resolved.events += resolved.meaning.events


def _enter(resolved: Resolved, resolution: Resolution, score: float, admission: Admission) -> None:
    if resolution.problem:
        resolved.events.append(resolution.problem)
    elif len(resolution.candidates) > 1:
        count = len(resolution.candidates)
        resolved.events.append(Fact(FactKind.AMBIGUOUS, citation=resolution.text, n=count))
    # A missing article is in the text of another year, or a slip: its neighbours are suggestions.
    targets = resolution.candidates or _articles(resolution)
    score = score if resolution.candidates else score * IN_OPTION
    for target in targets:
        share = score / len(targets)
        if admission.admits(target.law_id) and share > resolved.targets.get(target, 0.0):
            resolved.targets[target] = share
            resolved.named[target] = resolution.text


def meaning_asked(
    store: Lookups, names: LawNames, question: str, admission: Admission, scope: Scope
) -> Meaning:
    """Find the definitions of the term asked about, in main provisions.

    A definition for the whole law in a provision of its own is the answer. Laws with the term in
    their titles come first, then acts.

    Args:
        store: the corpus store.
        names: of the laws.
        question: without names of laws.
        admission: which documents may be found.
        scope: the laws named; if any, only their definitions count.
    """
    undefined = term_alone_asked(question)
    for term in terms_asked(question):
        anywhere = store.definitions_of(term)
        undefined = "" if anywhere else undefined
        defined = [
            one
            for one in anywhere
            if not one.locator.division
            and not scope.is_beside(one.document_id)
            and admission.admits(one.document_id)
        ]
        if defined:
            least = min(one.aside for one in defined)
            plainest = [one for one in defined if one.aside == least]
            plainest.sort(key=partial(_rank, names, term))
            laws = tuple(dict.fromkeys(names.title(one.document_id) for one in plainest))
            several = Fact(FactKind.DEFINED_IN_SEVERAL, term=term, laws=laws)
            return Meaning(
                term, tuple(plainest[:_MOST_DEFINITIONS]), (several,) if len(laws) > 1 else ()
            )
    return Meaning(undefined=undefined) if undefined else NO_MEANING


def _rank(names: LawNames, term: str, one: Definition) -> tuple[bool, bool]:
    return term not in names.title(one.document_id), not names.is_act(one.document_id)

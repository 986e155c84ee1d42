"""`staged-symbolic`: `staged` over structured knowledge alone, without a model.

1. **Names.** The question is searched for subjects of the store.
2. **Decomposition** by the wording: two names are compared, or a path of triples leads from a name
   to the answer. The triples whose predicates, objects and kind of answer fit the words best are
   used. A poor fit, or an unused word that is a step or a condition, is refused: a wrong answer is
   worse than none. Negations are not analysed.
   On a path, triples are followed whose objects are subjects too, at most three steps far.
3. **Answer.** Code computes a comparison (`localrag.methods.comparison`). The object at the end of
   a path is cut down to the part asked for.
4. **Derivation.** Every triple is a step, quoted and checked by code. The answer is `supported` if
   all of these hold: each step is verified; compared values are dates, quantities or places; no
   triple says more than is asked, or has several values; no name has another meaning; no other
   answer fits as well.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from time import perf_counter
from typing import NamedTuple

from localrag.answer.prompts import language_of
from localrag.answer.types import Answer, Citation, Derivation, Stage, Status, Step
from localrag.corpus.knowledge import KnownTriple, SubjectMention
from localrag.language import N_
from localrag.methods.catalogue import Case, register
from localrag.methods.comparison.values import narrowed
from localrag.methods.extractive import PlainToolkit
from localrag.methods.staged_symbolic.comparisons import compared
from localrag.methods.staged_symbolic.question import (
    CHOICE,
    NEGATION,
    TIME,
    AnswerForm,
    NamedQuestion,
    TripleAnswer,
    TripleLookups,
    form_of,
    has_figure,
    kind_fits,
    masked,
    of_meanings,
    of_values,
    predicate_of,
    read,
    unframed,
)
from localrag.search.predicates import SAID, Term, alike, best, heard, terms
from localrag.search.types import Filters, Hit, Query
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis.normalize import normalize

ANALYSIS = "analysis"
"""The stage that analyses the question."""

LEAST_FIT = 0.5
"""A poorer fit is refused; ``scripts/bench/staged_symbolic.py`` shows the effect."""

# Fits that differ by less are equal.
_ALIKE = 0.02
_LONGEST = 500


class _AnalysedQuestion(NamedTuple):
    found: Sequence[TripleAnswer]  # possible answers, best fit first
    events: Sequence[Fact]
    doubt: Fact | None  # why none of them is an answer; None if the first is
    query: str = ""  # for the trace: the names found, and the triples with the best fit


@register(
    "staged-symbolic",
    N_("no model: a question in steps over triples alone, by the analysis of its wording"),
    derives=True,
)
def answer(case: Case, toolkit: PlainToolkit) -> Answer:
    """Answer one question by the steps at the head of this file."""
    since = perf_counter()
    analysis = _analysed(case.query, toolkit)
    if analysis.doubt:
        seconds = perf_counter() - since
        toolkit.note(ANALYSIS, analysis.events, seconds=seconds, query=analysis.query)
        return Answer(
            text="",
            citations=(),
            status=Status.NOT_FOUND,
            trace=toolkit.trace,
            doubts=(analysis.doubt,),
            derivation=Derivation(()),
        )
    best = analysis.found[0]
    hits, citations = _shown(toolkit, best)
    toolkit.note(ANALYSIS, analysis.events, hits, perf_counter() - since, query=analysis.query)
    numbers = {one.passage_id: at for at, one in enumerate(citations, 1) if one.verified}
    steps = tuple(_step(fact, numbers.get(fact.passage_id, 0)) for fact in best.facts)
    rivals = _rivals(analysis.found)[:1]
    doubts = [*(Fact(FactKind.RIVAL, answer=rival.text) for rival in rivals), *best.doubts]
    doubts += [Fact(FactKind.OF_A_TIME)] if TIME.search(case.query.text) else []
    doubts += [] if all(step.citation for step in steps) else [Fact(FactKind.TRIPLE_NOT_QUOTED)]
    return Answer(
        text=best.text,
        citations=citations,
        status=Status.UNSUPPORTED if doubts else Status.SUPPORTED,
        trace=toolkit.trace,
        doubts=tuple(doubts),
        derivation=Derivation(steps, (best.computed,) if best.computed else ()),
    )


def _analysed(question: Query, toolkit: PlainToolkit) -> _AnalysedQuestion:
    events = _left_out(question)
    if refusal := _refusal(question):
        return _AnalysedQuestion((), events, refusal)
    with toolkit.store() as store:
        lookups = TripleLookups(store.knowledge)
        asked = read(lookups, question.text.strip())
        if NEGATION.search(masked(asked.text, asked.names)):
            events += lookups.events
            return _AnalysedQuestion((), events, Fact(FactKind.NEGATED), _looked_up(asked, ()))
        found = _ranked([*compared(lookups, asked), *chained(lookups, asked)])
    events += dict.fromkeys(lookups.events)
    return _AnalysedQuestion(
        found, events, _refused(asked, found, lookups.undecided), _looked_up(asked, found)
    )


def _left_out(question: Query) -> list[Fact]:
    events = []
    if question.options:
        events.append(Fact(FactKind.OPTIONS_IGNORED))
    if question.filters != Filters():
        events.append(Fact(FactKind.FILTERS_IGNORED))
    return events


def _refusal(question: Query) -> Fact | None:
    if language_of(question.text) != "ja":
        return Fact(FactKind.NOT_JAPANESE)
    if len(question.text) > _LONGEST:
        return Fact(FactKind.QUESTION_LONG, n=len(question.text), most=_LONGEST)
    return None


def _ranked(found: Iterable[TripleAnswer]) -> list[TripleAnswer]:
    return sorted(found, key=lambda one: (bool(one.unsaid), -one.fit))


def _refused(
    asked: NamedQuestion, found: Sequence[TripleAnswer], undecided: Sequence[Fact]
) -> Fact | None:
    """Why the first of the candidates is no answer; None if it is."""
    if undecided and not (found and found[0].fit >= LEAST_FIT and not found[0].unsaid):
        return undecided[0]
    if not found:
        return Fact(FactKind.NO_TRIPLE if asked.names else FactKind.NO_NAME)
    if found[0].fit < LEAST_FIT:
        return Fact(FactKind.POOR_FIT, fit=found[0].fit, needed=LEAST_FIT)
    if found[0].unsaid:
        return Fact(FactKind.UNSAID, words=found[0].unsaid)
    for rival in _rivals(found):
        meant = {one.facts[0].triple.subject for one in (found[0], rival)}
        if len(meant) > 1:
            return Fact(FactKind.SEVERAL_SUBJECTS, subjects=tuple(sorted(meant)))
    return None


def _rivals(found: Sequence[TripleAnswer]) -> list[TripleAnswer]:
    """The other answers with about the same fit as the best."""
    best = found[0]
    return [
        one
        for one in found
        if one.text != best.text and not one.unsaid and best.fit - one.fit < _ALIKE
    ]


def _shown(
    toolkit: PlainToolkit, best: TripleAnswer
) -> tuple[tuple[Hit, ...], tuple[Citation, ...]]:
    with toolkit.store() as store:
        passages = [store.by_id(fact.passage_id) for fact in best.facts]
    kept = [passage for passage in passages if passage is not None]
    hits = (Hit(passage, best.fit, rank, ANALYSIS) for rank, passage in enumerate(kept, 1))
    return tuple(hits), tuple(toolkit.citation(passage, passage.text) for passage in kept)


def _step(fact: KnownTriple, citation: int) -> Step:
    triple = fact.triple
    return Step(
        query=f"{triple.subject}の{triple.predicate}は？",
        subject=triple.subject,
        predicate=triple.predicate,
        triple=triple,
        stage=Stage.KNOWLEDGE,
        citation=citation,
        tried=(Stage.KNOWLEDGE,),
    )


def _looked_up(asked: NamedQuestion, found: Sequence[TripleAnswer]) -> str:
    """The names of a question and the triples with the best fit, for the trace."""
    names = "、".join(f"「{asked.written(name)}」" for name in asked.names) or "no subject"
    if not found:
        return names
    facts = ", ".join(f"{fact.triple.subject}: {fact.triple.predicate}" for fact in found[0].facts)
    return f"{names}; best fit {found[0].fit:.2f}: {facts}"


_STEPS = 3
_PATHS = 30
# Least share of a predicate in the question, for a step.
_LEAST_HEARD = 0.2
# Weight of words before a name and of words for its kind: they only describe it.
_DESCRIBING = 0.4
# A word that covers one step to this degree counts less for the next.
_TOLD = 0.5
_AGAIN = 0.5
# Weight of a word in the name of a passed thing, beside one in a predicate.
_PASSED = 0.8
# A further triple must cover this much more of a word of two letters.
_ADDED = 0.4
# A predicate with a smaller share in the question says more than is asked: 初代船長 for 船長.
_SPOKEN = 0.6
_QUOTES = '『「』」" '
_CLAUSE = re.compile(r"[いしたるう]$")
_AND_BEFORE = re.compile(r"[とや][『「]?$")
_AND_BEHIND = re.compile(r"[』」]?[とや、]")


class _Question(NamedTuple):
    name: SubjectMention  # where paths begin
    written: str  # the name, as the question writes it
    text: str  # normalised, the name masked
    tail: str  # the text after the name
    words: tuple[Term, ...]  # with meaning, without the name
    weights: tuple[float, ...]  # of the words


_Path = tuple[KnownTriple, ...]


def chained(lookups: TripleLookups, asked: NamedQuestion) -> Iterator[TripleAnswer]:
    """The answers at the ends of the paths from the names of a question."""
    for name in asked.names:
        text = masked(asked.text, [name])
        form = form_of(text)
        if form is AnswerForm.YES_NO or CHOICE.search(text) or _is_one_of_two(text, name, form):
            continue
        words = terms(unframed(text))
        weights = tuple(w.weight * (_DESCRIBING if w.end <= name.start else 1) for w in words)
        question = _Question(name, asked.written(name), text, text[name.end :], words, weights)
        for path in _paths(lookups, question):
            yield _judged(lookups, question, path)


def _is_one_of_two(text: str, name: SubjectMention, form: AnswerForm) -> bool:
    if _AND_BEFORE.search(text[: name.start]):
        return True
    return form is AnswerForm.WHICH and _AND_BEHIND.match(text, name.end) is not None


def _paths(lookups: TripleLookups, question: _Question) -> Iterator[_Path]:
    """Every path from the name whose predicates are in the question, shorter ones first."""
    ends: list[tuple[_Path, tuple[str, ...]]] = [((), question.name.subjects)]
    for _ in range(_STEPS):
        longer: list[tuple[float, _Path]] = []
        for path, subjects in ends:
            passed = {fact.triple.subject for fact in path}
            for subject in subjects:
                for fact in lookups.about(subject) if subject not in passed else ():
                    share = heard(predicate_of(fact), question.words)
                    if share >= _LEAST_HEARD:
                        longer.append((share, (*path, fact)))
        longer.sort(key=lambda one: -one[0])
        paths = [path for _, path in longer[:_PATHS]]
        yield from paths
        ends = [(path, _reached(lookups, path[-1])) for path in paths]


def _reached(lookups: TripleLookups, fact: KnownTriple) -> tuple[str, ...]:
    return tuple(subject for each in fact.triple.objects for subject in lookups.subjects(each))


def _judged(lookups: TripleLookups, question: _Question, path: _Path) -> TripleAnswer:
    """The answer of a path, and its fit.

    The fit is a product: coverage of the question, its share of the predicates, the fit of its last
    word, and the kind of objects.
    """
    words, told, shares = question.words, [0.0] * len(question.words), []
    for fact in path:
        predicate = predicate_of(fact)
        shares.append(heard(predicate, words, [_AGAIN if t > _TOLD else 1.0 for t in told]))
        told = [max(t, best(word, predicate)) for t, word in zip(told, words, strict=True)]
    for fact in path[:-1]:
        told = [max(t, _PASSED * _is_in(w, fact)) for t, w in zip(told, words, strict=True)]
    told = [max(t, _PASSED * _is_one(w, path)) for t, w in zip(told, words, strict=True)]
    conditions = []
    for fact in _conditions_met(lookups, question, path):
        predicate = predicate_of(fact)
        more = [1.0 if _is_in(word, fact) else best(word, predicate) for word in words]
        if any(
            m > t + _ADDED and len(word.text) > 1
            for m, t, word in zip(more, told, words, strict=True)
        ):
            conditions.append(fact)
            told = [max(pair) for pair in zip(told, more, strict=True)]
    weights = [
        weight * (_DESCRIBING if word.is_kind and t < _TOLD else 1)
        for weight, word, t in zip(question.weights, words, told, strict=True)
    ]
    covered = sum(w * t for w, t in zip(weights, told, strict=True)) / (sum(weights) or 1)
    spoken = 0.5 + 0.25 * min(shares) + 0.25 * sum(shares) / len(shares)
    head = 0.8 + 0.2 * best(words[-1], predicate_of(path[-1]))
    last = path[-1].triple
    unsaid, besides = _unsaid(question, path, conditions, told)
    doubts = [Fact(FactKind.CONDITION_UNTOLD, word=word) for word in besides]
    doubts += of_meanings(lookups, _meant(lookups, question, path))
    doubts += of_values(path[-1:])
    doubts += [
        Fact(FactKind.SAYS_MORE, predicate=fact.triple.predicate)
        for fact, share in zip(path, shares, strict=True)
        if share < _SPOKEN
    ]
    return TripleAnswer(
        narrowed("、".join(last.objects), question.tail),
        (*path[:-1], *conditions, path[-1]),
        covered * spoken * head * kind_fits(question.tail, last),
        doubts=tuple(doubts),
        unsaid=unsaid,
    )


def _meant(lookups: TripleLookups, question: _Question, path: _Path) -> Iterator[tuple[str, str]]:
    """The names on a path, each with the subject it was taken for."""
    yield question.written, path[0].triple.subject
    for fact, following in pairwise(path):
        subject = following.triple.subject
        names = [each for each in fact.triple.objects if subject in lookups.subjects(each)]
        yield names[0], subject


def _unsaid(
    question: _Question, path: _Path, conditions: Sequence[KnownTriple], told: Sequence[float]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words after the name not covered by a triple, and merely descriptive words.

    寺を開いた僧 describes. A kind of thing is neither (本を書いた作家), unless it is a step itself
    (Xの会社の).
    """
    missing = [word.text for word in _out_of_order(question, path)]
    missing += [word.text for word in _without_step(question, path)]
    besides = []
    for word, t in zip(question.words, told, strict=True):
        if word.start < question.name.end:
            # A number is a condition: 「1970年のAの人口」.
            if t < SAID and has_figure(question.text[word.start - 1 : word.end]):
                missing.append(word.text)
            elif t < SAID and not (word.is_kind or word.light) and _is_before(question, word):
                besides.append(word.text)
            continue
        if word.light:
            continue
        is_link = _is_link(question, word)
        if t >= SAID and word.is_narrow and not _is_said(word, (*path, *conditions)):
            besides.append(word.text)
        elif t < SAID and (is_link or word.is_narrow or not word.is_kind):
            is_head = not word.things and _CLAUSE.search(question.text, 0, word.start)
            (besides if is_head else missing).append(word.text)
    return tuple(missing), tuple(besides)


def _out_of_order(question: _Question, path: _Path) -> list[Term]:
    """The first word after the name, if only a later step is about it: 「Aが築いた城」."""
    first, *later = map(predicate_of, path)
    behind = [w for w in question.words if w.start >= question.name.end and not w.light][:1]
    return [
        word
        for word in behind
        if best(word, first) < SAID and any(best(word, each) >= SAID for each in later)
    ]


def _without_step(question: _Question, path: _Path) -> Iterator[Term]:
    """The words after 「の」 without a step of their own: 父の父 takes two steps."""
    step = 0
    last: Term | None = None
    predicates = [predicate_of(fact) for fact in path]
    for word in question.words:
        if word.start < question.name.end or not _is_link(question, word):
            continue
        speaking = [at for at, each in enumerate(predicates) if best(word, each) >= SAID]
        again = last is not None and alike(word, last) >= SAID
        following = [at for at in speaking if at >= step + again]
        if following:
            step, last = following[0], word
        elif speaking or (last is not None and word.text == last.text):
            yield word


def _is_link(question: _Question, word: Term) -> bool:
    return question.text[: word.start].rstrip(_QUOTES).endswith("の")


def _is_before(question: _Question, word: Term) -> bool:
    """Whether a word selects one of several things with the name: 「昭和のA」."""
    return question.text[word.end : question.name.start] == "の"


def _is_said(word: Term, facts: Sequence[KnownTriple]) -> bool:
    return any(
        word.text in normalize(fact.triple.predicate) or _is_in(word, fact) for fact in facts
    )


def _is_in(word: Term, fact: KnownTriple) -> bool:
    return len(word.text) > 1 and any(word.text in each for each in _objects(fact))


def _is_one(word: Term, path: _Path) -> bool:
    """Whether a word is the kind of an object on a path: 港区 for 区, but not 教師 for 師."""
    is_class = word.is_kind or not word.things
    return is_class and any(each.endswith(word.text) for fact in path for each in _objects(fact))


def _conditions_met(
    lookups: TripleLookups, question: _Question, path: Sequence[KnownTriple]
) -> Iterator[KnownTriple]:
    """Further triples of subjects on a path whose objects the question names.

    In 「隣の区で区の花がXの区」 the flower X selects the ward.
    """
    words = [word.text for word in question.words if len(word.text) > 1]
    for subject in dict.fromkeys(fact.triple.subject for fact in path):
        for fact in lookups.about(subject):
            if fact not in path and any(w in o or o in w for w in words for o in _objects(fact)):
                yield fact


def _objects(fact: KnownTriple) -> list[str]:
    return [normalize(each) for each in fact.triple.objects]

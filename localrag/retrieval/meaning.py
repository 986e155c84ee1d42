"""Where the statutes of a corpus define the term whose meaning a question asks for.

A term is defined in several ways. 「危険物」とは、…をいう and 一　宅地　… say what it means, and
speak of nothing else; 以下「危険物」という names something in passing; a definition may hold for a
chapter or a paragraph alone. What says it, and for the whole law, is the answer, where there is
such a provision.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from localrag.corpus.links import Definition
from localrag.corpus.lookups import Lookups
from localrag.facts import Fact, FactKind
from localrag.question.asked import term_alone_asked, terms_asked
from localrag.retrieval.scope import Scope
from localrag.retrieval.units import Admission, article_unit
from localrag.statutes.names import LawNames

_CHAPTER = re.compile("この[編章節款]")
# What follows a term that is named in passing, or explained where it stands.
_NAMED = re.compile("」(?:(?:、|又は|及び|若しくは|並びに)「[^「」]*」)*と(?:いう|総称)")
_EXPLAINED = "（"
_HEAD = "　"
_READ_BEHIND = 200
# The first so many are provisions that the question names; of the others it is only told.
_MOST = 8
# Characters between a term and the provision that it is taken from, at most:
# 営業秘密（不正競争防止法（平成五年法律第四十七号）第二条第六項に規定する営業秘密をいう。）.
_TAKEN_WITHIN = 80
# A term of one character stands in the title of many laws (物, 人).
_SHORTEST_SUBJECT = 2


class Meaning(NamedTuple):
    """Where the term is defined that a question asks the meaning of.

    Attributes:
        term: as the question has it; empty where it asks for no meaning, or none is defined.
        main: the definitions in the laws whose term it is before others, best first.
        others: the definitions in other laws, best first.
        events: which laws define it, where several do.
        undefined: the term, where nothing but its meaning is asked for and no law defines it.
    """

    term: str = ""
    main: tuple[Definition, ...] = ()
    others: tuple[Definition, ...] = ()
    events: tuple[Fact, ...] = ()
    undefined: str = ""

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """All of them, best first."""
        return self.main + self.others

    @property
    def units(self) -> tuple[str, ...]:
        """The units that they stand in, best first, each once."""
        units = (article_unit(one.document_id, one.locator) for one in self.definitions)
        return tuple(dict.fromkeys(units))


NO_MEANING = Meaning()
"""Of a question for something else."""


def meaning_asked(
    store: Lookups, names: LawNames, question: str, admission: Admission, scope: Scope
) -> Meaning:
    """Find the definitions of the term that a question asks the meaning of, in main provisions.

    Args:
        store: where they are.
        names: of the laws.
        question: without the names of laws.
        admission: which documents may be found.
        scope: the laws that the question names; where it names some, what they define counts alone.
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
            return _ranked(store, names, term, _plainest(store, defined))
    return Meaning(undefined=undefined) if undefined else NO_MEANING


def _plainest(store: Lookups, defined: Sequence[Definition]) -> list[Definition]:
    """Those that say the meaning for the most, and say nothing else."""
    read: dict[str, set[tuple[int, int]]] = {}
    for one in defined:
        read.setdefault(one.document_id, set()).add((one.start - 1, one.end + _READ_BEHIND))
    texts = store.texts_of(read)
    steps: dict[int, list[Definition]] = {}
    for one in defined:
        around = texts[one.document_id][one.start - 1, one.end + _READ_BEHIND]
        steps.setdefault(_step(one, around), []).append(one)
    return steps[min(steps)]


def _step(definition: Definition, around: str) -> int:
    behind = around[1 + len(definition.term) :]
    in_passing = _NAMED.match(behind) is not None
    explained = behind.startswith(_EXPLAINED) and around[0] != _HEAD
    of_chapter = _CHAPTER.search(definition.scope) is not None
    if not (in_passing or explained):
        return 1 if of_chapter else 2 * bool(definition.scope)
    return 3 if of_chapter else 2 + 2 * bool(definition.scope)


def _ranked(store: Lookups, names: LawNames, term: str, defined: Sequence[Definition]) -> Meaning:
    """First the laws about the thing itself, then those whose term others take over, then acts.

    A law that takes a term as another provision defines it says nothing of what it means.
    """
    taken = _taken(store, defined)
    own = [one for one in defined if one not in taken] or list(defined)
    takers = Counter(taken.values())

    def rank(one: Definition) -> tuple[bool, int, bool]:
        subject = len(term) >= _SHORTEST_SUBJECT and term in names.title(one.document_id)
        return not subject, -takers[one], not names.is_act(one.document_id)

    own.sort(key=rank)
    best = rank(own[0])
    main = [one for one in own if rank(one) == best]
    laws = tuple(dict.fromkeys(names.title(one.document_id) for one in own))
    events = (Fact(FactKind.DEFINED_IN_SEVERAL, term=term, laws=laws),) if len(laws) > 1 else ()
    return Meaning(term, tuple(main[:_MOST]), tuple(own[len(main) : _MOST]), events)


def _taken(store: Lookups, defined: Collection[Definition]) -> dict[Definition, Definition]:
    """The definitions that refer to another one right behind their term, and which that is."""
    if len(defined) == 1:
        return {}
    taken: dict[Definition, Definition] = {}
    for one in defined:
        for reference in store.references_from(one.document_id, one.locator):
            if not 0 <= reference.start - one.end <= _TAKEN_WITHIN:
                continue
            for other in defined:
                place = reference.target
                if (
                    other != one
                    and reference.law_id == other.document_id
                    and (place.contains(other.locator) or other.locator.contains(place))
                ):
                    taken.setdefault(one, other)
    return taken

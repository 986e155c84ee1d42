"""A question read once: the laws and provisions it names, what it asks for, what is searched for.

Nothing behind this step reads the question again.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from localrag.corpus.links import Definition
from localrag.corpus.lookups import Lookups
from localrag.corpus.types import ARTICLES
from localrag.question.as_of import dates_in
from localrag.question.asked import (
    AskedFigure,
    OrderAsked,
    PenaltyAsked,
    figure_asked,
    orders_asked,
    penalty_asked,
)
from localrag.question.english_citations import english_citations, english_places
from localrag.question.everyday import EverydayWord, wordings
from localrag.question.laws import LawNamed, without_names
from localrag.retrieval.query import analyzer, asked_of, asks_nothing_else, full_text
from localrag.retrieval.resolve import Resolved, resolve
from localrag.retrieval.scope import NO_LAWS, Scope, scope_of
from localrag.retrieval.search import Searchable
from localrag.retrieval.types import Hit, Link, Query, Trace
from localrag.retrieval.units import Admission
from localrag.statutes.citations import find_citations
from localrag.statutes.notation import caption_of
from localrag.statutes.resolver import Target
from localrag.statutes.typed import written_out
from localrag_indexes.analysis.characters import with_blanks

# Characters of the longest question that is taken for one a person types.
_TYPED = 200
# What asks to be told is no word of the matter: を教えて is none of 教え, 告知.
_REQUEST = re.compile(r"(?:教え|おしえ)て(?:ください|下さい|ほしい|くれ|ちょうだい)?[。！？!?\s]*$")

_RUN = re.compile("[一-鿿々]{3,}")
# 登録等, 資格及び: what joins a compound to the next one; and numbers of amending acts.
_JOINS = re.compile("(?:等|及|又|並|若)+$")
_NUMBERED = re.compile("[〇一二三四五六七八九]|令和|省令")


@dataclass(frozen=True)
class Reading:
    """What a question says.

    Attributes:
        query: the question, short citations written out, with blanks in the place of the
            provisions that it leaves out (709条以外).
        scope: the laws that it names.
        resolved: the provisions that it names, and the term whose meaning it asks for.
        everyday: its everyday words, with what statutes say instead.
        penalty: the penalty that it asks for; None where it asks for none.
        is_of_law: whether a person typed it, and laws may answer it.
    """

    query: Query
    scope: Scope = NO_LAWS
    resolved: Resolved = field(default_factory=Resolved)
    everyday: tuple[EverydayWord, ...] = ()
    penalty: PenaltyAsked | None = None
    is_of_law: bool = False

    @property
    def laws(self) -> tuple[LawNamed, ...]:
        """The laws named, in the order of the question; none in a corpus without statutes."""
        return self.scope.laws

    @property
    def absent(self) -> tuple[str, ...]:
        """The laws named that the corpus lacks, as written, each once."""
        return self.scope.absent

    @property
    def named(self) -> tuple[Target, ...]:
        """The provisions that it names itself, or whose term it asks the meaning of."""
        return tuple(self.resolved.asked_for)

    @property
    def missing(self) -> tuple[str, ...]:
        """The provisions that it names and the corpus lacks, as written."""
        return tuple(self.resolved.missing)

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """Of the term whose meaning it asks for, best first."""
        return self.resolved.meaning.definitions

    @property
    def undefined(self) -> str:
        """That term, where it asks for nothing else and no provision of the corpus defines it."""
        return self.resolved.undefined

    @cached_property
    def sought(self) -> Query:
        """What is searched for: of a question for a penalty what is done, else the question."""
        return replace(self.query, text=self.penalty.doing) if self.penalty else self.query

    @cached_property
    def matter(self) -> str:
        """What is sought without the names of laws, with the options."""
        return full_text(asked_of(self.sought, self.laws))

    @cached_property
    def beside(self) -> str:
        """What is sought, with blanks in the place of the laws and provisions that it names."""
        return self._beside(self.sought.text)

    @cached_property
    def asks_no_more(self) -> bool:
        """Whether nothing is asked beside the laws and provisions that it names."""
        return asks_nothing_else(self._beside(self.query.text))

    @cached_property
    def figure(self) -> AskedFigure | None:
        """The figure that it asks for; None where it asks for none."""
        return figure_asked(self.matter)

    @cached_property
    def orders(self) -> tuple[OrderAsked, ...]:
        """What it asks of that is left to orders, in its order."""
        return orders_asked(self.sought.text)

    @cached_property
    def punishing(self) -> tuple[str, ...]:
        """Ids of the laws all of whose penalties it asks for, for it says nothing that is done."""
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
    """The outcome of one query: the hits, and how they came about.

    Attributes:
        hits: best first.
        trace: what each step did.
        reading: what the question says.
        cited: the provisions that the question cites by their numbers and the filters admit, in its
            order; none that can mean another one as well. Of a law that is asked for alone, its
            purpose or first article.
        links: hits that answer for other hits, the best first.
        searches: where it was searched for in other words too, what each search found, the
            question itself first.
    """

    hits: tuple[Hit, ...]
    trace: Trace
    reading: Reading
    cited: tuple[Target, ...] = ()
    links: tuple[Link, ...] = ()
    searches: "tuple[Retrieval, ...]" = ()

    @property
    def laws(self) -> tuple[LawNamed, ...]:
        """The laws that the question names."""
        return self.reading.laws

    @property
    def absent(self) -> tuple[str, ...]:
        """Those of them that the corpus lacks, as written, each once."""
        return self.reading.absent


def read(asked: Query, corpus: Searchable, admission: Admission) -> Reading:
    """Read a question.

    Args:
        asked: the question, checked.
        corpus: knows the names of laws, and what they define.
        admission: which documents may be found.
    """
    if asked.filters.layers and ARTICLES not in asked.filters.layers:
        return Reading(asked)
    asked = replace(asked, text=written_out(asked.text, corpus.names))
    scope = scope_of(asked, corpus.names, corpus.store, corpus.orders)
    resolved = resolve(corpus.resolver(), corpus.store, asked, corpus.names, admission, scope)
    scope = scope.with_cited(target.law_id for target in resolved.targets)
    asked = replace(asked, text=resolved.text)
    # Options are put in the words of the law, and so is what is longer than a person types.
    if not corpus.names.rows or asked.options or len(asked.text) > _TYPED:
        return Reading(asked, scope, resolved)
    # 令和 of a date and Art. of a citation mean nothing else, as the names of laws do not.
    besides = [(law.start, law.end) for law in scope.laws]
    besides += dates_in(asked.text)
    besides += ((one.start, one.end) for one in english_places(asked.text))
    besides += (one.span() for one in _REQUEST.finditer(asked.text))
    everyday = wordings(asked.text, besides, _compounds(corpus.store))
    penalty = penalty_asked(asked.text, everyday)
    if penalty:
        # What only asks is no word of the matter: 罰せられ.
        said = penalty.doing
        everyday = tuple(
            one for one in everyday if any(map(str.isalnum, said[one.start : one.end]))
        )
    return Reading(asked, scope, resolved, everyday, penalty, is_of_law=True)


def _compounds(store: Lookups) -> Collection[str]:
    """Three Chinese characters and more that are together in a caption: 退去強制, 時効取得."""
    return store.kept("compounds", lambda: frozenset(_in_captions(store)))


def _in_captions(store: Lookups) -> Iterator[str]:
    for header in store.article_headers():
        for run in _RUN.findall(caption_of(header)):
            word = _JOINS.sub("", run)
            if len(word) > 2 and not _NUMBERED.search(word):
                yield word

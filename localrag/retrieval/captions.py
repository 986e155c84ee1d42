"""What captions and headings tell of a question: the words of the laws, and what is asked.

The caption says what an article is about (第二十四条（退去強制）), in the law's own words. A long
article seldom repeats them, so that neither its own words nor their number lead to it. The heading
of a part of a law does so for its articles, of which the first says what the others rest on.
"""

import re
from collections.abc import Collection, Iterator

from localrag.corpus.facets import heading_name
from localrag.corpus.lookups import Lookups
from localrag.corpus.types import ARTICLES, Locator
from localrag.retrieval.query import analyzer, terms_of
from localrag.retrieval.scope import Scope
from localrag.retrieval.units import Admission
from localrag.statutes.names import LawNames
from localrag.statutes.notation import caption_of

_RUN = re.compile("[一-鿿々]{3,}")
# 登録等, 資格及び: what joins a compound to the next one; and numbers of amending acts.
_JOINS = re.compile("(?:等|及|又|並|若)+$")
_NUMBERED = re.compile("[〇一二三四五六七八九]|令和|省令")
# What is asked of a matter, whatever it is: 退去強制事由, 退去強制の対象, 退去強制の要件.
_OF_ANY_MATTER = frozenset(
    ("要件", "事由", "場合", "対象", "条件", "内容", "規定", "条文", "意義", "意味", "趣旨", "概要")
)
# More articles of a law with the same caption tell no more than their words do.
_FEW = 2
# The codes (民法, 刑法) are divided into books, and no laws concerning one matter.
_BOOK = re.compile("第[^章節款目]{1,6}編")
_CONCERNS = "関する"


def compounds(store: Lookups) -> Collection[str]:
    """Three Chinese characters and more that stand together in a caption: 退去強制, 時効取得."""
    return store.kept("compounds", lambda: frozenset(_compounds(store)))


def _compounds(store: Lookups) -> Iterator[str]:
    for header in store.article_headers():
        for run in _RUN.findall(caption_of(header)):
            word = _JOINS.sub("", run)
            if len(word) > 2 and not _NUMBERED.search(word):
                yield word


def captioned(
    store: Lookups, law_ids: Collection[str], asked: str
) -> Iterator[tuple[str, Locator, str]]:
    """The articles of laws whose caption is all that is asked of these laws.

    Args:
        store: the corpus.
        law_ids: the laws that the question names.
        asked: the question without their names.

    Returns:
        Law, article and caption; none where more than a few have the same.
    """
    words = frozenset(analyzer().terms(asked))
    matter = words - _OF_ANY_MATTER
    if not matter:
        return
    for law_id in law_ids:
        places = map(Locator.parse, store.articles(law_id))
        captions = {
            place: caption
            for place, header in store.headers(law_id, places).items()
            if (caption := caption_of(header))
        }
        exact = [place for place, caption in captions.items() if terms_of(caption) == words]
        same = [
            place
            for place, caption in captions.items()
            if terms_of(caption) - _OF_ANY_MATTER == matter
        ]
        for place in exact or same:
            if len(exact or same) <= _FEW:
                yield law_id, place, captions[place]


def opening_under(
    store: Lookups, names: LawNames, term: str, admission: Admission, scope: Scope
) -> tuple[str, Locator, str] | None:
    """The first article of the part of a law that has a term for its heading: 民法 第三節　代理.

    Of several laws it is that of a code, which holds for everybody, of several codes that of the
    first made. Where that law has it in a longer heading alone (保証債務 of 保証), there is none.

    Args:
        store: the corpus.
        names: of its laws.
        term: as a question has it.
        admission: which laws may be found.
        scope: the laws that the question names; where it names some, theirs count alone.

    Returns:
        Law, article and heading.
    """
    headings: dict[str, list[tuple[str, int]]] = {}
    for law_id, title, start in store.headings_with(term):
        is_asked = not scope.is_beside(law_id) and admission.admits(law_id)
        if is_asked and names.is_act(law_id):
            headings.setdefault(law_id, []).append((title, start))
    exact = {
        law_id: (start, title)
        for law_id, found in headings.items()
        for title, start in reversed(found)
        if heading_name(title) == term
    }
    codes = [
        law_id
        for law_id in headings
        if _CONCERNS not in names.title(law_id)
        and any(_BOOK.match(section.title) for section in store.sections(law_id))
    ]
    # The id of a law begins with the year it was made in.
    first = min(codes or (headings if len(exact) == 1 else ()), default="")
    if first not in exact:
        return None
    start, title = exact[first]
    for stand in store.standing(first, ARTICLES):
        if stand.start >= start and not stand.locator.division:
            return first, stand.locator, title
    return None

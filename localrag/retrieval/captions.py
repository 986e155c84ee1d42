"""What the captions of articles tell of a question: the words of the laws, and what is asked.

The caption says what an article is about (第二十四条（退去強制）), in the law's own words. A long
article seldom repeats them, so that neither its own words nor their number lead to it.
"""

import re
from collections.abc import Collection, Iterator

from localrag.corpus.lookups import Lookups
from localrag.corpus.types import Locator
from localrag.retrieval.query import analyzer, terms_of
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

"""What captions and headings tell of a question: the words of the laws, and what is asked.

The caption says what an article is about (第二十四条（退去強制）), in the law's own words. A long
article seldom repeats them, so that neither its own words nor their number lead to it. The heading
of a part of a law does so for its articles, of which the first says what the others rest on.
"""

import re
from collections.abc import Collection, Iterator

from localrag.corpus.lookups import Lookups
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

"""What the search found and the answer does not quote: listed below it, whatever its status.

Whether any of it answers, nobody has checked. Without the list a reader of `not_found` sees nothing
of a hit that may be right.
"""

import re
from collections.abc import Iterable, Sequence

from localrag.corpus.types import Passage
from localrag.reading.types import Citation, Nearest
from localrag.retrieval.types import Hit, Query
from localrag.statutes.appendices import is_form, names_form
from localrag.wrapping import cut
from localrag_indexes.fusion import in_turn

MOST = 5
"""Passages that are listed below an answer, at most."""

# Words of questions that supplementary provisions answer.
_SUPPLEMENT = re.compile(
    r"附則|施行(?:日|期日|は|され)|経過措置|改正"
    r"|\b(?:supplementary|transitional|come into force)\b",
    re.IGNORECASE,
)
_WIDTH = 80
"""Cells that the first words of a passage take, at most: 40 characters of Japanese."""

Found = Sequence[tuple[Query, Sequence[Hit]]]
"""The hits of searches, best first, each with its query."""


def nearest(asked: Query, found: Found, quoted: Iterable[Citation]) -> tuple[Nearest, ...]:
    """The passages that come nearest to a question, without those that its answer quotes.

    They are those of the last search for the question itself. Where a method searched for parts of
    it alone, those of each part follow each other in turns. Hits of a law that the question does
    not name are left out. So are forms (様式) and supplementary provisions (附則), unless the
    question asks for them.

    Args:
        asked: the question.
        found: what its method searched for, in order.
        quoted: the citations of its answer.

    Returns:
        At most `MOST`, best first, no passage twice.
    """
    cited = [one for one in quoted if one.verified]
    passages = {
        hit.passage.id: hit.passage
        for hit in _ranked(asked, found)
        if not hit.beside
        and not (is_form(hit.passage) and not names_form(asked.text))
        and not (_is_supplementary(hit.passage) and not _SUPPLEMENT.search(asked.text))
        and not any(_holds(hit.passage, one) for one in cited)
    }
    return tuple(
        Nearest(one.id, one.header, _beginning(one)) for one in list(passages.values())[:MOST]
    )


def _ranked(asked: Query, found: Found) -> Iterable[Hit]:
    last = {(query.text, query.options): hits for query, hits in found if hits}
    whole = last.get((asked.text, asked.options))
    return whole or in_turn(last.values())


def _is_supplementary(passage: Passage) -> bool:
    return passage.locator.division.startswith("suppl")


def _holds(passage: Passage, citation: Citation) -> bool:
    """Whether a quotation is from a passage, or from a part of it such as a paragraph."""
    document = citation.passage_id.rpartition("#")[0]
    within = passage.start <= citation.start < passage.end
    return document == passage.document_id and within


def _beginning(passage: Passage) -> str:
    words = passage.text.split()
    if passage.locator.path:
        # The place of a provision, and its caption, are in its label already.
        told = next((n for n, word in enumerate(words) if word not in passage.header), 0)
        words = words[told:]
    return cut(" ".join(words), _WIDTH)

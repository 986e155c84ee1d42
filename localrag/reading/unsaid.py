"""The word of a question that tells most, where nothing that is quoted for it has that word.

Whoever asks of 株主総会 is no better off with a provision on the 総会 of another body: it repeats
the head of the word, and is about something else. That cannot be told from an answer by its score,
but by the word itself.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from localrag.reading.types import Citation
from localrag.retrieval.query import analyzer
from localrag.retrieval.reading import Retrieval
from localrag_indexes.analysis.normalize import letters_of

# A compound: 株主総会, クレジットカード番号. Shorter ones are words that statutes vary.
_COMPOUND = re.compile("[一-鿿々ァ-ヺー]{4,}")


def unsaid(
    question: str,
    retrieval: Retrieval,
    citations: Sequence[Citation],
    weight: Callable[[str], float],
) -> str:
    """The compound that tells most of a question, where what is quoted has its head alone.

    What the law says for an everyday word is as good as the word. Of a question that names laws
    these tell what it is about.

    Args:
        question: as asked.
        retrieval: what was found for it.
        citations: what is quoted, together with the passages it stands in.
        weight: how much a term says in the corpus.

    Returns:
        The compound; "" where there is none, or what is quoted says it, or none of it.
    """
    compounds = list(_COMPOUND.finditer(question))
    if retrieval.laws or not citations or not compounds:
        return ""
    told = max(compounds, key=lambda one: sum(map(weight, analyzer().terms(one[0]))))
    parts = analyzer().terms(told[0])
    said = "\n".join(_said(retrieval, citations))
    terms = set(analyzer().terms(said))
    if _is_said_otherwise(told, retrieval, terms):
        return ""
    has_head_alone = len(parts) > 1 and parts[-1] in terms and parts[0] not in terms
    return told[0] if has_head_alone and letters_of(told[0]) not in letters_of(said) else ""


def _is_said_otherwise(word: re.Match[str], retrieval: Retrieval, terms: Collection[str]) -> bool:
    """Whether some terms have what the law says for a word of the question."""
    in_law = (
        phrase
        for wording in retrieval.trace.wordings
        if wording.start < word.end() and word.start() < wording.end
        for phrase in wording.phrases
    )
    return any(set(analyzer().terms(phrase)) <= set(terms) for phrase in in_law)


def _said(retrieval: Retrieval, citations: Sequence[Citation]) -> Iterator[str]:
    for citation in citations:
        yield citation.quote
    for passage in (hit.passage for hit in retrieval.hits):
        within = (passage.id, f"{passage.id}.", f"{passage.id}/")
        if any(
            one.passage_id == within[0] or one.passage_id.startswith(within[1:])
            for one in citations
        ):
            yield f"{passage.header}\n{passage.text}"

"""Measures by code of answers over a collection, beside the ratings of a judge.

They use statements, verified citations and the aspects of a question. They are localrag's own.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from localrag.answer.types import Citation, Claim
from localrag.corpus.types import Triple
from localrag.evaluation.recall import document_of, place_of
from localrag.evaluation.types import GoldSentence, Measure, Question
from localrag.search.query import analyzer
from localrag_indexes.analysis.normalize import without_blanks

SAME = 0.8
"""A statement is new if earlier ones have less than this share of its terms."""

_NONE = dict.fromkeys(("aspects", "documents", "new", "carried"), 0.0)


def opened(synonyms: Sequence[Path] = ()) -> Measure:
    """The measure."""
    del synonyms
    return Measure("aspects", _of_text, of_claims=measure, rated=True)


def measure(
    claims: Sequence[Claim], citations: Sequence[Citation], question: Question
) -> Mapping[str, float]:
    """Figures of one answer, 0 to 1 each; 0 without a statement.

    ``carried`` is the share of statements contained in a verified citation. ``aspects``
    and ``documents`` are the shares cited by such a statement. ``new`` is one minus redundancy.
    """
    if not claims:
        return _NONE
    verified = [
        [] if claim.mismatches else [one for one in _cited(claim, citations) if one.verified]
        for claim in claims
    ]
    cited = [one for some in verified for one in some]
    of_documents = {place_of(one.passage_id).document for one in cited}
    documents = [document_of(one.document) for one in question.gold]
    return {
        "aspects": _share([_is_cited(one, cited) for one in question.sentences]),
        "documents": _share([one in of_documents for one in documents]),
        "new": _share(_new([one.text for one in claims])),
        "carried": _share([bool(some) for some in verified]),
    }


def _cited(claim: Claim, citations: Sequence[Citation]) -> list[Citation]:
    return [citations[number - 1] for number in claim.citations]


def _share(held: Sequence[bool]) -> float:
    return sum(held) / len(held) if held else 0.0


def _is_cited(aspect: GoldSentence, citations: Sequence[Citation]) -> bool:
    """Whether a citation contains words of an aspect, or a part of them."""
    wanted = without_blanks(aspect.text)
    document = document_of(aspect.document)
    for one in citations:
        quote = without_blanks(one.quote)
        if place_of(one.passage_id).document == document and (quote in wanted or wanted in quote):
            return True
    return False


def _new(statements: Sequence[str]) -> list[bool]:
    """For each statement, whether no earlier one makes it."""
    found = []
    earlier: list[set[str]] = []
    for text in statements:
        terms = set(analyzer().terms(text))
        found.append(all(len(terms & one) < SAME * len(terms) for one in earlier))
        earlier.append(terms)
    return found


def _of_text(answer: str, derivation: Sequence[Triple], question: Question) -> Mapping[str, float]:
    del answer, derivation, question
    return _NONE

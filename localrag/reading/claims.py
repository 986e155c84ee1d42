"""Claims on numbered sentences: what they say is checked, and what they cite is quoted, by code."""

from collections.abc import Sequence

from localrag.corpus.store import CorpusStore
from localrag.reading.checking import Mismatch, mismatches
from localrag.reading.extractive import cited
from localrag.reading.model import Citation, Claim
from localrag.reading.pieces import with_context
from localrag.reading.sentences import Sentence
from localrag.reading.verifier import verify


class ClaimChecker:
    """Checks the claims of one answer.

    Args:
        store: puts in the words quoted.
        sentences: that the model was shown.
        question: with its options.

    Attributes:
        claims: those checked so far.
        citations: what they rest on, each once.
    """

    def __init__(self, store: CorpusStore, sentences: Sequence[Sentence], question: str) -> None:
        self.claims: list[Claim] = []
        self.citations: list[Citation] = []
        self._store = store
        self._sentences = sentences
        self._question = question

    def check(self, text: str, numbers: Sequence[int]) -> None:
        """Check one claim, and add it with its citations.

        Args:
            text: what the model claims.
            numbers: of the sentences that it cites, from 1.
        """
        chosen = [self._sentences[number - 1] for number in dict.fromkeys(numbers)]
        found = self._mismatches(text, chosen)
        moved = False
        if found:
            carrying = self._carrying(text, chosen)
            if carrying is not None:
                chosen, found, moved = carrying, (), True
        self.claims.append(Claim(text, self._cite(chosen), found, moved))

    def _mismatches(self, text: str, chosen: Sequence[Sentence]) -> tuple[Mismatch, ...]:
        return mismatches(
            text,
            [piece.text for piece in with_context([one.piece for one in chosen])],
            headings=[one.passage.header for one in chosen],
            question=self._question,
        )

    def _carrying(self, text: str, chosen: Sequence[Sentence]) -> list[Sentence] | None:
        """The sentences that carry a claim: one alone, or one together with those cited."""
        others = [one for one in self._sentences if one not in chosen]
        for wider in ([one] for one in others):
            if not self._mismatches(text, wider):
                return wider
        return None

    def _cite(self, chosen: Sequence[Sentence]) -> tuple[int, ...]:
        """Add the citations of sentences, each with what it needs to be read with; their numbers."""
        numbers = []
        for piece in with_context([one.piece for one in chosen]):
            citation = verify(self._store, cited(piece))
            if citation not in self.citations:
                self.citations.append(citation)
            numbers.append(self.citations.index(citation) + 1)
        return tuple(numbers)

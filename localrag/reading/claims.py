"""Claims on numbered sentences: what they say is checked, and what they cite is quoted, by code."""

from collections.abc import Sequence
from typing import NamedTuple

from localrag.corpus.store import CorpusStore
from localrag.reading.checking import (
    ENOUGH,
    CandidateSentence,
    Mismatch,
    MismatchKind,
    carriers,
    covers,
    mismatches,
)
from localrag.reading.extractive import quoted
from localrag.reading.pieces import with_context
from localrag.reading.sentences import Sentence
from localrag.reading.types import Citation, Claim


class CheckedClaim(NamedTuple):
    """A claim, and the sentences that carry it: each alone, or all together where none does."""

    claim: Claim
    sentences: Sequence[Sentence]


class ClaimChecker:
    """Checks the claims of one answer.

    Args:
        store: puts in the words quoted.
        sentences: that the model was shown.
        question: with its options.

    Attributes:
        citations: what the claims checked so far rest on, each once.
    """

    def __init__(self, store: CorpusStore, sentences: Sequence[Sentence], question: str) -> None:
        self.citations: list[Citation] = []
        self._store = store
        self._sentences = sentences
        self._question = question

    def check(self, text: str, numbers: Sequence[int]) -> CheckedClaim:
        """Check one claim, and add its citations.

        Args:
            text: what the model claims.
            numbers: of the sentences that it cites, from 1.
        """
        chosen = [self._sentences[number - 1] for number in dict.fromkeys(numbers)]
        found = self._mismatches(text, chosen)
        moved = False
        if found and (carrying := self._carrying(text, chosen)):
            chosen, found, moved = carrying, (), True
        claim = Claim(text, self._cite(chosen), found, moved)
        # Of two sentences cited one may answer the question, and the other say what is claimed.
        alone = [one for one in chosen if not found and not self._mismatches(text, [one])]
        return CheckedClaim(claim, alone or chosen)

    def _mismatches(self, text: str, chosen: Sequence[Sentence]) -> tuple[Mismatch, ...]:
        """What a claim says and its sentences do not; all of it if these speak of other things."""
        said, headings = _read(chosen), _headings(chosen)
        found = mismatches(text, said, headings=headings, question=self._question)
        if found:
            return found
        share = covers(text, said, headings=headings, question=self._question)
        return () if share >= ENOUGH else (Mismatch(MismatchKind.WORDS, text),)

    def _carrying(self, text: str, chosen: Sequence[Sentence]) -> list[Sentence] | None:
        """The sentences of the evidence that carry a claim, where those cited do not."""
        others = [sentence for sentence in self._sentences if sentence not in chosen]
        carrier = carriers(
            text,
            [CandidateSentence("\n".join(_read([one])), one.passage.header) for one in others],
            cited=_read(chosen),
            headings=_headings(chosen),
            question=self._question,
        )
        if carrier is None:
            return None
        return [others[carrier.index], *(() if carrier.alone else chosen)]

    def _cite(self, chosen: Sequence[Sentence]) -> tuple[int, ...]:
        """Add the citations of sentences, each with what it is read with; their numbers."""
        numbers = []
        for citation in quoted(self._store, [one.piece for one in chosen]):
            if citation not in self.citations:
                self.citations.append(citation)
            numbers.append(self.citations.index(citation) + 1)
        return tuple(numbers)


def _read(chosen: Sequence[Sentence]) -> list[str]:
    """Sentences with their stems and provisos, as texts."""
    return [piece.text for piece in with_context([sentence.piece for sentence in chosen])]


def _headings(chosen: Sequence[Sentence]) -> list[str]:
    return list(dict.fromkeys(sentence.piece.label for sentence in chosen))

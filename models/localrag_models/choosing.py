"""Answers of a single word, weighed by the token that a reply would begin with."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from localrag_models.chat import Choice, Finish, Reply, Usage
from localrag_models.errors import ReplyInvalid


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token that a reply may begin with.

    Attributes:
        text: its bytes, perhaps a part of a character.
        logarithm: of its probability.
    """

    text: bytes
    logarithm: float


class Options:
    """The words that a model may answer with.

    Args:
        words: at least two, different beyond their case, none empty, each without a blank.

    Raises:
        ValueError: they are no such words.
    """

    def __init__(self, words: Sequence[str]) -> None:
        spelled = [word.encode(errors="replace").lower() for word in words]
        if len(spelled) < 2 or len(set(spelled)) < len(spelled):
            raise ValueError(f"not at least two different options: {list(words)}")
        if any(len(word.split()) != 1 or word != word.strip() for word in words):
            raise ValueError(f"an option is a word without a blank: {list(words)}")
        self.words = tuple(words)
        self._spelled = spelled

    def begun_by(self, token: bytes) -> list[str]:
        """The options that a reply beginning with this token can be."""
        said = token.lstrip().lower()
        return [
            word
            for word, spelled in zip(self.words, self._spelled, strict=True)
            if said and (spelled.startswith(said) or _ends_after(said, spelled))
        ]

    def weighed(
        self, candidates: Iterable[Candidate], model: str, usage: Usage, seconds: float
    ) -> Choice:
        """What the likeliest tokens of a model say of the options.

        Args:
            candidates: tokens that a reply may begin with, likeliest first.
            model: its id, for messages.
            usage: of the call.
            seconds: that the call took.

        Raises:
            ReplyInvalid: none of the tokens begins an option, or most that do begin several.
        """
        likeliest = b""
        weights = dict.fromkeys(self.words, 0.0)
        shared = 0.0
        for candidate in candidates:
            likeliest = likeliest or candidate.text
            begun = self.begun_by(candidate.text)
            if len(begun) == 1:
                weights[begun[0]] += math.exp(candidate.logarithm)
            elif begun:
                shared += math.exp(candidate.logarithm)
        covered = sum(weights.values())
        if covered <= shared:
            said = likeliest.decode(errors="replace")
            several = ", which may be several" if shared else ", which is none"
            raise ReplyInvalid(
                f"{model} would begin its reply with {said!r}{several} of "
                f"{', '.join(map(repr, self.words))}.",
                "Offer words that begin differently, or ask a larger model.",
                reply=Reply(said, usage, Finish.LENGTH, seconds),
            )
        shares: Mapping[str, float] = {word: weights[word] / covered for word in self.words}
        return Choice(shares, min(covered, 1.0), usage, seconds)


def _ends_after(said: bytes, word: bytes) -> bool:
    """Whether a token is the whole word and what cannot go on with it ("yes,", "はい。")."""
    rest = said.removeprefix(word).decode(errors="replace")
    return said.startswith(word) and not (rest[:1].isalnum() or rest[:1] == "\ufffd")

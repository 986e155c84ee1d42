"""The guard against prompts that carry wording of the questions they were made with.

Such a prompt would score well on these questions and prove nothing. The guard knows copied
wording, whatever its widths, case, blanks and punctuation, and listed article numbers; it cannot
know a paraphrase.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from localrag.evaluation.model import Question
from localrag.prompts import Language, language_of
from localrag.statutes.citations import find_citations
from localrag.statutes.names import LawNames
from localrag_indexes.analysis.normalize import normalize

LONGEST: dict[Language, int] = {"ja": 12, "en": 40}
"""Letters and digits in a row that a prompt may share with a question, by its language."""

COMMON = 5
"""What the wording of so many questions has in common is of the trade, and may be used."""

_NO_LETTER = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Leak:
    """What of which question a prompt carries.

    Attributes:
        question: its id; "" for an article number, which several may share.
        wording: the letters both have in a row, or the article number ("27_36").
    """

    question: str
    wording: str


class LeakageGuard:
    """Finds wording of questions, options and gold contexts in a proposed prompt.

    Args:
        questions: those that the optimisation uses, for training and for validation.
        seed: the prompt it starts from, whose own words are free.
        names: the names of the laws of the corpus, which are free as well.
    """

    def __init__(self, questions: Iterable[Question], seed: str, names: LawNames) -> None:
        known = list(questions)
        self._names = names
        # Counted in what is asked, not in the contexts: questions on one provision share these.
        asked = Counter(run for question in known for run in set(_runs_of(_asked(question))))
        free = {run for run, count in asked.items() if count >= COMMON}
        free |= set(_runs_of([seed], LONGEST))
        self._owners = {
            run: question.id
            for question in known
            for run in _runs_of([*_asked(question), question.context])
            if run not in free
        }
        self._articles = {place.article for question in known for place in question.gold} | {
            article for question in known for text in _asked(question) for article in _cited(text)
        }
        self._articles -= {"", *_cited(seed)}

    def find(self, prompt: str) -> Leak | None:
        """The first leak in a prompt; None where there is none."""
        for run in _runs_of(self._between_names(prompt), LONGEST):
            if run in self._owners:
                return Leak(self._owners[run], run)
        for article in _cited(prompt):
            if article in self._articles:
                return Leak("", article)
        return None

    def _between_names(self, prompt: str) -> Iterator[str]:
        start = 0
        for name in self._names.find_names(prompt):
            # A short one carries nothing, and would only cut what stands around it.
            if name.end - name.start > LONGEST["ja"]:
                yield prompt[start : name.start]
                start = name.end
        yield prompt[start:]


def _asked(question: Question) -> list[str]:
    return [question.query.text, *question.query.options]


def _runs_of(texts: Iterable[str], languages: Iterable[Language] = ()) -> Iterator[str]:
    """Every stretch of letters one longer than is allowed."""
    for text in texts:
        letters = _NO_LETTER.sub("", normalize(text))
        for language in languages or (language_of(text),):
            length = LONGEST[language] + 1
            for start in range(len(letters) - length + 1):
                yield letters[start : start + length]


def _cited(text: str) -> list[str]:
    # Blanks inside a citation would hide its number.
    compact = re.sub(r"\s", "", text)
    return [
        place.article
        for found in find_citations(compact)
        for place in (found.locator, found.last)
        if place is not None and place.article
    ]

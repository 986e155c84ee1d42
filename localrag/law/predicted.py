"""Questions that provisions answer, by which they are found beside their own words.

A statute speaks of 相続の放棄, its reader of a father who left nothing but debts. A provision is
indexed with questions that people may ask of it, and is found by theirs (doc2query: Nogueira et
al. 2019, Document Expansion by Query Prediction). ``predicted_questions.tsv`` has them, one a
line: law id, article, question. Large language models wrote them from the first 150 characters of
each provision and what they know of the law; no lawyer has read them. They saw no question that
judges the search. How well the questions serve: ``scripts/bench/lawyers.py``.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

_FILE = "predicted_questions.tsv"


def predicted_questions(unit: str) -> Sequence[str]:
    """The questions of an article, by the id of its passage; none for most articles."""
    return _by_unit().get(unit, ())


@cache
def fingerprint() -> str:
    """Tells this file of questions from any other."""
    return hashlib.blake2b(_read().encode(), digest_size=8).hexdigest()


@cache
def _read() -> str:
    return files(__package__).joinpath(_FILE).read_text(encoding="utf-8")


@cache
def _by_unit() -> Mapping[str, Sequence[str]]:
    questions: dict[str, list[str]] = {}
    for line in _read().splitlines():
        law, article, question = line.split("\t")
        questions.setdefault(f"{law}#{article}", []).append(question)
    return questions

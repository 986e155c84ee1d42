"""Predicted questions: questions that provisions answer, indexed besides their words.

A statute says 相続の放棄, its reader speaks of a father's debts. Provisions are also found by
questions people may ask of them (doc2query: Nogueira et al. 2019, Document Expansion by Query
Prediction). ``predicted_questions.tsv`` has a law id, an article and a question in each line. Large
language models wrote them from the first 150 characters of each provision and their knowledge of
the law. No lawyer has read them, and the models saw no question of the benchmarks.
``scripts/bench/lawyers.py`` measures their effect.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

_FILE = "predicted_questions.tsv"


def predicted_questions(unit: str) -> Sequence[str]:
    """The questions of an article, by the id of its passage; mostly empty."""
    return _by_unit().get(unit, ())


@cache
def fingerprint() -> str:
    """The fingerprint of this file of questions."""
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

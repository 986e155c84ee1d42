"""Measures of multi-hop questions in English: exact match and F1 over words.

Source: script of HotpotQA (Yang et al., 2018, hotpot_evaluate_v1.py), followed by
2WikiMultiHopQA, after SQuAD (Rajpurkar et al., 2016). The most similar of several right answers
counts, as in MuSiQue (Trivedi et al., 2022). Two rules apply to all: a wrong yes or no has no F1
(HotpotQA), and two texts that normalise to nothing are equal (SQuAD, MuSiQue).
"""

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from localrag.corpus.types import Triple
from localrag.evaluation.types import Measure, Question

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
# Such an answer is right or wrong as a whole.
_WHOLE = ("yes", "no", "noanswer")


def opened(synonyms: Sequence[Path] = ()) -> Measure:
    """The measure, without synonyms."""
    del synonyms
    return Measure("f1", measure)


def measure(answer: str, derivation: Sequence[Triple], question: Question) -> Mapping[str, float]:
    """Exact match and F1, 0 to 1, against the most similar right answer; "" if there is none."""
    del derivation
    right = (question.answer, *question.aliases)
    return {
        "em": max(exact(answer, one) for one in right),
        "f1": max(word_f1(answer, one) for one in right),
    }


def normalised(text: str) -> str:
    """An answer in lower case, without ASCII punctuation, articles and extra blanks."""
    plain = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLE.sub(" ", plain).split())


def exact(answer: str, gold: str) -> float:
    """1 if both are equal after `normalised`, else 0."""
    return float(normalised(answer) == normalised(gold))


def word_f1(answer: str, gold: str) -> float:
    """F1 over the words after `normalised`, 0 to 1; yes, no, "noanswer" count as a whole."""
    mine, theirs = normalised(answer), normalised(gold)
    if mine == theirs or mine in _WHOLE or theirs in _WHOLE:
        return float(mine == theirs)
    words, others = Counter(mine.split()), Counter(theirs.split())
    return 2 * (words & others).total() / (words.total() + others.total())

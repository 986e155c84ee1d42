"""An answer in free text against the right one, by characters."""

import re
from collections import Counter

from localrag_indexes.analysis.normalize import normalize, without_blanks

_BLANK = re.compile(r"\s+")
# Without a closing bracket the rest of the line is matched and kept. Looking again from each later
# bracket would take quadratic time.
_BRACKETED = re.compile(r"\s*[(（].[^)）\n]*(?P<closed>[)）]\s*)?")
_QUOTATION_MARKS = str.maketrans("", "", "『』「」")
_YES_NO = {"はい": "YES", "いいえ": "NO"}


def normalised(text: str) -> str:
    """An answer or a part of a triple, normalised as by the script of JEMHopQA.

    A whole text はい or いいえ becomes YES or NO. Brackets （…） and (…) are removed with their
    content, up to the first closing one on the line. Quotation marks 『』「」 are removed, but not
    their content. Blanks become one space and are stripped. Width and case stay.

    Source: aiishii/JEMHopQA, evaluate.py, `normalize_answer`.
    """
    # Runs of blanks become one blank first, for linear time. Brackets end at a line break, so that
    # stays.
    text = _BLANK.sub(lambda run: "\n" if "\n" in run[0] else " ", _YES_NO.get(text, text))
    text = _BRACKETED.sub(lambda found: found[0] if found["closed"] is None else "", text)
    return " ".join(text.translate(_QUOTATION_MARKS).split())


def folded(text: str) -> str:
    """`normalised` in NFKC and one case, without blanks; a text in brackets keeps its content."""
    return without_blanks(normalised(text) or text)


def exact(answer: str, gold: str) -> float:
    """1 if equal after `normalised`, else 0; 0 for an empty answer (JEMHopQA, answer EM)."""
    return float(bool(answer) and normalised(answer) == normalised(gold))


def char_f1(answer: str, gold: str) -> float:
    """F1 over the characters of two texts after `normalised`, 0 to 1; spaces are ignored.

    Source: F1 of SQuAD (Rajpurkar et al., 2016, section 6.1), with characters as tokens like JaQuAD
    (So et al., 2022) and JGLUE (Kurihara et al., 2022). It is 1 for two empty texts, 0 for one.
    """
    mine, theirs = (Counter(normalised(text).replace(" ", "")) for text in (answer, gold))
    if not mine or not theirs:
        return float(mine == theirs)
    return 2 * (mine & theirs).total() / (mine.total() + theirs.total())


def contains(answer: str, gold: str) -> float:
    """1 if the answer contains the text, else 0; width and case are ignored."""
    return float(normalize(gold) in normalize(answer))

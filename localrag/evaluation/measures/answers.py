"""An answer in words against the right one, character by character."""

import re
from collections import Counter

from localrag_indexes.analysis.normalize import normalize, without_blanks

_BLANK = re.compile(r"\s+")
# Where no bracket closes the line, the whole rest of it is matched, and kept: no later bracket of
# the line can be closed either, and looking again from each would take quadratic time.
_BRACKETED = re.compile(r"\s*[(（].[^)）\n]*(?P<closed>[)）]\s*)?")
_QUOTATION_MARKS = str.maketrans("", "", "『』「」")
_YES_NO = {"はい": "YES", "いいえ": "NO"}


def normalised(text: str) -> str:
    """An answer, or a part of a triple, as the official script of JEMHopQA compares it.

    はい and いいえ become YES and NO where they are the whole text; brackets （…） and (…) go with
    what they hold, up to the first closing one, on one line; the quotation marks 『』「」 go, what
    they hold stays; blanks become one space, and none is left at the ends. Width and case stay.

    Source: aiishii/JEMHopQA, evaluate.py, `normalize_answer`.
    """
    # A run of blanks is one blank, so that no run is looked through more than once; a line break in
    # it stays one, for brackets do not reach over it.
    text = _BLANK.sub(lambda run: "\n" if "\n" in run[0] else " ", _YES_NO.get(text, text))
    text = _BRACKETED.sub(lambda found: found[0] if found["closed"] is None else "", text)
    return " ".join(text.translate(_QUOTATION_MARKS).split())


def folded(text: str) -> str:
    """What `normalised` gives, in NFKC and one case, without blanks.

    A text that stands in brackets as a whole is not emptied.
    """
    return without_blanks(normalised(text) or text)


def exact(answer: str, gold: str) -> float:
    """1 for an answer that is the right one after `normalised`, else 0; no answer is never right.

    Source: aiishii/JEMHopQA, evaluate.py (answer EM).
    """
    return float(bool(answer) and normalised(answer) == normalised(gold))


def char_f1(answer: str, gold: str) -> float:
    """How far two texts consist of the same characters, 0 to 1: F1 after `normalised`.

    Source: the F1 of SQuAD (Rajpurkar et al., 2016, section 6.1), with characters for tokens, as
    JaQuAD (So et al., 2022) and JGLUE (Kurihara et al., 2022) count it for Japanese; the
    normalisation is that of JEMHopQA. Spaces do not count. Of two empty texts it is 1, of one 0.
    """
    mine, theirs = (Counter(normalised(text).replace(" ", "")) for text in (answer, gold))
    if not mine or not theirs:
        return float(mine == theirs)
    return 2 * (mine & theirs).total() / (mine.total() + theirs.total())


def contains(answer: str, gold: str) -> float:
    """1 if the answer holds the text sought, else 0; width and case do not count."""
    return float(normalize(gold) in normalize(answer))

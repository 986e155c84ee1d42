"""Measures of JEMHopQA: answers and derivations, with the word similarity of its script.

Source: Ishii, Inoue, Suzuki and Sekine, "JEMHopQA: Dataset for Japanese Explainable Multi-Hop
Question Answering", LREC-COLING 2024, section 5; evaluate.py of aiishii/JEMHopQA. Synonyms are in
the text form of the Sudachi synonym dictionary (SudachiDict, docs/synonyms.md). A line is a word:
group, noun or verb, expansion (0 always, 1 only from the other words of its group, 2 never), …, and
the word in the ninth field. Lines of a group share its number.
"""

import csv
import importlib
from collections import ChainMap, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from localrag.corpus.types import Triple
from localrag.errors import InputError
from localrag.evaluation.datasets.keeping import unreadable
from localrag.evaluation.measures.answers import char_f1, exact, folded, normalised
from localrag.evaluation.types import AnswerVerdict, Measure, Question
from localrag.language import N_
from localrag.text.facts import Fact, FactKind

if TYPE_CHECKING:
    from sudachipy import Tokenizer

Synonyms = Mapping[str, frozenset[str]]
"""Synonyms by word, itself included; empty if it has several meanings."""

_GROUP, _EXPANSION, _WORD = 0, 2, 8
_FIELDS = 9
_FROM_OTHERS, _NEVER = "1", "2"


def read_synonyms(paths: Sequence[Path]) -> Synonyms:
    """Read dictionaries; a later one replaces the words of earlier ones.

    A word in several groups has the synonyms of all. These are the rules of chikkarpy, which needs
    binary dictionaries.
    """
    return ChainMap(*(_read(path) for path in reversed(paths)))


def _read(path: Path) -> dict[str, frozenset[str]]:
    groups: dict[str, dict[str, str]] = defaultdict(dict)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for number, fields in enumerate(csv.reader(file, quoting=csv.QUOTE_NONE), 1):
                if not any(map(str.strip, fields)):
                    continue
                if len(fields) < _FIELDS or not fields[_WORD]:
                    raise _invalid(path, f"line {number} has no word in its ninth field")
                if fields[_EXPANSION] != _NEVER:
                    groups[fields[_GROUP]].setdefault(fields[_WORD], fields[_EXPANSION])
    except OSError as error:
        raise unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise _invalid(path, "it is not UTF-8") from error
    except csv.Error as error:
        raise _invalid(path, str(error)) from error
    found: dict[str, set[str]] = defaultdict(set)
    for words in groups.values():
        for word, expansion in words.items():
            found[word] |= set() if expansion == _FROM_OTHERS else words.keys()
    return {word: frozenset(synonyms) for word, synonyms in found.items()}


def _invalid(path: Path, why: str) -> InputError:
    return InputError(
        N_("{path} is no dictionary of synonyms ({why})."),
        N_("Get it again, in the text form of the Sudachi synonym dictionary (synonyms.txt)."),
        path=path,
        why=why,
    )


EXTRA = "jemhopqa"
"""The extra with the packages of the similarity."""

OFFICIAL_DICTIONARY = "full"
_DICTIONARIES = (OFFICIAL_DICTIONARY, "core")
_PACKAGES = ("rapidfuzz", "scipy", "sudachipy")

_PASSED_OVER = frozenset({"空白", "補助記号", "助詞", "助動詞"})
# Sudachi accepts 49,149 bytes at once, and a character has up to four.
_LONGEST = 12_000
_KEPT = 10_000

Word = frozenset[str]
"""The forms of a word; two words are the same where they share one."""


class Dictionary(NamedTuple):
    """An installed dictionary of Sudachi."""

    name: str  # "full", "core"
    version: str


def installed_dictionary() -> Dictionary | None:
    """The official dictionary for word segmentation, else the smaller one; None without any."""
    try:
        for package in _PACKAGES:
            importlib.import_module(package)
    except ImportError:
        return None
    for name in _DICTIONARIES:
        try:
            return Dictionary(name, version(f"sudachidict_{name}"))
        except PackageNotFoundError:
            continue
    return None


class Similarity:
    """Similarity of texts, 0 to 1; for one thread at a time.

    Texts are changed as in `normalised` and segmented by Sudachi in mode C. Blanks, punctuation,
    particles and auxiliaries are skipped. A numeral and its counter are one word, without a leading
    zero. Each word of the right text is matched with the first free word of the other that shares a
    form (as written, normalised by Sudachi, or a synonym). Similarity is the Indel ratio of both
    sequences, 2 · LCS / (m + n). It is 1 for two texts without words.

    Source: aiishii/JEMHopQA, evaluate.py, `editdist`, after R4C (Inoue et al., 2020). A prediction
    ``Yes`` or ``No`` in this spelling is unlike any text, even YES, as in the script. The script
    allows 26 different words in two texts; here they are unlimited. Texts above 12,000 characters
    are segmented in pieces. `synonyms`: from `read_synonyms`; the script uses those of Sudachi and
    ``sample_user_dic.txt``.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        synonyms: Synonyms = MappingProxyType({}),
    ) -> None:
        import sudachipy

        self.dictionary = dictionary
        self._synonyms = synonyms
        self._tokenizer: Tokenizer = sudachipy.Dictionary(dict=dictionary.name).tokenizer(
            mode=sudachipy.SplitMode.C
        )
        # The parts of one right triple are compared with those of every other.
        self._words = lru_cache(_KEPT)(self._cut)

    def __call__(self, predicted: str, gold: str) -> float:
        """Similarity of the predicted text to the right one."""
        from rapidfuzz.distance import Indel

        predicted, gold = normalised(predicted), normalised(gold)
        if predicted in ("Yes", "No") and predicted != gold:
            return 0.0
        return Indel.normalized_similarity(*_labelled(self._words(predicted), self._words(gold)))

    def _cut(self, text: str) -> tuple[Word, ...]:
        # Sudachi rejects lone surrogates.
        whole = text.encode(errors="replace").decode()
        pieces = (whole[start : start + _LONGEST] for start in range(0, len(whole), _LONGEST))
        return tuple(word for piece in pieces for word in self._of_piece(piece))

    def _of_piece(self, text: str) -> Iterator[Word]:
        morphemes = iter(self._tokenizer.tokenize(text))
        ahead = next(morphemes, None)
        while (one := ahead) is not None:
            ahead = next(morphemes, None)
            kind, detail, *_ = one.part_of_speech()
            surface = one.surface()
            if kind in _PASSED_OVER:
                continue
            if detail == "数詞" and ahead and "助数詞" in ahead.part_of_speech()[2]:
                yield frozenset({surface.removeprefix("0") + ahead.surface()})
                ahead = next(morphemes, None)
            elif detail == "数詞" and surface.startswith("0"):
                yield frozenset({surface.removeprefix("0")})
            else:
                yield self._synonyms.get(surface, frozenset()) | {surface, one.normalized_form()}


def _labelled(
    predicted: Sequence[Word], gold: Sequence[Word]
) -> tuple[Sequence[int], Sequence[int]]:
    """Both as numbers, equal for matched words only."""
    labels = list(range(len(gold), len(gold) + len(predicted)))
    for number, word in enumerate(gold):
        for place, other in enumerate(predicted):
            if labels[place] >= len(gold) and word & other:
                labels[place] = number
                break
    return labels, range(len(gold))


if TYPE_CHECKING:
    import numpy as np


def opened(synonyms: Sequence[Path] = ()) -> Measure:
    """The measure with the installed packages. Raises `InputError`."""
    dictionary = installed_dictionary()
    if dictionary is None:
        note = Fact(FactKind.SIMILARITY_LEFT_OUT, extra=EXTRA)
        return Measure("em", partial(measure, similarity=None), verdict, (note,))
    names = tuple(path.name for path in synonyms)
    made_with = {"dictionary": dictionary.name, "version": dictionary.version}
    notes = [
        Fact(FactKind.SIMILARITY_MADE_WITH, **made_with, synonyms=names)
        if names
        else Fact(FactKind.SIMILARITY_WITHOUT_SYNONYMS, **made_with)
    ]
    if dictionary.name != OFFICIAL_DICTIONARY or not synonyms:
        notes.append(Fact(FactKind.SIMILARITY_UNOFFICIAL, dictionary=OFFICIAL_DICTIONARY))
    similarity = Similarity(dictionary, read_synonyms(synonyms))
    return Measure("em", partial(measure, similarity=similarity), verdict, tuple(notes))


def measure(
    answer: str,  # its text; "" scores 0
    derivation: Sequence[Triple],
    question: Question,
    similarity: Similarity | None,  # None if a package is missing
) -> Mapping[str, float]:
    """Figures of one answer, 0 to 1 each.

    ``em`` and ``char_f1`` of the answer; with a similarity also ``similarity`` of the answer and
    `agreement` of the derivation.
    """
    figures = {"em": exact(answer, question.answer), "char_f1": char_f1(answer, question.answer)}
    if similarity is None:
        return figures
    alike = similarity(answer, question.answer) if answer else 0.0
    return {
        **figures,
        "similarity": alike,
        **agreement(derivation, question.derivation, similarity),
    }


def verdict(answer: str, derivation: Sequence[Triple], question: Question) -> AnswerVerdict:
    """Whether an answer and its derivation are right, by comparison; the rule is localrag's own.

    The answer is right if it is equal after `folded`; NA if nothing is left. The derivation is
    right if it has the subject and each object of every right triple after `folded`. Additional
    triples are allowed, predicates are ignored. Answers in more detail or another notation count as
    wrong, so shares of right ones are lower bounds.
    """
    if not folded(answer):
        return AnswerVerdict.NA
    return AnswerVerdict.of(
        answer=folded(answer) == folded(question.answer),
        derivation=_links(question.derivation) <= _links(derivation),
    )


def _links(derivation: Sequence[Triple]) -> set[tuple[str, str]]:
    return {(folded(subject), folded(one)) for subject, _, one in singles(derivation)}


# Compared parts of a triple, by position in (subject, predicate, object).
_ASPECTS = {"entity": (0, 2), "relation": (1,), "full": (0, 1, 2)}

Single = tuple[str, str, str]
"""A triple with one object."""


def singles(derivation: Sequence[Triple]) -> list[Single]:
    """Triples with one object each."""
    return [
        (triple.subject, triple.predicate, one) for triple in derivation for one in triple.objects
    ]


def agreement(
    predicted: Sequence[Triple],
    gold: Sequence[Triple],
    similarity: Callable[[str, str], float],
) -> Mapping[str, float]:
    """Precision, recall and F1 of a derivation, 0 to 1, as ``entity_f1`` or ``full_recall``.

    The similarity of two triples is the mean over subject and object (``entity``), the predicate
    (``relation``) or all three (``full``). Triples with one object each are aligned one to one with
    the highest sum s. Precision is s over predicted triples, recall s over right ones; 0 without
    any.

    Source: aiishii/JEMHopQA, evaluate.py, after R4C (Inoue et al., 2020, section 3). R4C finds the
    same optimum by a linear programme.
    """
    import numpy as np

    mine, theirs = singles(predicted), singles(gold)
    alike = np.zeros((3, len(mine), len(theirs)))
    for row, one in enumerate(mine):
        for column, other in enumerate(theirs):
            alike[:, row, column] = [
                similarity(part, right) for part, right in zip(one, other, strict=True)
            ]
    figures: dict[str, float] = {}
    for name, parts in _ASPECTS.items():
        total = _best(alike[list(parts)].mean(axis=0))
        precision, recall = (total / len(some) if some else 0.0 for some in (mine, theirs))
        f1 = 2 * precision * recall / (precision + recall) if total else 0.0
        figures |= {f"{name}_precision": precision, f"{name}_recall": recall, f"{name}_f1": f1}
    return figures


def _best(alike: "np.ndarray") -> float:
    from scipy.optimize import linear_sum_assignment

    return float(alike[linear_sum_assignment(alike, maximize=True)].sum())

"""How alike two texts are, word by word, as the official script of JEMHopQA has it.

Synonyms come in the text form of the Sudachi synonym dictionary. A line is a word: group, noun or
verb, whether it is expanded (0 always, 1 only from the other words of its group, 2 never), …, and
in the ninth field the word (SudachiDict, docs/synonyms.md). Lines of one group share its number.
"""

import csv
import importlib
from collections import ChainMap, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from localrag.errors import InputError
from localrag.evaluation.measures.answers import normalised
from localrag.language import N_

if TYPE_CHECKING:
    from sudachipy import Tokenizer

Synonyms = Mapping[str, frozenset[str]]
"""By word, those that mean the same, itself included; none where it can mean several things."""

_GROUP, _EXPANSION, _WORD = 0, 2, 8
_FIELDS = 9
_FROM_OTHERS, _NEVER = "1", "2"


def read_synonyms(paths: Sequence[Path]) -> Synonyms:
    """Read dictionaries; what a later one says of a word takes the place of what earlier ones say.

    A word of several groups has the synonyms of all of them. These are the rules by which chikkarpy
    looks words up; it needs its dictionaries in a binary form.

    Raises:
        InputError: a file cannot be read, or a line of it has no word.
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
        raise InputError(
            N_("{path} cannot be read ({problem})."),
            N_("Check the path and its permissions."),
            path=path,
            problem=error,
        ) from error
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
        N_("Get it anew, in the text form of the Sudachi synonym dictionary (synonyms.txt)."),
        path=path,
        why=why,
    )


EXTRA = "jemhopqa"
"""The extra that brings what similarity is made with."""

OFFICIAL_DICTIONARY = "full"
_DICTIONARIES = (OFFICIAL_DICTIONARY, "core")
_PACKAGES = ("rapidfuzz", "scipy", "sudachipy")

_PASSED_OVER = frozenset({"空白", "補助記号", "助詞", "助動詞"})
# Sudachi takes 49,149 bytes at once, and a character is up to four.
_LONGEST = 12_000
_KEPT = 10_000

Word = frozenset[str]
"""The forms of a word; two words are the same where they share one."""


class Dictionary(NamedTuple):
    """A dictionary of Sudachi that is installed.

    Attributes:
        name: "full", "core".
        version: of its package.
    """

    name: str
    version: str


def installed_dictionary() -> Dictionary | None:
    """The dictionary that texts are cut into words with: the official one, else the smaller one.

    Returns:
        None where similarity cannot be made, because a package of the extra is missing.
    """
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
    """Tells how alike texts are, 0 to 1; serves one thread at a time.

    Both texts are brought to the form of `normalised` and cut into words by Sudachi in mode C.
    Blanks, punctuation, particles and auxiliaries are passed over; a numeral and the counter after
    it are one word, without a leading zero. Each word of the right text, in turn, is matched with
    the first word of the other that shares a form (as written, normalised by Sudachi, or a synonym)
    and is not matched yet. Similarity is the Indel ratio of the two sequences, 2 · LCS / (m + n):
    matched words are equal, all others differ. Two texts without any word are alike (1).

    Source: aiishii/JEMHopQA, evaluate.py, `editdist`, after R4C (Inoue et al., 2020). What decides
    figures is kept: a text that is ``Yes`` or ``No`` in just this spelling is unlike any other, YES
    included, where it stands in the prediction, but not where it is the right one. It differs in
    what the script fails at: the script has 26 letters to tell words apart and raises where two
    texts have more words between them, matched ones counted once; here they are unlimited. A text
    of more than 12,000 characters is cut into words piece by piece.

    Attributes:
        dictionary: by which texts are cut into words.

    Args:
        dictionary: as `installed_dictionary` gives it.
        synonyms: as `read_synonyms` gives them; the script takes those of Sudachi and, before
            them, its own ``sample_user_dic.txt``.
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
        """How like the right text the predicted one is."""
        from rapidfuzz.distance import Indel

        predicted, gold = normalised(predicted), normalised(gold)
        if predicted in ("Yes", "No") and predicted != gold:
            return 0.0
        return Indel.normalized_similarity(*_labelled(self._words(predicted), self._words(gold)))

    def _cut(self, text: str) -> tuple[Word, ...]:
        # Half a character is no text that Sudachi takes.
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
    """Both as numbers, the same number for words that are matched and for no others."""
    labels = list(range(len(gold), len(gold) + len(predicted)))
    for number, word in enumerate(gold):
        for place, other in enumerate(predicted):
            if labels[place] >= len(gold) and word & other:
                labels[place] = number
                break
    return labels, range(len(gold))

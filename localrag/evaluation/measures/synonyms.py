"""Synonyms in the text form of the Sudachi synonym dictionary.

A line is a word: group, noun or verb, whether it is expanded (0 always, 1 only from the other words
of its group, 2 never), …, and in the ninth field the word (SudachiDict, docs/synonyms.md). Lines of
one group share its number.
"""

import csv
from collections import ChainMap, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from localrag.errors import InputError

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
            f"{path} cannot be read ({error.strerror}).", "Check the path and its permissions."
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
        f"{path} is no dictionary of synonyms: {why}.",
        "Get it anew, in the text form of the Sudachi synonym dictionary (synonyms.txt).",
    )

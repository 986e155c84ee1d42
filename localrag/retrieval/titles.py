"""Titles of documents, recognised where they stand in a text.

A page of an encyclopaedia names other pages without a link: a film its director, a town its river.
A title counts where it stands as whole words; the disambiguator in brackets that ends it does not
belong to the name. What is too short or too common to be a name is passed over.
"""

import re
from collections.abc import Callable, Iterable

from localrag_indexes.analysis.normalize import unified

_KANJI, _KATAKANA, _HIRAGANA = "㐀-鿿々〇", "ァ-ヺー", "ぁ-ゖ"
_JAPANESE = re.compile(f"[{_KANJI}{_KATAKANA}{_HIRAGANA}]")
# Japanese has no blanks between its words: they begin and end where the script changes.
_WORD = re.compile(
    rf"[{_KANJI}]+|[{_KATAKANA}]+|[{_HIRAGANA}]+"
    rf"|[^\W{_KANJI}{_KATAKANA}{_HIRAGANA}]+|[^\w\s]"
)
_DISAMBIGUATOR = re.compile(r"\s*\([^()]*\)$")
_SHORTEST, _SHORTEST_JAPANESE = 4, 2
# More documents of one title are the parts of a whole, not what a text means by the name.
_MOST_ALIKE = 100


class Titles:
    """The titles of one corpus, built once; about 250 bytes of memory for each.

    Args:
        rows: key and title of every document.
        says_something: whether words are rare enough in the corpus to tell its documents apart.
    """

    def __init__(
        self, rows: Iterable[tuple[int, str]], says_something: Callable[[str], bool]
    ) -> None:
        self._says_something = says_something
        self._documents: dict[str, tuple[int, ...]] = {}
        # By the first word of a title: the characters of the longest that begins so.
        self._lengths: dict[str, int] = {}
        for key, title in rows:
            name = bare(title)
            if _is_name(name):
                self._documents[name] = (*self._documents.get(name, ()), key)
                begin = _first_word(name)
                self._lengths[begin] = max(len(name), self._lengths.get(begin, 0))

    def named_in(self, text: str, besides: str) -> list[int]:
        """Keys of the documents whose titles stand in a text, in its order, each once.

        Of titles that overlap, the first and longest counts: a text on New York City does not name
        New York.

        Args:
            text: which is searched.
            besides: a title that does not count: that of the document the text is from.
        """
        if not self._documents:
            return []
        text, own = _written(text), bare(besides)
        found: dict[str, None] = {}
        start = 0
        while word := _WORD.search(text, start):
            name = self._longest(text, word)
            if name and name != own:
                found[name] = None
            start = word.start() + len(name) if name else word.end()
        return [
            key
            for name in found
            if len(self._documents[name]) <= _MOST_ALIKE and self._says_something(name)
            for key in self._documents[name]
        ]

    def _longest(self, text: str, word: re.Match[str]) -> str:
        """The longest title that begins with a word of a text; empty where none does."""
        start, end = word.span()
        last = start + self._lengths.get(word[0].lower(), 0)
        # One character more shows which word goes on behind the last.
        further = (match.end() for match in _WORD.finditer(text, end, last + 1))
        ends = [end, *(stop for stop in further if stop <= last)]
        for stop in reversed(ends):
            name = text[start:stop]
            # Titles begin with a capital; in a sentence only names do.
            capital = name[0].upper() + name[1:]
            if name in self._documents:
                return name
            if stop > end and capital in self._documents:
                return capital
        return ""


def bare(title: str) -> str:
    """A title as names are compared: in common characters, without the disambiguator."""
    written = _written(title)
    return _DISAMBIGUATOR.sub("", written) or written if written.endswith(")") else written


def _written(text: str) -> str:
    return " ".join(unified(text).split())


def _first_word(name: str) -> str:
    word = _WORD.search(name)
    return word[0].lower() if word else ""


def _is_name(name: str) -> bool:
    if _JAPANESE.search(name):
        return len(name) >= _SHORTEST_JAPANESE
    # A single word in small letters is no name ("report"), nor is a number.
    return (
        len(name) >= _SHORTEST
        and any(character.isalpha() for character in name)
        and (" " in name or not name[0].islower())
    )

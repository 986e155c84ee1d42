"""METEOR (Banerjee and Lavie, 2005) by NLTK, with the data installed.

It matches words, stems and, with WordNet (Miller, 1995), words that share a sense. WordNet and
NLTK's trained sentence splitter are looked for in NLTK's folders, WordNet also in Debian's
wordnet-base. Nothing is downloaded.
"""

import io
import warnings
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from localrag.facts import Fact, FactKind
from localrag_indexes.analysis.analyzer import split_sentences

if TYPE_CHECKING:
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

EXTRA = "averitec"
"""The extra that brings what METEOR is made with."""

DEBIAN = Path("/usr/share/wordnet")
"""Where Debian's package wordnet-base has WordNet."""

# Scores in the cache: texts of one claim are compared repeatedly.
_KEPT = 50_000
# The names of NLTK for the splitter of sentences and for WordNet.
_PUNKT, _WORDNET = "tokenizers/punkt_tab", "corpora/wordnet"
# Number of WordNet's lexicographer files. Debian omits the table of their names, and synonyms do
# not need it.
_LEXNAMES = 45


class Meteor:
    """Similarity of texts, 0 to 1; for one thread at a time.

    Attributes:
        notes: versions used, and parts that are missing.

    Args:
        wordnet: returns senses of words; None matches only words and stems.
        punkt: whether NLTK splits sentences; otherwise localrag does.
    """

    def __init__(self, wordnet: "WordNetCorpusReader | None", *, punkt: bool) -> None:
        made_with = Fact(FactKind.METEOR_MADE_WITH, version=version("nltk"))
        self.notes = [made_with]
        if wordnet is None:
            self.notes.append(Fact(FactKind.METEOR_WITHOUT_WORDNET, path=str(DEBIAN)))
        if not punkt:
            self.notes.append(Fact(FactKind.METEOR_OTHER_SENTENCES))
        self._wordnet: Any = wordnet or _NoSenses()
        self._punkt = punkt
        self._score = lru_cache(_KEPT)(self._computed)
        self._tokens = lru_cache(_KEPT)(self._cut)

    @classmethod
    def open(cls) -> Self | None:
        """METEOR with the data installed; None without NLTK."""
        try:
            import nltk.data
            import scipy  # noqa: F401 - what is measured with it takes both
        except ImportError:
            return None
        return cls(_wordnet(), punkt=_has(nltk.data, _PUNKT))

    def __call__(self, candidate: str, reference: str) -> float:
        """Similarity of a candidate to the reference."""
        return self._score(candidate, reference)

    def _computed(self, candidate: str, reference: str) -> float:
        from nltk.translate.meteor_score import single_meteor_score

        tokens = self._tokens(reference), self._tokens(candidate)
        return float(single_meteor_score(*tokens, wordnet=self._wordnet))

    def _cut(self, text: str) -> tuple[str, ...]:
        from nltk.tokenize import word_tokenize

        if self._punkt:
            return tuple(word_tokenize(text))
        return tuple(
            token
            for start, end in split_sentences(text)
            for token in word_tokenize(text[start:end], preserve_line=True)
        )


class _NoSenses:
    """Replaces a missing WordNet: no word has a sense."""

    def synsets(self, word: str) -> Sequence[object]:
        del word
        return ()


def _has(data: Any, name: str) -> bool:
    try:
        data.find(name)
    except LookupError:
        return False
    return True


def _wordnet() -> "WordNetCorpusReader | None":
    """WordNet of NLTK or Debian; None if both are missing."""
    import nltk.data

    for name in (_WORDNET, f"{_WORDNET}.zip/wordnet/"):
        try:
            return _opened(nltk.data.find(name))
        except LookupError:
            continue
    if not (DEBIAN / "data.noun").is_file():
        return None
    # NLTK reads only below its paths.
    if str(DEBIAN) not in nltk.data.path:
        nltk.data.path.append(str(DEBIAN))
    return _opened(str(DEBIAN))


def _opened(root: Any) -> "WordNetCorpusReader":
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class Senses(WordNetCorpusReader):  # type: ignore[misc]
        """WordNet without other languages and without names of its files."""

        def open(self, file: str) -> IO[str]:
            """Read a file at once; NLTK would keep it open."""
            if file == "lexnames":
                return io.StringIO("".join(f"{n:02}\tnone\t0\n" for n in range(_LEXNAMES)))
            # Its offsets are in bytes.
            with super().open(file) as stream:
                return io.StringIO(stream.stream.read().decode("latin-1"))

        def map_wn(self, version: str = "wordnet") -> None:
            """Skip the tables for other versions."""

    with warnings.catch_warnings():
        # No other languages.
        warnings.simplefilter("ignore")
        return Senses(root, None)

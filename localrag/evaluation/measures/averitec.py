"""Measures of AVeriTeC: verdicts, and their evidence by METEOR.

Source: Schlichtkrull, Guo and Vlachos, "AVeriTeC: A Dataset for Real-world Claim Verification with
Evidence from the Web" (NeurIPS 2023), section 4; eval.py of MichSchli/AVeriTeC. The first ten
questions of the evidence count. They are assigned to the dataset's with the highest sum of METEOR
(Hungarian method), divided by the number of the dataset's. At level λ a verdict is right only if
the score of questions and answers is above λ.

METEOR (Banerjee and Lavie, 2005) is NLTK's. It matches words, stems and, with WordNet (Miller,
1995), words that share a sense. WordNet and the trained sentence splitter are looked for in NLTK's
folders, WordNet also in Debian's wordnet-base. Nothing is downloaded.
"""

import io
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from localrag.answer.types import FactCheck
from localrag.corpus.types import Triple
from localrag.evaluation.types import Measure, Question
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis.analyzer import split_sentences

if TYPE_CHECKING:
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

EXTRA = "averitec"
"""The extra with the packages of METEOR."""

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

    `notes` are the versions used, and missing parts. Without `wordnet` only words and stems match.
    Without `punkt` localrag splits the sentences.
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


LEVELS = (0.1, 0.2, 0.25)
"""The levels λ of evidence at which verdicts are counted."""

_MOST = 10
_NO_ANSWER = "No answer could be found."


def opened(synonyms: Sequence[Path] = ()) -> Measure:
    """The measure; without METEOR only of verdicts."""
    del synonyms
    meteor = Meteor.open()
    notes = meteor.notes if meteor else [Fact(FactKind.METEOR_LEFT_OUT, extra=EXTRA)]
    return Measure("accuracy", _of_text, notes=tuple(notes), of_checks=partial(measure, meteor))


def measure(
    meteor: Meteor | None, checked: FactCheck | None, question: Question
) -> Mapping[str, float]:
    """Figures of one verdict, 0 to 1 each.

    ``accuracy`` of the label; with METEOR also ``Q`` (questions), ``Q+A`` (with evidence) and
    ``accuracy@λ`` for each of `LEVELS`.
    """
    right = float(checked is not None and checked.veracity == question.answer)
    figures = {"accuracy": right}
    if meteor is None:
        return figures
    asked = checked.questions if checked else ()
    figures["Q"] = assigned(meteor, asked, [one.question for one in question.evidence])
    evidence = assigned(meteor, _given(checked), _wanted(question))
    figures["Q+A"] = evidence
    return figures | {f"accuracy@{level}": right * (evidence > level) for level in LEVELS}


def assigned(meteor: Meteor, given: Sequence[str], wanted: Sequence[str]) -> float:
    """METEOR of given texts assigned one to one to the wanted ones, 0 to 1."""
    from scipy.optimize import linear_sum_assignment

    counted = given[:_MOST]
    if not counted or not wanted:
        return 0.0
    scores = [[meteor(one, other) for other in wanted] for one in counted]
    rows, columns = linear_sum_assignment(scores, maximize=True)
    best = sum(scores[row][column] for row, column in zip(rows, columns, strict=True))
    return float(best / len(wanted))


def _given(checked: FactCheck | None) -> list[str]:
    """Questions, each with a sentence shown to the model; also questions without one."""
    if checked is None:
        return []
    found: dict[str, list[str]] = {question: [] for question in checked.questions}
    for one in checked.evidence:
        text = f"{one.supplement} {one.citation.quote}".strip()
        found.setdefault(one.question, []).append(text)
    return _paired(found.items())


def _wanted(question: Question) -> list[str]:
    return _paired((one.question, one.answers) for one in question.evidence)


def _paired(pairs: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
    return [
        f"{question} {answer}"
        for question, answers in pairs
        for answer in (answers or (_NO_ANSWER,))
    ]


def _of_text(answer: str, derivation: Sequence[Triple], question: Question) -> Mapping[str, float]:
    del answer, derivation, question
    return {"accuracy": 0.0}

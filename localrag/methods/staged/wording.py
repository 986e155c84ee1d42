"""Triples as a model writes them, and what of it a text holds."""

import re
from typing import Annotated

from pydantic import BaseModel, Field

from localrag.corpus.rows import FoldedText, bare, fold, stands_alone, words_of
from localrag.corpus.types import Triple
from localrag.methods.staged.types import LONGEST_OBJECT, SubQuery
from localrag_indexes.analysis.normalize import NUMERAL_CHARACTERS, normalize, without_blanks

_NOT_FOUND = re.compile(r"\s*not[ _]?found\s*", re.IGNORECASE)

_FIGURE = f"[0-9{NUMERAL_CHARACTERS}]"
_STARTS_FIGURE = rf"(?<!{_FIGURE})(?<!{_FIGURE}[.,])"
_ENDS_FIGURE = rf"(?!{_FIGURE}|[.,]{_FIGURE})"

_Written = Annotated[str, Field(max_length=LONGEST_OBJECT)]


class WrittenTriple(BaseModel):
    """A triple in the words of a model."""

    subject: _Written
    predicate: _Written
    object: _Written

    def read(self, query: SubQuery) -> Triple | None:
        """The triple; what the model left blank is as the query has it. None without an object."""
        if not is_found(self.object):
            return None
        subject, predicate = self.subject.strip(), self.predicate.strip()
        return Triple(
            subject or query.subject, predicate or query.predicate, (self.object.strip(),)
        )


def is_not_found(written: str) -> bool:
    """Whether a model wrote NOTFOUND."""
    return _NOT_FOUND.fullmatch(written) is not None


def is_found(written: str) -> bool:
    """Whether an object that a model wrote is one: it holds a word, and that is not NOTFOUND."""
    return any(map(str.isalnum, written)) and not is_not_found(written)


def as_written(name: str, text: str) -> str:
    """A name as a text writes it, without its disambiguator if need be; "" where it does not."""
    folded, whole = FoldedText(text), fold(name)
    for wanted in filter(None, (whole, bare(whole))):
        start = folded.folded.find(wanted)
        if start >= 0:
            first, last = folded.span(start, start + len(wanted))
            return text[first:last]
    return ""


def is_same(name: str, other: str) -> bool:
    """Whether two names are spellings of one, of which one may lack the disambiguator."""
    one, two = fold(name), fold(other)
    return one == two or bare(one) == two or one == bare(two)


def names(text: str, name: str) -> bool:
    """Whether a text names something, without its disambiguator if need be.

    A piece of another name does not count: neither "東京都" nor "京都2" names "京都".
    """
    if not any(map(str.isalnum, name)):
        return False
    normal, whole = normalize(text), fold(name)
    folded, words = FoldedText(normal), words_of(normal)
    return any(
        folded.begins(found.start())
        and folded.ends(found.end())
        and stands_alone(normal, *folded.span(*found.span()), words)
        for wanted in filter(None, (whole, bare(whole)))
        for found in re.finditer(re.escape(wanted), folded.folded)
    )


def holds(text: str, part: str) -> bool:
    """Whether a text holds a part; width, case and blanks may differ, no word or number is cut.

    "12日" stands in "５月 12日", but not in "112日"; "5" does not stand in "3.5", nor "京都" in
    "東京都".
    """
    letters = without_blanks(part)
    if not letters:
        return False
    pattern = r"\s*".join(map(re.escape, letters))
    if re.match(_FIGURE, letters):
        pattern = _STARTS_FIGURE + pattern
    if re.match(_FIGURE, letters[-1]):
        pattern += _ENDS_FIGURE
    normal = normalize(text)
    spans = [found.span() for found in re.finditer(pattern, normal)]
    if (0, len(normal)) in spans:
        return True
    words = words_of(normal) if spans else None
    return words is not None and any(
        start in words.starting and end in words.ending for start, end in spans
    )

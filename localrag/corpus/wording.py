"""What the kinds of documents, and what documents are told apart by, are called.

They are stored under English names. What is shown is in the language of the interface; what a
person writes may be in any: ``kind=政令`` is ``kind=CabinetOrder``, whoever asks.
"""

import re
from collections.abc import Mapping, Sequence

from localrag.corpus.types import Omission
from localrag.language import N_, _, in_every_language

KINDS = {
    "Constitution": N_("Constitution"),
    "Act": N_("Acts"),
    "CabinetOrder": N_("Cabinet orders"),
    "ImperialOrder": N_("Imperial orders"),
    "MinisterialOrdinance": N_("Ministerial ordinances"),
    "Rule": N_("Rules"),
    "Misc": N_("Other laws"),
    "law": N_("Laws"),
    "text": N_("Text files"),
    "markdown": N_("Markdown"),
    "html": N_("Web pages"),
    "pdf": N_("PDF files"),
    "docx": N_("Word files"),
    "image": N_("Scanned images"),
    "jsonl": N_("Records"),
    "multihop": N_("Multi-hop paragraphs"),
    "squad": N_("Reading passages"),
    "wikipedia": N_("Wikipedia"),
    "wikidata": N_("Wikidata"),
    "triples": N_("Facts (subject, value)"),
}
"""Types of laws and kinds of documents, in the order in which they are listed."""

FACETS = {
    "kind": N_("kind"),
    "ministry": N_("ministry"),
    "field": N_("field"),
    "era": N_("era"),
    "year": N_("year"),
    "chapter": N_("heading"),
}
"""What code tells documents apart by, in the order in which it is shown."""

# Beside the words that are shown: what the texts of statutes say, and short words.
_ALSO_CALLED = {
    "MinisterialOrdinance": ("省令", "府令"),
    "kind": ("文書の種類", "種類"),
    "ministry": ("省庁",),
    "era": ("年号",),
    "chapter": ("章",),
}


_PARTS = re.compile(
    r"(?P<nouns>[\w ]*?\w)s(?P<behind>(?:, | (?:of|in|inside|not|that|which|whose|with|without"
    r"|written|shown)\b).*)?"
)


def part_name(what: str, count: int) -> str:
    """The name of parts of a file behind their count: pictures, and picture behind 1."""
    named = _(what)
    parts = _PARTS.fullmatch(named) if count == 1 and named == what else None
    if parts is None or " and " in parts["nouns"] or " and " in (parts["behind"] or "")[:40]:
        return named
    one = re.sub("ie$", "y", parts["nouns"])
    behind = re.sub("^ that (?:are|were)", _are_as_is, parts["behind"] or "")
    return one + behind.replace(" their ", " its ")


def _are_as_is(match: re.Match[str]) -> str:
    return " that was" if match[0].endswith("were") else " that is"


def omission_notes(omissions: Sequence[Omission]) -> list[str]:
    """Say what of a file was not read, and what was read as text and needs a word.

    Returns:
        None to two sentences: "Not read: 3 pictures, 1 chart.".
    """
    notes = []
    for in_text, sentence in ((False, _("Not read: {what}.")), (True, _("Read as text: {what}."))):
        named = [
            _("{count} {what}").format(count=f"{one.count:,}", what=part_name(one.what, one.count))
            for one in omissions
            if one.in_text is in_text
        ]
        if named:
            notes.append(sentence.format(what=_(", ").join(named)))
    return notes


def kind_name(kind: str) -> str:
    """A type of laws or kind of documents as it is shown, and can be written after ``kind=``."""
    return _own_word(kind, KINDS)


def facet_name(key: str) -> str:
    """A facet as it is shown, and can be written before the ``=``."""
    return _own_word(key, FACETS)


def spellings_of_kind(kind: str) -> tuple[str, ...]:
    """What a type of laws or kind of documents may be called, its stored name first."""
    return _spellings(kind, KINDS)


def spellings_of_facet(key: str) -> tuple[str, ...]:
    """What a facet may be called, its stored name first."""
    return _spellings(key, FACETS)


def _own_word(name: str, words: Mapping[str, str]) -> str:
    # Other names are those of records, or of categories, whatever their words mean elsewhere here.
    if name not in words:
        return name
    # English is the language of the stored names: what is stored is what people know to write.
    word = _(words[name])
    return name if word == words[name] else word


def _spellings(name: str, words: Mapping[str, str]) -> tuple[str, ...]:
    if name not in words:
        return (name,)
    return (name, *in_every_language(words[name]), *_ALSO_CALLED.get(name, ()))

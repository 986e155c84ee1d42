"""What localrag notes on searches and answers, in the language of the interface.

It speaks English, whoever listens; what is not known here is told as it came.
"""

import re
from collections.abc import Iterator
from functools import cache

from localrag.language import N_, _
from localrag.question.everyday import EverydayWord
from localrag_tui.shown import one_line

_KNOWN = (
    # The verifier of quotations.
    N_("the passage does not hold the quote"),
    N_("the quote is empty"),
    # The resolver of citations.
    N_("{citation}: the law has no such provision"),
    N_("{citation}: no law of the corpus is called {name}"),
    N_("{citation}: no law is named"),
    N_("{citation}: nothing before it says what it refers to"),
    N_("{citation}: {number} in it belongs to no provision"),
    N_("{citation} can mean {n} provisions"),
    N_("the query cites {citation}, of a law that the corpus lacks"),
    N_("the corpus has no law called {name}"),
    # The other stages, and the methods.
    N_("search by words is switched off (retrieval.lexical)"),
    N_("no subject of the corpus is named {name}"),
    N_("{name} names {n} more subjects, which were not looked at"),
    N_("only the first {n} triples of {name} were looked at"),
    N_("{n} names: the first {most} were looked up"),
    N_("the options were not looked at"),
    N_("the filters were not applied: triples of the whole corpus were looked up"),
    N_("the question cannot be turned: the model sees that it asks for what deviates"),
    N_("there was no source to show: the model was not asked about it"),
    N_("the model's reading of the question named other laws or numbers: read without it"),
    N_("the model wrote no question that could be read: the question was read without it"),
    N_("the context of {model} holds {n} sentences only: the others that may answer were left out"),
    # Conversations of earlier versions.
    N_("an earlier localrag made these claims and did not check them: ask again"),
)


def looked_up(wording: EverydayWord) -> str:
    """What statutes say instead of an everyday word, which was looked up as well."""
    said, phrases = one_line(wording.said), ", ".join(wording.phrases)
    return _("looked up as well: {said} → {phrases}").format(said=said, phrases=phrases)


def remark(text: str) -> str:
    """A note on a search, an answer or a quotation, translated where it is known."""
    text = one_line(text)
    for message, pattern in _patterns():
        if told := pattern.fullmatch(text):
            return _(message).format(**told.groupdict())
    return text


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((message, re.compile("".join(_parts(message)))) for message in _KNOWN)


def _parts(message: str) -> Iterator[str]:
    for number, part in enumerate(re.split(r"\{(\w+)\}", message)):
        yield f"(?P<{part}>.+?)" if number % 2 else re.escape(part)

"""The way of one query through the stages: what is not found passes on to the next."""

from collections.abc import Mapping, Sequence

from localrag.methods.staging import documents, knowledge, remembered
from localrag.methods.staging.model import Asked, SubQuery
from localrag.methods.toolkit import Toolkit
from localrag.reading.model import Stage
from localrag.retrieval.model import Query
from localrag.retrieval.query import MAX_CHARACTERS

STAGE = "ask"

_READERS = {
    Stage.KNOWLEDGE: knowledge.read,
    Stage.DOCUMENTS: documents.read,
    Stage.MODEL: remembered.read,
}

_AHEAD = "it refers to Answer{}, which does not come before it: it was not asked"
_MISSING = "it needs Answer{}, which was not found: it was not asked"
_WORDLESS = "it holds no word: it was not asked"
_LONG = "with the answers written into it, it has {:,} characters of at most {:,}: it was not asked"


def ask(
    toolkit: Toolkit,
    asked: Query,
    stages: Sequence[Stage],
    query: SubQuery,
    answers: Mapping[int, str],
) -> Asked:
    """Ask the stages for one query in their order, until one finds a triple.

    Args:
        toolkit: of the question.
        asked: the question.
        stages: in the order in which they are asked.
        query: as the question was split.
        answers: those found so far, by the number of their query.

    Raises:
        ModelUnusable: the model failed, its context does not hold a prompt, or its reply is
            malformed for the second time.
    """
    for number in query.references:
        if number not in answers:
            event = _MISSING if 0 < number < query.number else _AHEAD
            toolkit.note(STAGE, [event.format(number)], subject=query.label)
            return Asked(query)
    filled = query.filled(answers)
    if not any(character.isalnum() for character in filled.text):
        toolkit.note(STAGE, [_WORDLESS], subject=query.label)
        return Asked(filled)
    if len(filled.text) > MAX_CHARACTERS:
        event = _LONG.format(len(filled.text), MAX_CHARACTERS)
        toolkit.note(STAGE, [event], subject=query.label)
        return Asked(query)
    for place, stage in enumerate(stages, 1):
        reading = _READERS[stage](toolkit, asked, filled)
        if reading is not None:
            return Asked(filled, tuple(stages[:place]), reading)
    return Asked(filled, tuple(stages))

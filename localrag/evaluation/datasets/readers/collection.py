"""Questions over a collection, as `localrag eval queries` writes them.

An entry has ``id``, ``question`` and at least one of ``aspects``, with ``document`` (its id),
``text`` (its sentences about the aspect), ``question`` and ``answer`` (made from them).
"""

from collections.abc import Mapping
from typing import Any

from localrag.errors import InputError
from localrag.evaluation.datasets.readers.entries import Fields, Sources, required
from localrag.evaluation.types import Gold, GoldSentence, Question
from localrag.language import N_
from localrag.retrieval.query import check
from localrag.retrieval.types import Query


def read_collection(fields: Fields, known: Sources) -> Question:
    """The question of an entry, without options.

    Gold places are the documents of its aspects, gold sentences their texts. The answer is their
    answers, one a line.

    Raises:
        InputError: a field is missing or has the wrong type.
        UsageError: the question is not valid.
    """
    del known
    aspects: Any = fields.get("aspects")
    if not isinstance(aspects, list) or not aspects:
        raise InputError(N_("The field 'aspects' is no list with an aspect in it."))
    if not all(isinstance(one, Mapping) for one in aspects):
        raise InputError(N_("An aspect is no object with document, text, question and answer."))
    query = Query(required(fields, "question"))
    check(query)
    documents = [required(one, "document") for one in aspects]
    texts = [required(one, "text") for one in aspects]
    answers = [required(one, "answer") for one in aspects]
    return Question(
        required(fields, "id"),
        query,
        "\n".join(dict.fromkeys(answers)),
        "\n".join(dict.fromkeys(texts)),
        tuple(Gold(document) for document in dict.fromkeys(documents)),
        sentences=tuple(dict.fromkeys(map(GoldSentence, documents, texts))),
    )

"""Japanese multi-hop questions with derivations (aiishii/JEMHopQA).

An entry has ``qid``, ``type`` (comparison or compositional), ``question``, ``answer``,
``derivations`` (subject, predicate, list of objects) and optionally ``time_dependent`` (README of
the repository). ``page_ids`` of Wikipedia are ignored.
"""

from typing import Any

from localrag.corpus.types import Triple
from localrag.errors import InputError
from localrag.evaluation.datasets.readers.entries import Fields, Sources, checked, required
from localrag.evaluation.types import Question
from localrag.language import N_
from localrag.search.query import check
from localrag.search.types import Query

_YES_NO = ("YES", "NO")
_CHANGES = {True: "yes", False: "no", None: ""}


def read_jemhopqa(fields: Fields, known: Sources) -> Question:
    """The question of an entry, without options.

    Its groups are ``type``, ``answer`` (YES/NO or other), ``steps`` (number of triples) and, if
    present, ``time_dependent`` (yes or no).
    """
    del known
    query = Query(required(fields, "question"))
    check(query)
    answer = required(fields, "answer")
    derivation = _derivation(fields.get("derivations"))
    changes = fields.get("time_dependent")
    if not isinstance(changes, bool | None):
        raise InputError(N_("The field 'time_dependent' is neither true nor false."))
    groups = {
        "type": required(fields, "type"),
        "answer": "YES/NO" if answer in _YES_NO else "other",
        "steps": str(len(derivation)),
        "time_dependent": _CHANGES[changes],
    }
    return Question(
        required(fields, "qid"),
        query,
        answer,
        groups={name: value for name, value in groups.items() if value},
        derivation=derivation,
    )


def _derivation(value: Any) -> tuple[Triple, ...]:
    if not isinstance(value, list) or not value:
        raise InputError(N_("The field 'derivations' is no list of triples, or empty."))
    return tuple(_triple(number, one) for number, one in enumerate(value, 1))


def _triple(number: int, value: Any) -> Triple:
    match value:
        case [str(subject), str(predicate), [_, *_] as objects]:
            pass
        case _:
            raise InputError(
                N_(
                    "Triple {n} of its derivations is not a subject, a predicate and a list of "
                    "objects."
                ),
                n=number,
            )
    if not all(isinstance(one, str) for one in objects):
        raise InputError(
            N_("Triple {n} of its derivations has an object that is no text."), n=number
        )
    texts = [checked("derivations", text) for text in (subject, predicate, *objects)]
    if not all(texts):
        raise InputError(N_("Triple {n} of its derivations has an empty part."), n=number)
    return Triple(texts[0], texts[1], tuple(texts[2:]))

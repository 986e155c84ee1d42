"""Claims of AVeriTeC (MichSchli/AVeriTeC), with questions, answers and verdicts.

An entry has ``claim``, ``label``, ``questions`` (see `localrag.corpus.readers.json_files`),
``claim_types`` and, in files of the shared tasks, ``claim_id``. Its default is the number of the
entry, from 0, as in the names of knowledge store files.
"""

from collections.abc import Mapping

from localrag.answer.types import Veracity
from localrag.corpus.readers.json_files import (
    answer_text,
    claim_questions,
    evidence_pages,
    is_claim,
)
from localrag.errors import InputError
from localrag.evaluation.datasets.readers.entries import Fields, Sources, checked, required, text
from localrag.evaluation.types import Gold, GoldEvidence, Question
from localrag.language import N_
from localrag.methods.fact_check import VerdictLabel
from localrag.search.query import check
from localrag.search.types import Filters, Query

_VERACITIES: Mapping[str, Veracity] = {label.value: Veracity[label.name] for label in VerdictLabel}


def read_averitec(fields: Fields, known: Sources) -> Question:
    """The claim of an entry; its answer is the verdict (`Veracity`).

    Its groups are ``label`` and ``type``, the first of its types. Gold places and own documents are
    pages of its knowledge store. Without a store they are documents made from its answers.
    """
    if not is_claim(fields):
        raise InputError(N_("The entry has no claim with a list of questions."))
    label = required(fields, "label")
    if label not in _VERACITIES:
        raise InputError(N_("There is no label {label!r}."), label=label)
    id_ = text(fields, "claim_id") or str(known.position)
    evidence = tuple(
        GoldEvidence(question, tuple(map(answer_text, answers)))
        for question, answers in claim_questions(fields)
    )
    pages = evidence_pages(fields)
    stored = known.stored(id_)
    if stored:
        own = tuple(stored.values()) if known.asks_for_own else ()
        gold = [stored[url] for url in pages if url in stored]
    else:
        own = known.own_documents(id_, pages.items())
        gold = [one for url, page in pages.items() if (one := known.document_id(url, page))]
    query = Query(required(fields, "claim"), filters=Filters(documents=own))
    check(query)
    types = fields.get("claim_types")
    kind = checked("claim_types", types[0]) if isinstance(types, list) and types else ""
    return Question(
        id_,
        query,
        _VERACITIES[label].value,
        "\n".join(f"{one.question} {answer}" for one in evidence for answer in one.answers),
        tuple(Gold(one) for one in dict.fromkeys(gold)),
        {"label": label, **({"type": kind} if kind else {})},
        evidence=evidence,
    )

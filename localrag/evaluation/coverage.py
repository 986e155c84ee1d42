"""Which gold places a corpus does not hold, so that no search of it can find them."""

from collections.abc import Iterable

from localrag.corpus.store import CorpusStore
from localrag.evaluation.model import Gold, Question
from localrag.evaluation.recall import document_of, ranks


def lacking(store: CorpusStore, questions: Iterable[Question]) -> dict[str, tuple[Gold, ...]]:
    """Look up what is missing, by the id of the question; only questions that miss something.

    Raises:
        StoreError: the store is damaged.
    """
    asked = [question for question in questions if question.gold]
    if not asked:
        # A corpus may have a million documents.
        return {}
    gold = list(dict.fromkeys(place for question in asked for place in question.gold))
    documents = {document_of(place.document) for place in gold}
    passages = [
        passage.id
        for document in store.documents()
        if document_of(document.id) in documents
        for _, passage in store.passages(document_id=document.id)
    ]
    missing = {place for place, rank in zip(gold, ranks(gold, passages), strict=True) if not rank}
    return {
        question.id: tuple(place for place in question.gold if place in missing)
        for question in asked
        if missing.intersection(question.gold)
    }

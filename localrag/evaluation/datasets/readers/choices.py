"""Questions in localrag's own formats: with options, or over a collection.

An entry with options has ``id``, ``question``, ``options`` (or ``choices``: a list of texts, or
texts by label) and ``answer``. Optional are ``context`` (a text or a list), ``gold`` and ``groups``
(texts by name). For gold places alone, options and answer may be missing. A gold place is a text
(``323AC0000000025#27_36``), or an object with ``law_id`` (or ``document``) and ``article``.

An entry of `localrag eval queries` has ``id``, ``question`` and at least one of ``aspects``, with
``document`` (its id), ``text`` (its sentences about the aspect), ``question`` and ``answer``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from localrag.errors import InputError
from localrag.evaluation.datasets.readers.entries import Fields, Sources, checked, required, text
from localrag.evaluation.recall import place_of
from localrag.evaluation.types import Gold, GoldSentence, Question
from localrag.language import N_
from localrag.methods.catalogue import LABELS
from localrag.methods.polarity import polarity_of
from localrag.search.query import check
from localrag.search.types import Query
from localrag.text.harmless import shorten
from localrag_indexes.analysis.normalize import normalize


def read_choice(fields: Fields, known: Sources) -> Question:
    """The question of an entry. Raises `InputError` or `UsageError`."""
    has_options = any(fields.get(name) is not None for name in ("options", "choices"))
    options = options_of(fields) if has_options or not known.gold_alone else {}
    groups = fields.get("groups") or {}
    if not isinstance(groups, Mapping) or not all(isinstance(v, str) for v in groups.values()):
        raise InputError(N_("The field 'groups' is no object of texts, as in {'level': 'easy'}."))
    return question(
        required(fields, "id"),
        required(fields, "question"),
        options,
        answer_of(required(fields, "answer"), options) if options else "",
        context_of(fields.get("context")),
        gold_of(fields.get("gold")),
        {name: checked(name, value) for name, value in groups.items()},
    )


def question(
    id_: str,
    asked: str,
    options: Mapping[str, str],  # as from `options_of`; empty for gold places alone
    answer: str,  # label of the right option; "" without options
    context: str,
    gold: Sequence[Gold],  # their places; duplicates are dropped
    groups: Mapping[str, str],  # empty values are dropped
) -> Question:
    """A question with options, labelled from a on. Raises `UsageError`."""
    query = Query(asked, tuple(options.values()))
    check(query)
    kept = {name: value for name, value in groups.items() if value}
    return Question(
        id_,
        query,
        LABELS[list(options).index(answer)] if options else "",
        context,
        tuple(dict.fromkeys(gold)),
        kept | {"polarity": polarity_of(asked).value},
    )


def options_of(fields: Fields) -> dict[str, str]:
    """Options by label, in order; a list is labelled from a on. Raises `InputError`."""
    given = [fields[name] for name in ("options", "choices") if fields.get(name) is not None]
    if not given:
        raise InputError(N_("It has no options: there is no field 'options' (or 'choices')."))
    if len(given) > 1:
        raise InputError(N_("It has both a field 'options' and a field 'choices': leave one out."))
    value: Any = given[0]
    if isinstance(value, (list, Mapping)) and not 2 <= len(value) <= len(LABELS):
        raise InputError(
            N_("It needs 2 to {n} options, and has {given}."), n=len(LABELS), given=len(value)
        )
    if isinstance(value, list):
        value = dict(zip(LABELS, value, strict=False))
    if not isinstance(value, Mapping) or not all(isinstance(one, str) for one in value.values()):
        raise InputError(N_("The options are neither a list of texts nor texts by label."))
    options = {label_of(label): checked("options", text) for label, text in value.items()}
    if len(options) < len(value):
        raise InputError(N_("Two options have the same label."))
    if empty := [label for label, text in options.items() if not text]:
        raise InputError(N_("Option {empty!r} is empty."), empty=empty[0])
    return options


def answer_of(answer: str, options: Mapping[str, str]) -> str:
    """Label of the right option, given by label or text. Raises `InputError`."""
    by_text = [label for label, text in options.items() if text == answer]
    label = label_of(answer)
    meant = {*by_text, label} & options.keys()
    if not meant:
        raise InputError(
            N_("The answer {shown!r} is not one of the labels {names}."),
            shown=shorten(answer, 60),
            names=", ".join(options),
        )
    if len(meant) > 1:
        raise InputError(
            N_("The answer {answer!r} can mean {names}."),
            answer=answer,
            names=" or ".join(sorted(meant)),
        )
    return meant.pop()


def label_of(written: str) -> str:
    """A label in one spelling: ``Ａ.``, ``(A)`` and ``a`` are ``a``."""
    return normalize(written).strip(" \t\n()（）[]「」.。:、,")


def context_of(value: Any) -> str:
    """Texts answering a question, one paragraph each. Raises `InputError`."""
    parts = value if isinstance(value, list) else [value or ""]
    if not all(isinstance(part, str) for part in parts):
        raise InputError(N_("The field 'context' is neither a text nor a list of texts."))
    return "\n\n".join(checked("context", part) for part in parts)


def gold_of(value: Any) -> list[Gold]:
    """Gold places of an entry. Raises `InputError` if a place is invalid."""
    if value is not None and not isinstance(value, list):
        raise InputError(N_("The field 'gold' is no list."))
    return [_place(entry) for entry in value or []]


def _place(entry: Any) -> Gold:
    if isinstance(entry, str) and entry.strip():
        return place_of(entry) if "#" in entry else Gold(checked("gold", entry))
    if not isinstance(entry, Mapping):
        raise InputError(N_("A gold place is neither a text nor an object."))
    document = text(entry, "law_id", "document")
    # Other documents go by their title, and are cited as a whole.
    return (
        Gold(document, text(entry, "article")) if document else Gold(required(entry, "law_title"))
    )


def read_collection(fields: Fields, known: Sources) -> Question:
    """The question of an entry, without options.

    Gold places are the documents of its aspects, gold sentences their texts. The answer is their
    answers, one a line.
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

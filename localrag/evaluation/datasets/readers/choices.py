"""Questions with options, or over a collection: localrag's own formats, and lawqa.

An entry with options has ``id``, ``question``, ``options`` (or ``choices``: a list of texts, or
texts by label) and ``answer``. Optional are ``context`` (a text or a list), ``gold`` and ``groups``
(texts by name). For gold places alone, options and answer may be missing. A gold place is a text
(``323AC0000000025#27_36``), or an object with ``law_id`` (or ``document``) and ``article``.

An entry of `localrag eval queries` has ``id``, ``question`` and at least one of ``aspects``, with
``document`` (its id), ``text`` (its sentences about the aspect), ``question`` and ``answer``.

Four-choice questions on Japanese law (digital-go-jp/lawqa_jp) have two forms. The published form
has ``ファイル名``, ``問題文``, ``選択肢`` (one option a line), ``コンテキスト``, ``output`` and
``references`` (README of the repository). The normalised form has ``question``, ``choices``,
``answer``, ``context`` and ``gold``, assigned by hand. A context is Markdown: ``## 法令名``,
``### 第27条の36``, ``#### 第1項``, ``##### 第2号``. Its headings name the gold places, with Arabic
or kanji digits of any width.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from localrag.errors import InputError
from localrag.evaluation.datasets.readers import choices
from localrag.evaluation.datasets.readers.entries import Fields, Sources, checked, required, text
from localrag.evaluation.recall import APPENDIX, SUPPLEMENT, place_of
from localrag.evaluation.types import Gold, GoldSentence, Question
from localrag.language import N_
from localrag.law.citations import find_citations
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


_NAME = re.compile(r"(?P<law>[^_]+)_(?P<chapter>.+)_選択式_(?P<kind>[^_]+)_問題番号\d+")
_LAW_PAGE = re.compile(r"laws\.e-gov\.go\.jp/(?:law|document\?lawid=)/?([0-9A-Z]{15})")
# Ids and titles of laws, by kind.
_KINDS = (
    (re.compile(r"\d{3}AC"), re.compile(r"法(?:律)?$")),
    (re.compile(r"\d{3}CO"), re.compile(r"(?<![府省])令$")),
    (re.compile(r"\d{3}M"), re.compile(r"(?:[府省]令|規則)$")),
)
# A label at the start of a line: "a ～", "ａ．～", "(A) ～", but not "abc".
_LABEL = re.compile(r"[ \t\u3000]*[（(]?([a-hA-Hａ-ｈＡ-Ｈ])(?![a-zA-Z])[ \t\u3000）).．:：、,]*")


def read_lawqa(fields: Fields, known: Sources) -> Question:
    """The question of an entry of either form. Raises `InputError` or `UsageError`."""
    return _published(fields, known) if "問題文" in fields else _normalised(fields, known)


def derived_gold(context: str, references: Sequence[str], known: Sources) -> tuple[Gold, ...]:
    """Places named by the headings of a context."""
    sources = cited(context, lambda name: bool(known.law_id(name)))
    ids = {source.title: known.law_id(source.title) for source in sources}
    unknown = [source.title for source in sources if source.articles and not ids[source.title]]
    pages = [match[1] for page in references if (match := _LAW_PAGE.search(page))]
    left = [law_id for law_id in dict.fromkeys(pages) if law_id not in ids.values()]
    for of_id, of_title in _KINDS:
        titles = [title for title in unknown if of_title.search(title)]
        law_ids = [law_id for law_id in left if of_id.match(law_id)]
        if len(titles) == len(law_ids) == 1:
            ids[titles[0]] = law_ids[0]
    return gold(sources, ids)


def _published(fields: Fields, known: Sources) -> Question:
    id_ = required(fields, "ファイル名")
    options = _options(fields.get("選択肢"))
    context = text(fields, "コンテキスト")
    named = _NAME.fullmatch(id_)
    return choices.question(
        id_,
        required(fields, "問題文"),
        options,
        choices.answer_of(required(fields, "output"), options),
        context,
        derived_gold(context, _references(fields.get("references")), known),
        _groups(**named.groupdict()) if named else {},
    )


def _normalised(fields: Fields, known: Sources) -> Question:
    options = choices.options_of(fields)
    context = text(fields, "context")
    given = choices.gold_of(fields.get("gold"))
    return choices.question(
        required(fields, "id"),
        required(fields, "question"),
        options,
        choices.answer_of(required(fields, "answer"), options),
        context,
        given or derived_gold(context, _references(fields.get("references")), known),
        _groups(text(fields, "law_group"), text(fields, "chapter"), text(fields, "kind")),
    )


def _groups(law: str, chapter: str, kind: str) -> dict[str, str]:
    # Chapters of different laws share numbers.
    named = f"{law} {chapter}".strip() if chapter else ""
    return {"law": law, "chapter": named, "kind": kind}


def _options(value: Any) -> dict[str, str]:
    if not isinstance(value, str):
        return choices.options_of({"options": value})
    options: dict[str, list[str]] = {}
    for line in checked("選択肢", value).splitlines():
        label = _LABEL.match(line)
        if label is None:
            if not options:
                raise InputError(N_("The options begin with no label."))
            options[list(options)[-1]].append(line)
            continue
        found = choices.label_of(label[1])
        # Any other label may be part of an option.
        if len(options) == len(LABELS) or found != LABELS[len(options)]:
            raise InputError(
                N_("The label {found!r} is out of order among the options."), found=found
            )
        options[found] = [line[label.end() :]]
    return choices.options_of(
        {"options": {label: "\n".join(lines) for label, lines in options.items()}}
    )


def _references(value: Any) -> Sequence[str]:
    found: Sequence[Any] = value if isinstance(value, list) else [value or ""]
    return [reference for reference in found if isinstance(reference, str)]


_HEADING = re.compile(r"^[ \t]*(#{1,9})[ \t\u3000]*(\S.*?)[ \t\u3000#]*$", re.MULTILINE)
# A heading below the level of titles that ends like a law is a law one level too deep.
_TITLE = re.compile(r"(?:法律|政令|施行令|[府省]令|施行規則)$")
_TITLE_LEVEL = 2
# A caption may follow the number of an article.
_CAPTION = re.compile(r"[ \u3000]*(?:[（(【].*[）)】])?")


@dataclass(slots=True)
class CitedSource:
    """Places of one source in a context."""

    title: str  # of the law or document, as written
    # as in `Gold.article`, in order, without duplicates
    articles: dict[str, None] = field(default_factory=dict)


def cited(context: str, is_law: Callable[[str], bool]) -> list[CitedSource]:
    """Sources named by the headings of a context, in order; never fails."""
    found: dict[str, CitedSource] = {}
    current: CitedSource | None = None
    for marks, heading in _HEADING.findall(context):
        if len(marks) <= _TITLE_LEVEL or _TITLE.search(heading) or is_law(heading):
            current = found.setdefault(heading, CitedSource(heading))
        elif current is not None:
            current.articles |= dict.fromkeys(_articles(heading))
    return list(found.values())


def gold(sources: list[CitedSource], ids: Mapping[str, str]) -> tuple[Gold, ...]:
    """Gold places of sources. `ids`: law ids by title; other sources keep their title."""
    return tuple(
        Gold(ids.get(source.title) or source.title, article)
        for source in sources
        for article in source.articles or ("",)
    )


def _articles(heading: str) -> list[str]:
    """Articles of a heading; none for 第4条（届出）関係 of a guideline."""
    citations = find_citations(heading)
    if not citations or citations[0].start or citations[0].law.text:
        return []
    if not _CAPTION.fullmatch(heading, citations[-1].end):
        return []
    places = [place for one in citations for place in (one.locator, one.last) if place]
    return [
        _heading_place(place.division, place.article)
        for place in places
        if place.article or place.division
    ]


def _heading_place(division: str, article: str) -> str:
    if not division:
        return article
    kind = SUPPLEMENT if division.startswith(SUPPLEMENT) else APPENDIX
    return f"{kind}/{article}"

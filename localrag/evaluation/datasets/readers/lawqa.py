"""Four-choice questions on Japanese law (digital-go-jp/lawqa_jp), in two forms.

As published, an entry has ``ファイル名``, ``問題文``, ``選択肢`` (a text with a line for each
option), ``コンテキスト``, ``output`` and ``references`` (README of the repository). The normalised
form has ``question``, ``choices``, ``answer``, ``context`` and, told apart by hand, ``gold``.
"""

import re
from collections.abc import Sequence
from typing import Any

from localrag.errors import InputError
from localrag.evaluation.datasets.readers import choices
from localrag.evaluation.datasets.readers.entries import Fields, checked, required, text
from localrag.evaluation.datasets.readers.headings import cited, gold
from localrag.evaluation.datasets.readers.laws import Laws
from localrag.evaluation.model import Gold, Question
from localrag.methods.choices import LABELS

_NAME = re.compile(r"(?P<law>[^_]+)_(?P<chapter>.+)_選択式_(?P<kind>[^_]+)_問題番号\d+")
_LAW_PAGE = re.compile(r"laws\.e-gov\.go\.jp/(?:law|document\?lawid=)/?([0-9A-Z]{15})")
# What the id of a law of a kind looks like, and its title.
_KINDS = (
    (re.compile(r"\d{3}AC"), re.compile(r"法(?:律)?$")),
    (re.compile(r"\d{3}CO"), re.compile(r"(?<![府省])令$")),
    (re.compile(r"\d{3}M"), re.compile(r"(?:[府省]令|規則)$")),
)
# A label that begins a line: "a ～", "ａ．～", "(A) ～"; no word such as "abc".
_LABEL = re.compile(r"[ \t\u3000]*[（(]?([a-hA-Hａ-ｈＡ-Ｈ])(?![a-zA-Z])[ \t\u3000）).．:：、,]*")


def read_lawqa(fields: Fields, laws: Laws) -> Question:
    """The question of an entry of either form.

    Raises:
        InputError: a field is missing, of the wrong kind, or ambiguous.
        UsageError: the question is no question.
    """
    return _published(fields, laws) if "問題文" in fields else _normalised(fields, laws)


def derived_gold(context: str, references: Sequence[str], laws: Laws) -> tuple[Gold, ...]:
    """The places that the headings of a context name.

    Args:
        context: Markdown, as in `localrag.evaluation.datasets.readers.headings`.
        references: addresses of the sources. Where the names leave exactly one law of a kind (act,
            cabinet order, ordinance) unknown, and the addresses one of that kind over, it is that.
        laws: the names that are known.
    """
    sources = cited(context, lambda name: bool(laws.id_of(name)))
    ids = {source.title: laws.id_of(source.title) for source in sources}
    unknown = [source.title for source in sources if source.articles and not ids[source.title]]
    pages = [match[1] for page in references if (match := _LAW_PAGE.search(page))]
    left = [law_id for law_id in dict.fromkeys(pages) if law_id not in ids.values()]
    for of_id, of_title in _KINDS:
        titles = [title for title in unknown if of_title.search(title)]
        law_ids = [law_id for law_id in left if of_id.match(law_id)]
        if len(titles) == len(law_ids) == 1:
            ids[titles[0]] = law_ids[0]
    return gold(sources, ids)


def _published(fields: Fields, laws: Laws) -> Question:
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
        derived_gold(context, _references(fields.get("references")), laws),
        _groups(**named.groupdict()) if named else {},
    )


def _normalised(fields: Fields, laws: Laws) -> Question:
    options = choices.options_of(fields)
    context = text(fields, "context")
    given = choices.gold_of(fields.get("gold"))
    return choices.question(
        required(fields, "id"),
        required(fields, "question"),
        options,
        choices.answer_of(required(fields, "answer"), options),
        context,
        given or derived_gold(context, _references(fields.get("references")), laws),
        _groups(text(fields, "law_group"), text(fields, "chapter"), text(fields, "kind")),
    )


def _groups(law: str, chapter: str, kind: str) -> dict[str, str]:
    # Chapters of different laws have the same number.
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
                raise InputError("The options begin with no label.")
            options[list(options)[-1]].append(line)
            continue
        found = choices.label_of(label[1])
        # Any other label can be the beginning of an option or a word of one.
        if len(options) == len(LABELS) or found != LABELS[len(options)]:
            raise InputError(f"The label {found!r} stands out of order among the options.")
        options[found] = [line[label.end() :]]
    return choices.options_of(
        {"options": {label: "\n".join(lines) for label, lines in options.items()}}
    )


def _references(value: Any) -> Sequence[str]:
    found: Sequence[Any] = value if isinstance(value, list) else [value or ""]
    return [reference for reference in found if isinstance(reference, str)]

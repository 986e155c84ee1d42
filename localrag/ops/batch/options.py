"""Reads the options of a question as people write them, with labels or without.

Methods use a, b, c …; people see the labels of their file (ア, ①, 選択肢1).
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from localrag.errors import InputError
from localrag.language import N_
from localrag.methods.catalogue import LABELS, labelled
from localrag_indexes.analysis.normalize import PlainText, plain, unified

_NUMBERS, _KANJI, _CIRCLED = "12345678", "一二三四五六七八", "①②③④⑤⑥⑦⑧"
SERIES = (
    LABELS,
    LABELS.upper(),
    _NUMBERS,
    _KANJI,
    _CIRCLED,
    "アイウエオカキク",
    "イロハニホヘトチ",
)
"""What the first option is called, the second …"""
# ア　十人, (1) 十人, 2．十人, ① 十人; but not the figures of 1.5 or 1:30.
_LED = re.compile(
    r"(?:[(（〔\[](?P<inside>.)[)）〕\]]|(?P<circled>[①-⑧])"
    r"|(?P<marked>.)[.．)）:：、](?![\d０-９〇一二三四五六七八九十])|(?P<apart>.)(?=\s))\s*(?P<text>.+)",
    re.DOTALL,
)


class Options(NamedTuple):
    """The options of a question, and their labels as written; () for a, b, c … or none."""

    texts: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


def read_options(options: object) -> Options:
    """Read a list of texts, or an object of texts by label; raises `InputError`."""
    if options is None:
        return Options()
    labels: Sequence[object] = ()
    if isinstance(options, Mapping):
        labels, options = tuple(options), list(options.values())
    if not isinstance(options, list) or not all(isinstance(one, str) for one in options):
        raise InputError(
            N_("The options are neither a list of texts nor an object of texts."),
            N_(
                'Write {"a": "…", "b": "…"} or ["…", "…"]; in a table give every option a column '
                "of its own (option_a, option_b), or write one a line in the cell."
            ),
        )
    if not labels:
        return _unlabelled(tuple(options))
    named = tuple(map(str, labels))
    plain = not all(named) or "".join(named) == LABELS[: len(named)]
    return Options(tuple(options), () if plain else named)


def _unlabelled(options: tuple[str, ...]) -> Options:
    """Remove the labels at the beginning of all texts, if they are in order."""
    read = [PlainText(option.strip()) for option in options]
    found = [match for option in read if (match := _LED.fullmatch(option.text))]
    if len(found) < len(options) or len(found) < 2:
        return Options(options)
    labels = tuple(next(filter(None, match.groups())) for match in found)
    texts = tuple(
        option.written(*match.span("text")) for option, match in zip(read, found, strict=True)
    )
    plain = plain_label("".join(labels))
    # 1 日, 2 週間: a figure and its counter.
    counting = found[0]["apart"] and plain[0] in _NUMBERS + _KANJI
    if not follow_each_other(labels) or counting or len(set(texts)) < len(texts):
        return Options(options)
    return Options(texts, () if plain == LABELS[: len(plain)] else labels)


def plain_label(text: str) -> str:
    """Unify the width of labels; circled ones stay circled."""
    return "".join(one if one in _CIRCLED else unified(one) for one in plain(text))


def follow_each_other(labels: Sequence[str]) -> bool:
    """Whether labels of one character begin a series, in its order."""
    return any(series.startswith(plain_label("".join(labels))) for series in SERIES)


def label_of(label: str, labels: Sequence[str]) -> str:
    """Return the user's label for an option; `label` is a, b, c and so on."""
    place = LABELS.find(label) if label else -1
    return labels[place] if 0 <= place < len(labels) else label


def as_called(options: Sequence[str], labels: Sequence[str]) -> list[tuple[str, str]]:
    """Return each option after the user's label."""
    return [(label_of(label, labels), option) for label, option in labelled(options)]

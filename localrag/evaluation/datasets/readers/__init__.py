"""Readers of questions with known answers, one module for each format.

A reader converts one entry; `read` handles the file. A file with a defect is refused as a whole,
so no question is silently left out.
"""

from collections.abc import Callable, Mapping

from localrag.errors import InputError, LocalragError
from localrag.evaluation.datasets.readers.averitec import read_averitec
from localrag.evaluation.datasets.readers.choices import read_choice, read_collection, read_lawqa
from localrag.evaluation.datasets.readers.entries import Fields, Sources, entries, is_utf8
from localrag.evaluation.datasets.readers.multihop import read_jemhopqa, read_multihop
from localrag.evaluation.types import Question
from localrag.language import N_, _

__all__ = ["READERS", "Sources", "read"]

READERS: Mapping[str, Callable[[Fields, Sources], Question]] = {
    "lawqa": read_lawqa,
    "jemhopqa": read_jemhopqa,
    "multihop": read_multihop,
    "averitec": read_averitec,
    "collection": read_collection,
    "choices": read_choice,
}
"""The formats by name."""

_SHOWN = 20


def read(reader: str, name: str, content: bytes, known: Sources) -> tuple[Question, ...]:
    """Read and check all questions of a file; an `InputError` names up to twenty defects.

    The suffix of `name` distinguishes JSON Lines from JSON.
    """
    questions: list[Question] = []
    defects: list[str] = []
    seen: dict[str, str] = {}
    for position, (where, entry) in enumerate(entries(name, content)):
        known.position = position
        try:
            if isinstance(entry, InputError):
                raise entry
            question = READERS[reader](entry, known)
        except LocalragError as defect:
            defects.append(f"{where}: {defect.cause}")
            continue
        if question.id in seen:
            twice = _("{where}: The id {name!r} is also at {other}.")
            defects.append(twice.format(where=where, name=question.id, other=seen[question.id]))
        seen.setdefault(question.id, where)
        questions.append(question)
    if defects:
        shown = defects[:_SHOWN]
        if len(defects) > _SHOWN:
            shown.append(_("and {n:,} more").format(n=len(defects) - _SHOWN))
        raise InputError(
            N_("{name} cannot be used as questions:\n{defects}"),
            N_("Mend these entries, or take them out.")
            if is_utf8(content)
            else N_("Save the file as UTF-8. If entries are named again then, mend those."),
            name=name,
            defects="\n".join(shown),
        )
    if not questions:
        raise InputError(N_("{name} holds no question."), N_("Check how it was saved."), name=name)
    return tuple(questions)

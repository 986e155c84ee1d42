"""Writes the answers of a batch as an Office file, from the written rows.

The rows are the original; the file is made from them at the end and on request. A file changed by a
user is never overwritten.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import file_digest
from itertools import islice
from pathlib import Path

from localrag.answer import wording
from localrag.answer.types import Answer, Status
from localrag.corpus.durable import replace_text
from localrag.corpus.workspace import Workspace
from localrag.errors import StorageError, UsageError
from localrag.language import N_, _
from localrag.ops.batch.options import as_called
from localrag.ops.batch.rows import AnsweredRow, AnswerFile, FailedRow, TraceSummary, WrittenRow
from localrag.ops.batch.table import CheckedTable
from localrag.page.answer import Place, filed_answer, question_blocks
from localrag.page.blocks import Block, Heading, Strong, paragraph
from localrag.page.files import CSV, EXCEL, TEXTS, into, opened, require_package
from localrag.page.provision import places
from localrag.page.sheets import Cell, Column, write_csv, write_xlsx
from localrag.search.types import StageRecord, Trace
from localrag.text.harmless import one_line

ENDINGS = (EXCEL, CSV, *TEXTS)
"""Endings of files made from the rows; a file with another ending holds the rows."""
_NOTE = ".digest"
# Of a column of the user, in characters.
_WIDTH = 24


class AnswerDocument:
    """An Office file of answers."""

    def __init__(self, path: Path, folder: Path) -> None:
        """Store the path, and the folder for the digest of the written file."""
        self.path = path
        self._note = folder / f"{path.name}{_NOTE}"

    def require_own(self) -> None:
        """Require a writable file before hours of work; raises UsageError, StorageError."""
        require_package(self.path)
        try:
            if not self.path.exists():
                return
            noted = self._note.read_text() if self._note.exists() else ""
            if noted == self._digest():
                return
        except OSError as error:
            raise StorageError(
                N_("{path} cannot be read ({problem})."),
                N_("Mend its permissions, or name another file with --out."),
                path=self.path,
                problem=error,
            ) from error
        raise UsageError(
            N_("{path} was changed since the batch wrote it.")
            if noted
            else N_("{path} already exists, and no batch is known to have written it."),
            N_("Name another file with --out, or remove this one."),
            path=self.path,
        )

    def write(
        self, answers: AnswerFile, asked: CheckedTable, workspace: Workspace, corpus: str
    ) -> None:
        """Write the newest line of each row, in order, a table beside its own columns.

        Raises as `require_own`; InputError if the table of questions has changed.
        """
        self.require_own()
        ending = self.path.suffix.lower()
        with opened(self.path, replace=True) as file, places(workspace) as locate:
            place = partial(locate, corpus)
            rows = answers.rows()
            if ending == CSV:
                write_csv(_columns(asked), _cells(rows, asked, place), file)
            elif ending == EXCEL:
                write_xlsx(_("Answers"), _columns(asked), _cells(rows, asked, place), file)
            else:
                into(file, self.path, _blocks(rows, place))
        replace_text(self._note, self._digest())

    def _digest(self) -> str:
        with self.path.open("rb") as file:
            return file_digest(file, "blake2b").hexdigest()


def rows_beside(out: Path) -> Path:
    """Return the file of rows: beside an Office file, else the file itself."""
    return out.with_suffix(".jsonl") if out.suffix.lower() in ENDINGS else out


def documents_of(rows: Path, folder: Path) -> Iterator[Path]:
    """Yield the Office files made from some rows."""
    return (rows.with_name(note.name.removesuffix(_NOTE)) for note in folder.glob(f"*{_NOTE}"))


def _columns(asked: CheckedTable) -> Sequence[Column]:
    """The columns of the table as they are, or those of JSON Lines, then those of answers."""
    own = asked.table.columns
    answers = (
        Column(_("Status"), 14),
        Column(_("Choice"), 8),
        Column(_("Answer"), 60),
        Column(_("Citations"), 40),
        Column(_("Quotations"), 60),
        Column(_("Also near"), 60),
        Column(_("Remarks"), 40),
    )
    if own:
        apart = (replace(one, name=_apart(one.name, own)) for one in answers)
        return (*(Column(name, _WIDTH) for name in own), *apart)
    return (
        Column(_("Row"), 6),
        Column(_("Id"), 12),
        Column(_("Question"), 40),
        Column(_("Options"), 30),
        Column(_("Filters"), 20),
        *answers,
    )


def _apart(name: str, own: Sequence[str]) -> str:
    return f"{name} (localrag)" if name in own else name


def _cells(
    rows: Iterable[WrittenRow], asked: CheckedTable, place: Place
) -> Iterator[Sequence[Cell]]:
    width = len(asked.table.columns)
    table = islice(asked.rows(), len(asked)) if width else iter(())
    for row in rows:
        if width:
            # Rows are in the order of the table; a batch with a limit ends before it.
            cells = next(one.cells for one in table if one.row == row.row)
            yield [*cells, *[""] * (width - len(cells)), *_answer_cells(row, place)]
        else:
            filters = _filters(row) if isinstance(row, AnsweredRow) else ""
            named: list[Cell] = [row.row, row.id or "", row.question or "", _options(row), filters]
            yield [*named, *_answer_cells(row, place)]


def _answer_cells(row: WrittenRow, place: Place) -> Sequence[Cell]:
    if isinstance(row, FailedRow):
        error = f"{row.error.cause} {row.error.cure}".strip()
        failed = _(wording.FAILURES.get(row.error.type, row.error.type))
        return [failed, "", "", "", "", "", error]
    said = _said(row, place)
    # No text is in two columns.
    quotes = [(n, one.quote) for n, one in enumerate(row.citations, 1) if one.quote not in said]
    return [
        _(wording.STATUSES[row.status]),
        row.choice or row.label,
        said,
        _numbered(enumerate((place(one) or one.label for one in row.citations), 1)),
        _numbered(quotes),
        "\n".join(f"{one_line(near.label)} – {near.beginning}" for near in row.nearest),
        "\n".join(_remarks(row)),
    ]


def _said(row: AnsweredRow, place: Place) -> str:
    """Write the answer of a row; quotations precede an unsupported answer."""
    written = row.answer
    if row.status is Status.QUOTED and row.citations and not row.label:
        written = _numbered(enumerate((one.quote for one in row.citations), 1))
    elif row.claims and not (row.label or row.checked):
        marked = ((one.text, "".join(f"[{n}]" for n in one.citations)) for one in row.claims)
        written = "\n".join(" ".join(filter(None, one)) for one in marked)
    if not row.quotations:
        return written
    quoted = (f"{place(one) or one.label}: {one.quote}" for one in row.quotations)
    heads = wording.instead(), wording.by_unsupported_model()
    return "\n".join((f"{heads[0]}:", *quoted, "", f"{heads[1]}:", written))


def _options(row: WrittenRow) -> str:
    return "\n".join(f"{label}: {option}" for label, option in as_called(row.options, row.labels))


def _filters(row: AnsweredRow) -> str:
    return "\n".join((*map(str, row.where), *row.documents))


def _numbered(texts: Iterable[tuple[int, str]]) -> str:
    return "\n".join(f"[{number}] {text}" for number, text in texts)


def _remarks(row: AnsweredRow) -> Iterator[str]:
    if row.absent:
        yield f"{_('Not in this corpus:')} {'、'.join(row.absent)}"
    if row.status is Status.NOT_FOUND:
        answer = _answer(row)
        yield wording.verdict(answer, _shown(row))
        yield from map(str, wording.events(answer.trace, row.absent))
    else:
        yield from map(str, row.doubt)
    for claim in row.claims:
        yield from (wording.mismatch(one.kind, one.written, claim.text) for one in claim.mismatches)
    marks: dict[str, str] = {}
    for number, citation in enumerate(row.citations, 1):
        told = wording.remarks(citation)
        if not citation.verified:
            told.insert(0, f"{_('rejected')}: {citation.problem or ''}")
        if told:
            words = " · ".join(told)
            marks[words] = f"{marks.get(words, '')}[{number}]"
    yield from (f"{mark} {words}" for words, mark in marks.items())


def _blocks(rows: Iterable[WrittenRow], place: Place) -> Iterator[Block]:
    yield Heading(1, _("Answers"))
    for row in rows:
        head = _("Question {n}").format(n=row.row)
        yield Heading(2, f"{head} ({row.id})" if row.id else head)
        if row.question:
            yield from question_blocks(row.question, as_called(row.options, row.labels))
        if isinstance(row, FailedRow):
            yield paragraph(Strong(_("Failed.")))
            yield paragraph(f"{row.error.cause} {row.error.cure}".strip())
        else:
            yield from row_blocks(row, place)


def row_blocks(row: AnsweredRow, place: Place) -> Iterator[Block]:
    """Yield the blocks of an answered row; `place` cites a citation."""
    answer = _answer(row)
    return filed_answer(answer, place, wording.verdict(answer, _shown(row)))


def _shown(row: AnsweredRow) -> int:
    return row.trace.stages[-1].hits if row.trace and row.trace.stages else 0


def _answer(row: AnsweredRow) -> Answer:
    """Rebuild the answer of a row; its passages were not stored."""
    told = row.trace or TraceSummary((), (), ())
    return Answer(
        row.answer,
        row.citations,
        row.status,
        Trace((StageRecord("", (), 0.0, told.events),), told.calls),
        row.claims,
        row.choice or row.label,
        row.doubt,
        row.derivation,
        row.absent,
        checked=row.checked,
        nearest=row.nearest,
        quotations=row.quotations,
    )

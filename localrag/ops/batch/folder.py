"""The folder ``ANSWERS.run/`` beside the answers, with the lock and the origin.

The origin is not in the answers, so each line of the file is an answer for any program.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from localrag.corpus.durable import flush_folder, is_locked, locked
from localrag.errors import BusyError, StorageError, UsageError
from localrag.language import N_
from localrag.ops.batch import origin as origins
from localrag.ops.batch.document import AnswerDocument, documents_of, rows_beside
from localrag.ops.batch.origin import Origin
from localrag.text.facts import Fact, FactKind


@dataclass(frozen=True, slots=True)
class BatchFolder:
    """The paths of one batch: the file of rows, and the Office file made from it."""

    out: Path
    document: AnswerDocument | None = None

    @classmethod
    def of(cls, out: Path, questions: Path | IO[bytes]) -> "BatchFolder":
        """Find the paths for a file of answers; it need not exist.

        Raises:
            UsageError: the path is unusable: the questions, another file, or no folder.
            StorageError: it cannot be looked up.
        """
        try:
            named = out.expanduser()
            named = named.parent.resolve() / named.name
            path = rows_beside(named)
            if link := next((one for one in (named, path) if one.is_symlink()), None):
                raise UsageError(
                    N_("{out} is a link; answers are not written through links."),
                    N_("Name the file itself with --out."),
                    out=link,
                )
            if named.exists() and not named.is_file():
                raise UsageError(N_("{out} is not a file."), N_("Name a file with --out."), out=out)
            asked = questions.expanduser().resolve() if isinstance(questions, Path) else None
            if asked in (named, path):
                raise UsageError(
                    N_("The answers would overwrite the questions."),
                    Fact(FactKind.TO_NAME_OUT),
                )
            if not path.parent.is_dir():
                raise UsageError(
                    N_("There is no folder {folder}."), N_("Make it first."), folder=path.parent
                )
        except (OSError, RuntimeError) as error:
            raise StorageError(
                N_("{path} cannot be written ({problem})."),
                Fact(FactKind.TO_NAME_OUT),
                path=out,
                problem=error,
            ) from error
        folder = cls(path)
        if path != named:
            document = AnswerDocument(named, folder.path)
            document.require_own()
            folder = cls(path, document)
        if folder.begun:
            folder._known_origin()
        return folder

    @property
    def named(self) -> Path:
        """The requested file of answers."""
        return self.document.path if self.document else self.out

    def documents(self) -> list[Path]:
        """Return the existing Office files made from the rows."""
        return [path for path in documents_of(self.out, self.path) if path.exists()]

    @property
    def path(self) -> Path:
        """The folder."""
        return self.out.with_name(f"{self.out.name}.run")

    @property
    def origin(self) -> Path:
        """The file with the origin of the answers."""
        return self.path / "made_with.json"

    @property
    def aside(self) -> Path:
        """A temporary file for sorting the answers."""
        return self.path / "ordered.jsonl"

    @property
    def begun(self) -> bool:
        """Whether the file of answers has content."""
        return self.out.exists() and self.out.stat().st_size > 0

    @property
    def busy(self) -> bool:
        """Whether a process is writing the answers."""
        return is_locked(self._lock)

    def held(self) -> AbstractContextManager[None]:
        """Hold the lock on the answers; raises `BusyError` or `StorageError`."""
        busy = BusyError(
            N_("Another process is writing {path}."),
            N_("Wait until it has finished."),
            path=self.out,
        )
        elsewhere = N_("Mend its permissions, or name another file with --out.")
        return locked(self._lock, busy, elsewhere)

    def begin(self, origin: Origin, *, restart: bool) -> None:
        """Prepare for answers made with `origin`, after others or instead of them.

        Raises:
            UsageError: existing answers have another origin or none.
            StorageError: the disk is full or the folder cannot be written.
        """
        if restart:
            self._drop()
        if self.begun:
            self.require_same(origin)
        else:
            origins.write(self.origin, origin)
            # Even after a power cut, answers have their origin.
            flush_folder(self.out.parent)

    def require_same(self, origin: Origin) -> None:
        """Refuse existing answers of another `origin`; raises `UsageError`."""
        origins.require_same(self._known_origin(), origin, self.out)

    @property
    def _lock(self) -> Path:
        return self.path / "lock"

    def _drop(self) -> None:
        if not self.begun:
            return
        try:
            self.out.unlink()
        except OSError as error:
            raise StorageError(
                N_("{path} cannot be removed ({problem})."),
                N_("Check the permissions of its folder, or name another file with --out."),
                path=self.out,
                problem=error,
            ) from error

    def _known_origin(self) -> Origin:
        origin = origins.read(self.origin)
        if origin is None:
            raise UsageError(
                N_("{path} already exists, and no batch is known to have written it."),
                N_("Name another file with --out, or remove this one."),
                path=self.out,
            )
        return origin

"""The manifest: what lies in an index folder, and whether it still does.

``manifest.json`` is written last, so a folder without one is not an index.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from localrag_indexes.errors import (
    CHANGED,
    N_,
    UNREADABLE,
    IndexDamaged,
    IndexMissing,
    IndexVersionError,
)

FORMAT = 1
"""Raised whenever an index of the version before can no longer be read."""
FILE_NAME = "manifest.json"


@dataclass(frozen=True, slots=True)
class IndexFile:
    """Size in bytes and SHA-256 of one file when the index was complete."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class IndexManifest:
    """What an index folder holds.

    Attributes:
        kind: ``bm25``, ``vectors`` …; an index is opened only as what it is.
        count: number of entries.
        analyzer: id of the analyzer its terms were made with; empty for vectors.
        attributes: names of the attributes entries can be filtered by.
        files: every other file of the folder, by its path inside it.
        extra: whatever the owner of the index wants to find again (model id, dimension …);
            JSON values.
        format: version of the layout on disk.
    """

    kind: str
    count: int
    analyzer: str = ""
    attributes: tuple[str, ...] = ()
    files: Mapping[str, IndexFile] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    format: int = FORMAT

    def write(self, folder: Path) -> None:
        """Write it into `folder` as ``manifest.json``."""
        text = json.dumps(asdict(self), ensure_ascii=False, indent=1)
        (folder / FILE_NAME).write_text(text, encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> "IndexManifest":
        """Read the manifest of `folder`.

        Raises:
            IndexMissing: the folder has none.
            IndexVersionError: it was written in another format.
            IndexDamaged: it is not a manifest, or cannot be read.
        """
        path = folder / FILE_NAME
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data["format"] != FORMAT:
                raise IndexVersionError(folder, "format", data["format"], FORMAT)
            files = {name: IndexFile(**record) for name, record in data.pop("files").items()}
            attributes = tuple(data.pop("attributes"))
            return cls(**data, attributes=attributes, files=files)
        except (FileNotFoundError, NotADirectoryError):
            raise IndexMissing(folder) from None
        except OSError as error:
            raise IndexDamaged(path, UNREADABLE, why=error.strerror) from error
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise IndexDamaged(
                path, N_("index file {file} is no manifest ({why})"), why=error
            ) from error

    def verify(self, folder: Path, *, deep: bool = False) -> None:
        """Check that the files are those the index was completed with.

        Args:
            folder: where the index lies.
            deep: compare every byte by checksum; otherwise only presence and size, which finds
                what a broken copy or a full disk leaves behind and costs microseconds.

        Raises:
            IndexDamaged: names the first file that differs.
        """
        for name, record in self.files.items():
            path = folder / name
            try:
                size = path.stat().st_size
                changed = deep and size == record.size and _sha256(path) != record.sha256
            except FileNotFoundError:
                raise IndexDamaged(path, N_("index file {file} is missing")) from None
            except OSError as error:
                raise IndexDamaged(path, UNREADABLE, why=error.strerror) from error
            if size != record.size:
                raise IndexDamaged(
                    path,
                    N_("index file {file} is damaged: {size} bytes instead of {expected}"),
                    size=size,
                    expected=record.size,
                )
            if changed:
                raise IndexDamaged(path, CHANGED)


def describe_files(folder: Path) -> dict[str, IndexFile]:
    """Record every file below `folder`, except a manifest, for `IndexManifest.files`."""
    return {
        path.relative_to(folder).as_posix(): IndexFile(path.stat().st_size, _sha256(path))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != FILE_NAME
    }


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

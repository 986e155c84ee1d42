"""Small files that are there as a whole or not at all."""

import os
from pathlib import Path


def replace_text(path: Path, text: str) -> None:
    """Write a file, flushed to the disk, in the place of the one before it.

    Raises:
        OSError: it cannot be written; the one before it stays.
    """
    unfinished = path.with_suffix(".new")
    with unfinished.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)

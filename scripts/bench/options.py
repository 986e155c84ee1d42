"""The options that benchmarks share: one way to name the data, the work folder and the scale."""

import argparse
import os
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def parser(
    description: str | None, *, data: bool = True, work: bool = False, embedder: bool = False
) -> argparse.ArgumentParser:
    """Make a parser with ``--data``, ``--work`` and ``--embedder``, as requested.

    Args:
        description: the docstring of the script, printed unchanged.
        data: whether the script reads public data.
        work: whether the script keeps corpora between runs.
        embedder: whether it can search by meaning.
    """
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if data:
        made.add_argument(
            "--data",
            type=_folder,
            # As a string, so that it is checked too.
            default=os.environ.get("LOCALRAG_SHARED_DATA")
            or str(REPOSITORY.parent / "shared/data"),
            metavar="FOLDER",
            help="public data; without it LOCALRAG_SHARED_DATA, else ../shared/data beside the "
            "repository",
        )
    if work:
        made.add_argument(
            "--work",
            type=Path,
            default=REPOSITORY / ".cache" / "bench",
            metavar="FOLDER",
            help="where corpora are kept between runs; without it .cache/bench",
        )
    if embedder:
        made.add_argument(
            "--embedder",
            default="",
            metavar="MODEL",
            help="search by meaning, too: an installed model, or the file or folder of one",
        )
    return made


def law_files(data: Path) -> list[Path]:
    """The files of laws from e-Gov, the smallest first."""
    return sorted((data / "egov" / "xml").glob("*.xml"), key=lambda path: path.stat().st_size)


def _folder(text: str) -> Path:
    path = Path(text).expanduser().resolve()
    if not path.is_dir():
        raise argparse.ArgumentTypeError(
            f"there is no folder {path}; name the one that holds egov/, lawqa/, jsquad/ "
            "and multihop/, or set LOCALRAG_SHARED_DATA"
        )
    return path

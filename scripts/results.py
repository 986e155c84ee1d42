"""Write docs/results.md from the folders of finished evaluations."""

import argparse
import sys
from pathlib import Path

from localrag.errors import LocalragError
from localrag.evaluation import results

DOCUMENT = Path(__file__).parents[1] / "docs" / "results.md"


def main() -> None:
    """Write the document, and tell what was left out of it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "--runs",
        nargs="*",
        default=[],
        type=Path,
        metavar="FOLDER",
        help="folders that hold report.json, as `localrag eval list` names them",
    )
    options.add_argument(
        "--out", default=DOCUMENT, type=Path, metavar="FILE", help="without it docs/results.md"
    )
    options.add_argument(
        "--models",
        nargs="*",
        default=[],
        metavar="NAME",
        help="open models that count although the catalogue lacks them: those of `make lab`",
    )
    arguments = options.parse_args()
    try:
        for sentence in results.write(arguments.runs, arguments.out, arguments.models):
            print(sentence, file=sys.stderr)
    except LocalragError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()

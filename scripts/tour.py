"""Run the tours of the README and of docs/ again, and write down what they print today."""

import functools
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

_REPOSITORY = Path(__file__).parents[1]
TOURS = {
    "en": ("docs/tour.md", "README.md"),
    "ja": ("docs/ja/tour.md", "README.ja.md"),
}
"""Texts with a tour by language, run in order in one workspace."""
SHOWN_HOME = "/home/you/law"
_CONSOLE = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)


def main() -> None:
    """Replace the output below every ``$ localrag …`` of the blocks marked ``console``."""
    for language, names in TOURS.items():
        with tempfile.TemporaryDirectory() as folder:
            # Both texts show the same commands: each is run once, in the order of the first.
            run = functools.cache(functools.partial(output, Path(folder) / "law", language))
            for path in map(_REPOSITORY.joinpath, names):
                text = _CONSOLE.sub(lambda block: again(block[0], run), path.read_text("utf-8"))  # noqa: B023
                path.write_text(text, encoding="utf-8")


def again(block: str, run: Callable[[str], str]) -> str:
    """A block with the output of today."""
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    parts = [
        f"{line}\n{run(line)}" if line.startswith("$ localrag ") else line for line in commands
    ]
    return "\n\n".join(parts).replace("~/law\n\n", "~/law\n") + "\n"


def output(home: Path, language: str, line: str) -> str:
    """Output of one command line, with `home` replaced by the reader's folder."""
    finished = subprocess.run(
        [sys.executable, "-m", *shlex.split(line.removeprefix("$ "))],
        env={
            **os.environ,
            "LOCALRAG_HOME": str(home),
            "LOCALRAG_LANGUAGE": language,
            "COLUMNS": "100",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode not in (0, 3):
        sys.exit(f"{line} failed:\n{finished.stderr}")
    lines = finished.stdout.replace(str(home), SHOWN_HOME).splitlines()
    return "\n".join(map(str.rstrip, lines)).strip("\n")


if __name__ == "__main__":
    main()

"""Word files: sentences that readers find, and words that they add.

Every sentence of the files is known: 30 files with one feature of Word each (numbers, tracked
changes, text boxes …), then files with random features. A sentence is found if it occurs exactly
once, without blanks, after the previous one, with Word's number. Words hidden by Word are wrong:
deleted or hidden text, field instructions, ruby readings. Our reader must name everything not read,
with its count.

docx2python, pandoc and python-docx are compared; missing ones are named. Exits 1 if our reader
misses a sentence, adds a word or leaves something unnamed.
"""

import importlib
import importlib.metadata
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench.made_word import FEATURES, MadeWordFile, of
from bench.options import parser
from bench.rates import rate

from localrag.corpus.readers import ReadFailure, read
from localrag.corpus.types import Document

_MIXED = [
    ["margins", "articles", "footnotes", "tracked"],
    ["tables", "controls", "text_box", "ruby"],
    ["restarted", "fields", "comments", "sections", "plain"],
]
Read = Callable[[Path], str]


class WordCounts(NamedTuple):
    """What a reader made of a file."""

    found: int
    sentences: int
    wrong: int

    @property
    def is_right(self) -> bool:
        """Whether it found all and added nothing."""
        return self.found == self.sentences and not self.wrong


def main() -> int:
    """Read all files with every reader; return the exit code."""
    options = parser(__doc__, data=False)
    options.add_argument("--random", type=int, default=60, metavar="N", help="files drawn")
    options.add_argument("--seed", type=int, default=36, help="by which they are drawn")
    chosen = options.parse_args()
    rng = random.Random(chosen.seed)
    kinds = [[name] for name in FEATURES] + _MIXED
    kinds += [["plain"]] * (28 - len(kinds))
    made = [of(rng, ["plain", *names, "plain"]) for names in kinds]
    made += [of(rng, names, strict=True) for names in (["plain", "plain"], _MIXED[0])]
    with tempfile.TemporaryDirectory() as folder:
        files = _written(made, Path(folder) / "kinds")
        print(
            f"{'reader':<24}{'sentences found':<30}{'files right':<30}{'wrong':>6}{'s':>8}  licence"
        )
        for name, read_file in _readers().items():
            _compare(name, read_file, made, files)
        drawn = [_drawn(rng) for _ in range(chosen.random)]
        files += _written(drawn, Path(folder) / "drawn")
    return _ours(made + drawn, len(made))


def _drawn(rng: random.Random) -> MadeWordFile:
    names = rng.sample(sorted(FEATURES), rng.randint(3, 9))
    return of(rng, names, strict=rng.random() < 0.2)


def _written(made: list[MadeWordFile], folder: Path) -> list[Path]:
    folder.mkdir()
    files = [folder / f"{number}.docx" for number in range(len(made))]
    for one, path in zip(made, files, strict=True):
        path.write_bytes(one.bytes())
    return files


def _compare(name: str, read_file: Read, made: list[MadeWordFile], files: list[Path]) -> None:
    started = time.perf_counter()
    texts = [_tried(read_file, path) for path in files]
    seconds = time.perf_counter() - started
    counts = [_counted(one, text) for one, text in zip(made, texts, strict=True)]
    found, sentences = sum(c.found for c in counts), sum(c.sentences for c in counts)
    right, wrong = sum(c.is_right for c in counts), sum(c.wrong for c in counts)
    words = f"{rate(found, sentences)} n = {sentences}"
    of_files = f"{rate(right, len(files))} n = {len(files)}"
    print(f"{name:<24}{words:<30}{of_files:<30}{wrong:>6}{seconds:>8.2f}  {_LICENCES[name]}")


def _tried(read_file: Read, path: Path) -> str:
    """The text of a reader; empty if it cannot read the file."""
    try:
        return read_file(path)
    except Exception:  # noqa: BLE001 - each has errors of its own
        return ""


def _counted(made: MadeWordFile, text: str) -> WordCounts:
    plain = _without_blanks(text)
    at = found = 0
    for sentence in map(_without_blanks, made.sentences):
        place = plain.find(sentence, at)
        if place >= 0 and plain.count(sentence) == 1:
            found += 1
            at = place
    wrong = sum(_without_blanks(one) in plain for one in made.absent)
    return WordCounts(found, len(made.sentences), wrong)


def _without_blanks(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _ours(made: list[MadeWordFile], compared: int) -> int:
    """Say what ours does not read, nor name, of any file."""
    with tempfile.TemporaryDirectory() as folder:
        files = _written(made, Path(folder) / "all")
        problems = [
            f"{path.name}: {problem}"
            for one, path in zip(made, files, strict=True)
            for problem in _problems(one, path)
        ]
    sound = len(made) - len({problem.partition(":")[0] for problem in problems})
    print(
        f"read whole, or named with its count ({compared} of a kind each, "
        f"{len(made) - compared} drawn): {rate(sound, len(made))} n = {len(made)}"
    )
    print("\n".join(problems))
    return int(bool(problems))


def _problems(made: MadeWordFile, path: Path) -> list[str]:
    (outcome,) = read(path)
    if isinstance(outcome, ReadFailure):
        return [outcome.cause]
    plain = _without_blanks(outcome.text)
    lost = [one for one in made.sentences if _without_blanks(one) not in plain]
    problems = [f"lost: {one}" for one in lost]
    counts = _counted(made, outcome.text)
    if not lost and not counts.is_right:
        problems.append(f"not as it is in the file: {counts}")
    for what, count in made.named.items():
        named = sum(one.count for one in outcome.omissions if what in one.what)
        if named != count:
            problems.append(f"{what}: {count}, named are {named}")
    problems += [f"not quoted: {one}" for one in made.sentences if not _is_quoted(one, outcome)]
    return problems


def _is_quoted(sentence: str, document: Document) -> bool:
    """Whether a passage has the sentence as it is."""
    words = _without_blanks(sentence)
    return any(words in _without_blanks(passage.text) for passage in document.passages)


# The readers


def _of_localrag(path: Path) -> str:
    (outcome,) = read(path)
    return outcome.text if isinstance(outcome, Document) else ""


def _of_docx2python(path: Path) -> str:
    with importlib.import_module("docx2python").docx2python(path) as read_file:
        return str(read_file.text)


def _of_pandoc(path: Path) -> str:
    pandoc = importlib.import_module("pypandoc")
    given = ["--wrap=none", "--track-changes=accept"]
    return str(pandoc.convert_file(str(path), "plain", extra_args=given))


def _of_python_docx(path: Path) -> str:
    docx = importlib.import_module("docx")
    lines = []
    for block in docx.Document(str(path)).iter_inner_content():
        rows = getattr(block, "rows", None)
        cells = [block.text] if rows is None else [cell.text for row in rows for cell in row.cells]
        lines += cells
    return "\n".join(lines)


_LICENCES = {
    "localrag (lxml)": "BSD",
    "docx2python": "MIT",
    "pandoc (pypandoc)": "GPL",
    "python-docx": "MIT",
}
_OTHERS = {
    "docx2python": ("docx2python", _of_docx2python),
    "pandoc (pypandoc)": ("pypandoc", _of_pandoc),
    "python-docx": ("docx", _of_python_docx),
}


def _readers() -> dict[str, Read]:
    """Our reader, and the others installed; names missing ones."""
    found: dict[str, Read] = {"localrag (lxml)": _of_localrag}
    for name, (module, read_file) in _OTHERS.items():
        try:
            importlib.import_module(module)
        except ImportError:
            print(f"not installed, and left out: {name}")
        else:
            found[name] = read_file
    return found


if __name__ == "__main__":
    sys.exit(main())

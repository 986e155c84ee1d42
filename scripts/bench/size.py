"""How large the code is, room by room.

A room is a folder of `localrag/`, its loose modules, `models`, `indexes`, `tui` or `scripts`. Code
lines have no blanks, comments, docstrings or imports. A function's length is its code lines. The
last table lists the class names that several modules declare.
"""

import ast
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from bench.options import REPOSITORY, parser

_DIVIDED = "localrag"
_WHOLE = ("models", "indexes", "tui", "scripts")
_HEADER = ("files", "code", "docstrings", "classes", "functions", "median", "longest")


class _Size(NamedTuple):
    """Of one module.

    Attributes:
        classes: their names, private and nested ones too.
        functions: code lines of each function and method.
    """

    code: int
    docstrings: int
    classes: list[str]
    functions: list[int]


def main() -> None:
    """Print the sizes of all rooms, their sum, and the type names declared more than once."""
    options = parser(__doc__, data=False)
    options.add_argument("--repository", type=Path, default=REPOSITORY, metavar="FOLDER")
    options.add_argument("--names", type=int, default=20, help="how many type names to list")
    arguments = options.parse_args()
    rooms = {
        room: {path: measure(path) for path in files}
        for room, files in _rooms(arguments.repository).items()
    }
    width = max(map(len, rooms), default=0)
    print(" " * width, *(f"{name:>10}" for name in _HEADER))
    for room, sizes in rooms.items():
        print(f"{room:<{width}}", *_cells(sizes.values()))
    print(
        f"{'all':<{width}}", *_cells([size for sizes in rooms.values() for size in sizes.values()])
    )
    declared = Counter(
        name for sizes in rooms.values() for size in sizes.values() for name in set(size.classes)
    )
    several = [(name, n) for name, n in declared.most_common() if n > 1]
    print(f"type names declared in two modules or more: {len(several)}")
    for name, n in several[: arguments.names]:
        print(f"  {name} {n}")


def measure(path: Path) -> _Size:
    """The size of one module."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    docstrings = set(_docstrings(tree))
    left_out = docstrings | {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for line in _lines(node)
    }
    code = {
        number
        for number, line in enumerate(text.splitlines(), start=1)
        if (bare := line.strip()) and not bare.startswith("#") and number not in left_out
    }
    nodes = list(ast.walk(tree))
    classes = [node.name for node in nodes if isinstance(node, ast.ClassDef)]
    functions = [
        len(code & set(_lines(node)))
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return _Size(len(code), len(docstrings), classes, functions)


def _rooms(repository: Path) -> dict[str, list[Path]]:
    files = defaultdict(list)
    for path in sorted((repository / _DIVIDED).rglob("*.py")):
        inside = path.relative_to(repository / _DIVIDED).parts
        files[f"{_DIVIDED}/{inside[0]}" if len(inside) > 1 else _DIVIDED].append(path)
    for name in _WHOLE:
        files[name] = sorted((repository / name).rglob("*.py"))
    return dict(files)


def _docstrings(tree: ast.Module) -> Iterator[int]:
    holders = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(tree):
        if isinstance(node, holders) and ast.get_docstring(node) is not None:
            yield from _lines(node.body[0])


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _cells(sizes: Iterable[_Size]) -> list[str]:
    sizes = list(sizes)
    functions = [length for size in sizes for length in size.functions]
    numbers = [
        len(sizes),
        sum(size.code for size in sizes),
        sum(size.docstrings for size in sizes),
        sum(len(size.classes) for size in sizes),
        len(functions),
        statistics.median(functions or [0]),
        max(functions, default=0),
    ]
    return [f"{number:>10,.7g}" for number in numbers]


if __name__ == "__main__":
    main()

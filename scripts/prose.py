"""Count stilted phrases, relative words and long sentences, and let the counts only fall.

It reads docstrings and comments of the code, messages of the catalogues, and documents. Counts are
for each 1,000 words; a sentence is long above 20 words. ``scripts/prose.toml`` holds the limits.

``scripts/prose.py`` prints the counts; with paths it prints the worst places in them. ``--check``
fails if a count is above its limit. ``--lower`` writes lower limits after the counts have fallen.
"""

import argparse
import ast
import re
import sys
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from inspect import cleandoc
from pathlib import Path
from typing import NamedTuple

from babel.messages.pofile import read_po

REPOSITORY = Path(__file__).parents[1]
LIMITS = Path(__file__).with_suffix(".toml")
LONGEST = 20
"""Words of a sentence at most."""

_CODE = ("localrag", "tui", "models", "indexes", "scripts")
_DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md")
_MESSAGES = "localrag/locale/ja/LC_MESSAGES/*.po"
_WORST = 5

_STILTED = re.compile(
    r"""\b(?:(?:is|are|be|was|were)\ told
    |tells\ (?:of|what|which|how|whether|the|a|its|one|them|it)
    |stands?|stood|standing|leans?\ on|anew|of\ wh(?:ich|om)|whoever|whatever|thereof|therein
    |lacks?|lacking|(?<!there\ )(?:is|are)\ none|for\ that|as\ well(?=[.,;:)])|what\ is|by\ then
    |in\ the\ place\ of|so\ that\b[^.]*\bnot|the\ one\b[^.]*\bthe\ other|has\ it\ that|be\ it
    |nought|bears?
    |(?:that|those)\ of|those\ that|such\ as\ are|is\ left\ to|comes\ to|goes\ (?:before|by)
    |(?-i:Who)\ (?:asks|reads|calls|wants|has|holds|writes))\b""",
    re.IGNORECASE | re.VERBOSE,
)
_RELATIVE = re.compile(
    r"\b(?:that|which|who|whom|whose|what|where|whoever|whatever|whichever)\b", re.IGNORECASE
)
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_END = re.compile(r"(?<=[.:!?])\s+|\n\s*\n|\n\s*[-*]\s|\|")
# Code, literal blocks, aligned columns, the values of a message, the names in a list of arguments.
_NO_PROSE = re.compile(
    r"``[^`]*``|`[^`]*`|^\s*>>>.*|::\n\n(?:(?: {4}.*)?\n)*(?: {4}.*)?|^.*\S {3,}\S.*$"
    r"|\{[^{}]*\}|^ +[\w*, ]+:(?= )",
    re.MULTILINE,
)
_FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_APART = re.compile(r"\s*(?:$|[#|>]|[-*] |\d+\. )")


class ProseText(NamedTuple):
    """A paragraph, a docstring, a block of comments or a message, and its place."""

    path: Path
    line: int
    words: str


class Counts(NamedTuple):
    """What was counted in some texts."""

    words: int
    stilted: int
    relative: int
    long: int

    def per_thousand(self) -> dict[str, float]:
        """Each count for 1,000 words."""
        thousands = max(self.words, 1) / 1000
        return {name: n / thousands for name, n in self._asdict().items() if name != "words"}


def main() -> None:
    """Print the counts, check them, or lower the limits."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*", type=Path, help="files or folders; all without them")
    parser.add_argument("--check", action="store_true", help="print and fail only above a limit")
    parser.add_argument("--lower", action="store_true", help="write limits that have fallen")
    parser.add_argument("--limits", type=Path, default=LIMITS, help="without it prose.toml")
    parser.add_argument("--repository", type=Path, default=REPOSITORY, metavar="FOLDER")
    arguments = parser.parse_args()
    texts = texts_of(arguments.repository, [path.resolve() for path in arguments.paths])
    counted = {kind: total(map(count, found)) for kind, found in texts.items()}
    limits = tomllib.loads(arguments.limits.read_text(encoding="utf-8"))
    if arguments.lower:
        arguments.limits.write_text(_written(lowered(limits, counted)), encoding="utf-8")
    elif arguments.check:
        found = faults(limits, counted, texts)
        print("\n".join(found), end="\n" if found else "")
        sys.exit(1 if found else 0)
    else:
        _show(limits, counted)
        if arguments.paths:
            print(*worst([text for found in texts.values() for text in found], 40), sep="\n")


def texts_of(repository: Path, paths: Collection[Path] = ()) -> dict[str, list[ProseText]]:
    """All texts by kind, or those of the named files and folders."""

    def chosen(found: Iterable[Path]) -> list[Path]:
        return [
            path
            for path in sorted(found)
            if not paths or any(path.is_relative_to(one) for one in paths)
        ]

    code = chosen(path for name in _CODE for path in (repository / name).rglob("*.py"))
    documents = chosen(path for name in _DOCUMENTS for path in repository.glob(name))
    return {
        "docstrings": [text for path in code for text in _docstrings(path)],
        "comments": [text for path in code for text in _comments(path)],
        "messages": [text for path in chosen(repository.glob(_MESSAGES)) for text in _said(path)],
        "documents": [text for path in documents for text in _paragraphs(path)],
    }


def count(text: ProseText) -> Counts:
    """What one text holds of words, stilted phrases, relative words and long sentences."""
    prose = _NO_PROSE.sub(" X ", text.words)
    lengths = [len(_WORD.findall(sentence)) for sentence in _END.split(prose)]
    return Counts(
        words=sum(lengths),
        stilted=len(_STILTED.findall(prose)),
        relative=len(_RELATIVE.findall(prose)),
        long=sum(length > LONGEST for length in lengths),
    )


def total(counts: Iterable[Counts]) -> Counts:
    """Their sum."""
    return Counts(*map(sum, zip((0, 0, 0, 0), *counts, strict=True)))


def worst(texts: Iterable[ProseText], most: int) -> list[str]:
    """The places with most stilted phrases and long sentences, the worst first."""
    counted = [(text, count(text)) for text in texts]
    counted.sort(key=lambda one: one[1].stilted + one[1].long, reverse=True)
    return [
        f"  {text.path}:{text.line}: {counts.stilted} stilted, {counts.long} long"
        for text, counts in counted[:most]
        if counts.stilted or counts.long
    ]


def faults(
    limits: Mapping[str, Mapping[str, float]],
    counted: Mapping[str, Counts],
    texts: Mapping[str, Collection[ProseText]],
) -> list[str]:
    """A line for each count above its limit, followed by the worst places and the cure."""
    found = []
    for kind, counts in counted.items():
        above = [
            f"{kind}: {figure:.2f} {name} per 1,000 words, above the limit of {limits[kind][name]}"
            for name, figure in counts.per_thousand().items()
            if figure > limits[kind][name]
        ]
        if above:
            found += [*above, *worst(texts[kind], _WORST)]
    if found:
        found.append("Put the subject first, end the sentence sooner, and drop the phrase.")
    return found


def lowered(
    limits: Mapping[str, Mapping[str, float]], counted: Mapping[str, Counts]
) -> dict[str, dict[str, float]]:
    """The limits, each as low as what was counted; none rises."""
    return {
        kind: {
            name: min(limit, round(counted[kind].per_thousand()[name] + 0.005, 2))
            for name, limit in names.items()
        }
        for kind, names in limits.items()
    }


def _show(limits: Mapping[str, Mapping[str, float]], counted: Mapping[str, Counts]) -> None:
    for kind, counts in counted.items():
        if not counts.words:
            continue
        figures = (
            f"{name} {figure:.2f} (limit {limits[kind][name]})"
            for name, figure in counts.per_thousand().items()
        )
        print(f"{kind}: {counts.words:,} words; per 1,000:", ", ".join(figures))


def _written(limits: Mapping[str, Mapping[str, float]]) -> str:
    head = "# Most per 1,000 words. scripts/prose.py --lower writes lower ones.\n"
    tables = (
        "\n".join([f"\n[{kind}]", *(f"{name} = {limit}" for name, limit in names.items())])
        for kind, names in limits.items()
    )
    return head + "\n".join(tables) + "\n"


def _docstrings(path: Path) -> Iterator[ProseText]:
    """Texts that are statements: docstrings, and what follows a constant."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Expr(value=ast.Constant(value=str(words))):
                yield ProseText(path, node.lineno, cleandoc(words))


def _comments(path: Path) -> Iterator[ProseText]:
    block: list[str] = []
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate([*lines, ""], start=1):
        if comment := re.match(r"\s*# (.*)", line):
            block.append(comment[1])
        elif block:
            yield ProseText(path, number - len(block), " ".join(block))
            block = []


def _said(path: Path) -> Iterator[ProseText]:
    with path.open("rb") as file:
        catalogue = read_po(file)
    for message in catalogue:
        for words in [message.id] if isinstance(message.id, str) else message.id:
            if words:
                yield ProseText(path, message.lineno or 1, words)


def _paragraphs(path: Path) -> Iterator[ProseText]:
    text = _FENCED.sub(lambda code: "\n" * code[0].count("\n"), path.read_text(encoding="utf-8"))
    block: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if block and (_APART.match(line) or block[-1].startswith(("#", "|"))):
            yield ProseText(path, number - len(block), "\n".join(block))
            block = []
        if line.strip():
            block.append(line)


if __name__ == "__main__":
    main()

"""Update translations: collect the messages of the code, and compile the catalogues.

``scripts/catalogues.py`` writes every message into the catalogue of each language
(``localrag/locale/<language>/LC_MESSAGES/localrag.po``) and compiles it. ``--check`` writes
nothing. Both fail if a message is missing, untranslated or no longer used, or if the compiled
catalogue is behind.
"""

import argparse
import ast
import sys
import tomllib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from string import Formatter

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import read_mo, write_mo
from babel.messages.pofile import read_po, write_po
from jinja2.ext import babel_extract

from localrag.doors.cli.help import paragraphs
from localrag.language import LANGUAGES

REPOSITORY = Path(__file__).parents[1]
PACKAGES = ("localrag", "tui/localrag_tui", "models/localrag_models", "indexes/localrag_indexes")
HELP = (
    "localrag/doors/cli",
    "localrag/doors/calls.py",
    "localrag/corpus/config.py",
    "localrag/methods",
)
"""Files with help texts without a mark: verbs, options, settings."""
WRITTEN_IN = "en"

_HELP = {"help", "about", "description", "metavar"}
"""Arguments that are help texts."""

_DECLARED = {"good_for", "caveats", "hints", "conditions", "source"}
"""Fields of declarations (.toml) that are translated if they are words."""

_FORMS = {"_": 1, "N_": 1, "ngettext": 2}
"""How many forms of a message follow a mark."""
_HEAD = r"""msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Content-Transfer-Encoding: 8bit\n"
"Language: {language}\n"
"Plural-Forms: nplurals=1; plural=0;\n"

"""
# A date would make another file of the same messages.
_NO_DATE = datetime(2000, 1, 1, tzinfo=UTC)


def main() -> None:
    """Update the catalogues, or check them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail on a fault")
    if not parser.parse_args().check:
        update()
    found = faults()
    print("\n".join(found) or "every message is translated")
    sys.exit(1 if found else 0)


def _files() -> list[Path]:
    """The files with messages: code, declarations and pages."""
    return [
        path
        for package in PACKAGES
        for path in sorted((REPOSITORY / package).rglob("*"))
        if path.suffix in {".py", ".toml", ".html"}
    ]


def _declared(value: object, field: str = "") -> Iterator[str]:
    """What a declaration tells in words, not as a name or an address."""
    match value:
        case dict():
            for name, part in value.items():
                yield from _declared(part, field if field in _DECLARED else name)
        case list():
            for part in value:
                yield from _declared(part, field)
        case str() if field in _DECLARED and " " in value:
            # Titles and addresses of papers and files are not translated.
            if field != "source" or "://" not in value:
                yield value


def _helped(code: str) -> Iterator[str]:
    """Help texts of a module of the command line."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef) and _is_verb(node):
            yield from paragraphs(ast.get_docstring(node) or "")
        elif (
            isinstance(node, ast.keyword)
            and node.arg in _HELP
            and isinstance(node.value, ast.Constant)
        ):
            yield from paragraphs(str(node.value.value))


def _is_verb(function: ast.FunctionDef) -> bool:
    """Whether Typer calls it: the docstring of such a function is a help text."""
    kinds = {ast.unparse(arg.annotation) for arg in function.args.args if arg.annotation}
    return bool(kinds & {"typer.Context", "Json"})


def translations() -> list[str]:
    """The languages that have catalogues."""
    return [language for language in LANGUAGES if language != WRITTEN_IN]


def update() -> None:
    """Write the messages of the code into the catalogues, and compile them."""
    asked = _asked()
    for language in translations():
        source = _path(language)
        known = _known(source)
        known.update(asked, no_fuzzy_matching=True)
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_bytes(_source(known, language))
        source.with_suffix(".mo").write_bytes(_compiled(_known(source)))


def faults() -> list[str]:
    """One line for each fault in the catalogues."""
    found: list[str] = []
    asked = _asked()
    for language in translations():
        source = _path(language)
        known = _known(source)
        found += (f"{language}: {fault}" for fault in _faults(asked, known))
        if len(known) and _stale(source, known):
            found.append(f"{language}: the compiled catalogue is behind")
    return found


def _path(language: str) -> Path:
    return REPOSITORY / "localrag" / "locale" / language / "LC_MESSAGES" / "localrag.po"


def _asked() -> Catalog:
    """The messages that the code shows."""
    catalog = Catalog()
    for path in _files():
        code = path.read_text(encoding="utf-8")
        name = path.relative_to(REPOSITORY).as_posix()
        found: list[str | tuple[str, ...]] = []
        if path.suffix == ".toml":
            found += _declared(tomllib.loads(code))
        elif path.suffix == ".html":
            found += _on_page(code)
        else:
            found += _marked(code)
            found += _helped(code) if name.startswith(HELP) else ()
        for message in found:
            catalog.add(message, locations=[(name, 1)])
    return catalog


def _marked(code: str) -> Iterator[str | tuple[str, ...]]:
    """The messages that code marks, in its order; Babel's reader misses those in an f-string."""
    calls = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call))
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        forms = _FORMS.get(call.func.id, 0) if isinstance(call.func, ast.Name) else 0
        strings = (arg.value for arg in call.args[:forms] if isinstance(arg, ast.Constant))
        texts = tuple(text for text in strings if isinstance(text, str))
        if texts:
            yield texts if forms > 1 else texts[0]


def _on_page(template: str) -> Iterator[str | tuple[str, ...]]:
    """The messages of a page, which Jinja makes."""
    for _, _, message, _ in babel_extract(BytesIO(template.encode()), tuple(_FORMS), (), {}):
        forms = message if isinstance(message, tuple) else (message,)
        # What a variable holds is no message of the page.
        texts = tuple(text for text in forms if text)
        if texts:
            yield texts if len(texts) > 1 else texts[0]


def _known(source: Path) -> Catalog:
    """A catalogue; one without messages if there is no file."""
    if not source.exists():
        return read_po(BytesIO(_HEAD.format(language=source.parents[1].name).encode()))
    with source.open("rb") as file:
        return read_po(file, abort_invalid=True)


def _source(catalog: Catalog, language: str) -> bytes:
    out = BytesIO()
    write_po(
        out,
        catalog,
        width=100,
        omit_header=True,
        sort_by_file=True,
        ignore_obsolete=True,
        include_lineno=False,
    )
    return _HEAD.format(language=language).encode() + out.getvalue()


def _compiled(catalog: Catalog) -> bytes:
    catalog.creation_date = catalog.revision_date = _NO_DATE
    out = BytesIO()
    write_mo(out, catalog)
    return out.getvalue()


def _stale(source: Path, known: Catalog) -> bool:
    compiled = source.with_suffix(".mo")
    if not compiled.exists():
        return True
    with compiled.open("rb") as file:
        return _strings(read_mo(file)) != _strings(known)


def _strings(catalog: Catalog) -> dict[tuple[str, ...], tuple[str, ...]]:
    """What is translated, by message; each has one form or several."""
    forms = ((_forms(message.id), _forms(message.string)) for message in _messages(catalog))
    return {id_: strings for id_, strings in forms if all(strings)}


def _forms(text: str | Iterable[str] | None) -> tuple[str, ...]:
    """Every form of a message; a new one with several has none yet."""
    return (text,) if isinstance(text, str) else tuple(text or ("",))


def _messages(catalog: Catalog) -> Iterator[Message]:
    return (message for message in catalog if message.id)


def _faults(asked: Catalog, known: Catalog) -> Iterator[str]:
    wanted = {message.id for message in _messages(asked)}
    there = {message.id: message for message in _messages(known)}
    yield from (f"missing: {id_!r}" for id_ in sorted(wanted - there.keys(), key=str))
    unused = {*(there.keys() - wanted), *known.obsolete}
    yield from (f"no longer used: {id_!r}" for id_ in sorted(unused, key=str))
    for id_, message in there.items():
        strings = _forms(message.string)
        if not all(strings):
            yield f"untranslated: {id_!r}"
        elif message.fuzzy:
            yield f"fuzzy: {id_!r}"
        elif any(_fields(string) != _fields(id_) for string in strings):
            yield f"other placeholders than the original: {id_!r}"


def _fields(message: str | Iterable[str]) -> set[str | None]:
    """The names in braces; of several forms, those of any."""
    return {name for text in _forms(message) for _, name, _, _ in Formatter().parse(text)} - {None}


if __name__ == "__main__":
    main()

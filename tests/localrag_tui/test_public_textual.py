"""Textual is used by its public names alone: private ones change with any of its versions."""

import ast
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

from textual.message_pump import MessagePump

import localrag_tui

# Of the standard library: named tuples, and an end without any clearing up.
ALLOWED = {"_replace", "_asdict", "_exit"}


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def test_what_is_private_is_our_own():
    used, ours = {}, set()
    for file in Path(localrag_tui.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert "textual._" not in (node.module or ""), file
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                ours.add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                ours.add(node.attr)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                ours.add(node.id)
            elif isinstance(node, ast.Attribute) and is_private(node.attr):
                used[node.attr] = file
    assert {name: file for name, file in used.items() if name not in ours | ALLOWED} == {}


def test_no_class_overrides_what_is_private():
    for module in walk_packages(localrag_tui.__path__, "localrag_tui."):
        import_module(module.name)
    overridden = [
        f"{ours.__qualname__}.{name}"
        for ours in subclasses(MessagePump)
        if ours.__module__.startswith("localrag_tui.")
        for name, value in vars(ours).items()
        if is_private(name) and (callable(value) or isinstance(value, property))
        for base in ours.__mro__[1:]
        if base.__module__.startswith("textual.") and name in vars(base)
    ]
    assert overridden == []


def subclasses(base):
    for child in base.__subclasses__():
        yield child
        yield from subclasses(child)

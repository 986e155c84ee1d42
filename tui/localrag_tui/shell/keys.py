"""Names of keys, and a check of the keys in the settings."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import KEY_NAME_REPLACEMENTS, KEY_TO_UNICODE_NAME, Keys, format_key

import localrag_tui
from localrag.language import _

if TYPE_CHECKING:
    from localrag_tui.app import Workbench

_MODIFIERS = {"ctrl", "shift", "alt", "super", "hyper", "meta"}
_NAMES = {
    *(key.value.rpartition("+")[2] for key in Keys),
    *KEY_NAME_REPLACEMENTS.values(),
    *KEY_TO_UNICODE_NAME,
}
_SPELLED = {
    "backspace": "Backspace",
    "delete": "Del",
    "end": "End",
    "enter": "Enter",
    "escape": "Esc",
    "home": "Home",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "space": "Space",
    "tab": "Tab",
}


class Shortcut(NamedTuple):
    """An action with keys."""

    id: str
    keys: tuple[str, ...]
    description: str
    owners: tuple[type[DOMNode], ...]
    first: bool  # whether it gets a key before a text field


class Objection(NamedTuple):
    """A wrong key in the settings, and its cure."""

    id: str
    cause: str
    cure: str
    refused: bool = False  # whether the action keeps its default keys


def spelled(key: str) -> str:
    """A key as on a keyboard: ``Ctrl+G``, ``PgDn``, ``?``."""
    *modifiers, name = key.split("+")
    if not name:
        modifiers, name = modifiers[:-1], "plus"
    shown = _SPELLED.get(name) or format_key(name)
    if modifiers or (shown[:1] == "f" and shown[1:].isdecimal()):
        shown = shown if len(shown) > 1 and not shown[1:].isdecimal() else shown.upper()
    return "+".join([*(modifier.capitalize() for modifier in modifiers), shown])


def key_of(app: App[Any], id_: str) -> str:
    """The first key of an action, with the settings applied, as on a keyboard."""
    keys = cast("Workbench", app).keymap.get(id_) or _default_keys(id_)
    return spelled(keys.split(",")[0])


@cache
def _default_keys(id_: str) -> str:
    own = (binding for owner in _classes(DOMNode) for binding in _own_bindings(owner))
    known = next((binding.key for binding in own if binding.id == id_), "")
    return known or ",".join(shortcuts()[id_].keys)


def normal(keys: str) -> str:
    """The keys of a setting as Textual names them: ``Ctrl+N, F9`` is ``ctrl+n,f9``."""
    parts = (key.strip() for key in keys.split(","))
    return ",".join(key if len(key) == 1 else key.lower() for key in parts)


def usable(keys: str) -> bool:
    """Whether a terminal can send these keys."""
    return all(_is_key(key) for key in keys.split(","))


def needed(keys: str, own: Iterable[str]) -> str:
    """The first of these keys needed by text fields or lists, also from a priority action."""
    return next((key for key in keys.split(",") if _is_plain(key) and key not in own), "")


def shortcuts() -> dict[str, Shortcut]:
    """Every action with keys, by id; slow, since it imports the whole package."""
    for module in walk_packages(localrag_tui.__path__, "localrag_tui."):
        import_module(module.name)
    found: dict[str, Shortcut] = {}
    for owner in _classes(DOMNode):
        for binding in _own_bindings(owner):
            id_ = binding.id or ""
            known = found.get(id_) or Shortcut(id_, (), binding.description, (), first=False)
            keys = dict.fromkeys((*known.keys, *map(str.strip, binding.key.split(","))))
            found[id_] = known._replace(
                keys=tuple(keys),
                owners=(*known.owners, owner),
                first=known.first or binding.priority,
            )
    return dict(sorted(found.items()))


def objections(chosen: Mapping[str, str]) -> list[Objection]:
    """Check the keys of the settings: at most one objection an entry.

    It finds unknown ids, unknown keys, keys needed by fields, and two actions of one place on one
    key. It imports the whole package: call it off the event loop.
    """
    known = shortcuts()
    found = {objection.id: objection for objection in _misnamed(chosen, known)}
    rest = {id_: normal(keys) for id_, keys in chosen.items() if id_ not in found}
    for objection in _clashing(rest, known):
        found.setdefault(objection.id, objection)
    return [found[id_] for id_ in chosen if id_ in found]


def _misnamed(chosen: Mapping[str, str], known: Mapping[str, Shortcut]) -> Iterable[Objection]:
    for id_, keys in chosen.items():
        if id_ not in known:
            near = get_close_matches(id_, known, 1)
            yield Objection(
                id_,
                _("No action is called {id}.").format(id=id_),
                _("Did you mean {id}?").format(id=near[0])
                if near
                else _("The help lists every action with its name."),
            )
        elif not usable(normal(keys)):
            yield Objection(
                id_,
                _('"{keys}" is no key; {id} keeps its own.').format(keys=keys, id=id_),
                _("Keys look like f9, ctrl+n or ctrl+right; a comma separates several."),
                refused=True,
            )
        elif known[id_].first and (key := needed(normal(keys), known[id_].keys)):
            yield Objection(
                id_,
                _("Fields and lists need {key}; {id} keeps its own.").format(
                    key=spelled(key), id=id_
                ),
                _("Take a function key, or one with Ctrl or Alt."),
                refused=True,
            )


def _clashing(chosen: Mapping[str, str], known: Mapping[str, Shortcut]) -> Iterable[Objection]:
    def keys_of(shortcut: Shortcut) -> set[str]:
        own = shortcut.keys
        return set(chosen[shortcut.id].split(",") if shortcut.id in chosen else own)

    for id_ in chosen:
        for other in known.values():
            # A shared default key is intended.
            by_default = set(known[id_].keys) & set(other.keys)
            both = (keys_of(known[id_]) & keys_of(other)) - by_default
            told_already = other.id in chosen and other.id < id_
            if both and other.id != id_ and not told_already and _meet(known[id_], other):
                yield Objection(
                    id_,
                    _("{key} is assigned to both {id} and {other}.").format(
                        key=spelled(min(both)), id=id_, other=other.id
                    ),
                    _("Give one of them another key."),
                )


def _meet(one: Shortcut, other: Shortcut) -> bool:
    everywhere = any(shortcut.id.startswith("app.") for shortcut in (one, other))
    return everywhere or bool(set(one.owners) & set(other.owners))


def _is_key(key: str) -> bool:
    *modifiers, name = key.split("+")
    return set(modifiers) <= _MODIFIERS and (len(name) == 1 or name in _NAMES)


def _is_plain(key: str) -> bool:
    *modifiers, name = key.split("+")
    return set(modifiers) <= {"shift"} and not (name[:1] == "f" and name[1:].isdecimal())


def _classes(base: type[DOMNode]) -> Iterable[type[DOMNode]]:
    for child in base.__subclasses__():
        if child.__module__.startswith("localrag_tui."):
            yield child
        yield from _classes(child)


def _own_bindings(owner: type[DOMNode]) -> Iterable[Binding]:
    own = vars(owner).get("BINDINGS", ())
    return (binding for binding in own if isinstance(binding, Binding) and binding.id)

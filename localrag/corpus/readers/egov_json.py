"""Laws as e-Gov's API, version 2, gives them in JSON: its XML as a tree of {tag, attr, children}.

The tree becomes the elements of the XML, so that one reader reads both. ``law_full_text`` may
also hold the XML itself, in base64.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

from lxml import etree

from localrag.corpus.readers.bounds import JSON, MARKUP, check_memory
from localrag.corpus.readers.egov_xml import law_document, parsed
from localrag.corpus.readers.types import Limits, ReadFailure
from localrag.corpus.types import Document
from localrag.errors import InputError
from localrag.language import N_

_TEXT = "law_full_text"
_LISTS = ("laws", "items")
_BESIDE = ("law_info", "revision_info")
_DEEPEST = 200
"""Levels of a tree. Laws have about 25."""
_TREE = {**JSON, b'"tag"': MARKUP[b"<"]}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,99}")
_AGAIN = N_("Download the law from e-Gov again.")


def is_law(value: Any) -> bool:
    """Whether JSON is an answer about laws: with a text, a tree alone, or a list of them."""
    if isinstance(value, list):
        return bool(value) and _is_one(value[0])
    return _is_one(value) or _listed(value) is not None


def read_laws(
    name: str, value: Any, data: bytes, limits: Limits
) -> Iterator[Document | ReadFailure]:
    """Read the laws of JSON that `is_law`; in a list, each fault is a failure of its own.

    Args:
        name: file name. It gives id, date and amending law of a single law, as for XML.
        value: the JSON.
        data: its bytes.
        limits: of its memory.

    Raises:
        InputError: a single law cannot be read, or the file would take too much memory.
    """
    check_memory(data, _TREE, limits)
    laws = value if isinstance(value, list) else _listed(value)
    if laws is None:
        yield read_law(name, value, limits)
        return
    for ordinal, law in enumerate(laws, start=1):
        place = f"{name}:{ordinal}"
        try:
            yield read_law(name if len(laws) == 1 else "", law, limits, source=name)
        except InputError as error:
            yield ReadFailure(place, error)


def read_law(name: str, value: Any, limits: Limits, *, source: str = "") -> Document:
    """Read one law.

    Args:
        name: file name; see `read_laws`.
        value: an answer with ``law_full_text``, or the tree alone.
        limits: of the memory of XML inside.
        source: what messages call the file, if not by `name`.

    Raises:
        InputError: it has no text, or its tree is no law.
    """
    if not _is_one(value):
        raise _malformed(_TEXT)
    if "tag" in value:
        return law_document(_element(value), name, source=source)
    held = value.get(_TEXT)
    if not held:
        raise InputError(
            N_("The answer of e-Gov's API has no law_full_text."),
            N_("Lists of laws have no texts. Ask the API for /law_data/<law id>."),
        )
    if isinstance(held, str):
        text = parsed(_xml(held), limits)
    elif isinstance(held, dict):
        text = _element(held)
    else:
        raise _malformed(_TEXT)
    root = etree.Element("law_data_response")
    for key in _BESIDE:
        root.append(_beside(key, value.get(key)))
    etree.SubElement(root, _TEXT).append(text)
    return law_document(root, name, source=source)


def _is_one(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if _TEXT in value or any(isinstance(value.get(key), dict) for key in _BESIDE):
        return True
    return "tag" in value and ("children" in value or value["tag"] == "Law")


def _listed(value: Any) -> list[Any] | None:
    """The laws of an answer that lists them; None where it is none."""
    for key in _LISTS if isinstance(value, dict) else ():
        laws = value.get(key)
        if isinstance(laws, list) and laws and _is_one(laws[0]):
            return laws
    return None


def _xml(held: str) -> bytes:
    if held.lstrip().startswith("<"):
        return held.strip().encode(errors="replace")
    try:
        return base64.b64decode("".join(held.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError(
            N_("law_full_text is text, but neither XML nor base64."), _AGAIN
        ) from error


def _beside(key: str, fields: Any) -> etree._Element:
    """Make elements of what the answer says beside the text; nested values are not needed."""
    element = etree.Element(key)
    for name, value in fields.items() if isinstance(fields, dict) else ():
        if isinstance(value, str) and _NAME.fullmatch(name):
            _add_text(etree.SubElement(element, name), value)
    return element


def _element(tree: dict[str, Any]) -> etree._Element:
    """Make elements of a tree, level by level without recursion.

    Raises:
        InputError: it is no tree, or too deep.
    """
    root = etree.Element(_tag(tree, ""))
    waiting = [(root, tree, 1)]
    while waiting:
        element, node, depth = waiting.pop()
        if depth > _DEEPEST:
            raise InputError(
                N_("The tree of the law has more than {n} levels."), _AGAIN, n=_DEEPEST
            )
        _set_attributes(element, node.get("attr"))
        children = node.get("children") or []
        if not isinstance(children, list):
            raise _malformed(str(element.tag))
        for child in children:
            if isinstance(child, str):
                _add_text(element, child)
            elif isinstance(child, dict):
                below = etree.SubElement(element, _tag(child, str(element.tag)))
                waiting.append((below, child, depth + 1))
            else:
                raise _malformed(str(element.tag))
    return root


def _tag(node: dict[str, Any], above: str) -> str:
    tag = node.get("tag")
    if not isinstance(tag, str) or not _NAME.fullmatch(tag):
        raise _malformed(above or _TEXT)
    return tag


def _set_attributes(element: etree._Element, attributes: Any) -> None:
    if attributes is None:
        return
    if not isinstance(attributes, dict):
        raise _malformed(str(element.tag))
    for name, value in attributes.items():
        if not isinstance(value, str) or not _NAME.fullmatch(name):
            raise _malformed(str(element.tag))
        try:
            element.set(name, value)
        except ValueError as error:
            raise _no_character(element) from error


def _add_text(element: etree._Element, text: str) -> None:
    try:
        if len(element):
            element[-1].tail = (element[-1].tail or "") + text
        else:
            element.text = (element.text or "") + text
    except ValueError as error:
        raise _no_character(element) from error


def _malformed(tag: str) -> InputError:
    return InputError(
        N_("The tree of the law is damaged in {tag}: it is not made of {{tag, attr, children}}."),
        _AGAIN,
        tag=tag,
    )


def _no_character(element: etree._Element) -> InputError:
    return InputError(
        N_("The text in {tag} has a control character, which no law has."),
        _AGAIN,
        tag=str(element.tag),
    )

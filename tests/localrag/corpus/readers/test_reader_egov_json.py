"""Laws in the JSON of e-Gov's API, version 2: the same document as its XML gives."""

import base64
import json
from dataclasses import replace

import pytest
from lxml import etree

from localrag.corpus import readers
from localrag.corpus.types import Document

from ....rows import each

LAW_ID = "405AC0000009999"
NAME = f"{LAW_ID}_20240401.json"
REVISION = f"{LAW_ID}_20240401_506AC0000000012"


def tree(element):
    """The API's tree for an element."""
    children = [element.text] if element.text else []
    for child in element:
        children.append(tree(child))
        if child.tail:
            children.append(child.tail)
    return {"tag": element.tag, "attr": dict(element.attrib), "children": children}


@pytest.fixture
def law_tree(law_xml):
    parser = etree.XMLParser(remove_comments=True, remove_pis=True)
    root = etree.fromstring(law_xml.encode() if isinstance(law_xml, str) else law_xml, parser)
    return tree(root if root.tag == "Law" else next(root.iter("Law")))


def answer(law, **more):
    return {
        "law_info": {"law_id": LAW_ID, "law_num": "平成五年法律第九百九十九号"},
        "revision_info": {"law_revision_id": REVISION, "category": "海運", "updated": None},
        "law_full_text": law,
        **more,
    }


@pytest.fixture
def outcomes(tmp_path):
    def read(value, name=NAME):
        path = tmp_path / name
        path.write_text(json.dumps(value), encoding="utf-8")
        return list(readers.read(path))

    return read


def test_the_tree_of_a_law_reads_as_its_xml(outcomes, read_one, law_xml, law_tree):
    by_xml = read_one(NAME.replace(".json", ".xml"), law_xml)
    for value in (law_tree, [law_tree]):
        (by_json,) = outcomes(value)
        assert replace(by_json, source=by_xml.source) == by_xml


@pytest.mark.parametrize("name", [f"{REVISION}.json", "law.json"])
def test_an_answer_gives_day_amending_law_and_field(outcomes, law_tree, name):
    (law,) = outcomes(answer(law_tree), name)
    assert law.id.startswith(LAW_ID)
    assert law.metadata["date"] == "2024-04-01"
    assert law.metadata["amending_law"] == "506AC0000000012"
    assert law.metadata["field"] == "海運"


def test_the_text_may_be_xml_in_base64(outcomes, law_tree, law_xml):
    data = law_xml.encode() if isinstance(law_xml, str) else law_xml
    (by_tree,) = outcomes(answer(law_tree))
    (by_xml,) = outcomes(answer(base64.b64encode(data).decode()))
    assert by_xml.text == by_tree.text
    assert by_xml.passages == by_tree.passages


@pytest.mark.parametrize("wrap", [list, lambda laws: {"laws": laws}])
def test_a_bad_law_in_a_list_costs_only_itself(outcomes, law_tree, wrap):
    good, bad = outcomes(wrap([answer(law_tree), {"law_info": {"law_id": LAW_ID}}]), "laws.json")
    assert isinstance(good, Document)
    assert good.source == "laws.json"
    assert bad.source == "laws.json:2"
    assert "law_full_text" in bad.cause


def test_laws_may_be_lines(tmp_path, law_tree):
    path = tmp_path / "laws.jsonl"
    path.write_text(json.dumps(answer(law_tree)) + "\n", encoding="utf-8")
    (law,) = readers.read(path)
    assert law.metadata["date"] == "2024-04-01"


def deep(levels):
    node = {"tag": "Sentence", "attr": {}, "children": ["文"]}
    for _ in range(levels):
        node = {"tag": "Ruby", "attr": {}, "children": [node]}
    return node


@each(
    ("law", "cause"),
    [
        ({"tag": 5, "children": []}, "{tag, attr, children}"),
        ({"tag": "Law", "attr": [], "children": []}, "{tag, attr, children}"),
        ({"tag": "Law", "attr": {"Num": 5}, "children": []}, "{tag, attr, children}"),
        ({"tag": "Law", "attr": {}, "children": "文"}, "{tag, attr, children}"),
        ({"tag": "Law", "attr": {}, "children": [7]}, "{tag, attr, children}"),
        ({"tag": "a b", "attr": {}, "children": []}, "{tag, attr, children}"),
        ({"tag": "Law", "attr": {}, "children": ["\x01"]}, "control character"),
        ({"tag": "Law", "attr": {}, "children": []}, "holds no law"),
        ({"tag": "Law", "attr": {}, "children": [deep(300)]}, "more than 200 levels"),
        ("!!", "neither XML nor base64"),
        ("bm8gWE1M", "XML is damaged"),
        ([1], "{tag, attr, children}"),
        (None, "no law_full_text"),
    ],
)
def test_bad_trees_have_errors_of_their_own(outcomes, law, cause):
    (failure,) = outcomes(answer(law))
    assert cause in failure.cause
    assert failure.cure


def test_the_memory_of_a_tree_is_bounded(tmp_path, law_tree):
    path = tmp_path / NAME
    leaf = {"tag": "Sup", "attr": {}, "children": []}
    law_tree["children"] += [leaf] * 2_000
    path.write_text(json.dumps(answer(law_tree)), encoding="utf-8")
    (failure,) = readers.read(path, limits=readers.Limits(memory_bytes=1_000_000))
    assert "MB of memory" in failure.cause

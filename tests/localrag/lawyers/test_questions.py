"""The questions of lawyers in ``questions/`` are well formed and their gold provisions exist.

A file per group, an object per line: ``id``, ``group``, ``question``, ``laws`` (ids of the laws of
the corpus that it names), ``absent`` (the name, as written, of a law that the corpus lacks),
``gold`` (every provision that is a right first citation), ``note`` and ``half``. Questions that
follow others carry the earlier ones in ``history``. Questions of the half ``counted`` are for
measuring alone: nothing is developed by looking at them.

A gold provision has ``law_id``, ``article``, ``paragraph`` and ``item`` by their ``Num``, empty
where it is the whole; ``article`` is empty in a law without articles. A supplementary provision has
``division`` as well: ``suppl2`` is the second one of the file, in printed order.
"""

import json
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from ...rows import each

FILES = sorted((Path(__file__).parent / "questions").glob("*.jsonl"))
# Questions that may be looked at, and those that are only counted.
COUNTS = {
    "naming": (85, 45),
    "two_laws": (40, 15),
    "absent": (15, 15),
    "everyday": (87, 51),
    "delegated": (40, 20),
    "follow_ups": (25, 10),
    "english": (41, 19),
}
KEYS = {"id", "group", "question", "laws", "absent", "gold", "note", "half"}
PROVISION_KEYS = {"law_id", "article", "paragraph", "item"}


def in_file(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@cache
def questions() -> list[dict[str, Any]]:
    return [question for path in FILES for question in in_file(path)]


@pytest.fixture(scope="module")
def laws(shared_data: Path) -> dict[str, Path]:
    """The files of the laws by their id."""
    folder = shared_data / "egov" / "xml"
    if not folder.is_dir():
        pytest.skip(f"needs the statutes: no folder {folder} (set LOCALRAG_SHARED_DATA)")
    return {path.name.split("_")[0]: path for path in folder.glob("*.xml")}


def test_ids_are_unique() -> None:
    assert {path.stem for path in FILES} >= COUNTS.keys()
    seen = Counter(question["id"] for question in questions())
    assert [name for name, times in seen.items() if times > 1] == []


def test_no_question_is_asked_twice() -> None:
    # What follows another question may be worded like what follows a third.
    seen = Counter(
        (question["question"], *map(str, question.get("history", ()))) for question in questions()
    )
    assert [asked for asked, times in seen.items() if times > 1] == []


@each("path", FILES)
def test_a_group_is_one_file_of_questions_seen_and_counted(path: Path) -> None:
    group = in_file(path)
    assert {question["group"] for question in group} == {path.stem}
    halves = Counter(question["half"] for question in group)
    assert halves.keys() == {"seen", "counted"}
    assert (halves["seen"], halves["counted"]) == COUNTS[path.stem]


@each("path", FILES)
def test_every_field_has_its_form(path: Path) -> None:
    for question in in_file(path):
        assert question.keys() - {"history", "act"} == KEYS, question["id"]
        assert question["id"].replace("-", "_").startswith(f"{question['group']}_")
        assert all(question[key].strip() for key in ("question", "note"))
        assert all(asked.strip() for asked in question.get("history", ()))
        for provision in (*question["gold"], *question.get("act", ())):
            assert provision.keys() - {"division"} == PROVISION_KEYS, question["id"]
            assert all(isinstance(value, str) for value in provision.values())
            assert re.fullmatch(r"[\d_:]*", provision["article"]), question["id"]


def test_the_groups_name_what_they_say() -> None:
    named = {"naming": 1, "two_laws": 2, "absent": 0}
    for question in questions():
        group = question["group"]
        assert len(question["laws"]) == named.get(group, len(question["laws"])), question["id"]
        assert question["absent"] or group != "absent", question["id"]
        # Where the law is lacking, no other law's provision is a right citation.
        assert bool(question["gold"]) is not bool(question["absent"]), question["id"]
        assert question["absent"] in question["question"]


def test_the_named_laws_exist(laws: dict[str, Path]) -> None:
    missing = [(asked["id"], law) for asked in questions() for law in asked["laws"]]
    assert [found for found in missing if found[1] not in laws] == []


def test_absent_names_are_no_titles(laws: dict[str, Path]) -> None:
    titles = set()
    for path in laws.values():
        # The title stands near the head: the rest of the file is not parsed.
        with path.open("rb") as file:
            _, title = next(etree.iterparse(file, tag="LawTitle"))
        titles.add("".join(title.itertext()).strip())
    assert len(titles) == len(laws)
    absent = {question["absent"] for question in questions()} - {""}
    assert absent.isdisjoint(titles)


def test_gold_provisions_exist(laws: dict[str, Path]) -> None:
    wanted = defaultdict(list)
    for question in questions():
        for provision in (*question["gold"], *question.get("act", ())):
            wanted[provision["law_id"]].append((question["id"], provision))
    missing = []
    assert wanted.keys() <= laws.keys()
    for law, provisions in wanted.items():
        root = etree.parse(laws[law]).getroot()
        missing += [
            (name, provision)
            for name, provision in provisions
            if not any("".join(found.itertext()).strip() for found in elements(root, provision))
        ]
    assert missing == []


def elements(root: Any, provision: dict[str, str]) -> list[Any]:
    """The elements of a provision: one, none where it does not exist."""
    found = [division_of(root, provision.get("division", ""))]
    found = [one for one in found if one is not None]
    for tag, number in (
        ("Article", provision["article"]),
        ("Paragraph", provision["paragraph"]),
        ("Item", provision["item"]),
    ):
        if number:
            # Articles lie within chapters, the others straight within what they are part of.
            axis = "descendant" if tag == "Article" else "child"
            found = [
                inner for one in found for inner in one.xpath(f"{axis}::{tag}[@Num=$n]", n=number)
            ]
    return found


def division_of(root: Any, division: str) -> Any:
    """The main provisions, or a supplementary one or appendix by its number in the file."""
    if not division:
        return root.find(".//MainProvision")
    kind, number = re.fullmatch(r"(suppl|appendix)(\d+)", division).groups()  # type: ignore[union-attr]
    tag = "self::SupplProvision" if kind == "suppl" else "starts-with(name(), 'Appdx')"
    found = root.xpath(f"LawBody/*[{tag}]")
    return found[int(number) - 1] if 1 <= int(number) <= len(found) else None

"""What can be meant by what is typed."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag.law.names import LawNames
from localrag_tui.jump import PlacesFound, look_up

from ...rows import each

ACT = "599AC0000000001"
LookUp = Callable[..., PlacesFound]


@pytest.fixture(scope="module")
def look(sample_home: Path) -> Iterator[LookUp]:
    path = Workspace.locate(sample_home).corpus("main").store
    with CorpusStore.open(path, read_only=True) as store:
        names = LawNames.from_rows(store.laws())
        yield lambda typed, law_id="": look_up(store, names, typed, law_id)


def test_a_citation_is_its_provision_with_how_it_begins(look: LookUp) -> None:
    found = look("渡し舟法8条")
    assert found.certain
    (offer,) = found.offers
    assert offer.title == "第八条（運航の制限）"
    assert offer.note == "渡し舟の安全及び活用に関する法律"
    assert offer.spot.passage_id == f"{ACT}#8"
    assert "水位" in offer.preview


def test_a_place_alone_is_of_the_law_that_is_read(look: LookUp) -> None:
    assert look("8条", ACT).offers == look("渡し舟法8条").offers
    assert look("渡し舟法施行令2条", ACT).offers[0].spot.document_id != ACT


def test_a_citation_is_read_as_people_type_it(look: LookUp) -> None:
    assert look("渡し舟8").offers == look("渡し舟法8条").offers
    assert look("8①", ACT).offers == look("渡し舟法8条1項").offers
    assert look("渡し舟令 2").offers == look("渡し舟法施行令2条").offers
    ranged = look("渡し舟7〜8")
    assert [offer.spot.passage_id for offer in ranged.offers] == [f"{ACT}#7", f"{ACT}#8"]
    assert not ranged.certain
    assert "ends before it begins" in look("渡し舟8〜7").cause


def test_a_part_of_a_law_is_found_by_its_headings(look: LookUp) -> None:
    found = look("渡し舟法 第二章第二節")
    (offer,) = found.offers
    assert found.certain
    assert offer.title == "第二節　運航"
    assert offer.note.startswith("渡し舟の安全及び活用に関する法律 第二章")
    assert look("第2章第2節", ACT).offers == found.offers
    assert look("渡し舟法 第二章第九節").offers == ()


def test_an_article_brings_those_whose_numbers_go_on_from_it(look: LookUp) -> None:
    titles = [offer.title.partition("（")[0] for offer in look("渡し舟法6条").offers]
    assert titles == ["第六条", "第六条の二"]


def test_several_provisions_are_offered_and_none_is_certain(look: LookUp) -> None:
    found = look("渡し舟法附則1条")
    assert len(found.offers) > 1
    assert not found.certain


def test_what_is_missing_brings_what_stands_around_it(look: LookUp) -> None:
    found = look("渡し舟法9999条")
    assert "is not in the text in force from" in found.cause
    assert found.offers
    assert not found.certain
    assert look("9999条", ACT).offers == found.offers


def test_names_titles_subjects_and_ids_are_places_too(look: LookUp) -> None:
    law = look("渡し舟").offers[0]
    assert (law.spot.document_id, law.title) == (ACT, "渡し舟法")
    assert law.note == "渡し舟の安全及び活用に関する法律"
    assert "令和九十九年法律第一号" in law.preview
    assert [offer.title for offer in look("quillmere").offers] == ["Quillmere Observatory"]
    assert look("かわせみ丸").offers[0].spot.passage_id
    assert look(f"{ACT}#8").offers[0].spot.passage_id == f"{ACT}#8"


@each("typed", ["", " ", "[red]", "\x1b[2J", "%", "#", "あ" * 50_000, "ほたる狩り"])
def test_whatever_else_is_typed_is_nothing(look: LookUp, typed: str) -> None:
    assert look(typed) == PlacesFound()

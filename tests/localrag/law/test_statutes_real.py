"""The real laws, where the shared data is at hand."""

import json
import os
import re
from pathlib import Path

import pytest

from localrag.corpus.links import DELEGATED_BY, DELEGATES
from localrag.corpus.readers import read
from localrag.corpus.types import Document, Locator
from localrag.law.definitions import extract_definitions
from localrag.law.names import LawNames
from localrag.law.notation import IROHA, cite
from localrag.law.provisions import Provisions
from localrag.law.references import extract_references
from localrag.law.resolver import CitationResolver, Target, parse_target
from localrag_indexes.analysis.normalize import to_kanji

SHARED = os.environ.get("LOCALRAG_SHARED_DATA")
DATA = Path(SHARED) if SHARED else Path(__file__).parents[4] / "shared" / "data"
ACT, ORDER = "323AC0000000025", "340CO0000000321"

pytestmark = pytest.mark.skipif(
    not (DATA / "egov" / "xml").is_dir(), reason=f"no statutes in {DATA} (LOCALRAG_SHARED_DATA)"
)


@pytest.fixture(scope="module")
def laws() -> dict[str, Document]:
    documents = {}
    for law_id in (ACT, ORDER, "403AC0000000090"):
        (path,) = (DATA / "egov" / "xml").glob(f"{law_id}_*.xml")
        (document,) = read(path)
        assert isinstance(document, Document)
        documents[law_id] = document
    return documents


@pytest.fixture(scope="module")
def known(laws: dict[str, Document]) -> LawNames:
    keys = ("law_num", "law_type", "abbreviations")
    return LawNames.from_rows(
        (law.id, law.title, *(law.metadata.get(key, "") for key in keys)) for law in laws.values()
    )


def test_an_order_and_its_act(laws: dict[str, Document], known: LawNames) -> None:
    references = extract_references(laws[ORDER], known)
    filled = {r.target.path for r in references if r.kind == DELEGATED_BY and r.law_id == ACT}
    assert {"27_13.4", "2.1.15", "27_2.1"} & filled
    assert len(filled) > 200
    left = [r for r in extract_references(laws[ACT], known) if r.kind == DELEGATES]
    assert sum(r.law_id == ORDER for r in left) > 200


def _signs(place: Locator) -> str:
    """27の2①一イ."""
    paragraph = chr(0x245F + int(place.paragraph)) if place.paragraph else ""
    item = "の".join(to_kanji(int(part)) for part in place.item.split("_") if part)
    letter = IROHA[int(place.subitem) - 1] if place.subitem else ""
    return place.article.replace("_", "の") + paragraph + item + letter


def test_what_is_typed_leads_to_the_provision(laws: dict[str, Document], known: LawNames) -> None:
    provisions = Provisions(laws.values())
    for law_id, short in ((ACT, "金商"), (ORDER, "金商令")):
        places = {
            passage.locator
            for passage in laws[law_id].passages
            if passage.locator.article and not passage.locator.division
        }
        short_ones = [
            place
            for place in sorted(places, key=str)
            if not re.search("[:.]", f"{place.article}{place.item}{place.subitem}")
            and int(place.paragraph or 1) <= len("①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳")
        ][::5]
        assert len(short_ones) > 200
        for place in short_ones:
            for typed in (
                f"{short}{_signs(place)}",
                f"{short}　{_signs(place)}".translate({n: n + 0xFEE0 for n in range(48, 58)}),
                cite(laws[law_id].title, place),
                cite(laws[law_id].title, place, arabic=True).replace("第", "", 1),
            ):
                (found,) = parse_target(typed, known, provisions)
                assert found.candidates == (Target(law_id, place),), typed


def test_most_targets_exist(laws: dict[str, Document], known: LawNames) -> None:
    places = {law.id: {p.locator for p in law.passages} for law in laws.values()}
    targets = [
        r.target in places[r.law_id]
        for law in laws.values()
        for r in extract_references(law, known)
        if r.law_id and r.kind != DELEGATES and not r.source.division
    ]
    assert sum(targets) / len(targets) > 0.97


def test_terms_of_the_act(laws: dict[str, Document]) -> None:
    terms = {d.term: d.locator.path for d in extract_definitions(laws[ACT])}
    assert len(terms) > 400
    assert terms["有価証券の募集"] == "2.3"


def test_questions_name_their_provisions(laws: dict[str, Document], known: LawNames) -> None:
    resolver = CitationResolver(known, Provisions(laws.values()))
    lines = (DATA / "lawqa" / "train.jsonl").read_text(encoding="utf-8").splitlines()
    cited = found = 0
    for question in map(json.loads, lines):
        for resolution in resolver.resolve(question["question"]):
            if any(t.law_id in laws for t in (*resolution.candidates, *resolution.cited)):
                cited += 1
                found += len(resolution.candidates) == 1
    assert cited > 30
    assert found / cited > 0.85

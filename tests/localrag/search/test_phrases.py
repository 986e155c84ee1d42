"""What a search finds has the words in quotation marks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ...rows import each

Cli = Callable[..., Any]


def found(cli: Cli, query: str) -> list[str]:
    outcome = cli("search", query, "-k", "50", "--json")
    assert outcome.code in (0, 3)
    return [hit["passage"]["text"] for hit in outcome.json["hits"]]


@pytest.mark.parametrize("marks", ['"定める基準"', "“定める基準”", "＂定める 基準＂"])
def test_every_passage_found_has_the_phrase(cli: Cli, sample: Path, marks: str) -> None:
    texts = found(cli, f"{marks} 運航")
    assert texts
    assert all("定める基準" in text for text in texts)


def test_without_quotation_marks_more_is_found(cli: Cli, sample: Path) -> None:
    assert len(found(cli, "定める基準 運航")) > len(found(cli, '"定める基準" 運航'))


def test_a_phrase_that_nothing_has_finds_nothing(cli: Cli, sample: Path) -> None:
    assert found(cli, '"定める基準の定める基準"') == []
    assert found(cli, '"水位" "宇宙港"') == []


def test_several_phrases_must_all_be_there(cli: Cli, sample: Path) -> None:
    texts = found(cli, '"運航" "水位"')
    assert texts
    assert all("運航" in text and "水位" in text for text in texts)


@each("query", ['""', '"', '" "水位', '"、"水位'])
def test_marks_around_nothing_are_no_phrase(cli: Cli, sample: Path, query: str) -> None:
    outcome = cli("search", query, "--json")
    assert outcome.code in (0, 2, 3)
    assert "Traceback" not in outcome.err


def test_the_filters_tell_the_phrases(cli: Cli, sample: Path) -> None:
    outcome = cli("search", '"水位"', "--json")
    assert outcome.json["query"]["text"] == '"水位"'

"""The sample corpus, and the act on ferries in two states, each with a way to check a text."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import localrag
from localrag.check import CheckReport, Finding, Verdict

from ..ferries import AFTER, BEFORE, FERRIES, law_xml

Check = Callable[[str], CheckReport]


@pytest.fixture
def corpus(sample_home: Path) -> Iterator[localrag.Corpus]:
    """The sample corpus; never write to it."""
    with localrag.open(sample_home).corpus() as opened:
        yield opened


@pytest.fixture
def check(corpus: localrag.Corpus) -> Check:
    """Checks a text against the invented laws of the sample."""
    return corpus.check


@pytest.fixture
def states(home: Path, tmp_path: Path) -> localrag.Corpus:
    """The act on ferries as of 2015 and as of 2020: article 5 is deleted, 6 became 7."""
    for day, amending, articles in (
        ("20151227", "000000000000000", BEFORE),
        ("20200401", "431AC0000000007", AFTER),
    ):
        path = tmp_path / "laws" / f"{FERRIES}_{day}_{amending}.xml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(law_xml(articles), encoding="utf-8")
    made = localrag.open(home).corpus()
    made.add(tmp_path / "laws")
    return made


def wrong(report: CheckReport) -> list[tuple[str, str]]:
    """The failures: words of the text, and kind of fault."""
    return [
        (finding.said, finding.problem.kind.code)
        for finding in report.findings
        if finding.verdict is Verdict.FAILS and finding.problem
    ]


def of_part(report: CheckReport, part: str) -> list[Finding]:
    """The findings of one part: law, citation, quotation, statement."""
    return [finding for finding in report.findings if finding.part.value == part]

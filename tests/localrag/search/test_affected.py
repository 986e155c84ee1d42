"""What depends on a provision or a law: `localrag affected` against the edges of the corpus."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

import localrag
from localrag.corpus.types import Locator
from localrag.errors import NotFoundError, UsageError
from localrag.search import affected

ACT = "599AC0000000001"
Cli = Callable[..., Any]


@pytest.fixture
def corpus(sample_home: Path) -> Any:
    with localrag.open(sample_home).corpus() as opened:
        yield opened


def test_it_has_every_edge_of_the_corpus_and_no_other(corpus: Any) -> None:
    store, kinds = corpus.store, tuple(affected.KINDS)
    laws = [law.law_id for law in store.laws()]
    edges = [
        (edge, of)
        for of in laws
        for edge in store.references_from(of, Locator(), *kinds)
        if edge.law_id and edge.target.path and edge.target_end is None
    ]
    assert len(edges) > 20
    wrong = []
    for law, article in ((id_, one) for id_ in laws for one in store.articles(id_)):
        at = Locator(article=article)
        expected = {
            (of, edge.source.path)
            for edge, of in edges
            if edge.law_id == law and at.contains(edge.target)
            if not (of == law and at.contains(edge.source))
        }
        found = corpus.affected(f"{law}#{article}")
        shown = {(one.place.document_id, one.place.locator.path) for one in found.dependents}
        ranges = {
            (of.document_id, of.source.path)
            for of in store.references_to(law, at, *kinds)
            if of.target_end is not None
        }
        if shown - ranges != expected - ranges:
            wrong.append((law, article, shown ^ expected))
        assert sum(one.provisions for one in found.laws) == len(found.dependents)
    assert not wrong


def test_a_law_counts_other_laws_alone(corpus: Any) -> None:
    found = corpus.affected("渡し舟法")
    assert found.dependents
    assert ACT not in {one.place.document_id for one in found.dependents}
    assert [one.provisions for one in found.laws] == sorted(
        (one.provisions for one in found.laws), reverse=True
    )


def test_farther_provisions_have_their_way(corpus: Any) -> None:
    near, far = (corpus.affected("渡し舟法7条", depth) for depth in (1, 3))
    assert far.dependents[: len(near.dependents)] == near.dependents
    assert far.laws == near.laws
    known = {far.place.id: 0} | {one.place.id: one.depth for one in far.dependents}
    assert max(known.values()) > 1
    for one in far.dependents:
        assert one.path[0] == far.place.id
        steps = [known[id_] for id_ in one.path]
        assert all(before < after for before, after in itertools.pairwise(steps))


@pytest.mark.parametrize(
    ("written", "error"),
    [
        ("渡し舟法99条", NotFoundError),
        ("幽霊法", NotFoundError),
        ("渡し舟法1条及び2条", UsageError),
    ],
)
def test_what_is_no_single_place_is_refused(corpus: Any, written: str, error: type) -> None:
    with pytest.raises(error):
        corpus.affected(written)


def test_the_command_line_lists_counts_and_ways(sample: Path, cli: Cli, tmp_path: Path) -> None:
    home = ("--home", str(sample))
    said = cli(*home, "affected", "渡し舟法7条", "--depth", "2")
    assert said.code == 0
    assert "implements it" in said.out
    assert " → " in said.out
    told = cli(*home, "affected", "渡し舟法7条", "--depth", "2", "--json").json
    assert told["id"] == f"{ACT}#7"
    assert {one["law"] for one in told["dependents"] if len(one["path"]) == 1} >= {
        "渡し舟の安全及び活用に関する法律施行令"
    }
    assert cli(*home, "affected", "渡し舟法17条", "--all").code in (0, 3)
    for target, nodes in (("渡し舟法7条", 1 + len(told["dependents"])), ("渡し舟法", None)):
        path = tmp_path / f"{nodes}.graphml"
        assert cli(*home, "affected", target, "--depth", "2", "--out", str(path)).code == 0
        graph = etree.parse(path)
        ids = graph.xpath("//*[local-name()='node']/@id")
        ends = graph.xpath("//*[local-name()='edge']/@source | //*[local-name()='edge']/@target")
        assert len(ids) == len(set(ids))
        assert set(ends) <= set(ids)
        assert nodes is None or len(ids) == nodes
    assert cli(*home, "affected", "渡し舟法7条", "--out", str(path)).code == 2


def test_what_nothing_depends_on_says_so(sample: Path, cli: Cli) -> None:
    corpus = localrag.open(sample).corpus()
    alone = next(
        f"{ACT}#{one}"
        for one in corpus.store.articles(ACT)
        if not corpus.affected(f"{ACT}#{one}").dependents
    )
    said = cli("--home", str(sample), "affected", alone)
    assert said.code == 3
    assert "Nothing in this corpus depends on it." in said.out

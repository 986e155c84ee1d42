"""The outline of a document, and the look-ups for browsing."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES, PASSAGES, Document, Locator, Passage, Section
from localrag.errors import NotFoundError
from localrag.search.contents import OutlineEntry, outline

Shape = list[object]


def _write(document_id: str, kind: str, lines: list[tuple[str, Locator, str]]) -> Document:
    """A document with passages (header, locator, line)."""
    text, passages = "", []
    layer = ARTICLES if kind == "law" else PASSAGES
    for number, (header, locator, line) in enumerate(lines, start=1):
        place = locator.path or str(number)
        start, text = len(text), f"{text}{line}\n"
        span = (start, len(text) - 1)
        passages.append(
            Passage(f"{document_id}#{place}", document_id, layer, line, header, locator, *span)
        )
    return Document(document_id, "凧法", kind, text, document_id, tuple(passages))


def _shape(entries: list[OutlineEntry]) -> Shape:
    """Titles, each followed by the list of its parts, if any."""
    shape: Shape = []
    for entry in entries:
        shape.append(entry.title)
        if entry.parts:
            shape.append(_shape(entry.parts))
    return shape


def _law() -> Document:
    law = _write(
        "L1",
        "law",
        [
            ("凧法 前文", Locator("preamble"), "空は広い。"),
            ("凧法 第一条（目的）", Locator("", "1"), "第一条　揚げる。"),
            ("凧法 第二条", Locator("", "2"), "第二条　降ろす。"),
            ("凧法 第三条", Locator("", "3"), "第三条　しまう。"),
            ("凧法 附則 第一条（施行期日）", Locator("suppl1", "1"), "第一条　春から。"),
            ("凧法 附則（令和百年法律第二号）", Locator("suppl2"), "この法律は、夏から。"),
            ("凧法 附則（令和百一年法律第三号） 第一条", Locator("suppl3", "1"), "第一条　秋。"),
            ("凧法 別表（第二条関係）", Locator("appendix1"), "別表（第二条関係）"),
        ],
    )
    spans = {passage.locator.path: (passage.start, passage.end) for passage in law.passages}
    sections = (
        Section(1, "第一章　総則", spans["1"][0] - 1, spans["2"][1]),
        Section(2, "第一節　揚降", spans["2"][0] - 1, spans["2"][1]),
        Section(1, "第二章　雑則", spans["3"][0], spans["3"][1]),
        Section(1, "附　則", *spans["suppl1/1"]),
        Section(1, "附　則　（令和百年法律第二号）", *spans["suppl2/"]),
        Section(1, "附　則　（令和百一年法律第三号）", *spans["suppl3/1"]),
        Section(1, "別表", *spans["appendix1/"]),
    )
    return replace(law, sections=sections)


def test_a_statute_has_its_articles_under_its_headings(store: CorpusStore) -> None:
    store.add(_law())
    entries = outline(store, "L1")
    assert _shape(entries) == [
        "前文",
        "第一章　総則",
        ["第一条（目的）", "第一節　揚降", ["第二条"]],
        "第二章　雑則",
        ["第三条"],
        "附則",
        [
            "附　則",
            ["第一条（施行期日）"],
            "附　則　（令和百年法律第二号）",
            "附　則　（令和百一年法律第三号）",
            ["第一条"],
        ],
        "別表",
    ]
    assert [entry.passage_id for entry in entries if not entry.parts] == [
        "L1#preamble/",
        "L1#appendix1/",
    ]
    article = entries[1].parts[0]
    assert store.text("L1", article.start, article.end) == "第一条　揚げる。"
    assert entries[1].holds(article.start)
    assert not article.holds(article.end)


def test_few_supplementary_provisions_stand_alone(store: CorpusStore) -> None:
    law = _law()
    store.add(replace(law, sections=law.sections[:5]))
    assert "附則" not in [entry.title for entry in outline(store, "L1")]


def test_headings_go_before_pages_and_those_before_parts(store: CorpusStore) -> None:
    line = "凧が揚がる。"
    pages = _write("p.pdf", "pdf", [("凧", Locator(page=1 + n // 2), line) for n in range(4)])
    store.add(pages)
    assert [(entry.page, entry.start) for entry in outline(store, "p.pdf")] == [(1, 0), (2, 14)]
    store.add(replace(_write("h.pdf", "pdf", []), text="a\nb", sections=(Section(1, "a", 0, 3),)))
    assert _shape(outline(store, "h.pdf")) == ["a"]
    plain = [("凧法" if n else "凧の歌", Locator(section="x"), line) for n in range(45)]
    store.add(_write("t.txt", "text", plain))
    assert _shape(outline(store, "t.txt")) == ["1–20 凧の歌", "21–40", "41–45"]
    for name, number in (("empty.txt", 0), ("short.txt", 20)):
        store.add(_write(name, "text", plain[:number]))
        assert outline(store, name) == []
    with pytest.raises(NotFoundError):
        outline(store, "none")


def test_a_list_of_parts_stays_short(store: CorpusStore) -> None:
    store.add(_write("long", "text", [("凧法", Locator(section="x"), "ゆ")] * 5_000))
    parts = outline(store, "long")
    assert len(parts) == 200
    assert parts[-1].title == "4976–5000"


def test_documents_are_listed_by_kind_and_found_by_title(
    store: CorpusStore, make_law: Callable[..., Document], make_note: Callable[..., Document]
) -> None:
    store.add(make_law("L1", "渡し舟法", ["1"]))
    for number in range(5):
        note = make_note(f"n{number}", "凧")
        store.add(replace(note, title=f"Ｋｉｔｅ　ﾒﾓ {number}"))
    assert store.kinds() == {"law": 1, "markdown": 5}
    assert [id_ for id_, _ in store.listed("markdown", limit=2)] == ["n0", "n1"]
    assert [id_ for id_, _ in store.listed("markdown", "n3")] == ["n4"]
    assert store.titled("kite メモ3", 9) == ([("n3", "Ｋｉｔｅ　ﾒﾓ 3")], True)
    assert [id_ for id_, _ in store.titled("n", 3).found] == ["n0", "n1", "n2"]
    assert store.titled("渡し舟", 9).found == []
    assert store.titled(" ", 9) == ([], True)
    with pytest.raises(NotFoundError):
        store.listed("markdown", "gone")


def test_titles_of_a_large_corpus_are_not_all_looked_at(
    store: CorpusStore, make_note: Callable[..., Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localrag.corpus.browsing._TITLES", 2)
    for number in range(4):
        store.add(replace(make_note(f"n{number}", "凧"), title=f"kite {number}"))
    assert store.titled("KITE", 9) == ([("n0", "kite 0"), ("n1", "kite 1")], False)
    assert store.titled("n3", 9) == ([("n3", "kite 3")], False)

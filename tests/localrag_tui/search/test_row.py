"""How a hit is written."""

from rich.cells import cell_len

from localrag.corpus.types import Label, Locator, Passage
from localrag.search.types import Hit, StageRecord
from localrag.text.facts import Fact, FactKind
from localrag_tui.search.results import HitRow, StageRow, found_by, journey


def hit(text="渡し守は、渡し舟を運航する。", header="渡し舟法 第七条", rank=1, **more) -> Hit:
    passage = Passage("law#7", "law", "articles", text, header, Locator.parse("7"), 0, len(text))
    return Hit(passage, 1.25, rank, "expand", **more)


def lines(row: HitRow, width: int) -> list[str]:
    written = [line.plain for line in row.write(width)]
    assert max(map(cell_len, written)) <= width
    return written


def test_the_first_match_is_in_view():
    text = "あ" * 150 + "渡し守" + "い" * 50
    row = HitRow(hit(), text, [(150, 153)])
    content = row.write(60)[1]
    assert content.plain.startswith("    …あ")
    assert "渡し守い" in content.plain
    marked = [content.plain[span.start : span.end] for span in content.spans]
    assert "渡し守" in marked


def test_why_it_was_found_is_told_with_its_place():
    row = HitRow(
        hit(reason=Fact(FactKind.FILLS_IN, other="渡し舟法 第二条")),
        place=("第一章　総則", "第一節"),
    )
    assert lines(row, 100)[2] == (
        "    expanded  ·  implements 渡し舟法 第二条  ·  第一章　総則 › 第一節  ·  score 1.250"
    )
    row = HitRow(hit(by_model=(Label("field", "海運"),)))
    assert lines(row, 100)[2] == "    expanded  ·  told by a model: field=海運  ·  score 1.250"
    row = HitRow(hit(), ways=("words no. 7",), words=("渡し守", "運航"))
    assert lines(row, 100)[2] == "    words no. 7  ·  has: 渡し守, 運航  ·  score 1.250"


def test_hostile_text_is_shown_as_it_is():
    row = HitRow(hit("[red]a\x1b[31m\u202eb\nc\td[/red]", "[bold]x\x1b]0;y\x07 第一条\n二"))
    head, match, _ = lines(row, 60)
    assert "[bold]x␛]0;y␇ 第一条␊二" in head
    assert "[red]a␛[31m\N{REPLACEMENT CHARACTER}b c d[/red]" in match
    for width in (1, 4, 5, 9):
        assert len(row.write(width)) == 3


def test_the_row_of_a_stage_fills_its_column():
    row = StageRow(hit(), {"law#7": "渡し舟法施行規則 7条"}, 5.0)
    assert [cell_len(row.write(width)[0].plain) for width in (18, 25, 40)] == [18, 25, 40]
    assert row.write(22)[0].plain == "  1 渡し舟…則 7条   25"


def test_a_journey_names_the_stages_that_found_it():
    records = (
        StageRecord("lexical", (hit(rank=7),), 0.1),
        StageRecord("dense", (), 0.1),
        StageRecord("fuse", (hit(rank=2),), 0.1),
    )
    assert found_by(records, "law#7") == ["words no. 7"]
    named = StageRecord("resolve", (hit(),), 0.1)
    assert found_by((named, *records), "law#7") == ["named", "words no. 7"]
    assert journey(records, "law#7") == "words no. 7 › fused no. 2"

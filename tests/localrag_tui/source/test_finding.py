"""Words are found whatever their width and case."""

from localrag_tui.source.find import find_all

from ...rows import each


@each(
    ("text", "words", "found"),
    [
        ("渡し舟は渡し場へ", "渡し", ["渡し", "渡し"]),
        ("ＡＢＣ abc AbC", "aｂc", ["ＡＢＣ", "abc", "AbC"]),
        ("ｶﾞｲﾄﾞとガイド", "ガイド", ["ｶﾞｲﾄﾞ", "ガイド"]),
        ("ガイド", "ｶﾞｲﾄﾞ", ["ガイド"]),
        ("第２７条 第27条", "27", ["２７", "27"]),
        ("the\n  Ferry　man", "the ferry man", ["the\n  Ferry　man"]),
        ("a.b axb [red]", "a.b", ["a.b"]),
        ("a.b axb [red]", "[red]", ["[red]"]),
        ("渡し舟", "  ", []),
        ("渡し舟", "", []),
        ("", "舟", []),
        ("第④号", "4", ["④"]),
        ("⺠宿の⻑", "民宿の長", ["⺠宿の⻑"]),
        ("渡\u200bし舟", "渡し舟", ["渡\u200bし舟"]),
        ("甲･乙", "甲・乙", ["甲･乙"]),
    ],
)
def test_finding(text, words, found):
    assert [text[start:end] for start, end in find_all(text, words)] == found

"""Word's automatic numbers (w:numPr) are read as displayed."""

from collections.abc import Callable

from localrag.corpus.types import Document

from ....rows import each
from ...word_parts import levels, numbered, p, style, t

Read = Callable[..., Document]


def test_articles_numbered_by_word_read_like_typed_ones(lines):
    numbering = levels(
        ("decimal", "第%1条"),
        ("decimalFullWidth", "%2"),
        ("japaneseCounting", "%3"),
        ("aiueoFullWidth", "%4"),
        ("decimal", "(%5)"),
    )
    found = lines(
        p(t("契約書")),
        numbered("（目的）　灯台を守る。"),
        numbered("（修繕）　甲は、灯台を修繕する。"),
        numbered("乙は、費用を支払う。", 1),
        numbered("灯器", 2),
        numbered("塔", 2),
        numbered("基礎", 3),
        numbered("石", 4),
        numbered("木", 4),
        numbered("丙は、立ち会う。", 1),
        numbered("灯台", 2),
        numbered("（解除）　甲は、解除する。"),
        numbering=numbering,
    )
    assert found == [
        "契約書",
        "第1条（目的）　灯台を守る。",
        "第2条（修繕）　甲は、灯台を修繕する。",
        "１　乙は、費用を支払う。",
        "一　灯器",
        "二　塔",
        "ア　基礎",
        "(1)　石",
        "(2)　木",
        "２　丙は、立ち会う。",
        "一　灯台",
        "第3条（解除）　甲は、解除する。",
    ]


@each(
    ("number_format", "third"),
    [
        ("decimal", "3"),
        ("decimalZero", "03"),
        ("decimalFullWidth", "３"),
        ("decimalEnclosedCircle", "③"),
        ("japaneseCounting", "三"),
        ("japaneseLegal", "参"),
        ("japaneseDigitalTenThousand", "三"),
        ("ideographDigital", "三"),
        ("ideographLegalTraditional", "參"),
        ("chineseLegalSimplified", "叁"),
        ("chineseCountingThousand", "三"),
        ("ideographTraditional", "丙"),
        ("ideographZodiac", "寅"),
        ("aiueo", "ｳ"),
        ("aiueoFullWidth", "ウ"),
        ("iroha", "ﾊ"),
        ("irohaFullWidth", "ハ"),
        ("upperRoman", "III"),
        ("lowerLetter", "c"),
        ("ordinal", "3rd"),
        ("none", ""),
        ("formatOfTomorrow", "3"),
    ],
)
def test_formats_of_numbers(lines, number_format, third):
    found = lines(*map(numbered, "甲乙丙"), numbering=levels((number_format, "[%1]")))
    assert found[2] == f"[{third}]　丙"


@each(
    ("number_format", "written"),
    [
        ("ideographLegalTraditional", "壹佰零伍"),
        ("chineseLegalSimplified", "壹佰零伍"),
        ("chineseCountingThousand", "一百零五"),
        ("taiwaneseCountingThousand", "一百零五"),
        ("japaneseLegal", "百伍"),
    ],
)
def test_chinese_and_legal_numbers_above_a_hundred(lines, number_format, written):
    numbering = levels((number_format, "%1")).replace(
        '<w:start w:val="1"/>', '<w:start w:val="105"/>'
    )
    assert lines(numbered("甲"), numbering=numbering) == [f"{written}　甲"]


def test_numbers_whose_format_is_not_known_are_named(named):
    body = [numbered("甲"), numbered("乙")]
    assert named(*body, numbering=levels(("formatOfTomorrow", "%1"))) == {
        "numbers written in digits, whose format is not known": 2
    }
    assert named(*body, numbering=levels(("decimalHalfWidth", "%1"))) == {}


def test_high_numbers_in_kanji(lines):
    numbering = levels(("japaneseCounting", "第%1条")).replace(
        '<w:start w:val="1"/>', '<w:start w:val="119"/>'
    )
    assert lines(numbered("甲"), numbered("乙"), numbering=numbering) == [
        "第百十九条　甲",
        "第百二十条　乙",
    ]


def test_lists_that_begin_again_and_go_on(lines):
    begins = (
        '<w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0">'
        '<w:startOverride w:val="5"/></w:lvlOverride></w:num>'
        '<w:num w:numId="3"><w:abstractNumId w:val="0"/></w:num>'
    )
    numbering = levels(("decimal", "%1."), ("decimal", "%1.%2")) + begins
    body = [numbered("甲"), numbered("乙"), numbered("丙", 0, 2), numbered("丁", 1, 2)]
    body += [numbered("戊", 0, 2), numbered("己", 0, 3), p(t("庚"))]
    assert lines(*body, numbering=numbering) == [
        "1.　甲",
        "2.　乙",
        "5.　丙",
        "5.1　丁",
        "6.　戊",
        "7.　己",
        "庚",
    ]


def test_levels_that_go_on_and_levels_in_plain_digits(lines):
    numbering = levels(("upperRoman", "%1"), ("decimal", "%1-%2")).replace(
        '<w:lvlText w:val="%1-%2"/>',
        '<w:lvlRestart w:val="0"/><w:isLgl/><w:lvlText w:val="%1-%2"/>',
    )
    body = [numbered("甲"), numbered("乙", 1), numbered("丙"), numbered("丁", 1)]
    assert lines(*body, numbering=numbering) == ["I　甲", "1-1　乙", "II　丙", "2-2　丁"]


def test_numbers_of_styles_and_those_switched_off(lines):
    styles = (
        '<w:style w:type="paragraph" w:styleId="A"><w:name w:val="条"/><w:pPr><w:numPr>'
        '<w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
        + style("B", '<w:name w:val="項"/><w:basedOn w:val="A"/>')
    )
    numbering = levels(("decimal", "第%1条"))
    off = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="0"/></w:numPr>'
    body = [
        p(t("甲"), properties='<w:pStyle w:val="A"/>'),
        p(t("乙"), properties='<w:pStyle w:val="B"/>'),
        p(t("丙"), properties=f'<w:pStyle w:val="A"/>{off}'),
    ]
    found = lines(*body, numbering=numbering, styles=styles)
    assert found == ["第1条　甲", "第2条　乙", "丙"]


def test_the_level_of_a_style_is_the_one_that_names_it(lines):
    styles = (
        '<w:style w:type="paragraph" w:styleId="K"><w:name w:val="項"/><w:pPr><w:numPr>'
        '<w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    )
    numbering = levels(("decimal", "第%1条"), ("decimalFullWidth", "%2")).replace(
        '<w:lvlText w:val="%2"/>', '<w:pStyle w:val="K"/><w:lvlText w:val="%2"/>'
    )
    found = lines(numbered("甲"), p(t("乙"), properties='<w:pStyle w:val="K"/>'),
                  numbering=numbering, styles=styles)  # fmt: skip
    assert found == ["第1条　甲", "１　乙"]


def test_a_list_that_only_names_a_style(lines):
    styles = style("L", '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>', "numbering")
    numbering = levels(("decimal", "第%1条")) + (
        '<w:abstractNum w:abstractNumId="7"><w:numStyleLink w:val="L"/></w:abstractNum>'
        '<w:num w:numId="2"><w:abstractNumId w:val="7"/></w:num>'
    )
    found = lines(numbered("甲", use=2), numbered("乙"), numbering=numbering, styles=styles)
    assert found == ["第1条　甲", "第2条　乙"]


def test_bullets_are_characters(lines):
    font = '<w:rPr><w:rFonts w:ascii="Wingdings"/></w:rPr>'
    bullet = levels(("bullet", "\uf06c"), more=font)
    assert lines(numbered("甲"), numbering=bullet) == ["●　甲"]
    assert lines(numbered("lamp"), numbering=levels(("bullet", "•"))) == ["• lamp"]
    assert lines(numbered("lamp"), numbering=levels(("decimal", "%1."))) == ["1. lamp"]

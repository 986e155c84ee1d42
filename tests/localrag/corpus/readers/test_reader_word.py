"""Word files: every displayed word, in reading order; omissions."""

import zipfile
from collections.abc import Callable
from io import BytesIO

from localrag.corpus.readers import Limits
from localrag.corpus.types import Document

from ...word_parts import BY, cell, levels, notes, numbered, p, rows, style, t, word

Read = Callable[..., Document]
SECTION = (
    '<w:sectPr><w:headerReference w:type="default" r:id="header"/>'
    '<w:footerReference w:type="default" r:id="footer"/></w:sectPr>'
)


def mark(kind: str) -> str:
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


def does(instruction: str) -> str:
    return f'<w:r><w:instrText xml:space="preserve">{instruction}</w:instrText></w:r>'


def test_a_heading_of_two_lines_is_one(read_one):
    heading = "<w:r><w:t>第1章</w:t><w:br/><w:t>総則</w:t></w:r>"
    data = word(p(heading, properties='<w:outlineLvl w:val="0"/>'), p(t("本文。")))
    assert read_one("a.docx", data).text == "第1章　総則\n本文。\n"


def test_tracked_changes_are_taken_and_named(lines, named):
    old = t("二十万円").replace("w:t>", "w:delText>").replace("<w:t ", "<w:delText ")
    body = (
        p(
            t("賃料は、"),
            f"<w:del {BY}>{old}</w:del>",
            f"<w:ins {BY}>{t('二十三万円')}</w:ins>",
            t("とする。"),
        ),
        p(f"<w:moveFrom {BY}>{t('移る前。')}</w:moveFrom>", t("残る。")),
        p(f"<w:moveTo {BY}>{t('移った後。')}</w:moveTo>"),
    )
    assert lines(*body) == ["賃料は、二十三万円とする。", "残る。", "移った後。"]
    assert named(*body) == {"tracked deletions": 2, "tracked insertions": 2}


def test_paragraphs_and_rows_that_were_deleted(lines):
    gone = f"<w:rPr><w:del {BY}/></w:rPr>"
    old = f"<w:del {BY}><w:r><w:delText>消えた。</w:delText></w:r></w:del>"
    row = f"<w:tr><w:trPr><w:del {BY}/></w:trPr>{cell(p(t('消えた行')))}</w:tr>"
    found = lines(
        p(t("甲は、"), properties=gone),
        p(old, properties=gone),
        p(t("乙に支払う。")),
        f"<w:tbl>{row}<w:tr>{cell(p(t('残る行')))}</w:tr></w:tbl>",
    )
    assert found == ["甲は、乙に支払う。", "残る行"]


def test_a_deleted_paragraph_has_no_number(lines):
    gone = f"<w:rPr><w:del {BY}/></w:rPr><w:numPr><w:ilvl w:val='0'/><w:numId w:val='1'/></w:numPr>"
    old = f"<w:del {BY}><w:r><w:delText>消えた。</w:delText></w:r></w:del>"
    found = lines(
        numbered("甲"), p(old, properties=gone), numbered("乙"),
        numbering=levels(("decimal", "第%1条")),
    )  # fmt: skip
    assert found == ["第1条　甲", "第2条　乙"]


def test_ruby_gives_its_base_and_keeps_its_reading_apart(read_one):
    ruby = (
        "<w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>かし</w:t></w:r></w:rt>"
        "<w:rubyBase><w:r><w:t>瑕疵</w:t></w:r></w:rubyBase></w:ruby></w:r>"
    )
    older = mark("begin") + does(r"EQ \* jc2 \o\ad(\s\up 9(さんばし),桟橋)") + mark("end")
    document = read_one("a.docx", word(p(t("売主は、"), ruby, t("のある"), older, t("を直す。"))))
    assert document.text == "売主は、瑕疵のある桟橋を直す。\n"
    assert document.metadata["ruby"] == "瑕疵（かし）、桟橋（さんばし）"
    assert [one.count for one in document.omissions] == [2]


def test_a_text_box_is_read_once(lines):
    box = "<w:txbxContent>" + p(t("期限は、四十五日前とする。")) + "</w:txbxContent>"
    drawn = (
        '<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:inline><a:graphic>'
        f"<a:graphicData><wps:wsp><wps:txbx>{box}</wps:txbx></wps:wsp></a:graphicData></a:graphic>"
        "</wp:inline></w:drawing></mc:Choice><mc:Fallback><w:pict><v:shape><v:textbox>"
        f"{box}</v:textbox></v:shape></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )
    assert lines(p(t("届出"), drawn)) == ["届出", "期限は、四十五日前とする。"]
    only = f"<w:r><w:pict><v:shape><v:textbox>{box}</v:textbox></v:shape></w:pict></w:r>"
    assert lines(p(only)) == ["期限は、四十五日前とする。"]
    empty = '<mc:AlternateContent><mc:Choice Requires="x"/><mc:Fallback>'
    assert lines(p(f"<w:r>{empty}{only[5:-6]}</mc:Fallback></mc:AlternateContent></w:r>")) == [
        "期限は、四十五日前とする。"
    ]


def test_notes_come_after_the_paragraph_of_their_mark(lines):
    found = lines(
        p(t("会社は、"), '<w:r><w:footnoteReference w:id="3"/></w:r>', t("責任を負う。")),
        p(t("以上。"), '<w:r><w:footnoteReference w:id="2"/></w:r>'),
        footnotes=notes("footnote", "後の注。", "先の注。"),
    )
    assert found == ["会社は、責任を負う。", "注1　先の注。", "以上。", "注2　後の注。"]


def test_endnotes_beside_footnotes_have_a_label_of_their_own(lines):
    found = lines(
        p(
            t("甲。"),
            '<w:r><w:endnoteReference w:id="2"/></w:r>',
            '<w:r><w:footnoteReference w:id="2"/></w:r>',
        ),
        footnotes=notes("footnote", "脚注。"),
        endnotes=notes("endnote", "文末の注。"),
    )
    assert found == ["甲。", "文末注1　文末の注。", "注1　脚注。"]


def test_headers_and_footers_are_there_once_without_page_numbers(lines):
    page = mark("begin") + does(" PAGE ") + mark("separate") + t("7") + mark("end")
    found = lines(
        p(t("一節。"), properties=SECTION),
        p(t("二節。")),
        SECTION,
        header=p(t("秘密保持契約")),
        footer=p(t("- "), page, t(" -")) + p(t("甲乙法律事務所")),
    )
    assert found == ["秘密保持契約", "一節。", "甲乙法律事務所", "二節。"]


def test_a_header_that_word_does_not_show_is_named(named):
    first = SECTION.replace('"default" r:id="header"', '"first" r:id="header"')
    unshown = named(first, header=p(t("古い表紙")), footer=p(t("足")))
    assert unshown == {"headers and footers that Word does not show": 1}
    assert not named(first.replace("</w:sectPr>", "<w:titlePg/></w:sectPr>"),
                     header=p(t("表紙")), footer=p(t("足")))  # fmt: skip


def test_content_controls_and_wrappers_are_entered(lines):
    def control(content: str, more: str = "") -> str:
        return f"<w:sdt><w:sdtPr>{more}</w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>"

    row = f"<w:tr>{cell(p(t('左')))}{control(cell(p(t('右'))))}</w:tr>"
    found = lines(
        control(p(t("申請書"))),
        p(t("期間は、"), control(control(t("三年間"))), t("とする。")),
        f"<w:tbl>{control(row)}</w:tbl>",
        p(f"<w:smartTag>{t('甲')}<w:customXml>{t('乙')}</w:customXml></w:smartTag>",
          f"<w:hyperlink>{t('丙')}</w:hyperlink>", f"<w:bdo>{t('丁')}</w:bdo>"),
    )  # fmt: skip
    assert found == ["申請書", "期間は、三年間とする。", "左\t右", "甲乙丙丁"]


def test_a_form_field_not_filled_in_is_named(named):
    control = (
        "<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>"
        f"{t('ここに入力')}</w:sdtContent></w:sdt>"
    )
    assert named(p(control)) == {"form fields not filled in, with their placeholder": 1}


def test_fields_give_their_result(lines):
    inner = mark("begin") + does("REF x") + mark("separate") + t("条件") + mark("end")
    nested = p(t("甲は、"), mark("begin"), does("IF "), inner, does(" = 1"), mark("separate"),
               t("承諾する"), mark("end"), t("。"))  # fmt: skip
    over = [
        p(mark("begin"), does("TOC"), mark("separate"), t("第一章")),
        p(t("第二章"), mark("end")),
    ]
    simple = p(f'<w:fldSimple w:instr=" REF y ">{t("第3条")}</w:fldSimple>', t("による。"))
    assert lines(nested, *over, simple) == [
        "甲は、承諾する。",
        "第一章",
        "第二章",
        "第3条による。",
    ]


def test_a_field_that_never_ends_takes_no_text_with_it(lines):
    assert lines(p(mark("begin"), does("REF"), t("甲。")), p(t("乙。"))) == ["甲。", "乙。"]


def test_choices_of_older_form_fields(lines):
    entries = '<w:listEntry w:val="賃貸"/><w:listEntry w:val="売買"/>'
    listed = f'<w:ddList><w:result w:val="1"/>{entries}</w:ddList>'
    box = '<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>'

    def form(data: str) -> str:
        begin = (
            f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar></w:r>'
        )
        return begin + does("FORM") + mark("end")

    assert lines(p(form(listed), t("："), form(box), t("同意する"))) == ["売買：☑同意する"]


def test_merged_cells_and_a_table_in_a_cell(lines):
    inner = rows(cell(p(t("夜間"))) + cell(p(t("一万二千円"))))
    found = lines(
        rows(
            cell(p(t("係留料の表")), properties='<w:gridSpan w:val="3"/>'),
            cell(p(t("小型船")), properties='<w:vMerge w:val="restart"/>')
            + cell(p(t("昼間")))
            + cell(p(t("八千円"))),
            cell(p(), properties="<w:vMerge/>") + cell(p(t("割増"))) + cell(inner, p()),
        )
    )
    assert found == ["係留料の表", "小型船\t昼間\t八千円", "\t割増\t夜間　一万二千円"]


def test_a_row_of_one_cell_is_laid_out_as_its_paragraphs(lines):
    found = lines(
        rows(
            cell(
                p(t("第1条　甲。")), p(t("第2条　乙。")), rows(cell(p(t("左"))) + cell(p(t("右"))))
            )
        )
    )
    assert found == ["第1条　甲。", "第2条　乙。", "左\t右"]


def test_signs_that_are_no_text(lines):
    found = lines(
        p("<w:r><w:t>A</w:t><w:noBreakHyphen/><w:t>1</w:t><w:softHyphen/><w:t>2</w:t></w:r>"),
        p("<w:r><w:t>甲</w:t><w:tab/><w:t>乙</w:t><w:br/><w:t>丙</w:t><w:cr/><w:t>丁</w:t></w:r>"),
        p('<w:r><w:sym w:font="Wingdings" w:char="F0FE"/><w:sym w:font="Symbol" w:char="F061"/>'
          '<w:sym w:font="MS Mincho" w:char="25CB"/><w:sym w:font="Unknown" w:char="F021"/></w:r>'),
        p(mark("begin"), does(r"eq \o\ac(○,印)"), mark("end")),
    )  # fmt: skip
    assert found == ["A-12", "甲\t乙", "丙", "丁", "☑α○〓", "㊞"]


def test_hidden_text_is_left_out_and_named(lines, named):
    styles = (
        '<w:style w:type="character" w:styleId="H"><w:rPr><w:vanish/></w:rPr></w:style>'
        '<w:style w:type="character" w:styleId="I"><w:basedOn w:val="H"/></w:style>'
    )
    body = (
        p(t("見える。"), t("消える。", "<w:vanish/>"), t("消える。", '<w:rStyle w:val="I"/>')),
        p(t("見える。", '<w:rStyle w:val="I"/><w:vanish w:val="0"/>')),
    )
    assert lines(*body, styles=styles) == ["見える。", "見える。"]
    assert named(*body, styles=styles) == {"hidden texts": 2}


def test_formulas_are_written_in_a_line(lines, named):
    def m(text: str) -> str:
        return f"<m:r><m:t>{text}</m:t></m:r>"

    formula = (
        f"<m:oMath><m:f><m:num>{m('a+b')}</m:num><m:den>{m('2')}</m:den></m:f>{m('=')}"
        f"<m:sSup><m:e>{m('x')}</m:e><m:sup>{m('2')}</m:sup></m:sSup>"
        f"<m:rad><m:deg/><m:e>{m('y')}</m:e></m:rad></m:oMath>"
    )
    assert lines(p(t("式は"), formula)) == ["式は(a+b)/2=x^2√(y)"]
    assert named(p(formula)) == {"formulas, written in one line": 1}


def test_the_texts_of_smartart_are_read_after_their_paragraph(read_one):
    ids = '<dgm:relIds xmlns:dgm="d" xmlns:r="r" r:dm="rDiagram"/>'
    graphic = f'<a:graphicData uri="http://x/2006/diagram">{ids}</a:graphicData>'
    shown = (
        f"<w:r><w:drawing><wp:inline><a:graphic>{graphic}</a:graphic></wp:inline></w:drawing></w:r>"
    )
    points = "".join(
        f"<dgm:pt><dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t></dgm:pt>"
        for text in ("届出は三十日以内に行う。", "許可は甲が与える。")
    )
    diagram = (
        f'<dgm:dataModel xmlns:dgm="d" xmlns:a="a"><dgm:ptLst>{points}</dgm:ptLst></dgm:dataModel>'
    )
    relation = (
        '<Relationship Id="rDiagram" Type="http://x/diagramData" Target="diagrams/data1.xml"/>'
    )
    out = BytesIO()
    with (
        zipfile.ZipFile(
            BytesIO(word(p(t("手順を図に示す。"), shown), p(t("以上である。"))))
        ) as old,
        zipfile.ZipFile(out, "w") as new,
    ):
        for part in old.namelist():
            content = old.read(part)
            if part == "word/_rels/document.xml.rels":
                end = b"</Relationships>"
                content = content.replace(end, relation.encode() + end)
            new.writestr(part, content)
        new.writestr("word/diagrams/data1.xml", diagram)
    document = read_one("a.docx", out.getvalue())
    assert document.text.splitlines() == [
        "手順を図に示す。",
        "届出は三十日以内に行う。",
        "許可は甲が与える。",
        "以上である。",
    ]
    assert not document.omissions


def test_what_is_no_text_is_named_with_its_count(named):
    def drawn(uri: str, inner: str = "") -> str:
        graphic = f'<a:graphicData uri="http://x/2006/{uri}">{inner}</a:graphicData>'
        return p(
            f"<w:r><w:drawing><wp:inline><a:graphic>{graphic}</a:graphic></wp:inline></w:drawing></w:r>"
        )

    shown = '<v:shape><v:imagedata/></v:shape><o:OLEObject ProgID="Excel.Sheet.12"/>'
    found = named(
        drawn("picture", "<pic:pic/>"),
        drawn("picture", "<pic:pic/>"),
        drawn("chart"),
        drawn("diagram"),
        p(f"<w:r><w:object>{shown}</w:object></w:r>"),
        '<w:altChunk r:id="x"/>',
        comments=f'<w:comment w:id="0">{p(t("気になる。"))}</w:comment>',
    )
    assert found == {
        "comments": 1,
        "pictures": 2,
        "charts": 1,
        "SmartArt diagrams": 1,
        "embedded objects": 1,
        "embedded documents": 1,
    }


def test_a_file_without_text_says_what_it_holds(read_failure):
    graphic = "<a:graphic><a:graphicData><pic:pic/></a:graphicData></a:graphic>"
    picture = f"<w:r><w:drawing>{graphic}</w:drawing></w:r>"
    failure = read_failure("a.docx", word(p(picture)))
    assert failure.cause == "The DOCX holds no text. Not read: 1 picture."


def test_headings_by_their_level_or_name(read_one):
    styles = (
        style("1", '<w:name w:val="heading 1"/>')
        + style("2", '<w:name w:val="条見出し"/><w:basedOn w:val="1"/>')
        + style("3", '<w:name w:val="x"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr>')
    )
    document = read_one(
        "a.docx",
        word(
            p(t("総則"), properties='<w:pStyle w:val="2"/>'),
            p(t("目的"), properties='<w:pStyle w:val="3"/>'),
            p(t("本文。"), properties='<w:outlineLvl w:val="9"/>'),
            styles=styles,
        ),
    )
    assert [(one.depth, one.title) for one in document.sections] == [(1, "総則"), (2, "目的")]


def test_strict_open_xml_and_files_with_macros(read_one):
    data = word(numbered("甲。"), strict=True, numbering=levels(("decimal", "第%1条")))
    assert read_one("a.docx", data).text == "第1条　甲。\n"
    assert read_one("a.docm", data).text == "第1条　甲。\n"
    assert read_one("a.dotx", data).kind == "docx"


def test_large_first_letters_and_run_in_headings(lines):
    found = lines(
        p(t("甲"), properties='<w:framePr w:dropCap="drop"/>'),
        p(t("は、支払う。")),
        p(t("目的　"), properties="<w:rPr><w:vanish/><w:specVanish/></w:rPr>"),
        p(t("灯台を守る。")),
    )
    assert found == ["甲は、支払う。", "目的　灯台を守る。"]


def packed(document: str) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", document)
    return out.getvalue()


def test_entities_are_never_resolved(read_failure):
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;</x>'
    assert "declares entities" in read_failure("a.docx", packed(bomb)).cause


def test_a_part_that_takes_too_much_memory(read_failure):
    many = "<a/>" * 200_000
    failure = read_failure(
        "a.docx", packed(f"<x>{many}</x>"), limits=Limits(memory_bytes=10_000_000)
    )
    assert "MB of memory" in failure.cause


def test_deep_nesting_and_circles_end(read_failure, read_one):
    deep = rows(cell("*")).partition("*")
    nested = deep[0] * 3_000 + p(t("底")) + deep[2] * 3_000
    assert "unexpected way" not in read_failure("a.docx", word(nested)).cause
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{a}"><w:basedOn w:val="{b}"/></w:style>'
        for a, b in ("AB", "BA")
    )
    circle = word(p(t("甲"), properties='<w:pStyle w:val="A"/>'), styles=styles)
    assert read_one("a.docx", circle).text == "甲\n"


def test_a_note_that_many_marks_name_is_there_once(lines):
    marks = '<w:r><w:footnoteReference w:id="2"/></w:r>' * 50
    assert lines(p(t("甲。"), marks), footnotes=notes("footnote", "注。")) == ["甲。", "注1　注。"]


def test_an_encrypted_file_is_named_for_what_it_is(read_failure):
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600
    encrypted = ole + "EncryptedPackage".encode("utf-16-le")
    assert "protected with a password" in read_failure("a.docx", encrypted).cause
    assert "before 2007" in read_failure("b.docx", ole).cause

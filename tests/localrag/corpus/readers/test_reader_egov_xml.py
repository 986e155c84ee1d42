"""法令標準XML: text, places, headers and metadata of an invented law, in every wrapper."""

import pytest

from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS, Locator

from ....rows import each

NAME = "405AC0000009999_20240401.xml"


@pytest.fixture
def law(read_one, law_xml):
    return read_one(NAME, law_xml)


def places(document, layer):
    return {p.locator.path: p for p in document.passages if p.layer == layer}


def test_the_text_reads_as_printed(law):
    assert law.text.split("\n") == [
        "灯台の保全に関する法律",
        "（平成五年法律第九百九十九号）",
        "灯台の保全に関する法律をここに公布する。",
        "光は海を渡る。",
        "第一章　総則",
        "第一節　通則",
        "（目的）",
        "第一条　この法律は、燈台を保全する。ただし、廃灯を除く。",
        "第二章　保全",
        "（点検）",
        "第二十七条の三十六　所有者は、次の事項を点検する。",
        "一　灯器　毎月",
        "一の二　次に掲げる部分",
        "イ　塔",
        "（１）　基礎",
        "２　点検の周期は、次の表による。",
        "灯器\t電球",
        "\tレンズ",
        "臨時の点検は別とする。",
        "第五十五条から第六十三条まで　削除",
        "附　則　抄",
        "（施行期日）",
        "１　この法律は、公布の日から施行する。",
        "２　旧規則は、廃止する。",
        "附　則　（平成二七年五月二七日法律第三二号）",
        "（経過措置）",
        "第二条　なお従前の例による。",
        "第二条　重ねて定める。",
        "別表第一",
        "（第一条関係）",
        "一　白灯",
        "様式第一",
        "［図：a.pdf］",
    ]


def test_articles_appendices_and_what_stands_outside(law):
    title = "灯台の保全に関する法律"
    headers = [(p.id.partition("#")[2], p.header) for p in law.passages if p.layer == ARTICLES]
    assert headers == [
        ("enact/", f"{title} 制定文"),
        ("preamble/", f"{title} 前文"),
        ("1", f"{title} 第一条（目的）"),
        ("27_36", f"{title} 第二十七条の三十六（点検）"),
        ("55:63", f"{title} 第五十五条から第六十三条まで"),
        ("suppl1/", f"{title} 附則"),
        ("suppl2/2", f"{title} 附則（平成二七年五月二七日法律第三二号） 第二条（経過措置）"),
        ("suppl2/2~2", f"{title} 附則（平成二七年五月二七日法律第三二号） 第二条"),
        ("appendix1/", f"{title} 別表第一（第一条関係）"),
        ("appendix2/", f"{title} 様式第一"),
    ]


def test_an_article_runs_from_its_caption_to_its_last_paragraph(law):
    text = places(law, ARTICLES)["27_36"].text
    assert text.startswith("（点検）\n第二十七条の三十六　所有者は")
    assert text.endswith("臨時の点検は別とする。")


def test_paragraphs_begin_with_the_article_or_their_number(law):
    paragraphs = places(law, PARAGRAPHS)
    assert paragraphs["27_36.1"].text.startswith("第二十七条の三十六　所有者は")
    assert paragraphs["27_36.1"].text.endswith("（１）　基礎")
    assert paragraphs["27_36.2"].text.startswith("２　点検の周期は")
    assert paragraphs["27_36.2"].header == "灯台の保全に関する法律 第二十七条の三十六 第二項"
    assert paragraphs["1.1"].header == "灯台の保全に関する法律 第一条"
    assert paragraphs["suppl1/.2"].header == "灯台の保全に関する法律 附則 第二項"


def test_items_hold_what_stands_below_them(law):
    items = places(law, ITEMS)
    assert items["27_36.1.1_2"].text == "一の二　次に掲げる部分\nイ　塔\n（１）　基礎"
    deepest = items["27_36.1.1_2.1.1"]
    assert deepest.text == "（１）　基礎"
    assert deepest.header.endswith("第二十七条の三十六 第一項 第一号の二 イ （１）")
    assert deepest.locator == Locator("", "27_36", "1", "1_2", "1.1")
    assert items["appendix1/..1"].header.endswith("別表第一（第一条関係） 第一号")


def test_sections_are_the_outline(law):
    outline = [(section.depth, section.title) for section in law.sections]
    assert outline == [
        (1, "第一章　総則"),
        (2, "第一節　通則"),
        (1, "第二章　保全"),
        (1, "附　則　抄"),
        (1, "附　則　（平成二七年五月二七日法律第三二号）"),
        (1, "別表第一"),
        (1, "様式第一"),
    ]
    assert law.text[law.sections[0].start : law.sections[0].end].endswith("廃灯を除く。")


def test_metadata(law, law_id):
    assert (law.id, law.title, law.kind, law.source) == (
        law_id,
        "灯台の保全に関する法律",
        "law",
        NAME,
    )
    assert law.metadata == {
        "law_num": "平成五年法律第九百九十九号",
        "law_type": "Act",
        "promulgated": "1993-11-12",
        "date": "2024-04-01",
        "abbreviations": "灯台法",
    }


@pytest.mark.parametrize(
    "wrapper",
    [
        "<DataRoot><Result><Code>0</Code></Result><ApplData><LawId>{id}</LawId><LawFullText>{law}"
        "</LawFullText></ApplData></DataRoot>",
        "<law_data_response><law_info><law_id>{id}</law_id></law_info><law_full_text>{law}"
        "</law_full_text></law_data_response>",
    ],
    ids=["API v1", "API v2"],
)
def test_answers_of_the_api_hold_the_same_law(wrapper, read_one, law_xml, law_id, law):
    wrapped = read_one("answer.xml", wrapper.format(id=law_id, law=law_xml))
    assert (wrapped.id, wrapped.text) == (law.id, law.text)
    assert wrapped.passages == law.passages


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("405AC0000009999.xml", "Act", "405AC0000009999"),
        ("405AC0000009999_20240401_505AC0000000001.xml", "Act", "405AC0000009999"),
        ("law.xml", "CabinetOrder", "405CO0000000999"),
    ],
)
def test_law_ids(name, kind, expected, read_one, law_xml):
    assert read_one(name, law_xml.replace('LawType="Act"', f'LawType="{kind}"')).id == expected


def test_an_act_without_id_is_not_given_one(read_failure, law_xml):
    failure = read_failure("law.xml", law_xml)
    assert "law id" in failure.cause
    assert "405AC0000000088_20240401.xml" in failure.cure


def test_a_file_name_that_contradicts_the_content_is_refused(read_failure, law_xml):
    named = law_xml.replace("<Law ", '<Law LawId="405AC0000000001" ')
    assert "405AC0000000001" in read_failure(NAME, named).cause


@each(
    "name",
    [
        "305AC0000000999_20240401.xml",  # another era
        "406AC0000000999.xml",  # another year
        "405CO0000000999.xml",  # another kind
        "405AC0000000998_20240401_505AC0000000001.xml",  # another number
    ],
)
def test_a_file_name_of_another_law_is_refused(name, read_failure, law_xml):
    cause = read_failure(name, law_xml).cause
    assert name.partition(".")[0].partition("_")[0] in cause
    assert "平成五年法律第九百九十九号" in cause


@each("number", ["平成５年法律第９９９号", "平成五年法律", "法律第一号", ""])
def test_a_law_number_is_held_against_the_name_only_as_far_as_it_can_be_read(
    number, read_one, law_xml
):
    document = read_one(NAME, law_xml.replace("平成五年法律第九百九十九号", number))
    assert document.id == "405AC0000009999"


def test_an_article_without_usable_number_takes_the_printed_one(read_one, law_xml):
    document = read_one(NAME, law_xml.replace('Num="27_36"', 'Num="?"'))
    assert "27_36" in places(document, ARTICLES)


def test_pretty_printed_files_give_the_same_text(read_one, law_xml, law):
    spread = law_xml.replace("<Sentence>", "<Sentence>\n    ").replace(
        "</Sentence>", "\n</Sentence>"
    )
    assert read_one(NAME, spread).text == law.text


def test_a_caption_behind_the_number_stays_there(read_one, law_xml):
    caption, title = (
        "<ArticleCaption>（目的）</ArticleCaption>",
        "<ArticleTitle>第一条</ArticleTitle>",
    )
    document = read_one(NAME, law_xml.replace(caption + title, title + caption))
    assert places(document, PARAGRAPHS)["1.1"].text.startswith("第一条（目的）　この法律は")


def test_constructions_that_the_schema_does_not_foresee(read_one, law_xml):
    odd = (
        "<Sentence>次の表による。<QuoteStruct><TableStruct><Table><TableRow><TableColumn><Item>"
        "<ItemTitle>一</ItemTitle><ItemSentence><Sentence>甲</Sentence></ItemSentence></Item>"
        "</TableColumn><TableColumn><Sentence>乙</Sentence></TableColumn></TableRow></Table>"
        "</TableStruct></QuoteStruct>以上</Sentence>"
    )
    document = read_one(NAME, law_xml.replace("<Sentence>重ねて定める。</Sentence>", odd))
    assert "第二条　次の表による。\n一　甲\t乙\n以上" in document.text


def test_a_day_that_there_is_not_is_refused(read_failure, law_xml):
    problem = read_failure("405AC0000000999_21201399_000000000000000.xml", law_xml).problem
    assert "an impossible date: 2120-13-99" in str(problem)

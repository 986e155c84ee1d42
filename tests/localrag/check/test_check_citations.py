"""Citations and names of laws in a text: existence and the law meant."""

from datetime import date
from pathlib import Path

import pytest

import localrag
from localrag import language
from localrag.check import Verdict
from localrag.errors import InputError, UsageError

from ...rows import each
from ..ferries import AFTER, law_xml
from ..windmills import LAW, XML
from .conftest import Check, of_part, wrong

ACT = "渡し舟の安全及び活用に関する法律"


def cited(check: Check, text: str) -> list[tuple[str, str, str]]:
    """Each citation of a text: its words, its verdict, the provision."""
    return [
        (finding.said, finding.verdict.value, finding.provision.removeprefix(ACT))
        for finding in of_part(check(text), "citation")
    ]


def test_citations_are_found_in_every_spelling_with_their_places(check: Check) -> None:
    report = check(f"# メモ\n\n{ACT}第四条第三項による。\n渡し舟法6条の2第1項も見よ。")
    found = of_part(report, "citation")
    assert [(one.place.line, one.verdict.value, one.provision) for one in found] == [
        (3, "holds", f"{ACT}第4条第3項"),
        (4, "holds", f"{ACT}第6条の2第1項"),
    ]
    assert [report.text[one.place.start : one.place.end] for one in found] == [
        f"{ACT}第四条第三項",
        "渡し舟法6条の2第1項",
    ]
    assert found[0].state == "2026-04-01"
    assert found[0].passage_id == "599AC0000000001#4.3"


def test_lists_ranges_and_relative_citations(check: Check) -> None:
    text = "渡し舟法第4条第1項及び第3項、第7条から第9条まで。同法第10条、同条第2項。"
    assert [one[2] for one in cited(check, text)] == [
        "第4条第1項",
        "第4条第3項",
        "第7条",
        "第10条",
        "第10条第2項",
    ]


def test_nothing_of_a_long_list_is_passed_over(check: Check) -> None:
    text = "渡し舟法4条1項・2項、8条1項本文・ただし書、10条1項・2項・9項、14条1項各号、現16条。"
    assert [one[:2] for one in cited(check, text)] == [
        ("渡し舟法4条1項", "holds"),
        ("2項", "holds"),
        ("8条1項本文・ただし書", "holds"),
        ("10条1項", "holds"),
        ("2項", "holds"),
        ("9項", "does-not-hold"),
        ("14条1項各号", "holds"),
        ("16条", "holds"),
    ]
    # A list of parts is no statement.
    assert of_part(check(text.replace("・9項", "").replace("現", "")), "statement") == []


def test_same_before_a_number_is_of_the_law_cited_last(check: Check) -> None:
    text = f"渡し舟法第7条から同第9条まで、同10条、同百条。{ACT}施行令2条。これは、同九〇条による。"
    assert cited(check, text) == [
        ("渡し舟法第7条から同第9条まで", "holds", "第7条"),
        ("同10条", "holds", "第10条"),
        ("同百条", "does-not-hold", ""),
        (f"{ACT}施行令2条", "holds", "施行令第2条"),
        ("同九〇条", "does-not-hold", "施行令"),
    ]


def test_the_part_of_a_law_that_a_citation_names_must_hold_the_article(
    home: Path, tmp_path: Path, check: Check
) -> None:
    path = tmp_path / f"{LAW}_20170401.xml"
    path.write_text(XML, encoding="utf-8")
    corpus = localrag.open(home).corpus()
    corpus.add(path)
    text = "風車組合法第一章第一条及び第2章第3条。風車組合法第一章第四条、風車組合法第五章第二条。"
    assert cited(corpus.check, text) == [
        ("風車組合法第一章第一条", "holds", "風車組合法第1条"),
        ("第2章第3条", "holds", "風車組合法第3条"),
        ("風車組合法第一章第四条", "does-not-hold", "風車組合法第4条"),
        ("風車組合法第五章第二条", "does-not-hold", "風車組合法第2条"),
    ]
    (finding,) = of_part(corpus.check("風車組合法第一章第四条"), "citation")
    assert finding.problem
    assert finding.problem.fields == {"heading": "第一章", "under": "第二章　組合"}
    # A law without headings, and an article of an unknown law.
    assert wrong(check("渡し舟法施行令第一章第二条。")) == [
        ("渡し舟法施行令第一章第二条", "part-lacking")
    ]
    assert wrong(corpus.check("第一章第四条による。")) == []


def test_what_a_law_lacks_is_told_with_its_state(check: Check) -> None:
    (finding,) = of_part(check(f"{ACT}第90条"), "citation")
    assert (finding.provision, finding.passage_id, finding.state) == (ACT, "", "2026-04-01")
    (untold,) = of_part(check(f"{ACT}第3条。\n\n第90条。"), "citation")[1:]
    assert (untold.provision, untold.state) == ("", "")


def test_a_number_of_any_length_is_one_that_the_law_lacks(check: Check) -> None:
    long, kanji = "12345678901234567890", "一二三四五六七八九〇一二三四五六七八九〇"
    places = [f"渡し舟法第{long}条", f"渡し舟法{kanji}条", f"渡し舟法第4条から第{long}条まで"]
    places += [f"渡し舟法4条{long}項"]
    assert [one[:2] for one in cited(check, "。".join(places))] == [
        (place, "does-not-hold") for place in places
    ]


def test_lines_of_a_list_are_read_each_by_itself(check: Check) -> None:
    lines = f"渡し舟法第4条\n渡し舟法第7条\n{ACT}施行令第2条\n会社法第8条\n"
    assert [one[:2] for one in cited(check, lines)] == [
        ("渡し舟法第4条", "holds"),
        ("渡し舟法第7条", "holds"),
        (f"{ACT}施行令第2条", "holds"),
        ("会社法第8条", "not-checked"),
    ]
    # Also without a number; a name may continue on the next line.
    named = of_part(check(f"渡し舟法\n会社法\n{ACT}\n施行令を見よ。\n"), "law")
    assert [one.said for one in named] == ["会社法"]


def test_a_sentence_goes_on_in_the_next_line(check: Check) -> None:
    assert [
        one[2]
        for one in cited(check, "渡し舟法第4条\n第1項と、渡し舟の安全及\nび活用に関する法律第7\n条")
    ] == [
        "第4条第1項",
        "第7条",
    ]


def test_a_bare_article_is_of_the_law_that_its_paragraph_names(check: Check) -> None:
    assert cited(check, "渡し舟法は登録を求める。第4条がそうである。") == [
        ("第4条", "holds", "第4条")
    ]
    assert wrong(check("渡し舟法は登録を求める。第44条がそうである。")) == [
        ("第44条", "provision-lacking")
    ]
    # It may be of either law.
    text = f"渡し舟法と{ACT}施行令がある。第4条は重要である。"
    assert cited(check, text)[0][1] == "not-checked"


@each(
    "citation",
    [
        "渡し舟法第40条",
        "渡し舟法第4条第9項",
        "渡し舟法第6条の5",
        "渡し舟法第5条第1項第7号",
        "渡し舟法九百九十九万条",
        "渡し舟法第9999999条",
        "渡し舟法999万条の2",
        "渡し舟法第4条第1000000項",
    ],
)
def test_what_is_not_there_is_told_with_what_is(check: Check, citation: str) -> None:
    (finding,) = of_part(check(f"{citation}を参照。"), "citation")
    assert finding.verdict is Verdict.FAILS
    assert finding.problem
    assert ACT in str(finding.problem)


def test_articles_of_a_contract_are_its_own(check: Check) -> None:
    text = (
        "第1条（目的）\n本契約は渡し舟法に従う。\n\n第2条（期間）\n"
        "第99条及び前条の期間は、渡し舟法第4条第3項による。"
    )
    assert cited(check, text) == [
        ("第99条", "does-not-hold", ""),
        ("前条", "holds", ""),
        ("渡し舟法第4条第3項", "holds", "第4条第3項"),
    ]


def test_a_list_in_a_contract_goes_on_with_the_law_that_it_names(check: Check) -> None:
    text = "第1条（目的）\n舟を借りる。\n第2条（責任）\n渡し舟法第4条{}第7条による。第8条を見よ。"
    for conjunction in ("及び", "および", "、", "（登録）及び", "第1項及び", "から"):
        *_, last, own = cited(check, text.format(conjunction))
        assert last[1] == "holds"
        assert own[:2] == ("第8条", "not-checked")


@each(
    ("text", "law"),
    [
        ("X条例第4条", "X条例"),
        ("X条例（以下「本件条例」という。）第4条", "X条例"),
        ("渡し場条例（平成10年X市条例第1号）第4条", "渡し場条例"),
        ("「渡し場条例」の第4条", "渡し場条例"),
        ("渡し場条例が定められた。その第4条", "渡し場条例"),
        ("渡し場条例がある。同条例第4条", "渡し場条例"),
        ("市条例第4条", "市条例"),
    ],
)
def test_an_article_of_a_bylaw_is_of_no_other_law(check: Check, text: str, law: str) -> None:
    report = check(f"渡し舟法第5条がある。{text}と渡し舟法第4条による。")
    _, bylaw, act = of_part(report, "citation")
    assert act.verdict is Verdict.HOLDS
    assert bylaw.problem
    assert (bylaw.problem.kind.code, bylaw.problem.fields) == ("no-such-law", {"name": law})
    # 同条 of 同条例 is no article.
    assert "同条" not in [one.said for one in report.findings]


def test_an_article_of_a_law_that_is_lacking_is_no_echo_of_another(check: Check) -> None:
    for text in ("会社法の第4条と渡し舟法第4条。", "会社法第4条、渡し舟法第4条。"):
        first, second = cited(check, text)
        assert (first[1], second[1]) == ("not-checked", "holds")


def test_an_extract_of_a_contract_has_articles_of_its_own(check: Check) -> None:
    text = (
        "第14条（期間）\n期間は1年とする。\n第15条（解除）\n"
        "渡し舟法第14条第1項の処分があったときは、解除する。第14条の期間中でも同じとする。"
    )
    assert [one[:2] for one in cited(check, text)] == [
        ("渡し舟法第14条第1項", "holds"),
        ("第14条", "holds"),
    ]
    # An extract of a law has its name above.
    pasted = "渡し舟法\n第14条（登録の取消し等）\n第15条（手数料）\n第16条（報告）"
    assert [one[1] for one in cited(check, pasted)] == ["holds"] * 3


def test_a_law_that_was_never_named_is_not_told(check: Check) -> None:
    for text in ("同法第3条による。", "同規則第3条による。"):
        (finding,) = of_part(check(text), "citation")
        assert finding.problem
        assert finding.problem.kind.code == "law-untold"


@each("named", ["本契約", "当社の定款", "就業規則", "米国特許法", "旧渡し舟法"])
def test_other_documents_and_days_are_not_checked(check: Check, named: str) -> None:
    report = check(f"渡し舟法第4条のほか、{named}第500条による。")
    assert wrong(report) == []
    assert of_part(report, "citation")[1].verdict is Verdict.UNCHECKED


@each(
    "named",
    [
        "旧渡し舟法",
        "改正前渡し舟法",
        "改正前の渡し舟法",
        "改正後の渡し舟法",
        "新渡し舟法",
        "改正渡し舟法",
    ],
)
def test_another_state_of_a_law_is_told_as_such(check: Check, named: str) -> None:
    report = check(
        f"{named}第400条は「水位を超える舟はすべて岸に戻らなければならない」とする。同条ただし書と"
        f"同法第4条も同じで、{named}第4条第3項の登録の有効期間は、十年とする。"
        "現行渡し舟法第4条、渡し舟法第400条。"
    )
    *others, today, lacking = of_part(report, "citation")
    assert [one.provision for one in (today,)] == [f"{ACT}第4条"]
    assert lacking.verdict is Verdict.FAILS
    others += of_part(report, "quotation") + of_part(report, "statement")
    assert len(others) == 6
    for finding in others:
        assert finding.verdict is Verdict.UNCHECKED
        assert finding.problem
        assert finding.problem.fields == {"law": ACT}
    # The law is known, its state is not.
    assert of_part(report, "law") == []


def test_what_was_before_an_amendment_can_hold_on_a_day_that_is_chosen(
    states: localrag.Corpus,
) -> None:
    text = "旧渡し舟法第5条と渡し舟法第6条。旧法第5条、改正前の同法第60条。"
    before = states.as_of("2016-01-01").check(text)
    assert [one.verdict.value for one in of_part(before, "citation")] == [
        "holds",
        "holds",
        "holds",
        "not-checked",
    ]
    assert [one.verdict.value for one in of_part(states.check(text), "citation")] == [
        "not-checked",
        "does-not-hold",
        "not-checked",
        "not-checked",
    ]


def test_words_of_the_provision_that_a_sentence_repeats_are_no_citations(check: Check) -> None:
    text = "渡し舟法第17条は、第六条の規定による届出をしない者を二十万円以下の過料に処する。"
    assert [one[0] for one in cited(check, text)] == ["渡し舟法第17条"]


def test_a_caption_of_another_article_is_told(check: Check) -> None:
    assert wrong(check("渡し舟法第6条（変更の届出）を見よ。")) == []
    assert wrong(check("渡し舟法第6条（地位の承継）を見よ。")) == [
        ("渡し舟法第6条", "caption-elsewhere")
    ]
    # It may give the subject of a paragraph.
    assert wrong(check("渡し舟法第2条第4項（渡し守）を見よ。")) == []
    assert wrong(check("渡し舟法第2条第3項（渡し守）を見よ。")) == [
        ("渡し舟法第2条第3項", "caption-elsewhere")
    ]
    # An explanation is no caption.
    assert wrong(check("渡し舟法第6条（変更したときの届出の話）を見よ。")) == []


@each(
    ("citation", "words"),
    [
        ("渡し舟法第4条第1項ただし書", "第4条第1項にただし書"),
        ("渡し舟法9条但書", "第9条に但書"),
        ("渡し舟法第10条第1項後段", "第10条第1項に後段"),
        ("渡し舟法第15条の但し書き", "第15条に但し書き"),
        ("渡し舟法第6条の2第1項本文", "第6条の2第1項に本文"),
        ("渡し舟法第9条柱書", "第9条に柱書"),
        ("渡し舟法第9条各号列記以外の部分", "第9条に各号列記以外の部分"),
        ("渡し舟法第15条各号", "第15条に各号"),
        ("渡し舟法第6条の2第2項前段、後段及びただし書", "第6条の2第2項にただし書"),
    ],
)
def test_a_part_that_the_provision_does_not_have_is_told(
    check: Check, citation: str, words: str
) -> None:
    with language.using("ja"):
        (finding,) = of_part(check(f"{citation}による。"), "citation")
        assert (finding.said, finding.verdict) == (citation, Verdict.FAILS)
        assert words in str(finding.problem)


def test_parts_that_the_provision_has_hold(check: Check) -> None:
    for citation in (
        "渡し舟法第6条ただし書",
        "渡し舟法第8条第1項本文及び但書",
        "渡し舟法第6条の2第2項後段",
        "渡し舟法第14条第1項柱書",
        "渡し舟法第14条第1項各号",
        "渡し舟法第4条第2項第3号柱書",
    ):
        assert cited(check, f"{citation}による。")[0][:2] == (citation, "holds")
    # 54条1項後段 of one sentence: readers find the halves, code does not.
    for citation in ("渡し舟法第14条第1項後段", "渡し舟法第8条第1項後段", "渡し舟法第4条本文"):
        assert cited(check, f"{citation}による。")[0][:2] == (citation, "not-checked")
    # Files of laws omit exceptions of supplementary provisions.
    assert cited(check, "渡し舟法附則第2条ただし書")[0][1] == "not-checked"
    # It is not wrong if the law is uncertain or the text says it is gone.
    text = f"渡し舟法と{ACT}施行令がある。第9条ただし書は重要である。"
    assert wrong(check(text)) == []


def test_a_part_that_another_state_has_is_told_with_it(home: Path, tmp_path: Path) -> None:
    articles = [("1", "灯火", ["渡し舟は、灯火を掲げる。ただし、昼間は、この限りでない。"])]
    for day, text in (("20151227", law_xml(articles)), ("20200401", law_xml(AFTER[:1]))):
        path = tmp_path / f"339AC0000000001_{day}_000000000000000.xml"
        path.write_text(text.replace("令和九十九年", "昭和三十九年"), encoding="utf-8")
        corpus = localrag.open(home).corpus()
        corpus.add(path)
    assert wrong(corpus.check("渡し舟法第1条ただし書。")) == [
        ("渡し舟法第1条ただし書", "part-of-state")
    ]
    assert corpus.as_of("2016-01-01").check("渡し舟法第1条ただし書。").holds


@each(
    "line",
    [
        "渡し舟法第6条（変更の届出）",
        "# 渡し舟法第6条（変更の届出）",
        "第1　渡し舟法第6条（変更の届出）",
        "（３）渡し舟法第6条（変更の届出）、渡し舟法第17条（過料）",
        "2) 渡し舟法第6条（変更の届出）及び第6条の2（地位の承継）等を参照のこと。",
        "根拠条文：渡し舟法第6条（変更したときの届出の話）",
    ],
)
def test_a_citation_and_its_caption_are_no_statement(check: Check, line: str) -> None:
    report = check(line)
    assert {finding.part.value for finding in report.findings} == {"citation"}
    assert report.holds


def test_what_brackets_state_is_a_statement(check: Check) -> None:
    assert wrong(check("渡し舟法第6条（変更の届出は20日以内）")) == [
        ("渡し舟法第6条（変更の届出は20日以内）", "said-otherwise")
    ]
    for period, fails in (("五年以内", False), ("三年以内", True)):
        report = check(f"渡し舟法第4条第3項（{period}の有効期間）。")
        (statement,) = of_part(report, "statement")
        assert (statement.verdict is Verdict.FAILS) is fails
    # The number of a line is not part of the sentence.
    assert wrong(check("20) 渡し舟法第6条の届出は、変更の日から30日以内にする。")) == []


def test_articles_may_share_the_caption_of_the_one_before(home: Path, tmp_path: Path) -> None:
    articles = [
        ("1", "灯火", ["灯火を掲げる。"]),
        ("2", "", ["夜は消さない。"]),
        ("3", "もやい綱", ["綱を張る。"]),
    ]
    path = tmp_path / "339AC0000000001_20200401_000000000000000.xml"
    path.write_text(law_xml(articles).replace("令和九十九年", "昭和三十九年"), encoding="utf-8")
    corpus = localrag.open(home).corpus()
    corpus.add(path)
    assert wrong(corpus.check("渡し舟法第2条（灯火）")) == []
    assert wrong(corpus.check("渡し舟法第2条（もやい綱）")) == [
        ("渡し舟法第2条", "caption-of-another")
    ]


def test_numbers_of_laws(check: Check) -> None:
    assert wrong(check(f"{ACT}（令和99年法律第1号。以下「法」という。）第3条")) == []
    for number in ("平成99年法律第1号", "令和98年法律第1号", "令和99年法律第2号"):
        ((_, kind),) = wrong(check(f"{ACT}（{number}）第3条による。"))
        assert kind == "law-numbered"
    # The number is of the amending law.
    assert wrong(check("渡し舟法（令和100年法律第30号による改正前のもの）")) == []


def test_a_name_that_the_text_gives_a_law_holds_from_there_on(check: Check) -> None:
    text = f"{ACT}（以下「本件法」という。）がある。\n本件法第4条第3項による。本件法第77条も。"
    assert cited(check, text) == [
        ("本件法第4条第3項", "holds", "第4条第3項"),
        ("本件法第77条", "does-not-hold", ""),
    ]


def test_titles_that_no_law_has(check: Check) -> None:
    assert wrong(check("渡し船の安全及び活用に関する法律第3条")) == [
        ("渡し船の安全及び活用に関する法律", "law-misspelt")
    ]
    assert cited(check, "渡し舟の安全および活用に関する法律第3条")[0][1] == "holds"
    # 渡し舟法第4条の二重登録 is no branch.
    assert cited(check, "渡し舟法第4条の二重登録、渡し舟法第4条1項の三要件")[0][1] == "holds"
    # An existing law missing from the corpus.
    report = check("不正競争防止法第2条第1項を参照。")
    assert wrong(report) == []
    assert report.counts[Verdict.UNCHECKED] == 2


def test_a_list_of_a_contract_goes_from_a_law_over_to_the_contract(check: Check) -> None:
    clauses = "第1条（目的）本書の目的。\n第2条（届出）届け出る。\n第20条（罰）"
    lists = "渡し舟法第7条及び第2条。渡し舟法第3条、第4条及び第20条。渡し舟法第7条及び第90条。"
    assert [one[:2] for one in cited(check, clauses + lists)] == [
        ("渡し舟法第7条", "holds"),
        ("第2条", "holds"),
        ("渡し舟法第3条", "holds"),
        ("第4条", "holds"),
        ("第20条", "holds"),
        ("渡し舟法第7条", "holds"),
        ("第90条", "does-not-hold"),
    ]


def test_english_around_japanese_law(check: Check) -> None:
    (finding,) = of_part(check(f"See Article 6-2, paragraph (1) of {ACT}."), "citation")
    assert (finding.said, finding.provision) == (
        "Article 6-2, paragraph (1)",
        f"{ACT}第6条の2第1項",
    )


def test_each_article_of_an_english_list_is_checked(check: Check) -> None:
    assert cited(check, f"Articles 3 and 90 of {ACT} apply.") == [
        ("Articles 3", "holds", "第3条"),
        ("90", "does-not-hold", ""),
    ]


def test_what_is_of_another_writing_in_english_is_not_called_wrong(check: Check) -> None:
    text = (
        f"{ACT} applies; see Article 89. Article 90 of this Agreement and Article 92 TFEU do not."
        f"\n\nUnder Article 93, nothing is due. Articles 3 to 90 of {ACT} are long."
    )
    assert wrong(check(text)) == [
        ("Article 89", "provision-lacking"),
        ("Articles 3 to 90", "provision-lacking"),
    ]
    # A paragraph without a law, and a contract.
    text = f'{ACT} (the "FSA")。\n\nArticle 3 FSA and Art. 90 FSA.'
    assert wrong(check(text)) == [("Art. 90", "provision-lacking")]
    text = f"{ACT}第3条。\n\n第4条は良い。第90条も良い。"
    assert wrong(check(text)) == []
    text = f"{ACT} applies, and so does Article 94.\n\nUnder Article 3 or Article 90, all is well."
    assert [one[:2] for one in cited(check, text)] == [
        ("Article 94", "does-not-hold"),
        ("Article 3", "holds"),
        ("Article 90", "not-checked"),
    ]
    text = f"Article 1 (Purpose) This.\nArticle 2 (Ships) {ACT} art. 3 applies, and Article 90."
    assert [one[:2] for one in cited(check, text)] == [
        ("art. 3", "holds"),
        ("Article 90", "not-checked"),
    ]


def test_articles_in_english_are_of_the_law_before_them(check: Check) -> None:
    # The corpus does not have the Civil Code.
    assert cited(check, f"Civil Code art. 90 and {ACT} art. 3") == [
        ("art. 90", "not-checked", ""),
        ("art. 3", "holds", "第3条"),
    ]
    assert cited(check, f"{ACT} art. 90 and Civil Code art. 3") == [
        ("art. 90", "does-not-hold", ""),
        ("art. 3", "not-checked", ""),
    ]


def test_short_citations_keep_their_places(check: Check) -> None:
    report = check("見よ、渡し舟法4③を。\nまた渡し舟法14①二も。")
    assert [(one.said, one.place.line) for one in of_part(report, "citation")] == [
        ("渡し舟法4③", 1),
        ("渡し舟法14①二", 2),
    ]
    assert report.holds


def test_deleted_and_moved_provisions(states: localrag.Corpus) -> None:
    report = states.check("渡し舟法第5条によれば報告が要る。渡し舟法第6条は廃業の届出を定める。")
    assert wrong(report) == [
        ("渡し舟法第5条", "provision-gone"),
        ("渡し舟法第6条", "provision-moved"),
    ]
    moved = of_part(report, "citation")[1].problem
    assert moved
    assert moved.fields == {"day": "2015-12-27", "now": "渡し舟法第7条"}
    # Before the amendment both exist.
    assert wrong(states.as_of("2016-01-01").check("渡し舟法第5条と渡し舟法第6条。")) == []
    # A text saying it is gone, or never existed, is right.
    for text in (
        "渡し舟法第5条は削除された。",
        "渡し舟法第90条はありません。",
        "渡し舟法第3条ただし書というものはない。",
        "See Article 90 of 渡し舟法, which does not exist.",
    ):
        assert wrong(states.check(text)) == []


def test_a_state_that_the_corpus_lacks_makes_nothing_wrong(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "339AC0000000001_20200401_431AC0000000007.xml"
    path.write_text(law_xml(AFTER).replace("令和九十九年", "昭和三十九年"), encoding="utf-8")
    corpus = localrag.open(home).corpus()
    corpus.add(path)
    text = (
        "渡し舟法第5条、渡し舟法第60条。"
        "渡し舟法第4条は「二十歳に達しない者であつてはならない」と定める。"
    )
    assert len(wrong(corpus.check(text))) == 3
    before = corpus.as_of("2016-01-01").check(text)
    assert {finding.verdict for finding in before.findings} == {Verdict.UNCHECKED}


def test_what_people_call_a_law_is_known_by_its_number(check: Check) -> None:
    text = "舟守り法（令和99年法律第1号）がある。舟守り法第4条第3項、舟守り法第77条。"
    assert [one[1] for one in cited(check, text)] == ["holds", "does-not-hold"]
    assert [kind for _, kind in wrong(check(text))] == ["provision-lacking"]
    near = "渡し船の安全と活用に関する法律（令和99年法律第1号）"
    assert [kind for _, kind in wrong(check(near))] == ["law-called"]


def test_one_line_without_an_end_is_checked(check: Check) -> None:
    listed = check("渡し舟法第4条、" * 2_000)
    assert listed.counts[Verdict.HOLDS] == 2_000
    report = check("渡し舟法第4条第3項は、" + "登録の有効期間を五年とし、" * 2_000)
    (statement,) = of_part(report, "statement")
    assert statement.problem
    assert statement.problem.kind.code == "sentence-too-long"


def test_what_cannot_be_checked_is_refused(check: Check, corpus: localrag.Corpus, tmp_path) -> None:
    for nothing in ("", " \n", "　\n\t"):
        with pytest.raises(UsageError, match="no text"):
            check(nothing)
    for name, content in (
        ("blank.txt", b"  \n \n"),
        ("mark.txt", b"\xef\xbb\xbf"),
        ("none.md", b""),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match="empty"):
            corpus.check(tmp_path / name)
    with pytest.raises(InputError):
        corpus.check(tmp_path / "missing.md")
    table = tmp_path / "rows.jsonl"
    table.write_text('{"title": "a", "text": "渡し舟法第4条"}\n')
    with pytest.raises(InputError):
        corpus.check(table)
    assert corpus.as_of(date.today().isoformat()).check("法令の話はない。").findings == ()


@each(
    ("written", "outer", "last"),
    [
        ("第4条第9項", "第4条", "第3項"),
        ("第14条第1項第9号", "第14条第1項", "第3号"),
        ("第99条", "", "第17条"),
        ("第4条の9", "", "第17条"),
    ],
)
def test_with_what_a_law_or_a_provision_ends_is_named(
    check: Check, written: str, outer: str, last: str
) -> None:
    (finding,) = check(f"渡し舟法{written}を見よ。").findings
    assert finding.problem
    assert finding.problem.kind.code == "provision-lacking"
    title = "渡し舟の安全及び活用に関する法律"
    assert finding.problem.fields["outer"] == f"{title}{outer}"
    assert finding.problem.fields["last"] == last
    assert finding.problem.fields["near"]


def test_a_paragraph_without_items_is_called_so(check: Check) -> None:
    (finding,) = check("渡し舟法第4条第1項第2号を見よ。").findings
    assert finding.problem
    assert (finding.verdict, finding.problem.kind.code) == (Verdict.FAILS, "items-lacking")

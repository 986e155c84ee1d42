"""Quotations and statements in a text, compared with their provisions."""

from pathlib import Path

import pytest

import localrag
from localrag.check import Finding, Verdict, wording

from ...rows import each
from ..ferries import law_xml
from .conftest import Check, of_part, wrong

REGISTER = (
    "渡し舟事業を営もうとする者は、渡し場の所在地を管轄する"
    "都道府県知事の登録を受けなければならない。"
)


def quotation(check: Check, text: str) -> Finding:
    (finding,) = of_part(check(text), "quotation")
    return finding


@each(
    "text",
    [
        f"渡し舟法第4条第1項は「{REGISTER}」と規定する。",
        f"登録は必要である。「{REGISTER}」（渡し舟法4条1項）",
        "渡し舟法第4条によれば、「渡し舟事業を営もうとする者は、…登録を受けなければならない」とある。",
        f"渡し舟法第4条は次のとおり定める。\n\n> 第四条　{REGISTER}\n",
        f"> {REGISTER}\n>\n> （渡し舟法第4条第1項）\n",
        "渡し舟法第4条第3項は「第1項の登録の有効期間は、5年とする」と定める。",
        "渡し舟法第4条第3項は「第一項の登録の有効\n期間は、五年とする」と定める。",
        "渡し舟法第2条第1項の「渡し舟」とは何か。",
    ],
)
def test_words_of_the_provision_hold(check: Check, text: str) -> None:
    finding = quotation(check, text)
    assert finding.verdict is Verdict.HOLDS
    assert finding.passage_id.startswith("599AC0000000001#")
    assert finding.evidence


def test_other_words_are_shown_beside_those_of_the_law(check: Check) -> None:
    said = REGISTER.replace("都道府県知事の登録", "市町村長の許可")
    finding = quotation(check, f"渡し舟法第4条第1項は「{said}」と規定する。")
    assert finding.problem
    assert finding.problem.kind.code == "quoted-otherwise"
    assert "".join(part.said for part in finding.diff) == said
    changed = [(part.law, part.said) for part in finding.diff if not part.same]
    assert ("登録", "許可") in changed


def test_figures_in_quotations_are_compared_as_a_whole(check: Check) -> None:
    finding = quotation(
        check, "渡し舟法4条3項は「第一項の登録の有効期間は、十五年とする」と定める。"
    )
    assert [(part.law, part.said) for part in finding.diff if not part.same] == [("五", "十五")]


def test_words_that_stand_elsewhere_are_told_with_where(check: Check) -> None:
    for cited in ("渡し舟法第4条第2項", "渡し舟法第7条"):
        finding = quotation(check, f"{cited}は「{REGISTER}」と規定する。")
        assert finding.problem
        assert finding.problem.kind.code == "quoted-elsewhere"
        assert str(finding.problem.fields["where"]).endswith("第4条第1項")


def test_words_that_stand_nowhere(check: Check) -> None:
    words = "川の上を鳥が飛ぶときは、必ず帽子を脱いで礼をしなければならない。"
    assert wrong(check(f"渡し舟法第12条は「{words}」と規定する。")) == [(words, "quoted-nowhere")]


def test_brackets_that_are_left_out_are_told(check: Check) -> None:
    words = "渡し舟が発着するために設けられた施設をいう"
    finding = quotation(
        check, f"渡し舟法第2条第3項は「この法律において『渡し場』とは、{words}」と定める。"
    )
    assert finding.verdict is Verdict.UNCHECKED
    assert finding.problem
    assert finding.problem.kind.code == "brackets-left-out"


def test_words_of_another_state(states: localrag.Corpus) -> None:
    old = "渡し守は、二十歳に達しない者であつてはならない。"
    report = states.check(f"渡し舟法第4条は「{old}」と規定する。")
    assert wrong(report) == [(old, "quoted-of-state")]
    assert states.as_of("2016-01-01").check(f"渡し舟法第4条は「{old}」と規定する。").holds


@each(
    "text",
    [
        "渡し舟法第4条の「営業の自由と安全の調和を図るという理念」は重要である。",
        "最高裁は、渡し舟法第4条について「登録は公共の福祉のための制約である」と判示した。",
        "渡し舟法第4条は「登録がなければ舟は出せない」旨を定める。",
        "「安全は何よりも大切だと誰もが思う」と船頭は言った。",
    ],
)
def test_what_others_say_is_not_called_wrong(check: Check, text: str) -> None:
    assert wrong(check(text)) == []


@each(
    ("text", "words"),
    [
        ("渡し舟法第6条の届出は、変更の日から20日以内にしなければならない。", "20日以内"),
        ("登録の有効期間は10年である（渡し舟法4条3項）。", "10年"),
        ("渡し舟法第4条第3項は、登録の有効期間は4年とすると定めている。", "4年"),
        (
            "渡し舟法第16条によれば、無登録の営業は一年以下の拘禁刑又は二百万円以下の罰金に処する。",
            "二百万円",
        ),
        (
            "国は、渡し場活用計画に基づく事業に要する費用の2分の1以内を補助できる（渡し舟法12条）。",
            "2分の1",
        ),
        ("渡し舟法第17条によれば、届出をしない者は20万円未満の過料に処する。", "20万円未満"),
        (
            "渡し舟法8条1項ただし書によれば、人命の救助に緊急の必要があるときも運航してはならない。",
            "運航してはならない",
        ),
    ],
)
def test_figures_bounds_and_what_must_be_done(check: Check, text: str, words: str) -> None:
    (finding,) = (f for f in check(text).findings if f.verdict is Verdict.FAILS)
    assert finding.part.value == "statement"
    assert finding.problem
    assert words in str(finding.problem.fields["words"])
    assert finding.evidence


@each(
    ("figure", "verdict"),
    [
        ("1234567890123456789012345", Verdict.FAILS),
        ("１２３４５６７８９０１２３４５６７８９０１２３４５", Verdict.FAILS),
        ("1,234,567,890,123,456,789,012,345", Verdict.FAILS),
        ("１，２３４，５６７，８９０，１２３，４５６，７８９，０１２", Verdict.FAILS),
        ("9" * 70, Verdict.UNCHECKED),
        ("一二三四五六七八九〇一二三四五六七八九〇一", Verdict.UNCHECKED),
        ("三万億兆", Verdict.UNCHECKED),
        ("五京", Verdict.UNCHECKED),
        ("5垓", Verdict.UNCHECKED),
    ],
)
def test_no_figure_is_passed_over(check: Check, figure: str, verdict: Verdict) -> None:
    said = f"渡し舟法第4条第3項によれば、登録の有効期間は、{figure}年とする。"
    (finding,) = of_part(check(said), "statement")
    assert finding.verdict is verdict
    assert finding.problem
    assert figure in str(finding.problem)


@pytest.mark.parametrize(
    "text",
    [
        "渡し舟法第6条の届出は、変更の日から30日以内にしなければならない。",
        "1. 登録の有効期間は5年である（渡し舟法4条3項）。",
        "渡し舟法第8条第1項によれば、基準を超えるときは渡し舟を運航してはならない。",
    ],
)
def test_what_the_provision_says_holds(check: Check, text: str) -> None:
    (finding,) = of_part(check(text), "statement")
    assert finding.verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    "text",
    [
        "渡し舟法第16条によれば、無登録の営業は1年以下の拘禁刑又は100万円以下の罰金に処される。",
        # Half the words are the provision's, with another meaning.
        "渡し舟法第6条の届出は、変更の日から30日以内に船頭がしなければならない。",
        "渡し舟法第4条第3項により、登録の有効期間は5年であり、10年ではない。",
    ],
)
def test_what_code_cannot_find_word_for_word_is_not_checked(check: Check, text: str) -> None:
    (finding,) = of_part(check(text), "statement")
    assert finding.verdict is Verdict.UNCHECKED


def test_a_penalty_is_compared_as_one(check: Check) -> None:
    # 六月以内 and 二年 are in these provisions, but no penalties.
    text = "渡し舟法第16条、渡し舟法第14条第1項、渡し舟法第5条第1項により、{}以下の拘禁刑に処する。"
    assert wrong(check(text.format("1年"))) == []
    for most in ("2年", "6月"):
        ((_, kind),) = wrong(check(text.format(most)))
        assert kind == "said-otherwise"
    # No provision gives the result of calculating a penalty.
    assert wrong(check("渡し舟法第16条の刑を減軽し、六月以下の拘禁刑とする。")) == []


def test_a_main_sentence_is_compared_without_its_proviso(
    states: localrag.Corpus, tmp_path: Path
) -> None:
    rule = "渡し舟は、三十日を限り、岸を離れる。ただし、政令で定める場合は、六十日を限る。"
    path = tmp_path / "599AC0000000009_20200401_000000000000000.xml"
    law = law_xml([("1", "期間", [rule])]).replace("渡し舟法", "離岸法")
    path.write_text(law.replace("法律第一号", "法律第九号"), encoding="utf-8")
    states.add(path)
    for cited, days, fails in (("", 60, False), ("本文", 60, True), ("本文", 30, False)):
        report = states.check(f"離岸法第1条{cited}により、渡し舟は、{days}日を限り、岸を離れる。")
        assert report.holds is not fails
    assert states.check("離岸法第1条本文は30日を、同条ただし書は60日を限る。").holds


@pytest.fixture
def crossing(home: Path, tmp_path: Path) -> Check:
    """Checks a text against an act of five articles."""
    articles = [
        (
            "1",
            "期間",
            [
                "渡し舟の契約は、三年（橋を架けるものは、五年）を超える期間について締結してはならない。"
            ],
        ),
        ("2", "年齢", ["渡し守は、十八歳にならなければ、舟を出すことができない。"]),
        ("3", "遺失物", ["十五歳に達した者は、舟を出すことができる。"]),
        ("4", "", ["舟を損なつた者は、十年以下の拘禁刑又は五十万円以下の罰金に処する。"]),
        ("5", "時効", ["舟の債権は、知つた時から五年間、行使しない時から十年間で消滅する。"]),
    ]
    path = tmp_path / "599AC0000000001_20200401_000000000000000.xml"
    path.write_text(law_xml(articles), encoding="utf-8")
    corpus = localrag.open(home).corpus()
    corpus.add(path)
    return corpus.check


@each(
    ("text", "verdict"),
    [
        (
            "渡し舟の契約は、3年を超える期間について締結してはならない（渡し舟法1条）。",
            "not-checked",
        ),
        (
            "渡し舟の契約は、4年を超える期間について締結してはならない（渡し舟法1条）。",
            "does-not-hold",
        ),
        ("渡し守は、18歳にならなければ、舟を出すことができない（渡し舟法2条）。", "holds"),
        ("渡し守は、18歳にならなくても、舟を出すことができる（渡し舟法2条）。", "not-checked"),
        (
            "舟の債権は、知った時から5年間、行使しない時から10年間で消滅する（渡し舟法5条）。",
            "holds",
        ),
        (
            "舟の債権は、知った時から10年間、行使しない時から5年間で消滅する（渡し舟法5条）。",
            "not-checked",
        ),
        ("渡し守は18歳から舟を出すことができる（渡し舟法2条）。", "not-checked"),
        ("15歳未満の者は、舟を出すことができない（渡し舟法3条）。", "not-checked"),
        (
            "舟を損なつた者は、10年以下の拘禁刑又は50万円以下の罰金に処する（渡し舟法4条）。",
            "holds",
        ),
        (
            "舟を損なつた者は、10年以下の拘禁刑及び50万円以下の罰金に処する（渡し舟法4条）。",
            "not-checked",
        ),
    ],
)
def test_what_turns_a_rule_round_is_neither_right_nor_wrong(
    crossing: Check, text: str, verdict: str
) -> None:
    (statement,) = of_part(crossing(text), "statement")
    assert statement.verdict.value == verdict


def test_a_block_quotation_may_begin_with_where_it_is_from(crossing: Check) -> None:
    text = "> 渡し舟法第三条　十五歳に達した者は、舟を出すことが{}。"
    assert wrong(crossing(text.format("できる"))) == []
    assert wrong(crossing(text.format("できない")))[0][1] == "quoted-otherwise"


def test_a_rule_is_not_wrong_for_its_proviso(check: Check) -> None:
    rule = "渡し守は、緊急の必要があるときは、渡し舟を運航してはならない"
    assert wrong(check(f"渡し舟法第8条第1項によれば、{rule}。")) == []
    assert (
        wrong(check(f"渡し舟法第8条第1項によれば、{rule.replace('してはならない', 'できる')}。"))
        == []
    )
    told = "渡し守は、水位が基準を超えるときは、渡し舟を運航することができる"
    assert wrong(check(f"渡し舟法第8条第1項によれば、{told}。"))


def test_of_several_provisions_each_has_its_own_figures(check: Check) -> None:
    of_cost, of_term = "費用の三分の一以内の補助", "5年の有効期間"
    for text, verdict in (
        (f"渡し舟法第12条は{of_cost}、渡し舟法第4条第3項は{of_term}である。", Verdict.HOLDS),
        (f"{of_cost}（渡し舟法12条）、{of_term}（渡し舟法4条3項）とする。", Verdict.HOLDS),
        (f"渡し舟法第12条は{of_term}、渡し舟法第4条第3項は{of_cost}である。", Verdict.UNCHECKED),
    ):
        (finding,) = of_part(check(text), "statement")
        assert finding.verdict is verdict


def test_a_share_is_one_of_something(check: Check) -> None:
    for said, verdict in (("費用の三分の一", Verdict.HOLDS), ("予算の三分の一", Verdict.UNCHECKED)):
        text = f"渡し舟法12条により、国は、予算の範囲内において、{said}以内を補助することができる。"
        (finding,) = of_part(check(text), "statement")
        assert finding.verdict is verdict


def test_the_number_of_a_heading_is_none_of_the_sentence_below(check: Check) -> None:
    for heading in ("第1　争点", "(2) 有効期間", "③主張"):
        text = f"{heading}\n登録の有効期間は5年である（渡し舟法4条3項）。"
        (finding,) = of_part(check(text), "statement")
        assert finding.verdict is Verdict.HOLDS


def test_the_provision_that_says_otherwise_is_told(check: Check) -> None:
    text = "渡し舟法第7条の登録の有効期間は、10年である（渡し舟法第4条第3項）。"
    (finding,) = of_part(check(text), "statement")
    assert finding.verdict is Verdict.FAILS
    assert finding.provision.endswith("第4条第3項")


@each(
    "text",
    [
        "当社は40日後に届け出たので、渡し舟法第6条に違反した。",
        "改正により、渡し舟法第6条の届出は20日以内から30日以内になった。",
        "渡し舟法第6条の届出の期間は20日ではなく30日である。",
        "渡し舟法第6条は、実務では3〜5日で届け出るのが望ましい。",
        "渡し舟法第10条の報告には500万円を要した。",
    ],
)
def test_cases_and_other_days_are_not_checked(check: Check, text: str) -> None:
    assert wrong(check(text)) == []


@pytest.mark.parametrize(
    ("text", "words", "instead"),
    [
        ("渡し舟法4条3項によれば、登録の有効期間は七年とする。", "七年", ["五年"]),
        ("渡し舟法第6条の届出は、20日以内にしなければならない。", "20日以内", ["三十日以内"]),
    ],
)
def test_what_the_provision_says_is_named(
    check: Check, text: str, words: str, instead: list[str]
) -> None:
    (finding,) = [one for one in check(text).findings if one.verdict is Verdict.FAILS]
    assert finding.problem
    assert finding.problem.fields == {"words": words, "instead": tuple(instead)}


@pytest.fixture
def rules(home: Path, tmp_path: Path) -> Check:
    """Checks a text against an act with bounds on shares, months, penalties and acts."""
    articles = [
        (
            "1",
            "規約",
            ["規約は、総構成員の四分の三以上の同意があるときに限り、変更することができる。"],
        ),
        ("2", "終了", ["契約は、通知の日から六月を経過することによつて終了する。"]),
        ("3", "期間", ["許可の有効期間は、交付の日から十八月とする。"]),
        ("4", "罰則", ["舟を損なつた者は、三年以下の拘禁刑又は五十万円以下の罰金に処する。"]),
        ("5", "取消し", ["前条の規定に反する法律行為は、取り消すことができる。"]),
        (
            "6",
            "予告",
            [
                "舟の主は、船頭を解こうとするときは、少くとも三十日前にその予告をしなければならない。"
                "予告をしない舟の主は、三十日分以上の賃金を払わなければならない。"
                "ただし、やむを得ない場合は、この限りでない。"
            ],
        ),
    ]
    path = tmp_path / "599AC0000000001_20200401_000000000000000.xml"
    path.write_text(law_xml(articles), encoding="utf-8")
    corpus = localrag.open(home).corpus()
    corpus.add(path)
    return corpus.as_of("2021-04-01").check


@each(
    ("text", "words", "instead"),
    [
        (
            "規約は、総構成員の四分の三を超える同意があるときに限り、変更することができる"
            "（渡し舟法1条）。",
            "四分の三を超える",
            ("四分の三以上",),
        ),
        (
            "契約は、通知の日から16月を経過することによつて終了する（渡し舟法2条）。",
            "16月",
            ("六月",),
        ),
        (
            "渡し舟法3条によれば、許可の有効期間は、交付の日から二十四月とする。",
            "二十四月",
            ("十八月",),
        ),
        (
            "舟を損なつた者は、三年以下の拘禁刑又は百万円以下の罰金に処する（渡し舟法4条）。",
            "百万円以下",
            ("五十万円以下",),
        ),
        (
            "前条の規定に反する法律行為は、取り消すことができない（渡し舟法5条）。",
            "取り消すことができない",
            ("取り消すことができる",),
        ),
        (
            "舟の主は、船頭を解こうとするときは、四十日前に予告をしなければならない"
            "（渡し舟法6条）。",
            "四十日",
            ("少くとも三十日",),
        ),
    ],
)
def test_what_is_wrong_is_named_with_what_is_right(
    rules: Check, text: str, words: str, instead: tuple[str, ...]
) -> None:
    (finding,) = [one for one in rules(text).findings if one.verdict is Verdict.FAILS]
    assert finding.problem
    assert finding.problem.kind.code == "said-otherwise"
    assert finding.problem.fields == {"words": words, "instead": instead}


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("四分の三以上の", "四分の三以上"),
        ("四分の三の", "四分の三"),
        ("七十五パーセント以上の", "四分の三以上"),
    ],
)
def test_the_same_share_is_not_wrong(rules: Check, said: str, words: str) -> None:
    rule = f"規約は、総構成員の{said}同意があるときに限り、変更することができる（渡し舟法1条）。"
    assert wrong(rules(rule)) == [], words


@pytest.mark.parametrize("ending", ["してはならない", "する必要はない"])
def test_a_duty_does_not_hold_as_its_contrary(rules: Check, ending: str) -> None:
    text = f"渡し舟法6条によれば、舟の主は船頭を解こうとするときその予告を{ending}。"
    (finding,) = of_part(rules(text), "statement")
    assert finding.verdict is not Verdict.HOLDS


def test_a_court_in_the_name_of_a_law_is_no_court(home: Path, tmp_path: Path) -> None:
    xml = law_xml([("1", "趣旨", ["この法律は、渡し場の管理について定めるものとする。"])])
    path = tmp_path / "599AC0000000001_20200401_000000000000000.xml"
    path.write_text(xml.replace("渡し舟法", "渡し場裁判所法"), encoding="utf-8")
    corpus = localrag.open(home).corpus()
    corpus.add(path)
    said = "この法律は、渡し場の売買について別に定めるものとするほか、何も定めない。"
    for tells in ("とされている。", "。"):
        text = f"この点については、「{said}」（渡し場裁判所法第1条）{tells}"
        (quotation,) = of_part(corpus.as_of("2021-04-01").check(text), "quotation")
        assert quotation.verdict is Verdict.FAILS


def test_a_sentence_without_a_difference_is_not_said_to_hold(check: Check) -> None:
    (finding,) = of_part(check("登録の有効期間は5年である（渡し舟法4条3項）。"), "statement")
    assert finding.verdict is Verdict.HOLDS
    assert wording.verdict(finding) == "statement – no difference found"


def test_figures_are_compared_with_those_of_their_unit(home: Path, tmp_path: Path) -> None:
    rule = (
        "渡し場の主は、一箇月、二箇月及び三箇月の期間を加えた期間における労働時間の"
        "平均時間を、八十時間を超えないものとしなければならない。"
    )
    path = tmp_path / "599AC0000000001_20200401_000000000000000.xml"
    path.write_text(law_xml([("1", "時間", [rule])]), encoding="utf-8")
    corpus = localrag.open(home).corpus()
    corpus.add(path)
    check = corpus.as_of("2021-04-01").check
    of_sum = "渡し舟法第1条により、6か月の期間を加えた期間における労働時間の平均時間とする。"
    assert [one.verdict for one in of_part(check(of_sum), "statement")] == [Verdict.UNCHECKED]
    of_hours = (
        "渡し舟法第1条により、渡し場の主は、労働時間の平均時間を、100時間を超えないものと"
        "しなければならない。"
    )
    (finding,) = of_part(check(of_hours), "statement")
    assert finding.verdict is Verdict.FAILS
    assert "八十時間" in str(finding.problem)


def test_names_in_marks_and_columns_are_citations(check: Check) -> None:
    table = "| 法令名 | 条番号 | 内容 |\n|---|---|---|\n| 渡し舟法 | 999 | なし |\n"
    for text in ("『渡し舟法』第999条による。", table):
        assert [one.verdict for one in of_part(check(text), "citation")] == [Verdict.FAILS]


def test_straight_marks_and_the_end_of_a_block_quote(check: Check) -> None:
    words = "渡し舟の全く別の言葉をここに長々と書き連ねたものである。"
    for text in (f'"{words}"（渡し舟法第1条）', f"> {words}（渡し舟法第1条）\n"):
        assert len(of_part(check(text), "quotation")) == 1


def test_items_below_their_provision_are_counted(check: Check) -> None:
    text = "渡し舟法第6条の期間は、次のとおりである。\n\n- 二十日\n- 三十日\n"
    listed = [one for one in of_part(check(text), "statement") if "十日" in one.said]
    assert [one.verdict for one in listed] == [Verdict.UNCHECKED] * 2

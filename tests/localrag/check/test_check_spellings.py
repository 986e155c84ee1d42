"""Citations, quotations and sentences as courts, lawyers and newspapers spell them."""

from pathlib import Path

import pytest

import localrag
from localrag.check import Verdict
from localrag.errors import InputError

from ...rows import each
from ..ferries import law_xml
from .conftest import Check, of_part, wrong

SAILS = "舟は、六箇月ごとに、少くとも三十日前に届け出て、又は検査を受けなければならない。"


@pytest.fixture
def act(home: Path, tmp_path: Path) -> Check:
    """Checks a text against an act of seven articles."""
    articles = [
        (
            "1",
            "届出",
            [
                SAILS,
                "船頭は、疑うに足りる相当な理由があるときは、舟を止めることができる。"
                "ただし、正当な理由がなく岸を離れた場合に限る。",
            ],
        ),
        (
            "2",
            "休み",
            [
                "船頭は、産後八週間を経過しない女性を舟で働かせてはならない。"
                "ただし、産後六週間を経過した女性が求めた場合は、この限りでない。"
            ],
        ),
        (
            "3",
            "罰則",
            ["舟を損なつた者は、三年以下の拘禁刑又は五十万円以下の罰金に処する。"],
        ),
        (
            "4",
            "予告",
            [
                "舟の主は、船頭を解こうとするときは、三十日前にその予告をしなければならない。"
                "予告をしない舟の主は、賃金を払わなければならない。"
            ],
        ),
        ("5", "賠償", ["舟の主は、他人に加えた損害を賠償する責任を負う。"]),
        ("6", "減軽", ["情状により、その刑を減軽することができる。"]),
        ("7", "準用", ["第二条から第四条まで及び第六条の規定は、船頭について準用する。"]),
    ]
    path = tmp_path / "599AC0000000001_20200401_000000000000000.xml"
    path.write_text(law_xml(articles), encoding="utf-8")
    corpus = localrag.open(home).corpus()
    corpus.add(path)
    # Nothing is asserted about a text more than five years old.
    return corpus.as_of("2021-04-01").check


def cited(check: Check, text: str) -> list[tuple[str, str]]:
    """Each citation of a text: its words and its verdict."""
    return [(one.said, one.verdict.value) for one in of_part(check(text), "citation")]


def told(check: Check, text: str, part: str = "statement") -> tuple[str, str]:
    """The verdict and reason of the only finding of a part."""
    (finding,) = of_part(check(text), part)
    return finding.verdict.value, finding.problem.kind.code if finding.problem else ""


def test_kanji_numbers_without_their_sign_are_citations(act: Check) -> None:
    text = "渡し舟法一条、二条及び四〇条。三条による。同法一条一項、二項及び三項。1条2項。"
    assert cited(act, text) == [
        ("渡し舟法一条", "holds"),
        ("二条", "holds"),
        ("四〇条", "does-not-hold"),
        ("三条", "holds"),
        ("同法一条一項", "holds"),
        ("二項", "holds"),
        ("三項", "does-not-hold"),
        ("1条2項", "holds"),
    ]
    assert cited(act, "渡し舟法の一条と、前掲法二条、前掲渡し舟法三条、上記法九条。") == [
        ("一条", "holds"),
        ("前掲法二条", "holds"),
        ("渡し舟法三条", "holds"),
        ("上記法九条", "does-not-hold"),
    ]
    # Only the article has no caption.
    text = "渡し舟法二条から四条までおよび一条第二項、一条第三項による。"
    assert cited(act, text) == [
        ("渡し舟法二条から四条まで", "holds"),
        ("一条第二項", "holds"),
        ("一条第三項", "does-not-hold"),
    ]
    # The law is unknown, and the finding says so.
    (finding,) = of_part(act("過失相殺は七二二条二項による。"), "citation")
    assert finding.problem
    assert finding.problem.kind.code == "law-untold"


def test_a_paragraph_of_a_branch_needs_no_sign(check: Check) -> None:
    assert cited(check, "渡し舟法六条の二一項、渡し舟法六条の二九項。") == [
        ("渡し舟法六条の二一項", "holds"),
        ("渡し舟法六条の二九項", "does-not-hold"),
    ]


def test_each_of_a_list_of_short_citations_is_told_by_itself(check: Check) -> None:
    assert cited(check, "渡し舟法4①③、渡し舟法4⑨、14①一・二\n渡し舟法7、10③〜⑤\n渡し舟法90①") == [
        ("渡し舟法4①", "holds"),
        ("③", "holds"),
        ("渡し舟法4⑨", "does-not-hold"),
        ("14①一", "holds"),
        ("二", "holds"),
        ("渡し舟法7", "holds"),
        ("10③〜⑤", "does-not-hold"),
        ("渡し舟法90①", "does-not-hold"),
    ]
    assert cited(check, "届出: 渡し舟法4①、渡し舟法14①九\n罰則: 渡し舟法90") == [
        ("渡し舟法4①", "holds"),
        ("渡し舟法14①九", "does-not-hold"),
        ("渡し舟法90", "does-not-hold"),
    ]


def test_the_mark_of_a_footnote_says_nothing_of_a_provision(check: Check) -> None:
    text = "[3] 渡し舟法4条1項。\n[^4]: 渡し舟法7条。\n５）渡し舟法8条1項。\n注6) 渡し舟法9条。"
    assert {one.part.value for one in check(text).findings} == {"citation"}


def test_of_a_long_range_nothing_is_compared(check: Check) -> None:
    said = told(check, "渡し舟法第3条から第10条までは、渡し場の許可について定める。")
    assert said == ("not-checked", "provisions-too-many")


def test_a_paragraph_of_an_article_is_no_branch_of_it(check: Check) -> None:
    assert cited(check, "渡し舟法4条の3項、渡し舟法第4条の第3項、渡し舟法第四条の10項。") == [
        ("渡し舟法4条の3項", "holds"),
        ("渡し舟法第4条の第3項", "holds"),
        ("渡し舟法第四条の10項", "does-not-hold"),
    ]


def test_the_law_tells_where_a_branch_ends_and_its_paragraph_begins(
    home: Path, tmp_path: Path
) -> None:
    paragraphs = [f"舟は、{n}号の岸に着く。" for n in range(1, 12)]
    articles = [
        ("1_2", "岸", paragraphs),
        ("3_2", "岸", paragraphs),
        ("3_21", "帆", ["帆を張る。"]),
    ]
    path = tmp_path / "599AC0000000001_20200401_000000000000000.xml"
    path.write_text(law_xml(articles), encoding="utf-8")
    made = localrag.open(home).corpus()
    made.add(path)
    corpus = made.as_of("2021-04-01")
    places = ("一条の二一一項", "1条の211項", "一条の二十一項", "一条の三一一項")
    text = "。".join(f"渡し舟法{place}" for place in places)
    assert [
        (one.verdict.value, one.provision) for one in of_part(corpus.check(text), "citation")
    ] == [
        ("holds", "渡し舟法第1条の2第11項"),
        ("holds", "渡し舟法第1条の2第11項"),
        ("holds", "渡し舟法第1条の2第11項"),
        ("does-not-hold", "渡し舟法"),
    ]
    (finding,) = of_part(corpus.check("渡し舟法三条の二一一項。"), "citation")
    assert finding.problem
    assert finding.problem.fields == {"provisions": ("渡し舟法第3条の2第11項", "渡し舟法第3条の21")}


def test_what_is_counted_or_called_so_is_no_citation(act: Check) -> None:
    text = "渡し舟法は全六条からなり、三条市、四条通、五か条、十七条憲法とは別である。"
    assert cited(act, text) == []


@each(
    "text",
    [
        "設立\n渡し舟法第1条は、届出を定める。",
        "・船頭の責任\n渡し舟法1条",
        "件名 渡し場の件 1\n渡し舟法1条",
        "令和6年4月1日\n渡し舟法第1条の届出について",
        "1渡し舟法第1条\n2渡し舟法第2条",
        "ア渡し舟法第1条",
        "届出の根拠は渡し\n舟法第1条である。",
    ],
)
def test_a_line_above_is_no_part_of_the_name_of_a_law(act: Check, text: str) -> None:
    report = act(text)
    assert {one.verdict for one in of_part(report, "citation")} == {Verdict.HOLDS}
    assert of_part(report, "law") == []


def test_the_same_article_is_the_one_cited_last(act: Check) -> None:
    text = (
        "第1条（目的）\n本契約は舟の契約である。\n第2条（届出）\n"
        "乙は、渡し舟法第1条に従う。同条第2項及び同条第9項も同じとする。\n"
        "第3条（解除）\n甲は、第2条に反した乙に対し、同条の契約を解除できる。同条第9項は残る。"
    )
    assert cited(act, text) == [
        ("渡し舟法第1条", "holds"),
        ("同条第2項", "holds"),
        ("同条第9項", "does-not-hold"),
        ("第2条", "holds"),
        ("同条", "holds"),
        ("同条第9項", "does-not-hold"),
    ]


@each(
    ("old", "new"),
    [
        ("六箇月", "六か月"),
        ("六箇月", "6ヶ月"),
        ("少くとも三十日", "少なくとも30日"),
        ("、又は", "、または"),
        ("六箇月ごとに、少くとも三十日前に届け出て、又は", "六ヵ月ごとに、…または"),
    ],
)
def test_another_notation_is_told_and_not_called_wrong(act: Check, old: str, new: str) -> None:
    words = SAILS.replace(old, new)
    report = act(f"渡し舟法第1条第1項は「{words}」と定める。")
    (finding,) = of_part(report, "quotation")
    assert finding.verdict is Verdict.UNCHECKED
    assert finding.problem
    assert finding.problem.kind.code == "quoted-in-other-notation"
    assert "".join(part.said for part in finding.diff) == words.rstrip("。") + "。"


def test_a_conjunction_behind_a_range_is_the_same_word_in_kana(act: Check) -> None:
    words = "第二条から第四条まで{}第六条の規定は、船頭について準用する。"
    quoted = "渡し舟法第7条は「{}」と定める。"
    for conjunction, verdict in (
        ("および", ("not-checked", "quoted-in-other-notation")),
        ("または", ("does-not-hold", "quoted-otherwise")),
    ):
        text = quoted.format(words.format(conjunction))
        assert told(act, text, "quotation") == verdict


@each(
    ("old", "new"),
    [("六箇月", "七か月"), ("又は", "及び"), ("届け出て", "届け出た"), ("検査", "検閲")],
)
def test_another_word_is_wrong_in_any_notation(act: Check, old: str, new: str) -> None:
    words = SAILS.replace("少くとも", "少なくとも").replace(old, new)
    assert wrong(act(f"渡し舟法第1条第1項は「{words}」と定める。")) == [(words, "quoted-otherwise")]


def test_a_figure_of_another_case_does_not_hold_for_this_one(act: Check) -> None:
    said = "船頭は、産後{}を経過しない女性を舟で働かせてはならない（渡し舟法2条）。"
    assert told(act, said.format("8週間")) == ("holds", "")
    assert told(act, said.format("6週間")) == ("not-checked", "figure-of-another-case")
    assert told(act, said.format("7週間")) == ("does-not-hold", "said-otherwise")


def test_a_requirement_is_no_contradiction_of_a_condition(act: Check) -> None:
    for needs in ("が必要である", "がなければならない"):
        text = f"渡し舟法1条2項により舟を止めるには、疑うに足りる相当な理由{needs}。"
        assert wrong(act(text)) == []


def test_a_sentence_does_not_hold_where_its_citation_does_not(act: Check) -> None:
    text = "舟の主は、他人に加えた損害を賠償する責任を負う（渡し舟法5条{}）。"
    assert told(act, text.format("")) == ("holds", "")
    assert told(act, text.format("ただし書")) == ("not-checked", "cited-wrongly")


def test_the_penalty_of_before_is_one_of_another_state(act: Check) -> None:
    said = "舟を損なつた者は、{}以下の{}又は五十万円以下の罰金に処する。"
    for old in ("懲役", "懲役若しくは禁錮"):
        assert told(act, f"渡し舟法3条によれば、{said.format('3年', old)}") == (
            "not-checked",
            "penalty-renamed",
        )
        quoted = f"渡し舟法3条は「{said.format('三年', old)}」と定める。"
        assert told(act, quoted, "quotation") == ("does-not-hold", "penalty-renamed")
    # Another length is another penalty in any state.
    assert told(act, f"渡し舟法3条によれば、{said.format('5年', '懲役')}")[1] == "said-otherwise"
    quoted = f"渡し舟法3条は「{said.format('五年', '懲役')}」と定める。"
    assert told(act, quoted, "quotation")[1] == "quoted-otherwise"


@each(
    "ending",
    ["することができる", "してはならない", "する必要はない", "することを要しない"],
)
def test_a_duty_turned_round_is_wrong(act: Check, ending: str) -> None:
    rule = "舟の主は、船頭を解こうとするときは、三十日前にその予告を"
    assert told(act, f"渡し舟法4条によれば、{rule}しなければならない。") == ("holds", "")
    for tells in ("。", "と規定している。", "とされる。"):
        text = f"渡し舟法4条によれば、{rule}{ending}{tells}"
        assert told(act, text) == ("does-not-hold", "said-otherwise")


def test_a_sentence_of_another_article_is_told_with_where(act: Check) -> None:
    rule = "舟の主は、船頭を解こうとするときは、三十日前にその予告をしなければならない"
    text = f"渡し舟法{{}}は、{rule}と定める。"
    assert told(act, text.format("4条")) == ("holds", "")
    assert told(act, text.format("5条")) == ("does-not-hold", "quoted-elsewhere")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("渡し舟法5条によれば、舟の主は、第三者に損害を賠償する責任を負う。", "第三者"),
        ("渡し舟法6条により、情状により、その刑を軽減することができる。", "軽減"),
    ],
)
def test_words_that_the_provision_lacks_are_told(act: Check, text: str, words: str) -> None:
    (finding,) = of_part(act(text), "statement")
    assert finding.verdict is Verdict.UNCHECKED
    assert finding.problem
    assert finding.problem.fields == {"words": (words,)}


def test_what_a_provision_speaks_of_is_no_party_of_a_case(act: Check) -> None:
    text = "渡し舟法5条の被告は「他人に加えた損害を賠償する責任を負う」と定められている。"
    assert told(act, text, "quotation") == ("holds", "")
    # Quotations of others are checked too.
    text = "渡し舟法5条について、最高裁は「損害とは舟の損害に限られない」と判示した。"
    assert told(act, text) == ("not-checked", "not-of-the-provision")


def test_a_day_with_the_letter_of_its_era_is_no_figure(act: Check) -> None:
    text = "R02.4.1施行の渡し舟法5条によれば、舟の主は、損害を賠償する責任を負う。"
    assert told(act, text) == ("not-checked", "not-of-the-provision")


def test_a_whole_title_of_before_is_known(home: Path, tmp_path: Path) -> None:
    title, former = "外国為替及び外国貿易法", "外国為替及び外国貿易管理法"
    path = tmp_path / "324AC0000000001_20200401_000000000000000.xml"
    text = law_xml([("1", "目的", ["舟で貿易をする。"])]).replace("渡し舟法", title)
    path.write_text(text.replace("令和九十九年", "昭和二十四年"), encoding="utf-8")
    corpus = localrag.open(home).corpus()
    corpus.add(path)
    report = corpus.check(f"{former}第1条に違反する。")
    assert wrong(report) == [(former, "law-called")]
    (finding,) = of_part(report, "citation")
    assert finding.problem
    assert finding.problem.fields == {"title": title}
    assert corpus.check(f"{title}第1条に違反する。").holds


def test_a_file_that_cannot_be_read_is_named(corpus: localrag.Corpus, tmp_path: Path) -> None:
    path = tmp_path / "memo.txt"
    path.write_text("")
    with pytest.raises(InputError, match=r"memo\.txt: .*empty"):
        corpus.check(path)


@pytest.mark.parametrize(("period", "verdict"), [("五年", "holds"), ("六年", "does-not-hold")])
def test_a_short_sentence_with_a_figure_is_a_statement(
    check: Check, period: str, verdict: str
) -> None:
    assert told(check, f"渡し舟法4条3項は{period}とする。")[0] == verdict

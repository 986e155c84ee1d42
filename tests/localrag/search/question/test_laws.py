"""Which laws a question names, of a small corpus of well-known ones."""

from localrag.law.names import LawNames
from localrag.search.question.laws import LawNamed, laws_named, without_names

from ....growth import assert_linear
from ....rows import each

DRUGS = "医薬品、医療機器等の品質、有効性及び安全性の確保等に関する法律"
NAMES = LawNames.from_rows(
    [
        ("drugs", DRUGS, "昭和三十五年法律第百四十五号", "Act", ""),
        ("markets", "金融商品取引法", "昭和二十三年法律第二十五号", "Act", ""),
        (
            "markets-order",
            "金融商品取引法施行令",
            "昭和四十年政令第三百二十一号",
            "CabinetOrder",
            "",
        ),
        (
            "markets-terms",
            "金融商品取引法第二条に規定する定義に関する内閣府令",
            "",
            "MinisterialOrdinance",
            "",
        ),
        ("civil", "民法", "明治二十九年法律第八十九号", "Act", ""),
        ("commerce", "商法", "明治三十二年法律第四十八号", "Act", ""),
        ("medical", "医療法", "昭和二十三年法律第二百五号", "Act", ""),
        ("privacy", "個人情報の保護に関する法律", "平成十五年法律第五十七号", "Act", ""),
        ("privacy-order", "個人情報の保護に関する法律施行令", "", "CabinetOrder", ""),
        ("labour", "労働基準法", "昭和二十二年法律第四十九号", "Act", ""),
        ("civil-service", "人事院規則一一―四（職員の身分保障）", "", "MinisterialOrdinance", ""),
    ]
)


def read(question: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(law.words, law.law_ids) for law in laws_named(question, NAMES)]


@each(
    ("question", "words", "law_id"),
    [
        ("薬機法で誇大広告は禁止されているか", "薬機法", "drugs"),
        ("民法典の時効", "民法典", "civil"),
        ("民法上の成年は何歳か", "民法", "civil"),
        ("改正個人情報保護法の漏えい報告", "個人情報保護法", "privacy"),
        ("個人情報保護法対応で何をするか", "個人情報保護法", "privacy"),
        ("昭和二十三年法律第二十五号の目的", "昭和二十三年法律第二十五号", "markets"),
        ("金商法施行令で定める有価証券", "金商法施行令", "markets-order"),
        ("金商法の施行令では", "金商法の施行令", "markets-order"),
        ("人事院規則１１―４によると", "人事院規則１１―４", "civil-service"),
        ("労基法　解雇予告", "労基法", "labour"),
        ("Insider trading under the FIEA?", "FIEA", "markets"),
        (
            "What does the financial instruments and exchange act forbid?",
            "financial instruments and exchange act",
            "markets",
        ),
        ("APPIにおける同意", "APPI", "privacy"),
        (
            "Order for Enforcement of the FIEA, Article 6",
            "Order for Enforcement of the FIEA",
            "markets-order",
        ),
        ("FIEA Enforcement Order, Article 6", "FIEA Enforcement Order", "markets-order"),
    ],
)
def test_a_law_of_the_corpus_is_read_under_any_name(question: str, words: str, law_id: str) -> None:
    assert read(question) == [(words, (law_id,))]


@each(
    ("question", "words"),
    [
        ("会社法における取締役の任期は何年か", "会社法"),
        ("会社法施行規則第118条", "会社法施行規則"),
        ("会社法の施行規則では", "会社法の施行規則"),
        ("薬機法施行規則に規定する化粧品", "薬機法施行規則"),
        ("労契法では解雇はどうなるか", "労契法"),
        ("下請法だと何日以内に払うか", "下請法"),
        ("景観法に基づく届出", "景観法"),
        ("貨物自動車運送事業法の許可", "貨物自動車運送事業法"),
        ("生成ＡＩ利用者保護法では誰が責任を負うか", "生成ＡＩ利用者保護法"),
        ("平成十七年法律第八十六号の目的", "平成十七年法律第八十六号"),
        ("無限連鎖講の防止に関する法律によれば", "無限連鎖講の防止に関する法律"),
        ("迷惑防止条例の痴漢", "迷惑防止条例"),
        ("反対を受け新公害条例第3条を改めた", "公害条例"),
        ("方針に従い環境基本条例第2条を改めた", "環境基本条例"),
        ("これを空き家対策条例と呼ぶ", "空き家対策条例"),
        ("GDPRにおける同意", "GDPR"),
        ("Does the Companies Act require a board?", "Companies Act"),
        ("When is dismissal void under the Labor Contracts Act?", "Labor Contracts Act"),
        ("Is this a crime under the Clean Rivers Act?", "Clean Rivers Act"),
        ("人事院規則九―八の初任給", "人事院規則九―八"),
        ("米国労働基準法では", "米国労働基準法"),
        ("What does Article 5 of the German APPI say?", "German APPI"),
        ("the FIEA Enforcement Regulations", "FIEA Enforcement Regulations"),
        (
            "the Financial Instruments and Exchange Act of the Republic of Korea",
            "Financial Instruments and Exchange Act of the Republic of Korea",
        ),
        ("中国民法典によれば時効は何年か", "中国民法典"),
        ("旧薬事法の許可", "薬事法"),
        ("AIガバナンス法では", "AIガバナンス法"),
        ("ハーグ子奪取条約の中央当局", "ハーグ子奪取条約"),
        ("空き家法の特定空家", "空き家法"),
        ("月面開発促進法では何ができるか", "月面開発促進法"),
        ("旅券法の有効期間", "旅券法"),
        ("漁船法 登録", "漁船法"),
        ("教えてほしい。運河法における許可は", "運河法"),
        ("商法施行法の商号", "商法施行法"),
    ],
)
def test_a_law_that_the_corpus_lacks_is_known_as_a_law(question: str, words: str) -> None:
    assert read(question) == [(words, ())]


@each(
    "question",
    [
        "減価償却の計算方法における定額法では何年か",
        "違法な広告に対する司法の手法",
        "国際法上の原則と労働法の体系",
        "特別法は一般法に優先するか",
        "税法上の取扱い",
        "就業規則では何を定めるか",
        "マルチ商法は禁止されているか",
        "マルチ商法の罰則は",
        "催眠商法で買った布団を返せるか",
        "デート商法の適用はあるか",
        "三段論法で説明する",
        "再販売価格基準法では何を比べるか",
        "後入先出法の適用",
        "十進法で書く",
        "古い法典を読む",
        "送りつけ商法の商品は捨ててよいか",
        "医療法人の設立",
        "会計法規の解釈",
        "条例で定める手数料、市の条例、都道府県条例",
        "政令で定める金額はいくらか",
        "施行令では手数料はいくらか",
        "同法は何を定めるか",
        "平成二十六年改正法では何が変わったか",
        "PCR法で調べる",
        "避妊法の種類",
        "勉強法について",
        "悪徳商法の被害",
        "古い漁船法の登録",
        "化粧品薬機法 広告",
        "租税条約と国際条約",
        "What does the Act say? In that case act on it.",
        "",
    ],
)
def test_what_is_no_law_is_not_taken_for_one(question: str) -> None:
    assert read(question) == []


def test_a_law_that_is_lacking_is_read_after_another_by_the_article_cited_of_it() -> None:
    for cited in ("旅券法5条", "旅券法の5条", "旅券法の第五条", "「旅券法」の5条"):
        assert read(f"民法1条と{cited}") == [("民法", ("civil",)), ("旅券法", ())]
    for other in ("違法の5条件", "計算方法の5条", "手法の5つ"):
        assert read(f"民法1条と{other}") == [("民法", ("civil",))]


@each(
    ("question", "names"),
    [
        ("旅券法と民法709条の関係", [("旅券法", ()), ("民法", ("civil",))]),
        ("民法第90条と旅券法の関係", [("民法", ("civil",)), ("旅券法", ())]),
        ("民法や漁船法の届出", [("民法", ("civil",)), ("漁船法", ())]),
        ("民法の解決方法と手法", [("民法", ("civil",))]),
    ],
)
def test_what_is_joined_to_a_law_is_one(
    question: str, names: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert read(question) == names


def test_what_stands_before_a_long_title_is_no_part_of_it() -> None:
    for law_id, title in (("drugs", DRUGS), ("privacy", "個人情報の保護に関する法律")):
        assert read(f"次のうち、{title}第1条において定める者は") == [(title, (law_id,))]
    lacking = "犯罪被害財産等による被害回復給付金の支給に関する法律"
    assert read(f"{lacking}における手続") == [(lacking, ())]


def test_an_order_is_read_by_the_law_named_before() -> None:
    assert read("個人情報保護法と同法施行令の違い") == [
        ("個人情報保護法", ("privacy",)),
        ("同法施行令", ("privacy-order",)),
    ]
    assert read("金商法の有価証券について、その政令では何が定められているか")[1] == (
        "その政令",
        ("markets-order",),
    )
    assert read("金商法の施行規則では何が定められているか") == [
        ("金商法の施行規則", ("markets-terms",))
    ]


def test_what_stands_under_a_law_can_be_told_by_the_corpus() -> None:
    laws = laws_named("薬機法の手数料、その政令では", NAMES, lambda _: ("markets-order",))
    assert [law.law_ids for law in laws] == [("drugs",), ("markets-order",)]


def test_several_laws_are_read_in_their_order_each_with_its_span() -> None:
    question = "金商法と会社法と民法の違い"
    laws = laws_named(question, NAMES)
    assert [law.law_ids for law in laws] == [("markets",), (), ("civil",)]
    assert [question[law.start : law.end] for law in laws] == ["金商法", "会社法", "民法"]


def test_the_question_without_its_laws_is_what_is_asked_of_them() -> None:
    question = "薬機法で誇大広告は禁止されているか"
    assert (
        without_names(question, laws_named(question, NAMES)).strip()
        == "で誇大広告は禁止されているか"
    )
    assert without_names("広告は禁止か", ()) == "広告は禁止か"


def test_a_corpus_without_laws_still_tells_laws_from_other_words() -> None:
    laws = laws_named("民法と療法", LawNames([]))
    assert laws == (LawNamed("民法", 0, 2, ()),)


def test_the_same_law_is_the_one_named_last() -> None:
    laws = laws_named("民法と同法、金商法と同法", NAMES)
    assert [law.law_ids for law in laws] == [("civil",), ("civil",), ("markets",), ("markets",)]


@each("piece", ["法", "Act ", "第一条の法", "の", "民法同法、"])
def test_a_long_text_takes_linear_time(piece: str) -> None:
    assert_linear(lambda size: laws_named(piece * (size // len(piece)), NAMES), 2_500)

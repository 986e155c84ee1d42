from hypothesis import given, settings
from hypothesis import strategies as st

from localrag.answer.checking import (
    ENOUGH,
    CandidateSentence,
    MismatchKind,
    carriers,
    confirms,
    covers,
    mismatches,
)

from ...growth import assert_linear
from ...rows import each

QUESTION = "When was the Fennimore refractor finished?"
LENS = "The main instrument is the Fennimore refractor, a telescope with a lens of 41 centimetres."
FINISHED = "It was finished in 1871 and is still used on public evenings."
CLAIM = "The Fennimore refractor was finished in 1871."
BAN = "何人も、渡し舟に関して、虚偽の記事を広告し、又は流布してはならない。"
DUTY = "渡し守は、毎年四月一日までに届出をしなければならない。"
PROVISO = "ただし、市長が定める場合は、この限りでない。"


def kinds(claim, *sentences, headings=(), question=""):
    found = mismatches(claim, sentences, headings=headings, question=question)
    return [mismatch.kind.value for mismatch in found]


@each(
    ("claim", "sentence"),
    [
        ("3年以下の懲役に処する。", "三年以下の懲役に処する。"),
        ("２０１５年に設立された。", "平成二十七年に設立された。"),
        ("5%を超える議決権をもつ。", "百分の五を超える議決権をもつ。"),
        ("300万円以下の罰金を科す。", "三百万円以下の罰金を科す。"),
        ("期間は3か月である。", "期間は、三月とする。"),
        (
            "出席者の2/3ではなく3分の2以上の同意による。",
            "出席者の2/3ではなく三分の二以上の同意による。",
        ),
        ("会費は1万2,000円です。", "会費は12000円である。"),
        ("一人の裁判官が扱う。", "1人の裁判官が扱う。"),
        ("百分の五を超えないものに限る。", "5%以下のものに限る。"),
        ("サーバを使う。", "サーバーを使う。"),
        ("2015年に始まった。", "2015年3月4日に始まった。"),
        ("The lens measures 41 cm.", "The lens measures forty-one centimetres."),
        ("It opened on 3 March 1871.", "It opened on March 3, 1871."),
        ("利率は年18％である。", "利率は年一割八分である。"),
        ("利率は年1割8分2厘である。", "利率は年十八・二パーセントである。"),
        ("利率は年5％である。", "利率は年五分である。"),
        ("123,456年である。", "十二万三千四百五十六年である。"),
        ("At least 25% agreed.", "No less than twenty-five percent agreed."),
        ("The town has 1.5 million people.", "The town has 1,500,000 people."),
    ],
)
def test_one_thing_in_two_spellings_is_said(claim, sentence):
    assert kinds(claim, sentence) == []


@each(
    ("claim", "sentence", "kind"),
    [
        ("三年以下の懲役に処する。", "五年以下の懲役に処する。", "period"),
        ("2016年に設立された。", "平成二十七年に設立された。", "date"),
        ("2015年4月に設立された。", "平成二十七年に設立された。", "date"),
        ("議決権の6%をもつ。", "議決権の百分の五をもつ。", "share"),
        ("罰金は200万円である。", "罰金は三百万円である。", "amount"),
        ("17.57億バレルある。", "17.27億バレルある。", "figure"),
        ("利率は年2割である。", "利率は年一割八分である。", "share"),
        ("利率は年三分である。", "利率は年五分である。", "share"),
        ("三万億兆円である。", "三円である。", "figure"),
        ("五京円である。", "五円である。", "figure"),
        ("5拠点を結ぶ。", "六拠点を結ぶ。", "figure"),
        ("第27条の3の有価証券をいう。", "第二十七条の二の有価証券をいう。", "provision"),
        ("太郎はロンドに住む。", "太郎はロンドンに住む。", "name"),
        ("川は「青い瀬」という。", "川は「白い瀬」という。", "name"),
        ("議決権の5%以上をもつ。", "議決権の百分の五を超えてもつ。", "bound"),
        ("3月以上の期間を置く。", "三月以内の期間を置く。", "bound"),
        ("2015年以前に始めた。", "2015年以降に始めた。", "bound"),
        ("舟を出さなければならない。", "舟を出すことができる。", "modality"),
        ("舟を出すことができる。", "舟を出してはならない。", "negation"),
        ("舟は出なかった。", "舟は出た。", "negation"),
        ("渡し守に限り舟を出す。", "渡し守が舟を出す。", "exception"),
        ("The ferry sank in 1872.", "The ferry sank in 1871.", "date"),
        ("It opened on March 4, 1871.", "It opened on March 3, 1871.", "date"),
        ("The ferry of Tarn Skerry sank.", "The ferry of Port Lanrick sank.", "name"),
        ("He must enter.", "He may enter.", "modality"),
        ("He may enter.", "He must not enter.", "negation"),
        ("It did not sink.", "It sank and did sink.", "negation"),
        ("More than 40 people came.", "At least 40 people came.", "bound"),
        ("All may enter except children.", "All may enter, children as well.", "exception"),
    ],
)
def test_what_the_sentences_do_not_say_is_named(claim, sentence, kind):
    found = mismatches(claim, [sentence])
    assert kind in [mismatch.kind.value for mismatch in found]
    assert all(mismatch.written in claim for mismatch in found)


def test_a_claim_about_one_thing_citing_another_is_carried_by_the_sentence_that_says_it():
    (found,) = mismatches(CLAIM, [LENS], question=QUESTION)
    assert (found.kind, found.written) == (MismatchKind.DATE, "1871")
    assert covers(CLAIM, [LENS], question=QUESTION) < ENOUGH

    others = [
        CandidateSentence("The ferry sails at noon."),
        CandidateSentence(FINISHED, "Quillmere Observatory"),
    ]
    carrier = carriers(CLAIM, others, cited=[LENS], question=QUESTION)
    assert carrier is not None
    assert (carrier.index, carrier.alone) == (1, True)
    assert carriers(CLAIM, others[:1], cited=[LENS], question=QUESTION) is None
    assert carriers(CLAIM, [], question=QUESTION) is None


def test_a_sentence_may_carry_a_claim_only_together_with_those_cited():
    carrier = carriers(
        "The Fennimore refractor has a lens of 41 cm and was finished in 1871.",
        [CandidateSentence(FINISHED)],
        cited=[LENS],
    )
    assert carrier is not None
    assert not carrier.alone


def test_a_claim_on_something_else_is_not_covered():
    assert covers("The harbour is famous for its oysters.", [LENS]) < ENOUGH
    assert covers("港は牡蠣で名高い。", [BAN]) < ENOUGH
    assert covers("虚偽の記事の広告は禁止されている。", [BAN]) >= ENOUGH


def test_the_answer_itself_must_stand_in_the_sentences():
    question = "渡し守が届出をする相手は誰か"
    asked = {"question": question}
    assert covers("渡し守が届出をする相手は役場である。", [DUTY], **asked) < ENOUGH
    assert covers("渡し守が届出をする相手は役場である。", ["届出は役場にする。"], **asked) >= ENOUGH


def test_facts_of_a_question_may_be_repeated_unless_it_asks_to_have_them_confirmed():
    sentence = "三年以下の懲役に処する。"
    assert kinds("五年の刑は懲役です。", sentence, question="五年の刑は何か") == []
    assert kinds("懲役は五年です。", sentence, question="懲役は五年か") == ["period"]
    assert kinds("It was finished in 1871.", LENS, question="Was it finished in 1871?") == ["date"]


@each(
    ("question", "expected"),
    [
        ("懲役は五年か", True),
        ("広告は禁止されていますか？", True),
        ("Is it finished?", True),
        ("懲役は何年か", False),
        ("When was it finished?", False),
        ("広告 罰則", False),
        ("", False),
    ],
)
def test_questions_that_ask_for_yes_or_no_are_told(question, expected):
    assert confirms(question) is expected


@each(
    ("claim", "sentences", "expected"),
    [
        ("虚偽の記事を広告してはならない。", [BAN], []),
        ("虚偽の記事の広告は禁止されている。", [BAN], []),
        ("虚偽の記事を広告することができる。", [BAN], ["negation"]),
        ("渡し守は届出をする必要がある。", [DUTY], []),
        ("渡し守は届出をする必要はない。", [DUTY], ["negation"]),
        ("市長が定める場合は届出は不要である。", [DUTY, PROVISO], []),
        ("渡し守の届出は必要である。", ["届出を要しない。"], ["negation"]),
        ("法人を含む。", ["法人を除く。"], ["negation"]),
        ("法人は含まない。", ["法人を除く。"], []),
        ("利用は増加した。", ["利用は減少した。"], ["counterpart"]),
        (
            "舟を出すことは不可能である。",
            ["舟を出すことは可能であるが、届出が要る。"],
            ["negation"],
        ),
        ("舟を出すことは不可能である。", ["舟を出すことができない。"], []),
        ("届出は不必要である。", ["届出を要しない。"], []),
        ("名簿は公開する。", ["名簿は、非公開とする。"], ["negation"]),
        ("名簿は非公開としなければならない。", ["名簿を公開してはならない。"], []),
        ("名簿は公開してはならない。", ["名簿は、非公開とすることができる。"], ["modality"]),
        ("届出は任意である。", ["届け出なければならない。"], ["negation"]),
        ("届出は任意である。", ["届け出ることを要しない。"], []),
        ("舟は未登記である。", ["舟は登記されていない。"], []),
        ("期間は短縮できない。", ["期間を短縮してはならない。"], []),
        ("舟を出さないわけではない。", ["舟を出す。"], []),
        ("舟を出すことを妨げない。", ["舟を出すことができる。"], []),
        ("舟を出さないものとする。", ["舟を出してはならない。"], []),
        (
            "渡し守でなければ、舟を出すことができない。",
            ["渡し守でなければ、舟を出してはならない。"],
            [],
        ),
        ("He need not enter.", ["He is not required to enter."], []),
        ("He did not win but he may enter.", ["He may enter. He did not win."], []),
        ("It was open until 1871.", ["It was not closed until 1871 and was open."], []),
    ],
)
def test_duties_bans_liberties_and_their_denials_are_read(claim, sentences, expected):
    assert kinds(claim, *sentences) == expected


CONSENT = "町長は、本人の同意を得ないで、名簿を渡してはならない。"
AGREED = "渡し守は、特約がなければ、客に銭を請求することができない。"


@each(
    ("claim", "sentence", "is_carried"),
    [
        ("名簿を渡すには、本人の同意を得る必要がある。", CONSENT, True),
        ("名簿を渡すには、本人の同意を得なければならない。", CONSENT, True),
        ("本人の同意がなければ、名簿を渡すことができない。", CONSENT, True),
        (
            "本人の同意がなければ渡せない。",
            "名簿を渡すときは、本人の同意を得なければならない。",
            True,
        ),
        ("本人の同意がなければ、名簿を渡すことができる。", CONSENT, False),
        ("名簿を渡すことができる。", CONSENT, False),
        ("本人の同意を得る必要はない。", CONSENT, False),
        (
            "本人の同意がなければ、名簿を渡せない。",
            "同意がなくても、名簿を渡すことができる。",
            False,
        ),
        ("特約がある場合に限り、銭を請求できる。", AGREED, True),
        ("特約がない場合に限り、銭を請求できる。", AGREED, False),
        ("特約がなかった場合に限り、銭を請求できる。", AGREED, False),
        ("特約がある必要がある。", "特約がなければ、銭を払う必要はない。", False),
        ("銭を請求できる。", AGREED, False),
    ],
)
def test_without_it_not_is_only_with_it(claim, sentence, is_carried):
    assert (kinds(claim, sentence) == []) is is_carried


def test_what_is_said_of_listed_deeds_holds_of_each():
    listed = ["渡し守は、次に掲げる行為をしてはならない。", "客に対し、虚偽のことを告げる行為"]
    for claim in (
        "虚偽のことを告げてはならない。",
        "虚偽のことを告げる行為は禁止されている。",
        "渡し守は、次に掲げる行為をすることは禁止されている。",
        "渡し守が次に掲げる行為は禁止されている。",
    ):
        assert kinds(claim, *listed) == []
    assert kinds("虚偽のことを告げることができる。", *listed) == ["negation"]
    assert kinds("虚偽のことを告げる行為は許されている。", *listed) != []
    assert kinds("虚偽のことを告げなければならない。", *listed) != []


def test_of_two_readings_of_a_deed_one_must_stand_there():
    sentence = "催告をし、期間内に履行がないときは、契約を解除することができる。"
    assert kinds("催告し、履行がなければ解除できる。", sentence) == []


@each(
    ("claim", "sentence", "question", "expected"),
    [
        ("市長の許可が必要である。", "市長に届け出なければならない。", "何が要るか", ["許可"]),
        ("市長の許可が要る。", "市長に届け出なければならない。", "許可は要るか", ["許可"]),
        ("市長の認可が必要である。", "市長の許可を受けなければならない。", "", ["認可"]),
        ("市長への届出が必要である。", "市長に届け出なければならない。", "何が要るか", []),
        ("許可ではなく届出である。", "市長に届出をする。", "許可か届出か", []),
        ("入国が許可された。", "入国が許された。", "", []),
        ("買主は、代金を支払う。", "売主は、代金を支払う。", "", ["買主"]),
        ("買主は、代金を支払う。", "買主は、売主に代金を支払う。", "", []),
        ("未成年者は契約できる。", "成年者は、契約できる。", "", ["未成年者"]),
        ("財産とみなす。", "財産と推定する。", "", ["とみなす"]),
        ("締結の後に渡す。", "締結前に渡す。", "", ["締結の後"]),
        ("長男及び次男の同意を要する。", "長男又は次男の同意を要する。", "", ["長男及び次男"]),
        ("長男または次男の同意を要する。", "長男若しくは次男の同意を要する。", "", []),
        ("売買及び賃貸に適用する。", "売買又は賃貸に適用する。", "", []),
        ("売主は、買主に物を渡す。", "売主は、物を渡す。", "", []),
        ("過料に処し、罰金はない。", "過料に処する。", "", []),
        ("口頭でした約束。", "書面によらない約束。", "", []),
        ("出願をした後に渡す。", "出願前に渡す。", "", ["出願をした後"]),
        ("三十日後に渡す。", "三十日前に渡す。", "", []),
        ("締結後に渡す。", "締結前後に渡す。", "", []),
        ("The seller must pay.", "The buyer must pay.", "", ["seller"]),
        ("It is told after the sale.", "It is told before a sale.", "", ["after the sale"]),
        ("Wife and son must sign.", "The wife or the son signs.", "", ["Wife and son"]),
        ("最も高い山である。", "県で最も低い山である。", "", ["最も高"]),
        ("最高裁判所が定める。", "最低の額は裁判所が定める。", "", []),
    ],
)
def test_a_word_is_not_its_counterpart(claim, sentence, question, expected):
    found = mismatches(claim, [sentence], question=question)
    assert [one.written for one in found if one.kind is MismatchKind.COUNTERPART] == expected


@each(
    ("claim", "sentence", "expected"),
    [
        ("町長は村長に通知する。", "村長は、町長に通知する。", ["町長は"]),
        ("太郎が次郎を破った。", "次郎は太郎を破った。", ["太郎が"]),
        ("町長は村長に通知する。", "町長は、村長に通知する。", []),
        ("村長が町長に通知される。", "町長は、村長に通知する。", []),
        ("町は村に隣接する。", "村は、町に隣接する。", []),
        ("町長は村長から言葉を教わる。", "村長は、町長に言葉を教える。", []),
        ("町長は村長から銭の支払を受ける。", "村長は、町長から支払を受ける。", []),
        (
            "買主は、渡された物の修補を売主に請求できる。",
            "売主は、買主に渡された物の修補を請求できる。",
            ["買主は"],
        ),
        # The one must repay what the other may ask for.
        ("町長は村長に費用を償還する。", "村長は、町長に費用の償還を請求できる。", []),
        (
            "町長は村長に通知する。",
            "村長が町長に通知したときは、町長は、村長に通知する。",
            [],
        ),
    ],
)
def test_who_does_it_to_whom_is_what_the_sentences_say(claim, sentence, expected):
    found = [one for one in mismatches(claim, [sentence]) if one.kind is MismatchKind.ROLE]
    assert [one.written for one in found] == expected


def test_the_denial_of_another_clause_does_not_count():
    sentence = "舟は朝に着いたが、客は港に来なかった。"
    assert kinds("舟は朝に着いた。", sentence) == []
    assert kinds("舟は朝に着かなかった。", sentence) == ["negation"]
    assert kinds("客は港に来た。", sentence) == ["negation"]


def test_citations_are_completed_by_headings():
    heading = "渡し舟法 第二十七条の二 第二項"
    sentence = "前項の届出は、第三号に掲げる書面による。"
    for claim in (
        "第27条の2第2項は届出の書面を定める。",
        "第27条の2第1項の届出は書面による。",
        "第27条の2第2項第3号に掲げる書面による。",
    ):
        assert kinds(claim, sentence, headings=[heading]) == []
    for claim in (
        "第27条の3は届出の書面を定める。",
        "第27条の2第1項は届出の書面を定める。",
        "第27条の2第3項の届出は書面による。",
        "第27条の2第2項第4号に掲げる書面による。",
    ):
        assert kinds(claim, sentence, headings=[heading]) == ["provision"]


@each("text", ["", " \n", "。、！？", "\x00\x1b[31m\ufeff", "\ud800"])
def test_a_claim_of_nothing_is_carried_by_nothing(text):
    assert mismatches(text, []) in ((), mismatches(text, [LENS]))
    assert covers(text, [LENS, BAN, text]) in (0.0, 1.0)
    assert covers(text, [LENS, BAN]) == 0.0
    assert kinds(CLAIM, text) == ["date", "name"]


def test_a_claim_too_long_to_be_one_is_not_carried():
    claim = "舟は1871年に着いた。" * 10_000
    assert covers(claim, [claim]) == 0.0
    assert kinds(CLAIM, "港" * 100_000) == ["date", "name"]


def test_a_claim_is_compared_with_many_sentences_in_linear_time():
    def compare(size):
        sentences = [f"{DUTY[:-1]}、第{number}条の{BAN}" for number in range(1, size + 1)]
        mismatches("渡し守は第3条により届出をしなければならない。", sentences)

    assert_linear(compare, 10)


WORDS = [
    "舟",
    "三年以下",
    "平成二年",
    "第三条",
    "ない",
    "ただし、",
    "May",
    "5%",
    "「港」",
    "。",
    " ",
]


@settings(deadline=None, max_examples=60)
@given(st.one_of(st.text(max_size=80), st.lists(st.sampled_from(WORDS)).map("".join)))
def test_a_sentence_word_for_word_is_said(text):
    assert mismatches(text, [LENS, text]) == ()
    assert 0.0 <= covers(text, [LENS]) <= 1.0
    assert all(mismatch.written in text for mismatch in mismatches(text, [LENS]))

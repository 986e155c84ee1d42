from localrag.search.question.asked import AnswerKind, Expectation, gives, repeats

from ....rows import each


@each(
    ("question", "kind"),
    [
        ("霧見塔が完成したのは何年か。", AnswerKind.WHEN),
        ("渡しの運航期間はいつか。", AnswerKind.WHEN),
        ("When did the observatory open?", AnswerKind.WHEN),
        ("In which century was it built?", AnswerKind.WHEN),
        ("取締役の任期は何年か", AnswerKind.HOW_MANY),
        ("届出の期間は何日か", AnswerKind.HOW_MANY),
        ("渡し守は何人か", AnswerKind.HOW_MANY),
        ("How many lenses did it have?", AnswerKind.HOW_MANY),
        ("この海霧を何と呼ぶか。", AnswerKind.CALLED),
        ("登録が取り消されたのはなぜか", AnswerKind.WHY),
        ("塔を建てたのは誰か", AnswerKind.WHO),
        ("Who built the tower?", AnswerKind.WHO),
        ("観測所はどこにあるか", AnswerKind.WHERE),
        ("工事の期間に人が移った町はどこか", AnswerKind.WHERE),
        ("薬機法で誇大広告は禁止されているか", AnswerKind.YES_OR_NO),
        ("登録は必要ですか？", AnswerKind.YES_OR_NO),
        ("Is a licence needed?", AnswerKind.YES_OR_NO),
        ("その罰則は何条か", AnswerKind.WHICH_LAW),
        ("提出先の根拠条文を教えてください", AnswerKind.WHICH_LAW),
        ("Which act regulates ferries?", AnswerKind.WHICH_LAW),
        ("どの業者ですか", AnswerKind.OTHER),
        ("誇大広告 禁止", AnswerKind.OTHER),
        ("", AnswerKind.OTHER),
    ],
)
def test_the_kind_of_answer_is_read_from_the_question(question: str, kind: AnswerKind) -> None:
    assert Expectation.of(question).kind is kind


@each(
    ("question", "offers", "lacks"),
    [
        ("霧見塔が完成したのは何年か。", "塔は一八七四年に完成した。", "塔は石で造られた。"),
        ("渡し守は何人か", "渡し守は３人いる。", "渡し守は3年働く。"),
        ("How many lenses did it have?", "It had two lenses.", "It had lenses."),
        ("登録が取り消されたのはなぜか", "違反により取り消された。", "登録は去年だった。"),
    ],
)
def test_a_text_offers_what_is_asked_for(question: str, offers: str, lacks: str) -> None:
    expectation = Expectation.of(question)
    assert expectation.met_by(offers)
    assert not expectation.met_by(lacks)


@each(
    ("question", "given", "lacking"),
    [
        ("何日以内に届け出るか", "三月以内に届け出る。", "遅滞なく届け出る。"),
        ("何日以内に届け出るか", "7日以内", "第三条第一項の規定により届け出る。"),
        ("何か月の予告が要るか", "六月前に予告する。", "十分な予告が要る。"),
        ("渡し守は何人必要か", "二人以上を置く。", "三年以上の経験がある者を置く。"),
        ("何歳から渡し守になれるか", "年齢十八歳", "成年に達した者"),
        ("手数料はいくらか", "千二百円である。", "手数料を一般に納める。"),
        ("手数料はいくらか", "無料である。", "三人が納める。"),
        ("罰金はいくらか", "五十万円以下", "罰金に処する。"),
        ("予告手当はいくらか", "三十日分以上の平均賃金", "三十日前に予告する。"),
        ("利息はいくらか", "年三パーセント", "第四百四条による。"),
        ("効力はいつ生ずるか", "契約を締結した時から", "契約の締結による"),
        ("届出はいつまでにするか", "遅滞なく", "都道府県知事に"),
        ("契約はいつ終わるか", "借主の死亡の日", "借主の死亡による"),
        ("誰が届け出るか", "船長又は所有者", "十日以内に届け出る"),
        ("誰に届け出るか", "都道府県知事に届け出る。", "十日以内に届け出る。"),
        ("事業者は誰の許可を要するか", "国土交通大臣の許可", "事業者は許可を要する。"),
        ("塔を建てたのは誰か", "ホレス・フェニモア", "1871年に建てた"),
        ("誰に何日以内に届け出るか", "知事に十日以内に", "知事に届け出る。"),
        ("消滅時効の期間は？", "五年", "権利を行使しないこと"),
        ("How many days?", "Within ten days", "Without delay"),
        ("When was it built?", "In 1871", "By a lawyer"),
    ],
)
def test_the_kind_that_is_asked_for_is_given(question: str, given: str, lacking: str) -> None:
    assert gives(given, question)
    assert not gives(lacking, question)


@each(
    ("question", "answer"),
    [
        ("時効は何によって完成するか", "権利を行使しないことによって"),
        ("いつでも解除できるか", "解除できる。"),
        ("いくら探しても見つからないものは何か", "鐘"),
        ("渡し守と船長では誰が先か", "渡し守"),
        ("灯台は何メートルか", "12"),
        ("完成は西暦何年か", "1874"),
        ("その罰則は何条か", "罰金に処する。"),
        ("許可は要るか", "要る。"),
    ],
)
def test_no_kind_is_asked_for_that_is_lacking(question: str, answer: str) -> None:
    assert gives(answer, question)


def test_no_sign_tells_a_person_or_a_place() -> None:
    expectation = Expectation.of("塔を建てたのは誰か")
    assert expectation.sign is None
    assert not expectation.met_by("山田が建てた。")


def test_what_no_answer_repeats_is_left_out() -> None:
    assert "何年" not in Expectation.of("霧見塔が完成したのは何年か。").rest
    assert "how many" not in Expectation.of("How many lenses did it have?").rest


@each(
    ("question", "rest"),
    [
        ("機関の略称をアルファベット3文字で答えよ。", "機関の"),
        ("港が開かれたのは西暦何年か。", "港が開かれたのは"),
        ("塔の設計者を教えてください", "塔の設計者を"),
    ],
)
def test_how_to_answer_is_not_what_is_asked_about(question: str, rest: str) -> None:
    words = Expectation.of(question).rest
    assert rest in words
    assert not any(word in words for word in ("アルファベット", "西暦", "答えよ", "教え"))


def test_who_is_told_something_is_part_of_the_question() -> None:
    assert "教えよう" in Expectation.of("師が弟子に教えようとした技は何か").rest


@each(
    ("question", "answer", "is_repeated"),
    [
        ("南北朝時代の北朝にあたる王朝は", "北朝", True),
        ("文部大臣賞の前身は？", "文部大臣賞を前身とする文部大臣賞である。", True),
        ("文部大臣賞の前身は？", "文部省表彰", False),
        ("渡し守とは何か", "渡し守", True),
        ("前座に止まるための制度は何？", "へたりという制度があった", False),
        ("What is the ferry code?", "The ferry code", True),
        ("誇大広告は禁止されているか", "誇大広告は禁止されている", False),
        ("登録は必要ですか", "登録は必要です", False),
        ("灯台の高さは何メートルか", "12メートル", False),
        ("「霧見の徒」と自らを称しているのはだれ", "霧見", True),
        ("月2刊の雑誌は？", "月2刊", True),
        ("渡しは夏に改められ、一般に？", "渡し", True),
        ("霧見民主共和国は当時、何という国名だったか", "霧見共和国", False),
        ("渡しと橋ではどちらが古いか", "橋", False),
        ("渡しと橋のうち、どれが古いか", "橋", False),
        ("Is the ferry or the bridge older, and how old?", "The bridge", False),
        ("9時と21時のほかは何時か", "1時", False),
        ("東京都の前の府は", "京都", False),
        ("What started it?", "art", False),
        ("What is it?", "ARE", False),
        ("渡しと橋では何が古いか", "橋", False),
        ("春の町では性質の違う何の風が吹くか", "性質の違う風が吹く", True),
        ("霧見放送の略称は", "霧見", False),
    ],
)
def test_an_answer_says_more_than_the_question(
    question: str, answer: str, is_repeated: bool
) -> None:
    assert repeats(answer, question) is is_repeated

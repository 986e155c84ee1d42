from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.methods.comparison import ComparisonKind, Decision, Side
from localrag.methods.comparison.comparing import compare

from ....rows import each

EARLIER, LATER = ComparisonKind.EARLIER, ComparisonKind.LATER
OLDER, YOUNGER = ComparisonKind.OLDER, ComparisonKind.YOUNGER
MORE, LESS = ComparisonKind.MORE, ComparisonKind.LESS
SAME, DIFFERENT = ComparisonKind.SAME, ComparisonKind.DIFFERENT
EACH, ANY, WHICH = ComparisonKind.EACH, ComparisonKind.ANY, ComparisonKind.WHICH


def sides(predicate: str, *objects: str | Sequence[str]) -> list[Side]:
    return [
        Side(f"第{place}", predicate, (of,) if isinstance(of, str) else tuple(of))
        for place, of in enumerate(objects, start=1)
    ]


@each(
    ("comparison", "predicate", "objects", "side", "because"),
    [
        (EARLIER, "生年月日", ("1943年8月1日", "1938年11月3日"), 1, "1938年11月3日 < 1943年8月1日"),
        (LATER, "公開年", ("1988", "2018年"), 1, "2018年 > 1988年"),
        (OLDER, "設立", ("明治29年", "1920年2月1日"), 0, "1896年 < 1920年2月1日"),
        (OLDER, "年齢", ("45歳", "66歳"), 1, "66歳 > 45歳"),
        (YOUNGER, "年齢", ("17歳9ヶ月", "18歳"), 0, "17歳9ヶ月 < 18歳"),
        (YOUNGER, "生年月日", ("昭和50年", "平成3年"), 1, "1991年 > 1975年"),
        (EARLIER, "始めた年齢", ("5歳", "2歳"), 1, "2歳 < 5歳"),
        (EARLIER, "順序", ("6枚目のアルバム", "2枚目"), 1, "2枚目 < 6枚目"),
        (EARLIER, "放送", ("2014年1月から5月", "2019年4月から9月"), 0, "2014年1月 < 2019年4月"),
        (EARLIER, "受賞", ("1994年『甲』", "1975年『乙』"), 1, "1975年 < 1994年"),
        (EARLIER, "年", ("1990年", "1980年", "1985年"), 1, "1980年 < 1985年 < 1990年"),
        (MORE, "人口", ("1,089.29万人", "582,933人"), 0, "1,089.29万人（10,892,900） > 582,933人"),
        (MORE, "面積", ("13ha", "2km²"), 1, "2km2（2,000,000 m2） > 13ha（130,000 m2）"),
        (LESS, "身長", ("178cm", "1.8m"), 0, "178cm（1.78 m） < 1.8m（1.8 m）"),
        (MORE, "時間", ("2時間16分", "142分"), 1, "142分（8,520 秒） > 2時間16分（8,160 秒）"),
        (MORE, "距離", ("約100キロメートル", "152.5km"), 1, "152.5km > 約100キロメートル"),
        (MORE, "評価", ("100点満点中87点", "100点満点中64点"), 0, "87点 > 64点"),
        (MORE, "年齢", ("享年54（満52歳没）", "享年51（満50歳没）"), 0, "54 > 51"),
        (MORE, "財産", ("約2450億円", "56億ドル（約4648億円）"), 1, "約4648億円 > 約2450億円"),
    ],
)
def test_sides_are_put_in_order(
    comparison: ComparisonKind, predicate: str, objects: Sequence[str], side: int, because: str
) -> None:
    outcome = compare(comparison, sides(predicate, *objects))
    assert outcome is not None
    assert (outcome.side, outcome.because, outcome.certain) == (side, because, True)


@each(
    ("comparison", "predicate", "objects", "because"),
    [
        (EARLIER, "発売", ("2016年", "2016年5月1日"), "2016年と2016年5月1日は前後が決まらない"),
        (EARLIER, "発売", ("2016年5月1日", "2016年5月1日"), "2016年5月1日 = 2016年5月1日"),
        (EARLIER, "生年", ("1506年頃", "1509年"), "1506年頃と1509年は前後が決まらない"),
        (MORE, "人口", ("約100人", "120人"), "約100人と120人は大小が決まらない"),
        (MORE, "人口", ("100人以上", "120人"), "100人以上と120人は大小が決まらない"),
        (MORE, "話数", ("12話", "12話"), "12話 = 12話"),
    ],
)
def test_what_cannot_be_told_apart_is_said_to_be_so(
    comparison: ComparisonKind, predicate: str, objects: Sequence[str], because: str
) -> None:
    outcome = compare(comparison, sides(predicate, *objects))
    assert outcome is not None
    assert outcome.side is None
    assert outcome.because == because


@each(
    ("comparison", "predicate", "objects"),
    [
        (EARLIER, "発売", ("2016年", "不明")),
        (EARLIER, "誕生日", ("12月23日", "1990年1月1日")),
        (MORE, "財産", ("56億ドル", "4648億円")),
        (MORE, "順位", ("1位", "2位")),
        (MORE, "開校", ("1858年", "1932年")),
        (MORE, "身長", ("178cm", "60kg")),
        (MORE, "職業", ("作家", "歌手")),
        (EARLIER, "発売", ("2016年",)),
        (EARLIER, "発売", ("2016年", "  ")),
        (SAME, "監督", ("甲野",)),
        (SAME, "公開", ("1998年", "1998年3月1日")),
        (WHICH, "職業", ("作家", "歌手")),
    ],
)
def test_code_does_not_guess(
    comparison: ComparisonKind, predicate: str, objects: Sequence[str]
) -> None:
    assert compare(comparison, sides(predicate, *objects)) is None


def test_no_sides_are_no_comparison() -> None:
    assert compare(EARLIER, []) is None
    assert compare(EACH, [Side("甲", "職業", ())], "作家") is None


def test_counters_that_differ_and_lists_that_may_be_incomplete_make_no_fact() -> None:
    counted = compare(MORE, sides("ソフト数", "11タイトル", "2本"))
    listed = compare(MORE, sides("面している県", ("千葉県", "東京都"), ("静岡県",)))
    assert counted == Decision(side=0, because="11タイトル > 2本", certain=False)
    assert listed == Decision(side=0, because="千葉県、東京都（2） > 静岡県（1）", certain=False)


@each(
    ("respect", "predicate", "objects", "holds", "certain"),
    [
        ("", "血液型", ("Ａ型", "A型"), True, True),
        ("", "監督", (("甲野", "乙山"), ("丙川", "乙山")), True, True),
        ("", "監督", ("甲野、乙山", "乙山"), True, True),
        ("", "監督", ("甲野太郎", "丙川次郎"), False, True),
        ("", "制作会社", ("あおぞら", "あおぞら映像"), True, False),
        ("", "制作会社", ("あおぞら出版", "みどり出版"), False, False),
        ("", "位置する県", ("愛媛県", "和歌山県"), False, True),
        ("都道府県", "出身地", ("東京都新宿区", "東京都"), True, True),
        ("市", "所在地", ("千葉県市川市市川", "市川市"), True, True),
        ("", "出身地", ("東京都新宿区", "東京都"), True, False),
        ("年", "生年月日", ("1998年3月1日", "1998年"), True, True),
        ("", "公開年", ("1998年3月1日", "1998年"), True, True),
        ("世紀", "生年月日", ("1901年1月1日", "2000年12月31日"), True, True),
        ("誕生日", "生年月日", ("1980年5月2日", "5月2日"), True, True),
        ("年月日", "発売", ("1980年5月2日", "1981年5月2日"), False, True),
        ("月", "発売", ("1980年5月2日", "1981年5月3日"), True, True),
        ("年代", "公開", ("1980年5月2日", "1989年"), True, True),
        ("都市", "本社", ("神奈川県横浜市", "神奈川県川崎市"), False, True),
        ("学年", "生年月日", ("1988年2月8日", "1987年4月2日"), True, True),
        ("学年", "生年月日", ("1988年4月1日", "1988年4月2日"), False, True),
        ("", "建造数", ("4隻", "2隻"), False, True),
        ("", "面積", ("1ha", "10,000m2"), True, True),
    ],
)
def test_what_sides_have_in_common(
    respect: str,
    predicate: str,
    objects: Sequence[str | Sequence[str]],
    holds: bool,
    certain: bool,
) -> None:
    same, different = (
        compare(comparison, sides(predicate, *objects), respect) for comparison in (SAME, DIFFERENT)
    )
    assert same is not None
    assert different is not None
    assert (same.holds, same.certain) == (holds, certain)
    assert (different.holds, different.certain) == (not holds, certain)


@each(
    ("condition", "predicate", "text", "holds", "certain"),
    [
        ("平成生まれ", "生年月日", "1998年〈平成10年〉3月19日", True, True),
        ("平成生まれ", "生年月日", "1933年12月23日", False, True),
        ("平成", "設立", "平成元年", True, True),
        ("明治時代", "創業", "1894年", True, True),
        ("江戸時代", "完成", "1950年", False, True),
        ("20世紀", "生年月日", "1903年12月1日", True, True),
        ("1990年代", "公開", "2001年", False, True),
        ("1998年", "公開", "1998年7月1日", True, True),
        ("1998年に生まれた", "生年月日", "1998年7月1日", True, True),
        ("2000年以降", "公開", "2001年", True, True),
        ("2000年以前", "公開", "2001年", False, True),
        ("夏", "公開", "2001年7月3日", True, True),
        ("1月", "誕生日", "1月20日", True, True),
        ("1700年代に生まれた", "生没年", "1732年-1805年", True, False),
        ("1700年代に死去", "生没年", "1732年-1805年", False, True),
        ("1700年代に生まれ、1700年代に死去", "生没年", "1732年-1799年", True, False),
        ("1998年に生まれた歌手", "生年月日", "1998年7月1日", True, False),
        ("1998年に生まれた歌手", "生年月日", "2001年7月1日", False, True),
        ("100人以上", "人数", "24人以下", False, True),
        ("100人以上", "人数", "約500人", True, True),
        ("200万部を超える", "部数", "250万部", True, True),
        ("2時間未満", "上映時間", "136分", False, True),
        ("20歳以上", "年齢", "24歳", True, True),
        ("4人組", "編成", "3人組", False, True),
        ("東京都", "所在地", "東京都新宿区", True, True),
        ("関西出身", "出身地", "大阪府高槻市", True, True),
        ("千葉県", "所在地", "島根県出雲市", False, True),
        ("小説家", "職業", "小説家", True, True),
        ("ピアニスト", "職業", "作曲家、ピアニスト", True, True),
        ("ピアニスト", "職業", "ジャズピアニスト", True, False),
        ("日本の官僚", "職業", "日本の財務官僚", True, False),
        ("政治家", "職業", "衆議院議員", False, False),
    ],
)
def test_conditions_in_words(
    condition: str, predicate: str, text: str, holds: bool, certain: bool
) -> None:
    each = compare(EACH, sides(predicate, text), condition)
    assert each is not None
    assert (each.holds, each.certain) == (holds, certain)


@each(
    ("condition", "predicate", "text"),
    [
        ("100年以上前", "創業", "1800年"),
        ("現在も続く", "期間", "1990年-"),
        ("平成生まれ", "生年月日", "1989年"),
        ("100人以上", "人数", "約100人"),
        ("夏", "公開", "2001年"),
    ],
)
def test_conditions_that_the_object_leaves_open(condition: str, predicate: str, text: str) -> None:
    assert compare(EACH, sides(predicate, text), condition) is None


def test_each_any_and_which_show_whose_object_it_is() -> None:
    two = sides("所在地", "東京都新宿区", "島根県出雲市")
    both = "第1：東京都新宿区 ⊂ 東京都、第2：島根県出雲市 ⊄ 東京都"
    assert compare(EACH, two, "東京都") == Decision(
        holds=False, because="第2：島根県出雲市 ⊄ 東京都"
    )
    assert compare(ANY, two, "東京都") == Decision(holds=True, because="第1：東京都新宿区 ⊂ 東京都")
    assert compare(WHICH, two, "東京都") == Decision(side=0, because=both)
    assert compare(WHICH, two, "日本") == Decision(
        because="第1：東京都新宿区 ⊂ 日本、第2：島根県出雲市 ⊂ 日本"
    )


def test_the_side_that_surely_meets_the_condition_goes_before_one_that_may() -> None:
    sure = compare(WHICH, sides("職業", "小説家", "作曲家"), "小説家")
    either = compare(WHICH, sides("職業", "小説家", "推理小説家"), "小説家")
    assert sure is not None
    assert either is not None
    assert (sure.side, sure.certain) == (0, True)
    assert (either.side, either.certain) == (0, False)


def test_where_no_side_says_it_the_nearest_wording_is_a_guess() -> None:
    two = sides("事業内容", "総合電機メーカー", "電気通信事業者")
    outcome = compare(WHICH, two, "電気通信事業を行っている")
    assert outcome is not None
    assert (outcome.side, outcome.certain) == (1, False)
    nothing = compare(WHICH, two, "化粧品")
    assert nothing is not None
    assert nothing.side is None


@given(st.dates(), st.dates(), st.sampled_from([(EARLIER, LATER), (OLDER, YOUNGER)]))
def test_what_is_first_for_one_is_last_for_the_other(
    one: object, other: object, comparisons: tuple[ComparisonKind, ComparisonKind]
) -> None:
    there, back = sides("日", str(one), str(other)), sides("日", str(other), str(one))
    first = [compare(comparisons[0], each) for each in (there, back)]
    last = compare(comparisons[1], there)
    assert first[0] is not None
    assert first[1] is not None
    assert last is not None
    if one == other:
        assert first[0].side is first[1].side is last.side is None
    else:
        assert (
            first[0].side == last.side ^ 1 == first[1].side ^ 1 if last.side is not None else False
        )


@each("text", ["9" * 10_000, "、" * 10_000, "(" * 10_000, "\x00", "1年" * 9_000])
@each("comparison", list(ComparisonKind))
def test_hostile_objects_are_texts(text: str, comparison: ComparisonKind) -> None:
    outcome = compare(comparison, sides("年", text, "1990年"), "1990年")
    assert outcome is None or len(outcome.because) < 500


def test_many_objects_do_not_make_a_long_computation() -> None:
    many = sides("構成員", [f"その{number}" for number in range(300)], "別人")
    outcome = compare(SAME, many)
    assert outcome is not None
    assert "ほか295件" in outcome.because


@each(
    ("first", "second"),
    [("赤坂46", "青坂46"), ("100万回泣いた犬", "100万回笑った猫"), ("第3広場", "第3倉庫")],
)
def test_a_number_in_a_name_is_no_quantity(first: str, second: str) -> None:
    both = compare(EACH, sides("所属", first, second), second)
    assert both is not None
    assert both.holds is False
    either = compare(ANY, sides("所属", first, second), second)
    assert either is not None
    assert (either.holds, either.certain) == (True, True)


def test_a_quantity_beside_other_words_is_no_fact() -> None:
    some = sides("身長", "162cm", "靴をはいて170cm")
    outcome = compare(EACH, some, "160cm以上")
    assert outcome is not None
    assert (outcome.holds, outcome.certain) == (True, False)


@each(
    ("comparison", "predicate", "objects", "side", "certain"),
    [
        (ComparisonKind.MORE, "活動期間", ("1990年-2000年", "1985年-1990年"), 0, True),
        (ComparisonKind.LESS, "活動期間", ("1990年-2000年", "1985年-1990年"), 1, True),
        (ComparisonKind.MORE, "活動期間", ("1990年-2000年", "1985年-"), None, True),
        (ComparisonKind.MORE, "活動期間", ("1990年-2000年", "2001年-2011年"), None, True),
        (ComparisonKind.EARLIER, "設立", ("1999年から2001年", "2000年"), 0, False),
        (ComparisonKind.EARLIER, "活動期間", ("1999年-2001年", "2000年-2001年"), 0, True),
        (ComparisonKind.EARLIER, "最高速度", ("120km/h", "80km/h"), 0, True),
        (ComparisonKind.LATER, "最高速度", ("120km/h", "50ノット"), 1, True),
        (ComparisonKind.EARLIER, "記録", ("1分5秒", "58秒"), 1, True),
    ],
)
def test_lengths_of_time_and_speeds(
    comparison: ComparisonKind,
    predicate: str,
    objects: Sequence[str],
    side: int | None,
    certain: bool,
) -> None:
    outcome = compare(comparison, sides(predicate, *objects))
    assert outcome is not None
    assert (outcome.side, outcome.certain) == (side, certain)
    assert outcome.because


@each(
    ("predicate", "objects"),
    [
        ("所属", ("青空社", "青空社（1990年まで）")),
        ("作品", ("海の歌", "海の歌（アルバム）")),
        ("本店", ("名取市（2001年まで）", "名取市")),
    ],
)
def test_a_note_is_part_of_what_is_the_same(predicate: str, objects: Sequence[str]) -> None:
    outcome = compare(SAME, sides(predicate, *objects))
    assert outcome is not None
    assert (outcome.holds, outcome.certain) == (True, False)
    assert "≒" in outcome.because


@each(
    ("year", "holds", "certain"),
    [("1905年", True, True), ("1950年", True, False), ("2001年", False, True)],
)
def test_a_hundred_years_that_may_be_ten(year: str, holds: bool, certain: bool) -> None:
    outcome = compare(EACH, sides("開業", year), "1900年代")
    assert outcome is not None
    assert (outcome.holds, outcome.certain) == (holds, certain)


@pytest.mark.parametrize(
    ("condition", "holds"), [("1920年から1930年", True), ("1927年から1930年", False)]
)
def test_a_condition_from_one_year_to_another(condition: str, holds: bool) -> None:
    outcome = compare(EACH, sides("生年", "1926年"), condition)
    assert outcome is not None
    assert (outcome.holds, outcome.certain) == (holds, True)


def test_a_side_that_cannot_be_measured_leaves_a_doubt() -> None:
    outcome = compare(WHICH, sides("運賃", "1,500円", "15ドル"), "2000円以下")
    assert outcome is not None
    assert (outcome.side, outcome.certain) == (0, False)

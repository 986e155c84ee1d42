"""The parts and names of a text."""

from localrag.methods.staged.stages import holds, names

from ....rows import each


@each(
    ("text", "part", "held"),
    [
        ("人口は112人", "12人", False),
        ("2012年", "12年", False),
        ("3.5km", "5km", False),
        ("1,089人", "089人", False),
        ("十三人", "三人", False),
        ("東京都にある", "京都", False),
        ("東京都庁の東", "東京都", False),
        ("京都にある", "京都", True),
        ("東京都", "東京都", True),
        ("５月 12日", "5月12日", True),
        ("Ｓｎｏｗ\nField", "snow field", True),
        ("三ツ星", "三ツ星", True),
        ("なし", " ", False),
        ("a" * 20_000, "a" * 99 + "b", False),
        ("a" + " " * 200_000, "a b", False),
    ],
)
def test_a_text_holds_a_part_as_a_whole(text: str, part: str, held: bool) -> None:
    assert holds(text, part) is held


@each(
    ("text", "name", "named"),
    [
        ("『青い 灯台』の監督", "青い灯台 (映画)", True),
        ("スノー・フィールドの監督", "スノーフィールド", True),
        ("黒澤レンの作品", "黒沢レン", True),
        ("Who directed The Blue Lighthouse?", "the blue lighthouse", True),
        ("青い灯台2の監督", "青い灯台", False),
        ("続青い灯台の監督", "青い灯台", False),
        ("東京都の花", "京都", False),
        ("東京都庁の花", "東京都", False),
        ("フレンチの店", "レン", False),
        ("誰ですか\n黒潮レン\n青凪ハル", "青凪ハル", True),
        ("海\x00の\u202e\n青凪ハル", "青凪ハル", True),
        ("誰？", "？", False),
        ("誰？", "", False),
        ("", "青い灯台", False),
    ],
)
def test_a_text_names_something_by_the_whole_of_its_name(text: str, name: str, named: bool) -> None:
    assert names(text, name) is named

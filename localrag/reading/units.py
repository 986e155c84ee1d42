"""Units of measurement: what they measure, and how large they are."""

from fractions import Fraction
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit.

    Attributes:
        dimension: what it measures; only quantities of one dimension can be compared.
        size: in the base unit of the dimension, exactly.
    """

    dimension: str
    size: Fraction


COUNT, ORDINAL = "数", "順番"
"""The dimensions of what is counted, by any counter, and of places in a series."""

# Japanese measures after the 度量衡法 of 1891: 1 尺 = 10/33 m, 1 坪 = 400/121 m², 1 貫 = 3.75 kg.
# A year is the mean one of the Gregorian calendar.
_SIZES = {
    "長さ": {
        "mm ミリメートル ミリ": "1/1000",
        "cm センチメートル センチ": "1/100",
        "m メートル": "1",
        "km キロメートル": "1000",
        "寸": "1/33",
        "尺": "10/33",
        "間": "20/11",
        "里": "43200/11",
        "海里": "1852",
        "インチ": "0.0254",
        "フィート": "0.3048",
        "ヤード": "0.9144",
        "マイル": "1609.344",
    },
    "面積": {
        "cm2 平方センチメートル": "1/10000",
        "m2 平方メートル": "1",
        "a アール": "100",
        "ha ヘクタール": "10000",
        "km2 平方キロメートル 平方キロ": "1000000",
        "坪": "400/121",
        "町歩": "1200000/121",
        "エーカー": "4046.8564224",
        "平方マイル": "2589988.110336",
    },
    "体積": {
        "ml ミリリットル cc": "1/1000000",
        "l リットル": "1/1000",
        "kl キロリットル": "1",
        "m3 立方メートル": "1",
        "km3 立方キロメートル": "1000000000",
    },
    "質量": {
        "mg ミリグラム": "1/1000000",
        "g グラム": "1/1000",
        "kg キログラム": "1",
        "t トン": "1000",
        "貫": "3.75",
        "斤": "0.6",
    },
    "時間": {
        "秒": "1",
        "分": "60",
        "時間 h": "3600",
        "日 日間": "86400",
        "週 週間": "604800",
        "か月 ヶ月 カ月 ケ月 箇月 か月間 ヶ月間": "2629746",
        "年 年間 歳 才": "31556952",
    },
    "長さ/時間": {"ノット kn": "463/900"},
    "割合": {"% パーセント": "1/100", "割": "1/10", "倍": "1"},
    "円": {"円": "1", "銭": "1/100"},
    "ドル": {"ドル 米ドル $ us$": "1", "セント": "1/100"},
    "ユーロ": {"ユーロ €": "1"},
    "ポンド": {"ポンド £": "1"},
    "元": {"元": "1"},
    "ウォン": {"ウォン ₩": "1"},
    "セ氏温度": {"°c": "1"},
    "絶対温度": {"k": "1"},
    "度": {"度 °": "1"},
    "電力": {"w ワット": "1", "kw キロワット": "1000", "mw メガワット": "1000000"},
    "出力": {"馬力 ps": "1"},
    "情報量": {"kb": "1000", "mb": "1000000", "gb": "1000000000", "tb": "1000000000000"},
    "光年": {"光年": "1"},
    COUNT: {
        "人 名 個 つ 本 枚 回 作 作品 話 巻 冊 部 台 両 隻 機 頭 匹 羽 件 曲 校 社 店 駅 路線 "
        "点 勝 敗 試合 得点 ゴール タイトル 戸 世帯 棟 階 代 組 箇所 か所 ヶ所 カ所 か国 ヶ国 カ国 "
        "種 種類 言語 男 女 票 席 議席 字 画 度目": "1"
    },
}

UNITS = {
    name: Unit(dimension, Fraction(size))
    for dimension, sizes in _SIZES.items()
    for names, size in sizes.items()
    for name in names.split()
}
"""By name, normalised (NFKC turns ㎢ and km² into km2)."""

BASES = {unit.dimension: name for name, unit in reversed(UNITS.items()) if unit.size == 1}
"""The name of the base unit, by dimension."""

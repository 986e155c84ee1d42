"""Reads the object of a triple: a date, a quantity, a place or a text. It can cut out a part."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise

from localrag.text import dates, quantities
from localrag.text.dates import Date, Period
from localrag.text.folding import LONGEST, NOTE, UNITS
from localrag.text.quantities import Quantity
from localrag_indexes.analysis.normalize import normalize

_REGIONS = {
    "北海道": "北海道",
    "東北": "青森県 岩手県 宮城県 秋田県 山形県 福島県",
    "関東": "茨城県 栃木県 群馬県 埼玉県 千葉県 東京都 神奈川県",
    "中部": "新潟県 富山県 石川県 福井県 山梨県 長野県 岐阜県 静岡県 愛知県",
    "近畿": "三重県 滋賀県 京都府 大阪府 兵庫県 奈良県 和歌山県",
    "中国": "鳥取県 島根県 岡山県 広島県 山口県",
    "四国": "徳島県 香川県 愛媛県 高知県",
    "九州": "福岡県 佐賀県 長崎県 熊本県 大分県 宮崎県 鹿児島県",
    "沖縄": "沖縄県",
}
_PREFECTURES = {
    prefecture: region for region, names in _REGIONS.items() for prefecture in names.split()
}
_SHORT = {prefecture[:-1]: prefecture for prefecture in _PREFECTURES if prefecture != "北海道"}
_ASKS_FOR_PLACE = re.compile(
    r"(?:[地国県州市区町村郡]|都市)(?![の位質域活民宝税数])|都道府県|場所|位置|住所|本社|本店|出身(?!校)|所在|地域|どこ"
)
# Some cities have 市 inside their name, many have 町 or 村. 東京府 and 東京市 are historical.
_ADDRESS = re.compile(
    r"(?:日本国?[・、 ]?)?"
    rf"(?P<prefecture>{'|'.join(_PREFECTURES)}|東京府)? ?"
    r"(?P<county>[^\d区町村郡\s()]{1,5}郡(?!山市|上市)(?=.{1,6}[町村]|$))?"
    r"(?P<city>(?:[四廿]日市|野々市|市[^\d市区\s()]{1,3}|[^\d市区\s()、。,.・]{1,6}?)市(?![郡町]))?"
    r"(?P<ward>[^\d市区\s()、。,.・]{1,5}区)?"
    r"(?P<town>[^\d区\s()、。,.・]{1,6}?[町村])?"
)


@dataclass(frozen=True, slots=True)
class Address:
    """A place, from the largest part of its address to the smallest."""

    # prefecture, county, city, ward, town, as far as they are named, and the rest. Parts of a
    # foreign place are divided by 「・」 and 「、」
    parts: tuple[str, ...]
    text: str  # as written, normalised, without a note
    note: str = ""  # in brackets behind it, or ""

    @property
    def prefecture(self) -> str | None:
        """The prefecture, named or known from a city of its name (千葉市)."""
        first = self.parts[0].replace("東京府", "東京都")
        if first in _PREFECTURES:
            return first
        return _SHORT.get(first[:-1]) if first.endswith("市") else None

    def within(self, other: "Address") -> bool | None:
        """Whether this place is in the other one; None if open. 関東 has prefectures."""
        if _follows(other.parts, self.parts):
            return True
        mine = self.prefecture
        whole = other.parts[-1].removesuffix("地方").replace("関西", "近畿")
        if mine is not None:
            if other.parts[-1] in ("日本", "日本国", mine):
                return True
            if whole in _REGIONS and len(other.parts) == 1:
                return _PREFECTURES[mine] == whole
            if other.prefecture not in (None, mine):
                return False
        return None


def read_place(text: str, predicate: str = "") -> Address | None:
    """The place in a text, with or without prefecture.

    Unless `predicate` asks for a place, it needs a prefecture: 稲村 may be a name.
    """
    if len(text) > LONGEST:
        return None
    whole = normalize(text).strip()
    plain = re.sub(rf"{NOTE}$", "", whole).strip()
    note = whole[len(plain) :]
    asked = _ASKS_FOR_PLACE.search(predicate) is not None
    plain = _SHORT.get(plain, plain) if asked else plain
    match = _ADDRESS.match(plain)
    if match is None:
        return None
    parts = [part for part in match.groups() if part]
    rest = plain[match.end() :].lstrip("の").strip(" 、,・")
    if not asked and not (match["prefecture"] and (len(parts) > 1 or not rest)):
        return None
    if not parts:
        parts = [part for part in re.split(r"[・、, ]", plain) if part]
    elif rest:
        parts.append(rest)
    return Address(tuple(parts), plain, note) if parts else None


def part_of(text: str, kind: str) -> str | None:
    """One part of an address: its "prefecture", "county", "city", "ward" or "town"."""
    match = _ADDRESS.match(normalize(text))
    return match[kind] if match else None


def _follows(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    width = len(part)
    return any(whole[at : at + width] == part for at in range(len(whole) - width + 1))


_QUOTATION = re.compile(r"[「」『』\"“”‘’'\s]")
_ENUMERATION = re.compile(r"[、,，;；／]| / |(?<=[^\d])/(?=[^\d])")
_SHORTEST = 2
_LIKELY = 0.75
"""Share of the pairs of characters of a condition that a text likely needs."""


@lru_cache(maxsize=4096)
def folded(text: str) -> str:
    """A text as `spelt`, without the note at its end."""
    return spelt(re.sub(rf"(?<=.){NOTE}$", "", normalize(text).strip()))


def spelt(text: str) -> str:
    """A text without case, width, blanks and quotation marks, but with its notes."""
    return _QUOTATION.sub("", normalize(text))


def items(text: str) -> tuple[str, ...]:
    """The parts of an enumeration; 「・」 may be in a name and divides nothing."""
    return tuple(item for item in map(str.strip, _ENUMERATION.split(text)) if item)


def contains(whole: str, part: str) -> bool:
    """Whether one folded text is in the other."""
    return len(part) >= _SHORTEST and part in whole


def coverage(condition: str, text: str) -> float:
    """The share of the pairs of characters of a condition that are in a text; both are folded."""
    asked = set(pairwise(condition))
    return len(asked & set(pairwise(text))) / len(asked) if asked else 0.0


def likely(condition: str, text: str) -> bool:
    """Whether a text, as written, likely states a folded condition."""
    said = spelt(text)
    return (
        contains(said, condition)
        or contains(condition, folded(text))
        or coverage(condition, said) >= _LIKELY
    )


@dataclass(frozen=True, slots=True)
class Text:
    """Any other value; `folded` is compared."""

    text: str
    folded: str


Value = Date | Period | Quantity | Address | Text


def read(text: str, predicate: str = "") -> Value:
    """Read an object; its `predicate` separates a year from a number, a place from a name."""
    value = (
        read_place(text)
        or dates.read(text, predicate)
        or quantities.read(text)
        or read_place(text, predicate)
    )
    return value or Text(text, folded(text))


def contradictory(objects: Sequence[str], predicate: str = "") -> bool:
    """Whether objects are dates, or quantities of one dimension, that cannot all be true."""
    values = [read(item, predicate) for text in objects for item in items(text)]
    return any(_excludes(one, other) for one, other in combinations(values, 2))


def _excludes(one: Value, other: Value) -> bool:
    match one, other:
        case Date(), Date():
            return one.has_year == other.has_year and not one.span.overlaps(other.span)
        case Quantity(), Quantity():
            return one.dimension == other.dimension and not one.span.overlaps(other.span)
    return False


# The text after the word asked for, at the end of a question or predicate.
_TAIL = r"(?=[はでがにをとか？?。、・]|名|のこと|の名|だ|$)"
_DATE_PARTS: tuple[tuple[re.Pattern[str], Callable[[Date], str]], ...] = (
    (re.compile("年月日"), lambda date: str(date) if date.day else ""),
    (re.compile("何年何月(?!何)|年月(?!日)"), lambda date: _year(date) + _month(date)),
    (re.compile("何月何日|月日"), lambda date: f"{_month(date)}{date.day}日" if date.day else ""),
    (re.compile("何月"), lambda date: _month(date)),
    (re.compile(rf"何年(?![間後前生目度代])|年{_TAIL}"), lambda date: _year(date)),
)
_ADDRESS_PARTS = {
    "都道府県": "prefecture",
    "県": "prefecture",
    "都": "prefecture",
    "府": "prefecture",
    "郡": "county",
    "市": "city",
    "区": "ward",
    "町": "town",
    "村": "town",
}
_KINDS = "|".join(_ADDRESS_PARTS)
_ASKED_PLACES = re.compile(rf"何({_KINDS})")
_NAMED_PLACES = re.compile(rf"({_KINDS}){_TAIL}")
# Patterns by the words that ask for them.
_WORDS = (
    (r"何大学何?学部|大学・学部", r"[^\s、・(（]*?大学[^\s、・(（]*?学部"),
    (rf"何大学|大学{_TAIL}", r"[^\s、・(（]*?大学(?!院)"),
    (r"何型|血液型", r"[A-ZＡ-Ｚ±]{1,3}型"),
    (rf"州{_TAIL}", r"[ァ-ヺー＝=]+州"),
)


def narrowed(text: str, asked: str) -> str:
    """Cut an object down to the part asked for; the whole text if it has no such part.

    Dates are in western years, without the year of the era in brackets.
    """
    if len(text) > LONGEST:
        return text
    return (
        _of_date(text, asked)
        or _of_address(text, asked)
        or _of_words(text, asked)
        or _of_amount(text, asked)
        or text
    )


def _of_date(text: str, asked: str) -> str:
    date = dates.read(text, asked)
    if not isinstance(date, Date):
        return ""
    for words, wanted in _DATE_PARTS:
        if words.search(asked):
            return wanted(date)
    return ""


def _year(date: Date) -> str:
    if date.year is None:
        return ""
    return f"{date.year}年" if date.year > 0 else f"紀元前{1 - date.year}年"


def _month(date: Date) -> str:
    return f"{date.month}月" if date.month else ""


def _of_address(text: str, asked: str) -> str:
    kinds = _ASKED_PLACES.findall(asked) or _NAMED_PLACES.findall(asked)
    wanted = dict.fromkeys(_ADDRESS_PARTS[kind] for kind in kinds)
    found = [part_of(text, kind) for kind in wanted]
    return "".join(part for part in found if part) if all(found) else ""


def _of_words(text: str, asked: str) -> str:
    for words, wanted in _WORDS:
        if re.search(words, asked) and (found := re.search(wanted, text)):
            return found[0]
    return ""


def _of_amount(text: str, asked: str) -> str:
    wanted = normalize(asked)
    whole = quantities.read(text)
    found = (whole,) if whole else quantities.find(text)
    fitting = [each for each in found if each.unit and f"何{each.unit}" in wanted]
    if len(fitting) != 1:
        return ""
    # 87日23.3時間 is about 88 days.
    unit, size = UNITS.get(fitting[0].unit), fitting[0].span.low
    if "約何" in wanted and unit and size is not None and fitting[0].span.is_point:
        return f"約{round(size / unit.size):,}{fitting[0].unit}"
    return fitting[0].text

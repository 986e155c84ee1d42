"""Numbers and dates as displayed: formats of ECMA-376 with Japanese eras.

A cell holds 46113 and shows 令和8年4月1日. Quotations need the displayed form. The package `ssf`
has had no release since 2021.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import NamedTuple

GENERAL = "General"
BUILT_IN: Mapping[int, str] = {
    14: "yyyy/m/d",
    22: "yyyy/m/d h:mm",
    **dict.fromkeys((27, 36, 50, 57), "[$-411]ge.m.d"),
    **dict.fromkeys((28, 29, 51, 54, 58), '[$-411]ggge"年"m"月"d"日"'),
    30: "m/d/yy",
    31: 'yyyy"年"m"月"d"日"',
    32: 'h"時"mm"分"',
    33: 'h"時"mm"分"ss"秒"',
    **dict.fromkeys((34, 52, 55), 'yyyy"年"m"月"'),
    **dict.fromkeys((35, 53, 56), 'm"月"d"日"'),
}
"""Formats identified only by number, as displayed in Japan."""
# Formats for ``[$-F800]`` and ``[$-F400]``: the system's long date and time.
_SYSTEM = {"f800": 'yyyy"年"m"月"d"日"', "f400": "h:mm:ss"}
# First day of each era in Excel.
_ERAS = (
    (date(2019, 5, 1), "令和", "R"),
    (date(1989, 1, 8), "平成", "H"),
    (date(1926, 12, 25), "昭和", "S"),
    (date(1912, 7, 30), "大正", "T"),
    (date(1868, 1, 25), "明治", "M"),
)
_WEEKDAYS = "月火水木金土日"
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_SECTION = re.compile(r'(?:[^;"\\\[]|"[^"]*"|\\.|\[[^\]]*\]|["\\\[])*', re.DOTALL)
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|_(?P<width>.)|\*(?P<fill>.)|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<general>General|G/標準)|(?P<half>AM/PM|A/P|上午/下午|午前/午後)|(?P<exponent>E[+-])"
    r"|(?P<date>y+|m+|d+|h+|s+(?:\.0+)?|g+|e+|a{3,4})|(?P<digit>[0#?])|(?P<sign>[.,%@])|(?P<literal>.)",
    re.DOTALL | re.IGNORECASE,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?[0-9.]+)")
_FULL_WIDTH = str.maketrans("0123456789", "０１２３４５６７８９")
_MOST_CHARACTERS = 255


class _Token(NamedTuple):
    kind: str
    text: str


class _FormatSection(NamedTuple):
    tokens: tuple[_Token, ...]  # in order
    condition: tuple[str, float] | None  # a comparison and a number, or None
    locale: str  # the text of ``[$-…]``, in lower case
    digits: int  # the number of ``[DBNum1]``; 0 without it

    @property
    def is_date(self) -> bool:
        return any(token.kind in ("date", "half", "elapsed") for token in self.tokens)


def is_date(number_format: str) -> bool:
    """Whether a format displays a number as date or time."""
    return any(section.is_date for section in _sections(number_format))


def shown(value: object, number_format: str) -> str | None:
    """The displayed text of a cell's value; None for fractions and kanji numbers."""
    match value:
        case bool():
            return str(value).upper()
        case str():
            return _text(value, number_format)
        case datetime() | date() | time() | timedelta():
            return _date(value, number_format)
        case int() | float():
            return _number(value, number_format)
    return str(value)


@lru_cache(maxsize=1_000)
def _sections(number_format: str) -> tuple[_FormatSection, ...]:
    parts, at = [], 0
    number_format = number_format[:_MOST_CHARACTERS]
    while at <= len(number_format):
        found = _SECTION.match(number_format, at)
        end = found.end() if found else at
        parts.append(number_format[at:end])
        at = end + 1
    return tuple(map(_section, parts))


def _section(text: str) -> _FormatSection:
    tokens: list[_Token] = []
    condition, locale, digits = None, "", 0
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup or "literal"
        words = found[kind]
        if kind == "bracket":
            lower = words.lower()
            if compared := _CONDITION.fullmatch(words):
                condition = (compared[1], float(compared[2]))
            elif words.startswith("$"):
                sign, _, locale = words[1:].partition("-")
                locale = locale.lower()
                tokens += [_Token("literal", sign)] if sign else []
                if locale in _SYSTEM:
                    return _section(_SYSTEM[locale])
            elif lower.startswith("dbnum"):
                digits = int(lower[5:] or 0) if lower[5:].isdecimal() else 9
            elif lower.strip("hms") == "" and lower:
                tokens.append(_Token("elapsed", lower))
            continue  # Else it is a colour.
        if kind in ("quoted", "escaped", "literal"):
            tokens.append(_Token("literal", words))
        elif kind not in ("width", "fill"):
            tokens.append(_Token(kind, words.lower() if kind == "date" else words))
    return _FormatSection(tuple(tokens), condition, locale, digits)


def _text(value: str, number_format: str) -> str:
    if "@" not in number_format:
        return value
    section = _sections(number_format)[-1]
    if not any(token == _Token("sign", "@") for token in section.tokens):
        return value
    return "".join(
        value if token == _Token("sign", "@") else token.text
        for token in section.tokens
        if token.kind == "literal" or token == _Token("sign", "@")
    )


def _number(value: int | float, number_format: str) -> str | None:
    sections = _sections(number_format)
    section, magnitude, sign = _chosen(sections, value)
    kinds = {token.kind for token in section.tokens}
    if section.is_date:
        return None  # The number is no day that there is.
    if "general" in kinds or not section.tokens or ("sign", "@") in section.tokens:
        if number_format and not section.tokens and len(sections) > 1:
            return ""  # A format of ;;; shows nothing.
        plain = sign + general(magnitude)
        pieces = [t.text if t.kind == "literal" else plain for t in section.tokens]
        return _digits("".join(pieces) or plain, section.digits)
    if "digit" not in kinds:
        return "".join(t.text for t in section.tokens if t.kind in ("literal", "sign")).strip()
    if "exponent" in kinds:
        return _scientific(magnitude, sign, section)
    if _is_fraction(section.tokens):
        return None
    written = _decimal(magnitude, section.tokens)
    # A value rounded to zero has no sign.
    sign = sign if re.search("[1-9]", written) else ""
    return _digits(sign + written, section.digits)


def _chosen(sections: Sequence[_FormatSection], value: float) -> tuple[_FormatSection, float, str]:
    """The section for a number, with the displayed magnitude and missing sign."""
    numeric = sections[:3]
    if any(section.condition for section in numeric):
        for section in numeric:
            if section.condition is None or _holds(value, section.condition):
                return section, abs(value), "-" if value < 0 else ""
        return numeric[-1], abs(value), "-" if value < 0 else ""
    if value < 0 and len(numeric) > 1:
        return numeric[1], abs(value), ""
    if value == 0 and len(numeric) > 2:
        return numeric[2], 0, ""
    return numeric[0], abs(value), "-" if value < 0 else ""


def _holds(value: float, condition: tuple[str, float]) -> bool:
    sign, other = condition
    return {
        "<": value < other,
        ">": value > other,
        "<=": value <= other,
        ">=": value >= other,
        "=": value == other,
        "<>": value != other,
    }[sign]


def general(value: int | float) -> str:
    """A number without a format, with its typed digits."""
    return str(value) if isinstance(value, int) else f"{value:.15g}".upper()


def _is_fraction(tokens: Sequence[_Token]) -> bool:
    return any(
        before.kind == "digit" and token.text == "/" and after.kind == "digit"
        for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False)
    )


def _decimal(value: float, tokens: Sequence[_Token]) -> str:
    places = [at for at, token in enumerate(tokens) if token.kind == "digit"]
    point = next((at for at, token in enumerate(tokens) if token == ("sign", ".")), None)
    whole = [at for at in places if point is None or at < point]
    behind = [at for at in places if point is not None and at > point]
    commas = [at for at, token in enumerate(tokens) if token == ("sign", ",")]
    grouped = any(whole and whole[0] < at < whole[-1] for at in commas)
    thousands = sum(at > places[-1] or (bool(whole) and whole[-1] < at == point) for at in commas)
    if point is not None and whole:
        thousands += sum(whole[-1] < at < point for at in commas)
    percents = sum(token == ("sign", "%") for token in tokens)
    number = Decimal(str(value)).scaleb(2 * percents - 3 * thousands)
    rounded = number.quantize(Decimal(1).scaleb(-len(behind)), ROUND_HALF_UP)
    left, _, right = f"{rounded:f}".partition(".")
    left = left.lstrip("0")
    written: dict[int, str] = {}
    left = _fill_left(left, whole, tokens, written, grouped)
    right = _trimmed(right, [tokens[at].text for at in behind])
    for at, digit in zip(behind, right.ljust(len(behind), "\0"), strict=True):
        written[at] = digit.strip("\0")
    out = []
    for at, token in enumerate(tokens):
        if token.kind == "digit":
            out.append(written[at])
        elif token.kind == "literal" or token.text in ("%", "."):
            # Without a digit before it, the point follows the rest of the number.
            out.append(left + token.text if at == point and not whole else token.text)
    return "".join(out).strip()


def _fill_left(
    digits: str,
    places: Sequence[int],
    tokens: Sequence[_Token],
    written: dict[int, str],
    grouped: bool,
) -> str:
    """Place the digits before the point from the right; return the rest."""
    rest, count = digits, 0
    for at in reversed(places):
        digit, rest = (rest[-1], rest[:-1]) if rest else ("", "")
        if not digit and tokens[at].text != "#":
            digit = "0" if tokens[at].text == "0" else " "
        if digit and grouped and count and count % 3 == 0:
            digit += ","
        written[at] = digit
        count += 1
    if places and rest:
        # The first place takes all remaining digits.
        more = ""
        for digit in reversed(rest):
            more = digit + ("," if grouped and count % 3 == 0 else "") + more
            count += 1
        written[places[0]] = more + written[places[0]]
        rest = ""
    return rest


def _trimmed(digits: str, places: Sequence[str]) -> str:
    last = len(digits)
    while last and digits[last - 1] == "0" and places[last - 1] != "0":
        last -= 1
    return digits[:last]


def _scientific(value: float, sign: str, section: _FormatSection) -> str | None:
    kinds = [token.kind for token in section.tokens]
    split = kinds.index("exponent")
    before, after = section.tokens[:split], section.tokens[split:]
    if sum(token.kind == "digit" for token in before if token) == 0:
        return None
    point = next((at for at, token in enumerate(before) if token == ("sign", ".")), len(before))
    decimals = sum(token.kind == "digit" for token in before[point:])
    mantissa, _, power = f"{value:.{decimals}e}".partition("e")
    width = sum(token.kind == "digit" for token in after)
    mark = "-" if power.startswith("-") else ("+" if after[0].text.endswith("+") else "")
    tail = "".join(token.text for token in after[1:] if token.kind == "literal")
    return f"{sign}{mantissa}E{mark}{abs(int(power)):0{width}d}{tail}"


def _digits(text: str, kind: int) -> str | None:
    """A number in the digits of ``[DBNum3]``; None for kanji digits."""
    if not kind:
        return text
    return text.translate(_FULL_WIDTH) if kind == 3 else None


def _date(value: datetime | date | time | timedelta, number_format: str) -> str | None:
    section = _sections(number_format)[0]
    if not section.is_date:
        return _iso(value)
    elapsed = value if isinstance(value, timedelta) else _since_midnight(value)
    moment = _moment(value)
    tokens = section.tokens
    halves = any(token.kind == "half" for token in tokens)
    out = []
    for at, token in enumerate(tokens):
        if token.kind == "elapsed":
            unit = {"h": 3600, "m": 60, "s": 1}[token.text[0]]
            out.append(f"{int(elapsed.total_seconds() // unit):0{len(token.text)}d}")
        elif token.kind == "date":
            is_minute = token.text[0] == "m" and _is_minute(tokens, at)
            out.append(_field(token.text, moment, section.locale, halves, is_minute))
        elif token.kind == "half":
            names = ("午前", "午後") if token.text[0] in "上午" else token.text.split("/")
            out.append(names[moment.hour >= 12])
        elif token.kind == "literal" or token.kind == "sign":
            out.append(token.text if token.text != "@" else "")
    return _digits("".join(out).strip(), section.digits)


def _iso(value: datetime | date | time | timedelta) -> str:
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ")
    return str(value)


def _moment(value: datetime | date | time | timedelta) -> datetime:
    match value:
        case datetime():
            moment = value
        case date():
            moment = datetime.combine(value, time())
        case time():
            moment = datetime.combine(date(1900, 1, 1), value)
        case _:
            moment = datetime(1900, 1, 1) + value % timedelta(days=1)
    # Fractions of a second are rounding errors.
    return moment.replace(microsecond=0) + timedelta(seconds=round(moment.microsecond, -3) // 10**6)


def _since_midnight(value: datetime | date | time) -> timedelta:
    moment = value if isinstance(value, time) else _moment(value).time()
    within = timedelta(hours=moment.hour, minutes=moment.minute, seconds=moment.second)
    if isinstance(value, time):
        return within
    # Excel counts days from 1899-12-31, and its 1900 has one day too many.
    return within + timedelta(days=(_moment(value).date() - date(1899, 12, 30)).days)


def _is_minute(tokens: Sequence[_Token], at: int) -> bool:
    timed = [one for one in tokens[:at] if one.kind in ("date", "elapsed")]
    after = next((one for one in tokens[at + 1 :] if one.kind in ("date", "elapsed")), None)
    return bool(timed and timed[-1].text[0] == "h") or bool(after and after.text[0] == "s")


def _field(text: str, moment: datetime, locale: str, halves: bool, is_minute: bool) -> str:
    """A part of a date, in its number of letters."""
    kind, width = text[0], len(text.partition(".")[0])
    if kind in "ge":
        return _of_era(kind, width, moment, locale)
    if kind == "a":
        return _WEEKDAYS[moment.weekday()] + ("曜日" if width == 4 else "")
    if kind == "y":
        return f"{moment.year:04d}" if width > 2 else f"{moment.year % 100:02d}"
    if kind == "d" and width > 2:
        name = _DAYS[moment.weekday()]
        return name if width > 3 else name[:3]
    if kind == "m" and width > 2 and not is_minute:
        name = _MONTHS[moment.month - 1]
        return {3: name[:3], 4: name}.get(width, name[0])
    number = {
        "m": moment.minute if is_minute else moment.month,
        "d": moment.day,
        "h": (moment.hour % 12 or 12) if halves else moment.hour,
        "s": moment.second,
    }[kind]
    behind = text.partition(".")[2]
    return f"{number:0{min(width, 2)}d}" + (f".{'0' * len(behind)}" if behind else "")


def _of_era(kind: str, width: int, moment: datetime, locale: str) -> str:
    """The name of an era, or the year in it; before Meiji the common year."""
    day = moment.date()
    found = next((era for era in _ERAS if day >= era[0]), None)
    if found is None:
        return "" if kind == "g" else str(day.year)
    begun, name, letter = found
    if kind == "g":
        return {1: letter, 2: name[0]}.get(width, name)
    year = day.year - begun.year + 1
    if year == 1 and "gannen" in locale:
        return "元"
    return f"{year:02d}" if width > 1 else str(year)

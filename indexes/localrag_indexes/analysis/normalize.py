"""One form for characters and numbers, and the way back to the original text.

`plain` gives the usual characters of Japanese laws, to read names, numbers and citations.
`normalize` goes on to the form for comparing words. Neither is stored or shown: `PlainText` maps
each character to its place in the original.

- Radicals (⾦, ⻑) become ideographs, compatibility forms (㈱, ㋿, half-width kana) are decomposed.
- Letters are joined with their marks.
- Zero-width characters, marks of direction, variation selectors and controls are dropped.
- Every kind of comma, middle dot, hyphen, dash, wave, blank and bracket has one form.

`plain` keeps full-width letters and digits, ① and Ⅰ, which number provisions, and superscripts.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise

# With NUL, where C libraries stop, and lone surrogates, which no encoding can write.
INVISIBLE = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Invisible characters, as a class of a pattern."""

SIMPLE_CHARACTERS = (
    "\t\n\u0020-\u007e\u3000-\u3029\u3041-\u3096\u30a1-\u30fe\u3400-\u9fff\uff01-\uff5e"
)
"""Most characters of any text, as a class: each is plain and normalises to one character."""

_ROMAN = "Ⅰ-Ⅿⅰ-ⅿ"
CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳㉑㉒㉓㉔㉕㉖㉗㉘㉙㉚㉛㉜㉝㉞㉟㊱㊲㊳㊴㊵㊶㊷㊸㊹㊺㊻㊼㊽㊾㊿"
"""Numbers in circles, from 1 to 50; they number paragraphs and items."""
_OTHER_CIRCLED = (
    "❶❷❸❹❺❻❼❽❾❿⓫⓬⓭⓮⓯⓰⓱⓲⓳⓴", "➀➁➂➃➄➅➆➇➈➉", "➊➋➌➍➎➏➐➑➒➓", "⓵⓶⓷⓸⓹⓺⓻⓼⓽⓾",
)  # fmt: skip
_ALIKE = {
    "-": "‐‑⁃﹣➖˗",
    "―": "‒–—⸺⸻─━﹘︱︲⎯",
    "－": "−",
    "〜": "∼⁓〰∿",
    "，": "﹐︐،⸲⸴⹁⹌ꓹ",
    "、": "､﹑︑",
    "・": "･·•‧∙⋅⸱⸳ꞏ᛫",
    "（": "﹙︵❨⸨⦅｟﴾",
    "）": "﹚︶❩⸩⦆｠﴿",
    "〈": "⟨❬❰",
    "〉": "⟩❭❱",
    "《": "⟪",
    "》": "⟫",
    "〔": "❲⟬",
    "〕": "❳⟭",
    "［": "⟦",
    "］": "⟧",
}
_COMMON = {other: one for one, others in _ALIKE.items() for other in others}
_COMMON |= {other: one for row in _OTHER_CIRCLED for other, one in zip(row, CIRCLED, strict=False)}
# Japanese laws print these four in another form than Unicode names.
_OF_JAPAN = str.maketrans("戶黑靑黃", "戸黒青黄")
# Marks of notes, and characters of another size.
_KEPT_KINDS = ("<super>", "<sub>", "<fraction>")
_KEPT = frozenset("…‥") | frozenset(CIRCLED)
_MARKS = "\u0300-\u034e\u0350-\u036f\u3099\u309a\uff9e\uff9f"
# The most common characters that folding does not change.
_USUAL = f"{SIMPLE_CHARACTERS}\r…―①-⑳{_ROMAN}‘’“”αβ×÷→■□●◆▼※"
_UNUSUAL = re.compile(f"[^{_USUAL}]")
_CLUSTER = re.compile(f".?[{_MARKS}]+|[^{_USUAL}]", re.DOTALL)
_INVISIBLE = re.compile(f"[{INVISIBLE}]")


@cache
def _radicals() -> dict[str, str]:
    text = files("localrag_indexes.analysis").joinpath("radicals.tsv").read_text(encoding="utf-8")
    pairs = (line.split("\t") for line in text.splitlines() if not line.startswith("#"))
    return {radical: ideograph.translate(_OF_JAPAN) for radical, ideograph in pairs}


@cache
def _common() -> tuple[re.Pattern[str], dict[str, str]]:
    forms = _COMMON | _radicals()
    return re.compile(f"[{re.escape(''.join(forms))}]"), forms


def common(text: str) -> str:
    """Give each kind of punctuation one form, and radicals ideographs; no character is added."""
    pattern, forms = _common()
    return pattern.sub(lambda found: forms[found[0]], text)


def visible(text: str) -> str:
    """Return `text` without its invisible characters."""
    return _INVISIBLE.sub("", text)


@lru_cache(maxsize=4096)
def _plain_cluster(cluster: str) -> str:
    if len(cluster) > 1:
        marks = unicodedata.normalize("NFKC", cluster[1:])
        return unicodedata.normalize("NFC", _plain_cluster(cluster[0]) + marks)
    if _INVISIBLE.match(cluster):
        return ""
    character = common(cluster)
    if character != cluster or character in _KEPT or re.match(f"[{_USUAL}]", character):
        return character
    if unicodedata.decomposition(character).partition(" ")[0] in _KEPT_KINDS:
        return character
    apart = common(unicodedata.normalize("NFKC", character))
    # ´ is not a blank with an accent.
    return character if apart[0] == " " and len(apart) > 1 else apart


_DIGIT, _NUMERAL = "0-9０-９", "〇一二三四五六七八九十百千"
_KANJI_DIGIT = "〇一二三四五六七八九"
_JAPANESE = "ぁ-ゖァ-ヺー一-鿿々〇"
_THOUSANDS = f"(?:[{_DIGIT}]|[{_KANJI_DIGIT}]{{3}})"
_OPENING, _CLOSING = "［\\[〔【《〈", "］\\]〕】》〉"
_INSIDE = f"[^{_OPENING}{_CLOSING}\n]"
_Rule = tuple[str, re.Pattern[str], Callable[[re.Match[str]], str]]
LONG_VOWEL = re.compile("[-－](?<=[ァ-ヺー].)(?=[ァ-ヺ])(?:(?<=[ァ-ヺー]{2}.)|(?=[ァ-ヺ]{2}))")
"""A hyphen for a long vowel: サ－ビス. イ－ハ is a range, and laws write メチル―エチル."""


# Characters read by their neighbours. Every match contains the first entry.
_RULES: tuple[_Rule, ...] = (
    # Courts wrote ， for 、; in 1，000 it stays.
    (
        "，",
        re.compile(f"，(?:(?<![{_DIGIT}{_KANJI_DIGIT}]，)|(?!{_THOUSANDS}))"),
        lambda _: "、",
    ),
    (
        ",",
        re.compile(
            f",(?<=[{_JAPANESE}],)(?![{_KANJI_DIGIT}]{{3}}) ?(?=[{_JAPANESE}{_DIGIT}（(「])"
        ),
        lambda _: "、",
    ),
    # 民法(明治29年法律第89号), not Code (民法).
    (
        "(",
        re.compile(
            rf"\((?<=[{_JAPANESE}{_DIGIT}]\()([^()\n{_JAPANESE}]{{0,400}}+[{_JAPANESE}][^()\n]{{0,400}}+)\)"
        ),
        lambda match: f"（{match[1]}）",
    ),
    # 民法［明治29年法律第89号］709条, 【民法】709条
    (
        "号",
        re.compile(
            f"[{_OPENING}]((?:明治|大正|昭和|平成|令和){_INSIDE}{{2,60}}号{_INSIDE}{{0,60}})[{_CLOSING}]"
        ),
        lambda match: f"（{match[1]}）",
    ),
    *(
        (
            opening,
            re.compile(
                f"{re.escape(opening)}({_INSIDE}{{1,80}}[法令則憲律例])[{_CLOSING}]"
                f"(?=[ 　]?の?(?:第|附則|別表|[{_DIGIT}{_NUMERAL}]))"
            ),
            lambda match: f"「{match[1]}」",
        )
        for opening in "［[〔【《〈"
    ),
    *((dash, LONG_VOWEL, lambda _: "ー") for dash in "-－"),
    (
        "ー",
        re.compile(f"ー(?<=[{_DIGIT}{_NUMERAL}条條項号].)(?=[{_DIGIT}{_NUMERAL}第同])"),
        lambda _: "―",
    ),
    # 人事院規則一―四
    (
        "規則",
        re.compile(f"規則[{_DIGIT}{_NUMERAL}]{{1,4}}[-－](?=[{_DIGIT}{_NUMERAL}])"),
        lambda match: f"{match[0][:-1]}―",
    ),
    *(
        (
            zero,
            re.compile(f"(?<=[{_KANJI_DIGIT}]){zero}+(?=[{_KANJI_DIGIT}十年月条條項号])"),
            lambda match: "〇" * len(match[0]),
        )
        for zero in "○◯"
    ),
)
_SIGN = re.compile(f"[{CIRCLED}]")
# 令和⑱年, 第⑱条, ⑱条; not the ① before an entry of a list, 条件 or 項目.
_COUNTING = re.compile(
    f"{_SIGN.pattern}(?:(?<=第.)(?=[条條項号章編節款目])|(?=[条條](?![例約理件文])|項(?!目))"
    "|(?<=[治正和成].)(?=年)|(?<=年.)(?=月)|(?<=月.)(?=日))"
)


class PlainText:
    """A text in plain characters (`text`), and the way back to the original.

    `offsets` has the original position of each character, then the length of the original.
    """

    __slots__ = ("offsets", "original", "text")

    def __init__(self, original: str) -> None:
        self.original = self.text = original
        self.offsets: Sequence[int] = range(len(original) + 1)
        if _UNUSUAL.search(original):
            self._replace(_CLUSTER, lambda match: _plain_cluster(match[0]))
        if _SIGN.search(self.text):
            self._replace(_COUNTING, lambda match: str(CIRCLED.index(match[0]) + 1))
        for sign, pattern, written in _RULES:
            if sign in self.text:
                self._replace(pattern, written)

    @property
    def is_as_written(self) -> bool:
        return self.text == self.original

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original for a span of `text`, without invisible characters around it."""
        if self.is_as_written:
            return start, end
        first = self.offsets[start]
        if start == end:
            return first, first
        last = self.offsets[end - 1]
        while self.offsets[end] == last:
            end += 1
        until = self.offsets[end]
        # A variation selector belongs to the character before it.
        while until - 1 > last and _LOOSE.match(self.original, until - 1):
            until -= 1
        return first, until

    def place(self, position: int) -> int:
        return position if self.is_as_written else bisect_left(self.offsets, position)

    def written(self, start: int, end: int) -> str:
        return self.original[slice(*self.span(start, end))]

    def _replace(self, pattern: re.Pattern[str], written: Callable[[re.Match[str]], str]) -> None:
        parts: list[str] = []
        offsets: list[int] = []
        done = 0
        for match in pattern.finditer(self.text):
            start, end = match.span()
            new = written(match)
            parts += self.text[done:start], new
            offsets += self.offsets[done:start]
            if len(new) == end - start:
                offsets += self.offsets[start:end]
            else:
                offsets += [self.offsets[start]] * len(new)
            done = end
        if parts:
            parts.append(self.text[done:])
            offsets += self.offsets[done:]
            self.text, self.offsets = "".join(parts), offsets


# Invisible and not part of the character before it.
_LOOSE = re.compile(f"(?![\ufe00-\ufe0f\U000e0100-\U000e01ef])[{INVISIBLE}]")


def plain(text: str) -> str:
    """Return `text` in plain characters."""
    return PlainText(text).text


def with_blanks(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text with blanks over some spans; every other character keeps its place."""
    characters = list(text)
    for start, end in spans:
        characters[start:end] = " " * (end - start)
    return "".join(characters)


SIMPLE = re.compile(f"[{SIMPLE_CHARACTERS}]+")
"""Runs of characters that each normalise to one."""
# The simple characters with another normal form.
_CHANGED = re.compile("[A-Z\u3000\u301c\uff01-\uff5e]")


def unified(text: str) -> str:
    """Return `text` in NFKC, with one form for each kind of punctuation; its case stays.

    Invisible characters and variation selectors are left out. A dash is ``-``, a long vowel ``ー``,
    a wave ``~``.
    """
    return visible(_one_form(_with_long_vowels(text)))


def normalize(text: str) -> str:
    """Return `text` like `unified`, case-folded."""
    text = _with_long_vowels(text)
    if SIMPLE.fullmatch(text):
        # Replacing only the different characters takes a fifth of the time.
        for character in set(_CHANGED.findall(text)):
            text = text.replace(character, _one_form(character).casefold())
        return text
    return visible(_one_form(text).casefold())


def _with_long_vowels(text: str) -> str:
    return LONG_VOWEL.sub("ー", text) if "-" in text or "－" in text else text


def _one_form(text: str) -> str:
    form = unicodedata.normalize("NFKC", common(text))
    return form.replace("―", "-").replace("〜", "~")


def without_blanks(text: str) -> str:
    """Return `text` like `normalize`, without blanks."""
    return "".join(normalize(text).split())


def letters_of(text: str) -> str:
    """Return the letters and digits of `text`, normalised."""
    return "".join(filter(str.isalnum, normalize(text)))


def compact(text: str) -> str:
    """Return `text` like `unified`, without blanks."""
    return "".join(unified(text).split())


def normalize_with_offsets(text: str) -> tuple[str, Sequence[int]]:
    """Normalise, and give offsets: character i comes from the original at ``offsets[i]``.

    The last offset is ``len(text)``. Split characters (㍻ to 平成) and joined ones (ｶﾞ to ガ) share
    an offset: use `original_span`.
    """
    normal = normalize(text)
    if normal == text:
        return text, range(len(text) + 1)
    text = _with_long_vowels(text)
    parts: list[str] = []
    offsets: list[int] = []

    def add_clusters(start: int, end: int) -> None:
        for first, last in _clusters(text, start, end):
            part = normalize(text[first:last])
            parts.append(part)
            offsets.extend([first] * len(part))

    done = 0
    for run in SIMPLE.finditer(text):
        add_clusters(done, run.start())
        # The last one may change with the next character.
        done = run.end() - 1
        parts.append(normalize(text[run.start() : done]))
        offsets.extend(range(run.start(), done))
    add_clusters(done, len(text))
    offsets.append(len(text))
    return "".join(parts), offsets


def original_span(offsets: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """Map a non-empty span of normalised text to the smallest original span that covers it."""
    last = offsets[end - 1]
    while offsets[end] == last:
        end += 1
    return offsets[start], offsets[end]


def _clusters(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans of characters, each normalised independently of its neighbours."""
    starts: list[int] = []
    cluster = ""
    for position in range(start, end):
        character = text[position]
        if cluster and _joins(cluster, character):
            cluster += character
        else:
            starts.append(position)
            cluster = character
    return pairwise([*starts, end])


def _joins(cluster: str, character: str) -> bool:
    if character < "\u0300" or "\u3400" <= character <= "\u9fff":
        return False
    alone = unicodedata.normalize("NFKC", character)
    if unicodedata.combining(alone[0]):
        return True
    if "\u3000" <= character <= "\u30ff":
        return False
    before = unicodedata.normalize("NFKC", cluster)
    return unicodedata.normalize("NFKC", cluster + character) != before + alone


FORMAL_NUMERALS = "壱壹弌弐貳貮弍参參弎肆伍陸漆柒捌玖拾佰陌仟阡萬廿卅"
"""Kanji that formal documents and old laws write for simple ones."""

_SPELLINGS = (
    str.maketrans(
        "〇零一二三四五六七八九壱壹弌弐貳貮弍参參弎肆伍陸漆柒捌玖拾佰陌仟阡萬０１２３４５６７８９",
        "0012345678911122223334567789十百百千千万0123456789",
    )
    | {ord("廿"): "2十", ord("卅"): "3十"}
    | {ord(sign): str(number) for number, sign in enumerate(CIRCLED, 1)}
)
_SMALL_UNITS = {"千": 1000, "百": 100, "十": 10}
_LARGE_UNITS = {"兆": 10**12, "億": 10**8, "万": 10**4}
_DIGITS = "〇一二三四五六七八九"

NUMERAL_CHARACTERS = "〇零一二三四五六七八九壱弐参拾十百千万億兆"
"""The kanji of numerals."""

YEAR_BEFORE = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}
"""The eras of modern Japan in order, each with the year before its first."""

_BELOW_TEN_THOUSAND = (
    r"(?:[0-9]{1,16}|(?=[1-9千百十])(?:[1-9]?千)?(?:[1-9]?百)?(?:[1-9]?十)?[1-9]?)"
)
_WRITTEN_NUMBER = re.compile(
    "".join(f"(?:({_BELOW_TEN_THOUSAND}){unit})?" for unit in _LARGE_UNITS)
    + f"({_BELOW_TEN_THOUSAND})?"
)
_RANKS = {unit: rank for rank, unit in enumerate("十百千万", 1)} | {"億": 4, "兆": 4}
_ZEROS = re.compile("(?<=([十百千万億兆]))0+(?=[1-9]([千百十]?))")
"""Zeros for skipped units: 百〇九, 千〇五十一."""
_GROUPED = re.compile(r"[0-9]{1,3}(?:[,，][0-9]{3})+")


@lru_cache(maxsize=4096)
def parse_numeral(text: str) -> int:
    """Read a whole number below 10^16.

    It reads multiplicative kanji (三十六, 二千万), positional kanji (一九九一), zeros for skipped
    units (百〇九), formal kanji (`FORMAL_NUMERALS`), digits in any form (⑱), digits grouped by
    commas, and mixtures (3億2千万, 7〇九). Raises `ValueError` if the text is not exactly one
    numeral.
    """
    digits = _GROUPED.sub(_without_commas, plain(text).translate(_SPELLINGS))
    digits = _ZEROS.sub(_without_skipped, digits)
    match = _WRITTEN_NUMBER.fullmatch(digits)
    if not digits or match is None:
        raise ValueError(f"not a numeral: {text[:40]!r}")
    *large, rest = match.groups()
    total = _below_ten_thousand(rest) if rest else 0
    for digits, size in zip(large, _LARGE_UNITS.values(), strict=True):
        total += size * _below_ten_thousand(digits) if digits else 0
    return total


def parse_year(text: str) -> int:
    """Parse the year of an era; the first one is called 元年. Raises `ValueError`."""
    return 1 if text == "元" else parse_numeral(text)


def common_year(era: str, year: int) -> int:
    """The year of the common era for the year of an era in `YEAR_BEFORE`: 昭和50年 is 1975."""
    return YEAR_BEFORE[era] + year


def in_digits(text: str) -> str:
    """A numeral in digits; other text (万 alone, say) is returned as written."""
    try:
        return str(parse_numeral(text))
    except ValueError:
        return text


def to_kanji(number: int) -> str:
    """Write a number below 10^16 the way statutes number provisions: 36 is 三十六, 1000 is 千."""
    if not 0 <= number < 10**16:
        raise ValueError(f"no kanji numeral for {number}")
    if number == 0:
        return "〇"
    written = ""
    for unit, size in (*_LARGE_UNITS.items(), ("", 1)):
        count, number = divmod(number, size)
        if count:
            written += _kanji_below_ten_thousand(count) + unit
    return written


def _without_skipped(match: re.Match[str]) -> str:
    # 千〇九百 skips no unit, so its zero stays.
    return "" if _RANKS[match[1]] - _RANKS.get(match[2], 0) > 1 else match[0]


def _without_commas(match: re.Match[str]) -> str:
    return match[0].replace(",", "").replace("，", "")


def _below_ten_thousand(text: str) -> int:
    if text.isdigit():
        return int(text)
    total = 0
    for unit, size in _SMALL_UNITS.items():
        before, found, after = text.partition(unit)
        if found:
            total += size * int(before or 1)
            text = after
    return total + int(text or 0)


def _kanji_below_ten_thousand(number: int) -> str:
    written = ""
    for unit, size in _SMALL_UNITS.items():
        count, number = divmod(number, size)
        if count:
            written += (_DIGITS[count] if count > 1 else "") + unit
    return written + (_DIGITS[number] if number else "")

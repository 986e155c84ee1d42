"""One folding of characters: what looks like a common character is read as that character.

`plain` writes a text in the characters that Japanese laws and their readers use, for readers of
names, numbers and citations. `localrag_indexes.analysis.normalize` goes on from here to the form
that words are compared in. What is stored or shown is never folded: `PlainText` knows where each
character stands in the text as it is.

- Radicals (⾦, ⻑) are the ideographs that they look like. Compatibility forms are taken apart
  (㈱, ㋿, half-width kana), letters and their marks put together.
- Invisible characters go: zero-width ones, marks of direction, variation selectors, controls.
- Every kind of comma, middle dot, hyphen, dash, wave, blank and bracket has one form.

Full-width letters and digits stay, and so do ① and Ⅰ, which number provisions, and superscripts,
which mark notes.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from importlib.resources import files

# With NUL, at which C libraries stop, and lone surrogates, which no encoding can write.
INVISIBLE = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters that print nothing, as a class of a pattern."""

SIMPLE_CHARACTERS = (
    "\t\n\u0020-\u007e\u3000-\u3029\u3041-\u3096\u30a1-\u30fe\u3400-\u9fff\uff01-\uff5e"
)
"""Most characters of any text, as such a class: each is read as it is, and normalises to one."""

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
# Japanese laws print these four in another form than the one that Unicode names.
_OF_JAPAN = str.maketrans("戶黑靑黃", "戸黒青黄")
# Marks of notes, and what is told apart by its size.
_KEPT_KINDS = ("<super>", "<sub>", "<fraction>")
_KEPT = frozenset("…‥") | frozenset(CIRCLED)
_MARKS = "\u0300-\u034e\u0350-\u036f\u3099\u309a\uff9e\uff9f"
# What the folding leaves as it is, the commonest of it.
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
    """Return `text` with one form for each kind of punctuation, and ideographs for radicals.

    Character by character: none is added or left out.
    """
    pattern, forms = _common()
    return pattern.sub(lambda found: forms[found[0]], text)


def visible(text: str) -> str:
    """Return `text` without its invisible characters."""
    return _INVISIBLE.sub("", text)


@lru_cache(maxsize=4096)
def _plain_cluster(cluster: str) -> str:
    """What a character, or one with its marks, is read as."""
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
    # ´ is no blank with an accent.
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


# What a character is read as by those around it, with a character that every match has.
_RULES: tuple[_Rule, ...] = (
    # Courts wrote ， for 、; in 1，000 it is none.
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
    """A text in plain characters, and the way back.

    Attributes:
        original: as written.
        text: as it is read.
        offsets: for each character of `text` the original one it stems from, and their number.
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
        """Whether nothing is read otherwise than it is written."""
        return self.text == self.original

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a span of `text` stands in the original, without what is invisible around it."""
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
        """Where a place of the original is in `text`."""
        return position if self.is_as_written else bisect_left(self.offsets, position)

    def written(self, start: int, end: int) -> str:
        """What the original has at a span of `text`."""
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


# What is invisible and no part of the character before it.
_LOOSE = re.compile(f"(?![\ufe00-\ufe0f\U000e0100-\U000e01ef])[{INVISIBLE}]")


def plain(text: str) -> str:
    """Return `text` in plain characters."""
    return PlainText(text).text


def with_blanks(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """A text with blanks in the place of some spans; every other character stays put."""
    characters = list(text)
    for start, end in spans:
        characters[start:end] = " " * (end - start)
    return "".join(characters)

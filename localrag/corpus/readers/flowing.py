"""Printed lines as running text: joining the lines of a sentence.

A line of a page, letter or wrapped file ends at its column. Whether its sentence goes on shows in
its words, the room left, and the start of the next line.
"""

import re
from collections.abc import Container, Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from rich.cells import cell_len

CLOSERS = "」』）)］\\]】〉》\"'”’"
_ENDS = re.compile(f"[。｡．.!?！？][{CLOSERS}]*[⁰¹²³⁴-⁹]*$")
_MARK = re.compile(
    "[・○●◎■□◆◇▼▽▲△※•‣–◦①-⑳㉑-㉟⑴-⒇㈠-㈩]"
    "|[-*+][ \t]"
    "|[（(][0-9０-９一二三四五六七八九十ア-ンｱ-ﾝa-zA-Z]{1,3}[)）]"
    "|[0-9０-９]{1,3}[.．)）][ \t　]?(?![0-9０-９])"
    "|[a-zA-Z][.)）][ \t]"
    "|(?:Article|Section|Chapter|Part|Schedule|Annex)[ ]+[0-9IVX]+\\b(?=[ .:—-]*(?:[A-Z(]|$))"
    "|第[ 　]?[0-9０-９〇一二三四五六七八九十百千]+[ 　]?[条章節編款項目]?"
    "(?:の[0-9０-９一二三四五六七八九十]+)*(?:[ 　\t（(]|$)"
    "|[注註][ 　]?[0-9０-９]|別[表紙]記|記$|以上$|>"
)
# A number and a space: an item, or the middle of a sentence.
_NUMBER = re.compile(
    "[0-9０-９]{1,3}[ 　\t]+\\S|[一二三四五六七八九十ア-ンイロハニホヘト]{1,3}[ 　\t、](?=\\S)"
)
_BULLET = re.compile("[・○●■□◆※•①-⑳]")
# No end of a sentence, and rarely of a heading or label.
_HANGS = re.compile(
    "[、，,;・「『（(〔【]$|(?<![0-9０-９])[-‐]$|[ぁ-ん](?<=[はがをにとのもでやへびいりしっかれ])$|(?:及|並)$"
)
_CONTINUES = re.compile("[、，。．ぁ-んー々ゝ）」』)\\]】a-z,;]")
_OPEN = {"「": "」", "『": "』", "（": "）", "(": ")", "〔": "〕", "【": "】"}
_LONGEST_OPEN, _TAIL = 400, 100
_WIDE = re.compile(
    "[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff60]"
)
_HYPHEN = re.compile("[A-Za-zÀ-ɏ]{2,}[-‐\u00ad\u0002]$")
_WORD = re.compile("[A-Za-zÀ-ɏ]+(?:[-‐][A-Za-zÀ-ɏ]+)*")
_TOKEN = re.compile("[!-~]+$")
_OPTION = re.compile("(?<![!-~])(?:[-/][A-Za-z0-9]+|[!-.0-~]*/[!-~]*)")
_PLAIN_WORD = re.compile("[a-z]{2,}(?![!-+/-~-])")
_FIRST_PART = re.compile("[A-Za-z0-9]+")
# Version numbers continue: 1. and 4-5, 3. and 0.0.
_VERSION = re.compile(r"(?<![0-9])[0-9]{1,3}\.$")
_VERSION_ENDS = re.compile("[0-9]+[-+~.][0-9]")
_NUMBER_BEGINS = re.compile(f"{_WIDE.pattern}[0-9][0-9,.]*$")
_NUMBER_ENDS = re.compile(f"[0-9][0-9,.]*{_WIDE.pattern}")
# A row of a table of contents.
_LEADERS = re.compile(r"(?:[.．・…‥][ 　]?){5,}\s*[0-9ivxlc]*$")
# Compounds showing a text without hyphenation, and their ratio to hyphenated words.
_SHOW_COMPOUNDS, _TIMES = 2, 3
# Empty share of a column beyond which the column did not break the line.
_EMPTY = 0.4


def ends_sentence(line: str) -> bool:
    """Whether a line ends a sentence."""
    return bool(_ENDS.search(line.rstrip()[-_TAIL:]))


def begins_item(line: str) -> bool:
    """Whether a line begins with the mark of an item, article or heading."""
    bare = line.lstrip()
    return bool(_MARK.match(bare) or _NUMBER.match(bare))


def continues(line: str) -> bool:
    """Whether a line begins inside a sentence, by its first letter: る利益を, 、, lower case."""
    return bool(_CONTINUES.match(line))


def is_wide(character: str) -> bool:
    """Whether a character is written without spaces between words."""
    return bool(_WIDE.match(character))


def goes_on(line: str, following: str, *, room: float, width: float) -> bool:
    """Whether a sentence continues on the next line; `room` is free space in units of `width`."""
    if not line or not following or ends_sentence(line) or _LEADERS.search(line[-_TAIL:]):
        return False
    # A moved word leaves its own room; Japanese moves a character or two.
    a_cell = max(width - room, 0.0) / max(1, cell_len(line))
    is_full = room <= max(width * 0.03, (_first_word(following) + 1) * a_cell * 1.05)
    hangs = bool(_HANGS.search(line[-2:])) or _is_open(line)
    if _MARK.match(following):
        return is_full and hangs and not _BULLET.match(following)
    if is_full or _NUMBER.match(following):
        return is_full
    if begins_item(line) and not hangs and room > width * _EMPTY / 2:
        return False
    return room < width * _EMPTY and (hangs or bool(_CONTINUES.match(following)))


def _first_word(line: str) -> int:
    if is_wide(line[0]):
        return 4
    word = re.match(r"\S+?(?=[\s\u2e80-\uffef]|$)", line)
    return min(cell_len(word[0]), 40) if word else 1


def _is_open(line: str) -> bool:
    tail = line[-_LONGEST_OPEN:]
    return any(tail.rfind(opener) > tail.rfind(closer) for opener, closer in _OPEN.items())


class KnownWords(NamedTuple):
    """Words of a text, for joining its lines."""

    # its words in lower case, and options and paths inside lines
    known: Container[str] = frozenset()
    keeps_hyphens: bool = False  # whether line ends split only compounds, without hyphenation


def words_of(lines: Sequence[str]) -> KnownWords:
    """Collect the words inside lines, to decide about hyphens."""
    known = frozenset(
        word.lower() for line in lines for word in _WORD.findall(line.rstrip("-‐\u00ad\u0002"))
    ) | frozenset(
        option.lower().rstrip(".,;:)")
        for line in lines
        for option in _OPTION.findall(line.rpartition(" ")[0])
    )
    hyphenated = compounds = 0
    for line, following in pairwise(lines):
        if _HYPHEN.search(line[-_TAIL:]) and following[:1].islower():
            with_hyphen, without = _words_across(line, following)
            hyphenated += without in known and with_hyphen not in known
            compounds += with_hyphen in known and without not in known
    return KnownWords(known, compounds >= _SHOW_COMPOUNDS and compounds > hyphenated * _TIMES)


def _words_across(line: str, following: str) -> tuple[str, str]:
    left, right = _WORD.findall(line[-_TAIL:-1])[-1], _WORD.match(following)
    right_word = right[0] if right else following[0]
    return f"{left}-{right_word}".lower(), f"{left}{right_word}".lower()


def join(line: str, following: str, words: KnownWords) -> str:
    """Join two stripped lines: a space between Latin words, none in Japanese.

    Hyphenation is undone, unless `words` has the word with its hyphen.
    """
    if _HYPHEN.search(line[-_TAIL:]) and following[0].isalpha() and not is_wide(following[0]):
        with_hyphen, without = _words_across(line, following)
        is_compound = with_hyphen.count("-") > 1
        is_soft = line[-1] in "\u00ad\u0002"
        is_hyphenated = is_soft or (
            not words.keeps_hyphens
            and (
                without in words.known
                if following[0].islower() and (is_compound or with_hyphen in words.known)
                else following[0].islower()
                or (without in words.known and with_hyphen not in words.known)
            )
        )
        return (line[:-1] if is_hyphenated else line.replace("\u0002", "-")) + following
    if is_wide(line[-1]) or is_wide(following[0]) or _is_broken_number(line, following):
        return line + following
    if _is_broken_name(line, following, words):
        return line + following
    if line[-1] == "/" and not line[-2:-1].isspace():
        is_beside = _is_beside_folder(line, following, words)
        return f"{line} {following}" if is_beside else line + following
    if line[-1] in "-‐–—" and line[-2:-1].isalnum():
        return line + following
    return f"{line} {following}"


def _is_broken_number(line: str, following: str) -> bool:
    return bool(_NUMBER_BEGINS.search(line[-_TAIL:]) and _NUMBER_ENDS.match(following))


def _is_broken_name(line: str, following: str, words: KnownWords) -> bool:
    """Whether a line ends inside a file name, address, version or option."""
    tail = line[-_TAIL:]
    found = _TOKEN.search(tail)
    token = found[0] if found else ""
    before = tail[: len(tail) - len(token)][-1:]
    if token in ("-", "/"):
        first = _FIRST_PART.match(following)
        return first is not None and first[0] != "a" and f"{token}{first[0]}".lower() in words.known
    match token[-1:]:
        case ":":
            return following.startswith("//")
        case ",":
            return "{" in token and "}" not in token and "}" in following.split(maxsplit=1)[0]
        case ".":
            is_within = bool(re.search(r"[/@].*[^.]\.$", token)) or (
                bool(before) and is_wide(before)
            )
            is_version = bool(before) and _VERSION.search(token) is not None
            return (is_within and following[0].islower()) or (
                is_version and _VERSION_ENDS.match(following) is not None
            )
    return False


def _is_beside_folder(line: str, following: str, words: KnownWords) -> bool:
    """Whether a line ends with a folder, followed by a word: debian/ directory."""
    found, word = _TOKEN.search(line[-_TAIL:]), _PLAIN_WORD.match(following)
    if found is None or word is None or "://" in found[0]:
        return False
    folder = found[0].lstrip("\"'(").lower()
    return folder in words.known and folder + word[0] not in words.known


_SHORTEST, _LONGEST = 24, 160
# Width of a wrapped column in cells, and how much narrower a full line may be.
_NEAR = 0.14
_LEAST_FULL = 2


def unwrapped(text: str) -> str:
    """Join the wrapped lines of a text to sentences.

    Other texts stay unchanged: lines without a common width, complete sentences, items, headings,
    and rows of a table.
    """
    out: list[str] = []
    lines = text.split("\n")
    words = words_of(lines)
    for block, is_text in _blocks(lines):
        out += _rejoined(block, words) if is_text else block
    return "\n".join(out)


def _blocks(lines: Sequence[str]) -> Iterator[tuple[list[str], bool]]:
    """Yield lines up to an empty one, and whether they are text."""
    block: list[str] = []
    for line in lines:
        if line.strip():
            block.append(line)
            continue
        if block:
            yield block, True
        yield [line], False
        block = []
    if block:
        yield block, True


def _rejoined(block: Sequence[str], words: KnownWords) -> list[str]:
    width = _column(block)
    if not width:
        return list(block)
    out: list[str] = []
    last = ""
    for line in block:
        stripped = line.strip(" 　\t")
        if (
            out
            and "\t" not in stripped
            and "\t" not in last.strip()
            and not _is_indented(line, last)
            and goes_on(
                last.strip(" 　\t"), stripped, room=max(0, width - _width(last)), width=width
            )
        ):
            out[-1] = join(out[-1].rstrip(" 　\t"), stripped, words)
        else:
            out.append(line)
        last = line
    return out


def _is_indented(line: str, last: str) -> bool:
    return _indent(line) > _indent(last) and not begins_item(last)


def _indent(line: str) -> int:
    return cell_len(line) - cell_len(line.lstrip(" 　\t"))


def _width(line: str) -> int:
    return cell_len(line.rstrip())


def _column(block: Sequence[str]) -> int:
    """Width of the column in cells; 0 if no column broke the lines."""
    widths = [_width(line) for line in block]
    column = max(widths[:-1], default=0)
    if not _SHORTEST <= column <= _LONGEST:
        return 0
    full = [
        line
        for line, width in zip(block[:-1], widths[:-1], strict=True)
        if width >= column * (1 - _NEAR) and not ends_sentence(line)
    ]
    inner = [
        width
        for line, width in zip(block[:-1], widths[:-1], strict=True)
        if not ends_sentence(line)
    ]
    if len(full) >= _LEAST_FULL and median(inner) >= column * (1 - 2 * _NEAR):
        return column
    return 0

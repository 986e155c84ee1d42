"""Writes out typed citations: 金商27の2①一 is 金商法第27条の2第1項第1号.

People leave out 法 (民709), 第, 条, 項 and 号. ① is a paragraph with an item in kanji (会社356①二);
or Ⅰ is a paragraph with an item ①. 709〜724条 and 5・6条 give the level once. Whether the provision
exists is for the resolver.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from localrag.law.names import NAME_LETTER, LawNames, ShortNames, short_names
from localrag.law.notation import (
    AND,
    ANOTHER_WORD,
    COUNT,
    NUMBER,
    SUBITEM,
    TO,
    labelled,
    numbered,
    read_number,
    read_subitem,
)
from localrag_indexes.analysis.normalize import CIRCLED, PlainText, plain

_LONGEST_NAME, _LONGEST_PART, _DIGITS = 120, 300, 4
_COUNTERS = "条項号"
_ARTICLE, _PARAGRAPH, _ITEM, _LETTER = range(4)

# One character for one, so positions stay valid.
_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)} | {0x3000: " ", 0xA0: " "}
_SIGN = f"[{CIRCLED}Ⅰ-Ⅻ]"

_DASH = rf" ?{TO} ?"
_AND = rf" ?(?:、?{AND}|[、,・;/&]|と|や) ?"
# 94条の2項 is the second paragraph of 94条.
_BRANCHES = rf"(?: ?[のノ之] ?{NUMBER}(?!{ANOTHER_WORD})(?! ?[項号]))*+"
_FIRST = rf"(?:第 ?)?{NUMBER}{_BRANCHES}"
_STEP = re.compile(
    rf"(?P<sign>{_SIGN}|[IVX]{{1,4}}+(?![A-Za-z]))(?P<level>[項号])?"
    rf"|(?:第 ?)?(?P<main>{COUNT}(?= ?[条條])|{NUMBER})(?P<branches>{_BRANCHES})"
    rf"(?: ?(?P<counter>[条條項号])(?![例約理件目])(?P<after>{_BRANCHES}))?"
)
_DIGIT = "[0-9０-９〇一二三四五六七八九十百千]"
# 憲法Ⅸ条
_ROMAN_ARTICLE = re.compile("(?<=[法令則第])([Ⅰ-Ⅻ])条")
# 民法§709
_SECTION_SIGNS = re.compile("(?<=[一-鿿ァ-ヶー]) ?§+ ?(?=[0-9０-９])")
_SECTION_SIGN = re.compile("(?<=[一-鿿ァ-ヶー])§(?=[0-9０-９])")
_SPACED_OUT = re.compile(r"[一-鿿][ 　]+[一-鿿]|[0-9０-９][ 　]+条")
# A blank between two numbers separates them: 52条の61 1項.
_IDLE_BLANKS = re.compile(f"(?<!{_DIGIT})[ 　]+|[ 　]+(?!{_DIGIT})")
_LETTERS = re.compile(SUBITEM)
# Possible ends of a bare number: 709の, 709及び, 356①, 2三, 一ロ; not in 3年, 2つ, 10% and 2.5.
_END = re.compile(
    rf"(?:(?=$|{_SIGN}|{SUBITEM}|[IVX一二三四五六七八九十第ぁ-ん]|及び|又は|若しくは|並びに|乃至"
    r"|各号|本文|但書|前段|後段|柱書|以下|以降|参照|準用|類推|違反|ff?\b|[^\w.%])(?!つ|か[月所国年]|くらい|ぐらい))|(?=\.(?!\w))"
)
# 1・3項, 709〜724条: the level comes at the end of a list or range.
_COUNTED_LATER = re.compile(rf"(?:(?:{_DASH}|{_AND}){_FIRST}){{1,20}}+ ?(?P<counter>[条條項号])")
# 民法103条から同105条: of the same law
_JOIN = re.compile(
    rf"(?:(?P<range>{_DASH})|(?P<also>{_AND}))(?P<same>同 ?(?=第? ?{NUMBER}))?"
    rf"|(?P<blank> )|(?={_SIGN})"
)
_UNTIL = re.compile(" ?(?:まで|迄)")
_HYPHEN = re.compile(" ?- ?")
_LINK = re.compile(" ?の? ?")
_BEHIND = re.compile(
    "各[号項]|(?:の|、)?(?:本文|ただし書き?|但書き?|前段|後段|柱書き?|各号列記以外の部分)"
)
_DIVISION = re.compile(
    rf"附 ?則|前文|別表(?: ?第? ?(?P<number>{NUMBER}{_BRANCHES})(?! ?[条條項号]))?"
)
_PLACE = rf"(?:第? ?{NUMBER}|附 ?則|別表|前文)"
_PLACE_FOLLOWS = re.compile(rf"(?: ?\([^()]{{3,60}}号\))?[ の]*(?={_PLACE})")
_PLACE_TOUCHES = re.compile(rf"(?={_PLACE})")
# The resolver reports an unknown law.
_SOME_LAW = re.compile(r"[^\W0-9]{1,60}?(?:法|令|規則)(?=[ の]*(?:第? ?[0-9]|附 ?則|別表))")
_ENDS_LIKE_A_LAW = re.compile(r"[^\W0-9](?:法|令|規則)$")
_NUMBER_BEGINS = re.compile(rf"(?<![のノ之第0-9])(?:第 ?)?{NUMBER}")
# In a sentence without a law: 27条①, 27条の2Ⅰ, 709〜724条, 5・6条; 27の2① unless 問27 precedes.
_SHORT_IN_ITSELF = re.compile(
    rf"{_FIRST} ?条{_BRANCHES}(?: ?{_FIRST} ?項)?{_SIGN}|{_FIRST}(?:{_DASH}|・|及び){_FIRST} ?条"
    rf"|(?<![{NAME_LETTER}]){_FIRST}{_SIGN}"
)
# 民二第1234号 is a letter of an office, 民事局第二課.
_OF_AN_OFFICE = re.compile("[一二三四五]第 ?[0-9]{1,6}号")
_HEADING = re.compile(rf"(?:第 ?)?({NUMBER}) ?([編章節款目])({_BRANCHES})")
_HEADINGS = re.compile(rf"(?:[ の]*{_HEADING.pattern})+ *")
_HEADINGS_AT_THE_END = re.compile(rf"{_HEADINGS.pattern}$")


class Typed(NamedTuple):
    """A typed citation in the form of statutes.

    Attributes:
        text: written out; the rest in plain characters.
        backwards: whether a range ends before it begins.
        branched: whether 27-2, such a range, is read as 27条の2.
    """

    text: str
    backwards: bool = False
    branched: bool = False


class Heading(NamedTuple):
    """A heading as cited: 第二章の三 is 章 and ``2_3``."""

    level: str
    number: str


def read_typed(typed: str, names: LawNames) -> Typed:
    """Write out a typed citation: 民 709, 会社356①二, 5・6条.

    Text in the form of statutes, or without a citation at its start, only gets plain characters
    (`localrag_indexes.analysis.normalize`).
    """
    typed = _closed_up(plain(typed), short_names(names))
    reading = _Reader(typed, short_names(names), running=False).read(0)
    if reading is None or not reading.is_short:
        return Typed(typed)
    return Typed(reading.text + typed[reading.end :], reading.backwards, reading.branched)


def written_out(question: str, names: LawNames) -> str:
    """Write out the short citations in a question: 刑199条は becomes 刑法第199条は.

    In a sentence a short name counts only right before a number, and a number only if it counts
    nothing else. A text of one citation is read as such: 民 709. A question without short citations
    is unchanged; others come in plain characters.
    """
    folded = plain(question)
    written = _written_out(folded, short_names(names))
    return question if written == folded else written


def _written_out(question: str, short: ShortNames) -> str:
    question = _closed_up(question, short)
    if not _NUMBER_BEGINS.search(question):
        return question
    whole = _Reader(question, short, running=False).read(0)
    if whole and whole.law and whole.is_short and not question[whole.end :].strip(" 　。.?？"):
        return whole.text + question[whole.end :]
    return "".join(piece for _, _, piece in _in_sentences(question, short))


def _closed_up(text: str, short: ShortNames) -> str:
    """憲法Ⅸ条 in figures, 民法§709 with 第, and citations without inner blanks."""
    text = _ROMAN_ARTICLE.sub(lambda article: f"{read_subitem(article[1])}条", text)
    text = _SECTION_SIGNS.sub("第", text)
    if len(text) > _LONGEST_NAME or not _SPACED_OUT.search(text):
        return text
    closed = _IDLE_BLANKS.sub("", text)
    reading = _Reader(closed, short, running=False).read(0)
    return closed if reading and reading.law and reading.end == len(closed) else text


def short_citations(text: str, names: LawNames) -> list[tuple[int, int, str]]:
    """Short citations in running text: their spans, in order, and their written form."""
    read = PlainText(text)
    if not _NUMBER_BEGINS.search(read.text):
        return []
    pieces = _in_sentences(_SECTION_SIGN.sub("第", read.text), short_names(names))
    return [
        (*read.span(start, end), written)
        for start, end, written in pieces
        if read.text[start:end] != written
    ]


def read_headings(text: str) -> tuple[Heading, ...]:
    """Read 第三編第五章, 3編5章 as headings from the outermost, or return none."""
    narrow = plain(text).translate(_NARROW)
    if not _HEADINGS.fullmatch(narrow):
        return ()
    try:
        return tuple(
            Heading(level, read_number(number + branches))
            for number, level, branches in _HEADING.findall(narrow)
        )
    except ValueError:
        return ()


def read_part(typed: str, names: LawNames) -> tuple[str, tuple[Heading, ...]]:
    """Read a law with headings of a part: 民法 第三編第五章, 民3編; else nothing."""
    if len(typed) > _LONGEST_PART:
        return "", ()
    typed = plain(typed)
    found = _HEADINGS_AT_THE_END.search(typed.translate(_NARROW))
    word = typed[: found.start()].strip() if found else ""
    some = word if word in names.rows or _ENDS_LIKE_A_LAW.search(word) else ""
    law = short_names(names).full(word) or some
    return (law, read_headings(typed[found.start() :])) if found and law else ("", ())


def _in_sentences(question: str, short: ShortNames) -> Iterator[tuple[int, int, str]]:
    """Pieces of a question with spans, short citations written out."""
    reader = _Reader(question, short, running=True)
    done = 0
    for number in _NUMBER_BEGINS.finditer(question):
        start = number.start()
        if start < done:
            continue
        law = short.before(question, start)
        if not law and not _SHORT_IN_ITSELF.match(reader.narrow, start):
            continue
        reading = reader.read(start, law)
        if reading is None:
            continue
        first = start - len(law) if reading.is_short else reading.end
        yield done, first, question[done:first]
        if reading.is_short:
            yield from reading.pieces
        done = reading.end
    yield done, len(question), question[done:]


class _Step(NamedTuple):
    """One step of a place: 27条の2, ①, 一.

    Attributes:
        level: 0 article, 1 paragraph, 2 item, 3 subitem.
        number: 27条の36 is ``27_36``.
        bare: whether it has no 条, 項 or 号.
        short: whether statutes would write it differently.
        sign: of the number: ``circled`` or ``roman``.
        kanji: whether it is a kanji numeral.
        written: as in statutes.
        end: its end.
    """

    level: int
    number: str
    bare: bool
    short: bool
    sign: str
    kanji: bool
    written: str
    end: int

    @property
    def counts(self) -> bool:
        """Whether it can be a count: 2, not ② or 2の3."""
        return self.bare and "_" not in self.number

    @property
    def order(self) -> list[int]:
        """Its numbers, for comparison."""
        return [int(part) for part in re.split("[_.]", self.number)]


class _Member(NamedTuple):
    """One citation of a list.

    Attributes:
        law: as in statutes; "" if inherited.
        division: 附則 or 別表第一.
        steps: from the outermost in.
        behind: 各号, 但書 …
        is_short: whether any part is short.
        end: its end.
        article: its article, or the inherited one.
    """

    law: str
    division: str
    steps: tuple[_Step, ...]
    behind: str
    is_short: bool
    end: int
    article: _Step | None

    @property
    def text(self) -> str:
        place = "".join(step.written for step in self.steps)
        return f"{self.law}{self.division}{place}{self.behind}"

    @property
    def last(self) -> _Step | None:
        return self.steps[-1] if self.steps else None


class _Reading(NamedTuple):
    """A list of citations, read.

    Attributes:
        law: the first law named, or "".
        pieces: citations (a range as one) and conjunctions: spans in order, and their written form.
        is_short: whether any part is short.
        backwards, branched: as in `Typed`.
    """

    law: str
    pieces: tuple[tuple[int, int, str], ...]
    is_short: bool
    backwards: bool
    branched: bool

    @property
    def text(self) -> str:
        """The list as in statutes."""
        return "".join(text for _, _, text in self.pieces)

    @property
    def end(self) -> int:
        """Its end."""
        return self.pieces[-1][1]


class _Reader:
    """Reads typed lists of citations.

    Args:
        text: the input.
        short: the names of the laws.
        running: whether it is a sentence with other words and numbers.
    """

    def __init__(self, text: str, short: ShortNames, *, running: bool) -> None:
        self.narrow = text.translate(_NARROW)
        self._raw = text
        self._short = short
        self._running = running

    def read(self, at: int, law: str = "") -> _Reading | None:
        """Read the list at `at`, of a law written before it; None for none."""
        first = self._member(at, law, None)
        if first is None:
            return None
        member, is_short = first, first.is_short
        pieces = [(at - len(law), first.end, first.text)]
        ranged = backwards = branched = False
        while (join := _JOIN.match(self.narrow, member.end)) is not None:
            is_range = join["range"] is not None
            next_ = self._member(join.end(), "", member, is_range=is_range)
            if next_ is None or (is_range and (ranged or not _can_end(next_))):
                break
            if join["blank"] and self._running and not next_.law:
                break
            if is_range and _is_branch(member, next_, join[0]):
                assert member.last is not None
                branch, *further = next_.steps
                branched |= branch.order <= member.last.order
                tail = f"の{branch.number}" + "".join(step.written for step in further)
                pieces[-1] = (pieces[-1][0], next_.end, pieces[-1][2] + tail)
            elif is_range and not _is_backwards(member, next_):
                if until := _UNTIL.match(self.narrow, next_.end):
                    next_ = next_._replace(end=until.end())
                whole = f"{pieces[-1][2]}から{next_.text}まで"
                pieces[-1] = (pieces[-1][0], next_.end, whole)
            else:
                backwards |= is_range
                joint = "及び" if is_range else _conjunction(join)
                begin = join.start("same") if join["same"] else join.end()
                pieces += [(join.start(), begin, joint), (begin, next_.end, next_.text)]
            is_short |= next_.is_short or any((join["blank"], join["same"], not join[0]))
            member, ranged = next_, is_range
        return _Reading(first.law, tuple(pieces), is_short, backwards, branched)

    def _member(
        self, at: int, law: str, before: _Member | None, *, is_range: bool = False
    ) -> _Member | None:
        """Read one citation, which may begin below the article after another one."""
        word = law
        if not law:
            word, law, at = self._law(at)
        else:
            law = self._short.full(law)
        if len(word) == 1 and _OF_AN_OFFICE.match(self.narrow, at):
            return None
        division, found = "", _DIVISION.match(self.narrow, at)
        if found:
            division, at = _division(found), found.end()
        said = None if law or division else before
        steps = tuple(self._steps(at, said, is_range=is_range))
        if not steps and not division:
            return None
        is_short = law != word or any(step.short for step in steps)
        is_short |= bool(found and found["number"] and found[0][2] != "第")
        if self._running and len(steps) == 1 and steps[0].counts and self._short.is_word(word):
            return None
        end = steps[-1].end if steps else at
        behind, article = _BEHIND.match(self.narrow, end), said.article if said else None
        if steps and steps[0].level == _ARTICLE:
            article = steps[0]
        words, end = (behind[0], behind.end()) if behind else ("", end)
        return _Member(law, division, steps, words, is_short, end, article)

    def _law(self, at: int) -> tuple[str, str, int]:
        """The law typed here, its name, and the start of its place."""
        follows = _PLACE_TOUCHES if self._running else _PLACE_FOLLOWS
        for end in range(min(len(self._raw), at + _LONGEST_NAME), at, -1):
            place = follows.match(self.narrow, end)
            if place is None:
                continue
            # Mostly equal: look a name up once.
            for word in dict.fromkeys((self._raw[at:end], self.narrow[at:end])):
                if name := self._short.full(word):
                    return word, name, place.end()
        if not self._running and (some := _SOME_LAW.match(self.narrow, at)):
            place = follows.match(self.narrow, some.end())
            return some[0], some[0], place.end() if place else some.end()
        return "", "", at

    def _steps(self, at: int, before: _Member | None, *, is_range: bool) -> Iterator[_Step]:
        above: _Step | None = None
        while (step := self._step(at, above, before, is_range=is_range)) is not None:
            yield step
            above = step
            link = _LINK.match(self.narrow, step.end)
            at = link.end() if link else step.end

    def _step(
        self, at: int, above: _Step | None, before: _Member | None, *, is_range: bool
    ) -> _Step | None:
        said = before.last if before else None
        found = _STEP.match(self.narrow, at)
        if found is None:
            return self._letters(at, above or said)
        sign, number, kanji = "", "", False
        level: int | None
        if found["sign"]:
            sign = "circled" if found["sign"] in CIRCLED else "roman"
            number = read_subitem(found["sign"])
            level = _level_of_sign(sign, above, said)
            if found["level"] and level is not None:
                level = _COUNTERS.index(found["level"])
        else:
            try:
                number = read_number(found["main"] + found["branches"] + (found["after"] or ""))
            except ValueError:
                return None
            kanji = not re.match("[0-9]", found["main"])
            if found["counter"]:
                level = _level(found["counter"])
            else:
                level = self._level_of_bare(found, kanji, above, before, is_range=is_range)
        if not number or level is None or (above is not None and level <= above.level):
            return None
        bare = not (sign or found["counter"])
        # Articles have no five-digit numbers; written out, such a number is reported.
        short = bool(bare or sign or found["branches"]) or len(found["main"] or "") > _DIGITS
        written = numbered(number, _COUNTERS[level], arabic=True)
        return _Step(level, number, bare, short, sign, kanji, written, found.end())

    def _letters(self, at: int, above: _Step | None) -> _Step | None:
        """Read イ(1) below an item or next to another."""
        found = _LETTERS.match(self.narrow, at)
        if found is None or above is None or above.level < _ITEM:
            return None
        return _Step(
            _LETTER, read_subitem(found[0]), False, False, "", False, found[0], found.end()
        )

    def _level_of_bare(
        self,
        found: re.Match[str],
        kanji: bool,
        above: _Step | None,
        before: _Member | None,
        *,
        is_range: bool,
    ) -> int | None:
        """The level of a bare number, from its context."""
        later = _COUNTED_LATER.match(self.narrow, found.end())
        if later is not None and (above is None or _level(later["counter"]) > above.level):
            return _level(later["counter"])
        if not _END.match(self.narrow, found.end()):
            return None
        if above is not None:
            if above.level == _ARTICLE:
                return _ITEM if kanji and above.bare and not above.kanji else None
            told = above.sign or (kanji and not self._running)
            return _ITEM if above.level == _PARAGRAPH and told else None
        said = before.last if before else None
        if before is None or said is None:
            return _ARTICLE
        if is_range:
            return said.level
        if said.level == _ITEM and said.bare and said.kanji and kanji:
            return _ITEM
        if self._running and not (said.bare or said.sign):
            return None
        article = before.article
        return _ARTICLE if article is not None and (article is said or article.bare) else None


def _level(counter: str) -> int:
    return _COUNTERS.index(counter.replace("條", "条"))


def _level_of_sign(sign: str, above: _Step | None, said: _Step | None) -> int | None:
    """The level of ① or Ⅰ: alone it continues a list."""
    if above is None:
        return said.level if said is not None and said.sign == sign else None
    if above.level == _PARAGRAPH:
        return _ITEM if sign == "circled" and above.sign != sign else None
    return _PARAGRAPH if above.level == _ARTICLE else None


def _division(found: re.Match[str]) -> str:
    is_table = found[0].startswith("別表")
    return labelled("別表", found[0]) if is_table else found[0].replace(" ", "")


def _conjunction(join: re.Match[str]) -> str:
    written = (join["also"] or "").strip()
    return written if written[:1].isalpha() or written == "・" else "、"


def _can_end(member: _Member) -> bool:
    return bool(member.steps) and not (member.law or member.division)


def _is_branch(member: _Member, next_: _Member, dash: str) -> bool:
    """Whether 27-2 is 27条の2: a range would run backwards, or a paragraph follows."""
    first, second = member.last, next_.steps[0]
    return (
        first is not None
        and _HYPHEN.fullmatch(dash) is not None
        and first.level == second.level == _ARTICLE
        and first.bare
        and second.bare
        and "_" not in second.number
        and (second.order <= first.order or len(next_.steps) > 1)
    )


def _is_backwards(member: _Member, next_: _Member) -> bool:
    last, first = member.last, next_.steps[0]
    start = next((step for step in member.steps if step.level == first.level), last)
    return start is not None and first.level == start.level and first.order < start.order

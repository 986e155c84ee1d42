"""Finds the terms a law defines, and the provisions defining them."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace

from localrag.corpus.links import Definition
from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS, Document, caption_of
from localrag.law.provisions import (
    BLOT,
    Innermost,
    Nesting,
    Tables,
    bracket_before,
    in_plain_characters,
    outside_in,
    without_asides,
)

_QUOTED = r"「[^「」\n]{1,60}」"
_QUOTED_LIST = rf"{_QUOTED}(?:(?:、|又は|及び|若しくは|並びに){_QUOTED})*+"
_MEANS = re.compile(rf"(?P<terms>{_QUOTED_LIST})とは")
_SCOPE_BEFORE = re.compile(
    r"([^、。\n「」（）　]{1,40})において(?:使用する)?、?$"
    # 前項第一号の「支配株主等」とは
    r"|((?:[前次同]|第[〇一二三四五六七八九十百]+)[条項号][^、。\n「」（）　]{0,30})の$"
)
# この条における用語のうち次の各号に掲げるものの意義は
_SCOPE_OF_ITEMS = re.compile(
    r"((?:この|[前次]|第[〇一二三四五六七八九十百]+)[編章節款目条項号][^、。\n「」（）　]{0,30}?)"
    r"にお(?:いて|ける)"
)
_CALLED = re.compile(
    rf"以下(?P<scope>[^「」。（）\n]{{0,80}}?)(?P<terms>{_QUOTED_LIST})と(?:いう|総称する)"
)
_TERM = re.compile("「([^「」]+)」")
_WHOLE_LAW = frozenset(f"この{kind}" for kind in ("法律", "政令", "府令", "省令", "規則", "命令"))
# 買付け等（…をいう。以下この節において同じ。）
_SAME = re.compile(r"以下(?P<scope>[^「」。（）\n]{0,80}?)(?:において)?同じ。）")
_NOUN = re.compile(r"[一-鿿々ァ-ヶー・]+(?:[けりいきちせえれめ](?:等|者|額|日|物|先)?)?$")
_LONGEST_ASIDE = 2000
# 一　株券　…
_ITEM = re.compile(
    r"[^　\n]{1,12}　(?P<term>[^　\n「」（）。、]{1,60})(?:（[^（）\n]{0,200}）)?　"
    r"(?P<meaning>[^\n]*)"
)
# 次の各号に掲げる用語の意義は、当該各号に定めるところによる
_TELLS_MEANINGS = re.compile("(?:用語[^。\n]{0,40}?の|その)(?:意義|定義)は")

# Older laws define without quotation marks: at the start of a sentence or table cell, or behind
# another definition; at the start of a paragraph also 前項の保有基準割合は、…をいう.
_TOLD = re.compile(r"(?<!」)とは、|　[前第][^、。「」（）\n\t　]{2,60}?(?<!と)(?P<of_place>は)、")
_LED = re.compile(
    r"(?:[。\t　]|を(?:い[いう])?、)"
    r"(?:(?P<scope>この(?:法律|政令|府令|省令|規則|命令|附則|[編章節款目条項表])"
    r"|[^、。「」（）\n\t　]{0,40}[条項号款節章編表](?:[イ-ン]|ただし書|本文)?(?:まで)?)"
    r"(?:で|における?|において|に規定する|の)、?)?"
    r"(?P<term>[^「」（）、。\n\t　]{1,30})$",
)
_LONGEST_LEAD = 90
# No term has such words: 公表がされた, 規定の適用について新聞紙.
_NO_TERM = re.compile(
    r"[をがへもで]|(?<!又)は|と(?!り|き|い|う)|に(?:つ|よ|係|関|対|お|規|掲)|(?:[たる]|こと|もの|場合|とき)$"
    r"|[編章節款条項号](?:の|に)|に$|^[〇一二三四五六七八九十]+(?:第|の)"
)
_MEANS_ALONE = re.compile("をい[いう]|とする$")
_MEANS_OF_PLACE = re.compile("をい[いう]")
# 都の区は、これを特別区という。
_SAID = re.compile(r"を(?P<term>[一-鿿々ァ-ヶー]{2,20})とい(?:う。|い、)")

# 不動産以外の物は、すべて動産とする。
_MADE = re.compile(
    r"[^　\n]{1,12}　(?P<what>[^。\n「」]{2,200}?)"
    r"(?P<link>を|(?<!又)は、(?:すべて|全て)?(?:これを)?|をも[つっ]て、?)"
    r"(?P<term>[一-鿿々ァ-ヶー]{2,20})とする"
)
_MADE_OF = re.compile("(?<=[を、てれ])[一-鿿々ァ-ヶー]{2,20}$")
# 親族の範囲: an article about the meaning of the term.
_ON_MEANING = re.compile("の(?:範囲|意義|定義)$")
_TERMS_OF_CAPTION = re.compile("及び|並びに|又は|、")
# A purpose, or a statement for each of many cases, is no definition.
_GIVES_NO_MEANING = re.compile("(?:こと|旨)$|当該各号に定める")
_FOR_A_CASE = re.compile(
    "とき|場合|かかわらず|ついて|ただし|但し|定める|規定|応じ|特約|(?:こと|旨)$"
)
# 現に罪を行い終つた者を; but one of several (各合議体の裁判官のうち一人を) has an office.
_NAMES_ONE = re.compile("^(?!.*(?:うち|(?<!又)(?<!若しく)は)).*[^と]$", re.DOTALL)
# 正犯を幇助した者は、従犯とする; but 農事組合法人は、法人とする does not define 法人.
_NAMES_WHO_DOES = re.compile(
    "^(?!.*(?<!又)(?<!若しく)は).*[うくすつぬむぶぐるいたな](?:者|もの|物)$", re.DOTALL
)


# Text behind a term named in passing or explained in place.
_IN_PASSING = re.compile("」(?:(?:、|又は|及び|若しくは|並びに)「[^「」]*」)*と(?:いう|総称)")
_EXPLAINED, _OF_ITEM = "（", "　"
_CHAPTER = re.compile("この[編章節款]")


def extract_definitions(document: Document) -> list[Definition]:
    """Find the definitions of a statute, in reading order; none in other documents."""
    if document.kind != "law":
        return []
    document, read = in_plain_characters(document)
    at = Innermost(outside_in(document)).at
    text = document.text
    nesting, tables = Nesting(text), Tables(document)
    found = sorted(
        {
            *_means(text),
            *_called(text),
            *_explained(text),
            *_items(document),
            *_bare(text),
            *_said(text),
            *_made(document),
        }
    )
    return [
        Definition(
            document.id,
            at(start),
            text[start:end],
            *read.span(start, end),
            scope,
            _aside(text, start, end, scope),
        )
        for start, end, scope in found
        # Text in quotation marks or in a replacement table belongs to another provision.
        if not nesting.is_quoted(start - (text[start - 1] == "「"))
        and not tables.replace_words(start)
    ]


def _aside(text: str, start: int, end: int, scope: str) -> int:
    """How far a definition is from a plain one for the whole law.

    「危険物」とは、…をいう and 一 宅地 … only define; 以下「危険物」という names a term in passing,
    and some definitions hold for a chapter or paragraph only.
    """
    explained = text.startswith(_EXPLAINED, end) and text[start - 1 : start] != _OF_ITEM
    of_chapter = _CHAPTER.search(scope) is not None
    if not (explained or _IN_PASSING.match(text, end)):
        return 1 if of_chapter else 2 * bool(scope)
    return 3 if of_chapter else 2 + 2 * bool(scope)


def _means(text: str) -> Iterator[tuple[int, int, str]]:
    """この法律において「X」とは、…をいう."""
    for match in _MEANS.finditer(text):
        before = _SCOPE_BEFORE.search(text, max(0, match.start() - 50), match.start())
        scope = (before[1] or before[2]) if before else ""
        yield from _terms(match, "" if scope in _WHOLE_LAW else scope)


def _called(text: str) -> Iterator[tuple[int, int, str]]:
    """…（以下「X」という。）."""
    for match in _CALLED.finditer(text):
        yield from _terms(match, _scope(match))


def _explained(text: str) -> Iterator[tuple[int, int, str]]:
    """X（…をいう。以下この章において同じ。）."""
    for match in _SAME.finditer(text):
        opening = bracket_before(text, match.end(), match.end() - _LONGEST_ASIDE)
        if opening is None or "をい" not in text[opening : match.start()]:
            continue
        line = text.rfind("\n", 0, opening) + 1
        noun = _NOUN.search(text, max(line, opening - 40), opening)
        if noun is not None and noun.end() - noun.start() > 1:
            yield noun.start(), noun.end(), _scope(match)


def _scope(match: re.Match[str]) -> str:
    return match["scope"].removesuffix("単に").removesuffix("において").removesuffix("、")


def _terms(match: re.Match[str], scope: str) -> Iterator[tuple[int, int, str]]:
    for term in _TERM.finditer(match["terms"]):
        offset = match.start("terms")
        yield offset + term.start(1), offset + term.end(1), scope


def _bare(text: str) -> Iterator[tuple[int, int, str]]:
    """この法律でXとは、…をいう; 前項のXは、…をいう."""
    for told in _TOLD.finditer(text):
        end = told.start("of_place") if told["of_place"] else told.start()
        line, line_end = _line(text, end)
        lead = _LED.search(text, max(line, end - _LONGEST_LEAD), end)
        if lead is None or _NO_TERM.search(lead["term"]):
            continue
        sentence = without_asides(text, told.end(), line_end).partition("。")[0]
        means = _MEANS_OF_PLACE if told["of_place"] else _MEANS_ALONE
        if (lead["scope"] or not told["of_place"]) and means.search(sentence):
            scope = lead["scope"] or ""
            yield *lead.span("term"), "" if scope in _WHOLE_LAW else scope


def _line(text: str, position: int) -> tuple[int, int]:
    end = text.find("\n", position)
    return text.rfind("\n", 0, position) + 1, len(text) if end < 0 else end


def _said(text: str) -> Iterator[tuple[int, int, str]]:
    """…をXという."""
    for match in _SAID.finditer(text):
        yield *match.span("term"), ""


def _made(document: Document) -> Iterator[tuple[int, int, str]]:
    """…をXとする, if it says what X is.

    It does if the caption is the term alone (天然果実及び法定果実), or if a person or thing gets
    that name and the law uses it elsewhere.
    """
    text = document.text
    articles = [passage for passage in document.passages if passage.layer == ARTICLES]
    starts = [article.start for article in articles]
    for told in re.finditer("とする。", text):
        line = text.rfind("\n", 0, told.start()) + 1
        term = _MADE_OF.search(text, line, told.start())
        at = bisect_right(starts, line) - 1
        if term is None or at < 0 or articles[at].locator.division:
            continue
        made = _MADE.fullmatch(without_asides(text, line, told.end() - 1))
        if made and _says_meaning(made, articles[at].header, text):
            yield *term.span(), ""


def _says_meaning(made: re.Match[str], header: str, text: str) -> bool:
    what, term = made["what"].rstrip(BLOT), made["term"]
    if term in _TERMS_OF_CAPTION.split(_ON_MEANING.sub("", caption_of(header))):
        return not _GIVES_NO_MEANING.search(what)
    names = _NAMES_ONE if made["link"] == "を" else _NAMES_WHO_DOES
    plain = names.search(what) and not _FOR_A_CASE.search(what)
    return bool(plain) and _spoken_of(term, text)


def _spoken_of(term: str, text: str) -> bool:
    return re.search(rf"(?<![一-鿿々ァ-ヶー]){re.escape(term)}(?:[をが]|は、)", text) is not None


def _items(document: Document) -> Iterator[tuple[int, int, str]]:
    """一　X　…をいう."""
    heads = {
        passage.locator: passage.text.partition("\n")[0]
        for passage in document.passages
        if passage.layer == PARAGRAPHS
    }
    for passage in document.passages:
        if passage.layer == ITEMS and (
            match := _ITEM.match(document.text, passage.start, passage.end)
        ):
            paragraph = replace(passage.locator, item="", subitem="")
            head = heads.get(paragraph, "")
            # An item of an item may be a mere case of its term.
            is_meaning = not passage.locator.subitem and _TELLS_MEANINGS.search(head)
            if is_meaning or "をいう" in match["meaning"]:
                stated = _SCOPE_OF_ITEMS.search(head)
                yield *match.span("term"), stated[1] if stated else ""

"""The terms a law defines for itself, and the provisions that define them."""

import re
from collections.abc import Iterator
from dataclasses import replace

from localrag.corpus.links import Definition
from localrag.corpus.types import ITEMS, PARAGRAPHS, Document
from localrag.statutes._structure import Nesting, Tables
from localrag.statutes.provisions import Innermost, outside_in

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
_BRACKETS = re.compile("[（）]")
_LONGEST_ASIDE = 2000
# 一　株券　…をいう
_ITEM = re.compile(
    r"[^　\n]{1,12}　(?P<term>[^　\n「」（）。、]{1,60})(?:（[^（）\n]{0,200}）)?　[^\n]*をいう"
)


def extract_definitions(document: Document) -> list[Definition]:
    """Find the definitions of a statute, in reading order; none for other documents."""
    if document.kind != "law":
        return []
    at = Innermost(outside_in(document)).at
    text = document.text
    nesting, tables = Nesting(text), Tables(document)
    found = sorted({*_means(text), *_called(text), *_explained(text), *_items(document)})
    return [
        Definition(document.id, at(start), text[start:end], start, end, scope)
        for start, end, scope in found
        # What stands in quotation marks, or in a table of words to be replaced, is to be read in
        # another provision and defines nothing here.
        if not nesting.is_quoted(start - (text[start - 1] == "「"))
        and not tables.replace_words(start)
    ]


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
        opening = _opening(text, match.end() - 1)
        if opening < 0 or "をい" not in text[opening : match.start()]:
            continue
        line = text.rfind("\n", 0, opening) + 1
        noun = _NOUN.search(text, max(line, opening - 40), opening)
        if noun is not None and noun.end() - noun.start() > 1:
            yield noun.start(), noun.end(), _scope(match)


def _opening(text: str, closing: int) -> int:
    """Where the bracket that closes at `closing` opens; -1 where it does not nearby."""
    depth = 0
    for bracket in _BRACKETS.finditer(
        text[max(0, closing + 1 - _LONGEST_ASIDE) : closing + 1][::-1]
    ):
        depth += 1 if bracket[0] == "）" else -1
        if depth == 0:
            return closing - bracket.start()
    return -1


def _scope(match: re.Match[str]) -> str:
    return match["scope"].removesuffix("単に").removesuffix("において").removesuffix("、")


def _terms(match: re.Match[str], scope: str) -> Iterator[tuple[int, int, str]]:
    for term in _TERM.finditer(match["terms"]):
        offset = match.start("terms")
        yield offset + term.start(1), offset + term.end(1), scope


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
            stated = _SCOPE_OF_ITEMS.search(heads.get(paragraph, ""))
            yield match.start("term"), match.end("term"), stated[1] if stated else ""

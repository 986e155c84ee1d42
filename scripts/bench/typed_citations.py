"""Citations as people type them: how many find exactly the provision meant, by notation.

Provisions are drawn from the 327 laws (``--seed``), written in every notation that fits, and read
like `localrag show` (``sentence``: `localrag ask`). A citation is right if it finds that provision,
or the provisions of that range, and nothing else.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest
from typing import NamedTuple

from bench.corpora import open_laws
from bench.options import parser
from bench.rates import rate

from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS, Locator
from localrag.law.names import LawNames, short_names
from localrag.law.notation import IROHA, cite
from localrag.law.provisions import StoredProvisions, container
from localrag.law.resolver import CitationResolver, Target, parse_target
from localrag.law.typed import written_out
from localrag_indexes.analysis.normalize import to_kanji

_WIDE = str.maketrans("0123456789 ", "０１２３４５６７８９　")
_POSITIONAL = str.maketrans("0123456789", "〇一二三四五六七八九")
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
_ROMAN = "ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩⅪⅫ"


class CitedProvision(NamedTuple):
    """A provision to cite.

    Attributes:
        short: abbreviation of the law before a number; "" if it has none.
        next: the next provision at its level; None after the last.
    """

    target: Target
    title: str
    short: str
    next: Locator | None

    @property
    def place(self) -> Locator:
        """Its place in the law."""
        return self.target.locator


def main() -> None:
    """Print the share of right readings of every notation."""
    options = parser(__doc__, work=True)
    options.add_argument("--count", type=int, default=1000, help="citations per notation")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--misses", action="store_true", help="print what was read otherwise")
    arguments = options.parse_args()
    draw = random.Random(arguments.seed)
    with open_laws(arguments.data, arguments.work.resolve()) as retriever:
        store, names = retriever.store, retriever.names
        provisions = StoredProvisions(store, names)
        known = list(provisions_of(store, names))
        print(f"{'notation':<11}{'n':>6}  {'right':<23}for example")
        for notation, write in NOTATIONS.items():
            draw.shuffle(known)
            written = ((cited, text) for cited in known if (text := write(cited)))
            rows = [row for row, _ in zip(written, range(arguments.count), strict=False)]
            wrong = []
            for cited, text in rows:
                meant = {cited.target}
                if notation in OF_TWO and cited.next:
                    meant.add(Target(cited.target.law_id, cited.next))
                if (
                    read_as_typed(text, names, provisions, in_question=notation == "sentence")
                    != meant
                ):
                    wrong.append((cited, text))
            right = rate(len(rows) - len(wrong), len(rows))
            print(f"{notation:<11}{len(rows):>6}  {right:<23}{rows[0][1][:40] if rows else ''}")
            for cited, text in wrong if arguments.misses else ():
                print("   ", text, cited.title, cited.place.path)


def read_as_typed(
    text: str, names: LawNames, provisions: StoredProvisions, *, in_question: bool
) -> set[Target]:
    """Provisions of a citation; empty if one is ambiguous."""
    if in_question:
        read = tuple(CitationResolver(names, provisions).resolve(written_out(text, names)))
    else:
        read = parse_target(text, names, provisions)
    if any(len(one.candidates) != 1 for one in read):
        return set()
    return {one.candidates[0] for one in read}


def provisions_of(store: CorpusStore, names: LawNames) -> Iterator[CitedProvision]:
    """Articles, paragraphs and items of main provisions; what a law prints twice is left out."""
    short = short_names(names)
    for law_id in names.rows:
        title = names.title(law_id)
        called = [name for name, ids in names.names.items() if ids == (law_id,)]
        words = [name.removesuffix("法") for name in called if name.endswith("法")]
        words += [name.removesuffix("則") for name in called if name.endswith("規則")]
        words += [f"{name.removesuffix('法施行令')}令" for name in called if "法施行令" in name]
        words = [word for word in words if names.lookup(short.full(word)) == (law_id,)]
        for layer in (ARTICLES, PARAGRAPHS, ITEMS):
            places = [stand.locator for stand in store.standing(law_id, layer)]
            times = Counter(places)
            for place, after in zip_longest(places, places[1:], fillvalue=Locator()):
                if times[place] > 1 or not place.article or place.division or ":" in place.path:
                    continue
                plain = bool(after.article) and not after.division and ":" not in after.path
                beside = plain and times[after] == 1 and container(place) == container(after)
                follows = after if beside else None
                yield CitedProvision(
                    Target(law_id, place), title, min(words, key=len, default=""), follows
                )


def _bare(number: str, spell: Callable[[str], str] = str) -> str:
    return "の".join(spell(part) for part in number.split("_"))


def _sign(number: str, signs: str) -> str:
    """① for 1; "" where there is no such sign."""
    return signs[int(number) - 1] if number.isdecimal() and int(number) <= len(signs) else ""


def _letters(subitem: str) -> str:
    first, *deeper = subitem.split(".")
    return (IROHA[int(first) - 1] if first else "") + "".join(f"({part})" for part in deeper)


def _short(cited: CitedProvision, spell: Callable[[str], str] = str, signs: str = _CIRCLED) -> str:
    """金商27の2①一: the paragraph is a sign, the item a kanji numeral, or after Ⅰ a sign."""
    place = cited.place
    paragraph = _sign(place.paragraph, signs) if place.paragraph else ""
    if not cited.short or (place.paragraph and not paragraph) or place.subitem.count(".") > 1:
        return ""
    item = _bare(place.item, lambda part: to_kanji(int(part))) if place.item else ""
    if place.item and signs == _ROMAN:
        item = _sign(place.item, _CIRCLED)
        if not item:
            return ""
    return f"{cited.short}{_bare(place.article, spell)}{paragraph}{item}{_letters(place.subitem)}"


def _without_first(cited: CitedProvision) -> str:
    """27条の2 1項4号: without 第 a blank keeps a branch from the number that follows."""
    place = cited.place
    if "第" in cited.title:
        return ""
    article = cite("", Locator(article=place.article), arabic=True)
    blank = " " if "_" in place.article and place.paragraph else ""
    inside = cite("", place, arabic=True).removeprefix(article)
    return cited.title + f"{article}{blank}{inside}".replace("第", "")


def _of_two(cited: CitedProvision, between: str) -> str:
    """709〜710条, 5条 1・2項: the level is said once, but for branches."""
    if cited.next is None or cited.place.subitem:
        return ""
    place, after = cited.place, cited.next
    first, last = (one.item or one.paragraph or one.article for one in (place, after))
    if "_" in first + last:
        last_place = cite("", after, arabic=True)
        outer = cite("", container(after) or Locator(), arabic=True)
        return cite(cited.title, place, arabic=True) + between + last_place.removeprefix(outer)
    outer = cite(cited.title, container(place) or Locator(), arabic=True)
    level = "号" if place.item else "項" if place.paragraph else "条"
    return f"{outer} {first}{between}{last}{level}"


def _in_a_sentence(cited: CitedProvision) -> str:
    """刑199条, 会社356条①二: beside other words an article is called one."""
    article = f"{cited.short}{cite('', Locator(article=cited.place.article), arabic=True)[1:]}"
    rest = _short(cited)[len(cited.short) + len(_bare(cited.place.article)) :]
    return f"なぜ{article}{rest}が適用されるのか。" if _short(cited) else ""


OF_TWO = ("range", "list")
"""Notations that name a provision and the one after it."""
NOTATIONS: Mapping[str, Callable[[CitedProvision], str]] = {
    "statutes": lambda cited: cite(cited.title, cited.place),
    "arabic": lambda cited: cite(cited.title, cited.place, arabic=True),
    "without 第": _without_first,
    "short": _short,
    "full-width": lambda cited: _short(cited).translate(_WIDE),
    "spaced": lambda cited: _short(cited._replace(short=f"{cited.short} ")) if cited.short else "",
    "positional": lambda cited: _short(cited, lambda part: part.translate(_POSITIONAL)),
    "kanji": lambda cited: _short(cited, lambda part: to_kanji(int(part))),
    "roman": lambda cited: _short(cited, signs=_ROMAN),
    "range": lambda cited: _of_two(cited, "〜"),
    "list": lambda cited: _of_two(cited, "・"),
    "sentence": _in_a_sentence,
}


if __name__ == "__main__":
    main()

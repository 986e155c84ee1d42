"""Citations with unusual characters: how many are read like those with common ones.

Provisions are drawn from the 327 laws (``--seed``) and written in each notation of
``typed_citations.py``, also with the law in quotation marks or its number in brackets. Then one
kind of character is inserted: an invisible one between any two, a variation selector after a kanji,
a radical for a kanji, and another comma, dot, dash, blank or bracket. A citation is right if
`localrag show` (``sentence``: `localrag ask`) finds the same provisions. Citations unreadable in
common characters are left out.
"""

import random
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from bench.corpora import open_laws
from bench.options import parser
from bench.rates import rate
from bench.typed_citations import NOTATIONS, OF_TWO, CitedProvision, provisions_of, read_as_typed

from localrag.law.names import LawNames
from localrag.law.notation import cite
from localrag.law.provisions import StoredProvisions
from localrag.law.resolver import Target

INVISIBLE = (
    "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufe0f\ufeff"
)
SELECTORS = ("\ufe00", "\ufe01", "\U000e0100", "\U000e0101", "\U000e01ef")
ALIKE = {
    "commas": ("、", "，､,﹐﹑︐︑"),
    "dots": ("・", "･·•‧∙⋅⸱"),
    "waves": ("〜", "～~∼〰–—―－−‒─ー"),
    "blanks": (" ", "\u00a0\u2002\u2003\u2009\u202f\u205f\u3000"),
    "brackets": ("（", "(﹙︵❨⦅｟［[〔﹝【"),
    "quotes": ("「", "｢﹁『﹃【︻《︽〈︿［[〔"),
}
_CLOSING = dict(
    zip("(﹙︵❨⦅｟［[〔﹝【｢﹁『﹃︻《︽〈︿", ")﹚︶❩⦆｠］]〕﹞】｣﹂』﹄︼》︾〉﹀", strict=True)
)
_PAIRS = {"brackets": "）", "quotes": "」"}
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"


def main() -> None:
    """Print the share of right readings by kind of character and notation."""
    options = parser(__doc__, work=True)
    options.add_argument("--count", type=int, default=20, help="citations per notation and kind")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--misses", action="store_true", help="print what was read otherwise")
    arguments = options.parse_args()
    draw = random.Random(arguments.seed)
    with open_laws(arguments.data, arguments.work.resolve()) as retriever:
        store, names = retriever.store, retriever.names
        provisions = StoredProvisions(store, names)
        known = list(provisions_of(store, names))
        right: Counter[str] = Counter()
        wrong: dict[str, list[str]] = defaultdict(list)
        for notation, write in _notations(names).items():
            draw.shuffle(known)
            written = (one for cited in known if (one := _meant(cited, write, notation)))
            is_asked = notation == "sentence"
            common = (
                (text, meant)
                for text, meant in written
                if read_as_typed(text, names, provisions, in_question=is_asked) == meant
            )
            for text, meant in islice(common, arguments.count):
                for kind, other in _written_otherwise(text, draw):
                    if read_as_typed(other, names, provisions, in_question=is_asked) == meant:
                        right[kind] += 1
                    else:
                        wrong[kind].append(other)
    print(f"{'characters':<16}{'n':>7}  right")
    for kind in sorted({*right, *wrong}):
        n = right[kind] + len(wrong[kind])
        print(f"{kind:<16}{n:>7}  {rate(right[kind], n)}")
        for text in wrong[kind] if arguments.misses else ():
            print("   ", ascii(text), text)
    everything = right.total() + sum(map(len, wrong.values()))
    print(f"{'all':<16}{everything:>7}  {rate(right.total(), everything)}")


def _notations(names: LawNames) -> Mapping[str, Callable[[CitedProvision], str]]:
    def numbered(cited: CitedProvision) -> str:
        number = names.rows[cited.target.law_id].law_num
        return f"{cited.title}（{number}）{cite('', cited.place, arabic=True)}" if number else ""

    def quoted(cited: CitedProvision) -> str:
        return f"「{cited.title}」{cite('', cited.place, arabic=True)}"

    return {**NOTATIONS, "numbered": numbered, "quoted": quoted}


def _meant(
    cited: CitedProvision, write: Callable[[CitedProvision], str], notation: str
) -> tuple[str, set[Target]] | None:
    """A citation in a notation, and its provisions; None if it has none."""
    text = write(cited)
    meant = {cited.target}
    if notation in OF_TWO and cited.next:
        meant.add(Target(cited.target.law_id, cited.next))
    return (text, meant) if text else None


def _written_otherwise(text: str, draw: random.Random) -> Iterator[tuple[str, str]]:
    """The text with characters of each kind that it can have, and the name of the kind."""
    for character in INVISIBLE:
        at = draw.randrange(1, len(text)) if len(text) > 1 else 1
        yield "invisible", text[:at] + character + text[at:]
        yield "invisible", character.join(text) + character
    for selector in SELECTORS:
        yield "selectors", "".join(one + selector * ("一" <= one <= "鿿") for one in text)
    for kind, forms in (("radicals", _radicals()), ("compatibility", _compatible())):
        if any(one in forms for one in text):
            yield kind, "".join(draw.choice(forms.get(one, (one,))) for one in text)
    for kind, (common, others) in ALIKE.items():
        for other in others if common in text else ():
            changed = text.replace(common, other)
            yield (
                kind,
                changed.replace(_PAIRS[kind], _CLOSING[other]) if kind in _PAIRS else changed,
            )
    for kind, form in _FORMS.items():
        if (changed := form(text)) != text:
            yield kind, changed


def _radicals() -> Mapping[str, Sequence[str]]:
    return _by_plain_form(range(0x2E80, 0x2FE0))


def _compatible() -> Mapping[str, Sequence[str]]:
    return _by_plain_form((*range(0xF900, 0xFB00), *range(0x2F800, 0x2FA20)))


_LOOKS_LIKE = {"⻑": "長", "⺠": "民", "⻘": "青", "⻄": "西", "⻝": "食", "⼾": "戸", "⿊": "黒"}
"""Radicals without a compatibility mapping, or with one to a form not printed in Japan."""


def _by_plain_form(codes: Sequence[int] | range) -> Mapping[str, Sequence[str]]:
    """Characters of a range by their plain form, without the table of the code."""
    forms: dict[str, list[str]] = defaultdict(list)
    for code in codes:
        one = chr(code)
        plain = _LOOKS_LIKE.get(one) or unicodedata.normalize("NFKC", one)
        if plain != one:
            forms[plain].append(one)
    return forms


def _half_width(text: str) -> str:
    halves: dict[str, str] = {}
    for code in range(0xFF61, 0xFFA0):
        halves.setdefault(unicodedata.normalize("NFKC", chr(code)), chr(code))
        for mark in "ﾞﾟ":
            whole = unicodedata.normalize("NFKC", chr(code) + mark)
            if len(whole) == 1:
                halves.setdefault(whole, chr(code) + mark)
    return "".join(halves.get(one, one) for one in text)


def _mathematical(text: str) -> str:
    return text.translate({ord("0") + digit: 0x1D7CE + digit for digit in range(10)})


def _full_width(text: str) -> str:
    return text.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)})


def _circled(text: str) -> str:
    """第2条 as 第②条."""
    for number in range(len(_CIRCLED), 0, -1):
        for counter in "条項号":
            text = text.replace(f"第{number}{counter}", f"第{_CIRCLED[number - 1]}{counter}")
    return text


def _decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


_FORMS: Mapping[str, Callable[[str], str]] = {
    "half-width": _half_width,
    "mathematical": _mathematical,
    "full-width": _full_width,
    "circled": _circled,
    "decomposed": _decomposed,
}


if __name__ == "__main__":
    main()

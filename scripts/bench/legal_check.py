"""Legal paragraphs with citations and quotations, some spoiled: results of `check`.

Sixty paragraphs with 200 citations, quotations and statements are made from the sample and real
laws (``--seed``). 80 are spoiled, each in one way: article, paragraph, branch number, era of the
law's number, law, words of a quotation, figure, bound, or a deleted provision. A spoiled one is
caught if the check objects to it; an objection to another is a false alarm; without any result it
is unsaid. Seeds 1 and 3 to 7 were seen during development. Last, the time for a text of 100 pages.
"""

import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.corpora import WORKERS
from bench.options import parser
from bench.rates import rate

from localrag.check import CheckReport, Verdict, check, given
from localrag.corpus.ingest.add import add
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES, PARAGRAPHS, Locator, Passage
from localrag.corpus.workspace import Workspace
from localrag.law.names import LawNames, customary
from localrag.law.notation import cite
from localrag.sample import FOLDER
from localrag.search.provision import is_deleted
from localrag_indexes.analysis.analyzer import split_sentences
from localrag_indexes.analysis.normalize import letters_of, parse_numeral, to_kanji

_PARAGRAPHS, _ITEMS = 60, 200
_SPOILED = {
    "article": 10,
    "paragraph": 10,
    "branch": 8,
    "era": 8,
    "law": 10,
    "words": 12,
    "figure": 10,
    "bound": 8,
    "deleted": 4,
}
"""How many are spoiled in which way."""
_PAGE = 1_400
_TRIES = 1_000
# Every so many items are of the invented laws.
_OF_SAMPLE = 4
_FIGURE = re.compile(
    "([一二三四五六七八九十百千]{1,5})(?=年|月(?!以後)|日(?!の翌)|週間|時間|人|万円|円|分の|メートル|歳)"
)
_BOUNDS = {"以上の": "を超える", "以下の": "未満の", "を超える": "以上の", "未満の": "以下の"}
_BOUND = re.compile(
    r"(?<=[年月日間人円歳分一二三四五六七八九十ルトム])(以上の|以下の|を超える|未満の)"
)
_PRINTED = re.compile(r"^(?:[０-９0-9]+|第[^　]+条[^　]*)[　 ]*")
_WORDS = (
    ("又は", "及び"),
    ("及び", "又は"),
    ("しなければならない", "することができる"),
    ("することができる", "しなければならない"),
    ("してはならない", "することができる"),
    ("ときは", "場合に限り"),
    ("その他の", "その他"),
    ("遅滞なく", "速やかに"),
    ("適用する", "準用する"),
    ("準用する", "適用する"),
    ("違反した", "反した"),
    ("受けた", "得た"),
)


@dataclass(frozen=True)
class CheckProvision:
    """A paragraph or an article with one of its sentences."""

    law_id: str
    law: str
    place: Locator
    sentence: str
    caption: str


@dataclass(frozen=True)
class CheckItem:
    """A statement of a paragraph about a law.

    Attributes:
        spoiled: how; "" if it is true.
    """

    text: str
    spoiled: str = ""


@dataclass(frozen=True)
class JudgedItem:
    """An item with what the check says of it."""

    item: CheckItem
    fails: bool
    said: bool
    words: str


def main() -> None:
    """Make the paragraphs, check them, print the rates."""
    options = parser(__doc__, work=True)
    options.add_argument("--seed", type=int, default=2)
    options.add_argument("--pages", type=int, default=100, help="of the text that is timed")
    options.add_argument("--misses", action="store_true", help="show what was judged wrongly")
    arguments = options.parse_args()
    workspace = Workspace(arguments.work.resolve() / "home")
    workspace.init()
    paths = [arguments.data / "egov" / "xml", Path(FOLDER) / "laws"]
    add(workspace, "legal-check", paths, workers=WORKERS)
    with CorpusStore.open(workspace.corpus("legal-check").store, read_only=True) as store:
        maker = _ItemMaker(store, random.Random(arguments.seed))
        paragraphs = maker.paragraphs()
        judged = [
            one
            for paragraph in paragraphs
            for one in _judged(paragraph, check(store, given(_written(paragraph))))
        ]
        _print(judged, len(paragraphs), arguments.seed)
        if arguments.misses:
            for one in judged:
                if one.fails is not bool(one.item.spoiled) or not one.said:
                    print(f"  {one.item.spoiled or 'TRUE'}: {one.item.text}\n      {one.words}")
        _time(store, "\n\n".join(map(_written, paragraphs)), arguments.pages)


def _time(store: CorpusStore, text: str, pages: int) -> None:
    """Print how long a text of so many pages takes."""
    length = _PAGE * pages
    source = given(((text + "\n\n") * (length // len(text) + 1))[:length])
    since, busy = time.perf_counter(), time.process_time()
    report = check(store, source)
    seconds, busy = time.perf_counter() - since, time.process_time() - busy
    print(
        f"{pages} pages of {_PAGE:,} characters, {len(report.findings):,} findings: "
        f"{seconds:.1f} s, {busy:.1f} s of a processor"
    )


def _written(paragraph: Sequence[CheckItem]) -> str:
    return "".join(item.text for item in paragraph)


def _judged(paragraph: Sequence[CheckItem], report: CheckReport) -> Iterator[JudgedItem]:
    start = 0
    for item in paragraph:
        end = start + len(item.text)
        findings = [
            finding
            for finding in report.findings
            if finding.place.start < end and finding.place.end > start
        ]
        fails = any(finding.verdict is Verdict.FAILS for finding in findings)
        words = " / ".join(
            f"{finding.part} {finding.verdict} {finding.problem or ''}" for finding in findings
        )
        yield JudgedItem(item, fails, bool(findings), words)
        start = end


def _print(judged: Sequence[JudgedItem], paragraphs: int, seed: int) -> None:
    spoiled = [one for one in judged if one.item.spoiled]
    true = [one for one in judged if not one.item.spoiled]
    print(f"seed {seed}: {paragraphs} paragraphs, {len(judged)} items, {len(spoiled)} spoiled")
    print(f"  caught        n = {len(spoiled):3}  {_rate(spoiled)}")
    ways: dict[str, list[JudgedItem]] = defaultdict(list)
    for one in spoiled:
        ways[one.item.spoiled].append(one)
    for way, some in ways.items():
        print(f"    {way:<11} n = {len(some):3}  {_rate(some)}")
    print(f"  false alarms  n = {len(true):3}  {_rate(true)}")
    print(f"  unsaid        n = {len(judged):3}  {sum(not one.said for one in judged)}")


def _rate(some: Sequence[JudgedItem]) -> str:
    return rate(sum(one.fails for one in some), len(some))


class _ItemMaker:
    """Makes items of the laws of a corpus."""

    def __init__(self, store: CorpusStore, draw: random.Random) -> None:
        self._store = store
        self._draw = draw
        self._names = LawNames.from_rows(store.laws())
        self._laws = [
            law_id
            for law_id, row in self._names.rows.items()
            if row.law_num and len(self._called(law_id)) <= 24
        ]
        self._sample = [law_id for law_id in self._laws if law_id.startswith("599")]
        self._made = 0

    def paragraphs(self) -> list[list[CheckItem]]:
        """All paragraphs, each of some items."""
        ways = [way for way, count in _SPOILED.items() for _ in range(count)]
        ways += [""] * (_ITEMS - len(ways))
        self._draw.shuffle(ways)
        items = [item for way in ways if (item := self._item(way))]
        if len(items) < len(ways):
            print(f"{len(ways) - len(items)} items could not be made of these laws")
        size, more = divmod(len(items), _PARAGRAPHS)
        rest = iter(items)
        return [
            [next(rest) for _ in range(size + (number < more))] for number in range(_PARAGRAPHS)
        ]

    def _item(self, way: str) -> CheckItem | None:
        """One item; None if the laws have nothing to spoil this way."""
        kinds: dict[str, Sequence[Callable[[str], CheckItem | None]]] = {
            "era": (self._numbered,),
            "deleted": (self._deleted,),
            "figure": (self._stated, self._quoted),
            "bound": (self._stated, self._quoted),
            "article": (self._quoted, self._listed, self._captioned),
            "paragraph": (self._quoted, self._listed),
            "branch": (self._listed, self._quoted),
            "law": (self._quoted, self._captioned),
            "words": (self._quoted,),
            "": (
                self._quoted,
                self._quoted,
                self._stated,
                self._listed,
                self._captioned,
                self._numbered,
            ),
        }
        for _ in range(_TRIES):
            if item := self._draw.choice(kinds[way])(way):
                self._made += 1
                return item
        return None

    # --- items ---

    def _quoted(self, way: str) -> CheckItem | None:
        """LAW第N条は「…」と規定する, and other ways to quote."""
        one = self._provision(branched=way == "branch")
        if one is None or not 20 <= len(one.sentence) <= 160:
            return None
        words = one.sentence
        if way in ("figure", "bound", "words"):
            spoiled = self._spoil_words(words, way)
            if spoiled is None or self._in_law(one, spoiled):
                return None
            words = spoiled
        elif way:
            other = self._elsewhere(one, way)
            if other is None:
                return None
            one = other
        if not way and self._draw.random() < 0.15 and words.count("、") > 1:
            head, *_, tail = words.split("、")
            words = f"{head}、…{tail}"
        cited = self._cited(one)
        plain = words.rstrip("。") if self._draw.random() < 0.5 else words
        templates = (
            f"{cited}は、「{plain}」と規定している。",
            f"{cited}は「{plain}」と定める。",
            f"この点については、「{plain}」（{cited}）とされている。",
            f"{cited}によれば、「{plain}」とある。",
            f"すなわち、{cited}には「{plain}」と定められている。",
            f"{cited}は次のように定める。\n\n> {words}\n\n",
        )
        return CheckItem(self._draw.choice(templates), way)

    def _stated(self, way: str) -> CheckItem | None:
        """What a provision says, in a sentence of one's own."""
        one = self._provision()
        if one is None or not 20 <= len(one.sentence) <= 110 or "この" in one.sentence:
            return None
        if len(_FIGURE.findall(one.sentence)) != 1 or "第" in one.sentence:
            return None
        words = one.sentence
        if way:
            spoiled = self._spoil_words(words, way)
            if spoiled is None or self._in_law(one, spoiled):
                return None
            words = spoiled
        if self._draw.random() < 0.6:
            words = _FIGURE.sub(lambda found: str(parse_numeral(found[0])), words)
        cited = self._cited(one)
        body = words.rstrip("。")
        templates = (
            f"{cited}によれば、{body}。",
            f"{cited}は、{body}と定めている。",
            f"{body}（{cited}）。",
            f"{cited}では、{body}とされる。",
        )
        return CheckItem(self._draw.choice(templates), way)

    def _listed(self, way: str) -> CheckItem | None:
        """Provisions that are named and no more."""
        one = self._provision(branched=way == "branch")
        if one is None:
            return None
        place = one.place
        if way == "article":
            place = Locator(article=str(self._draw.randint(2_000, 9_000)))
        elif way == "paragraph":
            place = Locator(article=place.article, paragraph=str(self._draw.randint(30, 60)))
        elif way == "branch":
            main = place.article.partition("_")[0]
            place = Locator(article=f"{main}_{self._draw.randint(70, 99)}")
        if way and self._store.provision_exists(one.law_id, place):
            return None
        cited = self._cited(replace(one, place=place))
        templates = (
            f"{cited}を参照されたい。",
            f"手続については{cited}に定めがある。",
            f"根拠となるのは{cited}である。",
        )
        return CheckItem(self._draw.choice(templates), way)

    def _captioned(self, way: str) -> CheckItem | None:
        """A provision with the caption of its article."""
        one = self._provision(branched=way == "branch")
        if one is None or not one.caption:
            return None
        if way:
            other = self._elsewhere(one, way)
            if other is None or way == "law":
                return None
            mine = self._articles(one.law_id)
            if any(
                o.locator.article == other.place.article and one.caption in o.header for o in mine
            ):
                return None
            if not _caption(self._article(other)):
                return None
            one = replace(other, caption=one.caption)
        cited = self._cited(replace(one, place=Locator(article=one.place.article)))
        return CheckItem(f"{cited}（{one.caption}）の適用が問題となる。", way)

    def _numbered(self, way: str) -> CheckItem | None:
        """A law with its number."""
        one = self._provision()
        if one is None:
            return None
        number = self._names.rows[one.law_id].law_num
        found = re.match("(明治|大正|昭和|平成|令和)(.+?)年(.+?)第(.+)号", number)
        if found is None:
            return None
        era, year, kind, count = found.groups()
        if way:
            era = self._draw.choice([e for e in ("大正", "昭和", "平成", "令和") if e != era])
        if self._draw.random() < 0.7:
            year = "元" if year == "元" else str(parse_numeral(year))
            count = str(parse_numeral(count))
        place = cite("", one.place, arabic=True)
        return CheckItem(f"{one.law}（{era}{year}年{kind}第{count}号）{place}に基づく。", way)

    def _deleted(self, way: str) -> CheckItem | None:
        """A provision with nothing but its number."""
        law_id = self._draw.choice(self._laws)
        gone = [one for one in self._articles(law_id) if is_deleted(one) and one.locator.article]
        if not gone:
            return None
        article = self._draw.choice(gone).locator.article.partition(":")[0]
        one = CheckProvision(law_id, self._called(law_id), Locator(article=article), "", "")
        return CheckItem(f"{self._cited(one)}の規定が適用される。", way)

    # --- laws ---

    def _called(self, law_id: str) -> str:
        title = self._names.title(law_id).removesuffix("抄").strip()
        short = [name for name in customary().get(title, ()) if len(name) > 2]
        short += self._names.rows[law_id].abbreviations.split(",")
        usable = [name for name in short if name and self._names.lookup(name) == (law_id,)]
        return min((title, *usable), key=len) if len(title) > 24 else title

    def _articles(self, law_id: str) -> list[Passage]:
        passages = self._store.passages(layer=ARTICLES, document_id=law_id)
        return [passage for _, passage in passages if not passage.locator.division]

    def _article(self, one: CheckProvision) -> Passage | None:
        return self._store.at(one.law_id, Locator(article=one.place.article), ARTICLES)

    def _provision(self, *, branched: bool = False) -> CheckProvision | None:
        laws = self._sample if self._made % _OF_SAMPLE == 0 and not branched else self._laws
        law_id = self._draw.choice(laws)
        articles = [
            one
            for one in self._articles(law_id)
            if not is_deleted(one)
            and ":" not in one.locator.article
            and ("_" in one.locator.article or not branched)
        ]
        if not articles:
            return None
        article = self._draw.choice(articles)
        paragraphs = self._store.within(law_id, article.locator, PARAGRAPHS)
        if not paragraphs:
            return None
        paragraph = self._draw.choice(paragraphs)
        text = _PRINTED.sub("", paragraph.text.partition("\n")[0])
        sentences = [text[start:end] for start, end in split_sentences(text)]
        if not sentences or not sentences[0].endswith("。") or "「" in sentences[0]:
            return None
        place = paragraph.locator if len(paragraphs) > 1 else article.locator
        return CheckProvision(law_id, self._called(law_id), place, sentences[0], _caption(article))

    def _elsewhere(self, one: CheckProvision, way: str) -> CheckProvision | None:
        """The same words said to be of another place that exists and does not have them."""
        if way == "law":
            law_id = self._draw.choice(self._laws)
            other = replace(one, law_id=law_id, law=self._called(law_id))
            if law_id == one.law_id:
                return None
        elif way == "paragraph":
            article = Locator(article=one.place.article)
            beside = self._store.within(one.law_id, article, PARAGRAPHS)
            places = [p.locator for p in beside if p.locator != one.place]
            if not one.place.paragraph or not places:
                return None
            other = replace(one, place=self._draw.choice(places))
        else:
            mains = [a.locator.article for a in self._articles(one.law_id) if not is_deleted(a)]
            if way == "branch":
                main = one.place.article.partition("_")[0]
                mains = [number for number in mains if number.partition("_")[0] == main]
            mains = [n for n in mains if n != one.place.article and ":" not in n]
            if not mains:
                return None
            other = replace(one, place=Locator(article=self._draw.choice(mains)))
        passage = self._store.at(other.law_id, other.place)
        if passage is None or letters_of(one.sentence) in letters_of(passage.text):
            return None
        return other

    def _in_law(self, one: CheckProvision, words: str) -> bool:
        """Whether the provision has these words too."""
        article = self._article(one)
        return article is None or letters_of(words) in letters_of(article.text)

    def _spoil_words(self, words: str, way: str) -> str | None:
        if way == "figure":
            found = list(_FIGURE.finditer(words))
            if not found:
                return None
            at = self._draw.choice(found)
            value = parse_numeral(at[1])
            other = to_kanji(value + self._draw.choice((1, 2, 5, 10)))
            return None if other in words else words[: at.start()] + other + words[at.end() :]
        if way == "bound":
            bounds = list(_BOUND.finditer(words))
            if not bounds:
                return None
            at = self._draw.choice(bounds)
            return words[: at.start()] + _BOUNDS[at[1]] + words[at.end() :]
        swaps = [(old, new) for old, new in _WORDS if old in words]
        if not swaps:
            return None
        old, new = self._draw.choice(swaps)
        return words.replace(old, new, 1)

    def _cited(self, one: CheckProvision) -> str:
        return one.law + cite("", one.place, arabic=self._draw.random() < 0.7)


def _caption(article: Passage | None) -> str:
    found = re.search("（([^（）]{2,40})）$", article.header) if article else None
    return found[1] if found else ""


if __name__ == "__main__":
    main()

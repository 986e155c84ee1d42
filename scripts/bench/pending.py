"""Amendments to come: all listed on their day, and exactly the citations they change.

Twenty laws get later texts by script: an article is added, deleted, moved to a new number or gets
other words, or a paragraph is put before the first one. Memos cite articles and paragraphs of
these laws.
"""

import copy
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.corpora import make_searchable
from bench.options import parser
from bench.rates import rate
from lxml import etree

from localrag.check import given
from localrag.check.pending import upcoming
from localrag.corpus.store import CorpusStore
from localrag.law.notation import numbered
from localrag.search.history import pending

DAYS = ("2031-04-01", "2031-10-01", "2032-04-01")
ADDED = "この条は、計測のために加えたものである。"
CHANGED = "計測のために改めた字句"
Element = etree._Element


@dataclass
class Law:
    """A law with its later texts: by day the kind of change of each article, by number.

    Attributes:
        changed: by day, the paths of articles and paragraphs with other words.
    """

    law_id: str
    title: str
    root: Element
    articles: dict[str, int]
    changes: dict[str, dict[str, str]] = field(default_factory=dict)
    changed: dict[str, set[str]] = field(default_factory=dict)


def main() -> None:
    """Print the shares of amendments and citations listed, and of others listed."""
    options = parser(__doc__, work=True)
    options.add_argument("--laws", type=int, default=20, metavar="N")
    options.add_argument("--memos", type=int, default=30, metavar="N")
    options.add_argument("--citations", type=int, default=200, metavar="N", help="in all memos")
    options.add_argument("--seed", type=int, default=0)
    arguments = options.parse_args()
    draw = random.Random(arguments.seed)
    work = arguments.work.resolve()
    laws = list(amended(arguments.data / "egov" / "xml", work / "texts", arguments.laws, draw))
    workspace, _ = make_searchable(work, "pending", [work / "texts"])
    with CorpusStore.open(workspace.corpus("pending").store, read_only=True) as store:
        listed = {
            (one.day, one.after.id, (side.locator.article, of.kind.value))
            for one in pending(store)
            for of in one.changes
            if (side := of.before or of.after)
        }
        made = {
            (day, law.law_id, change)
            for law in laws
            for day, changes in law.changes.items()
            for change in changes.items()
        }
        print(f"changes listed: {rate(len(made & listed), len(made))}, n = {len(made)}")
        print(f"other changes listed: {len(listed - made)}")
        right = wrong = missing = cited = 0
        for memo, expected in memos(laws, arguments.memos, arguments.citations, draw):
            found = {(one.day, one.said) for one in upcoming(store, given(memo))}
            cited += memo.count("\n")
            right += len(found & expected)
            missing += len(expected - found)
            wrong += len(found - expected)
    n = right + missing
    print(f"changing citations listed, of {cited} in all: {rate(right, n)}, n = {n}")
    print(f"other citations listed: {wrong}")


def amended(source: Path, folder: Path, count: int, draw: random.Random) -> Iterator[Law]:
    """Write laws with two later texts each."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = sorted(source.rglob("*.xml"))
    draw.shuffle(paths)
    made = 0
    for path in paths:
        law = read(path)
        if len(law.articles) < 12 or made == count:
            continue
        made += 1
        (folder / path.name).write_bytes(path.read_bytes())
        kinds = list(CHANGES)
        for number, day in enumerate(sorted(draw.sample(DAYS, 2))):
            law.changes[day], law.changed[day] = {}, set()
            for kind in (kinds[(made + number) % 5], kinds[(made + number + 2) % 5]):
                CHANGES[kind](law, day, draw)
            name = f"{law.law_id}_{day.replace('-', '')}_5{made:02}AC00000000{number:02}.xml"
            (folder / name).write_bytes(etree.tostring(law.root, encoding="utf-8"))
        yield law


def read(path: Path) -> Law:
    """Read a law; `articles` are those of the main provisions with text, and their paragraphs."""
    root = etree.parse(path).getroot()
    articles = {
        one.get("Num", ""): len(one.findall("Paragraph"))
        for one in root.iterfind(".//MainProvision//Article")
        if ":" not in one.get("Num", "") and len("".join(map(str, one.itertext()))) > 40
    }
    title = root.findtext(".//LawTitle") or ""
    return Law(path.name.partition("_")[0], title, root, articles)


def _untouched(law: Law, draw: random.Random) -> tuple[str, Element]:
    """An article without a change so far."""
    touched = {number for of in law.changes.values() for number in of}
    number = draw.choice(sorted(set(law.articles) - touched))
    return number, next(
        one for one in law.root.iterfind(".//MainProvision//Article") if one.get("Num") == number
    )


def _all_of(law: Law, number: str) -> set[str]:
    return {number, *(f"{number}.{n}" for n in range(1, law.articles[number] + 1))}


def add(law: Law, day: str, draw: random.Random) -> None:
    """Add 第…条の九十九 after an article."""
    number, article = _untouched(law, draw)
    new = etree.fromstring(
        f'<Article Num="{number}_99"><ArticleTitle>{numbered(f"{number}_99", "条", arabic=False)}'
        '</ArticleTitle><Paragraph Num="1"><ParagraphNum/><ParagraphSentence><Sentence>'
        f"{ADDED}</Sentence></ParagraphSentence></Paragraph></Article>"
    )
    article.addnext(new)
    law.changes[day][f"{number}_99"] = "added"


def delete(law: Law, day: str, draw: random.Random) -> None:
    """Leave the number of an article with 削除."""
    number, article = _untouched(law, draw)
    for child in list(article):
        if child.tag != "ArticleTitle":
            article.remove(child)
    article.append(
        etree.fromstring(
            '<Paragraph Num="1"><ParagraphNum/><ParagraphSentence><Sentence>削除</Sentence>'
            "</ParagraphSentence></Paragraph>"
        )
    )
    law.changes[day][number] = "deleted"
    law.changed[day] |= _all_of(law, number)


def move(law: Law, day: str, draw: random.Random) -> None:
    """Give an article a new number, behind all others."""
    number, article = _untouched(law, draw)
    new = f"{number}_98"
    article.set("Num", new)
    title = article.find("ArticleTitle")
    assert title is not None
    title.text = numbered(new, "条", arabic=False)
    law.changes[day][number] = "moved"
    law.changed[day] |= _all_of(law, number)
    law.articles.pop(number)


def change(law: Law, day: str, draw: random.Random) -> None:
    """Change the words of the last paragraph."""
    number, article = _untouched(law, draw)
    last = article.findall("Paragraph")[-1]
    sentence = next(last.iter("Sentence"))
    for child in list(sentence):
        sentence.remove(child)
    sentence.text = f"{CHANGED}。"
    law.changes[day][number] = "changed"
    law.changed[day] |= {number, f"{number}.{law.articles[number]}"}


def insert(law: Law, day: str, draw: random.Random) -> None:
    """Put a paragraph before the others, which move by one."""
    number, article = _untouched(law, draw)
    paragraphs = article.findall("Paragraph")
    new = copy.deepcopy(paragraphs[0])
    for child in list(new):
        if child.tag not in ("ParagraphNum", "ParagraphSentence"):
            new.remove(child)
    sentence = next(new.iter("Sentence"))
    for child in list(sentence):
        sentence.remove(child)
    sentence.text = ADDED
    paragraphs[0].addprevious(new)
    for n, paragraph in enumerate(article.findall("Paragraph"), 1):
        paragraph.set("Num", str(n))
    law.changes[day][number] = "changed"
    law.changed[day] |= _all_of(law, number)


CHANGES: Mapping[str, Callable[[Law, str, random.Random], None]] = {
    "add": add,
    "delete": delete,
    "move": move,
    "change": change,
    "insert": insert,
}


def memos(
    laws: list[Law], count: int, citations: int, draw: random.Random
) -> Iterator[tuple[str, set[tuple[str, str]]]]:
    """Yield texts, a citation a line, and the days and words of the changing ones."""
    for at in range(count):
        lines, expected = [], set()
        for _ in range(citations * (at + 1) // count - citations * at // count):
            law = draw.choice(laws)
            touched = sorted({path for of in law.changed.values() for path in of})
            path = draw.choice(touched) if touched and draw.random() < 0.5 else _any(law, draw)
            said = law.title + "".join(
                numbered(number, counter, arabic=True)
                for number, counter in zip(path.split("."), "条項", strict=False)
            )
            lines.append(f"{said}を見る。\n")
            expected |= {(day, said) for day, paths in law.changed.items() if path in paths}
        yield "".join(lines), expected


def _any(law: Law, draw: random.Random) -> str:
    number = draw.choice(sorted(law.articles))
    return draw.choice([number, f"{number}.{draw.randint(1, law.articles[number])}"])


if __name__ == "__main__":
    main()

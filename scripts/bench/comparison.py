"""Comparisons computed from the gold triples of the public JEMHopQA questions.

It shows how objects are read, and how often `compare` gives the gold answer when one word names the
comparison (先に, 年上, 多い, 同じ …). No search and no model are used. These are development
figures: the words were chosen with the questions in view.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.options import parser
from bench.rates import rate

from localrag.methods.comparison import ComparisonKind, Side
from localrag.methods.comparison.comparing import compare
from localrag.methods.comparison.values import read

# The first match decides; questions without a match are left out.
PATTERNS = (
    (ComparisonKind.OLDER, r"年上|年長|古い"),
    (ComparisonKind.YOUNGER, r"年下|若い|年齢が[下低]|新しい"),
    (ComparisonKind.DIFFERENT, r"異な|違[いうっ]"),
    (ComparisonKind.SAME, r"同じ|同学年|共通して"),
    (ComparisonKind.EARLIER, r"先[にだなで]|早[いくか]|はや[いく]"),
    (ComparisonKind.LATER, r"後[にだなで]|遅[いくか]|おそ[いく]"),
    (ComparisonKind.LESS, r"少な[いく]|低[いく]|短[いく]|狭[いく]|小さ[いく]|軽[いく]"),
    (ComparisonKind.MORE, r"多[いくか]|長[いく]|高[いく]|広[いく]|ひろい|大き[いく]|重[いく]"),
)
SAMENESS = {ComparisonKind.SAME, ComparisonKind.DIFFERENT}
CLAIM = re.compile(r"のは、?『?([^』]+?)』?(?:ですか|でしょうか)")
RESPECT = re.compile(r"(?:同じ|異なる|違う)(学年|年|世紀|月|都道府県|県|市|区)")


def main() -> None:
    """Print how objects are read, then the answers by comparison."""
    options = parser(__doc__)
    options.add_argument("--wrong", action="store_true", help="list what was answered wrongly")
    arguments = options.parse_args()
    kinds: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    right: Counter[str] = Counter()
    undecided: Counter[str] = Counter()
    for question, answer, sides in questions(arguments.data / "jemhopqa" / "train.json"):
        kinds.update(
            type(read(text, side.predicate)).__name__ for side in sides for text in side.objects
        )
        comparison = next((kind for kind, words in PATTERNS if re.search(words, question)), None)
        if comparison is None or len(sides) != 2:
            continue
        respect = RESPECT.search(question)
        outcome = compare(comparison, sides, respect[1] if respect else "")
        decided = None
        if outcome is not None:
            decided = outcome.holds if comparison in SAMENESS else outcome.side
        gold = expected(question, answer, sides, comparison)
        if gold is None:
            continue
        asked[comparison] += 1
        right[comparison] += decided == gold
        undecided[comparison] += decided is None
        if arguments.wrong and decided != gold:
            print(comparison, question, answer, outcome, sep=" | ")
    print(f"objects {kinds.total()}:", ", ".join(f"{kind} {n}" for kind, n in kinds.most_common()))
    print(f"{'asked':<12}{'n':<6}{'right':<24}{'undecided':<24}right of the decided")
    for name in (*asked, "all"):
        n, hits, silent = (
            counts.total() if name == "all" else counts[name]
            for counts in (asked, right, undecided)
        )
        print(f"{name:<12}{n:<6}{rate(hits, n):<24}{rate(silent, n):<24}{rate(hits, n - silent)}")


def questions(path: Path) -> Iterator[tuple[str, str, list[Side]]]:
    """Text, answer and gold sides of every comparison question."""
    for entry in json.loads(path.read_text(encoding="utf-8")):
        if entry["type"] == "comparison":
            sides = [Side(name, of, tuple(objects)) for name, of, objects in entry["derivations"]]
            yield entry["question"], entry["answer"], sides


def expected(
    question: str, answer: str, sides: list[Side], comparison: ComparisonKind
) -> int | bool | None:
    """The gold answer: yes or no, or the side; None if it is unclear."""
    confirmed = {"YES": True, "NO": False}.get(answer)
    if comparison in SAMENESS:
        return confirmed
    claim = CLAIM.search(question)
    named = answer if confirmed is None else claim[1] if claim else ""
    names = [re.sub(r" \(.*\)$", "", side.name) for side in sides]
    if named not in names:
        return None
    place = names.index(named)
    return place if confirmed is not False else 1 - place


if __name__ == "__main__":
    main()

"""Claims spoiled in one place, and true ones: how many the check of claims distinguishes.

True claims are made from public data with their cited sentences: questions turned into statements
with gold answers (JSQuAD, HotpotQA, MuSiQue), and sentences of statutes and English passages in
other words. Each is spoiled in one figure, name, date, provision, negation, bound or modality. The
replacement never occurs in the citation or question; the number of such cases is printed. Half of
the claims, by hash, are only counted during development; ``--misses`` shows those of the other.
"""

import hashlib
import json
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.options import parser
from bench.rates import latency, rate

from localrag.answer.checking import ENOUGH, covers, mismatches
from localrag.corpus.readers import ReadFailure, read
from localrag.corpus.types import PARAGRAPHS
from localrag_indexes.analysis.analyzer import split_sentences
from localrag_indexes.analysis.normalize import common_year, normalize, parse_numeral, to_kanji

_EACH = 200
_LAWS = 40


@dataclass(frozen=True)
class SpoiledCase:
    """A claim with its citations.

    Attributes:
        answer: the gold answer in it; may be "".
        spoiled: the change; "" for a true claim.
    """

    source: str
    claim: str
    sentences: tuple[str, ...]
    headings: tuple[str, ...]
    question: str = ""
    answer: str = ""
    spoiled: str = ""

    @property
    def half(self) -> str:
        """A or B by the citations, so that a claim and its spoiled twin share a half."""
        digest = hashlib.sha256("".join(self.sentences).encode()).digest()
        return "AB"[digest[0] % 2]


def main() -> None:
    """Make the claims, check them, print the rates."""
    options = parser(__doc__)
    options.add_argument("--seed", type=int, default=13)
    options.add_argument("--misses", action="store_true", help="show those of half A")
    arguments = options.parse_args()
    chance = random.Random(arguments.seed)
    pools = [
        list(_statutes(arguments.data / "egov/xml", chance)),
        list(_jsquad(arguments.data / "jsquad/valid-v1.3.json", chance)),
        list(_english(arguments.data / "multihop", chance)),
    ]
    spoiler = _Spoiler(chance, [case for pool in pools for case in pool])
    true = [case for pool in pools for case in pool[:_EACH]]
    spoiled = [case for pool in pools for case in _spoil_all(spoiler, pool)]
    seconds: list[float] = []
    verdicts = [(case, _is_called(case, seconds)) for case in [*true, *spoiled]]
    verbatim = sum(_letters(case.claim) in map(_letters, case.sentences) for case in true)
    print(f"{len(true)} true claims, {verbatim} of them word for word; {len(spoiled)} spoiled")
    print(
        f"seed {arguments.seed}; a replacement that stood in what is cited was passed over", end=" "
    )
    print(f"{spoiler.passed_over} times")
    for half in "AB":
        _print(f"half {half}", [(c, v) for c, v in verdicts if c.half == half])
    _print("both halves", verdicts)
    print(f"one claim: {latency(seconds)}")
    if arguments.misses:
        for case, called in verdicts:
            if case.half == "A" and called is not bool(case.spoiled):
                _show(case)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, normalize(text)))


def _is_called(case: SpoiledCase, seconds: list[float]) -> bool:
    """Whether the check calls a claim unsupported."""
    since = time.perf_counter()
    found = mismatches(case.claim, case.sentences, headings=case.headings, question=case.question)
    share = covers(case.claim, case.sentences, headings=case.headings, question=case.question)
    seconds.append(time.perf_counter() - since)
    return bool(found) or share < ENOUGH


def _print(title: str, verdicts: Sequence[tuple[SpoiledCase, bool]]) -> None:
    print(title)
    groups: dict[str, list[bool]] = defaultdict(list)
    for case, called in verdicts:
        if case.spoiled:
            names = ["spoiled, caught", f"  {case.spoiled}", f"  {case.source} (spoiled)"]
        else:
            names = ["true, called unsupported", f"  {case.source}"]
        for name in names:
            groups[name].append(called)
    for name in sorted(groups, key=lambda name: ("true" in name or "(" in name, name.strip())):
        some = groups[name]
        print(f"  {name:36} n = {len(some):4}  {rate(sum(some), len(some))}")


def _show(case: SpoiledCase) -> None:
    found = mismatches(case.claim, case.sentences, headings=case.headings, question=case.question)
    share = covers(case.claim, case.sentences, headings=case.headings, question=case.question)
    print(f"\n[{case.source}] {case.spoiled or 'TRUE'} cover {share:.2f}")
    print(f"  claim    {case.claim}")
    print(f"  question {case.question}")
    print(f"  cited    {' / '.join(case.sentences)}")
    print(f"  heading  {' / '.join(case.headings)}")
    print(f"  found    {[(mismatch.kind.value, mismatch.written) for mismatch in found]}")


# --- true claims ---


def _statutes(folder: Path, chance: random.Random) -> Iterator[SpoiledCase]:
    paths = sorted(
        folder.glob("*.xml"), key=lambda path: hashlib.sha256(path.name.encode()).hexdigest()
    )
    found: list[SpoiledCase] = []
    for path in paths[:_LAWS]:
        for law in read(path):
            if isinstance(law, ReadFailure):
                continue
            paragraphs = [
                passage
                for passage in law.passages
                if passage.layer == PARAGRAPHS and not passage.locator.division
            ]
            for passage in chance.sample(paragraphs, min(len(paragraphs), 25)):
                text = re.sub(r"^[\s０-９0-9]+", "", passage.text)
                spans = split_sentences(text.partition("\n")[0])
                if not spans:
                    continue
                sentence = text[spans[0][0] : spans[0][1]]
                if 30 <= len(sentence) <= 220 and sentence.endswith("。"):
                    heading = passage.header
                    found.append(
                        SpoiledCase(
                            "statutes",
                            _japanese(sentence, heading, chance),
                            (sentence,),
                            (heading,),
                        )
                    )
    chance.shuffle(found)
    yield from found


def _jsquad(path: Path, chance: random.Random) -> Iterator[SpoiledCase]:
    articles = json.loads(path.read_text("utf-8"))["data"]
    asked = [(p["context"], q) for a in articles for p in a["paragraphs"] for q in p["qas"]]
    chance.shuffle(asked)
    for context, question in asked[: 6 * _EACH]:
        title, _, text = context.partition(" [SEP] ")
        answer = Counter(one["text"] for one in question["answers"]).most_common(1)[0][0]
        cited = [text[s:e] for s, e in split_sentences(text) if answer in text[s:e]]
        claim = _answered(question["question"], answer, chance)
        if cited and claim:
            yield SpoiledCase("JSQuAD", claim, (cited[0],), (title,), question["question"], answer)


def _english(folder: Path, chance: random.Random) -> Iterator[SpoiledCase]:
    found: list[SpoiledCase] = []
    for one in json.loads((folder / "hotpotqa.json").read_text("utf-8")):
        texts = dict(one["context"])
        facts = [(t, texts[t][n]) for t, n in one["supporting_facts"] if n < len(texts.get(t, ()))]
        if facts and one["answer"].lower() not in ("yes", "no"):
            claim = _answered_english(one["question"], one["answer"], chance)
            sentences = tuple(text.strip() for _, text in facts)
            titles = tuple(dict.fromkeys(title for title, _ in facts))
            found.append(
                SpoiledCase(
                    "English answers", claim, sentences, titles, one["question"], one["answer"]
                )
            )
    for one in json.loads((folder / "musique.json").read_text("utf-8")):
        paragraphs = {p["idx"]: p for p in one["paragraphs"]}
        for step in one["question_decomposition"]:
            paragraph = paragraphs[step["paragraph_support_idx"]]
            text = paragraph["paragraph_text"]
            cited = [text[s:e] for s, e in split_sentences(text) if step["answer"] in text[s:e]]
            if cited and "#" not in step["question"] and ">>" not in step["question"]:
                claim = _answered_english(step["question"], step["answer"], chance)
                found.append(
                    SpoiledCase(
                        "English answers",
                        claim,
                        (cited[0],),
                        (paragraph["title"],),
                        step["question"],
                        step["answer"],
                    )
                )
    passages = json.loads((folder / "hotpotqa_corpus.json").read_text("utf-8"))
    for title in chance.sample(sorted(passages), min(len(passages), 500)):
        sentence = chance.choice(passages[title]).strip()
        if 50 <= len(sentence) <= 250:
            claim = _reworded(sentence, chance)
            found.append(SpoiledCase("English sentences", claim, (sentence,), (title,)))
    chance.shuffle(found)
    yield from found


_COUNTED = re.compile(r"[〇一二三四五六七八九十百千]+(?=[年月日条項号人円か箇回万億])")
_ERA = re.compile(r"(明治|大正|昭和|平成|令和)([〇一二三四五六七八九十]+)年")
_REWORDINGS = (
    (r"しなければならない。$", ("する必要がある。", "する義務を負う。", "しなければなりません。")),
    (r"することができる。$", ("できる。", "することが可能である。", "することができます。")),
    (
        r"してはならない。$",
        ("することは禁止されている。", "してはいけない。", "してはなりません。"),
    ),
    (r"することができない。$", ("できない。", "することはできない。")),
    (r"ものとする。$", ("。", "ことになっている。", "こととされている。")),
    (r"とする。$", ("とされている。", "とする。", "となる。")),
    (r"である。$", ("です。", "である。", "だ。")),
    (r"する。$", ("することになる。", "します。", "するとされている。")),
    (r"いう。$", ("指す。", "いいます。", "意味する。")),
    (r"による。$", ("によります。", "によるものとされる。")),
)


def _japanese(sentence: str, heading: str, chance: random.Random) -> str:
    """A sentence of a statute as a model retells it."""
    claim = sentence
    for _ in range(4):
        claim = re.sub(r"（[^（）]*）", "", claim)
    clauses = claim.split("、")
    opens_without_subject = len(clauses) > 3 and len(clauses[0]) < 40 and clauses[1].endswith("は")
    if opens_without_subject and not clauses[0].endswith("は") and chance.random() < 0.4:
        # Keep the second subject, and drop its governing phrase.
        clauses = clauses[1:]
    claim = "、".join(clauses)
    for pattern, others in _REWORDINGS:
        if re.search(pattern, claim):
            claim = re.sub(pattern, chance.choice(others), claim)
            break
    claim = _ERA.sub(lambda m: f"{common_year(m[1], parse_numeral(m[2]))}年", claim)
    if chance.random() < 0.7:
        claim = _COUNTED.sub(lambda m: str(parse_numeral(m[0])), claim)
    place = re.search(r"第[^ ]+条(?:の[^ ]+)?", heading)
    if place and chance.random() < 0.4:
        written = _COUNTED.sub(lambda m: str(parse_numeral(m[0])), place[0])
        written = re.sub(
            r"(?<=の)[一二三四五六七八九十]+", lambda m: str(parse_numeral(m[0])), written
        )
        claim = chance.choice((f"{written}によると、", f"{written}では、")) + claim
    return claim


_WH = re.compile(
    r"(?:何という[^\s、。?？か]{1,8}|何と(?:いう|呼ばれ[^か]*|言[^か]*)|どのような[^\s、。?？は]{1,4}|(?:何|どの|どこの|いくつの)"
    r"(?:年|月|日|人|位|歳|回|世紀|国|県|都市|市|州|時代|地域|種類|本|つ|個|kg|km|メートル)?|いつ|どこ|誰|だれ|どれくらい|どのくらい|いくつ|いくら|なに|なん)"
)


def _answered(question: str, answer: str, chance: random.Random) -> str:
    """A Japanese question as a statement with its answer."""
    plain = re.sub(r"[?？。\s]+$", "", question)
    plain = re.sub(r"(?:でしょうか|ですか|だろうか|であるか|か)$", "", plain)
    asked = list(_WH.finditer(plain))
    if len(asked) != 1:
        return ""
    before, after = plain[: asked[0].start()], plain[asked[0].end() :]
    # 第何条: the answer also has the words around the question word.
    before = before.removesuffix("第") if answer.startswith("第") else before
    unit = re.match(r"[条項号%]|パーセント", after)
    after = after[unit.end() :] if unit and not answer[-1].isdigit() else after
    way = chance.random()
    if not after.strip("のでにを"):
        return before + answer + chance.choice(("である。", "です。", "でした。", "。"))
    if way < 0.35:
        return chance.choice((f"{answer}です。", f"答えは{answer}です。", f"{answer}である。"))
    return before + answer + after + ("。" if way < 0.9 else "のです。")


_ENGLISH_WH = re.compile(
    r"^(?P<wh>who|what|which [\w ]+?|what [\w]+|where|when"
    r"|in (?:what|which) \w+|how many \w+) "
    r"(?P<aux>is|was|are|were) (?P<rest>.+?)\??$",
    re.I,
)


def _answered_english(question: str, answer: str, chance: random.Random) -> str:
    match = _ENGLISH_WH.match(question.strip())
    if match and chance.random() < 0.7:
        rest = match["rest"][0].upper() + match["rest"][1:]
        if match["wh"].lower() in ("who", "what") or match["wh"].lower().startswith("which"):
            return f"{answer[0].upper() + answer[1:]} {match['aux'].lower()} {match['rest']}."
        return f"{rest}: {answer}."
    return chance.choice(
        (
            f"The answer is {answer}.",
            f"{answer}",
            f"It is {answer}.",
            f"According to the text, it is {answer}.",
        )
    )


_SMALL = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"


def _reworded(sentence: str, chance: random.Random) -> str:
    """An English sentence as a model retells it."""
    claim = re.sub(r" ?\([^()]*\)", "", sentence)
    opening = re.match(r"((?:In|On|By|During|After|At) [^,]{3,40}), (.+)\.$", claim)
    if opening and chance.random() < 0.8:
        start, rest = opening[1], opening[2]
        claim = f"{rest[0].upper() + rest[1:]} {start[0].lower() + start[1:]}."
    claim = re.sub(rf"\b({_MONTH}) (\d{{1,2}}), (\d{{4}})", r"\2 \1 \3", claim)
    claim = re.sub(
        rf"\b({'|'.join(_SMALL)})\b(?= \w+s\b)", lambda m: str(_SMALL.index(m[1]) + 2), claim
    )
    claim = claim.replace(" percent", "%").replace("% of", " percent of")
    claim = re.sub(r", which [^,]+,", "", claim)
    claim = re.sub(r", (?:and|but) [^,]{10,80}\.$", ".", claim)
    return chance.choice(("", "", "According to the passage, ", "The text says that ")) + claim


# --- spoiled claims ---


def _spoil_all(spoiler: "_Spoiler", pool: Sequence[SpoiledCase]) -> Iterator[SpoiledCase]:
    """Spoil claims of a pool, the kinds in turn, until there are enough."""
    made = 0
    counts: Counter[str] = Counter()
    for case in pool:
        kinds = sorted(spoiler.ways, key=lambda kind: counts[kind])
        for kind in kinds:
            if (spoiled := spoiler.spoil(case, kind)) is not None:
                counts[kind] += 1
                made += 1
                yield spoiled
                break
        if made == _EACH:
            return


_NEGATED = (
    (r"であった(?=。|$)", "ではなかった"),
    (r"である(?=。|$)", "ではない"),
    (r"です(?=。|$)", "ではありません"),
    (r"でした(?=。|$)", "ではありませんでした"),
    (r"(?<![いか])だ(?=。|$)", "ではない"),
    (r"できる(?=。)", "できない"),
    (r"ている(?=。)", "ていない"),
    (r"ていた(?=。)", "ていなかった"),
    (r"された(?=。)", "されなかった"),
    (r"した(?=。)", "しなかった"),
    (r"しない(?=。)", "する"),
    (r"する(?=。)", "しない"),
    (r"なければならない(?=。)", "なくてもよい"),
    (r"必要がある(?=。)", "必要はない"),
    (r"てはならない(?=。)", "てもよい"),
    (r"できない(?=。)", "できる"),
    (r"禁止されている", "禁止されていない"),
    (r"指す(?=。)", "指さない"),
    (r"となる(?=。)", "とならない"),
    (r"いう(?=。)", "いわない"),
    (r"ものではない(?=。)", "ものである"),
    (r"\b(is|was|are|were|has been|had been|can|will)\b(?! not)", r"\1 not"),
    (r"\b(did|was|were|is|are) not\b", r"\1"),
    (r"\b(became|won|played|served|born|released|founded|wrote|directed|began)\b", r"never \1"),
)
_BOUNDED = (
    ("以上", ("以下", "未満")),
    ("以下", ("以上", "を超え")),
    ("未満", ("以上", "以下")),
    ("以内", ("以上",)),
    ("を超える", ("以下の", "未満の")),
    ("以前", ("以後",)),
    ("以降", ("以前",)),
    ("at least", ("at most", "less than")),
    ("more than", ("less than", "at most")),
    ("over ", ("under ",)),
    ("up to", ("at least",)),
    ("less than", ("more than",)),
    ("まで", ("から",)),
    ("before", ("after",)),
    ("after", ("before",)),
    ("since", ("until",)),
)
_MODAL = (
    ("しなければならない", ("することができる", "してはならない")),
    ("する必要がある", ("することができる",)),
    ("する義務を負う", ("することができる", "することは禁止されている")),
    ("しなければなりません", ("することができます", "してはなりません")),
    ("することができる", ("しなければならない", "してはならない")),
    ("することができます", ("しなければなりません",)),
    ("することが可能である", ("する義務がある", "することは禁止されている")),
    ("なければならない", ("なくてもよい",)),
    ("できる。", ("する義務がある。",)),
    ("することは禁止されている", ("することができる",)),
    ("してはならない", ("しなければならない", "することができる")),
    ("してはいけない", ("してもよい",)),
    ("してはなりません", ("しなければなりません",)),
    (" can ", (" must ", " must not ")),
    (" may ", (" must ", " may not ")),
    (" must ", (" may ", " must not ")),
)
_PLACE = re.compile(
    r"第([0-9〇一二三四五六七八九十百千]+)(条(?:の[0-9一二三四五六七八九十]+)?|項|号)"
)
_DATE = re.compile(
    rf"([0-9]{{4}})年|([0-9]{{1,2}})月(?=[0-9])|(?<=月)([0-9]{{1,2}})日"
    rf"|\b(1[0-9]{{3}}|20[0-9]{{2}})\b|\b({_MONTH})\b(?= \d)"
)
_FIGURE = re.compile(
    r"(?<![0-9第.,])([0-9]+(?:\.[0-9]+)?|[一二三四五六七八九十百]+(?=[年月日人円か箇回万割倍]))(?![0-9]|,[0-9])"
)
_NAME = re.compile(r"[ァ-ヴー・]{3,}|(?<![.] )(?<!^)\b[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})*")


class _Spoiler:
    """Changes one thing in a claim to something missing from its citations."""

    def __init__(self, chance: random.Random, cases: Sequence[SpoiledCase]) -> None:
        self._chance = chance
        self.passed_over = 0
        self._names: dict[str, list[str]] = defaultdict(list)
        for case in cases:
            for match in _NAME.finditer(case.claim):
                self._names["kana" if "ァ" <= match[0][0] <= "ヺ" else "latin"].append(match[0])
            if re.fullmatch(r"[^\W\d]{2,}[^\d]*", normalize(case.answer)):
                self._names[case.source].append(case.answer)
        self.ways: dict[str, Callable[[SpoiledCase], str]] = {
            "figure": lambda case: self._number(case, _FIGURE),
            "date": lambda case: self._number(case, _DATE),
            "provision": lambda case: self._number(case, _PLACE),
            "name": self._name,
            "negation": self._negation,
            "bound": lambda case: self._swap(case, _BOUNDED),
            "modality": lambda case: self._swap(case, _MODAL),
        }

    def spoil(self, case: SpoiledCase, kind: str) -> SpoiledCase | None:
        """The case spoiled in one thing of a kind; None where it has none."""
        claim = self.ways[kind](case)
        return replace(case, claim=claim, spoiled=kind) if claim and claim != case.claim else None

    def _number(self, case: SpoiledCase, pattern: re.Pattern[str]) -> str:
        matches = list(pattern.finditer(case.claim))
        if not matches:
            return ""
        match = self._chance.choice(matches)
        place = match.lastindex or 1
        if pattern is _PLACE:
            place = 1
        written = match[place]
        if written.isalpha() and written.isascii():
            months = _MONTH.split("|")
            other = months[(months.index(written) + self._chance.randint(1, 11)) % 12]
            return self._put(case, match.span(place), other)
        if "." in written:
            other = f"{float(written) + self._chance.choice((0.3, 1, 2)):g}"
            return self._put(case, match.span(place), other)
        try:
            number = parse_numeral(written)
        except ValueError:
            return ""
        top = 12 if match[0].endswith("月") else 28 if match[0].endswith("日") else 10**9
        for _ in range(20):
            step = self._chance.choice((1, 2, 3, 5, 7, 10, -1, -2, -3))
            other_number = number + step
            if number >= 1000 and pattern is _FIGURE:
                other_number = number * self._chance.choice((2, 3, 10)) + step
            if 0 < other_number <= top and not self._stands(case, other_number):
                as_written = str(other_number) if written.isdigit() else to_kanji(other_number)
                return self._put(case, match.span(place), as_written)
            self.passed_over += 1
        return ""

    def _name(self, case: SpoiledCase) -> str:
        if (
            case.answer
            and case.answer in case.claim
            and not re.search("[0-9]", normalize(case.answer))
        ):
            start = case.claim.index(case.answer)
            span, pool = (start, start + len(case.answer)), self._names[case.source]
        else:
            matches = list(_NAME.finditer(case.claim))
            if not matches:
                return ""
            match = self._chance.choice(matches)
            span = match.span()
            pool = self._names["kana" if "ァ" <= match[0][0] <= "ヺ" else "latin"]
        said = normalize("".join((*case.sentences, *case.headings, case.question)))
        for _ in range(20):
            other = self._chance.choice(pool)
            if normalize(other) not in said and normalize(other) not in normalize(case.claim):
                return self._put(case, span, other)
            self.passed_over += 1
        return ""

    def _negation(self, case: SpoiledCase) -> str:
        for pattern, replacement in _NEGATED:
            matches = list(re.finditer(pattern, case.claim))
            if matches:
                match = matches[-1] if not pattern.startswith(r"\b") else matches[0]
                return (
                    case.claim[: match.start()]
                    + match.expand(replacement)
                    + case.claim[match.end() :]
                )
        return ""

    def _swap(self, case: SpoiledCase, table: Sequence[tuple[str, Sequence[str]]]) -> str:
        said = "".join((*case.sentences, *case.headings, case.question))
        for written, others in table:
            if written in case.claim:
                if table is _BOUNDED and not re.search(
                    rf"[0-9一二三四五六七八九十百千万][^、。]{{0,5}}{written}"
                    rf"|{written} ?[^,.]{{0,8}}[0-9]",
                    case.claim,
                ):
                    continue
                other = self._chance.choice(others)
                if table is _BOUNDED and other.strip() in said:
                    self.passed_over += 1
                    continue
                at = case.claim.rindex(written)
                return self._put(case, (at, at + len(written)), other)
        return ""

    @staticmethod
    def _put(case: SpoiledCase, span: tuple[int, int], other: str) -> str:
        return case.claim[: span[0]] + other + case.claim[span[1] :]

    @staticmethod
    def _stands(case: SpoiledCase, number: int) -> bool:
        said = normalize("".join((*case.sentences, *case.headings, case.question)))
        written = {str(number), f"{number:,}", to_kanji(number)}
        return any(
            re.search(
                rf"(?<![0-9〇一二三四五六七八九十百千]){one}(?![0-9〇一二三四五六七八九十百千])",
                said,
            )
            for one in written
        )


if __name__ == "__main__":
    main()

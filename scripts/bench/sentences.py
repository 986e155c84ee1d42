"""Ends of sentences: our splitter beside sentencex and pysbd, in English and Japanese.

English: the paragraphs of 50 questions of HotpotQA, cut by its publishers into 2,136 sentences.
Printed are precision and recall of the ends of sentences, without blanks, and seconds for all
paragraphs (the fastest of three runs).

Japanese: invented texts, most with quotation marks, each right or wrong as a whole.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from bench.options import parser
from bench.rates import rate

from localrag_indexes.analysis.analyzer import split_sentences

Splitter = Callable[[str], Sequence[tuple[int, int]]]
"""From a text to the spans of its sentences."""

JAPANESE = (
    ("船頭は「行く。」と答えた。", "舟は岸を離れた。"),
    ("「待て。まだ早い。」と渡し守が言う。",),
    ("看板に『渡船は日没まで。夜は出さない。』とある。", "誰も読まない。"),
    ("「船が出るぞ！」と叫ぶ声がした。", "桟橋には誰もいない。"),
    ("彼は『「帰る。」とだけ言え。』と命じた。", "使いは黙っていた。"),
    ("灯台守（もとは船大工。二年前に来た。）は歌を作る。", "評判はよい。"),
    ("この規則（以下「規則」という。）は、公布の日から施行する。", "ただし、第三条は除く。"),
    ("いつ着くのか？", "誰にも分からない！", "それでも待つ。"),
    ("橋の長さは3.5メートルである。", "幅は2.4メートルしかない。"),
    ("灯の高さは二十九メートル。\n", "光は十海里に届く。"),
)
_ROUNDS = 3


def main() -> None:
    """Print precision, recall and seconds in English, and the texts that are right in Japanese."""
    arguments = parser(__doc__).parse_args()
    paragraphs = list(cut_paragraphs(arguments.data / "multihop" / "hotpotqa.json"))
    n = sum(len(ends(cut)) for cut in paragraphs)
    print(f"{len(paragraphs):,} paragraphs in English, {n:,} sentences")
    print(f"{'':<12}{'precision':<24}{'recall':<24}{'seconds':<9}Japanese texts, right")
    for name, of_language in SPLITTERS.items():
        if name in THEIRS and find_spec(name) is None:
            print(f"{name:<12}not installed: pip install {name}")
            continue
        english, japanese = map(of_language, ("en", "ja"))
        found = [found_ends("".join(cut), english) for cut in paragraphs]
        right = sum(len(ends(cut) & some) for cut, some in zip(paragraphs, found, strict=True))
        seconds = min(timed(paragraphs, english) for _ in range(_ROUNDS))
        wrong = [cut for cut in JAPANESE if found_ends("".join(cut), japanese) != ends(cut)]
        print(
            f"{name:<12}{rate(right, sum(map(len, found))):<24}{rate(right, n):<24}{seconds:<9.3f}"
            f"{len(JAPANESE) - len(wrong)} of {len(JAPANESE)}"
        )
        for cut in wrong:
            print(f"{'':<12}wrong: {''.join(cut)!r}")


def cut_paragraphs(path: Path) -> Iterator[Sequence[str]]:
    """The paragraphs of all questions, cut into sentences by their publishers."""
    for record in json.loads(path.read_text(encoding="utf-8")):
        for _title, sentences in record["context"]:
            yield sentences


def ends(sentences: Sequence[str]) -> set[int]:
    """Where the sentences of a text end, without the blanks behind them."""
    found: set[int] = set()
    position = 0
    for sentence in sentences:
        if sentence.strip():
            found.add(position + len(sentence.rstrip()))
        position += len(sentence)
    return found


def found_ends(text: str, split: Splitter) -> set[int]:
    """Ends of sentences found by a splitter."""
    spans = split(text)
    return {
        start + len(text[start:end].rstrip()) for start, end in spans if text[start:end].strip()
    }


def timed(paragraphs: Sequence[Sequence[str]], split: Splitter) -> float:
    """How long a splitter takes for all paragraphs."""
    texts = ["".join(cut) for cut in paragraphs]
    started = time.perf_counter()
    for text in texts:
        split(text)
    return time.perf_counter() - started


def ours(_language: str) -> Splitter:
    """The splitter of localrag, which asks for no language."""
    return split_sentences


def sentencex(language: str) -> Splitter:
    """The splitter of Wikimedia."""
    from sentencex import segment

    def split(text: str) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        for sentence in segment(language, text):
            start = text.index(sentence, spans[-1][1] if spans else 0)
            spans.append((start, start + len(sentence)))
        return spans

    return split


def pysbd(language: str) -> Splitter:
    """The splitter with rules for many languages."""
    from pysbd import Segmenter

    segmenter = Segmenter(language=language, clean=False, char_span=True)
    return lambda text: [(one.start, one.end) for one in segmenter.segment(text)]


THEIRS = ("sentencex", "pysbd")
SPLITTERS: dict[str, Callable[[str], Splitter]] = {
    "ours": ours,
    "sentencex": sentencex,
    "pysbd": pysbd,
}


if __name__ == "__main__":
    main()

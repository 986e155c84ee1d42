"""The measures of JEMHopQA beside its official script: the same figures, question by question.

Predictions are made of the right answers and derivations of the shared questions: kept, left out,
put in another order, spelt otherwise, cut, mixed up. The official script (evaluate.py of
aiishii/JEMHopQA) is run as it is, by the interpreter that has its packages, in its own folder,
where it looks for ``user.dic``. Both sides need the same dictionary of Sudachi and the same
synonyms: ``--synonyms`` names, in text form, those that chikkarpy has in binary form. Where the
dictionary ``full`` cannot be had, change it to ``core`` in a copy of the script.
"""

import csv
import json
import random
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from options import parser

from localrag.corpus.types import Triple
from localrag.evaluation.measures import MEASURES
from localrag.evaluation.types import Question
from localrag.retrieval.types import Query

_ASPECTS = {"e": "entity", "r": "relation", "er": "full"}
_FIGURES = {"p": "precision", "r": "recall", "f": "f1"}
COLUMNS = {"a_em": "em", "a_score": "similarity"} | {
    f"{aspect}_{figure}": f"{_ASPECTS[aspect]}_{_FIGURES[figure]}"
    for aspect in _ASPECTS
    for figure in _FIGURES
}
"""Our names of the figures, by the official ones."""

_TOLERANCE = 1e-9
_WIDE = str.maketrans("0123456789", "０１２３４５６７８９")
_SPELLINGS: Sequence[Callable[[str], str]] = (
    lambda text: f"『{text}』",
    lambda text: f"{text} (仮)",
    lambda text: f"{text}（別名 {text[:2]}） の件",
    lambda text: f"{text}である。",
    lambda text: f"  {text}\n\t{text}",
    lambda text: text[: len(text) // 2 or 1],
    lambda text: text[::-1],
    lambda text: text.lower(),
    lambda text: text.translate(_WIDE),
    lambda text: text.replace("の", "、"),
    lambda text: text.replace("年", "年0").replace("月", "月0"),
)
_YES_NO = ("はい", "いいえ", "YES", "NO", "Yes", "No", "yes", "はい。", " NO ")

Entry = Mapping[str, Any]


def main() -> None:
    """Print how many figures were compared, how many differ, and both means of each."""
    options = parser(__doc__)
    options.add_argument("--script", type=Path, required=True, help="evaluate.py")
    options.add_argument("--python", required=True, help="the interpreter that runs it")
    options.add_argument("--synonyms", type=Path, nargs="*", default=[], metavar="FILE")
    options.add_argument("--rounds", type=int, default=3, help="predictions a question (3)")
    arguments = options.parse_args()
    questions = json.loads((arguments.data / "jemhopqa" / "train.json").read_bytes())
    labels, answers, derivations = [], {}, {}
    for label, answer, derivation in predictions(questions, arguments.rounds):
        labels.append(label)
        answers[label["qid"]] = answer
        derivations[label["qid"]] = derivation
    theirs = official(arguments, labels, {"answer": answers, "derivations": derivations})
    measure = MEASURES["jemhopqa"](arguments.synonyms)
    ours = [
        measure.figures(answers[label["qid"]], _triples(derivations[label["qid"]]), _asked(label))
        for label in labels
    ]
    differences = [
        abs(mine[name] - float(their[column]))
        for mine, their in zip(ours, theirs, strict=True)
        for column, name in COLUMNS.items()
    ]
    print(*measure.notes, sep="\n")
    print(
        f"{len(labels):,} predictions, {len(differences):,} figures: "
        f"{sum(one > _TOLERANCE for one in differences):,} differ by more than {_TOLERANCE}, "
        f"by {max(differences):.1e} at most"
    )
    for column, name in COLUMNS.items():
        mean = sum(one[name] for one in ours) / len(ours)
        official_mean = sum(float(one[column]) for one in theirs) / len(theirs)
        print(f"{name:20}{mean:8.4f}{official_mean:8.4f}")


def predictions(questions: Sequence[Entry], rounds: int) -> Iterator[tuple[Entry, str, list[Any]]]:
    """Yield questions under ids of their own, each with an answer and a derivation."""
    rng = random.Random(5)
    for number in range(rounds):
        for question in questions:
            label = {**question, "qid": f"{question['qid']}-{number}"}
            yield label, _answer(rng, questions, question), _derivation(rng, questions, question)


def official(arguments: Any, labels: Sequence[Entry], predicted: Entry) -> list[dict[str, str]]:
    """The figures of the official script, a row a question."""
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder, f"{name}.json") for name in ("label", "prediction")}
        files["label"].write_text(json.dumps(labels), encoding="utf-8")
        files["prediction"].write_text(json.dumps(predicted), encoding="utf-8")
        scores = Path(folder, "scores.tsv")
        command = [arguments.python, arguments.script.resolve(), "--output_score_file", scores]
        for name, path in files.items():
            command += [f"--{name}", path]
        subprocess.run(command, cwd=arguments.script.parent, check=True, capture_output=True)
        with scores.open(encoding="utf-8") as table:
            return list(csv.DictReader(table, delimiter="\t"))


def _answer(rng: random.Random, questions: Sequence[Entry], question: Entry) -> str:
    answer: str = question["answer"]
    if answer in ("YES", "NO"):
        return rng.choice(_YES_NO)
    return rng.choice([answer, "", rng.choice(questions)["answer"], *_spelt(rng, answer, 5)])


def _derivation(rng: random.Random, questions: Sequence[Entry], question: Entry) -> list[Any]:
    others = [one for _ in range(2) for one in rng.choice(questions)["derivations"]]
    derivation = []
    for subject, predicate, objects in question["derivations"]:
        kept = rng.random() < 0.5
        triple = [
            rng.choice([subject, *_spelt(rng, subject, 1)]),
            rng.choice([predicate, *_spelt(rng, predicate, 1), rng.choice(others)[1]]),
            [rng.choice([one, *_spelt(rng, one, 1)]) for one in objects],
        ]
        derivation += [[subject, predicate, objects] if kept else triple] * rng.choice([0, 1, 1, 1])
    if rng.random() < 0.2:
        derivation.append(others[0])
    if rng.random() < 0.1:
        derivation.append([others[0][0], others[0][1], []])
    rng.shuffle(derivation)
    return derivation


def _spelt(rng: random.Random, text: str, n: int) -> list[str]:
    return [rng.choice(_SPELLINGS)(text) for _ in range(n)]


def _asked(label: Entry) -> Question:
    query = Query(label["question"])
    return Question(label["qid"], query, label["answer"], derivation=_triples(label["derivations"]))


def _triples(rows: Sequence[Sequence[Any]]) -> tuple[Triple, ...]:
    return tuple(Triple(subject, predicate, tuple(objects)) for subject, predicate, objects in rows)


if __name__ == "__main__":
    main()

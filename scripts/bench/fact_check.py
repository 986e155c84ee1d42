"""Fact-checks on AVeriTeC: by code alone, in finished evaluations, with a large store.

1. Code compares every claim of ``averitec/train.jsonl`` with its own answers: claims that it finds
   refuted, by the right verdict. ``--misses`` shows them.
2. ``--home FOLDER``: of every finished evaluation there, label accuracy, scores of evidence, calls,
   tokens and seconds, tested against "always refuted"; and how many verdicts "refuted" show the
   deciding sentence. ``--refuted`` prints these, to read.
3. ``--sentences N``: a knowledge store with N sentences for one claim, and one with a tenth, are
   added, indexed and checked with scripted replies: peak memory of each, without the embedder.
"""

import json
import multiprocessing
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, median

from bench.options import parser
from bench.peak_memory import PeakMemory
from bench.rates import rate
from tiny_models.scripted import ScriptedChat

from localrag.answer.checking.contradicting import contradictions
from localrag.answer.types import MismatchKind, Stance, Veracity
from localrag.corpus.config import ChatConfig, Config
from localrag.corpus.ingest.add import add
from localrag.corpus.workspace import Workspace
from localrag.evaluation import places, report
from localrag.evaluation.answers import Answered, read_rows
from localrag.evaluation.datasets.readers import Sources, read
from localrag.evaluation.planning import fingerprint
from localrag.evaluation.report.measured import Answers, answers_of
from localrag.evaluation.statistics import difference, mcnemar, score
from localrag.evaluation.types import Question
from localrag.methods.answering import Answerer, MethodResources
from localrag.methods.catalogue import method
from localrag.methods.fact_check.finding import FactCheckSettings
from localrag.search.indexing.index import index
from localrag.search.types import Query
from localrag_indexes.analysis.analyzer import split_sentences

DATASET = "averitec"
_PAGES = 1_000
"""Of the made store, at most."""
_FIGURES = ("accuracy", "Q", "Q+A", "accuracy@0.1", "accuracy@0.2", "accuracy@0.25")


def main() -> None:
    """Print the parts that are asked for; the first one always."""
    options = parser(__doc__)
    options.add_argument("--misses", action="store_true", help="show what code finds refuted")
    options.add_argument("--home", type=Path, metavar="FOLDER", help="workspace with evaluations")
    options.add_argument("--refuted", action="store_true", help="show the verdicts refuted")
    options.add_argument("--sentences", type=int, default=0, metavar="N", help="of a large store")
    arguments = options.parse_args()
    claims = arguments.data / "averitec" / "train.jsonl"
    by_code(read(DATASET, claims.name, claims.read_bytes(), Sources()), show=arguments.misses)
    if arguments.home:
        for folder in finished(arguments.home):
            evaluated(arguments.home, folder, show=arguments.refuted)
    for count in (arguments.sentences // 10, arguments.sentences):
        if count:
            large_store(count)


def by_code(claims: Sequence[Question], *, show: bool) -> None:
    """Print how many claims have a sentence that code alone finds to refute them."""
    found: Counter[str] = Counter()
    for claim in claims:
        compared = [(one, contradictions(claim.query.text, one)) for one in _sentences(claim)]
        refuting = [
            (sentence, differing)
            for sentence, differing in compared
            if any(one.kind is not MismatchKind.NAME for one in differing)
        ]
        found[claim.answer] += bool(refuting)
        for sentence, differing in refuting if show else ():
            words = " / ".join(one.written for one in differing)
            print(
                f"{claim.answer}\n  claim    {claim.query.text}\n  sentence {sentence}\n  {words}"
            )
    print("code alone, on the sentences of the claim's own answers: finds it refuted")
    for veracity in Veracity:
        n = sum(claim.answer == veracity for claim in claims)
        print(f"  {veracity.value:21} n = {n:3}  {rate(found[veracity], n)}")


def _sentences(claim: Question) -> Iterator[str]:
    for one in claim.evidence:
        for answer in one.answers:
            for start, end in split_sentences(answer):
                yield answer[start:end]


def finished(home: Path) -> list[Path]:
    """The folders of the finished evaluations of the dataset in a workspace."""
    runs = places.runs(Workspace.locate(home)) / DATASET
    return sorted(path.parent for path in runs.glob(f"*/{report.JSON}"))


def evaluated(home: Path, folder: Path, *, show: bool) -> None:
    """Print what the entries of an evaluation came to."""
    evaluation = report.load(folder)
    for answers in answers_of(evaluation):
        entry, results = answers.entry, answers.all()
        right = [question.answer == Veracity.REFUTED for question in answers.questions]
        model = entry.made_with.get("chat.model")
        print(f"\n{folder.name}: {entry.name}, {model}, n = {len(right)}")
        for name in _FIGURES:
            figure = score([[one.measures[name]] for one in results if name in one.measures])
            if figure:
                print(f"  {name:14} {figure.value:.3f} [{figure.low:.3f}, {figure.high:.3f}]")
        always = score([[float(one)] for one in right])
        ours = answers.first_scores()
        gap = difference(ours, [float(one) for one in right])
        test = mcnemar([one == 1 for one in ours], right)
        assert always
        assert gap
        print(f"  always refuted {always.value:.3f} [{always.low:.3f}, {always.high:.3f}]")
        print(
            f"  difference     {gap.value:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}], "
            f"only ours {test.first}, only always refuted {test.second}, p = {test.p:.3f}"
        )
        spent = [one.spent for one in results]
        print(
            f"  of one claim   {fmean(one.calls for one in spent):.1f} calls, "
            f"{fmean(one.prompt for one in spent):.0f} tokens read, "
            f"{fmean(one.completion for one in spent):.0f} written, "
            f"{median(one.seconds for one in spent):.0f} s in the median; "
            f"failed {sum(bool(one.failure) for one in results)}"
        )
        _verdicts(home, answers, show=show)


def _verdicts(home: Path, answers: Answers, *, show: bool) -> None:
    """Print verdicts, and how many refuted claims show the refuting sentence."""
    entry = answers.entry
    stored = places.answers(Workspace.locate(home), DATASET, fingerprint(entry.made_with))
    rows = read_rows(places.order_file(stored, 0), Answered.of, len(answers.questions))
    said = Counter(row.checked.veracity.value for row in rows.values() if row.checked)
    print(f"  said           {dict(said)}")
    refuted = [
        (answers.questions[number - 1], row.checked)
        for number, row in sorted(rows.items())
        if row.checked and row.checked.veracity is Veracity.REFUTED
    ]
    shown = sum(bool(checked.that(Stance.REFUTES)) for _, checked in refuted)
    right = sum(claim.answer == Veracity.REFUTED for claim, _ in refuted)
    print(f"  refuted shows the sentence {rate(shown, len(refuted))} (n = {len(refuted)})")
    print(f"  refuted is right           {rate(right, len(refuted))} (n = {len(refuted)})")
    for claim, checked in refuted if show else ():
        print(f"    claim ({claim.answer}) {claim.query.text}")
        for one in checked.that(Stance.REFUTES):
            by = "code" if one.by_code else "model"
            print(f"      {by}: {one.citation.quote} {[each.written for each in one.differs]}")


def large_store(count: int) -> None:
    """Print the peak of memory of a process that checks a claim in a store of so many sentences."""
    context = multiprocessing.get_context("spawn")
    with PeakMemory() as memory:
        process = context.Process(target=_check_in, args=(count,))
        process.start()
        process.join()
    assert process.exitcode == 0, "the check failed"
    print(f"store of {count:,} sentences: {memory.bytes / 1e6:,.0f} MB at the peak, both processes")


def _check_in(count: int) -> None:
    claim = "The mill of Tarn cost 40 percent of the budget."
    replies = (
        {"questions": ["What did the mill of Tarn cost?"]},
        {"sentences": [1], "reason": "The mill of Tarn cost 12 percent.", "label": "Refuted"},
    )
    model = ScriptedChat(*map(json.dumps, replies))
    with tempfile.TemporaryDirectory() as folder:
        _write_store(Path(folder) / "0.json", count)
        workspace = Workspace.locate(Path(folder) / "home")
        workspace.init()
        add(workspace, "main", [Path(folder) / "0.json"])
        index(workspace, "main")
        config = Config(chat=ChatConfig(max_tokens=100))

        class Scripted(MethodResources):
            @property
            def model(self) -> ScriptedChat:
                return model

        with Scripted(workspace, "main", config) as resources:
            answer = Answerer(method("fact-check"), resources).answer(Query(claim))
    assert answer.checked
    assert len(answer.checked.evidence) == FactCheckSettings.of(config.method).sentences


def _write_store(path: Path, count: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number in range(min(_PAGES, count)):
            sentences = [
                f"The mill of village {number} cost {at % 100} percent of the budget in year {at}."
                for at in range(number, count, _PAGES)
            ]
            page = {"url": f"http://example.invalid/{number}", "url2text": sentences}
            file.write(json.dumps(page) + "\n")


if __name__ == "__main__":
    main()

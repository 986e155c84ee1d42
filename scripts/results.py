"""Write docs/results.md from the folders of finished evaluations.

It shows measured figures, and the commands for figures not measured.
"""

import argparse
import json
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from localrag.corpus.durable import replace_text
from localrag.errors import LocalragError, StorageError
from localrag.evaluation.datasets.loading import corpus_name, declared
from localrag.evaluation.measures import MEASURES
from localrag.evaluation.record import evaluation_of
from localrag.evaluation.report import claims, free_text, rated, sections
from localrag.evaluation.report.document import (
    DASH,
    Block,
    Markdown,
    ReportItems,
    ReportSection,
    ReportText,
    Table,
    estimate,
    markdown,
    plain,
)
from localrag.evaluation.report.figures import EntryFigures, figures
from localrag.evaluation.report.sections import how_to_read
from localrag.evaluation.types import CLAIMS, CONTAINS, Dataset, Entry, Evaluation, Question
from localrag.methods.catalogue import NAMES, method
from localrag.prepare.layers import MK_SUMMARIES, SYNTHETIC_QA
from localrag_models.catalogue import catalogue

DOCUMENT = Path(__file__).parents[1] / "docs" / "results.md"

_MODEL = "qwen3-8b"
"""The model of the published figures."""

_EMBEDDER = "multilingual-e5-small"
_EMBEDDING = f"embedding.model={_EMBEDDER}"
"""The embedder of the commands, and the setting that names it."""
# Published figures on statutes used vectors of whole provisions.
_WHOLE = "embedding.provisions=whole"

_TABLE_2 = "1,2,3,1-2,2-1,1-3,2-3,1-2-3"
"""The orders of stages of the published comparison (table 2)."""

_OVER_ALL = "collection"
"""The measure of questions over a collection."""

_SAID = ("corpus", ".stamp", ".generation", "index.bm25.count", "embedding.model", ".query_prompt")
"""Endings of settings that every row shows or implies."""

_HEAD = (
    "`scripts/results.py` writes this document from the folders of finished evaluations; nothing "
    "in it is entered by hand. Methods not yet run with their model are marked **not measured "
    "here**, with the command to measure them. The model: "
    f"`localrag models pull {_MODEL}`; the questions and the laws: `localrag data list`.",
    "Only open models count, so no test model can enter. An entry is left out if its chat model, "
    "embedder or reranker is neither in the catalogue (`localrag models list`) nor installed by "
    "`make lab`. Published figures were measured by others, on other questions, corpora and "
    "settings: read them beside ours, not against them. No question is answered by weights fitted "
    "on it. If a prompt was optimised on it, conditions name the prompt. For answers in free text "
    "the score is exact match; for the English multi-hop questions it is F1 over words. The signs "
    "of statute-lexical were chosen with the training questions in view. The wordings of "
    "staged-symbolic were chosen with half of them and all predicates in view. So these are "
    "figures of development: expect less on others.",
)


@dataclass(frozen=True, slots=True)
class _Counted:
    """An entry of a run that counts.

    Attributes:
        differing: settings that differ from entries of the same name.
    """

    run: Evaluation
    entry: Entry
    figures: EntryFigures
    differing: tuple[str, ...] = ()

    @property
    def made_with(self) -> Mapping[str, object]:
        """Everything its answers and verdicts depend on."""
        return {**self.entry.made_with, **self.run.judge}

    @property
    def asked(self) -> str:
        n = self.figures.score.n if self.figures.score else 0
        return f"{self.run.questions.split}: {n} × {self.run.orders}"

    @property
    def method(self) -> str:
        """Its method, with the order of its stages where it has some."""
        stages = self.entry.made_with.get("method.stages")
        return f"{self.entry.method} {stages}" if stages else self.entry.method

    @property
    def model(self) -> str:
        made_with = self.entry.made_with
        words = [made_with.get("chat.model"), made_with.get("chat.quantisation")]
        return " ".join(str(word) for word in words if word) or "none"

    @property
    def name(self) -> str:
        named = f"{self.method}, model {self.model}, {self.asked}"
        return f"{named}, run {self.run.id}" if self.differing else named

    @property
    def called(self) -> str:
        """Identifies its row, before conditions do."""
        return f"{self.run.questions.dataset.name}: {self.method}, {self.model}, {self.asked}"

    @property
    def conditions(self) -> str:
        """What the settings and at least half of the traces say the score rests on."""
        made_with = self.made_with
        said = []
        if corpus := made_with.get("corpus"):
            count = made_with.get("index.bm25.count")
            passages = f", {count:,} passages" if isinstance(count, int) else ""
            said.append(f"corpus {corpus}{passages}, stamp {made_with.get('corpus.stamp')}")
        lacking = self.run.lacking if corpus else {}
        if none := sum(len(lacking.get(q.id, ())) == len(q.gold) > 0 for q in self._questions):
            plural = "s" if none > 1 else ""
            said.append(f"the corpus lacks every gold provision of {none:,} question{plural}")
        if embedder := made_with.get("embedding.model"):
            said.append(f"embedder {embedder}")
        elif self.figures.recall:
            said.append("no embedder: searched by words (BM25)")
        if method(self.entry.method).writes_queries:
            said.append(f"query prompt {made_with.get('method.query_prompt') or 'built in'}")
        half = len(self.entry.results) / 2
        said += [str(note) for note in self.figures.notes if note.answers >= half]
        values = {name: made_with.get(name) for name in self.differing}
        said += [f"{n} {'not set' if v in (None, '') else v}" for n, v in values.items()]
        return "; ".join(said)

    @property
    def _questions(self) -> Sequence[Question]:
        return self.run.questions.questions


def main() -> None:
    """Write the document, and tell what was left out of it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "--runs",
        nargs="*",
        default=[],
        type=Path,
        metavar="FOLDER",
        help="folders that hold report.json, as `localrag eval list` names them",
    )
    options.add_argument(
        "--out", default=DOCUMENT, type=Path, metavar="FILE", help="without it docs/results.md"
    )
    options.add_argument(
        "--models",
        nargs="*",
        default=[],
        metavar="NAME",
        help="open models that count although the catalogue lacks them: those of `make lab`",
    )
    arguments = options.parse_args()
    try:
        for sentence in write(arguments.runs, arguments.out, arguments.models):
            print(sentence, file=sys.stderr)
    except LocalragError as error:
        sys.exit(str(error))


def write(runs: Sequence[Path], path: Path, others: Collection[str] = ()) -> tuple[str, ...]:
    """Write the document.

    Args:
        runs: folders of reports; may be empty. The newest of equal entries counts.
        path: of the Markdown file.
        others: open models that count although they are not in the catalogue.

    Returns:
        A sentence for each entry or run left out.

    Raises:
        NotFoundError: a folder holds no report.
        UsageError: a run is not finished.
        WorkspaceError, InputError: a report is damaged.
        StorageError: the document cannot be written. The earlier one is unchanged.
    """
    found, left_out = _measured([evaluation_of(folder) for folder in runs], {*catalogue(), *others})
    measured, replaced = _newest(found)
    by_dataset: dict[str, tuple[Dataset, list[_Counted]]] = {
        name: (dataset, []) for name, dataset in declared().items()
    }
    for one in measured:
        dataset = one.run.questions.dataset
        # Datasets of a user follow the declared ones.
        by_dataset.setdefault(dataset.name, (dataset, []))[1].append(one)
    words = [*_HEAD, how_to_read(searched=True)]
    sections = [ReportSection("Results", [ReportText(Markdown(one)) for one in words], level=1)]
    for dataset, ours in by_dataset.values():
        sections += _sections(dataset, ours)
    if not any(dataset.measure == _OVER_ALL for dataset, _ours in by_dataset.values()):
        sections.append(over_collections())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, markdown(sections))
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written ({error.strerror}).",
            "Free space on the disk, or mend the permissions of the folder.",
        ) from error
    return (*left_out, *replaced)


def over_collections() -> ReportSection:
    """Text for missing figures on questions over a collection."""
    made, layers = "wiki.toml", f"{SYNTHETIC_QA},{MK_SUMMARIES}"
    methods = ",".join(("chunks", "chunks-augmented", "pr3-plain", "pr3", "pr3-localrag"))
    commands = [
        _localrag(f"prepare --corpus wiki --layers {layers}", _EMBEDDING, f"chat.model={_MODEL}"),
        _localrag(f"eval queries {made} --corpus wiki", _EMBEDDING, f"chat.model={_MODEL}"),
        _localrag(
            f"eval {made} --corpus wiki --method {methods} --model {_MODEL} --judge {_MODEL}",
            _EMBEDDING,
        ),
    ]
    words = (
        "Questions over a whole collection are made of the corpus that is at hand "
        "(`docs/collections.md`), here one called wiki: **not measured here**: "
    )
    listed = ", then ".join(f"`{command}`" for command in commands)
    return ReportSection("Questions over a collection", [ReportText(Markdown(words + listed))])


def _measured(
    runs: Sequence[Evaluation], models: Collection[str]
) -> tuple[list[_Counted], list[str]]:
    """The entries that count, the oldest first, and why the others do not."""
    measured: list[_Counted] = []
    left_out: list[str] = []
    for run in sorted(runs, key=lambda run: run.date):
        for entry, found in zip(run.entries, figures(run).entries, strict=True):
            one = _Counted(run, entry, found)
            if reason := _reason_against(one, models):
                left_out.append(f"{run.id}: {entry.name} is left out, {reason}.")
            else:
                measured.append(one)
    return measured, left_out


def _newest(measured: Sequence[_Counted]) -> tuple[list[_Counted], list[str]]:
    """Of entries made with the very same the last one; and what became of the others."""
    newest: dict[tuple[str, ...], _Counted] = {}
    replaced: list[str] = []
    for one in measured:
        made_with = json.dumps(one.made_with, sort_keys=True)
        key = (one.run.questions.dataset.name, one.entry.method, one.asked, made_with)
        before = newest.pop(key, one)
        newest[key] = one
        if before.run != one.run:
            replaced.append(
                f"{before.run.id}: {before.entry.name} is left out, "
                f"for {one.run.id} has measured the same later."
            )
    return _told_apart(list(newest.values())), replaced


def _told_apart(measured: Sequence[_Counted]) -> list[_Counted]:
    """The same entries, each with the settings that differ from others of its name."""
    alike: dict[str, list[Mapping[str, object]]] = {}
    for one in measured:
        alike.setdefault(one.called, []).append(one.made_with)
    return [replace(one, differing=_differing(alike[one.called])) for one in measured]


def _differing(alike: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    names = sorted({name for made_with in alike for name in made_with})
    return tuple(
        name
        for name in names
        if not name.endswith(_SAID) and any(one.get(name) != alike[0].get(name) for one in alike)
    )


def _reason_against(one: _Counted, models: Collection[str]) -> str:
    questions, entry = one.run.questions, one.entry
    if questions.own:
        return "for its questions are a user's own"
    if known := declared().get(questions.dataset.name):
        hashes = {split.name: split.sha256 for split in known.splits}
        if hashes.get(questions.split) not in ("", questions.sha256):
            return f"for its questions are of no split that {known.name} declares"
    if entry.method not in NAMES:
        return f"for there is no method {entry.method!r}"
    for name, value in one.made_with.items():
        if name.endswith(".model") and value and value not in models:
            return f"for its {name} {value!r} is not in the catalogue"
    return ""


def _sections(dataset: Dataset, measured: Sequence[_Counted]) -> Iterator[ReportSection]:
    in_order = sorted(
        measured, key=lambda one: (NAMES.index(one.entry.method), one.model, one.asked)
    )
    rows = [row for name in _asked(dataset) for row in _rows(dataset, name, in_order)]
    header = ["method", "model", "split: questions × orders", "score", "conditions"]
    blocks: list[Block] = [
        ReportText(f"{dataset.title}, {dataset.source}, {dataset.licence}."),
        *sections.caveats(dataset.caveats),
    ]
    if dataset.name in declared():
        blocks += [ReportText(Markdown(one)) for one in _beforehand(dataset)]
    blocks.append(Table([*header, "published, other conditions"], rows, left=6))
    yield ReportSection(dataset.name, [*blocks, *sections.published(dataset.published)])
    entries = [
        replace(
            one.figures,
            name=one.name,
            by_group={name: one.figures.by_group[name] for name in one.figures.apart},
            apart={},
        )
        for one in in_order
    ]
    runs = {(one.run.id, one.run.date): one.run for one in in_order}.values()
    more = {
        "Retrieval": sections.retrieval(entries),
        "Measures": free_text.measures(
            entries, dict.fromkeys(str(fact) for one in in_order for fact in one.run.measured_with)
        ),
        "Verdicts on claims": claims.blocks({one.name: one.verdicts for one in entries}),
        "Verdicts": free_text.verdicts(entries, [one.run.judge for one in in_order]),
        "Search success": free_text.searches(entries),
        **sections.groups(entries),
        "Ratings by a judge": [
            block for run in runs for block in rated.blocks(rated.rated(run.ratings), run.judge)
        ],
        "Runs": [ReportItems(list(map(_run, runs)))] if runs else [],
    }
    for title, found in more.items():
        if found:
            yield ReportSection(title, found, level=3)


def _asked(dataset: Dataset) -> Iterator[str]:
    """Methods for the questions of a dataset of localrag."""
    derivations = MEASURES[dataset.measure](()).verdict is not None
    for name in NAMES:
        one = method(name)
        # What measures no answers in free text has options to choose from.
        takes = one.chooses is (dataset.measure == CONTAINS) and (derivations or not one.derives)
        takes = takes and one.checks is (dataset.measure == CLAIMS)
        if takes or dataset.name not in declared():
            yield name


def _rows(dataset: Dataset, name: str, measured: Sequence[_Counted]) -> Iterator[list[str]]:
    published = "; ".join(map(sections.published_figure, dataset.published.get(name, ()))) or DASH
    ours = [one for one in measured if one.entry.method == name]
    for one in ours:
        score = estimate(one.figures.score)
        yield [one.method, one.model, one.asked, score, one.conditions or DASH, published]
    # Missing figures are of no use for a dataset that others do not have.
    if not ours and dataset.name in declared():
        commands = "<br>".join(f"`{command}`" for command in _commands(dataset, name))
        unmeasured = Markdown(f"**not measured here**: {commands}")
        yield [name, DASH, DASH, unmeasured, DASH, published]


def _beforehand(dataset: Dataset) -> Iterator[str]:
    """What the commands of a dataset take for granted."""
    corpus = corpus_name(dataset)
    if corpus:
        vectors = _localrag(f"index --corpus {corpus}", _EMBEDDING, _WHOLE)
        yield (
            f"Search by meaning needs vectors, made once: `localrag models pull {_EMBEDDER}`, then "
            f"`{vectors}`. Without them BM25 is used, and conditions say so."
        )
    methods = list(map(method, _asked(dataset)))
    if any(one.staged for one in methods):
        yield (
            "Stage 2 searches documents, stage 1 triples: if the corpus has no documents yet, "
            f"add some (a dump of Japanese Wikipedia: `localrag add DUMP --corpus {corpus}`)."
        )
    first, *others = (split.name for split in dataset.splits)
    if others and any(one.writes_queries for one in methods):
        yield (
            f"Prompts are optimised on the split {plain(first)} and measured on {plain(others[0])}."
            " An answer to a question used to optimise the prompt is noted: in the report of the "
            "run always, under conditions if it is half of the answers or more."
        )


def _commands(dataset: Dataset, name: str) -> Iterator[str]:
    """What measures a method, to be given in this order."""
    one = method(name)
    embedding = (_EMBEDDING,) if one.searches and one.needs_model else ()
    model = f" --model {_MODEL}" if one.needs_model else ""
    stages = f" --stages {_TABLE_2} --judge {_MODEL}" if one.staged else ""
    asked = f"eval {dataset.name} --method {name}{stages}{model}"
    if not one.writes_queries:
        yield _localrag(asked, *embedding)
        return
    first, *others = (split.name for split in dataset.splits)
    optimised = f"optimize queries {dataset.name} --split {first} --name first"
    yield _localrag(optimised, *embedding, f"chat.model={_MODEL}")
    other = f" --split {others[0]}" if others else ""
    yield _localrag(f"{asked}{other}", *embedding, "method.query_prompt=first")


def _localrag(command: str, *settings: str) -> str:
    return " ".join(("localrag", *(f"--set {setting}" for setting in settings), command))


def _run(run: Evaluation) -> str:
    version = next((entry.made_with.get("localrag", "") for entry in run.entries), "")
    return (
        f"Run {run.id}, {run.date}: {run.questions.split} "
        f"(sha256 {run.questions.sha256[:12]}), localrag {version}; {run.machine}"
    )


if __name__ == "__main__":
    main()

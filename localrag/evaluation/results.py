"""The document of results: what was measured, from run folders, and what was not, with commands."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from localrag.durable import replace_text
from localrag.errors import StorageError
from localrag.evaluation import report
from localrag.evaluation.datasets.declarations import declared
from localrag.evaluation.model import Dataset, Entry, Evaluation
from localrag.evaluation.report import sections
from localrag.evaluation.report.figures import EntryFigures, figures
from localrag.evaluation.report.markdown import HOW_TO_READ
from localrag.evaluation.report.tables import DASH, estimate, listed, plain, table
from localrag.methods.catalogue import NAMES, method
from localrag_models.catalogue import catalogue

_MODEL = "qwen3-8b"
"""The model of the published figures."""

_HEAD = f"""\
# Results

This document is written by `scripts/results.py` from the folders of finished evaluations; nothing
in it is entered by hand. What needs a model and was not run is marked **not measured here**, with
the command that measures it. The model: `localrag models pull {_MODEL}`; the questions and the
laws: `localrag data list`.

Only open models count: an entry whose chat model, embedder or reranker is not in the catalogue
(`localrag models list`) is left out, so that no test model can enter. Published figures were
measured by others, on other questions, corpora and settings: they stand beside ours, not against
them. A method that was fitted, or a prompt that was optimised, on the questions of a split scores
too well on that split."""


@dataclass(frozen=True, slots=True)
class _Measured:
    """An entry of a run that counts."""

    run: Evaluation
    entry: Entry
    figures: EntryFigures

    @property
    def asked(self) -> str:
        n = self.figures.score.n if self.figures.score else 0
        return f"{self.run.questions.split}: {n} × {self.run.orders}"

    @property
    def model(self) -> str:
        made_with = self.entry.made_with
        words = [made_with.get("chat.model"), made_with.get("chat.quantisation")]
        return " ".join(str(word) for word in words if word) or "none"

    @property
    def name(self) -> str:
        return f"{self.entry.method}, model {self.model}, {self.asked}"

    @property
    def conditions(self) -> str:
        """What the settings and at least half of the traces say the score rests on."""
        made_with = self.entry.made_with
        said = []
        if embedder := made_with.get("embedding.model"):
            said.append(f"embedder {embedder}")
        elif self.figures.recall:
            said.append("no embedder: BM25 stands in for search by meaning")
        if method(self.entry.method).writes_queries:
            said.append(f"query prompt {made_with.get('method.query_prompt') or 'built in'}")
        half = len(self.entry.results) / 2
        said += [note for note, n in self.figures.notes.items() if n >= half]
        return "; ".join(said)


def write(runs: Sequence[Path], path: Path) -> tuple[str, ...]:
    """Write the document.

    Args:
        runs: folders of reports; none is needed.
        path: of the Markdown file.

    Returns:
        A sentence for each entry that was left out, and why.

    Raises:
        NotFoundError: a folder holds no report.
        WorkspaceError, InputError: a report is damaged.
        UsageError: scipy is not installed.
        StorageError: the document cannot be written; the one before it stays.
    """
    measured, left_out = _measured([report.load(folder) for folder in runs])
    by_dataset: dict[str, tuple[Dataset, list[_Measured]]] = {
        name: (dataset, []) for name, dataset in declared().items()
    }
    for one in measured:
        dataset = one.run.questions.dataset
        # Datasets of a user stand after those that are declared.
        by_dataset.setdefault(dataset.name, (dataset, []))[1].append(one)
    blocks = [_HEAD, HOW_TO_READ]
    for dataset, ours in by_dataset.values():
        blocks += _section(dataset, ours)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, "\n\n".join(block.strip() for block in blocks) + "\n")
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written ({error.strerror}).",
            "Free space on the disk, or mend the permissions of the folder.",
        ) from error
    return tuple(left_out)


def _measured(runs: Sequence[Evaluation]) -> tuple[list[_Measured], list[str]]:
    """The entries that count, the oldest first, and why the others do not."""
    measured: list[_Measured] = []
    left_out: list[str] = []
    for run in sorted(runs, key=lambda run: run.date):
        for entry, found in zip(run.entries, figures(run).entries, strict=True):
            reason = _reason_against(entry)
            if reason:
                left_out.append(f"{run.id}: {entry.name} is left out, {reason}.")
            else:
                measured.append(_Measured(run, entry, found))
    return measured, left_out


def _reason_against(entry: Entry) -> str:
    if entry.method not in NAMES:
        return f"for there is no method {entry.method!r}"
    for name, value in entry.made_with.items():
        if name.endswith(".model") and value and value not in catalogue():
            return f"for its {name} {value!r} is not in the catalogue"
    return ""


def _section(dataset: Dataset, measured: Sequence[_Measured]) -> Iterator[str]:
    # Of entries that show alike the newest, which came last, stands for all.
    newest = sorted(
        {
            (one.entry.method, one.model, one.asked, one.conditions): one for one in measured
        }.values(),
        key=lambda one: (NAMES.index(one.entry.method), one.model, one.asked),
    )
    rows = [row for name in NAMES for row in _rows(dataset, name, newest)]
    header = ["method", "model", "split: questions × orders", "score", "conditions"]
    yield f"## {plain(dataset.name)}"
    yield f"{plain(dataset.title)}, {plain(dataset.source)}, {plain(dataset.licence)}."
    yield table([*header, "published, other conditions"], rows, left=6)
    yield from sections.published(dataset.published)
    retrieval = sections.retrieval([replace(one.figures, name=one.name) for one in newest])
    if retrieval:
        yield from ("### Retrieval", *retrieval)
    runs = {one.run.id: one.run for one in newest}.values()
    if runs:
        yield "### Runs"
        yield listed(_run(run) for run in runs)


def _rows(dataset: Dataset, name: str, measured: Sequence[_Measured]) -> Iterator[list[str]]:
    published = "; ".join(map(sections.published_figure, dataset.published.get(name, ()))) or DASH
    ours = [one for one in measured if one.entry.method == name]
    for one in ours:
        conditions = plain(one.conditions) or DASH
        score = estimate(one.figures.score)
        yield [plain(name), plain(one.model), plain(one.asked), score, conditions, published]
    # Of a dataset that others do not have, what was not measured tells nobody anything.
    if not ours and dataset.name in declared():
        commands = "<br>".join(f"`{command}`" for command in _commands(dataset.name, name))
        unmeasured = f"**not measured here**: {commands}"
        yield [plain(name), DASH, DASH, unmeasured, DASH, published]


def _commands(dataset: str, name: str) -> Iterator[str]:
    """What measures a method, to be given in this order."""
    one = method(name)
    model = f" --model {_MODEL}" if one.needs_model else ""
    if one.writes_queries:
        yield f"localrag --set chat.model={_MODEL} optimize queries {dataset} --name first"
        yield f"localrag --set method.query_prompt=first eval {dataset} --method {name}{model}"
    else:
        yield f"localrag eval {dataset} --method {name}{model}"


def _run(run: Evaluation) -> str:
    version = next((entry.made_with.get("localrag", "") for entry in run.entries), "")
    return (
        f"Run {plain(run.id)}, {plain(run.date)}: {plain(run.questions.split)} "
        f"(sha256 {plain(run.questions.sha256[:12])}), localrag {plain(version)}; "
        f"{plain(run.machine)}"
    )

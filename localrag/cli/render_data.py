"""How datasets are printed, and how they read as JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from localrag.cli.render_ingest import (
    add_report_as_json,
    index_report_as_json,
    print_index_report,
)
from localrag.cli.terminal import emit, say, table, tell, tell_lines
from localrag.cli.wording import counted
from localrag.errors import LocalragError
from localrag.evaluation.datasets.acquiring import Brought
from localrag.evaluation.datasets.keeping import Shelf
from localrag.evaluation.datasets.loading import (
    Found,
    corpus_name,
    load,
    parts_of_corpus,
    splits_at_hand,
)
from localrag.ingest.add import AddReport
from localrag.workspace import Workspace

_NO_CORPUS = "none of its own; the usual one is searched, or the one that --corpus NAME names"


def tell_usual_corpus(dataset: str, corpus: str) -> None:
    """Tell which corpus is searched for a dataset that has none of its own."""
    tell(
        ("note: ", "yellow"),
        f"{dataset} has no corpus of its own: {corpus} is searched; --corpus NAME names another",
    )


def print_list(found: Sequence[Found], *, as_json: bool) -> None:
    """Print the datasets there are, and what of them is at hand."""
    if as_json:
        emit([_entry(one) for one in found])
        return
    table(
        ("dataset", "at hand", "licence", "source", "title"),
        [
            (
                one.dataset.name,
                ", ".join(_at_hand(one)) or "–",
                one.dataset.licence,
                one.dataset.source,
                one.dataset.title,
            )
            for one in found
        ],
        folding=("licence", "source", "title"),
    )
    if not all(map(_at_hand, found)):
        say("Bring one in: ", ("localrag data add DATASET FOLDER", "bold"))


def print_dataset(workspace: Workspace, found: Found, *, as_json: bool) -> None:
    """Print all that is known of a dataset; a file that cannot be used is told as what it is."""
    splits = _splits(workspace, found)
    dataset = found.dataset
    if as_json:
        figures = {
            method: [asdict(figure) for figure in figures]
            for method, figures in dataset.published.items()
        }
        more = {
            "reader": dataset.reader,
            "excerpts": dataset.excerpts,
            "hints": dataset.hints,
            "caveats": dataset.caveats,
        }
        emit(_entry(found) | more | {"splits": splits, "published": figures})
        return
    say((dataset.name, "bold"), f": {dataset.title}")
    say(f"source: {dataset.source}", indent=2)
    say(f"licence: {dataset.licence}", indent=2)
    parts = ", ".join(parts_of_corpus(dataset))
    say(f"corpus: {f'{corpus_name(dataset)}, from {parts}' if parts else _NO_CORPUS}", indent=2)
    for caveat in dataset.caveats:
        say(f"caveat: {caveat}", indent=2)
    table(
        ("split", "questions", "SHA-256", "file"),
        [
            (
                split["name"],
                str(split["questions"] or "–"),
                f"{split['sha256'] or '–'}"[:16],
                split["file"],
            )
            for split in splits
        ],
    )
    for split in splits:
        if split["problem"]:
            tell_lines(("note: ", "yellow"), split["problem"])
    if dataset.published:
        say("")
        say("Published by others, under other conditions:")
        table(
            ("method", "score", "n", "conditions", "source"),
            [
                (
                    method,
                    f"{figure.score:.1%}",
                    str(figure.n or "–"),
                    figure.conditions,
                    figure.source,
                )
                for method, figures in dataset.published.items()
                for figure in figures
            ],
            folding=("conditions", "source"),
        )


def print_brought(brought: Brought, *, as_json: bool) -> None:
    """Print what was brought in, what was not there, and what comes next."""
    dataset = brought.dataset
    name = corpus_name(dataset)
    if as_json:
        emit(
            {
                "dataset": dataset.name,
                "new": brought.new,
                "unchanged": brought.unchanged,
                "missing": [asdict(missing) for missing in brought.missing],
                "added": brought.added and add_report_as_json(name, brought.added),
                "indexed": brought.indexed and index_report_as_json(name, brought.indexed),
            }
        )
        return
    for splits, what in ((brought.new, "is here now"), (brought.unchanged, "was here already")):
        for split in splits:
            say((dataset.name, "bold"), f": split {split} {what}")
    if brought.added and brought.indexed:
        _print_corpus(name, brought.added)
        print_index_report(name, brought.indexed)
    for caveat in dataset.caveats if brought.added else ():
        tell(("note: ", "yellow"), caveat)
    for missing in brought.missing:
        tell(("not there: ", "yellow"), f"{missing.path}. {missing.hint}".strip())
    without_corpus = {missing.path for missing in brought.missing} & set(dataset.corpus)
    if not (brought.new or brought.unchanged) or without_corpus:
        return
    command = f"localrag eval {dataset.name} --method all"
    if not parts_of_corpus(dataset):
        say(f"corpus: {_NO_CORPUS}")
        command += " --corpus NAME"
    say("Next: ", (command, "bold"))


def _print_corpus(name: str, added: AddReport) -> None:
    documents = counted(added.added + added.replaced, "document")
    say(
        f"corpus {name}: {documents} added, {counted(added.files_unchanged, 'file')} unchanged "
        f"({added.seconds:.1f} s)"
    )
    if added.failed:
        sources = counted(added.failures, "source")
        say((f"{sources} could not be entered", "bold red"), "; see above")


def _splits(workspace: Workspace, found: Found) -> list[dict[str, Any]]:
    here = splits_at_hand(*found)
    kept = found.folder.parent == workspace.datasets
    received = Shelf(found.folder).received() if kept else {}
    rows = []
    for split in found.dataset.splits:
        arrival = received.get(split.file)
        row: dict[str, Any] = asdict(split) | {
            "questions": None,
            "problem": "",
            "received": asdict(arrival) if arrival else None,
        }
        if split in here:
            try:
                read = load(workspace, _called(workspace, found), split.name)
                row |= {"questions": len(read.questions), "sha256": read.sha256}
            except LocalragError as problem:
                row["problem"] = str(problem)
        rows.append(row)
    return rows


def _called(workspace: Workspace, found: Found) -> str:
    """What `load` finds the dataset by."""
    if found.folder.parent == workspace.datasets:
        return found.dataset.name
    split = found.dataset.splits[0]
    declaration = found.folder / f"{found.dataset.name}.toml"
    return str(declaration if declaration.exists() else found.folder / split.file)


def _entry(found: Found) -> dict[str, Any]:
    dataset = found.dataset
    return {
        "dataset": dataset.name,
        "title": dataset.title,
        "source": dataset.source,
        "licence": dataset.licence,
        "splits": [split.name for split in dataset.splits],
        "at_hand": _at_hand(found),
        "corpus": parts_of_corpus(dataset),
    }


def _at_hand(found: Found) -> list[str]:
    return [split.name for split in splits_at_hand(*found)]

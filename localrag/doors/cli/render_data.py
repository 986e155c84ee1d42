"""How datasets are printed, and how they read as JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from localrag.corpus.ingest.add import AddReport
from localrag.corpus.workspace import Workspace
from localrag.doors.cli.render_ingest import (
    documents_added,
    files_unchanged,
    print_index_report,
    report_as_json,
)
from localrag.doors.cli.terminal import emit, say, table, tell, tell_lines, tell_note
from localrag.errors import LocalragError
from localrag.evaluation.datasets.acquiring import Brought
from localrag.evaluation.datasets.keeping import DatasetFolder
from localrag.evaluation.datasets.loading import (
    FoundDataset,
    corpus_name,
    load,
    parts_of_corpus,
    splits_at_hand,
)
from localrag.language import N_, _, colon, ngettext

_NO_CORPUS = N_("none of its own; --corpus NAME or the usual one is searched")


def tell_usual_corpus(dataset: str, corpus: str) -> None:
    """Name the corpus for a dataset without its own."""
    words = _(
        "{dataset} has no corpus of its own: {corpus} is searched; --corpus NAME names another"
    )
    tell_note(words.format(dataset=dataset, corpus=corpus))


def print_list(found: Sequence[FoundDataset], *, as_json: bool) -> None:
    """Print the datasets and their splits at hand."""
    if as_json:
        emit([_entry(one) for one in found])
        return
    table(
        (_("dataset"), _("at hand"), _("licence"), _("source"), _("title")),
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
        folding=(_("licence"), _("source"), _("title")),
    )
    if not all(map(_at_hand, found)):
        say(_("Bring one in: "), (_("localrag data add DATASET FOLDER"), "bold"))


def print_dataset(workspace: Workspace, found: FoundDataset, *, as_json: bool) -> None:
    """Print everything about a dataset, with the problems of its files."""
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
    say((dataset.name, "bold"), f"{colon()}{dataset.title}")
    say(_("source: {words}").format(words=dataset.source), indent=2)
    say(_("licence: {words}").format(words=dataset.licence), indent=2)
    parts = _(", ").join(parts_of_corpus(dataset))
    corpus = _("{name}, from {parts}").format(name=corpus_name(dataset), parts=parts)
    say(_("corpus: {words}").format(words=corpus if parts else _(_NO_CORPUS)), indent=2)
    for caveat in dataset.caveats:
        say(_("caveat: {words}").format(words=_(caveat)), indent=2)
    table(
        (_("split"), _("questions"), "SHA-256", _("file")),
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
            tell_lines((_("note: "), "yellow"), split["problem"])
    if dataset.published:
        say("")
        say(_("Published by others, under other conditions:"))
        table(
            (_("method"), _("score"), "n", _("conditions"), _("source")),
            [
                (
                    method,
                    f"{figure.score:.1%}",
                    str(figure.n or "–"),
                    _(figure.conditions),
                    _(figure.source),
                )
                for method, figures in dataset.published.items()
                for figure in figures
            ],
            folding=(_("conditions"), _("source")),
        )


def print_brought(brought: Brought, *, as_json: bool) -> None:
    """Print new and missing files, and the next command."""
    dataset = brought.dataset
    name = corpus_name(dataset)
    if as_json:
        emit(
            {
                "dataset": dataset.name,
                "new": brought.new,
                "unchanged": brought.unchanged,
                "missing": [asdict(missing) for missing in brought.missing],
                "added": brought.added and report_as_json(name, brought.added),
                "indexed": brought.indexed and report_as_json(name, brought.indexed),
            }
        )
        return
    for splits, words in (
        (brought.new, _(": split {split} is here now")),
        (brought.unchanged, _(": split {split} was here already")),
    ):
        for split in splits:
            say((dataset.name, "bold"), words.format(split=split))
    if brought.added and brought.indexed:
        _print_corpus(name, brought.added)
        print_index_report(name, brought.indexed)
    for caveat in dataset.caveats if brought.added else ():
        tell_note(_(caveat))
    for missing in brought.missing:
        tell((_("not there: "), "yellow"), f"{missing.path}{_('. ')}{_(missing.hint)}".strip())
    without_corpus = {missing.path for missing in brought.missing} & set(dataset.corpus)
    if not (brought.new or brought.unchanged) or without_corpus:
        return
    command = f"localrag eval {dataset.name} --method all"
    if not parts_of_corpus(dataset):
        say(_("corpus: {words}").format(words=_(_NO_CORPUS)))
        command += _(" --corpus NAME")
    say(_("Next: "), (command, "bold"))


def _print_corpus(name: str, added: AddReport) -> None:
    words = _("corpus {name}: {documents}, {files} ({seconds:.1f} s)")
    said = words.format(
        name=name,
        documents=documents_added(added.added + added.replaced),
        files=files_unchanged(added.files_unchanged),
        seconds=added.seconds,
    )
    say(said)
    if added.failed:
        failed = ngettext(
            "{n:,} source could not be entered",
            "{n:,} sources could not be entered",
            added.failures,
        )
        say((failed.format(n=added.failures), "bold red"), _("; see above"))


def _splits(workspace: Workspace, found: FoundDataset) -> list[dict[str, Any]]:
    here = splits_at_hand(*found)
    kept = found.folder.parent == workspace.datasets
    received = DatasetFolder(found.folder).received() if kept else {}
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


def _called(workspace: Workspace, found: FoundDataset) -> str:
    if found.folder.parent == workspace.datasets:
        return found.dataset.name
    split = found.dataset.splits[0]
    declaration = found.folder / f"{found.dataset.name}.toml"
    return str(declaration if declaration.exists() else found.folder / split.file)


def _entry(found: FoundDataset) -> dict[str, Any]:
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


def _at_hand(found: FoundDataset) -> list[str]:
    return [split.name for split in splits_at_hand(*found)]

"""Find datasets by name or path; read their declarations (TOML), and check their questions."""

import difflib
import functools
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from localrag.corpus.readers.json_files import CLAIM_OF, STORE
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import LawRow
from localrag.corpus.workspace import Workspace
from localrag.errors import InputError, NotFoundError, UsageError
from localrag.evaluation.datasets.keeping import (
    DECLARATION,
    PASSING,
    RESERVED,
    UNDECLARED,
    DatasetFolder,
    content_of,
    digest,
    no_file,
    require_hash,
    unreadable,
)
from localrag.evaluation.datasets.readers import READERS, Sources, read
from localrag.evaluation.datasets.readers.entries import Stored, Titled
from localrag.evaluation.measures import MEASURES
from localrag.evaluation.recall import excerpted_law
from localrag.evaluation.types import ANSWERABLE, CONTAINS, Dataset, Question, Questions, Split
from localrag.language import N_, _
from localrag.law.names import LawNames
from localrag.search.types import Filters
from localrag_indexes.analysis.normalize import without_blanks

_TABLES = (".json", ".jsonl", ".ndjson")
_SHEETS = (".csv", ".tsv", ".xls", ".xlsx", ".ods")
_LONGEST_NAME = 64
_UNRECORDED = N_("{path} has the SHA-256 {found}, but the record of its arrival says {expected}.")
_AGAIN = N_("Bring it in again: localrag data add {dataset} FOLDER")


class FoundDataset(NamedTuple):
    """A dataset, and the folder of its files."""

    dataset: Dataset
    folder: Path


def corpus_name(dataset: Dataset) -> str:
    """The corpus of a dataset; "" if it has none."""
    return dataset.name if parts_of_corpus(dataset) else ""


def parts_of_corpus(dataset: Dataset) -> list[str]:
    """The declared parts of a dataset's corpus."""
    return [*dataset.corpus, *dataset.excerpts]


def known(workspace: Workspace) -> list[Dataset]:
    """Datasets by name: first localrag's, then the user's. `damaged` reports invalid ones."""
    own = (one for one in _own(workspace) if isinstance(one, Dataset))
    return [*declared().values(), *own]


def damaged(workspace: Workspace) -> list[InputError]:
    """One error for each invalid declaration in the workspace."""
    return [one for one in _own(workspace) if isinstance(one, InputError)]


def _own(workspace: Workspace) -> Iterator[Dataset | InputError]:
    for path in sorted(workspace.datasets.glob(f"*/{DECLARATION}")):
        # Skip folders with an invalid name, such as copies made by hand.
        with suppress(UsageError):
            name = DatasetFolder.of(workspace, path.parent.name).folder.name
            try:
                yield read_declaration(path, name)
            except InputError as problem:
                yield problem


def find(workspace: Workspace, name_or_path: str) -> FoundDataset:
    """Find a dataset by its name, or by the path of a declaration or of a file of questions.

    A declaration (``.toml``) has its files beside it. Questions are read by `readers.choices`.
    """
    path = _path(name_or_path)
    if path.suffix.lower() == ".toml":
        return FoundDataset(read_declaration(path), path.parent)
    if path.suffix.lower() in _TABLES:
        return FoundDataset(_undeclared(path), path.parent)
    _refuse_sheet(path)
    shelf = DatasetFolder.of(workspace, name_or_path)
    if name_or_path in declared():
        return FoundDataset(declared()[name_or_path], shelf.folder)
    if (shelf.folder / DECLARATION).is_file():
        return FoundDataset(
            read_declaration(shelf.folder / DECLARATION, name_or_path), shelf.folder
        )
    names = [dataset.name for dataset in known(workspace)]
    near = difflib.get_close_matches(name_or_path, names, 1)
    raise NotFoundError(
        N_("There is no dataset {name!r}."),
        N_("Did you mean {near}?") if near else N_("There is: {known}."),
        name=name_or_path,
        near=near[0] if near else "",
        known=", ".join(names),
    )


def load(
    workspace: Workspace,
    name_or_path: str,
    split: str = "",  # a name; by default the first split present
    file: Path | None = None,
    *,
    corpus: str = "",
    own_documents: bool = False,
    unanswerable: bool = False,
    gold_alone: bool = False,
    limit: int = 0,  # questions from the first, variants included; 0 for all
) -> Questions:
    """Read the questions of a dataset.

    A `file` of questions replaces the split. They are the user's own, unless a split has this hash.
    `corpus` gives the ids in gold places, by default the one of the dataset. An `InputError`
    names every defect.
    """
    dataset, folder = find(workspace, name_or_path)
    own_documents = own_documents or unanswerable
    own = False
    if file is not None:
        _refuse_sheet(file)
        content = content_of(file)
        hashed = {split.sha256: split.name for split in dataset.splits if split.sha256}
        name = hashed.get(digest(content), file.name)
        own = digest(content) not in hashed
    else:
        chosen = _chosen(dataset, folder, split)
        name, content = chosen.name, content_of(folder / chosen.file)
        kept = folder.parent == workspace.datasets
        _require_unchanged(dataset, folder, chosen, content, recorded=kept)
        file = folder / chosen.file
    searched = corpus or corpus_name(dataset)
    known = Sources(
        partial(_law_names, workspace, searched),
        partial(_titled, workspace, searched, every_text=own_documents),
        own_documents=own_documents,
        gold_alone=gold_alone,
        open_stored=partial(_stored, workspace, searched),
    )
    questions = read(dataset.reader, str(file), content, known)
    questions = tuple(_first(questions, limit, unanswerable=unanswerable))
    lacking = [title for one in questions for title in known.lacking.get(one.id, ())]
    if lacking:
        raise _without_paragraphs(searched, lacking, file)
    if own_documents and not all(one.query.filters.documents for one in questions):
        raise UsageError(
            N_("The questions of {dataset} come without documents of their own."),
            N_("Leave out --own-documents and --unanswerable: the whole corpus is searched then."),
            dataset=dataset.name,
        )
    if unanswerable:
        questions = tuple(_with_variants(questions))[: limit or None]
    if own:
        dataset = _of_own_questions(dataset, name, digest(content))
    return Questions(dataset, name, digest(content), questions, own, own_documents, unanswerable)


def _without_paragraphs(corpus: str, titles: Sequence[str], file: Path) -> NotFoundError:
    return NotFoundError(
        N_(
            "The corpus {corpus!r} does not have {n:,} of the paragraphs of the "
            "questions, such as one of {title!r}."
        ),
        N_(
            "Add them: localrag add {file} --corpus {corpus}, then: localrag index --corpus "
            "{corpus}"
        ),
        corpus=corpus,
        n=len(titles),
        title=titles[0],
        file=file,
    )


def _first(questions: Iterable[Question], limit: int, *, unanswerable: bool) -> Iterator[Question]:
    """The first questions, with a limit including variants; 0 for all."""
    left = limit
    for question in questions:
        yield question
        left -= 2 if unanswerable and question.answer else 1
        if limit and left <= 0:
            return


def _with_variants(questions: Iterable[Question]) -> Iterator[Question]:
    """Each answerable question, followed by its variant without supporting documents."""
    for question in questions:
        if not question.answer:
            yield question
            continue
        supporting = {place.document for place in question.gold}
        if not supporting:
            raise UsageError(
                N_("The paragraphs supporting the answer of {question!r} are not marked."),
                N_("Name a split that shows it (--split), or leave out --unanswerable."),
                question=question.id,
            )
        left = tuple(id_ for id_ in question.query.filters.documents if id_ not in supporting)
        if not left:
            raise UsageError(
                N_("All paragraphs that come with {question!r} support its answer: none is left."),
                N_("Leave that question out of the file, or leave out --unanswerable."),
                question=question.id,
            )
        yield replace(question, groups={**question.groups, ANSWERABLE: "yes"})
        yield replace(
            question,
            id=f"{question.id}-{ANSWERABLE}-no",
            query=replace(question.query, filters=Filters(documents=left)),
            answer="",
            context="",
            gold=(),
            groups={**question.groups, ANSWERABLE: "no"},
            aliases=(),
            sentences=(),
        )


def splits_at_hand(dataset: Dataset, folder: Path) -> list[Split]:
    """Splits whose file is present."""
    return [split for split in dataset.splits if (folder / split.file).is_file()]


def synonyms_at_hand(found: FoundDataset) -> list[Path]:
    """Present files of synonyms, in their order."""
    paths = (found.folder / file for file in found.dataset.synonyms)
    return [path for path in paths if path.is_file()]


def _chosen(dataset: Dataset, folder: Path, name: str) -> Split:
    by_name = {split.name: split for split in dataset.splits}
    if name and name not in by_name:
        raise UsageError(
            N_("The dataset {dataset} has no split {name!r}."),
            N_("It has: {names}."),
            dataset=dataset.name,
            name=name,
            names=", ".join(by_name),
        )
    wanted = [by_name[name]] if name else dataset.splits
    for split in splits_at_hand(dataset, folder):
        if split in wanted:
            return split
    raise NotFoundError(
        N_("The split {split} of the dataset {dataset} is not at hand.")
        if name
        else N_("The dataset {dataset} is not at hand."),
        N_("Bring it in: localrag data add {dataset} FOLDER, or localrag data download {dataset}")
        if any(split.url for split in wanted)
        else N_("Bring it in: localrag data add {dataset} FOLDER"),
        split=name,
        dataset=dataset.name,
    )


def _require_unchanged(
    dataset: Dataset, folder: Path, split: Split, content: bytes, *, recorded: bool
) -> None:
    path = str(folder / split.file)
    require_hash(path, content, split.sha256, dataset.name, UNDECLARED, _AGAIN)
    arrival = DatasetFolder(folder).received().get(split.file) if recorded else None
    if arrival:
        require_hash(path, content, arrival.sha256, dataset.name, _UNRECORDED, _AGAIN)


def _path(written: str) -> Path:
    try:
        return Path(written).expanduser()
    except RuntimeError as error:  # A user of that name is not known.
        raise UsageError(
            N_("{written!r} is no path ({problem})."),
            N_("Write it out in full."),
            written=written,
            problem=error,
        ) from error


def _refuse_sheet(path: Path) -> None:
    if path.suffix.lower() in _SHEETS:
        raise InputError(
            N_("{path} cannot be read as questions: JSON Lines (.jsonl) or JSON (.json) only."),
            N_(
                "Write an object for each question, with the fields id, question, options "
                "(or choices) and answer. Optional: context, gold and groups."
            ),
            path=path,
        )


def _undeclared(path: Path) -> Dataset:
    try:
        there = path.is_file()
    except OSError:  # A name too long to be one, a folder that may not be looked into.
        there = False
    if not there:
        raise no_file(path)
    split = Split(path.name, path.name)
    name = _plain(path.stem)
    return Dataset(name, path.name, "a file of its own", "not stated", "choices", (split,))


def _plain(stem: str) -> str:
    """A file name as the name of a dataset and its folders."""
    plain = re.sub(r"[^\w.-]+", "-", stem).strip("-.")[:_LONGEST_NAME].strip("-.")
    # A file with the name of a dataset of localrag is another dataset.
    return f"{plain}-file" if plain in declared() else plain or "questions"


def _of_own_questions(dataset: Dataset, file: str, sha256: str) -> Dataset:
    title = f"own questions, read as {dataset.name}: {file} (sha256 {sha256[:12]})"
    return replace(dataset, title=title, source="", licence="", caveats=(), published={})


@contextmanager
def _opened(workspace: Workspace, corpus: str) -> Iterator[CorpusStore | None]:
    place = workspace.corpus(corpus).store if corpus else None
    if place is None or not place.exists():
        yield None
        return
    with CorpusStore.open(place, read_only=True) as store:
        yield store


def _law_names(workspace: Workspace, corpus: str) -> LawNames | None:
    with _opened(workspace, corpus) as store:
        if store is None:
            return None
        rows: dict[str, LawRow] = {}
        for law_id, title in _excerpted(store):
            rows.setdefault(law_id, LawRow(law_id, title))
        rows |= {row.law_id: row for row in store.laws()}
    return LawNames(rows.values())


def _titled(workspace: Workspace, corpus: str, *, every_text: bool) -> Titled:
    ids: dict[str, list[str]] = {}
    with _opened(workspace, corpus) as store:
        if store is None:
            return {}
        for document in store.documents():
            if document.kind != "law":
                ids.setdefault(without_blanks(document.title), []).append(document.id)
        return {
            title: [(one, store.text(one) if every_text or len(some) > 1 else "") for one in some]
            for title, some in ids.items()
        }


def _stored(workspace: Workspace, corpus: str) -> Stored:
    """Pages of AVeriTeC's knowledge store in a corpus."""
    found: dict[str, dict[str, str]] = {}
    with _opened(workspace, corpus) as store:
        for page in store.documents(STORE) if store else ():
            pages = found.setdefault(page.metadata[CLAIM_OF], {})
            url = page.metadata.get("url", "")
            # Pages without an address, or scraped twice, belong to the claim too.
            pages[url if url and url not in pages else page.id] = page.id
    return found


def _excerpted(store: CorpusStore) -> Iterator[tuple[str, str]]:
    for document in store.documents("jsonl"):
        if law := excerpted_law(document.id, document.title):
            yield law


def require_own_name(dataset: Dataset) -> None:
    """Refuse a user's declaration with the name of a dataset of localrag. Raises `InputError`."""
    if dataset.name in declared():
        raise InputError(
            N_("{dataset} is the name of a dataset that localrag declares."),
            N_("Give the declaration another file name."),
            dataset=dataset.name,
        )


_FOLDER = Path(__file__).with_name("declared")
_LARGEST = 1_000_000
_SHOWN = 10


def _inside(path: str) -> str:
    plain = PurePosixPath(path)
    if not plain.parts or plain.is_absolute() or ".." in plain.parts or set("\\:\0") & set(path):
        raise ValueError("is no path inside the folder of the data")
    return str(plain)


def _unreserved(path: str) -> str:
    # Some file systems ignore case.
    plain = path.casefold()
    if PurePosixPath(plain).parts[0] in RESERVED or plain.endswith(PASSING):
        raise ValueError(
            f"is a name that localrag uses itself ({', '.join((*RESERVED, *PASSING))})"
        )
    return path


_Sentence = Annotated[str, Field(min_length=1, max_length=1_000)]
_InnerPath = Annotated[str, AfterValidator(_inside)]
_OwnPath = Annotated[_InnerPath, AfterValidator(_unreserved)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Split(_Table):
    name: str = Field(pattern=r"^[\w-]{1,64}$")
    file: _OwnPath
    sha256: str = Field("", pattern=r"^([0-9a-f]{64})?$")
    url: str = Field("", pattern=r"^(https?://\S+)?$")


class _Published(_Table):
    score: float = Field(ge=0, le=1)
    n: int = Field(0, ge=0)
    conditions: str
    source: str


class _Declaration(_Table):
    title: str
    source: str
    licence: str
    reader: str
    splits: Sequence[_Split] = Field(min_length=1)
    corpus: Sequence[_OwnPath] = ()
    excerpts: Sequence[_InnerPath] = ()
    hints: Mapping[str, str] = {}
    caveats: Sequence[_Sentence] = ()
    measure: str = CONTAINS
    synonyms: Sequence[_OwnPath] = ()
    published: Mapping[str, Sequence[_Published]] = {}


_DATASET = TypeAdapter(Dataset)


@functools.cache
def declared() -> Mapping[str, Dataset]:
    """Datasets that come with localrag, by name."""
    return {path.stem: read_declaration(path) for path in sorted(_FOLDER.glob("*.toml"))}


def read_declaration(path: Path, name: str = "") -> Dataset:
    """Read the declaration of a dataset, by default named like the file; reports every fault."""
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST)
        table = tomllib.loads(content.decode())
        read = _Declaration.model_validate(table)
    except OSError as error:
        raise unreadable(path, error) from error
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()]
        raise _invalid(path, faults) from error
    except (ValueError, RecursionError) as error:
        raise _invalid(path, [str(error) or "it is nested too deeply"]) from error
    if faults := _contradictions(read):
        raise _invalid(path, faults)
    return _DATASET.validate_python({"name": name or path.stem, **read.model_dump()})


def _contradictions(read: _Declaration) -> list[str]:
    faults = []
    if read.reader not in READERS:
        faults.append(f"reader: there is {', '.join(READERS)}, and no {read.reader!r}")
    if read.measure not in MEASURES:
        faults.append(f"measure: there is {', '.join(MEASURES)}, and no {read.measure!r}")
    for what, values in (
        ("splits: the name", [split.name for split in read.splits]),
        ("splits: the file", [split.file for split in read.splits]),
        # Files are kept under this name.
        ("excerpts: the name", [PurePosixPath(path).stem for path in read.excerpts]),
    ):
        faults += [
            f"{what} {value!r} stands twice"
            for value in sorted(set(values))
            if values.count(value) > 1
        ]
    return faults


def _invalid(path: Path, faults: Sequence[str]) -> InputError:
    left = len(faults) - _SHOWN
    more = _("; and {n:,} more").format(n=left) if left > 0 else ""
    return InputError(
        N_("{path} declares no dataset: {faults}{more}."),
        N_(
            "Compare it with a declaration that comes with localrag: localrag "
            "data show lawqa --json"
        ),
        path=path,
        faults="; ".join(faults[:_SHOWN]),
        more=more,
    )

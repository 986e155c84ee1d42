"""Kill -9 at random moments: nothing acknowledged may be lost, and nothing done twice.

In each round a process works in a copy of a prepared workspace and notes acknowledged results. It
is
killed with all its children, and the case examines the workspace. The same work then runs to its
end. Its result must equal the one of undisturbed work.

| case | killed | checked |
|---|---|---|
| add | `add` and `index` of real laws | each noted document is in a sound store; the index answers
|
| update, undo | `update` and `index`; undoing it | all texts are old, or all are new |
| law | adding a law with another word | texts, references and index are each old or new |
| embedding | making vectors, while old ones are asked | no noted text is embedded again |
| prepare | derived layers of HotpotQA | no noted row is lost, none is made twice |
| conversation | asking, writing down | each noted answer is there with its citations |
| backup, restore, bundle | these commands | the state before or after; the next run completes it |
| batch, evaluation, optimisation | one run, repeatedly | nothing is asked twice; equal results |

Models follow from their prompts or have random weights. They do not affect the checks.
"""

import json
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.incremental import NEW, change, links, write
from bench.incremental import update as add_and_index
from bench.killed_models import Batching, Embedding, Evaluating, Optimising, Preparing, with_sample
from bench.options import law_files, parser
from bench.own_process import EachRound, Note, OneRun, last_stage
from typing_extensions import override

from localrag import sample
from localrag.corpus.database import Database
from localrag.corpus.ingest.add import add
from localrag.corpus.ingest.events import DocumentsStored, Event
from localrag.corpus.ingest.update import undo_update, update
from localrag.corpus.readers import read
from localrag.corpus.readers.types import ReadFailure
from localrag.corpus.rows import prepare as as_rows
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag.doors.entering import enter
from localrag.doors.session import open as open_workspace
from localrag.errors import NotFoundError
from localrag.ops.backup import back_up, restore
from localrag.ops.bundle.installer import FORMAT, MANIFEST
from localrag.ops.conversations.store import CONVERSATIONS, Conversations
from localrag.ops.conversations.types import Turn, TurnState
from localrag.prepare.layers import LAYERS
from localrag.search.indexing.index import IndexState, index, index_state
from localrag.search.types import Query
from localrag.text.progress import Progress, ignore
from localrag_indexes.analysis import Analyzer
from localrag_indexes.bm25 import BM25Index
from localrag_indexes.manifest import current

WORKERS = 2


def main() -> None:
    """Kill one case after the other."""
    options = parser(__doc__)
    options.add_argument("cases", nargs="+", choices=CASES, metavar="CASE")
    options.add_argument("--rounds", type=int, default=100, metavar="N", help="kills (100)")
    options.add_argument("--size", type=int, metavar="N", help="law files, paragraphs or questions")
    options.add_argument("--model", metavar="FILE", help="batch: a chat model, or tiny")
    options.add_argument("--tokens", type=int, default=64, help="batch: of a reply (64)")
    options.add_argument("-k", type=int, default=1, help="batch: passages for the model (1)")
    options.add_argument("--calls", type=int, default=260, help="of the optimisation (260)")
    options.add_argument("--graph-from", type=int, default=2000, metavar="N", help="vectors (2000)")
    options.add_argument("--layer", default="", choices=LAYERS, help="prepare: while it is made")
    options.add_argument("--seed", type=int, default=1, metavar="N", help="of all chance (1)")
    chosen = options.parse_args()
    for name in chosen.cases:
        print(name)
        with tempfile.TemporaryDirectory() as folder:
            CASES[name](chosen, Path(folder)).run()


class Adding(EachRound):
    """Half of the files are in the base, and all of them are added."""

    size = 20

    @override
    def prepare(self) -> None:
        half, self.files = self.folder / "half", self.folder / "files"
        half.mkdir()
        self.files.mkdir()
        for number, file in enumerate(self.chance.sample(law_files(self.chosen.data), self.count)):
            shutil.copy2(file, self.files)
            if number % 2:
                shutil.copy2(file, half)
        self.truth: dict[str, str] = {}
        for path in self.files.iterdir():
            for outcome in read(path):
                assert not isinstance(outcome, ReadFailure), outcome
                self.truth[outcome.id] = as_rows(outcome).fingerprint
        # In this process, so that modules are imported once.
        put(self.base, half, lambda _: None)

    @override
    def work(self, home: Path, note: Note) -> None:
        put(home, self.files, note)

    @override
    def left(self, home: Path, lines: list[Any]) -> str:
        place = Workspace.locate(home).corpus("main")
        with CorpusStore.open(place.store) as store:
            assert store.check() == []
            for line in lines:
                for document_id in line.get("stored", []):
                    law_id, _, _ = document_id.partition("@")
                    assert as_rows(store.read(document_id)).fingerprint == self.truth[law_id]
            folder = current(place.bm25)
            assert folder is not None
            with BM25Index.open(folder, analyzer=Analyzer().id) as answering:
                hits = answering.search(Analyzer().terms("届出をしなければならない"), 10)
                assert store.by_keys(hit.key for hit in hits)
        return last_stage(lines)

    @override
    def completed(self, home: Path, before: list[Any], after: list[Any]) -> None:
        workspace = Workspace.locate(home)
        assert index_state(workspace, "main", deep=True) is IndexState.FRESH
        with CorpusStore.open(workspace.corpus("main").store) as store:
            assert {document.id for document in store.documents()} == set(self.truth)


def put(home: Path, files: Path, note: Note) -> None:
    """Add and index, and note each step."""

    def tell(event: Event) -> None:
        if isinstance(event, DocumentsStored):
            note({"stored": [*event.added, *event.replaced]})
        elif isinstance(event, Progress):
            note({"at": event.phase.name})

    workspace = Workspace.locate(home)
    add(workspace, "main", [files], workers=WORKERS, on_event=tell)
    index(workspace, "main", workers=WORKERS, on_event=tell)


class Updating(EachRound):
    """An archive without some laws of the corpus, with changed ones, and with new ones."""

    size = 30

    @override
    def prepare(self) -> None:
        files = law_files(self.chosen.data)
        some = self.chance.sample(files[: max(len(files) * 3 // 4, self.count)], self.count)
        third = max(len(some) // 3, 1)
        laws, self.archive = self.folder / "laws", self.folder / "archive"
        laws.mkdir()
        self.archive.mkdir()
        for path in some[third:]:
            shutil.copy2(path, laws)
        # The archive has the first laws of the corpus changed, and not the last one.
        for number, path in enumerate(some[:-1] if len(some) > 1 else some):
            text = path.read_text(encoding="utf-8")
            if third <= number < 2 * third:
                text = text.replace("。</Sentence>", "。特別標識灯具を掲げる。</Sentence>", 1)
            (self.archive / path.name).write_text(text, encoding="utf-8")
        workspace = Workspace.locate(self.base)
        workspace.init()
        add(workspace, "main", [laws])
        index(workspace, "main")
        self.first = content(self.base)

    @override
    def work(self, home: Path, note: Note) -> None:
        workspace = Workspace.locate(home)
        update(workspace, "main", [self.archive], whole=True)
        index(workspace, "main")

    @override
    def undisturbed(self, home: Path, lines: list[Any]) -> None:
        self.last = content(home)

    @override
    def left(self, home: Path, lines: list[Any]) -> str:
        found = content(home)
        assert found in (self.first, self.last), "between the old and the new"
        assert open_workspace(home).corpus("main").search("届出をしなければならない").hits
        return "as before" if found == self.first else "as after"

    @override
    def completed(self, home: Path, before: list[Any], after: list[Any]) -> None:
        self.ended(home)
        undo(home)
        assert content(home) == self.first, "undone to the last text"

    def ended(self, home: Path) -> None:
        """Check a workspace in which the work has come to its end."""
        assert content(home) == self.last
        assert index_state(Workspace.locate(home), "main", deep=True) is IndexState.FRESH


class Undoing(Updating):
    """The same archive, its update undone."""

    @override
    def prepare(self) -> None:
        super().prepare()
        super().work(self.base, lambda _: None)
        self.first = content(self.base)

    @override
    def work(self, home: Path, note: Note) -> None:
        undo(home)

    @override
    def completed(self, home: Path, before: list[Any], after: list[Any]) -> None:
        self.ended(home)


def undo(home: Path) -> None:
    """Undo the update, if that is still to be done, and index."""
    workspace = Workspace.locate(home)
    with suppress(NotFoundError):
        undo_update(workspace, "main")
    index(workspace, "main")


def content(home: Path) -> dict[str, str]:
    """Fingerprints of the texts in a store by their ids; the store has to be sound."""
    with CorpusStore.open(Workspace.locate(home).corpus("main").store) as store:
        assert store.check() == []
        ids = [one.state_id for law in store.laws() for one in store.states(law.law_id)]
        origins = {id_: store.files.origin(id_) for id_ in ids}
    return {id_: origin.fingerprint for id_, origin in origins.items() if origin}


class ChangingLaw(EachRound):
    """A word of one law changes; texts, references and index are each old or new."""

    size = 60

    @override
    def prepare(self) -> None:
        self.files = self.folder / "laws"
        write(self.chosen.data, self.files, self.count)
        add_and_index(self.base, self.files, 1)
        self.old = links(self.base)
        change(self.files, self.chance)

    @override
    def work(self, home: Path, note: Note) -> None:
        add_and_index(home, self.files, 1)

    @override
    def undisturbed(self, home: Path, lines: list[Any]) -> None:
        self.new = links(home)

    @override
    def left(self, home: Path, lines: list[Any]) -> str:
        with CorpusStore.open(Workspace.locate(home).corpus("main").store) as store:
            assert store.check() == []
            changed = [law for law in store.laws() if NEW in store.text(law.law_id)]
            assert len(changed) <= 1
            unlinked = store.law_states(unlinked=True)
        assert unlinked or links(home) in (self.old, self.new)
        hits = open_workspace(home).corpus("main").search("特別標識灯具").hits
        return "new" if any(NEW in hit.passage.text for hit in hits) else "old"

    @override
    def completed(self, home: Path, before: list[Any], after: list[Any]) -> None:
        assert index_state(Workspace.locate(home), "main", deep=True) is IndexState.FRESH
        assert links(home) == self.new


class Conversing(EachRound):
    """One question after the other is asked of the sample corpus, and written down."""

    seconds = 2.0
    asked = ("渡し守の資格は何か。", sample.QUESTION)

    @override
    def prepare(self) -> None:
        with_sample(self.base)

    @override
    def work(self, home: Path, note: Note, most: int = 1_000) -> None:
        with (
            open_workspace(home).corpus("main") as corpus,
            Conversations.open(Workspace.locate(home)) as kept,
        ):
            known = kept.list()
            conversation = known[0].id if known else kept.new().id
            for number in range(most):
                text = self.asked[number % len(self.asked)]
                turn = kept.begin(conversation, Query(text), "main", "", "")
                answer = corpus.ask(text)
                kept.draft(turn.id, [answer.text])
                kept.finish(turn.id, answer, 0.1)
                note(turn.id)

    @override
    def left(self, home: Path, lines: list[Any]) -> str:
        path = Workspace.locate(home).conversations
        if path.exists():
            database = Database(path, CONVERSATIONS)
            assert database.rows("PRAGMA integrity_check") == [("ok",)]
            database.close()
        else:
            assert not lines
        turns = turns_of(home)
        answered = {turn.id: turn for turn in turns if turn.state is TurnState.ANSWERED}
        for number in lines:
            answer = answered[number].answer
            assert answer is not None
            assert answer.citations
        others = [turn.state for turn in turns if turn.id not in answered]
        assert others in ([], [TurnState.INTERRUPTED])
        self.turns = len(turns)
        return others[0].value if others else "all answered"

    @override
    def complete(self, home: Path, log: Path) -> None:
        self.work(home, lambda _: None, most=1)

    @override
    def completed(self, home: Path, before: list[Any], after: list[Any]) -> None:
        assert len(turns_of(home)) == self.turns + 1


def turns_of(home: Path) -> list[Turn]:
    """The turns of all conversations."""
    with Conversations.open(Workspace.locate(home)) as kept:
        return [turn for one in kept.list() for turn in kept.turns(one.id)]


class BackingUp(EachRound):
    """A workspace, an older backup of it, and a bundle are in the base. A backup is made again."""

    @override
    def prepare(self) -> None:
        workspace = with_sample(self.base / "home")
        with Conversations.open(workspace) as kept:
            kept.new("as in the backup")
        back_up(workspace, self.base / "old.tar")
        shutil.copy2(self.base / "old.tar", self.base / "new.tar")
        write_bundle(workspace, self.base / "bundle")
        (workspace.models / "weights").write_text("large")
        with Conversations.open(workspace) as kept:
            kept.new("since then")

    @override
    def work(self, home: Path, note: Note) -> None:
        back_up(Workspace.locate(home / "home"), home / "new.tar")

    @override
    def left(self, home: Path, lines: list[Any]) -> str:
        if (home / "new.tar").read_bytes() == (home / "old.tar").read_bytes():
            return "as before"
        restored = home / "restored"
        restore(Workspace.locate(restored), home / "new.tar")
        assert conversations(restored) == 2
        shutil.rmtree(restored)
        return "as after"

    @override
    def completed(self, home: Path, before: list[Any], after: list[Any]) -> None:
        assert self.left(home, after) == "as after", "the next run completes"
        hidden = [path for folder in (home, home / "home") for path in folder.glob(".*")]
        assert not hidden, hidden


class Restoring(BackingUp):
    """The backup replaces the workspace."""

    @override
    def work(self, home: Path, note: Note) -> None:
        restore(Workspace.locate(home / "home"), home / "old.tar")

    @override
    def left(self, home: Path, lines: list[Any]) -> str:
        place = home / "home"
        if not place.exists():
            return "half-way"
        assert (place / "models" / "weights").exists()
        check(place, "main")
        return "as before" if conversations(place) == 2 else "as after"


class Entering(BackingUp):
    """The bundle enters a new workspace; each of its corpora comes once."""

    @override
    def work(self, home: Path, note: Note) -> None:
        enter(home / "bundle", home / "installed", None, ignore)

    @override
    def left(self, home: Path, lines: list[Any]) -> str:
        workspace = Workspace(home / "installed")
        corpora = workspace.corpora()
        for corpus in corpora:
            check(workspace.home, corpus)
        bundles = workspace.home / "bundles"
        if corpora != ["main", "more"] or not bundles.exists():
            return "half-way"
        for corpus, text in (("main", "渡し守の資格"), ("more", "届け出る")):
            if index_state(workspace, corpus, deep=True) is not IndexState.FRESH:
                return "half-way"
            with open_workspace(workspace.home).corpus(corpus) as found:
                assert found.search(text).hits
        return "as after" if len(bundles.read_text().split()) == 2 else "half-way"


def write_bundle(workspace: Workspace, folder: Path) -> None:
    """Write a bundle with a corpus and a source."""
    (folder / "sources" / "more").mkdir(parents=True)
    (folder / "sources" / "more" / "kite.md").write_text("甲は乙に届け出る。", encoding="utf-8")
    (folder / "corpora").mkdir()
    back_up(workspace, folder / "corpora" / "main.tar", "main")
    files = {
        path: {"sha256": f"{number}" * 64, "size": (folder / path).stat().st_size}
        for number, path in enumerate(("corpora/main.tar", "sources/more/kite.md"))
    }
    manifest = {
        "format": FORMAT,
        "localrag": "1.0",
        "signed_by": "",
        "extras": [],
        "needs": {"glibc": "", "pythons": [], "processors": []},
        "files": files,
    }
    (folder / MANIFEST).write_text(json.dumps(manifest))


def conversations(home: Path) -> int:
    """How many there are."""
    with Conversations.open(Workspace.locate(home)) as kept:
        return len(kept.list())


def check(home: Path, corpus: str) -> None:
    """Make sure that a corpus is whole."""
    with CorpusStore.open(Workspace.locate(home).corpus(corpus).store) as store:
        assert store.check() == []
        assert not list(store.altered())


CASES: dict[str, type[EachRound | OneRun]] = {
    "add": Adding,
    "update": Updating,
    "undo": Undoing,
    "law": ChangingLaw,
    "embedding": Embedding,
    "prepare": Preparing,
    "conversation": Conversing,
    "backup": BackingUp,
    "restore": Restoring,
    "bundle": Entering,
    "batch": Batching,
    "evaluation": Evaluating,
    "optimisation": Optimising,
}


if __name__ == "__main__":
    main()

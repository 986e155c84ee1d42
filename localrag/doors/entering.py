"""Bring the contents of a bundle into a workspace, and try the new localrag there.

`localrag.ops.bundle.installer` runs it as ``python -m localrag.doors.entering`` in the new
localrag, before that replaces the former one. It reports progress on standard error, and prints
the changes as JSON.
"""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from localrag import language
from localrag.corpus.durable import make_folder, replace_text, storing
from localrag.corpus.inference.opening import named
from localrag.corpus.workspace import Workspace
from localrag.doors.session import Corpus, Session
from localrag.errors import LocalragError, NotFoundError, WorkspaceError
from localrag.language import N_, _
from localrag.ops.backup import restore_corpus
from localrag.ops.bundle.installer import FIRST, HELD, Bundle, installed
from localrag.ops.bundle.opening import manifest_of
from localrag.ops.doctor import Health, examine
from localrag.sample import FOLDER, QUESTION
from localrag.text.harmless import harmless
from localrag_models.store import ModelStore

Tell = Callable[[str], object]

_TRIAL = "bundle-trial"
"""The corpus of the sample question; it is removed again."""
_AS_SET: dict[str, object] = {"retrieval.where": "", "retrieval.as_of": "", "method.name": ""}
_WITHOUT_MODELS: dict[str, object] = {
    "method.name": "extractive",
    "embedding.model": "off",
    "retrieval.dense": "off",
    "retrieval.rerank": "off",
}


@dataclass(frozen=True, slots=True)
class Entered:
    """The changes of an installation, and the result of the try.

    Attributes:
        localrag, before: the installed version and the former one; "" for none.
        new, changed, gone: names of packages.
        entered: new settings, models and corpora of the workspace.
        answer: the citation of the answer to the sample question.
        broken: broken findings of `doctor` with their cures, and models without an answer.
    """

    localrag: str
    before: str
    new: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]
    entered: tuple[str, ...]
    answer: str
    broken: tuple[str, ...]


def enter(folder: Path, home: Path, before: Bundle | None, tell: Tell) -> Entered:
    """Bring the contents of a bundle into a workspace, each once, and try the installation.

    A stopped run goes on. `before` is the former bundle. Raises LocalragError, also if the sample
    question is not answered.
    """
    bundle = manifest_of(folder)
    session = Session(Workspace(home))
    entered = [*_settings(folder, home)]
    session.workspace.init()
    for kind in (_models, _corpora, _sources):
        for name in kind(session, folder, bundle, tell):
            tell(_("{name} is in the workspace").format(name=name))
            entered.append(name)
    failed: list[str] = []
    answer = _tried(session, failed)
    tell(_("asked {question}").format(question=QUESTION))
    tell(_("answered from {place}").format(place=answer))
    findings = list(examine(session.workspace, {}))
    broken = [f"{f.title}: {f.detail} {f.cure}" for f in findings if f.health is Health.BROKEN]
    broken += failed
    tell(_("doctor: {n} checks, {broken} broken").format(n=len(findings), broken=len(broken)))
    for finding in broken:
        tell(finding)
    now, then = _packages(bundle), _packages(before)
    done = Entered(
        bundle.version,
        before.version if before else "",
        new=tuple(sorted(now.keys() - then.keys())),
        changed=tuple(sorted(name for name in now.keys() & then.keys() if now[name] != then[name])),
        gone=tuple(sorted(then.keys() - now.keys())),
        entered=tuple(entered),
        answer=answer,
        broken=tuple(broken),
    )
    tell(_("localrag {before} → {now}").format(before=done.before or "-", now=done.localrag))
    told = _("packages: {new} new, {changed} changed, {gone} gone")
    counts = {kind: len(getattr(done, kind)) for kind in ("new", "changed", "gone")}
    tell(told.format(**counts))
    return done


def _settings(folder: Path, home: Path) -> Iterator[str]:
    """Write settings into a new workspace only."""
    given, own = folder / "settings.toml", home / "localrag.toml"
    if given.exists() and not own.exists():
        with storing(own):
            make_folder(home)
            replace_text(own, given.read_text(encoding="utf-8"))
        yield own.name


def _models(session: Session, folder: Path, bundle: Bundle, tell: Tell) -> Iterator[str]:
    with named():
        store = ModelStore(session.workspace.models)
        installed = {model.name: model.id for model in store.installed()}
        for path, file in bundle.below("models"):
            name = Path(path).stem
            if installed.get(name) == file["id"]:
                continue
            if file.get("held"):
                raise NotFoundError(HELD, FIRST, name=path)
            tell(_("the model {name} …").format(name=name))
            if name in store.names():
                store.remove(name)
            store.import_(folder / path)
            yield name


def _corpora(session: Session, folder: Path, bundle: Bundle, tell: Tell) -> Iterator[str]:
    for path, file in _unentered("corpora", session, bundle):
        tell(_("the corpus {name} …").format(name=Path(path).stem))
        report = restore_corpus(session.workspace, folder / path)
        if report.before is not None:
            tell(
                _("The earlier contents are now the corpus {name}").format(name=report.before.name)
            )
        _note(session, [file])
        yield Path(path).stem


def _sources(session: Session, folder: Path, bundle: Bundle, tell: Tell) -> Iterator[str]:
    corpora: dict[str, list[dict[str, Any]]] = {}
    for path, file in _unentered("sources", session, bundle):
        corpora.setdefault(path.split("/")[1], []).append(file)
    for name, found in corpora.items():
        tell(_("{n} files into the corpus {name} …").format(n=len(found), name=name))
        corpus = session.corpus(name)
        report = corpus.add(folder / "sources" / name, workers=0)
        for failure in report.failed:
            tell(str(failure.problem))
        corpus.index(workers=0)
        _note(session, found)
        yield name


def _unentered(
    folder: str, session: Session, bundle: Bundle
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Files of a folder of the bundle, new to the workspace."""
    noted = _entered_before(session)
    known = set(noted.read_text(encoding="ascii").split()) if noted.exists() else set()
    for path, file in bundle.below(folder):
        if not file.get("held") and file["sha256"] not in known:
            yield path, file


def _note(session: Session, files: list[dict[str, Any]]) -> None:
    noted = _entered_before(session)
    with storing(noted), noted.open("a", encoding="ascii") as file:
        file.writelines(f"{one['sha256']}\n" for one in files)


def _entered_before(session: Session) -> Path:
    """The list of hashes of added files; the owner may have changed the files since."""
    return session.workspace.home / "bundles"


def _tried(session: Session, failed: list[str]) -> str:
    """The citation of the answer to the sample question; raises WorkspaceError.

    The owner's settings for searches are not used. `failed` gets the failures of models; the
    question is then asked without them.
    """
    try:
        for settings in (_AS_SET, _AS_SET | _WITHOUT_MODELS):
            corpus = Corpus(session.with_settings(settings), _TRIAL)
            try:
                corpus.add(FOLDER)
                corpus.index()
                cited = corpus.ask(QUESTION).citations
            except LocalragError as error:
                failed.append(str(error))
                continue
            if cited:
                return cited[0].label
            # A small model may write an unsupported claim; the installation works all the same.
    finally:
        if session.corpus(_TRIAL).place.store.exists():
            session.corpus(_TRIAL).delete()
    raise WorkspaceError(
        N_("The sample question was not answered. {why}"),
        N_("Find the problem: localrag doctor"),
        why=" ".join(failed),
    )


def _packages(bundle: Bundle | None) -> dict[str, str]:
    wheels = bundle.below("wheels") if bundle else ()
    names = (Path(path).name.split("-") for path, _file in wheels)
    return {name[0]: name[1] for name in names}


def _main(folder: Path, home: Path, before: Path) -> int:
    """The process started by the installer."""
    language.use(language.of_environment())

    def tell(line: str) -> None:
        sys.stderr.write(harmless(line) + "\n")

    earlier = installed(before.parent) if before.exists() else None
    try:
        sys.stdout.write(json.dumps(asdict(enter(folder, home, earlier, tell))))
    except LocalragError as error:
        tell(str(error))
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(_main(*map(Path, sys.argv[1:])))

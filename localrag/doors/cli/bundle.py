"""``localrag bundle``: everything for a machine without a network, made, checked and installed."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from localrag.corpus.workspace import Workspace
from localrag.doors.cli.main import group, verb
from localrag.doors.cli.options import Json, complete_corpus, completing
from localrag.doors.cli.terminal import emit, say, tell, tell_note
from localrag.doors.session import Session
from localrag.errors import UsageError
from localrag.language import N_, _, ngettext

if TYPE_CHECKING:
    from localrag.ops.bundle.make import BundleReport

_CODES = (0, 2, 3, 4, 5, 6, 7, 8, 130)
_SHOWN = 5
"""Files without a licence that are named."""

app = group(
    "bundle",
    examples=(
        "localrag bundle make /media/stick/localrag --extra docs",
        "localrag bundle verify /media/stick/localrag",
        "python3 /media/stick/localrag/install.py",
    ),
    exit_codes=_CODES,
)

Key = Annotated[
    str,
    typer.Option(
        metavar="KEY",
        help="Public key of minisign for the required signature, or its file.",
    ),
]
TheBundle = Annotated[
    Path, typer.Argument(metavar="BUNDLE", help="The bundle: a folder or a .tar.")
]


def _models(workspace: Workspace) -> list[str]:
    from localrag_models.store import ModelStore

    return ModelStore(workspace.models).names()


@dataclass(frozen=True, kw_only=True)
class BundleOptions:
    """The options of `bundle make`."""

    target: Annotated[
        Path,
        typer.Argument(metavar="PATH", help="Folder to make, or a file whose name ends in .tar."),
    ]
    extra: Annotated[
        list[str] | None,
        typer.Option(metavar="EXTRA", help="Extra of localrag (docs/install.md)."),
    ] = None
    python: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VERSION",
            help="Version of Python on the other machine, as 3.12; without it, this one.",
        ),
    ] = None
    processor: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Processor of the other machine (x86_64, aarch64). For a "
            "different processor, only parts without a compiler.",
        ),
    ] = None
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL", help="An installed model.", autocompletion=completing(_models)
        ),
    ] = None
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CORPUS",
            help="A corpus as it is, with its index.",
            autocompletion=complete_corpus,
        ),
    ] = None
    source: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CORPUS=PATH",
            help="Files to add to a corpus and to index on the other machine.",
        ),
    ] = None
    settings: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Settings of a new workspace; without it, the first model of each kind is used.",
        ),
    ] = None
    standalone_python: Annotated[
        bool,
        typer.Option(
            "--standalone-python", help="Include a Python for this processor, fetched by uv."
        ),
    ] = False
    follow_links: Annotated[
        bool,
        typer.Option("--follow-links", help="Follow links inside the folders of --source."),
    ] = False
    since: Annotated[
        Path | None,
        typer.Option(
            metavar="BUNDLE",
            help="Leave out the contents of this bundle, which is installed there.",
        ),
    ] = None
    sign: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Sign it with this secret key of minisign."),
    ] = None
    project: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH", help="Source or wheel of localrag; without it, the running one."
        ),
    ] = None


@verb(
    app,
    "make",
    examples=(
        "localrag bundle make /media/stick/localrag",
        "localrag bundle make law.tar --extra docs --extra llama-cpp --model qwen3-8b",
        "localrag bundle make new.tar --since /media/stick/localrag --source main=xml/",
    ),
    exit_codes=_CODES,
)
def make(
    context: typer.Context,
    call: BundleOptions,
    as_json: Json = False,
) -> None:
    """Collect everything needed by a machine without a network in one folder or file.

    This verb alone uses the network, through pip: it downloads packages and compiles llama.cpp and
    hnswlib, for older processors too. manifest.json lists every file with its SHA-256, size and
    licence, parts.cdx.json the parts in the form of CycloneDX. Run install.py on the other machine.

    A stopped run continues when you repeat it with the same contents.
    """
    from localrag.ops.bundle import make as making
    from localrag.ops.bundle.opening import manifest_of
    from localrag.ops.bundle.wheels import Project

    session: Session = context.obj
    here = making.BundleContents()
    contents = making.BundleContents(
        extras=tuple(call.extra or ()),
        pythons=tuple(call.python or here.pythons),
        processors=tuple(call.processor or here.processors),
        models=tuple(call.model or ()),
        corpora=tuple(call.corpus or ()),
        sources=tuple(map(_source, call.source or ())),
        settings=call.settings,
        standalone=call.standalone_python,
        follow_links=call.follow_links,
    )
    report = making.make(
        session.workspace,
        call.target,
        contents,
        Project(call.project.resolve()) if call.project else Project.here(),
        since=manifest_of(call.since) if call.since else None,
        signer=making.minisign_signer(call.sign, _password) if call.sign else None,
        tell=lambda message: tell(_(message), " …"),
    )
    if as_json:
        emit({**asdict(report), "path": str(report.path)})
    else:
        _print_made(report)


def _source(said: str) -> tuple[str, Path]:
    corpus, _equals, path = said.partition("=")
    if not (corpus and path and Path(path).exists()):
        raise UsageError(
            N_("{said!r} names no corpus and files to add to it."),
            N_("Write it as main=xml/, with a folder or a file that exists."),
            said=said,
        )
    return corpus, Path(path).resolve()


def _password() -> str:
    return str(typer.prompt(_("Password of the secret key"), hide_input=True, err=True))


def _print_made(report: "BundleReport") -> None:
    made = _("bundle {path}: {n:,} files, {size:,.1f} MB")
    say(made.format(path=report.path, n=report.files, size=report.bytes / 1e6))
    if report.held:
        say(_("{n:,} files are left to the bundle before it").format(n=report.held))
    if report.signed_by:
        say(_("signed by {key}").format(key=report.signed_by))
    say(_("SHA-256 of manifest.json: {digest}").format(digest=report.digest))
    if report.unlicensed:
        named = ", ".join(report.unlicensed[:_SHOWN])
        n = len(report.unlicensed)
        told = ngettext(
            "{n:,} file names no licence: {names}", "{n:,} files name no licence: {names}", n
        )
        tell_note(told.format(n=n, names=named))
    say(_("Next, on the other machine: "), ("python3 install.py FOLDER", "bold"))


@verb(
    app,
    "verify",
    examples=(
        "localrag bundle verify /media/stick/localrag",
        "localrag bundle verify law.tar --key minisign.pub",
    ),
    exit_codes=_CODES,
)
def verify(bundle: TheBundle, key: Key = "", as_json: Json = False) -> None:
    """Check every byte of a bundle, and its signature; nothing of it is run.

    These are refused by name: missing, changed and unlisted files, links, and paths out of the
    bundle. A missing signature, or one of another key, is refused too.
    """
    from localrag.ops.bundle.opening import verify as checked

    found = checked(bundle, key)
    held = sum(file["held"] for file in found.files.values())
    if as_json:
        emit(
            {
                "localrag": found.version,
                "digest": found.digest,
                "signed_by": found.signed_by,
                "made": found.manifest.get("made", ""),
                "needs": found.manifest["needs"],
                "files": len(found.files) - held,
                "held": held,
            }
        )
        return
    told = _("bundle of localrag {version}: {n:,} files are as the manifest says")
    say(told.format(version=found.version, n=len(found.files) - held))
    if held:
        say(_("{n:,} files are left to the bundle before it").format(n=held))
    if found.signed_by:
        say(_("signed by {key}").format(key=found.signed_by))
    else:
        tell_note(
            _("It is not signed: compare the SHA-256 of manifest.json with the maker's."),
        )
    say(_("SHA-256 of manifest.json: {digest}").format(digest=found.digest))


@verb(
    app,
    "install",
    examples=(
        "localrag bundle install /media/stick/localrag ~/localrag",
        "localrag bundle install new.tar",
    ),
    exit_codes=_CODES,
)
def install(
    bundle: TheBundle,
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER",
            help="Target; not needed if a bundle installed this localrag.",
        ),
    ] = None,
    key: Key = "",
    as_json: Json = False,
) -> None:
    """Install a bundle into a folder, without root, a compiler or a network.

    Everything is checked before anything runs. Packages are installed beside the earlier ones,
    models and corpora go into the workspace of the folder, and doctor and the sample question run.
    Then the new version replaces the earlier one. Without any localrag, python3 install.py in the
    bundle does the same.
    """
    from localrag.ops.bundle.opening import install as put_in
    from localrag.ops.bundle.opening import installed_in

    into = folder or installed_in()
    tell(_("installing into {folder}").format(folder=into))
    done = put_in(
        bundle,
        into,
        key,
        lambda message, **values: tell(_(message).format(**values)),
    )
    if as_json:
        emit(done)
    else:
        say(_("start it: {path}").format(path=done["start"]))
    if done["broken"]:
        raise typer.Exit(5)

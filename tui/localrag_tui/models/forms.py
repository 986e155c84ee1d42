"""What is asked before something is done to a model."""

import os
from urllib.parse import urlsplit

from localrag.errors import NotFoundError, UsageError
from localrag.language import _
from localrag_tui.models.stock import ModelRow, ModelState
from localrag_tui.widgets.form import Field, Form
from localrag_tui.widgets.text_field import as_path, existing
from localrag_tui.wording import size


def endpoint() -> str:
    """The address of the hub: ``HF_ENDPOINT``, else the public one."""
    from localrag_models.hub import PUBLIC_HUB

    return os.environ.get("HF_ENDPOINT") or PUBLIC_HUB


def pull_form(row: ModelRow | None) -> Form:
    """Ask what to pull, naming the host that is asked: nothing else here uses the network."""
    host = urlsplit(endpoint()).netloc.rpartition("@")[2] or endpoint()
    text = _(
        "This uses the network: {host} is asked, and what it sends is checked and kept in this"
        " workspace. Where there is none: export the model on another machine, carry the file"
        " here, and import it (i)."
    ).format(host=host)
    if row is not None and row.size:
        left = size(max(row.size - row.fetched, 0))
        text += "\n\n" + _("{size} are to be fetched.").format(size=left)
    return Form(
        _("Pull a model"),
        text,
        go=_("Pull from {host}").format(host=host),
        fields=(
            Field(
                "wanted",
                _("name of the catalogue, OWNER/REPOSITORY or OWNER/REPOSITORY/FILE.gguf"),
                value=row.name if row is not None and row.size else "",
            ),
        ),
        check=_check_wanted,
    )


def add_form() -> Form:
    """Ask for a model at hand."""
    return Form(
        _("Add a model"),
        _("It is copied into this workspace; what it is, is read from it."),
        go=_("Add"),
        fields=(
            Field("path", _(".gguf file, or folder of sentence-transformers"), is_path=True),
            Field("name", _("what to call it; empty: after the file")),
        ),
        check=_check_path,
    )


def import_form() -> Form:
    """Ask for an archive that was exported elsewhere."""
    return Form(
        _("Import a model"),
        _("From a file that was exported on another machine; every hash is checked."),
        go=_("Import"),
        fields=(
            Field("path", _("file that export wrote (NAME.tar)"), is_path=True),
            Field("name", _("what to call it; empty: as it was")),
        ),
        check=_check_path,
    )


def export_form(name: str) -> Form:
    """Ask where to write a model."""
    return Form(
        _("Export {name}").format(name=name),
        _("One file with the model, its licence and every hash, to carry to another machine."),
        go=_("Export"),
        fields=(
            Field(
                "path",
                _("file to write, or a folder to write it into"),
                is_path=True,
                hint=_("for example {value}").format(value="/media/stick/"),
            ),
        ),
        check=_check_target,
    )


def remove_form(row: ModelRow) -> Form:
    """Ask before a model is removed."""
    text = _("Its files are deleted; conversations and corpora stay.")
    if row.used_as:
        text += "\n" + _("The settings name it ({setting}).").format(setting=row.used_as)
    title = _("Drop what has come of {name}?")
    if row.state is not ModelState.UNFINISHED:
        title = _("Remove {name}?")
    return Form(title.format(name=row.name), text, go=_("Remove"), danger=True)


def _check_wanted(values: dict[str, str]) -> None:
    from localrag.inference.failures import named
    from localrag_models.pull import Wish

    if not values["wanted"]:
        raise UsageError(_("No model is named."))
    with named():
        Wish.parse(values["wanted"])


def _check_path(values: dict[str, str]) -> None:
    existing(values["path"])


def _check_target(values: dict[str, str]) -> None:
    if not values["path"]:
        raise UsageError(_("No file or folder is named."))
    folder = as_path(values["path"]).parent
    if not folder.is_dir():
        raise NotFoundError(
            _("There is no folder {path}.").format(path=folder), _("Make it first.")
        )

"""How models are printed, and how they read as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from localrag.corpus.config import Config, HasModels
from localrag.corpus.inference.opening import SETTINGS, as_ours
from localrag.doors.cli.terminal import emit, failure, say, table, tell, tell_note
from localrag.errors import LocalragError
from localrag.language import N_, _, colon, ngettext
from localrag.text.facts import Fact
from localrag_models.catalogue import CatalogueEntry, catalogue
from localrag_models.files import gigabytes
from localrag_models.store import InstalledModel, ModelStore

if TYPE_CHECKING:
    from localrag_models.runtimes import OllamaModel

_KINDS = (N_("chat"), N_("embedder"), N_("reranker"))
"""What models are for, as messages."""
_CONTEXT = 8192
"""Tokens that the memory of a chat model is shown for: what localrag uses at most by itself."""


@dataclass(frozen=True, slots=True)
class Hardware:
    """The graphics processors, the builds, and the places of the models in use.

    Attributes:
        builds: name, backend, and a cure or None.
        places: setting, model and place.
    """

    gpus: tuple[Fact, ...]
    builds: tuple[tuple[str, Fact, Fact | None], ...]
    places: tuple[tuple[str, str, Fact], ...]
    speeds: tuple[Fact, ...]

    @classmethod
    def of(cls, workspace: HasModels, config: Config) -> Self:
        """Look at this machine and at the servers of the settings."""
        from localrag.corpus.inference import placement

        return cls(
            placement.gpu_facts(),
            tuple(placement.build_facts()),
            tuple(placement.placement_facts(workspace, config)),
            placement.speed_facts(workspace, config),
        )

    def print(self) -> None:
        """Print it for people."""
        for gpu in self.gpus:
            say((_("GPU"), "bold"), f"{colon()}{gpu}")
        for name, told, cure in self.builds:
            say((name, "bold"), f"{colon()}{told}")
            if cure is not None:
                say((str(cure), "bold"), indent=2)
        for setting, _model, told in self.places:
            say((setting, "bold"), f"{colon()}{told}")
        for told in self.speeds:
            say(str(told))

    def as_json(self) -> dict[str, Any]:
        """Give its JSON."""
        return {
            "gpus": [gpu.stored() for gpu in self.gpus],
            "builds": [
                {"name": name, "built": told.stored(), "cure": cure and str(cure)}
                for name, told, cure in self.builds
            ],
            "places": [
                {"setting": setting, "model": model, "place": told.stored()}
                for setting, model, told in self.places
            ],
            "speeds": [told.stored() for told in self.speeds],
        }


@dataclass(frozen=True, slots=True)
class Overview:
    """The output of ``localrag models list``."""

    installed: tuple[InstalledModel, ...]
    available: tuple[CatalogueEntry, ...]
    problems: tuple[LocalragError, ...]
    unfinished: dict[str, int]
    used: dict[str, str]
    hardware: "Hardware"

    @classmethod
    def of(cls, store: ModelStore, used: dict[str, str], hardware: "Hardware") -> Self:
        """Look at a store; `used` says by which setting a model takes part."""
        installed = tuple(store.installed())
        names = {model.name for model in installed}
        return cls(
            installed,
            tuple(
                entry
                for entry in catalogue(store.own_catalogue).values()
                if entry.name not in names
            ),
            tuple(map(as_ours, store.problems().values())),
            store.unfinished(),
            used,
            hardware,
        )

    def print(self) -> None:
        """Print it for people."""
        if self.installed:
            table(
                (
                    _("installed"),
                    _("role"),
                    _("size"),
                    _("context"),
                    _("licence"),
                    _("used as"),
                ),
                [
                    (
                        model.name,
                        _(model.kind),
                        gigabytes(model.size),
                        _tokens(model.context),
                        model.manifest.licence,
                        self.used.get(model.name, ""),
                    )
                    for model in self.installed
                ],
                folding=(_("licence"),),
            )
        else:
            tell(_("No model is installed yet."))
        say("")
        table(
            (
                _("can be pulled"),
                _("role"),
                _("size"),
                _("memory"),
                _("licence"),
                _("good for"),
            ),
            [
                (
                    entry.name,
                    _(entry.kind),
                    gigabytes(entry.size),
                    gigabytes(entry.memory(_CONTEXT)),
                    entry.licence,
                    _(entry.good_for),
                )
                for entry in self.available
            ],
            folding=(_("licence"), _("good for")),
        )
        say(_("Get one: "), (_("localrag models pull NAME"), "bold"))
        for name, size in self.unfinished.items():
            tell(
                _(
                    "{name}: {size} of an interrupted pull; localrag models pull {name} goes on, "
                    "localrag models remove {name} drops it"
                ).format(name=name, size=gigabytes(size))
            )
        self.hardware.print()
        for problem in self.problems:
            tell_note(str(problem))

    def as_json(self) -> dict[str, Any]:
        """Give the JSON of ``localrag models list``."""
        return {
            "installed": [
                model_as_json(model) | {"used_as": self.used.get(model.name, "")}
                for model in self.installed
            ],
            "available": [_entry_as_json(entry) for entry in self.available],
            "unfinished": self.unfinished,
            "hardware": self.hardware.as_json(),
            "problems": [
                {"cause": problem.cause, "cure": problem.cure} for problem in self.problems
            ],
        }


def print_installed(model: InstalledModel, used: dict[str, str], *, as_json: bool) -> None:
    """Print an installed model, and the next command."""
    if as_json:
        emit(model_as_json(model))
        return
    what = _(", ").join((_(model.kind), gigabytes(model.size), model.format))
    say((model.name, "bold"), f"{colon()}{what}")
    say((_("from {source}").format(source=model.manifest.source), "dim"), indent=2)
    if model.kind == "embedder":
        prefixes = model.prefixes
        said = _("no prefixes")
        if prefixes.query or prefixes.passage:
            said = _("prefixes: {query!r} and {passage!r}").format(
                query=prefixes.query, passage=prefixes.passage
            )
        say((said, "dim"), indent=2)
    setting = SETTINGS[model.kind]
    if used.get(model.name) == setting:
        if model.kind == "embedder":
            say(_("Next, make the vectors of a corpus with it: "), ("localrag index", "bold"))
            say((_('embedding.model = "off" in localrag.toml does without.'), "dim"), indent=2)
        return
    section, key = setting.split(".")
    say(_("Next, in localrag.toml under [{section}]:").format(section=section))
    say((f'{key} = "{model.name}"', "bold"), indent=2)


def print_verified(found: Mapping[str, InstalledModel | LocalragError], *, as_json: bool) -> None:
    """Print the result of a check, a line for each model."""
    if as_json:
        emit([_verified_as_json(name, model) for name, model in found.items()])
        return
    for name, model in found.items():
        if isinstance(model, LocalragError):
            failure(model.cause, model.cure)
        else:
            n = len(model.manifest.files)
            told = ngettext(
                "{name}: {n} file, nothing has changed", "{name}: {n} files, nothing has changed", n
            )
            say(told.format(name=name, n=n))


def print_served(runtime: str, found: "Sequence[OllamaModel]", *, as_json: bool) -> None:
    """Print the models of a server by their names in the settings."""
    if as_json:
        emit(
            [
                {
                    "name": f"{runtime}:{model.name}",
                    "bytes": model.size,
                    "digest": model.digest,
                    "family": model.family,
                    "parameters": model.parameters,
                    "quantisation": model.quantization,
                }
                for model in found
            ]
        )
    elif found:
        table(
            (_("on the server"), _("size"), _("family"), _("parameters"), _("quantisation")),
            [
                (f"{runtime}:{m.name}", gigabytes(m.size), m.family, m.parameters, m.quantization)
                for m in found
            ],
            folding=(_("family"),),
        )
    else:
        tell(
            _("The server has no model. Get one: localrag models pull {runtime}:qwen3:8b").format(
                runtime=runtime
            )
        )


def model_as_json(model: InstalledModel) -> dict[str, Any]:
    """Give the JSON of an installed model."""
    manifest = model.manifest
    return {
        "name": model.name,
        "id": model.id,
        "kind": model.kind,
        "format": model.format,
        "path": str(model.path),
        "bytes": model.size,
        "context": model.context,
        "licence": manifest.licence,
        "source": manifest.source.model_dump(),
        "added": manifest.added.isoformat(),
        "prefixes": {"query": model.prefixes.query, "passage": model.prefixes.passage},
        "sampling": model.recommended.model_dump(),
        "files": [file.model_dump() for file in manifest.files],
    }


def _verified_as_json(name: str, model: InstalledModel | LocalragError) -> dict[str, Any]:
    if isinstance(model, LocalragError):
        problem = {"cause": model.cause, "cure": model.cure}
        return {"name": name, "id": None, "bytes": None, "problem": problem}
    return {"name": name, "id": model.id, "bytes": model.size, "problem": None}


def _entry_as_json(entry: CatalogueEntry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "kind": entry.kind,
        "format": entry.format,
        "repository": entry.repository,
        "file": entry.file,
        "bytes": entry.size,
        "memory": entry.memory(_CONTEXT),
        "context": entry.context,
        "quantisation": entry.quantisation,
        "licence": entry.licence,
        "served": entry.served,
        "template": entry.template,
        "good_for": entry.good_for,
    }


def _tokens(context: int | None) -> str:
    return f"{context:,}" if context else ""

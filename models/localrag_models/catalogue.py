"""The catalogue: suitable models, and their repositories; ours and the user's own."""

import difflib
import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from localrag_models.embedding import Prefixes
from localrag_models.errors import N_, Cure, ModelDamaged, ModelMissing
from localrag_models.families import Pooling
from localrag_models.manifest import Format, Kind, ModelName, ModelPath, Sampling

OWN = "models.toml"
"""The user's own entries, beside the folder of the models."""

_FILE = Path(__file__).with_name("catalogue.toml")
_LARGEST = 1_000_000


class CatalogueEntry(BaseModel):
    """A model that can be pulled.

    Attributes:
        name: of the installed model.
        repository: on the hub, "owner/name".
        file: the file of the model; None for the whole folder.
        size: bytes to download; rounded if the publisher rounds it.
        licence: its usual short name.
        context: tokens it was trained for; None if not certain.
        quantisation: how the weights of a GGUF are packed.
        cache_per_token: bytes of key-value cache per token of context, with 16-bit entries.
        prefixes: of queries and passages (embedders).
        pooling: of the vectors of tokens (embedders); None for the mean.
        sampling: recommended by its makers.
        served: its names on servers.
        template: a trait of its chat template; one line.
        good_for: one line.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: ModelName
    kind: Kind
    format: Format
    repository: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    file: ModelPath | None = None
    size: int = Field(gt=0)
    licence: str
    context: int | None = Field(None, gt=0)
    quantisation: str = ""
    cache_per_token: int = 0
    prefixes: Prefixes = Prefixes()
    pooling: Pooling | None = None
    sampling: Sampling = Sampling()
    served: tuple[str, ...] = ()
    template: str = ""
    good_for: str = ""

    def memory(self, context: int) -> int:
        """Bytes of memory: the weights and, for a chat model, the cache for `context` tokens.

        The runtime itself takes some hundred megabytes more.
        """
        return self.size + self.cache_per_token * min(context, self.context or context)


def catalogue(own: Path | None = None) -> Mapping[str, CatalogueEntry]:
    """Every model of the catalogue, by name; entries in the file `own` come first.

    Raises:
        ModelDamaged: that file cannot be read; names the entry and the field.
    """
    if own is None or not own.is_file():
        return _ours()
    theirs = _entries_in(own)
    return {**theirs, **{name: known for name, known in _ours().items() if name not in theirs}}


def entry(name: str, own: Path | None = None) -> CatalogueEntry:
    """Look a model up.

    Raises:
        ModelMissing: the catalogue has no such model; names the nearest.
        ModelDamaged: as in `catalogue`.
    """
    known = catalogue(own)
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    cause = N_("The catalogue has no model {name!r}.")
    if near:
        raise ModelMissing(cause, Cure.NEAREST_TO_PULL, name=name, near=near[0])
    raise ModelMissing(cause, Cure.OTHERS_TO_PULL, name=name)


def own_entry(served: str, own: Path) -> CatalogueEntry | None:
    """The user's entry for a model of a server, by this name there.

    Raises:
        ModelDamaged: as in `catalogue`.
    """
    entries = _entries_in(own).values() if own.is_file() else ()
    return next((one for one in entries if served in (one.name, *one.served)), None)


@functools.cache
def _ours() -> Mapping[str, CatalogueEntry]:
    with _FILE.open("rb") as file:
        tables = tomllib.load(file)
    return {name: CatalogueEntry(name=name, **table) for name, table in tables.items()}


def _entries_in(path: Path) -> Mapping[str, CatalogueEntry]:
    try:
        with path.open("rb") as file:
            tables = tomllib.loads(file.read(_LARGEST).decode())
        return {
            name: CatalogueEntry.model_validate({**table, "name": name})
            for name, table in tables.items()
        }
    except (OSError, ValueError, TypeError, RecursionError) as error:
        told = str(error)
        if isinstance(error, ValidationError):
            first = error.errors()[0]
            told = f"{error.title} {'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise ModelDamaged(
            N_("The catalogue of your own in {path} cannot be read ({why})."),
            N_("Correct this entry; docs/models.md shows one."),
            path=path,
            why=told,
        ) from error

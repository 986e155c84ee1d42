"""The catalogue: suitable models, and their repositories."""

import difflib
import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from localrag_models.embedding import Prefixes
from localrag_models.errors import N_, Cure, ModelMissing
from localrag_models.manifest import Format, Kind, ModelName, ModelPath, Sampling

_FILE = Path(__file__).with_name("catalogue.toml")


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
        sampling: recommended by its makers.
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
    sampling: Sampling = Sampling()
    good_for: str

    def memory(self, context: int) -> int:
        """Bytes of memory: the weights and, for a chat model, the cache for `context` tokens.

        The runtime itself takes some hundred megabytes more.
        """
        return self.size + self.cache_per_token * min(context, self.context or context)


@functools.cache
def catalogue() -> Mapping[str, CatalogueEntry]:
    """Every model of the catalogue, by name."""
    with _FILE.open("rb") as file:
        tables = tomllib.load(file)
    return {name: CatalogueEntry(name=name, **table) for name, table in tables.items()}


def entry(name: str) -> CatalogueEntry:
    """Look a model up.

    Raises:
        ModelMissing: the catalogue has no such model; names the nearest.
    """
    if name in catalogue():
        return catalogue()[name]
    near = difflib.get_close_matches(name.lower(), catalogue(), n=1, cutoff=0.5)
    cause = N_("The catalogue has no model {name!r}.")
    if near:
        raise ModelMissing(cause, Cure.NEAREST_TO_PULL, name=name, near=near[0])
    raise ModelMissing(cause, Cure.OTHERS_TO_PULL, name=name)

"""The models of a workspace: one folder each, with a manifest that holds the hash of every file."""

from localrag_models.store.manifest import InstalledModel
from localrag_models.store.models import ModelStore
from localrag_models.store.progress import Progress

__all__ = ["InstalledModel", "ModelStore", "Progress"]
